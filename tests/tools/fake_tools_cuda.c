/* SPDX-License-Identifier: MIT */
/* What softqam-bench takes of CUDA beyond the fake runtime of tests/faults: graphs, events, and its own kernels. Rates
 * mean nothing; what is launched where, in which order, and what is said of it does. */
#include <stdlib.h>
#include <string.h>

#include "bench/gpu_kernels.h"
#include "common/clock.h"
#include "fake_cuda.h"

/* A graph: what was launched while a stream was captured. */
struct launch {
    struct launch *next;
    const fake_kernel *kernel;
    unsigned char argument[];
};

struct CUgraph_st {
    struct launch *first;
    struct launch **end;
};

static struct CUgraph_st *captured;

cudaError_t __real_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                                    cudaStream_t stream);
cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                                    cudaStream_t stream);

cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t shared_nbytes,
                                    cudaStream_t stream)
{
    const fake_kernel *description = kernel;
    if (!captured)
        return __real_cudaLaunchKernel(kernel, grid, threads, arguments, shared_nbytes, stream);
    struct launch *launch = malloc(sizeof *launch + description->argument_nbytes);
    if (!launch)
        return cudaErrorMemoryAllocation;
    launch->next = NULL;
    launch->kernel = description;
    memcpy(launch->argument, arguments[0], description->argument_nbytes);
    *captured->end = launch;
    captured->end = &launch->next;
    return cudaSuccess;
}

static cudaError_t launch_one(const fake_kernel *kernel, void *argument, cudaStream_t stream)
{
    return __wrap_cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, &argument, 0, stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    (void)stream;
    (void)mode;
    if (captured)
        return cudaErrorStreamCaptureUnsupported;
    captured = calloc(1, sizeof *captured);
    if (captured)
        captured->end = &captured->first;
    return captured ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    (void)stream;
    *graph = captured;
    captured = NULL;
    return *graph ? cudaSuccess : cudaErrorStreamCaptureUnmatched;
}

/* The launches go over to what is instantiated. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    struct CUgraph_st *taken = calloc(1, sizeof *taken);
    if (!taken)
        return cudaErrorMemoryAllocation;
    taken->first = graph->first;
    graph->first = NULL;
    *executable = (cudaGraphExec_t)taken;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (struct launch *l = ((cudaGraph_t)executable)->first; l && error == cudaSuccess; l = l->next)
        error = launch_one(l->kernel, l->argument, stream);
    return error;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    while (graph->first) {
        struct launch *next = graph->first->next;
        free(graph->first);
        graph->first = next;
    }
    free(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return cudaGraphDestroy((cudaGraph_t)executable); }

/* Events: the time when all before them is done. */
struct CUevent_st {
    double seconds;
};

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = calloc(1, sizeof **event);
    return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const cudaError_t error = cudaStreamSynchronize(stream);
    event->seconds = clock_seconds();
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    *milliseconds = (float)(1e3 * (end->seconds - start->seconds));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }

/* The kernels. */

static void run_copy(void *argument)
{
    const struct bench_copy *copy = argument;
    const size_t out_nbytes = copy->n_symbols * copy->out_nbytes + copy->n_more;
    if (copy->in_nbytes == copy->out_nbytes && copy->n_more == 0) /* in front of softqam in a chain */
        memcpy(copy->out, copy->in, out_nbytes);
    else if (copy->out)
        memset(copy->out, *(const unsigned char *)copy->in, out_nbytes);
}

cudaError_t bench_copy_kernel(const struct bench_copy *copy, cudaStream_t stream)
{
    static const fake_kernel kernel = {run_copy, sizeof *copy};
    struct bench_copy argument = *copy;
    if (!fake_cuda_reaches(copy->in, copy->n_symbols * copy->in_nbytes) ||
        (copy->out && !fake_cuda_reaches(copy->out, copy->n_symbols * copy->out_nbytes + copy->n_more)) ||
        (copy->noise_var && !fake_cuda_reaches(copy->noise_var, copy->n_symbols * sizeof(float))))
        return cudaErrorIllegalAddress;
    return launch_one(&kernel, &argument, stream);
}

static void run_nothing(void *argument) { (void)argument; }

cudaError_t bench_empty_kernel(cudaStream_t stream)
{
    static const fake_kernel kernel = {run_nothing, 1};
    unsigned char argument = 0;
    return launch_one(&kernel, &argument, stream);
}
