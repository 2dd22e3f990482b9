// SPDX-License-Identifier: MIT
// softqam behind OCUDU's interface of a demodulation mapper: the library's bytes with OCUDU's scales, erasures as OCUDU
// has them, nothing written beyond the LLRs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "adapters.h"

namespace
{

using scheme = ocudu::modulation_scheme;
using llr_type = ocudu::log_likelihood_ratio;

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

constexpr int8_t canary = 77;
std::mt19937 random_bits(20240);
unsigned n_failures;

void expect(bool holds, const char *what, const modulation &each, size_t n)
{
    if (holds)
        return;
    ++n_failures;
    std::printf("%s, %zu symbols: %s\n", ocudu::to_string(each.mod).c_str(), n, what);
}

std::vector<int8_t> map(ocudu::demodulation_mapper &mapper, const std::vector<ocudu::cf_t> &symbols,
                        const std::vector<float> &noise, scheme mod)
{
    const size_t n_llrs = symbols.size() * ocudu::get_bits_per_symbol(mod);
    std::vector<llr_type> llrs(n_llrs + 64, llr_type(canary));
    mapper.demodulate_soft(ocudu::span<llr_type>(llrs).first(n_llrs), symbols, noise, mod);
    std::vector<int8_t> bytes(llrs.size());
    std::memcpy(bytes.data(), llrs.data(), bytes.size());
    return bytes;
}

void test_values(ocudu::demodulation_mapper &mapper, const modulation &each, size_t n)
{
    const unsigned bits = ocudu::get_bits_per_symbol(each.mod);
    std::normal_distribution<float> component(0, 0.7f);
    std::uniform_real_distribution<float> decades(-3.5f, 0.5f);
    std::vector<ocudu::cf_t> symbols(n);
    std::vector<float> noise(n);
    for (size_t i = 0; i < n; ++i) {
        symbols[i] = {component(random_bits), component(random_bits)};
        noise[i] = std::pow(10.0f, decades(random_bits));
    }

    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = each.number;
    config.llr_scale = each.scale;
    config.llr_limit = 120;
    softqam_demodulator *demodulator = nullptr;
    expect(softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK, "no demodulator", each, n);
    std::vector<int8_t> expected(n * bits + 64, canary);
    softqam_demodulate(demodulator, symbols.data(), noise.data(), n, expected.data());
    softqam_demodulator_destroy(demodulator);
    expect(map(mapper, symbols, noise, each.mod) == expected, "not the library's bytes", each, n);

    // Erasures among them: zeros of both signs, what is not finite, noise that is none.
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const ocudu::cf_t erased[] = {{0, 0}, {-0.0f, 0}, {0, -0.0f}, {-0.0f, -0.0f}, {infinity, 0}, {nan, 1}};
    const float erased_noise[] = {0, -1, nan, infinity};
    for (size_t i = 0; i < n; i += 1 + random_bits() % 9) {
        if (random_bits() % 2 == 0)
            symbols[i] = erased[random_bits() % std::size(erased)];
        else
            noise[i] = erased_noise[random_bits() % std::size(erased_noise)];
        std::fill_n(expected.begin() + i * bits, bits, 0);
    }
    expect(map(mapper, symbols, noise, each.mod) == expected, "wrong erasures", each, n);
    // On an axis, not at the origin.
    if (n > 0) {
        symbols[0] = {0, 0.1f};
        noise[0] = 0.01f;
        const std::vector<int8_t> llrs = map(mapper, symbols, noise, each.mod);
        expect(std::any_of(llrs.begin(), llrs.begin() + bits, [](int8_t llr) { return llr != 0; }), "an axis erased",
               each, n);
    }
}

} // namespace

/// What --wrap puts in the place of OCUDU's factory.
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
