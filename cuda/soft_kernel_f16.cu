/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh to f16. */
#include "soft_kernel.cuh"

const void *softqam_soft_kernel_f16(int axis_bits, bool is_joint, bool counts)
{
    return soft_kernel_of<SOFTQAM_OUTPUT_F16>(axis_bits, is_joint, counts);
}
