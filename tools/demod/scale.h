/* SPDX-License-Identifier: MIT */
/* The scale and the noise variance N0 of symbols, estimated; and whether symbols are what the command takes them for:
 * of unit mean energy, and of its modulation. Else soft bits and LLRs are wrong, and nothing else shows it. */
#ifndef SOFTQAM_TOOLS_DEMOD_SCALE_H
#define SOFTQAM_TOOLS_DEMOD_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/statistics.h"
#include "options.h"
#include "sources.h"

/* Where the noise variances of the symbols come from. */
struct noise_source {
    enum noise_kind kind;
    float noise_var;         /* NOISE_UNIT, NOISE_VALUE; NOISE_AUTO, 0 before the estimate */
    uint64_t n_estimated;    /* NOISE_AUTO: symbols that the estimate is from */
    struct side_file values; /* NOISE_FILE */
};

/* Estimates take no more symbols than this, so that they are made before anything else and can be made in a pipe. */
#define ESTIMATE_SYMBOLS ((size_t)262144)

/* NOISE_AUTO: puts in the source the estimate from n symbols of the library's input, which messages call `name` and of
 * which the first has this position in the codeword. Without any there is none. */
bool noise_source_estimate(struct noise_source *source, const char *name, const softqam_demodulator_config *config,
                           uint64_t position, const void *symbols, size_t n_symbols);

/* Puts in the configuration the input_scale with which the symbols have mean energy 1 + N0, N0 being what is given or,
 * if it is not, what is estimated from them. *n_used are those that it is from. Without any symbol input_scale stays.
 */
bool scale_estimate(softqam_demodulator_config *config, const char *name, const struct noise_source *noise,
                    uint64_t position, const void *symbols, size_t n_symbols, uint64_t *n_used);

enum { SCALE_CHECK_SYMBOLS = 65536 };

/* The first symbols. All zero before the first. */
struct scale_check {
    softqam_modulation modulation;
    uint64_t position; /* of the first one in its codeword */
    size_t n_symbols;
    float components[SCALE_CHECK_SYMBOLS][2]; /* NaN where noise buries them */
    double noise_var_sum;                     /* of those that it does not, with a noise file */
};

/* Looks at the next n symbols, as many as are needed; noise_vars are theirs, NULL where there is not one a symbol. */
void scale_check_add(struct scale_check *check, const softqam_demodulator_config *config, uint64_t position,
                     const void *symbols, const float *noise_vars, size_t n_symbols);

/* A warning in one line if they look like another modulation, if their energy differs from 1 + N0, or their noise from
 * what was given: what they look like, and which option mends it. */
void scale_check_warn(const struct scale_check *check, const char *name, const struct noise_source *noise);

/* In constellation.c. The modulation under which I and Q of n symbols are clearly likelier than under the one that is
 * expected; SOFTQAM_MODULATION_DEFAULT where there are such, but noise hides which; and the expected one where there is
 * none. *is_clear says whether its points stand out of the noise. Symbols that are not finite are left out; `position`
 * is the first one's in its codeword. */
softqam_modulation constellation_recognise(const float *components, size_t n_symbols, uint64_t position,
                                           softqam_modulation expected, bool *is_clear);

#endif
