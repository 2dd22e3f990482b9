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

/* Kernels of any modulation come before those of one. */
enum { N_AXIS_KINDS = MAX_AXIS_BITS - ANY_AXIS_BITS + 1, N_KERNELS = N_KERNEL_KINDS * N_AXIS_KINDS };

static known_kernel all_kernels[N_INPUT_FORMATS][N_OUTPUT_FORMATS][N_KERNELS];

static void find_kernels(void)
{
    _Static_assert(N_INPUT_FORMATS == 4 && N_OUTPUT_FORMATS == 5,
                   "List below the functions of the new format's .cu files");
    static softqam_kernel_file *const files[] = {
        softqam_plain_kernels_cf32,  softqam_plain_kernels_cs16, softqam_plain_kernels_cs8,
        softqam_plain_kernels_cf16,  softqam_segment_kernels,    softqam_soft_kernel_u8,
        softqam_soft_kernel_s8,      softqam_soft_kernel_s16,    softqam_soft_kernel_f16,
        softqam_soft_kernel_f32,     softqam_element_kernel_s8,  softqam_element_kernel_f16,
        softqam_prepared_kernel_u8,  softqam_prepared_kernel_s8, softqam_prepared_kernel_s16,
        softqam_prepared_kernel_f16, softqam_prepared_kernel_f32};
    for (unsigned n = 0; n < N_INPUT_FORMATS * N_OUTPUT_FORMATS * N_KERNELS; n++) {
        const unsigned k = n % N_KERNELS, formats = n / N_KERNELS;
        const softqam_kernel_key key = {
            (softqam_input_format)(formats / N_OUTPUT_FORMATS), (softqam_output_format)(formats % N_OUTPUT_FORMATS),
            (softqam_kernel_kind)(k / N_AXIS_KINDS), (int)(k % N_AXIS_KINDS) + ANY_AXIS_BITS};
        softqam_kernel *kernel = &all_kernels[key.input_format][key.output_format][k].kernel;
        for (size_t file = 0; !kernel->address && file < sizeof files / sizeof files[0]; file++)
            *kernel = files[file](key);
        kernel->kind = key.kind;
    }
}

static known_kernel *kernels_of(const softqam_params *params)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_kernels);
    return all_kernels[params->input_format][params->output_format];
}

const softqam_kernel *softqam_kernel_of(const softqam_params *params, softqam_kernel_kind kind, int axis_bits)
{
    const softqam_kernel *kernel = &kernels_of(params)[(int)kind * N_AXIS_KINDS + axis_bits - ANY_AXIS_BITS].kernel;
    return kernel->address ? kernel : NULL;
}

/* query() returns what it finds in one number, of which these are the units. */
enum { RESIDENT_BLOCK = 2, SHARED_SHARE = 1 << 17 };
static_assert(SHARED_SHARES < (1 << 15), "The number has 15 bits for it");

/* Asks CUDA how many thread blocks of a kernel a device holds, and whether they may overlap with the kernel before:
 * programmatic dependent launch needs compute capability 9.0 of device and code and, for graphs, CUDA 12.3. Before
 * CUDA 12.5 a launch cannot say how much shared memory it needs. */
static softqam_status query(unsigned *found, const softqam_kernel *kernel, int device)
{
    struct cudaFuncAttributes attributes;
    int per_multiprocessor = 0, multiprocessors = 0, major = 0, driver_version = 0, all_shared = 0, of_driver = 0;
    TRY_CUDA(cudaDeviceGetAttribute, &multiprocessors, cudaDevAttrMultiProcessorCount, device);
    TRY_CUDA(cudaDeviceGetAttribute, &major, cudaDevAttrComputeCapabilityMajor, device);
    TRY_CUDA(cudaDriverGetVersion, &driver_version);
    TRY_CUDA(cudaFuncGetAttributes, &attributes, kernel->address);
    TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor, &per_multiprocessor, kernel->address, (int)kernel->threads,
             0);
    TRY_CUDA(cudaDeviceGetAttribute, &all_shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    TRY_CUDA(cudaDeviceGetAttribute, &of_driver, cudaDevAttrReservedSharedMemoryPerBlock, device);
    const bool overlaps = major >= 9 && attributes.ptxVersion >= 90 && driver_version >= 12030;
    const size_t of_block = attributes.sharedSizeBytes + (size_t)of_driver;
    const unsigned shared_share =
        overlaps && driver_version >= 12050 ? (unsigned)(of_block * SHARED_SHARES / (size_t)all_shared) : 0;
    const unsigned n_resident = (unsigned)(per_multiprocessor * multiprocessors);
    *found = shared_share * SHARED_SHARE + n_resident * RESIDENT_BLOCK + overlaps;
    return softqam_cuda_status(n_resident == 0 ? cudaErrorInvalidConfiguration : cudaSuccess, "preparing the kernels");
}

/* Queries each device once for a kernel, and keeps the answer. */
softqam_status softqam_kernel_load(device_kernel *loaded, const softqam_kernel *kernel)
{
    known_kernel *known = (known_kernel *)(uintptr_t)kernel; /* its first member */
    int device = 0;
    TRY_CUDA(cudaGetDevice, &device);
    const bool is_cached = device < CACHED_DEVICES;
    unsigned found = is_cached ? atomic_load_explicit(&known->devices[device], memory_order_relaxed) : 0;
    if (found == 0) {
        TRY(query(&found, kernel, device));
        if (is_cached)
            atomic_store_explicit(&known->devices[device], found, memory_order_relaxed);
    }
    *loaded = (device_kernel){
        .kernel = kernel,
        .resident_blocks = found % SHARED_SHARE / RESIDENT_BLOCK,
        .overlaps = found % RESIDENT_BLOCK != 0,
        .shared_share = found / SHARED_SHARE,
    };
    return SOFTQAM_OK;
}

softqam_status softqam_kernels_prepare(const softqam_params *params)
{
    device_kernel ignored;
    for (int k = 0; k < N_KERNELS; k++) {
        const softqam_kernel *kernel = &kernels_of(params)[k].kernel;
        if (kernel->address)
            TRY(softqam_kernel_load(&ignored, kernel));
    }
    return SOFTQAM_OK;
}
