/* SPDX-License-Identifier: MIT */
/* What the receiver's results are compared with: theory, by modulation, and the library's portable loop. */
#ifndef SOFTQAM_TOOLS_RECEIVER_CHECK_H
#define SOFTQAM_TOOLS_RECEIVER_CHECK_H

#include "common/modulation.h"
#include "engine.h"

/* Sums over all codewords of a modulation. */
struct tally {
    size_t n_codewords; /* of a slot */
    size_t n_symbols;   /* of a slot */
    /* First transmissions. */
    double n_bits;
    double n_errors;
    double n_expected; /* errors by theory */
    double n_promised; /* errors by the LLRs */
    double n_zeros;    /* LLRs of 0 */
    /* Code blocks that are sent twice, before and after the retransmission. */
    double n_data_bits; /* that a decoder is to find */
    double information[2];
    double n_both_bits; /* sent both times */
    double n_both_errors[2];
};

struct check {
    struct carrier carrier;
    uint8_t *coded;   /* bits of all slots, at the positions of their LLRs */
    int8_t *expected; /* soft buffers after each slot */
    struct tally tallies[MODULATION_COUNT + 1];
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
