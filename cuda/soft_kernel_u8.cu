/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh to u8. */
#include "soft_kernel.cuh"

const void *softqam_soft_kernel_u8(int axis_bits, bool is_joint, bool counts)
{
    return soft_kernel_of<SOFTQAM_OUTPUT_U8>(axis_bits, is_joint, counts);
}
