/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh for segments without repetition and pairs of layers. */
#include "soft_kernel.cuh"

const void *softqam_code_block_kernel(softqam_output_format format)
{
    return with_format(
        format,
        [](auto of) -> const void * {
            if constexpr (decltype(of)::value == SOFTQAM_OUTPUT_U8)
                return nullptr;
            else
                return soft_kernel_of<decltype(of)::value, NO_PAIRS>();
        });
}
