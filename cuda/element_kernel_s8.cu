/* SPDX-License-Identifier: MIT */
/* The kernels of element_kernel.cuh whose LLRs are s8. */
#include "element_kernel.cuh"

softqam_kernel softqam_element_kernel_s8(softqam_kernel_key key) { return element_kernel_of<SOFTQAM_OUTPUT_S8>(key); }
