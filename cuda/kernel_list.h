/* SPDX-License-Identifier: MIT */
/* The kernels for each pair of formats, by number. */
#ifndef SOFTQAM_KERNEL_LIST_H
#define SOFTQAM_KERNEL_LIST_H

#include "kernels.h"

/* Numbers of the kernels for a pair of formats: for plain calls, by kind and by bits an axis; for segments; for
 * segments of one modulation with soft buffers or statistics; for any segments in device memory, and in a
 * argument_segments. */
enum {
    N_AXIS_KINDS = MAX_AXIS_BITS + 1,
    KERNEL_SEGMENTS = N_PLAIN_KINDS * N_AXIS_KINDS,
    KERNEL_SOFT_BUFFERS, /* by bits an axis, and whether they count and have pairs of layers */
    KERNEL_MEMORY = KERNEL_SOFT_BUFFERS + N_AXIS_KINDS * 4,
    KERNEL_ARGUMENTS,
    KERNEL_ELEMENTS, /* by bits an axis, by neighbours, and whether they count and add */
    N_KERNELS = KERNEL_ELEMENTS + N_AXIS_KINDS * 12
};

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
