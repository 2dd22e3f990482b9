/* SPDX-License-Identifier: MIT */
#include "specified_fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static const struct {
    softqam_output_format format;
    float scale;
    int limit;
} scales[] = {
    {SOFTQAM_OUTPUT_S8, 6, 127},          {SOFTQAM_OUTPUT_S8, 6, 120},          {SOFTQAM_OUTPUT_S8, 1, 63},
    {SOFTQAM_OUTPUT_S8, 0x1p-10F, 127},   {SOFTQAM_OUTPUT_S8, 0x1p20F, 64},     {SOFTQAM_OUTPUT_S8, 0.37F, 1},
    {SOFTQAM_OUTPUT_S16, 64, 32767},      {SOFTQAM_OUTPUT_S16, 0x1p14F, 30000}, {SOFTQAM_OUTPUT_S16, 6, 127},
    {SOFTQAM_OUTPUT_S16, 0x1p-10F, 1000}, {SOFTQAM_OUTPUT_F16, 1, 0},           {SOFTQAM_OUTPUT_F32, 1, 0},
};

_Static_assert(HARNESS_N_LLR_FORMATS == 4, "scales of each");

enum { N_FORMS_AND_SIGNS = 4 };

const size_t specified_n_settings = HARNESS_COUNT(scales) * N_FORMS_AND_SIGNS;

specified_settings specified_settings_at(size_t k)
{
    return (specified_settings){
        .modulation = harness_modulation(),
        .format = scales[k / N_FORMS_AND_SIGNS].format,
        .form = k & 1 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0,
        .sign = k & 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0,
        .scale = scales[k / N_FORMS_AND_SIGNS].scale,
        .limit = scales[k / N_FORMS_AND_SIGNS].limit,
    };
}

specified_settings specified_plain_settings(softqam_output_format format, softqam_noise_form form)
{
    return (specified_settings){
        .modulation = harness_modulation(),
        .format = format,
        .form = form,
        .sign = SOFTQAM_SIGN_POSITIVE_IS_0,
        .scale = harness_llr_defaults_of[format].scale,
        .limit = harness_llr_defaults_of[format].limit,
    };
}

/* Which of a symbol's LLRs have the opposite sign: by the configuration, or by the scrambling sequence, of which
 * test_gold_sequence.c has the proof. */
static uint32_t flips_of(const specified_settings *of, uint64_t position)
{
    const uint32_t all = of->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? ~0U : 0;
    const size_t n_bits = softqam_bits_per_symbol(of->modulation);
    uint32_t scrambled = 0;
    if (of->is_descrambled)
        assert_int_equal(softqam_gold_sequence(of->c_init, position * n_bits, n_bits, &scrambled), SOFTQAM_OK);
    return all ^ scrambled;
}

void specify_symbol(const specified_settings *of, const float *symbol, float noise, const float *gain,
                    uint64_t position, uint8_t *to)
{
    const nr_constellation *c = llr_constellation(of->modulation);
    const nr_noise what = {.value = noise,
                           .is_inverse = of->form == SOFTQAM_NOISE_FORM_INVERSE,
                           .has_gain = gain != NULL,
                           .gain = gain ? *gain : 1};
    const uint32_t flipped = flips_of(of, position);
    union {
        int8_t s8[NR_MAX_BITS];
        int16_t s16[NR_MAX_BITS];
        uint16_t f16[NR_MAX_BITS];
        float f32[NR_MAX_BITS];
    } llrs;
    switch (of->format) {
    case SOFTQAM_OUTPUT_S8:
        contract_s8(c, symbol, what, position, flipped, of->scale, of->limit, llrs.s8);
        break;
    case SOFTQAM_OUTPUT_S16:
        contract_s16(c, symbol, what, position, flipped, of->scale, of->limit, llrs.s16);
        break;
    case SOFTQAM_OUTPUT_F16:
        contract_f16(c, symbol, what, position, flipped, llrs.f16);
        break;
    case SOFTQAM_OUTPUT_F32:
        contract_f32(c, symbol, what, position, flipped, llrs.f32);
        break;
    case SOFTQAM_OUTPUT_U8:
        fail_msg("u8 is not specified here");
    }
    memcpy(to, &llrs, softqam_output_nbytes(of->format, of->modulation, 1));
}

void specify(const specified_settings *of, const float *symbols, const float *noise, size_t noise_stride, size_t n,
             uint8_t *to)
{
    const size_t nbytes = softqam_output_nbytes(of->format, of->modulation, 1);
    for (size_t i = 0; i < n; i++)
        specify_symbol(of, symbols + 2 * i, noise[i * noise_stride], NULL, i, to + i * nbytes);
}

harness_setup specified_setup(const specified_settings *of, softqam_noise noise)
{
    harness_setup setup = harness_format_setup(of->format, noise);
    setup.demodulator.sign = of->sign;
    setup.demodulator.noise_form = of->form;
    setup.demodulator.llr_scale = of->scale;
    setup.demodulator.llr_limit = of->limit;
    setup.demodulator.input_scale = of->input_scale;
    return setup;
}

specified_demodulators specified_open(const llr_contexts *on, const specified_settings *of, softqam_noise noise)
{
    specified_demodulators self = {.of = *of, .n = on->n, .nbytes = harness_output_nbytes(of->format, 1)};
    harness_setup each = specified_setup(of, noise);
    for (size_t k = 0; k < on->n; k++) {
        each.demodulator.context = on->items[k];
        self.names[k] = on->names[k];
        self.items[k] = harness_create(&each);
    }
    return self;
}

void specified_close(specified_demodulators *self)
{
    for (size_t k = 0; k < self->n; k++)
        softqam_demodulator_destroy(self->items[k]);
}

