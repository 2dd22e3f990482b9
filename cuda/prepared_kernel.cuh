/* SPDX-License-Identifier: MIT */
/* The kernels that take any segments: those in device memory, prepared or not, and prepared ones that are arguments. A
 * thread block takes the path that its segment needs: element_kernel.cuh's or soft_kernel.cuh's. Several .cu files
 * share them, which compile at the same time. */
#ifndef SOFTQAM_PREPARED_KERNEL_CUH
#define SOFTQAM_PREPARED_KERNEL_CUH

#include "element_kernel.cuh"
#include "prepared_segment.h"
#include "repetition.cuh"
#include "soft_kernel.cuh"

/* Descriptors that are not prepared, in shared memory; threads resolve some at a time. They lie where a part's tables,
 * stage and sequence lie afterwards. */
struct descriptor_memory {
    enum { MOST = 16 };
    softqam_segment descriptors[MOST];
    prepared_segment prepared[MOST];
    unsigned found; /* the segment that has a part, among these; MOST: none */
    unsigned n_present;
    uint32_t n_parts;

    static __device__ __forceinline__ descriptor_memory &in_block(soft_memory &shared)
    {
        static_assert(sizeof(descriptor_memory) <= offsetof(segment_memory, segment),
                      "Descriptors must not reach the segment");
        return *reinterpret_cast<descriptor_memory *>(&shared);
    }

    typedef unsigned long long word;
    enum { WORDS = sizeof(softqam_segment) / sizeof(word) };

    /* The block's threads copy n <= MOST descriptors. They bypass the L1 cache, so a kernel may do this before it
     * waits. */
    __device__ __forceinline__ void load(const softqam_segment *from, unsigned n)
    {
        for (unsigned k = threadIdx.x; k < n * WORDS; k += BLOCK_THREADS)
            reinterpret_cast<word *>(descriptors)[k] = __ldcg(reinterpret_cast<const word *>(from) + k);
    }

    /* Returns whether the descriptors that are present, or their number, have changed since the block copied them. */
    __device__ __forceinline__ bool have_changed(const prepared_argument &argument) const
    {
        bool changed = n_present != min(__ldcg(argument.n_present), argument.common.n_segments);
        for (unsigned k = threadIdx.x; k < n_present * WORDS; k += BLOCK_THREADS)
            changed |= reinterpret_cast<const word *>(descriptors)[k] !=
                       __ldcg(reinterpret_cast<const word *>(argument.descriptors) + k);
        return __syncthreads_or(changed) != 0;
    }
};

/* A kernel's arguments. */
struct prepared_arguments {
    const prepared_argument &all;
    const prepared_segment *in_arguments; /* through as_memory(); NULL: the segments are in device memory */

    __device__ __forceinline__ const softqam_common_argument &common() const { return all.common; }

    __device__ __forceinline__ bool are_descriptors() const { return all.descriptors != nullptr; }

    __device__ __forceinline__ unsigned n_segments() const
    {
        return all.n_present ? min(__ldcg(all.n_present), all.common.n_segments) : all.common.n_segments;
    }

    /* Returns segment k of those that are prepared. */
    __device__ __forceinline__ const prepared_segment &segment(unsigned k) const
    {
        return in_arguments ? in_arguments[k] : *reinterpret_cast<const prepared_segment *>(&all.prepared[k]);
    }

    /* Loads a word of a prepared segment. Loads from device memory bypass the L1 cache, so a kernel may do this before
     * it waits. */
    template <typename Word> __device__ __forceinline__ Word load_word(const Word *from) const
    {
        return in_arguments ? *from : __ldcg(from);
    }

    /* Threads from `thread` on copy a structure of a prepared segment to shared memory, a word each. */
    template <typename Structure>
    __device__ __forceinline__ void copy(Structure &to, const Structure &from, unsigned thread) const
    {
        if (threadIdx.x - thread < sizeof to / sizeof(unsigned long long))
            reinterpret_cast<unsigned long long *>(&to)[threadIdx.x - thread] =
                load_word(reinterpret_cast<const unsigned long long *>(&from) + threadIdx.x - thread);
    }

