/* SPDX-License-Identifier: MIT */
/* Random calls for segments, and what must come of them: codewords of any layout of inputs, sent to symbol order, bit
 * planes, code blocks or soft buffers that lie in one memory. Every field of a demodulator and of a segment that
 * changes a byte is given its values here, and nowhere else. */
#ifndef SOFTQAM_TESTS_TRIAL_H
#define SOFTQAM_TESTS_TRIAL_H

#include "llr_fixture.h"

#define ANY_OF(random, array) ((array)[harness_random_below(random, HARNESS_COUNT(array))])

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static inline size_t next_multiple(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

/* Symbols with a noise value and a gain each. */
typedef struct llr_input {
    size_t n;
    float *symbols, *noise, *gains;
} llr_input;

/* A kind of symbols, noise values and gains: each is for a place where the LLRs' arithmetic, or the way in which loops
 * and kernels compute it, changes. */
typedef struct llr_values {
    const char *name;
    size_t max_symbols; /* the longest call for which this kind is meant */
    void (*fill)(harness_random *random, const llr_setting *setting, const llr_input *to);
    bool is_scaled; /* the input scale must be the default, or the values are others */
    bool is_u8;     /* meant for u8 */
    bool is_llr;    /* meant for LLRs */
} llr_values;

extern const llr_values llr_value_kinds[];
extern const size_t llr_n_value_kinds;

/* Everything next to each other; but mostly usual noise. */
extern const llr_values *const llr_mixture;
/* Values of which some make erasures; those of pairs have usual sizes. */
extern const llr_values llr_countable, llr_countable_pairs;

enum { TRIAL_MAX_BLOCKS = 160, TRIAL_MAX_SENT = 4, TRIAL_MAX_TARGETS = 24 };

typedef enum trial_layout { TRIAL_IN_ORDER, TRIAL_PLANES, TRIAL_BLOCKS } trial_layout;

/* A codeword, or several that are sent to the same soft buffers one after the other. */
typedef struct trial_choice {
    trial_layout layout;
    softqam_modulation modulation;            /* 0: any */
    unsigned n_layers;                        /* 0: any */
    bool is_descrambled;                      /* TRIAL_BLOCKS: any */
    bool is_plain;                            /* one layer, contiguous, default settings: for softqam_demodulate() */
    const softqam_demodulator_config *config; /* NULL: any settings */
    size_t n_elements;                        /* resource elements; for TRIAL_BLOCKS max_bits says it */
    size_t n_parts;                           /* parts that it is demodulated in; 0: one or several */
    const llr_values *values;                 /* NULL: the mixture */
    bool counts;                              /* with statistics; values are usual ones, and erasures */
    size_t max_n_cb, max_blocks, max_bits;    /* TRIAL_BLOCKS alone has these and the next */
    bool is_aligned; /* layers are interleaved and all positions multiples of 4, as in most receivers */
} trial_choice;

typedef struct trial trial;

/* Begins a trial without codewords; sign, limits and scales are any. */
trial *trial_open(harness_random *random, const llr_contexts *contexts, softqam_output_format format,
                  softqam_input_format input);
void trial_add(trial *self, harness_random *random, const trial_choice *choice);
/* Makes one call for the codewords of all targets, and again for those that follow them; if `splits`, perhaps several
 * calls. Fails if a byte is wrong on any context, in the outputs, beside them, in the inputs, in the descriptors or
 * in statistics. Ends the trial. Returns how many codewords there were. */
size_t trial_run(trial *self, harness_random *random, bool splits);

/* Makes a trial of one codeword. */
size_t trial_check(harness_random *random, const llr_contexts *contexts, softqam_output_format format,
                   softqam_input_format input, const trial_choice *choice);

/* Makes plain calls of n_symbols in each format, then n trials of any kind and some hundreds of symbols. */
void trial_check_all(harness_random *random, const llr_contexts *contexts, size_t n_symbols, size_t n);

/* Inside: one codeword, the settings of its segment, and its inputs. A new field of a segment is given its values in
 * trial_codeword.c. */

#define TRIAL_NOWHERE SIZE_MAX

/* A codeword that is sent once. */
typedef struct trial_codeword {
    softqam_segment whole; /* all of its symbols; its codeword lacks the pointers */
    unsigned n_layers, Q_m;
    bool is_joint;      /* some layers are demapped jointly */
    unsigned pairs;     /* bit j: layers 2 j and 2 j + 1 are */
    unsigned n_sources; /* layers that are read: all, and perhaps the last one's partner */
    llr_memory symbols, noise, gains, cross;
    bool has_erasures; /* the last noise value is 0 */
    size_t n_parts;
    softqam_segment *parts; /* in which it is demodulated */
    uint8_t *llrs;          /* f_0, f_1, .. of the first code block sent, then the next one's */
    bool transmitted[TRIAL_MAX_BLOCKS];
    size_t lengths[TRIAL_MAX_BLOCKS]; /* E_r */
    size_t begins[TRIAL_MAX_BLOCKS];  /* where code block r begins in the memory; TRIAL_NOWHERE: dropped */
} trial_codeword;

float trial_choose_input_scale(harness_random *random);
float trial_choose_llr_scale(harness_random *random, softqam_output_format format);
/* Chooses modulation, layers, scales and scrambling of a codeword. A plain call takes them from the configuration. */
void trial_choose_segment(harness_random *random, softqam_demodulator_config *config, const trial_choice *choice,
                          trial_codeword *self);
/* Makes the symbols, noise values and gains of a codeword with this many symbols, and the layers that point to them. */
void trial_open_inputs(harness_random *random, const softqam_demodulator_config *config, const llr_contexts *contexts,
                       const trial_choice *choice, trial_codeword *self);
/* Cuts it between any resource elements, some parts empty. As with UCI on PUSCH there may be others between the parts,
 * which the scrambling sequence counts (38.212 clause 6.2.7), and parts whose bits were replaced, which are erasures.
 */
void trial_cut(harness_random *random, const softqam_demodulator_config *config, trial_codeword *self);
/* Checks and releases the inputs. */
void trial_close_inputs(trial_codeword *self);

#endif
