/* SPDX-License-Identifier: MIT */
/* LLRs are the specified ones, reference/contract.h, to the last bit: through the public API, on the backend that
 * SOFTQAM_TEST_BACKEND names; on the CPU by every variant of the loops that runs here, so that what is expected is
 * computed once. Values of all kinds, and, as the loops compute usual values in fewer steps than others, others at
 * every place of a call. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "llr_fixture.h"

/* The loops' tile and their largest step, in symbols. */
enum { TILE = 1024, STEP = 16 };

/* Settings. */

static const struct {
    softqam_output_format format;
    float scale;
    int limit;
} scales[] = {
    {SOFTQAM_OUTPUT_S8, 6, 127},          {SOFTQAM_OUTPUT_S16, 64, 32767},  {SOFTQAM_OUTPUT_F16, 1, 0},
    {SOFTQAM_OUTPUT_F32, 1, 0},           {SOFTQAM_OUTPUT_S8, 6, 120},      {SOFTQAM_OUTPUT_S8, 1, 63},
    {SOFTQAM_OUTPUT_S8, 0x1p-10F, 127},   {SOFTQAM_OUTPUT_S8, 0x1p20F, 64}, {SOFTQAM_OUTPUT_S8, 0.37F, 1},
    {SOFTQAM_OUTPUT_S16, 0x1p14F, 30000}, {SOFTQAM_OUTPUT_S16, 6, 127},     {SOFTQAM_OUTPUT_S16, 0x1p-10F, 1000},
};

_Static_assert(HARNESS_N_LLR_FORMATS == 4, "the first four are each format's defaults");

/* Each with N0 and 1/N0 and both signs. */
enum { N_SETTINGS = 4 * HARNESS_COUNT(scales), N_DEFAULTS = 4 * HARNESS_N_LLR_FORMATS };

static softqam_demodulator_config settings_at(size_t k)
{
    softqam_demodulator_config config =
        harness_format_setup(scales[k / 4].format, SOFTQAM_NOISE_PER_SYMBOL).demodulator;
    config.noise_form = k & 1 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    config.sign = k & 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
    config.llr_scale = scales[k / 4].scale;
    config.llr_limit = scales[k / 4].limit;
    return config;
}

/* Symbols with a noise value and a gain each. */
typedef struct input {
    size_t n;
    float *symbols, *noise, *gains;
} input;

static input open_input(size_t n)
{
    return (input){n, harness_alloc(n * 2 * sizeof(float)), harness_alloc(n * sizeof(float)),
                   harness_alloc(n * sizeof(float))};
}

static void close_input(input *self)
{
    free(self->gains);
    free(self->noise);
    free(self->symbols);
}

/* With a noise value for each symbol, from `first` on. */
static softqam_segment segment_of(const input *in, size_t first, size_t n)
{
    return harness_segment(in->symbols + 2 * first, in->noise + first, 1, n, NULL);
}

static void check_input(const llr_contexts *on, const softqam_demodulator_config *config, const input *in,
                        const char *what)
{
    const softqam_segment segment = segment_of(in, 0, in->n);
    llr_check(on, config, &segment, NULL, what);
}

static const float usual_limit = 1.4F;

/* What a receiver sees, and what the loops' short way is for. */
static void fill_usual(harness_random *random, softqam_noise_form form, const input *to)
{
    harness_fill_uniform(random, usual_limit, to->n, to->symbols);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, to->n, to->noise);
    for (size_t i = 0; form == SOFTQAM_NOISE_FORM_INVERSE && i < to->n; i++)
        to->noise[i] = 1 / to->noise[i];
}

/* Special values: where the arithmetic or the short way changes, and the floats beside. */

typedef struct special_values {
    size_t n;
    float values[512];
} special_values;

static void add_bits(special_values *self, uint32_t bits)
{
    assert_true(self->n < HARNESS_COUNT(self->values));
    memcpy(&self->values[self->n++], &bits, sizeof bits);
}

static void add_floats(special_values *self, const float *values, size_t n, int n_ulps_beside)
{
    for (size_t k = 0; k < n; k++)
        for (int ulp = -n_ulps_beside; ulp <= n_ulps_beside; ulp++) {
            uint32_t bits;
            memcpy(&bits, &values[k], sizeof bits);
            add_bits(self, bits + (uint32_t)ulp);
        }
}

