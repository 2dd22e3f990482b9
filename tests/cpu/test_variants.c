/* SPDX-License-Identifier: MIT */
/* Values at which the CPU's vector loops change from one way of computing to another: every variant that this machine
 * runs, through the public API, gives the LLRs that reference/contract.h specifies, and the portable loop's soft bits.
 * test_streaming.c has stores past the caches, test_exhaustive.c all floats, llr/test_llr_calls.c lengths,
 * misalignments and input formats. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"
#include "params.h"
#include "simd_scalar.h"
#include "tables.h"

#include "arithmetic_fast.h"

enum { STREAM_INTEGERS = 1, STREAM_ZEROS, STREAM_RANGE, STREAM_GAINS };

/* One noise value, or one a symbol, N0 or 1/N0, with gains or without. */
typedef enum noise_kind { ONE_NOISE, EACH_N0, EACH_INVERSE, N0_AND_GAIN, INVERSE_AND_GAIN, N_NOISE_KINDS } noise_kind;

static bool is_inverse(noise_kind kind) { return kind == EACH_INVERSE || kind == INVERSE_AND_GAIN; }

static bool has_gains(noise_kind kind) { return kind >= N0_AND_GAIN; }

typedef struct data {
    size_t n;
    float *symbols, *noise, *gains;
} data;

static data open_data(size_t n)
{
    return (data){n, harness_alloc(n * 2 * sizeof(float)), harness_alloc(n * sizeof(float)),
                  harness_alloc(n * sizeof(float))};
}

static void close_data(data *self)
{
    free(self->gains);
    free(self->noise);
    free(self->symbols);
}

static softqam_demodulator_config config_of(softqam_output_format format, softqam_modulation modulation)
{
    return (softqam_demodulator_config){.output_format = format, .modulation = modulation};
}

static void check_llrs(const llr_contexts *on, softqam_demodulator_config config, noise_kind noise, const data *from)
{
    softqam_segment segment = harness_segment(from->symbols, from->noise, noise != ONE_NOISE, from->n, NULL);
    config.noise_form = is_inverse(noise) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    segment.layers[0].gain = has_gains(noise) ? from->gains : NULL;
    llr_check(on, &config, &segment, NULL, "values");
}

