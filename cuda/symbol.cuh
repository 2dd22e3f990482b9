/* SPDX-License-Identifier: MIT */
/* What every kernel does with a symbol: from components as they lie in memory to its values, packed as they leave. */
#ifndef SOFTQAM_SYMBOL_CUH
#define SOFTQAM_SYMBOL_CUH

#include <cuda_fp16.h>

#include "kernel_addresses.h"
#include "kernel_tables.h"
#include "simd_cuda.cuh"

#include "arithmetic.h"

static_assert(N_OUTPUT_FORMATS == 5, "symbol_size and llrs_of() have each format");

/* Of a symbol with M bits an axis; 0 stands for BPSK and pi/2-BPSK. */
template <softqam_output_format FORMAT, int M> struct symbol_size {
    enum {
        BITS = M == 0 ? 1 : 2 * M,
        VALUE_NBYTES = FORMAT == SOFTQAM_OUTPUT_F32                                   ? 4
                       : FORMAT == SOFTQAM_OUTPUT_F16 || FORMAT == SOFTQAM_OUTPUT_S16 ? 2
                                                                                      : 1,
        NBYTES = BITS * VALUE_NBYTES,
        WORDS = (NBYTES + 3) / 4
    };
};

/* Times one is the same value; samples of floats are multiplied all the same. */
template <typename Component> static __device__ __forceinline__ float convert(Component sample, float scale)
{
    return __fmul_rn(static_cast<float>(sample), scale);
}

/* A component's bits, the lowest of a word, as what they are. */
template <typename Component> static __device__ __forceinline__ Component component_of(uint32_t word)
{
    return static_cast<Component>(word);
}
template <> __device__ __forceinline__ float component_of<float>(uint32_t word)
{
    return __uint_as_float(word);
}
template <> __device__ __forceinline__ __half component_of<__half>(uint32_t word)
{
    return __ushort_as_half(static_cast<uint16_t>(word));
}

template <int NBYTES> struct unsigned_of;
template <> struct unsigned_of<1> {
    typedef uint8_t type;
};
template <> struct unsigned_of<2> {
    typedef uint16_t type;
};
template <> struct unsigned_of<4> {
    typedef uint32_t type;
};

/* Tables in shared memory. */

/* Shared memory's address of what a thread block has written there, and an offset; after the barrier. The asm keeps the
 * sum from being taken apart again for every row. */
static __device__ __forceinline__ uint32_t shared_address(const void *memory, uint32_t offset)
{
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + offset;
    asm volatile("" : "+r"(address)::"memory");
    return address;
}

static __device__ __forceinline__ uint32_t own_copy()
{
    return threadIdx.x % TABLE_COPIES * COPY_NBYTES;
}

/* A table on its way from a kernel's arguments to what the arithmetic takes: all threads of a block write a part to its
 * memory, and read after a barrier. */
template <typename Table> struct table_memory;

template <> struct table_memory<softqam_soft_table> {
    unsigned char rows[SOFT_LEVELS][SOFT_ROW_NBYTES];

    /* A thread for each copy of a row. */
    __device__ __forceinline__ void write(const softqam_soft_table &table)
    {
        static_assert(BLOCK_THREADS == SOFT_LEVELS * TABLE_COPIES, "a thread for each copy of a row");
        const unsigned row = threadIdx.x / TABLE_COPIES;
        unsigned char *copy = rows[row] + own_copy();
        *reinterpret_cast<uint4 *>(copy) =
            make_uint4(__float_as_uint(table.level[row]), __float_as_uint(table.level_low[row]),
                       __float_as_uint(table.level_high[row]), byte_selector_of(table.byte_select[row]));
        *reinterpret_cast<float2 *>(copy + GAINS_OFFSET) = make_float2(table.gain_low[row], table.gain_high[row]);
    }

    template <typename Scalars> __device__ __forceinline__ vec_soft_table read(const Scalars &table) const
    {
        vec_soft_table shared;
        shared.middle_address =
            __uint_as_float(shared_address(rows, own_copy() + (SOFT_LEVELS - 1) * SOFT_ROW_NBYTES / 2));
        /* Rounded to a byte, which over all 16 rows adds up to a tenth of one: an address still rounds to that of a
         * row. */
        shared.address_per_unit = __uint_as_float(__float2uint_rn(table.levels_per_unit * SOFT_ROW_NBYTES));
#pragma unroll
        for (int k = 0; k < SOFT_AXIS_BITS; k++)
            shared.steps[k] = table.steps[k];
        return shared;
    }
};

