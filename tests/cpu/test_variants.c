/* SPDX-License-Identifier: MIT */
/* Every variant of the CPU's inner loops that this machine runs against the portable one, called directly: lengths and
 * misalignments, between guard pages, floats compared to the last bit; and which calls are stored past the caches. What
 * the loops are worth is test_llr_specified.c's and the oracle's; measure_variants.c says how fast they are. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/float_environment.h"
#include "cpu/streaming.h"
#include "demodulator.h"
#include "variants_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_SETS = 1,
    STREAM_SCALES,
    STREAM_LENGTHS,
    STREAM_PLACES,
    STREAM_CONVERT,
    STREAM_WORST,
    STREAM_ENVIRONMENT,
    STREAM_NOISES,
    STREAM_INTEGERS,
    STREAM_LARGE,
    STREAM_COPY,
    STREAM_ZEROS,
    STREAM_FAR,
};

static variants_data open_mixture(uint32_t stream, size_t n_symbols)
{
    variants_data self = variants_open_data(n_symbols);
    harness_random random = harness_random_stream(stream);
    harness_fill_mixture(&random, n_symbols, self.components);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, self.noise);
    return self;
}

/* All of the data, by every variant, in every way. */
static void check_data(const variants_call *call, variants_data *self)
{
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = variants_list(variants);
    variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, call, self->components, self->noise, self->n_symbols,
                 self->expected);
    for (size_t k = 0; k < n_variants * N_VARIANTS_WAYS; k++) {
        const softqam_cpu_variant *variant = variants[k / N_VARIANTS_WAYS];
        const variants_way way = (variants_way)(k % N_VARIANTS_WAYS);
        const size_t n = self->n_symbols - (way == VARIANTS_STREAMING ? self->n_symbols % variant->min_symbols : 0);
        if (way != VARIANTS_FLUSHED && variant->min_symbols == 1)
            continue; /* knows no other way */
        harness_poison(self->got, self->expected, n * call->nbytes);
        variants_run(variant, way, call, self->components, self->noise, n, self->got);
        assert_true(variants_equal(variant->name, call, self->components, self->expected, self->got, n));
    }
}

/* Soft bits; LLRs of 256QAM by format and kind of noise; those of the others by format, with each kind in turn. */
enum {
    N_KINDS = (N_OUTPUT_FORMATS - 1) * SOFTQAM_NOISE_KINDS,
    N_OTHERS = (N_MODULATIONS - 1) * (N_OUTPUT_FORMATS - 1),
    N_CALLS = 1 + N_KINDS + N_OTHERS
};

static variants_call call_at(int k)
{
    static const softqam_modulation others[] = {SOFTQAM_MODULATION_BPSK,  SOFTQAM_MODULATION_PI2_BPSK,
                                                SOFTQAM_MODULATION_QPSK,  SOFTQAM_MODULATION_16QAM,
                                                SOFTQAM_MODULATION_64QAM, SOFTQAM_MODULATION_1024QAM};
    const int kind = k - 1, other = kind - N_KINDS;
    if (k == 0)
        return variants_default_call(SOFTQAM_MODULATION_256QAM, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT);
    if (other < 0)
        return variants_default_call(SOFTQAM_MODULATION_256QAM,
                                     (softqam_output_format)(SOFTQAM_OUTPUT_S8 + kind / SOFTQAM_NOISE_KINDS),
                                     (softqam_noise_kind)(kind % SOFTQAM_NOISE_KINDS));
    return variants_default_call(others[other / (N_OUTPUT_FORMATS - 1)],
                                 (softqam_output_format)(SOFTQAM_OUTPUT_S8 + other % (N_OUTPUT_FORMATS - 1)),
                                 (softqam_noise_kind)((other + other / 3) % SOFTQAM_NOISE_KINDS));
}

static void check_calls(int first, variants_data *self)
{
    for (int k = first; k < N_CALLS; k++) {
        const variants_call call = call_at(k);
        check_data(&call, self);
    }
}

static void test_symbol_sets(void **state)
{
    (void)state;
    const size_t max_symbols = harness_symbol_count((size_t)1 << 13);
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        harness_random random = harness_random_stream((uint32_t)i << 8 | STREAM_SETS);
        variants_data self = variants_open_data(set->n_fixed ? harness_symbol_count(set->n_fixed) : max_symbols);
        set->fill(&random, set->parameter, 0, self.n_symbols, self.components);
        for (int kind = HARNESS_NOISE_USUAL; kind <= HARNESS_NOISE_ANY; kind++) {
            harness_fill_noise(&random, (harness_noise)kind, self.n_symbols, self.noise);
            check_calls(kind != HARNESS_NOISE_USUAL, &self);
        }
        variants_close_data(&self);
    }
}

