/* SPDX-License-Identifier: MIT */
/* Hard decisions: bits, one a byte or packed, of soft bits or LLRs. */
#ifndef SOFTQAM_TOOLS_COMMON_HARD_BITS_H
#define SOFTQAM_TOOLS_COMMON_HARD_BITS_H

#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* Bits, 0 or 1, of n values. Where nothing is known a bit is 0. `bits` may be `values`. */
void hard_bits_decide(softqam_output_format format, softqam_sign sign, const void *values, size_t n, uint8_t *bits);

/* Bits of which no whole byte has come together. All zero before the first. */
struct bit_packer {
    unsigned byte, n_bits;
};

/* Packs n more bits, the first one highest in its byte; returns how many bytes these are. `bytes` may be `bits`. */
size_t hard_bits_pack(struct bit_packer *packer, const uint8_t *bits, size_t n, uint8_t *bytes);

/* The last byte, filled up with zeros: how many bytes that is, 0 or 1. */
size_t hard_bits_flush(struct bit_packer *packer, uint8_t *bytes);

#endif
