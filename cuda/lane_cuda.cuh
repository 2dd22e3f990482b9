/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for a GPU thread: one symbol at a time. Rounding is spelled out, so
 * that no compiler flag can change it. See src/lane_scalar.h for what each operation means. */
#ifndef SOFTQAM_LANE_CUDA_CUH
#define SOFTQAM_LANE_CUDA_CUH

#include <stdint.h>

#include "axis_table.h"

#define LANE static __device__ __forceinline__

typedef float lane_f32;
typedef uint32_t lane_u32;
typedef uint32_t lane_mask;
typedef softqam_axis_row lane_row;

/* A 16-byte shared-memory access is served eight threads at a time, and eight 16-byte words fill the 32 banks. With a
 * copy of the table for each of the eight, every one in banks of its own, no two rows ever meet in a bank. */
enum {
    TABLE_COPIES = 8
};

typedef struct lane_table {
    uint32_t rows; /* shared-memory address of this thread's copy; a row every TABLE_COPIES rows */
    float steps[AXIS_BITS];
    float gain;
} lane_table;

LANE lane_f32 lane_add(lane_f32 a, lane_f32 b)
{
    return __fadd_rn(a, b);
}

LANE lane_f32 lane_sub(lane_f32 a, lane_f32 b)
{
    return __fsub_rn(a, b);
}

LANE lane_f32 lane_mul(lane_f32 a, lane_f32 b)
{
    return __fmul_rn(a, b);
}

LANE lane_f32 lane_min(lane_f32 a, lane_f32 b)
{
    return fminf(a, b);
}

LANE lane_u32 lane_bits(lane_f32 a)
{
    return __float_as_uint(a);
}

LANE lane_f32 lane_flip(lane_f32 a, lane_u32 signs)
{
    return __uint_as_float(__float_as_uint(a) ^ (signs & 0x80000000u));
}

LANE lane_f32 lane_limit(lane_f32 a, float limit)
{
    return fminf(fmaxf(a, -limit), limit);
}

LANE lane_mask lane_is_finite(lane_f32 a)
{
    return fabsf(a) < __int_as_float(0x7f800000) ? 0xffffffffu : 0;
}

LANE lane_u32 lane_select(lane_mask mask, lane_u32 where_true, lane_u32 where_false)
{
    return mask ? where_true : where_false;
}

/* The conversion saturates by itself. */
LANE lane_u32 lane_to_byte(lane_f32 a)
{
    lane_u32 byte;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(byte) : "f"(a));
    return byte;
}

LANE lane_row lane_lookup(const lane_table *table, lane_u32 level)
{
    lane_row row;
    const uint32_t address = table->rows + level * static_cast<uint32_t>(TABLE_COPIES * sizeof row);
    asm("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=f"(row.level_below), "=f"(row.level), "=f"(row.level_above), "=r"(row.marks)
        : "r"(address));
    return row;
}

LANE lane_u32 lane_place_bytes(lane_u32 above, lane_u32 below, lane_u32 marks)
{
    return __byte_perm(above, below | 0xff00u, marks);
}

#endif