static void test_signs_scales_and_limits(void **state)
{
    (void)state;
    static const struct {
        float scale;
        int limit;
    } scales[] = {{0, 0}, {0, 1}, {6, 120}, {1, 63}, {0x1p-10F, 127}, {0x1p20F, 64}, {20, 31}};
    variants_data self = open_mixture(STREAM_SCALES, harness_symbol_count(20011));
    for (size_t k = 0; k < HARNESS_COUNT(scales) * SOFTQAM_NOISE_KINDS * 2; k++) {
        const softqam_noise_kind noise = (softqam_noise_kind)(k % SOFTQAM_NOISE_KINDS);
        softqam_config config;
        softqam_config_init(&config);
        config.sign = (softqam_sign)(k / SOFTQAM_NOISE_KINDS % 2);
        config.output_format = SOFTQAM_OUTPUT_S8;
        config.llr_scale = scales[k / SOFTQAM_NOISE_KINDS / 2].scale;
        config.llr_limit = scales[k / SOFTQAM_NOISE_KINDS / 2].limit;
        variants_call call = variants_call_of(&config, noise);
        check_data(&call, &self);
        config.llr_scale = 0;
        config.llr_limit = 0;
        for (int output = SOFTQAM_OUTPUT_U8; k < SOFTQAM_NOISE_KINDS * 2 && output < N_OUTPUT_FORMATS; output++) {
            config.output_format = (softqam_output_format)output;
            call = variants_call_of(&config, noise);
            check_data(&call, &self);
        }
    }
    variants_close_data(&self);
}

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
    variants_data self = open_mixture(stream, max_symbols);
    buffers memory = open_buffers(max_symbols);
    for (int k = 0; k < N_CALLS; k++) {
        const variants_call call = call_at(k);
        variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, &call, self.components, self.noise, max_symbols,
                     self.expected);
        for (size_t i = 0; i < n_variants; i++)
            check(variants[i], &call, &self, &memory);
    }
    close_buffers(&memory);
    variants_close_data(&self);
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

static void test_lengths(void **state)
{
    (void)state;
    for_all_calls(STREAM_LENGTHS, 300, check_lengths);
}

static void check_places(const softqam_cpu_variant *variant, const variants_call *call, const variants_data *self,
                         buffers *memory)
{
    for (size_t gap = 0; gap < 64; gap++)
        for (size_t other = 0; other < 64; other += 1 + gap % 7)
            check_guarded(variant, call, self, self->n_symbols - other % 3, memory, gap, other, gap % 2);
}

static void test_misalignment(void **state)
{
    (void)state;
    for_all_calls(STREAM_PLACES, 45, check_places);
}

/* Components of the input formats to floats: all 16-bit patterns, or random bits. */
static void check_convert(const softqam_cpu_variant *variant, int format, float scale, const uint8_t *samples, size_t n)
{
    const size_t nbytes = softqam_input_symbol_nbytes((softqam_input_format)format) / 2;
    float *expected = harness_alloc(n * sizeof(float)), *got = harness_alloc(n * sizeof(float));
    softqam_cpu_portable.convert[format](samples, scale, n, expected);
    harness_poison((uint8_t *)got, (const uint8_t *)expected, n * sizeof(float));
    variant->convert[format](samples, scale, n, got);
    for (size_t i = 0; i < n; i++) {
        /* Any NaN is one. */
        if (memcmp(&expected[i], &got[i], sizeof(float)) != 0 && !(isnan(expected[i]) && isnan(got[i])))
            fail_msg("%s: component %zu of %zu in %s of %zu bytes, scale %a: %a, not %a", variant->name, i, n,
                     harness_input_names[format], nbytes, (double)scale, (double)got[i], (double)expected[i]);
    }
    free(got);
    free(expected);
}

static void check_convert_lengths(const softqam_cpu_variant *variant, int format, const uint8_t *samples)
{
    enum { MOST = 150 };
    const size_t nbytes = softqam_input_symbol_nbytes((softqam_input_format)format) / 2;
    const float scale = softqam_input_default_scale((softqam_input_format)format);
    harness_buffer in, out;
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
    harness_buffer_close(&out);
    harness_buffer_close(&in);
}