    /* Makes segment k the block's, without its layout. */
    __device__ __forceinline__ void load(soft_memory &shared, unsigned k) const
    {
        if (!are_descriptors()) {
            copy(shared.segment, segment(k).segment, 0);
            copy(shared.extras, segment(k).extras, sizeof shared.segment / sizeof(unsigned long long));
            return;
        }
        descriptor_memory &memory = descriptor_memory::in_block(shared);
        memory.load(all.descriptors + k, 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            softqam_segment_resolve(&shared.segment, &memory.descriptors[0], &all.defaults);
            softqam_extras_resolve(&shared.extras, &memory.descriptors[0]);
        }
    }

    /* Calls a function with the symbols that segment k has, and with what identifies their codeword. */
    template <typename Function>
    __device__ __forceinline__ bool with_codeword(unsigned k, const Function &function) const
    {
        if (are_descriptors()) {
            const softqam_segment &descriptor = all.descriptors[k];
            const softqam_codeword &codeword = descriptor.codeword;
            return function(descriptor.first_symbol, descriptor.n_symbols,
                            codeword.n_code_blocks != 0 && codeword.n_cb != 0, codeword.buffers, codeword.block_buffers,
                            codeword.block_stride);
        }
        const softqam_resolved_segment &resolved = segment(k).segment;
        const softqam_placement &placement = resolved.placement;
        return function(placement.codeword_symbol, resolved.n_symbols, placement.has_soft_buffers, placement.out,
                        placement.block_buffers, placement.block_stride);
    }
};

/* The parts that a thread block takes, which follow each other. A kernel divides the parts among its blocks, since the
 * host does not know their number when it chooses the grid. */
struct part_range {
    uint32_t first;
    uint32_t end;
};

static __device__ __forceinline__ part_range part_range_of(uint32_t n_all)
{
    const uint32_t each = n_all / gridDim.x, rest = n_all - each * gridDim.x;
    const uint32_t first = blockIdx.x * each + min(blockIdx.x, rest);
    return {first, first + each + (blockIdx.x < rest ? 1 : 0)};
}

/* Shared memory of a thread block. */
struct prepared_memory : soft_memory {
    unsigned number; /* the segment's, among all */
    alignas(8) prepared_layout layout;
    prepared_argument argument; /* with the segment's block_iterations */
    const prepared_segment *in_arguments;
    part_range left[BLOCK_WARPS]; /* parts that each warp has not begun; here, since registers are few */

    __device__ __forceinline__ prepared_arguments all_arguments() const { return {argument, in_arguments}; }
};

/* Finds prepared segments, by a warp. Each round narrows them to a 32nd. */
struct prepared_search {
    unsigned apart;       /* segments from a thread's to the next thread's */
    uint32_t first_parts; /* the first part of this thread's segment */

    /* All that there is room for may be read, so no load waits for the number of segments. */
    __device__ __forceinline__ void open(const prepared_arguments &arguments)
    {
        const unsigned room = arguments.common().n_segments, lane = threadIdx.x % WARP_THREADS;
        apart = (room + WARP_THREADS - 1) / WARP_THREADS;
        first_parts = first_part_of(arguments, min(lane * apart, room - 1));
    }

    static __device__ __forceinline__ uint32_t first_part_of(const prepared_arguments &arguments, unsigned k)
    {
        return arguments.load_word(&arguments.segment(k).layout.first_part);
    }

    /* Returns the last of n > 0 segments that begins at part `number` or before it. */
    __device__ __forceinline__ unsigned find(const prepared_arguments &arguments, unsigned n, uint32_t number) const
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        unsigned first = 0, left = n, stride = apart;
        uint32_t begins = first_parts;
#pragma unroll 1
        for (;;) {
            const unsigned begun = __ballot_sync(0xffffffffu, lane * stride < left && begins <= number);
            const unsigned n_before = (__popc(begun) - 1) * stride;
            first += n_before;
            if (stride == 1)
                return first;
            left = min(stride, left - n_before);
            stride = (left + WARP_THREADS - 1) / WARP_THREADS;
            begins = first_part_of(arguments, first + min(lane * stride, left - 1));
        }
    }
};

