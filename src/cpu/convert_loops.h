/* SPDX-License-Identifier: MIT */
/* The loops that turn components of the input formats into floats, for vectors: included by avx512.c, avx2.c and neon.c
 * after their SIMD header. */
#ifndef SOFTQAM_CPU_CONVERT_LOOPS_H
#define SOFTQAM_CPU_CONVERT_LOOPS_H

#include "loops.h"

VEC vec_f32 load_components(softqam_input_format format, const unsigned char *from)
{
    switch (format) {
    case SOFTQAM_INPUT_CF32:
        break;
    case SOFTQAM_INPUT_CS16:
        return vec_load_s16(from);
    case SOFTQAM_INPUT_CS8:
        return vec_load_s8(from);
    case SOFTQAM_INPUT_CF16:
        return vec_load_f16(from);
    }
    return vec_load_f32(from);
}

/* Fewer than a register takes are copied to its front; else the last register goes back to be a whole one. */
VEC void convert(softqam_input_format format, size_t nbytes, const unsigned char *from, float scale, size_t n,
                 float *to)
{
    const vec_f32 factor = vec_splat(scale);
    if (n < LANES) {
        unsigned char few[LANES * 4] = {0};
        float converted[LANES];
        memcpy(few, from, n * nbytes);
        vec_store_f32(converted, vec_mul(load_components(format, few), factor));
        memcpy(to, converted, n * sizeof *to);
        return;
    }
    enum { LINE_NBYTES = 64 };
    const size_t per_line = LINE_NBYTES / nbytes;
    size_t k = 0;
    for (; k + per_line <= n; k += per_line) {
        VEC_UNROLL
        for (size_t j = 0; j < per_line; j += LANES)
            vec_store_f32(to + k + j, vec_mul(load_components(format, from + (k + j) * nbytes), factor));
    }
    for (; k + LANES <= n; k += LANES)
        vec_store_f32(to + k, vec_mul(load_components(format, from + k * nbytes), factor));
    vec_store_f32(to + n - LANES, vec_mul(load_components(format, from + (n - LANES) * nbytes), factor));
}

#define DEFINE_CONVERT(name, format, nbytes)                                                                           \
    static void name(const void *components, float scale, size_t n_components, float *to)                              \
    {                                                                                                                  \
        convert(format, nbytes, components, scale, n_components, to);                                                  \
    }
DEFINE_CONVERT(convert_cf32, SOFTQAM_INPUT_CF32, 4)
DEFINE_CONVERT(convert_cs16, SOFTQAM_INPUT_CS16, 2)
DEFINE_CONVERT(convert_cs8, SOFTQAM_INPUT_CS8, 1)
DEFINE_CONVERT(convert_cf16, SOFTQAM_INPUT_CF16, 2)

#endif
