/* SPDX-License-Identifier: MIT */
/* softqam_codeword_segments(): code blocks have the lengths of 3GPP TS 38.212 clause 5.4.2.1, written down here as it
 * stands there, for random codewords; a codeword that is cut into ranges between any resource elements gives the bytes
 * of the whole one, block by block; refusals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api_fixture.h"

enum { STREAM_LENGTHS = 1, STREAM_RANGES, MOST_BLOCKS = 160 };

static softqam_demodulator *create_for(softqam_output_format format)
{
    softqam_config config = api_llr_config(format);
    config.noise = SOFTQAM_NOISE_PER_SYMBOL;
    return api_create(&config);
}

/* E_r of all code blocks by the standard's own steps and names, in double as its brackets are; CBGTI absent: NULL. */
static void standard_lengths(size_t G, size_t N_L, size_t Q_m, size_t C, const uint8_t *scheduled, size_t E[])
{
    size_t C_prime = 0, j = 0;
    for (size_t r = 0; r < C; r++)
        C_prime += scheduled ? scheduled[r] != 0 : 1;
    for (size_t r = 0; r < C; r++) {
        if (scheduled && !scheduled[r]) {
            E[r] = 0;
        } else {
            const double bits = (double)G / ((double)N_L * (double)Q_m * (double)C_prime);
            if ((long)j <= (long)C_prime - (long)(G / (N_L * Q_m) % C_prime) - 1)
                E[r] = N_L * Q_m * (size_t)floor(bits);
            else
                E[r] = N_L * Q_m * (size_t)ceil(bits);
            j = j + 1;
        }
    }
}

/* A random codeword. */
typedef struct random_codeword {
    softqam_codeword codeword;
    uint8_t transmitted[MOST_BLOCKS];
    size_t lengths[MOST_BLOCKS];
    size_t n_layers, n_bits, n_longest;
    softqam_modulation modulation;
} random_codeword;

static void make_codeword(harness_random *random, size_t most_elements, size_t most_blocks, random_codeword *self)
{
    self->n_layers = 1 + harness_random_below(random, SOFTQAM_MAX_LAYERS);
    self->modulation = (softqam_modulation)(SOFTQAM_MODULATION_QPSK + harness_random_below(random, 5));
    self->n_bits = softqam_bits_per_symbol(self->modulation);
    self->codeword = (softqam_codeword){
        .n_bits = harness_random_below(random, most_elements + 1) * self->n_layers * self->n_bits,
        .n_code_blocks = 1 + harness_random_below(random, most_blocks),
        .planes = (unsigned)harness_random_below(random, 2),
    };
    const size_t chance = 1 + harness_random_below(random, 4);
    for (size_t r = 0; r < self->codeword.n_code_blocks; r++)
        self->transmitted[r] =
            harness_random_below(random, chance) == 0 ? 1 + (uint8_t)harness_random_below(random, 255) : 0;
    self->transmitted[harness_random_below(random, self->codeword.n_code_blocks)] = 1;
    if (harness_random_below(random, 2))
        self->codeword.transmitted = self->transmitted;
    standard_lengths(self->codeword.n_bits, self->n_layers, self->n_bits, self->codeword.n_code_blocks,
                     self->codeword.transmitted, self->lengths);
    self->n_longest = 1;
    for (size_t r = 0; r < self->codeword.n_code_blocks; r++)
        self->n_longest = self->lengths[r] > self->n_longest ? self->lengths[r] : self->n_longest;
    if (harness_random_below(random, 2))
        self->codeword.block_stride = self->n_longest + harness_random_below(random, 100);
}

/* The whole codeword as one segment; its memory is not touched. */
static softqam_segment whole_segment(const random_codeword *self, const void *symbols, const float *noise, void *out)
{
    softqam_segment segment = {
        .n_symbols = self->codeword.n_bits / self->n_bits,
        .out = out,
        .noise_stride = 1,
        .n_layers = (unsigned)self->n_layers,
        .modulation = self->modulation,
        .descramble = 1,
        .c_init = 77,
    };
    for (size_t k = 0; k < self->n_layers; k++)
        segment.layers[k] = (softqam_layer){(const float *)symbols + 1000 * k, NULL, noise + 100 * k};
    return segment;
}