template <> struct table_memory<softqam_llr_lines> {
    __device__ __forceinline__ void write(const softqam_llr_lines &)
    {
    }

    template <typename Scalars> __device__ __forceinline__ vec_llr_table read(const Scalars &table) const
    {
        vec_llr_table read = {};
        read.rows_per_unit = table.rows_per_unit;
        read.last_row = table.last_row;
#pragma unroll
        for (int row = 0; row < 2; row++) {
            read.slopes[row] = table.slopes[row];
            read.intercepts[row] = table.intercepts[row];
        }
        read.second_slope = table.second_slope;
        read.second_intercept = table.second_intercept;
        return read;
    }
};

template <> struct table_memory<softqam_llr_rows> {
    float rows[2 * LLR_OTHERS_OFFSET / sizeof(float)];

    __device__ __forceinline__ void write(const softqam_llr_rows &table)
    {
        static_assert(sizeof rows <= BLOCK_THREADS * sizeof rows[0], "a thread for each value");
        if (threadIdx.x < sizeof rows / sizeof rows[0])
            rows[threadIdx.x] = (&table.at[0][0][0])[threadIdx.x];
    }

    __device__ __forceinline__ vec_llr_table read(const softqam_row_scalars &of_rows) const
    {
        vec_llr_table shared = {};
        shared.rows = shared_address(rows, 0);
        shared.rows_per_unit = of_rows.rows_per_unit;
        shared.last_row = of_rows.last_row;
        shared.last_slope = of_rows.last_slope;
        return shared;
    }

    __device__ __forceinline__ vec_llr_table read(const softqam_llr_rows &table) const
    {
        return read(table.of_rows);
    }
};

static_assert(MAX_AXIS_BITS == 5, "these are the longest rows");
template <> struct table_memory<softqam_llr_long_rows> {
    unsigned char rows[LLR_FIFTH_OFFSET + MAX_LLR_ROWS * LLR_FIFTH_NBYTES];

    __device__ __forceinline__ void write(const softqam_llr_long_rows &table)
    {
        for (unsigned row = threadIdx.x / TABLE_COPIES; row < 2 * MAX_LLR_ROWS; row += BLOCK_THREADS / TABLE_COPIES) {
            const float *values = (&table.at[0][0][0]) + row * (LLR_ROW_NBYTES / sizeof(float));
            *reinterpret_cast<float4 *>(rows + row * LLR_COPIED_ROW_NBYTES + own_copy()) =
                make_float4(values[0], values[1], values[2], values[3]);
        }
        if (threadIdx.x < sizeof table.fifth / sizeof(float))
            reinterpret_cast<float *>(rows + LLR_FIFTH_OFFSET)[threadIdx.x] = (&table.fifth[0][0])[threadIdx.x];
    }

    __device__ __forceinline__ vec_llr_table read(const softqam_row_scalars &of_rows) const
    {
        vec_llr_table shared = {};
        shared.rows = shared_address(rows, own_copy());
        shared.fifth = shared_address(rows, LLR_FIFTH_OFFSET);
        shared.rows_per_unit = of_rows.rows_per_unit;
        shared.last_row = of_rows.last_row;
        return shared;
    }

    __device__ __forceinline__ vec_llr_table read(const softqam_llr_long_rows &table) const
    {
        return read(table.of_rows);
    }
};

/* The type of a kernel's table. */
template <softqam_output_format FORMAT, int M> struct table_of {
    typedef softqam_llr_lines type;
};
template <softqam_output_format FORMAT> struct table_of<FORMAT, 3> {
    typedef softqam_llr_rows type;
};
template <softqam_output_format FORMAT> struct table_of<FORMAT, 4> {
    typedef softqam_llr_rows type;
};
template <softqam_output_format FORMAT> struct table_of<FORMAT, 5> {
    typedef softqam_llr_long_rows type;
};
template <> struct table_of<SOFTQAM_OUTPUT_U8, 4> {
    typedef softqam_soft_table type;
};

/* Values of a symbol, side by side in words, b0 in the lowest place; what is left of a last word is undefined. */
template <int WORDS> struct packed_values {
    uint32_t word[WORDS];
};

/* Whether two numbers that share a word can be limited at once. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
enum { HAS_PAIR_LIMITS = 1 };
#else
enum { HAS_PAIR_LIMITS = 0 };
#endif

/* Whether LLRs are limited so, two or more of them. */
template <softqam_output_format FORMAT, int M> static __device__ __forceinline__ constexpr bool limits_pairs()
{
    return HAS_PAIR_LIMITS && FORMAT == SOFTQAM_OUTPUT_S8 && M > 1;
}

/* How a symbol's LLRs are scaled. */
struct symbol_scale {
    float weight;   /* NaN: an erasure */
    float most;     /* limits_pairs(): of far_metrics() */
    uint32_t turn;  /* pi/2-BPSK: bit 31 is set where I changes its sign */
    uint32_t signs; /* bit k is set where LLR k changes its sign, none above a symbol's */

