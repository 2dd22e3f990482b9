/* SPDX-License-Identifier: MIT */
/* The launcher: which kernel, in what shape. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kernels.h"

/* Returns from the calling function with CUDA's error if a call fails. */
#define TRY_LAUNCH(call)                                                                                               \
    do {                                                                                                               \
        const cudaError_t try_error = (call);                                                                          \
        if (try_error != cudaSuccess)                                                                                  \
            return try_error;                                                                                          \
    } while (0)

enum { CACHED_DEVICES = 64 };

/* The kernels for a pair of formats: of plain calls, of small ones and of codewords by bits an axis, of few and of many
 * segments, and of those with soft buffers or in device memory. */
enum {
    PLAIN_KERNELS = MAX_AXIS_BITS + 1,
    SMALL_PLAIN = PLAIN_KERNELS,
    CODEWORD_PLAIN = 2 * PLAIN_KERNELS,
    KERNEL_FEW_SEGMENTS = 3 * PLAIN_KERNELS,
    KERNEL_MANY_SEGMENTS,
    KERNEL_SOFT_BUFFERS,
    KERNELS
};

/* What a device said of each kernel; 0: not queried yet. */
typedef struct cached_properties {
    atomic_uint resident_blocks[KERNELS]; /* that it holds at once */
    atomic_uint launch_attributes;        /* their number and 1: 2 with programmatic dependent launch */
} cached_properties;

typedef struct softqam_kernels {
    const void *addresses[KERNELS];
    softqam_plain_kernel plain[PLAIN_KERNELS];
    cached_properties *devices; /* CACHED_DEVICES of them */
} softqam_kernels;

static softqam_kernels all_kernels[N_INPUT_FORMATS][N_OUTPUT_FORMATS];

static void find_kernels(void)
{
    static cached_properties devices[N_INPUT_FORMATS][N_OUTPUT_FORMATS][CACHED_DEVICES];
    _Static_assert(N_INPUT_FORMATS == 4, "by_input has kernels for each");
    static softqam_plain_kernels *const by_input[N_INPUT_FORMATS] = {
        [SOFTQAM_INPUT_CF32] = softqam_plain_kernels_cf32,
        [SOFTQAM_INPUT_CS16] = softqam_plain_kernels_cs16,
        [SOFTQAM_INPUT_CS8] = softqam_plain_kernels_cs8,
        [SOFTQAM_INPUT_CF16] = softqam_plain_kernels_cf16,
    };
    for (int in = 0; in < N_INPUT_FORMATS; in++)
        for (int out = 0; out < N_OUTPUT_FORMATS; out++) {
            softqam_kernels *kernels = &all_kernels[in][out];
            kernels->devices = devices[in][out];
            for (int m = 0; m < PLAIN_KERNELS; m++) {
                kernels->plain[m] = by_input[in]((softqam_output_format)out, m);
                kernels->addresses[m] = kernels->plain[m].address;
                kernels->addresses[SMALL_PLAIN + m] = kernels->plain[m].small;
                kernels->addresses[CODEWORD_PLAIN + m] = kernels->plain[m].codeword;
            }
            kernels->addresses[KERNEL_FEW_SEGMENTS] = softqam_segment_kernel((softqam_output_format)out, false);
            kernels->addresses[KERNEL_MANY_SEGMENTS] = softqam_segment_kernel((softqam_output_format)out, true);
            kernels->addresses[KERNEL_SOFT_BUFFERS] = softqam_soft_kernel((softqam_output_format)out);
        }
}

static const softqam_kernels *kernels_of(const softqam_params *params)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_kernels);
    return &all_kernels[params->input_format][params->output_format];
}

/* What the current device says of a kernel, queried once. */

typedef struct kernel_properties {
    unsigned resident_blocks;
    unsigned launch_attributes;
} kernel_properties;

