/* SPDX-License-Identifier: MIT */
#include "host_memory.h"

#include <stdint.h>
#include <string.h>

#include "error.h"

/* Memory of softqam_host_alloc() lies behind a note of where it came from. */
typedef struct host_block {
    void *base;
    void (*release)(void *base);
} host_block;

enum { ALIGNMENT = 4096 };

softqam_status softqam_host_memory_alloc(const softqam_backend_ops *ops, void *state, size_t nbytes, void **memory)
{
    if (nbytes > (size_t)PTRDIFF_MAX - 2 * ALIGNMENT)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
    host_block block = {.release = ops->host_free};
    const softqam_status status = ops->host_alloc(state, nbytes + 2 * ALIGNMENT, &block.base);
    if (status != SOFTQAM_OK)
        return status;
    const uintptr_t start = (uintptr_t)block.base + sizeof block;
    unsigned char *aligned = (unsigned char *)block.base + sizeof block + (-start & (ALIGNMENT - 1));
    memcpy(aligned - sizeof block, &block, sizeof block);
    *memory = aligned;
    return SOFTQAM_OK;
}

void softqam_host_free(void *memory)
{
    if (!memory)
        return;
    host_block block;
    memcpy(&block, (unsigned char *)memory - sizeof block, sizeof block);
    block.release(block.base);
}
