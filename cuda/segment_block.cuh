/* SPDX-License-Identifier: MIT */
/* A thread block that works on a segment: its shared memory, the search for its segment in the kernel's arguments, and
 * the preparation of table and scrambling sequence. */
#ifndef SOFTQAM_SEGMENT_BLOCK_CUH
#define SOFTQAM_SEGMENT_BLOCK_CUH

#include "gold.cuh"
#include "kernel_tables.cuh"
#include "kernels.h"
#include "symbol.cuh"

/* Words that a warp's symbols take in any modulation and output format. */
enum { MAX_STAGED_WORDS = WARP_THREADS * symbol_size<SOFTQAM_OUTPUT_F32, MAX_AXIS_BITS>::WORDS };

/* Words of the scrambling sequence for a block's symbols, of any modulation. */
enum { MAX_SEQUENCE_WORDS = BLOCK_WARPS * MAX_WARP_ITERATIONS * 2 * MAX_AXIS_BITS };

/* Bytes that a tile's values take on their way to soft buffers, at least one symbol a thread in any modulation and
 * output format: bit planes, each aligned as its destination is, and a word more. */
enum { SOFT_STAGE_NBYTES = 2 * MAX_AXIS_BITS * (4 * BLOCK_THREADS + 16) + 16 };

/* Shared memory of a thread block. */
struct segment_memory {
    alignas(llr_table_memory<MAX_AXIS_BITS>) unsigned char tables[sizeof(llr_table_memory<MAX_AXIS_BITS>)];
    union {
        uint32_t staged[BLOCK_WARPS][MAX_STAGED_WORDS + 2]; /* a word more at both ends */
        alignas(16) unsigned char soft_stage[SOFT_STAGE_NBYTES];
    };
    uint32_t sequence[MAX_SEQUENCE_WORDS + 1]; /* for the block's symbols, from the first one on; a word more */
    softqam_resolved_segment segment;
    softqam_extras extras;
    unsigned input_format;

    /* Returns the table of the block's segment. */
    template <softqam_output_format FORMAT, int M> __device__ __forceinline__ kernel_table<FORMAT, M> &table()
    {
        static_assert(sizeof(kernel_table<FORMAT, M>) <= sizeof tables,
                      "Make `tables` as large as the largest kernel_table");
        return *reinterpret_cast<kernel_table<FORMAT, M> *>(tables);
    }
};

/* The table that comes with a kernel's arguments. */
template <softqam_output_format FORMAT> using u8_table_argument = typename kernel_table<FORMAT, 4>::argument;

/* All threads write the table of a modulation. */
template <softqam_output_format FORMAT, int ONLY = ANY_AXIS_BITS>
static __device__ __forceinline__ void write_table(segment_memory &shared, unsigned modulation,
                                                   const u8_table_argument<FORMAT> &u8_table)
{
    with_axis_bits<FORMAT, ONLY>(
        modulation,
        [&](auto axis_bits) {
            typedef kernel_table<FORMAT, decltype(axis_bits)::value> table;
            shared.table<FORMAT, decltype(axis_bits)::value>().store(table::template load<BLOCK_THREADS>(u8_table));
        });
}

/* The segments of a kernel's arguments. */
template <typename Item> struct array_of {
    Item item[MAX_SEGMENTS];
};

typedef array_of<softqam_resolved_segment> segment_arguments;

/* Soft bits go to no soft buffers, so their kernels have no parts of code blocks. */
struct no_arguments {
};
template <softqam_output_format FORMAT>
using part_arguments =
    std::conditional_t<FORMAT == SOFTQAM_OUTPUT_U8, no_arguments, array_of<softqam_code_block_parts>>;
typedef array_of<softqam_extras> extras_arguments;

static_assert(sizeof(softqam_common_argument) + 16 +
                          MAX_SEGMENTS * (sizeof(softqam_resolved_segment) + sizeof(softqam_code_block_parts) +
                                          sizeof(softqam_extras) + sizeof(unsigned)) <=
                      4096 &&
                  sizeof(softqam_u8_table) + sizeof(softqam_common_argument) + 16 +
                          MAX_SEGMENTS *
                              (sizeof(softqam_resolved_segment) + sizeof(softqam_extras) + sizeof(unsigned)) <=
                      4096,
              "A kernel's arguments take at most 4 KiB");

/* Reads a kernel's argument at its generic address. Arguments lie in constant memory, which serves a warp one word at a
 * time; at the generic address each thread gets its own word at once, though the first access takes longer. */
template <typename Argument> static __device__ __forceinline__ const Argument &as_memory(const Argument &argument)
{
    const Argument *pointer = &argument;
    asm volatile("" : "+l"(pointer));
    return *pointer;
}

/* The block's first threads copy a structure of whole words, of a kernel's arguments or in shared memory, to shared
 * memory. */
