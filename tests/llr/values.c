/* SPDX-License-Identifier: MIT */
/* The kinds of symbols, noise values and gains of trial.h: what makes loops and kernels compute in another way. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "contract.h"
#include "max_log.h"
#include "simd_scalar.h"
#include "trial.h"

#include "arithmetic_fast.h"

/* The loops' batch, and the most symbols that they compute at once. */
enum { BATCH = 1024, VECTOR = 16 };

static const float usual_limit = 1.4F;

static bool one_in(harness_random *random, size_t n) { return harness_random_below(random, n) == 0; }

static float any_sign(harness_random *random, double magnitude)
{
    return (float)(one_in(random, 2) ? magnitude : -magnitude);
}

static double random_between(harness_random *random, double from, double to)
{
    return from + (to - from) * harness_random_below(random, 1u << 24) / (1u << 24);
}

/* Returns the noise value that gives LLRs this weight, in steps. */
static float noise_of_weight(const llr_setting *setting, double weight)
{
    const double noise = setting->is_inverse ? weight / (double)setting->scale : (double)setting->scale / weight;
    return (float)fmin(noise, (double)FLT_MAX);
}

/* Sets components to what a channel with these gains would have made of them. */
static void apply_gains(const llr_setting *setting, const llr_input *to)
{
    for (size_t i = 0; i < 2 * to->n && setting->has_gains; i++)
        to->symbols[i] *= to->gains[i / 2];
}

static float of_exponent(harness_random *random, int exponent)
{
    return ldexpf(1 + (float)harness_random_below(random, 1 << 23) * 0x1p-23F, exponent);
}

/* Fills in gains of a channel, one of 16, or of some calls few, of any size or no gain at all. */
static void fill_gains(harness_random *random, size_t n, float *gains)
{
    static const float unusual[] = {0,        -0.0F,     -1,         NAN,       INFINITY,  -INFINITY, 0x1p-40F,
                                    0x1p-41F, 0x1p40F,   0x1.8p40F,  0x1p-149F, 0x1p-127F, 0x1p127F,  1,
                                    0x1p-63F, 0x1p-126F, 0x1.8p-40F, 0x1p39F,   0x1.8p39F};
    const size_t n_usual = one_in(random, 2) ? 16 : 4000;
    for (size_t i = 0; i < n; i++) {
        const size_t kind = harness_random_below(random, n_usual);
        gains[i] = kind == 0   ? ANY_OF(random, unusual)
                   : kind == 1 ? of_exponent(random, (int)harness_random_below(random, 100) - 50)
                               : of_exponent(random, (int)harness_random_below(random, 12) - 6);
    }
}

/* Makes all sets of symbols next to each other, with usual noise but for some, or with any. */
static void fill_mixture(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    const bool is_any = one_in(random, 4);
    (void)setting;
    harness_fill_mixture(random, to->n, to->symbols);
    harness_fill_noise(random, is_any ? HARNESS_NOISE_ANY : HARNESS_NOISE_USUAL, to->n, to->noise);
    for (size_t i = 0; i < to->n && !is_any; i += 1 + harness_random_below(random, 200))
        harness_fill_noise(random, HARNESS_NOISE_ANY, 1, to->noise + i);
    fill_gains(random, to->n, to->gains);
}

/* Makes what a receiver sees, and what the loops' fast path is for. */
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

/* Makes a component or a noise value where the arithmetic or the fast path changes, or a float beside it. */
static float special(harness_random *random, const llr_setting *setting, bool is_noise)
{
    static const float near[] = {FLT_MIN, 0x1p-100F, 0x1p-64F, 0x1p-63F, 0x1p-62F, 0x1p-40F, 0x1p-24F, 0x1p-13F, 1, 2,
                                 3,       4,         0x1p13F,  0x1p23F,  0x1p40F,  0x1p100F, 1e30F,    0x1p127F};
    static const float others[] = {0, 0, 0x1p-149F, 0x1.8p-130F, 1e-30F, 40, FLT_MAX / 3, FLT_MAX, INFINITY, NAN};
    static const double weights[] = {0x1p15, 0x1p19, 0x1p-15, 0x1p-19};
    const nr_constellation *c = llr_constellation(setting->modulation);
    const double row_end = 2 * (1 + (double)harness_random_below(random, 1u << (c->axis_bits - 1))) / sqrt(c->energy);
    const size_t kind = harness_random_below(random, 4);
    float value = kind == 0               ? ANY_OF(random, others)
                  : kind == 1 && is_noise ? noise_of_weight(setting, ANY_OF(random, weights))
                  : kind < 3 && !is_noise ? (float)row_end
                                          : ANY_OF(random, near);
    for (size_t n = harness_random_below(random, 3), up = harness_random_below(random, 2); kind > 0 && n > 0; n--)
        value = nextafterf(value, up ? INFINITY : 0);
    return one_in(random, is_noise ? 8 : 2) ? -value : value;
}

