/* SPDX-License-Identifier: MIT */
/* What can be said of symbols and their soft bits without knowing what was sent. */
#ifndef SOFTQAM_TOOLS_STATISTICS_H
#define SOFTQAM_TOOLS_STATISTICS_H

#include <softqam/softqam.h>

#include <stddef.h>
#include <stdint.h>

struct statistics {
    uint64_t n_symbols;
    uint64_t n_erased;    /* symbols whose eight bytes are all 127 */
    uint64_t n_saturated; /* soft bits that are 0 or 255 */
    double error_energy;  /* sum of the squared distances to the nearest point, erased symbols left out */
};

/* Adds n symbols of the library's input, with its scale, and the soft bits it made of them. */
void statistics_add(struct statistics *statistics, softqam_input_format format, float scale, const void *samples,
                    const uint8_t *soft_bits, size_t n_symbols);

/* Share of all soft bits, 0 to 1; 0 without symbols. */
double statistics_saturated_share(const struct statistics *statistics);

/* Root mean square distance to the nearest point, relative to the constellation's root mean square amplitude, which is
 * 1 (the error vector magnitude as 3GPP TS 38.101-1 annex F normalises it). Decision-directed: where the noise moves
 * symbols to a wrong point, the true value is larger. NaN when every symbol was erased. */
double statistics_evm(const struct statistics *statistics);

#endif
