/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cs8. */
#include "plain_kernel.cuh"

softqam_plain_kernel softqam_plain_kernels_cs8(softqam_output_format format, int axis_bits)
{
    return plain_kernel_of<int8_t>(format, axis_bits);
}
