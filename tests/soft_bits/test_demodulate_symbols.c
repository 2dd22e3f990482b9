/* SPDX-License-Identifier: MIT */
/* Soft bits of all kinds of symbols, in every input format and at many scales, through the public API, on the backend
 * that SOFTQAM_TEST_BACKEND names: no byte may differ from the oracle's. */
#include <stdlib.h>
#include <string.h>

#include "demodulate_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_SETS = 1,
    STREAM_INTEGERS,
    STREAM_SCALES,
    STREAM_MISALIGNED,
};

static void check_set(softqam_demodulator *demodulator, const harness_symbol_set *set, uint32_t stream)
{
    const size_t max_chunk = (size_t)1 << 19;
    size_t n_symbols = set->n_fixed ? set->n_fixed : harness_symbol_count(max_chunk);
    size_t chunk = n_symbols < max_chunk ? n_symbols : max_chunk;
    float *symbols = harness_alloc(chunk * CF32_NBYTES);
    uint8_t *expected = harness_alloc(chunk * HARNESS_SYMBOL_BITS);
    harness_random random = harness_random_stream(stream);
    for (size_t first = 0; first < n_symbols; first += chunk) {
        size_t n = n_symbols - first < chunk ? n_symbols - first : chunk;
        set->fill(&random, set->parameter, first, n, symbols);
        demodulate_ask_oracle(symbols, n, expected);
        demodulate_check_call(demodulator, set->name, symbols, symbols, expected, n);
    }
    free(expected);
    free(symbols);
    print_message("%zu symbols: %s\n", n_symbols, set->name);
}

HARNESS_TEST(test_symbol_sets)
{
    harness_setup setup = harness_soft_bits_setup();
    softqam_demodulator *demodulator = harness_create(&setup);
    for (size_t i = 0; i < harness_n_symbol_sets; i++)
        check_set(demodulator, &harness_symbol_sets[i], ((uint32_t)i << 8) | STREAM_SETS);
    softqam_demodulator_destroy(demodulator);
}

/* The demodulator of a format and scale, and the oracle on v = fl((float)sample * scale). */
static void check_integers(softqam_input_format format, const char *what, float scale, const void *samples,
                           size_t n_symbols)
{
    float *values = harness_alloc(n_symbols * CF32_NBYTES);
    harness_widen(format, scale, samples, n_symbols, values);
    uint8_t *expected = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS);
    demodulate_ask_oracle(values, n_symbols, expected);
    harness_setup setup = harness_soft_bits_setup();
    setup.demodulator.input_format = format;
    setup.demodulator.input_scale = scale;
    setup.context.chunk_symbols = 10007;
    softqam_demodulator *demodulator = harness_create(&setup);
    demodulate_check_call(demodulator, what, samples, values, expected, n_symbols);
    softqam_demodulator_destroy(demodulator);
    free(expected);
    free(values);
}

/* Default, the default written out, a full range of +-1.4, one that puts samples on levels, one that overflows to
 * infinity, one that gives subnormal values. */
static const float cs16_scales[] = {0, 1.0F / 32768, 1.4F / 32768, 0.00239617F, 1e36F, 1e-42F};
static const float cs8_scales[] = {0, 1.0F / 128, 1.4F / 128, 0.07669650F, 0.03834825F, 1e37F, 1e-42F};

#define N_INT16 ((size_t)1 << 16)

/* All values of one axis with random ones on the other, then the axes exchanged. */
HARNESS_TEST(test_cs16)
{
    size_t n_symbols = 2 * N_INT16;
    int16_t *samples = harness_alloc(2 * n_symbols * sizeof *samples);
    harness_random random = harness_random_stream(STREAM_INTEGERS);
    harness_random_fill(&random, samples, 2 * n_symbols * sizeof *samples);
    for (size_t i = 0; i < N_INT16; i++) {
        int16_t value = (int16_t)((int)i - 32768);
        samples[2 * i] = value;
        samples[2 * (N_INT16 + i) + 1] = value;
    }
    for (size_t i = 0; i < HARNESS_COUNT(cs16_scales); i++)
        check_integers(SOFTQAM_INPUT_CS16, "cs16", cs16_scales[i], samples, n_symbols);
    free(samples);
}

/* There are only 65536 symbols. */
HARNESS_TEST(test_cs8)
{
    size_t n_symbols = (size_t)256 * 256;
    int8_t *samples = harness_alloc(2 * n_symbols);
    for (size_t i = 0; i < n_symbols; i++) {
        samples[2 * i] = (int8_t)((int)(i / 256) - 128);
        samples[2 * i + 1] = (int8_t)((int)(i % 256) - 128);
    }
    for (size_t i = 0; i < HARNESS_COUNT(cs8_scales); i++)
        check_integers(SOFTQAM_INPUT_CS8, "cs8", cs8_scales[i], samples, n_symbols);
    free(samples);
}

HARNESS_TEST(test_cf32_scale)
{
    static const float scales[] = {1, 0.37F, 1.0F / 3, 2, 1e30F, 1e-30F, 1e-42F};
    size_t n_symbols = 200003;
    float *symbols = harness_alloc(n_symbols * CF32_NBYTES);
    harness_random random = harness_random_stream(STREAM_SCALES);
    harness_fill_mixture(&random, n_symbols, symbols);
    float *values = harness_alloc(n_symbols * CF32_NBYTES);
    uint8_t *expected = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS);
    for (size_t k = 0; k < HARNESS_COUNT(scales); k++) {
        harness_widen(SOFTQAM_INPUT_CF32, scales[k], symbols, n_symbols, values);
        demodulate_ask_oracle(values, n_symbols, expected);
        harness_setup setup = harness_soft_bits_setup();
        setup.demodulator.input_scale = scales[k];
        softqam_demodulator *demodulator = harness_create(&setup);
        demodulate_check_call(demodulator, "cf32 with a scale", symbols, values, expected, n_symbols);
        softqam_demodulator_destroy(demodulator);
    }
    free(expected);
    free(values);
    free(symbols);
}

#define N_MISALIGNED 333

/* Integers at odd addresses; the symbols of the misalignment test are floats. */
static void check_misaligned_integers(softqam_input_format format)
{
    size_t in_nbytes = N_MISALIGNED * softqam_input_symbol_nbytes(format);
    uint8_t expected[N_MISALIGNED * HARNESS_SYMBOL_BITS], *samples = harness_alloc(in_nbytes);
    float values[2 * N_MISALIGNED];
    harness_random random = harness_random_stream(STREAM_MISALIGNED);
    harness_random_fill(&random, samples, in_nbytes);
    harness_widen(format, 0, samples, N_MISALIGNED, values);
    demodulate_ask_oracle(values, N_MISALIGNED, expected);
    harness_setup setup = harness_soft_bits_setup();
    setup.demodulator.input_format = format;
    setup.context.chunk_symbols = 50;
    softqam_demodulator *demodulator = harness_create(&setup);
    harness_buffer in;
    harness_buffer_open(&in, in_nbytes);
    for (size_t gap = 0; gap < 64; gap++) {
        harness_buffer_place_at_end(&in, in_nbytes, gap);
        memcpy(in.data, samples, in_nbytes);
        demodulate_check_call(demodulator, "misaligned integers", in.data, values, expected, N_MISALIGNED);
    }
    harness_buffer_close(&in);
    softqam_demodulator_destroy(demodulator);
    free(samples);
}

HARNESS_TEST(test_misaligned_integers)
{
    check_misaligned_integers(SOFTQAM_INPUT_CS16);
    check_misaligned_integers(SOFTQAM_INPUT_CS8);
}