/* Programmatic dependent launch: devices and code of compute capability 9.0 and later, in graphs from CUDA 12.3 on. */
static cudaError_t count_launch_attributes(unsigned *n, const void *kernel, int device)
{
    struct cudaFuncAttributes attributes;
    int major = 0, driver_version = 0;
    TRY_LAUNCH(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    TRY_LAUNCH(cudaDriverGetVersion(&driver_version));
    TRY_LAUNCH(cudaFuncGetAttributes(&attributes, kernel));
    *n = major >= 9 && attributes.ptxVersion >= 90 && driver_version >= 12030 ? 1 : 0;
    return cudaSuccess;
}

static unsigned threads_of(int kernel)
{
    return kernel >= SMALL_PLAIN && kernel < CODEWORD_PLAIN ? SMALL_BLOCK_THREADS : BLOCK_THREADS;
}

static cudaError_t count_resident_blocks(unsigned *n, const softqam_kernels *kernels, int kernel, int device)
{
    int per_multiprocessor = 0, multiprocessors = 0;
    TRY_LAUNCH(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY_LAUNCH(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernels->addresses[kernel],
                                                             (int)threads_of(kernel), 0));
    *n = (unsigned)(per_multiprocessor * multiprocessors);
    return *n == 0 ? cudaErrorInvalidConfiguration : cudaSuccess;
}

static cudaError_t query_cached(kernel_properties *properties, const softqam_kernels *kernels, int kernel)
{
    cached_properties not_cached = {0};
    int device = 0;
    TRY_LAUNCH(cudaGetDevice(&device));
    cached_properties *known = device < CACHED_DEVICES ? &kernels->devices[device] : &not_cached;
    properties->resident_blocks = atomic_load_explicit(&known->resident_blocks[kernel], memory_order_relaxed);
    properties->launch_attributes = atomic_load_explicit(&known->launch_attributes, memory_order_relaxed);
    if (properties->resident_blocks == 0)
        TRY_LAUNCH(count_resident_blocks(&properties->resident_blocks, kernels, kernel, device));
    if (properties->launch_attributes-- == 0)
        TRY_LAUNCH(count_launch_attributes(&properties->launch_attributes, kernels->addresses[kernel], device));
    atomic_store_explicit(&known->resident_blocks[kernel], properties->resident_blocks, memory_order_relaxed);
    atomic_store_explicit(&known->launch_attributes, properties->launch_attributes + 1, memory_order_relaxed);
    return cudaSuccess;
}

cudaError_t softqam_kernels_prepare(const softqam_params *params, unsigned capacity)
{
    const softqam_kernels *kernels = kernels_of(params);
    kernel_properties ignored;
    for (int k = 0; k < KERNELS; k++)
        if (kernels->addresses[k] && (k != KERNEL_MANY_SEGMENTS || capacity > FEW_SEGMENTS))
            TRY_LAUNCH(query_cached(&ignored, kernels, k));
    return cudaSuccess;
}

/* Launches. */

static cudaError_t launch_kernel(const softqam_kernels *kernels, int kernel, const kernel_properties *properties,
                                 size_t n_blocks, void **arguments, cudaStream_t stream)
{
    cudaLaunchAttribute overlap = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
    overlap.val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t config = {
        .gridDim = {(unsigned)n_blocks, 1, 1},
        .blockDim = {threads_of(kernel), 1, 1},
        .stream = stream,
        .attrs = &overlap,
        .numAttrs = properties->launch_attributes,
    };
    return n_blocks > INT_MAX ? cudaErrorInvalidConfiguration
                              : cudaLaunchKernelExC(&config, kernels->addresses[kernel], arguments);
}

static size_t count_blocks(size_t n, unsigned per_block) { return (n - 1) / per_block + 1; }

static bool is_aligned(const void *pointer, size_t nbytes) { return (uintptr_t)pointer % nbytes == 0; }

static bool is_of_codeword(const softqam_kernel_segment *segment)
{
    return segment->n_layers > 1 || segment->is_descrambled || segment->plane_stride != 0 || segment->has_codeword;
}

/* Whether groups of n symbols side by side stay so in the code blocks' bit planes, and aligned. */
static bool has_whole_groups(const softqam_kernel_segment *segment, unsigned n)
{
    return segment->is_deinterleaved && !segment->block_buffers && segment->blocks.n_layers % n == 0 &&
           segment->codeword_symbol % n == 0 && segment->block_stride % n == 0;
}

static const softqam_plain_kernel *plain_kernel(const softqam_launch *launch)
{
    const softqam_modulation modulation = (softqam_modulation)launch->segments[0].modulation;
    return &kernels_of(launch->params)->plain[softqam_axis_bits(modulation)];
}

/* Whether the only segment is as the kernels of plain calls take it. */
static bool is_plain(const softqam_launch *launch)
{
    const softqam_kernel_segment *segment = &launch->segments[0];
    const softqam_plain_kernel *kernel = plain_kernel(launch);
    if (segment->symbol_stride != 1 || segment->n_layers == 3 || segment->gains[0] || !is_aligned(segment->out, 16))
        return false;
    if (segment->has_codeword && !has_whole_groups(segment, kernel->group_symbols))
        return false;
    if (is_of_codeword(segment) && (!kernel->codeword || segment->plane_stride % kernel->group_symbols != 0))
        return false;
    const bool has_layers = segment->n_layers > 1;
    const size_t alignment = has_layers ? launch->params->input_nbytes : 16;
    for (unsigned k = 0; k < segment->n_layers; k++)
        if (segment->layers[k].symbols_q || !is_aligned(segment->layers[k].symbols, alignment))
            return false;
    return segment->noise_stride == 1 || (segment->noise_stride == 0 && !has_layers);
}

/* How many groups a block takes: tiles of BLOCK_THREADS. As many as the device needs to hold all blocks at once, while
 * these are few; then so many that each slot of a multiprocessor runs several blocks in succession, which evens out;
 * and no more than `most`, so that the device as a whole reads and writes one narrow window of memory. */
static unsigned plain_block_groups(size_t n_groups, unsigned resident_blocks, unsigned most)
{
    enum { AT_ONCE = 4, ONE_AFTER_THE_OTHER = 4 };
    const size_t tiles = ((n_groups - 1) / BLOCK_THREADS + 1 - 1) / resident_blocks + 1;
    const size_t several = tiles / ONE_AFTER_THE_OTHER > AT_ONCE ? tiles / ONE_AFTER_THE_OTHER : AT_ONCE;
    const size_t n_tiles = tiles <= AT_ONCE ? tiles : several < most ? several : most;
    return (unsigned)n_tiles * BLOCK_THREADS;
}

static_assert(N_OUTPUT_FORMATS == 5, "steps are those of s8 and s16 alone");
static softqam_llr_limit llr_limit_of(const softqam_params *params)
{
    const float limit = params->llr_limit;
    const bool is_s16 = params->output_format == SOFTQAM_OUTPUT_S16;
    const uint32_t steps = is_s16 || params->output_format == SOFTQAM_OUTPUT_S8 ? (uint32_t)limit : 0;
    const uint32_t each = is_s16 ? 0x10001 : 0x01010101;
    return (softqam_llr_limit){
        .llr = limit,
        .steps = (int32_t)steps,
        .two_limits = (int32_t)(2 * steps),
        .two_limits_each = 2 * steps * each,
        .to_middle_each = ((is_s16 ? 0x8000 : 0x80) - steps) * each,
    };
}

static softqam_segment_launch segment_launch_of(const softqam_params *params)
{
    return (softqam_segment_launch){
        .limit = llr_limit_of(params),
        .input_format = params->input_format,
        .defaults = softqam_kernel_defaults_of(params),
        .sum_limit = params->sum_limit,
    };
}

/* How many steps a warp of the kernel of segments takes: one, or so many that the device holds all blocks at once. */
static unsigned warp_steps(size_t n_symbols, unsigned resident_blocks)
{
    const size_t steps = (n_symbols - 1) / BLOCK_THREADS / resident_blocks + 1;
    return (unsigned)(steps < MOST_WARP_STEPS ? steps : MOST_WARP_STEPS);
}

/* Divides the code blocks that a segment has symbols of among thread blocks of at most so many symbols; returns how
 * many these are. Of a codeword with repetition each code block has one. */
static size_t lay_out_soft_blocks(softqam_kernel_soft *soft, const softqam_kernel_segment *segment, unsigned most)
{
    enum { SIDE_BY_SIDE = 8 }; /* symbols that memory gives at a time */
    const uint32_t last = segment->codeword_symbol + (uint32_t)segment->n_symbols - 1;
    const uint32_t longest = softqam_blocks_longest(&segment->blocks);
    soft->first_block = softqam_block_at(&segment->blocks, segment->codeword_symbol).j;
    soft->block_parts = soft->is_repeated ? 1 : (uint32_t)count_blocks(longest, most);
    soft->per_part = soft->block_parts > 1 ? UINT32_MAX / soft->block_parts + 1 : 0;
    soft->part_symbols = (uint32_t)count_blocks(longest, soft->block_parts);
    if (soft->part_symbols <= most - SIDE_BY_SIDE)
        soft->part_symbols = (soft->part_symbols + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE * SIDE_BY_SIDE;
    const size_t n_code_blocks = softqam_block_at(&segment->blocks, last).j - soft->first_block + 1;
    return n_code_blocks * soft->block_parts;
}

/* Where each segment's blocks begin; returns how many there are. */
static size_t lay_out_blocks(unsigned first_blocks[], softqam_launch *launch, unsigned block_steps)
{
    size_t n_blocks = 0;
    for (unsigned k = 0; k < launch->n_segments; k++) {
        const softqam_kernel_segment *segment = &launch->segments[k];
        const unsigned most = softqam_block_symbols(block_steps, segment->n_layers, false);
        first_blocks[k] = (unsigned)n_blocks;
        if (launch->has_soft && launch->soft[k].buffer.n_cb != 0)
            n_blocks += lay_out_soft_blocks(&launch->soft[k], segment, most);
        else
            n_blocks += count_blocks(segment->n_symbols, most);
    }
    return n_blocks;
}

static cudaError_t launch_segments(softqam_launch *launch)
{
    const softqam_params *params = launch->params;
    const int kernel = launch->has_soft                    ? KERNEL_SOFT_BUFFERS
                       : launch->n_segments > FEW_SEGMENTS ? KERNEL_MANY_SEGMENTS
                                                           : KERNEL_FEW_SEGMENTS;
    softqam_segment_launch shared = segment_launch_of(params);
    unsigned first_blocks[MANY_SEGMENTS];
    size_t n_symbols = 0, n_blocks = 0;
    kernel_properties properties;
    TRY_LAUNCH(query_cached(&properties, kernels_of(params), kernel));
    for (unsigned k = 0; k < launch->n_segments; k++)
        n_symbols += launch->segments[k].n_symbols;
    shared.n_segments = launch->n_segments;
    /* Segments' last blocks, which are not full, may make it more blocks than the device holds. */
    for (unsigned steps = warp_steps(n_symbols, properties.resident_blocks);; steps++) {
        shared.block_steps = BLOCK_WARPS * steps;
        n_blocks = lay_out_blocks(first_blocks, launch, shared.block_steps);
        if (n_blocks <= properties.resident_blocks || steps >= MOST_WARP_STEPS)
            break;
    }
    void *soft_bits = (void *)(uintptr_t)&params->soft_bits;
    void *arguments[] = {&shared, launch->segments, first_blocks, soft_bits};
    void *soft_arguments[] = {&shared, launch->segments, launch->soft, first_blocks, soft_bits};
    return launch_kernel(kernels_of(params), kernel, &properties, n_blocks,
                         launch->has_soft ? soft_arguments : arguments, launch->stream);
}

/* The kernel of plain calls for the only segment, and what the device says of it; KERNEL_FEW_SEGMENTS where that of
 * segments is faster, as for a codeword of few symbols. */
static cudaError_t choose_plain(const softqam_launch *launch, int *number, kernel_properties *properties)
{
    const softqam_kernel_segment *segment = &launch->segments[0];
    const softqam_kernels *kernels = kernels_of(launch->params);
    const int axis_bits = softqam_axis_bits((softqam_modulation)segment->modulation);
    *number = (is_of_codeword(segment) ? CODEWORD_PLAIN : SMALL_PLAIN) + axis_bits;
    TRY_LAUNCH(query_cached(properties, kernels, *number));
    if (is_of_codeword(segment)) {
        if (segment->n_symbols <= (size_t)properties->resident_blocks * BLOCK_THREADS / 4)
            *number = KERNEL_FEW_SEGMENTS;
    } else if (count_blocks(segment->n_symbols, SMALL_BLOCK_THREADS * kernels->plain[axis_bits].small_symbols) >
               properties->resident_blocks) {
        *number = axis_bits;
        TRY_LAUNCH(query_cached(properties, kernels, *number));
    }
    return cudaSuccess;
}

static cudaError_t launch_plain(softqam_launch *launch)
{
    const softqam_kernel_segment *segment = &launch->segments[0];
    const softqam_plain_kernel *kernel = plain_kernel(launch);
    const bool is_pi2 = segment->modulation == SOFTQAM_MODULATION_PI2_BPSK;
    const uint32_t pi2_sign = is_pi2 ? (uint32_t)segment->first_symbol << 31 : 0;
    kernel_properties properties;
    int number;
    TRY_LAUNCH(choose_plain(launch, &number, &properties));
    if (number == KERNEL_FEW_SEGMENTS)
        return launch_segments(launch);
    const bool is_small = number >= SMALL_PLAIN && number < CODEWORD_PLAIN;
    const size_t n_groups = count_blocks(segment->n_symbols, is_small ? kernel->small_symbols : kernel->group_symbols);
    const unsigned per_block =
        is_small ? SMALL_BLOCK_THREADS
                 : plain_block_groups(n_groups, properties.resident_blocks,
                                      is_of_codeword(segment) ? kernel->codeword_tiles : kernel->most_tiles);
    /* The kernels of plain calls take the first part of it. */
    softqam_codeword_segment argument = {
        .plain =
            {
                .symbols = segment->layers[0].symbols,
                .noise = segment->layers[0].noise_var,
                .out = segment->out,
                .n_symbols = segment->n_symbols,
                .input_scale = segment->input_scale,
                .steps_per_nat = segment->steps_per_nat,
                .limit = llr_limit_of(launch->params),
                .noise_value = segment->noise_value,
                .groups_per_block = per_block,
                .pi2_sign = pi2_sign,
                .other_pi2_sign = is_pi2 ? pi2_sign ^ 0x80000000u : 0,
                .has_noise_each = segment->layers[0].noise_var && segment->noise_stride != 0,
                .noise_is_inverse = segment->noise_is_inverse,
            },
        .n_layers = segment->n_layers,
        .symbol_step = (int)(BLOCK_THREADS * kernel->group_symbols / segment->n_layers),
        .is_descrambled = segment->is_descrambled,
        .is_deinterleaved = segment->plane_stride != 0 || segment->has_codeword,
        .c_init = segment->c_init,
        .plane_nbytes = segment->plane_stride * launch->params->value_nbytes,
        .first_symbol = segment->first_symbol,
        .codeword_symbol = segment->codeword_symbol,
        .block_stride = segment->block_stride,
    };
    if (segment->has_codeword)
        argument.blocks = segment->blocks;
    for (unsigned k = 0; k < segment->n_layers; k++)
        argument.layers[k] = segment->layers[k];
    void *arguments[] = {&argument, (void *)(uintptr_t)&launch->params->soft_bits};
    return launch_kernel(kernels_of(launch->params), number, &properties, count_blocks(n_groups, per_block), arguments,
                         launch->stream);
}

void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, unsigned capacity, cudaStream_t stream)
{
    launch->params = params;
    launch->defaults = softqam_kernel_defaults_of(params);
    launch->stream = stream;
    launch->capacity = capacity;
    launch->n_segments = 0;
    launch->has_soft = false;
}

cudaError_t softqam_launch_flush(softqam_launch *launch)
{
    const unsigned n_segments = launch->n_segments;
    cudaError_t error = cudaSuccess;
    if (n_segments == 1 && !launch->has_soft && is_plain(launch))
        error = launch_plain(launch);
    else if (n_segments > 0)
        error = launch_segments(launch);
    launch->n_segments = 0;
    launch->has_soft = false;
    return error;
}

cudaError_t softqam_launch_add(softqam_launch *launch, const softqam_segment *segment, float noise_value)
{
    cudaError_t error = cudaSuccess;
    if (segment->n_symbols == 0)
        return cudaSuccess;
    const bool has_soft = softqam_segment_has_soft_buffers(segment);
    const unsigned capacity = has_soft || launch->has_soft ? FEW_SEGMENTS : launch->capacity;
    if (launch->n_segments >= capacity)
        error = softqam_launch_flush(launch);
    const unsigned k = launch->n_segments++;
    softqam_kernel_segment *to = &launch->segments[k];
    softqam_kernel_segment_make(to, segment, &launch->defaults);
    to->noise_value = noise_value;
    if (k < FEW_SEGMENTS)
        softqam_kernel_soft_make(&launch->soft[k], segment, to);
    launch->has_soft |= has_soft;
    return error;
}

cudaError_t softqam_launch_device_segments(const softqam_params *params, const softqam_segment *segments,
                                           const unsigned *n_segments, unsigned max_segments, size_t max_symbols,
                                           cudaStream_t stream)
{
    softqam_segment_launch shared = segment_launch_of(params);
    kernel_properties properties;
    TRY_LAUNCH(query_cached(&properties, kernels_of(params), KERNEL_SOFT_BUFFERS));
    shared.device_segments = segments;
    shared.n_device_segments = n_segments;
    shared.n_segments = max_segments;
    shared.block_steps = BLOCK_WARPS * warp_steps(max_symbols, properties.resident_blocks);
    const unsigned block_symbols = softqam_block_symbols(shared.block_steps, 1, true);
    shared.per_block = (unsigned)((UINT64_C(1) << 32) / block_symbols + 1);
    /* Each segment may have a last block that is not full. */
    const size_t n_blocks = max_symbols / block_symbols + max_segments;
    const softqam_kernel_segment none[FEW_SEGMENTS] = {0};
    const softqam_kernel_soft no_soft[FEW_SEGMENTS] = {0};
    const unsigned first_blocks[FEW_SEGMENTS] = {0};
    void *arguments[] = {&shared, (void *)(uintptr_t)none, (void *)(uintptr_t)no_soft, (void *)(uintptr_t)first_blocks,
                         (void *)(uintptr_t)&params->soft_bits};
    return launch_kernel(kernels_of(params), KERNEL_SOFT_BUFFERS, &properties, n_blocks, arguments, stream);
}
