/* SPDX-License-Identifier: MIT */
/* AVX-512: rows of interleaved items. Included by simd_avx512.h. */
#ifndef SOFTQAM_CPU_GATHER_AVX512_H
#define SOFTQAM_CPU_GATHER_AVX512_H

/* gather_loops.h: rows of up to so many items. */
enum { MAX_ROW_ITEMS = 8 };

/* How registers of interleaved rows become one of items side by side. */
typedef struct vec_row_order {
    __m512i from;                    /* each lane's, in the register that it comes from */
    __mmask16 merged[MAX_ROW_ITEMS]; /* lanes that come from each register; of the first one all that are left */
    size_t n_registers;
} vec_row_order;

/* The constant n_registers keeps the masks in registers: to load one takes the port that permutes. */
VEC void vec_gather_registers(const unsigned char *first, size_t step_nbytes, size_t n_registers,
                              const vec_row_order *order, size_t n, unsigned char *out)
{
    const __m512i from = order->from;
    __mmask16 merged[MAX_ROW_ITEMS];
    VEC_UNROLL
    for (size_t k = 1; k < n_registers; k++)
        merged[k] = order->merged[k];
    for (size_t i = 0; i < n; i++) {
        __m512i items = _mm512_permutexvar_epi32(from, _mm512_loadu_si512(first));
        VEC_UNROLL
        for (size_t k = 1; k < n_registers; k++)
            items = _mm512_mask_permutexvar_epi32(items, merged[k], from, _mm512_loadu_si512(first + 64 * k));
        _mm512_storeu_si512(out + 64 * i, items);
        first += step_nbytes;
    }
}

/* Of items of so many dwords, a power of two as n_sources is: to divide by them for each tile takes as long as to
 * gather hundreds of items. */
VEC vec_row_order vec_order_rows(const unsigned offsets[], size_t n_sources, size_t item_dwords, size_t stride)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i by_item = _mm_cvtsi32_si128(__builtin_ctzl(item_dwords)),
                  by_row = _mm_cvtsi32_si128(__builtin_ctzl(n_sources));
    const __m512i items = _mm512_srl_epi32(lanes, by_item), rows = _mm512_srl_epi32(items, by_row);
    const __m512i sources = _mm512_sub_epi32(items, _mm512_sll_epi32(rows, by_row));
    const __m512i of_sources = _mm512_maskz_loadu_epi32((__mmask16)((1u << n_sources) - 1), offsets);
    const __m512i from = _mm512_add_epi32(_mm512_mullo_epi32(rows, _mm512_set1_epi32((int)stride)),
                                          _mm512_permutexvar_epi32(sources, of_sources));
    const __m512i dwords =
        _mm512_add_epi32(_mm512_sll_epi32(from, by_item), _mm512_sub_epi32(lanes, _mm512_sll_epi32(items, by_item)));
    const __m512i registers = _mm512_srli_epi32(dwords, 4);
    vec_row_order order = {.from = dwords, .n_registers = (size_t)_mm512_reduce_max_epu32(registers) + 1};
    for (size_t k = 0; k < MAX_ROW_ITEMS; k++)
        order.merged[k] = _mm512_cmpeq_epi32_mask(registers, _mm512_set1_epi32((int)k));
    return order;
}

/* Gathers 1, 2 or 4 items of 4 or 8 bytes of each row; returns of how many of n rows. A register of output takes a
 * whole number of rows, whose registers are loaded, permuted and merged. The last rows are left, since whole registers
 * read beyond what they are for; they end before the last item of as many rows more. */
static size_t vec_gather_rows(const unsigned char *first, const unsigned offsets[], size_t n_sources, size_t nbytes,
                              size_t stride, size_t n, void *to)
{
    if (nbytes < 4 || LANES % n_sources != 0)
        return 0;
    const size_t item_dwords = nbytes / 4, n_items = LANES / item_dwords;
    if (n_items % n_sources != 0)
        return 0;
    const size_t n_rows = n_items / n_sources; /* of a register */
    if (n < 2 * n_rows)
        return 0;
    const vec_row_order order = vec_order_rows(offsets, n_sources, item_dwords, stride);
    const size_t n_steps = n / n_rows - 1, step_nbytes = n_rows * stride * nbytes;
    switch (order.n_registers) {
#define GATHER_REGISTERS(k)                                                                                            \
    case k:                                                                                                            \
        vec_gather_registers(first, step_nbytes, k, &order, n_steps, to);                                              \
        break;
        GATHER_REGISTERS(1)
        GATHER_REGISTERS(2)
        GATHER_REGISTERS(3)
        GATHER_REGISTERS(4)
        GATHER_REGISTERS(5)
        GATHER_REGISTERS(6)
        GATHER_REGISTERS(7)
        GATHER_REGISTERS(8)
#undef GATHER_REGISTERS
    }
    return n_steps * n_rows;
}

#endif
