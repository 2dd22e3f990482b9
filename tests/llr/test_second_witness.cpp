/* SPDX-License-Identifier: MIT */
/* The LLRs against IT++'s, which nobody here wrote: itpp::QAM's soft demodulation by its APPROX method is exact max-log
 * in double with the same sign and the same (complex) noise variance. Its labels differ from 3GPP's. Of BPSK and
 * pi/2-BPSK it gets the points. Holds the specified arithmetic of every modulation against it; test_llr_specified.c
 * holds the library against that. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <itpp/itcomm.h>

extern "C" {
#include "contract.h"
#include "max_log.h"
}

typedef itpp::Modulator<std::complex<double>> modulator;

/* IT++'s demapper for symbols at even and at odd positions, which differ in pi/2-BPSK alone. */
struct witness {
    const nr_constellation *constellation;
    std::shared_ptr<modulator> at[2];
};

/* BPSK has the points (1 - 2b) (1 + j) / sqrt(2); pi/2-BPSK at odd positions those times j: 38.211 5.1.1 and 5.1.2. */
static std::shared_ptr<modulator> make_bpsk(bool is_turned)
{
    const std::complex<double> one = std::complex<double>(is_turned ? -1 : 1, 1) / std::sqrt(2.0);
    itpp::cvec points(2);
    points(0) = one;
    points(1) = -one;
    return std::make_shared<modulator>(points, itpp::ivec("0 1"));
}

static witness make_witness(const nr_constellation &constellation)
{
    witness self = {&constellation, {}};
    if (nr_is_bpsk(&constellation)) {
        self.at[0] = make_bpsk(false);
        self.at[1] = make_bpsk(constellation.rotates);
    } else {
        self.at[0] = self.at[1] = std::make_shared<itpp::QAM>(1 << constellation.n_bits);
    }
    return self;
}

/* IT++ numbers an axis's levels by a Gray code that is counted from the positive end, Q's bits first. 3GPP's first bit
 * of an axis is the same, the others are complements. */
static int source_of(const nr_constellation &constellation, int b)
{
    return b % 2 == 0 && !nr_is_bpsk(&constellation) ? constellation.axis_bits + b / 2 : b / 2;
}

static bool is_complement(int b) { return b >= 2; }

static void fail(const char *what)
{
    std::printf("FAILED: %s\n", what);
    std::exit(EXIT_FAILURE);
}

/* Every point of IT++'s, with its bits mapped, is where TS 38.211 puts it. */
static void check_labels(const witness &self)
{
    const nr_constellation &constellation = *self.constellation;
    for (int number = 0; number < 2 << constellation.n_bits; number++) {
        const int position = number & 1;
        const itpp::bvec theirs = itpp::dec2bin(constellation.n_bits, number / 2);
        int bits = 0;
        for (int b = 0; b < constellation.n_bits; b++)
            bits = 2 * bits + ((int)theirs(source_of(constellation, b)) ^ (int)is_complement(b));
        double ours[2];
        nr_point(&constellation, bits, (uint64_t)position, ours);
        const std::complex<double> point = self.at[position]->modulate_bits(theirs)(0);
        if (std::fabs(point.real() - ours[0]) > 1e-12 || std::fabs(point.imag() - ours[1]) > 1e-12)
            fail("IT++'s labels are not what this test takes them for");
    }
}

/* IT++'s LLRs of all symbols, in 3GPP's order and with its sign. */
static std::vector<double> demodulate_by_itpp(const witness &self, const std::vector<float> &symbols, double noise_var)
{
    const int n_symbols = (int)(symbols.size() / 2), n_bits = self.constellation->n_bits;
    std::vector<double> llrs((size_t)(n_symbols * n_bits));
    for (int first = 0; first < 2; first++) {
        itpp::cvec received((n_symbols + 1 - first) / 2);
        for (int i = first; i < n_symbols; i += 2)
            received(i / 2) = std::complex<double>((double)symbols[2 * i], (double)symbols[2 * i + 1]);
        const itpp::vec theirs = self.at[first]->demodulate_soft_bits(received, noise_var, itpp::APPROX);
        for (int i = first; i < n_symbols; i += 2)
            for (int b = 0; b < n_bits; b++)
                llrs[n_bits * i + b] =
                    theirs(n_bits * (i / 2) + source_of(*self.constellation, b)) * (is_complement(b) ? -1 : 1);
    }
    return llrs;
}

