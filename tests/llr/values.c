/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "max_log.h"
#include "simd_scalar.h"

#include "arithmetic_fast.h"

/* The loops' tile, and the most symbols that they compute at once. */
enum { TILE = 1024, VECTOR = 16 };

static const float usual_limit = 1.4F;

llr_input llr_input_open(size_t n)
{
    return (llr_input){n, harness_alloc(n * 2 * sizeof(float)), harness_alloc(n * sizeof(float)),
                       harness_alloc(n * sizeof(float))};
}

void llr_input_close(llr_input *self)
{
    free(self->gains);
    free(self->noise);
    free(self->symbols);
}

static bool one_in(harness_random *random, size_t n) { return harness_random_below(random, n) == 0; }

static float any_sign(harness_random *random, double magnitude)
{
    return (float)(one_in(random, 2) ? magnitude : -magnitude);
}

static double random_between(harness_random *random, double from, double to)
{
    return from + (to - from) * harness_random_below(random, 1u << 24) / (1u << 24);
}

/* The noise value that gives LLRs this weight, in steps. */
static float noise_of_weight(const llr_setting *setting, double weight)
{
    return (float)(setting->is_inverse ? weight / (double)setting->scale : (double)setting->scale / weight);
}

/* Sets components to what a channel with these gains would have made of them. */
static void apply_gains(const llr_setting *setting, const llr_input *to)
{
    for (size_t i = 0; i < 2 * to->n && setting->has_gains; i++)
        to->symbols[i] *= to->gains[i / 2];
}

/* What a receiver sees, and what the loops' fast path is for. */
static void fill_usual(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    harness_fill_uniform(random, usual_limit, to->n, to->symbols);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, to->n, to->noise);
    for (size_t i = 0; i < to->n; i++) {
        to->noise[i] = setting->is_inverse ? 1 / to->noise[i] : to->noise[i];
        to->gains[i] = (float)exp2(random_between(random, -6, 6));
    }
    apply_gains(setting, to);
}

/* All sets of symbols next to each other, with usual noise but for some, or with any. */
static void fill_mixture(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    const bool is_any = one_in(random, 4);
    (void)setting;
    harness_fill_mixture(random, to->n, to->symbols);
    harness_fill_noise(random, is_any ? HARNESS_NOISE_ANY : HARNESS_NOISE_USUAL, to->n, to->noise);
    for (size_t i = 0; i < to->n && !is_any; i += 1 + harness_random_below(random, 200))
        harness_fill_noise(random, HARNESS_NOISE_ANY, 1, to->noise + i);
    harness_fill_gains(random, to->n, to->gains);
}

/* Special values: where the arithmetic or the fast path changes, and the floats beside. */

typedef struct special_values {
    size_t n;
    uint32_t bits[512];
} special_values;

static void add_floats(special_values *self, const float *values, size_t n, int n_ulps_beside)
{
    for (size_t k = 0; k < n; k++)
        for (int ulp = -n_ulps_beside; ulp <= n_ulps_beside; ulp++) {
            assert_true(self->n < HARNESS_COUNT(self->bits));
            memcpy(&self->bits[self->n], &values[k], sizeof(float));
            self->bits[self->n++] += (uint32_t)ulp;
        }
}

static float any_of(harness_random *random, const special_values *from)
{
    float value;
    memcpy(&value, &from->bits[harness_random_below(random, from->n)], sizeof value);
    return value;
}

static void add_no_numbers(special_values *self)
{
    static const uint32_t no_numbers[] = {0x7f800000, 0x7fc00000, 0x7f800001, 0x7fffffff};
    memcpy(self->bits + self->n, no_numbers, sizeof no_numbers);
    self->n += HARNESS_COUNT(no_numbers);
}

static float special_component(harness_random *random, softqam_modulation modulation)
{
    static const float near[] = {FLT_MIN, 0x1p-64F, 0x1p-63F, 0x1p-62F, 0x1p-24F, 1, 2, 3, 4, 0x1p23F, 1e30F, 0x1p127F};
    static const float others[] = {0, 0x1p-149F, 0x1.8p-130F, 0x1p-100F, 1e-30F, 40, FLT_MAX / 3, FLT_MAX};
    static special_values all[1 + HARNESS_N_MODULATIONS];
    const nr_constellation *c = llr_constellation(modulation);
    special_values *self = &all[modulation];
    if (self->n == 0) {
        add_floats(self, near, HARNESS_COUNT(near), 2);
        add_floats(self, others, HARNESS_COUNT(others), 0);
        for (int k = 1; k <= 1 << (c->axis_bits - 1); k++) {
            const float row_end = (float)(2 * k / sqrt(c->energy));
            add_floats(self, &row_end, 1, 4);
        }
        add_no_numbers(self);
    }
    const float value = any_of(random, self);
    return one_in(random, 2) ? value : -value;
}

