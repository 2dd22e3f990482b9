/* SPDX-License-Identifier: MIT */
/* What every kernel does with a symbol: from components as they lie in memory to its values, packed as they leave. */
#ifndef SOFTQAM_SYMBOL_CUH
#define SOFTQAM_SYMBOL_CUH

#include <type_traits>

#include <cuda_fp16.h>

#include "kernels.h"
#include "llr_tables.cuh"
#include "simd_cuda.cuh"

#include "arithmetic.h"

static_assert(N_OUTPUT_FORMATS == 5, "symbol_size, metrics_of() and llrs_of() have each format");

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

template <softqam_output_format FORMAT> using format_of = std::integral_constant<softqam_output_format, FORMAT>;

/* Calls what there is for an output format. */
template <typename Function> static auto with_format(softqam_output_format format, const Function &function)
{
    switch (format) {
    case SOFTQAM_OUTPUT_U8:
        return function(format_of<SOFTQAM_OUTPUT_U8>());
    case SOFTQAM_OUTPUT_S8:
        return function(format_of<SOFTQAM_OUTPUT_S8>());
    case SOFTQAM_OUTPUT_S16:
        return function(format_of<SOFTQAM_OUTPUT_S16>());
    case SOFTQAM_OUTPUT_F16:
        return function(format_of<SOFTQAM_OUTPUT_F16>());
    case SOFTQAM_OUTPUT_F32:
        return function(format_of<SOFTQAM_OUTPUT_F32>());
    }
    __builtin_unreachable();
}

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
template <> __device__ __forceinline__ float component_of<float>(uint32_t word) { return __uint_as_float(word); }
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

static __device__ __forceinline__ uint32_t own_copy() { return threadIdx.x % TABLE_COPIES * COPY_NBYTES; }

/* What of a kernel's table lies in shared memory: all threads of a block load and store a part of it, and read after a
 * barrier. That of soft bits comes with the kernel's arguments. */
struct soft_table_memory {
    typedef softqam_u8_table argument;
    enum { IN_REGISTERS = false };

    alignas(SOFT_ROW_NBYTES) unsigned char rows[U8_LEVELS][SOFT_ROW_NBYTES];

    /* A copy of a row. */
    template <int THREADS> struct part {
        uint4 levels;
        float2 gains;
    };

    template <int THREADS> static __device__ __forceinline__ part<THREADS> load(const softqam_u8_table &table)
    {
        static_assert(THREADS >= U8_LEVELS * TABLE_COPIES, "a thread for each copy of a row");
        const unsigned row = threadIdx.x / TABLE_COPIES % U8_LEVELS;
        return {make_uint4(__float_as_uint(table.level[row]), __float_as_uint(table.level_low[row]),
                           __float_as_uint(table.level_high[row]), byte_selector_of(table.byte_select[row])),
                make_float2(table.gain_low[row], table.gain_high[row])};
    }

    template <int THREADS> __device__ __forceinline__ void store(const part<THREADS> &loaded)
    {
        if (threadIdx.x >= U8_LEVELS * TABLE_COPIES)
            return;
        unsigned char *copy = rows[threadIdx.x / TABLE_COPIES] + own_copy();
        *reinterpret_cast<uint4 *>(copy) = loaded.levels;
        *reinterpret_cast<float2 *>(copy + GAINS_OFFSET) = loaded.gains;
    }

    __device__ __forceinline__ vec_u8_table read(const softqam_u8_table &table) const
    {
        vec_u8_table shared;
        shared.middle_address =
            __uint_as_float(shared_address(rows, own_copy() + (U8_LEVELS - 1) * SOFT_ROW_NBYTES / 2));
        /* Rounded to a byte, which over all 16 rows adds up to a tenth of one: an address still rounds to that of a
         * row. */
        shared.address_per_unit = __uint_as_float(__float2uint_rn(table.level_scale * SOFT_ROW_NBYTES));
#pragma unroll
        for (int k = 0; k < U8_AXIS_BITS; k++)
            shared.steps[k] = table.steps[k];
        return shared;
    }
};

struct no_table {
    uint32_t unused;
};

