/* SPDX-License-Identifier: MIT */
/* Wrong arguments by the hundred, as tables: each row with the message that must come beside
 * SOFTQAM_ERROR_INVALID_ARGUMENT. Whatever the row, not a byte of memory changes and the demodulator still works. Here
 * those of calls; bad_codewords.c has those of codewords, bad_settings.c those of demodulators and contexts. */
#include <stdio.h>
#include <string.h>

#include "bad_calls.h"

_Alignas(float) uint8_t memory[MEMORY_NBYTES];

void fill_memory(uint8_t *copy)
{
    const float one = 1;
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(copy, memory, sizeof memory);
}

/* NULL stands for what is in order. */
static const void *or_good(const void *given, const void *good) { return given == NONE ? NULL : given ? given : good; }

softqam_segment segment_of(const bad_row *row)
{
    softqam_segment segment = row->segment;
    const bool has_noise = row->format != SOFTQAM_OUTPUT_U8;
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        softqam_layer *layer = &segment.layers[k];
        layer->symbols = or_good(layer->symbols, IN);
        layer->noise_var = or_good(layer->noise_var, has_noise ? NOISE : NULL);
    }
    if (!segment.out && segment.codeword.n_code_blocks == 0)
        segment.out = OUT;
    else if (segment.out == NONE)
        segment.out = NULL;
    return segment;
}

static void assert_works(const softqam_demodulator *demodulator, softqam_output_format format)
{
    const float symbol[2] = {0.5F, -0.5F}, noise_var = 1;
    uint8_t out[32] = {0}, nothing[32] = {0};
    harness_demodulate_llrs(demodulator, symbol, format == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var, 1, out);
    assert_memory_not_equal(out, nothing, sizeof out);
}

void check_refused(softqam_demodulator_config config, const softqam_segment *bad, const char *message, const char *what,
                   size_t number)
{
    const float *noise = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : FLOATS(NOISE);
    const softqam_segment good = harness_segment(IN, noise, 0, 1, OUT + 1024), segments[3] = {good, *bad, good};
    const softqam_layer *layer = &bad->layers[0];
    softqam_segment simple =
        harness_segment(layer->symbols, layer->noise_var, bad->noise_stride, bad->n_symbols, bad->out);
    memcpy(simple.layers + 1, bad->layers + 1, sizeof simple.layers - sizeof *simple.layers);
    uint8_t before[MEMORY_NBYTES];
    config.noise = bad->noise_stride == 1 ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    scoped_demodulator *demodulator = api_create(&config);
    fill_memory(before);
    api_check_refusal(softqam_demodulate_segments(demodulator, bad, 1), message, what, number);
    for (int first = 0; first < 2; first++) {
        char numbered[API_MESSAGE + 20];
        snprintf(numbered, sizeof numbered, "segment %d of 2: %s", 1 - first, message);
        api_check_refusal(softqam_demodulate_segments(demodulator, segments + first, 2), numbered, what, number);
    }
    if (bad->noise_stride <= 1 && memcmp(bad, &simple, sizeof simple) == 0)
        api_check_refusal(softqam_demodulate(demodulator, layer->symbols, layer->noise_var, bad->n_symbols, bad->out),
                          message, what, number);
    assert_memory_equal(memory, before, sizeof memory);
    assert_works(demodulator, config.output_format);
}

void check_rows(const bad_row *rows, size_t n_rows, bad_part part, const char *what)
{
    for (size_t k = 0; k < n_rows; k++) {
        const softqam_demodulator_config config = api_config(rows[k].format);
        softqam_segment segment = segment_of(&rows[k]);
        check_refused(config, &segment, rows[k].message, what, k);
        segment.n_symbols = 0;
        if (part != BAD_MEMORY) {
            check_refused(config, &segment, rows[k].message, what, k);
        } else if (harness_backend() != SOFTQAM_BACKEND_CUDA) {
            scoped_demodulator *demodulator = api_create(&config);
            harness_demodulate_segments(demodulator, &segment, 1);
        }
        if (part == BAD_CODE_BLOCKS) {
            uint64_t first = 77, n = 88;
            api_check_refusal(softqam_codeword_block(&segment.codeword, 8, 1, 0, &first, &n), rows[k].message, what, k);
            assert_true(first == 77 && n == 88);
        }
    }
}

