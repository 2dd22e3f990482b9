/* SPDX-License-Identifier: MIT */
/* --verify: soft bits must be liquid-dsp's, LLRs within the bound of double-precision max-log. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs setjmp.h, stdarg.h, stddef.h and stdint.h */

#include "check.h"
#include "common/sample_format.h"
#include "common/verify.h"
#include "half.h"
#include "max_log.h"
#include "oracle.h"

/* Max-log by brute force takes its time. */
enum { N_SYMBOLS = 400, N_VALUES = 8 * N_SYMBOLS };

/* Random symbols of 256QAM with a noise variance each, and what they become. */
struct capture {
    softqam_demodulator_config config;
    float symbols[2 * N_SYMBOLS];
    float noise_var[N_SYMBOLS];
    max_log_llr expected[N_VALUES]; /* before the sign; of soft bits with both ends the same */
    union {
        uint8_t u8[N_VALUES];
        int8_t s8[N_VALUES];
        int16_t s16[N_VALUES];
        uint16_t f16[N_VALUES];
        float f32[N_VALUES];
    } out;
};

static struct capture capture;
static struct verify_difference difference;

static const softqam_output_format formats[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_S16, SOFTQAM_OUTPUT_F16,
                                                SOFTQAM_OUTPUT_F32, SOFTQAM_OUTPUT_U8};
enum { N_FORMATS = sizeof formats / sizeof formats[0], N_LLR_FORMATS = N_FORMATS - 1 };

static double sign_of(void) { return capture.config.sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? -1 : 1; }

/* As the format has the value. */
static void put(size_t k, double value)
{
    switch (capture.config.output_format) {
    case SOFTQAM_OUTPUT_U8:
        capture.out.u8[k] = (uint8_t)value;
        break;
    case SOFTQAM_OUTPUT_S8:
        capture.out.s8[k] = (int8_t)max_log_to_s8(value, capture.config.llr_limit);
        break;
    case SOFTQAM_OUTPUT_S16:
        capture.out.s16[k] = (int16_t)max_log_to_s8(value, capture.config.llr_limit);
        break;
    case SOFTQAM_OUTPUT_F16:
        capture.out.f16[k] = half_from_double(value);
        break;
    case SOFTQAM_OUTPUT_F32:
        capture.out.f32[k] = (float)value;
        break;
    }
}

static void store(size_t k, double value) { put(k, sign_of() * value); }

/* Changes one value by little more than shows: a bit of a soft bit, one step in s8 and s16, about one unit in the last
 * place in f16, and in floats of both kinds more than the bound. */
static double spoil(size_t k)
{
    const softqam_output_format format = capture.config.output_format;
    const double llr = sign_of() * capture.expected[k].value, step = 1e-5 / (double)capture.noise_var[k / 8];
    const double before = sample_format_value(format, &capture.out, k);
    if (format == SOFTQAM_OUTPUT_U8)
        put(k, (uint8_t)before ^ 1u << k % 7);
    else if (format == SOFTQAM_OUTPUT_S8 || format == SOFTQAM_OUTPUT_S16)
        put(k, before + (before > 0 ? -1 : 1));
    else
        put(k, llr + step + (format == SOFTQAM_OUTPUT_F16 ? 1.5e-3 : 1e-6) * fabs(llr));
    return sample_format_value(format, &capture.out, k);
}

static void make_soft_bits(void)
{
    uint8_t bytes[N_VALUES];
    oracle *liquid = oracle_create();
    assert_non_null(liquid);
    oracle_soft_bits(liquid, capture.symbols, N_SYMBOLS, bytes);
    oracle_destroy(liquid);
    for (size_t k = 0; k < N_VALUES; k++)
        capture.expected[k].value = capture.expected[k].low = capture.expected[k].high = bytes[k];
}

/* One noise variance for all, or, 0, one each. */
static void make_capture(softqam_output_format format, softqam_sign sign, float noise_var)
{
    const float scale = format == SOFTQAM_OUTPUT_S8 ? 6 : format == SOFTQAM_OUTPUT_S16 ? 64 : 1;
    const int limit = format == SOFTQAM_OUTPUT_S8 ? 127 : format == SOFTQAM_OUTPUT_S16 ? 20000 : 0;
    capture.config =
        (softqam_demodulator_config){.input_scale = 1,
                                     .output_format = format,
                                     .sign = sign,
                                     .noise = noise_var > 0 ? SOFTQAM_NOISE_PER_CALL : SOFTQAM_NOISE_PER_SYMBOL,
                                     .llr_scale = scale,
                                     .llr_limit = limit};
    for (size_t i = 0; i < N_SYMBOLS; i++) {
        capture.symbols[2 * i] = (float)((double)(i * 7919 % 20011) / 8192 - 1.2);
        capture.symbols[2 * i + 1] = (float)((double)(i * 104729 % 20021) / 8192 - 1.2);
        capture.noise_var[i] = noise_var > 0 ? noise_var : (float)((double)(i * 31 % 1009 + 10) / 4096);
        if (format != SOFTQAM_OUTPUT_U8)
            max_log_llrs(&nr_256qam, capture.symbols + 2 * i, nr_noise_var(capture.noise_var[i]), scale, 0,
                         capture.expected + 8 * i);
    }
    if (format == SOFTQAM_OUTPUT_U8)
        make_soft_bits();
    for (size_t k = 0; k < N_VALUES; k++)
        store(k, capture.expected[k].value);
}

