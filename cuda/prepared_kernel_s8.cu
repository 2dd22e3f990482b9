/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to s8. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_s8(bool are_arguments)
{
    return prepared_kernel_of<SOFTQAM_OUTPUT_S8>(are_arguments);
}
