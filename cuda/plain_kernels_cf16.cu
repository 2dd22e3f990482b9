/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cf16. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cf16(softqam_output_format format, int axis_bits, softqam_plain_kind kind)
{
    return plain_kernel_of<__half>(format, axis_bits, kind);
}
