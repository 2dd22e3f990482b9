/* SPDX-License-Identifier: MIT */
/* Chooses a launch's kernel and grid, and prepares segments. */
#include "launch.h"

#include <limits.h>

#include "cuda_calls.h"
#include "kernel_list.h"
#include "prepared_segment.h"

/* Launches a kernel. A multiprocessor runs about most_blocks thread blocks of it at once; 0: as many as it holds. */
static softqam_status launch_some(const device_kernel *loaded, size_t n_blocks, unsigned n_segments, void **arguments,
                                  cudaStream_t stream, unsigned most_blocks)
{
    cudaLaunchAttribute attributes[2] = {{.id = cudaLaunchAttributeProgrammaticStreamSerialization}};
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    unsigned n_attributes = loaded->overlaps;
#if CUDART_VERSION >= 12050
    if (loaded->shared_share != 0 && most_blocks != 0) {
        const unsigned percent = most_blocks * loaded->shared_share / (SHARED_SHARES / 100);
        attributes[n_attributes].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
        attributes[n_attributes++].val.sharedMemCarveout = percent < 100 ? percent : 100;
    }
#else
    (void)most_blocks;
#endif
    const cudaLaunchConfig_t config = {
        .gridDim = {(unsigned)n_blocks, n_segments, 1},
        .blockDim = {loaded->kernel->threads, 1, 1},
        .stream = stream,
        .attrs = attributes,
        .numAttrs = n_attributes,
    };
    const bool fits = n_blocks <= INT_MAX;
    return softqam_cuda_status(fits ? cudaLaunchKernelExC(&config, loaded->kernel->address, arguments)
                                    : cudaErrorInvalidConfiguration,
                               "launching the kernel");
}

static softqam_status launch_kernel(const device_kernel *loaded, size_t n_blocks, unsigned n_segments, void **arguments,
                                    cudaStream_t stream)
{
    return launch_some(loaded, n_blocks, n_segments, arguments, stream, 0);
}

static size_t min_of(size_t a, size_t b) { return a < b ? a : b; }

static size_t count_blocks(size_t n, unsigned per_block) { return (n - 1) / per_block + 1; }

static bool is_aligned(const void *pointer, size_t nbytes) { return (uintptr_t)pointer % nbytes == 0; }

/* Returns whether groups of n symbols stay whole, and aligned, in the code blocks' bit planes. */
static bool has_whole_groups(const softqam_placement *placement, unsigned n)
{
    return placement->is_deinterleaved && !placement->block_buffers && placement->blocks.n_layers % n == 0 &&
           placement->codeword_symbol % n == 0 && placement->block_stride % n == 0;
}

/* Each find_*() below returns the kernel of its kind that takes the launch's segments, or NULL. */

static int axis_bits_of(const softqam_resolved_segment *segment)
{
    return softqam_axis_bits((softqam_modulation)segment->placement.modulation);
}

static const softqam_kernel *find_element_kernel(const softqam_launch *launch)
{
    const softqam_params *params = launch->params;
    const softqam_kernel *found = NULL;
    for (unsigned k = 0; k < launch->n_segments; k++) {
        const softqam_resolved_segment *segment = &launch->segments[k];
        const unsigned neighbours = softqam_element_neighbours(segment, params->input_format, params->output_format);
        const unsigned kind =
            ELEMENT_KERNEL + neighbours / 2 * 4 + segment->placement.combines * 2u + launch->has_statistics;
        const softqam_kernel *kernel = softqam_kernel_of(params, (softqam_kernel_kind)kind, axis_bits_of(segment));
        if (neighbours == 0 || (k > 0 && kernel != found))
            return NULL;
        found = kernel;
    }
    return found;
}

static const softqam_kernel *find_large_call(const softqam_launch *launch)
{
    const softqam_source *source = &launch->segments[0].source;
    const softqam_placement *placement = &launch->segments[0].placement;
    const bool has_layers = source->n_layers > 1, has_statistics = launch->has_statistics;
    const bool is_codeword =
        has_layers || placement->is_descrambled || placement->plane_stride != 0 || placement->has_code_blocks;
    const softqam_kernel_kind kind = is_codeword ? (has_statistics ? COUNTED_CODEWORD : CODEWORD_CALL)
                                                 : (has_statistics ? COUNTED_CALL : LARGE_CALL);
    const softqam_kernel *kernel = softqam_kernel_of(launch->params, kind, axis_bits_of(&launch->segments[0]));
    bool takes = kernel && launch->n_segments == 1 && !placement->has_soft_buffers && source->joint_layers == 0 &&
                 source->symbol_stride == 1 && !source->is_split && !source->has_gains && source->n_layers != 3 &&
                 is_aligned(placement->out, 16) &&
                 (!placement->has_code_blocks || has_whole_groups(placement, kernel->group_symbols)) &&
                 placement->plane_stride % kernel->group_symbols == 0 &&
                 (source->noise_stride == 1 || (source->noise_stride == 0 && !has_layers));
    for (unsigned k = 0; k < source->n_layers; k++)
        takes &= is_aligned(source->layers[k].symbols, has_layers ? source->symbol_nbytes : 16);
    return takes ? kernel : NULL;
}

