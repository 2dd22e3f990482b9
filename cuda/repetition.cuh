/* SPDX-License-Identifier: MIT */
/* Code blocks with repetition, which have more LLRs than positions: the order of additions matters. A thread has a
 * position, and computes every LLR that goes there, in order. */
#ifndef SOFTQAM_REPETITION_CUH
#define SOFTQAM_REPETITION_CUH

#include "soft_tile.cuh"

/* A part of a code block whose LLRs are added in order: by symbol, then by bit. */
struct repeated_part {
    softqam_code_block found;
    unsigned char *values; /* the soft buffer */
    uint32_t begin, end;   /* the data positions that are this thread block's */
    size_t first;          /* the part's first symbol, counted in the segment */
    uint32_t n_symbols;
    bool is_new;  /* nothing has been added yet: positions count as zero */
    bool is_once; /* new data that visits no position twice: LLRs are stored, not added */
};

/* Computes an LLR of symbol `number` of the part. */
template <softqam_output_format FORMAT, int M, source_kind KIND>
static __device__ __forceinline__ uint32_t llr_of_part(soft_memory &shared, const softqam_llr_limit &limit,
                                                       const repeated_part &part, uint32_t number, unsigned bit)
{
    enum { BITS = symbol_size<FORMAT, M>::BITS, VALUE = symbol_size<FORMAT, M>::VALUE_NBYTES };
    thread_symbols<FORMAT, M, KIND, true> symbols = {shared};
    symbols.open(part.first + number, number, 1);
    symbols.load(true);
    symbols.set_noise(symbols.source.noise, limit);
    const auto values = symbols.demodulate(shared.table<FORMAT, M>().read({}), limit, false, 1);
    uint32_t value = 0;
#pragma unroll
    for (unsigned k = 0; k < BITS; k++)
        value = k == bit ? value_at<VALUE>(values, k) : value;
    return value;
}

/* Adds the LLRs of a part whose scrambling sequence is written, a data position a thread. In each round of n_data
 * symbols the LLRs of a bit visit every position at most once, in the same order. */
template <softqam_output_format FORMAT, int M, source_kind KIND>
static __device__ __forceinline__ void add_part(soft_memory &shared, const softqam_llr_limit &limit,
                                                const repeated_part &part)
{
    enum { BITS = symbol_size<FORMAT, M>::BITS, VALUE = symbol_size<FORMAT, M>::VALUE_NBYTES };
    const softqam_soft_buffer &buffer = shared.segment.placement.buffer;
    soft_sum<FORMAT> sum;
    sum.open(limit.llr);
#pragma unroll 1
    for (uint32_t data = part.begin + threadIdx.x; data < part.end; data += BLOCK_THREADS) {
        unsigned char *to = part.values + size_t{data + (data < buffer.first_filler ? 0 : buffer.n_fillers)} * VALUE;
        uint32_t value = part.is_new ? 0 : load_value<VALUE>(to);
        bool is_changed = part.is_new;
#pragma unroll 1
        for (uint64_t round = 0; round < part.n_symbols; round += buffer.n_data)
#pragma unroll 1
            for (uint64_t last = 0;;) {
                uint64_t next = UINT64_MAX; /* symbol of the round and bit of the next visit */
#pragma unroll
                for (unsigned k = 0; k < BITS; k++) {
                    const uint32_t start = shared.plane_starts[k];
                    const uint32_t symbol = data >= start ? data - start : buffer.n_data - start + data;
                    static_assert(BITS <= 16, "Give a key more than four bits for the bit's number");
                    const uint64_t key = uint64_t{symbol} * 16 + k;
                    if (symbol + round < part.n_symbols && key >= last && key < next)
                        next = key;
                }
                if (next == UINT64_MAX)
                    break;
                const uint32_t llr = llr_of_part<FORMAT, M, KIND>(
                    shared, limit, part, static_cast<uint32_t>(round + next / 16), static_cast<unsigned>(next % 16));
                value = part.is_once ? llr : sum.add(value, llr);
                is_changed = true;
                last = next + 1;
            }
        if (is_changed)
            store_value<VALUE>(to, value);
    }
}

template <softqam_output_format FORMAT>
static __device__ __noinline__ void add_part_of_any_kind(soft_memory &shared, const softqam_llr_limit &limit,
                                                         const repeated_part &part)
{
    __builtin_assume(__isShared(&shared) != 0);
    const softqam_source &source = shared.segment.source;
    with_axis_bits<FORMAT>(shared.segment.placement.modulation, [&](auto axis_bits) {
        constexpr int M = decltype(axis_bits)::value;
        if (source.joint_layers != 0)
            return add_part<FORMAT, M, JOINT_SOURCE>(shared, limit, part);
        if (source.has_gains)
            add_part<FORMAT, M, GAIN_SOURCE>(shared, limit, part);
        else
            add_part<FORMAT, M, ANY_SOURCE>(shared, limit, part);
    });
}

/* A thread block's walk through code blocks of a codeword with repetition. It adds, for some of the positions, all LLRs
 * of the launch's segments, in the order of the segments. A code block belongs to the first segment that has symbols of
 * it. */
