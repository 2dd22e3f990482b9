/* SPDX-License-Identifier: MIT */
/* Wrong arguments by the hundred, as tables: each row with the message that must come beside
 * SOFTQAM_ERROR_INVALID_ARGUMENT. Whatever the row, not a byte of memory changes and the demodulator still works. Here
 * those of calls; bad_codewords.c has those of soft buffers, bad_settings.c those of demodulators and contexts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api_fixture.h"

/* A field of a segment that is wrong, or that this version does not know what to do with. */
typedef struct segment_row {
    softqam_output_format format;
    softqam_segment segment; /* besides its symbols, noise and output */
    const char *message;
} segment_row;

#define SEGMENT(kind, text, ...)                                                                                       \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_##kind, {.n_symbols = 4, __VA_ARGS__}, text                                                     \
    }

static const segment_row segment_rows[] = {
    SEGMENT(S8, "segment.modulation is 8", .modulation = 8),
    SEGMENT(S8, "segment.modulation is -1", .modulation = (softqam_modulation)-1),
    SEGMENT(U8, "segment.modulation is 64QAM: u8 soft bits are those of 256QAM alone", .modulation = 5),
    SEGMENT(U8, "segment.modulation is QPSK: u8 soft bits are those of 256QAM alone", .modulation = 3, .n_layers = 9),
    SEGMENT(S8, "segment.noise_form is 3", .noise_form = 3),
    SEGMENT(U8, "segment.noise_form is -2147483648", .noise_form = (softqam_noise_form)INT32_MIN),
    SEGMENT(S8, "segment.input_scale is -1, not finite and positive", .input_scale = -1),
    SEGMENT(U8, "segment.input_scale is nan, not finite and positive", .input_scale = NAN),
    SEGMENT(F32, "segment.input_scale is inf, not finite and positive", .input_scale = INFINITY),
    SEGMENT(S8, "segment.llr_scale is -6, not 2^-10 to 2^20", .llr_scale = -6),
    SEGMENT(S8, "segment.llr_scale is nan, not 2^-10 to 2^20", .llr_scale = NAN),
    SEGMENT(S8, "segment.llr_scale is 2.09715e+06, not 2^-10 to 2^20", .llr_scale = 0x1p21F),
    SEGMENT(F16, "segment.llr_scale is 6, not 1, the only scale of this output format", .llr_scale = 6),
    SEGMENT(U8, "segment.llr_scale is 6, not 1, the only scale of this output format", .llr_scale = 6),
    SEGMENT(S8, "segment.n_layers is 5, more than 4", .n_layers = 5),
    SEGMENT(U8, "segment.n_layers is 5, more than 4", .n_layers = 5),
    SEGMENT(S8, "segment.n_layers is 4294967295, more than 4", .n_layers = UINT32_MAX),
    SEGMENT(U8, "segment.n_layers is 4: u8 soft bits are liquid-dsp's, which has no layers", .n_layers = 4),
    SEGMENT(F16, "segment.n_layers is 2: pi/2-BPSK has one layer", .n_layers = 2, .modulation = 2),
    SEGMENT(S8, "segment.first_symbol is 7, not a multiple of 2 layers", .n_layers = 2, .first_symbol = 7),
    SEGMENT(F32, "segment.first_symbol is 18446744073709551615, not a multiple of 4 layers", .n_layers = 4,
            .first_symbol = UINT64_MAX),
    SEGMENT(U8, "segment.plane_stride is 4: u8 soft bits are liquid-dsp's, which has no bit planes", .plane_stride = 4),
    SEGMENT(S8, "segment.descramble is 2, not 0 or 1", .descramble = 2),
    SEGMENT(U8, "segment.descramble is 4294967295, not 0 or 1", .descramble = UINT32_MAX, .c_init = UINT32_MAX),
    SEGMENT(S8, "segment.c_init is 7, but segment.descramble is 0", .c_init = 7),
    SEGMENT(F32, "segment.c_init is 2147483648, more than 2^31 - 1", .descramble = 1, .c_init = 0x80000000U),
    SEGMENT(U8, "segment.descramble is 1: u8 soft bits are not symmetric, so not descrambled", .descramble = 1),
    SEGMENT(F16, "segment.first_symbol is 18446744073709551615: the codeword has more bits than can be counted",
            .descramble = 1, .first_symbol = UINT64_MAX),
    SEGMENT(S8, "segment.first_symbol is 2305843009213693952: the codeword has more bits than can be counted",
            .descramble = 1, .first_symbol = UINT64_MAX / 8 + 1),
    SEGMENT(S8, "segment.scrambling_offset is 3, not a multiple of 2 layers", .n_layers = 2, .scrambling_offset = 3),
    SEGMENT(S8, "segment.first_symbol is 0: the codeword has more bits than can be counted", .descramble = 1,
            .scrambling_offset = UINT64_MAX),
    SEGMENT(S8, "segment.first_symbol is 1152921504606846976: the codeword has more bits than can be counted",
            .descramble = 1, .scrambling_offset = UINT64_MAX / 16 + 1, .first_symbol = UINT64_MAX / 16 + 1),
};

