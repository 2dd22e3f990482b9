/* SPDX-License-Identifier: MIT */
/* What is true of all LLRs, whatever their values, through the public API, on the backend that SOFTQAM_TEST_BACKEND
 * names: erasures and special values, the opposite sign, symmetries of the constellation, powers of two. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_BITS = 1,
    STREAM_SPECIAL,
    STREAM_SIGN,
    STREAM_SYMMETRY,
    STREAM_POWERS,
};

static const uint32_t not_a_variance[] = {
    0x00000000, 0x80000000, 0x80000001, 0xbf800000, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
};
static const uint32_t not_finite[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff};

/* Every third symbol is spoilt, in turn by its noise variance, its I and its Q. */
static void spoil(llr_input *in, size_t round)
{
    for (size_t i = 0; i < in->n_symbols; i += 3) {
        size_t kind = (i / 3) % 3;
        if (kind == 0) {
            memcpy(&in->noise_var[i], &not_a_variance[(i / 9 + round) % HARNESS_COUNT(not_a_variance)], sizeof(float));
        } else {
            memcpy(&in->symbols[2 * i + kind - 1], &not_finite[(i / 9 + round) % HARNESS_COUNT(not_finite)],
                   sizeof(float));
        }
    }
}

static void check_spoilt(const harness_setup *setup, const llr_input *whole, const llr_input *spoilt)
{
    size_t nbytes = harness_output_nbytes(setup->demodulator.output_format, 1);
    const uint8_t zeros[sizeof(float) * HARNESS_SYMBOL_BITS] = {0};
    scoped_memory uint8_t *before = harness_answer(setup, whole->symbols, whole->noise_var, whole->n_symbols);
    scoped_memory uint8_t *after = harness_answer(setup, spoilt->symbols, spoilt->noise_var, spoilt->n_symbols);
    for (size_t i = 0; i < whole->n_symbols; i++)
        assert_memory_equal(after + i * nbytes, i % 3 ? before + i * nbytes : zeros, nbytes);
}

/* What is no number gives eight zeros and leaves its neighbours alone. */
HARNESS_TEST(test_erasures_per_symbol)
{
    for (size_t round = 0; round < HARNESS_COUNT(not_a_variance); round++) {
        SCOPED(llr_close_input) llr_input whole = llr_open_mixture(STREAM_SPECIAL, HARNESS_NOISE_ANY, 701);
        SCOPED(llr_close_input) llr_input spoilt = llr_open_mixture(STREAM_SPECIAL, HARNESS_NOISE_ANY, 701);
        spoil(&spoilt, round);
        for (size_t k = 0; k < 2 * HARNESS_N_LLR_FORMATS; k++) {
            harness_setup setup = harness_format_setup(harness_llr_formats[k / 2], SOFTQAM_NOISE_PER_SYMBOL);
            setup.demodulator.sign = k % 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
            check_spoilt(&setup, &whole, &spoilt);
        }
    }
}

HARNESS_TEST(test_erasures_per_call)
{
    SCOPED(llr_close_input) llr_input in = llr_open_mixture(STREAM_SPECIAL, HARNESS_NOISE_USUAL, 333);
    for (size_t i = 0; i < HARNESS_COUNT(not_a_variance); i++) {
        float noise_var;
        memcpy(&noise_var, &not_a_variance[i], sizeof noise_var);
        for (size_t k = 0; k < 2 * HARNESS_N_LLR_FORMATS; k++) {
            harness_setup setup = harness_format_setup(harness_llr_formats[k / 2], SOFTQAM_NOISE_PER_CALL);
            setup.demodulator.sign = k % 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
            scoped_memory uint8_t *out = harness_answer(&setup, in.symbols, &noise_var, in.n_symbols);
            for (size_t byte = 0; byte < in.n_symbols * harness_output_nbytes(harness_llr_formats[k / 2], 1); byte++)
                assert_int_equal(out[byte], 0);
        }
    }
}

