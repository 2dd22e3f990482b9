/* SPDX-License-Identifier: MIT */
/* The oracle: a symbol's soft bits by liquid-dsp's public API. It shares nothing with src/, which it checks. liquid's
 * constellation is that of 38.211 clause 5.1.6 to the last bit. A 3GPP bit is the complement of its label bit, so a
 * byte above 127 means bit 0, and no byte is changed. Two defects of liquid are corrected by its own answers:
 *
 * - Symbol 0 is missing among the neighbours: the table marks empty entries with 256, which is stored as 0. If liquid
 *   decides for symbol 1 or 16, whose neighbour is symbol 0, that bit's byte comes from its answer for (-I, -Q).
 * - Outliers: liquid begins its minimum at 8.0, so a point further away gets inverted bits. Components are limited to
 *   [-3, +3], where the distance is at most 6.85. Without the limit one byte in 1700 between 3 and 3.9 would differ by
 *   1. */
#ifndef SOFTQAM_REFERENCE_ORACLE_H
#define SOFTQAM_REFERENCE_ORACLE_H

#include <stddef.h>
#include <stdint.h>

/* One liquid-dsp modem. Threads must not use one oracle at the same time, but each may have its own. */
typedef struct oracle oracle;

/* Makes an oracle; returns NULL if there is no memory. */
oracle *oracle_create(void);

/* Destroys an oracle; NULL is ignored. */
void oracle_destroy(oracle *self);

/* Computes the soft bits of n_symbols symbols (I, Q pairs of binary32, already scaled): 8 bytes a symbol in 3GPP order,
 * b0 first; above 127 means bit 0. Every backend must give these bytes. A symbol that is not finite gives eight bytes
 * of 127; components are clamped to [-3, +3]. */
void oracle_soft_bits(oracle *self, const float *symbols, size_t n_symbols, uint8_t *soft_bits);

/* Gives liquid's own answer in 3GPP order, without clamping or corrections, for finite symbols only. Tests use it to
 * show the defects. */
void oracle_raw_soft_bits(oracle *self, const float *symbols, size_t n_symbols, uint8_t *soft_bits);

/* Returns liquid-dsp's version at run time, such as "1.5.0". */
const char *oracle_version(void);

#endif