/* Makes prepared segment k the block's; a barrier must follow. The thread that has copied the launch's block_iterations
 * writes the segment's. */
static __device__ __forceinline__ void load_prepared(prepared_memory &shared, const prepared_arguments &arguments,
                                                     unsigned k)
{
    enum {
        LAYOUT_THREADS = sizeof(prepared_layout) / sizeof(unsigned long long),
        EXTRAS_THREADS = sizeof(softqam_extras) / sizeof(unsigned long long)
    };
    static_assert(sizeof(prepared_segment) / sizeof(unsigned long long) < BLOCK_THREADS, "a thread for each word");
    const prepared_segment &segment = arguments.segment(k);
    arguments.copy(shared.layout, segment.layout, 0);
    arguments.copy(shared.extras, segment.extras, LAYOUT_THREADS);
    arguments.copy(shared.segment, segment.segment, LAYOUT_THREADS + EXTRAS_THREADS);
    if (threadIdx.x == offsetof(softqam_common_argument, block_iterations) / sizeof(uint32_t)) {
        shared.argument.common.block_iterations = arguments.load_word(&segment.layout.block_iterations);
        shared.number = k;
    }
}

/* Makes the segment of part `number` the block's, if the segments are not prepared: a thread resolves each and lays it
 * out. Returns how many parts all segments have. Unless is_known, the part is this block's first one instead, if there
 * are no more segments than descriptor_memory::MOST. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ uint32_t load_descriptor(prepared_memory &shared, uint32_t number, bool is_known)
{
    enum : uint32_t { MOST = descriptor_memory::MOST, MAX_SYMBOLS = 1u << 31, MAX_PARTS = 1u << 25 };
    __builtin_assume(__isShared(&shared) != 0);
    const prepared_argument &all = shared.argument;
    descriptor_memory &memory = descriptor_memory::in_block(shared);
    const unsigned lane = threadIdx.x % WARP_THREADS;
    unsigned n = all.common.n_segments; /* n_present comes later: no load waits for it */
    uint32_t n_before = 0;
#pragma unroll 1
    for (unsigned first = 0; first < n; first += MOST) {
        __syncthreads();
        memory.load(all.descriptors + first, min(n - first, MOST + 0u));
        n = min(__ldcg(all.n_present), all.common.n_segments);
        if (threadIdx.x == 0) {
            memory.n_present = n;
            memory.found = MOST;
        }
        __syncthreads();
        if (threadIdx.x < WARP_THREADS) {
            prepared_segment &own = memory.prepared[lane % MOST];
            uint32_t n_own = 0;
            if (lane < MOST && first + lane < n) {
                softqam_prepare_segment(&own, &memory.descriptors[lane], &all.defaults, all.common.input_format,
                                        FORMAT);
                own.segment.n_symbols = min(own.segment.n_symbols, size_t{MAX_SYMBOLS});
                n_own = static_cast<uint32_t>(min(softqam_lay_out_any(&own, all.common.block_iterations),
                                                  size_t{MAX_PARTS})); /* a round's sum does not overflow */
            }
            uint32_t end = n_own; /* sum of the threads up to this one */
#pragma unroll
            for (unsigned distance = 1; distance < MOST; distance *= 2) {
                const uint32_t other = __shfl_up_sync(0xffffffffu, end, distance);
                end += lane >= distance ? other : 0;
            }
            const uint32_t n_all = __shfl_sync(0xffffffffu, end, MOST - 1);
            if (!is_known && n <= MOST)
                number = part_range_of(n_all).first;
            if (lane < MOST && number - (n_before + end - n_own) < n_own) {
                own.layout.first_part = n_before + end - n_own;
                own.layout.end_part = n_before + end;
                memory.found = lane;
            }
            if (lane == 0)
                memory.n_parts = n_all;
        }
        __syncthreads();
        n_before += memory.n_parts;
        if (memory.found < MOST) {
            const prepared_segment &found = memory.prepared[memory.found];
            copy_words(shared.segment, found.segment);
            copy_words(shared.extras, found.extras);
            copy_words(shared.layout, found.layout);
            if (threadIdx.x == 0)
                shared.number = first + memory.found;
        }
    }
    __syncthreads();
    return n_before;
}

