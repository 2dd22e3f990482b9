/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for codewords: code blocks, soft buffers, and where they lie. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api_fixture.h"

/* 12 symbols of 256QAM, cf32, and their noise; then room for what comes out. */
enum { N_SYMBOLS = 12, N_CB = 60, NOISE = 8 * N_SYMBOLS, INPUTS_END = NOISE + 4 * N_SYMBOLS, MEMORY_NBYTES = 2048 };
/* A little behind the beginning, so that a buffer can end there. */
#define IN  (memory + 128)
#define OUT (memory + 512)

static _Alignas(float) uint8_t memory[MEMORY_NBYTES];
static void *const some_pointers[3];

typedef struct bad_row {
    softqam_output_format format;
    softqam_codeword codeword;
    softqam_segment segment; /* besides its pointers */
    const char *message;
} bad_row;

#define GOOD .n_bits = 96, .n_code_blocks = 3, .buffers = OUT
#define SOFT GOOD, .deinterleave = 1, .n_cb = 40
#define ROW(kind, text, n, ...)                                                                                        \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_##kind, {__VA_ARGS__}, {.n_symbols = (n)}, text                                                 \
    }
#define CODEWORD(n, text, ...) ROW(S8, text, n, __VA_ARGS__)
#define BLOCKS(text, ...)      ROW(S8, text, 4, __VA_ARGS__)
#define SEGMENT(text, ...)                                                                                             \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_S8, {GOOD}, {__VA_ARGS__}, text                                                                 \
    }
#define ALONE(...) ROW(S8, "codeword.n_code_blocks is 0, but another field of the codeword is not", 4, __VA_ARGS__)
/* Two code blocks of 48 bits in soft buffers. */
#define BUFFERS(kind, length, text, ...)                                                                               \
    ROW(kind, text, N_SYMBOLS, .n_bits = 8 * N_SYMBOLS, .n_code_blocks = 2, .deinterleave = 1, .n_cb = (length),       \
        __VA_ARGS__)
#define POINTERS(...)                                                                                                  \
    .block_buffers = (void *const[]) { __VA_ARGS__ }

/* Groups of two code blocks each, with the inputs at this distance from the first soft buffer of those that are sent.
 */
#define TRANSMITTED(groups, distance)                                                                                  \
    .n_bits = 96, .n_code_blocks = 8, .n_cbg = 4, .cbgti = (groups), .buffers = IN - (distance), .deinterleave = 1,    \
    .n_cb = 40

/* An address that lies so many bytes before the end of all addresses. */
#define BEFORE_END(nbytes) ((void *)(UINTPTR_MAX - (nbytes) + 1))

static const char overlap[] = "an input and out overlap";
static const char too_large[] = "12 symbols are more than memory can hold";
static const char first_overlaps[] = "codeword.block_buffers[0] and an input overlap";
static const char second_overlaps[] = "codeword.block_buffers[1] and an input overlap";

