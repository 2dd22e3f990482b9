/* SPDX-License-Identifier: MIT */
/* --verify on LLRs, which must lie within the bound of double-precision max-log. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs setjmp.h, stdarg.h, stddef.h and stdint.h */

#include "check_verify.h"
#include "common/sample_format.h"
#include "common/verify.h"
#include "half.h"
#include "max_log.h"

/* Max-log by brute force takes its time. */
enum { N_LLR_SYMBOLS = 400 };

/* Random symbols with a noise variance each, and the LLRs that they have, as an array of the format. */
struct llr_capture {
    softqam_demodulator_config config;
    float symbols[2 * N_LLR_SYMBOLS];
    float noise_var[N_LLR_SYMBOLS];
    max_log_llr exact[8 * N_LLR_SYMBOLS];
    union {
        int8_t s8[8 * N_LLR_SYMBOLS];
        int16_t s16[8 * N_LLR_SYMBOLS];
        uint16_t f16[8 * N_LLR_SYMBOLS];
        float f32[8 * N_LLR_SYMBOLS];
    } llrs;
};

static double sign_of(const softqam_demodulator_config *config)
{
    return config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? -1 : 1;
}

static void store_llr(struct llr_capture *capture, size_t place, double llr)
{
    llr *= sign_of(&capture->config);
    switch (capture->config.output_format) {
    case SOFTQAM_OUTPUT_S8:
        capture->llrs.s8[place] = (int8_t)max_log_to_s8(llr, capture->config.llr_limit);
        break;
    case SOFTQAM_OUTPUT_S16:
        capture->llrs.s16[place] = (int16_t)max_log_to_s8(llr, capture->config.llr_limit);
        break;
    case SOFTQAM_OUTPUT_F16:
        capture->llrs.f16[place] = half_from_double(llr);
        break;
    case SOFTQAM_OUTPUT_F32:
        capture->llrs.f32[place] = (float)llr;
        break;
    case SOFTQAM_OUTPUT_U8: /* no LLRs */
        break;
    }
}

static int limit_of(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_S8 ? 127 : format == SOFTQAM_OUTPUT_S16 ? 20000 : 0;
}

static void make_llr_capture(struct llr_capture *capture, softqam_output_format format, softqam_sign sign)
{
    const float scale = format == SOFTQAM_OUTPUT_S8 ? 6 : format == SOFTQAM_OUTPUT_S16 ? 64 : 1;
    capture->config = (softqam_demodulator_config){.input_scale = 1,
                                                   .output_format = format,
                                                   .sign = sign,
                                                   .noise = SOFTQAM_NOISE_PER_SYMBOL,
                                                   .llr_scale = scale,
                                                   .llr_limit = limit_of(format)};
    for (size_t i = 0; i < N_LLR_SYMBOLS; i++) {
        capture->symbols[2 * i] = (float)((double)(i * 7919 % 20011) / 8192 - 1.2);
        capture->symbols[2 * i + 1] = (float)((double)(i * 104729 % 20021) / 8192 - 1.2);
        capture->noise_var[i] = (float)((double)(i * 31 % 1009 + 10) / 4096);
        max_log_llrs(&nr_256qam, capture->symbols + 2 * i, nr_noise_var(capture->noise_var[i]), scale, 0,
                     capture->exact + 8 * i);
    }
    for (size_t k = 0; k < 8 * N_LLR_SYMBOLS; k++)
        store_llr(capture, k, capture->exact[k].value);
}

/* Verifies a capture in two calls that meet at a symbol. */
static bool verify_capture(const struct llr_capture *capture, size_t split, struct verify_difference *difference)
{
    const size_t out_nbytes = softqam_output_nbytes(capture->config.output_format, SOFTQAM_MODULATION_256QAM, 1);
    struct verifier verifier;
    assert_true(verify_start(&verifier, &capture->config));
    assert_string_equal(verifier.reference, "double-precision max-log");
    const bool right =
        verify_next(&verifier, capture->symbols, capture->noise_var, &capture->llrs, split, difference) &&
        verify_next(&verifier, capture->symbols + 2 * split, capture->noise_var + split,
                    (const char *)&capture->llrs + split * out_nbytes, N_LLR_SYMBOLS - split, difference);
    if (right)
        assert_int_equal(verifier.n_checked, N_LLR_SYMBOLS);
    verify_end(&verifier);
    return right;
}

