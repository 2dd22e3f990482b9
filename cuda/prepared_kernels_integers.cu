/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh whose LLRs are integers. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_integers(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_S8    ? prepared_kernel_of<SOFTQAM_OUTPUT_S8>()
           : format == SOFTQAM_OUTPUT_S16 ? prepared_kernel_of<SOFTQAM_OUTPUT_S16>()
                                          : prepared_kernel_of<SOFTQAM_OUTPUT_U8>();
}
