/* SPDX-License-Identifier: MIT */
/* The kernels of element_kernel.cuh whose LLRs are f16. */
#include "element_kernel.cuh"

const void *softqam_element_kernel_f16(int axis_bits, unsigned neighbours, bool combines, bool counts)
{
    return element_kernel_of<SOFTQAM_OUTPUT_F16>(axis_bits, neighbours, combines, counts);
}
