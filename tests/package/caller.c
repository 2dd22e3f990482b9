/* SPDX-License-Identifier: MIT */
/* Prints the LLRs of a slot: two layers, scrambled, in code blocks. Compiled with this version's header or, with
 * NEW_FIELDS, with one that has made named fields of reserved ones: then it also sees that this version's library
 * refuses each of them. */
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

static softqam_segment make_segment(void)
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
    return segment;
}

#ifdef NEW_FIELDS
/* Each field of the configurations and of a segment in turn, and the message that its structure has for it. */
static int check_refusal(softqam_status status, const char *message)
{
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT && strstr(softqam_error_message(), message))
        return 0;
    fprintf(stderr, "not \"%s\": ", message);
    return failed(softqam_status_string(status));
}

static int check_config(const softqam_demodulator_config *config, const char *message)
{
    softqam_demodulator *demodulator;
    return check_refusal(softqam_demodulator_create(&demodulator, config), message) || demodulator;
}

static int check_context_config(const softqam_context_config *config, const char *message)
{
    softqam_context *context;
    return check_refusal(softqam_context_create(&context, config), message) || context;
}

static int check_configs(void)
{
    softqam_demodulator_config config;
    softqam_context_config context_config;
    int wrong = 0;
    softqam_demodulator_config_init(&config);
    config.new_number = 1;
    wrong += check_config(&config, "config.reserved is not 0");
    softqam_demodulator_config_init(&config);
    config.new_name = "";
    wrong += check_config(&config, "config.reserved is not 0");
    softqam_demodulator_config_init(&config);
    config.new_word = 7;
    wrong += check_config(&config, "config.reserved_word is 7, not 0");

    softqam_context_config_init(&context_config);
    context_config.new_number = 1;
    wrong += check_context_config(&context_config, "config.reserved is not 0");
    softqam_context_config_init(&context_config);
    context_config.new_name = "";
    wrong += check_context_config(&context_config, "config.reserved is not 0");
    softqam_context_config_init(&context_config);
    context_config.new_word = 7;
    wrong += check_context_config(&context_config, "config.reserved_word is 7, not 0");
    return wrong;
}

static int check_grant(void)
{
    const softqam_ldpc_grant good = {.n_bits = 96, .tb_size = 24, .base_graph = 2, .bits_per_symbol = 6, .n_layers = 1};
    softqam_codeword codeword;
    softqam_ldpc ldpc;
    int wrong = 0;
    for (int k = 0; k < 2; k++) {
        softqam_ldpc_grant grant = good;
        grant.new_number = k == 0;
        grant.new_name = k == 1 ? "" : NULL;
        wrong += check_refusal(softqam_codeword_init_ldpc(&codeword, NULL, &grant), "grant.reserved is not 0");
    }
    ldpc.new_number = 1;
    ldpc.new_name = "";
    return wrong +
           (softqam_codeword_init_ldpc(&codeword, &ldpc, &good) != SOFTQAM_OK || ldpc.new_number != 0 || ldpc.new_name);
}

static int check_segments(const softqam_demodulator *demodulator)
{
    const char *messages[] = {
        "segment.reserved is not 0",           "segment.reserved is not 0",           "segment.reserved_word is not 0",
        "segment.layers[1].reserved is not 0", "segment.layers[1].reserved is not 0", "codeword.reserved is not 0",
        "codeword.reserved is not 0",
    };
    int wrong = 0;
    for (int k = 0; k < 7; k++) {
        softqam_segment segments[2] = {make_segment(), make_segment()};
        softqam_segment *segment = &segments[1];
        segment->new_number = k == 0;
        segment->new_name = k == 1 ? "" : NULL;
        segment->new_word = k == 2;
        segment->layers[1].new_number = k == 3;
        segment->layers[1].new_name = k == 4 ? "" : NULL;
        segment->codeword.new_number = k == 5;
        segment->codeword.new_name = k == 6 ? "" : NULL;
        wrong += check_refusal(softqam_demodulate_segments(demodulator, segments, 2), messages[k]);
    }
    return wrong;
}
#endif

static int demodulate(const softqam_demodulator *demodulator)
{
    softqam_segment segment = make_segment();
    memset(llrs, 0x55, sizeof llrs);
    if (softqam_demodulate_segments(demodulator, &segment, 1) != SOFTQAM_OK)
        return failed("segments");
    for (size_t k = 0; k < sizeof llrs; k++)
        printf("%d%c", llrs[k], (k + 1) % STRIDE ? ' ' : '\n');
#ifdef NEW_FIELDS
    /* Each refusal wrote nothing. */
    signed char before[sizeof llrs];
    memcpy(before, llrs, sizeof llrs);
    if (check_configs() + check_grant() + check_segments(demodulator) != 0)
        return 1;
    return memcmp(before, llrs, sizeof llrs) != 0;
#else
    return 0;
#endif
}

int main(void)
{
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
