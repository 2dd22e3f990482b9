/* SPDX-License-Identifier: MIT */
/* The kernels of plain calls take one segment of one layer, side by side and aligned to 16 bytes, in symbol order, not
 * descrambled. The kernels of large codewords take one segment of 1, 2 or 4 layers, descrambled or de-interleaved, as a
 * whole or by code block. Large calls of both kinds also have kernels that count statistics. A thread takes a group of
 * symbols side by side, and loads three or four groups ahead. */
#ifndef SOFTQAM_PLAIN_KERNEL_CUH
#define SOFTQAM_PLAIN_KERNEL_CUH

#include <type_traits>
#include <utility>

#include "count.cuh"
#include "gold.cuh"
#include "kernel_list.h"
#include "plain_group.cuh"

template <typename Component, softqam_output_format FORMAT, int M, softqam_kernel_kind KIND> struct plain_shape {
    enum {
        IS_SMALL = KIND == SMALL_CALL,
        IS_CODEWORD = KIND == CODEWORD_CALL || KIND == COUNTED_CODEWORD,
        HAS_COUNTS = KIND == COUNTED_CALL || KIND == COUNTED_CODEWORD,
        THREADS = IS_SMALL ? SMALL_BLOCK_THREADS : BLOCK_THREADS,
        BITS = symbol_size<FORMAT, M>::BITS,
        NBYTES = symbol_size<FORMAT, M>::NBYTES,
        /* Symbols that a thread takes side by side: whole words of output, and few, so that a slot occupies many
         * threads. */
        GROUP = NBYTES % 4 == 0 && M > 0 && (IS_SMALL || NBYTES > 12) ? 1
                : NBYTES >= 2                                         ? 2
                                                                      : 4,
        GROUP_NBYTES = GROUP * NBYTES,
        GROUP_WORDS = GROUP_NBYTES / 4,
        /* Groups that take several stores go through shared memory, so that a warp's stores lie side by side. */
        IS_STAGED = GROUP_NBYTES > 16 || (GROUP_NBYTES & (GROUP_NBYTES - 1)) != 0,
        /* Groups that are loaded ahead. */
        DEPTH = IS_SMALL                              ? 1
                : sizeof(Component) < 4 && !IS_STAGED ? 4
                                                      : 3,
        /* Rounds that a block takes at most: more if a symbol's instructions take as long as its memory accesses. */
        MAX_ROUNDS = IS_SMALL                              ? 1
                     : IS_CODEWORD                         ? FORMAT == SOFTQAM_OUTPUT_S8 ? 24 : 12
                     : 2 * sizeof(Component) + NBYTES < 16 ? 24
                                                           : 6 + 6 * HAS_COUNTS,
        /* Small calls have a kernel of their own if that of large ones is slower (for a slot on an H200). */
        HAS_SMALL = FORMAT != SOFTQAM_OUTPUT_U8 && !(FORMAT == SOFTQAM_OUTPUT_F32 && M >= 3),
        /* Statistics have kernels for the inputs that equalisers produce (cf32, cf16); codewords have kernels for these
         * and the outputs that decoders read (s8, f16). */
        HAS_COUNTED = FORMAT != SOFTQAM_OUTPUT_U8 && M >= 1 && !std::is_integral<Component>::value,
        HAS_CODEWORD = HAS_COUNTED && (FORMAT == SOFTQAM_OUTPUT_S8 || FORMAT == SOFTQAM_OUTPUT_F16),
        /* Words of the scrambling sequence for a round, and for a block. */
        ROUND_WORDS = THREADS / WARP_THREADS * GROUP * BITS,
        SEQUENCE_WORDS = IS_CODEWORD ? MAX_ROUNDS * ROUND_WORDS : 0,
        /* Thread blocks that a multiprocessor holds at once, which limits the registers of a thread. */
        MIN_BLOCKS = IS_SMALL                              ? 1024 / THREADS
                     : IS_CODEWORD && M == 5               ? 7 - HAS_COUNTS
                     : HAS_COUNTS && M == 5                ? 7
                     : IS_CODEWORD && M >= 3 && HAS_COUNTS ? 7
                                                           : 8
    };
    enum {
        /* Runs of SAMPLE_SYMBOLS sampled symbols that a warp may meet; a thread has two symbols of each. */
        MAX_SAMPLES = (MAX_ROUNDS * GROUP * WARP_THREADS + SAMPLE_SYMBOLS) / SAMPLE_PERIOD + 1
    };
    static_assert(!HAS_COUNTS || !HAS_COUNTED || (GROUP <= 2 && 2 * MAX_SAMPLES <= MAX_SAMPLED),
                  "a thread's sums of energies have room for its samples");
    static_assert(GROUP_NBYTES % 4 == 0, "a group's values are whole words");
};