#define LLR_FORMAT(value, name) SOFTQAM_OUTPUT_##value,
static const softqam_output_format llr_formats[] = {LLR_FORMAT_LIST(LLR_FORMAT)};
enum { N_LLR_FORMATS = sizeof llr_formats / sizeof llr_formats[0] };

void test_verify_accepts_right_llrs(void **state)
{
    (void)state;
    static struct llr_capture capture;
    struct verify_difference difference;
    for (int k = 0; k < N_LLR_FORMATS; k++) {
        make_llr_capture(&capture, llr_formats[k], SOFTQAM_SIGN_POSITIVE_IS_0);
        assert_true(verify_capture(&capture, 0, &difference));
        assert_true(verify_capture(&capture, 234, &difference));
        make_llr_capture(&capture, llr_formats[k], SOFTQAM_SIGN_POSITIVE_IS_1);
        assert_true(verify_capture(&capture, N_LLR_SYMBOLS, &difference));
    }
}

/* Changes one LLR by little more than shows: by one step in s8 and s16, by about one unit in the last place in f16, and
 * in floats of both kinds by more than the bound. */
static double spoil_llr(struct llr_capture *capture, size_t place)
{
    if (capture->config.output_format == SOFTQAM_OUTPUT_S8)
        return capture->llrs.s8[place] += capture->llrs.s8[place] > 0 ? -1 : 1;
    if (capture->config.output_format == SOFTQAM_OUTPUT_S16)
        return capture->llrs.s16[place] += capture->llrs.s16[place] > 0 ? -1 : 1;
    const double llr = sign_of(&capture->config) * capture->exact[place].value;
    const double step = 1e-5 / (double)capture->noise_var[place / 8];
    if (capture->config.output_format == SOFTQAM_OUTPUT_F16)
        return half_to_double(capture->llrs.f16[place] = half_from_double(llr + step + 1.5e-3 * fabs(llr)));
    return (double)(capture->llrs.f32[place] = (float)(llr + step + 1e-6 * fabs(llr)));
}

void test_verify_finds_wrong_llr(void **state)
{
    (void)state;
    static struct llr_capture capture;
    for (int k = 0; k < 2 * N_LLR_FORMATS; k++) {
        make_llr_capture(&capture, llr_formats[k / 2], (softqam_sign)(k % 2));
        for (size_t place = 0; place < 8 * N_LLR_SYMBOLS; place += 61) {
            const size_t symbol = place / 8;
            struct verify_difference difference;
            const double got = spoil_llr(&capture, place);
            assert_false(verify_capture(&capture, symbol / 2, &difference));
            assert_int_equal(difference.symbol, symbol);
            assert_int_equal(difference.bit, place % 8);
            assert_true(difference.got == got);
            assert_true(difference.expected >= difference.low && difference.expected <= difference.high);
            assert_true(got < difference.low || got > difference.high);
            assert_true(difference.i == capture.symbols[2 * symbol] && difference.q == capture.symbols[2 * symbol + 1]);
            assert_true(difference.noise_var == capture.noise_var[symbol]);
            store_llr(&capture, place, capture.exact[place].value);
        }
    }
}

/* The floats at the ends of the bound are right, those beyond are wrong, and so are NaN and infinities; an LLR in
 * another format may be what either end is rounded to. */
