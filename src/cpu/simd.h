/* SPDX-License-Identifier: MIT */
/* The operations of the instruction set that an object is compiled for: CMakeLists.txt defines SIMD, its name, and
 * SIMD_HEADER. */
#ifndef SOFTQAM_CPU_SIMD_H
#define SOFTQAM_CPU_SIMD_H

#include SIMD_HEADER

#include "tables.h"

/* Operations of simd_operations.h that are made of other operations, the same for every instruction set. */

_Static_assert(U8_LEVELS == 16, "vec_column_value()");

/* Registers are few, so the rest of a row is looked up when it is needed. */
typedef struct vec_u8_row {
    vec_f32 level;
    vec_f32 level_low;
    vec_f32 level_high;
    vec_u32 number;
} vec_u8_row;

typedef struct vec_u8_table {
    const softqam_u8_table *source;
    vec_f32 halvings[U8_AXIS_BITS];
    vec_f32 level_scale;
} vec_u8_table;

VEC vec_mask vec_is_finite(vec_f32 a) { return vec_is_less(vec_abs(a), vec_splat(INFINITY)); }

VEC vec_u8_table vec_load_u8_table(const softqam_u8_table *from)
{
    vec_u8_table table = {.source = from, .level_scale = vec_splat(from->level_scale)};
    VEC_UNROLL
    for (int k = 0; k < U8_AXIS_BITS; k++)
        table.halvings[k] = vec_splat(from->halvings[k]);
    return table;
}

VEC vec_u8_row vec_u8_lookup(const vec_u8_table *table, vec_f32 level)
{
    const vec_f32 middle = vec_splat(U8_LEVELS / 2);
    const vec_u32 number = vec_to_index(vec_add(vec_mul(level, table->level_scale), middle));
    return (vec_u8_row){vec_column_value(table->source->level, number),
                        vec_column_value(table->source->level_low, number),
                        vec_column_value(table->source->level_high, number), number};
}

VEC vec_f32 vec_gain_low(const vec_u8_table *table, vec_u8_row row)
{
    return vec_column_value(table->source->gain_low, row.number);
}

VEC vec_f32 vec_gain_high(const vec_u8_table *table, vec_u8_row row)
{
    return vec_column_value(table->source->gain_high, row.number);
}

VEC vec_u32 vec_byte_select(const vec_u8_table *table, vec_u8_row row)
{
    return vec_bits(vec_column_value(table->source->byte_select, row.number));
}

/* Shuffles like vec_shuffle_bytes(): `from` with its highest bit set gives 0, but 0xff gives 0xff. */
VEC vec_bytes vec_place_bytes(vec_bytes a, vec_bytes from)
{
    return vec_or(vec_shuffle_bytes(a, from), (vec_bytes)((vec_lanes_u8)from == 0xff));
}

#ifndef VEC_HAS_MASKS
VEC vec_bytes vec_load_first(const void *from, size_t n, vec_bytes rest)
{
    memcpy(&rest, from, n < sizeof rest ? n : sizeof rest);
    return rest;
}

VEC void vec_store_first(void *to, vec_bytes a, size_t n) { memcpy(to, &a, n < sizeof a ? n : sizeof a); }
#endif

#ifndef VEC_HAS_BYTE_MASKS
/* Copies n bytes, half to twice as many, by two copies that may overlap. */
VEC void copy_ends(size_t half, unsigned char *to, const unsigned char *from, size_t n)
{
    memcpy(to, from, half);
    memcpy(to + n - half, from + n - half, half);
}

/* Without masks, and without a call of memcpy(). */
VEC void vec_copy_first(size_t nbytes, unsigned char *to, const unsigned char *from, size_t n)
{
    if (nbytes > 16 && n >= 16)
        copy_ends(16, to, from, n);
    else if (nbytes > 8 && n >= 8)
        copy_ends(8, to, from, n);
    else if (n >= 4)
        copy_ends(4, to, from, n);
    else if (n >= 2)
        copy_ends(2, to, from, n);
    else
        *to = *from;
}
#endif

#ifndef VEC_HAS_LANE_MASKS
VEC vec_f32 vec_load_few(const float *from, size_t n, size_t first, float rest)
{
    const size_t n_left = first < n ? n - first : 0;
    return (vec_f32)vec_load_first(from + first, n_left * sizeof *from, (vec_bytes)vec_splat(rest));
}
#endif

#define SIMD_FAST
#define SIMD_VECTORS
#include "simd_check.h"

/* Each name that an object exports has the instruction set's name at its end. */
#define JOINED_NAME(name, simd)   name##_##simd
#define EXPANDED_NAME(name, simd) JOINED_NAME(name, simd)
#define SIMD_NAME(name)           EXPANDED_NAME(name, SIMD)

/* A function that all loops share: neither inlined nor, by gcc, copied for the constants of each. */
#ifdef __clang__
#define NOT_INLINED static __attribute__((noinline))
#else
#define NOT_INLINED static __attribute__((noinline, noclone))
#endif

/* Prefetches the input of a later iteration, from the L2 cache. Addresses after the last symbol do no harm. */
VEC void prefetch_inputs(const void *symbols, size_t nbytes)
{
    enum { TO_FIRST = 3, NEAR_NBYTES = 2048, LINE_NBYTES = 64 };
    for (size_t k = 0; k < nbytes; k += LINE_NBYTES)
        __builtin_prefetch((const void *)((uintptr_t)symbols + NEAR_NBYTES + k), 0, TO_FIRST);
}

VEC uint32_t float_bits(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

VEC float float_of_bits(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

#endif
