/* SPDX-License-Identifier: MIT */
/* LLRs are the specified ones, reference/contract.h, to the last bit: through the public API, on the backend that
 * SOFTQAM_TEST_BACKEND names; on the CPU by every variant of the loops that runs here, so that what is expected is
 * computed once. Here are values of all kinds. The loops compute usual values in fewer steps than others:
 * specified_calls.c has others at every place of a call. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "specified_fixture.h"

/* Usual values alone, and all sets of symbols and any bits as noise next to each other. */
TEST(test_values)
{
    harness_random random = harness_random_stream(STREAM_USUAL);
    SCOPED(llr_close_input) llr_input usual = llr_open_input(harness_symbol_count(20011));
    SCOPED(llr_close_input)
    llr_input mixture = llr_open_mixture(STREAM_MIXTURE, HARNESS_NOISE_ANY, harness_symbol_count(30011));
    for (size_t k = 0; k < specified_n_settings; k++) {
        const specified_settings of = specified_settings_at(k);
        specified_fill_usual(&random, of.form, &usual);
        specified_check_settings(*state, "usual values", &of, &usual);
        specified_check_settings(*state, "mixture", &of, &mixture);
    }
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
        self.symbols[6 * k + 5] = special_random(random, &components);
    }
    return self;
}

/* Every special component with every special noise value, given once for the call. */
TEST(test_special_noise_per_call)
{
    harness_random random = harness_random_stream(STREAM_SPECIAL);
    SCOPED(llr_close_input) llr_input in = open_special(&random);
    for (size_t k = 0; k < specified_n_settings; k++) {
        const specified_settings of = specified_settings_at(k);
        const special_values noise = special_noise(of.scale);
        SCOPED(specified_close) specified_demodulators all = specified_open(*state, &of, SOFTQAM_NOISE_PER_CALL);
        scoped_memory uint8_t *expected = harness_alloc(in.n_symbols * all.nbytes),
                              *got = harness_alloc(in.n_symbols * all.nbytes);
        for (size_t i = 0; i < noise.n; i++) {
            /* All of a few components, then all components: with an unusual weight nothing is usual. */
            const size_t n = in.n_symbols / 3 / (1 + i % 3) + 1;
            const size_t first = harness_random_below(&random, in.n_symbols - n + 1);
            specify(&of, in.symbols + 2 * first, &noise.values[i], 0, n, expected);
            specified_check(&all, "special noise of a call", in.symbols + 2 * first, &noise.values[i], 0, n, expected,
                            got);
        }
    }
}

/* The same with a special value for every symbol, and with a usual one for all. */
TEST(test_special_values_per_symbol)
{
    harness_random random = harness_random_stream(STREAM_SPECIAL << 8);
    SCOPED(llr_close_input) llr_input in = open_special(&random);
    for (size_t k = 0; k < specified_n_settings; k++) {
        const specified_settings of = specified_settings_at(k);
        const special_values noise = special_noise(of.scale);
        for (size_t round = 0; round < 4; round++) {
            for (size_t i = 0; i < in.n_symbols; i++)
                in.noise_var[i] = round ? special_random(&random, &noise) : 0.25F;
            specified_check_settings(*state, "special values", &of, &in);
        }
        /* Usual symbols, so that the weight alone decides how they are done. */
        SCOPED(llr_close_input) llr_input usual = llr_open_input(noise.n * STEP);
        specified_fill_usual(&random, of.form, &usual);
        for (size_t i = 0; i < noise.n; i++) {
            usual.noise_var[i * STEP + i % STEP] = noise.values[i];
            const llr_input step = {usual.symbols + 2 * i * STEP, usual.noise_var + i * STEP, STEP};
            specified_check_settings(*state, "one special noise value", &of, &step);
        }
    }
}

/* Scales that bring components above and below 2^-63, to overflow and to nothing, some of them subnormal themselves:
 * the demodulator's, then a segment's. */
