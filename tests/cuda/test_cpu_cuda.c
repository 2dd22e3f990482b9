/* SPDX-License-Identifier: MIT */
/* The CUDA backend against the CPU backend, host memory to host memory, on numbers of symbols at which the references
 * are too slow. Every output format; floats are compared as they are, since bytes would hide most differences. Memory
 * that is staged and memory that is used in place take turns. */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

__attribute__((constructor)) static void require_cuda(void) { harness_require_cuda(); }

/* Not a multiple of the chunk below, which is more than the kernels of small calls take. */
#define MOST_SYMBOLS  (((size_t)1 << 21) + 4321)
#define CHUNK_SYMBOLS 300007

/* What is compared. */
static const struct {
    const char *name;
    softqam_output_format output_format;
    softqam_noise noise;
} outputs[] = {
    {"u8", SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL},
    {"s8, noise per call", SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL},
    {"s8, noise per symbol", SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL},
    {"f16, noise per call", SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_CALL},
    {"f16, noise per symbol", SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_SYMBOL},
    {"f32, noise per call", SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_CALL},
    {"f32, noise per symbol", SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_SYMBOL},
};

#define N_OUTPUTS         HARNESS_COUNT(outputs)
#define MAX_OUT_NBYTES    (HARNESS_SYMBOL_BITS * sizeof(float))
#define MAX_SYMBOL_NBYTES (2 * sizeof(float))

typedef struct fixture {
    softqam_context *contexts[2]; /* the CPU's and CUDA's, each of all its demodulators */
    softqam_demodulator *cpu[N_OUTPUTS];
    softqam_demodulator *cuda[N_OUTPUTS];
    /* One of malloc, one of softqam_host_alloc(). */
    void *in[2];
    float *noise_var[2];
    void *out[2];
    uint8_t *expected;
    float *values;
} fixture;

static fixture open_fixture(softqam_input_format format)
{
    fixture self = {0};
    harness_setup setup = harness_default_setup();
    setup.context.chunk_symbols = CHUNK_SYMBOLS;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    self.contexts[0] = harness_create_context(&setup);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    self.contexts[1] = harness_create_context(&setup);
    for (size_t k = 0; k < N_OUTPUTS; k++) {
        setup.demodulator.input_format = format;
        setup.demodulator.output_format = outputs[k].output_format;
        setup.demodulator.noise = outputs[k].noise;
        setup.demodulator.context = self.contexts[0];
        self.cpu[k] = harness_create(&setup);
        setup.demodulator.context = self.contexts[1];
        self.cuda[k] = harness_create(&setup);
    }
    void *pinned;
    self.in[0] = harness_alloc(MOST_SYMBOLS * MAX_SYMBOL_NBYTES);
    self.noise_var[0] = harness_alloc(MOST_SYMBOLS * sizeof(float));
    self.out[0] = harness_alloc(MOST_SYMBOLS * MAX_OUT_NBYTES);
    assert_int_equal(softqam_host_alloc(self.contexts[1], MOST_SYMBOLS * MAX_SYMBOL_NBYTES, &self.in[1]), SOFTQAM_OK);
    assert_int_equal(softqam_host_alloc(self.contexts[1], MOST_SYMBOLS * sizeof(float), &pinned), SOFTQAM_OK);
    self.noise_var[1] = pinned;
    assert_int_equal(softqam_host_alloc(self.contexts[1], MOST_SYMBOLS * MAX_OUT_NBYTES, &self.out[1]), SOFTQAM_OK);
    self.expected = harness_alloc(MOST_SYMBOLS * MAX_OUT_NBYTES);
    self.values = harness_alloc(MOST_SYMBOLS * 2 * sizeof(float));
    return self;
}