/* What depends on the number of symbols: refused of 4 of them, not of none. */
static const segment_row length_rows[] = {
    SEGMENT(S8, "segment.n_symbols is 4, not a multiple of 3 layers", .n_layers = 3),
    SEGMENT(S8, "segment.plane_stride is 3, less than 4 symbols", .plane_stride = 3),
    SEGMENT(F32, "segment.plane_stride is 1, less than 4 symbols", .plane_stride = 1, .modulation = 1),
    SEGMENT(F16, "4 symbols are more than memory can hold", .plane_stride = SIZE_MAX),
    SEGMENT(S8, "4 symbols are more than memory can hold", .plane_stride = SIZE_MAX / 7),
    SEGMENT(S8, "4 symbols are more than memory can hold", .plane_stride = SIZE_MAX / 14 + 1),
    SEGMENT(F32, "4 symbols are more than memory can hold", .plane_stride = SIZE_MAX / 28, .n_layers = 2),
};

/* Where the pieces of a call lie in the memory below; NONE for NULL. */
#define NONE SIZE_MAX
enum { MEMORY_NBYTES = 4096, IN = 0, Q = 512, NOISE = 1024, OUT = 2048 };

typedef struct call_row {
    softqam_output_format format;
    size_t n_symbols;
    size_t symbols, symbols_q, stride;
    size_t noise_var, noise_stride;
    size_t out;
    const char *message;
} call_row;

#define U8_ROW(n, in, out, message)                                                                                    \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_U8, n, in, NONE, 0, NONE, 0, out, message                                                       \
    }
#define S8_ROW(n, in, noise, stride, out, message)                                                                     \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_S8, n, in, NONE, 0, noise, stride, out, message                                                 \
    }

static const char too_large[] = " symbols are more than memory can hold";
static const char overlap[] = "an input and out overlap";