static const softqam_kernel *find_small_call(const softqam_launch *launch)
{
    const softqam_kernel *large = find_large_call(launch);
    return large && large->kind == LARGE_CALL
               ? softqam_kernel_of(launch->params, SMALL_CALL, axis_bits_of(&launch->segments[0]))
               : NULL;
}

static const softqam_kernel *find_segment_kernel(const softqam_launch *launch)
{
    for (unsigned k = 0; k < launch->n_segments; k++)
        if (launch->segments[k].placement.has_soft_buffers || launch->segments[k].source.joint_layers != 0)
            return NULL;
    return launch->has_statistics ? NULL : softqam_kernel_of(launch->params, SEGMENT_KERNEL, ANY_AXIS_BITS);
}

static const softqam_kernel *find_soft_kernel(const softqam_launch *launch)
{
    const softqam_params *params = launch->params;
    const int axis_bits = axis_bits_of(&launch->segments[0]);
    const bool is_joint = launch->segments[0].source.joint_layers != 0;
    bool is_mixed = false; /* modulations */
    for (unsigned k = 0; k < launch->n_segments; k++) {
        const softqam_resolved_segment *segment = &launch->segments[k];
        if (segment->placement.is_repeated || (segment->source.joint_layers != 0) != is_joint)
            return NULL;
        is_mixed |= axis_bits_of(segment) != axis_bits;
    }
    if (is_mixed && is_joint)
        return NULL;
    return softqam_kernel_of(params, (softqam_kernel_kind)(SOFT_KERNEL + is_joint * 2 + launch->has_statistics),
                             is_mixed ? ANY_AXIS_BITS : axis_bits);
}

static const softqam_kernel *find_argument_kernel(const softqam_launch *launch)
{
    return softqam_kernel_of(launch->params, ARGUMENT_KERNEL, ANY_AXIS_BITS);
}

static_assert(N_OUTPUT_FORMATS == 5, "Give a format in steps its limits in softqam_llr_limit_of()");
softqam_llr_limit softqam_llr_limit_of(const softqam_params *params)
{
    const float limit = params->llr_limit;
    const bool is_s16 = params->output_format == SOFTQAM_OUTPUT_S16;
    const uint32_t steps = softqam_is_in_steps(params->output_format) ? (uint32_t)limit : 0;
    const uint32_t each = is_s16 ? 0x10001 : 0x01010101;
    return (softqam_llr_limit){
        .llr = limit,
        .steps = (int32_t)steps,
        .two_limits = (int32_t)(2 * steps),
        .two_limits_each = 2 * steps * each,
        .to_middle_each = ((is_s16 ? 0x8000 : 0x80) - steps) * each,
        .min_noise = params->min_noise,
        .max_inverse_noise = params->max_inverse_noise,
    };
}

static softqam_common_argument common_argument_of(const softqam_params *params)
{
    return (softqam_common_argument){
        .limit = softqam_llr_limit_of(params),
        .input_format = params->input_format,
    };
}

/* Returns how many iterations a warp of the kernels of segments takes: enough that the device holds all thread blocks
 * at once, if MAX_WARP_ITERATIONS are enough for that. */
static unsigned warp_iterations(size_t n_symbols, unsigned resident_blocks)
{
    return (unsigned)min_of((n_symbols - 1) / BLOCK_THREADS / resident_blocks + 1, MAX_WARP_ITERATIONS);
}

/* Finds where each segment's thread blocks begin; returns how many there are. */
static size_t lay_out_blocks(unsigned first_blocks[], softqam_launch *launch, unsigned block_iterations)
{
    size_t n_blocks = 0;
    for (unsigned k = 0; k < launch->n_segments; k++) {
        first_blocks[k] = (unsigned)n_blocks;
        n_blocks += softqam_lay_out_segment(&launch->parts[k], &launch->segments[k], block_iterations);
    }
    return n_blocks;
}

