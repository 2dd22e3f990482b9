/* SPDX-License-Identifier: MIT */
/* A receiver in C that links the installed library: one symbol whose soft bits are all sure. */
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

    softqam_config config;
    softqam_config_init(&config);
    softqam_demodulator *demodulator;
    if (softqam_create(&demodulator, &config) != SOFTQAM_OK) {
        fprintf(stderr, "%s\n", softqam_error_message());
        return 1;
    }
    const float symbol[2] = {2, -2};
    const unsigned char expected[8] = {255, 0, 0, 0, 0, 0, 0, 0};
    unsigned char soft_bits[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const softqam_status status = softqam_demodulate(demodulator, symbol, NULL, 1, soft_bits);
    printf("softqam %s: %s, %s\n", softqam_version(), softqam_backend_name(demodulator),
           softqam_backend_detail(demodulator));
    softqam_destroy(demodulator);
    return status == SOFTQAM_OK && memcmp(soft_bits, expected, sizeof expected) == 0 ? 0 : 1;
}