/* Of cf32 symbols, 8 bytes; u8 and s8 give as many. test_every_overlap and test_overflowing_counts have the rest. */
static const call_row call_rows[] = {
    U8_ROW(4, NONE, OUT, "symbols is NULL"),
    U8_ROW(4, IN, NONE, "out is NULL"),
    U8_ROW(4, NONE, NONE, "symbols is NULL"),
    {SOFTQAM_OUTPUT_U8, 4, IN, OUT, 0, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, IN, OUT - 4, 0, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, IN, OUT - 12, 0, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, IN, OUT + 28, 0, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, OUT - 8, Q, 0, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, OUT - 24, NONE, 2, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, OUT - 240, NONE, 10, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, OUT - 120, Q, 10, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 4, IN, OUT - 120, 10, NONE, 0, OUT, overlap},
    {SOFTQAM_OUTPUT_U8, 2, IN, NONE, SIZE_MAX, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 2, IN, NONE, SIZE_MAX / 8, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 2, IN, NONE, SIZE_MAX / 16 + 1, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 2, IN, Q, SIZE_MAX / 4, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 3, IN, Q, SIZE_MAX / 2, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 3, IN, Q, SIZE_MAX / 2 + 1, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 5, IN, Q, SIZE_MAX / 4 + 1, NONE, 0, OUT, too_large},
    {SOFTQAM_OUTPUT_U8, 4, IN, NONE, 0, NOISE, 0, OUT, "noise_var is given, which u8 soft bits do not take"},
    {SOFTQAM_OUTPUT_U8, 0, IN, NONE, 0, NOISE, 0, OUT, "noise_var is given, which u8 soft bits do not take"},
    {SOFTQAM_OUTPUT_U8, 4, NONE, NONE, 0, NOISE, 0, NONE, "noise_var is given, which u8 soft bits do not take"},
    S8_ROW(4, IN, NONE, 0, OUT, "noise_var is NULL, which LLRs need"),
    S8_ROW(4, IN, NONE, 1, OUT, "noise_var is NULL, which LLRs need"),
    {SOFTQAM_OUTPUT_S16, 4, IN, NONE, 0, NONE, 1, OUT, "noise_var is NULL, which LLRs need"},
    {SOFTQAM_OUTPUT_F16, 4, IN, NONE, 0, NONE, 0, OUT, "noise_var is NULL, which LLRs need"},
    {SOFTQAM_OUTPUT_F32, 4, IN, NONE, 0, NONE, 1, OUT, "noise_var is NULL, which LLRs need"},
    {SOFTQAM_OUTPUT_S16, 4, IN, NONE, 0, NOISE + 2, 0, OUT, "noise_var is not aligned to 4 bytes"},
    {SOFTQAM_OUTPUT_F32, 4, IN, NONE, 0, NOISE + 1, 1, OUT, "noise_var is not aligned to 4 bytes"},
    S8_ROW(4, NONE, NOISE, 1, OUT, "symbols is NULL"),
    S8_ROW(4, IN, NOISE, 1, NONE, "out is NULL"),
    S8_ROW(4, IN, NOISE + 1, 1, OUT, "noise_var is not aligned to 4 bytes"),
    S8_ROW(4, IN, NOISE + 2, 0, OUT, "noise_var is not aligned to 4 bytes"),
    S8_ROW(4, IN, NOISE + 3, 5, OUT, "noise_var is not aligned to 4 bytes"),
    S8_ROW(4, IN, OUT - 24, 2, OUT, overlap),
    S8_ROW(4, IN, OUT - 120, 10, OUT, overlap),
    S8_ROW(2, IN, NOISE, SIZE_MAX, OUT, too_large),
    S8_ROW(2, IN, NOISE, SIZE_MAX / 4, OUT, too_large),
    S8_ROW(2, IN, NOISE, SIZE_MAX / 8 + 1, OUT, too_large),
    S8_ROW(3, IN, NOISE, SIZE_MAX / 2, OUT, too_large),
};

/* The message as it is given; where a count comes before it, from there on. */
static void check_call(softqam_status status, const call_row *row, size_t number)
{
    char expected[128];
    snprintf(expected, sizeof expected, row->message == too_large ? "%zu%s" : "%.0zu%s",
             row->message == too_large ? row->n_symbols : 0, row->message);
    api_check_refusal(status, expected, "call", number);
}

static uint8_t memory[MEMORY_NBYTES];

static void *at(size_t offset) { return offset == NONE ? NULL : memory + offset; }

static void fill_memory(uint8_t *expected)
{
    const float one = 1;
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(expected, memory, sizeof memory);
}

static void assert_works(softqam_demodulator *demodulator, softqam_output_format format)
{
    const float symbol[2] = {0.5F, -0.5F}, noise_var = 1;
    uint8_t out[32] = {0}, nothing[32] = {0};
    harness_demodulate_llrs(demodulator, symbol, format == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var, 1, out);
    assert_memory_not_equal(out, nothing, sizeof out);
}

