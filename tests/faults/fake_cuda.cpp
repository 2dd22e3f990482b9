/* SPDX-License-Identifier: MIT */
/* The fake CUDA runtime: devices; streams, on which work is put off until something waits for it; memory, of which it
 * knows whose it is. Where fault.c is in the program, every call can fail. */
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

extern "C" {
#include "fake_cuda.h"
#include "fault.h"

/* Where fault.c is not in the program. */
__attribute__((weak)) bool fault_is_due_in_cuda(const char *) { return false; }
__attribute__((weak)) bool fault_device_is_lost(void) { return false; }
__attribute__((weak)) void fault_enter_cuda(void) {}
__attribute__((weak)) void fault_leave_cuda(void) {}
}

/* Work put off. */
struct CUstream_st {
    int device = 0;
    std::deque<std::function<void()>> work;
};

namespace
{

constexpr int max_devices = 16;
/* The first bytes of fresh memory get values that show if they are taken for results. */
constexpr size_t most_filled_nbytes = 1 << 20;

struct block {
    size_t nbytes;
    cudaMemoryType type;
    int device; /* of device memory */
};

/* One lock for the whole runtime. The objects under it are never destroyed: contexts may end after this file's objects.
 */
std::mutex &mutex = *new std::mutex;
std::list<CUstream_st> &streams = *new std::list<CUstream_st>;
std::map<const unsigned char *, block> &blocks = *new std::map<const unsigned char *, block>;
CUstream_st *const default_streams = new CUstream_st[max_devices];
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

int count_devices()
{
    const char *text = getenv("FAKE_CUDA_DEVICES");
    return text ? std::clamp(atoi(text), 0, max_devices) : 1;
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

void finish(CUstream_st &stream)
{
    for (; !stream.work.empty(); stream.work.pop_front())
        stream.work.front()();
}

template <typename function_type> void for_each_stream(int device, function_type function)
{
    function(default_streams[device]);
    for (CUstream_st &stream : streams)
        if (stream.device == device)
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
    const size_t at = (size_t)(first - found->first);
    return at < found->second.nbytes && nbytes <= found->second.nbytes - at ? &found->second : nullptr;
}

bool reaches(const void *memory, size_t nbytes)
{
    const block *found = find_block(memory, nbytes);
    return found && (found->type == cudaMemoryTypeHost || found->device == current_device);
}

cudaError_t allocate(void **memory, size_t nbytes, cudaMemoryType type)
{
    void *bytes = nbytes <= PTRDIFF_MAX ? aligned_alloc(256, (nbytes + 255) / 256 * 256) : nullptr;
    if (!bytes)
        return cudaErrorMemoryAllocation;
    memset(bytes, 0xDB, nbytes < most_filled_nbytes ? nbytes : most_filled_nbytes);
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
    for (int device = 0; device < max_devices; device++)
        for_each_stream(device, finish);
    blocks.erase(found);
    free(memory);
    return cudaSuccess;
}

cudaMemoryType type_of(const void *memory, size_t nbytes)
{
    const block *found = find_block(memory, nbytes);
    return found ? found->type : cudaMemoryTypeUnregistered;
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

bool fake_cuda_reaches(const void *memory, size_t nbytes)
{
    const std::lock_guard<std::mutex> guard(mutex);
    return reaches(memory, nbytes);
}

void fault_lose_device(void)
{
    const std::lock_guard<std::mutex> guard(mutex);
    for_each_stream(current_device, [](CUstream_st &stream) { stream.work.clear(); });
}

/* Devices and errors. */

cudaError_t cudaGetDeviceCount(int *n)
{
    return call{__func__}([&] {
        *n = count_devices();
        return *n > 0 ? cudaSuccess : cudaErrorNoDevice;
    });
}

cudaError_t cudaGetDevice(int *device)
{
    return call{__func__}([&] {
        *device = current_device;
        return count_devices() > 0 ? cudaSuccess : cudaErrorNoDevice;
    });
}

cudaError_t cudaSetDevice(int device)
{
    return call{__func__}([&] {
        const cudaError_t error = check_device(device);
        if (error == cudaSuccess)
            current_device = device;
        return error;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    return call{__func__}([&] {
        memset(properties, 0, sizeof *properties);
        snprintf(properties->name, sizeof properties->name, "no GPU, number %d", device);
        return check_device(device);
    });
}

/* This call cannot fail. */
cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static thread_local char text[32];
    snprintf(text, sizeof text, "CUDA error %d", (int)error);
    return text;
}

/* Streams. */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return call{__func__}([&] {
        streams.emplace_front();
        *stream = &streams.front();
        (*stream)->device = current_device;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return call{__func__, true}([&] {
        const auto is_it = [=](const CUstream_st &each) { return &each == stream; };
        const auto found = std::find_if(streams.begin(), streams.end(), is_it);
        if (found == streams.end())
            return cudaErrorInvalidResourceHandle;
        finish(*found);
        streams.erase(found);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return call{__func__, true}([&] {
        finish(resolve(stream));
        return cudaSuccess;
    });
}

/* Kernels. */

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments)
{
    const fake_kernel *fake = static_cast<const fake_kernel *>(kernel);
    const bool is_reached = fake->is_reached(fake, arguments);
    return call{__func__}([&] {
        std::vector<std::vector<unsigned char>> copied;
        for (size_t k = 0; k < FAKE_KERNEL_ARGUMENTS && fake->nbytes[k] > 0; k++) {
            const unsigned char *argument = static_cast<const unsigned char *>(arguments[k]);
            copied.emplace_back(argument, argument + fake->nbytes[k]);
        }
        if (!is_reached)
            return cudaErrorIllegalAddress;
        if (config->gridDim.x == 0 || config->blockDim.x == 0)
            return cudaErrorInvalidConfiguration;
        n_launches++;
        return enqueue(config->stream, [=]() mutable {
            std::vector<void *> pointers;
            for (std::vector<unsigned char> &argument : copied)
                pointers.push_back(argument.data());
            fake->run(fake, pointers.data());
        });
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
    return call{__func__}([&] {
        *attributes = {};
        attributes->ptxVersion = 90;
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *, int, size_t)
{
    return call{__func__}([&] {
        *n = 2;
        return cudaSuccess;
    });
}

/* A device of compute capability 9.0 with 4 multiprocessors. */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    return call{__func__}([&] {
        *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 4;
        return check_device(device);
    });
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return call{__func__}([&] {
        *version = 12030;
        return cudaSuccess;
    });
}

/* Memory. */

cudaError_t cudaMalloc(void **memory, size_t nbytes)
{
    return call{__func__}([&] { return allocate(memory, nbytes, cudaMemoryTypeDevice); });
}

cudaError_t cudaFree(void *memory)
{
    return call{__func__, true}([&] { return release(memory, cudaMemoryTypeDevice); });
}

cudaError_t cudaHostAlloc(void **memory, size_t nbytes, unsigned)
{
    return call{__func__}([&] { return allocate(memory, nbytes, cudaMemoryTypeHost); });
}

cudaError_t cudaFreeHost(void *memory)
{
    return call{__func__, true}([&] { return release(memory, cudaMemoryTypeHost); });
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    return call{__func__}([&] {
        *device = host;
        return type_of(host, 1) == cudaMemoryTypeHost ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    return call{__func__}([&] {
        const block *found = find_block(memory, 1);
        void *pointer = const_cast<void *>(memory);
        *attributes = {};
        attributes->type = found ? found->type : cudaMemoryTypeUnregistered;
        attributes->device = found ? found->device : -1;
        attributes->hostPointer = found && found->type == cudaMemoryTypeHost ? pointer : nullptr;
        attributes->devicePointer = found ? pointer : nullptr;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t *n_free, size_t *n_total)
{
    return call{__func__}([&] {
        *n_total = (size_t)64 << 30;
        *n_free = *n_total;
        for (const auto &each : blocks)
            *n_free -= each.second.device == current_device ? each.second.nbytes : 0;
        return cudaSuccess;
    });
}

/* The direction must be right, and the host's side pinned, as only such a copy is asynchronous. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return call{__func__}([&] {
        const cudaMemoryType host = cudaMemoryTypeHost, device = cudaMemoryTypeDevice;
        if (nbytes == 0)
            return cudaSuccess;
        if (type_of(from, nbytes) != (kind == cudaMemcpyHostToDevice ? host : device) ||
            type_of(to, nbytes) != (kind == cudaMemcpyDeviceToHost ? host : device) || !reaches(from, nbytes) ||
            !reaches(to, nbytes))
            return cudaErrorInvalidValue;
        return enqueue(
            stream, [=] { memcpy(to, from, nbytes); });
    });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, cudaMemcpyKind)
{
    return call{__func__}([&] {
        for_each_stream(current_device, finish);
        memcpy(to, from, nbytes);
        return cudaSuccess;
    });
}
