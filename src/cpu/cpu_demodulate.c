/* SPDX-License-Identifier: MIT */
/* A part of a call. Each segment of it goes through a loop, at once if the loop can read and write it in place, else in
 * tiles. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu.h"
#include "float_environment.h"
#include "joint.h"
#include "simd_scalar.h"
#include "soft_block.h"
#include "statistics.h"

#include "arithmetic.h"

/* Keeps rarely needed code out of the function that every call passes. */
#define NOT_INLINED __attribute__((noinline))
/* Inlines all functions that a function calls, which the compiler does not do for two callers. */
#define INLINES_ALL __attribute__((flatten))

/* Tiles stay in the L1 cache. The sequence of an OFDM symbol of one layer, up to 3,276 symbols, is made at once. */
enum {
    TILE_SYMBOLS = 1024,        /* symbols that are gathered or converted at once */
    DESCRAMBLED_SYMBOLS = 3584, /* symbols whose sequence is made, or which are counted, at once */
    OUT_NBYTES = 11 << 10,      /* bytes of LLRs on their way to a soft buffer */
    MAX_INPUT_NBYTES = 8,
    MAX_OUTPUT_NBYTES = MAX_SYMBOL_BITS * sizeof(float),
    SEQUENCE_WORDS = DESCRAMBLED_SYMBOLS * MAX_SYMBOL_BITS / 32 + 2 * GOLD_WINDOW,
    LINE_NBYTES = 64,
    SEQUENCE_SLACK = 16,                                    /* words that loops read after the last one */
    SHIFTED_WORDS = TILE_SYMBOLS * MAX_SYMBOL_BITS / 64 + 8 /* whole lines */
};

_Static_assert((int)JOINT_SYMBOLS *(int)MAX_OUTPUT_NBYTES <= (int)OUT_NBYTES, "LLRs of joint tiles have room");

/* A thread's memory for tiles, on its stack. The sequence comes first, close to the stack frames of the loops that read
 * it: loads from addresses 4 KiB away from a frame's stores would wait for these, 10 ns and more a call. */
typedef struct scratch {
    _Alignas(64) uint32_t sequence[SEQUENCE_WORDS + SEQUENCE_SLACK];
    _Alignas(64) unsigned char out[OUT_NBYTES];
    union {
        struct {
            _Alignas(64) float components[2 * TILE_SYMBOLS];
            float noise[TILE_SYMBOLS];
            _Alignas(64) unsigned char symbols[TILE_SYMBOLS * MAX_INPUT_NBYTES]; /* until converted; then gains */
        };
        softqam_joint_memory joint;
    };
    _Alignas(64) uint64_t shifted[SHIFTED_WORDS + SEQUENCE_SLACK / 2]; /* the same, from a bit within a byte on */
    softqam_gold gold;
    bool is_gold_open;
    softqam_information_table information; /* for a segment with a scale of its own */
    unsigned char gap[320];                /* see the assertion on its size */
} scratch;

/* Says what a thread does with a segment of its part. */
typedef struct work {
    const softqam_params *params;
    const softqam_cpu_loops *loops;
    scratch *scratch;
    softqam_resolved_segment segment;  /* what the thread has of it */
    softqam_loop_call call;            /* arguments of all tiles, and of the current one */
    size_t tile_symbols;               /* at most */
    ptrdiff_t planes[MAX_SYMBOL_BITS]; /* call.planes */
    unsigned n_bits;                   /* bits of a symbol */
    softqam_statistics *statistics;    /* segment.statistics */
    softqam_statistics counts;         /* what this thread adds to it */
    softqam_information information;   /* for counting */
    size_t symbol_nbytes;              /* from a symbol's first value to the next symbol's */
    float weight;                      /* one for all symbols, with SOFTQAM_ONE_WEIGHT */
    size_t plane_nbytes;               /* room for a bit plane on its way to a soft buffer */
    bool has_planes;
    bool is_converted;
    bool is_gathered;
    bool is_noise_gathered; /* noise values are gathered, and gains with them */
    bool is_joint;          /* some layers are demapped jointly */
    softqam_joint joint;
    softqam_destination to; /* destination in the current code block, whose first symbol here is to_first */
    size_t to_first;
    softqam_soft_block soft;       /* the same, if it has a soft buffer */
    const unsigned char *sequence; /* bits of the symbols from sequence_first on, before sequence_end */
    size_t sequence_first;
    size_t sequence_end;
} work;