static softqam_segment segment_of(const call_row *row)
{
    return (softqam_segment){
        .n_symbols = row->n_symbols,
        .out = at(row->out),
        .symbol_stride = row->stride,
        .noise_stride = row->noise_stride,
        .layers = {{.symbols = at(row->symbols), .symbols_q = at(row->symbols_q), .noise_var = at(row->noise_var)}},
    };
}

static softqam_segment good_segment(softqam_output_format format)
{
    return (softqam_segment){
        .n_symbols = 1,
        .out = at(OUT + 1024),
        .layers = {{.symbols = at(IN), .noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : at(NOISE)}},
    };
}

/* Among segments, beside a good one on either side; and where it is one, as a simple call. */
static void check_row(softqam_demodulator *demodulators[2], const call_row *row, size_t number)
{
    uint8_t expected[sizeof memory];
    fill_memory(expected);
    const softqam_segment bad = segment_of(row);
    const softqam_segment good = good_segment(row->format);
    const softqam_segment segments[3] = {good, bad, good};
    for (size_t first = 0; first < 2; first++)
        check_call(softqam_demodulate_segments(demodulators[0], segments + first, 2), row, number);
    check_call(softqam_demodulate_segments(demodulators[0], &bad, 1), row, number);
    const softqam_layer *layer = &bad.layers[0];
    if (!layer->symbols_q && bad.symbol_stride <= 1 && bad.noise_stride <= 1) {
        softqam_demodulator *demodulator = demodulators[bad.noise_stride];
        check_call(softqam_demodulate(demodulator, layer->symbols, layer->noise_var, bad.n_symbols, bad.out), row,
                   number);
    }
    assert_memory_equal(memory, expected, sizeof memory);
}

/* Refused beside a good one and alone, and, if `always`, where there is nothing to do, too. */
static void check_segment_row(const segment_row *row, bool always, size_t number)
{
    softqam_demodulator_config config = api_config();
    config.output_format = row->format;
    scoped_demodulator *demodulator = api_create(&config);
    uint8_t expected[sizeof memory];
    fill_memory(expected);
    softqam_segment segments[2] = {good_segment(row->format), row->segment};
    segments[1].out = at(OUT);
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++)
        segments[1].layers[k] = segments[0].layers[0];
    api_check_refusal(softqam_demodulate_segments(demodulator, segments, 2), row->message, "segment", number);
    api_check_refusal(softqam_demodulate_segments(demodulator, segments + 1, 1), row->message, "segment", number);
    segments[1].n_symbols = 0;
    const softqam_status status = softqam_demodulate_segments(demodulator, segments + 1, 1);
    if (always)
        api_check_refusal(status, row->message, "segment", number);
    else if (harness_backend() != SOFTQAM_BACKEND_CUDA)
        assert_int_equal(status, SOFTQAM_OK);
    assert_memory_equal(memory, expected, sizeof memory);
    assert_works(demodulator, row->format);
}

HARNESS_TEST(test_segment_fields)
{
    for (size_t k = 0; k < HARNESS_COUNT(segment_rows); k++)
        check_segment_row(&segment_rows[k], true, k);
    for (size_t k = 0; k < HARNESS_COUNT(length_rows); k++)
        check_segment_row(&length_rows[k], false, k);
    print_message("%zu rows\n", HARNESS_COUNT(segment_rows) + HARNESS_COUNT(length_rows));
}

/* Four layers and planes, each of whose pieces must be as good as the first one's. */
typedef struct layer_row {
    size_t n_symbols, plane_stride, symbol_stride;
    unsigned layer;
    softqam_layer is; /* offsets into the memory, or NONE */
    const char *message;
} layer_row;