/* N0 or 1/N0. */
static float special_noise(harness_random *random, float scale)
{
    const float near[] = {0x1p-100F, 0x1p-40F,         0x1p40F,         0x1p100F,         0x1p-13F,
                          0x1p13F,   scale * 0x1p-19F, 0x1p19F / scale, scale * 0x1p-15F, 0x1p15F / scale};
    static const float others[] = {0,         -0.0F,       -1,      -0x1p-149F, -INFINITY, -NAN,
                                   0x1p-149F, 0x1.8p-130F, FLT_MIN, 1e-30F,     0x1p-63F,  1e-4F,
                                   0.01F,     1,           1e4F,    1e30F,      FLT_MAX};
    special_values self = {0};
    add_floats(&self, near, HARNESS_COUNT(near), 2);
    add_floats(&self, others, HARNESS_COUNT(others), 0);
    add_no_numbers(&self);
    return any_of(random, &self);
}

/* Makes I, Q or the noise of a symbol special. */
static void spoil(harness_random *random, const llr_setting *setting, const llr_input *to, size_t i)
{
    const size_t what = harness_random_below(random, 3);
    if (what < 2)
        to->symbols[2 * i + what] = special_component(random, setting->modulation);
    else
        to->noise[i] = special_noise(random, setting->scale);
}

/* One symbol in three has a special I, one a special Q, one both; with usual or special noise, or usual symbols with
 * special noise, so that the weight alone decides how they are computed. */
static void fill_special(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    const size_t kind = harness_random_below(random, 4);
    fill_usual(random, setting, to);
    for (size_t i = 0; i < to->n; i++) {
        if (kind > 0 && i % 3 != 1)
            to->symbols[2 * i] = special_component(random, setting->modulation);
        if (kind > 0 && i % 3 != 0)
            to->symbols[2 * i + 1] = special_component(random, setting->modulation);
        if (kind == 0 ? one_in(random, VECTOR) : kind > 1)
            to->noise[i] = special_noise(random, setting->scale);
    }
}

/* Unusual symbols in few of the tiles, or in many, fewer and more than are computed in full after one: from call to
 * call at each place of a tile, and of the vectors after the last one. */
static void fill_some_unusual(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const size_t every[] = {40, 40, 17, 5, 2, 1};
    static size_t place;
    const size_t one = every[harness_random_below(random, HARNESS_COUNT(every))];
    fill_usual(random, setting, to);
    for (size_t tile = 0; tile < to->n; tile += TILE)
        if (to->n < 2 * TILE || one_in(random, one))
            spoil(random, setting, to, tile + place++ % (to->n - tile < TILE ? to->n - tile : TILE));
}

static int limited(int exponent, int least, int most)
{
    return exponent < least ? least : exponent > most ? most : exponent;
}

/* LLRs of so many steps or nats where loops and kernels compute differently, or so near to a half of a step that
 * binary32 rounds them to it, or of any usual size; by components, gains and noise values of all sizes, as far as their
 * limits let them. */
static void fill_borders(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const double borders[] = {0.5,      126.5,  127.5,  128.5,    32767.5, 0x1p22,
                                     0x1.8p23, 0x1p24, 0x1p30, 0x1.8p53, 0x1p54,  0x1p61};
    const nr_constellation *c = llr_constellation(setting->modulation);
    for (size_t i = 0; i < to->n; i++) {
        float metrics[NR_MAX_BITS], *symbol = to->symbols + 2 * i;
        const size_t kind = harness_random_below(random, 3);
        const int gain = (int)harness_random_below(random, 277) - 149;
        const int size = one_in(random, 2) ? 0 : (int)harness_random_below(random, 60) - 30;
        const double llr = kind == 0   ? borders[harness_random_below(random, HARNESS_COUNT(borders))]
                           : kind == 1 ? (double)harness_random_below(random, 127) + 0.5
                                       : exp2(random_between(random, -4, 8));
        harness_fill_uniform(random, usual_limit * ldexpf(1, size), 1, symbol);
        contract_f32(c, symbol, nr_inverse_noise_var(1), i, 0, metrics);
        const double metric = fabs((double)metrics[harness_random_below(random, (size_t)c->n_bits)]);
        to->noise[i] = noise_of_weight(setting, fmin(llr / metric, (double)FLT_MAX));
        to->gains[i] = ldexpf(1 + (float)harness_random_below(random, 3) * 0x1p-23F, gain);
        for (size_t axis = 0; axis < 2 && setting->has_gains; axis++)
            symbol[axis] = ldexpf(symbol[axis], limited(gain, -40, 40));
        if (setting->has_gains)
            to->noise[i] = ldexpf(to->noise[i], (setting->is_inverse ? -2 : 2) * limited(gain, -40, 40));
        if (one_in(random, 32))
            symbol[harness_random_below(random, 2)] = special_component(random, setting->modulation);
    }
}

