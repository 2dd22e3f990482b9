/* SPDX-License-Identifier: MIT */
/* The CUDA backend against the CPU backend, host memory to host memory, on as many symbols as SOFTQAM_TEST_SYMBOLS
 * says: for numbers at which the oracle is too slow. Memory that is staged and memory that is used in place take turns.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not a multiple of the chunk below. */
#define BLOCK         (((size_t)1 << 20) + 4321)
#define CHUNK_SYMBOLS 100003

typedef struct pair {
    softqam_demodulator *cpu;
    softqam_demodulator *cuda;
    /* One of malloc, one of softqam_host_alloc(). */
    void *in[2];
    void *out[2];
    uint8_t *expected;
    float *values;
} pair;

static pair open_pair(softqam_input_format format)
{
    pair self = {0};
    softqam_config config;
    softqam_config_init(&config);
    config.input_format = format;
    config.backend = SOFTQAM_BACKEND_CPU;
    self.cpu = harness_create(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    config.chunk_symbols = CHUNK_SYMBOLS;
    self.cuda = harness_create(&config);
    size_t in_nbytes = BLOCK * softqam_input_symbol_nbytes(format), out_nbytes = BLOCK * HARNESS_SYMBOL_BITS;
    self.in[0] = harness_alloc(in_nbytes);
    self.out[0] = harness_alloc(out_nbytes);
    assert_int_equal(softqam_host_alloc(self.cuda, in_nbytes, &self.in[1]), SOFTQAM_OK);
    assert_int_equal(softqam_host_alloc(self.cuda, out_nbytes, &self.out[1]), SOFTQAM_OK);
    self.expected = harness_alloc(out_nbytes);
    self.values = harness_alloc(BLOCK * 2 * sizeof(float));
    return self;
}

static void close_pair(pair *self)
{
    free(self->values);
    free(self->expected);
    softqam_host_free(self->out[1]);
    softqam_host_free(self->in[1]);
    free(self->out[0]);
    free(self->in[0]);
    softqam_destroy(self->cuda);
    softqam_destroy(self->cpu);
}

/* The n symbols of in[kind] through both. `values` are for the message: what the samples are before any scale. */
static void compare(pair *self, const char *what, size_t kind, const float *values, size_t n)
{
    harness_demodulate(self->cpu, self->in[kind], n, self->expected);
    for (size_t to = 0; to < 2; to++) {
        harness_poison(self->out[to], self->expected, n * HARNESS_SYMBOL_BITS);
        harness_demodulate(self->cuda, self->in[kind], n, self->out[to]);
        assert_true(harness_soft_bits_equal(what, values, self->expected, self->out[to], n));
    }
}

static void test_cf32(void **state)
{
    (void)state;
    pair self = open_pair(SOFTQAM_INPUT_CF32);
    harness_random random = harness_random_stream(1);
    size_t total = harness_symbol_count((size_t)1 << 22), n;
    for (size_t done = 0, block = 0; done < total; done += n, block++) {
        const harness_symbol_set *set = &harness_symbol_sets[block % harness_n_symbol_sets];
        n = total - done < BLOCK ? total - done : BLOCK;
        n = set->n_fixed && set->n_fixed < n ? set->n_fixed : n;
        /* Each time round the sets, the kinds of memory change places. */
        size_t kind = (block + block / harness_n_symbol_sets) % 2;
        set->fill(&random, set->parameter, 0, n, self.in[kind]);
        compare(&self, set->name, kind, self.in[kind], n);
    }
    close_pair(&self);
}

static void compare_integers(softqam_input_format format, const char *what)
{
    pair self = open_pair(format);
    harness_random random = harness_random_stream(2 + (uint32_t)format);
    size_t total = harness_symbol_count((size_t)1 << 22), n;
    for (size_t done = 0, block = 0; done < total; done += n, block++) {
        n = total - done < BLOCK ? total - done : BLOCK;
        void *in = self.in[block % 2];
        harness_random_fill(&random, in, n * softqam_input_symbol_nbytes(format));
        for (size_t i = 0; i < 2 * n; i++) {
            self.values[i] = format == SOFTQAM_INPUT_CS16 ? ((int16_t *)in)[i] : ((int8_t *)in)[i];
        }
        compare(&self, what, block % 2, self.values, n);
    }
    close_pair(&self);
}

static void test_cs16(void **state)
{
    (void)state;
    compare_integers(SOFTQAM_INPUT_CS16, "cs16");
}

static void test_cs8(void **state)
{
    (void)state;
    compare_integers(SOFTQAM_INPUT_CS8, "cs8");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cf32),
        cmocka_unit_test(test_cs16),
        cmocka_unit_test(test_cs8),
    };
    harness_require_cuda();
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
