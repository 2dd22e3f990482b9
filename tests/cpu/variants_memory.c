/* SPDX-License-Identifier: MIT */
/* Tests of test_variants for where data lie: calls of every length between guard pages, from any address to any, and
 * components of the input formats converted likewise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "variants_fixture.h"

/* Buffers of a call between guard pages. */
typedef struct buffers {
    harness_buffer in;
    harness_buffer noise;
    harness_buffer out;
} buffers;

static buffers open_buffers(size_t max_symbols)
{
    buffers self;
    harness_buffer_open(&self.in, max_symbols * 2 * sizeof(float));
    harness_buffer_open(&self.noise, max_symbols * sizeof(float));
    harness_buffer_open(&self.out, max_symbols * MAX_OUT_NBYTES);
    return self;
}

static void close_buffers(buffers *self)
{
    harness_buffer_close(&self->out);
    harness_buffer_close(&self->noise);
    harness_buffer_close(&self->in);
}

/* Where a buffer begins: so many bytes off a guard page. */
static void place(harness_buffer *buffer, size_t nbytes, size_t gap, bool at_end)
{
    if (at_end)
        harness_buffer_place_at_end(buffer, nbytes, gap);
    else
        harness_buffer_place_at_start(buffer, nbytes, gap);
}

/* The first n symbols of the data, against what is expected of them. */
static void check_guarded(const softqam_cpu_variant *variant, const variants_call *call, const variants_data *self,
                          size_t n, buffers *memory, size_t in_gap, size_t out_gap, bool at_end)
{
    const size_t n_noise = call->noise == SOFTQAM_ONE_WEIGHT ? 1 : n;
    place(&memory->in, n * 2 * sizeof(float), in_gap, at_end);
    place(&memory->noise, n_noise * sizeof(float), in_gap / 4 * 4, at_end);
    place(&memory->out, n * call->nbytes, out_gap, at_end);
    memcpy(memory->in.data, self->components, n * 2 * sizeof(float));
    memcpy(memory->noise.data, self->noise, n_noise * sizeof(float));
    harness_poison(memory->out.data, self->expected, n * call->nbytes);
    variants_run(variant, VARIANTS_FLUSHED, call, (const float *)(const void *)memory->in.data,
                 (const float *)(const void *)memory->noise.data, n, memory->out.data);
    assert_true(variants_equal(variant->name, call, self->components, self->expected, memory->out.data, n));
    harness_buffer_check(&memory->out);
}

/* Calls `check` for every variant and call, with what the portable loop gives. */
static void for_all_calls(uint32_t stream, size_t max_symbols,
                          void (*check)(const softqam_cpu_variant *, const variants_call *, const variants_data *,
                                        buffers *))
{
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = variants_list(variants);
    SCOPED(variants_close_data) variants_data self = variants_open_mixture(stream, max_symbols);
    buffers memory = open_buffers(max_symbols);
    for (int k = 0; k < VARIANTS_CALLS; k++) {
        const variants_call call = variants_call_at(k);
        variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, &call, self.components, self.noise, max_symbols,
                     self.expected);
        for (size_t i = 0; i < n_variants; i++)
            check(variants[i], &call, &self, &memory);
    }
    close_buffers(&memory);
}

static void check_lengths(const softqam_cpu_variant *variant, const variants_call *call, const variants_data *self,
                          buffers *memory)
{
    for (size_t n = variant->min_symbols; n <= self->n_symbols; n += n < 100 || n % 16 == 1 ? 1 : 14) {
        check_guarded(variant, call, self, n, memory, 0, 0, true);
        check_guarded(variant, call, self, n, memory, n % 64, 0, false);
        check_guarded(variant, call, self, n, memory, 1, n % 64, true);
    }
}

HARNESS_TEST(test_lengths)
{
    for_all_calls(STREAM_LENGTHS, 300, check_lengths);
}

