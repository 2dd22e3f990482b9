/* SPDX-License-Identifier: MIT */
/* The oracle: what liquid-dsp says a symbol's soft bits are. Uses liquid's public API only and nothing of src/: its
 * independence is its worth. liquid's constellation is that of 38.211 clause 5.1.6 to the last bit. A 3GPP bit is the
 * complement of its label bit, so above 127 means bit 0, and no byte is changed. Two defects of liquid are corrected by
 * its own answers:
 *
 * - Symbol 0 is nobody's neighbour: the table marks empty entries with 256, stored as 0. If liquid decides for symbol 1
 *   or 16, which miss a neighbour, that byte comes from its answer for (-I, -Q).
 * - Outliers: liquid begins its minimum at 8.0, so a point further away gets inverted bits. Components are limited to
 *   [-3, +3], where the distance is at most 6.85. Without the limit one byte in 1700 between 3 and 3.9 would differ by
 *   1. */
#ifndef SOFTQAM_REFERENCE_ORACLE_H
#define SOFTQAM_REFERENCE_ORACLE_H

#include <stddef.h>
#include <stdint.h>

/* One liquid-dsp modem. Not to be used by two threads at once; any number of oracles may live side by side. */
typedef struct oracle oracle;

/* Makes an oracle; returns NULL if memory is short. */
oracle *oracle_create(void);

/* Destroys an oracle; NULL is ignored. */
void oracle_destroy(oracle *self);

/* Computes the soft bits of n_symbols symbols (I, Q pairs of binary32, already scaled): 8 bytes a symbol in 3GPP order,
 * b0 first, above 127 means bit 0. This is the contract that every backend must meet byte for byte. A symbol that is
 * not finite gives eight times 127; other components are clamped to [-3, +3]. */
void oracle_soft_bits(oracle *self, const float *symbols, size_t n_symbols, uint8_t *soft_bits);

/* Gives liquid's own answer, with its bytes put into 3GPP order but nothing clamped and no defect stepped around;
 * finite symbols only. For the tests that show the defects. */
void oracle_raw_soft_bits(oracle *self, const float *symbols, size_t n_symbols, uint8_t *soft_bits);

/* Returns liquid-dsp's version at run time, such as "1.5.0". */
const char *oracle_version(void);

#endif
