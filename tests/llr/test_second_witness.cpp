/* SPDX-License-Identifier: MIT */
/* The LLRs against IT++'s, which nobody here wrote: itpp::QAM's soft demodulation by its APPROX method is exact max-log
 * in double with the same sign and the same (complex) noise variance. Its labels differ from 3GPP's. Holds the
 * specified arithmetic of QPSK to 1024QAM and reference/'s log-MAP against it, and of 256QAM the library. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <itpp/itcomm.h>
#include <softqam/softqam.h>

extern "C" {
#include "contract.h"
#include "max_log.h"
}

/* IT++ numbers an axis's levels by a Gray code that is counted from the positive end, Q's bits first. 3GPP's first bit
 * of an axis is the same, the others are complements. */
static int source_of(const nr_constellation &constellation, int b)
{
    return b % 2 == 0 ? constellation.axis_bits + b / 2 : b / 2;
}

static bool is_complement(int b)
{
    return b >= 2;
}

static void fail(const char *what)
{
    std::printf("FAILED: %s\n", what);
    std::exit(EXIT_FAILURE);
}

/* Every point of IT++'s, with its bits mapped, is where TS 38.211 puts it. */
static void check_labels(const itpp::QAM &qam, const nr_constellation &constellation)
{
    for (int number = 0; number < 1 << constellation.n_bits; number++) {
        const itpp::bvec theirs = itpp::dec2bin(constellation.n_bits, number);
        int bits = 0;
        for (int b = 0; b < constellation.n_bits; b++)
            bits = 2 * bits + ((int)theirs(source_of(constellation, b)) ^ (int)is_complement(b));
        double ours[2];
        nr_point(&constellation, bits, 0, ours);
        const std::complex<double> point = qam.modulate_bits(theirs)(0);
        if (std::fabs(point.real() - ours[0]) > 1e-12 || std::fabs(point.imag() - ours[1]) > 1e-12)
            fail("IT++'s labels are not what this test takes them for");
    }
}

/* The library's, of 256QAM. */
static std::vector<float> demodulate(const std::vector<float> &symbols, float noise_var)
{
    std::vector<float> llrs(symbols.size() / 2 * (size_t)nr_256qam.n_bits);
    softqam_context_config where;
    softqam_context_config_init(&where);
    where.backend = SOFTQAM_BACKEND_CPU;
    softqam_config config;
    softqam_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_F32;
    softqam_demodulator *demodulator = nullptr;
    softqam_status status = softqam_context_create(&config.context, &where);
    if (status == SOFTQAM_OK)
        status = softqam_create(&demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, symbols.data(), &noise_var, symbols.size() / 2, llrs.data());
    if (status != SOFTQAM_OK)
        fail(softqam_error_message());
    softqam_destroy(demodulator);
    softqam_context_destroy(config.context);
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
static double compare(const itpp::QAM &qam, const nr_constellation &constellation, const std::vector<float> &symbols,
                      float noise_var, const std::vector<float> &ours)
{
    const int n_symbols = (int)(symbols.size() / 2), n_bits = constellation.n_bits;
    itpp::cvec received(n_symbols);
    for (int i = 0; i < n_symbols; i++)
        received(i) = std::complex<double>((double)symbols[2 * i], (double)symbols[2 * i + 1]);
    const itpp::vec theirs = qam.demodulate_soft_bits(received, (double)noise_var, itpp::APPROX);
    double worst = 0;
    for (int i = 0; i < n_symbols; i++) {
        for (int b = 0; b < n_bits; b++) {
            const double llr = theirs(n_bits * i + source_of(constellation, b)) * (is_complement(b) ? -1 : 1);
            const double difference = std::fabs((double)ours[n_bits * i + b] - llr);
            const double most = tolerance(constellation, &symbols[2 * i], b, llr, (double)noise_var);
            if (!(difference <= most)) {
                std::printf("%s (%a, %a), N0 %a: b%d is %a, IT++ has %a, %g apart, tolerance %g\n", constellation.name,
                            (double)symbols[2 * i], (double)symbols[2 * i + 1], (double)noise_var, b,
                            (double)ours[n_bits * i + b], llr, difference, most);
                fail("the LLRs differ from IT++'s");
            }
            worst = std::fmax(worst, difference / most);
        }
    }
    return worst;
}

/* IT++ adds up exp(-|r - x|^2 / N0) as it is, so only where nothing underflows. */
static void compare_log_map(const itpp::QAM &qam, const nr_constellation &constellation,
                            const std::vector<float> &symbols)
{
    const double noise_var = 0.05;
    for (size_t i = 0; i < symbols.size() / 2; i++) {
        itpp::cvec received(1);
        received(0) = std::complex<double>((double)symbols[2 * i], (double)symbols[2 * i + 1]);
        const itpp::vec theirs = qam.demodulate_soft_bits(received, noise_var, itpp::LOGMAP);
        double ours[NR_MAX_BITS];
        log_map_llrs(&constellation, &symbols[2 * i], noise_var, i, ours);
        for (int b = 0; b < constellation.n_bits; b++) {
            const double llr = theirs(source_of(constellation, b)) * (is_complement(b) ? -1 : 1);
            if (!(std::fabs(ours[b] - llr) <= 1e-9 * (1 + std::fabs(llr))))
                fail("the reference's log-MAP differs from IT++'s");
        }
    }
}

static std::vector<float> random_symbols(std::mt19937 &random, float limit, size_t n_symbols)
{
    std::vector<float> symbols(2 * n_symbols);
    for (float &component : symbols)
        component = ((float)(random() >> 8) * 0x1p-23F - 1) * limit;
    return symbols;
}

static void check_constellation(const nr_constellation &constellation, std::mt19937 &random)
{
    const bool is_256qam = &constellation == &nr_256qam;
    const itpp::QAM qam(1 << constellation.n_bits);
    check_labels(qam, constellation);
    for (const float limit : {1.4F, 4.0F, 100.0F}) {
        const std::vector<float> symbols = random_symbols(random, limit, is_256qam ? 20000 : 5000);
        for (const float noise_var : {1.0F, 0.1F, 0.0123F, 3e-4F}) {
            const double specified =
                compare(qam, constellation, symbols, noise_var, specified_llrs(constellation, symbols, noise_var));
            std::printf("%s in +-%g, N0 %g: up to %.3f of the tolerance\n", constellation.name, (double)limit,
                        (double)noise_var, specified);
            if (is_256qam)
                compare(qam, constellation, symbols, noise_var, demodulate(symbols, noise_var));
        }
    }
    compare_log_map(qam, constellation, random_symbols(random, 1.4F, 1000));
}

int main()
{
    const char *text = std::getenv("SOFTQAM_TEST_SEED");
    const unsigned long long seed = text ? std::strtoull(text, nullptr, 0) : 256;
    std::printf("SOFTQAM_TEST_SEED=0x%llx\n", seed);
    std::mt19937 random((std::mt19937::result_type)seed);
    for (const nr_constellation *constellation : {&nr_qpsk, &nr_16qam, &nr_64qam, &nr_256qam, &nr_1024qam})
        check_constellation(*constellation, random);
    return EXIT_SUCCESS;
}