/* A kernel's argument: kernels of plain calls without statistics have a short one, which takes less time to read. */
template <softqam_kernel_kind KIND>
using plain_argument = std::conditional_t<KIND >= CODEWORD_CALL, softqam_codeword_argument, softqam_plain_argument>;

static __device__ __forceinline__ const softqam_plain_argument &plain_of(const softqam_plain_argument &argument)
{
    return argument;
}

static __device__ __forceinline__ const softqam_plain_argument &plain_of(const softqam_codeword_argument &argument)
{
    return argument.plain;
}

/* A thread's groups, STRIDE apart, from memory to memory. The warps of a thread block take turns, so that they read and
 * write side by side; if they count, each has a part of the block for itself, and its share of the sampled symbols. */
template <typename Component, softqam_output_format FORMAT, int M, softqam_kernel_kind KIND> struct plain_thread {
    typedef plain_shape<Component, FORMAT, M, KIND> shape;
    typedef symbol_size<FORMAT, M> size;
    enum {
        G = shape::GROUP,
        WORDS = shape::GROUP_WORDS,
        DEPTH = shape::DEPTH,
        THREADS = shape::THREADS,
        BITS = size::BITS,
        IS_CODEWORD = shape::IS_CODEWORD,
        HAS_COUNTS = shape::HAS_COUNTS,
        STRIDE = HAS_COUNTS ? WARP_THREADS + 0 : THREADS + 0, /* groups from a thread's to its next one */
        STRIDE_WORDS = STRIDE / WARP_THREADS * G * BITS,      /* the scrambling sequence's */
        PLANE_NBYTES = G * size::VALUE_NBYTES                 /* a group's values in a plane */
    };
    typedef symbol_group<Component, G> group;
    typedef symbol_group<Component, 1> symbol;
    struct loaded {
        group symbols;
        float noise[G];
    };

    const plain_argument<KIND> &argument;
    const softqam_plain_argument &plain;
    uint32_t staged; /* shared memory's address for this thread's values */
    int n_left;      /* groups from this thread's next one on to the block's last whole one */
    bool has_noise_each;
    bool is_in_planes; /* a codeword: each code block, or all of it, is de-interleaved */
    float weight_scale;
    symbol_scale scale;
    gold_bits<G * BITS> sequence; /* for the next group */
    /* The next group's inputs; with several layers the inputs of each of its symbols. */
    const symbol *symbols_in[IS_CODEWORD ? G + 0 : 1];
    const float *noise_in[IS_CODEWORD ? G + 0 : 1];
    unsigned char *out;
    /* Code blocks need the numbers in the codeword of the next group's first symbol and of the current code block's
     * end; and where the codeword's first symbol would go if it belonged to that code block. */
    uint32_t symbol_number;
    uint32_t code_block_end;
    uint32_t bit_nbytes; /* from one bit's values to the next one's */
    unsigned char *code_block_out;
    thread_counts counts; /* with statistics */

    __device__ __forceinline__ bool has_layers() const
    {
        if constexpr (IS_CODEWORD)
            return argument.segment.source.n_layers > 1;
        return false;
    }

    /* Returns the bits of the sequence for the group that is k * STRIDE after the next one. */
    __device__ __forceinline__ uint32_t flips_of_group(int k) const
    {
        if constexpr (IS_CODEWORD)
            return argument.segment.placement.is_descrambled ? sequence.read(k * STRIDE_WORDS) : 0;
        return 0;
    }

    /* Returns the distance from a group's values to the next group's, in symbol order or in a plane. */
    __device__ __forceinline__ int group_nbytes() const
    {
        if constexpr (IS_CODEWORD)
            return is_in_planes ? PLANE_NBYTES : shape::GROUP_NBYTES;
        return shape::GROUP_NBYTES;
    }

    /* Returns the distance from a group's symbol to the same one of the group STRIDE later. */
    __device__ __forceinline__ int symbol_stride() const
    {
        if constexpr (IS_CODEWORD)
            return STRIDE * G >> argument.segment.source.n_layers / 2; /* there are 1, 2 or 4 layers */
        return STRIDE * G;
    }

    /* Goes to this thread's first group. */
    __device__ __forceinline__ void open(size_t first_group)
    {
        const size_t n = first_group * G;
        has_noise_each = FORMAT != SOFTQAM_OUTPUT_U8 && plain.has_noise_each;
        weight_scale = weight_scale_of(FORMAT, plain.steps_per_nat);
        symbols_in[0] = static_cast<const symbol *>(plain.symbols) + n;
        noise_in[0] = plain.noise + n;
        if constexpr (HAS_COUNTS || IS_CODEWORD)
            symbol_number = argument.segment.placement.codeword_symbol + static_cast<uint32_t>(n);
        if constexpr (IS_CODEWORD) {
            const softqam_source &source = argument.segment.source;
            const softqam_placement &placement = argument.segment.placement;
            is_in_planes = placement.plane_stride != 0 || placement.has_code_blocks;
            code_block_end = 0;
            if (has_layers())
#pragma unroll
                for (int g = 0; g < G; g++) {
                    const softqam_source_layer &layer = source.layers[(n + g) & (source.n_layers - 1)];
                    symbols_in[g] = static_cast<const symbol *>(layer.symbols) + ((n + g) >> source.n_layers / 2);
                    noise_in[g] = layer.noise_var + ((n + g) >> source.n_layers / 2);
                }
        }
        out = plain.out + first_group * group_nbytes();
    }

    /* Finds the code block of a symbol. */
    __device__ __forceinline__ void open_code_block(uint32_t number)
    {
        const softqam_placement &placement = argument.segment.placement;
        const softqam_code_block found = softqam_code_block_at(&placement.blocks, number);
        code_block_out = softqam_code_block_values(&placement, &found) - size_t{found.first} * size::VALUE_NBYTES;
        bit_nbytes = found.n_symbols * size::VALUE_NBYTES;
        code_block_end = found.first + found.n_symbols;
    }

    /* Loads the group that is k * STRIDE after the next one. */
    __device__ __forceinline__ void load(loaded &inputs, int k) const
    {
        typedef typename group::word_type word_type;
        if (k * STRIDE >= n_left)
            return;
        if constexpr (IS_CODEWORD)
            if (has_layers()) {
                inputs.symbols = {};
#pragma unroll
                for (int g = 0; g < G; g++) {
                    inputs.symbols.load_symbol(
                        g, reinterpret_cast<const word_type *>(symbols_in[g] + k * symbol_stride()));
                    inputs.noise[g] = noise_in[g][k * symbol_stride()];
                }
                return;
            }
        inputs.symbols = reinterpret_cast<const group *>(symbols_in[0])[k * STRIDE];
        if (has_noise_each)
#pragma unroll
            for (int g = 0; g < G; g++)
                inputs.noise[g] = noise_in[0][k * STRIDE * G + g];
    }

    /* Returns the counts with a group's erasures and sampled symbols. This is not inlined, so that the loop, which
     * seldom calls it, stays in the instruction cache. */
    static __device__ __noinline__ thread_counts with_rare(thread_counts counts, rare_symbols<FORMAT, M, G> rare,
                                                           float bins_per_unit)
    {
        add_rare<FORMAT, M, true>(counts, rare, bins_per_unit);
        return counts;
    }

    /* Adds n symbols of the group that is k * STRIDE after the next one to all counts but n_symbols; n is G, or less at
     * the end. `joined` has the group's values side by side. */
    __device__ __forceinline__ void count(const packed_values<size::WORDS> (&symbols)[G],
                                          const packed_values<WORDS> &joined, const float (&components)[2 * G],
                                          const symbol_scale (&scales)[G], bool are_regular, int k, unsigned n)
    {
        const uint32_t number = symbol_number + k * STRIDE * G;
        const uint32_t limited = count_limited<FORMAT, shape::GROUP_NBYTES>(joined, plain.limit, counts.n_limited);
        counts.n_limited = n == G ? limited : counts.n_limited;
#pragma unroll
        for (int g = 0; g < G - 1; g++)
            if (n < G && g < n)
                counts.n_limited = count_limited<FORMAT, size::NBYTES>(symbols[g], plain.limit, counts.n_limited);
        if (are_regular && (number + G - 1) % SAMPLE_PERIOD >= SAMPLE_SYMBOLS + G - 1)
            return;
        rare_symbols<FORMAT, M, G> rare = {};
#pragma unroll
        for (int g = 0; g < G; g++) {
            rare.values[g] = symbols[g];
            rare.components[2 * g] = components[2 * g];
            rare.components[2 * g + 1] = components[2 * g + 1];
            rare.sampled |= g < n && softqam_is_sampled(number + g) ? 1u << g : 0;
            rare.erased |= g < n && scales[g].weight == 0.0f ? 1u << g : 0; /* as regularize() leaves erasures */
        }
        counts = with_rare(counts, rare, bins_per_unit_of(FORMAT, plain.steps_per_nat));
    }

    /* Demodulates the group that is k * STRIDE after the next one; with statistics counts n symbols of it. */
    template <typename Table>
    __device__ __forceinline__ packed_values<WORDS> demodulate(const Table &table, const loaded &inputs, int k,
                                                               unsigned n)
    {
        const uint32_t flips = flips_of_group(k);
        packed_values<size::WORDS> symbols[G];
        float components[2 * G];
        symbol_scale scales[G];
#pragma unroll
        for (int g = 0; g < G; g++) {
            components[2 * g] = inputs.symbols.component(2 * g, plain.input_scale);
            components[2 * g + 1] = inputs.symbols.component(2 * g + 1, plain.input_scale);
            scales[g] = scale;
            scales[g].pi2_sign = g % 2 ? plain.other_pi2_sign : plain.pi2_sign;
            scales[g].flips = flips >> g * BITS & ((1u << BITS) - 1);
            if (has_noise_each)
                scales[g].set_noise(weight_scale, inputs.noise[g], plain.noise_is_inverse, plain.limit);
        }
        const bool are_regular = values_of<FORMAT, M, IS_CODEWORD, G>(symbols, table, components, scales, plain.limit);
        const packed_values<WORDS> joined = join<G, size::NBYTES>(symbols);
        if constexpr (HAS_COUNTS)
            count(symbols, joined, components, scales, are_regular, k, n);
        return joined;
    }

    /* Stores a codeword's group in bit planes. */
    __device__ __forceinline__ void store_in_planes(int k, const packed_values<WORDS> &values)
    {
        const softqam_placement &placement = argument.segment.placement;
        unsigned char *to = out + k * STRIDE * PLANE_NBYTES;
        size_t plane_nbytes = placement.plane_stride * size::VALUE_NBYTES;
        if (placement.has_code_blocks) {
            const uint32_t number = symbol_number + k * STRIDE * G;
            if (number >= code_block_end)
                open_code_block(number);
            to = code_block_out + size_t{number} * size::VALUE_NBYTES;
            plane_nbytes = bit_nbytes;
        }
#pragma unroll
        for (int bit = 0; bit < BITS; bit++, to += plane_nbytes)
            store_in_plane<G, size::VALUE_NBYTES>(to, values, bit);
    }

    __device__ __forceinline__ void store(int k, const packed_values<WORDS> &values)
    {
        const int n = n_left - k * STRIDE; /* groups from this thread's own on */
        if constexpr (IS_CODEWORD)
            if (is_in_planes) {
                if (n > 0)
                    store_in_planes(k, values);
                return;
            }
        unsigned char *to = out + k * STRIDE * shape::GROUP_NBYTES;
        if (shape::IS_STAGED) {
            const int lane = threadIdx.x % WARP_THREADS;
            __syncwarp();
            store_shared(staged, values);
            __syncwarp();
            copy_staged<WORDS>(to - lane * shape::GROUP_NBYTES, staged - lane * shape::GROUP_NBYTES, n + lane);
        } else if (n > 0) {
            store_words(to, values);
        }
    }

    /* Demodulates the symbols after the last whole group, if they are this thread's; `room` in shared memory is this
     * thread's. */
    template <typename Table>
    __device__ __forceinline__ void demodulate_rest(const Table &table, unsigned n, uint32_t *room)
    {
        if (shape::IS_STAGED) /* other threads may still store values from there */
            __syncwarp();
        if (n == 0 || (!HAS_COUNTS && n_left != 0)) /* threads of a warp count together */
            return;
        const bool is_mine = !HAS_COUNTS || n_left == 0;
        loaded inputs = {};
#pragma unroll
        for (int g = 0; g < G - 1; g++)
            if (is_mine && g < n) {
                inputs.symbols.load_symbol(g, reinterpret_cast<const typename group::word_type *>(symbols_in[0] + g));
                if (has_noise_each)
                    inputs.noise[g] = noise_in[0][g];
            }
        store_words(room, demodulate(table, inputs, 0, is_mine ? n : 0));
        if (!is_mine)
            return;
        counts.n_symbols += n;
        if constexpr (IS_CODEWORD)
            if (is_in_planes)
                return store_rest<size::VALUE_NBYTES>(out, argument.segment.placement.plane_stride * size::VALUE_NBYTES,
                                                      room, n, BITS);
        store_rest<size::VALUE_NBYTES>(out, size::VALUE_NBYTES, room, 1, n * BITS);
    }

    __device__ __forceinline__ void advance(int n)
    {
        if constexpr (IS_CODEWORD)
            sequence.first_word += n * STRIDE_WORDS * 32 / sequence.WORD_BITS;
        symbol_number += n * STRIDE * G;
#pragma unroll
        for (int g = 0; g < sizeof symbols_in / sizeof symbols_in[0]; g++) {
            symbols_in[g] += n * symbol_stride();
            noise_in[g] += n * symbol_stride();
        }
        out += n * STRIDE * group_nbytes();
        n_left -= n * STRIDE;
    }

    /* Demodulates the block's rounds, of which the first DEPTH are loaded, and the symbols after the last whole group
     * if they are the block's. */
    template <typename Table>
    __device__ __forceinline__ void demodulate_rounds(const Table &table, loaded (&next)[DEPTH], unsigned n_groups,
                                                      bool has_rest, uint32_t *room)
    {
        const unsigned n_rest = static_cast<unsigned>(plain.n_symbols % G);
        if constexpr (shape::IS_SMALL) {
            store(0, demodulate(table, next[0], 0, G));
            if (G > 1 && has_rest)
                demodulate_rest(table, n_rest, room);
            return;
        }
        int n_rounds = static_cast<int>((n_groups + STRIDE - 1) / STRIDE);
        if (HAS_COUNTS)
            asm("" : "+r"(n_rounds)); /* else the compiler computes it anew for each group */
        int round = 0;
        counts.n_symbols = G * static_cast<uint32_t>(max(n_left + STRIDE - 1, 0) / STRIDE); /* this thread's groups */
#pragma unroll 1
        for (; round < n_rounds; round += DEPTH) {
#pragma unroll
            for (int k = 0; k < DEPTH; k++)
                if (k == 0 || round + k < n_rounds) {
                    store(k, demodulate(table, next[k], k, k * STRIDE < n_left ? G : 0));
                    load(next[k], k + DEPTH);
                }
            advance(DEPTH);
        }
        if (G > 1 && has_rest) {
            advance(static_cast<int>(n_groups / STRIDE) - round);
            demodulate_rest(table, n_rest, room);
        }
    }
};