static void check_places(const softqam_cpu_variant *variant, const variants_call *call, const variants_data *self,
                         buffers *memory)
{
    for (size_t gap = 0; gap < 64; gap++)
        for (size_t other = 0; other < 64; other += 1 + gap % 7)
            check_guarded(variant, call, self, self->n_symbols - other % 3, memory, gap, other, gap % 2);
}

HARNESS_TEST(test_misalignment)
{
    for_all_calls(STREAM_PLACES, 45, check_places);
}

/* Components of the input formats to floats: all 16-bit patterns, or random bits. */
static void check_convert(const softqam_cpu_variant *variant, int format, float scale, const uint8_t *samples, size_t n)
{
    const size_t nbytes = softqam_input_symbol_nbytes((softqam_input_format)format) / 2;
    scoped_memory float *expected = harness_alloc(n * sizeof(float)), *got = harness_alloc(n * sizeof(float));
    softqam_cpu_portable.convert[format](samples, scale, n, expected);
    harness_poison((uint8_t *)got, (const uint8_t *)expected, n * sizeof(float));
    variant->convert[format](samples, scale, n, got);
    for (size_t i = 0; i < n; i++) {
        /* Any NaN is one. */
        if (memcmp(&expected[i], &got[i], sizeof(float)) != 0 && !(isnan(expected[i]) && isnan(got[i])))
            fail_msg("%s: component %zu of %zu in %s of %zu bytes, scale %a: %a, not %a", variant->name, i, n,
                     harness_input_names[format], nbytes, (double)scale, (double)got[i], (double)expected[i]);
    }
}

static void check_convert_lengths(const softqam_cpu_variant *variant, int format, const uint8_t *samples)
{
    enum { MOST = 150 };
    const size_t nbytes = softqam_input_symbol_nbytes((softqam_input_format)format) / 2;
    const float scale = softqam_input_default_scale((softqam_input_format)format);
    SCOPED(harness_buffer_close) harness_buffer in, out;
    harness_buffer_open(&in, MOST * nbytes);
    harness_buffer_open(&out, MOST * sizeof(float));
    for (size_t n = 0; n <= MOST; n++) {
        for (size_t gap = 0; gap < 4; gap++) {
            float expected[MOST];
            place(&in, n * nbytes, gap, n % 2);
            place(&out, n * sizeof(float), 4 * gap, n % 2);
            memcpy(in.data, samples, n * nbytes);
            softqam_cpu_portable.convert[format](in.data, scale, n, expected);
            harness_poison(out.data, (const uint8_t *)expected, n * sizeof(float));
            variant->convert[format](in.data, scale, n, (float *)(void *)out.data);
            assert_memory_equal(out.data, expected, n * sizeof(float));
            harness_buffer_check(&out);
        }
    }
}

HARNESS_TEST(test_convert)
{
    static const float scales[] = {1, 1.0F / 32768, 1.0F / 128, 1.3F / 32768, 0.37F, 1e36F, 1e-42F};
    const size_t n = (size_t)1 << 16;
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = variants_list(variants);
    harness_random random = harness_random_stream(STREAM_CONVERT);
    uint8_t *samples = harness_alloc(n * sizeof(float)), usual[150 * sizeof(float)];
    harness_random_fill(&random, samples, n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        const uint16_t pattern = (uint16_t)i;
        memcpy(samples + 2 * i, &pattern, sizeof pattern);
    }
    for (size_t i = 0; i < sizeof usual; i++)
        usual[i] = (uint8_t)(0x20 + i % 0x18); /* a number in every format */
    for (size_t k = 0; k < n_variants; k++) {
        for (int format = 0; format < N_INPUT_FORMATS; format++) {
            for (size_t i = 0; i < HARNESS_COUNT(scales); i++)
                check_convert(variants[k], format, scales[i], samples, n);
            check_convert_lengths(variants[k], format, usual);
        }
    }
    free(samples);
}
