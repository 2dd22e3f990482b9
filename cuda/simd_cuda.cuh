/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for a GPU thread: one symbol at a time. Rounding is spelled out, so
 * that no compiler flag can change it. src/simd_operations.h says what each operation means. */
#ifndef SOFTQAM_SIMD_CUDA_CUH
#define SOFTQAM_SIMD_CUDA_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cuda_fp16.h>

extern "C" {
#include "tables.h"
}

#define VEC        static __device__ __forceinline__
#define VEC_UNROLL _Pragma("unroll")

typedef float vec_f32;
typedef uint32_t vec_u32;
typedef uint32_t vec_mask; /* all ones or zero */

/* The table of soft bits in shared memory. Shared memory serves a 16-byte access eight threads at a time, and eight
 * 16-byte words fill the 32 banks. So each of eight threads has a copy in banks of its own, and no bank conflicts
 * occur. A row is eight copies of its levels and byte selector, then eight of its gains. */
enum {
    TABLE_COPIES = 8,
    COPY_NBYTES = 16,
    GAINS_OFFSET = TABLE_COPIES * COPY_NBYTES,
    U8_ROW_NBYTES = 2 * GAINS_OFFSET
};

typedef struct vec_u8_row {
    float level;
    float level_low;
    float level_high;
    uint32_t byte_selector; /* selector of prmt: see byte_selector_of() */
    float gain_low;
    float gain_high;
} vec_u8_row;

/* The bits of a shared-memory address, which is small, are a subnormal float. Sums of these are exact, so one fused
 * operation finds the address of a level's row. */
typedef struct vec_u8_table {
    float middle_address; /* middle between this thread's copies of the two middle rows */
    float address_scale;  /* bytes of table per unit of the level */
    float halvings[U8_AXIS_BITS];
} vec_u8_table;

/* The tables of LLRs. Tables of one row or two are operands of instructions. Tables of four and of eight rows lie in
 * shared memory as in llr_rows; eight rows of 16 bytes fill the banks, each row with banks of its own. Sixteen rows
 * would cause conflicts, so each of the eight threads that a 16-byte access serves at a time has a copy in banks of its
 * own: slopes, then intercepts. The fifth bit's pairs of slope and intercept follow; sixteen pairs fill the banks. */
enum {
    LLR_ROW_NBYTES = 16,
    LLR_COPIED_ROW_NBYTES = TABLE_COPIES * COPY_NBYTES,
    LLR_COPIED_INTERCEPTS_OFFSET = MAX_LLR_ROWS * LLR_COPIED_ROW_NBYTES,
    LLR_FIFTH_OFFSET = 2 * LLR_COPIED_INTERCEPTS_OFFSET,
    LLR_FIFTH_NBYTES = 8
};

static_assert(MAX_AXIS_BITS == 5, "Give vec_llr_table and vec_llr_row_at() the rows of more bits");

typedef struct vec_llr_table {
    uint32_t rows;  /* shared-memory address of row 0, of this thread's copy; aligned to the rows of one kind */
    uint32_t fifth; /* the same for the fifth bit's */
    float row_scale;
    float last_row;
    float slopes[2]; /* the first bit's, by row; the second bit has only one row, below */
    float intercepts[2];
    float second_slope;
    float second_intercept;
} vec_llr_table;

typedef struct vec_llr_row {
    float slopes[MAX_AXIS_BITS];
    float intercepts[MAX_AXIS_BITS];
} vec_llr_row;

VEC vec_f32 vec_splat(float a) { return a; }
VEC vec_f32 vec_add(vec_f32 a, vec_f32 b) { return __fadd_rn(a, b); }
VEC vec_f32 vec_sub(vec_f32 a, vec_f32 b) { return __fsub_rn(a, b); }
VEC vec_f32 vec_mul(vec_f32 a, vec_f32 b) { return __fmul_rn(a, b); }
VEC vec_f32 vec_fma(vec_f32 a, vec_f32 b, vec_f32 c) { return __fmaf_rn(a, b, c); }

