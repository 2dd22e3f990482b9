/* SPDX-License-Identifier: MIT */
/* The Gold sequence for vectors: CMakeLists.txt compiles this for each instruction set (simd.h). */
#include "gold.h"
#include "simd.h"

#ifdef VEC_HAS_GOLD_QUADS
/* Jumps by bytes: the polynomials' eighth powers hold for bytes, b(i+31) = b(i+3) + b(i) and likewise: 32 bytes give
 * the 16 after them. */
static void gold_jump(softqam_gold_windows *windows, uint32_t c_init, uint64_t position, size_t n_bits)
{
    enum { QUAD_WORDS = 4 };
    vec_quad first1[2], first2[2];
    gold_quads_at(c_init, position, n_bits, first1, first2);
    vec_quad_store(windows->x1, first1[0]);
    vec_quad_store(windows->x2, first2[0]);
    if (n_bits <= 32 * QUAD_WORDS)
        return;
    vec_quad x1 = first1[0], after_x1 = first1[1], x2 = first2[0], after_x2 = first2[1];
    for (size_t k = QUAD_WORDS; 32 * k < n_bits; k += QUAD_WORDS) {
        const vec_quad next1 = vec_quad_ahead(x1, after_x1, 1) ^ vec_quad_ahead(x1, after_x1, 4);
        const vec_quad next2 = vec_quad_ahead(x2, after_x2, 1) ^ vec_quad_ahead(x2, after_x2, 2) ^
                               vec_quad_ahead(x2, after_x2, 3) ^ vec_quad_ahead(x2, after_x2, 4);
        vec_quad_store(windows->x1 + k, after_x1);
        vec_quad_store(windows->x2 + k, after_x2);
        x1 = after_x1;
        x2 = after_x2;
        after_x1 = next1;
        after_x2 = next2;
    }
}
#else
#define gold_jump softqam_gold_jump
#endif

static void gold_take(softqam_gold_windows *windows, size_t n, void *words)
{
    enum { REGISTERS = GOLD_WINDOW / LANES };
    unsigned char *out = words;
    vec_u32 x1[REGISTERS], x2[REGISTERS];
    VEC_UNROLL
    for (int k = 0; k < REGISTERS; k++) {
        x1[k] = vec_load_u32(windows->x1 + k * LANES);
        x2[k] = vec_load_u32(windows->x2 + k * LANES);
    }
    for (; n > 0; n--, out += sizeof windows->x1) {
        VEC_UNROLL
        for (int k = 0; k < REGISTERS; k++) {
            const vec_u32 x1_1 = x1[(k + 1) % REGISTERS], x1_2 = x1[(k + 2) % REGISTERS];
            const vec_u32 x2_1 = x2[(k + 1) % REGISTERS], x2_2 = x2[(k + 2) % REGISTERS];
            vec_store(out + k * sizeof x1[k], vec_as_bytes(vec_from_bits(vec_xor_u32(x1[k], x2[k]))));
            x1[k] = vec_xor_u32(vec_words_ahead(x1[k], x1_1, x1_2, 2), vec_words_ahead(x1[k], x1_1, x1_2, 8));
            x2[k] =
                vec_xor_u32(vec_xor_u32(vec_words_ahead(x2[k], x2_1, x2_2, 2), vec_words_ahead(x2[k], x2_1, x2_2, 4)),
                            vec_xor_u32(vec_words_ahead(x2[k], x2_1, x2_2, 6), vec_words_ahead(x2[k], x2_1, x2_2, 8)));
        }
    }
    VEC_UNROLL
    for (int k = 0; k < REGISTERS; k++) {
        vec_store_u32(windows->x1 + k * LANES, x1[k]);
        vec_store_u32(windows->x2 + k * LANES, x2[k]);
    }
}

const softqam_gold_loops SIMD_NAME(softqam_gold_loops) = {gold_jump, gold_take};
