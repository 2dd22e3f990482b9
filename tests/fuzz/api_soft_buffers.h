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

/* Any grant: a refusal just where it must be, or a codeword with as many code blocks as TS 38.212 says. */
void use_grant(source *self);

#endif