    /* Of a noise value. */
    __device__ __forceinline__ void take_noise(float steps_per_nat, float noise, bool is_inverse)
    {
        weight = is_inverse ? llr_weight(steps_per_nat, noise, 1) : llr_weight(steps_per_nat, noise, 0);
        most = vec_mul(FAR_LIMIT, vec_reciprocal(vec_abs(weight)));
    }
};

/* Soft bits. */
static __device__ __forceinline__ packed_values<2> soft_bytes_of(const vec_soft_table &table, float i, float q)
{
    const symbol_distances distances = symbol_distances_of(&table, i, q);
    const soft_bits bits = soft_bits_from_distances(&table, &distances);
    const uint32_t of_i = vec_soft_bytes(bits.i.low, bits.i.high, bits.i.row, bits.valid);
    const uint32_t of_q = vec_soft_bytes(bits.q.low, bits.q.high, bits.q.row, bits.valid);
    return {{__byte_perm(of_i, of_q, 0x5140), __byte_perm(of_i, of_q, 0x7362)}};
}

/* The metrics of a symbol, b0 first, even bits on I. IS_FAR: by far_metrics(). */
template <int M, bool IS_FAR>
static __device__ __forceinline__ void metrics_of(const vec_llr_table &table, float i, float q,
                                                  const symbol_scale &scale, float metrics[])
{
    float of_i[MAX_AXIS_BITS];
    float of_q[MAX_AXIS_BITS];
    if (M == 0) {
        metrics[0] = bpsk_metric(&table, i, q, scale.turn);
        return;
    }
    if (IS_FAR) {
        far_metrics(M, &table, 0, i, scale.most, of_i);
        far_metrics(M, &table, 0, q, scale.most, of_q);
    } else {
        axis_metrics(M, &table, i, of_i);
        axis_metrics(M, &table, q, of_q);
    }
#pragma unroll
    for (int k = 0; k < M; k++) {
        metrics[2 * k] = of_i[k];
        metrics[2 * k + 1] = of_q[k];
    }
}

/* N LLRs of s8, each plus 128, as the lowest bytes of a word. */
template <int N, bool LIMITS_PAIRS>
static __device__ __forceinline__ uint32_t s8_bytes_of(const float metrics[], float weight,
                                                       const softqam_llr_limit &limit)
{
    const float least = __fsub_rn(ROUNDING_CONSTANT, limit.llr);
    const float most = __fadd_rn(ROUNDING_CONSTANT, limit.llr);
    float sums[4] = {};
#pragma unroll
    for (int k = 0; k < N; k++)
        sums[k] = LIMITS_PAIRS ? llr_sum(metrics[k], weight) : llr_rounded(metrics[k], weight, least, most);
    if constexpr (LIMITS_PAIRS)
        return vec_limited_bytes<N>(sums, limit.halves, limit.two_halves, limit.rest);
    return (N == 1   ? vec_bits(sums[0])
            : N == 2 ? __byte_perm(vec_bits(sums[0]), vec_bits(sums[1]), 0x0040)
                     : vec_lowest_bytes(vec_bits(sums[0]), vec_bits(sums[1]), vec_bits(sums[2]), vec_bits(sums[3]))) ^
           0x80808080;
}

/* A symbol's LLRs from its metrics. IS_DESCRAMBLED: scale.signs counts. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
llrs_of(const float metrics[], vec_mask valid, const symbol_scale &scale, const softqam_llr_limit &limit)
{
    enum { BITS = symbol_size<FORMAT, M>::BITS, REST = BITS % 4 != 0 ? BITS % 4 : 4 };
    packed_values<symbol_size<FORMAT, M>::WORDS> packed;
    if (FORMAT == SOFTQAM_OUTPUT_S8) {
#pragma unroll
        for (int k = 0; k < BITS; k += 4) {
            const bool is_whole = k + 4 <= BITS;
            uint32_t bytes = is_whole ? s8_bytes_of<4, limits_pairs<FORMAT, M>()>(metrics + k, scale.weight, limit)
                                      : s8_bytes_of<REST, limits_pairs<FORMAT, M>()>(metrics + k, scale.weight, limit);
            if (IS_DESCRAMBLED)
                bytes = vec_flip_bytes(bytes, vec_byte_masks(is_whole ? 4 : REST + 0, scale.signs, k));
            packed.word[k / 4] = valid & (bytes ^ 0x80808080);
        }
        return packed;
    }
    const float least = __fsub_rn(ROUNDING_CONSTANT, limit.llr);
    const float most = __fadd_rn(ROUNDING_CONSTANT, limit.llr);
    float llrs[BITS + BITS % 2] = {}; /* of s16, sums */