static void test_convert(void **state)
{
    (void)state;
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

/* Symbols on which no shortcut may be taken, alone, and one among symbols on which it may. */
static void test_worst_inputs(void **state)
{
    (void)state;
    const float alpha = (float)(1 / sqrt(170.0));
    const float worst[] = {0.0F, -0.0F, 8 * alpha, -14 * alpha, 2.39999F, 2.4F, 3.0F, -1e30F, INFINITY, NAN};
    harness_random random = harness_random_stream(STREAM_WORST);
    variants_data self = variants_open_data(1000);
    for (size_t k = 0; k < HARNESS_COUNT(worst); k++) {
        for (size_t i = 0; i < 2 * self.n_symbols; i++)
            self.components[i] = worst[k];
        harness_fill_noise(&random, HARNESS_NOISE_USUAL, self.n_symbols, self.noise);
        check_calls(0, &self);
        for (size_t i = 0; i < 2 * self.n_symbols; i++)
            self.components[i] =
                i % 67 == 0 ? worst[k] : alpha * (float)(2 * (int)harness_random_below(&random, 16) - 15);
        for (size_t i = 0; i < self.n_symbols; i += 41)
            harness_fill_noise(&random, HARNESS_NOISE_ANY, 1, &self.noise[i]);
        check_calls(0, &self);
    }
    variants_close_data(&self);
}

/* A component whose soft value is so many units of 2^-16, and up to 8 more, from an integer. */
static float near_integer(harness_random *random, double n_units)
{
    const double alpha = 1 / sqrt(170.0), steps = 4 * alpha * (double)(1.2F * 256 * 16);
    const double boundary = alpha * (double)(2 * (int)harness_random_below(random, 15) - 14);
    const double units = n_units + (double)harness_random_below(random, 9);
    const double whole = (double)((int)harness_random_below(random, 259) - 129);
    return (float)(boundary + (whole + (harness_random_below(random, 2) ? units : -units) / 65536) / steps);
}

/* Of either sign. */
static float far_out(harness_random *random, float from, float to)
{
    const float value = from + (to - from) * (float)harness_random_below(random, 10000) / 10000;
    return harness_random_below(random, 2) ? value : -value;
}

/* Where the vector loops' linear functions and arithmetic.h round to different bytes, and somewhat further from the
 * integers, where the loops must know that they do not: groups of symbols equally far from them, so that a group is
 * undecided as a whole or not at all. Far out, a component's square makes the sums coarse. */
static void test_near_integers(void **state)
{
    (void)state;
    enum { GROUP = 64 };
    static const size_t distances[] = {40, 40, 600, 20000};
    harness_random random = harness_random_stream(STREAM_INTEGERS);
    variants_data self = variants_open_data(harness_symbol_count((size_t)1 << 20));
    double n_units = 0;
    bool is_far = false;
    for (size_t i = 0; i < self.n_symbols; i++) {
        if (i % GROUP == 0) {
            n_units = (double)harness_random_below(&random, distances[harness_random_below(&random, 4)]);
            is_far = harness_random_below(&random, 2);
        }
        const size_t which = harness_random_below(&random, 2);
        self.components[2 * i + which] = near_integer(&random, n_units);
        self.components[2 * i + 1 - which] = is_far ? far_out(&random, 1.1F, 3.2F) : near_integer(&random, n_units);
    }
    for (int sign = 0; sign < 2; sign++) {
        softqam_config config;
        softqam_config_init(&config);
        config.sign = (softqam_sign)sign;
        const variants_call call = variants_call_of(&config, SOFTQAM_ONE_WEIGHT);
        check_data(&call, &self);
    }
    variants_close_data(&self);
}

/* Runs of symbols of which most are zero, of either sign, or not finite, among others that are zero on one axis, tiny
 * or large. */
static void test_zeros_and_not_finite(void **state)
{
    (void)state;
    static const float values[] = {0.0F,    -0.0F, 0.0F, -0.0F, NAN,  INFINITY, -INFINITY, 0x1p-149F,
                                   -1e-30F, 1e-7F, 0.3F, -2.7F, 3.0F, -40.0F,   1e30F,     -FLT_MAX};
    enum { N_ZEROS = 4, N_NOT_FINITE = 7, RUN = 4096 };
    harness_random random = harness_random_stream(STREAM_ZEROS);
    variants_data self = variants_open_data(harness_symbol_count((size_t)1 << 16));
    for (size_t i = 0; i < self.n_symbols; i++) {
        const bool is_other = harness_random_below(&random, 64) == 0;
        const size_t n = is_other ? HARNESS_COUNT(values) : i / RUN % 2 ? N_ZEROS : N_NOT_FINITE;
        for (size_t axis = 0; axis < 2; axis++)
            self.components[2 * i + axis] = values[harness_random_below(&random, n)];
    }
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, self.n_symbols, self.noise);
    check_calls(0, &self);
    softqam_config config;
    softqam_config_init(&config);
    config.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    const variants_call call = variants_call_of(&config, SOFTQAM_ONE_WEIGHT);
    check_data(&call, &self);
    variants_close_data(&self);
}

