/* SPDX-License-Identifier: MIT */
#include "codeword.h"

#include <stddef.h>

#include "error.h"
#include "params.h"

enum { MAX_CODE_BLOCKS = 65535, MAX_GROUPS = 32 };

_Static_assert(sizeof(softqam_codeword) == 104 && offsetof(softqam_codeword, n_code_blocks) == 32 &&
                   offsetof(softqam_codeword, filler_value) == 64 && offsetof(softqam_codeword, reserved) == 72,
               "softqam_codeword's layout is a promise");

static softqam_status refuse(const char *field, uint64_t value, const char *why)
{
    return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.%s is %llu, %s", field, (unsigned long long)value,
                        why);
}

static softqam_status check_reserved(const softqam_codeword *codeword)
{
    for (size_t k = 0; k < sizeof codeword->reserved / sizeof codeword->reserved[0]; k++)
        if (codeword->reserved[k] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.reserved is not 0");
    return SOFTQAM_OK;
}

/* Without soft buffers their fields would be ignored without a word. */
static softqam_status check_no_soft_buffer(const softqam_codeword *codeword)
{
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"k0", codeword->k0},
        {"first_filler", codeword->first_filler},
        {"n_fillers", codeword->n_fillers},
        {"filler_value", !softqam_is_zero(codeword->filler_value)},
        {"combine", codeword->combine},
    };
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++)
        if (fields[k].value != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.%s is not 0, but codeword.n_cb is",
                                fields[k].name);
    return SOFTQAM_OK;
}

/* The circular buffer; the value of its fillers is the output format's affair. */
static softqam_status check_soft_buffer(const softqam_codeword *codeword)
{
    if (codeword->n_cb == 0)
        return check_no_soft_buffer(codeword);
    if (!codeword->deinterleave)
        return refuse("n_cb", codeword->n_cb, "but codeword.deinterleave is 0: rate recovery undoes both");
    if (codeword->k0 >= codeword->n_cb)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.k0 is %u, not less than n_cb, %u",
                            (unsigned)codeword->k0, (unsigned)codeword->n_cb);
    if (codeword->first_filler > codeword->n_cb || codeword->n_fillers > codeword->n_cb - codeword->first_filler)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%u fillers from %u on are not all within n_cb, %u",
                            (unsigned)codeword->n_fillers, (unsigned)codeword->first_filler, (unsigned)codeword->n_cb);
    if (codeword->n_fillers == codeword->n_cb && codeword->n_bits > 0)
        return refuse("n_fillers", codeword->n_fillers, "all of n_cb: there is no place for LLRs");
    if (codeword->combine > 1)
        return refuse("combine", codeword->combine, "not 0 or 1");
    return SOFTQAM_OK;
}

static softqam_status check_groups(const softqam_codeword *codeword)
{
    const uint32_t n_groups = codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
    if (codeword->n_cbg > MAX_GROUPS)
        return refuse("n_cbg", codeword->n_cbg, "more than 32");
    if (n_groups < MAX_GROUPS && codeword->cbgti >> n_groups != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "codeword.cbgti is 0x%x, but there are %u groups",
                            (unsigned)codeword->cbgti, (unsigned)n_groups);
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_check(softqam_blocks *blocks, const softqam_codeword *codeword,
                                      unsigned bits_per_symbol, unsigned n_layers)
{
    if (codeword->n_code_blocks > MAX_CODE_BLOCKS)
        return refuse("n_code_blocks", codeword->n_code_blocks, "not 1 to 65535");
    if (codeword->deinterleave > 1)
        return refuse("deinterleave", codeword->deinterleave, "not 0 or 1");
    softqam_status status = check_groups(codeword);
    if (status == SOFTQAM_OK)
        status = check_soft_buffer(codeword);
    if (status == SOFTQAM_OK)
        status = check_reserved(codeword);
    if (status != SOFTQAM_OK)
        return status;
    if (codeword->n_bits > UINT32_MAX)
        return refuse("n_bits", codeword->n_bits, "more than 2^32 - 1");
    if (codeword->n_bits % (n_layers * bits_per_symbol) != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "codeword.n_bits is %llu, not a multiple of %u layers of %u bits a symbol",
                            (unsigned long long)codeword->n_bits, n_layers, bits_per_symbol);
    softqam_blocks_make(blocks, codeword, bits_per_symbol, n_layers);
    if (codeword->n_bits > 0 && blocks->n_transmitted == 0)
        return refuse("n_bits", codeword->n_bits, "but no code block is transmitted");
    const uint64_t longest =
        codeword->n_cb ? codeword->n_cb : (uint64_t)softqam_blocks_longest(blocks) * bits_per_symbol;
    if (codeword->block_stride > 0 && codeword->block_stride < longest)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "codeword.block_stride is %llu, less than the %llu values of a code block",
                            (unsigned long long)codeword->block_stride, (unsigned long long)longest);
    return SOFTQAM_OK;
}

softqam_status softqam_codeword_block(const softqam_codeword *codeword, unsigned bits_per_symbol, unsigned n_layers,
                                      size_t r, uint64_t *first_bit, uint64_t *n_bits)
{
    if (!codeword || !first_bit || !n_bits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is NULL",
                            !codeword    ? "codeword"
                            : !first_bit ? "first_bit"
                                         : "n_bits");
    if (bits_per_symbol < 1 || bits_per_symbol > MAX_SYMBOL_BITS || (bits_per_symbol > 1 && bits_per_symbol % 2))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "bits_per_symbol is %u, not 1, 2, 4, 6, 8 or 10",
                            bits_per_symbol);
    if (n_layers < 1 || n_layers > SOFTQAM_MAX_LAYERS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "n_layers is %u, not 1 to %d", n_layers,
                            SOFTQAM_MAX_LAYERS);
    if (r >= codeword->n_code_blocks)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "r is %zu, but there are %u code blocks", r,
                            (unsigned)codeword->n_code_blocks);
    softqam_blocks blocks = {0};
    const softqam_status status = softqam_codeword_check(&blocks, codeword, bits_per_symbol, n_layers);
    if (status != SOFTQAM_OK)
        return status;
    uint32_t j = 0; /* transmitted code blocks before r */
    while (j < blocks.n_transmitted && softqam_block_number(&blocks, j) < r)
        j++;
    const uint32_t n_longer = j < blocks.n_shorter ? 0 : j - blocks.n_shorter;
    const bool is_transmitted = softqam_block_number(&blocks, j) == r;
    *first_bit = ((uint64_t)j * blocks.shorter + (uint64_t)n_longer * n_layers) * bits_per_symbol;
    *n_bits = 0;
    if (is_transmitted)
        *n_bits = (uint64_t)(blocks.shorter + (j < blocks.n_shorter ? 0 : n_layers)) * bits_per_symbol;
    return SOFTQAM_OK;
}
