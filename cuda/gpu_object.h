/* SPDX-License-Identifier: MIT */
/* A softqam_gpu, for the files at the top: the table of functions (gpu.c) and the calls on device memory
 * (device_calls.c). */
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
