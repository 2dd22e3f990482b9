/* SPDX-License-Identifier: MIT */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Memory that the runtime knows. */
typedef struct block {
    struct block *next;
    unsigned char *memory;
    size_t nbytes;
    enum cudaMemoryType type;
    int device; /* of device memory */
    bool owned; /* and not only registered */
} block;

/* One lock for all of it, recursive, as work that is waited for may wait for other work. */
static pthread_mutex_t mutex;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct CUstream_st *streams;
static struct CUstream_st default_streams[16];
static block *blocks;
static size_t n_events;
static _Thread_local int current_device;
static _Thread_local cudaError_t last_error;

static void set_up(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    for (int k = 0; k < 16; k++)
        default_streams[k].device = k;
}

static void lock(void)
{
    pthread_once(&once, set_up);
    pthread_mutex_lock(&mutex);
}

static cudaError_t unlock(cudaError_t error)
{
    pthread_mutex_unlock(&mutex);
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

static int count_devices(void)
{
    const char *text = getenv("FAKE_CUDA_DEVICES");
    const int n = text ? atoi(text) : 1;
    return n < 0 ? 0 : n > 16 ? 16 : n;
}

static cudaStream_t resolve(cudaStream_t stream)
{
    return stream ? stream : &default_streams[current_device];
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

int fault_current_device(void)
{
    return current_device;
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
    lock();
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == current_device)
            lose(stream);
    unlock(cudaSuccess);
}

/* Everything in a stream up to an operation of it. */
static void run_until(cudaStream_t stream, uint64_t number)
{
    while (stream->first && stream->n_done < number)
        run_one(stream);
}

static void run_device(int device)
{
    run_until(&default_streams[device], UINT64_MAX);
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == device)
            run_until(stream, UINT64_MAX);
}

