/* SPDX-License-Identifier: MIT */
/* A receiver in C++17 that links the installed library: LLRs of two symbols with one noise variance, on a thread of its
 * own; settings that are zero but for two. */
#include <cstdint>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include <softqam/softqam.h>

int main()
{
    softqam_demodulator_config config{};
    config.modulation = SOFTQAM_MODULATION_QPSK;
    config.noise = SOFTQAM_NOISE_PER_CALL;
    softqam_demodulator *made = nullptr;
    softqam_status status = softqam_demodulator_create(&made, &config);
    const std::unique_ptr<softqam_demodulator, decltype(&softqam_demodulator_destroy)> demodulator(
        made, softqam_demodulator_destroy);
    const std::vector<float> symbols{2, -2, -2, 2};
    const float noise_var = 1e-3F;
    std::vector<std::int8_t> llrs(4);
    std::thread receiver([&] {
        if (status == SOFTQAM_OK)
            status = softqam_demodulate(demodulator.get(), symbols.data(), &noise_var, symbols.size() / 2, llrs.data());
    });
    receiver.join();
    const std::vector<std::int8_t> expected{127, -127, -127, 127};
    std::cout << softqam_version() << ' ' << softqam_status_string(status) << '\n';
    return status == SOFTQAM_OK && llrs == expected ? 0 : 1;
}
