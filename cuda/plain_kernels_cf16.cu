/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls of cf16. */
#include "plain_kernel.cuh"

softqam_kernel softqam_plain_kernels_cf16(softqam_kernel_key key)
{
    return plain_kernel_of<__half>(SOFTQAM_INPUT_CF16, key);
}
