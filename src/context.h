/* SPDX-License-Identifier: MIT */
/* The two objects. A context is where the work is done: threads and a part of CUDA. All of it is made when first
 * needed, under the context's mutex, and published by an atomic pointer, so that calls find it without a lock. */
#ifndef SOFTQAM_CONTEXT_H
#define SOFTQAM_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <softqam/softqam.h>

#include "cpu/cpu.h"
#include "cpu/loops.h"
#include "gpu.h"
#include "params.h"
#include "thread_pool.h"

struct softqam_context {
    softqam_context_config config; /* complete, but for its CPUs */
    softqam_pool *pool;
    softqam_cpu cpu;

    size_t n_holders;                  /* the caller, and each demodulator */
    pthread_mutex_t mutex;             /* held while anything below is made, never by a call that finds it made */
    softqam_demodulator *demodulators; /* which softqam_context_prepare() goes through */

    _Atomic(softqam_gpu *) gpu;   /* NULL: not looked for, or none */
    atomic_bool gpu_looked_for;   /* with SOFTQAM_BACKEND_AUTO */
    atomic_bool host_calls_ready; /* the GPU's part for host-memory calls is made */
    atomic_bool gpu_failed;       /* with SOFTQAM_BACKEND_AUTO: the CPU has taken over */
    char failure[512];            /* why; written before gpu_failed is set */

    softqam_pool_scheduling scheduling;
    int devices[MAX_DEVICES]; /* of the configuration */
};

/* Immutable once made, so that any number of threads use it at once. */
struct softqam_demodulator {
    softqam_context *context;
    softqam_params params;
    softqam_cpu_loops loops;
    softqam_demodulator *next; /* of its context, under the context's mutex */
};

/* The context's part of CUDA, looked for now if it has not been yet. `what`: 0, or SOFTQAM_PREPARE_HOST_CALLS: ready
 * for those. */
softqam_status softqam_context_gpu(softqam_context *context, unsigned what, softqam_gpu **gpu);

#endif