/* Refused by softqam_codeword_block() too, with one layer of 256QAM. */
static const bad_row block_rows[] = {
    BLOCKS("codeword.n_code_blocks is 65536, not 1 to 65535", .n_bits = 96, .n_code_blocks = 65536),
    BLOCKS("codeword.n_code_blocks is 4294967295, not 1 to 65535", .n_bits = 96, .n_code_blocks = UINT32_MAX),
    BLOCKS("codeword.deinterleave is 2, not 0 or 1", GOOD, .deinterleave = 2),
    BLOCKS("codeword.deinterleave is 4294967295, not 0 or 1", GOOD, .deinterleave = UINT32_MAX),
    BLOCKS("codeword.n_cbg is 33, more than 32", GOOD, .n_cbg = 33, .cbgti = 1),
    BLOCKS("codeword.n_cbg is 4294967295, more than 32", GOOD, .n_cbg = UINT32_MAX, .cbgti = 1),
    BLOCKS("codeword.cbgti is 0x1, but there are 0 groups", GOOD, .cbgti = 1),
    BLOCKS("codeword.cbgti is 0x5, but there are 2 groups", GOOD, .n_cbg = 2, .cbgti = 5),
    BLOCKS("codeword.cbgti is 0x8, but there are 3 groups", GOOD, .n_cbg = 8, .cbgti = 8),
    BLOCKS("codeword.cbgti is 0x80000000, but there are 31 groups", .n_bits = 96, .n_code_blocks = 40, .n_cbg = 31,
           .cbgti = 0x80000000U),
    BLOCKS("codeword.k0 is not 0, but codeword.n_cb is", GOOD, .k0 = 2),
    BLOCKS("codeword.first_filler is not 0, but codeword.n_cb is", GOOD, .first_filler = 3),
    BLOCKS("codeword.n_fillers is not 0, but codeword.n_cb is", GOOD, .n_fillers = 4),
    BLOCKS("codeword.combine is not 0, but codeword.n_cb is", GOOD, .combine = 1),
    BLOCKS("codeword.filler_value is not 0, but codeword.n_cb is", GOOD, .filler_value = 0x1p-149F),
    BLOCKS("codeword.filler_value is not 0, but codeword.n_cb is", GOOD, .filler_value = NAN),
    BLOCKS("codeword.n_cb is 1, but codeword.deinterleave is 0: rate recovery undoes both", GOOD, .n_cb = 1),
    BLOCKS("codeword.k0 is 40, not less than n_cb, 40", SOFT, .k0 = 40),
    BLOCKS("codeword.k0 is 4294967295, not less than n_cb, 40", SOFT, .k0 = UINT32_MAX),
    BLOCKS("2 fillers from 39 on are not all within n_cb, 40", SOFT, .first_filler = 39, .n_fillers = 2),
    BLOCKS("0 fillers from 41 on are not all within n_cb, 40", SOFT, .first_filler = 41),
    BLOCKS("4294967295 fillers from 1 on are not all within n_cb, 40", SOFT, .first_filler = 1,
           .n_fillers = UINT32_MAX),
    BLOCKS("2 fillers from 4294967295 on are not all within n_cb, 40", SOFT, .first_filler = UINT32_MAX,
           .n_fillers = 2),
    BLOCKS("41 fillers from 0 on are not all within n_cb, 40", SOFT, .n_fillers = 41),
    BLOCKS("codeword.n_fillers is 40, all of n_cb: there is no place for LLRs", SOFT, .n_fillers = 40),
    BLOCKS("codeword.combine is 2, not 0 or 1", SOFT, .combine = 2),
    BLOCKS("codeword.combine is 4294967295, not 0 or 1", SOFT, .combine = UINT32_MAX),
    BLOCKS("codeword.block_stride is 39, less than the 40 values of a code block", SOFT, .block_stride = 39),
    BLOCKS("codeword.block_stride is 1, less than the 40 values of a code block", SOFT, .block_stride = 1),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {1}),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {0, (uint64_t)1 << 63}),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {0, 0, (uint64_t)1 << 32}),
    BLOCKS("codeword.reserved is not 0", GOOD, .reserved = {0, 0, 0, UINT64_MAX}),
    BLOCKS("codeword.n_bits is 4294967296, more than 2^32 - 1", .n_bits = (uint64_t)1 << 32, .n_code_blocks = 3),
    BLOCKS("codeword.n_bits is 18446744073709551608, more than 2^32 - 1", .n_bits = UINT64_MAX - 7, .n_code_blocks = 3),
    BLOCKS("codeword.n_bits is 100, not a multiple of 1 layers of 8 bits a symbol", .n_bits = 100, .n_code_blocks = 3),
    BLOCKS("codeword.n_bits is 96, but no code block is transmitted", GOOD, .n_cbg = 2),
    BLOCKS("codeword.block_stride is 31, less than the 32 values of a code block", GOOD, .block_stride = 31),
    BLOCKS("codeword.block_stride is 39, less than the 40 values of a code block", .n_bits = 104, .n_code_blocks = 3,
           .block_stride = 39),
    BLOCKS("codeword.block_stride is 95, less than the 96 values of a code block", GOOD, .n_cbg = 3, .cbgti = 2,
           .block_stride = 95),
};

