/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to f32. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_f32(bool are_arguments)
{
    return prepared_kernel_of<SOFTQAM_OUTPUT_F32>(are_arguments);
}