_Static_assert(sizeof(scratch) + sizeof(work) <= 43 << 10,
               "a call takes 64 KiB of stack at most, of which its other functions and loops need 20");
_Static_assert(
    (sizeof(scratch) + sizeof(work)) % 4096 > 256 && (sizeof(scratch) + sizeof(work)) % 4096 < 3072,
    "Change scratch.gap: if the frame of softqam_cpu_demodulate_part() is a multiple of 4 KiB, loads from its "
    "callers' frames wait for what it stores at its end, and a small call takes up to 1.4 times as long");

/* Preparing a segment. */

/* Passes noise and gains to the loop: pointers to the first symbol's, or one weight. */
static inline void set_noise(softqam_loop_call *call, const softqam_source *source, float *weight)
{
    const bool inverse = source->noise_is_inverse;
    call->noise = source->layers[0].noise_var;
    call->gains = source->layers[0].gain;
    if (source->has_gains) {
        call->noise_kind = inverse ? SOFTQAM_GAINS_INVERSE : SOFTQAM_GAINS_N0;
    } else if (source->noise_stride != 0 || source->n_layers > 1) {
        call->noise_kind = inverse ? SOFTQAM_EACH_INVERSE : SOFTQAM_EACH_N0;
    } else {
        call->noise_kind = SOFTQAM_ONE_WEIGHT;
        if (call->noise)
            *weight = llr_weight(call->rules.steps_per_nat,
                                 llr_bounded_noise(*call->noise, inverse, call->rules.noise_bound), inverse);
        call->noise = weight;
    }
}