#define AT(offset) ((offset) == NONE ? NULL : memory + (offset))
#define LAYER_ROW(n, planes, stride, layer, i, q, noise, message)                                                      \
    {                                                                                                                  \
        n, planes, stride, layer,                                                                                      \
            {.symbols = AT(i), .symbols_q = AT(q), .noise_var = (const float *)(const void *)AT(noise)}, message       \
    }

HARNESS_TEST(test_layers)
{
    /* 8 symbols of 256QAM are 64 bytes from OUT on; with a plane stride of 20, 7 * 20 + 8. */
    const layer_row rows[] = {
        LAYER_ROW(8, 0, 0, 1, NONE, NONE, NOISE, "layer 1: symbols is NULL"),
        LAYER_ROW(8, 0, 0, 3, NONE, Q, NOISE, "layer 3: symbols is NULL"),
        LAYER_ROW(8, 0, 0, 2, IN, NONE, NONE, "layer 2: noise_var is NULL, which LLRs need"),
        LAYER_ROW(8, 0, 0, 3, IN, NONE, NOISE + 2, "layer 3: noise_var is not aligned to 4 bytes"),
        LAYER_ROW(8, 0, 0, 0, IN, NONE, NOISE + 1, "layer 0: noise_var is not aligned to 4 bytes"),
        LAYER_ROW(8, 0, 0, 1, OUT + 63, NONE, NOISE, overlap),
        LAYER_ROW(8, 0, 0, 2, OUT - 15, NONE, NOISE, overlap),
        LAYER_ROW(8, 0, 5, 2, OUT - 47, NONE, NOISE, overlap),
        LAYER_ROW(8, 0, 0, 3, IN, OUT - 4, NOISE, overlap),
        LAYER_ROW(8, 0, 0, 3, IN, NONE, OUT - 4, overlap),
        LAYER_ROW(8, 20, 0, 1, OUT + 147, NONE, NOISE, overlap),
        LAYER_ROW(8, 20, 0, 3, IN, NONE, OUT + 144, overlap),
        LAYER_ROW(8, 0, SIZE_MAX / 8, 1, IN, NONE, NOISE, "8 symbols are more than memory can hold"),
    };
    softqam_demodulator_config config = api_config();
    config.output_format = SOFTQAM_OUTPUT_S8;
    softqam_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const layer_row *row = &rows[k];
        const softqam_layer good = {.symbols = at(IN), .noise_var = at(NOISE)};
        uint8_t expected[sizeof memory];
        fill_memory(expected);
        softqam_segment segment = {.n_symbols = row->n_symbols,
                                   .out = at(OUT),
                                   .plane_stride = row->plane_stride,
                                   .symbol_stride = row->symbol_stride,
                                   .noise_stride = 1,
                                   .layers = {good, good, good, good},
                                   .n_layers = 4};
        segment.layers[row->layer] = row->is;
        api_check_refusal(softqam_demodulate_segments(demodulator, &segment, 1), row->message, "layer", k);
        assert_memory_equal(memory, expected, sizeof memory);
        assert_works(demodulator, SOFTQAM_OUTPUT_S8);
    }
    /* What lies just beside the output is no overlap. */
    softqam_segment beside = {.n_symbols = 2,
                              .out = at(OUT),
                              .plane_stride = 20,
                              .layers = {{.symbols = at(OUT + 142), .noise_var = at(OUT - 4)},
                                         {.symbols = at(OUT - 8), .noise_var = at(OUT + 144)}},
                              .n_layers = 2};
    if (harness_backend() != SOFTQAM_BACKEND_CUDA)
        assert_int_equal(softqam_demodulate_segments(demodulator, &beside, 1), SOFTQAM_OK);
    softqam_demodulator_destroy(demodulator);
    print_message("%zu rows\n", HARNESS_COUNT(rows));
}

