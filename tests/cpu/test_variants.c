/* SPDX-License-Identifier: MIT */
/* Every variant of the CPU's inner loop that this machine runs against the portable one, called directly: all formats,
 * lengths and misalignments, between guard pages, floats compared to the last bit. measure_variants.c says how fast
 * they are. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streaming.h"
#include "variants_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_SETS = 1,
    STREAM_LENGTHS,
    STREAM_PLACES,
    STREAM_INPUTS,
    STREAM_WORST,
    STREAM_ENVIRONMENT,
    STREAM_NOISES,
    STREAM_INTEGERS,
    STREAM_LARGE,
    STREAM_COPY,
    STREAM_ZEROS,
};

static variants_data open_mixture(uint32_t stream, size_t n_symbols)
{
    variants_data self = variants_open_data(n_symbols);
    harness_random random = harness_random_stream(stream);
    harness_fill_mixture(&random, n_symbols, (float *)(void *)self.symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, self.noise_var);
    return self;
}

/* All of the data, by every variant. */
static void check_data(const softqam_plan *plan, variants_data *self)
{
    size_t nbytes = self->n_symbols * plan->output_nbytes;
    softqam_cpu_loop_portable(plan, self->symbols, self->noise_var, plan->noise, self->n_symbols, self->expected);
    variants_loop loops[VARIANTS_MAX_LOOPS];
    const size_t n_loops = variants_list(loops);
    for (size_t k = 0; k < n_loops; k++) {
        harness_poison(self->got, self->expected, nbytes);
        loops[k].run(plan, self->symbols, self->noise_var, plan->noise, self->n_symbols, self->got);
        variants_compare(&loops[k], plan, self->symbols, self->expected, self->got, self->n_symbols);
    }
}

static void check_outputs(int input, variants_data *self)
{
    for (int output = 0; output < N_OUTPUT_FORMATS; output++) {
        for (int noise = 0; noise < N_NOISES; noise++) {
            softqam_plan plan = variants_plan_of(input, output, noise);
            check_data(&plan, self);
        }
    }
}

static void test_symbol_sets(void **state)
{
    (void)state;
    const size_t max_symbols = harness_symbol_count((size_t)1 << 18);
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        harness_random random = harness_random_stream((uint32_t)i << 8 | STREAM_SETS);
        variants_data self = variants_open_data(set->n_fixed ? set->n_fixed : max_symbols);
        set->fill(&random, set->parameter, 0, self.n_symbols, (float *)(void *)self.symbols);
        for (int kind = HARNESS_NOISE_USUAL; kind <= HARNESS_NOISE_ANY; kind++) {
            harness_fill_noise(&random, (harness_noise)kind, self.n_symbols, self.noise_var);
            check_outputs(SOFTQAM_INPUT_CF32, &self);
        }
        variants_close_data(&self);
    }
}

/* Random bits in every input format, at scales that spread them over the constellation, overflow and vanish. */
static void test_input_formats(void **state)
{
    (void)state;
    static const float scales[] = {0, 1, 1.3F / 32768, 1.3F / 128, 0.37F, 1e36F, 1e-42F};
    variants_data self = variants_open_data(harness_symbol_count(50021));
    harness_random random = harness_random_stream(STREAM_INPUTS);
    harness_random_fill(&random, self.symbols, self.n_symbols * MAX_IN_NBYTES);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, self.n_symbols, self.noise_var);
    for (size_t k = 0; k < HARNESS_COUNT(scales) * N_INPUT_FORMATS * N_OUTPUT_FORMATS * N_NOISES; k++) {
        softqam_config config;
        softqam_config_init(&config);
        config.noise = (softqam_noise)(k % N_NOISES);
        config.output_format = (softqam_output_format)(k / N_NOISES % N_OUTPUT_FORMATS);
        config.input_format = (softqam_input_format)(k / N_NOISES / N_OUTPUT_FORMATS % N_INPUT_FORMATS);
        config.input_scale = scales[k / N_NOISES / N_OUTPUT_FORMATS / N_INPUT_FORMATS];
        softqam_plan plan = variants_plan(&config);
        check_data(&plan, &self);
    }
    variants_close_data(&self);
}

