/* SPDX-License-Identifier: MIT */
#include "soft_block.h"

#include <string.h>

#include "simd_scalar.h"

void softqam_soft_block_open(softqam_soft_block *block, const softqam_placement *placement,
                             const softqam_destination *to, softqam_soft_add *add, float limit)
{
    block->buffer = &placement->buffer;
    block->values = to->out;
    block->n_symbols = to->block.n_symbols;
    block->n_bits = softqam_symbol_bits((softqam_modulation)placement->modulation);
    block->value_nbytes = placement->value_nbytes;
    block->adds =
        placement->combines || softqam_soft_is_repeated(block->buffer, (uint64_t)block->n_symbols * block->n_bits);
    block->limit = limit;
    block->add = add;
}

_Static_assert(N_OUTPUT_FORMATS == 5, "Give the format its case in filler_bits()");

/* Returns a filler in the output format. */
static uint32_t filler_bits(softqam_output_format format, float value)
{
    return format == SOFTQAM_OUTPUT_F16   ? vec_to_f16(value)
           : format == SOFTQAM_OUTPUT_F32 ? vec_bits(value)
                                          : (uint32_t)(int32_t)value;
}

/* Writes n values of these bits. Each copy doubles what is written. */
static void fill(unsigned char *to, uint32_t bits, size_t value_nbytes, size_t n)
{
    const size_t nbytes = n * value_nbytes;
    if (value_nbytes == 1)
        memset(to, (int)(bits & 0xff), n);
    else if (n > 0)
        memcpy(to, &bits, value_nbytes);
    for (size_t done = value_nbytes; done < nbytes && value_nbytes > 1; done *= 2)
        memcpy(to + done, to, done < nbytes - done ? done : nbytes - done);
}

void softqam_soft_block_begin(const softqam_soft_block *block, softqam_output_format format, float filler_value)
{
    const softqam_soft_buffer *buffer = block->buffer;
    const uint64_t n_values = (uint64_t)block->n_symbols * block->n_bits;
    const size_t nbytes = block->value_nbytes;
    const uint32_t n_cb = buffer->n_data + buffer->n_fillers, n_fill = buffer->n_fill;
    /* With repetition all values are added to zeros, wherever they are. */
    const bool is_repeated = softqam_soft_is_repeated(buffer, n_values);
    const uint32_t zeros_end = is_repeated ? n_cb : n_fill;
    uint32_t n = is_repeated ? 0 : (uint32_t)n_values;
    while (n < buffer->n_data) {
        const softqam_soft_run run = softqam_soft_run_at(buffer, n);
        const uint32_t left = buffer->n_data - n, n_zeros = run.n < left ? run.n : left;
        memset(block->values + run.first * nbytes, 0, softqam_positions_below(zeros_end, run.first, n_zeros) * nbytes);
        n += n_zeros;
    }
    fill(block->values + buffer->first_filler * nbytes, filler_bits(format, filler_value), nbytes,
         softqam_positions_below(n_fill, buffer->first_filler, buffer->n_fillers));
    if (n_fill > n_cb)
        memset(block->values + n_cb * nbytes, 0, (n_fill - n_cb) * nbytes);
}

uint32_t softqam_soft_block_runs(const softqam_soft_block *block, uint32_t first, uint32_t positions[MAX_SYMBOL_BITS])
{
    const uint32_t n_data = block->buffer->n_data;
    uint32_t n = UINT32_MAX;
    for (unsigned k = 0; k < block->n_bits; k++) {
        const uint32_t value = k * block->n_symbols + first;
        const softqam_soft_run run = softqam_soft_run_at(block->buffer, value < n_data ? value : value % n_data);
        positions[k] = run.first;
        n = run.n < n ? run.n : n;
    }
    return n;
}

/* Sorts planes by the order in which LLRs at one position must be added: by symbol, then by bit. If several planes'
 * runs reach a position, the one that begins highest reaches it with the earliest symbol, so it comes first.
 */
static void order_planes(const uint32_t positions[], unsigned n_planes, uint8_t order[MAX_SYMBOL_BITS])
{
    for (unsigned n = 1; n < n_planes; n++) {
        const uint8_t plane = order[n];
        unsigned place = n;
        for (; place > 0; place--) {
            const uint8_t previous = order[place - 1];
            if (positions[previous] > positions[plane] || (positions[previous] == positions[plane] && previous < plane))
                break;
            order[place] = previous;
        }
        order[place] = plane;
    }
}

void softqam_soft_block_store(const softqam_soft_block *block, uint32_t first, size_t n, const unsigned char *planes,
                              size_t plane_nbytes)
{
    const size_t nbytes = block->value_nbytes;
    uint32_t positions[MAX_SYMBOL_BITS];
    uint8_t order[MAX_SYMBOL_BITS];
    for (unsigned k = 0; k < block->n_bits; k++)
        order[k] = (uint8_t)k;
    for (size_t done = 0, n_run; done < n; done += n_run) {
        n_run = softqam_soft_block_runs(block, first + (uint32_t)done, positions);
        n_run = n_run < n - done ? n_run : n - done;
        order_planes(positions, block->n_bits, order);
        for (unsigned k = 0; k < block->n_bits; k++) {
            const unsigned plane = order[k];
            unsigned char *to = block->values + positions[plane] * nbytes;
            const unsigned char *from = planes + plane * plane_nbytes + done * nbytes;
            if (block->adds)
                block->add(to, from, block->limit, n_run);
            else
                memcpy(to, from, n_run * nbytes);
        }
    }
}
