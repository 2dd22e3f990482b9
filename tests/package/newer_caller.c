/* SPDX-License-Identifier: MIT */
/* Compiled with a header whose configuration has more fields than the library's. Left alone they are zero and accepted;
 * set, they are refused rather than ignored. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

int main(void)
{
    softqam_config config;
    memset(&config, 0xff, sizeof config);
    softqam_config_init(&config);
    if (config.new_number != 0 || config.new_name) {
        fprintf(stderr, "a field that the library does not know is not zero\n");
        return 1;
    }
    softqam_demodulator *demodulator;
    if (softqam_create(&demodulator, &config) != SOFTQAM_OK) {
        fprintf(stderr, "%s\n", softqam_error_message());
        return 1;
    }
    softqam_destroy(demodulator);
    config.new_number = 1;
    if (softqam_create(&demodulator, &config) != SOFTQAM_ERROR_INVALID_ARGUMENT || demodulator ||
        !strstr(softqam_error_message(), "does not know")) {
        fprintf(stderr, "a field that the library does not know was ignored\n");
        return 1;
    }
    return 0;
}
