/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh whose LLRs are floating-point numbers. */
#include "soft_kernel.cuh"

const void *softqam_soft_kernel_floats(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_F16 ? soft_kernel_of<SOFTQAM_OUTPUT_F16>() : soft_kernel_of<SOFTQAM_OUTPUT_F32>();
}
