/* SPDX-License-Identifier: MIT */
/* The arithmetic of the LLRs as it is specified, one symbol at a time, written to be read: every backend must give
 * these bits. Steps and order are those of src/README.md, written out a second time and in another way: whoever changes
 * one must change the other.
 *
 * Each function takes
 *
 * - symbol: I and Q after the input scale, binary32;
 * - noise: N0 or 1/N0; with a gain, those of the symbol before it is divided by the gain;
 * - position: the symbol's in its codeword, from 0. Only pi/2-BPSK looks at it, at its parity;
 * - flipped: bit k set gives LLR k the opposite sign, as descrambling does, or the convention that positive is bit 1;
 *
 * and writes as many LLRs as the constellation has bits, b0 first. Positive means bit 0, where not flipped.
 *
 * Special values. A symbol that is not finite and noise that is zero, negative, NaN or infinite are an erasure: all +0,
 * flipped or not. A component below 2^-63 counts as zero of its sign, N0 outside [2^-100, 2^40] and 1/N0 outside
 * [2^-40, 2^100] as the nearer end. A gain that is not positive and finite is an erasure too, one outside [2^-40, 2^40]
 * counts as the nearer end, and a weight beyond FLT_MAX as that. What would overflow is the largest finite value of the
 * format, with its sign. No infinity, NaN or int8 of -128 comes out.
 *
 * All functions may be called from any thread, in round-to-nearest with subnormal numbers on. */
#ifndef SOFTQAM_REFERENCE_CONTRACT_H
#define SOFTQAM_REFERENCE_CONTRACT_H

#include <stdint.h>

#include "nr_symbol.h"

/* In nats. */
void contract_f32(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, float llrs[]);

/* The same as binary16, in bits. */
void contract_f16(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, uint16_t llrs[]);

/* `scale` steps a nat, 2^-10 to 2^20, limited to +-limit, 1 to 127. */
void contract_s8(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                 uint32_t flipped, float scale, int limit, int8_t llrs[]);
void contract_s16(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, float scale, int limit, int16_t llrs[]);

#endif
