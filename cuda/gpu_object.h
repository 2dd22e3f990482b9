/* SPDX-License-Identifier: MIT */
/* A softqam_gpu, for the files that public calls lead to: gpu.c (the table of functions), device_calls.c and
 * device_codeword.c (softqam_cuda.h). */
#ifndef SOFTQAM_GPU_OBJECT_H
#define SOFTQAM_GPU_OBJECT_H

#include "gpu.h"
#include "pipeline.h"

struct softqam_gpu {
    int device;
    char detail[320];
    softqam_pipeline pipeline;
};

#endif
