/* SPDX-License-Identifier: MIT */
/* A gain for each resource element: the LLRs are those that reference/contract.h specifies for y = g x + n, to the last
 * bit, in every layout; and they are what brute force finds for that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "max_log.h"
#include "specified_fixture.h"

enum { STREAM_LAYOUTS = 1, STREAM_TRUTH };
enum { MAX_ELEMENTS = 1500, MAX_STRIDE = 8, MAX_LAYERS = SOFTQAM_MAX_LAYERS };
enum { MAX_ITEMS = MAX_ELEMENTS * MAX_STRIDE + MAX_LAYERS };

/* Symbols, noise and gains of all layers, and a segment of them. */
typedef struct trial {
    softqam_demodulator_config config;
    softqam_segment segment;
    bool has_ones; /* gains of 1, which must change nothing */
    float *symbols;
    float *noise;
    float *gains;
    int16_t *samples; /* cs16 */
} trial;

static void trial_open(trial *self)
{
    *self = (trial){.symbols = malloc(2 * MAX_ITEMS * sizeof(float)),
                    .noise = malloc(MAX_ITEMS * sizeof(float)),
                    .gains = malloc(MAX_ITEMS * sizeof(float)),
                    .samples = malloc(2 * MAX_ITEMS * sizeof(int16_t))};
    assert_true(self->symbols && self->noise && self->gains && self->samples);
}

static void trial_close(trial *self)
{
    free(self->symbols);
    free(self->noise);
    free(self->gains);
    free(self->samples);
}

/* Mostly what a channel has; two of n_unusual of any size, and what is no gain at all. */
static float choose_gain(harness_random *random, size_t n_unusual)
{
    static const float special[] = {0,        -0.0F,     -1,         NAN,       INFINITY,  -INFINITY, 0x1p-40F,
                                    0x1p-41F, 0x1p40F,   0x1.8p40F,  0x1p-149F, 0x1p-127F, 0x1p127F,  1,
                                    0x1p-63F, 0x1p-126F, 0x1.8p-40F, 0x1p39F,   0x1.8p39F};
    const size_t kind = harness_random_below(random, n_unusual);
    if (kind == 0)
        return special[harness_random_below(random, HARNESS_COUNT(special))];
    const float significand = 1 + (float)harness_random_below(random, 1 << 23) * 0x1p-23F;
    return ldexpf(significand, (int)harness_random_below(random, kind == 1 ? 100 : 12) - (kind == 1 ? 50 : 6));
}

static void choose_config(harness_random *random, softqam_demodulator_config *config)
{
    const softqam_output_format format = harness_llr_formats[harness_random_below(random, HARNESS_N_LLR_FORMATS)];
    static const int limits[] = {127, 120, 1};
    softqam_demodulator_config_init(config);
    config->modulation = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    config->input_format = harness_random_below(random, 4) ? SOFTQAM_INPUT_CF32 : SOFTQAM_INPUT_CS16;
    config->output_format = format;
    config->sign = harness_random_below(random, 2) ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
    config->noise_form = harness_random_below(random, 2) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    config->llr_scale = harness_llr_defaults_of[format].scale;
    config->llr_limit = harness_llr_defaults_of[format].limit;
    if (format == SOFTQAM_OUTPUT_S8)
        config->llr_limit = limits[harness_random_below(random, HARNESS_COUNT(limits))];
}

