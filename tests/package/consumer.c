/* SPDX-License-Identifier: MIT */
/* A receiver in C that links the library: prints the LLRs of a slot of two layers, scrambled, in code blocks. Compiled
 * with this version's header, or with one that has made named fields of reserved ones, which are at their defaults
 * here. */
#include <stdio.h>
#include <string.h>

#include <softqam/softqam.h>

enum { N_SYMBOLS = 48, BITS = 6, N_BLOCKS = 3, STRIDE = 120 };

static float symbols[N_SYMBOLS][2];
static float noise_var[N_SYMBOLS];
static signed char llrs[N_BLOCKS * STRIDE];

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, softqam_error_message());
    return 1;
}

static int demodulate(const softqam_demodulator *demodulator)
{
    softqam_segment segment = {0};
    segment.n_symbols = N_SYMBOLS;
    segment.modulation = SOFTQAM_MODULATION_64QAM;
    segment.n_layers = 2;
    segment.symbol_stride = 2;
    segment.noise_stride = 2;
    segment.descramble = 1;
    segment.c_init = 0x12345;
    segment.codeword.n_bits = (uint64_t)N_SYMBOLS * BITS;
    segment.codeword.n_code_blocks = N_BLOCKS;
    segment.codeword.buffers = llrs;
    segment.codeword.block_stride = STRIDE;
    segment.codeword.deinterleave = 1;
    for (int k = 0; k < 2; k++) {
        segment.layers[k].symbols = symbols[k];
        segment.layers[k].noise_var = noise_var + k;
    }
    memset(llrs, 0x55, sizeof llrs);
    if (softqam_demodulate_segments(demodulator, &segment, 1) != SOFTQAM_OK)
        return failed("segments");
    for (size_t k = 0; k < sizeof llrs; k++)
        printf("%d%c", llrs[k], (k + 1) % STRIDE ? ' ' : '\n');
    return 0;
}

int main(void)
{
    char header_version[32];
    snprintf(header_version, sizeof header_version, "%d.%d.%d", SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR,
             SOFTQAM_VERSION_PATCH);
    if (strcmp(header_version, softqam_version()) != 0)
        return failed(header_version);
    for (int k = 0; k < N_SYMBOLS; k++) {
        symbols[k][0] = (float)(37 * k % 64 - 32) / 32;
        symbols[k][1] = (float)(23 * k % 64 - 32) / 32;
        noise_var[k] = (float)(1 + k) / 64;
    }
    printf("%zu %zu %zu %zu %zu\n", sizeof(softqam_context_config), sizeof(softqam_demodulator_config),
           sizeof(softqam_layer), sizeof(softqam_codeword), sizeof(softqam_segment));

    softqam_context_config context_config;
    softqam_demodulator_config config;
    memset(&context_config, 0xff, sizeof context_config);
    memset(&config, 0xff, sizeof config);
    softqam_context_config_init(&context_config);
    softqam_demodulator_config_init(&config);
    context_config.n_threads = 1;
    softqam_context *context;
    softqam_demodulator *demodulator;
    if (softqam_context_create(&context, &context_config) != SOFTQAM_OK)
        return failed("context");
    config.context = context;
    config.llr_scale = 5;
    config.llr_limit = 120;
    if (softqam_demodulator_create(&demodulator, &config) != SOFTQAM_OK)
        return failed("demodulator");
    const int status = demodulate(demodulator);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(context);
    return status;
}