static prepared_segment *prepared_at(softqam_cuda_prepared_segment *prepared, size_t k)
{
    return (prepared_segment *)(void *)&prepared[k];
}

/* Lays out segments one after the other. Returns how many parts the segments without direct stores have: those that
 * demodulate_elements() does not take, so that their neighbours are 0. */
static size_t number_parts(softqam_cuda_prepared_segment *prepared, size_t n, unsigned block_iterations,
                           size_t *n_all_parts)
{
    size_t n_parts = 0, n_others = 0;
    for (size_t k = 0; k < n; k++) {
        prepared_segment *segment = prepared_at(prepared, k);
        const size_t n_own = softqam_lay_out_any(segment, block_iterations);
        n_others += segment->layout.neighbours == 0 ? n_own : 0;
        segment->layout.first_part = (uint32_t)n_parts;
        n_parts += n_own;
        segment->layout.end_part = (uint32_t)n_parts;
    }
    *n_all_parts = n_parts;
    return n_others;
}

/* Lays out segments so that n_blocks thread blocks take all parts of the segments without direct stores at once, if
 * that is possible. */
static softqam_status lay_out_all(softqam_cuda_prepared_segment *prepared, size_t n, unsigned n_blocks)
{
    size_t n_parts, n_symbols = 0;
    for (size_t k = 0; k < n; k++) {
        const prepared_segment *segment = prepared_at(prepared, k);
        n_symbols += segment->layout.neighbours == 0 ? segment->segment.n_symbols : 0;
    }
    for (unsigned iterations = warp_iterations(n_symbols, n_blocks);; iterations++)
        if (number_parts(prepared, n, BLOCK_WARPS * iterations, &n_parts) <= n_blocks ||
            iterations >= MAX_WARP_ITERATIONS)
            break;
    for (size_t k = 0; k < n; k++)
        prepared_at(prepared, k)->layout.n_all_parts = (uint32_t)n_parts;
    return softqam_cuda_status(n_parts <= INT_MAX ? cudaSuccess : cudaErrorInvalidConfiguration, "preparing segments");
}

static softqam_status launch_any(softqam_launch *launch, const device_kernel *loaded)
{
    const softqam_params *params = launch->params;
    softqam_cuda_prepared_segment prepared[MAX_SEGMENTS] = {{{0}}};
    argument_segments argument = {.head = {.common = common_argument_of(params)}};
    argument.head.common.n_segments = launch->n_segments;
    for (unsigned k = 0; k < launch->n_segments; k++) {
        prepared_segment *segment = prepared_at(prepared, k);
        segment->segment = launch->segments[k];
        segment->extras = launch->extras[k];
        segment->layout.neighbours =
            softqam_element_neighbours(&segment->segment, params->input_format, params->output_format);
    }
    TRY(lay_out_all(prepared, launch->n_segments, loaded->resident_blocks));
    for (unsigned k = 0; k < launch->n_segments; k++)
        argument.segments[k] = *prepared_at(prepared, k);
    const size_t n_parts = argument.segments[0].layout.n_all_parts;
    void *arguments[] = {&argument};
    return launch_kernel(loaded, min_of(n_parts, loaded->resident_blocks), 1, arguments, launch->stream);
}

static softqam_status launch_segments(softqam_launch *launch, const device_kernel *loaded)
{
    const softqam_params *params = launch->params;
    softqam_common_argument common = common_argument_of(params);
    unsigned first_blocks[MAX_SEGMENTS];
    size_t n_symbols = 0, n_blocks = 0;
    for (unsigned k = 0; k < launch->n_segments; k++)
        n_symbols += launch->segments[k].n_symbols;
    common.n_segments = launch->n_segments;
    /* The segments' last blocks may be partly empty, so there may be more blocks than the device holds. */
    for (unsigned n = warp_iterations(n_symbols, loaded->resident_blocks);; n++) {
        common.block_iterations = BLOCK_WARPS * n;
        n_blocks = lay_out_blocks(first_blocks, launch, common.block_iterations);
        if (n_blocks <= loaded->resident_blocks || n >= MAX_WARP_ITERATIONS)
            break;
    }
    void *u8_table = (void *)(uintptr_t)&params->u8_table;
    void *arguments[] = {&common, launch->segments, first_blocks, u8_table};
    void *soft_arguments[] = {&common, launch->segments, launch->parts, launch->extras, first_blocks, u8_table};
    return launch_kernel(loaded, n_blocks, 1, loaded->kernel->kind == SEGMENT_KERNEL ? arguments : soft_arguments,
                         launch->stream);
}

