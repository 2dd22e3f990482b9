/* SPDX-License-Identifier: MIT */
/* LLRs are the specified ones, reference/contract.h, to the last bit: through the public API, on the backend that
 * SOFTQAM_TEST_BACKEND names; on the CPU by every variant of the loops that runs here, so that what is expected is
 * computed once. The loops take usual values the short way: what these are, and where in a call others lie, is what
 * most of the tests are about. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "llr_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_USUAL = 1,
    STREAM_MIXTURE,
    STREAM_SPECIAL,
    STREAM_SCALES,
    STREAM_TIES,
    STREAM_POSITIONS,
    STREAM_TILES,
    STREAM_LENGTHS,
    STREAM_SEGMENTS,
};

/* The loops' tile and their largest step, in symbols. */
enum { TILE = 1024, STEP = 16 };

/* Where the work is done: contexts of all that is to be compared. */

enum { MAX_CONTEXTS = 5 };

typedef struct contexts {
    size_t n;
    const char *names[MAX_CONTEXTS];
    softqam_context *items[MAX_CONTEXTS];
} contexts;

static int open_contexts(void **state)
{
    static const char *const variants[MAX_CONTEXTS] = {"portable", "generic", "avx2", "avx512", "neon"};
    contexts *self = harness_alloc(sizeof *self);
    harness_setup setup = harness_default_setup();
    const char *pinned = getenv("SOFTQAM_CPU_VARIANT");
    setup.context.n_threads = 1;
    self->n = 0;
    if (setup.context.backend != SOFTQAM_BACKEND_CPU || (pinned && *pinned)) {
        self->names[0] = "as the environment says";
        self->items[self->n++] = harness_create_context(&setup);
    } else {
        for (size_t k = 0; k < MAX_CONTEXTS; k++) {
            setup.context.cpu_variant = self->names[self->n] = variants[k];
            self->n += softqam_context_create(&self->items[self->n], &setup.context) == SOFTQAM_OK;
        }
        assert_true(self->n >= 2); /* portable and generic run everywhere */
    }
    *state = self;
    return 0;
}

static int close_contexts(void **state)
{
    contexts *self = *state;
    for (size_t k = 0; k < self->n; k++)
        softqam_context_destroy(self->items[k]);
    free(self);
    return 0;
}

/* What is computed: a demodulator's settings in full. */

typedef struct settings {
    softqam_modulation modulation;
    softqam_output_format format;
    softqam_noise_form form;
    softqam_sign sign;
    float scale; /* 1 but for s8 */
    int limit;
    bool is_descrambled;
    uint32_t c_init;
} settings;

static const struct {
    float scale;
    int limit;
} s8_scales[] = {{6, 127}, {6, 120}, {1, 63}, {0x1p-10F, 127}, {0x1p20F, 64}, {0.37F, 1}};

enum { N_FORMS_AND_SIGNS = 4, N_S8 = HARNESS_COUNT(s8_scales) * N_FORMS_AND_SIGNS, N_SETTINGS = N_S8 + 8 };

/* Formats, forms and signs, each with each, and s8 at several scales. */
static settings settings_at(size_t k)
{
    settings self = {
        .modulation = harness_modulation(),
        .format = SOFTQAM_OUTPUT_S8,
        .form = k & 1 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0,
        .sign = k & 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0,
        .scale = 1,
    };
    if (k < N_S8) {
        self.scale = s8_scales[k / N_FORMS_AND_SIGNS].scale;
        self.limit = s8_scales[k / N_FORMS_AND_SIGNS].limit;
    } else {
        self.format = (k - N_S8) / N_FORMS_AND_SIGNS ? SOFTQAM_OUTPUT_F32 : SOFTQAM_OUTPUT_F16;
    }
    return self;
}

/* The first of each format and form: s8 with its default scale, f16, f32. */
static settings plain_settings(softqam_output_format format, softqam_noise_form form)
{
    const bool is_s8 = format == SOFTQAM_OUTPUT_S8;
    return (settings){
        .modulation = harness_modulation(),
        .format = format,
        .form = form,
        .sign = SOFTQAM_SIGN_POSITIVE_IS_0,
        .scale = is_s8 ? LLR_S8_SCALE : 1,
        .limit = is_s8 ? LLR_S8_LIMIT : 0,
    };
}

/* Which of a symbol's LLRs have the opposite sign: by the configuration, or by the scrambling sequence, of which
 * test_gold_sequence.c has the proof. */
static uint32_t flips_of(const settings *of, uint64_t position)
{
    const uint32_t all = of->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? ~0U : 0;
    const size_t n_bits = softqam_bits_per_symbol(of->modulation);
    uint32_t scrambled = 0;
    if (of->is_descrambled)
        assert_int_equal(softqam_gold_sequence(of->c_init, position * n_bits, n_bits, &scrambled), SOFTQAM_OK);
    return all ^ scrambled;
}

