/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for codewords in soft buffers: what their format does not hold, and where they lie. */
#include <math.h>
#include <string.h>

#include "api_fixture.h"

/* 12 symbols of 256QAM, cf32, and their noise; two code blocks of 48 bits. */
enum { N_SYMBOLS = 12, N_CB = 60, NOISE = 8 * N_SYMBOLS, INPUTS_END = NOISE + 4 * N_SYMBOLS, MEMORY_NBYTES = 2048 };
#define OUT (memory + 512)

static _Alignas(float) uint8_t memory[MEMORY_NBYTES];

typedef struct codeword_row {
    softqam_output_format format;
    softqam_codeword codeword;
    const char *message;
} codeword_row;

#define ROW_OF(kind, length, text, ...)                                                                                \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_##kind,                                                                                         \
            {.n_bits = 8 * N_SYMBOLS, .n_code_blocks = 2, .deinterleave = 1, .n_cb = (length), __VA_ARGS__}, text      \
    }
#define ROW(kind, text, ...) ROW_OF(kind, N_CB, text, __VA_ARGS__)
#define POINTERS(...)                                                                                                  \
    .block_buffers = (void *const[])                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const char overlap[] = "an input and out overlap";
static const char too_large[] = "12 symbols are more than memory can hold";
static const char first_overlaps[] = "codeword.block_buffers[0] and an input overlap";
static const char second_overlaps[] = "codeword.block_buffers[1] and an input overlap";

/* An address that lies so many bytes before the end of all addresses. */
#define BEFORE_END(nbytes) ((void *)(UINTPTR_MAX - (nbytes) + 1))

static void check_row(const codeword_row *row, size_t number)
{
    softqam_demodulator_config config = api_config();
    config.output_format = row->format;
    scoped_demodulator *demodulator = api_create(&config);
    const float one = 1;
    uint8_t expected[MEMORY_NBYTES];
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(expected, memory, sizeof memory);
    const softqam_codeword good = {
        .n_bits = 8 * N_SYMBOLS, .n_code_blocks = 2, .buffers = OUT, .deinterleave = 1, .n_cb = N_CB};
    softqam_segment segments[2];
    for (size_t k = 0; k < 2; k++)
        segments[k] = (softqam_segment){
            .n_symbols = N_SYMBOLS,
            .noise_stride = 1,
            .layers = {{.symbols = memory, .noise_var = (const float *)(const void *)(memory + NOISE)}},
            .codeword = k ? row->codeword : good};
    api_check_refusal(softqam_demodulate_segments(demodulator, segments, 2), row->message, "codeword", number);
    api_check_refusal(softqam_demodulate_segments(demodulator, segments + 1, 1), row->message, "codeword", number);
    assert_memory_equal(memory, expected, sizeof memory);
    if (harness_backend() != SOFTQAM_BACKEND_CUDA) {
        assert_int_equal(softqam_demodulate_segments(demodulator, segments, 1), SOFTQAM_OK);
        assert_memory_not_equal(memory, expected, sizeof memory);
    }
}

HARNESS_TEST(test_soft_buffers)
{
    const codeword_row rows[] = {
        ROW(S8, "codeword.filler_value is 128, which is no value of s8", .buffers = OUT, .filler_value = 128),
        ROW(S8, "codeword.filler_value is -0.5, which is no value of s8", .buffers = OUT, .filler_value = -0.5F),
        ROW(S8, "codeword.filler_value is nan, which is no value of s8", .buffers = OUT, .filler_value = NAN),
        ROW(S8, "codeword.filler_value is 1.4013e-45, which is no value of s8", .buffers = OUT,
            .filler_value = 0x1p-149F),
        ROW(S16, "codeword.filler_value is -32769, which is no value of s16", .buffers = OUT, .filler_value = -32769),
        ROW(F16, "codeword.filler_value is 65520, which is no value of f16", .buffers = OUT, .filler_value = 65520),
        ROW(F16, "codeword.filler_value is inf, which is no value of f16", .buffers = OUT, .filler_value = INFINITY),
        ROW(F32, "codeword.filler_value is -inf, which is no value of f32", .buffers = OUT, .filler_value = -INFINITY),
        ROW(F32, "codeword.filler_value is nan, which is no value of f32", .buffers = OUT, .filler_value = NAN),
        ROW(S8, "codeword.buffers is NULL", .buffers = NULL),
        ROW(S8, "codeword.buffers is NULL", .combine = 1),
        ROW(S8, overlap, .buffers = memory),
        ROW(S8, overlap, .buffers = memory + INPUTS_END - 1),
        ROW(S8, overlap, .buffers = memory + NOISE - 1),
        ROW(F32, overlap, .buffers = memory, .combine = 1),
        ROW(S8, overlap, .buffers = memory, .block_stride = 400), /* all inputs between two code blocks */
        ROW(S8, too_large, .buffers = OUT, .block_stride = UINT64_MAX),
        ROW(F16, too_large, .buffers = OUT, .block_stride = UINT64_MAX / 4),
        ROW(F32, too_large, .buffers = OUT, .block_stride = UINT64_MAX / 8, .combine = 1),
        ROW(S8, too_large, .buffers = BEFORE_END(2 * N_CB - 1)),
        ROW(F16, too_large, .buffers = BEFORE_END(4 * N_CB - 1)),
        ROW_OF(S8, UINT32_MAX, too_large, .buffers = BEFORE_END(UINT32_MAX)),
        ROW(S8, first_overlaps, POINTERS(memory, OUT)),
        ROW(S8, first_overlaps, POINTERS(memory + INPUTS_END - 1, OUT)),
        ROW(S8, second_overlaps, POINTERS(OUT, memory)),
        ROW(S8, second_overlaps, POINTERS(NULL, memory + NOISE)),
        ROW(F32, second_overlaps, POINTERS(OUT, memory + NOISE), .combine = 1),
        ROW(S8, "codeword.block_buffers[1] is too near memory's end", POINTERS(OUT, BEFORE_END(N_CB - 1))),
        ROW(F32, "codeword.block_buffers[0] is too near memory's end", POINTERS(BEFORE_END(4 * N_CB - 1), OUT)),
        ROW_OF(S8, UINT32_MAX, "codeword.block_buffers[0] is too near memory's end",
               POINTERS(BEFORE_END(UINT32_MAX - 1), NULL), .combine = 1),
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        check_row(&rows[k], k);
    print_message("%zu rows\n", HARNESS_COUNT(rows));
}