static size_t element_blocks(const softqam_launch *launch)
{
    size_t n_symbols = 0;
    for (unsigned k = 0; k < launch->n_segments; k++)
        n_symbols = launch->segments[k].n_symbols > n_symbols ? launch->segments[k].n_symbols : n_symbols;
    return count_blocks(n_symbols, BLOCK_THREADS * softqam_neighbours(&launch->segments[0].placement));
}

/* The soft kernel is faster in two cases. One is one layer in more blocks than the device holds, since a thread of the
 * element kernel takes only one symbol there. The other is new data of several layers in fewer blocks than a
 * sixteenth of what the device holds. So few blocks would leave multiprocessors idle, each of which holds 12 at most,
 * and the soft kernel, whose threads take one symbol each, has several times as many threads. */
static bool elements_are_faster(const softqam_launch *launch, const device_kernel *loaded)
{
    const size_t n_blocks = element_blocks(launch) * launch->n_segments;
    const bool has_neighbours = softqam_neighbours(&launch->segments[0].placement) > 1;
    return has_neighbours ? launch->segments[0].placement.combines || n_blocks >= loaded->resident_blocks / 16
                          : n_blocks <= loaded->resident_blocks;
}

static softqam_status launch_elements(softqam_launch *launch, const device_kernel *loaded)
{
    softqam_common_argument common = common_argument_of(launch->params);
    softqam_statistics *statistics[MAX_SEGMENTS]; /* unused by kernels that do not count */
    for (unsigned k = 0; k < launch->n_segments; k++)
        statistics[k] = launch->extras[k].statistics;
    void *arguments[] = {&common, launch->segments, statistics};
    return launch_kernel(loaded, element_blocks(launch), launch->n_segments, arguments, launch->stream);
}

/* Returns the argument of the kernels of plain calls for a segment. */
static softqam_plain_argument plain_argument_of(const softqam_params *params, const softqam_resolved_segment *segment)
{
    const softqam_source *source = &segment->source;
    const softqam_placement *placement = &segment->placement;
    const bool is_pi2 = placement->modulation == SOFTQAM_MODULATION_PI2_BPSK;
    const uint32_t pi2_sign = is_pi2 ? (uint32_t)placement->scrambled_symbol << 31 : 0;
    return (softqam_plain_argument){
        .symbols = source->layers[0].symbols,
        .noise = source->layers[0].noise_var,
        .out = placement->out,
        .n_symbols = segment->n_symbols,
        .input_scale = source->input_scale,
        .steps_per_nat = placement->steps_per_nat,
        .limit = softqam_llr_limit_of(params),
        .noise_value = source->noise_value,
        .pi2_sign = pi2_sign,
        .other_pi2_sign = is_pi2 ? pi2_sign ^ 0x80000000u : 0,
        .has_noise_each = source->noise_stride != 0,
        .noise_is_inverse = source->noise_is_inverse,
    };
}

static_assert(offsetof(softqam_codeword_argument, plain) == 0, "Kernels of plain calls take the first member alone");

static size_t count_groups(const softqam_launch *launch, const softqam_kernel *kernel)
{
    return count_blocks(launch->segments[0].n_symbols, kernel->group_symbols);
}

/* The device must hold all blocks of a small call at once. */
static bool is_small(const softqam_launch *launch, const device_kernel *loaded)
{
    return count_blocks(count_groups(launch, loaded->kernel), loaded->kernel->threads) <= loaded->resident_blocks;
}

/* The kernels of segments are faster for codewords and statistics of few symbols. The bound is twice as high with
 * statistics, or if a symbol's values are a power of two bytes, which those kernels store at once. A slot of 64QAM is
 * above the lower bound, and so takes an H200 2.0 us rather than 2.3. */
static bool is_large(const softqam_launch *launch, const device_kernel *loaded)
{
    const size_t nbytes = softqam_placement_symbol_nbytes(&launch->segments[0].placement);
    const unsigned divisor = (nbytes & (nbytes - 1)) == 0 || launch->has_statistics ? 2 : 4;
    return loaded->kernel->kind == LARGE_CALL ||
           launch->segments[0].n_symbols > (size_t)loaded->resident_blocks * BLOCK_THREADS / divisor;
}