template <int M> struct llr_table_memory {
    typedef no_table argument;
    enum {
        IN_REGISTERS = M <= 2,
        IS_COPIED = M == 5,
        ROWS = M == 0 ? 1 : 1 << (M - 1),
        /* That are copied one by one. */
        FIRST_VALUE = IS_COPIED ? llr_rows<5>::FIFTH + 0 : 0,
        N_VALUES = IN_REGISTERS ? 0
                   : IS_COPIED  ? 2 * MAX_LLR_ROWS
                                : 2 * ROWS * LLR_ROW_NBYTES / sizeof(float)
    };
    static_assert(MAX_AXIS_BITS == 5, "more rows need a table");
    alignas(IS_COPIED ? 2048 : 128) unsigned char rows[IN_REGISTERS ? 1
                                                       : IS_COPIED  ? LLR_FIFTH_OFFSET + MAX_LLR_ROWS * LLR_FIFTH_NBYTES
                                                                    : 2 * ROWS * LLR_ROW_NBYTES];

    /* What one of THREADS threads copies. */
    template <int THREADS> struct part {
        enum { ROWS_EACH = IS_COPIED ? 2 * MAX_LLR_ROWS * TABLE_COPIES / THREADS : 0 };
        float4 rows[ROWS_EACH + 1];
        float value;
    };

    /* From global memory; what is loaded later need not wait for it. */
    template <int THREADS> static __device__ __forceinline__ part<THREADS> load(const no_table &)
    {
        part<THREADS> loaded = {};
        if constexpr (!IN_REGISTERS) {
            const float *values = llr_rows_of<M>.values;
#pragma unroll
            for (int k = 0; k < part<THREADS>::ROWS_EACH; k++)
                loaded.rows[k] = reinterpret_cast<const float4 *>(values)[(k * THREADS + threadIdx.x) / TABLE_COPIES];
            if (threadIdx.x < N_VALUES)
                loaded.value = values[FIRST_VALUE + threadIdx.x];
        }
        return loaded;
    }

    template <int THREADS> __device__ __forceinline__ void store(const part<THREADS> &loaded)
    {
        static_assert(N_VALUES <= THREADS, "a thread for each value");
        if constexpr (!IN_REGISTERS) {
#pragma unroll
            for (int k = 0; k < part<THREADS>::ROWS_EACH; k++)
                reinterpret_cast<float4 *>(rows)[k * THREADS + threadIdx.x] = loaded.rows[k];
            if (threadIdx.x < N_VALUES)
                reinterpret_cast<float *>(rows + (IS_COPIED ? LLR_FIFTH_OFFSET + 0 : 0))[threadIdx.x] = loaded.value;
        }
    }

    __device__ __forceinline__ vec_llr_table read(const no_table &) const
    {
        enum { BITS = M == 0 ? 1 : M };
        constexpr llr_line first = llr_line_of(BITS, 0, 0);
        constexpr llr_line second_row = llr_line_of(BITS, 0, M > 1 ? 1 : 0);
        constexpr llr_line second = llr_line_of(BITS, M > 1 ? 1 : 0, 0);
        vec_llr_table table = {};
        table.row_scale = llr_row_scale(BITS);
        table.last_row = llr_last_row(BITS);
        table.slopes[0] = first.slope;
        table.slopes[1] = second_row.slope;
        table.intercepts[0] = first.intercept;
        table.intercepts[1] = second_row.intercept;
        table.second_slope = second.slope;
        table.second_intercept = second.intercept;
        if constexpr (!IN_REGISTERS)
            table.rows = shared_address(rows, IS_COPIED ? own_copy() : 0);
        if constexpr (IS_COPIED)
            table.fifth = shared_address(rows, LLR_FIFTH_OFFSET);
        return table;
    }
};

template <softqam_output_format FORMAT, int M>
using kernel_table = std::conditional_t<FORMAT == SOFTQAM_OUTPUT_U8, soft_table_memory, llr_table_memory<M>>;

/* Values of a symbol, side by side in words, b0 lowest; what is left of a last word is undefined. */
template <int WORDS> struct packed_values {
    uint32_t word[WORDS];
};

/* Value k of a symbol, as the lowest bytes. */
template <int VALUE_NBYTES, int WORDS>
static __device__ __forceinline__ uint32_t value_at(const packed_values<WORDS> &values, int k)
{
    enum { PER_WORD = 4 / VALUE_NBYTES };
    return values.word[k / PER_WORD] >> 8 * VALUE_NBYTES * (k % PER_WORD);
}

