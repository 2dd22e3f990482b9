/* SPDX-License-Identifier: MIT */
/* Two layers demapped at once, against exhaustive search. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_max_log.h"
#include "llr_fixture.h"
#include "rate_recovery.h"

static const nr_constellation *any_constellation(harness_random *random)
{
    static const nr_constellation *const all[] = {&nr_qpsk, &nr_16qam, &nr_64qam, &nr_256qam, &nr_1024qam};
    return all[harness_random_below(random, HARNESS_COUNT(all))];
}

static softqam_modulation modulation_of(const nr_constellation *c)
{
    return (softqam_modulation)(SOFTQAM_MODULATION_QPSK + c->axis_bits - 1);
}

/* An element as the library takes it. */
typedef struct element {
    float z[2][2], gains[2], cross[2], noise;
} element;

enum { N_VALUES = sizeof(element) / sizeof(float) };

static double uniform(harness_random *random) { return (double)harness_random_u32(random) / 0x1p31 - 1; }

static double complex any_complex(harness_random *random)
{
    const double re = uniform(random);
    return re + I * uniform(random);
}

/* The kinds of elements: what a receiver sees of two antennas; one of two layers almost gone; layers that are almost
 * one; layers apart; any numbers. */
enum { USUAL, UNBALANCED, ALIKE, UNCOUPLED, ANY, N_KINDS };

static element any_element(harness_random *random, const nr_constellation *const constellations[2], int kind)
{
    const double noise = exp2(6 * uniform(random) - 6);
    double complex x[2], z[2] = {0}, cross = 0;
    element self = {.noise = (float)noise};
    for (int k = 0; k < 2; k++) {
        double point[2];
        nr_point(constellations[k], (int)harness_random_below(random, (size_t)1 << constellations[k]->n_bits), 0,
                 point);
        x[k] = point[0] + I * point[1];
    }
    for (int antenna = 0; antenna < 2; antenna++) {
        double complex h[2] = {any_complex(random) + any_complex(random), any_complex(random) + any_complex(random)};
        h[1] = kind == ALIKE ? h[0] + 0.01 * h[1] : kind == UNBALANCED ? 0x1p-10 * h[1] : h[1];
        const double complex y = h[0] * x[0] + h[1] * x[1] + sqrt(noise) * any_complex(random);
        cross += kind == UNCOUPLED ? 0 : conj(h[0]) * h[1];
        for (int k = 0; k < 2; k++) {
            z[k] += conj(h[k]) * y;
            self.gains[k] += (float)creal(h[k] * conj(h[k]));
        }
    }
    for (int k = 0; k < 2; k++) {
        self.z[k][0] = (float)creal(z[k]);
        self.z[k][1] = (float)cimag(z[k]);
    }
    self.cross[0] = (float)creal(cross);
    self.cross[1] = (float)cimag(cross);
    for (int k = 0; k < N_VALUES - 1 && kind == ANY; k++) {
        float *value = &self.z[0][0] + k;
        *value = (float)exp2(8 * uniform(random));
        if (value != &self.gains[0] && value != &self.gains[1])
            *value *= (float)uniform(random);
    }
    return self;
}

static joint_sample to_sample(const element *from)
{
    joint_sample sample = {.noise = (double)from->noise};
    for (int k = 0; k < 2; k++) {
        sample.z[k][0] = (double)from->z[k][0];
        sample.z[k][1] = (double)from->z[k][1];
        sample.gains[k] = (double)from->gains[k];
        sample.cross[k] = (double)from->cross[k];
    }
    return sample;
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
    static const double limits[] = {127, 32767, 65504, FLT_MAX};
    const double got = soft_values_read((soft_format)format, value), limit = limits[format];
    double *const ends[] = {&low, &high};
    for (size_t k = 0; k < 2 && format != SOFTQAM_OUTPUT_F32; k++) {
        const double limited = fmax(-limit, fmin(*ends[k], limit));
        uint16_t rounded;
        soft_values_write((soft_format)format, format == SOFTQAM_OUTPUT_F16 ? limited : rint(limited), &rounded);
        *ends[k] = soft_values_read((soft_format)format, &rounded);
    }
    if (!(got >= low && got <= high))
        fail_msg("%s: %.9g is not within %.9g and %.9g", harness_output_names[format], got, low, high);
}

/* Every variant is within the bound of exhaustive search, and a power of two that multiplies z, g, c and sigma^2
 * changes no bit. */
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
        const size_t nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1);
        const element from = any_element(&random, constellations, (int)(n % N_KINDS));
        const joint_sample sample = to_sample(&from);
        const double scale = (double)harness_llr_defaults_of[format].scale;
        const double bound = joint_max_log_bound(constellations, &sample);
        const int exponent = (int)harness_random_below(&random, 161) - 80;
        element scaled = from;
        double llrs[NR_MAX_BITS];
        float out[NR_MAX_BITS], scaled_out[NR_MAX_BITS];
        const softqam_demodulator_config config = {.output_format = format};
        scoped_demodulator *demodulator = llr_create(&config, on->items[harness_random_below(&random, on->n)]);
        demodulate(demodulator, constellations, &from, out);
        joint_max_log(constellations, &sample, false, llrs);
        for (int b = 0; b < constellations[0]->n_bits; b++) {
            check_llr(format, (uint8_t *)out + (size_t)b * nbytes, scale * (llrs[b] - bound),
                      scale * (llrs[b] + bound));
            if (format == SOFTQAM_OUTPUT_F32)
                worst = fmax(worst, fabs((double)out[b] - llrs[b]) / bound);
        }
        for (int k = 0; k < N_VALUES; k++)
            (&scaled.z[0][0])[k] = ldexpf((&from.z[0][0])[k], exponent);
        demodulate(demodulator, constellations, &scaled, scaled_out);
        assert_memory_equal(scaled_out, out, (size_t)constellations[0]->n_bits * nbytes);
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
        const element from = any_element(&random, constellations, (int)(n % N_KINDS));
        const joint_sample sample = to_sample(&from);
        const double bound = joint_max_log_bound(constellations, &sample);
        double all[NR_MAX_BITS], axes[NR_MAX_BITS];
        joint_max_log(constellations, &sample, true, all);
        joint_max_log(constellations, &sample, false, axes);
        for (int b = 0; b < constellations[0]->n_bits; b++)
            assert_true(fabs(all[b] - axes[b]) <= 1e-6 * bound);
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
        element from = any_element(&random, constellations, USUAL);
        float *values = &from.z[0][0], out[NR_MAX_BITS];
        const bool is_erased = n % 2;
        if (is_erased)
            values[harness_random_below(&random, N_VALUES)] = none[harness_random_below(&random, HARNESS_COUNT(none))];
        else
            for (size_t k = 0; k < N_VALUES; k += 1 + harness_random_below(&random, 4))
                harness_random_fill(&random, values + k, sizeof *values);
        if (n % 4 == 1)
            *(n % 8 == 1 ? &from.noise : &from.gains[n / 8 % 2]) = n / 16 % 2 ? -1.0F : 0.0F;
        scoped_demodulator *demodulator = llr_create(&config, on->items[harness_random_below(&random, on->n)]);
        harness_poison((uint8_t *)out, (uint8_t *)out, sizeof out);
        demodulate(demodulator, constellations, &from, out);
        for (int b = 0; b < constellations[0]->n_bits; b++) {
            assert_true(isfinite(out[b]));
            if (is_erased)
                assert_true(out[b] == 0 && !signbit(out[b]));
        }
    }
}
