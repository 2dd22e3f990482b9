/* SPDX-License-Identifier: MIT */
/* Checks soft bits against the oracle, liquid-dsp, and LLRs against double-precision max-log within the bound
 * that reference/ derives for binary32: all of the first symbols, then one in VERIFY_STEP. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "demod.h"
#include "half.h"
#include "max_log.h"
#include "nr_symbol.h"
#include "oracle.h"

static const nr_constellation *const constellations[] = {
    [SOFTQAM_MODULATION_DEFAULT] = &nr_256qam,     [SOFTQAM_MODULATION_BPSK] = &nr_bpsk,
    [SOFTQAM_MODULATION_PI2_BPSK] = &nr_pi_2_bpsk, [SOFTQAM_MODULATION_QPSK] = &nr_qpsk,
    [SOFTQAM_MODULATION_16QAM] = &nr_16qam,        [SOFTQAM_MODULATION_64QAM] = &nr_64qam,
    [SOFTQAM_MODULATION_256QAM] = &nr_256qam,      [SOFTQAM_MODULATION_1024QAM] = &nr_1024qam};
_Static_assert(sizeof constellations / sizeof constellations[0] == MODULATION_COUNT + 1,
               "Give a new modulation its constellation above");

enum { SOFT_BITS = 8 };

/* The right value of a soft bit or LLR, and the range that is accepted. */
struct expectation {
    double value, low, high;
};

static bool start(struct verifier *verifier, const softqam_demodulator_config *config, const uint32_t *c_init)
{
    const bool u8 = config->output_format == SOFTQAM_OUTPUT_U8;
    *verifier = (struct verifier){.config = *config, .n_all = u8 ? VERIFY_ALL_SYMBOLS : VERIFY_ALL_LLR_SYMBOLS};
    snprintf(verifier->reference, sizeof verifier->reference, "%s%s", u8 ? "liquid-dsp " : "double-precision max-log",
             u8 ? oracle_version() : "");
    if (u8)
        verifier->oracle = oracle_create();
    if (c_init)
        verifier->scrambling = malloc(sizeof *verifier->scrambling);
    if (c_init && verifier->scrambling)
        nr_scrambling_start(verifier->scrambling, *c_init);
    return (!u8 || verifier->oracle) && (!c_init || verifier->scrambling);
}

static void end(struct verifier *verifier)
{
    if (verifier->oracle)
        oracle_destroy(verifier->oracle);
    verifier->oracle = NULL;
    free(verifier->scrambling);
    verifier->scrambling = NULL;
}

/* Returns what a soft bit may be with the opposite sign. It is 127 + x, truncated and limited to 0 .. 255; the opposite
 * one is 127 - x: 254 less the byte if x is whole, else 253 less the byte. If the byte is 0 it may be anything up from
 * there, because 127 + x was limited. */
static struct expectation expect_opposite_byte(uint8_t byte)
{
    const double value = fmax(254.0 - byte, 0), low = fmax(253.0 - byte, 0);
    return (struct expectation){value, low, byte == 0 ? 255 : value};
}

static void expect_soft_bits(const struct verifier *verifier, const float symbol[2],
                             struct expectation expected[SOFT_BITS])
{
    const bool opposite = verifier->config.sign == SOFTQAM_SIGN_POSITIVE_IS_1;
    const bool erased = !isfinite(symbol[0]) || !isfinite(symbol[1]);
    uint8_t bytes[SOFT_BITS];
    oracle_soft_bits(verifier->oracle, symbol, 1, bytes);
    for (int b = 0; b < SOFT_BITS; b++)
        expected[b] =
            opposite && !erased ? expect_opposite_byte(bytes[b]) : (struct expectation){bytes[b], bytes[b], bytes[b]};
}

static double round_to_format(const softqam_demodulator_config *config, double llr)
{
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_S8:
    case SOFTQAM_OUTPUT_S16:
        return max_log_to_s8(llr, config->llr_limit);
    case SOFTQAM_OUTPUT_F16:
        return half_to_double(half_from_double(llr));
    case SOFTQAM_OUTPUT_F32:
        return fmin(fmax(llr, (double)-FLT_MAX), (double)FLT_MAX);
    case SOFTQAM_OUTPUT_U8: /* no LLRs */
        break;
    }
    return (double)NAN;
}