HARNESS_TEST(test_gains)
{
    const struct {
        softqam_output_format format;
        unsigned n_layers;
        size_t gains[2]; /* offsets into the memory, or NONE */
        const char *message;
    } rows[] = {
        {SOFTQAM_OUTPUT_S8, 1, {NOISE + 1}, "gain is not aligned to 4 bytes"},
        {SOFTQAM_OUTPUT_S8, 1, {OUT}, overlap},
        {SOFTQAM_OUTPUT_U8, 1, {NOISE}, "gain is given, which u8 soft bits do not take"},
        {SOFTQAM_OUTPUT_S8, 2, {NOISE, NONE}, "layer 1: gain is NULL"},
        {SOFTQAM_OUTPUT_S8, 2, {NONE, NOISE}, "layer 1: gain is given, but layer 0 has none"},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const softqam_demodulator_config config = api_llr_config(rows[k].format);
        scoped_demodulator *demodulator = api_create(&config);
        softqam_segment segment = good_segment(rows[k].format);
        segment.out = at(OUT);
        segment.n_symbols = segment.n_layers = rows[k].n_layers;
        segment.layers[1] = segment.layers[0];
        for (size_t layer = 0; layer < rows[k].n_layers; layer++)
            segment.layers[layer].gain = at(rows[k].gains[layer]);
        api_check_refusal(softqam_demodulate_segments(demodulator, &segment, 1), rows[k].message, "gain", k);
    }
}

HARNESS_TEST(test_calls)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        softqam_demodulator *demodulators[2]; /* by their noise stride */
        for (int stride = 0; stride < 2; stride++) {
            softqam_demodulator_config config = api_config();
            config.output_format = (softqam_output_format)format;
            config.noise = stride ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
            demodulators[stride] = api_create(&config);
        }
        for (size_t k = 0; k < HARNESS_COUNT(call_rows); k++) {
            if (call_rows[k].format == (softqam_output_format)format) {
                check_row(demodulators, &call_rows[k], k);
                assert_works(demodulators[0], (softqam_output_format)format);
            }
        }
        softqam_demodulator_destroy(demodulators[0]);
        softqam_demodulator_destroy(demodulators[1]);
    }
    print_message("%zu rows\n", HARNESS_COUNT(call_rows));
}

/* An input at every address about the output, in every format: of symbols, which may have any alignment, then of noise.
 * Refused just where they overlap; else nothing but the output changes. */
HARNESS_TEST(test_every_overlap)
{
    enum { N = API_SYMBOLS, ROOM = 8 };
    for (size_t k = 0; k < 2 * HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        softqam_demodulator_config config = api_llr_config((softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS));
        config.input_format = (softqam_input_format)(k / HARNESS_N_OUTPUT_FORMATS % HARNESS_N_INPUT_FORMATS);
        config.noise = (softqam_noise)(k % 2);
        const bool moves_noise = k >= HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS;
        const bool is_u8 = config.output_format == SOFTQAM_OUTPUT_U8;
        const size_t noise_nbytes = sizeof(float) * (config.noise == SOFTQAM_NOISE_PER_SYMBOL ? N : 1);
        const size_t nbytes = moves_noise ? noise_nbytes : N * softqam_input_symbol_nbytes(config.input_format);
        const size_t out_nbytes = harness_output_nbytes(config.output_format, N);
        if (moves_noise && is_u8)
            continue;
        scoped_demodulator *demodulator = api_create(&config);
        for (size_t offset = OUT - nbytes - ROOM; offset <= OUT + out_nbytes + ROOM; offset += moves_noise ? 4 : 1) {
            uint8_t expected[sizeof memory];
            fill_memory(expected);
            const bool overlaps = offset + nbytes > OUT && offset < OUT + out_nbytes;
            const softqam_segment segments[2] = {good_segment(config.output_format),
                                                 harness_segment(at(moves_noise ? IN : offset),
                                                                 at(is_u8         ? NONE
                                                                    : moves_noise ? offset
                                                                                  : NOISE),
                                                                 config.noise == SOFTQAM_NOISE_PER_SYMBOL, N, at(OUT))};
            const softqam_layer *layer = &segments[1].layers[0];
            const softqam_status status = softqam_demodulate(demodulator, layer->symbols, layer->noise_var, N, at(OUT));
            if (overlaps) {
                api_check_refusal(status, overlap, "an offset", offset);
                api_check_refusal(softqam_demodulate_segments(demodulator, segments, 2), overlap, "an offset", offset);
            } else {
                assert_int_equal(status, SOFTQAM_OK);
            }
            if (!overlaps)
                memcpy(expected + OUT, memory + OUT, out_nbytes);
            assert_memory_equal(memory, expected, sizeof memory);
        }
    }
}

