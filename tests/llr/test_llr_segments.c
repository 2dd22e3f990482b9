/* SPDX-License-Identifier: MIT */
/* A call for many segments gives what a call for each of them gives: of any length, with strides, I and Q apart and
 * input scales of their own, on the backend that SOFTQAM_TEST_BACKEND names. The segments are only read. */
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_SEGMENTS = 1,
    STREAM_MANY,
};

/* A segment, where it lies in the output, and what must be there. */
typedef struct segment_case {
    softqam_segment segment;
    uint8_t *memory[2]; /* of symbols and symbols_q */
    float *noise_var;
    float *values;
    uint8_t *expected;
    size_t out_at;
} segment_case;

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

static void lay_out_symbols(segment_case *self, harness_random *random, softqam_input_format format,
                            const uint8_t *samples)
{
    softqam_segment *segment = &self->segment;
    size_t nbytes = softqam_input_symbol_nbytes(format), misalignment = harness_random_below(random, 16);
    size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    if (harness_random_below(random, 2)) {
        self->memory[0] = scatter(samples, segment->n_symbols, 1, stride, nbytes, misalignment);
    } else {
        size_t misalignment_q = harness_random_below(random, 16);
        self->memory[0] = scatter(samples, segment->n_symbols, 2, stride, nbytes / 2, misalignment);
        self->memory[1] = scatter(samples + nbytes / 2, segment->n_symbols, 2, stride, nbytes / 2, misalignment_q);
        segment->layers[0].symbols_q = self->memory[1] + misalignment_q;
    }
    segment->layers[0].symbols = self->memory[0] + misalignment;
}

/* A random segment, and what a call on its symbols side by side, with a noise variance for each, gives. */
static segment_case make_case(harness_random *random, harness_setup setup)
{
    static const float scales[] = {0, 0x1p-9F, 0.37F};
    segment_case self = {.segment = {.n_symbols = random_length(random),
                                     .input_scale = scales[harness_random_below(random, HARNESS_COUNT(scales))],
                                     .symbol_stride = harness_random_below(random, 5),
                                     .noise_stride = harness_random_below(random, 4)}};
    size_t n = self.segment.n_symbols, nbytes = n * softqam_input_symbol_nbytes(setup.demodulator.input_format);
    scoped_memory uint8_t *samples = harness_alloc(nbytes);
    scoped_memory float *noise_var = harness_alloc(n * sizeof(float));
    self.values = harness_alloc(n * 2 * sizeof(float));
    harness_fill_mixture(random, n, self.values);
    memcpy(samples, self.values, nbytes < n * 2 * sizeof(float) ? nbytes : n * 2 * sizeof(float));
    setup.demodulator.input_scale = self.segment.input_scale;
    harness_widen(setup.demodulator.input_format, self.segment.input_scale, samples, n, self.values);
    harness_fill_noise(random, HARNESS_NOISE_ANY, n, noise_var);
    for (size_t i = 1; self.segment.noise_stride == 0 && i < n; i++)
        noise_var[i] = noise_var[0];
    lay_out_symbols(&self, random, setup.demodulator.input_format, samples);
    bool takes_noise = setup.demodulator.output_format != SOFTQAM_OUTPUT_U8;
    if (takes_noise) {
        self.noise_var =
            (float *)(void *)scatter((uint8_t *)noise_var, n, 1, self.segment.noise_stride, sizeof(float), 0);
        self.segment.layers[0].noise_var = self.noise_var;
    }
    setup.demodulator.noise = SOFTQAM_NOISE_PER_SYMBOL;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    self.expected = harness_answer(&setup, samples, takes_noise ? noise_var : NULL, n);
    return self;
}

static void free_case(segment_case *self)
{
    free(self->expected);
    free(self->values);
    free(self->noise_var);
    free(self->memory[1]);
    free(self->memory[0]);
}

#define CANARY 0x5A

