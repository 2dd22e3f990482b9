/* SPDX-License-Identifier: MIT */
/* How calls for LLRs are made must not show in a byte: noise variances given once or for each symbol, lengths,
 * alignments, splits, threads, chunks, memory, input formats. On the backend that SOFTQAM_TEST_BACKEND names.
 * test_llr_values.c tests the LLRs themselves, test_llr_segments.c segments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum {
    STREAM_SAMPLE = 1,
    STREAM_SPLIT,
    STREAM_INPUTS,
};

#define SAMPLE_SYMBOLS ((size_t)200003)

/* Symbols of every kind, noise variances of every kind, and what one plain call makes of them in each output format. */
typedef struct sample {
    float *symbols;
    float *noise_var;
    uint8_t *expected[HARNESS_N_OUTPUT_FORMATS];
} sample;

static const sample *shared_sample(void)
{
    static sample made;
    if (!made.symbols) {
        made.symbols = harness_alloc(SAMPLE_SYMBOLS * 2 * sizeof(float));
        made.noise_var = harness_alloc(SAMPLE_SYMBOLS * sizeof(float));
        harness_random random = harness_random_stream(STREAM_SAMPLE);
        harness_fill_mixture(&random, SAMPLE_SYMBOLS, made.symbols);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, SAMPLE_SYMBOLS, made.noise_var);
        for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
            harness_setup setup = harness_format_setup((softqam_output_format)k, SOFTQAM_NOISE_PER_SYMBOL);
            setup.context.n_threads = 1;
            made.expected[k] =
                harness_answer(&setup, made.symbols, k == SOFTQAM_OUTPUT_U8 ? NULL : made.noise_var, SAMPLE_SYMBOLS);
        }
    }
    return &made;
}

/* A call for n symbols of the sample from `first` on, on memory of malloc. */
static void check_part(softqam_demodulator *demodulator, softqam_output_format format, size_t first, size_t n)
{
    const sample *all = shared_sample();
    size_t nbytes = harness_output_nbytes(format, 1);
    const uint8_t *expected = all->expected[format] + first * nbytes;
    scoped_memory uint8_t *out = harness_alloc(n * nbytes);
    harness_poison(out, expected, n * nbytes);
    harness_demodulate_llrs(demodulator, all->symbols + 2 * first,
                            format == SOFTQAM_OUTPUT_U8 ? NULL : all->noise_var + first, n, out);
    assert_true(
        harness_outputs_equal(harness_output_names[format], format, all->symbols + 2 * first, expected, out, n));
}

/* One noise variance for the call gives what the same one for every symbol gives. */
HARNESS_TEST(test_noise_per_call)
{
    static const float noise_vars[] = {0.01F, 0.3F, 7e-4F, 5, 1e-38F, 1e-45F, 3e38F, 0, -1, NAN, INFINITY};
    const size_t n = 30011;
    const sample *all = shared_sample();
    scoped_memory float *constant = harness_alloc(n * sizeof(float));
    for (size_t i = 0; i < HARNESS_COUNT(noise_vars); i++) {
        for (size_t k = 0; k < n; k++)
            constant[k] = noise_vars[i];
        for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
            harness_setup setup = harness_format_setup(harness_llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
            scoped_memory uint8_t *expected = harness_answer(&setup, all->symbols, constant, n);
            setup.demodulator.noise = SOFTQAM_NOISE_PER_CALL;
            scoped_memory uint8_t *got = harness_answer(&setup, all->symbols, &noise_vars[i], n);
            assert_true(harness_outputs_equal("noise per call", setup.demodulator.output_format, all->symbols, expected,
                                              got, n));
        }
    }
}

/* The three buffers of a call, each between guard pages. */
typedef struct guarded {
    harness_buffer symbols;
    harness_buffer noise_var;
    harness_buffer out;
} guarded;

static guarded open_guarded(size_t max_symbols)
{
    guarded self;
    harness_buffer_open(&self.symbols, max_symbols * 2 * sizeof(float));
    harness_buffer_open(&self.noise_var, max_symbols * sizeof(float));
    harness_buffer_open(&self.out, max_symbols * HARNESS_SYMBOL_BITS * sizeof(float));
    return self;
}

static void close_guarded(guarded *self)
{
    harness_buffer_close(&self->out);
    harness_buffer_close(&self->noise_var);
    harness_buffer_close(&self->symbols);
}

/* Bytes from the guard page before, or at_end from the one behind. The noise variances' must be a multiple of 4. */
typedef struct gaps {
    size_t symbols;
    size_t noise_var;
    size_t out;
    bool at_end;
} gaps;