template <softqam_output_format FORMAT, typename Arguments> struct repeated_walk {
    soft_memory &shared;
    const Arguments &arguments;
    unsigned home; /* the thread block's segment */
    softqam_code_block found;
    /* The codeword's members of these names. */
    const void *buffers;
    void *const *block_buffers;
    uint64_t block_stride;

    /* Returns whether segment k has symbols of the code block, and of the same codeword. */
    __device__ __forceinline__ bool has_part(unsigned k) const
    {
        return arguments.with_codeword(
            k,
            [&](uint64_t begin, size_t n, bool has_soft, const void *out, void *const *each, uint64_t stride) {
                return has_soft && out == buffers && each == block_buffers && stride == block_stride && n > 0 &&
                       begin < uint64_t{found.first} + found.n_symbols && begin + n > found.first;
            });
    }

    /* Makes segment k the block's. */
    __device__ __forceinline__ void load(unsigned k)
    {
        __syncthreads();
        arguments.load(shared, k);
        __syncthreads();
        write_table<FORMAT>(shared, shared.segment.placement.modulation, {});
    }

    /* Adds the symbols that the block's segment has of the code block, to slice number `slice` of the positions. */
    __device__ __forceinline__ void add(uint32_t slice, uint32_t n_slices)
    {
        enum { MOST = BLOCK_THREADS * MAX_WARP_ITERATIONS }; /* symbols that the sequence is written for at a time */
        const softqam_placement &placement = shared.segment.placement;
        const softqam_soft_buffer &buffer = placement.buffer;
        const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(placement.modulation));
        const uint64_t of_segment = placement.codeword_symbol;
        const uint64_t begin = max(of_segment, uint64_t{found.first});
        const uint64_t end = min(of_segment + shared.segment.n_symbols, uint64_t{found.first} + found.n_symbols);
        const bool is_repeated = softqam_soft_is_repeated(&buffer, uint64_t{found.n_symbols} * bits);
        const bool is_new = !placement.combines && of_segment <= found.first;
        repeated_part part = {found, softqam_code_block_values(&placement, &found)};
        part.begin = static_cast<uint32_t>(uint64_t{buffer.n_data} * slice / n_slices);
        part.end = static_cast<uint32_t>(uint64_t{buffer.n_data} * (slice + 1) / n_slices);
        part.is_once = !placement.combines && !is_repeated;
        part.is_new = is_new && is_repeated;
        if (!part.values || begin >= end)
            return;
        if (is_new && slice == 0 && threadIdx.x < WARP_THREADS) {
            soft_fill fill = {is_repeated ? 0 : found.n_symbols * bits, 0, buffer.n_fill, placement.filler_value};
            fill.n_zeros = buffer.n_data - fill.first_zero;
            fill_share share = fill_share_of(buffer, fill, 0, 1, 1);
            share.begin = is_repeated ? fill.n_zeros : 0;
            fill_positions<FORMAT>(buffer, part.values, fill, share);
        }
        for (uint64_t symbol = begin; symbol < end; symbol += part.n_symbols, part.is_new = false) {
            part.first = symbol - of_segment;
            part.n_symbols = static_cast<uint32_t>(min(end - symbol, uint64_t{MOST}));
            __syncthreads();
            write_sequence(shared, placement, {part.first, part.n_symbols, placement.is_descrambled != 0, false});
            if (threadIdx.x < bits)
                shared.plane_starts[threadIdx.x] = static_cast<uint32_t>(
                    (buffer.start + uint64_t{threadIdx.x} * found.n_symbols + symbol - found.first) % buffer.n_data);
            __syncthreads();
            add_part_of_any_kind<FORMAT>(shared, arguments.common().limit, part);
        }
    }
};

/* Adds a thread block's code blocks of its segment. */
template <softqam_output_format FORMAT, typename Arguments>
static __device__ __noinline__ void demodulate_repeated(soft_memory &shared, const Arguments &arguments,
                                                        const block_index &index)
{
    __builtin_assume(__isShared(&shared) != 0);
    wait_for_previous_kernel();
    const softqam_placement placement = shared.segment.placement;
    const unsigned of_block =
        softqam_block_symbols(arguments.common().block_iterations, shared.segment.source.n_layers);
    const auto n_own = static_cast<uint32_t>((shared.segment.n_symbols - 1) / of_block + 1); /* blocks of the segment */
    const auto last = static_cast<uint32_t>(placement.codeword_symbol + shared.segment.n_symbols - 1);
    const uint32_t first_j = softqam_code_block_at(&placement.blocks, placement.codeword_symbol).j;
    const uint32_t n_code_blocks = softqam_code_block_at(&placement.blocks, last).j - first_j + 1;
    const uint32_t n_slices = max(n_own / n_code_blocks, 1u), n_segments = arguments.n_segments();
    repeated_walk<FORMAT, Arguments> walk = {
        shared, arguments, index.segment, {}, placement.out, placement.block_buffers, placement.block_stride};
#pragma unroll 1
    for (uint64_t n = index.number; n < uint64_t{n_code_blocks} * n_slices; n += n_own) {
        walk.found = softqam_code_block_nth(&placement.blocks, first_j + static_cast<uint32_t>(n / n_slices));
#pragma unroll 1
        for (unsigned k = 0; k < n_segments; k++) {
            if (!walk.has_part(k))
                continue;
            if (k < walk.home)
                break; /* another segment's thread blocks take it */
            walk.load(k);
            walk.add(static_cast<uint32_t>(n % n_slices), n_slices);
        }
    }
}

#endif
