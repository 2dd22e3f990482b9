/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cs8. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cs8(softqam_kernel_key key)
{
    return plain_kernel_of<int8_t>(SOFTQAM_INPUT_CS8, key);
}
