/* SPDX-License-Identifier: MIT */
/* How noisy symbols are, estimated from the symbols alone. The mean squared distance to the nearest point is less than
 * the noise variance where noise moves symbols into the cell of a wrong point: half of it for 256QAM at 20 dB. So the
 * estimate is the variance for which that distance is the expected one, if all points are equally likely and the noise
 * is Gaussian. */
#ifndef SOFTQAM_TOOLS_COMMON_NOISE_ESTIMATE_H
#define SOFTQAM_TOOLS_COMMON_NOISE_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* All zero before the first symbol. */
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

#endif