/* One noise value for all, of every kind, N0 and 1/N0. */
static void test_noise_of_call(void **state)
{
    (void)state;
    static const float noises[] = {0.01F,   1,    1e-3F, 1e-4F, 1e-9F,      1e-30F,   0x1p-149F, 1e9F,
                                   FLT_MAX, 0.0F, -0.0F, -1.0F, -0x1p-149F, INFINITY, -INFINITY, NAN};
    variants_data self = open_mixture(STREAM_NOISES, 3003);
    for (size_t k = 0; k < HARNESS_COUNT(noises) * (N_OUTPUT_FORMATS - 1) * 2; k++) {
        softqam_config config;
        softqam_config_init(&config);
        config.output_format = (softqam_output_format)(1 + k / 2 % (N_OUTPUT_FORMATS - 1));
        config.noise_form = k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
        const variants_call call = variants_call_of(&config, SOFTQAM_ONE_WEIGHT);
        self.noise[0] = noises[k / 2 / (N_OUTPUT_FORMATS - 1)];
        check_data(&call, &self);
    }
    variants_close_data(&self);
}

static double random_between(harness_random *random, double from, double to)
{
    return from + (to - from) * harness_random_below(random, 1u << 24) / (1u << 24);
}

/* A component for s8: of usual size; where LLRs reach their limit; where the vector loops limit a component, by
 * arithmetic_usual.h, and by a hair there; of any size; not finite; of any bits. */
static float component_for_s8(harness_random *random, double weight)
{
    enum { FAR_LIMIT = 11000 };
    const uint32_t bits = (uint32_t)harness_random_below(random, (size_t)1 << 32);
    const size_t way = harness_random_below(random, 16);
    double value = random_between(random, 0, 2.5);
    if (way < 3)
        value = random_between(random, 0, 8) * 20 / weight;
    else if (way < 6)
        value = FAR_LIMIT / weight * (1 + random_between(random, -1, 1) * (way % 2 ? 1e-6 : 0.5));
    else if (way < 9)
        value = exp2(random_between(random, -70, 127.9));
    else if (way == 9)
        value = bits % 2 ? INFINITY : NAN;
    float component = (float)(bits % 4 < 2 ? value : -value);
    if (way == 10)
        memcpy(&component, &bits, sizeof bits);
    return component;
}

/* A weight for s8: of usual noise; nearly the largest and the smallest that the vector loops have a way for beside the
 * usual one, and beyond. */
static double weight_for_s8(harness_random *random, size_t way, double scale)
{
    enum { FAR_WEIGHT_END = 8192 };
    if (way == 0)
        return FAR_WEIGHT_END * random_between(random, 0.7, 0.99999);
    if (way == 1)
        return scale * 0x1p-40 * random_between(random, 1.00001, 10);
    if (way == 2)
        return FAR_WEIGHT_END * random_between(random, 0.99, 4);
    return scale * exp2(random_between(random, -20, 9));
}

/* Large components, erasures and weights of every size, for s8, which limits components to where its LLRs are limited
 * anyway. Every two tiles their kind of weights changes. */