/* Every segment is its code block: where it begins, how long it is, where its inputs and its output are. */
static void check_whole(const softqam_demodulator *demodulator, const random_codeword *self, size_t value_nbytes)
{
    static float somewhere[8000];
    static uint8_t out[1];
    softqam_segment segments[MOST_BLOCKS];
    const softqam_segment whole = whole_segment(self, somewhere, somewhere, out);
    size_t n = MOST_BLOCKS, k = 0, first_bit = 0, n_counted = 0;
    assert_int_equal(softqam_codeword_segments(demodulator, &self->codeword, &whole, NULL, &n_counted), SOFTQAM_OK);
    assert_int_equal(softqam_codeword_segments(demodulator, &self->codeword, &whole, segments, &n), SOFTQAM_OK);
    assert_int_equal(n_counted, n);
    for (size_t r = 0; r < self->codeword.n_code_blocks; first_bit += self->lengths[r], r++) {
        if (self->lengths[r] == 0)
            continue;
        assert_true(k < n);
        const size_t n_symbols = self->lengths[r] / self->n_bits, element = first_bit / self->n_bits / self->n_layers;
        const size_t at = self->codeword.block_stride ? r * self->codeword.block_stride : first_bit;
        softqam_segment expected = whole;
        expected.n_symbols = n_symbols;
        expected.first_symbol = first_bit / self->n_bits;
        expected.out = (uint8_t *)whole.out + at * value_nbytes;
        expected.plane_stride = self->codeword.planes ? n_symbols : 0;
        for (size_t layer = 0; layer < self->n_layers; layer++) {
            expected.layers[layer].symbols = (const float *)whole.layers[layer].symbols + 2 * element;
            expected.layers[layer].noise_var = whole.layers[layer].noise_var + element;
        }
        assert_memory_equal(&segments[k], &expected, sizeof expected);
        k++;
    }
    assert_int_equal(k, n);
    assert_int_equal(first_bit, self->codeword.n_bits);
}

static void test_lengths(void **state)
{
    (void)state;
    enum { N_CODEWORDS = 10000 };
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    softqam_demodulator *s8 = create_for(SOFTQAM_OUTPUT_S8), *f16 = create_for(SOFTQAM_OUTPUT_F16);
    for (int i = 0; i < N_CODEWORDS; i++) {
        random_codeword self;
        make_codeword(&random, i % 10 == 0 ? 100 : 273 * 12 * 13, MOST_BLOCKS, &self);
        check_whole(i % 2 ? f16 : s8, &self, i % 2 ? 2 : 1);
    }
    softqam_destroy(s8);
    softqam_destroy(f16);
}

/* Layers apart, at the distances of whole_segment(), each with its own symbols. */
typedef struct layers_memory {
    float symbols[SOFTQAM_MAX_LAYERS * 1000];
    float noise[SOFTQAM_MAX_LAYERS * 100 + 1000];
} layers_memory;

/* By ranges, each of which a receiver would have in the same memory: here each is copied there. */
static void demodulate_ranges(harness_random *random, softqam_demodulator *demodulator, const random_codeword *self,
                              const softqam_segment *whole, uint8_t *out)
{
    const size_t n_elements = whole->n_symbols / self->n_layers;
    layers_memory *memory = harness_alloc(sizeof *memory);
    for (size_t first = 0; first < n_elements;) {
        const size_t left = n_elements - first, some = 1 + harness_random_below(random, 60);
        const size_t n = some < left ? some : left;
        softqam_segment range = *whole, segments[MOST_BLOCKS];
        size_t n_segments = MOST_BLOCKS;
        range.out = out;
        range.first_symbol = first * self->n_layers;
        range.n_symbols = n * self->n_layers;
        harness_random_fill(random, memory, sizeof *memory);
        for (size_t k = 0; k < self->n_layers; k++) {
            float *symbols = memory->symbols + 1000 * k, *noise = memory->noise + 200 * k;
            memcpy(symbols, (const float *)whole->layers[k].symbols + 2 * first, n * 2 * sizeof(float));
            memcpy(noise, whole->layers[k].noise_var + first, n * sizeof(float));
            range.layers[k] = (softqam_layer){symbols, NULL, noise};
        }
        assert_int_equal(softqam_codeword_segments(demodulator, &self->codeword, &range, segments, &n_segments),
                         SOFTQAM_OK);
        harness_demodulate_segments(demodulator, segments, n_segments);
        first += n;
    }
    free(memory);
}

