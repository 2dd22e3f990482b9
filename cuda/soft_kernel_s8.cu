/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh to s8. */
#include "soft_kernel.cuh"

softqam_kernel softqam_soft_kernel_s8(softqam_kernel_key key) { return soft_kernel_of<SOFTQAM_OUTPUT_S8>(key); }
