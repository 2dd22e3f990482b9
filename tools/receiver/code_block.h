/* SPDX-License-Identifier: MIT */
/* A code block's LLRs: one after the other in symbol order, and in the same place as bit planes. */
#ifndef SOFTQAM_TOOLS_RECEIVER_CODE_BLOCK_H
#define SOFTQAM_TOOLS_RECEIVER_CODE_BLOCK_H

#include <stdint.h>

struct code_block {
    uint32_t first_llr; /* of the slot's */
    uint32_t n_symbols;
    uint32_t n_bits; /* of a symbol; n_bits planes of n_symbols LLRs */
};

#endif