static std::vector<float> specified_llrs(const nr_constellation &constellation, const std::vector<float> &symbols,
                                         float noise_var)
{
    std::vector<float> llrs(symbols.size() / 2 * (size_t)constellation.n_bits);
    for (size_t i = 0; i < symbols.size() / 2; i++)
        contract_f32(&constellation, &symbols[2 * i], nr_noise_var(noise_var), i, 0,
                     &llrs[i * (size_t)constellation.n_bits]);
    return llrs;
}

/* binary32's bound, and what IT++'s squared distances in double lose. */
static double tolerance(const nr_constellation &constellation, const float *symbol, int b, double llr, double noise_var)
{
    const double i = (double)symbol[0], q = (double)symbol[1];
    return max_log_bound(&constellation, (double)symbol[b % 2], llr * noise_var, 1 / noise_var) +
           1e-14 * (1 + i * i + q * q) / noise_var;
}

/* Returns the largest difference as a share of the tolerance. */
static double compare(const nr_constellation &constellation, const std::vector<float> &symbols, float noise_var,
                      const std::vector<double> &theirs, const std::vector<float> &ours)
{
    const size_t n_bits = (size_t)constellation.n_bits;
    double worst = 0;
    for (size_t n = 0; n < ours.size(); n++) {
        const float *symbol = &symbols[n / n_bits * 2];
        const int b = (int)(n % n_bits);
        const double difference = std::fabs((double)ours[n] - theirs[n]);
        const double most = tolerance(constellation, symbol, b, theirs[n], (double)noise_var);
        if (!(difference <= most)) {
            std::printf("%s (%a, %a), N0 %a: b%d is %a, IT++ has %a, %g apart, tolerance %g\n", constellation.name,
                        (double)symbol[0], (double)symbol[1], (double)noise_var, b, (double)ours[n], theirs[n],
                        difference, most);
            fail("the LLRs differ from IT++'s");
        }
        worst = std::fmax(worst, difference / most);
    }
    return worst;
}

static std::vector<float> random_symbols(std::mt19937 &random, float limit, size_t n_symbols)
{
    std::vector<float> symbols(2 * n_symbols);
    for (float &component : symbols)
        component = ((float)(random() >> 8) * 0x1p-23F - 1) * limit;
    return symbols;
}

static void check(const witness &self, std::mt19937 &random)
{
    const nr_constellation &constellation = *self.constellation;
    check_labels(self);
    for (const float limit : {1.4F, 4.0F, 100.0F}) {
        const std::vector<float> symbols = random_symbols(random, limit, 20001);
        for (const float noise_var : {1.0F, 0.1F, 0.0123F, 3e-4F}) {
            const std::vector<double> theirs = demodulate_by_itpp(self, symbols, (double)noise_var);
            const double worst =
                compare(constellation, symbols, noise_var, theirs, specified_llrs(constellation, symbols, noise_var));
            std::printf("%s in +-%g, N0 %g: up to %.3f of the tolerance\n", constellation.name, (double)limit,
                        (double)noise_var, worst);
        }
    }
}

int main()
{
    const char *text = std::getenv("SOFTQAM_TEST_SEED");
    const unsigned long long seed = text ? std::strtoull(text, nullptr, 0) : 256;
    std::printf("SOFTQAM_TEST_SEED=0x%llx\n", seed);
    std::mt19937 random((std::mt19937::result_type)seed);
    for (const nr_constellation *one : nr_constellations)
        check(make_witness(*one), random);
    return EXIT_SUCCESS;
}
