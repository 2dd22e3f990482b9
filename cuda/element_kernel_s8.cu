/* SPDX-License-Identifier: MIT */
/* The kernels of element_kernel.cuh whose LLRs are s8. */
#include "element_kernel.cuh"

const void *softqam_element_kernel_s8(int axis_bits, unsigned neighbours, bool combines, bool counts)
{
    return element_kernel_of<SOFTQAM_OUTPUT_S8>(axis_bits, neighbours, combines, counts);
}
