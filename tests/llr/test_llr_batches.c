/* SPDX-License-Identifier: MIT */
/* A batch gives what a call for each of its blocks gives: of any length, with strides and planes, on the backend that
 * SOFTQAM_TEST_BACKEND names. */
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_BATCH = 1,
    STREAM_LARGE_BATCH,
    STREAM_LAYERS,
    STREAM_EMPTY,
};

enum { N_INPUT_FORMATS = 4, N_OUTPUT_FORMATS = 4 };

/* A block of a batch, where it lies in the batch's output, and what must be there. */
typedef struct piece {
    softqam_block block;
    uint8_t *memory[2]; /* of symbols and symbols_q */
    float *noise_var;
    float *values;
    uint8_t *expected;
    size_t out_at;
} piece;

/* Copies every step-th of the items of nbytes, n of them, to memory where they lie `stride` items apart. Between them
 * lies what would show. */
static uint8_t *scatter(const uint8_t *items, size_t n, size_t step, size_t stride, size_t nbytes, size_t misalignment)
{
    size_t memory_nbytes = misalignment + (stride ? n * stride : 1) * nbytes;
    uint8_t *memory = harness_alloc(memory_nbytes);
    memset(memory, 0x3f, memory_nbytes);
    for (size_t i = 0; i < n; i++)
        memcpy(memory + misalignment + i * stride * nbytes, items + i * step * nbytes, nbytes);
    return memory;
}

static size_t random_length(harness_random *random)
{
    switch (harness_random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return 1 + harness_random_below(random, 7000);
    default:
        return harness_random_below(random, 300);
    }
}

static void lay_out_symbols(piece *self, harness_random *random, softqam_input_format format, const uint8_t *samples)
{
    softqam_block *block = &self->block;
    size_t nbytes = softqam_input_symbol_nbytes(format), misalignment = harness_random_below(random, 16);
    size_t stride = block->symbol_stride ? block->symbol_stride : 1;
    if (harness_random_below(random, 2)) {
        self->memory[0] = scatter(samples, block->n_symbols, 1, stride, nbytes, misalignment);
    } else {
        size_t misalignment_q = harness_random_below(random, 16);
        self->memory[0] = scatter(samples, block->n_symbols, 2, stride, nbytes / 2, misalignment);
        self->memory[1] = scatter(samples + nbytes / 2, block->n_symbols, 2, stride, nbytes / 2, misalignment_q);
        block->symbols_q = self->memory[1] + misalignment_q;
    }
    block->symbols = self->memory[0] + misalignment;
}

/* A random block, and what a call on its symbols side by side, with a noise variance for each, gives. */
static piece make_piece(harness_random *random, softqam_config config)
{
    piece self = {.block = {.n_symbols = random_length(random),
                            .symbol_stride = harness_random_below(random, 5),
                            .noise_stride = harness_random_below(random, 4)}};
    size_t n = self.block.n_symbols, nbytes = n * softqam_input_symbol_nbytes(config.input_format);
    uint8_t *samples = harness_alloc(nbytes);
    float *noise_var = harness_alloc(n * sizeof(float));
    self.values = harness_alloc(n * 2 * sizeof(float));
    harness_fill_mixture(random, n, self.values);
    memcpy(samples, self.values, nbytes < n * 2 * sizeof(float) ? nbytes : n * 2 * sizeof(float));
    harness_widen(config.input_format, 0, samples, n, self.values);
    harness_fill_noise(random, HARNESS_NOISE_ANY, n, noise_var);
    for (size_t i = 1; self.block.noise_stride == 0 && i < n; i++)
        noise_var[i] = noise_var[0];
    lay_out_symbols(&self, random, config.input_format, samples);
    bool takes_noise = config.output_format != SOFTQAM_OUTPUT_U8;
    if (takes_noise) {
        self.noise_var =
            (float *)(void *)scatter((uint8_t *)noise_var, n, 1, self.block.noise_stride, sizeof(float), 0);
        self.block.noise_var = self.noise_var;
    }
    config.noise = SOFTQAM_NOISE_PER_SYMBOL;
    config.backend = SOFTQAM_BACKEND_CPU;
    self.expected = harness_answer(&config, samples, takes_noise ? noise_var : NULL, n);
    free(noise_var);
    free(samples);
    return self;
}

static void free_piece(piece *self)
{
    free(self->expected);
    free(self->values);
    free(self->noise_var);
    free(self->memory[1]);
    free(self->memory[0]);
}

#define CANARY 0x5A

/* Outputs one behind the other with a few bytes between, in one buffer between guard pages. */
static void run_batch(softqam_demodulator *demodulator, softqam_output_format format, piece *pieces, size_t n_pieces,
                      const harness_buffer *out)
{
    size_t symbol_nbytes = softqam_output_symbol_nbytes(format);
    softqam_block *blocks = harness_alloc(n_pieces * sizeof *blocks);
    memset(out->data, CANARY, out->nbytes);
    for (size_t k = 0; k < n_pieces; k++) {
        pieces[k].block.out = out->data + pieces[k].out_at;
        harness_poison(pieces[k].block.out, pieces[k].expected, pieces[k].block.n_symbols * symbol_nbytes);
        blocks[k] = pieces[k].block;
    }
    harness_demodulate_batch(demodulator, blocks, n_pieces);
    size_t end = 0;
    for (size_t k = 0; k < n_pieces; k++) {
        const piece *one = &pieces[k];
        if (!harness_outputs_equal("batch", format, one->values, one->expected, one->block.out, one->block.n_symbols)) {
            fail_msg("block %zu of %zu: %zu symbols, stride %zu, %s, noise stride %zu", k, n_pieces,
                     one->block.n_symbols, one->block.symbol_stride, one->block.symbols_q ? "planes" : "interleaved",
                     one->block.noise_stride);
        }
        for (; end < one->out_at; end++)
            assert_int_equal(out->data[end], CANARY);
        end += one->block.n_symbols * symbol_nbytes;
    }
    assert_int_equal(end, out->nbytes);
    harness_buffer_check(out);
    free(blocks);
}