/* An input that would go beyond the end of the address space; and Q that ends where the output begins, which is right.
 */
HARNESS_TEST(test_ends_of_inputs)
{
    const size_t places[] = {offsetof(softqam_layer, symbols), offsetof(softqam_layer, symbols_q),
                             offsetof(softqam_layer, noise_var), offsetof(softqam_layer, gain)};
    const uintptr_t last = UINTPTR_MAX - 7;
    const softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(places); k++) {
        softqam_segment segment = harness_segment(at(IN), at(NOISE), 1, 4, at(OUT));
        memcpy((unsigned char *)&segment.layers[0] + places[k], &last, sizeof last);
        char message[64];
        snprintf(message, sizeof message, "4%s", too_large);
        api_check_refusal(softqam_demodulate_segments(demodulator, &segment, 1), message, "input", k);
    }
    softqam_segment beside = harness_segment(at(IN), at(NOISE), 1, 4, at(OUT));
    beside.layers[0].symbols_q = at(OUT - 4 * sizeof(float));
    if (harness_backend() != SOFTQAM_BACKEND_CUDA)
        assert_int_equal(softqam_demodulate_segments(demodulator, &beside, 1), SOFTQAM_OK);
}

/* Counts whose bytes overflow size_t, wrap to something small, or exceed PTRDIFF_MAX, in every format. */
HARNESS_TEST(test_overflowing_counts)
{
    static const size_t counts[] = {
        SIZE_MAX,
        SIZE_MAX - 1,
        SIZE_MAX / 2,
        SIZE_MAX / 2 + 1,
        SIZE_MAX / 4 + 1,
        SIZE_MAX / 8,
        SIZE_MAX / 8 + 1,
        SIZE_MAX / 8 + 5,
        SIZE_MAX / 16 + 1,
        (size_t)PTRDIFF_MAX,
        (size_t)PTRDIFF_MAX + 1,
        PTRDIFF_MAX / 2 + 1,
        PTRDIFF_MAX / 4 + 1,
        PTRDIFF_MAX / 8 + 1,
    };
    uint8_t expected[sizeof memory];
    fill_memory(expected);
    for (unsigned k = 0; k < HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        softqam_demodulator_config config = api_llr_config((softqam_output_format)(k / HARNESS_N_INPUT_FORMATS));
        config.input_format = (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS);
        const bool is_u8 = config.output_format == SOFTQAM_OUTPUT_U8;
        scoped_demodulator *demodulator = api_create(&config);
        for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
            const float *noise = at(is_u8 ? NONE : NOISE);
            const softqam_segment segments[2] = {good_segment(config.output_format),
                                                 harness_segment(at(IN), noise, i % 2, counts[i], at(OUT))};
            char message[128];
            snprintf(message, sizeof message, "%zu%s", counts[i], too_large);
            api_check_refusal(softqam_demodulate(demodulator, at(IN), noise, counts[i], at(OUT)), message, "count", i);
            api_check_refusal(softqam_demodulate_segments(demodulator, segments, 2), message, "count", i);
        }
        assert_memory_equal(memory, expected, sizeof memory);
    }
}

