/* SPDX-License-Identifier: MIT */
/* Demodulates fewer symbols than an iteration takes: pads them with copies of the first one, and runs the loop into
 * scratch memory. CMakeLists.txt compiles this for each instruction set (simd.h). */
#include "loops.h"
#include "simd.h"

/* The most symbols of an iteration; the bytes of a bit plane, of which a loop stores a whole register, even of s8. */
enum { MAX_FEW_SYMBOLS = 2 * LANES, PLANE_NBYTES = 4 * LANES };

/* Copies n floats from any address, and copies the first one up to n_all floats. */
VEC void copy_floats(float *to, const float *from, size_t n, size_t n_all)
{
    float first;
    memcpy(&first, from, sizeof first);
    for (size_t k = 0; k < n_all; k += LANES)
        vec_store_f32(to + k, vec_splat(first));
    memcpy(to, from, n * sizeof *from);
}

softqam_padded_loop SIMD_NAME(softqam_padded_loop);

void SIMD_NAME(softqam_padded_loop)(const softqam_loop_call *call, softqam_loop *loop, size_t n_iteration,
                                    size_t n_bits, size_t value_nbytes)
{
    _Alignas(64) float components[2 * MAX_FEW_SYMBOLS], noise[MAX_FEW_SYMBOLS], gains[MAX_FEW_SYMBOLS];
    _Alignas(64) unsigned char llrs[MAX_SYMBOL_BITS * PLANE_NBYTES];
    ptrdiff_t planes[MAX_SYMBOL_BITS];
    const size_t n = call->n_symbols;
    softqam_loop_call whole = *call;
    whole.n_symbols = n_iteration;
    whole.components = components;
    whole.out = llrs;
    copy_floats(components, call->components, 2 * n, 2 * n_iteration);
    if (call->noise_kind != SOFTQAM_ONE_WEIGHT) {
        copy_floats(noise, call->noise, n, n_iteration);
        whole.noise = noise;
    }
    if (softqam_has_gains(call->noise_kind)) {
        copy_floats(gains, call->gains, n, n_iteration);
        whole.gains = gains;
    }
    if (!call->planes) {
        loop(&whole);
        memcpy(call->out, llrs, n * n_bits * value_nbytes);
        return;
    }
    for (size_t k = 0; k < n_bits; k++)
        planes[k] = (ptrdiff_t)(k * PLANE_NBYTES);
    whole.planes = planes;
    loop(&whole);
    for (size_t k = 0; k < n_bits; k++)
        memcpy(call->out + call->planes[k], llrs + planes[k], n * value_nbytes);
}