/* Writes the scrambling sequence for a block's symbols. */
template <typename Thread>
static __device__ __forceinline__ void write_plain_sequence(uint32_t *to, const softqam_codeword_argument &argument,
                                                            size_t first_group)
{
    enum { G = Thread::G, MANY_ROUNDS = 4 }; /* as MANY_ITERATIONS */
    const softqam_placement &placement = argument.segment.placement;
    const softqam_plain_argument &plain = argument.plain;
    const auto n = static_cast<unsigned>(min(plain.groups_per_block * size_t{G}, plain.n_symbols - first_group * G));
    if (placement.is_descrambled)
        write_block_gold(to, (n * Thread::BITS + 31) / 32, n > MANY_ROUNDS * Thread::THREADS * G, placement.c_init,
                         (placement.scrambled_symbol + first_group * G) * Thread::BITS);
}

template <typename Component, softqam_output_format FORMAT, int M, softqam_kernel_kind KIND>
static __global__ void __launch_bounds__((plain_shape<Component, FORMAT, M, KIND>::THREADS),
                                         (plain_shape<Component, FORMAT, M, KIND>::MIN_BLOCKS))
    plain_kernel(const __grid_constant__ plain_argument<KIND> argument,
                 const __grid_constant__ typename kernel_table<FORMAT, M>::argument table)
{
    typedef plain_thread<Component, FORMAT, M, KIND> thread;
    enum { G = thread::G, DEPTH = thread::DEPTH, THREADS = thread::THREADS };
    const softqam_plain_argument &plain = plain_of(argument);
    __shared__ kernel_table<FORMAT, M> memory;
    __shared__ alignas(16) uint32_t stage[THREADS * thread::WORDS];
    __shared__ uint32_t sequence[thread::shape::SEQUENCE_WORDS + 1];
    const size_t block_first = static_cast<size_t>(blockIdx.x) * plain.groups_per_block;
    const unsigned most = thread::HAS_COUNTS ? plain.groups_per_block / BLOCK_WARPS : plain.groups_per_block;
    const unsigned number = thread::HAS_COUNTS ? threadIdx.x % WARP_THREADS : threadIdx.x;
    const size_t first = thread::HAS_COUNTS ? block_first + threadIdx.x / WARP_THREADS * most : block_first;
    const auto share_of_table = kernel_table<FORMAT, M>::template load<THREADS>(table);
    if constexpr (thread::IS_CODEWORD)
        write_plain_sequence<thread>(sequence, argument, block_first);
    const size_t n_whole = plain.n_symbols / G;
    const bool has_any = !thread::HAS_COUNTS || first <= n_whole;
    const unsigned n_groups = has_any ? static_cast<unsigned>(min(most + size_t{0}, n_whole - first)) : 0;
    thread self = {argument, plain, shared_address(stage, threadIdx.x * thread::shape::GROUP_NBYTES),
                   static_cast<int>(n_groups - number)};
    self.open(first + number);
    self.sequence.open(sequence, static_cast<unsigned>(first - block_first + number) * G * thread::BITS);
    wait_for_previous_kernel();
    let_next_kernel_begin();

    typename thread::loaded next[DEPTH] = {};
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
        self.load(next[k], k);
    if (FORMAT != SOFTQAM_OUTPUT_U8 && !self.has_noise_each)
        self.scale.set_noise(self.weight_scale, plain.noise ? *plain.noise : plain.noise_value, plain.noise_is_inverse,
                             plain.limit);
    memory.store(share_of_table);
    if constexpr (thread::HAS_COUNTS)
        open_counts<FORMAT>(plain.steps_per_nat);
    if (!kernel_table<FORMAT, M>::IN_REGISTERS || thread::IS_CODEWORD || thread::HAS_COUNTS)
        __syncthreads();
    self.demodulate_rounds(memory.read(table), next, n_groups, has_any && first + most > n_whole,
                           stage + threadIdx.x * thread::WORDS);
    if constexpr (thread::HAS_COUNTS) {
        counts_of_block().add_rare(self.counts);
        counts_of_block().set(self.counts);
        wait_for_symbol_threads();
        add_counts_to(argument.statistics);
    }
}

