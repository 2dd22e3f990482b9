/* SPDX-License-Identifier: MIT */
/* A SIMD header made from the list of operations, as one for a new instruction set begins: types, constants, and a stub
 * for each operation. That the vector loops compile with it shows that they need no operation beyond the list. */
#ifndef SIMD_STUB_H
#define SIMD_STUB_H

#include <stdint.h>

#include "tables.h"

enum { LANES = 4, LIMITS_ARE_CHEAP = 0, LOADS_AHEAD = 0 };
#define LANE_NUMBERS 0, 1, 2, 3

typedef float vec_f32 __attribute__((vector_size(16)));
typedef uint32_t vec_u32 __attribute__((vector_size(16)));
typedef int32_t vec_s32 __attribute__((vector_size(16)));
typedef uint8_t vec_bytes __attribute__((vector_size(16)));
typedef vec_u32 vec_mask;
typedef vec_u32 vec_llr_row;

typedef struct vec_llr_table {
    vec_f32 row_scale;
    vec_f32 last_row;
} vec_llr_table;

#include "cpu/simd_vectors.h"

#define SIMD_OPERATION(type, name, parameters)                                                                         \
    VEC type name parameters { __builtin_trap(); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SIMD_OWN
#define SIMD_FAST
#define SIMD_VECTORS
#include "simd_operations.h"
#pragma GCC diagnostic pop
#undef SIMD_OWN
#undef SIMD_FAST
#undef SIMD_VECTORS

#endif