/* Each of the next functions demodulates part `number` of the block's segment. The compiler must not compute in advance
 * what each of them needs, or registers run out: so the short functions hide the address of the block's shared memory
 * from it, and the others are not inlined. */

template <softqam_output_format FORMAT, int M, int N>
static __device__ __forceinline__ void demodulate_by_elements(prepared_memory &all, uint32_t number)
{
    void *hidden = &all;
    asm volatile("" : "+l"(hidden));
    __builtin_assume(__isShared(hidden) != 0);
    auto &shared = *static_cast<prepared_memory *>(hidden);
    auto &memory = reinterpret_cast<llr_table_memory<M> &>(shared.tables);
    demodulate_elements<FORMAT, M, N, true>(memory, shared.argument.common, shared.segment, number,
                                            shared.segment.placement.combines, shared.extras.statistics);
}

template <softqam_output_format FORMAT, int N>
static __device__ __forceinline__ void demodulate_by_elements(prepared_memory &shared, uint32_t number)
{
    switch (shared.segment.placement.modulation) {
    case SOFTQAM_MODULATION_QPSK:
        return demodulate_by_elements<FORMAT, 1, N>(shared, number);
    case SOFTQAM_MODULATION_16QAM:
        return demodulate_by_elements<FORMAT, 2, N>(shared, number);
    case SOFTQAM_MODULATION_64QAM:
        return demodulate_by_elements<FORMAT, 3, N>(shared, number);
    case SOFTQAM_MODULATION_256QAM:
        return demodulate_by_elements<FORMAT, 4, N>(shared, number);
    }
}

/* Writes zeros and fillers; `number` counts only the segment's parts that do so. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void fill_part(prepared_memory &shared, uint32_t number)
{
    __builtin_assume(__isShared(&shared) != 0);
    const uint32_t warp = number * BLOCK_WARPS + threadIdx.x / WARP_THREADS;
    const prepared_layout &layout = shared.layout;
    const uint32_t of_warp = softqam_parts_of_fill(&layout) * BLOCK_THREADS * layout.neighbours / BLOCK_WARPS;
    if (size_t{warp} * of_warp < shared.segment.n_symbols)
        fill_for_elements<FORMAT>(shared.segment, warp, of_warp, [] { wait_for_previous_kernel(); });
}

/* Ends the calling threads if the block has no part left. So a function that is not inlined need not restore its
 * caller's registers, which saves a slot of 3 layers 0.4 us on an H200. The block must have waited for the kernel
 * before, because this kernel must not end before that one does. */
static __device__ __forceinline__ void end_after_last_part(const prepared_memory &shared)
{
    const part_range &left = shared.left[own_thread() / WARP_THREADS];
    if (left.first >= left.end)
        asm volatile("exit;");
}

/* Demodulates a part of a segment of any other kind. */
template <softqam_output_format FORMAT, segment_set SEGMENTS, int M, count_mode COUNTING>
static __device__ __noinline__ void demodulate_part(prepared_memory &shared, uint32_t number,
                                                    const u8_table_argument<FORMAT> &u8_table)
{
    __builtin_assume(__isShared(&shared) != 0);
    const softqam_common_argument &common = shared.argument.common;
    soft_task task = {};
    task.index = {shared.number, number};
    if (!find_task<FORMAT>(task, shared.segment, &shared.layout.parts, common))
        return;
    if constexpr (COUNTING != NO_COUNTS)
        open_counts<FORMAT>(shared.segment.placement.steps_per_nat);
    write_table<FORMAT, M>(shared, shared.segment.placement.modulation, u8_table);
    write_sequence(shared, shared.segment.placement, task.span);
    demodulate_task<FORMAT, SEGMENTS, M, COUNTING>(shared, common, task, u8_table);
    end_after_last_part(shared);
}