static void test_signs_scales_and_limits(void **state)
{
    (void)state;
    static const struct {
        float scale;
        int limit;
    } plans[] = {{0, 0}, {0, 1}, {6, 120}, {1, 63}, {0x1p-10F, 127}, {0x1p20F, 64}, {20, 31}};
    variants_data self = open_mixture(STREAM_INPUTS << 8, harness_symbol_count(20011));
    for (size_t k = 0; k < HARNESS_COUNT(plans) * N_NOISES * 2; k++) {
        softqam_config config;
        softqam_config_init(&config);
        config.output_format = SOFTQAM_OUTPUT_S8;
        config.noise = (softqam_noise)(k % N_NOISES);
        config.sign = (softqam_sign)(k / N_NOISES % 2);
        config.llr_scale = plans[k / N_NOISES / 2].scale;
        config.llr_limit = plans[k / N_NOISES / 2].limit;
        softqam_plan plan = variants_plan(&config);
        check_data(&plan, &self);
        config.output_format = SOFTQAM_OUTPUT_F32;
        config.llr_scale = 0;
        config.llr_limit = 0;
        plan = variants_plan(&config);
        check_data(&plan, &self);
        config.output_format = SOFTQAM_OUTPUT_U8;
        plan = variants_plan(&config);
        check_data(&plan, &self);
    }
    variants_close_data(&self);
}

/* Buffers of a call between guard pages. */
typedef struct buffers {
    harness_buffer in;
    harness_buffer noise_var;
    harness_buffer out;
} buffers;

static buffers open_buffers(size_t max_symbols)
{
    buffers self;
    harness_buffer_open(&self.in, max_symbols * MAX_IN_NBYTES);
    harness_buffer_open(&self.noise_var, max_symbols * sizeof(float));
    harness_buffer_open(&self.out, max_symbols * MAX_OUT_NBYTES);
    return self;
}

static void close_buffers(buffers *self)
{
    harness_buffer_close(&self->out);
    harness_buffer_close(&self->noise_var);
    harness_buffer_close(&self->in);
}

/* The first n symbols of the data, against what is expected of them, the buffers `in_gap` and `out_gap` bytes off a
 * guard page. */
static void check_guarded(const variants_loop *loop, const softqam_plan *plan, const variants_data *self, size_t n,
                          buffers *memory, size_t in_gap, size_t out_gap, bool at_end)
{
    void (*place)(harness_buffer *, size_t, size_t) =
        at_end ? harness_buffer_place_at_end : harness_buffer_place_at_start;
    size_t n_noise = plan->noise ? n : 1;
    place(&memory->in, n * plan->input_nbytes, in_gap);
    place(&memory->noise_var, n_noise * sizeof(float), in_gap / 4 * 4);
    place(&memory->out, n * plan->output_nbytes, out_gap);
    memcpy(memory->in.data, self->symbols, n * plan->input_nbytes);
    memcpy(memory->noise_var.data, self->noise_var, n_noise * sizeof(float));
    harness_poison(memory->out.data, self->expected, n * plan->output_nbytes);
    loop->run(plan, memory->in.data, (const float *)(const void *)memory->noise_var.data, plan->noise, n,
              memory->out.data);
    variants_compare(loop, plan, self->symbols, self->expected, memory->out.data, n);
    harness_buffer_check(&memory->out);
}

/* Calls `check` for every loop and plan, with what the portable loop gives. */
static void for_all_plans(uint32_t stream, size_t max_symbols,
                          void (*check)(const variants_loop *, const softqam_plan *, const variants_data *, buffers *))
{
    variants_loop loops[VARIANTS_MAX_LOOPS];
    const size_t n_loops = variants_list(loops);
    variants_data self = open_mixture(stream, max_symbols);
    buffers memory = open_buffers(max_symbols);
    for (int k = 0; k < N_INPUT_FORMATS * N_OUTPUT_FORMATS * N_NOISES; k++) {
        softqam_plan plan =
            variants_plan_of(k / N_NOISES / N_OUTPUT_FORMATS, k / N_NOISES % N_OUTPUT_FORMATS, k % N_NOISES);
        softqam_cpu_loop_portable(&plan, self.symbols, self.noise_var, plan.noise, max_symbols, self.expected);
        for (size_t i = 0; i < n_loops; i++)
            check(&loops[i], &plan, &self, &memory);
    }
    close_buffers(&memory);
    variants_close_data(&self);
}

static void check_lengths(const variants_loop *loop, const softqam_plan *plan, const variants_data *self,
                          buffers *memory)
{
    for (size_t n = 0; n <= self->n_symbols; n += n < 100 || n % 16 == 1 ? 1 : 14) {
        check_guarded(loop, plan, self, n, memory, 0, 0, true);
        check_guarded(loop, plan, self, n, memory, n % 64, 0, false);
        check_guarded(loop, plan, self, n, memory, 1, n % 64, true);
    }
}