TEST(test_input_scales)
{
    static const float scales[] = {1e-42F, FLT_MIN, 1e-30F, 0.3F, 0x1p62F, 0x1.8p62F, 0x1p63F, 0x1p64F, 0x1p66F, 1e36F};
    harness_random random = harness_random_stream(STREAM_SCALES);
    SCOPED(llr_close_input) llr_input in = open_special(&random);
    const size_t n = in.n_symbols;
    scoped_memory float *values = harness_alloc(n * 2 * sizeof *values);
    scoped_memory uint8_t *expected = harness_alloc(n * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    scoped_memory uint8_t *got = harness_alloc(n * HARNESS_MAX_SYMBOL_BITS * sizeof(float));
    in.noise_var[0] = 0.25F;
    for (size_t k = 0; k < HARNESS_COUNT(scales) * HARNESS_N_LLR_FORMATS; k++) {
        specified_settings of =
            specified_plain_settings(harness_llr_formats[k % HARNESS_N_LLR_FORMATS], SOFTQAM_NOISE_FORM_N0);
        const float scale = scales[k / HARNESS_N_LLR_FORMATS];
        harness_widen(SOFTQAM_INPUT_CF32, scale, in.symbols, n, values);
        specify(&of, values, in.noise_var, 0, n, expected);
        of.input_scale = scale;
        specified_demodulators all = specified_open(*state, &of, SOFTQAM_NOISE_PER_CALL);
        specified_check(&all, "the demodulator's input scale", in.symbols, in.noise_var, 0, n, expected, got);
        specified_close(&all);
        of.input_scale = 0;
        all = specified_open(*state, &of, SOFTQAM_NOISE_PER_CALL);
        for (size_t c = 0; c < all.n; c++) {
            softqam_segment segment = harness_segment(in.symbols, in.noise_var, 0, n, got);
            segment.input_scale = scale;
            harness_poison(got, expected, n * all.nbytes);
            harness_demodulate_segments(all.items[c], &segment, 1);
            specified_compare(&all, c, "a segment's input scale", in.symbols, in.noise_var, 0, expected, got, n);
        }
        specified_close(&all);
    }
}

/* Weights of all sizes, 1 % apart, each in calls of its own, since a tile's largest weight decides how it is done: the
 * largest usual components must not pass a limit that small ones keep. */
TEST(test_weights_of_all_sizes)
{
    enum { PER_OCTAVE = 64, LEAST = -42 * PER_OCTAVE, MOST = 102 * PER_OCTAVE, N = MOST - LEAST, N_CORNERS = 4 };
    const int step = N / (int)harness_symbol_count(N) | 1;
    static const float corners[N_CORNERS][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {-0x1.ffff00p0F, 0.5F}, {0, -0x1.1p-20F}, {-0.61F, 1.15F}};
    float symbols[2 * STEP], noise[STEP];
    uint8_t expected[STEP * HARNESS_MAX_SYMBOL_BITS * 4], got[STEP * HARNESS_MAX_SYMBOL_BITS * 4];
    for (size_t i = 0; i < STEP; i++)
        memcpy(symbols + 2 * i, corners[i % N_CORNERS], sizeof corners[0]);
    for (size_t k = 0; k < 4 * HARNESS_N_LLR_FORMATS; k++) {
        specified_settings of = specified_plain_settings(harness_llr_formats[k / 4],
                                                         k % 2 ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0);
        of.sign = k % 3 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
        const softqam_noise noise_of = (softqam_noise)(k / 2 % 2);
        SCOPED(specified_close) specified_demodulators all = specified_open(*state, &of, noise_of);
        for (int size = LEAST; size <= MOST; size += step) {
            const float weight = exp2f((float)size / PER_OCTAVE);
            for (size_t i = 0; i < STEP; i++)
                noise[i] = of.form == SOFTQAM_NOISE_FORM_INVERSE ? weight / of.scale : of.scale / weight;
            specify(&of, symbols, noise, 0, N_CORNERS, expected);
            for (size_t i = N_CORNERS; i < STEP; i++)
                memcpy(expected + i * all.nbytes, expected + (i - N_CORNERS) * all.nbytes, all.nbytes);
            specified_check(&all, "weights", symbols, noise, noise_of == SOFTQAM_NOISE_PER_SYMBOL, STEP, expected, got);
        }
    }
}

/* LLRs of so many steps or nats, where loops and kernels take another way, with noise of all sizes. */
static void fill_borders(harness_random *random, float scale, llr_input *in)
{
    static const float borders[] = {0.5F,      126.5F,  127.5F,  128.5F,    32767.5F, 0x1p22F,
                                    0x1.8p23F, 0x1p24F, 0x1p30F, 0x1.8p53F, 0x1p54F,  0x1p61F};
    static const float others[] = {0, -0.0F, 0x1p-63F, 0x0.ffffffp-63F, 3e38F, -3e38F, INFINITY, NAN};
    for (size_t i = 0; i < 2 * in->n_symbols; i++) {
        const float noise =
            ldexpf(1 + (float)harness_random_below(random, 8) / 8, (int)harness_random_below(random, 144) - 102);
        in->noise_var[i / 2] = i % 2 ? in->noise_var[i / 2] : noise;
        const float value = borders[harness_random_below(random, HARNESS_COUNT(borders))] * in->noise_var[i / 2] /
                            (harness_random_below(random, 2) ? scale : 1);
        in->symbols[i] = value * (1 + ((float)harness_random_below(random, 17) - 8) * 0x1p-22F);
        if (harness_random_below(random, 8) == 0)
            in->symbols[i] = others[harness_random_below(random, HARNESS_COUNT(others))];
        else if (harness_random_below(random, 2))
            in->symbols[i] = -in->symbols[i];
    }
}

TEST(test_borders)
{
    harness_random random = harness_random_stream(STREAM_BORDERS);
    SCOPED(llr_close_input) llr_input in = llr_open_input(harness_symbol_count(20011));
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        const specified_settings of = specified_plain_settings(harness_llr_formats[k], SOFTQAM_NOISE_FORM_N0);
        fill_borders(&random, of.scale, &in);
        specified_check_settings(*state, "borders", &of, &in);
    }
}

/* s8: products so near to a half of a step that binary32 rounds them to it; rounded twice, half of them go wrong. With
 * small weights, with usual ones, and with any, since a tile's largest one decides how it is done. */
TEST(test_ties)
{
    harness_random random = harness_random_stream(STREAM_TIES);
    SCOPED(llr_close_input) llr_input in = llr_open_input(harness_symbol_count(20011));
    size_t n_told_apart = 0;
    specified_settings of = specified_plain_settings(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_FORM_INVERSE);
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
        specified_check_settings(*state, "ties", &of, &in);
    }
    of.form = SOFTQAM_NOISE_FORM_N0;
    for (size_t i = 0; i < in.n_symbols; i++)
        in.noise_var[i] = 1 / in.noise_var[i];
    specified_check_settings(*state, "ties", &of, &in);
}