/* Below 2^-100 a noise variance counts as that: what is not on a decision boundary saturates or is beyond 2^90. */
HARNESS_TEST(test_tiny_noise)
{
    static const float noise_vars[] = {0x1p-149F, 0x1p-140F, 0x1p-128F, 0x1p-101F, 0x1p-100F};
    const float symbols[] = {0.25F, -1.1F};
    for (size_t i = 0; i < HARNESS_COUNT(noise_vars); i++) {
        for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
            harness_setup setup = harness_format_setup(harness_llr_formats[k], SOFTQAM_NOISE_PER_CALL);
            scoped_memory uint8_t *out = harness_answer(&setup, symbols, &noise_vars[i], 1);
            for (size_t b = 0; b < HARNESS_SYMBOL_BITS; b++) {
                static const double least[HARNESS_N_OUTPUT_FORMATS] = {[SOFTQAM_OUTPUT_S8] = 127,
                                                                       [SOFTQAM_OUTPUT_S16] = 32767,
                                                                       [SOFTQAM_OUTPUT_F16] = 65504,
                                                                       [SOFTQAM_OUTPUT_F32] = 0x1p90};
                double llr = fabs(llr_at(harness_llr_formats[k], out, b));
                assert_true(llr >= least[harness_llr_formats[k]] && llr <= (double)FLT_MAX);
            }
        }
    }
}

static void check_all_finite(softqam_output_format format, const llr_input *in)
{
    const int limit = harness_llr_defaults_of[format].limit;
    scoped_memory uint8_t *out = llr_answer(format, in);
    for (size_t i = 0; i < in->n_symbols * HARNESS_SYMBOL_BITS; i++) {
        double llr = llr_at(format, out, i);
        if (!isfinite(llr) || (limit && llr < -limit)) {
            const float *symbol = in->symbols + i / HARNESS_SYMBOL_BITS * 2;
            fail_msg("(%a, %a), N0 %a: %s has %a", (double)symbol[0], (double)symbol[1],
                     (double)in->noise_var[i / HARNESS_SYMBOL_BITS], harness_output_names[format], llr);
        }
    }
}

/* Whatever the bits of symbols and noise variances: neither NaN, nor infinity, nor -128. */
HARNESS_TEST(test_random_bits)
{
    SCOPED(llr_close_input) llr_input in = llr_open_input(harness_symbol_count((size_t)1 << 20));
    harness_random random = harness_random_stream(STREAM_BITS);
    harness_random_fill(&random, in.symbols, in.n_symbols * 2 * sizeof(float));
    harness_random_fill(&random, in.noise_var, in.n_symbols * sizeof(float));
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++)
        check_all_finite(harness_llr_formats[k], &in);
    /* Symbols that a receiver has, over every noise variance; then the reverse. */
    const harness_symbol_set *uniform = &harness_symbol_sets[0];
    uniform->fill(&random, uniform->parameter, 0, in.n_symbols, in.symbols);
    check_all_finite(SOFTQAM_OUTPUT_F32, &in);
    harness_random_fill(&random, in.symbols, in.n_symbols * 2 * sizeof(float));
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, in.n_symbols, in.noise_var);
    check_all_finite(SOFTQAM_OUTPUT_F32, &in);
}

/* The opposite sign negates every LLR exactly, and erasures stay what they are. */
HARNESS_TEST(test_opposite_sign_of_llrs)
{
    SCOPED(llr_close_input)
    llr_input in = llr_open_mixture(STREAM_SIGN, HARNESS_NOISE_ANY, harness_symbol_count(50021));
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        harness_setup setup = harness_format_setup(harness_llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        scoped_memory uint8_t *plain = harness_answer(&setup, in.symbols, in.noise_var, in.n_symbols);
        setup.demodulator.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
        scoped_memory uint8_t *opposite = harness_answer(&setup, in.symbols, in.noise_var, in.n_symbols);
        for (size_t i = 0; i < in.n_symbols * HARNESS_SYMBOL_BITS; i++)
            assert_true(llr_at(harness_llr_formats[k], opposite, i) == -llr_at(harness_llr_formats[k], plain, i));
    }
}

/* A soft byte is trunc(127 + x), so with the opposite sign it is trunc(127 - x): 254 less the byte, or one less than
 * that unless x is whole; and where one of them is clamped at one end, so is the other, or almost. */
static void check_opposite_byte(uint8_t plain, uint8_t opposite, bool erased)
{
    if (erased) {
        assert_int_equal(plain, 127);
        assert_int_equal(opposite, 127);
    } else if (plain == 0) {
        assert_in_range(opposite, 253, 255);
    } else {
        assert_in_range(opposite, plain < 253 ? 253 - plain : 0, plain < 254 ? 254 - plain : 0);
    }
}