static void test_far(void **state)
{
    (void)state;
    static const float scales[] = {6, 0x1p-10F, 300};
    static const softqam_modulation modulations[] = {SOFTQAM_MODULATION_QPSK, SOFTQAM_MODULATION_16QAM,
                                                     SOFTQAM_MODULATION_64QAM, SOFTQAM_MODULATION_256QAM,
                                                     SOFTQAM_MODULATION_1024QAM};
    enum { RUN = 2048, N_WAYS = 4 };
    harness_random random = harness_random_stream(STREAM_FAR);
    variants_data self = variants_open_data(harness_symbol_count((size_t)4 * RUN - 5));
    for (size_t k = 0; k < HARNESS_COUNT(modulations) * SOFTQAM_NOISE_KINDS * 2 * N_WAYS; k++) {
        const softqam_noise_kind noise = (softqam_noise_kind)(k % SOFTQAM_NOISE_KINDS);
        const float scale = scales[harness_random_below(&random, HARNESS_COUNT(scales))];
        double weight = weight_for_s8(&random, k / SOFTQAM_NOISE_KINDS % N_WAYS, scale);
        softqam_config config;
        softqam_config_init(&config);
        config.modulation = modulations[k / SOFTQAM_NOISE_KINDS / 2 / N_WAYS];
        config.output_format = SOFTQAM_OUTPUT_S8;
        config.llr_scale = scale;
        config.llr_limit = k / SOFTQAM_NOISE_KINDS / N_WAYS % 2 ? (int)harness_random_below(&random, 127) + 1 : 0;
        config.sign = (softqam_sign)harness_random_below(&random, 2);
        config.noise_form = noise == SOFTQAM_NOISE_INVERSE ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
        for (size_t i = 0; i < self.n_symbols; i++) {
            if (noise != SOFTQAM_ONE_WEIGHT)
                weight = weight_for_s8(&random, (k + i / RUN) % N_WAYS, scale);
            self.noise[i] = (float)(noise == SOFTQAM_NOISE_INVERSE ? weight / scale : scale / weight);
            for (size_t axis = 0; axis < 2; axis++)
                self.components[2 * i + axis] = component_for_s8(&random, weight);
        }
        const variants_call call = variants_call_of(&config, noise);
        check_data(&call, &self);
    }
    variants_close_data(&self);
}

/* Through the API, on a variant. */
static softqam_demodulator *create(const softqam_cpu_variant *variant, softqam_modulation modulation,
                                   softqam_input_format input, softqam_output_format output, unsigned n_threads)
{
    harness_setup setup = harness_format_setup(output, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.input_format = input;
    setup.demodulator.modulation = modulation;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.cpu_variant = variant->name;
    setup.context.n_threads = n_threads;
    return harness_create(&setup);
}

/* The caller's rounding mode does not matter, to the tables neither, and is left alone. */
static void test_rounding_mode(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    variants_data self = open_mixture(STREAM_ENVIRONMENT, 20000);
    for (int output = 0; output < N_OUTPUT_FORMATS; output++) {
        const variants_call call =
            variants_default_call(SOFTQAM_MODULATION_256QAM, (softqam_output_format)output, SOFTQAM_NOISE_N0);
        variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, &call, self.components, self.noise, self.n_symbols,
                     self.expected);
        for (size_t k = 0; k < HARNESS_COUNT(modes) * softqam_n_cpu_variants; k++) {
            const softqam_cpu_variant *variant = softqam_cpu_variants[k % softqam_n_cpu_variants];
            if (!variant->runs_here())
                continue;
            const int mode = modes[k / softqam_n_cpu_variants];
            fesetround(mode);
            softqam_demodulator *demodulator =
                create(variant, SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, (softqam_output_format)output, 2);
            harness_poison(self.got, self.expected, self.n_symbols * call.nbytes);
            harness_demodulate_llrs(demodulator, self.components, output ? self.noise : NULL, self.n_symbols, self.got);
            const int mode_after = fegetround();
            fesetround(FE_TONEAREST);
            assert_int_equal(mode_after, mode);
            assert_non_null(strstr(softqam_backend_detail(demodulator), variant->name));
            assert_true(variants_equal(variant->name, &call, self.components, self.expected, self.got, self.n_symbols));
            softqam_destroy(demodulator);
        }
    }
    variants_close_data(&self);
}

/* Whether the caller's own code flushes subnormal numbers does not matter either: a scale that is one is not taken for
 * the 0 that stands for the default, the demodulator's and a segment's. */
