/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cs8. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cs8(softqam_output_format format, int axis_bits, softqam_plain_kind kind)
{
    return plain_kernel_of<int8_t>(format, axis_bits, kind);
}
