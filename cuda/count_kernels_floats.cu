/* SPDX-License-Identifier: MIT */
/* The kernels of count_kernel.cuh for segments without pairs of layers whose LLRs are floats. */
#include "count_kernel.cuh"

const void *softqam_count_kernel_floats(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_F16 ? count_kernel_of<SOFTQAM_OUTPUT_F16, NO_PAIRS>()
                                        : count_kernel_of<SOFTQAM_OUTPUT_F32, NO_PAIRS>();
}
