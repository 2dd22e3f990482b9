/* SPDX-License-Identifier: MIT */
/* The fake CUDA runtime's memory: blocks of malloc, of which it knows whose they are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda_parts.h"

/* Memory that the runtime knows. */
typedef struct block {
    struct block *next;
    unsigned char *memory;
    size_t nbytes;
    enum cudaMemoryType type;
    int device; /* of device memory */
} block;

static block *blocks;

/* Of fresh memory, so much has bytes that show when they are taken for results. */
enum { MOST_FILLED_NBYTES = 1 << 20 };

static const block *find_block(const void *memory, size_t nbytes)
{
    const unsigned char *first = memory;
    for (const block *b = blocks; b; b = b->next)
        if (first >= b->memory && first < b->memory + b->nbytes && nbytes <= (size_t)(b->memory + b->nbytes - first))
            return b;
    return NULL;
}

static bool reaches(const void *memory, size_t nbytes)
{
    const block *found = find_block(memory, nbytes);
    return found && (found->type == cudaMemoryTypeHost || found->device == fake_device);
}

bool fake_cuda_reaches(const void *memory, size_t nbytes)
{
    fake_lock();
    const bool result = reaches(memory, nbytes);
    fake_unlock(cudaSuccess);
    return result;
}

size_t fake_live_blocks(void)
{
    size_t n = 0;
    for (const block *b = blocks; b; b = b->next)
        n++;
    return n;
}

static cudaError_t add_block(void *memory, size_t nbytes, enum cudaMemoryType type)
{
    block *b = memory ? malloc(sizeof *b) : NULL;
    if (!b)
        return cudaErrorMemoryAllocation;
    *b = (block){blocks, memory, nbytes, type, type == cudaMemoryTypeDevice ? fake_device : -1};
    blocks = b;
    return cudaSuccess;
}

static cudaError_t allocate(void **memory, size_t nbytes, enum cudaMemoryType type)
{
    void *fresh = nbytes <= PTRDIFF_MAX ? aligned_alloc(256, (nbytes + 255) / 256 * 256) : NULL;
    const cudaError_t error = add_block(fresh, nbytes, type);
    if (error != cudaSuccess) {
        free(fresh);
        return error;
    }
    memset(fresh, 0xDB, nbytes < MOST_FILLED_NBYTES ? nbytes : MOST_FILLED_NBYTES);
    *memory = fresh;
    return cudaSuccess;
}

static cudaError_t remove_block(void *memory, enum cudaMemoryType type)
{
    for (block **at = &blocks; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->memory != memory || b->type != type)
            continue;
        for (int device = 0; device < FAKE_MAX_DEVICES; device++)
            fake_run_device(device);
        *at = b->next;
        free(memory);
        free(b);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaMalloc(void **memory, size_t nbytes)
{
    fake_lock();
    return fake_unlock(allocate(memory, nbytes, cudaMemoryTypeDevice));
}

cudaError_t cudaFree(void *memory)
{
    fake_lock();
    return fake_unlock(memory ? remove_block(memory, cudaMemoryTypeDevice) : cudaSuccess);
}

cudaError_t cudaHostAlloc(void **memory, size_t nbytes, unsigned flags)
{
    (void)flags;
    fake_lock();
    return fake_unlock(allocate(memory, nbytes, cudaMemoryTypeHost));
}

cudaError_t cudaFreeHost(void *memory)
{
    fake_lock();
    return fake_unlock(memory ? remove_block(memory, cudaMemoryTypeHost) : cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    (void)flags;
    fake_lock();
    const block *found = find_block(host, 1);
    *device = host;
    return fake_unlock(found && found->type == cudaMemoryTypeHost ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
    fake_lock();
    const block *found = find_block(memory, 1);
    memset(attributes, 0, sizeof *attributes);
    attributes->type = found ? found->type : cudaMemoryTypeUnregistered;
    attributes->device = found ? found->device : -1;
    attributes->hostPointer = found && found->type == cudaMemoryTypeHost ? (void *)(uintptr_t)memory : NULL;
    attributes->devicePointer = found ? (void *)(uintptr_t)memory : NULL;
    return fake_unlock(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *n_free, size_t *n_total)
{
    fake_lock();
    *n_total = (size_t)64 << 30;
    *n_free = *n_total;
    for (const block *b = blocks; b; b = b->next)
        *n_free -= b->type == cudaMemoryTypeDevice && b->device == fake_device ? b->nbytes : 0;
    return fake_unlock(cudaSuccess);
}

typedef struct copy {
    void *to;
    const void *from;
    size_t nbytes;
} copy;

static void do_copy(void *context)
{
    const copy *self = context;
    memcpy(self->to, self->from, self->nbytes);
}

static enum cudaMemoryType type_of(const void *memory, size_t nbytes)
{
    const block *found = find_block(memory, nbytes);
    return found ? found->type : cudaMemoryTypeUnregistered;
}

/* The direction must be right, and the host's side pinned, as only such a copy is asynchronous. */
static cudaError_t copy_async(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const enum cudaMemoryType wanted_from = kind == cudaMemcpyHostToDevice ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    const enum cudaMemoryType wanted_to = kind == cudaMemcpyDeviceToHost ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    if (type_of(from, nbytes) != wanted_from || type_of(to, nbytes) != wanted_to || !reaches(from, nbytes) ||
        !reaches(to, nbytes))
        return cudaErrorInvalidValue;
    copy *self = malloc(sizeof *self);
    if (!self)
        return cudaErrorMemoryAllocation;
    *self = (copy){to, from, nbytes};
    return fake_enqueue(stream, do_copy, self);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    fake_lock();
    return fake_unlock(nbytes == 0 ? cudaSuccess : copy_async(to, from, nbytes, kind, stream));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    fake_lock();
    fake_run_device(fake_device);
    memcpy(to, from, nbytes);
    return fake_unlock(cudaSuccess);
}

cudaError_t cudaMemset(void *memory, int byte, size_t nbytes)
{
    fake_lock();
    fake_run_device(fake_device);
    const bool known = reaches(memory, nbytes);
    if (known)
        memset(memory, byte, nbytes);
    return fake_unlock(known ? cudaSuccess : cudaErrorInvalidValue);
}
