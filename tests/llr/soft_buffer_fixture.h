/* SPDX-License-Identifier: MIT */
/* What the tests of soft buffers share: a codeword's symbols with their LLRs in symbol order, parts of it, and what the
 * reference makes of these LLRs. */
#ifndef SOFTQAM_TESTS_SOFT_BUFFER_FIXTURE_H
#define SOFTQAM_TESTS_SOFT_BUFFER_FIXTURE_H

#include "llr_fixture.h"
#include "rate_recovery.h"

enum { SOFT_MAX_BLOCKS = 160, SOFT_MAX_PARTS = 16 };

/* Contexts of all that is to be compared, and the one that makes plain LLRs: a thread of the CPU. */
typedef struct soft_contexts {
    llr_contexts all;
    softqam_context *plain;
} soft_contexts;

soft_contexts soft_open_contexts(unsigned n_threads, size_t chunk_symbols);
void soft_close_contexts(soft_contexts *self);

/* A demodulator of this configuration on another context. */
softqam_demodulator *soft_create(const softqam_demodulator_config *config, softqam_context *context);

/* What the reference must know of the output: its format, and the limit of sums. */
soft_values soft_values_of(const softqam_demodulator_config *config);

/* A symbol's position, a multiple of n_layers: 0, a few, any of 32 bits, or so far that a descrambled segment is hard
 * to place. */
uint64_t soft_choose_position(harness_random *random, softqam_modulation modulation, unsigned n_layers);
/* A far one: with the 1600 bits that the scrambling sequence skips, its distance needs two carries to come out below
 * the period of 2^31 - 1. */
uint64_t soft_far_position(softqam_modulation modulation, unsigned n_layers);

/* Gives a codeword groups of code blocks, of which some are transmitted. */
void soft_choose_groups(harness_random *random, softqam_codeword *codeword);

/* A codeword that is sent once. */
typedef struct soft_codeword {
    softqam_demodulator_config config;
    softqam_segment whole; /* all of its symbols; its codeword lacks the pointers */
    bool has_gains;
    unsigned Q_m;
    uint8_t *symbols;
    float *noise, *gains;
    uint8_t *llrs; /* of one plain segment: f_0, f_1, .. of the first code block sent, then the next one's */
    bool transmitted[SOFT_MAX_BLOCKS];
    size_t lengths[SOFT_MAX_BLOCKS];      /* E_r */
    size_t first_values[SOFT_MAX_BLOCKS]; /* where its LLRs begin in `llrs` */
} soft_codeword;

/* Symbols, noise and gains of all kinds for config and whole, whose n_symbols, strides and layers it sets, and their
 * LLRs: those of one segment of one layer whose symbols lie side by side. */
void soft_codeword_open(soft_codeword *self, const soft_contexts *on, harness_random *random);
void soft_codeword_close(soft_codeword *self);

/* Symbol i in the codeword's order, as its input format has it, its noise value, and its gain. */
void soft_codeword_symbol(const soft_codeword *self, size_t i, void *symbol, float *noise, float *gain);

/* A run of its resource elements. */
softqam_segment soft_codeword_part(const soft_codeword *self, size_t first_element, size_t n_elements);
/* All of it in n_parts segments that begin at any resource element, some of them empty, in order or shuffled. */
void soft_codeword_cut(const soft_codeword *self, harness_random *random, bool in_order, size_t n_parts,
                       softqam_segment parts[]);
/* True where a soft buffer has a position that is sent more than once. */
bool soft_codeword_repeats(const soft_codeword *self);

/* By the reference: brings code block r's soft buffer up to date; or puts its LLRs where the codeword wants them. */
void soft_codeword_expect(const soft_codeword *self, size_t r, void *buffer);

#endif
