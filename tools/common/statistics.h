/* SPDX-License-Identifier: MIT */
/* What can be said of symbols and their soft bits or LLRs without knowing what was sent. */
#ifndef SOFTQAM_TOOLS_COMMON_STATISTICS_H
#define SOFTQAM_TOOLS_COMMON_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* How noisy symbols are, estimated from the symbols alone. The mean squared distance to the nearest point is less than
 * the noise variance where noise moves symbols into the cell of a wrong point: half of it for 256QAM at 20 dB. So the
 * estimate is the variance for which that distance is the expected one, if all points are equally likely and the noise
 * is Gaussian. All zero before the first symbol. */
struct noise_estimate {
    uint64_t n_symbols;
    double energy;       /* sum of the squared magnitudes */
    double error_energy; /* sum of the squared distances to the nearest point */
};

/* Adds n symbols of the library's input, for a configuration in which input_scale is not 0; leaves out those that are
 * not finite. `position` is the first one's in its codeword, for pi/2-BPSK. */
void noise_estimate_add(struct noise_estimate *estimate, const softqam_demodulator_config *config, uint64_t position,
                        const void *samples, size_t n_symbols);

/* The mean energy of a symbol, which is 1 + N0 where the scale is right; NaN without symbols. */
double noise_estimate_energy(const struct noise_estimate *estimate);

/* The variance N0 of the complex noise, E|n|^2; NaN without symbols, or where all are zero. */
double noise_estimate_variance(const struct noise_estimate *estimate, softqam_modulation modulation);

/* Root mean square distance to the nearest point, relative to the constellation's root mean square amplitude, which is
 * 1 (the error vector magnitude as 3GPP TS 38.101-1 annex F normalises it). Decision-directed: where the noise moves
 * symbols to a wrong point, the true value is larger. NaN as above. */
double noise_estimate_evm(const struct noise_estimate *estimate);

/* The expected squared distance to the nearest point at a noise variance; never more than that nor less than a
 * fifteenth of it. */
double noise_expected_error(softqam_modulation modulation, double noise_var);

struct statistics {
    uint64_t n_erased;    /* symbols whose soft bits are all 127, or whose LLRs are all 0 */
    uint64_t n_saturated; /* soft bits that are 0 or 255, LLRs of the largest magnitude that comes out */
    struct noise_estimate noise;
};

/* Adds n symbols of the library's input, and the soft bits or LLRs that it made of them with a configuration in which
 * neither input_scale nor llr_limit is 0. `position` is the first one's in its codeword. */
void statistics_add(struct statistics *statistics, const softqam_demodulator_config *config, uint64_t position,
                    const void *samples, const void *out, size_t n_symbols);

#endif