static void test_lengths(void **state)
{
    (void)state;
    for_all_plans(STREAM_LENGTHS, 300, check_lengths);
}

static void check_places(const variants_loop *loop, const softqam_plan *plan, const variants_data *self,
                         buffers *memory)
{
    for (size_t gap = 0; gap < 64; gap++)
        for (size_t other = 0; other < 64; other += 1 + gap % 7)
            check_guarded(loop, plan, self, self->n_symbols - other % 3, memory, gap, other, gap % 2);
}

static void test_misalignment(void **state)
{
    (void)state;
    for_all_plans(STREAM_PLACES, 45, check_places);
}

/* Symbols on which no shortcut may be taken, alone, and one among symbols on which it may. */
static void test_worst_inputs(void **state)
{
    (void)state;
    const float alpha = (float)(1 / sqrt(170.0));
    const float worst[] = {0.0F, -0.0F, 8 * alpha, -14 * alpha, 2.39999F, 2.4F, 3.0F, -1e30F, INFINITY, NAN};
    harness_random random = harness_random_stream(STREAM_WORST);
    variants_data self = variants_open_data(1000);
    float *symbols = (float *)(void *)self.symbols;
    for (size_t k = 0; k < HARNESS_COUNT(worst); k++) {
        for (size_t i = 0; i < 2 * self.n_symbols; i++)
            symbols[i] = worst[k];
        harness_fill_noise(&random, HARNESS_NOISE_USUAL, self.n_symbols, self.noise_var);
        check_outputs(SOFTQAM_INPUT_CF32, &self);
        for (size_t i = 0; i < 2 * self.n_symbols; i++)
            symbols[i] = i % 67 == 0 ? worst[k] : alpha * (float)(2 * (int)harness_random_below(&random, 16) - 15);
        for (size_t i = 0; i < self.n_symbols; i += 41)
            harness_fill_noise(&random, HARNESS_NOISE_ANY, 1, &self.noise_var[i]);
        check_outputs(SOFTQAM_INPUT_CF32, &self);
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

/* How a group of symbols lies: so many units from the integers, one component of each far out or not. */
typedef struct near_group {
    double n_units;
    bool far;
} near_group;

/* Runs of groups, so long that the loops take the way that suits them. With some or all components far out; with values
 * near to the integers, somewhat further from them, or such once in a while among values far from them, so that what is
 * in doubt is too little for another way; and with components beyond the limit among the others or not. */
enum near_run { NEAR_MIXED, NEAR_FAR, NEAR_MIXED_AGAIN, FURTHER_FAR, NOW_AND_THEN_FAR, N_NEAR_RUNS };

static near_group next_group(harness_random *random, enum near_run run)
{
    const bool far = run == NEAR_MIXED || run == NEAR_MIXED_AGAIN ? harness_random_below(random, 2) : true;
    if (run == NOW_AND_THEN_FAR && harness_random_below(random, 16) > 0)
        return (near_group){20000, true};
    return (near_group){harness_random_below(random, run == FURTHER_FAR || run == NOW_AND_THEN_FAR ? 600 : 40), far};
}

static float other_component(harness_random *random, enum near_run run, near_group group)
{
    if (!group.far)
        return near_integer(random, group.n_units);
    if (run == NEAR_MIXED || run == NEAR_MIXED_AGAIN)
        return 1.5F - 0.35F * (float)harness_random_below(random, 1000) / 1000;
    return far_out(random, 1.4F, run == NOW_AND_THEN_FAR ? 3.0F : 3.2F);
}

/* Where the vector loops' linear functions and arithmetic.h round to different bytes, and somewhat further from the
 * integers, where the loops must know that they do not: groups of symbols equally far from them, so that a group is in
 * doubt as a whole or not at all. Far out, a component's square makes the sums coarse. */
static void test_near_integers(void **state)
{
    (void)state;
    enum { GROUP = 64, RUN = 4096 };
    harness_random random = harness_random_stream(STREAM_INTEGERS);
    variants_data self = variants_open_data(harness_symbol_count((size_t)1 << 21) / RUN * RUN);
    float *symbols = (float *)(void *)self.symbols;
    near_group group = {0, false};
    for (size_t i = 0; i < self.n_symbols; i++) {
        const enum near_run run = (enum near_run)(i / RUN % N_NEAR_RUNS);
        if (i % GROUP == 0)
            group = next_group(&random, run);
        const size_t which = harness_random_below(&random, 2);
        symbols[2 * i + which] = near_integer(&random, group.n_units);
        symbols[2 * i + 1 - which] = other_component(&random, run, group);
    }
    for (int sign = 0; sign < 2; sign++) {
        softqam_config config;
        softqam_config_init(&config);
        config.sign = (softqam_sign)sign;
        softqam_plan plan = variants_plan(&config);
        check_data(&plan, &self);
    }
    variants_close_data(&self);
}

/* Symbols of which most are zero, of either sign, or not finite, in runs so long that the loops take the way for such,
 * among others that are zero on one axis, tiny or large. */
static void test_zeros_and_unknown(void **state)
{
    (void)state;
    static const float values[] = {0.0F,    -0.0F, 0.0F, -0.0F, NAN,  INFINITY, -INFINITY, 0x1p-149F,
                                   -1e-30F, 1e-7F, 0.3F, -2.7F, 3.0F, -40.0F,   1e30F,     -FLT_MAX};
    enum { N_ZEROS = 4, N_UNKNOWN = 7 };
    harness_random random = harness_random_stream(STREAM_ZEROS);
    variants_data self = variants_open_data(64 * 4096 + 5);
    float *symbols = (float *)(void *)self.symbols;
    for (size_t i = 0; i < self.n_symbols; i++) {
        const size_t rare = harness_random_below(&random, 16 + i / 512 % 64) == 0;
        const size_t n = rare ? HARNESS_COUNT(values) : i / 4096 % 2 ? N_ZEROS : N_UNKNOWN;
        for (size_t axis = 0; axis < 2; axis++)
            symbols[2 * i + axis] = values[harness_random_below(&random, n)];
    }
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, self.n_symbols, self.noise_var);
    check_outputs(SOFTQAM_INPUT_CF32, &self);
    softqam_config config;
    softqam_config_init(&config);
    config.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    softqam_plan plan = variants_plan(&config);
    check_data(&plan, &self);
    variants_close_data(&self);
}

/* One noise variance for all, of every kind. */
static void test_noise_of_call(void **state)
{
    (void)state;
    static const float noises[] = {0.01F,   1,    1e-3F, 1e-4F, 1e-9F,      1e-30F,   0x1p-149F, 1e9F,
                                   FLT_MAX, 0.0F, -0.0F, -1.0F, -0x1p-149F, INFINITY, -INFINITY, NAN};
    variants_data self = open_mixture(STREAM_NOISES, 5003);
    for (size_t k = 0; k < HARNESS_COUNT(noises) * (N_OUTPUT_FORMATS - 1); k++) {
        softqam_plan plan =
            variants_plan_of(SOFTQAM_INPUT_CF32, 1 + (int)(k % (N_OUTPUT_FORMATS - 1)), SOFTQAM_NOISE_PER_CALL);
        self.noise_var[0] = noises[k / (N_OUTPUT_FORMATS - 1)];
        check_data(&plan, &self);
    }
    variants_close_data(&self);
}

/* Through the API: the caller's rounding mode does not matter, to the tables neither, and is left alone. */
static void test_rounding_mode(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    variants_data self = open_mixture(STREAM_ENVIRONMENT, 40000);
    for (int output = 0; output < N_OUTPUT_FORMATS; output++) {
        softqam_plan plan = variants_plan_of(SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_PER_SYMBOL);
        softqam_cpu_loop_portable(&plan, self.symbols, self.noise_var, 1, self.n_symbols, self.expected);
        for (size_t k = 0; k < HARNESS_COUNT(modes) * softqam_n_cpu_variants; k++) {
            const softqam_cpu_variant *variant = &softqam_cpu_variants[k % softqam_n_cpu_variants];
            if (!variant->runs_here())
                continue;
            softqam_config config;
            softqam_config_init(&config);
            config.backend = SOFTQAM_BACKEND_CPU;
            config.output_format = (softqam_output_format)output;
            config.noise = SOFTQAM_NOISE_PER_SYMBOL;
            config.n_threads = 2;
            config.cpu_variant = variant->name;
            const int mode = modes[k / softqam_n_cpu_variants];
            fesetround(mode);
            softqam_demodulator *demodulator = harness_create(&config);
            harness_demodulate_llrs(demodulator, self.symbols, output ? self.noise_var : NULL, self.n_symbols,
                                    self.got);
            const int mode_after = fegetround();
            fesetround(FE_TONEAREST);
            assert_int_equal(mode_after, mode);
            assert_non_null(strstr(softqam_backend_detail(demodulator), variant->name));
            const variants_loop through_api = {variant->name, "ordinary", NULL};
            variants_compare(&through_api, &plan, self.symbols, self.expected, self.got, self.n_symbols);
            softqam_destroy(demodulator);
        }
    }
    variants_close_data(&self);
}

/* The library's calls of the streaming loops come by here: the linker wraps them. */
static atomic_uint n_streamed;

#define COUNT_STREAMED(loop)                                                                                           \
    softqam_cpu_loop __real_##loop;                                                                                    \
    softqam_cpu_loop __wrap_##loop;                                                                                    \
    void __wrap_##loop(const softqam_plan *plan, const void *symbols, const float *noise_var, size_t noise_stride,     \
                       size_t n_symbols, void *out)                                                                    \
    {                                                                                                                  \
        n_streamed++;                                                                                                  \
        __real_##loop(plan, symbols, noise_var, noise_stride, n_symbols, out);                                         \
    }

