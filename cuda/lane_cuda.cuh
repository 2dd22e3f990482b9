/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for a GPU thread: one symbol at a time. Rounding is spelled out, so
 * that no compiler flag can change it. See src/lane_scalar.h for what each operation means. */
#ifndef SOFTQAM_LANE_CUDA_CUH
#define SOFTQAM_LANE_CUDA_CUH

#include <cuda_fp16.h>
#include <stdint.h>

#include "axis_table.h"

#define LANE        static __device__ __forceinline__
#define LANE_UNROLL _Pragma("unroll")

typedef float lane_f32;
typedef uint32_t lane_u32;
typedef uint32_t lane_mask;
typedef softqam_axis_row lane_row;
typedef softqam_llr_row lane_llr_row;

/* A 16-byte shared-memory access is served eight threads at a time, and eight 16-byte words fill the 32 banks. With a
 * copy of the table for each of the eight, every one in banks of its own, no two rows ever meet in a bank. */
enum { TABLE_COPIES = 8 };

typedef struct lane_table {
    uint32_t rows;         /* shared-memory address of this thread's copy; a row every TABLE_COPIES rows */
    float places_per_unit; /* rows per unit, in the unit of LANE_PLACE_0 */
    float steps[AXIS_BITS];
    float gain;
} lane_table;

/* 2^17 plus a row's number / 32 is a float whose bits are 0x48000000 plus twice the number. Times 64, half the distance
 * of two rows, the constant vanishes modulo 2^32: the bits become the row's offset by one shift. */
#define LANE_PLACE_0 131072.0f
enum { LANE_PLACES_PER_ROW = 32, LANE_HALF_ROW = TABLE_COPIES * sizeof(softqam_axis_row) / 2 };
static_assert((0x48000000ull * LANE_HALF_ROW & 0xffffffff) == 0, "the constant must vanish");

/* Eight rows of slopes, then eight of intercepts: rows of 16 bytes fill the banks by themselves, each in its own. */
typedef struct lane_llr_table {
    uint32_t rows; /* shared-memory address */
    float rows_per_unit;
} lane_llr_table;

LANE lane_f32 lane_splat(float a)
{
    return a;
}

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

LANE lane_f32 lane_fma(lane_f32 a, lane_f32 b, lane_f32 c)
{
    return __fmaf_rn(a, b, c);
}

LANE lane_f32 lane_div(lane_f32 a, lane_f32 b)
{
    return __fdiv_rn(a, b);
}

LANE lane_f32 lane_min(lane_f32 a, lane_f32 b)
{
    return fminf(a, b);
}

LANE lane_u32 lane_bits(lane_f32 a)
{
    return __float_as_uint(a);
}

LANE lane_f32 lane_float(lane_u32 bits)
{
    return __uint_as_float(bits);
}

LANE lane_f32 lane_abs(lane_f32 a)
{
    return fabsf(a);
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

LANE lane_mask lane_is_positive(lane_f32 a)
{
    return a > 0.0f && a < __int_as_float(0x7f800000) ? 0xffffffffu : 0;
}

LANE lane_mask lane_both(lane_mask a, lane_mask b)
{
    return a & b;
}

LANE lane_f32 lane_keep(lane_mask mask, lane_f32 a)
{
    return mask ? a : 0.0f;
}

LANE lane_u32 lane_to_index(lane_f32 a)
{
    return __float2uint_rz(a);
}

/* The conversion saturates by itself. */
LANE lane_u32 lane_to_byte(lane_f32 a)
{
    lane_u32 byte;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(byte) : "f"(a));
    return byte;
}

LANE lane_row lane_lookup(const lane_table *table, lane_f32 level)
{
    const float middle = LANE_PLACE_0 + 0.5f * (AXIS_LEVELS - 1) / LANE_PLACES_PER_ROW;
    const uint32_t place = __float_as_uint(__fmaf_rn(level, table->places_per_unit, middle));
    const uint32_t address = place * LANE_HALF_ROW + table->rows;
    lane_row row;
    asm("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=f"(row.level), "=f"(row.level_last), "=f"(row.level_other), "=r"(row.marks)
        : "r"(address));
    return row;
}

LANE lane_f32 lane_gain_last(const lane_table *table, lane_row row)
{
    return lane_flip(table->gain, row.marks);
}

LANE lane_f32 lane_gain_other(const lane_table *table, lane_row row)
{
    return lane_flip(table->gain, row.marks << 1);
}

LANE lane_u32 lane_soft_bytes(lane_f32 last, lane_f32 other, lane_row row, lane_mask known)
{
    /* Not __byte_perm(), which takes the upper bit off each digit of the selector: here they are clear. */
    lane_u32 bytes;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(bytes)
        : "r"(lane_to_byte(last)), "r"(lane_to_byte(other) | 0xff00u), "r"(row.marks));
    return known ? bytes : 0x7f7f7f7fu;
}

LANE lane_llr_row lane_llr_lookup(const lane_llr_table *table, lane_u32 row)
{
    lane_llr_row found;
    const uint32_t address = table->rows + row * 16;
    asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(found.slopes[0]), "=f"(found.slopes[1]), "=f"(found.slopes[2]), "=f"(found.slopes[3])
        : "r"(address));
    asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4 + 128];"
        : "=f"(found.intercepts[0]), "=f"(found.intercepts[1]), "=f"(found.intercepts[2]), "=f"(found.intercepts[3])
        : "r"(address));
    return found;
}

LANE lane_u32 lane_llr_bytes(const lane_f32 llrs[AXIS_BITS])
{
    const float integers = 12582912.0f;
    const uint32_t first = __float_as_uint(__fadd_rn(llrs[0], integers));
    const uint32_t second = __float_as_uint(__fadd_rn(llrs[1], integers));
    const uint32_t third = __float_as_uint(__fadd_rn(llrs[2], integers));
    const uint32_t fourth = __float_as_uint(__fadd_rn(llrs[3], integers));
    return __byte_perm(__byte_perm(first, second, 0x0040), __byte_perm(third, fourth, 0x0040), 0x5410);
}

LANE lane_u32 lane_to_f16(lane_f32 a)
{
    return __half_as_ushort(__float2half_rn(a));
}

#endif
