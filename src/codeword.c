/* SPDX-License-Identifier: MIT */
#include "codeword.h"

#include <inttypes.h>
#include <stddef.h>

#include "error.h"
#include "params.h"

enum { MAX_GROUPS = 32 };

_Static_assert(sizeof(softqam_codeword) == 104 && offsetof(softqam_codeword, n_code_blocks) == 32 &&
                   offsetof(softqam_codeword, filler_value) == 64 && offsetof(softqam_codeword, reserved) == 72,
               "softqam_codeword's layout is a promise");

static softqam_status check_groups(const softqam_codeword *codeword)
{
    const uint32_t n_groups = codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
    REFUSE_IF(codeword->n_cbg > MAX_GROUPS, "codeword.n_cbg is %u, more than %d", codeword->n_cbg, MAX_GROUPS);
    REFUSE_IF(n_groups < MAX_GROUPS && codeword->cbgti >> n_groups != 0,
              "codeword.cbgti is 0x%x, but there are %u groups", codeword->cbgti, n_groups);
    return SOFTQAM_OK;
}

/* Without soft buffers their fields would be ignored without a word. */
static softqam_status check_no_soft_buffer(const softqam_codeword *codeword)
{
    const char *field = codeword->k0 != 0                          ? "k0"
                        : codeword->first_filler != 0              ? "first_filler"
                        : codeword->n_fillers != 0                 ? "n_fillers"
                        : !softqam_is_zero(codeword->filler_value) ? "filler_value"
                        : codeword->combine != 0                   ? "combine"
                                                                   : NULL;
    REFUSE_IF(field, "codeword.%s is not 0, but codeword.n_cb is", field);
    return SOFTQAM_OK;
}

/* The circular buffer; the value of its fillers is the output format's affair. */
static softqam_status check_soft_buffer(const softqam_codeword *codeword)
{
    const uint32_t n_cb = codeword->n_cb, first = codeword->first_filler, n_fillers = codeword->n_fillers;
    if (n_cb == 0)
        return check_no_soft_buffer(codeword);
    REFUSE_IF(!codeword->deinterleave, "codeword.n_cb is %u, but codeword.deinterleave is 0: rate recovery undoes both",
              n_cb);
    REFUSE_IF(codeword->k0 >= n_cb, "codeword.k0 is %u, not less than n_cb, %u", codeword->k0, n_cb);
    REFUSE_IF(first > n_cb || n_fillers > n_cb - first, "%u fillers from %u on are not all within n_cb, %u", n_fillers,
              first, n_cb);
    REFUSE_IF(n_fillers == n_cb && codeword->n_bits > 0,
              "codeword.n_fillers is %u, all of n_cb: there is no place for LLRs", n_fillers);
    REFUSE_IF(codeword->combine > 1, "codeword.combine is %u, not 0 or 1", codeword->combine);
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_check(softqam_blocks *blocks, const softqam_codeword *codeword,
                                      unsigned bits_per_symbol, unsigned n_layers)
{
    const uint64_t n_bits = codeword->n_bits, stride = codeword->block_stride;
    REFUSE_IF(codeword->n_code_blocks > MAX_CODE_BLOCKS, "codeword.n_code_blocks is %u, not 1 to %d",
              codeword->n_code_blocks, MAX_CODE_BLOCKS);
    REFUSE_IF(codeword->deinterleave > 1, "codeword.deinterleave is %u, not 0 or 1", codeword->deinterleave);
    TRY(check_groups(codeword));
    TRY(check_soft_buffer(codeword));
    for (size_t k = 0; k < sizeof codeword->reserved / sizeof codeword->reserved[0]; k++)
        REFUSE_IF(codeword->reserved[k] != 0, "codeword.reserved is not 0");
    REFUSE_IF(n_bits > UINT32_MAX, "codeword.n_bits is %" PRIu64 ", more than 2^32 - 1", n_bits);
    REFUSE_IF(n_bits % (n_layers * bits_per_symbol) != 0,
              "codeword.n_bits is %" PRIu64 ", not a multiple of %u layers of %u bits a symbol", n_bits, n_layers,
              bits_per_symbol);
    softqam_blocks_make(blocks, codeword, bits_per_symbol, n_layers);
    REFUSE_IF(n_bits > 0 && blocks->n_transmitted == 0,
              "codeword.n_bits is %" PRIu64 ", but no code block is transmitted", n_bits);
    const uint64_t longest =
        codeword->n_cb ? codeword->n_cb : (uint64_t)softqam_blocks_longest(blocks) * bits_per_symbol;
    REFUSE_IF(stride > 0 && stride < longest,
              "codeword.block_stride is %" PRIu64 ", less than the %" PRIu64 " values of a code block", stride,
              longest);
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_block(const softqam_codeword *codeword, unsigned bits_per_symbol, unsigned n_layers,
                                      size_t r, uint64_t *first_bit, uint64_t *n_bits)
{
    softqam_blocks blocks = {0};
    REFUSE_IF(!codeword, "codeword is NULL");
    REFUSE_IF(!first_bit, "first_bit is NULL");
    REFUSE_IF(!n_bits, "n_bits is NULL");
    REFUSE_IF(!softqam_is_symbol_bits(bits_per_symbol), "bits_per_symbol is %u, not 1, 2, 4, 6, 8 or 10",
              bits_per_symbol);
    REFUSE_IF(n_layers < 1 || n_layers > SOFTQAM_MAX_LAYERS, "n_layers is %u, not 1 to %d", n_layers,
              SOFTQAM_MAX_LAYERS);
    REFUSE_IF(r >= codeword->n_code_blocks, "r is %zu, but there are %u code blocks", r, codeword->n_code_blocks);
    TRY(softqam_codeword_check(&blocks, codeword, bits_per_symbol, n_layers));
    uint32_t j = 0; /* transmitted code blocks before r */
    while (j < blocks.n_transmitted && softqam_block_number(&blocks, j) < r)
        j++;
    const uint32_t n_longer = j < blocks.n_shorter ? 0 : j - blocks.n_shorter;
    const uint32_t n_symbols = blocks.shorter + (j < blocks.n_shorter ? 0 : n_layers);
    const bool is_transmitted = softqam_block_number(&blocks, j) == r;
    *first_bit = ((uint64_t)j * blocks.shorter + (uint64_t)n_longer * n_layers) * bits_per_symbol;
    *n_bits = is_transmitted ? (uint64_t)n_symbols * bits_per_symbol : 0;
    return SOFTQAM_OK;
}