static void make_special(harness_random *random, const llr_setting *setting, const llr_input *to, size_t i)
{
    const size_t which = harness_random_below(random, 3);
    if (which < 2)
        to->symbols[2 * i + which] = special(random, setting, false);
    else
        to->noise[i] = special(random, setting, true);
}

/* Makes unusual values: one in few of the batches, or in many, fewer and more than are computed in full after one, from
 * call to call at each place of a batch and of the vectors after the last one; or in one symbol of a few. */
static void fill_unusual(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const size_t every[] = {40, 17, 5, 2, 1}, dense[] = {VECTOR, 2, 1};
    static size_t place;
    const size_t one = ANY_OF(random, every);
    fill_usual(random, setting, to);
    if (one_in(random, 4))
        for (size_t i = 0, step = ANY_OF(random, dense); i < to->n; i += 1 + harness_random_below(random, step))
            make_special(random, setting, to, i);
    else
        for (size_t batch = 0; batch < to->n; batch += BATCH)
            if (to->n < 2 * BATCH || one_in(random, one))
                make_special(random, setting, to, batch + place++ % (to->n - batch < BATCH ? to->n - batch : BATCH));
}

/* Makes pieces of nothing but one value, of either sign, on which no shortcut may be taken, and of points. */
static void fill_pieces(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    const float alpha = (float)(1 / sqrt(170.0));
    const float worst[] = {0, 0x1p-149F, 8 * alpha, -14 * alpha, 2.39999F, 2.4F, 3, 1e30F, INFINITY, NAN, FLT_MAX};
    const size_t length = 1 + to->n / 20;
    float value = 0;
    fill_usual(random, setting, to);
    fill_gains(random, to->n, to->gains);
    for (size_t i = 0; i < 2 * to->n; i++) {
        if (i % length == 0)
            value = one_in(random, 2) ? 0 : ANY_OF(random, worst);
        if (one_in(random, 64))
            harness_fill_noise(random, HARNESS_NOISE_ANY, 1, &to->noise[i / 2]);
        to->symbols[i] = i / length % 2 ? any_sign(random, (double)value)
                                        : alpha * (float)(2 * (int)harness_random_below(random, 16) - 15);
    }
}

/* Makes LLRs of as many steps or nats as those where loops and kernels compute differently, or so near to a half of a
 * step that binary32 rounds them to it, or of any usual size; by components, gains and noise values of all sizes. */
static void fill_borders(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const double borders[] = {0.5,      126.5,  127.5,  128.5,    32767.5, 0x1p22,
                                     0x1.8p23, 0x1p24, 0x1p30, 0x1.8p53, 0x1p54,  0x1p61};
    const nr_constellation *c = llr_constellation(setting->modulation);
    for (size_t i = 0; i < to->n; i++) {
        float metrics[NR_MAX_BITS], *symbol = to->symbols + 2 * i;
        const size_t kind = harness_random_below(random, 3);
        const int size = one_in(random, 2) ? 0 : (int)harness_random_below(random, 60) - 30;
        const int most = one_in(random, 2) ? 40 : 149, gain = (int)harness_random_below(random, 277) % most - most / 2;
        const double llr = kind == 0   ? ANY_OF(random, borders)
                           : kind == 1 ? (double)harness_random_below(random, 127) + 0.5
                                       : exp2(random_between(random, -4, 8));
        harness_fill_uniform(random, usual_limit * ldexpf(1, size), 1, symbol);
        contract_f32(c, symbol, nr_inverse_noise_var(1), i, 0, metrics);
        to->noise[i] =
            noise_of_weight(setting, llr / fabs((double)metrics[harness_random_below(random, (size_t)c->n_bits)]));
        to->gains[i] = ldexpf(1 + (float)harness_random_below(random, 3) * 0x1p-23F, gain);
        for (size_t axis = 0; axis < 2 && setting->has_gains; axis++)
            symbol[axis] = ldexpf(symbol[axis], gain);
        if (setting->has_gains)
            to->noise[i] = ldexpf(to->noise[i], (setting->is_inverse ? -2 : 2) * gain);
        if (one_in(random, 32))
            symbol[harness_random_below(random, 2)] = special(random, setting, false);
    }
}

/* Makes a component up to a magnitude: that, any below, one that is tiny or zero. */
static float component_up_to(harness_random *random, double max)
{
    const size_t kind = harness_random_below(random, 16);
    return any_sign(random, kind == 0   ? max
                            : kind < 4  ? max * exp2(random_between(random, -12, 0))
                            : kind < 6  ? exp2(random_between(random, -64, -62.9))
                            : kind == 6 ? 0
                                        : random_between(random, 0, max));
}

