/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <string.h>

#include "common/message.h"

bool passes_make_sequence(const struct layout *layout, uint8_t *sequence)
{
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        if (softqam_gold_sequence(codeword->c_init, 0, codeword->n_bits * codeword->n_symbols,
                                  sequence + codeword->first_llr / 8) != SOFTQAM_OK) {
            message_print(NULL, "%s", softqam_error_message());
            return false;
        }
    }
    return true;
}

/* 1 in byte k where bit k is 1. */
static void spread(uint64_t ones[256])
{
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t bytes[8];
        for (unsigned k = 0; k < 8; k++)
            bytes[k] = byte >> k & 1;
        memcpy(&ones[byte], bytes, sizeof bytes);
    }
}

/* Eight at a time: -x is ~x + 1, of which no carry may leave its byte. */
void passes_descramble(const struct layout *layout, const uint8_t *restrict sequence, int8_t *restrict llrs)
{
    static const uint64_t tops = 0x8080808080808080;
    uint64_t ones[256];
    spread(ones);
    for (size_t n = 0; n < layout->n_llrs; n += 8) {
        uint64_t eight;
        const uint64_t one = ones[sequence[n / 8]];
        memcpy(&eight, llrs + n, sizeof eight);
        eight ^= one * 0xff;
        eight = ((eight & ~tops) + one) ^ (eight & tops);
        memcpy(llrs + n, &eight, sizeof eight);
    }
}

/* Plane by plane of a tile that the first cache holds; inlined with the number of bits as a constant, for vectors. */
static inline void deinterleave(const uint8_t *restrict from, size_t n_symbols, size_t n_bits, uint8_t *restrict to)
{
    enum { TILE = 256 };
    for (size_t first = 0; first < n_symbols; first += TILE) {
        const size_t n = n_symbols - first < TILE ? n_symbols - first : TILE;
        for (size_t k = 0; k < n_bits; k++)
            for (size_t i = 0; i < n; i++)
                to[k * n_symbols + first + i] = from[(first + i) * n_bits + k];
    }
}

void passes_deinterleave(const struct layout *layout, const void *from, void *to)
{
    for (size_t r = 0; r < layout->n_code_blocks; r++) {
        const struct code_block *block = &layout->code_blocks[r];
        const uint8_t *first = (const uint8_t *)from + block->first_llr;
        uint8_t *planes = (uint8_t *)to + block->first_llr;
        switch (block->n_bits) {
        case 1:
            deinterleave(first, block->n_symbols, 1, planes);
            break;
        case 2:
            deinterleave(first, block->n_symbols, 2, planes);
            break;
        case 4:
            deinterleave(first, block->n_symbols, 4, planes);
            break;
        case 6:
            deinterleave(first, block->n_symbols, 6, planes);
            break;
        case 8:
            deinterleave(first, block->n_symbols, 8, planes);
            break;
        default:
            deinterleave(first, block->n_symbols, 10, planes);
        }
    }
}
