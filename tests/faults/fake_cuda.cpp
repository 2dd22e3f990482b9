/* SPDX-License-Identifier: MIT */
/* The fake CUDA runtime: devices; streams, on which work is put off until something waits for it; memory, of which it
 * knows whose it is. Where fault.c is in the program, every call can fail. */
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

extern "C" {
#include "fake_cuda.h"
#include "fault.h"

/* Programs without fault.c take these. */
__attribute__((weak)) bool fault_is_due_in_cuda(const char *) { return false; }
__attribute__((weak)) bool fault_device_is_lost(void) { return false; }
__attribute__((weak)) void fault_enter_cuda(void) {}
__attribute__((weak)) void fault_leave_cuda(void) {}
}

/* Work put off. */
struct CUstream_st {
    int device = 0;
    std::list<std::function<void()>> work;
};

namespace
{

/* The first bytes of fresh memory get values that show if they are taken for results. */
constexpr size_t most_filled_nbytes = 1 << 20;

struct block {
    size_t nbytes;
    cudaMemoryType type;
    int device; /* the device that has the memory */
};

/* One lock for the whole runtime. The objects under it are never destroyed: contexts may end after this file's objects.
 */
std::mutex &mutex = *new std::mutex;
std::list<CUstream_st> &streams = *new std::list<CUstream_st>;
std::map<const unsigned char *, block> &blocks = *new std::map<const unsigned char *, block>;
std::map<int, CUstream_st> &default_streams = *new std::map<int, CUstream_st>;
std::atomic<size_t> n_calls, n_launches;
thread_local cudaError_t last_error;
thread_local int current_device;

cudaError_t fault_of(const char *name)
{
    return strstr(name, "lloc")                      ? cudaErrorMemoryAllocation
           : strcmp(name, "cudaGetDeviceCount") == 0 ? cudaErrorNoDevice
                                                     : cudaErrorLaunchFailure;
}

/* A call of the runtime, under the lock. One that gives back or waits does its work and then fails: left undone it
 * would leak, or be under way still; and it has the news that the device was lost meanwhile. */
struct call {
    const char *name;
    bool works_first = false;

