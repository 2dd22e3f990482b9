/* SPDX-License-Identifier: MIT */
/* How a call is made must not show in a byte, in any output format: lengths, alignments, threads, chunks, kinds of
 * memory, input formats. On the backend that SOFTQAM_TEST_BACKEND names; api/test_load.c has several callers. What is
 * expected is what one plain call gives: test_demodulate_symbols.c and test_llr_specified.c prove that one, noise
 * values of a call too, test_llr_segments.c tests segments. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum {
    STREAM_SAMPLE = 1,
    STREAM_INPUTS,
    STREAM_MISALIGNED,
};

/* Of u8 more than a Mi, so that every thread of the largest number of threads has work, and several default chunks of
 * CUDA; all that under no sanitizer, where it takes minutes. */
#define LLR_SYMBOLS       ((size_t)(HARNESS_SANITIZED ? 140003 : 200003))
#define SOFT_BITS_SYMBOLS (HARNESS_SANITIZED ? LLR_SYMBOLS : 3 * ((size_t)1 << 20) / 2 + 12345)

/* Symbols of every kind, noise variances of every kind, and what one plain call makes of them in each output format. */
typedef struct sample {
    float *symbols;
    float *noise_var;
    uint8_t *expected[HARNESS_N_OUTPUT_FORMATS];
} sample;

static size_t sample_size(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_U8 ? SOFT_BITS_SYMBOLS : LLR_SYMBOLS;
}

static const sample *shared_sample(void)
{
    static sample made;
    if (!made.symbols) {
        made.symbols = harness_alloc(SOFT_BITS_SYMBOLS * 2 * sizeof(float));
        made.noise_var = harness_alloc(SOFT_BITS_SYMBOLS * sizeof(float));
        harness_random random = harness_random_stream(STREAM_SAMPLE);
        harness_fill_mixture(&random, SOFT_BITS_SYMBOLS, made.symbols);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, SOFT_BITS_SYMBOLS, made.noise_var);
        /* Some tiles that loops compute the fast way, but for a symbol here and there. */
        for (size_t i = 1000; i < 3500; i += 611) {
            harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, 610, made.symbols + 2 * i);
            harness_fill_noise(&random, HARNESS_NOISE_USUAL, 610, made.noise_var + i);
        }
        for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
            const softqam_output_format format = (softqam_output_format)k;
            harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
            setup.context.n_threads = 1;
            made.expected[k] = harness_answer(&setup, made.symbols, format == SOFTQAM_OUTPUT_U8 ? NULL : made.noise_var,
                                              sample_size(format));
        }
    }
    return &made;
}

/* A demodulator of a format with noise per symbol. */
static softqam_demodulator *create(softqam_output_format format, unsigned n_threads, unsigned n_streams,
                                   size_t chunk_symbols)
{
    harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.n_threads = n_threads;
    setup.context.n_streams = n_streams;
    setup.context.chunk_symbols = chunk_symbols;
    return harness_create(&setup);
}

/* A call for n symbols of the sample from `first` on, on these copies of them. */
static bool gives_expected(const softqam_demodulator *demodulator, softqam_output_format format, size_t first, size_t n,
                           const void *symbols, const float *noise_var, uint8_t *out)
{
    const sample *all = shared_sample();
    const size_t nbytes = harness_output_nbytes(format, 1);
    const uint8_t *expected = all->expected[format] + first * nbytes;
    harness_poison(out, expected, n * nbytes);
    return softqam_demodulate(demodulator, symbols, format == SOFTQAM_OUTPUT_U8 ? NULL : noise_var, n, out) ==
               SOFTQAM_OK &&
           harness_outputs_equal(harness_output_names[format], format, all->symbols + 2 * first, expected, out, n);
}

/* Bytes of symbols, noise variances, a multiple of 4, and output from the guard page before, or at_end from the one
 * behind. */
typedef struct gaps {
    size_t of[3];
    bool at_end;
} gaps;

/* A call whose three buffers lie between guard pages. */
static void check_guarded(const softqam_demodulator *demodulator, softqam_output_format format, gaps at, size_t first,
                          size_t n)
{
    void (*place)(harness_buffer *, size_t, size_t) =
        at.at_end ? harness_buffer_place_at_end : harness_buffer_place_at_start;
    const sample *all = shared_sample();
    const size_t sizes[3] = {n * 2 * sizeof(float), n * sizeof(float), n * harness_output_nbytes(format, 1)};
    const void *const contents[2] = {all->symbols + 2 * first, all->noise_var + first};
    harness_buffer buffers[3];
    for (size_t k = 0; k < 3; k++) {
        harness_buffer_open(&buffers[k], sizes[k]);
        place(&buffers[k], sizes[k], at.of[k]);
        if (k < 2)
            memcpy(buffers[k].data, contents[k], sizes[k]);
    }
    if (!gives_expected(demodulator, format, first, n, buffers[0].data, (const float *)(void *)buffers[1].data,
                        buffers[2].data))
        fail_msg("%s: %zu symbols, gaps of %zu, %zu and %zu at the %s", harness_output_names[format], n, at.of[0],
                 at.of[1], at.of[2], at.at_end ? "end" : "start");
    for (size_t k = 0; k < 3; k++) {
        harness_buffer_check(&buffers[k]);
        if (k < 2)
            assert_memory_equal(buffers[k].data, contents[k], sizes[k]);
        harness_buffer_close(&buffers[k]);
    }
}

