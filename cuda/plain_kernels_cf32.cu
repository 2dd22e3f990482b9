/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cf32. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cf32(softqam_kernel_key key)
{
    return plain_kernel_of<float>(SOFTQAM_INPUT_CF32, key);
}
