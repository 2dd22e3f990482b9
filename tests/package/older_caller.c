/* SPDX-License-Identifier: MIT */
/* Compiled with a header whose configuration has fewer fields than the library's. What lies behind the structure is
 * somebody else's: here, canaries. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

#define CANARY 0xA5

static int is_intact(const unsigned char *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++) {
        if (bytes[i] != CANARY) {
            fprintf(stderr, "byte %zu behind the configuration was written\n", i);
            return 0;
        }
    }
    return 1;
}

int main(void)
{
    struct {
        softqam_config config;
        unsigned char behind[512];
    } memory;
    memset(&memory, CANARY, sizeof memory);
    softqam_config_init(&memory.config);
    if (!is_intact(memory.behind, sizeof memory.behind))
        return 1;
    /* Were they read, the canaries would be a sign, a noise mode and an LLR scale that no version knows. */
    memory.config.backend = SOFTQAM_BACKEND_CPU;
    softqam_demodulator *demodulator;
    if (softqam_create(&demodulator, &memory.config) != SOFTQAM_OK) {
        fprintf(stderr, "%s\n", softqam_error_message());
        return 1;
    }
    const float symbol[2] = {2, -2};
    const unsigned char expected[8] = {255, 0, 0, 0, 0, 0, 0, 0};
    unsigned char soft_bits[8];
    const softqam_status status = softqam_demodulate(demodulator, symbol, NULL, 1, soft_bits);
    softqam_destroy(demodulator);
    return status == SOFTQAM_OK && memcmp(soft_bits, expected, 8) == 0 && is_intact(memory.behind, 512) ? 0 : 1;
}
