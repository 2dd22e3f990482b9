/* SPDX-License-Identifier: MIT */
/* The kernels of count_kernel.cuh for segments without pairs of layers whose LLRs are integers. */
#include "count_kernel.cuh"

const void *softqam_count_kernel_integers(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_S8    ? count_kernel_of<SOFTQAM_OUTPUT_S8, NO_PAIRS>()
           : format == SOFTQAM_OUTPUT_S16 ? count_kernel_of<SOFTQAM_OUTPUT_S16, NO_PAIRS>()
                                          : count_kernel_of<SOFTQAM_OUTPUT_U8, NO_PAIRS>();
}
