/* SPDX-License-Identifier: MIT */
/* Every variant of the CPU's inner loops that this machine runs against the portable one, called directly, floats
 * compared to the last bit: the values and settings at which loops change here, stores past the caches in
 * variants_streaming.c; test_exhaustive.c has all floats, llr/test_llr_calls.c lengths, misalignments and input
 * formats. That the portable loop is right is for test_llr_specified.c and the oracle to say. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "float_environment.h"
#include "simd_scalar.h"
#include "variants_fixture.h"

#include "arithmetic_fast.h"

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
        const size_t n = self->n_symbols;
        if (way != VARIANTS_FLUSHED && variant->min_symbols == 1)
            continue; /* knows no other way */
        harness_poison(self->got, self->expected, n * call->nbytes);
        variants_run(variant, way, call, self->components, self->noise, n, self->got);
        assert_true(variants_equal(variant->name, call, self->components, self->expected, self->got, n));
    }
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
HARNESS_TEST(test_near_integers)
{
    enum { GROUP = 64 };
    static const size_t distances[] = {40, 40, 600, 20000};
    harness_random random = harness_random_stream(STREAM_INTEGERS);
    SCOPED(variants_close_data) variants_data self = variants_open_data(harness_symbol_count((size_t)1 << 20));
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
        softqam_demodulator_config config;
        softqam_demodulator_config_init(&config);
        config.output_format = SOFTQAM_OUTPUT_U8;
        config.sign = (softqam_sign)sign;
        const variants_call call = variants_call_of(&config, SOFTQAM_ONE_WEIGHT);
        check_data(&call, &self);
    }
}

/* Runs of symbols on which no shortcut may be taken, or of which most are zero, of either sign, or not finite, among
 * others; and of points with few such symbols. */
HARNESS_TEST(test_worst_inputs)
{
    static const float values[] = {0.0F,    -0.0F, 0.0F, -0.0F, NAN,  INFINITY, -INFINITY, 0x1p-149F,
                                   -1e-30F, 1e-7F, 0.3F, -2.7F, 3.0F, -40.0F,   1e30F,     -FLT_MAX};
    enum { N_ZEROS = 4, N_NOT_FINITE = 7, N_RUNS = 40 };
    const float alpha = (float)(1 / sqrt(170.0));
    const float worst[] = {0, -0.0F, 8 * alpha, -14 * alpha, 2.39999F, 2.4F, 3, -1e30F, INFINITY, NAN};
    harness_random random = harness_random_stream(STREAM_ZEROS);
    SCOPED(variants_close_data) variants_data self = variants_open_data(harness_symbol_count((size_t)1 << 16));
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, self.n_symbols, self.noise);
    for (size_t i = 0; i < 2 * self.n_symbols; i++) {
        const size_t run = i * N_RUNS / (2 * self.n_symbols), kind = run % 4;
        const bool is_other = harness_random_below(&random, 64) == 0;
        if (kind == 0)
            self.components[i] = worst[run / 4];
        else if (kind == 1)
            self.components[i] =
                is_other ? worst[run / 4] : alpha * (float)(2 * (int)harness_random_below(&random, 16) - 15);
        else
            self.components[i] = values[harness_random_below(&random, is_other    ? HARNESS_COUNT(values)
                                                                      : kind == 2 ? N_ZEROS
                                                                                  : N_NOT_FINITE)];
        if (kind == 1 && is_other)
            harness_fill_noise(&random, HARNESS_NOISE_ANY, 1, &self.noise[i / 2]);
    }
    for (int k = 0; k < VARIANTS_CALLS; k++) {
        const variants_call call = variants_call_at(k);
        check_data(&call, &self);
    }
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_U8;
    config.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    const variants_call call = variants_call_of(&config, SOFTQAM_ONE_WEIGHT);
    check_data(&call, &self);
}

static double random_between(harness_random *random, double from, double to)
{
    return from + (to - from) * harness_random_below(random, 1u << 24) / (1u << 24);
}

/* A component up to a magnitude: that, any below, one that is tiny or zero. */
static float component_up_to(harness_random *random, double max)
{
    const size_t kind = harness_random_below(random, 16);
    double value = random_between(random, 0, max);
    if (kind == 0)
        value = max;
    else if (kind < 4)
        value = max * exp2(random_between(random, -12, 0));
    else if (kind == 4)
        value = exp2(random_between(random, -70, -60));
    else if (kind == 5)
        value = 0;
    return (float)(harness_random_below(random, 2) ? value : -value);
}

/* A weight up to a limit: that, any below, the smallest of all, none (N0 is infinite). */
static double weight_up_to(harness_random *random, double max, double scale)
{
    const size_t kind = harness_random_below(random, 256);
    if (kind == 0)
        return 0;
    if (kind == 1)
        return scale * 0x1p-40 * random_between(random, 0.5, 2);
    return kind < 4 ? max : max * exp2(random_between(random, -20, 0));
}

