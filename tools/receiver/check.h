/* SPDX-License-Identifier: MIT */
/* What the receiver's results are compared with: theory, by modulation, and the library's portable loop. */
#ifndef SOFTQAM_TOOLS_RECEIVER_CHECK_H
#define SOFTQAM_TOOLS_RECEIVER_CHECK_H

#include "common/modulation.h"
#include "engine.h"

/* How many LLRs there are of each value, their signs changed where the bit is 1: right ones are positive. */
struct tally {
    double n_of[256]; /* of -128 .. 127 */
};

/* Of all codewords of a modulation. */
struct tallies {
    size_t n_codewords;    /* of a slot */
    size_t n_symbols;      /* of a slot */
    double n_expected;     /* the bit error rate by theory, summed over the symbols */
    double n_data_bits[2]; /* that a decoder is to find */
    /* After first transmissions, and after retransmissions: where any LLR is. */
    struct tally all[2];
    /* Of code blocks that are sent twice, where both transmissions have LLRs: before and after the second. */
    struct tally both[2];
};

struct check {
    struct carrier carrier;
    uint8_t *coded;   /* bits of all slots, at the positions of their LLRs */
    int8_t *expected; /* soft buffers after each slot */
    struct tallies tallies[MODULATION_COUNT + 1];
};

/* Fills the engine's host memory with slots, and computes what they should give. */
bool check_make_slots(struct check *check, struct engine *engine, uint64_t seed, double snr_db);

/* Compares with theory; prints the figures of each modulation. */
bool check_error_rates(const struct check *check);

/* Demodulates every slot once, and compares. */
bool check_untimed(struct check *check, struct engine *engine);

/* Compares all soft buffers with the portable loop's, except those that missed a transmission. */
bool check_values(const struct check *check, struct engine *engine, const char *when);

void check_free(struct check *check);

#endif