#pragma unroll
    for (int k = 0; k < BITS; k++) {
        const bool flips_weight = IS_DESCRAMBLED && FORMAT != SOFTQAM_OUTPUT_F16;
        const float weight = flips_weight ? vec_flip(scale.weight, scale.signs << (31 - k)) : scale.weight;
        if (FORMAT == SOFTQAM_OUTPUT_F16)
            llrs[k] = vec_mul(metrics[k], weight);
        else if (FORMAT == SOFTQAM_OUTPUT_S16)
            llrs[k] = llr_rounded(metrics[k], weight, least, most);
        else
            llrs[k] = llr_scaled(metrics[k], weight, limit.llr);
    }
#pragma unroll
    for (int k = 0; k < symbol_size<FORMAT, M>::WORDS; k++) {
        if constexpr (FORMAT == SOFTQAM_OUTPUT_F16) {
            const uint32_t signs = IS_DESCRAMBLED ? vec_half_signs(scale.signs, 2 * k) : 0;
            packed.word[k] = valid & (vec_halves(llrs[2 * k], llrs[2 * k + 1]) ^ signs);
        } else if constexpr (FORMAT == SOFTQAM_OUTPUT_S16) { /* the lower halves of the sums' bits */
            packed.word[k] = valid & __byte_perm(vec_bits(llrs[2 * k]), vec_bits(llrs[2 * k + 1]), 0x5410);
        } else {
            packed.word[k] = valid & vec_bits(llrs[k]);
        }
    }
    return packed;
}

/* Metrics of a symbol whose weight is none of far_metrics(): it may be NaN, which is not valid. An infinite weight
 * there is not. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ void steep_metrics_of(const vec_llr_table &table, float i, float q,
                                                        const symbol_scale &scale, float metrics[], vec_mask &valid)
{
    valid = vec_both(valid, vec_is_finite(scale.weight));
    metrics_of<M, false>(table, i, q, scale, metrics);
    if (limits_pairs<FORMAT, M>()) {
        const float most = vec_mul(0x1p14f, vec_reciprocal(vec_abs(scale.weight)));
#pragma unroll
        for (int k = 0; k < symbol_size<FORMAT, M>::BITS; k++)
            metrics[k] = vec_limit(metrics[k], most);
    }
}

/* The values of a symbol, soft bits or LLRs. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED, typename Table>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
values_of(const Table &table, float i, float q, const symbol_scale &scale, const softqam_llr_limit &limit)
{
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8) {
        return soft_bytes_of(table, i, q);
    } else {
        float metrics[symbol_size<FORMAT, M>::BITS];
        vec_mask valid = vec_both(vec_is_finite(i), vec_is_finite(q));
        if (limits_pairs<FORMAT, M>() && __builtin_expect(vec_abs(scale.weight) < far_weight_end, 1))
            metrics_of<M, true>(table, i, q, scale, metrics);
        else
            steep_metrics_of<FORMAT, M>(table, i, q, scale, metrics, valid);
        return llrs_of<FORMAT, M, IS_DESCRAMBLED>(metrics, valid, scale, limit);
    }
}

/* The LLRs of two symbols where pairs are limited, their instructions mixed. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED>
static __device__ __forceinline__ void llrs_of_two(packed_values<symbol_size<FORMAT, M>::WORDS> packed[2],
                                                   const vec_llr_table &table, const float components[4],
                                                   const symbol_scale scales[2], const softqam_llr_limit &limit)
{
    float metrics[2][symbol_size<FORMAT, M>::BITS];
    vec_mask valid[2];
#pragma unroll
    for (int n = 0; n < 2; n++)
        valid[n] = vec_both(vec_is_finite(components[2 * n]), vec_is_finite(components[2 * n + 1]));
    if (__builtin_expect(vec_abs(scales[0].weight) < far_weight_end && vec_abs(scales[1].weight) < far_weight_end, 1)) {
#pragma unroll
        for (int n = 0; n < 2; n++)
            metrics_of<M, true>(table, components[2 * n], components[2 * n + 1], scales[n], metrics[n]);
    } else {
#pragma unroll
        for (int n = 0; n < 2; n++)
            steep_metrics_of<FORMAT, M>(table, components[2 * n], components[2 * n + 1], scales[n], metrics[n],
                                        valid[n]);
    }
#pragma unroll
    for (int n = 0; n < 2; n++)
        packed[n] = llrs_of<FORMAT, M, IS_DESCRAMBLED>(metrics[n], valid[n], scales[n], limit);
}

/* Programmatic dependent launch: a kernel may begin while the one before it in the stream still runs, and reads and
 * writes memory only after it has waited. The next one may begin when all blocks have said so: at once, it may be one
 * of several that wait; behind the wait, it is the only one, and its blocks are spread over the device more evenly. */
static __device__ __forceinline__ void let_next_kernel_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static __device__ __forceinline__ void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
