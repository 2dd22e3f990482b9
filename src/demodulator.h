/* SPDX-License-Identifier: MIT */
/* What a demodulator is to the context and to the CUDA entry points. */
#ifndef SOFTQAM_DEMODULATOR_H
#define SOFTQAM_DEMODULATOR_H

#include "context.h"
#include "cpu/loops.h"
#include "gpu.h"
#include "params.h"

/* Immutable once made, so that any number of threads use it at once. */
struct softqam_demodulator {
    softqam_context *context;
    softqam_params params;
    softqam_cpu_loops loops;
    softqam_demodulator *next; /* of its context, under the context's mutex */
};

#endif
