/* SPDX-License-Identifier: MIT */
/* What the receiver is held against: theory, modulation by modulation, and the library's portable loop. */
#ifndef SOFTQAM_TOOLS_RECEIVER_CHECK_H
#define SOFTQAM_TOOLS_RECEIVER_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "slot.h"

/* Of all codewords of a modulation, in all slots. */
struct tally {
    size_t n_codewords; /* of a slot */
    size_t n_symbols;   /* of a slot */
    /* Of first transmissions. */
    double n_bits;
    double n_errors;
    double n_expected; /* errors, by theory */
    double n_promised; /* by the LLRs */
    double n_zeros;    /* LLRs that say nothing */
    /* Of those that came twice, before and after the second time. */
    double n_data_bits; /* that a decoder is to find */
    double information[2];
    double n_both_bits; /* that were sent both times */
    double n_both_errors[2];
    double squared_error; /* of all, in noise variances */
};

struct check {
    struct carrier carrier;
    uint8_t *coded;   /* bits of all slots, where the soft buffers have their LLRs */
    int8_t *expected; /* soft buffers after each slot */
    struct tally tallies[SOFTQAM_MODULATION_1024QAM + 1];
};

/* Fills the engine's host memory with slots, and finds out what they should come to. */
bool check_make_slots(struct check *check, struct engine *engine, uint64_t seed, double snr_db);

/* Against theory; prints what it finds for each modulation. */
bool check_front_end(const struct check *check, const struct engine *engine);

/* Demodulates every slot once, and compares. */
bool check_untimed(struct check *check, struct engine *engine);

/* Compares all soft buffers, as they are now, with the portable loop's, but for those of which some transmissions were
 * dropped. */
bool check_values(const struct check *check, struct engine *engine, const char *when);

void check_free(struct check *check);

#endif
