/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to f16. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_f16(bool are_arguments)
{
    return prepared_kernel_of<SOFTQAM_OUTPUT_F16>(are_arguments);
}