/* By the segment that it is in. */
static const bad_row segment_rows[] = {
    SEGMENT("segment.out is given, but segment.codeword says where the LLRs go", .n_symbols = 4, .out = OUT),
    SEGMENT("segment.plane_stride is 4, but codeword.deinterleave asks for bit planes", .n_symbols = 4,
            .plane_stride = 4),
    SEGMENT("13 symbols from 0 on are not all within a codeword of 12", .n_symbols = 13),
    SEGMENT("1 symbols from 12 on are not all within a codeword of 12", .n_symbols = 1, .first_symbol = 12),
    SEGMENT("0 symbols from 13 on are not all within a codeword of 12", .first_symbol = 13),
    SEGMENT("18446744073709551615 symbols from 2 on are not all within a codeword of 12", .n_symbols = SIZE_MAX,
            .first_symbol = 2),
    SEGMENT("4 symbols from 18446744073709551614 on are not all within a codeword of 12", .n_symbols = 4,
            .first_symbol = UINT64_MAX - 1),
    SEGMENT("codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol", .n_symbols = 4, .n_layers = 4,
            .modulation = SOFTQAM_MODULATION_1024QAM),
    SEGMENT("segment.first_symbol is 3, not a multiple of 2 layers", .n_symbols = 4, .n_layers = 2, .first_symbol = 3),
    SEGMENT("segment.n_layers is 5, more than 4", .n_symbols = 4, .n_layers = 5),
    CODEWORD(4, "codeword.buffers is NULL", .n_bits = 96, .n_code_blocks = 3),
    CODEWORD(4, "codeword.buffers is given, and codeword.block_buffers too", GOOD, .block_buffers = some_pointers),
    CODEWORD(4, "codeword.block_stride is given, and codeword.block_buffers too", .n_bits = 96, .n_code_blocks = 3,
             .block_buffers = some_pointers, .block_stride = 32),
    BLOCKS("4 symbols are more than memory can hold", GOOD, .block_stride = UINT64_MAX),
    BLOCKS("4 symbols are more than memory can hold", GOOD, .block_stride = UINT64_MAX / 2),
    BLOCKS("4 symbols are more than memory can hold", GOOD, .block_stride = UINT64_MAX / 4 + 1),
    BLOCKS("4 symbols are more than memory can hold", .n_bits = 96, .n_code_blocks = 65535, .buffers = OUT,
           .block_stride = (uint64_t)1 << 48),
    /* Of 96 bytes from `out` on; with a stride of 40, of 2 * 40 + 40. */
    CODEWORD(4, "an input and out overlap", .n_bits = 96, .n_code_blocks = 3, .buffers = IN),
    CODEWORD(4, "an input and out overlap", .n_bits = 96, .n_code_blocks = 3, .buffers = IN + 31),
    CODEWORD(12, "an input and out overlap", .n_bits = 96, .n_code_blocks = 3, .buffers = IN + 143),
    CODEWORD(1, "an input and out overlap", .n_bits = 96, .n_code_blocks = 3, .buffers = IN + 33),
    CODEWORD(1, "an input and out overlap", .n_bits = 96, .n_code_blocks = 3, .buffers = IN + 12, .block_stride = 60),
    ALONE(.n_bits = 96),
    ALONE(.buffers = OUT),
    ALONE(.block_stride = 1),
    ALONE(.block_buffers = some_pointers),
    ALONE(.n_cbg = 1),
    ALONE(.cbgti = 1),
    ALONE(.deinterleave = 1),
    ALONE(.n_cb = 1),
    ALONE(.k0 = 1),
    ALONE(.first_filler = 1),
    ALONE(.n_fillers = 1),
    ALONE(.filler_value = 1),
    ALONE(.combine = 1),
    ALONE(.reserved = {1}),
    ALONE(.reserved = {0, 0, 0, 1}),
};

/* Symbols from the memory's beginning on, noise behind them. */
static softqam_segment segment_of(const bad_row *row)
{
    softqam_segment segment = row->segment;
    segment.codeword = row->codeword;
    segment.noise_stride = 1;
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++)
        segment.layers[k] = (softqam_layer){.symbols = IN, .noise_var = (const float *)(const void *)(IN + NOISE)};
    return segment;
}

static void fill_memory(uint8_t copy[MEMORY_NBYTES])
{
    const float one = 1;
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(copy, memory, sizeof memory);
}

static void assert_refused(softqam_status status, const char *message, const char *what, size_t row)
{
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT || strcmp(softqam_error_message(), message) != 0)
        fail_msg("%s, row %zu: status %d, \"%s\" instead of \"%s\"", what, row, (int)status, softqam_error_message(),
                 message);
}