enum { BESIDE = 2 };

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
    const nr_constellation *c = llr_constellation(harness_modulation());
    special_values self = {0};
    add_floats(&self, near, HARNESS_COUNT(near), BESIDE);
    add_floats(&self, others, HARNESS_COUNT(others), 0);
    for (int k = 1; k <= 1 << (c->axis_bits - 1); k++) {
        const float row_end = (float)(2 * k / sqrt(c->energy));
        add_floats(&self, &row_end, 1, 2 * BESIDE);
    }
    add_no_numbers(&self);
    for (size_t k = 0, n = self.n; k < n; k++) {
        uint32_t bits;
        memcpy(&bits, &self.values[k], sizeof bits);
        add_bits(&self, bits | 0x80000000);
    }
    return self;
}

/* For N0 and for 1/N0 alike. */
static special_values special_noise(float scale)
{
    const float near[] = {0x1p-100F, 0x1p-40F,         0x1p40F,         0x1p100F,         0x1p-13F,
                          0x1p13F,   scale * 0x1p-19F, 0x1p19F / scale, scale * 0x1p-15F, 0x1p15F / scale};
    static const float others[] = {0,         -0.0F,       -1,      -0x1p-149F, -INFINITY, -NAN,
                                   0x1p-149F, 0x1.8p-130F, FLT_MIN, 1e-30F,     0x1p-63F,  1e-4F,
                                   0.01F,     1,           1e4F,    1e30F,      FLT_MAX};
    special_values self = {0};
    add_floats(&self, near, HARNESS_COUNT(near), BESIDE);
    add_floats(&self, others, HARNESS_COUNT(others), 0);
    add_no_numbers(&self);
    return self;
}

static float any_of(harness_random *random, const special_values *from)
{
    return from->values[harness_random_below(random, from->n)];
}

/* Of three symbols one has a special I, one a special Q, and one both. */
static input open_special(harness_random *random)
{
    const special_values components = special_components();
    input self = open_input(3 * components.n);
    harness_fill_uniform(random, usual_limit, self.n, self.symbols);
    for (size_t k = 0; k < components.n; k++) {
        self.symbols[6 * k] = self.symbols[6 * k + 3] = self.symbols[6 * k + 4] = components.values[k];
        self.symbols[6 * k + 5] = any_of(random, &components);
    }
    return self;
}

/* Tests. */

/* Usual values alone, and all sets of symbols and any bits as noise next to each other. */
LLR_TEST(test_values)
{
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input usual = open_input(harness_symbol_count(20011));
    SCOPED(close_input) input mixture = open_input(harness_symbol_count(30011));
    harness_fill_mixture(&random, mixture.n, mixture.symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, mixture.n, mixture.noise);
    for (size_t k = 0; k < N_SETTINGS; k++) {
        const softqam_demodulator_config config = settings_at(k);
        fill_usual(&random, config.noise_form, &usual);
        check_input(*state, &config, &usual, "usual values");
        check_input(*state, &config, &mixture, "mixture");
    }
}

/* Special components with every special noise value, given once for the call, all of a few, then all; with one for
 * every symbol, and with a usual one for all. Then usual symbols, so that the weight alone decides how they are done.
 */
LLR_TEST(test_special_values)
{
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_special(&random);
    for (size_t k = 0; k < N_SETTINGS; k++) {
        const softqam_demodulator_config config = settings_at(k);
        const special_values noise = special_noise(config.llr_scale);
        for (size_t i = 0; i < noise.n; i++) {
            const size_t n = in.n / 3 / (1 + i % 3) + 1, first = harness_random_below(&random, in.n - n + 1);
            const softqam_segment segment = harness_segment(in.symbols + 2 * first, &noise.values[i], 0, n, NULL);
            llr_check(*state, &config, &segment, NULL, "special noise of a call");
        }
        for (size_t round = 0; round < 4; round++) {
            for (size_t i = 0; i < in.n; i++)
                in.noise[i] = round ? any_of(&random, &noise) : 0.25F;
            check_input(*state, &config, &in, "special values");
        }
        SCOPED(close_input) input usual = open_input(noise.n * STEP);
        fill_usual(&random, config.noise_form, &usual);
        for (size_t i = 0; i < noise.n; i++) {
            usual.noise[i * STEP + i % STEP] = noise.values[i];
            const softqam_segment step = segment_of(&usual, i * STEP, STEP);
            llr_check(*state, &config, &step, NULL, "one special noise value");
        }
    }
}

