/* SPDX-License-Identifier: MIT */
/* The fake CUDA runtime's streams. Work on a stream is put off until something waits for it. */
#include <stdlib.h>
#include <string.h>

#include "fake_cuda_parts.h"
#include "fault.h"

/* Work put off. */
typedef struct operation {
    struct operation *next;
    void (*work)(void *context);
    void *context;
} operation;

struct CUstream_st {
    struct CUstream_st *next; /* of all streams */
    int device;
    operation *first, *last;
};

static size_t n_launches;
static struct CUstream_st *streams;
static struct CUstream_st default_streams[FAKE_MAX_DEVICES];

static cudaStream_t resolve(cudaStream_t stream)
{
    if (stream)
        return stream;
    default_streams[fake_device].device = fake_device;
    return &default_streams[fake_device];
}

static void run_one(cudaStream_t stream)
{
    operation *one = stream->first;
    stream->first = one->next;
    one->work(one->context);
    free(one->context);
    free(one);
}

static void lose(cudaStream_t stream)
{
    while (stream->first) {
        operation *one = stream->first;
        stream->first = one->next;
        free(one->context);
        free(one);
    }
}

void fault_lose_device(void)
{
    fake_lock();
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == fake_device)
            lose(stream);
    fake_unlock(cudaSuccess);
}

static void run_all(cudaStream_t stream)
{
    while (stream->first)
        run_one(stream);
}

void fake_run_device(int device)
{
    run_all(&default_streams[device]);
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == device)
            run_all(stream);
}

cudaError_t fake_enqueue(cudaStream_t stream, void (*work)(void *), void *context)
{
    cudaStream_t to = resolve(stream);
    operation *one = malloc(sizeof *one);
    if (!one || to->device != fake_device) {
        free(one);
        free(context);
        return one ? cudaErrorInvalidResourceHandle : cudaErrorMemoryAllocation;
    }
    *one = (operation){.work = work, .context = context};
    if (to->first)
        to->last->next = one;
    else
        to->first = one;
    to->last = one;
    return cudaSuccess;
}

size_t fake_live_streams(void)
{
    size_t n = 0;
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        n++;
    return n;
}

static cudaError_t create_stream(cudaStream_t *stream)
{
    cudaStream_t fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return cudaErrorMemoryAllocation;
    fresh->device = fake_device;
    fresh->next = streams;
    streams = fresh;
    *stream = fresh;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    fake_lock();
    return fake_unlock(create_stream(stream));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    fake_lock();
    for (cudaStream_t *at = &streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            run_all(stream);
            *at = stream->next;
            free(stream);
            return fake_unlock(cudaSuccess);
        }
    }
    return fake_unlock(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    fake_lock();
    run_all(resolve(stream));
    return fake_unlock(cudaSuccess);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                             cudaStream_t stream)
{
    (void)grid;
    (void)threads;
    (void)shared_nbytes;
    fake_lock();
    n_launches++;
    const fake_kernel *description = kernel;
    void *copied = malloc(description->argument_nbytes);
    if (!copied)
        return fake_unlock(cudaErrorMemoryAllocation);
    memcpy(copied, arguments[0], description->argument_nbytes);
    return fake_unlock(fake_enqueue(stream, description->run, copied));
}

size_t fake_cuda_launches(void)
{
    fake_lock();
    const size_t n = n_launches;
    fake_unlock(cudaSuccess);
    return n;
}
