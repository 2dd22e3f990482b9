/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for a GPU thread: one symbol at a time. Rounding is spelled out, so
 * that no compiler flag can change it. src/simd_scalar.h says what each operation means. */
#ifndef SOFTQAM_SIMD_CUDA_CUH
#define SOFTQAM_SIMD_CUDA_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cuda_fp16.h>

#include "tables.h"

#define VEC        static __device__ __forceinline__
#define VEC_UNROLL _Pragma("unroll")

typedef float vec_f32;
typedef uint32_t vec_u32;
typedef uint32_t vec_mask; /* all ones or zero */

/* The table of soft bits in shared memory. A 16-byte access there is served eight threads at a time, and eight 16-byte
 * words fill the 32 banks: so each of eight threads has a copy of its own, in banks of its own, and no two rows ever
 * meet in a bank. A row is eight copies of its levels and byte selector, then eight of its gains. */
enum {
    TABLE_COPIES = 8,
    COPY_NBYTES = 16,
    GAINS_OFFSET = TABLE_COPIES * COPY_NBYTES,
    SOFT_ROW_NBYTES = 2 * GAINS_OFFSET
};

typedef struct vec_soft_row {
    float level;
    float level_low;
    float level_high;
    uint32_t byte_selector; /* of prmt: see byte_selector_of() */
    float gain_low;
    float gain_high;
} vec_soft_row;

/* A shared-memory address is small, so as a float's bits it is a subnormal number, and sums of such are exact: one
 * fused operation finds the address of a level's row. */
typedef struct vec_soft_table {
    float middle_address;   /* of the middle between this thread's copies of the two middle rows */
    float address_per_unit; /* bytes of table per unit of the level */
    float steps[SOFT_AXIS_BITS];
} vec_soft_table;

/* The table of LLRs in shared memory: eight rows of slopes, then eight of intercepts. Rows of 16 bytes fill the banks
 * by themselves, each in its own. */
enum { LLR_ROWS = 8, LLR_ROW_VALUES = 4, LLR_ROW_NBYTES = 16, LLR_INTERCEPTS_OFFSET = LLR_ROWS * LLR_ROW_NBYTES };

typedef struct vec_llr_table {
    uint32_t rows; /* shared-memory address of row 0, aligned to LLR_INTERCEPTS_OFFSET */
    float rows_per_unit;
    float last_row;
    float only_slope;
} vec_llr_table;

typedef struct vec_llr_row {
    float slopes[LLR_ROW_VALUES];
    float intercepts[LLR_ROW_VALUES];
} vec_llr_row;

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

VEC vec_f32 vec_max(vec_f32 a, vec_f32 b)
{
    return fmaxf(a, b);
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

VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit)
{
    return fminf(fmaxf(a, -limit), limit);
}

VEC vec_mask vec_is_finite(vec_f32 a)
{
    return fabsf(a) < __int_as_float(0x7f800000) ? 0xffffffffu : 0;
}

VEC vec_mask vec_is_positive(vec_f32 a)
{
    return __float_as_uint(a) - 1 < 0x7f800000u - 1 ? 0xffffffffu : 0;
}

VEC vec_mask vec_both(vec_mask a, vec_mask b)
{
    return a & b;
}

VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a)
{
    return mask ? a : 0.0f;
}

VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_set, vec_f32 where_not)
{
    return mask ? where_set : where_not;
}

VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least)
{
    return magnitude < least ? 0.0f : magnitude;
}

/* Soft bits. */

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
        : "=f"(row.level), "=f"(row.level_low), "=f"(row.level_high), "=r"(row.byte_selector)
        : "r"(address));
    asm("ld.shared.v2.f32 {%0, %1}, [%2 + %3];"
        : "=f"(row.gain_low), "=f"(row.gain_high)
        : "r"(address), "n"(static_cast<int>(GAINS_OFFSET)));
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

/* A row's byte_select as the selector of a prmt: a digit for each byte, with which 0 takes the low bits' byte, 1 the
 * high bits', 4 a zero and 5 a 255. */
VEC vec_u32 byte_selector_of(vec_u32 byte_select)
{
    vec_u32 selector = 0;
    VEC_UNROLL
    for (int k = 0; k < SOFT_AXIS_BITS; k++) {
        const vec_u32 from = byte_select >> (8 * k) & 0xff;
        selector |= ((from >> 5 & 4) | (from >> 2 & 1)) << (4 * k);
    }
    static_assert(FROM_LOW == 0 && FROM_HIGH == 4 && SATURATED_0 == 0x80 && SATURATED_255 == 0xff,
                  "bit 7 tells saturated bytes, bit 2 which of two they are");
    return selector;
}

/* The two bytes, truncated and saturated, as one instruction, then the four put in place. Not __byte_perm(), which
 * takes the upper bit off each digit of the selector: here they are clear. */
VEC vec_u32 vec_soft_bytes(vec_f32 low, vec_f32 high, vec_soft_row row, vec_mask valid)
{
    vec_u32 bytes;
    asm("{.reg .s32 first, second;\n\t"
        "cvt.rzi.s32.f32 first, %1;\n\t"
        "cvt.rzi.s32.f32 second, %2;\n\t"
        "cvt.pack.sat.u8.s32.b32 %0, second, first, 0;\n\t"
        "prmt.b32 %0, %0, %3, %4;}"
        : "=&r"(bytes)
        : "f"(low), "f"(high), "r"(0xff00u), "r"(row.byte_selector));
    return valid ? bytes : 0x7f7f7f7fu;
}

/* LLRs. */

/* Around 2^19 floats are 1/16 apart, so the last bits of the sum are the place in sixteenths, rounded down: those above
 * the last four are a row's number, and as a row has 16 bytes, its offset. A conversion to an integer would take a
 * slower unit. */
VEC vec_llr_row vec_llr_row_at(const vec_llr_table *table, vec_f32 place)
{
    static_assert(LLR_ROW_NBYTES == 16, "a sixteenth of a row for each of its bytes");
    const uint32_t sixteenths = __float_as_uint(__fadd_rz(place, 0x1p19f));
    const uint32_t address = table->rows | (sixteenths & (LLR_ROWS - 1) * LLR_ROW_NBYTES);
    vec_llr_row row;
    asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(row.slopes[0]), "=f"(row.slopes[1]), "=f"(row.slopes[2]), "=f"(row.slopes[3])
        : "r"(address));
    asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4 + %5];"
        : "=f"(row.intercepts[0]), "=f"(row.intercepts[1]), "=f"(row.intercepts[2]), "=f"(row.intercepts[3])
        : "r"(address), "n"(static_cast<int>(LLR_INTERCEPTS_OFFSET)));
    return row;
}

VEC vec_f32 vec_slope(int, const vec_llr_table *, const vec_llr_row &row, int k)
{
    return row.slopes[k];
}

VEC vec_f32 vec_intercept(int, const vec_llr_table *, const vec_llr_row &row, int k)
{
    return row.intercepts[k];
}

/* Of a table of one row and one bit. */
VEC vec_f32 vec_only_slope(const vec_llr_table *table)
{
    return table->only_slope;
}

/* The lowest bytes of four words, the first in the lowest. */
VEC vec_u32 vec_lowest_bytes(vec_u32 a, vec_u32 b, vec_u32 c, vec_u32 d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* Two LLRs as binary16, the first in the lower half. */
VEC vec_u32 vec_halves(vec_f32 first, vec_f32 second)
{
    const __half2 halves = __floats2half2_rn(first, second);
    vec_u32 bits;
    memcpy(&bits, &halves, sizeof bits);
    return bits;
}

#endif