/* Scales that bring components above and below 2^-63, to overflow and to nothing, some of them subnormal themselves:
 * the demodulator's, and a segment's. */
LLR_TEST(test_input_scales)
{
    static const float input_scales[] = {1e-42F,    FLT_MIN, 1e-30F,  0.3F,    0x1p62F,
                                         0x1.8p62F, 0x1p63F, 0x1p64F, 0x1p66F, 1e36F};
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_special(&random);
    const float noise = 0.25F;
    for (size_t k = 0; k < HARNESS_COUNT(input_scales) * N_DEFAULTS; k++) {
        const float scale = input_scales[k / N_DEFAULTS];
        softqam_demodulator_config config = settings_at(k % N_DEFAULTS);
        softqam_segment segment = harness_segment(in.symbols, &noise, 0, in.n, NULL);
        *(k / 2 % 2 ? &config.input_scale : &segment.input_scale) = scale;
        llr_check(*state, &config, &segment, NULL, k / 2 % 2 ? "the demodulator's scale" : "the segment's scale");
    }
}

/* Weights of all sizes, 1 % apart, each in calls of its own, since a tile's largest weight decides how it is done: the
 * largest usual components must not pass a limit that small ones keep. */
LLR_TEST(test_weights_of_all_sizes)
{
    enum { PER_OCTAVE = 64, LEAST = -42 * PER_OCTAVE, MOST = 102 * PER_OCTAVE, N = MOST - LEAST };
    const int step = N / (int)harness_symbol_count(N) | 1;
    static const float corners[4][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {-0x1.ffff00p0F, 0.5F}, {0, -0x1.1p-20F}, {-0.61F, 1.15F}};
    float symbols[2 * STEP], noise[STEP];
    for (size_t i = 0; i < STEP; i++)
        memcpy(symbols + 2 * i, corners[i % HARNESS_COUNT(corners)], sizeof corners[0]);
    for (size_t k = 0; k < N_DEFAULTS; k++) {
        const softqam_demodulator_config config = settings_at(k);
        const size_t nbytes = harness_output_nbytes(config.output_format, 1);
        uint8_t expected[STEP * HARNESS_MAX_SYMBOL_BITS * sizeof(float)];
        for (int size = LEAST; size <= MOST; size += step) {
            const float weight = exp2f((float)size / PER_OCTAVE), scale = config.llr_scale;
            for (size_t i = 0; i < STEP; i++)
                noise[i] = config.noise_form == SOFTQAM_NOISE_FORM_INVERSE ? weight / scale : scale / weight;
            softqam_segment segment = harness_segment(symbols, noise, (k + k / 2) % 2, HARNESS_COUNT(corners), NULL);
            llr_specify(&config, &segment, expected);
            for (size_t i = HARNESS_COUNT(corners); i < STEP; i++)
                memcpy(expected + i * nbytes, expected + (i - HARNESS_COUNT(corners)) * nbytes, nbytes);
            segment.n_symbols = STEP;
            llr_check(*state, &config, &segment, expected, "weights");
        }
    }
}

/* LLRs of so many steps or nats, where loops and kernels take another way, with noise of all sizes. */
LLR_TEST(test_borders)
{
    static const float borders[] = {0.5F,      126.5F,  127.5F,  128.5F,    32767.5F, 0x1p22F,
                                    0x1.8p23F, 0x1p24F, 0x1p30F, 0x1.8p53F, 0x1p54F,  0x1p61F};
    static const float others[] = {0, -0.0F, 0x1p-63F, 0x0.ffffffp-63F, 3e38F, -3e38F, INFINITY, NAN};
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_input(harness_symbol_count(20011));
    for (size_t k = 0; k < N_DEFAULTS; k += 4) {
        const softqam_demodulator_config config = settings_at(k);
        for (size_t i = 0; i < 2 * in.n; i++) {
            float *noise = &in.noise[i / 2];
            if (i % 2 == 0)
                *noise = ldexpf(1 + (float)harness_random_below(&random, 8) / 8,
                                (int)harness_random_below(&random, 144) - 102);
            in.symbols[i] = borders[harness_random_below(&random, HARNESS_COUNT(borders))] * *noise /
                            (harness_random_below(&random, 2) ? config.llr_scale : 1) *
                            (1 + ((float)harness_random_below(&random, 17) - 8) * 0x1p-22F) *
                            (harness_random_below(&random, 2) ? 1 : -1);
            if (harness_random_below(&random, 8) == 0)
                in.symbols[i] = others[harness_random_below(&random, HARNESS_COUNT(others))];
        }
        check_input(*state, &config, &in, "borders");
    }
}

