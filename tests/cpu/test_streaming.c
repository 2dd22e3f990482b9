/* SPDX-License-Identifier: MIT */
/* Output of large calls is stored past the caches, with a fence after it, and has the bytes of small calls, whose is
 * not: from any address, in one segment or two, descrambled, of samples that are converted. */
#include <stdatomic.h>
#include <string.h>

#include "llr_fixture.h"
#include "streaming.h"

enum { STREAM_LARGE = 1, STREAM_COPY, LINE = 64 };

/* What is stored past the caches is by softqam_copy_streaming(), and ends with softqam_streaming_fence(). Their calls
 * come by here: the linker wraps them. */
static atomic_size_t n_fences, n_copied_bytes;

void __real_softqam_streaming_fence(void);
void __wrap_softqam_streaming_fence(void);
void __wrap_softqam_streaming_fence(void)
{
    n_fences++;
    __real_softqam_streaming_fence();
}

void __real_softqam_copy_streaming(void *to, const void *from, size_t nbytes);
void __wrap_softqam_copy_streaming(void *to, const void *from, size_t nbytes);
void __wrap_softqam_copy_streaming(void *to, const void *from, size_t nbytes)
{
    n_copied_bytes += nbytes;
    __real_softqam_copy_streaming(to, from, nbytes);
}

/* From how many bytes on a call is large goes with SOFTQAM_TEST_PERCENT: where symbols take long there are fewer. */
size_t __real_softqam_streaming_nbytes(void);
size_t __wrap_softqam_streaming_nbytes(void);
size_t __wrap_softqam_streaming_nbytes(void) { return harness_symbol_count(__real_softqam_streaming_nbytes()); }

/* A call, what small ones give for it, and memory for its own output. */
typedef struct large {
    const softqam_demodulator *demodulator;
    softqam_segment segment;
    size_t input_nbytes, output_nbytes;
    bool has_llrs;
    const uint8_t *expected;
    uint8_t *got;
} large;

static softqam_segment part_of(const large *self, size_t first, size_t n, uint8_t *out)
{
    softqam_segment part = self->segment;
    part.n_symbols = n;
    part.first_symbol += first;
    part.layers[0].symbols = (const uint8_t *)part.layers[0].symbols + first * self->input_nbytes;
    part.layers[0].noise_var = self->has_llrs ? part.layers[0].noise_var + first : NULL;
    part.out = out + first * self->output_nbytes;
    return part;
}

/* The first n symbols in two segments or one. */
static void check_call(const large *self, size_t n, size_t gap, size_t n_segments)
{
    const size_t nbytes = n * self->output_nbytes, middle = n_segments > 1 ? n / 6 * 2 : 0;
    uint8_t *out = self->got + gap;
    const softqam_segment segments[2] = {part_of(self, middle, n - middle, out), part_of(self, 0, middle, out)};
    harness_poison(out, self->expected, nbytes);
    n_fences = n_copied_bytes = 0;
    harness_demodulate_segments(self->demodulator, segments, n_segments);
    assert_memory_equal(out, self->expected, nbytes);
    const bool streams = nbytes >= softqam_streaming_nbytes();
    assert_true(streams ? n_fences > 0 && n_copied_bytes > nbytes / 100 * 98 : n_copied_bytes == 0);
}

/* From softqam_streaming_nbytes() on, and with one symbol less. The first half is usual in every format. */
static void check_large(softqam_context *context, softqam_input_format input, softqam_output_format output,
                        softqam_modulation modulation, bool descramble)
{
    enum { PIECE = 5003 };
    static const size_t gaps[] = {0, 1, 8, 13, 32, 40, 63};
    const softqam_demodulator_config config = {
        .input_format = input, .output_format = output, .modulation = modulation};
    const size_t input_nbytes = softqam_input_symbol_nbytes(input);
    const size_t output_nbytes = softqam_output_nbytes(output, modulation, 1);
    const size_t n = (softqam_streaming_nbytes() + output_nbytes - 1) / output_nbytes;
    scoped_memory uint8_t *samples = harness_alloc(n * input_nbytes), *expected = harness_alloc(n * output_nbytes);
    scoped_memory uint8_t *memory = harness_alloc(n * output_nbytes + 2 * LINE);
    scoped_memory float *noise = harness_alloc(n * sizeof *noise);
    harness_random random = harness_random_stream(STREAM_LARGE);
    harness_random_fill(&random, samples, n * input_nbytes);
    for (size_t k = 0; k < n / 2 * input_nbytes; k++)
        if (input != SOFTQAM_INPUT_CF32 || k % sizeof(float) == 3)
            samples[k] = (uint8_t)((input == SOFTQAM_INPUT_CF32 ? 0x38 : 0x20) + samples[k] % 8);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, n / 2, noise);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n - n / 2, noise + n / 2);
    scoped_demodulator *demodulator = llr_create(&config, context);
    large self = {.demodulator = demodulator,
                  .input_nbytes = input_nbytes,
                  .output_nbytes = output_nbytes,
                  .has_llrs = output != SOFTQAM_OUTPUT_U8,
                  .expected = expected,
                  .got = memory + (LINE - (uintptr_t)memory % LINE)};
    self.segment = harness_segment(samples, self.has_llrs ? noise : NULL, self.has_llrs, n, NULL);
    self.segment.first_symbol = 7;
    self.segment.input_scale = 1.3F * softqam_input_default_scale(input);
    self.segment.descramble = descramble;
    self.segment.c_init = descramble ? 0x2b67a5c1 : 0;
    for (size_t first = 0; first < n; first += PIECE) {
        const softqam_segment piece = part_of(&self, first, n - first < PIECE ? n - first : PIECE, expected);
        harness_demodulate_segments(demodulator, &piece, 1);
    }
    for (size_t k = 0; k < HARNESS_COUNT(gaps); k++)
        check_call(&self, n, gaps[k], 1 + k % 2);
    check_call(&self, n - 1, 0, 1);
    check_call(&self, n - 1, 0, 2);
}

/* Every modulation, output and input format, by the vector loops in turn; soft bits and floats by all loops. */
HARNESS_TEST(test_large_calls)
{
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(2, 0, 0);
    for (int k = 0; k < HARNESS_N_MODULATIONS; k++)
        check_large(on.items[on.n - 1 - (size_t)k % (on.n > 1 ? on.n - 1 : 1)],
                    (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS), harness_llr_formats[(k + k / 4) % 4],
                    (softqam_modulation)(1 + k % HARNESS_N_MODULATIONS), k / 2 % 2);
    for (size_t c = 0; c < on.n; c++) {
        check_large(on.items[c], c % 2 ? SOFTQAM_INPUT_CS16 : SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8,
                    SOFTQAM_MODULATION_256QAM, false);
        check_large(on.items[c], SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32, SOFTQAM_MODULATION_256QAM, false);
    }
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