static void test_flushing_caller(void **state)
{
    (void)state;
    const float symbols[] = {3e38F, -2e38F, 1e38F, -0.1F}, noise = 0.5F, scale = 1e-42F;
    const size_t n = HARNESS_COUNT(symbols) / 2;
    uint8_t expected[HARNESS_COUNT(symbols) / 2 * MAX_OUT_NBYTES], got[sizeof expected];
    for (int output = SOFTQAM_OUTPUT_U8; output < N_OUTPUT_FORMATS; output++) {
        const size_t nbytes = harness_output_nbytes((softqam_output_format)output, n);
        harness_setup setup = harness_format_setup((softqam_output_format)output, SOFTQAM_NOISE_PER_CALL);
        const softqam_segment plain = harness_segment(symbols, output ? &noise : NULL, 0, n, got);
        for (int k = 0; k < 4; k++) {
            /* The first answer is what is expected; the demodulator's scale, then the segment's. */
            softqam_segment segment = plain;
            setup.demodulator.input_scale = k / 2 ? 0 : scale;
            segment.input_scale = k / 2 ? scale : 0;
            memset(got, 0x55, sizeof got);
            const softqam_float_environment environment = softqam_float_enter(k % 2);
            softqam_demodulator *demodulator = harness_create(&setup);
            harness_demodulate_segments(demodulator, &segment, 1);
            softqam_float_leave(environment);
            softqam_destroy(demodulator);
            if (k == 0)
                memcpy(expected, got, nbytes);
            assert_memory_equal(got, expected, nbytes);
        }
    }
}

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

/* In place of a demodulator's loop: counts what is stored past the caches, and what loops.h does not allow for that. */
static softqam_loop *watched_loop;
static size_t watched_step;
static atomic_size_t n_streamed_symbols, n_not_allowed;

static void watch(const softqam_loop_call *call)
{
    n_streamed_symbols += call->streaming ? call->n_symbols : 0;
    n_not_allowed += call->n_symbols < watched_step ||
                     (call->streaming && ((uintptr_t)call->out % 64 || call->n_symbols % watched_step));
    watched_loop(call);
}

/* A call for the first n symbols of the data to `gap` bytes into its output, in two segments or one; returns how many
 * symbols were stored past the caches. */
static size_t streamed_by(softqam_demodulator *demodulator, const variants_call *call, const variants_data *data,
                          size_t n, size_t gap, size_t n_segments)
{
    const bool takes_noise = call->params.output_format != SOFTQAM_OUTPUT_U8;
    const int axis_bits = softqam_axis_bits(call->params.modulation);
    softqam_loop *const *own = demodulator->loops.by_noise[axis_bits];
    softqam_loop *const watching[SOFTQAM_NOISE_KINDS] = {watch, watch, watch};
    uint8_t *out = data->got + gap;
    softqam_segment segments[2];
    for (size_t k = 0; k < n_segments; k++) {
        const size_t first = k * (n / 3), end = k + 1 == n_segments ? n : n / 3;
        segments[k] = harness_segment(data->components + 2 * first, takes_noise ? data->noise + first : NULL,
                                      takes_noise, end - first, out + first * call->nbytes);
    }
    harness_poison(out, data->expected, n * call->nbytes);
    watched_loop = own[takes_noise ? SOFTQAM_NOISE_N0 : SOFTQAM_ONE_WEIGHT];
    watched_step = demodulator->loops.min_symbols;
    n_streamed_symbols = n_fences = n_not_allowed = 0;
    demodulator->loops.by_noise[axis_bits] = watching;
    harness_demodulate_segments(demodulator, segments, n_segments);
    demodulator->loops.by_noise[axis_bits] = own;
    assert_int_equal(n_not_allowed, 0);
    assert_true(n_streamed_symbols == 0 || n_fences > 0);
    assert_true(variants_equal(softqam_backend_detail(demodulator), call, data->components, data->expected, out, n));
    return n_streamed_symbols;
}

/* From softqam_streaming_nbytes() on nearly all of a call's output is stored past the caches, unless no line of it
 * begins with a symbol's; one symbol less is not. */
