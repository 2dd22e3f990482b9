/* SPDX-License-Identifier: MIT */
/* The fake CUDA runtime: devices and errors; streams, on which work is put off until something waits for it; memory,
 * blocks of malloc of which it knows whose they are. */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

/* Of fresh memory, so much has bytes that show when they are taken for results. */
enum { MAX_DEVICES = 16, MOST_FILLED_NBYTES = 1 << 20 };

/* One lock for all of the runtime, which every function of CUDA's takes. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t n_calls, n_launches;
static _Thread_local cudaError_t last_error;
static _Thread_local int current_device;

static void lock(void)
{
    pthread_mutex_lock(&mutex);
    n_calls++;
}

/* Gives the lock back and returns `error`, which becomes the thread's last one unless it is none. */
static cudaError_t unlock(cudaError_t error)
{
    pthread_mutex_unlock(&mutex);
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

static size_t read_count(const size_t *count)
{
    pthread_mutex_lock(&mutex);
    const size_t n = *count;
    pthread_mutex_unlock(&mutex);
    return n;
}

size_t fake_cuda_calls(void) { return read_count(&n_calls); }

size_t fake_cuda_launches(void) { return read_count(&n_launches); }

int fault_current_device(void) { return current_device; }

/* A number in the environment. */
static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

/* Devices. */

static int count_devices(void)
{
    const int n = setting("FAKE_CUDA_DEVICES", 1);
    return n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : n;
}

static cudaError_t check_device(int device)
{
    return device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice;
}

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
    const cudaError_t error = check_device(device);
    if (error == cudaSuccess)
        current_device = device;
    return unlock(error);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    lock();
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "no GPU, number %d", device);
    properties->multiProcessorCount = 4;
    properties->major = 9;
    properties->integrated = 0;
    return unlock(check_device(device));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    lock();
    *value = attribute == cudaDevAttrMultiProcessorCount ? 4 : 0;
    return unlock(check_device(device));
}

cudaError_t cudaDriverGetVersion(int *version)
{
    lock();
    *version = setting("FAKE_CUDA_DRIVER", CUDART_VERSION);
    return unlock(cudaSuccess);
}

/* Errors. */

cudaError_t cudaGetLastError(void)
{
    lock();
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    unlock(cudaSuccess);
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static _Thread_local char text[32];
    snprintf(text, sizeof text, "CUDA error %d", (int)error);
    return text;
}

/* Streams. */

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

static struct CUstream_st *streams;
static struct CUstream_st default_streams[MAX_DEVICES];

static cudaStream_t resolve(cudaStream_t stream)
{
    if (stream)
        return stream;
    default_streams[current_device].device = current_device;
    return &default_streams[current_device];
}

/* Does all that is put off on a stream, or loses it. */
static void finish(cudaStream_t stream, bool is_lost)
{
    while (stream->first) {
        operation *one = stream->first;
        stream->first = one->next;
        if (!is_lost)
            one->work(one->context);
        free(one->context);
        free(one);
    }
}

static void finish_device(int device, bool is_lost)
{
    finish(&default_streams[device], is_lost);
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        if (stream->device == device)
            finish(stream, is_lost);
}

void fault_lose_device(void)
{
    lock();
    finish_device(current_device, true);
    unlock(cudaSuccess);
}

/* Puts work off on a stream. Takes `context` over, whatever happens: memory of malloc, freed after the work. */
static cudaError_t enqueue(cudaStream_t stream, void (*work)(void *), void *context)
{
    cudaStream_t to = resolve(stream);
    operation *one = malloc(sizeof *one);
    if (!one || to->device != current_device) {
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

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    lock();
    *stream = calloc(1, sizeof **stream);
    if (!*stream)
        return unlock(cudaErrorMemoryAllocation);
    **stream = (struct CUstream_st){.next = streams, .device = current_device};
    streams = *stream;
    return unlock(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    lock();
    for (cudaStream_t *at = &streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            finish(stream, false);
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
    finish(resolve(stream), false);
    return unlock(cudaSuccess);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                             cudaStream_t stream)
{
    (void)grid;
    (void)threads;
    (void)shared_nbytes;
    lock();
    n_launches++;
    const fake_kernel *description = kernel;
    void *copied = malloc(description->argument_nbytes);
    if (!copied)
        return unlock(cudaErrorMemoryAllocation);
    memcpy(copied, arguments[0], description->argument_nbytes);
    return unlock(enqueue(stream, description->run, copied));
}

/* Memory. */

/* Memory that the runtime knows. */
typedef struct block {
    struct block *next;
    unsigned char *memory;
    size_t nbytes;
    enum cudaMemoryType type;
    int device; /* of device memory */
} block;

static block *blocks;

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

fake_cuda_holdings fake_cuda_holds(void)
{
    fake_cuda_holdings now = {0};
    pthread_mutex_lock(&mutex);
    for (cudaStream_t stream = streams; stream; stream = stream->next)
        now.streams++;
    for (const block *b = blocks; b; b = b->next)
        *(b->type == cudaMemoryTypeHost ? &now.pinned_nbytes : &now.device_nbytes) += b->nbytes;
    pthread_mutex_unlock(&mutex);
    return now;
}

static cudaError_t allocate(void **memory, size_t nbytes, enum cudaMemoryType type)
{
    block *fresh = malloc(sizeof *fresh);
    void *bytes = nbytes <= PTRDIFF_MAX ? aligned_alloc(256, (nbytes + 255) / 256 * 256) : NULL;
    if (!fresh || !bytes) {
        free(bytes);
        free(fresh);
        return cudaErrorMemoryAllocation;
    }
    memset(bytes, 0xDB, nbytes < MOST_FILLED_NBYTES ? nbytes : MOST_FILLED_NBYTES);
    *fresh = (block){blocks, bytes, nbytes, type, type == cudaMemoryTypeDevice ? current_device : -1};
    blocks = fresh;
    *memory = bytes;
    return cudaSuccess;
}

static cudaError_t release(void *memory, enum cudaMemoryType type)
{
    if (!memory)
        return cudaSuccess;
    for (block **at = &blocks; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->memory != memory || b->type != type)
            continue;
        for (int device = 0; device < MAX_DEVICES; device++)
            finish_device(device, false);
        *at = b->next;
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
    return unlock(release(memory, cudaMemoryTypeDevice));
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
    return unlock(release(memory, cudaMemoryTypeHost));
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
    memset(attributes, 0, sizeof *attributes);
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
    copy *self = malloc(sizeof *self);
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
    finish_device(current_device, false);
    memcpy(to, from, nbytes);
    return unlock(cudaSuccess);
}

cudaError_t cudaMemset(void *memory, int byte, size_t nbytes)
{
    lock();
    finish_device(current_device, false);
    const bool known = reaches(memory, nbytes);
    if (known)
        memset(memory, byte, nbytes);
    return unlock(known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t nbytes, cudaStream_t stream)
{
    (void)stream; /* done at once, after all that is put off */
    return cudaMemset(memory, byte, nbytes);
}
