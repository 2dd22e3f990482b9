/* SPDX-License-Identifier: MIT */
/* The labels of every modulation against liquid-dsp's: its points are those of TS 38.211, and its hard decisions are
 * the signs of the library's LLRs. liquid has no pi/2-BPSK, which is BPSK rotated back, and no 1024QAM, each axis of
 * which is its 32-ASK. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <liquid/liquid.h>

#include "llr_fixture.h"

enum { N_SYMBOLS = 20000 };

static const struct witness {
    softqam_modulation modulation;
    modulation_scheme scheme;
} witnesses[] = {
    {SOFTQAM_MODULATION_BPSK, LIQUID_MODEM_BPSK},     {SOFTQAM_MODULATION_PI2_BPSK, LIQUID_MODEM_BPSK},
    {SOFTQAM_MODULATION_QPSK, LIQUID_MODEM_QAM4},     {SOFTQAM_MODULATION_16QAM, LIQUID_MODEM_QAM16},
    {SOFTQAM_MODULATION_64QAM, LIQUID_MODEM_QAM64},   {SOFTQAM_MODULATION_256QAM, LIQUID_MODEM_QAM256},
    {SOFTQAM_MODULATION_1024QAM, LIQUID_MODEM_ASK32},
};

static bool is_bpsk(const struct witness *self) { return self->scheme == LIQUID_MODEM_BPSK; }

/* liquid's BPSK lies on the real axis, 3GPP's on a diagonal. */
static float complex to_diagonal(const struct witness *self, uint64_t position)
{
    const float complex diagonal = (1 + I) / sqrtf(2);
    return self->modulation == SOFTQAM_MODULATION_PI2_BPSK && position % 2 ? I * diagonal : diagonal;
}

/* liquid labels an axis with the Gray code of the level, counted from the negative end, first bit highest. A bit of
 * 3GPP's is the complement of its label bit: 0 is the positive side, then the inner half, and so on. */
static unsigned int axis_bit(unsigned int label, int axis_bits, int b) { return ~label >> (axis_bits - 1 - b / 2) & 1; }

/* liquid's hard decision, b0 highest. */
static unsigned int decide(const struct witness *self, modemcf modem, float complex symbol, uint64_t position)
{
    const nr_constellation *constellation = llr_constellation(self->modulation);
    const int m = constellation->axis_bits;
    unsigned int labels[2] = {0, 0}, both = 0, bits = 0;
    if (is_bpsk(self)) {
        modemcf_demodulate(modem, symbol * conjf(to_diagonal(self, position)), &bits);
        return bits;
    }
    if (self->scheme == LIQUID_MODEM_ASK32) {
        modemcf_demodulate(modem, sqrtf(2) * crealf(symbol), &labels[0]);
        modemcf_demodulate(modem, sqrtf(2) * cimagf(symbol), &labels[1]);
    } else {
        modemcf_demodulate(modem, symbol, &both);
        labels[0] = both >> m;
        labels[1] = both & ((1U << m) - 1);
    }
    for (int b = 0; b < constellation->n_bits; b++)
        bits = bits << 1 | axis_bit(labels[b % 2], m, b);
    return bits;
}

static float complex random_symbol(harness_random *random)
{
    const float i = (float)(harness_random_u32(random) >> 8) * 0x1p-23F - 1;
    const float q = (float)(harness_random_u32(random) >> 8) * 0x1p-23F - 1;
    return 1.3F * (i + I * q);
}

/* Every point of the standard is decided as its bits. */
HARNESS_TEST(points_have_their_bits)
{
    for (size_t k = 0; k < HARNESS_COUNT(witnesses); k++) {
        const struct witness *self = &witnesses[k];
        const nr_constellation *constellation = llr_constellation(self->modulation);
        modemcf modem = modemcf_create(self->scheme);
        for (unsigned int n = 0; n < 2U << constellation->n_bits; n++) {
            double point[2];
            nr_point(constellation, (int)(n / 2), n % 2, point);
            const float complex symbol = (float)point[0] + I * (float)point[1];
            if (decide(self, modem, symbol, n % 2) != n / 2)
                fail_msg("%s: liquid takes the point of the bits 0x%x for another", constellation->name, n / 2);
        }
        modemcf_destroy(modem);
    }
}

static float *demodulate(const struct witness *self, const float complex *symbols, float noise_var)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_CALL);
    setup.demodulator.modulation = self->modulation;
    scoped_demodulator *demodulator = harness_create(&setup);
    float *llrs = harness_alloc(softqam_output_nbytes(SOFTQAM_OUTPUT_F32, self->modulation, N_SYMBOLS));
    harness_demodulate_llrs(demodulator, symbols, &noise_var, N_SYMBOLS, llrs);
    return llrs;
}

/* At a boundary either may round to the other side. */
static size_t compare(const struct witness *self, const float complex *symbols, const float *llrs)
{
    const size_t n_bits = softqam_bits_per_symbol(self->modulation);
    modemcf modem = modemcf_create(self->scheme);
    size_t n_compared = 0;
    for (size_t n = 0; n < N_SYMBOLS; n++) {
        const unsigned int bits = decide(self, modem, symbols[n], n);
        for (size_t b = 0; b < n_bits; b++) {
            const float llr = llrs[n * n_bits + b];
            if (fabsf(llr) < 1e-4F)
                continue;
            n_compared++;
            if ((llr < 0) != (bits >> (n_bits - 1 - b) & 1))
                fail_msg("modulation %d, symbol %zu (%a, %a): b%zu is %a, liquid decides for 0x%x",
                         (int)self->modulation, n, (double)crealf(symbols[n]), (double)cimagf(symbols[n]), b,
                         (double)llr, bits);
        }
    }
    modemcf_destroy(modem);
    return n_compared;
}

HARNESS_TEST(signs_are_hard_decisions)
{
    harness_random random = harness_random_stream(1);
    float complex *symbols = harness_alloc(N_SYMBOLS * sizeof *symbols);
    for (size_t n = 0; n < N_SYMBOLS; n++)
        symbols[n] = random_symbol(&random);
    for (size_t k = 0; k < HARNESS_COUNT(witnesses); k++) {
        scoped_memory float *llrs = demodulate(&witnesses[k], symbols, 1);
        const size_t n_llrs = N_SYMBOLS * softqam_bits_per_symbol(witnesses[k].modulation);
        const size_t n_compared = compare(&witnesses[k], symbols, llrs);
        print_message("modulation %d: %zu of %zu signs compared\n", (int)witnesses[k].modulation, n_compared, n_llrs);
        assert_true(n_compared > n_llrs - n_llrs / 100);
    }
    free(symbols);
}
