/* SPDX-License-Identifier: MIT */
/* The kernels for each pair of formats, by number. */
#ifndef SOFTQAM_KERNEL_LIST_H
#define SOFTQAM_KERNEL_LIST_H

#include "kernels.h"

/* Numbers of the kernels for a pair of formats. */
enum {
    N_AXIS_KINDS = MAX_AXIS_BITS + 1, /* bits an axis, 0 for BPSK */
    N_NEIGHBOURS = 3,                 /* 1, 2 or 4 */
    KERNEL_PLAIN = 0,                 /* plain calls and large codewords: softqam_plain_number() */
    KERNEL_SEGMENTS = KERNEL_PLAIN + N_PLAIN_KINDS * N_AXIS_KINDS,        /* without soft buffers and statistics */
    KERNEL_SOFT_BUFFERS,                                                  /* or statistics: softqam_soft_number() */
    KERNEL_ELEMENTS = KERNEL_SOFT_BUFFERS + (1 + N_AXIS_KINDS) * 4,       /* softqam_element_number() */
    KERNEL_ARGUMENTS = KERNEL_ELEMENTS + N_AXIS_KINDS * N_NEIGHBOURS * 4, /* any segments that are arguments */
    KERNEL_MEMORY,                                                        /* any segments in device memory */
    N_KERNELS
};

static inline int softqam_plain_number(softqam_plain_kind kind, int axis_bits)
{
    return KERNEL_PLAIN + (int)kind * N_AXIS_KINDS + axis_bits;
}

/* With axis_bits -1 the kernel takes any modulation. */
static inline int softqam_soft_number(int axis_bits, bool is_joint, bool counts)
{
    return KERNEL_SOFT_BUFFERS + (1 + axis_bits) * 4 + is_joint * 2 + counts;
}

static inline int softqam_element_number(int axis_bits, unsigned neighbours, bool combines, bool counts)
{
    return KERNEL_ELEMENTS + (axis_bits * N_NEIGHBOURS + (int)neighbours / 2) * 4 + combines * 2 + counts;
}

/* A kernel on the current device. */
typedef struct device_kernel {
    const softqam_kernel *kernel;
    unsigned resident_blocks; /* thread blocks that the device holds at once */
    bool overlaps;            /* with the kernel before it */
} device_kernel;

/* Returns a kernel for a demodulator's formats. Its address is NULL if there is none. */
const softqam_kernel *softqam_kernel_of(const softqam_params *params, int number);

/* Gets a kernel ready on the current device. */
softqam_status softqam_kernel_load(device_kernel *loaded, const softqam_params *params, int number);

/* Makes the kernels for a demodulator's formats ready on the current device. */
softqam_status softqam_kernels_prepare(const softqam_params *params);

#endif
