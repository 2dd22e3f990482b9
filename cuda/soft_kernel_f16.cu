/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh to f16. */
#include "soft_kernel.cuh"

softqam_kernel softqam_soft_kernel_f16(softqam_kernel_key key) { return soft_kernel_of<SOFTQAM_OUTPUT_F16>(key); }