/* The argument kernel stores from registers if all segments allow that, which is faster for several modulations while
 * the device holds all parts at once: with statistics eight users' slot takes an H200 5.8 us rather than 7.3, but 20
 * million symbols 353 us rather than 235. */
static bool soft_is_faster(const softqam_launch *launch, const device_kernel *loaded)
{
    const softqam_params *params = launch->params;
    bool is_mixed = false;
    size_t n_parts = 0;
    for (unsigned k = 0; k < launch->n_segments; k++) {
        const softqam_resolved_segment *segment = &launch->segments[k];
        const unsigned neighbours = softqam_element_neighbours(segment, params->input_format, params->output_format);
        if (neighbours == 0)
            return true;
        is_mixed |= axis_bits_of(segment) != axis_bits_of(&launch->segments[0]);
        n_parts += count_blocks(segment->n_symbols, BLOCK_THREADS * neighbours);
    }
    return !is_mixed || n_parts > loaded->resident_blocks;
}

/* Launches a kernel of plain_kernel.cuh, whose blocks take rounds of a group for each thread. If FEW_ROUNDS are enough,
 * about as many as a thread loads ahead, the device holds all blocks at once. Else a block takes FEW_ROUNDS, or more if
 * the device still runs SUCCESSIVE_BLOCKS in each place, so that a late block delays the call by a quarter at most. It
 * takes max_rounds at most, so that the device as a whole reads and writes one narrow window of memory. */
static softqam_status launch_groups(softqam_launch *launch, const device_kernel *loaded)
{
    enum { FEW_ROUNDS = 4, SUCCESSIVE_BLOCKS = 4 };
    const softqam_params *params = launch->params;
    const softqam_kernel *kernel = loaded->kernel;
    const size_t n_groups = count_groups(launch, kernel);
    const size_t rounds = count_blocks(count_blocks(n_groups, kernel->threads), loaded->resident_blocks);
    const size_t several = rounds / SUCCESSIVE_BLOCKS > FEW_ROUNDS ? rounds / SUCCESSIVE_BLOCKS : FEW_ROUNDS;
    const size_t n_rounds = rounds <= FEW_ROUNDS ? rounds : min_of(several, kernel->max_rounds);
    softqam_codeword_argument argument = {plain_argument_of(params, &launch->segments[0]), launch->segments[0],
                                          launch->extras[0].statistics};
    argument.plain.groups_per_block = (unsigned)n_rounds * kernel->threads;
    void *arguments[] = {&argument, (void *)(uintptr_t)&params->u8_table};
    return launch_kernel(loaded, count_blocks(n_groups, argument.plain.groups_per_block), 1, arguments, launch->stream);
}

/* The kinds of kernels, in the order in which a launch tries them. */
static const struct kernel_choice {
    const softqam_kernel *(*find)(const softqam_launch *launch);
    bool (*is_faster)(const softqam_launch *launch, const device_kernel *loaded); /* than the next; NULL: always */
    softqam_status (*launch)(softqam_launch *launch, const device_kernel *loaded);
} kernel_choices[] = {
    {find_element_kernel, elements_are_faster, launch_elements},
    {find_small_call, is_small, launch_groups},
    {find_large_call, is_large, launch_groups},
    {find_segment_kernel, NULL, launch_segments},
    {find_soft_kernel, soft_is_faster, launch_segments},
    {find_argument_kernel, NULL, launch_any},
};

/* Launches the first kernel that takes the launch's segments and is faster than the next ones. */
static softqam_status launch_first(softqam_launch *launch)
{
    for (size_t k = 0; k < sizeof kernel_choices / sizeof kernel_choices[0]; k++) {
        const struct kernel_choice *choice = &kernel_choices[k];
        const softqam_kernel *kernel = choice->find(launch);
        device_kernel loaded;
        if (!kernel)
            continue;
        TRY(softqam_kernel_load(&loaded, kernel));
        if (!choice->is_faster || choice->is_faster(launch, &loaded))
            return choice->launch(launch, &loaded);
    }
    return softqam_cuda_status(cudaErrorInvalidDeviceFunction, "choosing a kernel");
}

void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, cudaStream_t stream)
{
    launch->params = params;
    launch->stream = stream;
    launch->n_segments = 0;
    launch->has_statistics = false;
}

