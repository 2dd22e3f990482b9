/* SPDX-License-Identifier: MIT */
/* A receiver that links the library and checks its header's version: soft bits of one symbol of 256QAM. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

int main(void)
{
    const float symbol[2] = {2, -2};
    const unsigned char expected[8] = {255, 0, 0, 0, 0, 0, 0, 0};
    unsigned char soft_bits[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    char version[32];
    softqam_demodulator_config config;
    softqam_demodulator *demodulator;
    snprintf(version, sizeof version, "%d.%d.%d", SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR, SOFTQAM_VERSION_PATCH);
    softqam_demodulator_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_U8;
    const int is_good = strcmp(version, softqam_version()) == 0 &&
                        softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK &&
                        softqam_demodulate(demodulator, symbol, NULL, 1, soft_bits) == SOFTQAM_OK &&
                        memcmp(soft_bits, expected, sizeof expected) == 0;
    softqam_demodulator_destroy(demodulator);
    return is_good ? 0 : fprintf(stderr, "%s: %s\n", version, softqam_error_message());
}