/* The codeword's LLRs in its own order, then block by block where they belong. */
static void expect_blocks(softqam_demodulator *demodulator, const random_codeword *self, const softqam_segment *whole,
                          size_t value_nbytes, uint8_t *expected)
{
    uint8_t *plain = harness_alloc(self->codeword.n_bits * value_nbytes);
    softqam_segment all = *whole;
    size_t first_bit = 0;
    all.out = plain;
    harness_demodulate_segments(demodulator, &all, 1);
    for (size_t r = 0; r < self->codeword.n_code_blocks; first_bit += self->lengths[r], r++) {
        const size_t at = self->codeword.block_stride ? r * self->codeword.block_stride : first_bit;
        const size_t n_rows = self->lengths[r] / self->n_bits;
        /* 38.212 clause 5.4.2.2: e at i E / Qm + j comes out as f at i + j Qm. */
        for (size_t j = 0; j < n_rows; j++)
            for (size_t i = 0; i < self->n_bits; i++)
                memcpy(expected + (at + (self->codeword.planes ? i * n_rows + j : i + j * self->n_bits)) * value_nbytes,
                       plain + (first_bit + i + j * self->n_bits) * value_nbytes, value_nbytes);
    }
    free(plain);
}

static void test_ranges(void **state)
{
    (void)state;
    enum { N_CODEWORDS = 300, MOST_ELEMENTS = 400, FILL = 0x5a };
    harness_random random = harness_random_stream(STREAM_RANGES);
    for (int i = 0; i < N_CODEWORDS; i++) {
        const softqam_output_format format = (softqam_output_format)(SOFTQAM_OUTPUT_S8 + i % 3);
        const size_t value_nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
        random_codeword self;
        make_codeword(&random, MOST_ELEMENTS, 1 + harness_random_below(&random, 30), &self);
        const size_t n = self.codeword.n_bits / self.n_bits;
        const size_t nbytes =
            (self.codeword.n_bits + self.codeword.n_code_blocks * self.codeword.block_stride) * value_nbytes;
        float *symbols = harness_alloc((4000 + 2 * n) * sizeof(float)),
              *noise = harness_alloc((400 + n) * sizeof(float));
        uint8_t *expected = harness_alloc(nbytes), *got = harness_alloc(nbytes);
        harness_fill_mixture(&random, 2000 + n, symbols);
        harness_fill_noise(&random, HARNESS_NOISE_USUAL, 400 + n, noise);
        memset(expected, FILL, nbytes);
        memset(got, FILL, nbytes);
        softqam_demodulator *demodulator = create_for(format);
        const softqam_segment whole = whole_segment(&self, symbols, noise, got);
        expect_blocks(demodulator, &self, &whole, value_nbytes, expected);
        demodulate_ranges(&random, demodulator, &self, &whole, got);
        assert_memory_equal(got, expected, nbytes);
        softqam_destroy(demodulator);
        free(got);
        free(expected);
        free(noise);
        free(symbols);
    }
}

/* Misuse. */

typedef struct bad_row {
    softqam_codeword codeword;
    softqam_segment range; /* besides its pointers */
    const char *message;
} bad_row;

#define GOOD .n_bits = 96, .n_code_blocks = 3

