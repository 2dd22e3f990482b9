/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cf32. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cf32(softqam_output_format format, int axis_bits, softqam_plain_kind kind)
{
    return plain_kernel_of<float>(format, axis_bits, kind);
}