template <softqam_output_format FORMAT, segment_set SEGMENTS, int M>
static __device__ __forceinline__ void demodulate_part(prepared_memory &shared, uint32_t number,
                                                       const u8_table_argument<FORMAT> &u8_table)
{
    if (shared.extras.statistics)
        demodulate_part<FORMAT, SEGMENTS, M, COUNTS>(shared, number, u8_table);
    else
        demodulate_part<FORMAT, SEGMENTS, M, NO_COUNTS>(shared, number, u8_table);
}

/* Demodulates a part of a segment with repetition. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void demodulate_repeated_part(prepared_memory &shared, uint32_t number)
{
    __builtin_assume(__isShared(&shared) != 0);
    const softqam_common_argument &common = shared.argument.common;
    if (shared.extras.statistics) {
        const block_span span = block_span_of<FORMAT>(shared.segment, common, number);
        open_counts<FORMAT>(shared.segment.placement.steps_per_nat);
        write_table<FORMAT>(shared, shared.segment.placement.modulation, {});
        __syncthreads();
        demodulate_block<FORMAT, ANY_SEGMENTS, ANY_AXIS_BITS, ONLY_COUNTS>(shared, common, span, {});
        wait_for_symbol_threads();
        add_counts_to(shared.extras.statistics);
    }
    demodulate_repeated<FORMAT>(shared, shared.all_arguments(), {shared.number, number});
    __syncthreads();
    if (threadIdx.x == 0 && common.n_segments > 1)
        shared.layout.end_part = 0; /* the block may have another segment now */
}

template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_prepared(prepared_memory &shared, uint32_t number,
                                                           const u8_table_argument<FORMAT> &u8_table)
{
    if constexpr (FORMAT == SOFTQAM_OUTPUT_S8 || FORMAT == SOFTQAM_OUTPUT_F16) {
        const prepared_layout &layout = shared.layout;
        if (layout.fill_parts > 0) {
            /* A group has parts that demodulate, and then parts that fill for them. */
            const uint32_t n_others = layout.fill_parts * softqam_parts_of_fill(&layout);
            const uint32_t group = number / (n_others + layout.fill_parts);
            const uint32_t within = number - group * (n_others + layout.fill_parts);
            if (within >= n_others)
                return fill_part<FORMAT>(shared, group * layout.fill_parts + within - n_others);
            number = group * n_others + within;
        }
        if (layout.neighbours == 4)
            return demodulate_by_elements<FORMAT, 4>(shared, number);
        if (layout.neighbours == 2)
            return demodulate_by_elements<FORMAT, 2>(shared, number);
        if (layout.neighbours == 1)
            return demodulate_by_elements<FORMAT, 1>(shared, number);
    }
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        if (shared.segment.placement.is_repeated)
            return demodulate_repeated_part<FORMAT>(shared, number);
    with_axis_bits<FORMAT>(shared.segment.placement.modulation, [&](auto axis_bits) {
        constexpr int M = decltype(axis_bits)::value;
        if constexpr (FORMAT != SOFTQAM_OUTPUT_U8 && M > 0)
            if (shared.segment.source.joint_layers != 0)
                return demodulate_part<FORMAT, ONLY_JOINT, M>(shared, number, u8_table);
        demodulate_part<FORMAT, NO_JOINT, M>(shared, number, u8_table);
    });
}

/* Makes the segment of a part the block's. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void load_part(prepared_memory &shared, uint32_t number)
{
    __builtin_assume(__isShared(&shared) != 0);
    const prepared_arguments arguments = shared.all_arguments();
    if (arguments.are_descriptors()) {
        load_descriptor<FORMAT>(shared, number, true);
        return;
    }
    prepared_search search;
    search.open(arguments);
    const unsigned k = search.find(arguments, arguments.n_segments(), number);
    __syncthreads(); /* all threads have read the layout of the segment before */
    load_prepared(shared, arguments, k);
    __syncthreads();
}

