/* SPDX-License-Identifier: MIT */
#include "host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Memory of softqam_host_alloc() lies behind a note of where it came from. */
typedef struct host_memory {
    void *base;
    void (*release)(void *base);
} host_memory;

enum { ALIGNMENT = 4096 };

softqam_status softqam_host_memory_alloc(softqam_gpu *gpu, size_t nbytes, void **memory)
{
    if (nbytes > (size_t)PTRDIFF_MAX - 2 * ALIGNMENT)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
    host_memory note = {.release = gpu ? softqam_gpu_backend.host_free : free};
    if (gpu) {
        const softqam_status status = softqam_gpu_backend.host_alloc(gpu, nbytes + 2 * ALIGNMENT, &note.base);
        if (status != SOFTQAM_OK)
            return status;
    } else {
        note.base = malloc(nbytes + 2 * ALIGNMENT);
        if (!note.base)
            return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
    }
    const uintptr_t start = (uintptr_t)note.base + sizeof note;
    unsigned char *aligned = (unsigned char *)note.base + sizeof note + (-start & (ALIGNMENT - 1));
    memcpy(aligned - sizeof note, &note, sizeof note);
    *memory = aligned;
    return SOFTQAM_OK;
}

void softqam_host_free(void *memory)
{
    if (!memory)
        return;
    host_memory note;
    memcpy(&note, (unsigned char *)memory - sizeof note, sizeof note);
    note.release(note.base);
}
