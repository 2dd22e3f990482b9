/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cs16. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cs16(softqam_kernel_key key)
{
    return plain_kernel_of<int16_t>(SOFTQAM_INPUT_CS16, key);
}