/* Pieces of nothing but one worst value, of either sign, on which no shortcut may be taken; and of points with few. */
static void fill_worst(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    enum { N_PIECES = 40 };
    const float alpha = (float)(1 / sqrt(170.0));
    const float worst[] = {0,    0, 0,     0x1p-149F, 8 * alpha, -14 * alpha, 2.39999F,
                           2.4F, 3, 1e30F, INFINITY,  NAN,       FLT_MAX,     0.3F};
    fill_usual(random, setting, to);
    harness_fill_gains(random, to->n, to->gains);
    for (size_t i = 0; i < 2 * to->n; i++) {
        const size_t piece = i * N_PIECES / (2 * to->n);
        const bool is_worst = piece % 2 || one_in(random, 64);
        to->symbols[i] = is_worst ? any_sign(random, (double)worst[piece / 2 % HARNESS_COUNT(worst)])
                                  : alpha * (float)(2 * (int)harness_random_below(random, 16) - 15);
        if (is_worst && one_in(random, 64))
            harness_fill_noise(random, HARNESS_NOISE_ANY, 1, &to->noise[i / 2]);
    }
}

/* A component up to a magnitude: that, any below, one that is tiny or zero. */
static float component_up_to(harness_random *random, double max)
{
    const size_t kind = harness_random_below(random, 16);
    return any_sign(random, kind == 0   ? max
                            : kind < 4  ? max * exp2(random_between(random, -12, 0))
                            : kind == 4 ? exp2(random_between(random, -70, -60))
                            : kind == 5 ? 0
                                        : random_between(random, 0, max));
}

/* A weight up to a limit: that, any below, the smallest of all, none (N0 is infinite). */
static double weight_up_to(harness_random *random, double max, float scale)
{
    const size_t kind = harness_random_below(random, 256);
    return kind == 0   ? 0
           : kind == 1 ? (double)scale * 0x1p-40 * random_between(random, 0.5, 2)
           : kind < 4  ? max
                       : max * exp2(random_between(random, -20, 0));
}

_Static_assert(HARNESS_N_LLR_FORMATS == 4, "fast_llr_end() has each");

/* The largest LLR that the fast path computes. */
static double fast_llr_end(harness_random *random, const llr_setting *setting)
{
    const bool is_second = one_in(random, 2);
    if (setting->format == SOFTQAM_OUTPUT_S16 && is_second)
        return (double)fast_range_bpsk_s16.llr_end;
    if (setting->format == SOFTQAM_OUTPUT_F16 && is_second)
        return (double)FAST_LIMITED_F16_END;
    return (double)(setting->format == SOFTQAM_OUTPUT_S8    ? fast_range_s8.llr_end
                    : setting->format == SOFTQAM_OUTPUT_S16 ? fast_range_s16.llr_end
                    : setting->format == SOFTQAM_OUTPUT_F16 ? fast_range_f16.llr_end
                                                            : fast_range_f32.llr_end);
}

/* Values at the end of the fast path's range: the largest component of some tiles times their largest weight is just
 * within it, that of others just beyond. */
static void fill_fast_range(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const double borders[] = {0.999, 1.001, 0.5, 8};
    const bool has_one_weight = one_in(random, 5);
    double component = 0, max_weight = 0;
    harness_fill_gains(random, to->n, to->gains);
    for (size_t i = 0; i < to->n; i++) {
        if (i % (2 * TILE) == 0) {
            double metrics[NR_MAX_BITS], largest = 0;
            component = exp2(random_between(random, -3, one_in(random, 4) ? 40 : 19.9));
            const float corner[2] = {(float)component, (float)component};
            max_log_metrics(llr_constellation(setting->modulation), corner, 0, metrics);
            for (int b = 0; b < llr_constellation(setting->modulation)->n_bits; b++)
                largest = fmax(largest, fabs(metrics[b]));
            max_weight =
                fast_llr_end(random, setting) / largest * borders[harness_random_below(random, HARNESS_COUNT(borders))];
        }
        to->noise[i] =
            noise_of_weight(setting, has_one_weight ? max_weight : weight_up_to(random, max_weight, setting->scale));
        for (size_t axis = 0; axis < 2; axis++)
            to->symbols[2 * i + axis] = component_up_to(random, component);
    }
}

