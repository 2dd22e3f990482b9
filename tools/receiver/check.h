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
    double n_errors;
    double n_expected;    /* errors, by theory */
    double n_promised;    /* by the LLRs */
    double n_zeros;       /* LLRs that say nothing */
    double squared_error; /* in noise variances */
};

struct check {
    struct carrier carrier;
    uint8_t *bits;    /* of all slots, in the order of the LLRs */
    int8_t *expected; /* LLRs, likewise */
    struct tally tallies[SOFTQAM_MODULATION_1024QAM + 1];
};

/* Fills the engine's host memory with slots, and finds out what they should come to. */
bool check_make_slots(struct check *check, struct engine *engine, uint64_t seed, double snr_db);

/* Against theory; prints what it finds for each modulation. */
bool check_front_end(const struct check *check, const struct engine *engine);

/* Demodulates every slot once in one call and once in passes, and compares. */
bool check_untimed(struct check *check, struct engine *engine);

/* Compares the LLRs of all slots, as they are now, with the portable loop's. */
bool check_llrs(const struct check *check, struct engine *engine, const char *when);

void check_free(struct check *check);

#endif