void check_numbers(const api_numbers *numbers, size_t n, bad_part part)
{
    api_number number = {.rows = numbers, .n_rows = n};
    for (bad_row row; api_next_number(&number, &row, sizeof row);) {
        row.message = number.message;
        check_rows(&row, 1, part, "number");
    }
}

#define FIELD(kind, ...)                                                                                               \
    WRONG(&((const bad_row){SOFTQAM_OUTPUT_##kind, {.n_symbols = 4}, NULL}), "segment.", __VA_ARGS__)
static const bad_row two_layers = ROW(S8, 4, NULL, .n_layers = 2);
static const api_numbers field_numbers[] = {
    FIELD(S8, modulation, 'u', "8 -1", ""),
    FIELD(S8, noise_form, 'u', "3 -1", ""),
    FIELD(U8, noise_form, 'u', "-2147483648", ""),
    FIELD(S8, input_scale, 'f', "-1 -inf", ", not finite and positive"),
    FIELD(U8, input_scale, 'f', "nan", ", not finite and positive"),
    FIELD(F32, input_scale, 'f', "inf", ", not finite and positive"),
    FIELD(S8, llr_scale, 'f', "-6 nan 0x1p21", ", not 2^-10 to 2^20"),
    FIELD(F16, llr_scale, 'f', "6", ", not 1, the only scale of this output format"),
    FIELD(U8, llr_scale, 'f', "6", ", not 1, the only scale of this output format"),
    FIELD(S8, n_layers, 'u', "5 4294967295", ", more than 4"),
    FIELD(U8, n_layers, 'u', "5", ", more than 4"),
    FIELD(U8, n_layers, 'u', "2 4", ": u8 soft bits are liquid-dsp's, which has no layers"),
    FIELD(U8, plane_stride, 'z', "4", ": u8 soft bits are liquid-dsp's, which has no bit planes"),
    FIELD(S8, descramble, 'u', "2 4294967295", ", not 0 or 1"),
    FIELD(U8, descramble, 'u', "1", ": u8 soft bits are not symmetric, so not descrambled"),
    FIELD(S8, c_init, 'u', "7", ", but segment.descramble is 0"),
    FIELD(S8, reserved, 'r', "0 1 2 3 4 5 6 7", ""),
    FIELD(S8, layers[0].reserved, 'r', "0 1", ""),
    WRONG(&two_layers, "segment.", layers[1].reserved, 'r', "0 1", ""),
};

/* What is wrong of no symbols too. */
static const bad_row field_rows[] = {
    ROW(U8, 4, "segment.modulation is 64QAM: u8 soft bits are those of 256QAM alone", .modulation = 5),
    ROW(U8, 4, "segment.modulation is QPSK: u8 soft bits are those of 256QAM alone", .modulation = 3, .n_layers = 9),
    ROW(F16, 4, "segment.n_layers is 2: pi/2-BPSK has one layer", .n_layers = 2, .modulation = 2),
    ROW(S8, 4, "segment.first_symbol is 7, not a multiple of 2 layers", .n_layers = 2, .first_symbol = 7),
    ROW(F32, 4, "segment.first_symbol is 18446744073709551615, not a multiple of 4 layers", .n_layers = 4,
        .first_symbol = UINT64_MAX),
    ROW(S8, 4, "segment.scrambling_offset is 3, not a multiple of 2 layers", .n_layers = 2, .scrambling_offset = 3),
    ROW(U8, 4, "segment.descramble is 4294967295, not 0 or 1", .descramble = UINT32_MAX, .c_init = UINT32_MAX),
    ROW(F32, 4, "segment.c_init is 2147483648, more than 2^31 - 1", .descramble = 1, .c_init = 0x80000000U),
    ROW(F16, 4, "segment.first_symbol is 18446744073709551615" UNCOUNTED, .descramble = 1, .first_symbol = UINT64_MAX),
    ROW(S8, 4, "segment.first_symbol is 2305843009213693952" UNCOUNTED, .descramble = 1,
        .first_symbol = UINT64_MAX / 8 + 1),
    ROW(S8, 4, "segment.first_symbol is 0" UNCOUNTED, .descramble = 1, .scrambling_offset = UINT64_MAX),
    ROW(S8, 4, "segment.first_symbol is 1152921504606846976" UNCOUNTED, .descramble = 1,
        .scrambling_offset = UINT64_MAX / 16 + 1, .first_symbol = UINT64_MAX / 16 + 1),
    ROW(U8, 4, "noise_var is given, which u8 soft bits do not take", .layers = {{.noise_var = FLOATS(NOISE)}}),
    ROW(U8, 4, "noise_var is given, which u8 soft bits do not take",
        .layers = {{.symbols = NONE, .noise_var = FLOATS(NOISE)}}, .out = NONE),
    ROW(U8, 4, "gain is given, which u8 soft bits do not take", .layers = {{.gain = FLOATS(NOISE)}}),
    ROW(S8, 4, "segment.reserved_word is not 0", .reserved_word = 0x80000000U),
};

HARNESS_TEST(test_fields)
{
    check_numbers(field_numbers, HARNESS_COUNT(field_numbers), BAD_FIELD);
    check_rows(field_rows, HARNESS_COUNT(field_rows), BAD_FIELD, "field");
}

/* One layer in one run. */
#define CALL(kind, n, text, in, noise, to)                                                                             \
    ROW(kind, n, text, .out = (to), .layers = {{.symbols = (in), .noise_var = FLOATS(noise)}})
/* I and Q with a stride; noise with one. */
#define APART(n, text, step, i, q)                                                                                     \
    ROW(U8, n, text, .symbol_stride = (step), .layers = {{.symbols = (i), .symbols_q = (q)}})
#define NOISY(n, text, step, noise) ROW(S8, n, text, .noise_stride = (step), .layers = {{.noise_var = FLOATS(noise)}})
/* Eight symbols in four layers, of which one is not like the others. */
#define LAYER(text, k, ...) ROW(S8, 8, text, .n_layers = 4, .noise_stride = 1, .layers[k] = {__VA_ARGS__})

/* What is wrong of symbols: lengths, and where all lies. Of cf32 symbols, 8 bytes; u8 and s8 give as many; with a plane
 * stride of 20, 7 * 20 + 8. test_every_overlap and test_overflowing_counts have more. */
static const bad_row memory_rows[] = {
    ROW(S8, 4, "segment.n_symbols is 4, not a multiple of 3 layers", .n_layers = 3),
    ROW(S8, 4, "segment.plane_stride is 3, less than 4 symbols", .plane_stride = 3),
    ROW(F32, 4, "segment.plane_stride is 1, less than 4 symbols", .plane_stride = 1, .modulation = 1),
    ROW(F16, 4, TOO_LARGE(4), .plane_stride = SIZE_MAX),
    ROW(S8, 4, TOO_LARGE(4), .plane_stride = SIZE_MAX / 7),
    ROW(S8, 4, TOO_LARGE(4), .plane_stride = SIZE_MAX / 14 + 1),
    ROW(F32, 4, TOO_LARGE(4), .plane_stride = SIZE_MAX / 28, .n_layers = 2),
    CALL(U8, 4, "symbols is NULL", NONE, NULL, OUT),
    CALL(U8, 4, "out is NULL", IN, NULL, NONE),
    CALL(U8, 4, "symbols is NULL", NONE, NULL, NONE),
    CALL(S8, 4, "symbols is NULL", NONE, NOISE, OUT),
    CALL(S8, 4, "out is NULL", IN, NOISE, NONE),
    APART(4, OVERLAP, 0, IN, OUT),
    APART(4, OVERLAP, 0, IN, OUT - 4),
    APART(4, OVERLAP, 0, IN, OUT - 12),
    APART(4, OVERLAP, 0, IN, OUT + 28),
    APART(4, OVERLAP, 0, OUT - 8, Q),
    APART(4, OVERLAP, 2, OUT - 24, NULL),
    APART(4, OVERLAP, 10, OUT - 240, NULL),
    APART(4, OVERLAP, 10, OUT - 120, Q),
    APART(4, OVERLAP, 10, IN, OUT - 120),
    APART(2, TOO_LARGE(2), SIZE_MAX, IN, NULL),
    APART(2, TOO_LARGE(2), SIZE_MAX / 8, IN, NULL),
    APART(2, TOO_LARGE(2), SIZE_MAX / 16 + 1, IN, NULL),
    APART(2, TOO_LARGE(2), SIZE_MAX / 4, IN, Q),
    APART(3, TOO_LARGE(3), SIZE_MAX / 2, IN, Q),
    APART(3, TOO_LARGE(3), SIZE_MAX / 2 + 1, IN, Q),
    APART(5, TOO_LARGE(5), SIZE_MAX / 4 + 1, IN, Q),
    CALL(S16, 4, "noise_var is NULL, which LLRs need", IN, NONE, OUT),
    CALL(F16, 4, "noise_var is NULL, which LLRs need", IN, NONE, OUT),
    CALL(F32, 4, "noise_var is NULL, which LLRs need", IN, NONE, OUT),
    NOISY(4, "noise_var is NULL, which LLRs need", 0, NONE),
    NOISY(4, "noise_var is NULL, which LLRs need", 1, NONE),
    CALL(S16, 4, "noise_var is not aligned to 4 bytes", IN, NOISE + 2, OUT),
    CALL(F32, 4, "noise_var is not aligned to 4 bytes", IN, NOISE + 1, OUT),
    NOISY(4, "noise_var is not aligned to 4 bytes", 1, NOISE + 1),
    NOISY(4, "noise_var is not aligned to 4 bytes", 0, NOISE + 2),
    NOISY(4, "noise_var is not aligned to 4 bytes", 5, NOISE + 3),
    NOISY(4, OVERLAP, 2, OUT - 24),
    NOISY(4, OVERLAP, 10, OUT - 120),
    NOISY(2, TOO_LARGE(2), SIZE_MAX, NOISE),
    NOISY(2, TOO_LARGE(2), SIZE_MAX / 4, NOISE),
    NOISY(2, TOO_LARGE(2), SIZE_MAX / 8 + 1, NOISE),
    NOISY(3, TOO_LARGE(3), SIZE_MAX / 2, NOISE),
    LAYER("layer 1: symbols is NULL", 1, .symbols = NONE),
    LAYER("layer 3: symbols is NULL", 3, .symbols = NONE, .symbols_q = Q),
    LAYER("layer 2: noise_var is NULL, which LLRs need", 2, .noise_var = NONE),
    LAYER("layer 3: noise_var is not aligned to 4 bytes", 3, .noise_var = FLOATS(NOISE + 2)),
    LAYER("layer 0: noise_var is not aligned to 4 bytes", 0, .noise_var = FLOATS(NOISE + 1)),
    LAYER(OVERLAP, 1, .symbols = OUT + 63),
    LAYER(OVERLAP, 2, .symbols = OUT - 15),
    LAYER(OVERLAP, 3, .symbols_q = OUT - 4),
    LAYER(OVERLAP, 3, .noise_var = FLOATS(OUT - 4)),
    ROW(S8, 8, OVERLAP, .n_layers = 4, .symbol_stride = 5, .layers[2].symbols = OUT - 47),
    ROW(S8, 8, OVERLAP, .n_layers = 4, .plane_stride = 20, .layers[1].symbols = OUT + 147),
    ROW(S8, 8, OVERLAP, .n_layers = 4, .plane_stride = 20, .layers[3].noise_var = FLOATS(OUT + 144)),
    ROW(S8, 8, TOO_LARGE(8), .n_layers = 4, .symbol_stride = SIZE_MAX / 8),
    ROW(S8, 1, "gain is not aligned to 4 bytes", .layers = {{.gain = FLOATS(NOISE + 1)}}),
    ROW(S8, 1, OVERLAP, .layers = {{.gain = FLOATS(OUT)}}),
    ROW(S8, 2, "layer 1: gain is NULL", .n_layers = 2, .layers = {{.gain = FLOATS(NOISE)}}),
    ROW(S8, 2, "layer 1: gain is given, but layer 0 has none", .n_layers = 2, .layers[1].gain = FLOATS(NOISE)),
    /* What would go beyond the end of all addresses. */
    ROW(S8, 4, TOO_LARGE(4), .layers = {{.symbols = BEFORE_END(8)}}),
    ROW(S8, 4, TOO_LARGE(4), .layers = {{.symbols_q = BEFORE_END(8)}}),
    ROW(S8, 4, TOO_LARGE(4), .noise_stride = 1, .layers = {{.noise_var = BEFORE_END(8)}}),
    ROW(S8, 4, TOO_LARGE(4), .noise_stride = 1, .layers = {{.gain = BEFORE_END(8)}}),
};

HARNESS_TEST(test_memory)
{
    check_rows(memory_rows, HARNESS_COUNT(memory_rows), BAD_MEMORY, "memory");
    /* What lies just beside the output is no overlap; of layers that a segment has not, no word is looked at. */
    const bad_row beside[] = {
        ROW(S8, 2, NULL, .n_layers = 2, .plane_stride = 20,
            .layers = {{.symbols = OUT + 142, .noise_var = FLOATS(OUT - 4)},
                       {.symbols = OUT - 8, .noise_var = FLOATS(OUT + 144)}}),
        ROW(S8, 4, NULL, .noise_stride = 1, .layers = {{.symbols_q = OUT - 4 * sizeof(float)}}),
        ROW(S8, 4, NULL, .n_layers = 2, .layers[2].reserved = {1, 1}, .layers[3].reserved = {1, 1}),
    };
    const softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(beside) && harness_backend() != SOFTQAM_BACKEND_CUDA; k++) {
        const softqam_segment segment = segment_of(&beside[k]);
        harness_demodulate_segments(demodulator, &segment, 1);
    }
}

/* An input at every address about the output, in every format: of symbols, which may have any alignment, then of noise.
 * Refused just where they overlap; else nothing but the output changes. */
HARNESS_TEST(test_every_overlap)
{
    enum { N = API_SYMBOLS, ROOM = 8 };
    for (size_t k = 0; k < 2 * HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        softqam_demodulator_config config = api_config((softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS));
        config.input_format = (softqam_input_format)(k / HARNESS_N_OUTPUT_FORMATS % HARNESS_N_INPUT_FORMATS);
        config.noise = (softqam_noise)(k % 2);
        const bool moves_noise = k >= HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS;
        const bool is_u8 = config.output_format == SOFTQAM_OUTPUT_U8;
        const size_t noise_stride = config.noise == SOFTQAM_NOISE_PER_SYMBOL;
        const size_t in_nbytes = N * softqam_input_symbol_nbytes(config.input_format);
        const size_t nbytes = moves_noise ? sizeof(float) * (noise_stride ? N : 1) : in_nbytes;
        const size_t out_nbytes = harness_output_nbytes(config.output_format, N);
        if (moves_noise && is_u8)
            continue;
        scoped_demodulator *demodulator = api_create(&config);
        for (const uint8_t *at = OUT - nbytes - ROOM; at <= OUT + out_nbytes + ROOM; at += moves_noise ? 4 : 1) {
            const float *noise = is_u8 ? NULL : FLOATS(moves_noise ? at : NOISE);
            const softqam_segment segment = harness_segment(moves_noise ? IN : at, noise, noise_stride, N, OUT);
            if (at + nbytes > OUT && at < OUT + out_nbytes) {
                check_refused(config, &segment, OVERLAP, "an address", (size_t)(at - memory));
                continue;
            }
            uint8_t expected[MEMORY_NBYTES];
            fill_memory(expected);
            harness_demodulate_llrs(demodulator, segment.layers[0].symbols, noise, N, OUT);
            memcpy(expected + (OUT - memory), OUT, out_nbytes);
            assert_memory_equal(memory, expected, sizeof memory);
        }
    }
}

/* Counts whose bytes overflow size_t, wrap to something small, or exceed PTRDIFF_MAX, in every format. */
HARNESS_TEST(test_overflowing_counts)
{
    static const size_t counts[] = {SIZE_MAX,         SIZE_MAX - 1,     SIZE_MAX / 2,
                                    SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1, SIZE_MAX / 8,
                                    SIZE_MAX / 8 + 1, SIZE_MAX / 8 + 5, SIZE_MAX / 16 + 1};
    for (unsigned k = 0; k < HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        softqam_demodulator_config config = api_config((softqam_output_format)(k / HARNESS_N_INPUT_FORMATS));
        config.input_format = (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS);
        const float *noise = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : FLOATS(NOISE);
        for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
            const softqam_segment segment = harness_segment(IN, noise, i % 2, counts[i], OUT);
            char message[API_MESSAGE];
            snprintf(message, sizeof message, "%zu symbols are more than memory can hold", counts[i]);
            check_refused(config, &segment, message, "count", i);
        }
    }
}

/* Whatever is NULL, and calls for nothing. */
HARNESS_TEST(test_null)
{
    const softqam_segment none[1] = {{0}};
    const softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    api_check_refusal(softqam_demodulator_create(NULL, &config), "demodulator is NULL", "create", 0);
    api_check_refusal(softqam_demodulate(NULL, IN, NULL, 1, OUT), "demodulator is NULL", "demodulate", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, none, 1), "demodulator is NULL", "segments", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, NULL, 0), "demodulator is NULL", "segments", 1);
    softqam_demodulator_destroy(NULL);
    softqam_context_destroy(NULL);
    assert_null(softqam_demodulator_context(NULL));
    assert_string_equal(softqam_backend_name(NULL), "none");
    assert_string_equal(softqam_backend_detail(NULL), "");
    uint8_t expected[MEMORY_NBYTES];
    fill_memory(expected);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const softqam_demodulator_config of_format = api_config((softqam_output_format)format);
        scoped_demodulator *demodulator = api_create(&of_format);
        assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, NULL, 0), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, none, 1), SOFTQAM_OK);
        if (format == SOFTQAM_OUTPUT_U8)
            assert_int_equal(softqam_demodulate(demodulator, OUT, NULL, 0, OUT), SOFTQAM_OK);
    }
    assert_memory_equal(memory, expected, sizeof memory);
}

