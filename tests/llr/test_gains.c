/* SPDX-License-Identifier: MIT */
/* A gain for each resource element: the LLRs are those that reference/contract.h specifies for y = g x + n, to the last
 * bit, in every layout, in calls of several segments and of memory that devices reach; and they are what brute force
 * finds for that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "max_log.h"
#include "specified_fixture.h"

enum { STREAM_LAYOUTS = 1, STREAM_TRUTH, STREAM_LISTS, STREAM_PINNED, STREAM_ENDS };
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
    specify_symbol(&of, symbol, layer->noise_var[at], self->has_ones || !layer->gain ? NULL : &layer->gain[at],
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
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(1, 0);
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

/* Chunks begin in any segment and layer. */
static softqam_context *create_context(size_t chunk_symbols, unsigned n_threads)
{
    harness_setup setup = harness_default_setup();
    setup.context.chunk_symbols = chunk_symbols;
    setup.context.n_threads = n_threads;
    return harness_create_context(&setup);
}

/* Segments with gains and without in one call. */
HARNESS_TEST(test_lists)
{
    enum { N_SEGMENTS = 5 };
    static const size_t chunks[] = {1, 100, 1000, 1 << 20};
    harness_random random = harness_random_stream(STREAM_LISTS);
    trial of[N_SEGMENTS];
    for (size_t k = 0; k < N_SEGMENTS; k++)
        trial_open(&of[k]);
    for (size_t n = 0; n < 200; n++) {
        softqam_segment segments[N_SEGMENTS];
        size_t end = 0, first[N_SEGMENTS];
        choose_config(&random, &of[0].config);
        const size_t nbytes = softqam_output_nbytes(of[0].config.output_format, of[0].config.modulation, 1);
        for (size_t k = 0; k < N_SEGMENTS; k++) {
            of[k].config = of[0].config;
            choose_layout(&random, &of[k]);
            fill(&random, &of[k]);
            for (unsigned layer = 0; k % 2 && layer < of[k].segment.n_layers; layer++)
                of[k].segment.layers[layer].gain = NULL;
            first[k] = end;
            end += of[k].segment.n_symbols * nbytes;
        }
        scoped_memory uint8_t *expected = malloc(end), *got = malloc(end);
        assert_true(expected && got);
        for (size_t k = 0; k < N_SEGMENTS; k++) {
            of[k].segment.out = got + first[k];
            segments[k] = of[k].segment;
            for (size_t i = 0; i < segments[k].n_symbols; i++)
                specify_in(&of[k], i, expected + first[k] + i * nbytes);
        }
        softqam_context *context = create_context(chunks[n % HARNESS_COUNT(chunks)], 1 + n / 4 % 3);
        softqam_demodulator *demodulator = create(&of[0], context);
        memset(got, 0x5a, end);
        assert_int_equal(softqam_demodulate_segments(demodulator, segments, N_SEGMENTS), SOFTQAM_OK);
        assert_memory_equal(got, expected, end);
        softqam_demodulator_destroy(demodulator);
        softqam_context_destroy(context);
    }
    for (size_t k = 0; k < N_SEGMENTS; k++)
        trial_close(&of[k]);
}

/* A copy in memory that devices reach where it is that one's turn, and the other again. */
static void *copy_of(softqam_context *context, const void *from, size_t nbytes, bool is_pinned)
{
    void *memory = NULL;
    if (is_pinned)
        assert_int_equal(softqam_host_alloc(context, nbytes, &memory), SOFTQAM_OK);
    else
        memory = harness_alloc(nbytes);
    memcpy(memory, from, nbytes);
    return memory;
}

static void free_copy(void *memory, bool is_pinned) { is_pinned ? softqam_host_free(memory) : free(memory); }