/* Sets for which symbols from `first` on I changes its sign: pi/2-BPSK's at odd positions. */
static inline void set_i_flips(softqam_loop_call *call, const softqam_placement *placement, size_t first)
{
    call->i_flips[0] = call->i_flips[1] = 0;
    if (placement->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        call->i_flips[(placement->scrambled_symbol + first + 1) % 2] = 0x80000000u;
}

/* Says what the loop is to do with all of a segment. `weight` is room for the one of all symbols. */
static inline void prepare_call(softqam_loop_call *call, const softqam_params *params,
                                const softqam_resolved_segment *segment, float *weight)
{
    const softqam_placement *placement = &segment->placement;
    call->params = params;
    call->table = params->llrs[softqam_axis_bits((softqam_modulation)placement->modulation)];
    call->rules = (softqam_llr_rules){
        .steps_per_nat = placement->steps_per_nat,
        .limit = params->llr_limit,
        .noise_bound = segment->source.noise_is_inverse ? params->max_inverse_noise : params->min_noise,
    };
    call->sequence = NULL;
    call->planes = NULL;
    call->left_fast_path = NULL;
    call->begins_exact = false;
    set_i_flips(call, placement, 0);
    set_noise(call, &segment->source, weight);
}

/* Returns whether symbols must be converted for the loops. */
static inline bool are_converted(const softqam_params *params, const softqam_source *source)
{
    return params->input_format != SOFTQAM_INPUT_CF32 || vec_bits(source->input_scale) != vec_bits(1.0f);
}

/* Loading. */

/* Returns n symbols from `first` on as the loop takes them: side by side, converted to floats. */
static const void *load_symbols(work *w, size_t first, size_t n)
{
    const softqam_source *source = &w->segment.source;
    const void *symbols = (const unsigned char *)source->layers[0].symbols + first * source->symbol_nbytes;
    if (w->is_gathered) {
        unsigned char *to = w->is_converted ? w->scratch->symbols : (unsigned char *)w->scratch->components;
        softqam_source_gather_symbols(source, w->loops->gather, first, n, to);
        symbols = to;
    }
    if (!w->is_converted)
        return symbols;
    w->loops->convert(symbols, source->input_scale, 2 * n, w->scratch->components);
    return w->scratch->components;
}

/* Sets the noise values and gains of n symbols from `first` on. */
static void load_noise(work *w, size_t first, size_t n)
{
    const softqam_source *source = &w->segment.source;
    const softqam_source_layer *layer = &source->layers[0];
    float *gains = (float *)(void *)w->scratch->symbols;
    if (w->call.noise_kind == SOFTQAM_ONE_WEIGHT)
        return;
    if (!w->is_noise_gathered) {
        w->call.noise = layer->noise_var + first;
        w->call.gains = layer->gain ? layer->gain + first : NULL;
        return;
    }
    softqam_source_gather_noise(source, w->loops->gather, first, n, w->scratch->noise);
    w->call.noise = w->scratch->noise;
    if (!source->has_gains)
        return;
    softqam_source_gather_gains(source, w->loops->gather, first, n, gains);
    w->call.gains = gains;
}

/* Makes n_bits of a scrambling sequence, from bit `first` on. Returns where they begin. */
static NOT_INLINED const unsigned char *make_sequence(scratch *memory, const softqam_gold_loops *loops, uint32_t c_init,
                                                      uint64_t first, size_t n_bits)
{
    if (!memory->is_gold_open) {
        softqam_gold_open(&memory->gold, *loops);
        memset(memory->sequence + SEQUENCE_WORDS, 0, SEQUENCE_SLACK * sizeof memory->sequence[0]);
        memset(memory->shifted + SHIFTED_WORDS, 0, SEQUENCE_SLACK * sizeof memory->sequence[0]);
        memory->is_gold_open = true;
    }
    return softqam_gold_bits(&memory->gold, c_init, first, n_bits, memory->sequence);
}

/* Returns for how many symbols the sequence is made at once: the n of a tile or, if they end a code block, as many
 * whole code blocks as there is room for. */
static size_t sequence_symbols(const work *w, size_t first, size_t n)
{
    const size_t left = w->segment.n_symbols - first;
    if (n < left && w->segment.placement.has_code_blocks && n == w->to.n_symbols - (first - w->to_first)) {
        const size_t longest = softqam_code_blocks_longest(&w->segment.placement.blocks);
        n += (DESCRAMBLED_SYMBOLS - n) / longest * longest;
    }
    return n < left ? n : left;
}

/* Returns the scrambling sequence of *n symbols from `first` on, beginning with a byte's first bit; *n becomes less if
 * there is no room. Inlined: called, it takes 10 ns more. */
static inline __attribute__((always_inline)) const unsigned char *load_sequence(work *w, size_t first, size_t *n)
{
    if (first < w->sequence_first || first + *n > w->sequence_end) {
        const softqam_placement *placement = &w->segment.placement;
        const size_t n_made = sequence_symbols(w, first, *n);
        w->sequence = make_sequence(w->scratch, &w->loops->gold, placement->c_init,
                                    (placement->scrambled_symbol + first) * w->n_bits, n_made * w->n_bits);
        w->sequence_first = first;
        w->sequence_end = first + n_made;
    }
    const size_t bit = (first - w->sequence_first) * w->n_bits;
    const unsigned char *bytes = w->sequence + bit / 8;
    if (bit % 8 == 0)
        return bytes;
    *n = *n < TILE_SYMBOLS ? *n : TILE_SYMBOLS;
    uint64_t *shifted = w->scratch->shifted;
    for (size_t k = 0; k < *n * w->n_bits / 64 + 1; k++) {
        uint64_t low, high;
        memcpy(&low, bytes + 8 * k, sizeof low);
        memcpy(&high, bytes + 8 * k + 1, sizeof high);
        shifted[k] = low >> bit % 8 | high >> 56 << (64 - bit % 8);
    }
    return (const unsigned char *)shifted;
}

/* Calling the loop. */

/* Calls the loop for a placement. No pointer to the placement leaves: see demodulate_at_once(). */
static inline void call_loop(const softqam_cpu_loops *loops, const softqam_placement *placement,
                             const softqam_loop_call *call)
{
    const softqam_llr_layout layout = softqam_placement_has_planes(placement) ? SOFTQAM_LLRS_IN_PLANES
                                      : placement->is_descrambled             ? SOFTQAM_LLRS_DESCRAMBLED
                                                                              : SOFTQAM_LLRS_IN_ORDER;
    loops->by_layout[softqam_axis_bits((softqam_modulation)placement->modulation)][layout](call);
}

static void set_planes(work *w, size_t plane_nbytes)
{
    w->call.planes = w->has_planes ? w->planes : NULL;
    for (size_t k = 0; w->has_planes && k < w->n_bits; k++)
        w->planes[k] = (ptrdiff_t)(k * plane_nbytes);
}

/* Tiles. */

/* Returns the code block's symbol that symbol `first` of the segment is. */
static uint32_t symbol_of_block(const work *w, size_t first)
{
    return w->segment.placement.codeword_symbol + (uint32_t)first - w->to.block.first;
}

/* Makes scratch memory the destination of the next n symbols of a soft buffer. Returns how many there is room for. */
static size_t open_staged_tile(work *w, size_t n)
{
    const size_t n_room = w->plane_nbytes / w->soft.value_nbytes;
    w->call.out = w->scratch->out;
    set_planes(w, w->plane_nbytes);
    return n < n_room ? n : n_room;
}

/* Makes a soft buffer itself the destination of the next n symbols. Returns how many go to consecutive positions in
 * each plane: all but at two places of a code block, the fillers and the buffer's end. */
static size_t open_run(work *w, size_t first, size_t n)
{
    const size_t value_nbytes = w->soft.value_nbytes;
    uint32_t positions[MAX_SYMBOL_BITS];
    const size_t n_run = softqam_soft_block_runs(&w->soft, symbol_of_block(w, first), positions);
    w->call.out = w->to.out + positions[0] * value_nbytes;
    w->call.planes = w->has_planes ? w->planes : NULL;
    for (size_t k = 0; k < w->n_bits; k++)
        w->planes[k] = ((ptrdiff_t)positions[k] - (ptrdiff_t)positions[0]) * (ptrdiff_t)value_nbytes;
    return n < n_run ? n : n_run;
}

/* Prepares counting and what is looked up for it. A scale of the segment's own takes a table of its own. */
static NOT_INLINED void open_statistics(work *w)
{
    const softqam_params *params = w->params;
    const float steps_per_nat = fabsf(w->segment.placement.steps_per_nat);
    w->counts = (softqam_statistics){0};
    w->information = (softqam_information){
        .table = &params->information_table,
        .of_bins = params->information,
        .bins_per_unit = (float)BINS_PER_NAT / steps_per_nat,
        .format = params->output_format,
        .value_nbytes = params->defaults.value_nbytes,
    };
    if (params->output_format != SOFTQAM_OUTPUT_S8 || vec_bits(steps_per_nat) == vec_bits(params->defaults.llr_scale))
        return;
    w->information.table = &w->scratch->information;
    softqam_information_table_make(&w->scratch->information, params->information, w->information.bins_per_unit,
                                   STEP_INDICES);
}

/* Counts a tile. */
static NOT_INLINED void count_tile(work *w, size_t first, const uint64_t *erased)
{
    const softqam_loop_call *call = &w->call;
    const softqam_placement *placement = &w->segment.placement;
    const softqam_counted_tile tile = {
        .call = call,
        .loops = w->loops->count,
        .information = w->information,
        .axis_bits = softqam_axis_bits((softqam_modulation)placement->modulation),
        .codeword_symbol = placement->codeword_symbol + (uint32_t)first,
        .is_fast = !call->left_fast_path || !*call->left_fast_path,
        .erased = erased,
    };
    softqam_count_tile(&tile, &w->counts);
}

/* Demodulates a tile of layers that are demapped jointly, first those that are not, and counts it. */
static NOT_INLINED void demodulate_joint_tile(work *w, size_t first, size_t n)
{
    uint64_t erased[JOINT_SYMBOLS / 64 + 2] = {0};
    if (w->joint.layers_by_partner[0] != 0) {
        w->call.components = load_symbols(w, first, n);
        load_noise(w, first, n);
        call_loop(w->loops, &w->segment.placement, &w->call);
        if (w->statistics)
            softqam_find_erasures(&w->call, w->joint.layers_by_partner[0], w->joint.n_layers, erased);
    }
    softqam_joint_demodulate(&w->joint, &w->scratch->joint, first, &w->call, w->statistics ? erased : NULL);
    if (w->statistics)
        count_tile(w, first, erased);
}

/* Adds a thread's counts; other threads may do so at the same time. */
static NOT_INLINED void add_counts(const softqam_statistics *counts, softqam_statistics *to)
{
    uint64_t numbers[sizeof *counts / sizeof(uint64_t)];
    uint64_t *each = &to->n_symbols;
    memcpy(numbers, counts, sizeof numbers);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        __atomic_fetch_add(each + k, numbers[k], __ATOMIC_RELAXED);
}

/* Demodulates a tile and counts it. Portable loops look for no fast path. */
static NOT_INLINED void call_loop_and_count(work *w, size_t first)
{
    bool left_fast_path = !w->loops->is_vector[softqam_axis_bits((softqam_modulation)w->segment.placement.modulation)];
    w->call.left_fast_path = &left_fast_path;
    call_loop(w->loops, &w->segment.placement, &w->call);
    count_tile(w, first, NULL);
}

/* Demodulates the next symbols from `first` on, at most n, all of one code block. Returns how many they are. */
static size_t demodulate_tile(work *w, size_t first, size_t n)
{
    const softqam_placement *placement = &w->segment.placement;
    const bool is_staged = placement->has_soft_buffers && (w->soft.adds || w->is_joint);
    w->call.out = w->to.out + (first - w->to_first) * w->symbol_nbytes;
    if (is_staged)
        n = open_staged_tile(w, n);
    else if (placement->has_soft_buffers)
        n = open_run(w, first, n);
    if (placement->is_descrambled)
        w->call.sequence = load_sequence(w, first, &n);
    set_i_flips(&w->call, placement, first);
    w->call.n_symbols = n;
    if (!w->is_joint) {
        w->call.components = load_symbols(w, first, n);
        load_noise(w, first, n);
        if (w->statistics)
            call_loop_and_count(w, first);
        else
            call_loop(w->loops, placement, &w->call);
    } else {
        demodulate_joint_tile(w, first, n);
    }
    if (is_staged)
        softqam_soft_block_store(&w->soft, symbol_of_block(w, first), n, w->scratch->out, w->plane_nbytes);
    return n;
}

/* Demodulates the symbols from `first` to `end`, all of one code block. */
static void demodulate_tiles(work *w, size_t first, size_t end)
{
    while (first < end)
        first += demodulate_tile(w, first, end - first < w->tile_symbols ? end - first : w->tile_symbols);
}

/* Opens the destination of the symbols from `first` on. Returns the symbol after the last one that goes there. */
static size_t open_destination(work *w, size_t first)
{
    const softqam_placement *placement = &w->segment.placement;
    const size_t left = w->segment.n_symbols - first;
    softqam_destination_open(&w->to, placement, first);
    w->to_first = first;
    if (!placement->has_soft_buffers) {
        /* The destination is open. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        set_planes(w, w->to.plane_stride * placement->value_nbytes);
    } else if (w->to.out) {
        w->plane_nbytes = OUT_NBYTES / w->n_bits / LINE_NBYTES * LINE_NBYTES;
        softqam_soft_block_open(&w->soft, placement, &w->to, w->loops->add, w->params->llr_limit);
        if (!placement->combines && symbol_of_block(w, first) == 0)
            softqam_soft_block_begin(&w->soft, w->params->output_format, placement->filler_value);
    }
    return first + (left < w->to.n_symbols ? left : w->to.n_symbols);
}

/* Demodulates what a thread has of a segment, in tiles. */
static NOT_INLINED void demodulate_in_tiles(work *w)
{
    const softqam_source *source = &w->segment.source;
    const softqam_placement *placement = &w->segment.placement;
    w->n_bits = softqam_symbol_bits((softqam_modulation)placement->modulation);
    w->symbol_nbytes = softqam_placement_symbol_nbytes(placement);
    w->has_planes = softqam_placement_has_planes(placement);
    w->is_converted = are_converted(w->params, source);
    prepare_call(&w->call, w->params, &w->segment, &w->weight);
    w->is_gathered = source->n_layers > 1 || source->symbol_stride > 1 || source->is_split;
    w->is_noise_gathered =
        w->call.noise_kind != SOFTQAM_ONE_WEIGHT &&
        (source->n_layers > 1 || source->noise_stride != 1 || (source->has_gains && source->gain_stride != 1));
    w->tile_symbols = w->is_joint ? (w->joint.is_direct ? JOINT_SYMBOLS : JOINT_GATHERED_SYMBOLS)
                      : w->is_gathered || w->is_noise_gathered || w->is_converted ? TILE_SYMBOLS
                      : w->statistics || placement->is_descrambled                ? DESCRAMBLED_SYMBOLS
                                                                                  : SIZE_MAX;
    if (w->statistics)
        open_statistics(w);
    w->sequence_first = w->sequence_end = 0;
    if (placement->has_code_blocks)
        w->to.block = softqam_code_block_at(&placement->blocks, placement->codeword_symbol);
    for (size_t first = 0, end; first < w->segment.n_symbols; first = end) {
        if (first > 0)
            w->to.block = softqam_code_block_nth(&placement->blocks, w->to.block.j + 1);
        end = open_destination(w, first);
        if (w->to.out)
            demodulate_tiles(w, first, end);
    }
}

/* Parts. */

/* Returns whether subnormal numbers may be flushed to zero: not by portable loops, nor if LLRs are added to values in a
 * caller's buffer. */
static inline bool may_flush(const softqam_cpu_call *call, const softqam_resolved_segment *segment)
{
    const int axis_bits = softqam_axis_bits((softqam_modulation)segment->placement.modulation);
    return call->is_worth_flushing && call->loops->flushes_subnormals && call->loops->is_vector[axis_bits] &&
           !call->list->adds &&
           softqam_is_scale_for_flushing(call->list->params->input_format, segment->source.input_scale,
                                         segment->source.has_gains);
}

/* Demodulates the first n symbols of a segment if a loop can read and write them in place, as in most calls. With
 * `converts` they are converted first, at most TILE_SYMBOLS; else those that need that are refused. No pointer to the
 * resolved segment leaves this function, so most of it stays in registers. */
static inline __attribute__((always_inline)) bool demodulate_at_once(const softqam_cpu_call *call, bool converts,
                                                                     const softqam_segment *segment, size_t n,
                                                                     scratch *memory,
                                                                     softqam_float_environment *environment)
{
    const softqam_params *params = call->list->params;
    const softqam_cpu_loops *loops = call->loops;
    softqam_resolved_segment resolved;
    const softqam_source *source = &resolved.source;
    const softqam_placement *placement = &resolved.placement;
    ptrdiff_t planes[MAX_SYMBOL_BITS];
    float weight;
    softqam_loop_call loop_call;
    if ((!converts && params->input_format != SOFTQAM_INPUT_CF32) || segment->codeword.n_code_blocks != 0 ||
        segment->statistics || softqam_segment_is_joint(segment))
        return false;
    softqam_segment_resolve(&resolved, segment, &params->defaults);
    const bool has_planes = softqam_placement_has_planes(placement), is_descrambled = placement->is_descrambled;
    const unsigned n_bits = softqam_symbol_bits((softqam_modulation)placement->modulation);
    if (!source->is_contiguous || (converts ? n > TILE_SYMBOLS : are_converted(params, source)) ||
        (is_descrambled && n > DESCRAMBLED_SYMBOLS))
        return false;
    softqam_float_flush(environment, may_flush(call, &resolved));
    prepare_call(&loop_call, params, &resolved, &weight);
    loop_call.n_symbols = n;
    loop_call.components = source->layers[0].symbols;
    if (converts) {
        loops->convert(source->layers[0].symbols, source->input_scale, 2 * n, memory->components);
        loop_call.components = memory->components;
    }
    loop_call.out = placement->out;
    if (has_planes) {
        loop_call.planes = planes;
        for (unsigned k = 0; k < n_bits; k++)
            planes[k] = (ptrdiff_t)(k * placement->plane_stride * placement->value_nbytes);
    }
    if (is_descrambled)
        loop_call.sequence =
            make_sequence(memory, &loops->gold, placement->c_init, placement->scrambled_symbol * n_bits, n * n_bits);
    call_loop(loops, placement, &loop_call);
    return true;
}

INLINES_ALL bool softqam_cpu_demodulate_converted(const softqam_cpu_call *call, const softqam_segment *segment)
{
    softqam_float_environment environment = softqam_float_enter();
    scratch memory;
    memory.is_gold_open = false;
    const bool is_done = demodulate_at_once(call, true, segment, segment->n_symbols, &memory, &environment);
    softqam_float_leave(&environment);
    return is_done;
}

INLINES_ALL void softqam_cpu_demodulate_part(const softqam_cpu_call *call, softqam_cursor *cursor, size_t n)
{
    softqam_float_environment environment = softqam_float_enter();
    scratch memory;
    work w;
    memory.is_gold_open = false;
    w.params = call->list->params;
    w.loops = call->loops;
    w.scratch = &memory;
    while (n > 0) {
        const softqam_segment *segment = softqam_cursor_segment(cursor);
        const size_t n_left = segment->n_symbols - cursor->offset, n_taken = n_left < n ? n_left : n;
        n -= n_taken;
        if (cursor->offset == 0 && demodulate_at_once(call, false, segment, n_taken, &memory, &environment)) {
            cursor->offset = n_taken;
            continue;
        }
        w.is_joint = softqam_segment_is_joint(segment);
        if (w.is_joint)
            softqam_joint_open(&w.joint, w.params, w.loops, segment, cursor->offset);
        softqam_cursor_next(cursor, n_taken, &w.segment);
        softqam_float_flush(&environment, !w.is_joint && may_flush(call, &w.segment));
        w.statistics = segment->statistics;
        demodulate_in_tiles(&w);
        if (w.statistics)
            add_counts(&w.counts, w.statistics);
    }
    softqam_float_leave(&environment);
}