_Static_assert(HARNESS_N_LLR_FORMATS == 4, "fast_llr_end() has each");

static double fast_llr_end(int axis_bits, softqam_output_format output, size_t kind)
{
    if (output == SOFTQAM_OUTPUT_S16 && axis_bits == 0 && kind % 2)
        return fast_range_bpsk_s16.llr_end;
    if (output == SOFTQAM_OUTPUT_F16)
        return kind % 2 ? FAST_LIMITED_F16_END : fast_range_f16.llr_end;
    return output == SOFTQAM_OUTPUT_S8    ? fast_range_s8.llr_end
           : output == SOFTQAM_OUTPUT_S16 ? fast_range_s16.llr_end
                                          : fast_range_f32.llr_end;
}

/* Values at the border of the fast path's range: the largest component of some tiles times their largest weight is just
 * within it, that of others just beyond. */
HARNESS_TEST(test_fast_range)
{
    static const double borders[] = {0.999, 1.001, 0.5, 8};
    enum { RUN = 2048, N_FORMATS = HARNESS_N_LLR_FORMATS };
    harness_random random = harness_random_stream(STREAM_FAR);
    SCOPED(variants_close_data) variants_data self = variants_open_data(harness_symbol_count((size_t)4 * RUN - 5));
    for (size_t k = 0; k < N_FORMATS * N_MODULATIONS * SOFTQAM_NOISE_KINDS * 2; k++) {
        const softqam_noise_kind noise = (softqam_noise_kind)(k % SOFTQAM_NOISE_KINDS);
        softqam_demodulator_config config;
        softqam_demodulator_config_init(&config);
        config.output_format = harness_llr_formats[k / SOFTQAM_NOISE_KINDS % N_FORMATS];
        config.modulation = (softqam_modulation)(1 + k / SOFTQAM_NOISE_KINDS / N_FORMATS % N_MODULATIONS);
        config.sign = (softqam_sign)harness_random_below(&random, 2);
        config.noise_form = softqam_is_noise_inverse(noise) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
        if (config.output_format == SOFTQAM_OUTPUT_S8 && k % 2)
            config.llr_limit = (float)(1 + harness_random_below(&random, 127));
        const bool has_scale = config.output_format == SOFTQAM_OUTPUT_S8 || config.output_format == SOFTQAM_OUTPUT_S16;
        const float scale = has_scale ? exp2f((float)random_between(&random, -9, 13)) : 1;
        config.llr_scale = has_scale ? scale : 0;
        const int axis_bits = softqam_axis_bits(config.modulation);
        double component = 0, max_weight = 0, weight = 0;
        for (size_t i = 0; i < self.n_symbols; i++) {
            if (i % RUN == 0) {
                component = exp2(random_between(&random, -3, k % 4 ? 19.9 : 40));
                max_weight = fast_llr_end(axis_bits, config.output_format, k + i / RUN) *
                             borders[harness_random_below(&random, HARNESS_COUNT(borders))] /
                             (double)max_metric(axis_bits, softqam_llr_table_of(axis_bits), (float)component);
                weight = max_weight;
            }
            if (noise != SOFTQAM_ONE_WEIGHT)
                weight = weight_up_to(&random, max_weight, scale);
            self.noise[i] = (float)(softqam_is_noise_inverse(noise) ? weight / scale : scale / weight);
            for (size_t axis = 0; axis < 2; axis++)
                self.components[2 * i + axis] = component_up_to(&random, component);
        }
        const variants_call call = variants_call_of(&config, noise);
        check_data(&call, &self);
    }
}

/* N0 and gains of all sizes: in many calls some limit of theirs is just within the fast path's range or beyond it, and
 * some have erasures. Calls of a tile, since after one that was not exact others are not tried. */