static void assert_refused(softqam_status status, const char *message, size_t row)
{
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT || strcmp(softqam_error_message(), message) != 0)
        fail_msg("row %zu: status %d, \"%s\" instead of \"%s\"", row, (int)status, softqam_error_message(), message);
}

static void test_refusals(void **state)
{
    (void)state;
    static const uint8_t none[3] = {0};
    static float symbols[64];
    static const bad_row rows[] = {
        {{.n_bits = 96}, {.n_symbols = 4}, "codeword.n_code_blocks is 0, not 1 to 65535"},
        {{.n_bits = 96, .n_code_blocks = SIZE_MAX},
         {0},
         "codeword.n_code_blocks is 18446744073709551615, not 1 to 65535"},
        {{GOOD, .planes = 2}, {.n_symbols = 4}, "codeword.planes is 2, not 0 or 1"},
        {{GOOD, .reserved = 1}, {.n_symbols = 4}, "codeword.reserved is 1, not 0"},
        {{.n_bits = 100, .n_code_blocks = 3},
         {.n_symbols = 4},
         "codeword.n_bits is 100, not a multiple of 1 layers of 8 bits a symbol"},
        {{.n_bits = 104, .n_code_blocks = 3},
         {.n_symbols = 4, .n_layers = 2},
         "codeword.n_bits is 104, not a multiple of 2 layers of 8 bits a symbol"},
        {{GOOD, .transmitted = none}, {.n_symbols = 4}, "codeword.n_bits is 96, but no code block is transmitted"},
        {{GOOD, .block_stride = 31},
         {.n_symbols = 4},
         "codeword.block_stride is 31, less than the 32 bits of a code block"},
        {{GOOD, .block_stride = SIZE_MAX / 2}, {.n_symbols = 4}, "the codeword's output is more than memory can hold"},
        {{GOOD, .block_stride = SIZE_MAX / 6 + 1},
         {.n_symbols = 4},
         "the codeword's output is more than memory can hold"},
        {{GOOD}, {.n_symbols = 13}, "13 symbols from 0 on are not all of a codeword of 12"},
        {{GOOD}, {.n_symbols = 1, .first_symbol = 12}, "1 symbols from 12 on are not all of a codeword of 12"},
        {{GOOD}, {.n_symbols = 0, .first_symbol = 13}, "0 symbols from 13 on are not all of a codeword of 12"},
        {{GOOD},
         {.n_symbols = SIZE_MAX, .first_symbol = 2},
         "18446744073709551615 symbols from 2 on are not all of a codeword of 12"},
        {{GOOD},
         {.n_symbols = 4, .plane_stride = 4},
         "segment.plane_stride is 4, not 0: codeword.planes asks for planes"},
        {{GOOD}, {.n_symbols = 4, .symbol_stride = (size_t)1 << 61}, "4 symbols are more than memory can hold"},
        {{GOOD}, {.n_symbols = 4, .noise_stride = (size_t)1 << 62}, "4 symbols are more than memory can hold"},
        {{GOOD}, {.n_symbols = 4, .n_layers = 5}, "segment.n_layers is 5, more than 4"},
        {{GOOD},
         {.n_symbols = 4, .n_layers = 2, .first_symbol = 3},
         "segment.first_symbol is 3, not a multiple of 2 layers"},
        {{GOOD}, {.n_symbols = 4, .modulation = 8}, "segment.modulation is 8"},
    };
    softqam_demodulator *demodulator = create_for(SOFTQAM_OUTPUT_S8), *u8 = create_for(SOFTQAM_OUTPUT_U8);
    softqam_segment segments[4], untouched[4];
    memset(segments, 0x5a, sizeof segments);
    memset(untouched, 0x5a, sizeof untouched);
    const softqam_layer layer = {symbols, NULL, symbols};
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        size_t n = 4;
        softqam_segment range = rows[k].range;
        range.layers[0] = range.layers[1] = layer;
        range.out = segments;
        assert_refused(softqam_codeword_segments(demodulator, &rows[k].codeword, &range, segments, &n), rows[k].message,
                       k);
        assert_int_equal(n, 4);
        assert_memory_equal(segments, untouched, sizeof segments);
    }
    const softqam_codeword good = {GOOD}, planes = {GOOD, .planes = 1};
    softqam_segment range = {.n_symbols = 12, .out = symbols, .layers = {layer}};
    size_t n = 2;
    assert_refused(softqam_codeword_segments(demodulator, &good, &range, segments, &n),
                   "n_segments is 2, but there are 3", 0);
    assert_int_equal(n, 3);
    assert_memory_equal(segments, untouched, sizeof segments);
    assert_refused(softqam_codeword_segments(NULL, &good, &range, segments, &n), "demodulator is NULL", 0);
    assert_refused(softqam_codeword_segments(demodulator, NULL, &range, segments, &n), "codeword is NULL", 0);
    assert_refused(softqam_codeword_segments(demodulator, &good, NULL, segments, &n), "range is NULL", 0);
    assert_refused(softqam_codeword_segments(demodulator, &good, &range, segments, NULL), "n_segments is NULL", 0);
    range.layers[0].noise_var = NULL;
    assert_refused(softqam_codeword_segments(demodulator, &good, &range, segments, &n),
                   "noise_var is NULL, which LLRs need", 0);
    assert_refused(softqam_codeword_segments(u8, &planes, &range, segments, &n),
                   "codeword.planes is 1: u8 soft bits are liquid-dsp's, which has no bit planes", 0);
    assert_int_equal(softqam_codeword_segments(u8, &good, &range, segments, &n), SOFTQAM_OK);
    /* Nothing of nothing. */
    softqam_segment empty = {0};
    assert_int_equal(softqam_codeword_segments(demodulator, &good, &empty, segments, &n), SOFTQAM_OK);
    assert_int_equal(n, 0);
    softqam_destroy(u8);
    softqam_destroy(demodulator);
}

