/* SPDX-License-Identifier: MIT */
/* Whether symbols are what the command takes them for: of unit mean energy, and of its modulation. Else soft bits and
 * LLRs are wrong, and nothing else shows it. */
#ifndef SOFTQAM_TOOLS_DEMOD_SCALE_H
#define SOFTQAM_TOOLS_DEMOD_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/noise_estimate.h"
#include "noise_source.h"

/* Puts in the configuration the input_scale with which n symbols of the library's input have mean energy 1 + N0, N0
 * being what is given or, if it is not, what is estimated from them. `position` is the first one's in the codeword.
 * *n_used are those that it is from. Without any symbol input_scale stays. */
bool scale_estimate(softqam_demodulator_config *config, const char *name, const struct noise_source *noise,
                    uint64_t position, const void *symbols, size_t n_symbols, uint64_t *n_used);

enum { SCALE_CHECK_LOOKED_AT = 8192 };

/* What the first symbols have. All zero before the first. */
struct scale_check {
    softqam_modulation modulation;
    uint64_t position; /* of the first one in its codeword */
    size_t n_components;
    float components[2 * SCALE_CHECK_LOOKED_AT]; /* of the first of all; NaN where noise buries them */
    struct noise_estimate noise;                 /* of symbols of a noise file only what concerns their energy */
    double noise_var_sum;                        /* of the same symbols, with a noise file */
};

/* Looks at the next n symbols, as many as are needed; noise_vars are theirs, NULL where there is not one a symbol. */
void scale_check_add(struct scale_check *check, const softqam_demodulator_config *config, uint64_t position,
                     const void *symbols, const float *noise_vars, size_t n_symbols);

/* A warning in one line if they look like another modulation, if their energy differs from 1 + N0, or their noise from
 * what was given: what they look like, and which option mends it. */
void scale_check_warn(const struct scale_check *check, const char *name, const struct noise_source *noise);

#endif