softqam_status softqam_launch_add(softqam_launch *launch, const softqam_resolved_segment *segment,
                                  const softqam_extras *extras)
{
    if (segment->n_symbols == 0)
        return SOFTQAM_OK;
    if (launch->n_segments == MAX_SEGMENTS)
        TRY(softqam_launch_flush(launch));
    const unsigned k = launch->n_segments++;
    launch->segments[k] = *segment;
    launch->extras[k] = extras ? *extras : (softqam_extras){.stride = 1};
    launch->has_statistics |= launch->extras[k].statistics != NULL;
    return SOFTQAM_OK;
}

softqam_status softqam_launch_flush(softqam_launch *launch)
{
    const softqam_status status = launch->n_segments > 0 ? launch_first(launch) : SOFTQAM_OK;
    softqam_launch_begin(launch, launch->params, launch->stream);
    return status;
}

/* This says how many thread blocks of the memory kernel are to run at once. */
typedef struct prepared_grid {
    unsigned at_once;            /* on the device */
    unsigned per_multiprocessor; /* at most; 0: as many as it holds */
} prepared_grid;

/* Returns the grid for 4 of the 7 thread blocks (SOFT_BLOCKS) that a multiprocessor holds, so that the next kernel's
 * blocks find room beside them. Values of several bytes get 6, because they take longer than the next kernel's blocks
 * need to begin: a slot of 4 layers then takes an H200 8.6 us rather than 10.6 (f32), 6.5 rather than 7.5 (s16). While
 * the kernel before still runs, some multiprocessors have room for 7 and others for few, so a limit shares the blocks
 * out more evenly: after an equaliser a slot takes 0.7 to 1.6 us less in s8, and alone up to 1.7 less in f16, but two
 * users' slot of s8 alone 0.2 to 0.7 more. More than twice
 * as many symbols as the device holds threads get all 7: on an H200 that is more than a slot of 4 layers has (183,456),
 * and eight cells of one layer take 13.5 us rather than 17.8. */
static prepared_grid prepared_grid_of(const device_kernel *loaded, const softqam_params *params, size_t n_symbols)
{
    const unsigned resident = loaded->resident_blocks; /* 924 on an H200 */
    if (n_symbols / BLOCK_THREADS > 2 * resident)
        return (prepared_grid){resident, 0};
    return softqam_value_nbytes(params->output_format) > 1 ? (prepared_grid){resident * 6 / 7, 6}
                                                           : (prepared_grid){resident * 4 / 7, 5};
}

static softqam_status load_memory_kernel(device_kernel *loaded, const softqam_params *params)
{
    return softqam_kernel_load(loaded, softqam_kernel_of(params, MEMORY_KERNEL, ANY_AXIS_BITS));
}

softqam_status softqam_launch_prepare(const softqam_params *params, const softqam_segment *segments, size_t n,
                                      softqam_cuda_prepared_segment *prepared)
{
    device_kernel loaded;
    size_t n_symbols = 0;
    TRY(load_memory_kernel(&loaded, params));
    for (size_t k = 0; k < n; k++) {
        n_symbols += segments[k].n_symbols;
        prepared[k] = (softqam_cuda_prepared_segment){{0}};
        softqam_prepare_segment(prepared_at(prepared, k), &segments[k], &params->defaults, params->input_format,
                                params->output_format);
    }
    return lay_out_all(prepared, n, prepared_grid_of(&loaded, params, n_symbols).at_once);
}

/* The thread blocks share all parts, so any number of blocks is right. */
softqam_status softqam_launch_memory(const softqam_params *params, const softqam_memory_segments *segments,
                                     cudaStream_t stream)
{
    prepared_argument argument = {
        .common = common_argument_of(params),
        .prepared = segments->prepared,
        .descriptors = segments->descriptors,
        .n_present = segments->n_present,
        .defaults = params->defaults,
    };
    const size_t max_symbols = segments->max_symbols;
    device_kernel loaded;
    TRY(load_memory_kernel(&loaded, params));
    const prepared_grid grid = prepared_grid_of(&loaded, params, max_symbols);
    argument.common.n_segments = segments->max_segments;
    argument.common.block_iterations = BLOCK_WARPS * warp_iterations(max_symbols, grid.at_once);
    /* New data of one layer has the most parts: a symbol for each thread, and a part in five that writes zeros and
     * fillers. Each segment may add one part of either kind that is not full. */
    const size_t most = (count_blocks(max_symbols, BLOCK_THREADS) / 4 + 1) * 5 + 2 * (size_t)segments->max_segments;
    void *arguments[] = {&argument, (void *)(uintptr_t)&params->u8_table};
    return launch_some(&loaded, min_of(most, grid.at_once), 1, arguments, stream, grid.per_multiprocessor);
}