/* Outputs one behind the other with a few bytes between, in one buffer between guard pages. */
static void run_segments(softqam_demodulator *demodulator, softqam_output_format format, segment_case *cases,
                         size_t n_cases, const harness_buffer *out)
{
    size_t symbol_nbytes = harness_output_nbytes(format, 1);
    const size_t nbytes = n_cases * sizeof(softqam_segment);
    scoped_memory softqam_segment *segments = harness_alloc(nbytes);
    SCOPED(harness_buffer_close) harness_buffer given;
    harness_buffer_open(&given, nbytes);
    harness_buffer_place_at_end(&given, nbytes, 0);
    memset(out->data, CANARY, out->nbytes);
    for (size_t k = 0; k < n_cases; k++) {
        cases[k].segment.out = out->data + cases[k].out_at;
        harness_poison(cases[k].segment.out, cases[k].expected, cases[k].segment.n_symbols * symbol_nbytes);
        segments[k] = cases[k].segment;
        if (k % 2 && segments[k].n_symbols == 0)
            segments[k] = (softqam_segment){0}; /* NULL pointers, of which nothing is read */
    }
    memcpy(given.data, segments, nbytes);
    harness_demodulate_segments(demodulator, (const softqam_segment *)(void *)given.data, n_cases);
    assert_memory_equal(given.data, segments, nbytes);
    harness_buffer_check(&given);
    size_t end = 0;
    for (size_t k = 0; k < n_cases; k++) {
        const segment_case *one = &cases[k];
        if (!harness_outputs_equal("segments", format, one->values, one->expected, one->segment.out,
                                   one->segment.n_symbols)) {
            fail_msg("segment %zu of %zu: %zu symbols, stride %zu, %s, noise stride %zu", k, n_cases,
                     one->segment.n_symbols, one->segment.symbol_stride,
                     one->segment.layers[0].symbols_q ? "planes" : "interleaved", one->segment.noise_stride);
        }
        for (; end < one->out_at; end++)
            assert_int_equal(out->data[end], CANARY);
        end += one->segment.n_symbols * symbol_nbytes;
    }
    assert_int_equal(end, out->nbytes);
    harness_buffer_check(out);
}

static void check_segments(const harness_setup *setup, size_t n_cases, harness_random *random)
{
    scoped_memory segment_case *cases = harness_alloc(n_cases * sizeof *cases);
    size_t end = 0;
    for (size_t k = 0; k < n_cases; k++) {
        cases[k] = make_case(random, *setup);
        cases[k].out_at = end + harness_random_below(random, 12);
        end = cases[k].out_at + cases[k].segment.n_symbols * harness_output_nbytes(setup->demodulator.output_format, 1);
    }
    harness_buffer out;
    harness_buffer_open(&out, end);
    softqam_demodulator *demodulator = harness_create(setup);
    harness_buffer_place_at_end(&out, end, 0);
    run_segments(demodulator, setup->demodulator.output_format, cases, n_cases, &out);
    /* Again on the same demodulator, from another address. */
    harness_buffer_place_at_start(&out, end, 3);
    run_segments(demodulator, setup->demodulator.output_format, cases, n_cases, &out);
    softqam_demodulator_destroy(demodulator);
    harness_buffer_close(&out);
    for (size_t k = 0; k < n_cases; k++)
        free_case(&cases[k]);
}

HARNESS_TEST(test_segments)
{
    harness_random random = harness_random_stream(STREAM_SEGMENTS);
    for (int in = 0; in < HARNESS_N_INPUT_FORMATS; in++) {
        for (int out = 0; out < HARNESS_N_OUTPUT_FORMATS; out++) {
            harness_setup setup = harness_format_setup((softqam_output_format)out, (softqam_noise)(in % 2));
            setup.demodulator.input_format = (softqam_input_format)in;
            setup.context.n_threads = 1 + (unsigned)in;
            check_segments(&setup, 40, &random);
            setup.context.chunk_symbols = 1000;
            setup.context.n_streams = 2;
            check_segments(&setup, 20, &random);
            setup.context.chunk_symbols = 1;
            check_segments(&setup, 3, &random);
        }
    }
}

HARNESS_TEST(test_many_segments)
{
    harness_random random = harness_random_stream(STREAM_MANY);
    for (int out = 0; out < HARNESS_N_OUTPUT_FORMATS; out++) {
        harness_setup setup = harness_format_setup((softqam_output_format)out, SOFTQAM_NOISE_PER_CALL);
        setup.context.n_threads = 3;
        check_segments(&setup, 500, &random);
        setup.context.chunk_symbols = 20000;
        check_segments(&setup, 129, &random);
    }
}

HARNESS_TEST(test_empty_segments)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_SYMBOL);
    scoped_demodulator *demodulator = harness_create(&setup);
    const softqam_segment segments[100] = {{0}};
    harness_demodulate_segments(demodulator, segments, HARNESS_COUNT(segments));
}
