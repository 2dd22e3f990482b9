/* SPDX-License-Identifier: MIT */
/* Finds the kernels, and what a device can do with them. */
#include "kernel_list.h"

#include <pthread.h>
#include <stdatomic.h>

#include "cuda_calls.h"

enum { CACHED_DEVICES = 64 };

typedef struct known_kernel {
    softqam_kernel kernel;
    atomic_uint devices[CACHED_DEVICES]; /* what query() found; 0: nothing yet */
} known_kernel;

static known_kernel all_kernels[N_INPUT_FORMATS][N_OUTPUT_FORMATS][N_KERNELS];

/* Returns a kernel with BLOCK_THREADS threads, and the more that write zeros and fillers. */
static softqam_kernel block_kernel(const void *address, unsigned n_more)
{
    return (softqam_kernel){.address = address, .threads = BLOCK_THREADS + n_more};
}

static void find_kernels(void)
{
    _Static_assert(N_INPUT_FORMATS == 4, "by_input has kernels for each");
    static softqam_plain_kernels *const by_input[N_INPUT_FORMATS] = {
        [SOFTQAM_INPUT_CF32] = softqam_plain_kernels_cf32,
        [SOFTQAM_INPUT_CS16] = softqam_plain_kernels_cs16,
        [SOFTQAM_INPUT_CS8] = softqam_plain_kernels_cs8,
        [SOFTQAM_INPUT_CF16] = softqam_plain_kernels_cf16,
    };
    _Static_assert(N_OUTPUT_FORMATS == 5, "soft and by_output have kernels for each");
    static softqam_soft_kernels *const soft[N_OUTPUT_FORMATS] = {
        [SOFTQAM_OUTPUT_U8] = softqam_soft_kernel_u8,   [SOFTQAM_OUTPUT_S8] = softqam_soft_kernel_s8,
        [SOFTQAM_OUTPUT_S16] = softqam_soft_kernel_s16, [SOFTQAM_OUTPUT_F16] = softqam_soft_kernel_f16,
        [SOFTQAM_OUTPUT_F32] = softqam_soft_kernel_f32,
    };
    static softqam_prepared_kernel *const by_output[N_OUTPUT_FORMATS] = {
        [SOFTQAM_OUTPUT_U8] = softqam_prepared_kernel_u8,   [SOFTQAM_OUTPUT_S8] = softqam_prepared_kernel_s8,
        [SOFTQAM_OUTPUT_S16] = softqam_prepared_kernel_s16, [SOFTQAM_OUTPUT_F16] = softqam_prepared_kernel_f16,
        [SOFTQAM_OUTPUT_F32] = softqam_prepared_kernel_f32,
    };
    for (int in = 0; in < N_INPUT_FORMATS; in++)
        for (int out = 0; out < N_OUTPUT_FORMATS; out++) {
            const softqam_output_format format = (softqam_output_format)out;
            known_kernel *to = all_kernels[in][out];
            softqam_element_kernels *elements = format == SOFTQAM_OUTPUT_S8    ? softqam_element_kernel_s8
                                                : format == SOFTQAM_OUTPUT_F16 ? softqam_element_kernel_f16
                                                                               : NULL;
            to[KERNEL_SEGMENTS].kernel = block_kernel(softqam_segment_kernel(format), 0);
            to[KERNEL_MEMORY].kernel = block_kernel(by_output[out](false), 0);
            to[KERNEL_ARGUMENTS].kernel = block_kernel(by_output[out](true), 0);
            for (int bits = -1; bits < N_AXIS_KINDS; bits++)
                for (int k = 0; k < 4; k++)
                    to[softqam_soft_number(bits, k / 2, k % 2)].kernel = block_kernel(soft[out](bits, k / 2, k % 2), 0);
            for (int bits = 0; bits < N_AXIS_KINDS; bits++) {
                for (int kind = 0; kind < N_PLAIN_KINDS; kind++)
                    to[softqam_plain_number(kind, bits)].kernel = by_input[in](format, bits, kind);
                for (unsigned neighbours = 1; elements && neighbours <= 4; neighbours *= 2)
                    for (int k = 0; k < 4; k++)
                        to[softqam_element_number(bits, neighbours, k / 2, k % 2)].kernel =
                            block_kernel(elements(bits, neighbours, k / 2, k % 2), k / 2 ? 0 : WARP_THREADS);
            }
        }
}

static known_kernel *kernels_of(const softqam_params *params)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_kernels);
    return all_kernels[params->input_format][params->output_format];
}

const softqam_kernel *softqam_kernel_of(const softqam_params *params, int number)
{
    return &kernels_of(params)[number].kernel;
}

/* Asks CUDA how many thread blocks of a kernel a device holds, and whether they may overlap with the kernel before:
 * programmatic dependent launch needs compute capability 9.0 of device and code and, for graphs, CUDA 12.3. */
static softqam_status query(unsigned *found, const softqam_kernel *kernel, int device)
{
    struct cudaFuncAttributes attributes;
    int per_multiprocessor = 0, multiprocessors = 0, major = 0, driver_version = 0;
    TRY_CUDA(cudaDeviceGetAttribute, &multiprocessors, cudaDevAttrMultiProcessorCount, device);
    TRY_CUDA(cudaDeviceGetAttribute, &major, cudaDevAttrComputeCapabilityMajor, device);
    TRY_CUDA(cudaDriverGetVersion, &driver_version);
    TRY_CUDA(cudaFuncGetAttributes, &attributes, kernel->address);
    TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor, &per_multiprocessor, kernel->address, (int)kernel->threads,
             0);
    const bool overlaps = major >= 9 && attributes.ptxVersion >= 90 && driver_version >= 12030;
    *found = 2 * (unsigned)(per_multiprocessor * multiprocessors) + overlaps;
    return softqam_cuda_status(*found < 2 ? cudaErrorInvalidConfiguration : cudaSuccess, "preparing the kernels");
}

/* A device is queried once. */
softqam_status softqam_kernel_load(device_kernel *loaded, const softqam_params *params, int number)
{
    known_kernel *known = &kernels_of(params)[number];
    int device = 0;
    TRY_CUDA(cudaGetDevice, &device);
    const bool is_cached = device < CACHED_DEVICES;
    unsigned found = is_cached ? atomic_load_explicit(&known->devices[device], memory_order_relaxed) : 0;
    if (found == 0) {
        TRY(query(&found, &known->kernel, device));
        if (is_cached)
            atomic_store_explicit(&known->devices[device], found, memory_order_relaxed);
    }
    *loaded = (device_kernel){&known->kernel, found / 2, found % 2};
    return SOFTQAM_OK;
}

softqam_status softqam_kernels_prepare(const softqam_params *params)
{
    device_kernel ignored;
    for (int k = 0; k < N_KERNELS; k++)
        if (kernels_of(params)[k].kernel.address)
            TRY(softqam_kernel_load(&ignored, params, k));
    return SOFTQAM_OK;
}
