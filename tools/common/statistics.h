/* SPDX-License-Identifier: MIT */
/* What can be said of symbols and their soft bits or LLRs without knowing what was sent. */
#ifndef SOFTQAM_TOOLS_COMMON_STATISTICS_H
#define SOFTQAM_TOOLS_COMMON_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "noise_estimate.h"

struct statistics {
    uint64_t n_symbols;
    uint64_t n_erased;    /* symbols whose soft bits are all 127, or whose LLRs are all 0 */
    uint64_t n_saturated; /* soft bits that are 0 or 255, LLRs of the largest magnitude that comes out */
    struct noise_estimate noise;
};

/* Adds n symbols of the library's input, and the soft bits or LLRs that it made of them with a configuration in which
 * neither input_scale nor llr_limit is 0. `position` is the first one's in its codeword. */
void statistics_add(struct statistics *statistics, const softqam_demodulator_config *config, uint64_t position,
                    const void *samples, const void *out, size_t n_symbols);

/* Fraction of all soft bits or LLRs that saturate; 0 without symbols. */
double statistics_saturated_share(const struct statistics *statistics, softqam_modulation modulation);

/* The information that a decoder loses at most, in bits a symbol, when this fraction of the LLRs is limited to a
 * magnitude of so many nats. */
double statistics_saturation_loss(softqam_modulation modulation, double saturated_share, double limit_nats);

#endif
