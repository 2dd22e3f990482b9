/* SPDX-License-Identifier: MIT */
/* A receiver in C that links the installed library: the shortest program of softqam.h, on one symbol. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

int main(void)
{
    char header_version[32];
    snprintf(header_version, sizeof header_version, "%d.%d.%d", SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR,
             SOFTQAM_VERSION_PATCH);
    if (strcmp(header_version, softqam_version()) != 0) {
        fprintf(stderr, "header %s, library %s\n", header_version, softqam_version());
        return 1;
    }

    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    softqam_demodulator *demodulator;
    if (softqam_demodulator_create(&demodulator, &config) != SOFTQAM_OK) {
        fprintf(stderr, "%s\n", softqam_error_message());
        return 1;
    }
    const float symbol[2] = {2, -2};
    const float noise_var = 1e-3F;
    const signed char expected[8] = {127, -127, -127, -127, -127, -127, -127, -127};
    signed char llrs[8] = {0};
    const softqam_status status = softqam_demodulate(demodulator, symbol, &noise_var, 1, llrs);
    printf("softqam %s: %s, %s\n", softqam_version(), softqam_backend_name(demodulator),
           softqam_backend_detail(demodulator));
    softqam_demodulator_destroy(demodulator);
    return status == SOFTQAM_OK && memcmp(llrs, expected, sizeof expected) == 0 ? 0 : 1;
}