#if defined(__x86_64__)
COUNT_STREAMED(softqam_cpu_stream_avx2)
COUNT_STREAMED(softqam_cpu_stream_avx512)
#endif

static bool streams(softqam_demodulator *demodulator, const variants_data *data, size_t n_symbols, size_t gap)
{
    const unsigned before = n_streamed;
    harness_demodulate(demodulator, data->symbols, n_symbols, data->got + gap);
    return n_streamed != before;
}

/* A call whose output is a little over softqam_streaming_nbytes(), through the API: by parts, in whole symbols off a
 * line or not even that. It is streamed, and one of half that size is not. */
static void test_large_call(void **state)
{
    (void)state;
    const size_t n = softqam_streaming_nbytes() / HARNESS_SYMBOL_BITS + 1003;
    variants_data self = open_mixture(STREAM_LARGE, n);
    softqam_plan plan = variants_plan_of(SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL);
    softqam_cpu_loop_portable(&plan, self.symbols, NULL, 0, n, self.expected);
    for (size_t k = 0; k < 2 * softqam_n_cpu_variants; k++) {
        const softqam_cpu_variant *variant = &softqam_cpu_variants[k / 2];
        if (!variant->runs_here() || !variant->streaming_loop)
            continue;
        softqam_config config;
        softqam_config_init(&config);
        config.backend = SOFTQAM_BACKEND_CPU;
        config.n_threads = 1 + (unsigned)k % 2;
        config.cpu_variant = variant->name;
        softqam_demodulator *demodulator = harness_create(&config);
        const size_t gap = k % 2 ? 13 : 24;
        harness_poison(self.got + gap, self.expected, n * 8);
        assert_true(streams(demodulator, &self, n, gap));
        const variants_loop through_api = {variant->name, "streaming", NULL};
        variants_compare(&through_api, &plan, self.symbols, self.expected, self.got + gap, n);
        assert_false(streams(demodulator, &self, n / 2, gap));
        softqam_destroy(demodulator);
    }
    variants_close_data(&self);
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
        softqam_config config;
        softqam_config_init(&config);
        config.backend = SOFTQAM_BACKEND_CPU;
        config.cpu_variant = names[k];
        softqam_demodulator *demodulator;
        assert_int_equal(softqam_create(&demodulator, &config), SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_null(demodulator);
        assert_non_null(strstr(softqam_error_message(), names[k]));
        assert_non_null(strstr(softqam_error_message(), "portable"));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbol_sets),    cmocka_unit_test(test_input_formats),
        cmocka_unit_test(test_lengths),        cmocka_unit_test(test_signs_scales_and_limits),
        cmocka_unit_test(test_misalignment),   cmocka_unit_test(test_worst_inputs),
        cmocka_unit_test(test_near_integers),  cmocka_unit_test(test_noise_of_call),
        cmocka_unit_test(test_rounding_mode),  cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_large_call),     cmocka_unit_test(test_zeros_and_unknown),
        cmocka_unit_test(test_copy_streaming),
    };
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        printf("%s: %s\n", softqam_cpu_variants[k].name,
               softqam_cpu_variants[k].runs_here() ? "runs here" : "skipped, this processor does not run it");
    }
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
