/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to f32. */
#include "prepared_kernel.cuh"

softqam_kernel softqam_prepared_kernel_f32(softqam_kernel_key key)
{
    return prepared_kernel_of<SOFTQAM_OUTPUT_F32>(key);
}