void test_verify_ends_of_the_bound(void **state)
{
    (void)state;
    static struct llr_capture capture;
    struct verify_difference difference;
    make_llr_capture(&capture, SOFTQAM_OUTPUT_F32, SOFTQAM_SIGN_POSITIVE_IS_0);
    for (size_t place = 0; place < 8 * N_LLR_SYMBOLS; place += 61) {
        float low = (float)capture.exact[place].low, high = (float)capture.exact[place].high;
        low = (double)low < capture.exact[place].low ? nextafterf(low, INFINITY) : low;
        high = (double)high > capture.exact[place].high ? nextafterf(high, -INFINITY) : high;
        const float right[2] = {low, high};
        const float wrong[5] = {nextafterf(low, -INFINITY), nextafterf(high, INFINITY), NAN, INFINITY, -INFINITY};
        for (int k = 0; k < 2; k++) {
            capture.llrs.f32[place] = right[k];
            assert_true(verify_capture(&capture, 0, &difference));
        }
        for (int k = 0; k < 5; k++) {
            capture.llrs.f32[place] = wrong[k];
            assert_false(verify_capture(&capture, 0, &difference));
            assert_int_equal(difference.symbol * 8 + difference.bit, place);
        }
        store_llr(&capture, place, capture.exact[place].value);
    }
    for (int k = 0; k < N_LLR_FORMATS; k++) {
        if (llr_formats[k] == SOFTQAM_OUTPUT_F32)
            continue;
        make_llr_capture(&capture, llr_formats[k], SOFTQAM_SIGN_POSITIVE_IS_1);
        for (size_t place = 0; place < 8 * N_LLR_SYMBOLS; place++)
            store_llr(&capture, place, place % 2 ? capture.exact[place].low : capture.exact[place].high);
        assert_true(verify_capture(&capture, 0, &difference));
    }
}

void test_verify_erased_llrs(void **state)
{
    (void)state;
    static struct llr_capture capture;
    struct verify_difference difference;
    const float no_noise[5] = {0, -1, NAN, INFINITY, -INFINITY};
    for (int k = 0; k < N_LLR_FORMATS; k++) {
        const size_t nbytes = softqam_output_nbytes(llr_formats[k], SOFTQAM_MODULATION_256QAM, 1);
        make_llr_capture(&capture, llr_formats[k], SOFTQAM_SIGN_POSITIVE_IS_0);
        memcpy(capture.noise_var + 10, no_noise, sizeof no_noise);
        capture.symbols[2 * 20] = capture.symbols[2 * 21 + 1] = NAN;
        assert_false(verify_capture(&capture, 0, &difference));
        assert_int_equal(difference.symbol, 10);
        memset((char *)&capture.llrs + 10 * nbytes, 0, 5 * nbytes);
        assert_false(verify_capture(&capture, 0, &difference));
        assert_int_equal(difference.symbol, 20);
        memset((char *)&capture.llrs + 20 * nbytes, 0, 2 * nbytes);
        assert_true(verify_capture(&capture, 0, &difference));
        /* The least that is not zero. */
        *((char *)&capture.llrs + 21 * nbytes) = 1;
        assert_false(verify_capture(&capture, 0, &difference));
        assert_int_equal(difference.symbol, 21);
    }
}

/* Fewer LLRs than soft bits are checked completely, with one noise variance for all as with one each. */
void test_verify_llr_boundary(void **state)
{
    (void)state;
    static struct llr_capture capture;
    struct verify_difference difference;
    struct verifier verifier;
    make_llr_capture(&capture, SOFTQAM_OUTPUT_F32, SOFTQAM_SIGN_POSITIVE_IS_0);
    capture.config.noise = SOFTQAM_NOISE_PER_CALL;
    for (size_t i = 0; i < N_LLR_SYMBOLS; i++)
        max_log_llrs(&nr_256qam, capture.symbols + 2 * i, nr_noise_var(0.01f), 1, 0, capture.exact + 8 * i);
    for (size_t k = 0; k < 8 * N_LLR_SYMBOLS; k++)
        store_llr(&capture, k, capture.exact[k].value);
    const float noise_var = 0.01f;
    assert_true(verify_start(&verifier, &capture.config));
    verifier.n_seen = VERIFY_ALL_LLR_SYMBOLS - 100;
    assert_true(
        verify_next(&verifier, capture.symbols, &noise_var, &capture.llrs, 100 + VERIFY_RUN_SYMBOLS, &difference));
    assert_int_equal(verifier.n_checked, 101);
    verifier.n_seen = VERIFY_ALL_LLR_SYMBOLS - 100;
    capture.llrs.f32[8 * 99 + 7] += 1;
    assert_false(verify_next(&verifier, capture.symbols, &noise_var, &capture.llrs, N_LLR_SYMBOLS, &difference));
    assert_int_equal(difference.symbol, VERIFY_ALL_LLR_SYMBOLS - 1);
    assert_int_equal(difference.bit, 7);
    verify_end(&verifier);
}