/* Of both signs, against the portable loop, of which llr/test_soft_bits.c has the proof. */
static void check_soft_bits(const llr_contexts *on, const data *from)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.context.cpu_variant = "portable";
    const softqam_segment segment = harness_segment(from->symbols, NULL, 0, from->n, NULL);
    for (int sign = 0; sign < 2; sign++) {
        setup.demodulator.sign = (softqam_sign)sign;
        scoped_memory uint8_t *expected = harness_answer(&setup, from->symbols, NULL, from->n);
        llr_check(on, &setup.demodulator, &segment, expected, "soft bits");
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
LLR_TEST(test_near_integers)
{
    enum { GROUP = 64 };
    static const size_t distances[] = {40, 40, 600, 20000};
    harness_random random = harness_random_stream(STREAM_INTEGERS);
    SCOPED(close_data) data self = open_data(harness_symbol_count((size_t)1 << 20));
    double n_units = 0;
    bool is_far = false;
    for (size_t i = 0; i < self.n; i++) {
        if (i % GROUP == 0) {
            n_units = (double)harness_random_below(&random, distances[harness_random_below(&random, 4)]);
            is_far = harness_random_below(&random, 2);
        }
        const size_t which = harness_random_below(&random, 2);
        self.symbols[2 * i + which] = near_integer(&random, n_units);
        self.symbols[2 * i + 1 - which] = is_far ? far_out(&random, 1.1F, 3.2F) : near_integer(&random, n_units);
    }
    check_soft_bits(*state, &self);
}

/* Runs of symbols on which no shortcut may be taken, or of which most are zero, of either sign, or not finite, among
 * others; and of points with few such symbols. */
LLR_TEST(test_worst_inputs)
{
    static const float values[] = {0.0F,    -0.0F, 0.0F, -0.0F, NAN,  INFINITY, -INFINITY, 0x1p-149F,
                                   -1e-30F, 1e-7F, 0.3F, -2.7F, 3.0F, -40.0F,   1e30F,     -FLT_MAX};
    enum { N_ZEROS = 4, N_NOT_FINITE = 7, N_RUNS = 40 };
    const float alpha = (float)(1 / sqrt(170.0));
    const float worst[] = {0, -0.0F, 8 * alpha, -14 * alpha, 2.39999F, 2.4F, 3, -1e30F, INFINITY, NAN};
    harness_random random = harness_random_stream(STREAM_ZEROS);
    SCOPED(close_data) data self = open_data(harness_symbol_count((size_t)1 << 16));
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, self.n, self.noise);
    for (size_t i = 0; i < 2 * self.n; i++) {
        const size_t run = i * N_RUNS / (2 * self.n), kind = run % 4;
        const bool is_other = harness_random_below(&random, 64) == 0;
        if (kind == 0)
            self.symbols[i] = worst[run / 4];
        else if (kind == 1)
            self.symbols[i] =
                is_other ? worst[run / 4] : alpha * (float)(2 * (int)harness_random_below(&random, 16) - 15);
        else
            self.symbols[i] = values[harness_random_below(&random, is_other    ? HARNESS_COUNT(values)
                                                                   : kind == 2 ? N_ZEROS
                                                                               : N_NOT_FINITE)];
        if (kind == 1 && is_other)
            harness_fill_noise(&random, HARNESS_NOISE_ANY, 1, &self.noise[i / 2]);
    }
    harness_fill_gains(&random, self.n, self.gains);
    for (int k = 0; k < HARNESS_N_MODULATIONS * HARNESS_N_LLR_FORMATS; k++)
        check_llrs(*state,
                   config_of(harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
                             (softqam_modulation)(1 + k / HARNESS_N_LLR_FORMATS)),
                   (noise_kind)((k + k / 3) % N_NOISE_KINDS), &self);
    check_soft_bits(*state, &self);
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
LLR_TEST(test_fast_range)
{
    static const double borders[] = {0.999, 1.001, 0.5, 8};
    enum { RUN = 2048, N_FORMATS = HARNESS_N_LLR_FORMATS };
    harness_random random = harness_random_stream(STREAM_RANGE);
    SCOPED(close_data) data self = open_data(harness_symbol_count((size_t)4 * RUN - 5));
    harness_fill_gains(&random, self.n, self.gains);
    for (size_t k = 0; k < N_FORMATS * HARNESS_N_MODULATIONS * N_NOISE_KINDS * 2; k++) {
        const noise_kind noise = (noise_kind)(k % N_NOISE_KINDS);
        softqam_demodulator_config config =
            config_of(harness_llr_formats[k / N_NOISE_KINDS % N_FORMATS],
                      (softqam_modulation)(1 + k / N_NOISE_KINDS / N_FORMATS % HARNESS_N_MODULATIONS));
        config.sign = (softqam_sign)harness_random_below(&random, 2);
        if (config.output_format == SOFTQAM_OUTPUT_S8 && k % 2)
            config.llr_limit = (int)(1 + harness_random_below(&random, 127));
        const bool has_scale = config.output_format == SOFTQAM_OUTPUT_S8 || config.output_format == SOFTQAM_OUTPUT_S16;
        const float scale = has_scale ? exp2f((float)random_between(&random, -9, 13)) : 1;
        config.llr_scale = has_scale ? scale : 0;
        const int axis_bits = softqam_axis_bits(config.modulation);
        double component = 0, max_weight = 0, weight = 0;
        for (size_t i = 0; i < self.n; i++) {
            if (i % RUN == 0) {
                component = exp2(random_between(&random, -3, k % 4 ? 19.9 : 40));
                max_weight = fast_llr_end(axis_bits, config.output_format, k + i / RUN) *
                             borders[harness_random_below(&random, HARNESS_COUNT(borders))] /
                             (double)max_metric(axis_bits, softqam_llr_table_of(axis_bits), (float)component);
                weight = max_weight;
            }
            if (noise != ONE_NOISE)
                weight = weight_up_to(&random, max_weight, scale);
            self.noise[i] = (float)(is_inverse(noise) ? weight / scale : scale / weight);
            for (size_t axis = 0; axis < 2; axis++)
                self.symbols[2 * i + axis] = component_up_to(&random, component);
        }
        check_llrs(*state, config, noise, &self);
    }
}

/* N0 and gains of all sizes: in many calls some limit of theirs is just within the fast path's range or beyond it, and
 * some have erasures. Calls of a tile, since after one that was not exact others are not tried. */
LLR_TEST(test_n0_and_gains)
{
    enum { N_SYMBOLS = 75 };
    static const double n0s[] = {-102, -100, -60, -8, 0, 30, 40, 41, 43, 60, 100};
    harness_random random = harness_random_stream(STREAM_GAINS);
    SCOPED(close_data) data self = open_data(N_SYMBOLS);
    for (size_t k = 0; k < harness_symbol_count(40000); k++) {
        softqam_demodulator_config config =
            config_of(harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
                      (softqam_modulation)(1 + k / HARNESS_N_LLR_FORMATS % HARNESS_N_MODULATIONS));
        config.sign = (softqam_sign)harness_random_below(&random, 2);
        if (config.output_format == SOFTQAM_OUTPUT_S8)
            config.llr_scale = exp2f((float)random_between(&random, -10, 20));
        if (config.output_format == SOFTQAM_OUTPUT_S16)
            config.llr_scale = exp2f((float)random_between(&random, -10, 14));
        const noise_kind noise = (noise_kind)(EACH_N0 + harness_random_below(&random, N_NOISE_KINDS - 1));
        const double component = exp2(random_between(&random, -3, harness_random_below(&random, 2) ? 21 : 3));
        const double gain = random_between(&random, -45, 45) / (harness_random_below(&random, 2) ? 1 : 3);
        const double n0 = n0s[harness_random_below(&random, HARNESS_COUNT(n0s))];
        const size_t erasures = harness_random_below(&random, 6);
        const bool has_tiny = harness_random_below(&random, 2);
        for (size_t i = 0; i < N_SYMBOLS; i++) {
            self.gains[i] = exp2f((float)(gain + random_between(&random, -1, 1)));
            self.noise[i] = exp2f((float)((n0 + random_between(&random, -1, 1)) * (is_inverse(noise) ? -1 : 1)));
            for (size_t axis = 0; axis < 2; axis++)
                self.symbols[2 * i + axis] =
                    (has_tiny ? component_up_to(&random, component) : (float)random_between(&random, 0.1, component)) *
                    (has_gains(noise) ? self.gains[i] : 1);
            if (erasures == 1 && i % 23 == 5)
                harness_fill_noise(&random, HARNESS_NOISE_ANY, 1, &self.noise[i]);
            if (erasures == 2 && i % 47 == 5)
                self.gains[i] = -self.gains[i] * (float)harness_random_below(&random, 2);
        }
        check_llrs(*state, config, noise, &self);
    }
}