/* The symbol at this position of its codeword. */
static void specify_symbol(const settings *of, const float *symbol, float noise, uint64_t position, uint8_t *to)
{
    const nr_constellation *c = llr_constellation(of->modulation);
    const nr_noise what = {noise, of->form == SOFTQAM_NOISE_FORM_INVERSE};
    const uint32_t flipped = flips_of(of, position);
    const size_t n_bits = softqam_bits_per_symbol(of->modulation);
    float floats[NR_MAX_BITS];
    uint16_t halves[NR_MAX_BITS];
    int8_t bytes[NR_MAX_BITS];
    if (of->format == SOFTQAM_OUTPUT_S8) {
        contract_s8(c, symbol, what, position, flipped, of->scale, of->limit, bytes);
        memcpy(to, bytes, n_bits * sizeof bytes[0]);
    } else if (of->format == SOFTQAM_OUTPUT_F16) {
        contract_f16(c, symbol, what, position, flipped, halves);
        memcpy(to, halves, n_bits * sizeof halves[0]);
    } else {
        contract_f32(c, symbol, what, position, flipped, floats);
        memcpy(to, floats, n_bits * sizeof floats[0]);
    }
}

/* noise_stride 0: one value for all. */
static void specify_from(const settings *of, uint64_t position, const float *symbols, const float *noise,
                         size_t noise_stride, size_t n, uint8_t *to)
{
    const size_t nbytes = softqam_output_nbytes(of->format, of->modulation, 1);
    for (size_t i = 0; i < n; i++)
        specify_symbol(of, symbols + 2 * i, noise[i * noise_stride], position + i, to + i * nbytes);
}

/* From the first symbol of a codeword on. */
static void specify(const settings *of, const float *symbols, const float *noise, size_t noise_stride, size_t n,
                    uint8_t *to)
{
    specify_from(of, 0, symbols, noise, noise_stride, n, to);
}

/* A demodulator on every context. */
typedef struct demodulators {
    settings of;
    size_t n;
    size_t nbytes; /* of a symbol's LLRs */
    const char *names[MAX_CONTEXTS];
    softqam_demodulator *items[MAX_CONTEXTS];
} demodulators;

static harness_setup setup_of(const settings *of, softqam_noise noise)
{
    harness_setup setup = harness_format_setup(of->format, noise);
    setup.demodulator.sign = of->sign;
    setup.demodulator.noise_form = of->form;
    setup.demodulator.llr_scale = of->scale;
    setup.demodulator.llr_limit = of->limit;
    return setup;
}

static demodulators open_demodulators(const contexts *on, const harness_setup *setup, const settings *of)
{
    demodulators self = {.of = *of, .n = on->n, .nbytes = harness_output_nbytes(of->format, 1)};
    harness_setup each = *setup;
    for (size_t k = 0; k < on->n; k++) {
        each.demodulator.context = on->items[k];
        self.names[k] = on->names[k];
        self.items[k] = harness_create(&each);
    }
    return self;
}

static void close_demodulators(demodulators *self)
{
    for (size_t k = 0; k < self->n; k++)
        softqam_destroy(self->items[k]);
}

/* Prints what differs, and of the first symbol that does its noise. */
static void compare(const demodulators *self, size_t k, const char *what, const float *symbols, const float *noise,
                    size_t noise_stride, const uint8_t *expected, const uint8_t *got, size_t n)
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

/* A call on every context. */
static void check(const demodulators *self, const char *what, const float *symbols, const float *noise,
                  size_t noise_stride, size_t n, const uint8_t *expected, uint8_t *got)
{
    for (size_t k = 0; k < self->n; k++) {
        harness_poison(got, expected, n * self->nbytes);
        harness_demodulate_llrs(self->items[k], symbols, noise, n, got);
        compare(self, k, what, symbols, noise, noise_stride, expected, got, n);
    }
}

/* The same with demodulators and memory of its own. */
static void check_settings(const contexts *on, const char *what, const settings *of, softqam_noise noise_of,
                           const float *symbols, const float *noise, size_t n)
{
    const size_t nbytes = n * harness_output_nbytes(of->format, 1), stride = noise_of == SOFTQAM_NOISE_PER_SYMBOL;
    const harness_setup setup = setup_of(of, noise_of);
    demodulators all = open_demodulators(on, &setup, of);
    uint8_t *expected = harness_alloc(nbytes), *got = harness_alloc(nbytes);
    specify(of, symbols, noise, stride, n, expected);
    check(&all, what, symbols, noise, stride, n, expected, got);
    free(got);
    free(expected);
    close_demodulators(&all);
}