/* To 70, around the tiles of loops, and around chunks and rings of them. About the default chunk, and about the parts
 * that threads get of a large call. */
HARNESS_TEST(test_lengths)
{
    enum { N_SHORT = 70, TILE = 1024, AROUND = 35 };
    static const struct {
        unsigned n_threads, n_streams;
        size_t chunk_symbols;
    } pipelines[] = {{0, 0, 0},   {1, 1, 1},     {2, 1, 64},   {3, 2, 37}, {0, 3, 100},  {1, 3, 1000},
                     {2, 4, 256}, {3, 7, 1000},  {0, 64, 5},   {1, 0, 0},  {1, 1, 7919}, {2, 2, 65536},
                     {4, 0, 0},   {4, 3, 16384}, {7, 64, 333}, {7, 0, 0},  {16, 0, 0},   {16, 5, 99991}};
    static const size_t large[] = {65535, 65536, 65537, 99991, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};
    for (size_t k = 0; k < HARNESS_COUNT(pipelines) * HARNESS_N_OUTPUT_FORMATS; k++) {
        const softqam_output_format format = (softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS);
        const size_t i = k / HARNESS_N_OUTPUT_FORMATS, chunk = pipelines[i].chunk_symbols;
        const size_t ring = pipelines[i].n_streams * chunk, most = sample_size(format) - 2000;
        const size_t others[] = {257,           997,  4096,     chunk ? chunk - 1 : 0, chunk, chunk + 1,
                                 3 * chunk + 5, ring, ring + 1, 2 * ring + 3};
        scoped_demodulator *demodulator =
            create(format, pipelines[i].n_threads, pipelines[i].n_streams, pipelines[i].chunk_symbols);
        for (size_t n = 0; n <= N_SHORT; n++)
            for (size_t at_end = 0; at_end < 2; at_end++)
                check_guarded(demodulator, format, (gaps){.at_end = at_end}, 1001 + at_end, n);
        for (size_t n = 0; n < HARNESS_COUNT(others); n++)
            for (size_t at_end = 0; at_end < 2 && others[n] < most; at_end++)
                check_guarded(demodulator, format, (gaps){.at_end = at_end}, 1001 + at_end, others[n]);
        for (size_t n = TILE - AROUND; i == 0 && n < 3 * TILE + AROUND; n += n % TILE == AROUND ? TILE - 2 * AROUND : 1)
            check_guarded(demodulator, format, (gaps){.at_end = n % 2}, 1001, n);
        for (size_t n = 0; (chunk == 0 || chunk > 300) && n <= HARNESS_COUNT(large); n++)
            if (n == HARNESS_COUNT(large) || large[n] < most)
                check_guarded(demodulator, format, (gaps){.at_end = n % 2}, n * 16,
                              n < HARNESS_COUNT(large) ? large[n] : most);
    }
}

/* Every alignment of the symbols with every one of the output; the noise variances move along in steps of 4. Then every
 * one of a call of several chunks. */
HARNESS_TEST(test_misalignment)
{
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
        const softqam_output_format format = (softqam_output_format)k;
        scoped_demodulator *demodulator = create(format, 2, 3, 256);
        for (size_t gap = 0; gap < 64; gap++) {
            const gaps of_chunks[] = {
                {{gap, 60 - gap / 4 * 4, 63 - gap}, gap % 2}, {{gap, 0, 0}, true}, {{0, 0, gap}, true}};
            for (size_t out_gap = 0; out_gap < 64; out_gap++) {
                gaps at = {{gap, (gap + 4 * out_gap) / 4 % 16 * 4, out_gap}, (gap + out_gap) % 2};
                check_guarded(demodulator, format, at, gap, 37);
            }
            for (size_t i = 0; i < HARNESS_COUNT(of_chunks); i++)
                check_guarded(demodulator, format, of_chunks[i], gap, 997);
        }
    }
}

/* Memory of softqam_host_alloc() for all three buffers, and for each alone, for calls of one chunk and of several,
 * aligned and not: page-locked memory need not be aligned either. */
