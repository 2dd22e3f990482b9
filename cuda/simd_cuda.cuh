/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for a GPU thread: one symbol at a time. Rounding is spelled out, so
 * that no compiler flag can change it. See src/vec_scalar.h for what each operation means. */
#ifndef SOFTQAM_SIMD_CUDA_CUH
#define SOFTQAM_SIMD_CUDA_CUH

#include <stdint.h>
#include <string.h>

#include <cuda_fp16.h>

#include "axis_table.h"

#define VEC        static __device__ __forceinline__
#define VEC_UNROLL _Pragma("unroll")

typedef float vec_f32;
typedef uint32_t vec_u32;
typedef uint32_t vec_mask;
typedef softqam_llr_row vec_llr_row;

/* The table of soft bits in shared memory. A 16-byte access there is served eight threads at a time, and eight 16-byte
 * words fill the 32 banks: so each of eight threads has a copy of its own, in banks of its own, and no two rows ever
 * meet in a bank. A row is eight copies of softqam_axis_row, then eight of its gains. */
enum {
    TABLE_COPIES = 8,
    LANE_COPY_NBYTES = 16,
    LANE_GAINS_OFFSET = TABLE_COPIES * LANE_COPY_NBYTES,
    LANE_ROW_NBYTES = 2 * LANE_GAINS_OFFSET
};

typedef struct vec_soft_row {
    float level;
    float level_low;
    float level_high;
    uint32_t byte_select;
    float gain_low; /* with its sign */
    float gain_high;
} vec_soft_row;

/* A shared-memory address is small, so as a float's bits it is a subnormal number, and sums of such are exact: one
 * fused operation finds the address of a level's row. */
typedef struct vec_soft_table {
    float middle_address;   /* of the middle between this thread's copies of the two middle rows */
    float address_per_unit; /* bytes of table per unit of the level */
    float steps[AXIS_BITS];
} vec_soft_table;

/* Eight rows of slopes, then eight of intercepts: rows of 16 bytes fill the banks by themselves, each in its own. */
typedef struct vec_llr_table {
    uint32_t rows; /* shared-memory address */
    float rows_per_unit;
} vec_llr_table;

VEC vec_f32 vec_splat(float a)
{
    return a;
}

VEC vec_f32 vec_add(vec_f32 a, vec_f32 b)
{
    return __fadd_rn(a, b);
}

VEC vec_f32 vec_sub(vec_f32 a, vec_f32 b)
{
    return __fsub_rn(a, b);
}

VEC vec_f32 vec_mul(vec_f32 a, vec_f32 b)
{
    return __fmul_rn(a, b);
}

VEC vec_f32 vec_fma(vec_f32 a, vec_f32 b, vec_f32 c)
{
    return __fmaf_rn(a, b, c);
}

VEC vec_f32 vec_div(vec_f32 a, vec_f32 b)
{
    return __fdiv_rn(a, b);
}

VEC vec_f32 vec_min(vec_f32 a, vec_f32 b)
{
    return fminf(a, b);
}

VEC vec_u32 vec_bits(vec_f32 a)
{
    return __float_as_uint(a);
}

VEC vec_f32 vec_from_bits(vec_u32 bits)
{
    return __uint_as_float(bits);
}

VEC vec_f32 vec_abs(vec_f32 a)
{
    return fabsf(a);
}

VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs)
{
    return __uint_as_float(__float_as_uint(a) ^ (signs & 0x80000000u));
}

VEC vec_f32 vec_limit(vec_f32 a, float limit)
{
    return fminf(fmaxf(a, -limit), limit);
}

VEC vec_mask vec_is_finite(vec_f32 a)
{
    return fabsf(a) < __int_as_float(0x7f800000) ? 0xffffffffu : 0;
}

VEC vec_mask vec_is_positive(vec_f32 a)
{
    return a > 0.0f && a < __int_as_float(0x7f800000) ? 0xffffffffu : 0;
}

VEC vec_mask vec_both(vec_mask a, vec_mask b)
{
    return a & b;
}

VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a)
{
    return mask ? a : 0.0f;
}

VEC vec_u32 vec_to_index(vec_f32 a)
{
    return __float2uint_rz(a);
}

VEC vec_soft_row vec_soft_lookup(const vec_soft_table *table, vec_f32 level)
{
    /* Not __fmaf_rn(): no flag may have subnormal results flushed. */
    uint32_t address;
    asm("{.reg .f32 sum;\n\t"
        "fma.rn.f32 sum, %1, %2, %3;\n\t"
        "mov.b32 %0, sum;}"
        : "=r"(address)
        : "f"(level), "f"(table->address_per_unit), "f"(table->middle_address));
    vec_soft_row row;
    asm("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=f"(row.level), "=f"(row.level_low), "=f"(row.level_high), "=r"(row.byte_select)
        : "r"(address));
    asm("ld.shared.v2.f32 {%0, %1}, [%2 + %3];"
        : "=f"(row.gain_low), "=f"(row.gain_high)
        : "r"(address), "n"(static_cast<int>(LANE_GAINS_OFFSET)));
    return row;
}

VEC vec_f32 vec_gain_low(const vec_soft_table *, vec_soft_row row)
{
    return row.gain_low;
}

VEC vec_f32 vec_gain_high(const vec_soft_table *, vec_soft_row row)
{
    return row.gain_high;
}

/* The two bytes, truncated and saturated, as one instruction, then the four put in place by the row's byte_select. Not
 * __byte_perm(), which takes the upper bit off each digit of the selector: here they are clear. */
VEC vec_u32 vec_soft_bytes(vec_f32 last, vec_f32 other, vec_soft_row row, vec_mask known)
{
    vec_u32 bytes;
    asm("{.reg .s32 first, second;\n\t"
        "cvt.rzi.s32.f32 first, %1;\n\t"
        "cvt.rzi.s32.f32 second, %2;\n\t"
        "cvt.pack.sat.u8.s32.b32 %0, second, first, 0;\n\t"
        "prmt.b32 %0, %0, %3, %4;}"
        : "=&r"(bytes)
        : "f"(last), "f"(other), "r"(0xff00u), "r"(row.byte_select));
    return known ? bytes : 0x7f7f7f7fu;
}

VEC vec_llr_row vec_llr_lookup(const vec_llr_table *table, vec_u32 row)
{
    vec_llr_row found;
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
VEC vec_u32 vec_llr_bytes(const vec_f32 llrs[AXIS_BITS], vec_mask known)
{
    vec_u32 bytes;
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
VEC vec_u32 vec_llr_halves(vec_f32 first, vec_f32 second, vec_mask known)
{
    const __half2 halves = __floats2half2_rn(first, second);
    vec_u32 bits;
    memcpy(&bits, &halves, sizeof bits);
    return known ? bits : 0;
}

#endif
