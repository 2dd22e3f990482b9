/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for a GPU thread: one symbol at a time. Rounding is spelled out, so
 * that no compiler flag can change it. See src/lane_scalar.h for what each operation means. */
#ifndef SOFTQAM_LANE_CUDA_CUH
#define SOFTQAM_LANE_CUDA_CUH

#include <stdint.h>
#include <string.h>

#include <cuda_fp16.h>

#include "axis_table.h"

#define LANE        static __device__ __forceinline__
#define LANE_UNROLL _Pragma("unroll")

typedef float lane_f32;
typedef uint32_t lane_u32;
typedef uint32_t lane_mask;
typedef softqam_llr_row lane_llr_row;

/* The table of soft bits in shared memory. A 16-byte access there is served eight threads at a time, and eight 16-byte
 * words fill the 32 banks: so each of eight threads has a copy of its own, in banks of its own, and no two rows ever
 * meet in a bank. A row is eight copies of softqam_axis_row, then eight of its gains. */
enum {
    TABLE_COPIES = 8,
    LANE_COPY_NBYTES = 16,
    LANE_GAINS_OFFSET = TABLE_COPIES * LANE_COPY_NBYTES,
    LANE_ROW_NBYTES = 2 * LANE_GAINS_OFFSET
};

typedef struct lane_row {
    float level;
    float level_last;
    float level_other;
    uint32_t marks;
    float gain_last; /* with its sign */
    float gain_other;
} lane_row;

/* A shared-memory address is small, so as a float's bits it is a subnormal number, and sums of such are exact: one
 * fused operation finds the address of a level's row. */
typedef struct lane_table {
    float middle_address;   /* of the middle between this thread's copies of the two middle rows */
    float address_per_unit; /* bytes of table per unit of the level */
    float steps[AXIS_BITS];
} lane_table;

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

LANE lane_row lane_lookup(const lane_table *table, lane_f32 level)
{
    /* Not __fmaf_rn(): no flag may have subnormal results flushed. */
    uint32_t address;
    asm("{.reg .f32 sum;\n\t"
        "fma.rn.f32 sum, %1, %2, %3;\n\t"
        "mov.b32 %0, sum;}"
        : "=r"(address)
        : "f"(level), "f"(table->address_per_unit), "f"(table->middle_address));
    lane_row row;
    asm("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=f"(row.level), "=f"(row.level_last), "=f"(row.level_other), "=r"(row.marks)
        : "r"(address));
    asm("ld.shared.v2.f32 {%0, %1}, [%2 + %3];"
        : "=f"(row.gain_last), "=f"(row.gain_other)
        : "r"(address), "n"(static_cast<int>(LANE_GAINS_OFFSET)));
    return row;
}

LANE lane_f32 lane_gain_last(const lane_table *, lane_row row)
{
    return row.gain_last;
}

LANE lane_f32 lane_gain_other(const lane_table *, lane_row row)
{
    return row.gain_other;
}

/* The two bytes, truncated and saturated, as one instruction, then the four put in place by the row's marks. Not
 * __byte_perm(), which takes the upper bit off each digit of the selector: here they are clear. */
LANE lane_u32 lane_soft_bytes(lane_f32 last, lane_f32 other, lane_row row, lane_mask known)
{
    lane_u32 bytes;
    asm("{.reg .s32 first, second;\n\t"
        "cvt.rzi.s32.f32 first, %1;\n\t"
        "cvt.rzi.s32.f32 second, %2;\n\t"
        "cvt.pack.sat.u8.s32.b32 %0, second, first, 0;\n\t"
        "prmt.b32 %0, %0, %3, %4;}"
        : "=&r"(bytes)
        : "f"(last), "f"(other), "r"(0xff00u), "r"(row.marks));
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

/* Four LLRs as bytes in two's complement, rounded to nearest even, the first in the lowest byte. */
LANE lane_u32 lane_llr_bytes(const lane_f32 llrs[AXIS_BITS], lane_mask known)
{
    lane_u32 bytes;
    asm("{.reg .s32 a, b, c, d;\n\t"
        ".reg .b32 upper;\n\t"
        "cvt.rni.s32.f32 a, %1;\n\t"
        "cvt.rni.s32.f32 b, %2;\n\t"
        "cvt.rni.s32.f32 c, %3;\n\t"
        "cvt.rni.s32.f32 d, %4;\n\t"
        "cvt.pack.sat.s8.s32.b32 upper, d, c, 0;\n\t"
        "cvt.pack.sat.s8.s32.b32 %0, b, a, upper;}"
        : "=r"(bytes)
        : "f"(llrs[0]), "f"(llrs[1]), "f"(llrs[2]), "f"(llrs[3]));
    return known ? bytes : 0;
}

/* Two LLRs as binary16, the first in the lower half. */
LANE lane_u32 lane_llr_halves(lane_f32 first, lane_f32 second, lane_mask known)
{
    const __half2 halves = __floats2half2_rn(first, second);
    lane_u32 bits;
    memcpy(&bits, &halves, sizeof bits);
    return known ? bits : 0;
}

#endif