/* Returns 1 / a within a few ulp. */
VEC vec_f32 vec_reciprocal(vec_f32 a)
{
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(a));
    return reciprocal;
}

/* Divides as __fdiv_rn() does, if the quotient and all intermediate values are far from overflow and underflow, as with
 * scales and noise values from 2^-100 to 2^40. */
VEC vec_f32 vec_div(vec_f32 a, vec_f32 b)
{
    const float guess = vec_reciprocal(b);
    const float reciprocal = __fmaf_rn(guess, __fmaf_rn(-b, guess, 1.0f), guess);
    const float quotient = __fmul_rn(a, reciprocal);
    return __fmaf_rn(reciprocal, __fmaf_rn(-b, quotient, a), quotient);
}

/* Divides any two floats. It is slower, because it calls a routine if an intermediate value may overflow or
 * underflow. */
VEC vec_f32 vec_div_any(vec_f32 a, vec_f32 b) { return __fdiv_rn(a, b); }

VEC vec_f32 vec_min(vec_f32 a, vec_f32 b) { return fminf(a, b); }
VEC vec_f32 vec_max(vec_f32 a, vec_f32 b) { return fmaxf(a, b); }
VEC vec_u32 vec_bits(vec_f32 a) { return __float_as_uint(a); }
VEC vec_f32 vec_from_bits(vec_u32 bits) { return __uint_as_float(bits); }
VEC vec_u32 vec_or_u32(vec_u32 a, vec_u32 b) { return a | b; }
VEC vec_u32 vec_shift_left(vec_u32 a, int n) { return a << n; }
VEC vec_u32 vec_shift_right(vec_u32 a, int n) { return a >> n; }
VEC vec_f32 vec_abs(vec_f32 a) { return fabsf(a); }
VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs) { return __uint_as_float(__float_as_uint(a) ^ (signs & 0x80000000u)); }
VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit) { return fminf(fmaxf(a, -limit), limit); }
VEC vec_mask vec_is_finite(vec_f32 a) { return fabsf(a) < __int_as_float(0x7f800000) ? 0xffffffffu : 0; }
VEC vec_mask vec_is_less(vec_f32 a, vec_f32 b) { return a < b ? 0xffffffffu : 0; }
VEC vec_mask vec_is_positive(vec_f32 a) { return __float_as_uint(a) - 1 < 0x7f800000u - 1 ? 0xffffffffu : 0; }
VEC vec_mask vec_both(vec_mask a, vec_mask b) { return a & b; }
VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a) { return mask ? a : 0.0f; }
VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_set, vec_f32 where_not) { return mask ? where_set : where_not; }
VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least) { return magnitude < least ? 0.0f : magnitude; }

/* Soft bits. */

VEC vec_u8_row vec_u8_lookup(const vec_u8_table *table, vec_f32 level)
{
    /* __fmaf_rn() would not do: a compiler flag could flush its subnormal results. */
    uint32_t address;
    asm("{.reg .f32 sum;\n\t"
        "fma.rn.f32 sum, %1, %2, %3;\n\t"
        "mov.b32 %0, sum;}"
        : "=r"(address)
        : "f"(level), "f"(table->address_scale), "f"(table->middle_address));
    vec_u8_row row;
    asm("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=f"(row.level), "=f"(row.level_low), "=f"(row.level_high), "=r"(row.byte_selector)
        : "r"(address));
    asm("ld.shared.v2.f32 {%0, %1}, [%2 + %3];"
        : "=f"(row.gain_low), "=f"(row.gain_high)
        : "r"(address), "n"(static_cast<int>(GAINS_OFFSET)));
    return row;
}

VEC vec_f32 vec_gain_low(const vec_u8_table *, vec_u8_row row) { return row.gain_low; }
VEC vec_f32 vec_gain_high(const vec_u8_table *, vec_u8_row row) { return row.gain_high; }

