/* SPDX-License-Identifier: MIT */
/* How a call is made must not show in a byte, in any output format: lengths, alignments, threads, chunks, kinds of
 * memory, input formats. On the backend that SOFTQAM_TEST_BACKEND names; api/test_load.c has several callers. What is
 * expected is what one plain call gives: test_soft_bits.c and test_llr_specified.c prove that one, noise
 * values of a call too, test_llr_segments.c tests segments. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* Of u8 more than a Mi, so that every thread of the largest number of threads has work, and several default chunks of
 * CUDA; all that under no sanitizer, where it takes minutes. */
#define LLR_SYMBOLS       ((size_t)(HARNESS_SANITIZED ? 140003 : 200003))
#define SOFT_BITS_SYMBOLS (HARNESS_SANITIZED ? LLR_SYMBOLS : 3 * ((size_t)1 << 20) / 2 + 12345)

/* Symbols of an input format, noise variances and gains of every kind, and what one plain call makes of them in an
 * output format. */
typedef struct sample {
    softqam_input_format input;
    softqam_output_format output;
    bool has_gains;
    size_t n, nbytes[4]; /* of a symbol's sample, noise, gain and values */
    uint8_t *contents[4];
} sample;

static softqam_demodulator *create(const sample *of, unsigned n_threads, unsigned n_streams, size_t chunk_symbols)
{
    harness_setup setup = harness_format_setup(of->output, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.input_format = of->input;
    setup.context.n_threads = n_threads;
    setup.context.n_streams = n_streams;
    setup.context.chunk_symbols = chunk_symbols;
    return harness_create(&setup);
}

/* n symbols of this memory of samples, noise and gains, to the fourth. */
static void demodulate(const sample *of, const softqam_demodulator *demodulator, size_t n, uint8_t *const memory[4])
{
    const float *noise = of->nbytes[1] ? (const float *)(void *)memory[1] : NULL;
    softqam_segment segment = harness_segment(memory[0], noise, 1, n, memory[3]);
    segment.layers[0].gain = (const float *)(void *)memory[2];
    if (of->has_gains)
        harness_demodulate_segments(demodulator, &segment, 1);
    else
        harness_demodulate_llrs(demodulator, memory[0], noise, n, memory[3]);
}

static sample open_sample(softqam_input_format input, softqam_output_format output, bool has_gains, size_t n)
{
    harness_random random = harness_random_named(__func__);
    sample self = {.input = input, .output = output, .has_gains = has_gains, .n = n};
    const size_t nbytes[] = {softqam_input_symbol_nbytes(input), output != SOFTQAM_OUTPUT_U8 ? sizeof(float) : 0,
                             has_gains ? sizeof(float) : 0, harness_output_nbytes(output, 1)};
    memcpy(self.nbytes, nbytes, sizeof nbytes);
    for (size_t k = 0; k < 4; k++)
        self.contents[k] = harness_alloc(n * (nbytes[k] ? nbytes[k] : sizeof(float)));
    float *symbols = (float *)(void *)self.contents[0], *noise = (float *)(void *)self.contents[1];
    if (input == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(&random, n, symbols);
    else
        harness_random_fill(&random, symbols, n * nbytes[0]);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n, noise);
    harness_fill_gains(&random, n, (float *)(void *)self.contents[2]);
    /* Some tiles that loops compute the fast way, but for a symbol here and there. */
    for (size_t i = 1000; i < 3500 && input == SOFTQAM_INPUT_CF32 && n > 4000; i += 611) {
        harness_fill_uniform(&random, 1.4F, 610, symbols + 2 * i);
        harness_fill_noise(&random, HARNESS_NOISE_USUAL, 610, noise + i);
    }
    memset(self.contents[3], 0x80, n * nbytes[3]);
    scoped_demodulator *demodulator = create(&self, 1, 0, 0);
    demodulate(&self, demodulator, n, self.contents);
    return self;
}

static void close_sample(sample *self)
{
    for (size_t k = 0; k < 4; k++)
        free(self->contents[k]);
}

/* A call for n symbols of the sample from `first` on, copied to this memory. */
static bool gives_expected(const sample *self, const softqam_demodulator *demodulator, size_t first, size_t n,
                           uint8_t *const memory[4])
{
    const uint8_t *expected = self->contents[3] + first * self->nbytes[3];
    for (size_t k = 0; k < 3; k++)
        memcpy(memory[k], self->contents[k] + first * self->nbytes[k], n * self->nbytes[k]);
    harness_poison(memory[3], expected, n * self->nbytes[3]);
    demodulate(self, demodulator, n, memory);
    for (size_t k = 0; k < 3; k++)
        assert_memory_equal(memory[k], self->contents[k] + first * self->nbytes[k], n * self->nbytes[k]);
    return memcmp(expected, memory[3], n * self->nbytes[3]) == 0;
}

/* Bytes of samples, noise variances and gains, multiples of 4, and output from the guard page before, or at_end from
 * the one behind. */
typedef struct gaps {
    size_t of[4];
    bool at_end;
} gaps;

/* A call whose buffers lie between guard pages. */
static void check_guarded(const sample *self, const softqam_demodulator *demodulator, gaps at, size_t first, size_t n)
{
    harness_buffer buffers[4];
    uint8_t *memory[4];
    for (size_t k = 0; k < 4; k++) {
        harness_buffer_open(&buffers[k], n * self->nbytes[k]);
        (at.at_end ? harness_buffer_place_at_end : harness_buffer_place_at_start)(&buffers[k], n * self->nbytes[k],
                                                                                  at.of[k]);
        memory[k] = buffers[k].data;
    }
    if (!gives_expected(self, demodulator, first, n, memory))
        fail_msg("%s to %s: %zu symbols, gaps of %zu, %zu and %zu at the %s", harness_input_names[self->input],
                 harness_output_names[self->output], n, at.of[0], at.of[1], at.of[3], at.at_end ? "end" : "start");
    for (size_t k = 0; k < 4; k++) {
        harness_buffer_check(&buffers[k]);
        harness_buffer_close(&buffers[k]);
    }
}

static bool has_chunks(void) { return harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable(); }

/* To 70, around the tiles of loops, and around chunks and rings of them. About the default chunk, and about the parts
 * that threads get of a large call. */
HARNESS_TEST(test_lengths)
{
    enum { N_SHORT = 70, TILE = 1024, AROUND = 35, N_THREADS = 7 };
    static const struct {
        unsigned n_threads, n_streams;
        size_t chunk_symbols;
    } pipelines[] = {{0, 0, 0},    {1, 0, 0},  {2, 2, 65536}, {3, 2, 37},    {4, 0, 0},    {7, 0, 0},
                     {16, 0, 0},   {1, 1, 1},  {2, 1, 64},    {0, 3, 100},   {1, 3, 1000}, {2, 4, 256},
                     {3, 7, 1000}, {0, 64, 5}, {1, 1, 7919},  {4, 3, 16384}, {7, 64, 333}, {16, 5, 99991}};
    const size_t n_pipelines = has_chunks() ? HARNESS_COUNT(pipelines) : N_THREADS;
    static const size_t large[] = {65535, 65536, 65537, 99991, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};
    for (int output = 0; output < HARNESS_N_OUTPUT_FORMATS; output++) {
        SCOPED(close_sample)
        sample self = open_sample(SOFTQAM_INPUT_CF32, (softqam_output_format)output, false,
                                  output == SOFTQAM_OUTPUT_U8 ? SOFT_BITS_SYMBOLS : LLR_SYMBOLS);
        for (size_t i = 0; i < n_pipelines; i++) {
            const size_t chunk = pipelines[i].chunk_symbols, ring = pipelines[i].n_streams * chunk;
            const size_t most = self.n - 2000;
            const size_t others[] = {257,           997,  4096,     chunk ? chunk - 1 : 0, chunk, chunk + 1,
                                     3 * chunk + 5, ring, ring + 1, 2 * ring + 3};
            scoped_demodulator *demodulator = create(&self, pipelines[i].n_threads, pipelines[i].n_streams, chunk);
            for (size_t n = 0; n <= N_SHORT; n++)
                for (size_t at_end = 0; at_end < 2; at_end++)
                    check_guarded(&self, demodulator, (gaps){.at_end = at_end}, 1001 + at_end, n);
            for (size_t n = 0; n < HARNESS_COUNT(others); n++)
                for (size_t at_end = 0; at_end < 2 && others[n] < most; at_end++)
                    check_guarded(&self, demodulator, (gaps){.at_end = at_end}, 1001 + at_end, others[n]);
            for (size_t n = TILE - AROUND; i == 0 && n < 3 * TILE + AROUND;
                 n += n % TILE == AROUND ? TILE - 2 * AROUND : 1)
                check_guarded(&self, demodulator, (gaps){.at_end = n % 2}, 1001, n);
            for (size_t n = 0; (chunk == 0 || chunk > 300) && n <= HARNESS_COUNT(large); n++)
                if (n == HARNESS_COUNT(large) || large[n] < most)
                    check_guarded(&self, demodulator, (gaps){.at_end = n % 2}, n * 16,
                                  n < HARNESS_COUNT(large) ? large[n] : most);
        }
    }
}

/* Every alignment of the samples of each input format; of floats with every one of the output, the noise variances
 * moving along in steps of 4. Then every one of a call of several chunks. Under a sanitizer, which sees nothing of
 * memory between guard pages, every fifth. */
HARNESS_TEST(test_misalignment)
{
    for (int k = 0; k < HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        const softqam_input_format input = (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS);
        SCOPED(close_sample)
        sample self = open_sample(input, (softqam_output_format)(k / HARNESS_N_INPUT_FORMATS), false, 5000);
        scoped_demodulator *demodulator = create(&self, 2, 3, 256);
        for (size_t gap = 0; gap < 64; gap += HARNESS_SANITIZED ? 5 : 1) {
            const gaps of_chunks[] = {
                {{gap, 60 - gap / 4 * 4, 0, 63 - gap}, gap % 2}, {{gap}, true}, {{0, 0, 0, gap}, true}};
            for (size_t out_gap = 0; out_gap < 64; out_gap += input == SOFTQAM_INPUT_CF32 ? 1 : 16) {
                gaps at = {{gap, (gap + 4 * out_gap) / 4 % 16 * 4, 0, out_gap}, (gap + out_gap) % 2};
                check_guarded(&self, demodulator, at, gap, 37);
            }
            for (size_t i = 0; i < HARNESS_COUNT(of_chunks); i++)
                check_guarded(&self, demodulator, of_chunks[i], gap, 997);
        }
    }
}

/* Memory of softqam_host_alloc() for each of the buffers or not, for calls of one chunk and of several, aligned and
 * not: page-locked memory need not be aligned either. The CPU backend knows no kinds of memory, so it gets two
 * combinations of 16. */
HARNESS_TEST(test_memory_kinds)
{
    enum { MAX_SYMBOLS = 70001, MAX_GAP = 24, N_KINDS = 16 };
    const size_t n_lengths = has_chunks() ? 3 : 2, kinds_step = has_chunks() ? 1 : 1 + 2 + 8; /* all but gains */
    static const size_t lengths[] = {777, 20000, MAX_SYMBOLS}, distances[] = {0, 1, 2, 4, 8, 13, 16, MAX_GAP};
    for (int k = 0; k < 2 * HARNESS_N_OUTPUT_FORMATS - 1; k++) {
        SCOPED(close_sample)
        sample self = open_sample(SOFTQAM_INPUT_CF32, (softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS),
                                  k >= HARNESS_N_OUTPUT_FORMATS, MAX_SYMBOLS + N_KINDS + MAX_GAP);
        scoped_demodulator *demodulator = create(&self, 0, 0, 20000);
        void *memory[4][2]; /* of malloc and of host_alloc */
        for (size_t m = 0; m < 4; m++) {
            const size_t nbytes = MAX_SYMBOLS * self.nbytes[m] + MAX_GAP;
            memory[m][0] = harness_alloc(nbytes);
            assert_int_equal(softqam_host_alloc(softqam_demodulator_context(demodulator), nbytes, &memory[m][1]),
                             SOFTQAM_OK);
        }
        for (size_t i = 0; i < N_KINDS * HARNESS_COUNT(distances) * n_lengths * 2; i++) {
            const size_t kinds = i % N_KINDS, gap = distances[i / N_KINDS % HARNESS_COUNT(distances)],
                         rest = i / N_KINDS / HARNESS_COUNT(distances), n = lengths[rest % n_lengths];
            const bool is_input = rest / n_lengths % 2;
            uint8_t *chosen[4];
            for (size_t m = 0; m < 4; m++)
                chosen[m] = (uint8_t *)memory[m][kinds >> m & 1] + (m == (is_input ? 0 : 3) ? gap : 0);
            if (kinds % kinds_step || (!self.has_gains && (kinds & 4)))
                continue;
            if (!gives_expected(&self, demodulator, kinds + gap, n, chosen))
                fail_msg("%s, kinds of memory %zu, %zu symbols, a gap of %zu", harness_output_names[self.output], kinds,
                         n, gap);
        }
        for (size_t m = 0; m < 4; m++) {
            softqam_host_free(memory[m][1]);
            free(memory[m][0]);
        }
    }
}

/* Symbols in an input format against the same as binary32, in every output format. */
static void check_input(softqam_input_format format, float scale, const void *samples, const float *noise_var, size_t n)
{
    scoped_memory float *values = harness_alloc(n * 2 * sizeof(float));
    harness_widen(format, scale, samples, n, values);
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
        harness_setup setup = harness_format_setup((softqam_output_format)k, SOFTQAM_NOISE_PER_SYMBOL);
        const float *noise = k == SOFTQAM_OUTPUT_U8 ? NULL : noise_var;
        scoped_memory uint8_t *expected = harness_answer(&setup, values, noise, n);
        setup.demodulator.input_format = format;
        setup.demodulator.input_scale = scale;
        setup.context.chunk_symbols = 30011;
        scoped_memory uint8_t *got = harness_answer(&setup, samples, noise, n);
        if (!harness_outputs_equal("input format", setup.demodulator.output_format, values, expected, got, n))
            fail_msg("input format %d, scale %a, output %s", (int)format, (double)scale, harness_output_names[k]);
    }
}

