/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to s16. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_s16(bool are_arguments)
{
    return prepared_kernel_of<SOFTQAM_OUTPUT_S16>(are_arguments);
}