static void check_guarded(guarded *self, softqam_demodulator *demodulator, softqam_output_format format, gaps at,
                          size_t first, size_t n)
{
    void (*place)(harness_buffer *, size_t, size_t) =
        at.at_end ? harness_buffer_place_at_end : harness_buffer_place_at_start;
    const sample *all = shared_sample();
    size_t nbytes = harness_output_nbytes(format, 1);
    const uint8_t *expected = all->expected[format] + first * nbytes;
    place(&self->symbols, n * 2 * sizeof(float), at.symbols);
    place(&self->noise_var, n * sizeof(float), at.noise_var);
    place(&self->out, n * nbytes, at.out);
    memcpy(self->symbols.data, all->symbols + 2 * first, n * 2 * sizeof(float));
    memcpy(self->noise_var.data, all->noise_var + first, n * sizeof(float));
    harness_poison(self->out.data, expected, n * nbytes);
    harness_demodulate_llrs(demodulator, self->symbols.data, (const float *)(void *)self->noise_var.data, n,
                            self->out.data);
    if (!harness_outputs_equal("between guard pages", format, all->symbols + 2 * first, expected, self->out.data, n)) {
        fail_msg("%s: %zu symbols, gaps of %zu, %zu and %zu at the %s", harness_output_names[format], n, at.symbols,
                 at.noise_var, at.out, at.at_end ? "end" : "start");
    }
    harness_buffer_check(&self->symbols);
    harness_buffer_check(&self->noise_var);
    harness_buffer_check(&self->out);
}

static void check_lengths(softqam_output_format format, unsigned n_streams, size_t chunk_symbols)
{
    const size_t others[] = {257, 997, 4096, chunk_symbols + 1, 3 * chunk_symbols + 5, n_streams * chunk_symbols + 1};
    const size_t max_symbols = 5000;
    harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.n_streams = n_streams;
    setup.context.chunk_symbols = chunk_symbols;
    scoped_demodulator *demodulator = harness_create(&setup);
    SCOPED(close_guarded) guarded buffers = open_guarded(max_symbols);
    for (size_t n = 0; n <= 70 + HARNESS_COUNT(others); n++) {
        size_t n_symbols = n <= 70 ? n : others[n - 71];
        assert_true(n_symbols <= max_symbols);
        check_guarded(&buffers, demodulator, format, (gaps){0}, 1001, n_symbols);
        check_guarded(&buffers, demodulator, format, (gaps){.at_end = true}, 1002, n_symbols);
    }
}

HARNESS_TEST(test_lengths)
{
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        check_lengths(harness_llr_formats[k], 0, 0);
        check_lengths(harness_llr_formats[k], 1, 1);
        check_lengths(harness_llr_formats[k], 2, 37);
        check_lengths(harness_llr_formats[k], 3, 1000);
    }
}

/* Every alignment of the symbols with every one of the output; the noise variances move along in steps of 4. */
HARNESS_TEST(test_misalignment)
{
    SCOPED(close_guarded) guarded buffers = open_guarded(997);
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        harness_setup setup = harness_format_setup(harness_llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        setup.context.n_threads = 2;
        setup.context.chunk_symbols = 256;
        scoped_demodulator *demodulator = harness_create(&setup);
        for (size_t gap = 0; gap < 64; gap++) {
            for (size_t out_gap = 0; out_gap < 64; out_gap++) {
                gaps at = {gap, (gap + 4 * out_gap) / 4 % 16 * 4, out_gap, (gap + out_gap) % 2};
                check_guarded(&buffers, demodulator, setup.demodulator.output_format, at, gap, 37);
            }
            gaps at = {gap, 60 - gap / 4 * 4, 63 - gap, gap % 2};
            check_guarded(&buffers, demodulator, setup.demodulator.output_format, at, gap, 997);
        }
    }
}

HARNESS_TEST(test_threads_and_chunks)
{
    static const struct {
        unsigned n_threads;
        unsigned n_streams;
        size_t chunk_symbols;
    } pipelines[] = {{0, 0, 0}, {1, 1, 7919}, {2, 2, 65536}, {3, 4, 1000}, {4, 3, 16384}, {7, 64, 333}, {16, 5, 99991}};
    for (size_t i = 0; i < HARNESS_COUNT(pipelines); i++) {
        for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
            harness_setup setup = harness_format_setup((softqam_output_format)format, SOFTQAM_NOISE_PER_SYMBOL);
            setup.context.n_threads = pipelines[i].n_threads;
            setup.context.n_streams = pipelines[i].n_streams;
            setup.context.chunk_symbols = pipelines[i].chunk_symbols;
            scoped_demodulator *demodulator = harness_create(&setup);
            check_part(demodulator, setup.demodulator.output_format, 0, SAMPLE_SYMBOLS);
            check_part(demodulator, setup.demodulator.output_format, 12345, 65537);
            check_part(demodulator, setup.demodulator.output_format, 3, 16384 + 1);
        }
    }
}

