/* SPDX-License-Identifier: MIT */
/* The parts of fuzz_api about LDPC: a codeword's soft buffers, and codewords of grants. */
#ifndef SOFTQAM_TESTS_FUZZ_API_SOFT_BUFFERS_H
#define SOFTQAM_TESTS_FUZZ_API_SOFT_BUFFERS_H

#include "api_input.h"

/* Gives a codeword soft buffers: small ones mostly, of which most are in order. */
void take_soft_buffer(source *self, softqam_codeword *codeword);
/* By the header's list of what is refused, but for the fillers' value; also of a codeword without soft buffers. */
bool is_soft_buffer(const softqam_codeword *codeword);
bool is_filler_value(float value, softqam_output_format format);

/* Whether a code block of so many bits visits a position of its soft buffer twice. */
bool soft_buffer_repeats(const softqam_codeword *codeword, size_t n_bits);

/* A code block's symbols [begin, end), whose LLRs begin at `values`, in symbol order. */
typedef struct soft_range {
    size_t n_symbols, begin, end; /* of the code block */
    size_t bits_per_symbol;
    const uint8_t *values;
} soft_range;

/* Does to a code block's soft buffer what the reference does. */
void update_soft_buffer(uint8_t *buffer, const softqam_codeword *codeword, const softqam_demodulator_config *config,
                        const soft_range *range);

/* Any grant: a refusal, or the codeword of TS 38.212. */
void use_grant(source *self);

#endif
