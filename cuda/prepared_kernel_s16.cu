/* SPDX-License-Identifier: MIT */
/* The kernels of prepared_kernel.cuh to s16. */
#include "prepared_kernel.cuh"

const void *softqam_prepared_kernel_s16(bool is_list) { return prepared_kernel_of<SOFTQAM_OUTPUT_S16>(is_list); }
