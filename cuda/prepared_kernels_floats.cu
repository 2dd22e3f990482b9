/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh whose LLRs are floating-point numbers. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_floats(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_F16 ? prepared_kernel_of<SOFTQAM_OUTPUT_F16>()
                                        : prepared_kernel_of<SOFTQAM_OUTPUT_F32>();
}