/* Takes `context` over, whatever happens. */
static cudaError_t enqueue(cudaStream_t stream, void (*work)(void *), void *context)
{
    cudaStream_t to = resolve(stream);
    operation *one = malloc(sizeof(*one));
    if (!one || to->device != current_device) {
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
    return found && (found->type == cudaMemoryTypeHost || found->device == current_device);
}

bool fake_cuda_reaches(const void *memory, size_t nbytes)
{
    lock();
    const bool result = reaches(memory, nbytes);
    unlock(cudaSuccess);
    return result;
}

size_t fake_cuda_live(void)
{
    lock();
    size_t n = n_events;
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        n++;
    for (const block *b = blocks; b; b = b->next)
        n++;
    unlock(cudaSuccess);
    return n;
}

/* Memory. */

static cudaError_t add_block(void *memory, size_t nbytes, enum cudaMemoryType type, bool owned)
{
    block *b = memory ? malloc(sizeof(*b)) : NULL;
    if (!b)
        return cudaErrorMemoryAllocation;
    *b = (block){blocks, memory, nbytes, type, type == cudaMemoryTypeDevice ? current_device : -1, owned};
    blocks = b;
    return cudaSuccess;
}

static cudaError_t allocate(void **memory, size_t nbytes, enum cudaMemoryType type)
{
    void *fresh = nbytes <= PTRDIFF_MAX ? aligned_alloc(256, (nbytes + 255) / 256 * 256) : NULL;
    const cudaError_t error = add_block(fresh, nbytes, type, true);
    if (error != cudaSuccess) {
        free(fresh);
        return error;
    }
    memset(fresh, 0xDB, nbytes);
    *memory = fresh;
    return cudaSuccess;
}

static cudaError_t remove_block(void *memory, enum cudaMemoryType type, bool owned)
{
    for (block **at = &blocks; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->memory != memory || b->type != type || b->owned != owned)
            continue;
        for (int device = 0; device < 16; device++)
            run_device(device);
        *at = b->next;
        if (owned)
            free(memory);
        free(b);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaMalloc(void **memory, size_t nbytes)
{
    lock();
    return unlock(allocate(memory, nbytes, cudaMemoryTypeDevice));
}

cudaError_t cudaFree(void *memory)
{
    lock();
    return unlock(memory ? remove_block(memory, cudaMemoryTypeDevice, true) : cudaSuccess);
}

cudaError_t cudaHostAlloc(void **memory, size_t nbytes, unsigned flags)
{
    (void)flags;
    lock();
    return unlock(allocate(memory, nbytes, cudaMemoryTypeHost));
}

cudaError_t cudaFreeHost(void *memory)
{
    lock();
    return unlock(memory ? remove_block(memory, cudaMemoryTypeHost, true) : cudaSuccess);
}

cudaError_t cudaHostRegister(void *memory, size_t nbytes, unsigned flags)
{
    (void)flags;
    lock();
    return unlock(find_block(memory, 1) ? cudaErrorHostMemoryAlreadyRegistered
                                        : add_block(memory, nbytes, cudaMemoryTypeHost, false));
}

cudaError_t cudaHostUnregister(void *memory)
{
    lock();
    return unlock(remove_block(memory, cudaMemoryTypeHost, false));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    (void)flags;
    lock();
    const block *found = find_block(host, 1);
    *device = host;
    return unlock(found && found->type == cudaMemoryTypeHost ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
    lock();
    const block *found = find_block(memory, 1);
    memset(attributes, 0, sizeof(*attributes));
    attributes->type = found ? found->type : cudaMemoryTypeUnregistered;
    attributes->device = found ? found->device : -1;
    attributes->hostPointer = found && found->type == cudaMemoryTypeHost ? (void *)(uintptr_t)memory : NULL;
    attributes->devicePointer = found ? (void *)(uintptr_t)memory : NULL;
    return unlock(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *n_free, size_t *n_total)
{
    lock();
    *n_total = (size_t)64 << 30;
    *n_free = *n_total;
    for (const block *b = blocks; b; b = b->next)
        *n_free -= b->type == cudaMemoryTypeDevice && b->device == current_device ? b->nbytes : 0;
    return unlock(cudaSuccess);
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
    copy *self = malloc(sizeof(*self));
    if (!self)
        return cudaErrorMemoryAllocation;
    *self = (copy){to, from, nbytes};
    return enqueue(stream, do_copy, self);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    lock();
    return unlock(nbytes == 0 ? cudaSuccess : copy_async(to, from, nbytes, kind, stream));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    lock();
    run_device(current_device);
    memcpy(to, from, nbytes);
    return unlock(cudaSuccess);
}

/* Devices. */

cudaError_t cudaGetDeviceCount(int *n)
{
    lock();
    *n = count_devices();
    return unlock(*n > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    lock();
    *device = current_device;
    return unlock(count_devices() > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
    lock();
    if (device < 0 || device >= count_devices())
        return unlock(cudaErrorInvalidDevice);
    current_device = device;
    return unlock(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    lock();
    memset(properties, 0, sizeof(*properties));
    snprintf(properties->name, sizeof(properties->name), "no GPU, number %d", device);
    properties->multiProcessorCount = 4;
    properties->major = 9;
    properties->integrated = 0;
    return unlock(device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    lock();
    *value = attribute == cudaDevAttrMultiProcessorCount ? 4 : 0;
    return unlock(device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int nbytes, int device)
{
    lock();
    snprintf(id, (size_t)nbytes, "0000:%02x:00.0", (unsigned)device);
    return unlock(device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceSynchronize(void)
{
    lock();
    run_device(current_device);
    return unlock(cudaSuccess);
}

/* Streams. */

static cudaError_t create_stream(cudaStream_t *stream)
{
    cudaStream_t fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return cudaErrorMemoryAllocation;
    fresh->device = current_device;
    fresh->next = streams;
    streams = fresh;
    *stream = fresh;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    lock();
    return unlock(create_stream(stream));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    lock();
    for (cudaStream_t *at = &streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            run_until(stream, UINT64_MAX);
            *at = stream->next;
            free(stream);
            return unlock(cudaSuccess);
        }
    }
    return unlock(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    lock();
    run_until(resolve(stream), UINT64_MAX);
    return unlock(cudaSuccess);
}

/* Done after as many questions as there is work. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    lock();
    cudaStream_t at = resolve(stream);
    if (at->first)
        run_one(at);
    return unlock(at->first ? cudaErrorNotReady : cudaSuccess);
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
    lock();
    host_function *self = malloc(sizeof(*self));
    if (!self)
        return unlock(cudaErrorMemoryAllocation);
    *self = (host_function){function, argument};
    return unlock(enqueue(stream, do_host_function, self));
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                             cudaStream_t stream)
{
    (void)grid;
    (void)threads;
    (void)shared_nbytes;
    lock();
    const fake_kernel *description = kernel;
    void *copied = malloc(description->argument_nbytes);
    if (!copied)
        return unlock(cudaErrorMemoryAllocation);
    memcpy(copied, arguments[0], description->argument_nbytes);
    return unlock(enqueue(stream, description->run, copied));
}

/* Events. */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    lock();
    *event = calloc(1, sizeof(**event));
    n_events += *event != NULL;
    return unlock(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    lock();
    n_events -= event != NULL;
    free(event);
    return unlock(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    lock();
    event->stream = resolve(stream);
    event->number = event->stream->n_enqueued;
    return unlock(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    lock();
    if (event->stream)
        run_until(event->stream, event->number);
    return unlock(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    lock();
    const bool waits = event->stream && event->stream->first && event->stream->n_done < event->number;
    if (waits)
        run_one(event->stream);
    return unlock(waits ? cudaErrorNotReady : cudaSuccess);
}

static void do_wait(void *context)
{
    const struct CUevent_st *event = context;
    run_until(event->stream, event->number);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    lock();
    if (!event->stream)
        return unlock(cudaSuccess);
    cudaEvent_t as_it_is = malloc(sizeof(*as_it_is));
    if (!as_it_is)
        return unlock(cudaErrorMemoryAllocation);
    *as_it_is = *event;
    return unlock(enqueue(stream, do_wait, as_it_is));
}

/* Errors. */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static _Thread_local char text[32];
    snprintf(text, sizeof(text), "CUDA error %d", (int)error);
    return text;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return cudaGetErrorString(error);
}