static void check_batch(const softqam_config *config, size_t n_pieces, harness_random *random)
{
    piece *pieces = harness_alloc(n_pieces * sizeof *pieces);
    size_t end = 0;
    for (size_t k = 0; k < n_pieces; k++) {
        pieces[k] = make_piece(random, *config);
        pieces[k].out_at = end + harness_random_below(random, 12);
        end = pieces[k].out_at + pieces[k].block.n_symbols * softqam_output_symbol_nbytes(config->output_format);
    }
    harness_buffer out;
    harness_buffer_open(&out, end);
    softqam_demodulator *demodulator = harness_create(config);
    harness_buffer_place_at_end(&out, end, 0);
    run_batch(demodulator, config->output_format, pieces, n_pieces, &out);
    /* Again on the same plan, from another address. */
    harness_buffer_place_at_start(&out, end, 3);
    run_batch(demodulator, config->output_format, pieces, n_pieces, &out);
    softqam_destroy(demodulator);
    harness_buffer_close(&out);
    for (size_t k = 0; k < n_pieces; k++)
        free_piece(&pieces[k]);
    free(pieces);
}

static void test_batches(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_BATCH);
    for (int in = 0; in < N_INPUT_FORMATS; in++) {
        for (int out = 0; out < N_OUTPUT_FORMATS; out++) {
            softqam_config config = harness_plan((softqam_output_format)out, (softqam_noise)(in % 2));
            config.input_format = (softqam_input_format)in;
            config.n_threads = 1 + (unsigned)in;
            check_batch(&config, 40, &random);
            config.chunk_symbols = 1000;
            config.n_streams = 2;
            check_batch(&config, 20, &random);
            config.chunk_symbols = 1;
            check_batch(&config, 3, &random);
        }
    }
}

static void test_large_batches(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_LARGE_BATCH);
    for (int out = 0; out < N_OUTPUT_FORMATS; out++) {
        softqam_config config = harness_plan((softqam_output_format)out, SOFTQAM_NOISE_PER_CALL);
        config.n_threads = 3;
        check_batch(&config, 500, &random);
        config.chunk_symbols = 20000;
        check_batch(&config, 129, &random);
    }
}

/* Layers side by side, as an equaliser leaves them: the same memory read by several blocks, each with its own output.
 */
static void test_interleaved_layers(void **state)
{
    (void)state;
    enum { N_LAYERS = 4, N_SYMBOLS = 12345 };
    llr_input all = llr_open_mixture(STREAM_LAYERS, HARNESS_NOISE_ANY, (size_t)N_LAYERS * N_SYMBOLS);
    uint8_t *expected = llr_answer(SOFTQAM_OUTPUT_S8, &all);
    softqam_config config = harness_plan(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
    softqam_demodulator *demodulator = harness_create(&config);
    uint8_t *out = harness_alloc((size_t)N_LAYERS * N_SYMBOLS * HARNESS_SYMBOL_BITS);
    softqam_block blocks[N_LAYERS];
    for (size_t layer = 0; layer < N_LAYERS; layer++) {
        blocks[layer] = (softqam_block){
            .n_symbols = N_SYMBOLS,
            .symbols = all.symbols + 2 * layer,
            .symbol_stride = N_LAYERS,
            .noise_var = all.noise_var + layer,
            .noise_stride = N_LAYERS,
            .out = out + layer * N_SYMBOLS * HARNESS_SYMBOL_BITS,
        };
    }
    harness_demodulate_batch(demodulator, blocks, N_LAYERS);
    for (size_t i = 0; i < (size_t)N_LAYERS * N_SYMBOLS; i++) {
        assert_memory_equal(out + (i % N_LAYERS * N_SYMBOLS + i / N_LAYERS) * HARNESS_SYMBOL_BITS,
                            expected + i * HARNESS_SYMBOL_BITS, HARNESS_SYMBOL_BITS);
    }
    free(out);
    softqam_destroy(demodulator);
    free(expected);
    llr_close_input(&all);
}

static void test_empty_batches(void **state)
{
    (void)state;
    softqam_config config = harness_plan(SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_SYMBOL);
    softqam_demodulator *demodulator = harness_create(&config);
    softqam_block blocks[100] = {{0}};
    harness_demodulate_batch(demodulator, NULL, 0);
    harness_demodulate_batch(demodulator, blocks, 0);
    harness_demodulate_batch(demodulator, blocks, HARNESS_COUNT(blocks));
    /* And the plan still works. */
    llr_input in = llr_open_mixture(STREAM_EMPTY, HARNESS_NOISE_ANY, 100);
    uint8_t *expected = llr_answer(config.output_format, &in);
    uint8_t *out = harness_alloc(in.n_symbols * softqam_output_symbol_nbytes(config.output_format));
    harness_poison(out, expected, in.n_symbols * softqam_output_symbol_nbytes(config.output_format));
    harness_demodulate_llrs(demodulator, in.symbols, in.noise_var, in.n_symbols, out);
    assert_true(harness_outputs_equal("empty batches", config.output_format, in.symbols, expected, out, in.n_symbols));
    free(out);
    free(expected);
    llr_close_input(&in);
    softqam_destroy(demodulator);
}
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_large_batches),
        cmocka_unit_test(test_interleaved_layers),
        cmocka_unit_test(test_empty_batches),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