/* Demodulates a thread block's parts. It reads the first of its prepared segments before it waits for the kernel
 * before. If there is room for only one segment, all these loads are issued at once. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_parts(const prepared_argument &argument,
                                                        const prepared_segment *in_arguments,
                                                        const u8_table_argument<FORMAT> &u8_table)
{
    __shared__ prepared_memory shared;
    const prepared_arguments arguments = {argument, in_arguments};
    part_range parts;
    let_next_kernel_begin();
    if (threadIdx.x == 0) {
        shared.input_format = argument.common.input_format;
        shared.in_arguments = in_arguments;
        shared.layout.end_part = 0;
    }
    copy_words(shared.argument, argument);
    if (arguments.are_descriptors()) {
        /* A kernel that still runs seldom writes descriptors. So if there are few, they are resolved before the wait,
         * and again if they have changed by then. */
        const bool are_few = argument.common.n_segments <= descriptor_memory::MOST;
        uint32_t n_all = 0;
        __syncthreads(); /* the arguments are copied */
        if (are_few)
            n_all = load_descriptor<FORMAT>(shared, 0, false);
        wait_for_previous_kernel();
        if (!are_few || descriptor_memory::in_block(shared).have_changed(argument))
            n_all = load_descriptor<FORMAT>(shared, 0, false);
        parts = part_range_of(n_all);
    } else {
        const bool has_one = argument.common.n_segments == 1;
        const unsigned n = arguments.n_segments();
        const uint32_t n_all = arguments.load_word(&arguments.segment(0).layout.n_all_parts);
        prepared_search search;
        search.open(arguments);
        if (has_one)
            load_prepared(shared, arguments, 0);
        parts = part_range_of(n == 0 ? 0 : n_all);
        if (!has_one && parts.first < parts.end)
            load_prepared(shared, arguments, search.find(arguments, n, parts.first));
    }
    if (threadIdx.x % WARP_THREADS == 0)
        shared.left[threadIdx.x / WARP_THREADS] = parts;
#pragma unroll 1
    for (;;) {
        __syncthreads(); /* threads may still work on the part before */
        const unsigned thread = own_thread();
        part_range &left = shared.left[thread / WARP_THREADS];
        const uint32_t number = left.first;
        if (number >= left.end)
            break;
        __syncwarp();
        if (thread % WARP_THREADS == 0)
            left.first = number + 1;
        if (number >= shared.layout.end_part) {
            load_part<FORMAT>(shared, number);
            if (number >= shared.layout.end_part)
                break;
        }
        demodulate_prepared<FORMAT>(shared, number - shared.layout.first_part, u8_table);
    }
    if (blockIdx.x == 0)
        wait_for_previous_kernel(); /* so that this kernel does not end before that one */
}

template <softqam_output_format FORMAT>
static __global__ void __launch_bounds__(BLOCK_THREADS, SOFT_BLOCKS)
    memory_kernel(const __grid_constant__ prepared_argument argument,
                  const __grid_constant__ u8_table_argument<FORMAT> u8_table)
{
    demodulate_parts<FORMAT>(argument, nullptr, u8_table);
}

template <softqam_output_format FORMAT>
static __global__ void __launch_bounds__(BLOCK_THREADS, SOFT_BLOCKS)
    argument_kernel(const __grid_constant__ argument_segments argument)
{
    demodulate_parts<FORMAT>(argument.head, as_memory(argument).segments, {});
}

/* Returns a kernel of an output format; u8 has none for segments that are arguments. */
template <softqam_output_format FORMAT> static softqam_kernel prepared_kernel_of(softqam_kernel_key key)
{
    if (key.output_format != FORMAT || key.axis_bits != ANY_AXIS_BITS)
        return {};
    if (key.kind == MEMORY_KERNEL)
        return {reinterpret_cast<const void *>(memory_kernel<FORMAT>), BLOCK_THREADS};
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        if (key.kind == ARGUMENT_KERNEL)
            return {reinterpret_cast<const void *>(argument_kernel<FORMAT>), BLOCK_THREADS};
    return {};
}

#endif