/* Symbols, noise, gains and LLRs of one segment, each in memory that devices reach or not. */
HARNESS_TEST(test_memory)
{
    harness_random random = harness_random_stream(STREAM_PINNED);
    trial of;
    trial_open(&of);
    for (unsigned n = 0; n < 64; n++) {
        choose_config(&random, &of.config);
        of.config.input_format = SOFTQAM_INPUT_CF32;
        choose_layout(&random, &of);
        of.segment.n_symbols = MAX_ELEMENTS;
        of.segment.n_layers = 1;
        of.segment.symbol_stride = of.segment.noise_stride = 1;
        fill(&random, &of);
        of.segment.layers[0] = (softqam_layer){.symbols = of.symbols, .noise_var = of.noise, .gain = of.gains};
        const size_t nbytes = softqam_output_nbytes(of.config.output_format, of.config.modulation, 1);
        scoped_memory uint8_t *expected = harness_alloc(MAX_ELEMENTS * nbytes);
        for (size_t i = 0; i < MAX_ELEMENTS; i++)
            specify_in(&of, i, expected + i * nbytes);
        softqam_context *context = create_context(n & 16 ? 100 : 1 << 20, 1);
        softqam_demodulator *demodulator = create(&of, context);
        softqam_segment segment = of.segment;
        void *symbols = copy_of(context, of.symbols, 2 * MAX_ELEMENTS * sizeof(float), n & 1);
        void *noise = copy_of(context, of.noise, MAX_ELEMENTS * sizeof(float), n & 2);
        void *gains = copy_of(context, of.gains, MAX_ELEMENTS * sizeof(float), n & 4);
        segment.out = copy_of(context, expected, MAX_ELEMENTS * nbytes, n & 8);
        segment.layers[0] = (softqam_layer){.symbols = symbols, .noise_var = noise, .gain = gains};
        memset(segment.out, 0x5a, MAX_ELEMENTS * nbytes);
        assert_int_equal(softqam_demodulate_segments(demodulator, &segment, 1), SOFTQAM_OK);
        assert_memory_equal(segment.out, expected, MAX_ELEMENTS * nbytes);
        free_copy(symbols, n & 1);
        free_copy(noise, n & 2);
        free_copy(gains, n & 4);
        free_copy(segment.out, n & 8);
        softqam_demodulator_destroy(demodulator);
        softqam_context_destroy(context);
    }
    trial_close(&of);
}

/* Gains, noise values and components at all powers of two and beside them, where weights come to the ends of the
 * floats and LLRs to those of their format. */
HARNESS_TEST(test_ends)
{
    harness_random random = harness_random_stream(STREAM_ENDS);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(1, 0);
    trial of;
    trial_open(&of);
    for (size_t n = harness_symbol_count(HARNESS_SANITIZED ? 200 : 1000); n > 0; n--) {
        choose_config(&random, &of.config);
        if (of.config.output_format == SOFTQAM_OUTPUT_S8 && harness_random_below(&random, 2))
            of.config.llr_scale = harness_random_below(&random, 2) ? 0x1p-10F : 0x1p20F;
        if (of.config.output_format == SOFTQAM_OUTPUT_S16 && harness_random_below(&random, 2))
            of.config.llr_scale = harness_random_below(&random, 2) ? 0x1p-10F : 0x1p14F;
        of.config.input_format = SOFTQAM_INPUT_CF32;
        choose_layout(&random, &of);
        fill(&random, &of);
        of.has_ones = false;
        for (size_t i = 0; i < MAX_ITEMS; i++) {
            const int gain = (int)harness_random_below(&random, 277) - 149;
            const int llr = (int)harness_random_below(&random, 12) - 4; /* of the LLR, where that can be */
            const int limited = gain < -40 ? -40 : gain > 40 ? 40 : gain;
            const int noise = (int)harness_random_below(&random, 277) - 149;
            const int of_noise = of.config.noise_form == SOFTQAM_NOISE_FORM_INVERSE ? -noise : noise;
            const int limited_noise = of_noise < -100 ? -100 : of_noise > 40 ? 40 : of_noise;
            of.gains[i] = ldexpf(1 + (float)harness_random_below(&random, 3) * 0x1p-23F, gain);
            of.noise[i] = ldexpf(1 + (float)harness_random_below(&random, 3) * 0x1p-22F, noise);
            for (size_t axis = 0; axis < 2; axis++)
                of.symbols[2 * i + axis] = ldexpf((harness_random_below(&random, 2) ? 1 : -1) *
                                                      (1 + (float)harness_random_below(&random, 1 << 23) * 0x1p-23F),
                                                  llr + limited_noise - limited - ilogbf(of.config.llr_scale));
        }
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
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(1, 0);
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