/* Whatever is NULL, and calls for nothing. */
HARNESS_TEST(test_null)
{
    const softqam_segment none[1] = {{0}};
    const softqam_demodulator_config config = api_config();
    api_check_refusal(softqam_demodulator_create(NULL, &config), "demodulator is NULL", "create", 0);
    api_check_refusal(softqam_demodulate(NULL, at(IN), NULL, 1, at(OUT)), "demodulator is NULL", "demodulate", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, none, 1), "demodulator is NULL", "segments", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, NULL, 0), "demodulator is NULL", "segments", 1);
    softqam_demodulator_destroy(NULL);
    softqam_context_destroy(NULL);
    assert_null(softqam_demodulator_context(NULL));
    assert_string_equal(softqam_backend_name(NULL), "none");
    assert_string_equal(softqam_backend_detail(NULL), "");
    uint8_t expected[sizeof memory];
    fill_memory(expected);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const softqam_demodulator_config of_format = api_llr_config((softqam_output_format)format);
        scoped_demodulator *demodulator = api_create(&of_format);
        assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, NULL, 0), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, none, 1), SOFTQAM_OK);
        if (format == SOFTQAM_OUTPUT_U8)
            assert_int_equal(softqam_demodulate(demodulator, at(OUT), NULL, 0, at(OUT)), SOFTQAM_OK);
    }
    assert_memory_equal(memory, expected, sizeof memory);
}

/* What later versions may give a meaning, each alone; of layers, those that the segment has. */
HARNESS_TEST(test_reserved_fields_of_segments)
{
    enum { N_WORDS = 8, N_LAYER_WORDS = 2, N_LAYERS = 2 };
    const softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    softqam_segment good = good_segment(SOFTQAM_OUTPUT_S8);
    good.n_symbols = good.n_layers = N_LAYERS;
    for (size_t k = 1; k < SOFTQAM_MAX_LAYERS; k++)
        good.layers[k] = good.layers[0];
    assert_int_equal(HARNESS_COUNT(good.reserved), N_WORDS);
    assert_int_equal(HARNESS_COUNT(good.layers[0].reserved), N_LAYER_WORDS);
    for (size_t k = 0; k <= N_WORDS + SOFTQAM_MAX_LAYERS * N_LAYER_WORDS; k++) {
        softqam_segment segments[2] = {good, good};
        uint8_t before[sizeof memory];
        const uint64_t value = k % 2 ? 1 : (uint64_t)1 << 63;
        const size_t layer = (k - N_WORDS - 1) / N_LAYER_WORDS;
        char message[80] = "segment.reserved is not 0";
        if (k < N_WORDS) {
            segments[1].reserved[k] = value;
        } else if (k == N_WORDS) {
            segments[1].reserved_word = 0x80000000U;
            snprintf(message, sizeof message, "segment.reserved_word is not 0");
        } else {
            segments[1].layers[layer].reserved[k % N_LAYER_WORDS] = value;
            snprintf(message, sizeof message, "segment.layers[%zu].reserved is not 0", layer);
        }
        if (k > N_WORDS && layer >= N_LAYERS) {
            harness_demodulate_segments(demodulator, segments, 2);
            continue;
        }
        fill_memory(before);
        api_check_refusal(softqam_demodulate_segments(demodulator, segments, 2), message, "reserved", k);
        api_check_refusal(softqam_demodulate_segments(demodulator, segments + 1, 1), message, "reserved", k);
        assert_memory_equal(memory, before, sizeof memory);
    }
}

/* Counts that are in order one by one and overflow together. */
HARNESS_TEST(test_sum_of_counts)
{
    softqam_demodulator_config config = api_config();
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
    static const size_t sizes[] = {SIZE_MAX,           SIZE_MAX - 1,      SIZE_MAX - 4095, SIZE_MAX - 8191,
                                   SIZE_MAX - 8192,    SIZE_MAX / 2 + 1,  SIZE_MAX / 2,    (size_t)PTRDIFF_MAX,
                                   PTRDIFF_MAX - 8191, PTRDIFF_MAX - 8192};
    softqam_demodulator_config config = api_config();
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