static void check_large_call(const softqam_cpu_variant *variant, softqam_modulation modulation,
                             softqam_output_format output, unsigned n_threads)
{
    static const size_t gaps[] = {0, 1, 8, 13, 32, 40, 63};
    const variants_call call = variants_default_call(modulation, output, SOFTQAM_NOISE_N0);
    const size_t n = (softqam_streaming_nbytes() + call.nbytes - 1) / call.nbytes;
    variants_data self = variants_open_data(n + 64);
    harness_random random = harness_random_stream(STREAM_LARGE);
    harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, n, self.components);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n, self.noise);
    variants_run(variant, VARIANTS_FLUSHED, &call, self.components, self.noise, n, self.expected);
    softqam_demodulator *demodulator = create(variant, modulation, SOFTQAM_INPUT_CF32, output, n_threads);
    for (size_t k = 0; k < HARNESS_COUNT(gaps); k++) {
        const size_t n_streamed = streamed_by(demodulator, &call, &self, n, gaps[k], 1 + k % 2);
        bool begins_line = false;
        for (size_t i = 0; i < 64; i++)
            begins_line = begins_line || (gaps[k] + i * call.nbytes) % 64 == 0;
        assert_true(begins_line ? n_streamed > n / 100 * 98 : n_streamed == 0);
    }
    assert_int_equal(streamed_by(demodulator, &call, &self, n - 1, 0, 1), 0);
    assert_int_equal(streamed_by(demodulator, &call, &self, n - 1, 0, 2), 0);
    softqam_destroy(demodulator);
    variants_close_data(&self);
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
    variants_data self = variants_open_data(n + 64);
    uint8_t *samples = (uint8_t *)self.components;
    harness_random random = harness_random_stream(STREAM_LARGE);
    harness_random_fill(&random, samples, n * input_nbytes);
    for (size_t k = 0; k < n / 2 * input_nbytes; k++)
        if (input != SOFTQAM_INPUT_CF32 || k % sizeof(float) == 3)
            samples[k] = (uint8_t)((input == SOFTQAM_INPUT_CF32 ? 0x38 : 0x20) + samples[k] % 8);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, n / 2, self.noise);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n - n / 2, self.noise + n / 2);
    softqam_demodulator *demodulator = create(variant, modulation, input, output, 2);
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
    softqam_destroy(demodulator);
    variants_close_data(&self);
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

static void test_large_in_pieces(void **state)
{
    (void)state;
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = list_vector_variants(variants);
    for (int k = 0; k < N_MODULATIONS && n_variants > 0; k++)
        check_large_in_pieces(variants[(size_t)k % n_variants], (softqam_modulation)(1 + k), SOFTQAM_INPUT_CF32,
                              (softqam_output_format)(SOFTQAM_OUTPUT_S8 + k % (N_OUTPUT_FORMATS - 1)), true);
    for (size_t k = 0; k < N_INPUT_FORMATS * n_variants; k++)
        check_large_in_pieces(variants[k % n_variants], (softqam_modulation)(1 + k % N_MODULATIONS),
                              (softqam_input_format)(k / n_variants), SOFTQAM_OUTPUT_F32, false);
}

static void test_large_calls(void **state)
{
    (void)state;
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
                         (softqam_output_format)(SOFTQAM_OUTPUT_S8 + k % (N_OUTPUT_FORMATS - 1)), 1);
}

/* What is staged for the caller of a large call, from any address to any, and not a byte beside it. */
static void test_copy_streaming(void **state)
{
    (void)state;
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

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const names[] = {"avx", "AVX2", "portable ", "neon2"};
    for (size_t k = 0; k < HARNESS_COUNT(names); k++) {
        softqam_context_config config;
        softqam_context_config_init(&config);
        config.backend = SOFTQAM_BACKEND_CPU;
        config.cpu_variant = names[k];
        softqam_context *context;
        assert_int_equal(softqam_context_create(&context, &config), SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_null(context);
        assert_non_null(strstr(softqam_error_message(), names[k]));
        assert_non_null(strstr(softqam_error_message(), "portable"));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbol_sets),
        cmocka_unit_test(test_signs_scales_and_limits),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_misalignment),
        cmocka_unit_test(test_convert),
        cmocka_unit_test(test_worst_inputs),
        cmocka_unit_test(test_near_integers),
        cmocka_unit_test(test_zeros_and_not_finite),
        cmocka_unit_test(test_noise_of_call),
        cmocka_unit_test(test_rounding_mode),
        cmocka_unit_test(test_flushing_caller),
        cmocka_unit_test(test_large_calls),
        cmocka_unit_test(test_large_in_pieces),
        cmocka_unit_test(test_copy_streaming),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_unknown_names),
    };
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        printf("%s: %s\n", softqam_cpu_variants[k]->name,
               softqam_cpu_variants[k]->runs_here() ? "runs here" : "skipped, this processor does not run it");
    }
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
