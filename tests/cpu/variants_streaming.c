/* SPDX-License-Identifier: MIT */
/* Tests of test_variants for what is stored past the caches: which symbols of which calls, with a fence after them, and
 * with the bytes of what is not. */
#include <stdatomic.h>
#include <string.h>

#include "context.h"
#include "streaming.h"
#include "variants_fixture.h"

/* The library ends what it has stored past the caches with softqam_streaming_fence(), whose calls come by here: the
 * linker wraps it. */
static atomic_size_t n_fences;

void __real_softqam_streaming_fence(void);
void __wrap_softqam_streaming_fence(void);
void __wrap_softqam_streaming_fence(void)
{
    n_fences++;
    __real_softqam_streaming_fence();
}

/* From how many bytes on a call is large goes with SOFTQAM_TEST_PERCENT: where symbols take long there are fewer. */
size_t __real_softqam_streaming_nbytes(void);
size_t __wrap_softqam_streaming_nbytes(void);
size_t __wrap_softqam_streaming_nbytes(void) { return harness_symbol_count(__real_softqam_streaming_nbytes()); }

/* By which values are stored past the caches. */
static atomic_size_t n_copied_bytes;

void __real_softqam_copy_streaming(void *to, const void *from, size_t nbytes);
void __wrap_softqam_copy_streaming(void *to, const void *from, size_t nbytes);
void __wrap_softqam_copy_streaming(void *to, const void *from, size_t nbytes)
{
    n_copied_bytes += nbytes;
    __real_softqam_copy_streaming(to, from, nbytes);
}

/* A call for the first n symbols of the data to `gap` bytes into its output, in two segments or one; returns how many
 * symbols were stored past the caches. */
static size_t streamed_by(softqam_demodulator *demodulator, const variants_call *call, const variants_data *data,
                          size_t n, size_t gap, size_t n_segments)
{
    const bool takes_noise = call->params.output_format != SOFTQAM_OUTPUT_U8;
    uint8_t *out = data->got + gap;
    softqam_segment segments[2];
    const size_t middle = n / 6 * 2; /* even: pi/2-BPSK turns from one symbol to the next */
    for (size_t k = 0; k < n_segments; k++) {
        const size_t first = k * middle, end = k + 1 == n_segments ? n : middle;
        segments[k] = harness_segment(data->components + 2 * first, takes_noise ? data->noise + first : NULL,
                                      takes_noise, end - first, out + first * call->nbytes);
    }
    harness_poison(out, data->expected, n * call->nbytes);
    n_copied_bytes = n_fences = 0;
    harness_demodulate_segments(demodulator, segments, n_segments);
    assert_true(n_copied_bytes == 0 || n_fences > 0);
    assert_true(variants_equal(softqam_backend_detail(demodulator), call, data->components, data->expected, out, n));
    return n_copied_bytes / call->nbytes;
}

/* From softqam_streaming_nbytes() on nearly all of a call's output is stored past the caches; one symbol less is not.
 */
static void check_large_call(const softqam_cpu_variant *variant, softqam_modulation modulation,
                             softqam_output_format output, unsigned n_threads)
{
    static const size_t gaps[] = {0, 1, 8, 13, 32, 40, 63};
    const variants_call call = variants_default_call(modulation, output, SOFTQAM_NOISE_N0);
    const size_t n = (softqam_streaming_nbytes() + call.nbytes - 1) / call.nbytes;
    SCOPED(variants_close_data) variants_data self = variants_open_data(n + 64);
    harness_random random = harness_random_stream(STREAM_LARGE);
    harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, n, self.components);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n, self.noise);
    variants_run(variant, VARIANTS_FLUSHED, &call, self.components, self.noise, n, self.expected);
    scoped_demodulator *demodulator = variants_create(variant, modulation, SOFTQAM_INPUT_CF32, output, n_threads);
    for (size_t k = 0; k < HARNESS_COUNT(gaps); k++) {
        const size_t n_streamed = streamed_by(demodulator, &call, &self, n, gaps[k], 1 + k % 2);
        assert_true(n_streamed > n / 100 * 98);
    }
    assert_int_equal(streamed_by(demodulator, &call, &self, n - 1, 0, 1), 0);
    assert_int_equal(streamed_by(demodulator, &call, &self, n - 1, 0, 2), 0);
}

/* A large call that is descrambled, or whose samples are converted, gives what small ones give, which are not stored
 * past the caches: from a line on, and from any byte. The first half is usual in every format. */
