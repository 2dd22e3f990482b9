/* SPDX-License-Identifier: MIT */
/* Includes one public header before anything else, as C99 and as C++11. It links only if the declarations are those of
 * the library, with C linkage. */
#include PUBLIC_HEADER

int main(void)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    return config.modulation == SOFTQAM_MODULATION_256QAM && SOFTQAM_VERSION >= 10000 ? 0 : 1;
}
