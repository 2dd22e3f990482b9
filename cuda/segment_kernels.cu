/* SPDX-License-Identifier: MIT */
/* The kernels of segments. */
#include "segment_kernel.cuh"

template <softqam_output_format FORMAT, int N> static const void *kernel_of()
{
    static_assert(sizeof(soft_table_argument<FORMAT>) + sizeof(softqam_segment_launch) + 16 +
                          N * (sizeof(softqam_kernel_segment) + sizeof(unsigned)) <=
                      (N <= FEW_SEGMENTS ? 4096 : 32768 - 896),
                  "a kernel's arguments are limited");
    return reinterpret_cast<const void *>(segment_kernel<FORMAT, N>);
}

template <softqam_output_format FORMAT> static const void *kernel_of(bool many)
{
    enum { MANY = CUDART_VERSION >= 12010 ? MANY_SEGMENTS : FEW_SEGMENTS };
    return many ? kernel_of<FORMAT, MANY>() : kernel_of<FORMAT, FEW_SEGMENTS>();
}

const void *softqam_segment_kernel(softqam_output_format format, bool many)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return kernel_of<SOFTQAM_OUTPUT_S8>(many);
    case SOFTQAM_OUTPUT_S16:
        return kernel_of<SOFTQAM_OUTPUT_S16>(many);
    case SOFTQAM_OUTPUT_F16:
        return kernel_of<SOFTQAM_OUTPUT_F16>(many);
    case SOFTQAM_OUTPUT_F32:
        return kernel_of<SOFTQAM_OUTPUT_F32>(many);
    case SOFTQAM_OUTPUT_U8:
        return kernel_of<SOFTQAM_OUTPUT_U8>(many);
    }
    return nullptr;
}