HARNESS_TEST(test_n0_and_gains)
{
    enum { N_SYMBOLS = 75, N_FORMATS = HARNESS_N_LLR_FORMATS };
    static const double n0s[] = {-102, -100, -60, -8, 0, 30, 40, 41, 43, 60, 100};
    harness_random random = harness_random_stream(STREAM_GAIN_RANGE);
    SCOPED(variants_close_data) variants_data self = variants_open_data(N_SYMBOLS);
    float gains[N_SYMBOLS];
    for (size_t k = 0; k < harness_symbol_count(40000); k++) {
        softqam_demodulator_config config;
        softqam_demodulator_config_init(&config);
        config.output_format = harness_llr_formats[k % N_FORMATS];
        config.modulation = (softqam_modulation)(1 + k / N_FORMATS % N_MODULATIONS);
        config.sign = (softqam_sign)harness_random_below(&random, 2);
        if (config.output_format == SOFTQAM_OUTPUT_S8)
            config.llr_scale = exp2f((float)random_between(&random, -10, 20));
        if (config.output_format == SOFTQAM_OUTPUT_S16)
            config.llr_scale = exp2f((float)random_between(&random, -10, 14));
        const softqam_noise_kind noise =
            (softqam_noise_kind)(SOFTQAM_NOISE_N0 + harness_random_below(&random, SOFTQAM_NOISE_KINDS - 1));
        const bool is_inverse = softqam_is_noise_inverse(noise);
        config.noise_form = is_inverse ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
        const double component = exp2(random_between(&random, -3, harness_random_below(&random, 2) ? 21 : 3));
        const double gain = random_between(&random, -45, 45) / (harness_random_below(&random, 2) ? 1 : 3);
        const double n0 = n0s[harness_random_below(&random, HARNESS_COUNT(n0s))];
        const size_t erasures = harness_random_below(&random, 6);
        const bool has_tiny = harness_random_below(&random, 2);
        for (size_t i = 0; i < N_SYMBOLS; i++) {
            gains[i] = exp2f((float)(gain + random_between(&random, -1, 1)));
            self.noise[i] = exp2f((float)((n0 + random_between(&random, -1, 1)) * (is_inverse ? -1 : 1)));
            for (size_t axis = 0; axis < 2; axis++)
                self.components[2 * i + axis] =
                    (has_tiny ? component_up_to(&random, component) : (float)random_between(&random, 0.1, component)) *
                    (softqam_has_gains(noise) ? gains[i] : 1);
            if (erasures == 1 && i % 23 == 5)
                harness_fill_noise(&random, HARNESS_NOISE_ANY, 1, &self.noise[i]);
            if (erasures == 2 && i % 47 == 5)
                gains[i] = -gains[i] * (float)harness_random_below(&random, 2);
        }
        variants_call call = variants_call_of(&config, noise);
        call.gains = gains;
        check_data(&call, &self);
    }
}

/* Components within four floats of the end of a row, where the next one's line gives another float. */
HARNESS_TEST(test_row_ends)
{
    harness_random random = harness_random_stream(STREAM_FAR);
    SCOPED(variants_close_data) variants_data self = variants_open_data(harness_symbol_count(4096));
    for (int k = 1; k <= N_MODULATIONS; k++) {
        const softqam_modulation modulation = (softqam_modulation)k;
        const softqam_llr_table *table = softqam_llr_table_of(softqam_axis_bits(modulation));
        const variants_call call = variants_default_call(modulation, SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_N0);
        for (size_t i = 0; i < 2 * self.n_symbols; i++) {
            const size_t row = 1 + harness_random_below(&random, (size_t)table->last_row + 1);
            float end = (float)row / table->rows_per_unit;
            uint32_t bits;
            memcpy(&bits, &end, sizeof bits);
            bits += (uint32_t)harness_random_below(&random, 9) - 4;
            memcpy(&end, &bits, sizeof end);
            self.components[i] = harness_random_below(&random, 2) ? end : -end;
            self.noise[i / 2] = 1.0f;
        }
        check_data(&call, &self);
    }
}

/* Whether the caller's own code flushes subnormal numbers does not matter: a scale that is one is not taken for
 * the 0 that stands for the default, the demodulator's and a segment's. */
HARNESS_TEST(test_flushing_caller)
{
    const float symbols[] = {3e38F, -2e38F, 1e38F, -0.1F}, noise = 0.5F, scale = 1e-42F;
    const size_t n = HARNESS_COUNT(symbols) / 2;
    uint8_t expected[HARNESS_COUNT(symbols) / 2 * MAX_OUT_NBYTES], got[sizeof expected];
    for (int output = 0; output < N_OUTPUT_FORMATS; output++) {
        const size_t nbytes = harness_output_nbytes((softqam_output_format)output, n);
        harness_setup setup = harness_format_setup((softqam_output_format)output, SOFTQAM_NOISE_PER_CALL);
        const softqam_segment plain = harness_segment(symbols, output == SOFTQAM_OUTPUT_U8 ? NULL : &noise, 0, n, got);
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
            softqam_demodulator_destroy(demodulator);
            if (k == 0)
                memcpy(expected, got, nbytes);
            assert_memory_equal(got, expected, nbytes);
        }
    }
}

int main(int argc, char **argv)
{
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        printf("%s: %s\n", softqam_cpu_variants[k]->name,
               softqam_cpu_variants[k]->runs_here() ? "runs here" : "skipped, this processor does not run it");
    }
    return harness_run(argc, argv);
}
