/* SPDX-License-Identifier: MIT */
/* From symbol order to codeword order by passes over the LLRs, as receivers do whose demodulator leaves that to them.
 */
#ifndef SOFTQAM_TOOLS_RECEIVER_PASSES_H
#define SOFTQAM_TOOLS_RECEIVER_PASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* The passes of a slot, one after the other. */
enum pass { PASS_DEMODULATE, PASS_DESCRAMBLE, PASS_DEINTERLEAVE, N_PASSES };

/* The scrambling sequences of a slot, codeword after codeword: the bit of LLR n is bit n % 8 of byte n / 8. */
bool passes_make_sequence(const struct layout *layout, uint8_t *sequence);

/* Changes signs, in place; no LLR is -128. */
void passes_descramble(const struct layout *layout, const uint8_t *sequence, int8_t *llrs);

/* Bit planes of each code block. Also of bits, one a byte. */
void passes_deinterleave(const struct layout *layout, const void *from, void *to);

#endif
