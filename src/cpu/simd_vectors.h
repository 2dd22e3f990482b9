/* SPDX-License-Identifier: MIT */
/* The operations of simd_operations.h that gcc's vector extensions have for a register of any size and instruction set:
 * included by simd_x86.h and simd_neon.h after LANES and the types of registers. */
#ifndef SOFTQAM_SIMD_VECTORS_H
#define SOFTQAM_SIMD_VECTORS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tables.h"

_Static_assert(1 << (VECTOR_MAX_AXIS_BITS - 1) <= MAX_LLR_ROWS, "a table has as many rows as registers load");

#define VEC        static inline __attribute__((always_inline))
#define VEC_UNROLL _Pragma("GCC unroll 8")

/* Registers by their elements. */
typedef uint8_t vec_lanes_u8 __attribute__((vector_size(4 * LANES)));
typedef uint16_t vec_lanes_u16 __attribute__((vector_size(4 * LANES)));
typedef uint32_t vec_lanes_u32 __attribute__((vector_size(4 * LANES)));
typedef uint64_t vec_lanes_u64 __attribute__((vector_size(4 * LANES)));

/* The same vector in memory of any alignment and type. */
typedef vec_f32 __attribute__((aligned(1), may_alias)) vec_f32_anywhere;
typedef vec_u32 __attribute__((aligned(1), may_alias)) vec_u32_anywhere;
typedef vec_bytes __attribute__((aligned(1), may_alias)) vec_bytes_anywhere;

/* Constants of linear_bits_of(). */
typedef struct vec_u8_linear {
    vec_f32 units_per_component; /* units of fixed point */
    vec_s32 fold_points[U8_AXIS_BITS - 1];
} vec_u8_linear;

/* Returns the number of each element. */
VEC vec_lanes_u32 vec_lane_numbers(void) { return (vec_lanes_u32){LANE_NUMBERS}; }

VEC vec_lanes_u8 vec_byte_numbers(void) { return (vec_lanes_u8)(vec_lane_numbers() * 0x04040404u + 0x03020100u); }

VEC vec_u32 vec_splat_u32(uint32_t a) { return (vec_u32)((vec_lanes_u32){0} + a); }
VEC vec_s32 vec_splat_s32(int32_t a) { return (vec_s32)((vec_lanes_u32){0} + (uint32_t)a); }
VEC vec_bytes vec_splat_s16(int a) { return (vec_bytes)((vec_lanes_u16){0} + (uint16_t)a); }
VEC vec_bytes vec_splat_u8(int a) { return (vec_bytes)((vec_lanes_u8){0} + (uint8_t)a); }

/* Repeats the two words, alternating. */
VEC vec_u32 vec_splat_pair(uint32_t first, uint32_t second)
{
    return (vec_u32)((vec_lanes_u64){0} + ((uint64_t)second << 32 | first));
}

VEC vec_f32 vec_add(vec_f32 a, vec_f32 b) { return a + b; }
VEC vec_f32 vec_sub(vec_f32 a, vec_f32 b) { return a - b; }
VEC vec_f32 vec_mul(vec_f32 a, vec_f32 b) { return a * b; }
VEC vec_f32 vec_div(vec_f32 a, vec_f32 b) { return a / b; }
VEC vec_f32 vec_div_any(vec_f32 a, vec_f32 b) { return a / b; }
VEC vec_u32 vec_bits(vec_f32 a) { return (vec_u32)a; }
VEC vec_f32 vec_from_bits(vec_u32 bits) { return (vec_f32)bits; }
VEC vec_s32 vec_bits_s32(vec_f32 a) { return (vec_s32)a; }
VEC vec_bytes vec_as_bytes(vec_f32 a) { return (vec_bytes)a; }
VEC vec_u32 vec_sub_u32(vec_u32 a, vec_u32 b) { return (vec_u32)((vec_lanes_u32)a - (vec_lanes_u32)b); }
VEC vec_u32 vec_or_u32(vec_u32 a, vec_u32 b) { return a | b; }
VEC vec_u32 vec_shift_right(vec_u32 a, int n) { return (vec_u32)((vec_lanes_u32)a >> (uint32_t)n); }
VEC vec_u32 vec_xor_u32(vec_u32 a, vec_u32 b) { return a ^ b; }
VEC vec_bytes vec_or(vec_bytes a, vec_bytes b) { return a | b; }
VEC vec_bytes vec_xor(vec_bytes a, vec_bytes b) { return a ^ b; }

/* Chooses by bits. */
VEC vec_bytes vec_choose_bytes(vec_bytes mask, vec_bytes where_set, vec_bytes where_not)
{
    return (where_set & mask) | (where_not & ~mask);
}

/* The next two are on 16-bit integers, modulo 2^16. */
VEC vec_bytes vec_add_s16(vec_bytes a, vec_bytes b) { return (vec_bytes)((vec_lanes_u16)a + (vec_lanes_u16)b); }
VEC vec_bytes vec_sub_s16(vec_bytes a, vec_bytes b) { return (vec_bytes)((vec_lanes_u16)a - (vec_lanes_u16)b); }

/* Loads from any address. */
VEC vec_f32 vec_load_f32(const void *from) { return *(const vec_f32_anywhere *)from; }
VEC vec_u32 vec_load_u32(const void *from) { return vec_bits(vec_load_f32(from)); }
VEC vec_bytes vec_load_bytes(const void *from) { return vec_as_bytes(vec_load_f32(from)); }
VEC void vec_store_f32(void *to, vec_f32 a) { *(vec_f32_anywhere *)to = a; }
VEC void vec_store_u32(void *to, vec_u32 a) { *(vec_u32_anywhere *)to = a; }
VEC void vec_store(void *to, vec_bytes a) { *(vec_bytes_anywhere *)to = a; }

/* Returns whether memory ends on another page than it begins. Loads and stores with masks take 0.3 us if they touch an
 * unmapped page, even one that they spare. */
VEC bool crosses_page(const void *memory, size_t nbytes)
{
    enum { PAGE_NBYTES = 4096 };
    return (uintptr_t)memory % PAGE_NBYTES + nbytes > PAGE_NBYTES;
}

#endif