/* Counts that are in order one by one and overflow together. */
HARNESS_TEST(test_sum_of_counts)
{
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    config.input_format = SOFTQAM_INPUT_CS8;
    scoped_demodulator *demodulator = api_create(&config);
    /* Never touched. */
    void *far_away = (void *)((uintptr_t)memory + (size_t)PTRDIFF_MAX / 4 + MEMORY_NBYTES);
    softqam_segment segments[40];
    for (size_t k = 0; k < HARNESS_COUNT(segments); k++)
        segments[k] = (softqam_segment){.n_symbols = PTRDIFF_MAX / 8, .out = far_away, .layers = {{.symbols = memory}}};
    api_check_refusal(softqam_demodulate_segments(demodulator, segments, HARNESS_COUNT(segments)),
                      "the call has more symbols than memory can hold", "sum", 0);
    api_check_refusal(softqam_demodulate_segments(demodulator, NULL, SIZE_MAX), "segments is NULL", "no segments", 0);
    assert_works(demodulator, SOFTQAM_OUTPUT_U8);
}

HARNESS_TEST(test_host_memory)
{
    static const size_t sizes[] = {SIZE_MAX,        SIZE_MAX - 1,        SIZE_MAX - 4095,
                                   SIZE_MAX - 8191, SIZE_MAX - 8192,     SIZE_MAX / 2 + 1,
                                   SIZE_MAX / 2,    SIZE_MAX / 2 - 8191, SIZE_MAX / 2 - 8192};
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    scoped_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(sizes); k++) {
        void *block = memory;
        assert_int_equal(softqam_host_alloc(config.context, sizes[k], &block), SOFTQAM_ERROR_OUT_OF_MEMORY);
        assert_null(block);
    }
    api_check_refusal(softqam_host_alloc(config.context, 1, NULL), "memory is NULL", "softqam_host_alloc", 0);
    void *block = memory;
    api_check_refusal(softqam_host_alloc(NULL, 1, &block), "context is NULL", "softqam_host_alloc", 1);
    assert_null(block);
    assert_works(demodulator, SOFTQAM_OUTPUT_U8);
}
