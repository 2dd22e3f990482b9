/* SPDX-License-Identifier: MIT */
/* Checks a caller's codewords; the public call for a code block's bits. */
#include <inttypes.h>

#include "error.h"
#include "segment.h"
#include "soft_buffer.h"

static softqam_status check_groups(const softqam_codeword *codeword)
{
    const uint32_t n_groups = codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
    REFUSE_IF(codeword->n_cbg > MAX_CBG, "codeword.n_cbg is %u, more than %d", codeword->n_cbg, MAX_CBG);
    REFUSE_IF(n_groups < MAX_CBG && codeword->cbgti >> n_groups != 0, "codeword.cbgti is 0x%x, but there are %u groups",
              codeword->cbgti, n_groups);
    return SOFTQAM_OK;
}

/* Refuses fields of soft buffers if there are none: they would be ignored silently. */
static softqam_status check_no_soft_buffer(const softqam_codeword *codeword)
{
    const char *field = codeword->k0 != 0                          ? "k0"
                        : codeword->first_filler != 0              ? "first_filler"
                        : codeword->n_fillers != 0                 ? "n_fillers"
                        : !softqam_is_zero(codeword->filler_value) ? "filler_value"
                        : codeword->combine != 0                   ? "combine"
                        : codeword->n_fill != 0                    ? "n_fill"
                                                                   : NULL;
    REFUSE_IF(field, "codeword.%s is not 0, but codeword.n_cb is", field);
    return SOFTQAM_OK;
}

/* Checks the circular buffer, but not the value of its fillers, which depends on the output format. */
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
    REFUSE_IF(n_fillers == 0 && first != 0, "codeword.first_filler is %u, but there are no fillers", first);
    REFUSE_IF(n_fillers == n_cb && codeword->n_bits > 0,
              "codeword.n_fillers is %u, all of n_cb: there is no place for LLRs", n_fillers);
    REFUSE_IF(codeword->combine > 1, "codeword.combine is %u, not 0 or 1", codeword->combine);
    REFUSE_IF(codeword->combine && codeword->n_fill != 0,
              "codeword.n_fill is %u, but codeword.combine is 1: a retransmission fills nothing", codeword->n_fill);
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_check(const softqam_codeword *codeword, const softqam_code_blocks *blocks,
                                      unsigned bits_per_symbol)
{
    const unsigned n_layers = blocks->n_layers;
    const uint64_t n_bits = codeword->n_bits, stride = codeword->block_stride;
    REFUSE_IF(codeword->n_code_blocks > MAX_CODE_BLOCKS, "codeword.n_code_blocks is %u, not 1 to %d",
              codeword->n_code_blocks, MAX_CODE_BLOCKS);
    REFUSE_IF(codeword->deinterleave > 1, "codeword.deinterleave is %u, not 0 or 1", codeword->deinterleave);
    TRY(check_groups(codeword));
    TRY(check_soft_buffer(codeword));
    REFUSE_IF(codeword->reserved_word != 0, "codeword.reserved_word is not 0");
    REFUSE_IF(!softqam_is_all_zero(codeword->reserved, sizeof codeword->reserved), "codeword.reserved is not 0");
    REFUSE_IF(n_bits > UINT32_MAX, "codeword.n_bits is %" PRIu64 ", more than 2^32 - 1", n_bits);
    REFUSE_IF(n_bits % (n_layers * bits_per_symbol) != 0,
              "codeword.n_bits is %" PRIu64 ", not a multiple of %u layers of %u bits a symbol", n_bits, n_layers,
              bits_per_symbol);
    REFUSE_IF(n_bits > 0 && blocks->n_transmitted == 0,
              "codeword.cbgti is 0, so no code block is transmitted, but codeword.n_bits is %" PRIu64, n_bits);
    const uint64_t longest = codeword->n_cb ? softqam_codeword_buffer_size(codeword)
                                            : (uint64_t)softqam_code_blocks_longest(blocks) * bits_per_symbol;
    REFUSE_IF(stride > 0 && stride < longest,
              "codeword.block_stride is %" PRIu64 ", less than the %" PRIu64 " values of a code block", stride,
              longest);
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_block(const softqam_codeword *codeword, unsigned bits_per_symbol, unsigned n_layers,
                                      size_t r, uint64_t *first_bit, uint64_t *n_bits)
{
    softqam_code_blocks blocks;
    REFUSE_IF(!codeword, "codeword is NULL");
    REFUSE_IF(!first_bit, "first_bit is NULL");
    REFUSE_IF(!n_bits, "n_bits is NULL");
    REFUSE_IF(!softqam_is_symbol_bits(bits_per_symbol), "bits_per_symbol is %u, not 1, 2, 4, 6, 8 or 10",
              bits_per_symbol);
    REFUSE_IF(n_layers < 1 || n_layers > SOFTQAM_MAX_LAYERS, "n_layers is %u, not 1 to %d", n_layers,
              SOFTQAM_MAX_LAYERS);
    REFUSE_IF(r >= codeword->n_code_blocks, "r is %zu, but there are %u code blocks", r, codeword->n_code_blocks);
    softqam_code_blocks_make(&blocks, codeword, bits_per_symbol, n_layers);
    TRY(softqam_codeword_check(codeword, &blocks, bits_per_symbol));
    const softqam_code_block block = softqam_code_block_nth(&blocks, softqam_code_blocks_before(&blocks, (uint32_t)r));
    *first_bit = (uint64_t)block.first * bits_per_symbol;
    *n_bits = block.r == r ? (uint64_t)block.n_symbols * bits_per_symbol : 0;
    return SOFTQAM_OK;
}