template <typename Structure>
static __device__ __forceinline__ void copy_words(Structure &to, const Structure &argument)
{
    enum { WORDS = sizeof to / sizeof(uint32_t) };
    static_assert(sizeof to % sizeof(uint32_t) == 0 && WORDS + 0 <= BLOCK_THREADS + 0, "a thread for each word");
    if (threadIdx.x < WORDS)
        reinterpret_cast<uint32_t *>(&to)[threadIdx.x] =
            reinterpret_cast<const uint32_t *>(&as_memory(argument))[threadIdx.x];
}

/* The segment of a launch that a block works on, and the block's number among the segment's. */
struct block_index {
    unsigned segment;
    size_t number;
};

/* Finds the segment of a block among those that are arguments: the last one that begins at this block or before. */
static __device__ __forceinline__ block_index find_segment(const array_of<unsigned> &first_blocks,
                                                           const softqam_common_argument &common)
{
    unsigned low = 0;
    unsigned high = common.n_segments;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (first_blocks.item[middle] <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    return {low, static_cast<size_t>(blockIdx.x - first_blocks.item[low])};
}

/* The symbols of a segment that a block works on. */
struct block_span {
    size_t first;
    unsigned n_symbols;
    bool is_descrambled;
    bool is_written_by_one; /* the last warp alone writes the scrambling sequence */
};

/* Returns the span of the segment's block `number`. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ block_span block_span_of(const softqam_resolved_segment &segment,
                                                           const softqam_common_argument &common, size_t number)
{
    enum { MANY_ITERATIONS = 4 }; /* 256QAM's sequence has 128 words or more: see write_block_gold() */
    const unsigned of_block = softqam_block_symbols(common.block_iterations, segment.source.n_layers);
    block_span span;
    span.first = number * of_block;
    span.n_symbols = span.first < segment.n_symbols
                         ? static_cast<unsigned>(min(segment.n_symbols - span.first, of_block + size_t{0}))
                         : 0;
    span.is_descrambled = FORMAT != SOFTQAM_OUTPUT_U8 && segment.placement.is_descrambled;
    span.is_written_by_one = span.is_descrambled && common.block_iterations < MANY_ITERATIONS * BLOCK_WARPS;
    return span;
}

/* Writes the scrambling sequence for a span. */
static __device__ __forceinline__ void write_sequence(segment_memory &shared, const softqam_placement &placement,
                                                      const block_span &span)
{
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(placement.modulation));
    if (span.is_descrambled)
        write_block_gold(shared.sequence, (span.n_symbols * bits + 31) / 32, !span.is_written_by_one, placement.c_init,
                         (placement.scrambled_symbol + span.first) * bits);
}

/* Barriers at which not all warps of a block wait: at the first one all but the last warp, at the second one the last
 * warp alone. */
enum { OTHER_WARPS_BARRIER = 1, LAST_WARP_BARRIER };

/* Copies a segment of a kernel's arguments to shared memory, and writes its table and its scrambling sequence. If one
 * warp writes the sequence, it reads only the arguments, so it does not wait for the others. */
template <softqam_output_format FORMAT, int ONLY = ANY_AXIS_BITS>
static __device__ __forceinline__ void open_segment(segment_memory &shared, const softqam_resolved_segment &segment,
                                                    const block_span &span, const u8_table_argument<FORMAT> &u8_table)
{
    enum { OTHERS = BLOCK_THREADS - WARP_THREADS, WORDS = sizeof segment / sizeof(uint32_t) };
    static_assert(sizeof segment % sizeof(uint32_t) == 0 && WORDS + 0 <= OTHERS + 0, "a thread for each word");
    if (span.is_written_by_one && threadIdx.x >= OTHERS) {
        write_table<FORMAT, ONLY>(shared, segment.placement.modulation, u8_table);
        write_sequence(shared, segment.placement, span);
        asm volatile("bar.sync %0, %1;" ::"n"(LAST_WARP_BARRIER + 0), "n"(BLOCK_THREADS + 0) : "memory");
        return;
    }
    const uint32_t word =
        threadIdx.x < WORDS ? reinterpret_cast<const uint32_t *>(&as_memory(segment))[threadIdx.x] : 0;
    write_table<FORMAT, ONLY>(shared, segment.placement.modulation, u8_table);
    if (threadIdx.x < WORDS)
        reinterpret_cast<uint32_t *>(&shared.segment)[threadIdx.x] = word;
    if (span.is_written_by_one) {
        asm volatile("bar.sync %0, %1;" ::"n"(OTHER_WARPS_BARRIER + 0), "n"(OTHERS + 0) : "memory");
        asm volatile("bar.arrive %0, %1;" ::"n"(LAST_WARP_BARRIER + 0), "n"(BLOCK_THREADS + 0) : "memory");
        return;
    }
    write_sequence(shared, segment.placement, span);
    __syncthreads();
}

#endif