/* Layers interleaved, one or more of a wider row, or each on its own; one noise value and gain a layer, or one each. */
static void choose_layout(harness_random *random, trial *self)
{
    softqam_segment *segment = &self->segment;
    const bool is_cs16 = self->config.input_format == SOFTQAM_INPUT_CS16,
               is_apart = harness_random_below(random, 3) == 0;
    const size_t n_elements = 1 + harness_random_below(random, harness_random_below(random, 4) ? 100 : MAX_ELEMENTS);
    const unsigned n_layers = self->config.modulation == SOFTQAM_MODULATION_PI2_BPSK
                                  ? 1
                                  : 1 + (unsigned)harness_random_below(random, MAX_LAYERS);
    const size_t stride = is_apart ? 1 : n_layers + harness_random_below(random, MAX_STRIDE - n_layers + 1);
    const size_t step = is_apart ? n_elements : 1;
    *segment = (softqam_segment){.n_symbols = n_elements * n_layers,
                                 .n_layers = n_layers,
                                 .symbol_stride = stride,
                                 .noise_stride = harness_random_below(random, 4) ? stride : 0};
    segment->first_symbol = n_layers * harness_random_below(random, 100);
    segment->descramble = (uint32_t)harness_random_below(random, 2);
    segment->c_init = segment->descramble ? harness_random_u32(random) >> 1 : 0;
    for (unsigned k = 0; k < n_layers; k++) {
        segment->layers[k].symbols =
            is_cs16 ? (void *)(self->samples + 2 * k * step) : (void *)(self->symbols + 2 * k * step);
        segment->layers[k].noise_var = self->noise + k * step;
        segment->layers[k].gain = self->gains + k * step;
    }
}

static void fill(harness_random *random, trial *self)
{
    const size_t n =
        self->segment.n_symbols * MAX_STRIDE < MAX_ITEMS ? self->segment.n_symbols * MAX_STRIDE : MAX_ITEMS;
    harness_fill_mixture(random, n, self->symbols);
    harness_fill_noise(random, harness_random_below(random, 4) ? HARNESS_NOISE_USUAL : HARNESS_NOISE_ANY, n,
                       self->noise);
    harness_random_fill(random, self->samples, 2 * n * sizeof *self->samples);
    const size_t n_unusual = harness_random_below(random, 2) ? 16 : 4000;
    self->has_ones = harness_random_below(random, 32) == 0;
    for (size_t i = 0; i < n; i++)
        self->gains[i] = self->has_ones ? 1 : choose_gain(random, n_unusual);
}

/* The symbol's values as specified. */
static void specify_in(const trial *self, size_t i, uint8_t *to)
{
    const softqam_segment *segment = &self->segment;
    const softqam_demodulator_config *config = &self->config;
    const softqam_layer *layer = &segment->layers[i % segment->n_layers];
    const size_t element = i / segment->n_layers, at = element * segment->noise_stride;
    const size_t sample_nbytes = softqam_input_symbol_nbytes(config->input_format);
    const specified_settings of = {.modulation = config->modulation,
                                   .format = config->output_format,
                                   .form = config->noise_form,
                                   .sign = config->sign,
                                   .scale = config->llr_scale,
                                   .limit = config->llr_limit,
                                   .is_descrambled = segment->descramble,
                                   .c_init = segment->c_init};
    float symbol[2];
    harness_widen(config->input_format, 0,
                  (const uint8_t *)layer->symbols + element * segment->symbol_stride * sample_nbytes, 1, symbol);
    specify_symbol(&of, symbol, layer->noise_var[at], self->has_ones ? NULL : &layer->gain[at],
                   segment->first_symbol + i, to);
}

static softqam_demodulator *create(const trial *self, softqam_context *context)
{
    softqam_demodulator_config config = self->config;
    softqam_demodulator *demodulator = NULL;
    config.context = context;
    assert_int_equal(softqam_demodulator_create(&demodulator, &config), SOFTQAM_OK);
    return demodulator;
}

