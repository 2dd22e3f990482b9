// SPDX-License-Identifier: MIT
// softqam behind OCUDU's interface of a demodulation mapper: the library's bytes with OCUDU's scales, erasures as OCUDU
// has them, nothing written beyond the LLRs.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "adapters.h"

using scheme = ocudu::modulation_scheme;

struct modulation {
    scheme mod;
    softqam_modulation number;
    float scale;
};
constexpr modulation modulations[] = {
    {scheme::PI_2_BPSK, SOFTQAM_MODULATION_PI2_BPSK, 5}, {scheme::BPSK, SOFTQAM_MODULATION_BPSK, 5},
    {scheme::QPSK, SOFTQAM_MODULATION_QPSK, 5},          {scheme::QAM16, SOFTQAM_MODULATION_16QAM, 6},
    {scheme::QAM64, SOFTQAM_MODULATION_64QAM, 6},        {scheme::QAM256, SOFTQAM_MODULATION_256QAM, 6},
    {scheme::QAM1024, SOFTQAM_MODULATION_1024QAM, 6}};

static std::mt19937 random_bits(20240);
static unsigned n_failures;

/// Compares a mapper's LLRs, and the bytes beyond, with what is expected, and what is not zero on an axis.
static void test_values(ocudu::demodulation_mapper &mapper, const modulation &each, size_t n)
{
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const ocudu::cf_t erased[] = {{0, 0}, {-0.0f, 0}, {0, -0.0f}, {-0.0f, -0.0f}, {infinity, 0}, {nan, 1}};
    const float erased_noise[] = {0, -1, nan, infinity};
    const unsigned bits = ocudu::get_bits_per_symbol(each.mod);
    std::normal_distribution<float> component(0, 0.7f);
    std::uniform_real_distribution<float> decades(-3.5f, 0.5f);
    std::vector<ocudu::cf_t> symbols(n);
    std::vector<float> noise(n);
    for (size_t i = 0; i < n; ++i) {
        symbols[i] = {i % 3 ? component(random_bits) : 0, component(random_bits)};
        noise[i] = std::pow(10.0f, decades(random_bits));
    }
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = each.number;
    config.llr_scale = each.scale;
    config.llr_limit = 120;
    softqam_demodulator *demodulator = nullptr;
    std::vector<int8_t> expected(n * bits + 64, 77);
    if (softqam_demodulator_create(&demodulator, &config) != SOFTQAM_OK ||
        softqam_demodulate(demodulator, symbols.data(), noise.data(), n, expected.data()) != SOFTQAM_OK)
        std::printf("%s\n", softqam_error_message());
    softqam_demodulator_destroy(demodulator);

    for (bool erases : {false, true}) {
        for (size_t i = 0; i < n && erases; i += 1 + random_bits() % 9) {
            if (random_bits() % 2 == 0)
                symbols[i] = erased[random_bits() % std::size(erased)];
            else
                noise[i] = erased_noise[random_bits() % std::size(erased_noise)];
            std::memset(expected.data() + i * bits, 0, bits);
        }
        std::vector<ocudu::log_likelihood_ratio> llrs(expected.size(), ocudu::log_likelihood_ratio(77));
        mapper.demodulate_soft(ocudu::span<ocudu::log_likelihood_ratio>(llrs).first(n * bits), symbols, noise,
                               each.mod);
        if (std::memcmp(llrs.data(), expected.data(), expected.size()) == 0)
            continue;
        ++n_failures;
        std::printf("%s, %zu symbols, erasures %d: other bytes\n", ocudu::to_string(each.mod).c_str(), n, erases);
    }
}

/// --wrap replaces OCUDU's factory by this.
std::shared_ptr<ocudu::demodulation_mapper_factory>
wrapped_factory() __asm__("__wrap__ZN5ocudu34create_demodulation_mapper_factoryEv");

int main()
{
    const auto factory = softqam_ocudu::create_demodulation_mapper_factory();
    const auto first = factory->create(), second = wrapped_factory()->create();
    for (const modulation &each : modulations)
        for (size_t n : {0, 1, 2, 12, 63, 64, 65, 257, 997, 3276})
            test_values(n % 2 == 0 ? *first : *second, each, n);
    std::printf("%u failures\n", n_failures);
    return n_failures != 0;
}