/* Alone, and behind a good one, whose output is not written either. */
static void check_row(const bad_row *row, const char *what, size_t number)
{
    static const bad_row good = ROW(S8, NULL, N_SYMBOLS, GOOD);
    const softqam_demodulator_config config = api_llr_config(row->format);
    scoped_demodulator *demodulator = api_create(&config);
    uint8_t before[MEMORY_NBYTES];
    char message[200];
    const softqam_segment segments[2] = {segment_of(&good), segment_of(row)};
    fill_memory(before);
    assert_refused(softqam_demodulate_segments(demodulator, segments + 1, 1), row->message, what, number);
    snprintf(message, sizeof message, "segment 1 of 2: %s", row->message);
    assert_refused(softqam_demodulate_segments(demodulator, segments, 2), message, what, number);
    assert_memory_equal(memory, before, sizeof memory);
    if (harness_backend() != SOFTQAM_BACKEND_CUDA) {
        harness_demodulate_segments(demodulator, segments, 1);
        assert_memory_not_equal(memory, before, sizeof memory);
    }
}

HARNESS_TEST(test_codewords)
{
    for (size_t k = 0; k < HARNESS_COUNT(block_rows); k++) {
        uint64_t first = 77, n = 88;
        check_row(&block_rows[k], "code blocks", k);
        assert_refused(softqam_codeword_block(&block_rows[k].codeword, 8, 1, 0, &first, &n), block_rows[k].message,
                       "softqam_codeword_block", k);
        assert_true(first == 77 && n == 88);
    }
    for (size_t k = 0; k < HARNESS_COUNT(segment_rows); k++)
        check_row(&segment_rows[k], "segment", k);
    const bad_row good = BLOCKS(NULL, GOOD);
    softqam_segment segment = segment_of(&good);
    segment.layers[0].noise_var = NULL;
    scoped_demodulator *u8 = api_create_soft_bits();
    assert_refused(softqam_demodulate_segments(u8, &segment, 1),
                   "codeword.n_code_blocks is 3: u8 soft bits are liquid-dsp's, which has no code blocks", "u8", 0);
    print_message("%zu rows\n", HARNESS_COUNT(block_rows) + HARNESS_COUNT(segment_rows));
}

