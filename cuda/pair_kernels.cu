/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh for segments all of which have layers that are demapped in pairs. */
#include "soft_kernel.cuh"

const void *softqam_pair_kernel(softqam_output_format format)
{
    return with_format(
        format,
        [](auto of) -> const void * {
            if constexpr (decltype(of)::value == SOFTQAM_OUTPUT_U8)
                return nullptr;
            else
                return soft_kernel_of<decltype(of)::value, ONLY_PAIRS>();
        });
}