/* Makes a weight up to a limit: that, any below, the smallest of all, none (N0 is infinite). */
static double weight_up_to(harness_random *random, double max, float scale)
{
    const size_t kind = harness_random_below(random, 256);
    return kind == 0   ? 0
           : kind == 1 ? (double)scale * 0x1p-40 * random_between(random, 0.5, 2)
           : kind < 32 ? max
                       : max * exp2(random_between(random, -20, 0));
}

_Static_assert(HARNESS_N_LLR_FORMATS == 4, "fast_llr_end() has each");

/* Returns the largest LLR that the fast path computes. */
static double fast_llr_end(harness_random *random, const llr_setting *setting)
{
    const bool is_bpsk = setting->modulation <= SOFTQAM_MODULATION_PI2_BPSK;
    const softqam_output_format format = setting->format;
    return (double)(format == SOFTQAM_OUTPUT_S8    ? fast_range_s8.llr_end
                    : format == SOFTQAM_OUTPUT_S16 ? (is_bpsk ? fast_range_bpsk_s16 : fast_range_s16).llr_end
                    : format == SOFTQAM_OUTPUT_F32 ? fast_range_f32.llr_end
                    : one_in(random, 2)            ? FAST_LIMITED_F16_END
                                                   : fast_range_f16.llr_end);
}

/* Makes values at the end of the fast path's range: the largest component times the largest weight is just within it,
 * or just beyond. */
static void fill_fast_range(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    static const double borders[] = {0.999, 1.001, 0.5, 8};
    const bool has_one_weight = one_in(random, 5);
    const bool is_tiny = one_in(random, 6); /* so small that a tiny component beside another one changes BPSK's sum */
    const double component = is_tiny ? exp2(random_between(random, -44, -38))
                                     : exp2(random_between(random, -3,
                                                           one_in(random, 4)   ? 40
                                                           : one_in(random, 2) ? 1
                                                                               : 19.9));
    const float corner[2] = {(float)component, (float)component};
    double metrics[NR_MAX_BITS] = {0}, largest = 1.5; /* max_metric()'s least */
    max_log_metrics(llr_constellation(setting->modulation), corner, 0, metrics);
    for (int b = 0; b < NR_MAX_BITS; b++)
        largest = fmax(largest, fabs(metrics[b]));
    const double max_weight = is_tiny ? exp2(random_between(random, 13, 16)) / (2 * component)
                                      : fast_llr_end(random, setting) / largest * ANY_OF(random, borders);
    fill_gains(random, to->n, to->gains);
    for (size_t i = 0; i < to->n; i++) {
        to->noise[i] =
            noise_of_weight(setting, has_one_weight ? max_weight : weight_up_to(random, max_weight, setting->scale));
        for (size_t axis = 0; axis < 2; axis++)
            to->symbols[2 * i + axis] = component_up_to(random, component);
    }
}

/* Makes gains, and noise values that belong to them or do not, of all sizes, each call's alike, about so or each its
 * own; with few others, some erasures. */
static void fill_any_gains(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    const int common =
        one_in(random, 2) ? (int)harness_random_below(random, 277) - 149 : (int)harness_random_below(random, 90) - 45;
    const int distance = one_in(random, 2) ? -7 : (int)harness_random_below(random, 260) - 130;
    const bool is_mixed = one_in(random, 2), has_others = one_in(random, 2);
    const size_t reach = one_in(random, 2) ? harness_random_below(random, 70) : 0, sizes = one_in(random, 4) ? 80 : 8;
    for (size_t i = 0; i < to->n; i++) {
        const int gain = is_mixed ? (int)harness_random_below(random, 277) - 149
                                  : common + (int)harness_random_below(random, 2 * reach + 1) - (int)reach;
        const int off = is_mixed && one_in(random, 4) ? (int)harness_random_below(random, 260) - 130 : distance;
        const int n0 = 2 * gain + off;
        to->gains[i] = of_exponent(random, gain);
        to->noise[i] = of_exponent(random, setting->is_inverse ? -n0 : n0);
        for (size_t axis = 0; axis < 2; axis++)
            to->symbols[2 * i + axis] =
                any_sign(random, (double)of_exponent(random, (setting->has_gains ? gain : 0) -
                                                                 (int)harness_random_below(random, sizes)));
        if (has_others && one_in(random, 8))
            harness_fill_noise(random, HARNESS_NOISE_ANY, 1, &to->noise[i]);
        if (has_others && one_in(random, 16))
            harness_fill_mixture(random, 1, to->symbols + 2 * i);
        if (has_others && one_in(random, 64))
            to->gains[i] = -to->gains[i] * (float)harness_random_below(random, 2);
    }
}

