/* SPDX-License-Identifier: MIT */
/* The tables of a modulation as kernels have them. The compiler makes those for LLRs from src/llr_lines.h. Up to two
 * bits an axis their values are operands of instructions; from three bits on rows lie in global memory, from which
 * thread blocks copy them to shared memory. The table of soft bits comes with a kernel's arguments. */
#ifndef SOFTQAM_KERNEL_TABLES_CUH
#define SOFTQAM_KERNEL_TABLES_CUH

#include <type_traits>

#include "kernels.h"
#include "llr_lines.h"
#include "memory.cuh"
#include "simd_cuda.cuh"

/* Rows for M bits an axis, as they lie in shared memory. 4 bits: the slopes, then the intercepts. 3 bits: slopes and
 * intercepts of two bits, then slope and intercept of the third. 5 bits: as for 4, then pairs of the fifth bit's slope
 * and intercept. */
template <int M> struct llr_rows {
    enum { ROWS = 1 << (M - 1), FIFTH = 2 * 4 * ROWS, VALUES = FIFTH + (M == 5 ? 2 * ROWS : 0) };
    alignas(16) float values[VALUES]; /* kernels read four at a time */
    static_assert(M >= 3 && M <= 5, "Give rows of other bits a layout in llr_rows()");

    constexpr llr_rows() : values{}
    {
        for (int row = 0; row < ROWS; row++)
            for (int k = 0; k < M; k++) {
                const llr_line line = llr_line_of(M, k, row);
                const int slope = k == 4 ? FIFTH + 2 * row : M == 3 && k == 2 ? 4 * (ROWS + row) : 4 * row + k;
                const int intercept = k == 4 ? slope + 1 : M > 3 ? slope + 4 * ROWS : k == 2 ? slope + 1 : slope + 2;
                values[slope] = line.slope;
                values[intercept] = line.intercept;
            }
    }
};

template <int M> static __device__ const llr_rows<M> llr_rows_of = llr_rows<M>();

static __device__ __forceinline__ uint32_t own_copy() { return threadIdx.x % TABLE_COPIES * COPY_NBYTES; }

/* The part of u8's table that lies in shared memory: each thread of a block loads and stores a part of it, and reads it
 * after a barrier. The table comes with the kernel's arguments. */
struct u8_table_memory {
    typedef softqam_u8_table argument;
    enum { IN_REGISTERS = false };

    alignas(U8_ROW_NBYTES) unsigned char rows[U8_LEVELS][U8_ROW_NBYTES];

    /* A copy of a row. */
    template <int THREADS> struct copied_share {
        uint4 levels;
        float2 gains;
    };

    template <int THREADS> static __device__ __forceinline__ copied_share<THREADS> load(const softqam_u8_table &table)
    {
        static_assert(THREADS >= U8_LEVELS * TABLE_COPIES, "a thread for each copy of a row");
        const unsigned row = threadIdx.x / TABLE_COPIES % U8_LEVELS;
        return {make_uint4(__float_as_uint(table.level[row]), __float_as_uint(table.level_low[row]),
                           __float_as_uint(table.level_high[row]), byte_selector_of(table.byte_select[row])),
                make_float2(table.gain_low[row], table.gain_high[row])};
    }

    template <int THREADS> __device__ __forceinline__ void store(const copied_share<THREADS> &loaded)
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
        shared.middle_address = __uint_as_float(shared_address(rows, own_copy() + (U8_LEVELS - 1) * U8_ROW_NBYTES / 2));
        /* The scale is rounded to a byte. Over all 16 rows that adds up to a tenth of a row, so an address still rounds
         * to the right row. */
        shared.address_scale = __uint_as_float(__float2uint_rn(table.level_scale * U8_ROW_NBYTES));
#pragma unroll
        for (int k = 0; k < U8_AXIS_BITS; k++)
            shared.halvings[k] = table.halvings[k];
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
        /* Values that are copied one by one. */
        FIRST_VALUE = IS_COPIED ? llr_rows<5>::FIFTH + 0 : 0,
        N_VALUES = IN_REGISTERS ? 0
                   : IS_COPIED  ? 2 * MAX_LLR_ROWS
                                : 2 * ROWS * LLR_ROW_NBYTES / sizeof(float)
    };
    static_assert(MAX_AXIS_BITS == 5, "Give rows of more bits a layout in llr_table_memory");
    static constexpr int COPIED_NBYTES = LLR_FIFTH_OFFSET + int{MAX_LLR_ROWS} * LLR_FIFTH_NBYTES;
    alignas(IS_COPIED ? 2048 : 128) unsigned char rows[IN_REGISTERS ? 1
                                                       : IS_COPIED  ? COPIED_NBYTES
                                                                    : 2 * ROWS * LLR_ROW_NBYTES];

    /* The part that one of THREADS threads copies. */
    template <int THREADS> struct copied_share {
        enum { ROWS_EACH = IS_COPIED ? 2 * MAX_LLR_ROWS * TABLE_COPIES / THREADS : 0 };
        float4 rows[ROWS_EACH + 1];
        float value;
    };

    /* Loads the part from global memory; later loads need not wait for it. */
    template <int THREADS> static __device__ __forceinline__ copied_share<THREADS> load(const no_table &)
    {
        copied_share<THREADS> loaded = {};
        if constexpr (!IN_REGISTERS) {
            const float *values = llr_rows_of<M>.values;
#pragma unroll
            for (int k = 0; k < copied_share<THREADS>::ROWS_EACH; k++)
                loaded.rows[k] = reinterpret_cast<const float4 *>(values)[(k * THREADS + threadIdx.x) / TABLE_COPIES];
            if (threadIdx.x < N_VALUES)
                loaded.value = values[FIRST_VALUE + threadIdx.x];
        }
        return loaded;
    }

    template <int THREADS> __device__ __forceinline__ void store(const copied_share<THREADS> &loaded)
    {
        static_assert(N_VALUES <= THREADS, "a thread for each value");
        if constexpr (!IN_REGISTERS) {
#pragma unroll
            for (int k = 0; k < copied_share<THREADS>::ROWS_EACH; k++)
                reinterpret_cast<float4 *>(rows)[k * THREADS + threadIdx.x] = loaded.rows[k];
            if (threadIdx.x < N_VALUES)
                reinterpret_cast<float *>(rows + (IS_COPIED ? LLR_FIFTH_OFFSET + 0 : 0))[threadIdx.x] = loaded.value;
        }
    }

    /* Copies the part of one of n threads from global memory. */
    __device__ __forceinline__ void copy(unsigned thread, unsigned n)
    {
        if constexpr (!IN_REGISTERS) {
            const float *values = llr_rows_of<M>.values;
            for (unsigned k = thread; IS_COPIED && k < 2 * MAX_LLR_ROWS * TABLE_COPIES; k += n)
                reinterpret_cast<float4 *>(rows)[k] = reinterpret_cast<const float4 *>(values)[k / TABLE_COPIES];
            for (unsigned k = thread; k < N_VALUES; k += n)
                reinterpret_cast<float *>(rows + (IS_COPIED ? LLR_FIFTH_OFFSET + 0 : 0))[k] = values[FIRST_VALUE + k];
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
using kernel_table = std::conditional_t<FORMAT == SOFTQAM_OUTPUT_U8, u8_table_memory, llr_table_memory<M>>;

#endif
