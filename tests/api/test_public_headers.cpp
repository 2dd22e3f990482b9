// SPDX-License-Identifier: MIT
// A public header before anything else, as C++11; that this links shows the declarations to have C linkage.
#include PUBLIC_HEADER

int main()
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    return config.modulation == SOFTQAM_MODULATION_256QAM && SOFTQAM_VERSION >= 400 ? 0 : 1;
}
