/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh to s16. */
#include "soft_kernel.cuh"

const void *softqam_soft_kernel_s16(int axis_bits, bool is_joint, bool counts)
{
    return soft_kernel_of<SOFTQAM_OUTPUT_S16>(axis_bits, is_joint, counts);
}
