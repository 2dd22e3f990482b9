/* SPDX-License-Identifier: MIT */
/* The modulations of 5G NR (3GPP TS 38.211 clause 5.1) as the tools know them: their names and their points. */
#ifndef SOFTQAM_TOOLS_COMMON_MODULATION_H
#define SOFTQAM_TOOLS_COMMON_MODULATION_H

#include <stdbool.h>

#include <softqam/softqam.h>

/* The number of modulations, which count from 1, and the most bits of a symbol: tables of all assert them. */
enum { MODULATION_COUNT = SOFTQAM_MODULATION_1024QAM, MODULATION_MAX_BITS = 10 };

struct modulation {
    const char *option; /* as -m takes it */
    const char *name;   /* as the standard writes it */
    unsigned n_bits;    /* bits of a symbol */
    unsigned axis_bits; /* bits that choose I, and as many choose Q; BPSK's one bit chooses both */
    unsigned energy;    /* I and Q are odd integers divided by its square root */
    bool rotates;       /* symbols at odd positions of a codeword are rotated by pi/2 */
};

/* SOFTQAM_MODULATION_DEFAULT is 256QAM. */
const struct modulation *modulation_get(softqam_modulation modulation);

/* Finds the modulation that an option or metadata name, in any case; SOFTQAM_MODULATION_DEFAULT for none. */
softqam_modulation modulation_find(const char *text);

/* Returns I of the point with these bits, b0 lowest, before the division; with the bits shifted right by one, Q. At odd
 * positions a modulation that rotates has -Q and I instead of I and Q. */
int modulation_level(const struct modulation *modulation, unsigned bits);

#endif
