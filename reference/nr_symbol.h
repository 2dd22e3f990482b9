/* SPDX-License-Identifier: MIT */
/* The constellations and the scrambling sequence of 5G NR, from the formulas of 3GPP TS 38.211 clauses 5.1.1 to 5.1.7
 * and 5.2.1, and the noise as a receiver gives it, for the references of LLRs. All functions may be called from any
 * thread.
 */
#ifndef SOFTQAM_REFERENCE_NR_SYMBOL_H
#define SOFTQAM_REFERENCE_NR_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

enum { NR_CONSTELLATIONS = 7, NR_MAX_BITS = 10, NR_MAX_AXIS_BITS = NR_MAX_BITS / 2, NR_MAX_POINTS = 1 << NR_MAX_BITS };

typedef struct nr_constellation {
    const char *name;
    int n_bits;    /* bits a symbol, Qm */
    int axis_bits; /* bits that choose I, and as many that choose Q; BPSK's one bit chooses both */
    int energy;    /* I and Q are odd integers divided by its square root, which makes the mean energy 1 */
    bool rotates;  /* pi/2-BPSK: symbols at odd positions of the codeword are rotated by 90 degrees */
} nr_constellation;

extern const nr_constellation nr_pi_2_bpsk, nr_bpsk, nr_qpsk, nr_16qam, nr_64qam, nr_256qam, nr_1024qam;

/* All of them, in the order above. */
extern const nr_constellation *const nr_constellations[NR_CONSTELLATIONS];

/* Returns whether a symbol has one bit: BPSK and pi/2-BPSK. */
bool nr_is_bpsk(const nr_constellation *constellation);

/* Returns the odd integer that the bits of an axis choose: `label` holds them, the first highest (b0 b2 b4 .. for I, b1
 * b3 b5 .. for Q). For 256QAM 5.1.6 has it as (1 - 2 b0) [8 - (1 - 2 b2) [4 - (1 - 2 b4) [2 - (1 - 2 b6)]]]. Divided by
 * the square root of the energy it is I or Q of a point. */
int nr_level(const nr_constellation *constellation, int label);
double nr_coordinate(const nr_constellation *constellation, int label);

/* Computes I and Q of the point with these bits, b0 highest, for a symbol at this position of its codeword, counted
 * from 0. */
void nr_point(const nr_constellation *constellation, int bits, uint64_t position, double point[2]);

/* The noise as a receiver gives it: `value` is N0 = E|n|^2, the variance of the complex noise, or 1/N0; `gain` is g of
 * the symbol y = g x + n; `floor` is the least N0, 0 if there is none. */
typedef struct nr_noise {
    float value;
    bool is_inverse;
    bool has_gain;
    float gain;
    float floor;
} nr_noise;

nr_noise nr_noise_var(float noise_var);
nr_noise nr_inverse_noise_var(float inverse);

/* The sequence c(n), step by step from its recurrences and forwards only, without the algebra of jumps. */
typedef struct nr_scrambling {
    uint32_t x1, x2;   /* the next 31 bits of both sequences, the first lowest */
    uint64_t position; /* n of the first */
} nr_scrambling;

void nr_scrambling_start(nr_scrambling *scrambling, uint32_t c_init);

/* Returns c(first), lowest, to c(first + n - 1), for n up to 31. `first` is no less than in the call before. */
uint32_t nr_scrambling_bits(nr_scrambling *scrambling, uint64_t first, int n);

#endif
