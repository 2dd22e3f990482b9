/* SPDX-License-Identifier: MIT */
/* Random calls for segments, and what must come of them: codewords of any layout of inputs, sent to symbol order, bit
 * planes, code blocks or soft buffers that lie in one memory. */
#ifndef SOFTQAM_TESTS_TRIAL_H
#define SOFTQAM_TESTS_TRIAL_H

#include "llr_fixture.h"

enum { TRIAL_MAX_BLOCKS = 160, TRIAL_MAX_SENT = 4, TRIAL_MAX_TARGETS = 24 };

typedef enum trial_layout { TRIAL_IN_ORDER, TRIAL_PLANES, TRIAL_BLOCKS } trial_layout;

/* A codeword, or those that are sent to the same soft buffers one after the other. */
typedef struct trial_choice {
    trial_layout layout;
    softqam_modulation modulation; /* 0: any */
    unsigned n_layers;             /* 0: any */
    bool is_descrambled;           /* of TRIAL_BLOCKS: any */
    size_t n_elements;             /* resource elements; of TRIAL_BLOCKS max_bits says it */
    size_t n_parts;                /* in which it is demodulated; 0: one or several */
    /* Of TRIAL_BLOCKS. */
    size_t max_n_cb, max_blocks, max_bits;
    const softqam_codeword *one_block; /* not NULL: this one, in place of all that; filler value and combine are any */
} trial_choice;

typedef struct trial trial;

/* Of no codeword yet; sign, limits and input scale are any. */
trial *trial_open(harness_random *random, softqam_output_format format, softqam_input_format input);
void trial_add(trial *self, harness_random *random, const trial_choice *choice);
/* The codewords of all targets in one call, and again for those that follow them; if `splits`, perhaps in several
 * calls. Fails where a byte is wrong on any context, and ends the trial. Returns how many codewords there were. */
size_t trial_run(trial *self, harness_random *random, const llr_contexts *on, bool splits);

#endif
