/* SPDX-License-Identifier: MIT */
/* Compiled with a header whose structures have more fields than the library's. Left alone they are zero and accepted;
 * set, they are refused rather than ignored. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, softqam_error_message());
    return 1;
}

static int is_refused(softqam_status status)
{
    return status == SOFTQAM_ERROR_INVALID_ARGUMENT && strstr(softqam_error_message(), "does not know");
}

/* Of segments, which are further apart than in the library's own version. */
static int demodulate(softqam_demodulator *demodulator)
{
    const float symbols[2][2] = {{2, -2}, {-2, 2}};
    const unsigned char expected[2][8] = {{255, 0, 0, 0, 0, 0, 0, 0}, {0, 255, 0, 0, 0, 0, 0, 0}};
    unsigned char out[2][8];
    softqam_segment segments[2];
    memset(segments, 0, sizeof segments);
    for (int k = 0; k < 2; k++) {
        segments[k].n_symbols = 1;
        segments[k].out = out[k];
        segments[k].layers[0].symbols = symbols[k];
    }
    if (softqam_demodulate_segments(demodulator, segments, 2) != SOFTQAM_OK || memcmp(out, expected, sizeof out) != 0)
        return failed("segments of a newer version");
    segments[1].new_name = "";
    if (!is_refused(softqam_demodulate_segments(demodulator, segments, 2)))
        return failed("a segment's field that the library does not know was ignored");
    return 0;
}

int main(void)
{
    softqam_context_config context_config;
    softqam_config config;
    memset(&context_config, 0xff, sizeof context_config);
    memset(&config, 0xff, sizeof config);
    softqam_context_config_init(&context_config);
    softqam_config_init(&config);
    if (config.new_number != 0 || config.new_name || context_config.new_number != 0 || context_config.new_name)
        return failed("a field that the library does not know is not zero");

    softqam_context *context;
    softqam_demodulator *demodulator;
    context_config.backend = SOFTQAM_BACKEND_CPU;
    if (softqam_context_create(&context, &context_config) != SOFTQAM_OK)
        return failed("a context of a newer version");
    config.context = context;
    if (softqam_create(&demodulator, &config) != SOFTQAM_OK)
        return failed("a demodulator of a newer version");
    const int status = demodulate(demodulator);
    softqam_destroy(demodulator);
    softqam_context_destroy(context);

    config.new_number = 1;
    context_config.new_number = 1;
    if (!is_refused(softqam_create(&demodulator, &config)) || demodulator)
        return failed("a demodulator's field that the library does not know was ignored");
    if (!is_refused(softqam_context_create(&context, &context_config)) || context)
        return failed("a context's field that the library does not know was ignored");
    return status;
}
