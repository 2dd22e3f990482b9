/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* Bytes of memory from `first` on. */
typedef struct memory_range {
    uintptr_t first;
    size_t nbytes;
} memory_range;

/* The range of n items of nbytes, `stride` items apart; false when it is larger than memory. */
static bool range_of(memory_range *range, const void *first, size_t n, size_t stride, size_t nbytes)
{
    size_t spanned;
    range->first = (uintptr_t)first;
    if (__builtin_mul_overflow(n - 1, stride ? stride : 1, &spanned) || __builtin_add_overflow(spanned, 1, &spanned) ||
        __builtin_mul_overflow(spanned, nbytes, &range->nbytes))
        return false;
    return range->nbytes <= PTRDIFF_MAX && range->first <= UINTPTR_MAX - range->nbytes;
}

static bool overlap(const memory_range *a, const memory_range *b)
{
    return a->first < b->first + b->nbytes && b->first < a->first + a->nbytes;
}

static softqam_status check_pointers(const softqam_plan *plan, const softqam_block *block)
{
    if (!softqam_plan_takes_noise(plan) && block->noise_var)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is given, which u8 soft bits do not take");
    if (block->n_symbols == 0)
        return SOFTQAM_OK;
    if (!block->symbols || !block->out)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is NULL", block->symbols ? "out" : "symbols");
    if (softqam_plan_takes_noise(plan) && !block->noise_var)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is NULL, which LLRs need");
    if ((uintptr_t)block->noise_var % sizeof(float) != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is not aligned to 4 bytes");
    return SOFTQAM_OK;
}

static softqam_status check_block(const softqam_plan *plan, const softqam_block *block)
{
    const softqam_status status = check_pointers(plan, block);
    if (status != SOFTQAM_OK || block->n_symbols == 0)
        return status;
    const size_t n = block->n_symbols;
    const size_t nbytes = block->symbols_q ? plan->input_nbytes / 2 : plan->input_nbytes;
    memory_range out;
    memory_range inputs[3];
    int n_inputs = 0;
    bool fits = range_of(&out, block->out, n, 1, plan->output_nbytes) &&
                range_of(&inputs[n_inputs++], block->symbols, n, block->symbol_stride, nbytes);
    if (fits && block->symbols_q)
        fits = range_of(&inputs[n_inputs++], block->symbols_q, n, block->symbol_stride, nbytes);
    if (fits && block->noise_var)
        fits = range_of(&inputs[n_inputs++], block->noise_var, block->noise_stride ? n : 1, block->noise_stride,
                        sizeof(float));
    if (!fits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%zu symbols are more than memory can hold", n);
    for (int k = 0; k < n_inputs; k++)
        if (overlap(&inputs[k], &out))
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "an input and out overlap");
    return SOFTQAM_OK;
}

softqam_status softqam_call_check(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks)
{
    size_t n_symbols = 0;
    if (!blocks && n_blocks > 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "blocks is NULL");
    for (size_t k = 0; k < n_blocks; k++) {
        const softqam_status status = check_block(plan, &blocks[k]);
        if (status != SOFTQAM_OK)
            return status;
        if (__builtin_add_overflow(n_symbols, blocks[k].n_symbols, &n_symbols))
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "the batch has more symbols than memory can hold");
    }
    return SOFTQAM_OK;
}
