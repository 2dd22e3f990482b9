/* SPDX-License-Identifier: MIT */
/* The kernels of segments with soft buffers, and of segments in device memory. */
#include "soft_kernel.cuh"

template <softqam_output_format FORMAT> static const void *kernel_of()
{
    static_assert(sizeof(soft_table_argument<FORMAT>) + sizeof(softqam_segment_launch) + 16 +
                          FEW_SEGMENTS *
                              (sizeof(softqam_kernel_segment) + sizeof(softqam_kernel_soft) + sizeof(unsigned)) <=
                      4096,
                  "a kernel's arguments are limited");
    return reinterpret_cast<const void *>(soft_kernel<FORMAT>);
}

const void *softqam_soft_kernel(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return kernel_of<SOFTQAM_OUTPUT_S8>();
    case SOFTQAM_OUTPUT_S16:
        return kernel_of<SOFTQAM_OUTPUT_S16>();
    case SOFTQAM_OUTPUT_F16:
        return kernel_of<SOFTQAM_OUTPUT_F16>();
    case SOFTQAM_OUTPUT_F32:
        return kernel_of<SOFTQAM_OUTPUT_F32>();
    case SOFTQAM_OUTPUT_U8:
        return kernel_of<SOFTQAM_OUTPUT_U8>();
    }
    return nullptr;
}
