/* SPDX-License-Identifier: MIT */
/* The kernels: what tells them apart, the functions that return them, and what a device can do with them. */
#ifndef SOFTQAM_KERNEL_LIST_H
#define SOFTQAM_KERNEL_LIST_H

#include "kernels.h"

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

/* Kinds of kernels. A file's kinds follow each other. */
typedef enum softqam_kernel_kind {
    /* plain_kernel.cuh: */
    LARGE_CALL,    /* a plain call */
    SMALL_CALL,    /* one whose blocks the device holds all at once, a group a thread; exists if LARGE_CALL is slower */
    CODEWORD_CALL, /* a large one with layers, descrambled or in bit planes */
    COUNTED_CALL,  /* LARGE_CALL and CODEWORD_CALL with statistics */
    COUNTED_CODEWORD,
    /* segment_kernels.cu: segments without soft buffers, pairs or statistics. */
    SEGMENT_KERNEL,
    /* soft_kernel.cuh: segments, some with soft buffers or statistics, of one modulation or any, without repetition.
     * Add 2 if all segments have layers that are demapped jointly, or else none may have any; add 1 with statistics. */
    SOFT_KERNEL,
    /* element_kernel.cuh: segments of one modulation whose symbols go straight to soft buffers. Add 4 or 8 if a thread
     * takes 2 or 4 symbols; add 2 if LLRs are added to what is there; add 1 with statistics. */
    ELEMENT_KERNEL = SOFT_KERNEL + 4,
    /* prepared_kernel.cuh: any segments. */
    ARGUMENT_KERNEL = ELEMENT_KERNEL + 12, /* in argument_segments */
    MEMORY_KERNEL,                         /* in device memory */
    N_KERNEL_KINDS
} softqam_kernel_kind;

/* Distinguishes a kernel from all others. Only plain_kernel.cuh has kernels for each input format. */
typedef struct softqam_kernel_key {
    softqam_input_format input_format;
    softqam_output_format output_format;
    softqam_kernel_kind kind;
    int axis_bits; /* softqam_axis_bits()'s, or ANY_AXIS_BITS */
} softqam_kernel_key;

typedef struct softqam_kernel {
    const void *address;      /* NULL: there is no such kernel */
    unsigned threads;         /* threads of a block */
    unsigned group_symbols;   /* plain_kernel.cuh: symbols that a thread takes side by side */
    unsigned max_rounds;      /* likewise: rounds that a block takes, each with a group for every thread */
    softqam_kernel_kind kind; /* softqam_kernel_of() sets it */
} softqam_kernel;

/* Returns a kernel that a .cu file has; its address is NULL if another file has it, or none. */
typedef softqam_kernel softqam_kernel_file(softqam_kernel_key key);
softqam_kernel_file softqam_plain_kernels_cf32, softqam_plain_kernels_cs16, softqam_plain_kernels_cs8,
    softqam_plain_kernels_cf16, softqam_segment_kernels, softqam_soft_kernel_u8, softqam_soft_kernel_s8,
    softqam_soft_kernel_s16, softqam_soft_kernel_f16, softqam_soft_kernel_f32, softqam_element_kernel_s8,
    softqam_element_kernel_f16, softqam_prepared_kernel_u8, softqam_prepared_kernel_s8, softqam_prepared_kernel_s16,
    softqam_prepared_kernel_f16, softqam_prepared_kernel_f32;

enum { SHARED_SHARES = 10000 };

/* A kernel on the current device. */
typedef struct device_kernel {
    const softqam_kernel *kernel;
    unsigned resident_blocks; /* thread blocks that the device holds at once */
    bool overlaps;            /* with the kernel before it */
    unsigned shared_share;    /* a block's share of a multiprocessor's shared memory, in 1 / SHARED_SHARES; 0: a launch
                               * cannot say how much it needs */
} device_kernel;

/* Returns a kernel for a demodulator's formats; NULL if there is none. */
const softqam_kernel *softqam_kernel_of(const softqam_params *params, softqam_kernel_kind kind, int axis_bits);

/* Gets a kernel of softqam_kernel_of() ready on the current device. */
softqam_status softqam_kernel_load(device_kernel *loaded, const softqam_kernel *kernel);

/* Makes the kernels for a demodulator's formats ready on the current device. */
softqam_status softqam_kernels_prepare(const softqam_params *params);

#ifdef __cplusplus
}

/* Returns the kernel that a function returns with k as a constant; none unless 0 <= k < N. */
template <int N, typename Function> static softqam_kernel with_constant(int k, const Function &function)
{
    if constexpr (N == 0)
        return {};
    else
        return k == N - 1 ? function(std::integral_constant<int, N - 1>()) : with_constant<N - 1>(k, function);
}

/* Calls a function with two constants, a key's number among the kinds from FIRST on and its bits an axis, and returns
 * the kernel that the function returns; none for another output format or kind. */
template <softqam_output_format FORMAT, int FIRST, int END, typename Function>
static softqam_kernel find_kernel(softqam_kernel_key key, const Function &function)
{
    if (key.output_format != FORMAT)
        return {};
    return with_constant<END - FIRST>(key.kind - FIRST, [&](auto number) {
        return with_constant<MAX_AXIS_BITS - ANY_AXIS_BITS + 1>(key.axis_bits - ANY_AXIS_BITS, [&](auto k) {
            return function(number, std::integral_constant<int, k() + ANY_AXIS_BITS>());
        });
    });
}
#endif

#endif