/* In two calls that meet at a symbol. */
static bool verify(size_t split)
{
    const size_t out_nbytes = softqam_output_nbytes(capture.config.output_format, SOFTQAM_MODULATION_256QAM, 1);
    struct verifier verifier;
    assert_true(verify_start(&verifier, &capture.config, NULL));
    const bool right = verify_next(&verifier, capture.symbols, capture.noise_var, &capture.out, split, &difference) &&
                       verify_next(&verifier, capture.symbols + 2 * split, capture.noise_var + split,
                                   (const char *)&capture.out + split * out_nbytes, N_SYMBOLS - split, &difference);
    if (right)
        assert_true(verifier.n_checked == N_SYMBOLS && verifier.n_seen == N_SYMBOLS);
    verify_end(&verifier);
    return right;
}

/* Right values are accepted; one that is wrong, anywhere, in the first call or in a later one, is found and described.
 */
void test_verify_finds_wrong_value(void **state)
{
    (void)state;
    for (int f = 0; f < 2 * N_FORMATS - 1; f++) { /* u8 with the opposite sign is another thing */
        make_capture(formats[f / 2], (softqam_sign)(f % 2), 0);
        assert_true(verify(0) && verify(234) && verify(N_SYMBOLS));
        for (size_t k = 0; k < N_VALUES; k += 61) {
            const size_t symbol = k / 8;
            const double got = spoil(k);
            assert_false(verify(symbol / 2));
            assert_int_equal(difference.symbol, symbol);
            assert_int_equal(difference.bit, k % 8);
            assert_true(difference.got == got && (got < difference.low || got > difference.high));
            assert_true(difference.expected >= difference.low && difference.expected <= difference.high);
            assert_true(difference.i == capture.symbols[2 * symbol] && difference.q == capture.symbols[2 * symbol + 1]);
            assert_true(formats[f / 2] == SOFTQAM_OUTPUT_U8 || difference.noise_var == capture.noise_var[symbol]);
            store(k, capture.expected[k].value);
        }
    }
}

/* Beyond the first symbols one of each run is checked, whatever the blocks are: corrupting all the soft bits of a run
 * is always found, and the number of symbols checked does not depend on where blocks end. */
void test_verify_samples_every_run(void **state)
{
    (void)state;
    enum { N = 64 * VERIFY_RUN_SYMBOLS };
    static const float samples[2 * N];
    static uint8_t soft_bits[8 * N];
    static const size_t blocks[] = {N, 1, 77, 256, 1000};
    struct verifier verifier;
    make_capture(SOFTQAM_OUTPUT_U8, SOFTQAM_SIGN_POSITIVE_IS_0, 0);
    memset(capture.symbols, 0, sizeof capture.symbols);
    make_soft_bits();
    for (size_t k = 0; k < sizeof soft_bits; k++)
        soft_bits[k] = (uint8_t)capture.expected[k % 8].value;
    assert_true(verify_start(&verifier, &capture.config, NULL));
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        verifier.n_seen = VERIFY_ALL_SYMBOLS;
        verifier.n_checked = 0;
        for (size_t first = 0; first < N; first += blocks[b]) {
            const size_t n = N - first < blocks[b] ? N - first : blocks[b];
            assert_true(verify_next(&verifier, samples, NULL, soft_bits, n, &difference));
        }
        assert_int_equal(verifier.n_checked, 64);
    }
    for (size_t run = 0; run < 64; run++) {
        uint8_t *bad = soft_bits + 8 * run * VERIFY_RUN_SYMBOLS;
        for (int turn = 0; turn < 2; turn++) {
            for (size_t i = 0; i < 8 * VERIFY_RUN_SYMBOLS; i++)
                bad[i] ^= 1;
            verifier.n_seen = VERIFY_ALL_SYMBOLS;
            assert_int_equal(verify_next(&verifier, samples, NULL, soft_bits, N, &difference), turn);
            assert_int_equal((difference.symbol - VERIFY_ALL_SYMBOLS) / VERIFY_RUN_SYMBOLS, run);
        }
    }
    verify_end(&verifier);
}

