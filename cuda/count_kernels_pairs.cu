/* SPDX-License-Identifier: MIT */
/* The kernels of count_kernel.cuh for segments all of which have layers that are demapped in pairs. */
#include "count_kernel.cuh"

const void *softqam_count_kernel_pairs(softqam_output_format format)
{
    return with_format(
        format,
        [](auto of) -> const void * {
            if constexpr (decltype(of)::value == SOFTQAM_OUTPUT_U8)
                return nullptr;
            else
                return count_kernel_of<decltype(of)::value, ONLY_PAIRS>();
        });
}
