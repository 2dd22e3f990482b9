/* SPDX-License-Identifier: MIT */
/* A receiver in C11 that links the library and checks its header's version: soft bits of one symbol of 256QAM. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, softqam_error_message());
    return 1;
}

int main(void)
{
    const float symbol[2] = {2, -2};
    const unsigned char expected[8] = {255, 0, 0, 0, 0, 0, 0, 0};
    unsigned char soft_bits[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    char header_version[32];
    snprintf(header_version, sizeof header_version, "%d.%d.%d", SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR,
             SOFTQAM_VERSION_PATCH);
    if (strcmp(header_version, softqam_version()) != 0)
        return failed(header_version);
    softqam_context_config context_config;
    softqam_demodulator_config config;
    softqam_context *context;
    softqam_demodulator *demodulator;
    softqam_context_config_init(&context_config);
    context_config.n_threads = 1;
    if (softqam_context_create(&context, &context_config) != SOFTQAM_OK)
        return failed("context");
    softqam_demodulator_config_init(&config);
    config.context = context;
    config.output_format = SOFTQAM_OUTPUT_U8;
    if (softqam_demodulator_create(&demodulator, &config) != SOFTQAM_OK)
        return failed("demodulator");
    const softqam_status status = softqam_demodulate(demodulator, symbol, NULL, 1, soft_bits);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(context);
    return status == SOFTQAM_OK && memcmp(soft_bits, expected, sizeof expected) == 0 ? 0 : failed("soft bits");
}
