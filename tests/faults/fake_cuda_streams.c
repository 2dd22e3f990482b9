/* SPDX-License-Identifier: MIT */
/* The fake CUDA runtime's streams and events. Work on a stream is put off until something waits for it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda_parts.h"
#include "fault.h"

/* Work put off. */
typedef struct operation {
    struct operation *next;
    void (*work)(void *context);
    void *context;
    uint64_t number; /* from 1 on, in its stream */
} operation;

struct CUstream_st {
    struct CUstream_st *next; /* of all streams */
    int device;
    operation *first, *last;
    uint64_t n_enqueued, n_done;
};

struct CUevent_st {
    cudaStream_t stream; /* NULL: not recorded */
    uint64_t number;
};

static struct CUstream_st *streams;
static struct CUstream_st default_streams[FAKE_MAX_DEVICES];
static size_t n_events;

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
    stream->n_done = one->number;
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
    stream->n_done = stream->n_enqueued;
}

void fault_lose_device(void)
{
    fake_lock();
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == fake_device)
            lose(stream);
    fake_unlock(cudaSuccess);
}

/* Everything in a stream up to an operation of it. */
static void run_until(cudaStream_t stream, uint64_t number)
{
    while (stream->first && stream->n_done < number)
        run_one(stream);
}

void fake_run_device(int device)
{
    run_until(&default_streams[device], UINT64_MAX);
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == device)
            run_until(stream, UINT64_MAX);
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
    *one = (operation){.work = work, .context = context, .number = ++to->n_enqueued};
    if (to->first)
        to->last->next = one;
    else
        to->first = one;
    to->last = one;
    return cudaSuccess;
}

size_t fake_live_streams(void)
{
    size_t n = n_events;
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        n++;
    return n;
}

/* Streams. */

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
            run_until(stream, UINT64_MAX);
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
    run_until(resolve(stream), UINT64_MAX);
    return fake_unlock(cudaSuccess);
}

/* Done after as many questions as there is work. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    fake_lock();
    cudaStream_t at = resolve(stream);
    if (at->first)
        run_one(at);
    return fake_unlock(at->first ? cudaErrorNotReady : cudaSuccess);
}

typedef struct host_function {
    cudaHostFn_t function;
    void *argument;
} host_function;

static void do_host_function(void *context)
{
    const host_function *self = context;
    self->function(self->argument);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    fake_lock();
    host_function *self = malloc(sizeof *self);
    if (!self)
        return fake_unlock(cudaErrorMemoryAllocation);
    *self = (host_function){function, argument};
    return fake_unlock(fake_enqueue(stream, do_host_function, self));
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                             cudaStream_t stream)
{
    (void)grid;
    (void)threads;
    (void)shared_nbytes;
    fake_lock();
    const fake_kernel *description = kernel;
    void *copied = malloc(description->argument_nbytes);
    if (!copied)
        return fake_unlock(cudaErrorMemoryAllocation);
    memcpy(copied, arguments[0], description->argument_nbytes);
    return fake_unlock(fake_enqueue(stream, description->run, copied));
}

/* Events. */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    fake_lock();
    *event = calloc(1, sizeof **event);
    n_events += *event != NULL;
    return fake_unlock(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    fake_lock();
    n_events -= event != NULL;
    free(event);
    return fake_unlock(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    fake_lock();
    event->stream = resolve(stream);
    event->number = event->stream->n_enqueued;
    return fake_unlock(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    fake_lock();
    if (event->stream)
        run_until(event->stream, event->number);
    return fake_unlock(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    fake_lock();
    const bool waits = event->stream && event->stream->first && event->stream->n_done < event->number;
    if (waits)
        run_one(event->stream);
    return fake_unlock(waits ? cudaErrorNotReady : cudaSuccess);
}

static void do_wait(void *context)
{
    const struct CUevent_st *event = context;
    run_until(event->stream, event->number);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    fake_lock();
    if (!event->stream)
        return fake_unlock(cudaSuccess);
    cudaEvent_t as_it_is = malloc(sizeof *as_it_is);
    if (!as_it_is)
        return fake_unlock(cudaErrorMemoryAllocation);
    *as_it_is = *event;
    return fake_unlock(fake_enqueue(stream, do_wait, as_it_is));
}