void specified_compare(const specified_demodulators *self, size_t k, const char *what, const float *symbols,
                       const float *noise, size_t noise_stride, const uint8_t *expected, const uint8_t *got, size_t n)
{
    if (memcmp(expected, got, n * self->nbytes) == 0)
        return;
    size_t i = 0;
    while (memcmp(expected + i * self->nbytes, got + i * self->nbytes, self->nbytes) == 0)
        i++;
    harness_outputs_equal(what, self->of.format, symbols, expected, got, n);
    fail_msg("%s, %s, %s%s, scale %a, limit %d: symbol %zu of %zu, %s %a", what, self->names[k],
             harness_output_names[self->of.format], self->of.sign ? ", positive is 1" : "", (double)self->of.scale,
             self->of.limit, i, n, self->of.form == SOFTQAM_NOISE_FORM_INVERSE ? "1/N0" : "N0",
             (double)noise[i * noise_stride]);
}

void specified_check(const specified_demodulators *self, const char *what, const float *symbols, const float *noise,
                     size_t noise_stride, size_t n, const uint8_t *expected, uint8_t *got)
{
    for (size_t k = 0; k < self->n; k++) {
        harness_poison(got, expected, n * self->nbytes);
        harness_demodulate_llrs(self->items[k], symbols, noise, n, got);
        specified_compare(self, k, what, symbols, noise, noise_stride, expected, got, n);
    }
}

void specified_check_settings(const llr_contexts *on, const char *what, const specified_settings *of,
                              const llr_input *in)
{
    const size_t nbytes = in->n_symbols * harness_output_nbytes(of->format, 1);
    SCOPED(specified_close) specified_demodulators all = specified_open(on, of, SOFTQAM_NOISE_PER_SYMBOL);
    scoped_memory uint8_t *expected = harness_alloc(nbytes), *got = harness_alloc(nbytes);
    specify(of, in->symbols, in->noise_var, 1, in->n_symbols, expected);
    specified_check(&all, what, in->symbols, in->noise_var, 1, in->n_symbols, expected, got);
}

void specified_fill_usual(harness_random *random, softqam_noise_form form, llr_input *to)
{
    harness_symbol_sets[0].fill(random, harness_symbol_sets[0].parameter, 0, to->n_symbols, to->symbols);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, to->n_symbols, to->noise_var);
    for (size_t i = 0; form == SOFTQAM_NOISE_FORM_INVERSE && i < to->n_symbols; i++)
        to->noise_var[i] = 1 / to->noise_var[i];
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void add_bits(special_values *self, uint32_t bits)
{
    assert_true(self->n < MAX_SPECIAL);
    memcpy(&self->values[self->n++], &bits, sizeof bits);
}

enum { NEAR_ULPS = 2 };

static void add_near(special_values *self, float value)
{
    for (int k = -NEAR_ULPS; k <= NEAR_ULPS; k++)
        add_bits(self, float_bits(value) + (uint32_t)k);
}

static void add_no_numbers(special_values *self)
{
    static const uint32_t bits[] = {0x7f800000, 0x7fc00000, 0x7f800001, 0x7fffffff};
    for (size_t k = 0; k < HARNESS_COUNT(bits); k++)
        add_bits(self, bits[k]);
}

special_values special_components(void)
{
    static const float near[] = {FLT_MIN, 0x1p-64F, 0x1p-63F, 0x1p-62F, 0x1p-24F, 1, 2, 3, 4, 0x1p23F, 1e30F, 0x1p127F};
    static const float others[] = {0, 0x1p-149F, 0x1.8p-130F, 0x1p-100F, 1e-30F, 40, FLT_MAX / 3, FLT_MAX};
    special_values self = {0};
    for (size_t k = 0; k < HARNESS_COUNT(near); k++)
        add_near(&self, near[k]);
    for (size_t k = 0; k < HARNESS_COUNT(others); k++)
        add_bits(&self, float_bits(others[k]));
    /* Boundaries of the rows. */
    for (int k = 1; k <= 1 << (llr_constellation(harness_modulation())->axis_bits - 1); k++)
        add_near(&self, (float)(2 * k / sqrt(llr_constellation(harness_modulation())->energy)));
    add_no_numbers(&self);
    for (size_t k = 0, n = self.n; k < n; k++)
        add_bits(&self, float_bits(self.values[k]) | 0x80000000);
    return self;
}

special_values special_noise(float scale)
{
    const float near[] = {0x1p-100F, 0x1p-40F,         0x1p40F,         0x1p100F,         0x1p-13F,
                          0x1p13F,   scale * 0x1p-19F, 0x1p19F / scale, scale * 0x1p-15F, 0x1p15F / scale};
    static const float others[] = {-0.0F,    -1,    -0x1p-149F, -INFINITY, 0x1p-149F, 0x1.8p-130F, FLT_MIN, 1e-30F,
                                   0x1p-63F, 1e-4F, 0.01F,      1,         1e4F,      1e30F,       FLT_MAX};
    special_values self = {0};
    for (size_t k = 0; k < HARNESS_COUNT(near); k++)
        add_near(&self, near[k]);
    for (size_t k = 0; k < HARNESS_COUNT(others); k++)
        add_bits(&self, float_bits(others[k]));
    add_bits(&self, 0);
    add_bits(&self, 0xffc00000);
    add_no_numbers(&self);
    return self;
}

float special_random(harness_random *random, const special_values *from)
{
    return from->values[harness_random_below(random, from->n)];
}

int specified_open_contexts(void **state)
{
    llr_contexts *self = harness_alloc(sizeof *self);
    *self = llr_open_contexts(1, 0);
    *state = self;
    return 0;
}

int specified_close_contexts(void **state)
{
    llr_close_contexts(*state);
    free(*state);
    return 0;
}
