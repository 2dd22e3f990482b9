/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh whose LLRs are integers. */
#include "soft_kernel.cuh"

const void *softqam_soft_kernel_integers(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_S8    ? soft_kernel_of<SOFTQAM_OUTPUT_S8>()
           : format == SOFTQAM_OUTPUT_S16 ? soft_kernel_of<SOFTQAM_OUTPUT_S16>()
                                          : soft_kernel_of<SOFTQAM_OUTPUT_U8>();
}
