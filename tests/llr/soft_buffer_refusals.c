/* SPDX-License-Identifier: MIT */
/* Soft buffers that contradict themselves are refused with a message, and nothing is written; what is close to that is
 * accepted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"
/* 12 symbols of 256QAM: cf32 symbols, one noise value each, then soft buffers. */
enum { N_SYMBOLS = 12, SYMBOLS_NBYTES = 8 * N_SYMBOLS, NOISE_NBYTES = 4 * N_SYMBOLS, N_CB = 50, MEMORY_NBYTES = 4096 };
static _Alignas(float) uint8_t memory[MEMORY_NBYTES];

#define OUT  (memory + 1024)
#define GOOD .n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .n_cb = N_CB, .deinterleave = 1

static void fill_memory(uint8_t copy[MEMORY_NBYTES])
{
    const float one = 1;
    for (size_t i = 0; i < sizeof memory; i += sizeof one)
        memcpy(memory + i, &one, sizeof one);
    memcpy(copy, memory, sizeof memory);
}

static softqam_segment segment_of(const softqam_codeword *codeword)
{
    return (softqam_segment){
        .n_symbols = N_SYMBOLS,
        .noise_stride = 1,
        .layers = {{.symbols = memory, .noise_var = (const float *)(const void *)(memory + SYMBOLS_NBYTES)}},
        .codeword = *codeword,
    };
}

static softqam_demodulator *create(softqam_output_format format)
{
    harness_setup setup = harness_default_setup();
    setup.demodulator.output_format = format;
    return harness_create(&setup);
}

/* Alone, and behind a good one, whose buffers are not written either. */
static void assert_refused(const softqam_demodulator *demodulator, const softqam_codeword *codeword, size_t row)
{
    static const softqam_codeword good = {GOOD};
    uint8_t before[MEMORY_NBYTES];
    const softqam_segment segments[2] = {segment_of(&good), segment_of(codeword)};
    fill_memory(before);
    for (size_t n = 1; n <= 2; n++) {
        const softqam_status status = softqam_demodulate_segments(demodulator, segments + 2 - n, n);
        if (status != SOFTQAM_ERROR_INVALID_ARGUMENT || softqam_error_message()[0] == '\0')
            fail_msg("row %zu: status %d, \"%s\"", row, (int)status, softqam_error_message());
        assert_memory_equal(memory, before, sizeof memory);
    }
}

/* Whatever the format: softqam_codeword_block() refuses these too. */
HARNESS_TEST(test_refusals)
{
    static void *const pointers[3] = {OUT, OUT + N_CB, OUT + 2 * N_CB};
    static const softqam_codeword rows[] = {
        {GOOD, .k0 = N_CB},
        {GOOD, .k0 = UINT32_MAX},
        {GOOD, .first_filler = N_CB - 3, .n_fillers = 4},
        {GOOD, .first_filler = N_CB, .n_fillers = 1},
        {GOOD, .first_filler = 0, .n_fillers = N_CB + 1},
        {GOOD, .first_filler = UINT32_MAX, .n_fillers = 2}, /* a sum of 1, in 32 bits */
        {GOOD, .first_filler = 2, .n_fillers = UINT32_MAX},
        {GOOD, .n_fillers = N_CB}, /* no room for bits */
        {GOOD, .combine = 2},
        {GOOD, .combine = UINT32_MAX},
        {GOOD, .block_stride = N_CB - 1},
        {GOOD, .block_stride = 1},
        {GOOD, .reserved = {1}},
        {GOOD, .reserved = {0, 0, 0, 1}},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .n_cb = N_CB}, /* deinterleave 0 */
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .n_cb = N_CB, .deinterleave = 2},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .deinterleave = 1, .k0 = 1},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .deinterleave = 1, .first_filler = 1},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .deinterleave = 1, .n_fillers = 1},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .deinterleave = 1, .filler_value = 1},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .deinterleave = 1, .combine = 1},
    };
    scoped_demodulator *demodulator = create(SOFTQAM_OUTPUT_S8);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        uint64_t first = 77, n = 88;
        assert_refused(demodulator, &rows[k], k);
        if (softqam_codeword_block(&rows[k], 8, 1, 0, &first, &n) != SOFTQAM_ERROR_INVALID_ARGUMENT)
            fail_msg("softqam_codeword_block(), row %zu, is not refused", k);
        assert_true(first == 77 && n == 88);
    }
    const softqam_codeword no_buffers = {.n_bits = 96, .n_code_blocks = 3, .n_cb = N_CB, .deinterleave = 1};
    softqam_codeword both = {GOOD}, stride = {GOOD};
    assert_refused(demodulator, &no_buffers, 100);
    both.block_buffers = pointers;
    assert_refused(demodulator, &both, 101);
    stride.buffers = NULL;
    stride.block_buffers = pointers;
    stride.block_stride = N_CB;
    assert_refused(demodulator, &stride, 102);
}

