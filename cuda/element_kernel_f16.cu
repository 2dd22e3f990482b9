/* SPDX-License-Identifier: MIT */
/* The kernels of element_kernel.cuh whose LLRs are f16. */
#include "element_kernel.cuh"

softqam_kernel softqam_element_kernel_f16(softqam_kernel_key key) { return element_kernel_of<SOFTQAM_OUTPUT_F16>(key); }