/* s8: products so near to a half of a step that binary32 rounds them to it; rounded twice, half of them go wrong. With
 * small weights, with usual ones, and with any, since a tile's largest one decides how it is done. */
LLR_TEST(test_ties)
{
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_input(harness_symbol_count(20011));
    softqam_demodulator_config config = settings_at(1); /* s8 of 1/N0 */
    config.llr_scale = 1;
    size_t n_told_apart = 0;
    harness_fill_uniform(&random, usual_limit, in.n, in.symbols);
    for (size_t i = 0; i < in.n; i++) {
        float metrics[HARNESS_MAX_SYMBOL_BITS];
        contract_f32(llr_constellation(config.modulation), in.symbols + 2 * i, nr_inverse_noise_var(1), i, 0, metrics);
        const float metric = fabsf(metrics[harness_random_below(&random, harness_symbol_bits())]);
        const float half = (float)harness_random_below(&random, 127) + 0.5F;
        const float most = i < in.n / 3 ? 0x1p12F : i < in.n / 3 * 2 ? 0x1p18F : FLT_MAX;
        in.noise[i] = half <= metric * most ? half / metric : 1;
        const double product = (double)metric * (double)in.noise[i];
        n_told_apart += (float)product == half && rint(product) != rint((double)half);
    }
    assert_true(n_told_apart > in.n / 8);
    for (int k = 0; k < 4; k++) {
        config.llr_limit = k % 2 ? 127 : 126;
        config.sign = k / 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
        check_input(*state, &config, &in, "ties");
    }
    config.noise_form = SOFTQAM_NOISE_FORM_N0;
    for (size_t i = 0; i < in.n; i++)
        in.noise[i] = 1 / in.noise[i];
    check_input(*state, &config, &in, "ties");
}

static int limited(int exponent, int least, int most)
{
    return exponent < least ? least : exponent > most ? most : exponent;
}

/* Gains, noise values and components at all powers of two and beside them, where weights come to the ends of the
 * floats and LLRs to those of their format; of all modulations. test_llr_segments.c has gains of all layouts. */
LLR_TEST(test_gains)
{
    enum { N_FLOATS = 8 }; /* settings of f16 and f32, which are the last defaults: half of all */
    if (harness_modulation() != SOFTQAM_MODULATION_256QAM)
        skip(); /* once is enough */
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_input(1500);
    for (size_t n = harness_symbol_count(HARNESS_SANITIZED ? 200 : 1000); n > 0; n--) {
        const size_t k = harness_random_below(&random, N_SETTINGS);
        softqam_demodulator_config config =
            settings_at(harness_random_below(&random, 2) ? k : N_DEFAULTS - 1 - k % N_FLOATS);
        config.modulation = (softqam_modulation)(1 + harness_random_below(&random, HARNESS_N_MODULATIONS));
        for (size_t i = 0; i < in.n; i++) {
            const int gain = (int)harness_random_below(&random, 277) - 149;
            const int llr = (int)harness_random_below(&random, 12) - 4; /* of the LLR, where that can be */
            const int noise = (int)harness_random_below(&random, 277) - 149;
            const int n0 = limited(config.noise_form == SOFTQAM_NOISE_FORM_INVERSE ? -noise : noise, -100, 40);
            in.gains[i] = ldexpf(1 + (float)harness_random_below(&random, 3) * 0x1p-23F, gain);
            in.noise[i] = ldexpf(1 + (float)harness_random_below(&random, 3) * 0x1p-22F, noise);
            for (size_t axis = 0; axis < 2; axis++)
                in.symbols[2 * i + axis] = ldexpf((harness_random_below(&random, 2) ? 1 : -1) *
                                                      (1 + (float)harness_random_below(&random, 1 << 23) * 0x1p-23F),
                                                  llr + n0 - limited(gain, -40, 40) - ilogbf(config.llr_scale));
        }
        softqam_segment segment = segment_of(&in, 0, in.n);
        segment.layers[0].gain = in.gains;
        llr_check(*state, &config, &segment, NULL, "gains");
    }
}