/* Returns a kernel of an input format. u8 has one, that of four bits an axis. */
template <typename Component> static softqam_kernel plain_kernel_of(softqam_input_format format, softqam_kernel_key key)
{
    if (key.input_format != format)
        return {};
    return with_constant<N_OUTPUT_FORMATS>(key.output_format, [&](auto output) {
        constexpr auto FORMAT = static_cast<softqam_output_format>(output());
        return find_kernel<FORMAT, LARGE_CALL, SEGMENT_KERNEL>(key, [](auto number, auto axis_bits) -> softqam_kernel {
            constexpr auto KIND = static_cast<softqam_kernel_kind>(number());
            constexpr bool IS_ONE = axis_bits() != ANY_AXIS_BITS;
            constexpr int M = FORMAT != SOFTQAM_OUTPUT_U8 && IS_ONE ? axis_bits() : 4;
            typedef plain_shape<Component, FORMAT, M, KIND> shape;
            if constexpr (IS_ONE && (KIND == SMALL_CALL     ? shape::HAS_SMALL
                                     : KIND == COUNTED_CALL ? shape::HAS_COUNTED
                                                            : KIND == LARGE_CALL || shape::HAS_CODEWORD))
                return {reinterpret_cast<const void *>(plain_kernel<Component, FORMAT, M, KIND>), shape::THREADS,
                        shape::GROUP, shape::MAX_ROUNDS};
            else
                return {};
        });
    });
}

#endif
