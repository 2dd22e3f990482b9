/* SPDX-License-Identifier: MIT */
/* Where the work is done: threads and a part of CUDA. All of it is made when first needed, under the
 * context's mutex, and published by an atomic pointer, so that calls find it without a lock. */
#ifndef SOFTQAM_CONTEXT_H
#define SOFTQAM_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <softqam/softqam.h>

#include "cpu/cpu.h"
#include "gpu.h"
#include "thread_pool.h"

/* A demodulator in its context's list, which softqam_context_prepare() goes through. */
typedef struct softqam_context_entry {
    const softqam_params *params;
    struct softqam_context_entry *previous, *next; /* under the context's mutex */
} softqam_context_entry;

struct softqam_context {
    softqam_context_config config; /* complete; its arrays are the context's own */
    softqam_threads threads;
    softqam_cpu cpu;

    size_t n_holders;      /* the caller, and each demodulator */
    pthread_mutex_t mutex; /* held while anything below is made, never by a call that finds it made */
    softqam_context_entry *members;

    _Atomic(softqam_gpu *) gpu;   /* NULL: not looked for, or none */
    atomic_bool gpu_looked_for;   /* with SOFTQAM_BACKEND_AUTO */
    atomic_bool host_calls_ready; /* the GPU's part for host-memory calls is made */
    atomic_bool gpu_failed;       /* with SOFTQAM_BACKEND_AUTO: the CPU has taken over */
    char failure[512];            /* why; written before gpu_failed is set */
};

/* A context with one holder, the caller; or the one that demodulators without one of their own share, held once more.
 */
softqam_status softqam_context_make(softqam_context **context, const softqam_context_config *config);
softqam_status softqam_context_hold_default(softqam_context **context);
void softqam_context_hold(softqam_context *context);

/* A demodulator's entry in the list and exit from it. */
void softqam_context_add_demodulator(softqam_context *context, softqam_context_entry *member);
void softqam_context_remove_demodulator(softqam_context *context, softqam_context_entry *member);

/* Frees the context with its last holder. */
void softqam_context_release(softqam_context *context);

/* The context's part of CUDA, looked for now if it has not been yet. */
softqam_status softqam_context_gpu(softqam_context *context, softqam_gpu **gpu);

/* The same, ready for host-memory calls. */
softqam_status softqam_context_gpu_for_host_calls(softqam_context *context, softqam_gpu **gpu);

/* With SOFTQAM_BACKEND_AUTO: the same, or NULL where there is no GPU, where it has failed, or while another thread
 * makes something in this context. */
softqam_gpu *softqam_context_gpu_of_auto(softqam_context *context);

/* With SOFTQAM_BACKEND_AUTO: CUDA has failed, as the thread's message tells. From here on the CPU does all. */
void softqam_context_give_up_gpu(softqam_context *context);

#endif
