/* SPDX-License-Identifier: MIT */
/* The LLRs against IT++'s, which nobody here wrote: itpp::QAM's soft demodulation by its APPROX method is exact max-log
 * in double with the same sign and the same (complex) noise variance. Its labels differ from 3GPP's. For BPSK and
 * pi/2-BPSK it is given the points. This compares the specified arithmetic of every modulation with it; test_llrs.c
 * compares the library with that. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include <itpp/itcomm.h>

extern "C" {
#include "contract.h"
#include "max_log.h"
}

typedef itpp::Modulator<std::complex<double>> modulator;

/* IT++'s demapper for symbols at even or at odd positions, which differ in pi/2-BPSK alone: 38.211 5.1.1 and 5.1.2. */
static std::unique_ptr<modulator> make_modulator(const nr_constellation &constellation, int position)
{
    if (!nr_is_bpsk(&constellation))
        return std::make_unique<itpp::QAM>(1 << constellation.n_bits);
    const std::complex<double> one =
        std::complex<double>(constellation.rotates && position ? -1 : 1, 1) / std::sqrt(2.0);
    itpp::cvec points(2);
    points(0) = one;
    points(1) = -one;
    return std::make_unique<modulator>(points, itpp::ivec("0 1"));
}

/* IT++ numbers an axis's levels by a Gray code that is counted from the positive end, Q's bits first. 3GPP's first bit
 * of an axis is the same, the others are complements. */
static int source_of(const nr_constellation &constellation, int b)
{
    return b % 2 == 0 && !nr_is_bpsk(&constellation) ? constellation.axis_bits + b / 2 : b / 2;
}

static bool is_complement(int b) { return b >= 2; }

/* The largest difference as a share of binary32's bound and of what IT++'s squared distances in double lose. */
static double compare(const nr_constellation &constellation, modulator &theirs, int position,
                      const std::vector<float> &symbols, float noise_var)
{
    const int n_symbols = (int)(symbols.size() / 2), n_bits = constellation.n_bits;
    itpp::cvec received(n_symbols);
    for (int i = 0; i < n_symbols; i++)
        received(i) = std::complex<double>((double)symbols[2 * i], (double)symbols[2 * i + 1]);
    const itpp::vec all = theirs.demodulate_soft_bits(received, (double)noise_var, itpp::APPROX);
    double worst = 0;
    for (int i = 0; i < n_symbols; i++) {
        const float *symbol = &symbols[2 * i];
        const double energy = (double)symbol[0] * (double)symbol[0] + (double)symbol[1] * (double)symbol[1];
        float ours[NR_MAX_BITS];
        contract_f32(&constellation, symbol, nr_noise_var(noise_var), (uint64_t)position, 0, ours);
        for (int b = 0; b < n_bits; b++) {
            const double llr = all(n_bits * i + source_of(constellation, b)) * (is_complement(b) ? -1 : 1);
            const double most =
                max_log_bound(&constellation, (double)symbol[b % 2], llr * (double)noise_var, 1 / (double)noise_var) +
                1e-14 * (1 + energy) / (double)noise_var;
            const double share = std::fabs((double)ours[b] - llr) / most;
            if (!(share <= 1)) {
                std::printf("FAILED: %s (%a, %a), N0 %a: b%d is %a, IT++ has %a, %g of the tolerance\n",
                            constellation.name, (double)symbol[0], (double)symbol[1], (double)noise_var, b,
                            (double)ours[b], llr, share);
                std::exit(EXIT_FAILURE);
            }
            worst = std::fmax(worst, share);
        }
    }
    return worst;
}

int main()
{
    const char *text = std::getenv("SOFTQAM_TEST_SEED");
    const unsigned long long seed = text ? std::strtoull(text, nullptr, 0) : 256;
    std::printf("SOFTQAM_TEST_SEED=0x%llx\n", seed);
    std::mt19937 random((std::mt19937::result_type)seed);
    for (const nr_constellation *constellation : nr_constellations)
        for (int position = 0; position < 2; position++) {
            const std::unique_ptr<modulator> theirs = make_modulator(*constellation, position);
            for (const float limit : {1.4F, 4.0F, 100.0F})
                for (const float noise_var : {1.0F, 0.1F, 0.0123F, 3e-4F}) {
                    std::vector<float> symbols(20002);
                    for (float &component : symbols)
                        component = ((float)(random() >> 8) * 0x1p-23F - 1) * limit;
                    std::printf("%s in +-%g, N0 %g: up to %.3f of the tolerance\n", constellation->name, (double)limit,
                                (double)noise_var, compare(*constellation, *theirs, position, symbols, noise_var));
                }
        }
    return EXIT_SUCCESS;
}