/* Converts a row's byte_select to the selector of a prmt, which has a digit for each byte: 0 takes the low bits' byte,
 * 1 the high bits', 4 gives 0 and 5 gives 255. */
VEC vec_u32 byte_selector_of(vec_u32 byte_select)
{
    vec_u32 selector = 0;
    VEC_UNROLL
    for (int k = 0; k < U8_AXIS_BITS; k++) {
        const vec_u32 choice = byte_select >> (8 * k) & 0xff;
        selector |= ((choice >> 5 & 4) | (choice >> 2 & 1)) << (4 * k);
    }
    static_assert(FROM_LOW == 0 && FROM_HIGH == 4 && SATURATED_0 == 0x80 && SATURATED_255 == 0xff,
                  "byte_selector_of() takes bit 7 as a saturated byte, bit 2 as the second of two");
    return selector;
}

/* One instruction truncates and saturates the two bytes, another puts the four in place. Not __byte_perm(), which would
 * first clear the upper bit of each digit of the selector; here they are clear. */
VEC vec_u32 vec_u8_bytes(vec_f32 low, vec_f32 high, vec_u8_row row, vec_mask valid)
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

/* Loads four floats from shared memory. */
VEC void load_four(float &a, float &b, float &c, float &d, uint32_t address)
{
    asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(address));
}