template <int NBYTES> static __device__ __forceinline__ void store_value(unsigned char *to, uint32_t value)
{
    *reinterpret_cast<typename unsigned_of<NBYTES>::type *>(to) =
        static_cast<typename unsigned_of<NBYTES>::type>(value);
}

/* A symbol's values side by side, by the widest accesses that their size allows, but no wider than UNIT bytes, to which
 * `to` is aligned. */
template <int NBYTES, int UNIT, int WORDS>
static __device__ __forceinline__ void store_symbol(unsigned char *to, const packed_values<WORDS> &values)
{
#pragma unroll
    for (int k = 0; k < NBYTES; k += UNIT) {
        const uint32_t *from = values.word + k / 4;
        if constexpr (UNIT == 16)
            *reinterpret_cast<uint4 *>(to + k) = make_uint4(from[0], from[1], from[2], from[3]);
        else if constexpr (UNIT == 8)
            *reinterpret_cast<uint2 *>(to + k) = make_uint2(from[0], from[1]);
        else
            store_value<UNIT>(to + k, from[0] >> 8 * (k % 4));
    }
}

static __device__ __forceinline__ uint4 load_shared_unit(uint32_t address)
{
    uint4 unit;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(unit.x), "=r"(unit.y), "=r"(unit.z), "=r"(unit.w)
                 : "r"(address)
                 : "memory");
    return unit;
}

/* Whether LLRs are whole numbers of steps. */
static __device__ __forceinline__ constexpr bool is_in_steps(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_S8 || format == SOFTQAM_OUTPUT_S16;
}

/* How a symbol's LLRs are scaled. */
struct symbol_scale {
    float weight;        /* of LLRs in steps, LLR_STEP times that; NaN: an erasure */
    uint32_t pi2_sign;   /* pi/2-BPSK: bit 31 is set where I changes its sign */
    uint32_t descramble; /* bit k is set where LLR k changes its sign, none above a symbol's */
    vec_mask valid;      /* LLRs that are no steps: zero where the symbol is an erasure */

    /* Of a noise value; `scale` is weight_scale(). */
    __device__ __forceinline__ void set_noise(float scale, float noise, bool is_inverse)
    {
        weight = is_inverse ? llr_weight(scale, noise, 1) : llr_weight(scale, noise, 0);
    }
};

/* False for NaN. */
static __device__ __forceinline__ bool is_between(float value, float least, float end)
{
    return __float_as_uint(value) - __float_as_uint(least) < __float_as_uint(end) - __float_as_uint(least);
}

/* What a symbol with a gain is multiplied with, and its LLRs. */
struct any_gain {
    float inverse;
    float weight;
    bool has_small_weight;
};

/* With gains a weight may be as small as 2^-130 before it is multiplied by LLR_STEP, and by then not exact. One below
 * this counts when its metric is beyond 2^78: that is multiplied by a power of two, and the weight by its inverse. */
#define SMALL_WEIGHT        0x1p-80f
#define SMALL_WEIGHT_METRIC 0x1p-40f

/* Of any gain and noise value; `scale` is weight_scale(). Not inlined: seldom needed. */
static __device__ __noinline__ any_gain any_gain_of(float scale, float noise, bool is_inverse, float gain,
                                                    bool is_in_steps)
{
    const float limited = llr_limited_gain(gain);
    const float scale_of_gain = llr_scale_of_gain(is_in_steps ? vec_mul(scale, 1.0f / LLR_STEP) : scale, limited);
    const float weight = is_inverse ? vec_mul(scale_of_gain, llr_limited_noise(noise, 1))
                                    : vec_div_any(scale_of_gain, llr_limited_noise(noise, 0));
    any_gain any = {};
    any.inverse = vec_div(1.0f, limited);
    any.weight = llr_valid_weight(weight, noise, gain);
    if (is_in_steps) {
        any.has_small_weight = fabsf(any.weight) < SMALL_WEIGHT;
        any.weight = vec_mul(any.weight, any.has_small_weight ? LLR_STEP / SMALL_WEIGHT_METRIC : LLR_STEP);
    }
    return any;
}

/* The same with a gain. */
struct gain_scale : symbol_scale {
    bool has_small_weight; /* of LLRs in steps: `weight` is for a metric times SMALL_WEIGHT_METRIC */