HARNESS_TEST(test_memory_kinds)
{
    enum { MAX_SYMBOLS = 70001, MAX_GAP = 24 };
    static const size_t lengths[] = {777, 20000, MAX_SYMBOLS}, distances[] = {0, 1, 2, 4, 8, 13, 16, MAX_GAP};
    const sample *all = shared_sample();
    for (int f = 0; f < HARNESS_N_OUTPUT_FORMATS; f++) {
        const softqam_output_format format = (softqam_output_format)f;
        const size_t sizes[3] = {MAX_SYMBOLS * 2 * sizeof(float), MAX_SYMBOLS * sizeof(float),
                                 harness_output_nbytes(format, MAX_SYMBOLS)};
        scoped_demodulator *demodulator = create(format, 0, 0, 20000);
        void *memory[3][2]; /* symbols, noise and output, of malloc and of host_alloc */
        for (size_t k = 0; k < 3; k++) {
            memory[k][0] = harness_alloc(sizes[k] + MAX_GAP);
            assert_int_equal(
                softqam_host_alloc(softqam_demodulator_context(demodulator), sizes[k] + MAX_GAP, &memory[k][1]),
                SOFTQAM_OK);
        }
        for (size_t k = 0; k < 8 * HARNESS_COUNT(distances) * HARNESS_COUNT(lengths) * 2; k++) {
            const size_t kinds = k % 8, gap = distances[k / 8 % HARNESS_COUNT(distances)],
                         rest = k / 8 / HARNESS_COUNT(distances);
            const size_t n = lengths[rest % HARNESS_COUNT(lengths)], first = kinds + gap;
            const bool is_input = rest / HARNESS_COUNT(lengths) % 2;
            uint8_t *symbols = (uint8_t *)memory[0][kinds & 1] + (is_input ? gap : 0);
            float *noise_var = memory[1][kinds >> 1 & 1];
            uint8_t *out = (uint8_t *)memory[2][kinds >> 2 & 1] + (is_input ? 0 : gap);
            memcpy(symbols, all->symbols + 2 * first, n * 2 * sizeof(float));
            memcpy(noise_var, all->noise_var + first, n * sizeof(float));
            if (!gives_expected(demodulator, format, first, n, symbols, noise_var, out))
                fail_msg("kinds of memory %zu, %zu symbols, a gap of %zu", kinds, n, gap);
        }
        for (size_t k = 0; k < 3; k++) {
            softqam_host_free(memory[k][1]);
            free(memory[k][0]);
        }
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
 * scale, full ranges, one that puts samples on levels, one that overflows, one that gives subnormal values. */
HARNESS_TEST(test_input_formats)
{
    static const float scales[] = {0, 0.7F / 128, 1.4F / 32768, 0.00239617F, 0.37F, 1.3F, 1e37F, 1e-42F};
    const size_t n_symbols = 2 * N_16_BITS;
    scoped_memory uint16_t *samples = harness_alloc(2 * n_symbols * sizeof *samples);
    harness_random random = harness_random_stream(STREAM_INPUTS);
    harness_random_fill(&random, samples, 2 * n_symbols * sizeof *samples);
    for (size_t i = 0; i < N_16_BITS; i++) {
        samples[2 * i] = (uint16_t)i;
        samples[2 * (N_16_BITS + i) + 1] = (uint16_t)i;
    }
    for (size_t i = 0; i < (HARNESS_SANITIZED ? 2 : HARNESS_COUNT(scales)); i++) {
        check_input(SOFTQAM_INPUT_CF16, scales[i], samples, n_symbols);
        check_input(SOFTQAM_INPUT_CS16, scales[i], samples, n_symbols);
        check_input(SOFTQAM_INPUT_CS8, scales[i], samples, n_symbols);
        check_input(SOFTQAM_INPUT_CF32, scales[i], shared_sample()->symbols, n_symbols);
    }
}

/* Samples of every input format at any address. */
HARNESS_TEST(test_misaligned_samples)
{
    enum { N = 333 };
    uint8_t samples[N * 8];
    SCOPED(harness_buffer_close) harness_buffer in;
    harness_buffer_open(&in, sizeof samples);
    harness_random random = harness_random_stream(STREAM_MISALIGNED);
    harness_random_fill(&random, samples, sizeof samples);
    for (int k = 0; k < HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        const softqam_output_format format = (softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS);
        const float *noise = format == SOFTQAM_OUTPUT_U8 ? NULL : shared_sample()->noise_var;
        harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
        setup.demodulator.input_format = (softqam_input_format)(k / HARNESS_N_OUTPUT_FORMATS);
        const size_t nbytes = N * softqam_input_symbol_nbytes(setup.demodulator.input_format);
        scoped_memory uint8_t *expected = harness_answer(&setup, samples, noise, N);
        scoped_memory uint8_t *got = harness_alloc(harness_output_nbytes(format, N));
        setup.context.chunk_symbols = 50;
        scoped_demodulator *demodulator = harness_create(&setup);
        for (size_t gap = 0; gap < 64; gap++) {
            harness_buffer_place_at_end(&in, nbytes, gap);
            memcpy(in.data, samples, nbytes);
            harness_poison(got, expected, harness_output_nbytes(format, N));
            harness_demodulate_llrs(demodulator, in.data, noise, N, got);
            assert_memory_equal(got, expected, harness_output_nbytes(format, N));
        }
    }
}
