/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh for segments without repetition and pairs of layers. */
#include "soft_kernel.cuh"

const void *softqam_code_block_kernel(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return soft_kernel_of<SOFTQAM_OUTPUT_S8, NO_PAIRS>();
    case SOFTQAM_OUTPUT_S16:
        return soft_kernel_of<SOFTQAM_OUTPUT_S16, NO_PAIRS>();
    case SOFTQAM_OUTPUT_F16:
        return soft_kernel_of<SOFTQAM_OUTPUT_F16, NO_PAIRS>();
    case SOFTQAM_OUTPUT_F32:
        return soft_kernel_of<SOFTQAM_OUTPUT_F32, NO_PAIRS>();
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return nullptr;
}