VEC void load_two(float &a, float &b, uint32_t address)
{
    asm("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(address));
}

/* Returns a row's index, rounded down, times its size. Around 2^23 / NBYTES floats are 1 / NBYTES apart, so the sum's
 * last bits are an offset in bytes; a mask clears those within the row. A conversion to an integer would use a slower
 * unit. */
template <int ROWS, int NBYTES> static __device__ __forceinline__ uint32_t row_offset(float index)
{
    const uint32_t bytes = __float_as_uint(__fadd_rz(index, static_cast<float>((1 << 23) / NBYTES)));
    return bytes & ((ROWS - 1) * NBYTES);
}

VEC vec_llr_row vec_llr_row_at(int m, const vec_llr_table *table, vec_f32 index)
{
    vec_llr_row row;
    if (m <= 2) {
        const bool is_first = m < 2 || index < 1.0f;
        row.slopes[0] = is_first ? table->slopes[0] : table->slopes[1];
        row.intercepts[0] = is_first ? table->intercepts[0] : table->intercepts[1];
        row.slopes[1] = table->second_slope;
        row.intercepts[1] = table->second_intercept;
    } else if (m == 3) {
        const uint32_t address = table->rows | row_offset<4, LLR_ROW_NBYTES>(index);
        load_four(row.slopes[0], row.slopes[1], row.intercepts[0], row.intercepts[1], address);
        load_two(row.slopes[2], row.intercepts[2], address + 4 * LLR_ROW_NBYTES);
    } else if (m == 4) {
        const uint32_t address = table->rows | row_offset<8, LLR_ROW_NBYTES>(index);
        load_four(row.slopes[0], row.slopes[1], row.slopes[2], row.slopes[3], address);
        load_four(row.intercepts[0], row.intercepts[1], row.intercepts[2], row.intercepts[3],
                  address + 8 * LLR_ROW_NBYTES);
    } else {
        const uint32_t offset = row_offset<MAX_LLR_ROWS, LLR_COPIED_ROW_NBYTES>(index);
        load_four(row.slopes[0], row.slopes[1], row.slopes[2], row.slopes[3], table->rows + offset);
        load_four(row.intercepts[0], row.intercepts[1], row.intercepts[2], row.intercepts[3],
                  table->rows + offset + LLR_COPIED_INTERCEPTS_OFFSET);
        load_two(row.slopes[4], row.intercepts[4], table->fifth + offset / (LLR_COPIED_ROW_NBYTES / LLR_FIFTH_NBYTES));
    }
    return row;
}

VEC vec_f32 vec_slope(int, const vec_llr_table *, const vec_llr_row &row, int k) { return row.slopes[k]; }
VEC vec_f32 vec_intercept(int, const vec_llr_table *, const vec_llr_row &row, int k) { return row.intercepts[k]; }

/* Returns the slope of a table of one row and one bit. */
VEC vec_f32 vec_only_slope(const vec_llr_table *table) { return table->slopes[0]; }

/* Returns the lowest bytes of four words, the first word's lowest. */
VEC vec_u32 vec_lowest_bytes(vec_u32 a, vec_u32 b, vec_u32 c, vec_u32 d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* Returns an LLR in whole steps, limited, plus the limit: from 0 to twice the limit. `weight` is 2^-24 times the
 * metric's weight. Between 1/2 and 1 floats are 2^-24 apart, so a sum with 3/4 is rounded to whole steps, as llr_sum()
 * rounds it around 1.5 * 2^23, and its bits less those of 3/4 are the LLR. The same operation saturates the sum to [0,
 * 1], infinities too. A sum outside [1/2, 1] is beyond 2^22 steps and so beyond any limit, and the bits of floats from
 * 0 to 1 are in order. */
#define LLR_STEP     0x1p-24f
#define LLR_SUM_BITS 0x3f400000

VEC vec_u32 vec_limited_steps(vec_f32 metric, vec_f32 weight, int32_t limit, int32_t two_limits)
{
    float sum;
    asm("fma.rn.sat.f32 %0, %1, %2, 0f3f400000;" : "=f"(sum) : "f"(metric), "f"(weight));
    return static_cast<vec_u32>(__viaddmin_s32_relu(__float_as_int(sum), limit - LLR_SUM_BITS, two_limits));
}

/* Returns a word with two numbers up to 255 as its lower bytes, and the lower half of `upper` as its upper half. */
VEC vec_u32 vec_packed_bytes(vec_u32 first, vec_u32 second, vec_u32 upper)
{
    vec_u32 bytes;
    asm("cvt.pack.sat.u8.s32.b32 %0, %2, %1, %3;" : "=r"(bytes) : "r"(first), "r"(second), "r"(upper));
    return bytes;
}

/* Spreads n <= 4 bits, from bit k on, to the bytes of a word: all ones for a set bit, else zero. A product puts each
 * bit in the highest place of its byte, and prmt repeats it. */
VEC vec_u32 vec_byte_masks(int n, vec_u32 bits, int k)
{
    const vec_u32 taken = (1u << n) - 1;
    const vec_u32 highest_bits = 0x10204080;
    const vec_u32 spread = k < 8 ? (bits & taken << k) * (highest_bits >> k) : (bits >> k & taken) * highest_bits;
    vec_u32 masks;
    asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(masks) : "r"(spread));
    return masks;
}

/* Returns a word whose halves have bits k and k + 1, of at most 15 bits, as signs. */
VEC vec_u32 vec_half_signs(vec_u32 bits, int k) { return bits * ((1u << 15 >> k) + (1u << 30 >> k)) & 0x80008000; }

/* Returns a word with a half of all ones for each of bits k and k + 1, of at most 15 bits, that is set. */
VEC vec_u32 vec_half_masks(vec_u32 bits, int k)
{
    vec_u32 masks;
    asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(masks) : "r"(vec_half_signs(bits, k)));
    return masks;
}

/* Returns two LLRs as binary16, limited to its largest finite value, the first in the lower half. Rounding is
 * monotonic, so the order of rounding and limiting does not matter. */
VEC vec_u32 vec_halves(vec_f32 first, vec_f32 second)
{
    vec_u32 bits;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
#else
    const __half2 halves = __floats2half2_rn(vec_limit(first, LARGEST_HALF), vec_limit(second, LARGEST_HALF));
    memcpy(&bits, &halves, sizeof bits);
#endif
    return bits;
}

#endif