/* What a format does not hold, and u8. */
HARNESS_TEST(test_refusals_of_formats)
{
    static const struct {
        softqam_output_format format;
        float filler_value;
    } rows[] = {
        {SOFTQAM_OUTPUT_S8, 128},        {SOFTQAM_OUTPUT_S8, -129},    {SOFTQAM_OUTPUT_S8, 0.5F},
        {SOFTQAM_OUTPUT_S8, 0x1p-149F},  {SOFTQAM_OUTPUT_S8, NAN},     {SOFTQAM_OUTPUT_S8, INFINITY},
        {SOFTQAM_OUTPUT_S8, 3e9F},       {SOFTQAM_OUTPUT_S8, 1e30F},   {SOFTQAM_OUTPUT_S16, 32768},
        {SOFTQAM_OUTPUT_S16, -32769},    {SOFTQAM_OUTPUT_S16, 126.5F}, {SOFTQAM_OUTPUT_S16, NAN},
        {SOFTQAM_OUTPUT_S16, -INFINITY}, {SOFTQAM_OUTPUT_S16, 65536},  {SOFTQAM_OUTPUT_F16, NAN},
        {SOFTQAM_OUTPUT_F16, INFINITY},  {SOFTQAM_OUTPUT_F32, NAN},    {SOFTQAM_OUTPUT_F32, -INFINITY},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        scoped_demodulator *demodulator = create(rows[k].format);
        const softqam_codeword codeword = {GOOD, .n_fillers = 3, .filler_value = rows[k].filler_value};
        assert_refused(demodulator, &codeword, k);
    }
    const softqam_codeword codeword = {GOOD};
    scoped_demodulator *u8 = create(SOFTQAM_OUTPUT_U8);
    softqam_segment segment = segment_of(&codeword);
    uint8_t before[MEMORY_NBYTES];
    fill_memory(before);
    segment.layers[0].noise_var = NULL;
    segment.noise_stride = 0;
    assert_int_equal(softqam_demodulate_segments(u8, &segment, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_memory_equal(memory, before, sizeof memory);
}

/* A soft buffer covers n_cb values, though its code block has fewer bits. */
HARNESS_TEST(test_refused_overlaps)
{
    enum { END = SYMBOLS_NBYTES + NOISE_NBYTES };
    scoped_demodulator *demodulator = create(SOFTQAM_OUTPUT_F32);
    const softqam_codeword rows[] = {
        {.n_bits = 96, .n_code_blocks = 3, .n_cb = N_CB, .deinterleave = 1, .buffers = memory},
        {.n_bits = 96, .n_code_blocks = 3, .n_cb = N_CB, .deinterleave = 1, .buffers = memory + SYMBOLS_NBYTES},
        {.n_bits = 96, .n_code_blocks = 3, .n_cb = N_CB, .deinterleave = 1, .buffers = memory + END - 1},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        assert_refused(demodulator, &rows[k], k);
    for (size_t r = 0; r < 3; r++) {
        for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
            void *pointers[3] = {OUT, OUT + 4 * N_CB, OUT + 8 * N_CB};
            pointers[r] = rows[k].buffers;
            softqam_codeword codeword = rows[k];
            codeword.buffers = NULL;
            codeword.block_buffers = pointers;
            assert_refused(demodulator, &codeword, 10 * (r + 1) + k);
        }
    }
    /* Inputs behind the E_0 = 32 values of the first block but within its n_cb. */
    uint8_t before[MEMORY_NBYTES];
    void *apart[3] = {memory + 1024, memory + 2048, memory + 3072};
    for (int by_pointers = 0; by_pointers < 2; by_pointers++) {
        const softqam_codeword codeword = {.n_bits = 96,
                                           .n_code_blocks = 3,
                                           .buffers = by_pointers ? NULL : memory + 1024,
                                           .block_stride = by_pointers ? 0 : 256,
                                           .block_buffers = by_pointers ? apart : NULL,
                                           .n_cb = N_CB,
                                           .deinterleave = 1};
        softqam_segment segment = segment_of(&codeword);
        segment.noise_stride = 0;
        segment.layers[0].noise_var = (const float *)(const void *)(memory + 1024 + 4 * (N_CB - 1));
        fill_memory(before);
        assert_int_equal(softqam_demodulate_segments(demodulator, &segment, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_memory_equal(memory, before, sizeof memory);
    }
}

/* What is close to a refusal. */
HARNESS_TEST(test_accepted)
{
    static void *const dropped[3];
    static const softqam_codeword rows[] = {
        {GOOD, .k0 = N_CB - 1},
        {GOOD, .first_filler = N_CB - 4, .n_fillers = 4},
        {GOOD, .first_filler = N_CB},
        {GOOD, .n_fillers = N_CB - 1},
        {GOOD, .block_stride = N_CB},
        {GOOD, .n_fillers = 1, .filler_value = -128},
        {GOOD, .n_fillers = 1, .filler_value = 127},
        {GOOD, .filler_value = 127},
        {GOOD, .n_cbg = 32, .cbgti = 2},
        {.n_bits = 96, .n_code_blocks = 3, .buffers = OUT, .n_cb = 1, .deinterleave = 1},
        {.n_bits = 96, .n_code_blocks = 3, .block_buffers = dropped, .n_cb = N_CB, .deinterleave = 1},
    };
    scoped_demodulator *demodulator = create(SOFTQAM_OUTPUT_S8);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        uint8_t before[MEMORY_NBYTES];
        const softqam_segment segment = segment_of(&rows[k]);
        fill_memory(before);
        harness_demodulate_segments(demodulator, &segment, 1);
        assert_memory_equal(memory, before, 1024);
    }
    /* No symbols, so neither bits nor buffers are needed; fillers may be all there is. */
    const softqam_codeword nothing = {.n_code_blocks = 3, .n_cb = N_CB, .n_fillers = N_CB, .deinterleave = 1};
    softqam_segment segment = segment_of(&nothing);
    segment.n_symbols = 0;
    harness_demodulate_segments(demodulator, &segment, 1);
}