static void check_large_in_pieces(const softqam_cpu_variant *variant, softqam_modulation modulation,
                                  softqam_input_format input, softqam_output_format output, bool descramble)
{
    enum { PIECE = 5003, C_INIT = 0x2b67a5c1 };
    const variants_call call = variants_default_call(modulation, output, SOFTQAM_NOISE_N0);
    const size_t n = (softqam_streaming_nbytes() + call.nbytes - 1) / call.nbytes + 77;
    const size_t input_nbytes = softqam_input_symbol_nbytes(input);
    SCOPED(variants_close_data) variants_data self = variants_open_data(n + 64);
    uint8_t *samples = (uint8_t *)self.components;
    harness_random random = harness_random_stream(STREAM_LARGE);
    harness_random_fill(&random, samples, n * input_nbytes);
    for (size_t k = 0; k < n / 2 * input_nbytes; k++)
        if (input != SOFTQAM_INPUT_CF32 || k % sizeof(float) == 3)
            samples[k] = (uint8_t)((input == SOFTQAM_INPUT_CF32 ? 0x38 : 0x20) + samples[k] % 8);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, n / 2, self.noise);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n - n / 2, self.noise + n / 2);
    scoped_demodulator *demodulator = variants_create(variant, modulation, input, output, 2);
    softqam_segment segment = harness_segment(samples, self.noise, 1, 0, self.expected);
    segment.input_scale = 1.3F * softqam_input_default_scale(input);
    segment.descramble = descramble;
    segment.c_init = descramble ? C_INIT : 0;
    for (size_t first = 0; first < n; first += PIECE) {
        segment.first_symbol = 7 + first;
        segment.n_symbols = n - first < PIECE ? n - first : PIECE;
        segment.layers[0] = (softqam_layer){.symbols = samples + input_nbytes * first, .noise_var = self.noise + first};
        segment.out = self.expected + first * call.nbytes;
        harness_demodulate_segments(demodulator, &segment, 1);
    }
    segment.first_symbol = 7;
    segment.n_symbols = n;
    segment.layers[0] = (softqam_layer){.symbols = samples, .noise_var = self.noise};
    for (size_t gap = 0; gap < 3; gap++) {
        segment.out = self.got + 32 * gap + gap / 2;
        harness_poison(segment.out, self.expected, n * call.nbytes);
        n_fences = 0;
        harness_demodulate_segments(demodulator, &segment, 1);
        assert_true(n_fences > 0);
        assert_memory_equal(segment.out, self.expected, n * call.nbytes);
    }
}

/* The vector loops, of which each machine runs one at least: the others would take long. */
static size_t list_vector_variants(const softqam_cpu_variant *variants[VARIANTS_MAX])
{
    const size_t n_variants = variants_list(variants);
    size_t n = 0;
    while (n < n_variants && variants[n]->min_symbols > 1)
        n++;
    return n;
}

HARNESS_TEST(test_large_in_pieces)
{
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = list_vector_variants(variants);
    for (int k = 0; k < N_MODULATIONS && n_variants > 0; k++)
        check_large_in_pieces(variants[(size_t)k % n_variants], (softqam_modulation)(1 + k), SOFTQAM_INPUT_CF32,
                              harness_llr_formats[k % HARNESS_N_LLR_FORMATS], true);
    for (size_t k = 0; k < N_INPUT_FORMATS * n_variants; k++) {
        const softqam_input_format format = (softqam_input_format)(k / n_variants);
        check_large_in_pieces(variants[k % n_variants], SOFTQAM_MODULATION_256QAM, format, SOFTQAM_OUTPUT_F32, false);
        check_large_in_pieces(variants[k % n_variants], (softqam_modulation)(1 + k % N_MODULATIONS), format,
                              SOFTQAM_OUTPUT_F32, false);
    }
}

HARNESS_TEST(test_large_calls)
{
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = variants_list(variants);
    for (size_t k = 0; k < n_variants; k++)
        check_large_call(variants[k], SOFTQAM_MODULATION_256QAM, SOFTQAM_OUTPUT_F32, 1 + (unsigned)k % 2);
    check_large_call(variants[0], SOFTQAM_MODULATION_256QAM, SOFTQAM_OUTPUT_U8, 2);
    check_large_call(variants[0], SOFTQAM_MODULATION_256QAM, SOFTQAM_OUTPUT_S8, 1);
    check_large_call(variants[0], SOFTQAM_MODULATION_256QAM, SOFTQAM_OUTPUT_F16, 2);
    const size_t n_vector = list_vector_variants(variants);
    for (int k = 0; k < N_MODULATIONS && n_vector > 0; k++)
        check_large_call(variants[(size_t)k % n_vector], (softqam_modulation)(1 + k),
                         harness_llr_formats[k % HARNESS_N_LLR_FORMATS], 1);
}

/* What is staged for the caller of a large call, from any address to any, and not a byte beside it. */
HARNESS_TEST(test_copy_streaming)
{
    enum { LARGEST = 700, MARGIN = 64 };
    harness_random random = harness_random_stream(STREAM_COPY);
    for (size_t nbytes = 0; nbytes <= LARGEST; nbytes++) {
        uint8_t from[LARGEST + MARGIN], to[LARGEST + 2 * MARGIN], expected[LARGEST + 2 * MARGIN];
        const size_t from_offset = harness_random_below(&random, MARGIN);
        const size_t to_offset = harness_random_below(&random, MARGIN);
        harness_random_fill(&random, from, sizeof from);
        harness_random_fill(&random, to, sizeof to);
        memcpy(expected, to, sizeof to);
        memcpy(expected + to_offset, from + from_offset, nbytes);
        softqam_copy_streaming(to + to_offset, from + from_offset, nbytes);
        assert_memory_equal(to, expected, sizeof to);
    }
}