    template <typename work_type> cudaError_t operator()(work_type work) const
    {
        const bool is_due = fault_is_due_in_cuda(name);
        if (is_due && !works_first)
            return fault_of(name);
        fault_enter_cuda();
        std::unique_lock<std::mutex> guard(mutex);
        n_calls++;
        const cudaError_t error = work();
        guard.unlock();
        fault_leave_cuda();
        if (is_due || (works_first && fault_device_is_lost()))
            return fault_of(name);
        if (error != cudaSuccess)
            last_error = error;
        return error;
    }
};

/* Define a function of the runtime that is one expression, an error; AFTER_WORK() one that works first. */
#define CALL(name, parameters, result)                                                                                 \
    cudaError_t name parameters                                                                                        \
    {                                                                                                                  \
        return call{#name}([&] { return result; });                                                                    \
    }
#define AFTER_WORK(name, parameters, result)                                                                           \
    cudaError_t name parameters                                                                                        \
    {                                                                                                                  \
        return call{#name, true}([&] { return result; });                                                              \
    }

/* Sets a result. */
template <typename type> cudaError_t give(type *result, type value, cudaError_t error = cudaSuccess)
{
    *result = value;
    return error;
}

int count_devices()
{
    const char *text = getenv("FAKE_CUDA_DEVICES");
    return text ? atoi(text) : 1;
}

cudaError_t check_device(int device)
{
    return device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice;
}

/* Streams. */

CUstream_st &resolve(cudaStream_t stream)
{
    if (stream)
        return *stream;
    default_streams[current_device].device = current_device;
    return default_streams[current_device];
}

cudaError_t finish(CUstream_st &stream)
{
    for (; !stream.work.empty(); stream.work.pop_front())
        stream.work.front()();
    return cudaSuccess;
}

template <typename function_type> void for_each_stream(function_type function)
{
    for (auto &each : default_streams)
        function(each.second);
    for (CUstream_st &stream : streams)
        function(stream);
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work)
{
    CUstream_st &to = resolve(stream);
    if (to.device != current_device)
        return cudaErrorInvalidResourceHandle;
    to.work.push_back(std::move(work));
    return cudaSuccess;
}

/* Memory. */

const block *find_block(const void *memory, size_t nbytes)
{
    const unsigned char *first = static_cast<const unsigned char *>(memory);
    auto found = blocks.upper_bound(first);
    if (found == blocks.begin())
        return nullptr;
    --found;
    const size_t offset = (size_t)(first - found->first);
    return offset < found->second.nbytes && nbytes <= found->second.nbytes - offset ? &found->second : nullptr;
}

/* Returns whether the current device may use memory, which must be of this type. */
bool is_reached(const void *memory, size_t nbytes, cudaMemoryType type)
{
    const block *found = find_block(memory, nbytes);
    return found && found->type == type && (type == cudaMemoryTypeHost || found->device == current_device);
}

cudaError_t allocate(void **memory, size_t nbytes, cudaMemoryType type)
{
    void *bytes = nbytes <= PTRDIFF_MAX ? aligned_alloc(256, (nbytes + 255) / 256 * 256) : nullptr;
    if (!bytes)
        return cudaErrorMemoryAllocation;
    memset(bytes, 0xDB, std::min(nbytes, most_filled_nbytes));
    blocks[static_cast<unsigned char *>(bytes)] = {nbytes, type, type == cudaMemoryTypeDevice ? current_device : -1};
    *memory = bytes;
    return cudaSuccess;
}

cudaError_t release(void *memory, cudaMemoryType type)
{
    if (!memory)
        return cudaSuccess;
    const auto found = blocks.find(static_cast<unsigned char *>(memory));
    if (found == blocks.end() || found->second.type != type)
        return cudaErrorInvalidValue;
    for_each_stream(finish);
    blocks.erase(found);
    free(memory);
    return cudaSuccess;
}

} // namespace

/* fake_cuda.h and fault.h. */

size_t fake_cuda_calls(void) { return n_calls; }

size_t fake_cuda_launches(void) { return n_launches; }

fake_cuda_holdings fake_cuda_holds(void)
{
    const std::lock_guard<std::mutex> guard(mutex);
    fake_cuda_holdings now = {streams.size(), 0, 0};
    for (const auto &each : blocks)
        (each.second.type == cudaMemoryTypeHost ? now.pinned_nbytes : now.device_nbytes) += each.second.nbytes;
    return now;
}

void fault_lose_device(void)
{
    const std::lock_guard<std::mutex> guard(mutex);
    for_each_stream([](CUstream_st &stream) { stream.work.clear(); });
}

/* Devices and errors: devices of compute capability 9.0 with 4 multiprocessors. */

CALL(cudaGetDeviceCount, (int *n), give(n, count_devices(), count_devices() > 0 ? cudaSuccess : cudaErrorNoDevice))
CALL(cudaGetDevice, (int *device), give(device, current_device, check_device(current_device)))
CALL(cudaSetDevice, (int device), check_device(device) ? cudaErrorInvalidDevice : give(&current_device, device))
CALL(cudaDriverGetVersion, (int *version), give(version, 13000))
CALL(cudaDeviceGetAttribute, (int *value, cudaDeviceAttr attribute, int device),
     give(value, attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 4, check_device(device)))
CALL(cudaFuncGetAttributes, (cudaFuncAttributes * attributes, const void *), give(&(*attributes = {}).ptxVersion, 90))
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *n, const void *, int, size_t), give(n, 2))

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    return call{__func__}([&] {
        snprintf(properties->name, sizeof properties->name, "no GPU, number %d", device);
        return check_device(device);
    });
}

/* This call cannot fail. */
cudaError_t cudaGetLastError(void) { return std::exchange(last_error, cudaSuccess); }