/* Makes a component whose soft bit is `distance` 65536ths, and up to 8 more, from an integer. */
static float near_integer(harness_random *random, double distance)
{
    const double alpha = 1 / sqrt(170.0), slope = 4 * alpha * (double)(1.2F * 256 * 16);
    const double boundary = alpha * (double)(2 * (int)harness_random_below(random, 15) - 14);
    const double whole = (double)((int)harness_random_below(random, 259) - 129);
    const double off = distance + (double)harness_random_below(random, 9);
    return (float)(boundary + (whole + (one_in(random, 2) ? off : -off) / 65536) / slope);
}

/* u8: makes symbols where the vector loops' linear functions and arithmetic.h round to different bytes, and somewhat
 * further from the integers, where the loops must know that they do not: groups of symbols equally far from them, so
 * that a group is undecided as a whole or not at all. Far out, a component's square makes the sums coarse. */
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
            distance = (double)harness_random_below(random, ANY_OF(random, distances));
            is_far = one_in(random, 2);
        }
        to->symbols[2 * i + axis] = near_integer(random, distance);
        to->symbols[2 * i + 1 - axis] =
            is_far ? any_sign(random, random_between(random, 1.1, 3.2)) : near_integer(random, distance);
    }
}

/* Makes what a receiver sees, with gains of 2^(middle +- reach), and in half of the calls erasures by each of a
 * symbol's values: by itself, or because z / g or g^2 / N0 leaves a range. */
static void fill_counted(harness_random *random, const llr_setting *setting, const llr_input *to, double middle,
                         double reach)
{
    static const float no_noise[] = {0, -1, NAN, INFINITY, 0x1p-126F, 0x1p126F};
    static const float no_components[] = {NAN, INFINITY, -INFINITY, 1e30F, -FLT_MAX};
    const bool has_erasures = one_in(random, 2), is_usual = middle > -10 && reach < 10;
    for (size_t i = 0; i < to->n; i++) {
        const float g = to->gains[i] = (float)exp2(middle + random_between(random, -reach, reach));
        const float n0 = (float)exp2(random_between(random, -12, 1)) * g * g;
        to->noise[i] = setting->is_inverse ? 1 / n0 : n0;
        for (size_t axis = 0; axis < 2; axis++)
            to->symbols[2 * i + axis] = g * (float)random_between(random, -usual_limit, usual_limit);
        if (has_erasures && one_in(random, 60))
            to->noise[i] = no_noise[harness_random_below(random, is_usual ? 4 : HARNESS_COUNT(no_noise))];
        if (has_erasures && one_in(random, 60))
            to->gains[i] = !is_usual && one_in(random, 2) ? 0x1p-126F : -g * (float)harness_random_below(random, 2);
        if (has_erasures && one_in(random, 60))
            to->symbols[2 * i + harness_random_below(random, 2)] =
                no_components[harness_random_below(random, is_usual ? 4 : HARNESS_COUNT(no_components))];
    }
}

static void fill_countable(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    const bool is_tiny = one_in(random, 3); /* N0 is subnormal */
    fill_counted(random, setting, to, is_tiny ? -65 : 0, is_tiny ? 2 : one_in(random, 2) ? 8 : 50);
}

static void fill_countable_pairs(harness_random *random, const llr_setting *setting, const llr_input *to)
{
    fill_counted(random, setting, to, 0, 8);
}

const llr_values llr_countable = {"countable values", 0, fill_countable, true, true, true};
const llr_values llr_countable_pairs = {"countable pairs", 0, fill_countable_pairs, true, false, true};

const llr_values llr_value_kinds[] = {
    {"a mixture", 3000, fill_mixture, false, true, true},
    {"one unusual value", BATCH + 2 * VECTOR + 5, fill_unusual, true, true, true},
    {"unusual values in batches", 66 * BATCH + 7, fill_unusual, true, true, true},
    {"pieces of one value", 1 << 14, fill_pieces, true, true, true},
    {"borders", 1500, fill_borders, true, false, true},
    {"ends of the fast range", BATCH + 100, fill_fast_range, true, false, true},
    {"a few of any gains", 75, fill_any_gains, true, false, true},
    {"any gains", 1500, fill_any_gains, true, false, true},
    {"soft bits near integers", 1 << 17, fill_near_integers, true, true, false},
};
const size_t llr_n_value_kinds = HARNESS_COUNT(llr_value_kinds);
const llr_values *const llr_mixture = &llr_value_kinds[0];