HARNESS_TEST(test_split_calls)
{
    harness_random random = harness_random_stream(STREAM_SPLIT);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        harness_setup setup = harness_format_setup((softqam_output_format)format, SOFTQAM_NOISE_PER_SYMBOL);
        setup.context.chunk_symbols = 1000;
        scoped_demodulator *demodulator = harness_create(&setup);
        for (size_t first = 0, n; first < SAMPLE_SYMBOLS; first += n) {
            n = harness_random_below(&random, 5000);
            n = SAMPLE_SYMBOLS - first < n ? SAMPLE_SYMBOLS - first : n;
            check_part(demodulator, setup.demodulator.output_format, first, n);
        }
    }
}

/* Memory of softqam_host_alloc() for all three buffers, and for each alone. */
HARNESS_TEST(test_memory_kinds)
{
    const size_t n = 50021;
    const sample *all = shared_sample();
    for (unsigned kinds = 0; kinds < 8 * HARNESS_N_OUTPUT_FORMATS; kinds++) {
        harness_setup setup = harness_format_setup((softqam_output_format)(kinds / 8), SOFTQAM_NOISE_PER_SYMBOL);
        if (setup.demodulator.output_format == SOFTQAM_OUTPUT_U8)
            continue;
        size_t sizes[] = {n * 2 * sizeof(float), n * sizeof(float),
                          n * harness_output_nbytes(setup.demodulator.output_format, 1)};
        setup.context.chunk_symbols = 10000;
        scoped_demodulator *demodulator = harness_create(&setup);
        void *memory[3];
        for (unsigned k = 0; k < 3; k++) {
            memory[k] = harness_alloc(sizes[k]);
            if (kinds >> k & 1) {
                free(memory[k]);
                assert_int_equal(softqam_host_alloc(softqam_demodulator_context(demodulator), sizes[k], &memory[k]),
                                 SOFTQAM_OK);
            }
        }
        memcpy(memory[0], all->symbols, sizes[0]);
        memcpy(memory[1], all->noise_var, sizes[1]);
        const uint8_t *expected = all->expected[setup.demodulator.output_format];
        harness_poison(memory[2], expected, sizes[2]);
        harness_demodulate_llrs(demodulator, memory[0], memory[1], n, memory[2]);
        assert_true(harness_outputs_equal("kinds of memory", setup.demodulator.output_format, all->symbols, expected,
                                          memory[2], n));
        for (unsigned k = 0; k < 3; k++)
            (kinds >> k & 1 ? softqam_host_free : free)(memory[k]);
    }
}

/* Symbols in an input format against the same as binary32, in every output format. */
static void check_input(softqam_input_format format, float scale, const void *samples, size_t n_symbols)
{
    const float *noise_var = shared_sample()->noise_var;
    scoped_memory float *values = harness_alloc(n_symbols * 2 * sizeof(float));
    harness_widen(format, scale, samples, n_symbols, values);
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
        harness_setup setup = harness_format_setup((softqam_output_format)k, SOFTQAM_NOISE_PER_SYMBOL);
        const float *noise = k == SOFTQAM_OUTPUT_U8 ? NULL : noise_var;
        scoped_memory uint8_t *expected = harness_answer(&setup, values, noise, n_symbols);
        setup.demodulator.input_format = format;
        setup.demodulator.input_scale = scale;
        setup.context.chunk_symbols = 30011;
        scoped_memory uint8_t *got = harness_answer(&setup, samples, noise, n_symbols);
        if (!harness_outputs_equal("input format", setup.demodulator.output_format, values, expected, got, n_symbols))
            fail_msg("input format %d, scale %a, output %s", (int)format, (double)scale, harness_output_names[k]);
    }
}

#define N_16_BITS ((size_t)1 << 16)

/* All 16-bit patterns on one axis, random ones on the other, then the axes exchanged. As bytes, all pairs. Default
 * scale, one that is no power of two, one that overflows, one that gives subnormal values. */
HARNESS_TEST(test_input_formats)
{
    static const float scales[] = {0, 0.7F / 128, 1.3F, 1e37F, 1e-42F};
    const size_t n_symbols = 2 * N_16_BITS;
    scoped_memory uint16_t *samples = harness_alloc(2 * n_symbols * sizeof *samples);
    harness_random random = harness_random_stream(STREAM_INPUTS);
    harness_random_fill(&random, samples, 2 * n_symbols * sizeof *samples);
    for (size_t i = 0; i < N_16_BITS; i++) {
        samples[2 * i] = (uint16_t)i;
        samples[2 * (N_16_BITS + i) + 1] = (uint16_t)i;
    }
    for (size_t i = 0; i < HARNESS_COUNT(scales); i++) {
        check_input(SOFTQAM_INPUT_CF16, scales[i], samples, n_symbols);
        check_input(SOFTQAM_INPUT_CS16, scales[i], samples, n_symbols);
        check_input(SOFTQAM_INPUT_CS8, scales[i], samples, n_symbols);
        check_input(SOFTQAM_INPUT_CF32, scales[i], shared_sample()->symbols, n_symbols);
    }
}
