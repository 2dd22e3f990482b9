/* SPDX-License-Identifier: MIT */
/* Replaces cuda_devices.c in a build without CUDA. */
#include "cuda_devices.h"

int cuda_devices_count(void) { return 0; }