/* What every context makes of the trial. */
static void check(const llr_contexts *on, trial *self)
{
    const size_t nbytes = softqam_output_nbytes(self->config.output_format, self->config.modulation, 1);
    const size_t n = self->segment.n_symbols;
    scoped_memory uint8_t *expected = malloc(n * nbytes);
    SCOPED(harness_buffer_close) harness_buffer out;
    harness_buffer_open(&out, n * nbytes);
    assert_non_null(expected);
    for (size_t i = 0; i < n; i++)
        specify_in(self, i, expected + i * nbytes);
    for (size_t c = 0; c < on->n; c++) {
        scoped_demodulator *demodulator = create(self, on->items[c]);
        harness_buffer_place_at_end(&out, n * nbytes, 0);
        memset(out.data, 0x5a, n * nbytes);
        self->segment.out = out.data;
        assert_int_equal(softqam_demodulate_segments(demodulator, &self->segment, 1), SOFTQAM_OK);
        for (size_t i = 0; i < n * nbytes; i++)
            if (out.data[i] != expected[i])
                fail_msg("%s: %u bits, format %d, symbol %zu of %zu, byte %zu is %d, not %d", on->names[c],
                         softqam_bits_per_symbol(self->config.modulation), (int)self->config.output_format, i / nbytes,
                         n, i % nbytes, out.data[i], expected[i]);
        harness_buffer_check(&out);
    }
}

HARNESS_TEST(test_layouts)
{
    harness_random random = harness_random_stream(STREAM_LAYOUTS);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(1);
    trial of;
    trial_open(&of);
    for (size_t n = harness_symbol_count(HARNESS_SANITIZED ? 1000 : 6000); n > 0; n--) {
        choose_config(&random, &of.config);
        choose_layout(&random, &of);
        fill(&random, &of);
        check(&on, &of);
    }
    trial_close(&of);
}

/* N0 LLR(b) = min over points with b = 1 of |y - g x|^2 - min over points with b = 0, in double. */
static double brute_force(const nr_constellation *constellation, const float y[2], double g, uint64_t position, int b)
{
    double nearest[2] = {INFINITY, INFINITY};
    for (int bits = 0; bits < 1 << constellation->n_bits; bits++) {
        double point[2];
        nr_point(constellation, bits, position, point);
        const int value = bits >> (constellation->n_bits - 1 - b) & 1;
        const double i = (double)y[0] - g * point[0], q = (double)y[1] - g * point[1];
        nearest[value] = fmin(nearest[value], i * i + q * q);
    }
    return nearest[1] - nearest[0];
}

HARNESS_TEST(test_truth)
{
    harness_random random = harness_random_stream(STREAM_TRUTH);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(1);
    for (size_t n = harness_symbol_count(4000); n > 0; n--) {
        const softqam_modulation modulation =
            (softqam_modulation)(1 + harness_random_below(&random, HARNESS_N_MODULATIONS));
        const nr_constellation *constellation = llr_constellation(modulation);
        trial of = {.config = {.modulation = modulation, .output_format = SOFTQAM_OUTPUT_F32, .llr_scale = 1}};
        float llrs[NR_MAX_BITS] = {0}, y[2], noise, gain;
        gain = ldexpf(1 + (float)harness_random_below(&random, 1 << 20) * 0x1p-20F,
                      (int)harness_random_below(&random, 20) - 10);
        noise = gain * gain * 0.01F;
        for (int axis = 0; axis < 2; axis++)
            y[axis] = gain * ((float)harness_random_below(&random, 1 << 20) * 0x1p-18F - 2);
        of.segment = (softqam_segment){.n_symbols = 1, .out = llrs};
        of.segment.layers[0] = (softqam_layer){.symbols = y, .noise_var = &noise, .gain = &gain};
        for (size_t c = 0; c < on.n; c++) {
            scoped_demodulator *demodulator = create(&of, on.items[c]);
            assert_int_equal(softqam_demodulate_segments(demodulator, &of.segment, 1), SOFTQAM_OK);
            for (int b = 0; b < constellation->n_bits; b++) {
                const double exact = brute_force(constellation, y, (double)gain, 0, b) / (double)noise;
                assert_true(fabs((double)llrs[b] - exact) <= 1e-3); /* of up to some 2,000 */
            }
        }
    }
}
