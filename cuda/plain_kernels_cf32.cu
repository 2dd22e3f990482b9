/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cf32. */
#include "plain_kernel.cuh"

softqam_plain_kernel softqam_plain_kernels_cf32(softqam_output_format format, int axis_bits)
{
    return plain_kernel_of<float>(format, axis_bits);
}
