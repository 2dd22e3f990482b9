/* SPDX-License-Identifier: MIT */
/* Two layers demapped at once, against exhaustive search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "joint_max_log.h"
#include "llr_fixture.h"

static const nr_constellation *any_constellation(harness_random *random)
{
    static const nr_constellation *const all[] = {&nr_qpsk, &nr_16qam, &nr_64qam, &nr_256qam, &nr_1024qam};
    return all[harness_random_below(random, HARNESS_COUNT(all))];
}

static softqam_modulation modulation_of(const nr_constellation *c)
{
    return (softqam_modulation)(SOFTQAM_MODULATION_QPSK + c->axis_bits - 1);
}

static double uniform(harness_random *random) { return (double)harness_random_u32(random) / 0x1p31 - 1; }

/* The kinds of elements: what a receiver sees of two or more antennas; one of two layers almost gone; layers that are
 * almost one; any numbers. */
enum { USUAL, UNBALANCED, ALIKE, ANY, N_KINDS };

/* Makes an element of floats. Half of the symbols are received points, with noise. */
static joint_sample any_sample(harness_random *random, const nr_constellation *const constellations[2], int kind)
{
    double h[2][2][2], x[2][2], y[2][2];
    joint_sample sample = {.noise = exp2(6 * uniform(random) - 6)};
    for (int k = 0; k < 2; k++)
        nr_point(constellations[k], (int)harness_random_below(random, (size_t)1 << constellations[k]->n_bits), 0, x[k]);
    for (int k = 0; k < 2; k++)
        for (int antenna = 0; antenna < 2; antenna++)
            for (int axis = 0; axis < 2; axis++) {
                h[k][antenna][axis] = uniform(random) + (kind == ALIKE && k == 1 ? 0 : uniform(random));
                if (kind == ALIKE && k == 1)
                    h[1][antenna][axis] = h[0][antenna][axis] + 0.01 * h[1][antenna][axis];
                if (kind == UNBALANCED && k == 1)
                    h[1][antenna][axis] *= 0x1p-10;
            }
    for (int antenna = 0; antenna < 2; antenna++)
        for (int axis = 0; axis < 2; axis++) {
            y[antenna][axis] = sqrt(sample.noise) * uniform(random);
            for (int k = 0; k < 2; k++)
                y[antenna][axis] += h[k][antenna][0] * x[k][axis] + (axis ? 1 : -1) * h[k][antenna][1] * x[k][!axis];
        }
    for (int antenna = 0; antenna < 2; antenna++) {
        const double *a = h[0][antenna], *b = h[1][antenna];
        sample.cross[0] += a[0] * b[0] + a[1] * b[1];
        sample.cross[1] += a[0] * b[1] - a[1] * b[0];
        for (int k = 0; k < 2; k++) {
            const double *g = h[k][antenna];
            sample.gains[k] += g[0] * g[0] + g[1] * g[1];
            sample.z[k][0] += g[0] * y[antenna][0] + g[1] * y[antenna][1];
            sample.z[k][1] += g[0] * y[antenna][1] - g[1] * y[antenna][0];
        }
    }
    if (kind == ANY)
        for (int k = 0; k < 2; k++) {
            sample.gains[k] = exp2(8 * uniform(random));
            sample.cross[k] = uniform(random) * exp2(8 * uniform(random));
            sample.z[k][0] = uniform(random) * exp2(8 * uniform(random));
            sample.z[k][1] = uniform(random) * exp2(8 * uniform(random));
        }
    for (int k = 0; k < 2; k++) {
        sample.gains[k] = (double)(float)sample.gains[k];
        sample.cross[k] = (double)(float)sample.cross[k];
        sample.z[k][0] = (double)(float)sample.z[k][0];
        sample.z[k][1] = (double)(float)sample.z[k][1];
    }
    sample.noise = (double)(float)sample.noise;
    return sample;
}

/* An element as the library takes it. */
typedef struct element {
    float z[2][2], gains[2], cross[2], noise;
} element;

static element to_floats(const joint_sample *sample, double scale)
{
    element to = {.noise = (float)(sample->noise * scale)};
    for (int k = 0; k < 2; k++) {
        to.z[k][0] = (float)(sample->z[k][0] * scale);
        to.z[k][1] = (float)(sample->z[k][1] * scale);
        to.gains[k] = (float)(sample->gains[k] * scale);
        to.cross[k] = (float)(sample->cross[k] * scale);
    }
    return to;
}