/* Callers of other versions. */
static void test_sizes(void **state)
{
    (void)state;
    static float symbols[64];
    static const size_t wrong[] = {0, sizeof(softqam_codeword) - 8, 1032, SIZE_MAX};
    struct {
        softqam_codeword codeword;
        uint64_t later;
    } larger = {{GOOD}, 0};
    struct {
        softqam_segment segment;
        uint64_t later;
    } range = {{.n_symbols = 12, .out = symbols, .layers = {{symbols, NULL, symbols}}}, 0}, segments[3];
    softqam_demodulator *demodulator = create_for(SOFTQAM_OUTPUT_S8);
    size_t n = 3;
    memset(segments, 0x5a, sizeof segments);
    assert_int_equal(softqam_codeword_segments_nbytes(demodulator, &larger.codeword, sizeof larger, &range.segment,
                                                      &segments[0].segment, sizeof segments[0], &n),
                     SOFTQAM_OK);
    assert_int_equal(n, 3);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(segments[k].segment.first_symbol, 4 * k);
        assert_int_equal(segments[k].later, 0);
    }
    larger.later = (uint64_t)1 << 63;
    assert_int_equal(softqam_codeword_segments_nbytes(demodulator, &larger.codeword, sizeof larger, &range.segment,
                                                      &segments[0].segment, sizeof segments[0], &n),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    larger.later = 0;
    range.later = 1;
    assert_int_equal(softqam_codeword_segments_nbytes(demodulator, &larger.codeword, sizeof larger, &range.segment,
                                                      &segments[0].segment, sizeof segments[0], &n),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    for (size_t k = 0; k < HARNESS_COUNT(wrong); k++) {
        assert_int_equal(softqam_codeword_segments_nbytes(demodulator, &larger.codeword, wrong[k], &range.segment,
                                                          &segments[0].segment, sizeof(softqam_segment), &n),
                         SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_int_equal(softqam_codeword_segments_nbytes(demodulator, &larger.codeword, sizeof(softqam_codeword),
                                                          &range.segment, &segments[0].segment, wrong[k], &n),
                         SOFTQAM_ERROR_INVALID_ARGUMENT);
    }
    softqam_destroy(demodulator);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sizes),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