    /* Of a noise value and a gain, whose inverse it returns. Those that are neither tiny nor huge are in every limit,
     * and their weights far from the ends of the floats. */
    __device__ __forceinline__ float set_gain(softqam_output_format format, float scale, float noise, bool is_inverse,
                                              float gain)
    {
        if (__builtin_expect(!(is_between(gain, 0x1p-20f, 0x1p20f) && is_between(noise, 0x1p-40f, 0x1p40f)), 0)) {
            const any_gain any = any_gain_of(scale, noise, is_inverse, gain, is_in_steps(format));
            weight = any.weight;
            has_small_weight = any.has_small_weight;
            return any.inverse;
        }
        const float scale_of_gain = llr_scale_of_gain(scale, gain);
        weight = is_inverse ? vec_mul(scale_of_gain, noise) : vec_div(scale_of_gain, noise);
        has_small_weight = false;
        return vec_div(1.0f, gain);
    }
};

/* What makes weights of noise values. A power of two does not change how a quotient or a product is rounded. */
static __device__ __forceinline__ float weight_scale(softqam_output_format format, float steps_per_nat)
{
    return is_in_steps(format) ? __fmul_rn(steps_per_nat, LLR_STEP) : steps_per_nat;
}

/* Soft bits. */
static __device__ __forceinline__ packed_values<2> soft_bytes_of(const vec_u8_table &table, float i, float q)
{
    const symbol_distances distances = symbol_distances_of(&table, i, q);
    const u8_bits bits = u8_bits_from_distances(&table, &distances);
    const uint32_t of_i = vec_u8_bytes(bits.i.low, bits.i.high, bits.i.row, bits.valid);
    const uint32_t of_q = vec_u8_bytes(bits.q.low, bits.q.high, bits.q.row, bits.valid);
    return {{__byte_perm(of_i, of_q, 0x5140), __byte_perm(of_i, of_q, 0x7362)}};
}

/* LLRs. */

/* Whether a symbol is finite, no erasure, and its weight so small that components below TINY_COMPONENT make LLRs of
 * zero as they are: |i| + |q| + 1 times the weight is below 2^30. A NaN or an infinity is in none of these. */
static __device__ __forceinline__ bool is_regular(float i, float q, const symbol_scale &scale)
{
    const float magnitude = __fadd_rn(fabsf(i), fabsf(q));
    return fabsf(__fmaf_rn(magnitude, scale.weight, scale.weight)) < 0x1p30f;
}

/* Makes any symbol such that the same operations give its LLRs. */
static __device__ __forceinline__ void regularize(float &i, float &q, symbol_scale &scale)
{
    const vec_mask valid = vec_both(vec_both(vec_is_finite(i), vec_is_finite(q)), vec_is_finite(scale.weight));
    i = vec_keep(valid, vec_flip(vec_flush(vec_abs(i), TINY_COMPONENT), vec_bits(i)));
    q = vec_keep(valid, vec_flip(vec_flush(vec_abs(q), TINY_COMPONENT), vec_bits(q)));
    scale.weight = vec_keep(valid, scale.weight);
    scale.valid = valid;
}

/* The metrics of a regular symbol, b0 first, even bits on I. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ void metrics_of(const vec_llr_table &table, float i, float q,
                                                  const symbol_scale &scale, float metrics[])
{
    float of_i[MAX_AXIS_BITS];
    float of_q[MAX_AXIS_BITS];
    if (M == 0) {
        metrics[0] = bpsk_metric(&table, i, q, scale.pi2_sign);
        return;
    }
    if (FORMAT == SOFTQAM_OUTPUT_F32) { /* where LLRs of tiny components are not zero by themselves */
        axis_metrics(M, &table, i, of_i);
        axis_metrics(M, &table, q, of_q);
    } else {
        magnitude_metrics(M, &table, vec_abs(i), i, of_i);
        magnitude_metrics(M, &table, vec_abs(q), q, of_q);
    }
#pragma unroll
    for (int k = 0; k < M; k++) {
        metrics[2 * k] = of_i[k];
        metrics[2 * k + 1] = of_q[k];
    }
}

