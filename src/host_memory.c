/* SPDX-License-Identifier: MIT */
/* softqam_host_alloc(): memory that is page-locked or plain, behind a note of how to free it. */
#define _GNU_SOURCE /* sigset_t */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "error.h"
#include "signals.h"

typedef struct host_memory {
    void *base;
    void (*release)(void *base);
} host_memory;

enum { ALIGNMENT = 4096 };

/* Page-locked by a gpu that is not NULL. */
static softqam_status allocate(softqam_gpu *gpu, size_t nbytes, void **memory)
{
    host_memory note = {.release = gpu ? softqam_gpu_backend.host_free : free};
    const bool fits = nbytes <= (size_t)PTRDIFF_MAX - 2 * ALIGNMENT;
    if (fits && gpu)
        TRY(softqam_gpu_backend.host_alloc(gpu, nbytes + 2 * ALIGNMENT, &note.base));
    else if (fits)
        note.base = malloc(nbytes + 2 * ALIGNMENT);
    if (!note.base)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
    const uintptr_t start = (uintptr_t)note.base + sizeof note;
    unsigned char *aligned = (unsigned char *)note.base + sizeof note + (-start & (ALIGNMENT - 1));
    memcpy(aligned - sizeof note, &note, sizeof note);
    *memory = aligned;
    return SOFTQAM_OK;
}

softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory)
{
    softqam_gpu *gpu;
    REFUSE_IF(!memory, "memory is NULL");
    *memory = NULL;
    REFUSE_IF(!context, "context is NULL");
    if (context->config.backend == SOFTQAM_BACKEND_CPU || atomic_load(&context->gpu_failed))
        return allocate(NULL, nbytes, memory);
    const softqam_error_note note = softqam_error_note_take();
    softqam_status status = softqam_context_gpu(context, 0, &gpu);
    if (status == SOFTQAM_OK) {
        ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
        status = allocate(gpu, nbytes, memory);
    }
    if (status == SOFTQAM_OK || context->config.backend == SOFTQAM_BACKEND_CUDA)
        return status;
    softqam_error_note_restore(&note);
    return allocate(NULL, nbytes, memory);
}

void softqam_host_free(void *memory)
{
    if (!memory)
        return;
    host_memory note;
    memcpy(&note, (unsigned char *)memory - sizeof note, sizeof note);
    note.release(note.base);
}
