/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to s16. */
#include "prepared_kernel.cuh"

softqam_kernel softqam_prepared_kernel_s16(softqam_kernel_key key)
{
    return prepared_kernel_of<SOFTQAM_OUTPUT_S16>(key);
}
