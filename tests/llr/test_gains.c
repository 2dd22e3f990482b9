/* SPDX-License-Identifier: MIT */
/* Gains of one layer: at the ends of what floats hold, and in memory that devices reach or not, the LLRs are those that
 * reference/contract.h specifies for y = g x + n, to the last bit. test_llr_segments.c has gains of all layouts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "specified_fixture.h"

enum { STREAM_MEMORY = 1, STREAM_ENDS, N_SYMBOLS = 1500 };

typedef struct trial {
    softqam_demodulator_config config;
    softqam_segment segment;
    float symbols[2 * N_SYMBOLS], noise[N_SYMBOLS], gains[N_SYMBOLS];
    size_t nbytes; /* of the LLRs */
    uint8_t expected[N_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * sizeof(float)];
} trial;

/* A demodulator's settings, and a segment of the arrays; is_at_end: the LLR scale may be an end of its range. */
static void choose(harness_random *random, bool is_at_end, trial *self)
{
    static const int limits[] = {127, 120, 1};
    softqam_demodulator_config *config = &self->config;
    const softqam_output_format format = harness_llr_formats[harness_random_below(random, HARNESS_N_LLR_FORMATS)];
    _Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "the largest scales, and s8's limits");
    const float largest_scale = format == SOFTQAM_OUTPUT_S8 ? 0x1p20F : 0x1p14F;
    softqam_demodulator_config_init(config);
    config->modulation = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    config->output_format = format;
    config->sign = harness_random_below(random, 2) ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
    config->noise_form = harness_random_below(random, 2) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    config->llr_scale = harness_llr_defaults_of[format].scale;
    config->llr_limit = harness_llr_defaults_of[format].limit;
    if (config->llr_limit && is_at_end && harness_random_below(random, 2))
        config->llr_scale = harness_random_below(random, 2) ? 0x1p-10F : largest_scale;
    if (format == SOFTQAM_OUTPUT_S8)
        config->llr_limit = limits[harness_random_below(random, HARNESS_COUNT(limits))];
    self->segment = (softqam_segment){
        .n_symbols = N_SYMBOLS,
        .noise_stride = 1,
        .layers = {{.symbols = self->symbols, .noise_var = self->noise, .gain = self->gains}},
    };
}

static void specify_trial(trial *self)
{
    const softqam_demodulator_config *config = &self->config;
    const specified_settings of = {.modulation = config->modulation,
                                   .format = config->output_format,
                                   .form = config->noise_form,
                                   .sign = config->sign,
                                   .scale = config->llr_scale,
                                   .limit = config->llr_limit};
    const size_t nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    for (size_t i = 0; i < N_SYMBOLS; i++)
        specify_symbol(&of, self->symbols + 2 * i, self->noise[i], &self->gains[i], i, self->expected + i * nbytes);
    self->nbytes = N_SYMBOLS * nbytes;
}

static void check(const trial *self, const softqam_segment *segment, softqam_context *context, const char *what)
{
    const uint8_t *got = segment->out;
    softqam_demodulator_config config = self->config;
    config.context = context;
    scoped_demodulator *demodulator = NULL;
    assert_int_equal(softqam_demodulator_create(&demodulator, &config), SOFTQAM_OK);
    harness_poison(segment->out, self->expected, self->nbytes);
    harness_demodulate_segments(demodulator, segment, 1);
    for (size_t i = 0, nbytes = self->nbytes / N_SYMBOLS; i < self->nbytes; i++)
        if (got[i] != self->expected[i])
            fail_msg("%s, %s, modulation %d, symbol %zu (%a, %a), noise %a, gain %a: byte %zu is %d, not %d", what,
                     harness_output_names[config.output_format], (int)config.modulation, i / nbytes,
                     (double)self->symbols[i / nbytes * 2], (double)self->symbols[i / nbytes * 2 + 1],
                     (double)self->noise[i / nbytes], (double)self->gains[i / nbytes], i % nbytes, got[i],
                     self->expected[i]);
}

