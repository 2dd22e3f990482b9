/* SPDX-License-Identifier: MIT */
/* Calls of CUDA on one of a context's devices. */
#ifndef SOFTQAM_DEVICE_SCOPE_H
#define SOFTQAM_DEVICE_SCOPE_H

#include <softqam/softqam.h>

#include "float_environment.h"

/* What a call changes of its thread while it calls CUDA. */
typedef struct softqam_device_scope {
    int device; /* that was current before */
    softqam_float_environment environment;
} softqam_device_scope;

/* Makes one of these devices current: that which is so already, else the first. CUDA is called in the library's own
 * floating-point environment. softqam_device_leave() restores both, whatever happened in between; it follows a success
 * only. */
softqam_status softqam_device_enter(softqam_device_scope *scope, const int *devices, unsigned n_devices);
void softqam_device_leave(const softqam_device_scope *scope);

#endif