/* N0 and gains of all sizes, each call's alike: some limit of theirs is just within the fast path's range or beyond it,
 * and some have erasures. */
static void fill_n0_and_gains(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const double n0s[] = {-102, -100, -60, -8, 0, 30, 40, 41, 43, 60, 100};
    const double component = exp2(random_between(random, -3, one_in(random, 2) ? 21 : 3));
    const double gain = random_between(random, -45, 45) / (one_in(random, 2) ? 1 : 3);
    const double n0 = n0s[harness_random_below(random, HARNESS_COUNT(n0s))];
    const size_t erasures = harness_random_below(random, 6);
    const bool has_tiny = one_in(random, 2);
    for (size_t i = 0; i < to->n; i++) {
        to->gains[i] = (float)exp2(gain + random_between(random, -1, 1));
        to->noise[i] = (float)exp2((n0 + random_between(random, -1, 1)) * (setting->is_inverse ? -1 : 1));
        for (size_t axis = 0; axis < 2; axis++)
            to->symbols[2 * i + axis] =
                has_tiny ? component_up_to(random, component) : (float)random_between(random, 0.1, component);
    }
    apply_gains(setting, to);
    for (size_t i = 5; i < to->n; i += 47) {
        if (erasures == 1)
            harness_fill_noise(random, HARNESS_NOISE_ANY, 1, &to->noise[i]);
        if (erasures == 2)
            to->gains[i] = -to->gains[i] * (float)harness_random_below(random, 2);
    }
}

/* A component whose soft bit is so many 65536ths, and up to 8 more, from an integer. */
static float near_integer(harness_random *random, double distance)
{
    const double alpha = 1 / sqrt(170.0), slope = 4 * alpha * (double)(1.2F * 256 * 16);
    const double boundary = alpha * (double)(2 * (int)harness_random_below(random, 15) - 14);
    const double whole = (double)((int)harness_random_below(random, 259) - 129);
    const double off = distance + (double)harness_random_below(random, 9);
    return (float)(boundary + (whole + (one_in(random, 2) ? off : -off) / 65536) / slope);
}

/* u8: where the vector loops' linear functions and arithmetic.h round to different bytes, and somewhat further from the
 * integers, where the loops must know that they do not: groups of symbols equally far from them, so that a group is
 * undecided as a whole or not at all. Far out, a component's square makes the sums coarse. */
static void fill_near_integers(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    enum { GROUP = 64 };
    static const size_t distances[] = {40, 40, 600, 20000};
    double distance = 0;
    bool is_far = false;
    fill_usual(random, setting, to);
    for (size_t i = 0; i < to->n; i++) {
        const size_t axis = harness_random_below(random, 2);
        if (i % GROUP == 0) {
            distance = (double)harness_random_below(random, distances[harness_random_below(random, 4)]);
            is_far = one_in(random, 2);
        }
        to->symbols[2 * i + axis] = near_integer(random, distance);
        to->symbols[2 * i + 1 - axis] =
            is_far ? any_sign(random, random_between(random, 1.1, 3.2)) : near_integer(random, distance);
    }
}

const llr_values llr_value_kinds[] = {
    {"a mixture", 3000, fill_mixture, false, true, true},
    {"usual values", 3000, fill_usual, true, true, true},
    {"special values", 500, fill_special, false, false, true},
    {"one unusual value", TILE + 2 * VECTOR + 5, fill_some_unusual, true, true, true},
    {"unusual values in tiles", 66 * TILE + 7, fill_some_unusual, true, true, true},
    {"borders", 1500, fill_borders, true, false, true},
    {"worst inputs", 1 << 16, fill_worst, true, true, true},
    {"ends of the fast range", 8 * TILE - 5, fill_fast_range, true, false, true},
    {"N0 and gains", 75, fill_n0_and_gains, true, false, true},
    {"soft bits near integers", 1 << 17, fill_near_integers, true, true, false},
};
const size_t llr_n_value_kinds = HARNESS_COUNT(llr_value_kinds);
const llr_values *const llr_mixture = &llr_value_kinds[0];