/* Returns a bit for each LLR, b0 lowest: 1 if its sign changes, by config.sign and by the scrambling sequence. */
static uint32_t find_flipped(const struct verifier *verifier, uint64_t position, int n_bits)
{
    const uint32_t all = (UINT32_C(1) << n_bits) - 1;
    const uint32_t opposite = verifier->config.sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? all : 0;
    return verifier->scrambling
               ? opposite ^ nr_scrambling_bits(verifier->scrambling, position * (uint64_t)n_bits, n_bits)
               : opposite;
}

/* Computes the LLRs of a symbol and their ranges. Rounding is monotonic, so a rounded LLR lies between the rounded ends
 * of its interval. */
static void expect_llrs(const struct verifier *verifier, uint64_t position, const float symbol[2], float noise_var,
                        struct expectation expected[NR_MAX_BITS])
{
    const softqam_demodulator_config *config = &verifier->config;
    const nr_constellation *constellation = constellations[config->modulation];
    const uint32_t flipped = find_flipped(verifier, position, constellation->n_bits);
    max_log_llr llrs[NR_MAX_BITS];
    const float scale = config->llr_limit > 0 ? config->llr_scale : 1; /* 1: in nats */
    max_log_llrs(constellation, symbol, nr_noise_var(noise_var), scale, position, llrs);
    for (int b = 0; b < constellation->n_bits; b++) {
        const double sign = flipped >> b & 1 ? -1 : 1;
        const double ends[2] = {sign * llrs[b].low, sign * llrs[b].high};
        expected[b].value = round_to_format(config, sign * llrs[b].value);
        expected[b].low = round_to_format(config, fmin(ends[0], ends[1]));
        expected[b].high = round_to_format(config, fmax(ends[0], ends[1]));
    }
}

/* Checks symbol `offset` of the batch that begins at symbol n_seen. */
static bool check_symbol(struct verifier *verifier, const void *samples, const float *noise_var, const void *out,
                         uint64_t offset, struct verify_difference *difference)
{
    const softqam_demodulator_config *config = &verifier->config;
    const char *sample = (const char *)samples + offset * softqam_input_symbol_nbytes(config->input_format);
    const unsigned n_bits = softqam_bits_per_symbol(config->modulation);
    struct expectation expected[NR_MAX_BITS] = {{0, 0, 0}};
    float symbol[2], n0 = 0;
    sample_format_widen(config->input_format, sample, 1, config->input_scale, symbol);
    if (config->output_format == SOFTQAM_OUTPUT_U8) {
        expect_soft_bits(verifier, symbol, expected);
    } else {
        n0 = noise_var[config->noise == SOFTQAM_NOISE_PER_SYMBOL ? offset : 0];
        n0 = n0 < config->noise_floor ? config->noise_floor : n0;
        expect_llrs(verifier, verifier->position + verifier->n_seen + offset, symbol, n0, expected);
    }
    verifier->n_checked++;
    for (unsigned b = 0; b < n_bits; b++) {
        const double got = sample_format_value(config->output_format, out, n_bits * offset + b);
        if (got >= expected[b].low && got <= expected[b].high) /* false for NaN */
            continue;
        *difference =
            (struct verify_difference){verifier->n_seen + offset, symbol[0],       symbol[1],       n0, b, got,
                                       expected[b].value,         expected[b].low, expected[b].high};
        return false;
    }
    return true;
}

static bool next(struct verifier *verifier, const void *samples, const float *noise_var, const void *out,
                 size_t n_symbols, struct verify_difference *difference)
{
    const uint64_t first = verifier->n_seen, end = first + n_symbols;
    for (uint64_t i = first; i < end; i++)
        if ((i < verifier->n_all || i % VERIFY_STEP == 0) &&
            !check_symbol(verifier, samples, noise_var, out, i - first, difference))
            return false;
    verifier->n_seen = end;
    return true;
}

static const struct verification reference = {start, next, end};
const struct verification *const verification = &reference;