HARNESS_TEST(test_opposite_sign_of_soft_bits)
{
    size_t n_asymmetric = 0;
    SCOPED(llr_close_input)
    llr_input in = llr_open_mixture(STREAM_SIGN, HARNESS_NOISE_USUAL, harness_symbol_count(50021));
    harness_setup setup = harness_soft_bits_setup();
    scoped_memory uint8_t *plain = harness_answer(&setup, in.symbols, NULL, in.n_symbols);
    setup.demodulator.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    scoped_memory uint8_t *opposite = harness_answer(&setup, in.symbols, NULL, in.n_symbols);
    for (size_t i = 0; i < in.n_symbols * HARNESS_SYMBOL_BITS; i++) {
        const float *symbol = in.symbols + i / HARNESS_SYMBOL_BITS * 2;
        check_opposite_byte(plain[i], opposite[i], !isfinite(symbol[0]) || !isfinite(symbol[1]));
        n_asymmetric += (plain[i] == 0 && opposite[i] != 255) || (plain[i] == 255 && opposite[i] != 0);
    }
    assert_true(n_asymmetric < in.n_symbols / 50);
}

/* What a symmetry does to a symbol, and to its LLRs: bit b comes from bit source(b), negated where told. */
typedef struct symmetry {
    const char *name;
    float i_factor;
    float q_factor;
    bool swap;
} symmetry;

static void check_symmetry(softqam_output_format format, const llr_input *in, const symmetry *kind)
{
    SCOPED(llr_close_input) llr_input image = llr_open_input(in->n_symbols);
    memcpy(image.noise_var, in->noise_var, in->n_symbols * sizeof(float));
    for (size_t i = 0; i < in->n_symbols; i++) {
        image.symbols[2 * i + kind->swap] = kind->i_factor * in->symbols[2 * i];
        image.symbols[2 * i + 1 - kind->swap] = kind->q_factor * in->symbols[2 * i + 1];
    }
    scoped_memory uint8_t *before = llr_answer(format, in), *after = llr_answer(format, &image);
    for (size_t i = 0; i < in->n_symbols * HARNESS_SYMBOL_BITS; i++) {
        size_t b = i % HARNESS_SYMBOL_BITS;
        double factor = (double)(b == 0 ? kind->i_factor : b == 1 ? kind->q_factor : 1);
        double expected = factor * llr_at(format, before, i);
        if (llr_at(format, after, kind->swap ? i ^ 1 : i) != expected) {
            fail_msg("%s: b%zu of (%a, %a) in %s", kind->name, b, (double)in->symbols[i / HARNESS_SYMBOL_BITS * 2],
                     (double)in->symbols[i / HARNESS_SYMBOL_BITS * 2 + 1], harness_output_names[format]);
        }
    }
}

HARNESS_TEST(test_symmetries)
{
    static const symmetry symmetries[] = {
        {"b0 is odd in I, all others even", -1, 1, false},
        {"b1 is odd in Q, all others even", 1, -1, false},
        {"I and Q exchanged", 1, 1, true},
        {"I and Q exchanged and negated", -1, -1, true},
    };
    SCOPED(llr_close_input)
    llr_input in = llr_open_mixture(STREAM_SYMMETRY, HARNESS_NOISE_ANY, harness_symbol_count(50021));
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++)
        for (size_t i = 0; i < HARNESS_COUNT(symmetries); i++)
            check_symmetry(harness_llr_formats[k], &in, &symmetries[i]);
}

/* Twice the noise variance is half the LLR, exactly, as long as no exponent runs out and no limit of N0 is passed. */
HARNESS_TEST(test_powers_of_two)
{
    SCOPED(llr_close_input) llr_input in = llr_open_mixture(STREAM_POWERS, HARNESS_NOISE_USUAL, 10007);
    scoped_memory float *usual = harness_alloc(in.n_symbols * sizeof(float));
    memcpy(usual, in.noise_var, in.n_symbols * sizeof(float));
    scoped_memory uint8_t *before = llr_answer(SOFTQAM_OUTPUT_F32, &in);
    for (int k = -84; k <= 36; k += 12) {
        for (size_t i = 0; i < in.n_symbols; i++)
            in.noise_var[i] = ldexpf(usual[i], k);
        scoped_memory uint8_t *after = llr_answer(SOFTQAM_OUTPUT_F32, &in);
        for (size_t i = 0; i < in.n_symbols * HARNESS_SYMBOL_BITS; i++) {
            double llr = llr_at(SOFTQAM_OUTPUT_F32, before, i), expected = ldexp(llr, -k);
            double least = fmin(fabs(llr), fabs(expected)), most = fmax(fabs(llr), fabs(expected));
            if (least == 0 || (least >= (double)FLT_MIN && most < (double)FLT_MAX))
                assert_true(llr_at(SOFTQAM_OUTPUT_F32, after, i) == expected);
        }
    }
}
