/* SPDX-License-Identifier: MIT */
/* The two objects. A context is where the work is done: by the CPU's threads and, with the CUDA backend, one GPU. */
#ifndef SOFTQAM_CONTEXT_H
#define SOFTQAM_CONTEXT_H

#include <pthread.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "cpu/cpu.h"
#include "cpu/loops.h"
#include "gpu.h"
#include "params.h"
#include "thread_pool.h"

struct softqam_context {
    softqam_pool *pool;
    softqam_cpu cpu;
    softqam_gpu *gpu; /* NULL: the backend is the CPU */

    size_t n_holders;                  /* the caller, and each demodulator */
    pthread_mutex_t mutex;             /* guards the list of demodulators */
    softqam_demodulator *demodulators; /* softqam_context_prepare() makes their kernels ready */
};

/* Immutable once made but for `next`, which the context's mutex guards, so any number of threads may use it at once. */
struct softqam_demodulator {
    softqam_context *context;
    softqam_params params;
    softqam_cpu_loops loops;
    softqam_demodulator *next; /* in its context's list */
};

/* Gets the context's GPU; fails if the backend is the CPU. */
softqam_status softqam_context_gpu(const softqam_context *context, softqam_gpu **gpu);

#endif
