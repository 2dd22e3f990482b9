/* SPDX-License-Identifier: MIT */
/* Inside trial.h: one codeword, the settings of its segment, and its inputs. A new field of a segment is given its
 * values here. */
#ifndef SOFTQAM_TESTS_TRIAL_CODEWORD_H
#define SOFTQAM_TESTS_TRIAL_CODEWORD_H

#include "trial.h"

#define TRIAL_ANY_OF(random, array) ((array)[harness_random_below(random, HARNESS_COUNT(array))])
#define TRIAL_NOWHERE               SIZE_MAX

/* A codeword that is sent once. */
typedef struct trial_codeword {
    softqam_segment whole; /* all of its symbols; its codeword lacks the pointers */
    unsigned n_layers, Q_m;
    bool is_joint;      /* some layers are demapped in pairs */
    unsigned pairs;     /* bit j: layers 2 j and 2 j + 1 are */
    unsigned n_sources; /* layers that are read: all, and perhaps the last one's partner */
    llr_memory symbols, noise, gains, cross;
    bool has_erasures; /* the last noise value is 0 */
    size_t n_parts;
    softqam_segment *parts; /* in which it is demodulated */
    uint8_t *llrs;          /* f_0, f_1, .. of the first code block sent, then the next one's */
    bool transmitted[TRIAL_MAX_BLOCKS];
    size_t lengths[TRIAL_MAX_BLOCKS]; /* E_r */
    size_t at[TRIAL_MAX_BLOCKS];      /* where code block r begins in the memory; TRIAL_NOWHERE: dropped */
} trial_codeword;

float trial_choose_input_scale(harness_random *random);
float trial_choose_llr_scale(harness_random *random, softqam_output_format format);
/* Chooses modulation, layers, scales and scrambling of a codeword. A plain call takes them from the configuration. */
void trial_choose_segment(harness_random *random, softqam_demodulator_config *config, const trial_choice *choice,
                          trial_codeword *self);
/* Makes the symbols, noise values and gains of a codeword with this many symbols, and the layers that point to them. */
void trial_open_inputs(harness_random *random, const softqam_demodulator_config *config, const llr_contexts *on,
                       const trial_choice *choice, trial_codeword *self);
/* Cuts it between any resource elements, some parts empty. As with UCI on PUSCH there may be others between the parts,
 * which the scrambling sequence counts (38.212 clause 6.2.7), and parts whose bits were replaced, which are erasures.
 */
void trial_cut(harness_random *random, const softqam_demodulator_config *config, trial_codeword *self);
/* Checks and releases the inputs. */
void trial_close_inputs(trial_codeword *self);

#endif