/* A copy in memory that devices reach where it is that one's turn. */
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

/* Symbols, noise, gains and LLRs of one segment, each in memory that devices reach or not; noise and gains side by side
 * or with gaps. */
HARNESS_TEST(test_memory)
{
    static trial of;
    static float noise[2 * N_SYMBOLS], gains[2 * N_SYMBOLS];
    harness_random random = harness_random_stream(STREAM_MEMORY);
    for (unsigned n = 0; n < 64; n++) {
        harness_setup setup = harness_default_setup();
        setup.context.chunk_symbols = n & 16 ? 100 : 1 << 20;
        setup.context.n_threads = 1;
        scoped_context *context = harness_create_context(&setup);
        choose(&random, false, &of);
        harness_fill_mixture(&random, N_SYMBOLS, of.symbols);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, N_SYMBOLS, of.noise);
        harness_fill_gains(&random, N_SYMBOLS, of.gains);
        specify_trial(&of);
        softqam_segment segment = of.segment;
        segment.noise_stride = n & 32 ? 2 : 1;
        for (size_t i = 0; i < N_SYMBOLS; i++) {
            noise[i * segment.noise_stride] = of.noise[i];
            gains[i * segment.noise_stride] = of.gains[i];
        }
        void *copies[] = {copy_of(context, of.symbols, sizeof of.symbols, n & 1),
                          copy_of(context, noise, sizeof noise, n & 2), copy_of(context, gains, sizeof gains, n & 4),
                          copy_of(context, of.expected, of.nbytes, n & 8)};
        segment.layers[0] = (softqam_layer){.symbols = copies[0], .noise_var = copies[1], .gain = copies[2]};
        segment.out = copies[3];
        check(&of, &segment, context, "memory");
        for (unsigned k = 0; k < HARNESS_COUNT(copies); k++)
            (n >> k & 1 ? softqam_host_free : free)(copies[k]);
    }
}

/* One of few floats from this power of two on. */
static float near_power(harness_random *random, int exponent, float step)
{
    return ldexpf(1 + (float)harness_random_below(random, 3) * step, exponent);
}

/* Gains, noise values and components at all powers of two and beside them, where weights come to the ends of the
 * floats and LLRs to those of their format. */
HARNESS_TEST(test_ends)
{
    static trial of;
    static uint8_t out[sizeof of.expected];
    harness_random random = harness_random_stream(STREAM_ENDS);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(1, 0);
    for (size_t n = harness_symbol_count(HARNESS_SANITIZED ? 200 : 1000); n > 0; n--) {
        choose(&random, true, &of);
        for (size_t i = 0; i < N_SYMBOLS; i++) {
            const int gain = (int)harness_random_below(&random, 277) - 149;
            const int llr = (int)harness_random_below(&random, 12) - 4; /* of the LLR, where that can be */
            const int limited = gain < -40 ? -40 : gain > 40 ? 40 : gain;
            const int noise = (int)harness_random_below(&random, 277) - 149;
            const int of_noise = of.config.noise_form == SOFTQAM_NOISE_FORM_INVERSE ? -noise : noise;
            const int limited_noise = of_noise < -100 ? -100 : of_noise > 40 ? 40 : of_noise;
            of.gains[i] = near_power(&random, gain, 0x1p-23F);
            of.noise[i] = near_power(&random, noise, 0x1p-22F);
            for (size_t axis = 0; axis < 2; axis++)
                of.symbols[2 * i + axis] = ldexpf((harness_random_below(&random, 2) ? 1 : -1) *
                                                      (1 + (float)harness_random_below(&random, 1 << 23) * 0x1p-23F),
                                                  llr + limited_noise - limited - ilogbf(of.config.llr_scale));
        }
        specify_trial(&of);
        of.segment.out = out;
        for (size_t c = 0; c < on.n; c++)
            check(&of, &of.segment, on.items[c], on.names[c]);
    }
}