/* Demaps layer 0 of an element. */
static void demodulate(const softqam_demodulator *demodulator, const nr_constellation *const constellations[2],
                       const element *from, void *out)
{
    const softqam_segment segment = {
        .n_symbols = 1,
        .modulation = modulation_of(constellations[0]),
        .partner_modulation = modulation_of(constellations[1]),
        .layers = {{.symbols = from->z[0], .noise_var = &from->noise, .gain = &from->gains[0]},
                   {.symbols = from->z[1], .gain = &from->gains[1]}},
        .cross_gain = {from->cross},
        .out = out,
    };
    harness_demodulate_segments(demodulator, &segment, 1);
}

/* Fails unless an LLR, in steps where the format has them, lies between the ends, rounded. */
static void check_llr(softqam_output_format format, const uint8_t *value, double low, double high)
{
    float single;
    int16_t integer;
    double got;
    if (format == SOFTQAM_OUTPUT_F32) {
        memcpy(&single, value, sizeof single);
        got = (double)single;
    } else {
        memcpy(&integer, value, sizeof integer);
        got = format == SOFTQAM_OUTPUT_S8    ? (int8_t)value[0]
              : format == SOFTQAM_OUTPUT_S16 ? integer
                                             : half_to_double((uint16_t)integer);
        low = format == SOFTQAM_OUTPUT_F16 ? half_to_double(half_from_double(low)) : rint(low);
        high = format == SOFTQAM_OUTPUT_F16 ? half_to_double(half_from_double(high)) : rint(high);
    }
    const double limit = format == SOFTQAM_OUTPUT_S8 ? 127 : format == SOFTQAM_OUTPUT_S16 ? 32767 : INFINITY;
    if (!(got >= fmin(fmax(low, -limit), limit) && got <= fmin(fmax(high, -limit), limit)))
        fail_msg("%s: %.9g is not within %.9g and %.9g", harness_output_names[format], got, low, high);
}

/* Every variant within the bound of exhaustive search. */
LLR_TEST(test_pairs)
{
    const llr_contexts *on = *state;
    harness_random random = harness_random_named(__func__);
    double worst = 0;
    for (size_t n = 0; n < harness_symbol_count(120000); n++) {
        const nr_constellation *const constellations[2] = {any_constellation(&random), any_constellation(&random)};
        if (constellations[0] == &nr_1024qam && n % 8)
            continue;
        const softqam_output_format format =
            n % 2 ? SOFTQAM_OUTPUT_F32 : harness_llr_formats[n / 2 % HARNESS_N_LLR_FORMATS];
        const joint_sample sample = any_sample(&random, constellations, (int)(n % N_KINDS));
        const element from = to_floats(&sample, 1);
        const double scale = (double)harness_llr_defaults_of[format].scale;
        const double bound = joint_max_log_bound(constellations, &sample);
        double llrs[NR_MAX_BITS];
        float out[2 * NR_MAX_BITS];
        const softqam_demodulator_config config = {.output_format = format};
        scoped_demodulator *demodulator = llr_create(&config, on->items[n % on->n]);
        demodulate(demodulator, constellations, &from, out);
        joint_max_log(constellations, &sample, false, llrs);
        for (int b = 0; b < constellations[0]->n_bits; b++) {
            const uint8_t *value =
                (uint8_t *)out + (size_t)b * softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
            check_llr(format, value, scale * (llrs[b] - bound), scale * (llrs[b] + bound));
            if (format == SOFTQAM_OUTPUT_F32)
                worst = fmax(worst, fabs((double)out[b] - llrs[b]) / bound);
        }
    }
    print_message("largest error %.3f of the bound\n", worst);
}

/* The two ways of searching find the same. */
HARNESS_TEST(test_search)
{
    static const nr_constellation *const few[] = {&nr_qpsk, &nr_16qam, &nr_64qam};
    harness_random random = harness_random_named(__func__);
    for (size_t n = 0; n < harness_symbol_count(1000); n++) {
        const nr_constellation *const constellations[2] = {few[n % 3], few[n / 3 % 3]};
        const joint_sample sample = any_sample(&random, constellations, (int)(n % N_KINDS));
        const double bound = joint_max_log_bound(constellations, &sample);
        double all[NR_MAX_BITS], axes[NR_MAX_BITS];
        joint_max_log(constellations, &sample, true, all);
        joint_max_log(constellations, &sample, false, axes);
        for (int b = 0; b < constellations[0]->n_bits; b++)
            assert_true(fabs(all[b] - axes[b]) <= 1e-6 * bound);
    }
}