HARNESS_TEST(test_soft_buffers)
{
    const bad_row rows[] = {
        BUFFERS(S8, N_CB, "codeword.filler_value is 128, which is no value of s8", .buffers = OUT, .filler_value = 128),
        BUFFERS(S8, N_CB, "codeword.filler_value is -0.5, which is no value of s8", .buffers = OUT,
                .filler_value = -0.5F),
        BUFFERS(S8, N_CB, "codeword.filler_value is nan, which is no value of s8", .buffers = OUT, .filler_value = NAN),
        BUFFERS(S8, N_CB, "codeword.filler_value is 1.4013e-45, which is no value of s8", .buffers = OUT,
                .filler_value = 0x1p-149F),
        BUFFERS(S8, N_CB, "codeword.filler_value is -129, which is no value of s8", .buffers = OUT,
                .filler_value = -129),
        BUFFERS(S8, N_CB, "codeword.filler_value is inf, which is no value of s8", .buffers = OUT,
                .filler_value = INFINITY),
        BUFFERS(S8, N_CB, "codeword.filler_value is 3e+09, which is no value of s8", .buffers = OUT,
                .filler_value = 3e9F),
        BUFFERS(S8, N_CB, "codeword.filler_value is 1e+30, which is no value of s8", .buffers = OUT,
                .filler_value = 1e30F),
        BUFFERS(S16, N_CB, "codeword.filler_value is 32768, which is no value of s16", .buffers = OUT,
                .filler_value = 32768),
        BUFFERS(S16, N_CB, "codeword.filler_value is 126.5, which is no value of s16", .buffers = OUT,
                .filler_value = 126.5F),
        BUFFERS(S16, N_CB, "codeword.filler_value is nan, which is no value of s16", .buffers = OUT,
                .filler_value = NAN),
        BUFFERS(S16, N_CB, "codeword.filler_value is -inf, which is no value of s16", .buffers = OUT,
                .filler_value = -INFINITY),
        BUFFERS(S16, N_CB, "codeword.filler_value is 65536, which is no value of s16", .buffers = OUT,
                .filler_value = 65536),
        BUFFERS(F16, N_CB, "codeword.filler_value is nan, which is no value of f16", .buffers = OUT,
                .filler_value = NAN),
        BUFFERS(S16, N_CB, "codeword.filler_value is -32769, which is no value of s16", .buffers = OUT,
                .filler_value = -32769),
        BUFFERS(F16, N_CB, "codeword.filler_value is 65520, which is no value of f16", .buffers = OUT,
                .filler_value = 65520),
        BUFFERS(F16, N_CB, "codeword.filler_value is inf, which is no value of f16", .buffers = OUT,
                .filler_value = INFINITY),
        BUFFERS(F32, N_CB, "codeword.filler_value is -inf, which is no value of f32", .buffers = OUT,
                .filler_value = -INFINITY),
        BUFFERS(F32, N_CB, "codeword.filler_value is nan, which is no value of f32", .buffers = OUT,
                .filler_value = NAN),
        BUFFERS(S8, N_CB, "codeword.buffers is NULL", .buffers = NULL),
        BUFFERS(S8, N_CB, "codeword.buffers is NULL", .combine = 1),
        BUFFERS(S8, N_CB, overlap, .buffers = IN),
        BUFFERS(S8, N_CB, overlap, .buffers = IN + INPUTS_END - 1),
        BUFFERS(S8, N_CB, overlap, .buffers = IN + NOISE - 1),
        BUFFERS(F32, N_CB, overlap, .buffers = IN, .combine = 1),
        BUFFERS(S8, N_CB, overlap, .buffers = IN, .block_stride = 400), /* all inputs between two code blocks */
        /* Inputs behind the 48 values of a code block but within its soft buffer. */
        BUFFERS(S8, N_CB, overlap, .buffers = IN - (N_CB - 1), .block_stride = 512),
        BUFFERS(F16, N_CB, overlap, .buffers = IN - 2 * (N_CB - 1) + 64, .block_stride = 512),
        /* Four code blocks of eight are transmitted, of which the inputs lie in the third's soft buffer. */
        ROW(S8, overlap, N_SYMBOLS, TRANSMITTED(6, 80)),
        ROW(S8, overlap, N_SYMBOLS, TRANSMITTED(4, 79)),
        BUFFERS(S8, N_CB, first_overlaps, POINTERS(IN - (N_CB - 1), OUT)),
        BUFFERS(S8, N_CB, second_overlaps, POINTERS(OUT, IN - (N_CB - 1))),
        BUFFERS(S8, N_CB, too_large, .buffers = OUT, .block_stride = UINT64_MAX),
        BUFFERS(F16, N_CB, too_large, .buffers = OUT, .block_stride = UINT64_MAX / 4),
        BUFFERS(F32, N_CB, too_large, .buffers = OUT, .block_stride = UINT64_MAX / 8, .combine = 1),
        BUFFERS(S8, N_CB, too_large, .buffers = BEFORE_END(2 * N_CB - 1)),
        BUFFERS(F16, N_CB, too_large, .buffers = BEFORE_END(4 * N_CB - 1)),
        BUFFERS(S8, UINT32_MAX, too_large, .buffers = BEFORE_END(UINT32_MAX)),
        BUFFERS(S8, N_CB, first_overlaps, POINTERS(IN, OUT)),
        BUFFERS(S8, N_CB, first_overlaps, POINTERS(IN + INPUTS_END - 1, OUT)),
        BUFFERS(S8, N_CB, second_overlaps, POINTERS(OUT, IN)),
        BUFFERS(S8, N_CB, second_overlaps, POINTERS(NULL, IN + NOISE)),
        BUFFERS(F32, N_CB, second_overlaps, POINTERS(OUT, IN + NOISE), .combine = 1),
        BUFFERS(S8, N_CB, "codeword.block_buffers[1] is too near memory's end", POINTERS(OUT, BEFORE_END(N_CB - 1))),
        BUFFERS(F32, N_CB, "codeword.block_buffers[0] is too near memory's end",
                POINTERS(BEFORE_END(4 * N_CB - 1), OUT)),
        BUFFERS(S8, UINT32_MAX, "codeword.block_buffers[0] is too near memory's end",
                POINTERS(BEFORE_END(UINT32_MAX - 1), NULL), .combine = 1),
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        check_row(&rows[k], "soft buffers", k);
    print_message("%zu rows\n", HARNESS_COUNT(rows));
}

/* What is close to a refusal. */
HARNESS_TEST(test_accepted_codewords)
{
    static const bad_row rows[] = {
        ROW(S8, NULL, 0, .n_bits = 96, .n_code_blocks = 3), /* no symbols, so no buffers */
        {.codeword = {.n_bits = 96, .n_code_blocks = 3}, .segment = {.first_symbol = 12}}, /* nor behind the last one */
        ROW(S8, NULL, 0, .n_code_blocks = 3, .n_cbg = 3),                                  /* no code block, no bits */
        ROW(S8, NULL, 12, .n_bits = 96, .n_code_blocks = 3, .buffers = IN + INPUTS_END),   /* beside the noise */
        ROW(S8, NULL, 12, .n_bits = 96, .n_code_blocks = 3, .block_buffers = some_pointers), /* all dropped */
        ROW(S8, NULL, 12, GOOD, .filler_value = -0.0F, .n_cbg = 32, .cbgti = 7),
        ROW(S8, NULL, 12, SOFT, .k0 = 39),
        ROW(S8, NULL, 12, SOFT, .first_filler = 36, .n_fillers = 4),
        ROW(S8, NULL, 12, SOFT, .first_filler = 40),
        ROW(S8, NULL, 12, SOFT, .n_fillers = 39, .filler_value = -128),
        ROW(S8, NULL, 12, SOFT, .n_fillers = 1, .filler_value = 127, .block_stride = 40),
        ROW(S8, NULL, 12, SOFT, .filler_value = 127, .n_cbg = 32, .cbgti = 2),
        ROW(S8, NULL, 12, TRANSMITTED(4, 80)), /* what is not transmitted has no room */
        ROW(S8, NULL, 12, GOOD, .deinterleave = 1, .n_cb = 1),
        ROW(S8, NULL, 12, .n_bits = 96, .n_code_blocks = 3, .block_buffers = some_pointers, .deinterleave = 1,
            .n_cb = 40),
        ROW(S8, NULL, 0, .n_code_blocks = 3, .deinterleave = 1, .n_cb = 40, .n_fillers = 40), /* all are fillers */
    };
    const softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        uint8_t before[MEMORY_NBYTES];
        const softqam_segment segment = segment_of(&rows[k]);
        fill_memory(before);
        harness_demodulate_segments(demodulator, &segment, 1);
        const uint8_t *from = rows[k].codeword.buffers;
        if (from) {
            assert_memory_not_equal(memory, before, sizeof memory);
            const size_t nbytes = N_SYMBOLS * 8 + 3 * rows[k].codeword.n_cb;
            memcpy(before + (from - memory), from, from < IN ? (size_t)(IN - from) : nbytes);
        }
        assert_memory_equal(memory, before, sizeof memory);
    }
}

