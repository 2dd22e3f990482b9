/* SPDX-License-Identifier: MIT */
/* Gains of one layer: at the ends of what floats hold, and in memory that devices reach or not, the LLRs are those that
 * reference/contract.h specifies for y = g x + n, to the last bit. test_llr_segments.c has gains of all layouts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "specified_fixture.h"

enum { STREAM_MEMORY = 1, STREAM_ENDS, N_SYMBOLS = 1500 };

typedef struct trial {
    specified_settings of;
    size_t nbytes; /* of a symbol's LLRs */
    float symbols[2 * N_SYMBOLS], noise[N_SYMBOLS], gains[N_SYMBOLS];
    uint8_t expected[N_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * sizeof(float)];
} trial;

static void choose(harness_random *random, trial *self)
{
    /* Half of them f16 and f32, whose settings are the last. */
    const size_t n_floats = 8, k = harness_random_below(random, specified_n_settings);
    self->of = specified_settings_at(harness_random_below(random, 2) ? k : specified_n_settings - 1 - k % n_floats);
    self->of.modulation = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    self->nbytes = softqam_output_nbytes(self->of.format, self->of.modulation, 1);
}

static void specify_trial(trial *self)
{
    for (size_t i = 0; i < N_SYMBOLS; i++)
        specify_symbol(&self->of, self->symbols + 2 * i, self->noise[i], &self->gains[i], i,
                       self->expected + i * self->nbytes);
}

static void check(const trial *self, softqam_layer layer, size_t noise_stride, uint8_t *got, softqam_context *context,
                  const char *what)
{
    const softqam_segment segment = {
        .n_symbols = N_SYMBOLS, .noise_stride = noise_stride, .layers = {layer}, .out = got};
    harness_setup setup = specified_setup(&self->of, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.modulation = self->of.modulation;
    setup.demodulator.context = context;
    scoped_demodulator *demodulator = harness_create(&setup);
    harness_poison(got, self->expected, N_SYMBOLS * self->nbytes);
    harness_demodulate_segments(demodulator, &segment, 1);
    for (size_t i = 0; i < N_SYMBOLS * self->nbytes; i++)
        if (got[i] != self->expected[i])
            fail_msg("%s, %s, modulation %d, symbol %zu (%a, %a), noise %a, gain %a: byte %zu is %d, not %d", what,
                     harness_output_names[self->of.format], (int)self->of.modulation, i / self->nbytes,
                     (double)self->symbols[i / self->nbytes * 2], (double)self->symbols[i / self->nbytes * 2 + 1],
                     (double)self->noise[i / self->nbytes], (double)self->gains[i / self->nbytes], i % self->nbytes,
                     got[i], self->expected[i]);
}

/* Symbols, noise, gains and LLRs of one segment, each in memory that devices reach or not; noise and gains side by side
 * or with gaps. */
HARNESS_TEST(test_memory)
{
    static trial of;
    static float noise[2 * N_SYMBOLS], gains[2 * N_SYMBOLS];
    const struct {
        const void *from;
        size_t nbytes;
    } contents[] = {{of.symbols, sizeof of.symbols},
                    {noise, sizeof noise},
                    {gains, sizeof gains},
                    {of.expected, sizeof of.expected}};
    harness_random random = harness_random_stream(STREAM_MEMORY);
    for (unsigned n = 0; n < 64; n++) {
        harness_setup setup = harness_default_setup();
        setup.context.chunk_symbols = n & 16 ? 100 : 1 << 20;
        setup.context.n_threads = 1;
        scoped_context *context = harness_create_context(&setup);
        choose(&random, &of);
        harness_fill_mixture(&random, N_SYMBOLS, of.symbols);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, N_SYMBOLS, of.noise);
        harness_fill_gains(&random, N_SYMBOLS, of.gains);
        specify_trial(&of);
        const size_t stride = n & 32 ? 2 : 1;
        for (size_t i = 0; i < N_SYMBOLS; i++) {
            noise[i * stride] = of.noise[i];
            gains[i * stride] = of.gains[i];
        }
        void *copies[HARNESS_COUNT(contents)];
        for (unsigned k = 0; k < HARNESS_COUNT(contents); k++) {
            if (n >> k & 1)
                assert_int_equal(softqam_host_alloc(context, contents[k].nbytes, &copies[k]), SOFTQAM_OK);
            else
                copies[k] = harness_alloc(contents[k].nbytes);
            memcpy(copies[k], contents[k].from, contents[k].nbytes);
        }
        check(&of, (softqam_layer){.symbols = copies[0], .noise_var = copies[1], .gain = copies[2]}, stride, copies[3],
              context, "memory");
        for (unsigned k = 0; k < HARNESS_COUNT(copies); k++)
            (n >> k & 1 ? softqam_host_free : free)(copies[k]);
    }
}

/* One of few floats from this power of two on. */
static float near_power(harness_random *random, int exponent, float step)
{
    return ldexpf(1 + (float)harness_random_below(random, 3) * step, exponent);
}

static int limited(int exponent, int least, int most)
{
    return exponent < least ? least : exponent > most ? most : exponent;
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
        choose(&random, &of);
        for (size_t i = 0; i < N_SYMBOLS; i++) {
            const int gain = (int)harness_random_below(&random, 277) - 149;
            const int llr = (int)harness_random_below(&random, 12) - 4; /* of the LLR, where that can be */
            const int noise = (int)harness_random_below(&random, 277) - 149;
            const int n0 = limited(of.of.form == SOFTQAM_NOISE_FORM_INVERSE ? -noise : noise, -100, 40);
            of.gains[i] = near_power(&random, gain, 0x1p-23F);
            of.noise[i] = near_power(&random, noise, 0x1p-22F);
            for (size_t axis = 0; axis < 2; axis++)
                of.symbols[2 * i + axis] = ldexpf((harness_random_below(&random, 2) ? 1 : -1) *
                                                      (1 + (float)harness_random_below(&random, 1 << 23) * 0x1p-23F),
                                                  llr + n0 - limited(gain, -40, 40) - ilogbf(of.of.scale));
        }
        specify_trial(&of);
        for (size_t c = 0; c < on.n; c++)
            check(&of, (softqam_layer){.symbols = of.symbols, .noise_var = of.noise, .gain = of.gains}, 1, out,
                  on.items[c], on.names[c]);
    }
}