/* A power of two that multiplies z, g, c and sigma^2 changes no bit. */
LLR_TEST(test_scaling)
{
    const llr_contexts *on = *state;
    const softqam_demodulator_config config = {.output_format = SOFTQAM_OUTPUT_F32};
    harness_random random = harness_random_named(__func__);
    for (size_t n = 0; n < harness_symbol_count(20000); n++) {
        const nr_constellation *const constellations[2] = {any_constellation(&random), any_constellation(&random)};
        const joint_sample sample = any_sample(&random, constellations, USUAL);
        const element from = to_floats(&sample, 1);
        const element scaled = to_floats(&sample, exp2((double)harness_random_below(&random, 161) - 80));
        float expected[NR_MAX_BITS], out[NR_MAX_BITS];
        scoped_demodulator *demodulator = llr_create(&config, on->items[n % on->n]);
        demodulate(demodulator, constellations, &from, expected);
        demodulate(demodulator, constellations, &scaled, out);
        assert_memory_equal(out, expected, (size_t)constellations[0]->n_bits * sizeof *out);
    }
}

/* With c = 0 the LLRs are, within the bound, those of a layer alone with N0 = g sigma^2. */
LLR_TEST(test_uncoupled)
{
    const llr_contexts *on = *state;
    const softqam_demodulator_config config = {.output_format = SOFTQAM_OUTPUT_F32};
    harness_random random = harness_random_named(__func__);
    for (size_t n = 0; n < harness_symbol_count(20000); n++) {
        const nr_constellation *const constellations[2] = {any_constellation(&random), any_constellation(&random)};
        joint_sample sample = any_sample(&random, constellations, USUAL);
        sample.cross[0] = sample.cross[1] = 0;
        const element from = to_floats(&sample, 1);
        const float noise = from.noise * from.gains[0];
        const double bound = joint_max_log_bound(constellations, &sample);
        float pair[NR_MAX_BITS], alone[NR_MAX_BITS] = {0};
        const softqam_segment segment = {.n_symbols = 1,
                                         .modulation = modulation_of(constellations[0]),
                                         .layers = {{.symbols = from.z[0], .noise_var = &noise, .gain = from.gains}},
                                         .out = alone};
        scoped_demodulator *demodulator = llr_create(&config, on->items[n % on->n]);
        demodulate(demodulator, constellations, &from, pair);
        harness_demodulate_segments(demodulator, &segment, 1);
        for (int b = 0; b < constellations[0]->n_bits; b++)
            assert_true(fabs((double)pair[b] - (double)alone[b]) <= bound + 0x1p-20 * fabs((double)alone[b]));
    }
}

/* An element with a value that is none is an erasure of both layers; one whose costs would overflow is too, and no LLR
 * is infinite or NaN, whatever the values. */
LLR_TEST(test_special_values)
{
    static const float none[] = {NAN, INFINITY, -INFINITY};
    const llr_contexts *on = *state;
    const softqam_demodulator_config config = {.output_format = SOFTQAM_OUTPUT_F32};
    harness_random random = harness_random_named(__func__);
    for (size_t n = 0; n < harness_symbol_count(40000); n++) {
        const nr_constellation *const constellations[2] = {any_constellation(&random), any_constellation(&random)};
        const joint_sample sample = any_sample(&random, constellations, USUAL);
        element from = to_floats(&sample, 1);
        float *values = &from.z[0][0], out[NR_MAX_BITS];
        const size_t n_values = sizeof from / sizeof(float), at = harness_random_below(&random, n_values);
        const bool is_erased = n % 2;
        if (is_erased)
            values[at] = none[harness_random_below(&random, HARNESS_COUNT(none))];
        else
            for (size_t k = 0; k < n_values; k += 1 + harness_random_below(&random, 4))
                harness_random_fill(&random, values + k, sizeof *values);
        if (n % 4 == 1)
            *(n % 8 == 1 ? &from.noise : &from.gains[n / 8 % 2]) = n / 16 % 2 ? -1.0F : 0.0F;
        scoped_demodulator *demodulator = llr_create(&config, on->items[n % on->n]);
        harness_poison((uint8_t *)out, (uint8_t *)out, sizeof out);
        demodulate(demodulator, constellations, &from, out);
        for (int b = 0; b < constellations[0]->n_bits; b++) {
            assert_true(isfinite(out[b]));
            if (is_erased)
                assert_true(out[b] == 0 && !signbit(out[b]));
        }
    }
}