/* Where in a call unusual values lie. */

/* Symbol i alone of what is expected of all. */
static void specify_again(const softqam_demodulator_config *config, const input *in, size_t i, uint8_t *expected)
{
    softqam_segment one = segment_of(in, i, 1);
    one.first_symbol = i;
    llr_specify(config, &one, expected + i * harness_output_nbytes(config->output_format, 1));
}

/* Makes I, Q or the noise of symbol i something special. */
static void spoil(harness_random *random, const softqam_demodulator_config *config, const input *in, size_t i,
                  uint8_t *expected)
{
    const size_t what = harness_random_below(random, 3);
    const special_values values = what < 2 ? special_components() : special_noise(config->llr_scale);
    *(what < 2 ? &in->symbols[2 * i + what] : &in->noise[i]) = any_of(random, &values);
    specify_again(config, in, i, expected);
}

/* Usual symbols, the same in every tile, and what they give. */
static uint8_t *specify_usual(harness_random *random, const softqam_demodulator_config *config, const input *in)
{
    const size_t nbytes = harness_output_nbytes(config->output_format, 1);
    uint8_t *expected = harness_alloc(in->n * nbytes);
    const input first = {TILE, in->symbols, in->noise, in->gains};
    const softqam_segment tile = segment_of(&first, 0, TILE);
    fill_usual(random, config->noise_form, &first);
    llr_specify(config, &tile, expected);
    for (size_t at = TILE; at < in->n; at += TILE) {
        const size_t n = in->n - at < TILE ? in->n - at : TILE;
        memcpy(in->symbols + 2 * at, in->symbols, n * 2 * sizeof(float));
        memcpy(in->noise + at, in->noise, n * sizeof(float));
        memcpy(expected + at * nbytes, expected, n * nbytes);
    }
    return expected;
}

/* One unusual symbol at every place of a tile, and of the steps after it, of which the last goes back. */
LLR_TEST(test_every_position)
{
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_input(TILE + 2 * STEP + 5);
    const softqam_segment all = segment_of(&in, 0, in.n);
    for (size_t k = 0; k < N_DEFAULTS; k++) {
        const softqam_demodulator_config config = settings_at(k);
        scoped_memory uint8_t *expected = specify_usual(&random, &config, &in);
        for (size_t i = 0; i < in.n; i++) {
            const float usual[] = {in.symbols[2 * i], in.symbols[2 * i + 1], in.noise[i]};
            spoil(&random, &config, &in, i, expected);
            llr_check(*state, &config, &all, expected, "one unusual value");
            memcpy(&in.symbols[2 * i], usual, 2 * sizeof usual[0]);
            in.noise[i] = usual[2];
            specify_again(&config, &in, i, expected);
        }
    }
}

/* Unusual values in some of many tiles, in more and more of them, fewer and more than are done in full after one. */
LLR_TEST(test_many_tiles)
{
    enum { N_TILES = 66 };
    static const unsigned every[] = {40, 40, 17, 5, 2, 1};
    harness_random random = harness_random_named(__func__);
    SCOPED(close_input) input in = open_input(N_TILES * TILE + 7);
    const softqam_segment all = segment_of(&in, 0, in.n);
    for (size_t k = 0; k < N_DEFAULTS; k++) {
        const softqam_demodulator_config config = settings_at(k);
        scoped_memory uint8_t *expected = specify_usual(&random, &config, &in);
        for (size_t i = 0; i < HARNESS_COUNT(every); i++) {
            for (size_t tile = 0; tile < N_TILES; tile++)
                if (harness_random_below(&random, every[i]) == 0)
                    spoil(&random, &config, &in, tile * TILE + harness_random_below(&random, TILE), expected);
            llr_check(*state, &config, &all, expected, "many tiles");
        }
    }
}