HARNESS_TEST(test_arguments_of_codeword_block)
{
    static const softqam_codeword codeword = {GOOD}, none = {0};
    static const struct {
        unsigned n_bits, n_layers;
        size_t r;
        const char *message;
    } rows[] = {
        {0, 1, 0, "bits_per_symbol is 0, not 1, 2, 4, 6, 8 or 10"},
        {3, 1, 0, "bits_per_symbol is 3, not 1, 2, 4, 6, 8 or 10"},
        {9, 1, 0, "bits_per_symbol is 9, not 1, 2, 4, 6, 8 or 10"},
        {12, 1, 0, "bits_per_symbol is 12, not 1, 2, 4, 6, 8 or 10"},
        {UINT32_MAX, 1, 0, "bits_per_symbol is 4294967295, not 1, 2, 4, 6, 8 or 10"},
        {8, 0, 0, "n_layers is 0, not 1 to 4"},
        {8, 5, 0, "n_layers is 5, not 1 to 4"},
        {8, UINT32_MAX, 0, "n_layers is 4294967295, not 1 to 4"},
        {8, 1, 3, "r is 3, but there are 3 code blocks"},
        {8, 1, SIZE_MAX, "r is 18446744073709551615, but there are 3 code blocks"},
        {10, 4, 0, "codeword.n_bits is 96, not a multiple of 4 layers of 10 bits a symbol"},
    };
    uint64_t first = 77, n = 88;
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        assert_refused(softqam_codeword_block(&codeword, rows[k].n_bits, rows[k].n_layers, rows[k].r, &first, &n),
                       rows[k].message, "arguments", k);
    assert_refused(softqam_codeword_block(NULL, 8, 1, 0, &first, &n), "codeword is NULL", "NULL", 0);
    assert_refused(softqam_codeword_block(&codeword, 8, 1, 0, NULL, &n), "first_bit is NULL", "NULL", 1);
    assert_refused(softqam_codeword_block(&codeword, 8, 1, 0, &first, NULL), "n_bits is NULL", "NULL", 2);
    assert_refused(softqam_codeword_block(&none, 8, 1, 0, &first, &n), "r is 0, but there are 0 code blocks", "none",
                   0);
    assert_true(first == 77 && n == 88);
}