static void close_fixture(fixture *self)
{
    free(self->values);
    free(self->expected);
    softqam_host_free(self->out[1]);
    softqam_host_free(self->noise_var[1]);
    softqam_host_free(self->in[1]);
    free(self->out[0]);
    free(self->noise_var[0]);
    free(self->in[0]);
    for (size_t k = 0; k < N_OUTPUTS; k++) {
        softqam_demodulator_destroy(self->cuda[k]);
        softqam_demodulator_destroy(self->cpu[k]);
    }
    softqam_context_destroy(self->contexts[1]);
    softqam_context_destroy(self->contexts[0]);
}

/* The n symbols of in[kind] through both. */
static void compare(fixture *self, const char *what, size_t k, size_t kind, size_t n)
{
    softqam_output_format format = outputs[k].output_format;
    size_t nbytes = n * harness_output_nbytes(format, 1);
    const float *noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : self->noise_var[kind];
    harness_demodulate_llrs(self->cpu[k], self->in[kind], noise_var, n, self->expected);
    for (size_t to = 0; to < 2; to++) {
        harness_poison(self->out[to], self->expected, nbytes);
        harness_demodulate_llrs(self->cuda[k], self->in[kind], noise_var, n, self->out[to]);
        if (!harness_outputs_equal(what, format, self->values, self->expected, self->out[to], n))
            fail_msg("%s", outputs[k].name);
    }
}

/* The kind of memory that chunk number `chunk` comes from: another one each time round the kinds of noise. */
static size_t memory_kind(size_t chunk) { return (chunk + chunk / 3) % 2; }

/* All outputs for one chunk of symbols, in the memory that is its turn. */
static void compare_all(fixture *self, softqam_input_format format, const char *what, harness_random *random,
                        size_t chunk, size_t n)
{
    static const harness_noise noises[] = {HARNESS_NOISE_USUAL, HARNESS_NOISE_ANY, HARNESS_NOISE_POSITIVE};
    size_t kind = memory_kind(chunk);
    harness_fill_noise(random, noises[chunk % HARNESS_COUNT(noises)], n, self->noise_var[kind]);
    harness_widen(format, 0, self->in[kind], n, self->values);
    for (size_t k = 0; k < N_OUTPUTS; k++)
        compare(self, what, k, kind, n);
}

HARNESS_TEST(test_cf32)
{
    fixture self = open_fixture(SOFTQAM_INPUT_CF32);
    harness_random random = harness_random_stream(1);
    size_t total = harness_symbol_count((size_t)1 << 23), n;
    for (size_t done = 0, chunk = 0; done < total; done += n, chunk++) {
        const harness_symbol_set *set = &harness_symbol_sets[chunk % harness_n_symbol_sets];
        n = total - done < MOST_SYMBOLS ? total - done : MOST_SYMBOLS;
        n = set->n_fixed && set->n_fixed < n ? set->n_fixed : n;
        set->fill(&random, set->parameter, 0, n, self.in[memory_kind(chunk)]);
        compare_all(&self, SOFTQAM_INPUT_CF32, set->name, &random, chunk, n);
    }
    close_fixture(&self);
}

static void compare_samples(softqam_input_format format, const char *what)
{
    fixture self = open_fixture(format);
    harness_random random = harness_random_stream(2 + (uint32_t)format);
    size_t total = harness_symbol_count((size_t)1 << 23), n;
    for (size_t done = 0, chunk = 0; done < total; done += n, chunk++) {
        n = total - done < MOST_SYMBOLS ? total - done : MOST_SYMBOLS;
        harness_random_fill(&random, self.in[memory_kind(chunk)], n * softqam_input_symbol_nbytes(format));
        compare_all(&self, format, what, &random, chunk, n);
    }
    close_fixture(&self);
}

HARNESS_TEST(test_cs16) { compare_samples(SOFTQAM_INPUT_CS16, "cs16"); }

HARNESS_TEST(test_cs8) { compare_samples(SOFTQAM_INPUT_CS8, "cs8"); }

HARNESS_TEST(test_cf16) { compare_samples(SOFTQAM_INPUT_CF16, "cf16"); }