/* All 16-bit patterns on one axis, random ones on the other, then the axes exchanged. As bytes, all pairs. Default
 * scale, full ranges, one that puts samples on levels, one that overflows, one that gives subnormal values. */
HARNESS_TEST(test_input_formats)
{
    enum { N_16_BITS = 1 << 16, N = 2 * N_16_BITS };
    static const float scales[] = {0, 0.7F / 128, 1.4F / 32768, 0.00239617F, 0.37F, 1.3F, 1e37F, 1e-42F};
    scoped_memory uint16_t *samples = harness_alloc(2 * N * sizeof *samples);
    scoped_memory float *symbols = harness_alloc(2 * N * sizeof *symbols), *noise = harness_alloc(N * sizeof *noise);
    harness_random random = harness_random_named(__func__);
    harness_random_fill(&random, samples, 2 * N * sizeof *samples);
    harness_fill_mixture(&random, N, symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N, noise);
    for (size_t i = 0; i < N_16_BITS; i++) {
        samples[2 * i] = (uint16_t)i;
        samples[2 * (N_16_BITS + i) + 1] = (uint16_t)i;
    }
    for (size_t i = 0; i < (HARNESS_SANITIZED ? 2 : HARNESS_COUNT(scales)); i++)
        for (int format = 0; format < HARNESS_N_INPUT_FORMATS; format++)
            check_input((softqam_input_format)format, scales[i],
                        format == SOFTQAM_INPUT_CF32 ? (void *)symbols : samples, noise, N);
}
