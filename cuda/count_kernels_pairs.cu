/* SPDX-License-Identifier: MIT */
/* The kernels of count_kernel.cuh for segments all of which have layers that are demapped in pairs. */
#include "count_kernel.cuh"

const void *softqam_count_kernel_pairs(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return count_kernel_of<SOFTQAM_OUTPUT_S8, ONLY_PAIRS>();
    case SOFTQAM_OUTPUT_S16:
        return count_kernel_of<SOFTQAM_OUTPUT_S16, ONLY_PAIRS>();
    case SOFTQAM_OUTPUT_F16:
        return count_kernel_of<SOFTQAM_OUTPUT_F16, ONLY_PAIRS>();
    case SOFTQAM_OUTPUT_F32:
        return count_kernel_of<SOFTQAM_OUTPUT_F32, ONLY_PAIRS>();
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return nullptr;
}
