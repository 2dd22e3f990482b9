/* SPDX-License-Identifier: MIT */
/* The contents of softqam_device_codeword: device_codeword.c makes it, softqam_device.cuh reads it. */
#ifndef SOFTQAM_DEVICE_CODEWORD_H
#define SOFTQAM_DEVICE_CODEWORD_H

#include <softqam/softqam_cuda.h>

#include "kernels.h"

typedef struct device_codeword {
    softqam_placement placement;
    const void *gold_tables; /* the library's, in device memory */
    softqam_llr_limit limit;
    uint32_t n_symbols;  /* symbols of the codeword */
    uint32_t neighbours; /* softqam_neighbours(); 1 with block_buffers */
    uint32_t noise_is_inverse;
    uint32_t output_format; /* softqam_output_format */
} device_codeword;

static_assert(sizeof(device_codeword) <= sizeof(softqam_device_codeword), "softqam_device_codeword has room for it");

#endif