const char *cudaGetErrorString(cudaError_t error)
{
    static thread_local char text[32];
    snprintf(text, sizeof text, "CUDA error %d", (int)error);
    return text;
}

/* Streams and kernels. */

AFTER_WORK(cudaStreamSynchronize, (cudaStream_t stream), finish(resolve(stream)))

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return call{__func__}([&] {
        streams.emplace_front();
        streams.front().device = current_device;
        return give(stream, &streams.front());
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return call{__func__, true}([&] {
        const size_t n = streams.size();
        finish(*stream);
        streams.remove_if([=](const CUstream_st &each) { return &each == stream; });
        return streams.size() < n ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments)
{
    return call{__func__}([&] {
        const fake_kernel *fake = static_cast<const fake_kernel *>(kernel);
        std::vector<std::vector<unsigned char>> copied;
        for (size_t k = 0; k < FAKE_KERNEL_ARGUMENTS && fake->nbytes[k] > 0; k++) {
            const unsigned char *argument = static_cast<const unsigned char *>(arguments[k]);
            copied.emplace_back(argument, argument + fake->nbytes[k]);
        }
        if (config->gridDim.x == 0 || config->blockDim.x == 0)
            return cudaErrorInvalidConfiguration;
#if CUDART_VERSION >= 12050
        for (unsigned k = 0; k < config->numAttrs; k++)
            if (config->attrs[k].id == cudaLaunchAttributePreferredSharedMemoryCarveout &&
                config->attrs[k].val.sharedMemCarveout > 100)
                return cudaErrorInvalidValue;
#endif
        n_launches++;
        return enqueue(config->stream, [=]() mutable {
            std::vector<void *> pointers;
            for (std::vector<unsigned char> &argument : copied)
                pointers.push_back(argument.data());
            fake->run(fake, pointers.data());
        });
    });
}

/* Memory. */

CALL(cudaMalloc, (void **memory, size_t nbytes), allocate(memory, nbytes, cudaMemoryTypeDevice))
AFTER_WORK(cudaFree, (void *memory), release(memory, cudaMemoryTypeDevice))
CALL(cudaHostAlloc, (void **memory, size_t nbytes, unsigned), allocate(memory, nbytes, cudaMemoryTypeHost))
AFTER_WORK(cudaFreeHost, (void *memory), release(memory, cudaMemoryTypeHost))
CALL(cudaHostGetDevicePointer, (void **device, void *host, unsigned),
     give(device, host, is_reached(host, 1, cudaMemoryTypeHost) ? cudaSuccess : cudaErrorInvalidValue))

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    return call{__func__}([&] {
        const block *found = find_block(memory, 1);
        *attributes = {};
        attributes->type = found ? found->type : cudaMemoryTypeUnregistered;
        attributes->device = found ? found->device : -1;
        attributes->devicePointer = found ? const_cast<void *>(memory) : nullptr;
        attributes->hostPointer = attributes->type == cudaMemoryTypeHost ? attributes->devicePointer : nullptr;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t *n_free, size_t *n_total)
{
    return call{__func__}([&] {
        *n_free = *n_total = (size_t)64 << 30;
        for (const auto &each : blocks)
            *n_free -= each.second.device == current_device ? each.second.nbytes : 0;
        return cudaSuccess;
    });
}

/* The direction must be right, and the host's side pinned, as only such a copy is asynchronous. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    const cudaMemoryType host = cudaMemoryTypeHost, device = cudaMemoryTypeDevice;
    return call{__func__}([&] {
        if (nbytes > 0 && (!is_reached(from, nbytes, kind == cudaMemcpyHostToDevice ? host : device) ||
                           !is_reached(to, nbytes, kind == cudaMemcpyDeviceToHost ? host : device)))
            return cudaErrorInvalidValue;
        return enqueue(stream, [=] { memcpy(to, from, nbytes); });
    });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, cudaMemcpyKind)
{
    return call{__func__}([&] {
        for_each_stream(finish);
        memcpy(to, from, nbytes);
        return cudaSuccess;
    });
}