/* With the opposite sign 127 + x becomes 127 - x, truncated and limited: 254 less the byte, or one less, and anything
 * from 253 on for 0; but an erasure stays. */
void test_verify_opposite_sign(void **state)
{
    (void)state;
    const float erased[2] = {NAN, 0};
    uint8_t out[8];
    struct verifier verifier;
    make_capture(SOFTQAM_OUTPUT_U8, SOFTQAM_SIGN_POSITIVE_IS_0, 0);
    capture.config.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    assert_true(verify_start(&verifier, &capture.config, NULL));
    assert_false(verify_next(&verifier, capture.symbols, NULL, capture.out.u8, N_SYMBOLS, &difference));
    for (int delta = -4; delta <= 2; delta++) {
        for (size_t k = 0; k < N_VALUES; k += 37) {
            const int byte = capture.out.u8[k], got = 254 - byte + delta;
            const bool right = (delta == 0 || delta == -1 || (byte == 0 && delta == 1) || (byte >= 254 && got == 0));
            if (got < 0 || got > 255)
                continue;
            for (size_t b = 0; b < 8; b++)
                out[b] = (uint8_t)fmax(254 - capture.out.u8[k / 8 * 8 + b], 0);
            out[k % 8] = (uint8_t)got;
            assert_int_equal(verify_next(&verifier, capture.symbols + k / 8 * 2, NULL, out, 1, &difference), right);
        }
    }
    memset(out, 127, sizeof out);
    assert_true(verify_next(&verifier, erased, NULL, out, 1, &difference));
    out[5] = 126;
    assert_false(verify_next(&verifier, erased, NULL, out, 1, &difference));
    verify_end(&verifier);
}

/* The floats at the ends of the bound are right, those beyond are wrong, and so are NaN and infinities; an LLR in
 * another format may be what either end is rounded to. */
void test_verify_ends_of_the_bound(void **state)
{
    (void)state;
    make_capture(SOFTQAM_OUTPUT_F32, SOFTQAM_SIGN_POSITIVE_IS_0, 0);
    for (size_t k = 0; k < N_VALUES; k += 61) {
        float low = (float)capture.expected[k].low, high = (float)capture.expected[k].high;
        low = (double)low < capture.expected[k].low ? nextafterf(low, INFINITY) : low;
        high = (double)high > capture.expected[k].high ? nextafterf(high, -INFINITY) : high;
        const float tried[] = {low,      high,     nextafterf(low, -INFINITY), nextafterf(high, INFINITY), NAN,
                               INFINITY, -INFINITY};
        for (int i = 0; i < 7; i++) {
            capture.out.f32[k] = tried[i];
            assert_int_equal(verify(0), i < 2);
            assert_true(i < 2 || difference.symbol * 8 + difference.bit == k);
        }
        store(k, capture.expected[k].value);
    }
    for (int f = 0; f < N_LLR_FORMATS; f++) {
        if (formats[f] == SOFTQAM_OUTPUT_F32)
            continue;
        make_capture(formats[f], SOFTQAM_SIGN_POSITIVE_IS_1, 0);
        for (size_t k = 0; k < N_VALUES; k++)
            store(k, k % 2 ? capture.expected[k].low : capture.expected[k].high);
        assert_true(verify(0));
    }
}

void test_verify_erased_llrs(void **state)
{
    (void)state;
    const float no_noise[5] = {0, -1, NAN, INFINITY, -INFINITY};
    for (int f = 0; f < N_LLR_FORMATS; f++) {
        const size_t nbytes = softqam_output_nbytes(formats[f], SOFTQAM_MODULATION_256QAM, 1);
        char *out = (char *)&capture.out;
        make_capture(formats[f], SOFTQAM_SIGN_POSITIVE_IS_0, 0);
        memcpy(capture.noise_var + 10, no_noise, sizeof no_noise);
        capture.symbols[2 * 20] = capture.symbols[2 * 21 + 1] = NAN;
        assert_false(verify(0));
        assert_int_equal(difference.symbol, 10);
        memset(out + 10 * nbytes, 0, 5 * nbytes);
        assert_false(verify(0));
        assert_int_equal(difference.symbol, 20);
        memset(out + 20 * nbytes, 0, 2 * nbytes);
        assert_true(verify(0));
        out[21 * nbytes] = 1; /* the least that is not zero */
        assert_false(verify(0));
        assert_int_equal(difference.symbol, 21);
    }
}