/* Usual values: what a receiver sees, and what the short way is taken for. */

static void fill_usual(harness_random *random, softqam_noise_form form, llr_input *to)
{
    harness_symbol_sets[0].fill(random, harness_symbol_sets[0].parameter, 0, to->n_symbols, to->symbols);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, to->n_symbols, to->noise_var);
    for (size_t i = 0; form == SOFTQAM_NOISE_FORM_INVERSE && i < to->n_symbols; i++)
        to->noise_var[i] = 1 / to->noise_var[i];
}

static void test_usual_values(void **state)
{
    harness_random random = harness_random_stream(STREAM_USUAL);
    llr_input in = llr_open_input(harness_symbol_count(20011));
    for (size_t k = 0; k < N_SETTINGS; k++) {
        const settings of = settings_at(k);
        fill_usual(&random, of.form, &in);
        check_settings(*state, "usual values", &of, SOFTQAM_NOISE_PER_SYMBOL, in.symbols, in.noise_var, in.n_symbols);
    }
    llr_close_input(&in);
}

/* All sets of symbols and any bits as noise, next to each other. */
static void test_mixture(void **state)
{
    llr_input in = llr_open_mixture(STREAM_MIXTURE, HARNESS_NOISE_ANY, harness_symbol_count(30011));
    for (size_t k = 0; k < N_SETTINGS; k++) {
        const settings of = settings_at(k);
        check_settings(*state, "mixture", &of, SOFTQAM_NOISE_PER_SYMBOL, in.symbols, in.noise_var, in.n_symbols);
    }
    llr_close_input(&in);
}

/* Special values: where the arithmetic or the short way changes, and the floats beside. */

enum { MAX_SPECIAL = 512, NEAR_ULPS = 2 };

typedef struct special_values {
    size_t n;
    float values[MAX_SPECIAL];
} special_values;

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

/* Of both signs. */
static special_values special_components(void)
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

/* For N0 and for 1/N0 alike. */
static special_values special_noise(float scale)
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

static float random_special(harness_random *random, const special_values *from)
{
    return from->values[harness_random_below(random, from->n)];
}

/* One component special, the other one usual, and both special. */
static llr_input open_special(harness_random *random)
{
    const special_values components = special_components();
    llr_input self = llr_open_input(3 * components.n);
    harness_symbol_sets[0].fill(random, harness_symbol_sets[0].parameter, 0, self.n_symbols, self.symbols);
    for (size_t k = 0; k < components.n; k++) {
        self.symbols[6 * k] = components.values[k];
        self.symbols[6 * k + 3] = components.values[k];
        self.symbols[6 * k + 4] = components.values[k];
        self.symbols[6 * k + 5] = random_special(random, &components);
    }
    return self;
}

/* Every special component with every special noise value, given once for the call. */
static void test_special_noise_per_call(void **state)
{
    harness_random random = harness_random_stream(STREAM_SPECIAL);
    llr_input in = open_special(&random);
    for (size_t k = 0; k < N_SETTINGS; k++) {
        const settings of = settings_at(k);
        const special_values noise = special_noise(of.scale);
        const harness_setup setup = setup_of(&of, SOFTQAM_NOISE_PER_CALL);
        demodulators all = open_demodulators(*state, &setup, &of);
        uint8_t *expected = harness_alloc(in.n_symbols * all.nbytes), *got = harness_alloc(in.n_symbols * all.nbytes);
        for (size_t i = 0; i < noise.n; i++) {
            /* All of a few components, then all components: with an unusual weight nothing is usual. */
            const size_t n = in.n_symbols / 3 / (1 + i % 3) + 1;
            const size_t first = harness_random_below(&random, in.n_symbols - n + 1);
            specify(&of, in.symbols + 2 * first, &noise.values[i], 0, n, expected);
            check(&all, "special noise of a call", in.symbols + 2 * first, &noise.values[i], 0, n, expected, got);
        }
        free(got);
        free(expected);
        close_demodulators(&all);
    }
    llr_close_input(&in);
}

/* The same with a special value for every symbol, and with a usual one for all. */
static void test_special_values_per_symbol(void **state)
{
    harness_random random = harness_random_stream(STREAM_SPECIAL << 8);
    llr_input in = open_special(&random);
    for (size_t k = 0; k < N_SETTINGS; k++) {
        const settings of = settings_at(k);
        const special_values noise = special_noise(of.scale);
        for (size_t round = 0; round < 4; round++) {
            for (size_t i = 0; i < in.n_symbols; i++)
                in.noise_var[i] = round ? random_special(&random, &noise) : 0.25F;
            check_settings(*state, "special values", &of, SOFTQAM_NOISE_PER_SYMBOL, in.symbols, in.noise_var,
                           in.n_symbols);
        }
        /* Usual symbols, so that the weight alone decides how they are done. */
        llr_input usual = llr_open_input(noise.n * STEP);
        fill_usual(&random, of.form, &usual);
        for (size_t i = 0; i < noise.n; i++) {
            usual.noise_var[i * STEP + i % STEP] = noise.values[i];
            check_settings(*state, "one special noise value", &of, SOFTQAM_NOISE_PER_SYMBOL,
                           usual.symbols + 2 * i * STEP, usual.noise_var + i * STEP, STEP);
        }
        llr_close_input(&usual);
    }
    llr_close_input(&in);
}

