/* SPDX-License-Identifier: MIT */
/* Specifies the arithmetic of the LLRs, and computes it, one symbol at a time and written to be read. Every backend
 * must give these bits. This comment and contract.c must say the same. For each axis and bit, with every step rounded
 * once to binary32, and E = 2, 10, 42, 170, 682 from QPSK on:
 *
 *     |v|    = 0 if |v| < 2^-63
 *     row    = trunc(min(|v| * sqrt(E)/2, last row))
 *     metric = fma(slope[row][bit], |v|, intercept[row][bit])       the first bit takes the sign of v
 *     weight = scale / N0, or scale * (1/N0), N0 no less than the noise floor, then within [2^-100, 2^40]
 *     with a gain g: the component is v * (1 / g) before it is compared with 2^-63, the weight
 *              ((scale * g) * g) / N0 of any N0, as if exponents had no limits on the way
 *     f32, f16: metric * weight                                     limited to the largest finite value
 *     s8, s16: fma(metric, weight, 1.5 * 2^23) - 1.5 * 2^23         limited: rounded once, to nearest even
 *
 * Slopes and intercepts are those of (v - one)^2 - (v - zero)^2 with the nearest levels of either bit. BPSK has one
 * metric, fl(fl(I + Q) * 2 sqrt(2)); pi/2-BPSK the same of (Q, -I) at odd positions. The opposite sign is a negative
 * scale.
 *
 * symbol: I and Q after the input scale; noise: N0 or 1/N0, with a gain those of the symbol before it is divided by the
 * gain; position: the symbol's in its codeword, for pi/2-BPSK's parity; flipped: if bit k is set, LLR k has the
 * opposite sign. The LLRs are one for each bit of the constellation, b0 first; positive means bit 0, if not flipped.
 *
 * Special values, with N0 after its floor has been applied. A symbol that is not finite, or noise or a gain that is not
 * positive and finite, makes an erasure: all LLRs are +0, flipped or not. A component below 2^-63 counts as zero of its
 * sign. Without gains N0 outside [2^-100, 2^40] and 1/N0 outside [2^-40, 2^100] count as the nearer end. With a gain
 * the range of floats limits only the divided component, for which a subnormal component counts as zero, and the
 * weight, which is FLT_MAX at most; a weight below 2^-120 makes an erasure. An LLR that would overflow is the largest
 * finite value of the format, with its sign.
 *
 * Constants are rounded from double. Without gains no number of f16 and f32 is subnormal: the smallest nonzero metric
 * is 2^-84.5, the smallest weight 2^-40. All functions may be called from any thread, in round-to-nearest with
 * subnormal numbers on. */
#ifndef SOFTQAM_REFERENCE_CONTRACT_H
#define SOFTQAM_REFERENCE_CONTRACT_H

#include <stdint.h>

#include "nr_symbol.h"

/* Compute a symbol's LLRs: in nats; in nats, as the bits of binary16; in steps, `scale` (2^-10 to 2^20) of them a nat.
 * All but the first are limited to +-limit, which is at least 1; f16's is a binary16 number. */
void contract_f32(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, float llrs[]);
void contract_f16(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, int limit, uint16_t llrs[]);
void contract_s8(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                 uint32_t flipped, float scale, int limit, int8_t llrs[]);
void contract_s16(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, float scale, int limit, int16_t llrs[]);

#endif