/* The N LLRs of a word, from LLR k of a symbol on. */
template <softqam_output_format FORMAT, int N, bool IS_DESCRAMBLED>
static __device__ __forceinline__ uint32_t word_of_steps(const float metrics[], int k, const symbol_scale &scale,
                                                         const softqam_llr_limit &limit)
{
    uint32_t steps[4] = {};
    uint32_t word;
#pragma unroll
    for (int j = 0; j < N; j++)
        steps[j] = vec_limited_steps(metrics[k + j], scale.weight, limit.steps, limit.two_limits);
    if (FORMAT == SOFTQAM_OUTPUT_S16)
        word = N == 1 ? steps[0] : __byte_perm(steps[0], steps[1], 0x5410);
    else
        word = N == 1 ? steps[0]
                      : vec_packed_bytes(steps[0], steps[1], N > 2 ? vec_packed_bytes(steps[2], steps[3], 0) : 0);
    if (IS_DESCRAMBLED) {
        const uint32_t masks =
            FORMAT == SOFTQAM_OUTPUT_S16 ? vec_half_masks(scale.descramble, k) : vec_byte_masks(N, scale.descramble, k);
        word = ((limit.two_limits_each - word) & masks) | (word & ~masks);
    }
    return (word + limit.to_middle_each) ^ (FORMAT == SOFTQAM_OUTPUT_S16 ? 0x80008000 : 0x80808080);
}

/* The LLRs of a regular symbol. IS_DESCRAMBLED: scale.descramble counts. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED, typename Scale>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
llrs_of(const vec_llr_table &table, float i, float q, const Scale &scale, const softqam_llr_limit &limit)
{
    enum {
        BITS = symbol_size<FORMAT, M>::BITS,
        WORDS = symbol_size<FORMAT, M>::WORDS,
        EACH = 4 / symbol_size<FORMAT, M>::VALUE_NBYTES, /* of a word */
        LAST = BITS - (WORDS - 1) * EACH
    };
    packed_values<WORDS> packed;
    float metrics[BITS + BITS % 2] = {};
    metrics_of<FORMAT, M>(table, i, q, scale, metrics);
    if constexpr (std::is_same_v<Scale, gain_scale> && is_in_steps(FORMAT)) {
        if (scale.has_small_weight) {
#pragma unroll
            for (int k = 0; k < BITS; k++)
                metrics[k] = vec_mul(metrics[k], SMALL_WEIGHT_METRIC);
        }
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const int k = w * EACH;
        if constexpr (is_in_steps(FORMAT)) {
            packed.word[w] = w < WORDS - 1 ? word_of_steps<FORMAT, EACH, IS_DESCRAMBLED>(metrics, k, scale, limit)
                                           : word_of_steps<FORMAT, LAST, IS_DESCRAMBLED>(metrics, k, scale, limit);
        } else if constexpr (FORMAT == SOFTQAM_OUTPUT_F16) {
            const uint32_t signs = IS_DESCRAMBLED ? vec_half_signs(scale.descramble, k) : 0;
            packed.word[w] =
                scale.valid &
                (vec_halves(vec_mul(metrics[k], scale.weight), vec_mul(metrics[k + 1], scale.weight)) ^ signs);
        } else {
            const float weight = IS_DESCRAMBLED ? vec_flip(scale.weight, scale.descramble << (31 - k)) : scale.weight;
            packed.word[w] = scale.valid & vec_bits(llr_scaled(metrics[k], weight, limit.llr));
        }
    }
    return packed;
}

/* The values of N symbols, soft bits or LLRs, of their components, I and Q by turns. The branch stands before all of
 * them, so that their instructions hide each other's waits. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED, int N, typename Table, typename Scale>
static __device__ __forceinline__ void values_of(packed_values<symbol_size<FORMAT, M>::WORDS> (&values)[N],
                                                 const Table &table, float (&components)[2 * N], Scale (&scales)[N],
                                                 const softqam_llr_limit &limit)
{
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8) {
#pragma unroll
        for (int n = 0; n < N; n++)
            values[n] = soft_bytes_of(table, components[2 * n], components[2 * n + 1]);
    } else {
        bool are_regular = true;
#pragma unroll
        for (int n = 0; n < N; n++) {
            scales[n].valid = 0xffffffffu;
            are_regular &= is_regular(components[2 * n], components[2 * n + 1], scales[n]);
        }
        if (__builtin_expect(!are_regular, 0))
#pragma unroll
            for (int n = 0; n < N; n++)
                regularize(components[2 * n], components[2 * n + 1], scales[n]);
#pragma unroll
        for (int n = 0; n < N; n++)
            values[n] =
                llrs_of<FORMAT, M, IS_DESCRAMBLED>(table, components[2 * n], components[2 * n + 1], scales[n], limit);
    }
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