/* Scales that bring components above and below 2^-63, to overflow and to nothing, some of them subnormal themselves:
 * the demodulator's, then a segment's. */
static void test_input_scales(void **state)
{
    static const float scales[] = {1e-42F, FLT_MIN, 1e-30F, 0.3F, 0x1p62F, 0x1.8p62F, 0x1p63F, 0x1p64F, 0x1p66F, 1e36F};
    harness_random random = harness_random_stream(STREAM_SCALES);
    llr_input in = open_special(&random);
    const size_t n = in.n_symbols;
    float *values = harness_alloc(n * 2 * sizeof *values);
    uint8_t *expected = harness_alloc(n * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    uint8_t *got = harness_alloc(n * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    in.noise_var[0] = 0.25F;
    for (size_t k = 0; k < HARNESS_COUNT(scales) * LLR_FORMATS; k++) {
        const settings of = plain_settings(llr_formats[k % LLR_FORMATS], SOFTQAM_NOISE_FORM_N0);
        const float scale = scales[k / LLR_FORMATS];
        harness_widen(SOFTQAM_INPUT_CF32, scale, in.symbols, n, values);
        specify(&of, values, in.noise_var, 0, n, expected);
        harness_setup setup = setup_of(&of, SOFTQAM_NOISE_PER_CALL);
        setup.demodulator.input_scale = scale;
        demodulators all = open_demodulators(*state, &setup, &of);
        check(&all, "the demodulator's input scale", in.symbols, in.noise_var, 0, n, expected, got);
        close_demodulators(&all);
        setup.demodulator.input_scale = 0;
        all = open_demodulators(*state, &setup, &of);
        for (size_t c = 0; c < all.n; c++) {
            softqam_segment segment = harness_segment(in.symbols, in.noise_var, 0, n, got);
            segment.input_scale = scale;
            harness_poison(got, expected, n * all.nbytes);
            harness_demodulate_segments(all.items[c], &segment, 1);
            compare(&all, c, "a segment's input scale", in.symbols, in.noise_var, 0, expected, got, n);
        }
        close_demodulators(&all);
    }
    free(got);
    free(expected);
    free(values);
    llr_close_input(&in);
}

/* Weights of all sizes, 1 % apart, each in calls of its own, since a tile's largest weight decides how it is done: the
 * largest usual components must not pass a limit that small ones keep. */
static void test_weights_of_all_sizes(void **state)
{
    enum { PER_OCTAVE = 64, LEAST = -42 * PER_OCTAVE, MOST = 102 * PER_OCTAVE, N = MOST - LEAST, N_CORNERS = 4 };
    const int step = N / (int)harness_symbol_count(N) | 1;
    static const float corners[N_CORNERS][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {-0x1.ffff00p0F, 0.5F}, {0, -0x1.1p-20F}, {-0.61F, 1.15F}};
    float symbols[2 * STEP], noise[STEP];
    uint8_t expected[STEP * HARNESS_MAX_SYMBOL_BITS * 4], got[STEP * HARNESS_MAX_SYMBOL_BITS * 4];
    for (size_t i = 0; i < STEP; i++)
        memcpy(symbols + 2 * i, corners[i % N_CORNERS], sizeof corners[0]);
    for (size_t k = 0; k < 4 * LLR_FORMATS; k++) {
        settings of = plain_settings(llr_formats[k / 4], k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
        of.sign = k % 3 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
        const softqam_noise noise_of = (softqam_noise)(k / 2 % 2);
        const harness_setup setup = setup_of(&of, noise_of);
        demodulators all = open_demodulators(*state, &setup, &of);
        for (int size = LEAST; size <= MOST; size += step) {
            const float weight = exp2f((float)size / PER_OCTAVE);
            for (size_t i = 0; i < STEP; i++)
                noise[i] = of.form == SOFTQAM_NOISE_FORM_INVERSE ? weight / of.scale : of.scale / weight;
            specify(&of, symbols, noise, 0, N_CORNERS, expected);
            for (size_t i = N_CORNERS; i < STEP; i++)
                memcpy(expected + i * all.nbytes, expected + (i - N_CORNERS) * all.nbytes, all.nbytes);
            check(&all, "weights", symbols, noise, noise_of, STEP, expected, got);
        }
        close_demodulators(&all);
    }
}

/* s8: products so near to a half of a step that binary32 rounds them to it; rounded twice, half of them go wrong. With
 * small weights, with usual ones, and with any, since a tile's largest one decides how it is done. */
static void test_ties(void **state)
{
    harness_random random = harness_random_stream(STREAM_TIES);
    llr_input in = llr_open_input(harness_symbol_count(20011));
    size_t n_told_apart = 0;
    settings of = plain_settings(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_FORM_INVERSE);
    of.scale = 1;
    harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, in.n_symbols, in.symbols);
    for (size_t i = 0; i < in.n_symbols; i++) {
        float metrics[HARNESS_MAX_SYMBOL_BITS];
        contract_f32(llr_constellation(of.modulation), in.symbols + 2 * i, nr_inverse_noise_var(1), i, 0, metrics);
        const float metric = fabsf(metrics[harness_random_below(&random, harness_symbol_bits())]);
        const float half = (float)harness_random_below(&random, 127) + 0.5F;
        const float most = i < in.n_symbols / 3 ? 0x1p12F : i < in.n_symbols / 3 * 2 ? 0x1p18F : FLT_MAX;
        in.noise_var[i] = half <= metric * most ? half / metric : 1;
        const double product = (double)metric * (double)in.noise_var[i];
        n_told_apart += (float)product == half && rint(product) != rint((double)half);
    }
    assert_true(n_told_apart > in.n_symbols / 8);
    for (int k = 0; k < 4; k++) {
        of.limit = k % 2 ? 127 : 126;
        of.sign = k / 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
        check_settings(*state, "ties", &of, SOFTQAM_NOISE_PER_SYMBOL, in.symbols, in.noise_var, in.n_symbols);
    }
    of.form = SOFTQAM_NOISE_FORM_N0;
    for (size_t i = 0; i < in.n_symbols; i++)
        in.noise_var[i] = 1 / in.noise_var[i];
    check_settings(*state, "ties", &of, SOFTQAM_NOISE_PER_SYMBOL, in.symbols, in.noise_var, in.n_symbols);
    llr_close_input(&in);
}

/* Where unusual values lie among usual ones. */

/* Usual symbols, the same in every tile, and what they give; single ones can be replaced. */
typedef struct tiles {
    llr_input in;
    uint8_t *expected;
    uint8_t *got;
} tiles;

static tiles open_tiles(harness_random *random, const settings *of, size_t n_symbols)
{
    const size_t nbytes = harness_output_nbytes(of->format, 1);
    tiles self = {llr_open_input(n_symbols), harness_alloc(n_symbols * nbytes), harness_alloc(n_symbols * nbytes)};
    llr_input first = self.in;
    first.n_symbols = TILE;
    fill_usual(random, of->form, &first);
    specify(of, first.symbols, first.noise_var, 1, TILE, self.expected);
    for (size_t i = TILE; i < n_symbols; i++) {
        memcpy(self.in.symbols + 2 * i, self.in.symbols + 2 * (i - TILE), 2 * sizeof(float));
        self.in.noise_var[i] = self.in.noise_var[i - TILE];
        memcpy(self.expected + i * nbytes, self.expected + (i - TILE) * nbytes, nbytes);
    }
    return self;
}

static void close_tiles(tiles *self)
{
    free(self->got);
    free(self->expected);
    llr_close_input(&self->in);
}

/* What makes a symbol unusual. */
typedef struct oddities {
    special_values components;
    special_values noise;
} oddities;

/* Makes I, Q or the noise of symbol i something special. */
static void spoil(harness_random *random, const oddities *from, const settings *of, size_t i, tiles *self)
{
    const size_t what = harness_random_below(random, 3);
    if (what < 2)
        self->in.symbols[2 * i + what] = random_special(random, &from->components);
    else
        self->in.noise_var[i] = random_special(random, &from->noise);
    specify_symbol(of, self->in.symbols + 2 * i, self->in.noise_var[i], i,
                   self->expected + i * harness_output_nbytes(of->format, 1));
}

static void repair(const settings *of, size_t i, tiles *self)
{
    const size_t nbytes = harness_output_nbytes(of->format, 1), from = i < TILE ? i + TILE : i - TILE;
    memcpy(self->in.symbols + 2 * i, self->in.symbols + 2 * from, 2 * sizeof(float));
    self->in.noise_var[i] = self->in.noise_var[from];
    memcpy(self->expected + i * nbytes, self->expected + from * nbytes, nbytes);
}

/* One unusual symbol at every place of a tile, and of the steps after it, of which the last goes back. */
static void test_every_position(void **state)
{
    enum { N = TILE + 2 * STEP + 5, ROOM = 2 * TILE + STEP };
    harness_random random = harness_random_stream(STREAM_POSITIONS);
    for (size_t k = 0; k < 2 * LLR_FORMATS; k++) {
        const settings of =
            plain_settings(llr_formats[k / 2], k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
        const oddities odd = {special_components(), special_noise(of.scale)};
        const harness_setup setup = setup_of(&of, SOFTQAM_NOISE_PER_SYMBOL);
        demodulators all = open_demodulators(*state, &setup, &of);
        tiles self = open_tiles(&random, &of, ROOM);
        for (size_t i = 0; i < N; i++) {
            spoil(&random, &odd, &of, i, &self);
            check(&all, "one unusual value", self.in.symbols, self.in.noise_var, 1, N, self.expected, self.got);
            repair(&of, i, &self);
        }
        close_tiles(&self);
        close_demodulators(&all);
    }
}

/* Unusual values in some of many tiles, in more and less than are done in full after one. */
static void test_many_tiles(void **state)
{
    enum { N_TILES = 66, N = N_TILES * TILE + 7 };
    static const unsigned every[] = {1, 2, 5, 17, 40};
    harness_random random = harness_random_stream(STREAM_TILES);
    for (size_t k = 0; k < 2 * LLR_FORMATS; k++) {
        const settings of =
            plain_settings(llr_formats[k / 2], k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
        const oddities odd = {special_components(), special_noise(of.scale)};
        const harness_setup setup = setup_of(&of, SOFTQAM_NOISE_PER_SYMBOL);
        demodulators all = open_demodulators(*state, &setup, &of);
        for (size_t e = 0; e < HARNESS_COUNT(every); e++) {
            tiles self = open_tiles(&random, &of, N);
            for (size_t tile = 0; tile < N_TILES; tile++)
                if (harness_random_below(&random, every[e]) == 0)
                    spoil(&random, &odd, &of, tile * TILE + harness_random_below(&random, TILE), &self);
            check(&all, "many tiles", self.in.symbols, self.in.noise_var, 1, N, self.expected, self.got);
            close_tiles(&self);
        }
        close_demodulators(&all);
    }
}

/* Lengths about steps and tiles, from any address to any, between guard pages, with nothing unusual, or the last symbol
 * or any. */

typedef struct guarded {
    harness_buffer symbols;
    harness_buffer noise;
    harness_buffer out;
} guarded;

static void check_guarded(const demodulators *all, guarded *memory, const tiles *self, size_t n, size_t gap)
{
    for (size_t k = 0; k < all->n; k++) {
        void (*place)(harness_buffer *, size_t, size_t) =
            (n + gap) % 2 ? harness_buffer_place_at_end : harness_buffer_place_at_start;
        place(&memory->symbols, n * 2 * sizeof(float), gap);
        place(&memory->noise, n * sizeof(float), gap / 4 * 4);
        place(&memory->out, n * all->nbytes, 63 - gap);
        memcpy(memory->symbols.data, self->in.symbols, n * 2 * sizeof(float));
        memcpy(memory->noise.data, self->in.noise_var, n * sizeof(float));
        harness_poison(memory->out.data, self->expected, n * all->nbytes);
        harness_demodulate_llrs(all->items[k], memory->symbols.data, (const float *)(void *)memory->noise.data, n,
                                memory->out.data);
        compare(all, k, "between guard pages", self->in.symbols, self->in.noise_var, 1, self->expected,
                memory->out.data, n);
        harness_buffer_check(&memory->out);
    }
}

static size_t length_at(size_t k)
{
    enum { N_SHORT = 70, AROUND = 2 * STEP + 3 };
    if (k < N_SHORT)
        return k + 1;
    k -= N_SHORT;
    return (1 + k / (2 * AROUND)) * TILE + k % (2 * AROUND) - AROUND;
}

static void test_lengths(void **state)
{
    enum { N_LENGTHS = 70 + 3 * 70, MOST = 4 * TILE };
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    guarded memory;
    harness_buffer_open(&memory.symbols, MOST * 2 * sizeof(float));
    harness_buffer_open(&memory.noise, MOST * sizeof(float));
    harness_buffer_open(&memory.out, MOST * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    for (size_t k = 0; k < 2 * LLR_FORMATS; k++) {
        const settings of =
            plain_settings(llr_formats[k / 2], k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
        const oddities odd = {special_components(), special_noise(of.scale)};
        const harness_setup setup = setup_of(&of, SOFTQAM_NOISE_PER_SYMBOL);
        demodulators all = open_demodulators(*state, &setup, &of);
        tiles self = open_tiles(&random, &of, MOST);
        for (size_t i = 0; i < N_LENGTHS; i++) {
            const size_t n = length_at(i);
            const size_t at = i % 3 == 1 ? n - 1 : harness_random_below(&random, n);
            if (i % 3)
                spoil(&random, &odd, &of, at, &self);
            check_guarded(&all, &memory, &self, n, (i * 5 + k) % 64);
            repair(&of, at, &self);
        }
        close_tiles(&self);
        close_demodulators(&all);
    }
    harness_buffer_close(&memory.out);
    harness_buffer_close(&memory.noise);
    harness_buffer_close(&memory.symbols);
}

/* Segments with settings of their own. */

enum { N_SEGMENTS = 24, MOST_SYMBOLS = TILE + 3 * STEP, MOST_STRIDE = 3 };

/* Samples and noise that all segments read from any place, and where each one's LLRs go. */
typedef struct segment_memory {
    uint8_t samples[2 * MOST_STRIDE * MOST_SYMBOLS * 8 + 64];
    float noise[2 * MOST_STRIDE * MOST_SYMBOLS];
    uint8_t expected[N_SEGMENTS][MOST_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * 4];
    uint8_t got[N_SEGMENTS][MOST_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * 4 + 64];
    float values[MOST_SYMBOLS * 2];
    float noise_values[MOST_SYMBOLS];
} segment_memory;

static void fill_segment_memory(harness_random *random, softqam_input_format format, segment_memory *memory)
{
    const special_values components = special_components(), noise = special_noise(LLR_S8_SCALE);
    const size_t n_noise = HARNESS_COUNT(memory->noise);
    harness_random_fill(random, memory->samples, sizeof memory->samples);
    if (format == SOFTQAM_INPUT_CF32) {
        float *floats = (float *)(void *)memory->samples;
        const size_t n = sizeof memory->samples / (2 * sizeof(float));
        harness_symbol_sets[0].fill(random, harness_symbol_sets[0].parameter, 0, n, floats);
        for (size_t i = harness_random_below(random, 50); i < n; i += 1 + harness_random_below(random, 900))
            floats[i] = random_special(random, &components);
    }
    harness_fill_noise(random, HARNESS_NOISE_USUAL, n_noise, memory->noise);
    for (size_t i = harness_random_below(random, 50); i < n_noise; i += 1 + harness_random_below(random, 900))
        memory->noise[i] = random_special(random, &noise);
}

/* A random segment, and what it must give. */
static softqam_segment make_segment(harness_random *random, const harness_setup *setup, settings of,
                                    const softqam_segment *previous, segment_memory *memory, size_t k)
{
    static const float input_scales[] = {0, 0, 1, 0.7F, 1.3F / 32768, 1e-42F, 0x1p62F, 0x1p63F, 1e36F};
    static const float llr_scales[] = {0, 1, 0x1p-10F, 0x1p20F, 20};
    const softqam_input_format format = setup->demodulator.input_format;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(format), component_nbytes = symbol_nbytes / 2;
    const bool planes = harness_random_below(random, 3) == 0;
    /* In components of memory: pairs, or planes of which Q's begins anywhere. */
    const size_t place = 2 * harness_random_below(random, 100), misalignment = harness_random_below(random, 8);
    const size_t first_noise = harness_random_below(random, 1000);
    softqam_segment segment = {
        .n_symbols = harness_random_below(random, k % 4 ? 100 : MOST_SYMBOLS),
        .first_symbol = harness_random_u32(random),
        .symbol_stride = harness_random_below(random, MOST_STRIDE + 1),
        .noise_stride = harness_random_below(random, MOST_STRIDE + 1),
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .input_scale = input_scales[harness_random_below(random, HARNESS_COUNT(input_scales))],
        .llr_scale =
            of.format == SOFTQAM_OUTPUT_S8 ? llr_scales[harness_random_below(random, HARNESS_COUNT(llr_scales))] : 0,
        .out = memory->got[k] + harness_random_below(random, 64),
    };
    const size_t stride = segment.symbol_stride ? segment.symbol_stride : 1;
    const uint8_t *base = memory->samples + misalignment, *i_at = base + place * component_nbytes;
    const uint8_t *q_at =
        planes ? base + (place + harness_random_below(random, 50)) * component_nbytes : i_at + component_nbytes;
    segment.layers[0].symbols = i_at;
    segment.layers[0].symbols_q = planes ? q_at : NULL;
    segment.layers[0].noise_var = memory->noise + first_noise;
    /* Half of the segments have a modulation of their own. */
    if (harness_random_below(random, 2))
        segment.modulation = of.modulation =
            (softqam_modulation)(SOFTQAM_MODULATION_BPSK + harness_random_below(random, NR_CONSTELLATIONS));
    of.is_descrambled = harness_random_below(random, 2);
    if (of.is_descrambled) {
        segment.descramble = 1;
        segment.c_init = of.c_init = harness_random_below(random, 8) ? harness_random_u32(random) >> 1 : 0;
    }
    /* Some go on where the one before ended, or a little behind. */
    if (k > 0 && harness_random_below(random, 2)) {
        const size_t gap = harness_random_below(random, 2) ? harness_random_below(random, 20) : 0;
        segment.first_symbol = previous->first_symbol + previous->n_symbols + gap;
        segment.c_init = of.c_init = of.is_descrambled ? previous->c_init : 0;
    }
    of.form = segment.noise_form ? segment.noise_form : of.form;
    of.scale = segment.llr_scale != 0 ? segment.llr_scale : of.scale;
    const float scale = segment.input_scale != 0 ? segment.input_scale : setup->demodulator.input_scale;
    for (size_t i = 0; i < segment.n_symbols; i++) {
        uint8_t sample[8];
        const size_t step = i * stride * (planes ? component_nbytes : symbol_nbytes);
        memcpy(sample, i_at + step, component_nbytes);
        memcpy(sample + component_nbytes, q_at + step, component_nbytes);
        harness_widen(format, scale, sample, 1, memory->values + 2 * i);
        memory->noise_values[i] = memory->noise[first_noise + i * segment.noise_stride];
    }
    specify_from(&of, segment.first_symbol, memory->values, memory->noise_values, 1, segment.n_symbols,
                 memory->expected[k]);
    return segment;
}

static size_t symbol_nbytes(const settings *of, const softqam_segment *segment)
{
    return softqam_output_nbytes(of->format, segment->modulation ? segment->modulation : of->modulation, 1);
}

static void check_segments(harness_random *random, const contexts *on, const harness_setup *setup, const settings *of,
                           segment_memory *memory)
{
    softqam_segment segments[N_SEGMENTS];
    demodulators all = open_demodulators(on, setup, of);
    fill_segment_memory(random, setup->demodulator.input_format, memory);
    for (size_t k = 0; k < N_SEGMENTS; k++)
        segments[k] = make_segment(random, setup, *of, k ? &segments[k - 1] : NULL, memory, k);
    for (size_t c = 0; c < all.n; c++) {
        for (size_t k = 0; k < N_SEGMENTS; k++)
            harness_poison(segments[k].out, memory->expected[k],
                           segments[k].n_symbols * symbol_nbytes(of, &segments[k]));
        harness_demodulate_segments(all.items[c], segments, N_SEGMENTS);
        for (size_t k = 0; k < N_SEGMENTS; k++) {
            const softqam_segment *one = &segments[k];
            const size_t nbytes = symbol_nbytes(of, one);
            for (size_t i = 0; i < one->n_symbols; i++)
                if (memcmp((uint8_t *)one->out + i * nbytes, memory->expected[k] + i * nbytes, nbytes) != 0)
                    fail_msg(
                        "%s, %s to %s: modulation %d%s, symbol %zu of %zu, input scale %a, LLR scale %a, noise form "
                        "%d, strides %zu "
                        "and %zu%s",
                        all.names[c], harness_input_names[setup->demodulator.input_format],
                        harness_output_names[of->format], (int)one->modulation, one->descramble ? ", descrambled" : "",
                        i, one->n_symbols, (double)one->input_scale, (double)one->llr_scale, (int)one->noise_form,
                        one->symbol_stride, one->noise_stride, one->layers[0].symbols_q ? ", planes" : "");
        }
    }
    close_demodulators(&all);
}

static void test_segments(void **state)
{
    enum { N_INPUT_FORMATS = 4 };
    harness_random random = harness_random_stream(STREAM_SEGMENTS);
    segment_memory *memory = harness_alloc(sizeof *memory);
    for (size_t k = 0; k < N_SETTINGS * N_INPUT_FORMATS; k++) {
        const settings of = settings_at(k / N_INPUT_FORMATS);
        harness_setup setup = setup_of(&of, SOFTQAM_NOISE_PER_CALL);
        setup.demodulator.input_format = (softqam_input_format)(k % N_INPUT_FORMATS);
        setup.demodulator.input_scale = k % 5 ? 0 : 0.3F;
        check_segments(&random, *state, &setup, &of, memory);
    }
    free(memory);
}

static void test_which_variants(void **state)
{
    const contexts *self = *state;
    for (size_t k = 0; k < self->n; k++)
        print_message("compared: %s\n", self->names[k]);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_contexts, close_contexts)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_which_variants),
        TEST(test_usual_values),
        TEST(test_mixture),
        TEST(test_special_noise_per_call),
        TEST(test_special_values_per_symbol),
        TEST(test_input_scales),
        TEST(test_weights_of_all_sizes),
        TEST(test_ties),
        TEST(test_every_position),
        TEST(test_many_tiles),
        TEST(test_lengths),
        TEST(test_segments),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
