/* SPDX-License-Identifier: MIT */
/* A call on the CPU: threads share its symbols, a part at a time. Each segment of a part runs through a loop, in one go
 * if the loop can read and write it in place, else in tiles. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu.h"
#include "float_environment.h"
#include "simd_scalar.h"
#include "streaming.h"

#include "arithmetic.h"

/* Keeps what few calls need out of the function that all run through. */
#define NOT_INLINED __attribute__((noinline))

/* Tiles stay in the first cache. */
enum {
    TILE_SYMBOLS = 1024,        /* gathered or converted */
    STREAMED_SYMBOLS = 512,     /* whose LLRs are stored past the caches */
    DESCRAMBLED_SYMBOLS = 3584, /* whose scrambling sequence is made at once */
    PLANE_NBYTES = 1 << 11,     /* of a bit plane on its way to a soft buffer */
    WORTH_RUN_SYMBOLS = 64,     /* that a loop stores to a soft buffer itself */
    MAX_INPUT_NBYTES = 8,
    MAX_OUTPUT_NBYTES = MAX_SYMBOL_BITS * sizeof(float),
    SEQUENCE_WORDS = DESCRAMBLED_SYMBOLS * MAX_SYMBOL_BITS / 32 + 2 * GOLD_WINDOW,
    SEQUENCE_SLACK = 16,                                           /* words that loops read after the last one */
    SHIFTED_WORDS = DESCRAMBLED_SYMBOLS * MAX_SYMBOL_BITS / 64 + 8 /* whole lines */
};

/* A thread's memory for tiles, on its stack. */
typedef struct scratch {
    _Alignas(64) unsigned char out[PLANE_NBYTES * MAX_SYMBOL_BITS];
    _Alignas(64) float components[2 * TILE_SYMBOLS];
    float noise[TILE_SYMBOLS];
    _Alignas(64) unsigned char symbols[TILE_SYMBOLS * MAX_INPUT_NBYTES]; /* until they are converted; then gains */
    _Alignas(64) uint32_t sequence[SEQUENCE_WORDS + SEQUENCE_SLACK];
    _Alignas(64) uint64_t shifted[SHIFTED_WORDS + SEQUENCE_SLACK / 2]; /* the same, from a bit within a byte on */
    softqam_gold gold;
    bool is_gold_open;
} scratch;
_Static_assert(STREAMED_SYMBOLS *MAX_OUTPUT_NBYTES <= sizeof((scratch *)0)->out, "streamed LLRs fit");

/* What a thread does with a segment of its part. */
typedef struct work {
    const softqam_params *params;
    const softqam_cpu_loops *loops;
    scratch *scratch;
    softqam_resolved_segment segment; /* what the thread has of it */
    softqam_loop *loop;
    softqam_loop_call call;            /* of all tiles, and of the current one */
    size_t min_symbols;                /* that the loop takes */
    size_t tile_symbols;               /* at most */
    ptrdiff_t planes[MAX_SYMBOL_BITS]; /* call.planes */
    unsigned n_bits;                   /* of a symbol */
    size_t symbol_nbytes;              /* from a symbol's first value to the next symbol's */
    float weight;                      /* of all symbols, with SOFTQAM_ONE_WEIGHT */
    bool has_planes;
    bool is_converted;
    bool is_gathered;
    bool is_noise_gathered; /* and gains */
    bool is_streamed;
    softqam_destination to; /* of the current code block, whose first symbol here is to_first */
    size_t to_first;
    softqam_soft_block soft;       /* the same, if it has a soft buffer */
    const unsigned char *sequence; /* of the symbols from sequence_first on, before sequence_end */
    size_t sequence_first;
    size_t sequence_end;
} work;

/* Preparing a segment. */

/* Says what the loop knows of noise and gains: pointers to those of the first symbol, or one weight. */
static inline void set_noise(work *w)
{
    const softqam_source *source = &w->segment.source;
    const bool inverse = source->noise_is_inverse;
    softqam_loop_call *call = &w->call;
    call->scale = (softqam_llr_scale){w->segment.placement.steps_per_nat, w->params->llr_limit};
    call->noise = source->layers[0].noise_var;
    call->gains = source->layers[0].gain;
    if (source->has_gains) {
        call->noise_kind = inverse ? SOFTQAM_GAINS_INVERSE : SOFTQAM_GAINS_N0;
    } else if (source->noise_stride != 0 || source->n_layers > 1) {
        call->noise_kind = inverse ? SOFTQAM_NOISE_INVERSE : SOFTQAM_NOISE_N0;
    } else {
        call->noise_kind = SOFTQAM_ONE_WEIGHT;
        if (call->noise)
            w->weight = llr_weight(call->scale.steps_per_nat, *call->noise, inverse);
        call->noise = &w->weight;
    }
}

/* Sets which symbols from `first` on have the sign of I changed: pi/2-BPSK's at odd positions. */
static inline void set_i_flips(work *w, size_t first)
{
    const softqam_placement *placement = &w->segment.placement;
    w->call.i_flips[0] = w->call.i_flips[1] = 0;
    if (placement->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        w->call.i_flips[(placement->position + first + 1) % 2] = 0x80000000u;
}

static softqam_llr_layout layout_of(const softqam_placement *placement)
{
    return softqam_placement_has_planes(placement) ? SOFTQAM_LLRS_IN_PLANES
           : placement->is_descrambled             ? SOFTQAM_LLRS_DESCRAMBLED
                                                   : SOFTQAM_LLRS_IN_ORDER;
}

/* Chooses the loop for w->segment, and says what it is to do with all of it. */
static inline void prepare(work *w, bool is_streamed)
{
    const softqam_source *source = &w->segment.source;
    const softqam_placement *placement = &w->segment.placement;
    const softqam_params *params = w->params;
    const int axis_bits = softqam_axis_bits((softqam_modulation)placement->modulation);
    const bool has_planes = softqam_placement_has_planes(placement);
    w->loop = w->loops->by_layout[axis_bits][layout_of(placement)];
    w->min_symbols = w->loops->min_symbols << has_planes;
    w->n_bits = softqam_symbol_bits((softqam_modulation)placement->modulation);
    w->symbol_nbytes = softqam_placement_stride(placement);
    w->has_planes = has_planes;
    w->is_converted = params->input_format != SOFTQAM_INPUT_CF32 || vec_bits(source->input_scale) != vec_bits(1.0f);
    w->is_streamed = is_streamed && !has_planes && !placement->has_soft_buffers;
    w->call.params = params;
    w->call.table = params->llrs[axis_bits];
    w->call.sequence = NULL;
    w->call.planes = NULL;
    set_i_flips(w, 0);
    set_noise(w);
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
    softqam_source_gather_floats(source, w->loops->gather, false, first, n, w->scratch->noise);
    w->call.noise = w->scratch->noise;
    if (!source->has_gains)
        return;
    softqam_source_gather_floats(source, w->loops->gather, true, first, n, gains);
    w->call.gains = gains;
}

/* Makes the scrambling sequence of n symbols from `first` on. */
static NOT_INLINED void make_sequence(work *w, size_t first, size_t n)
{
    const softqam_placement *placement = &w->segment.placement;
    scratch *memory = w->scratch;
    if (!memory->is_gold_open) {
        softqam_gold_open(&memory->gold, w->loops->gold);
        memset(memory->sequence + SEQUENCE_WORDS, 0, SEQUENCE_SLACK * sizeof memory->sequence[0]);
        memset(memory->shifted + SHIFTED_WORDS, 0, SEQUENCE_SLACK * sizeof memory->sequence[0]);
        memory->is_gold_open = true;
    }
    w->sequence = softqam_gold_bits(&memory->gold, placement->c_init, (placement->position + first) * w->n_bits,
                                    n * w->n_bits, memory->sequence);
    w->sequence_first = first;
    w->sequence_end = first + n;
}

/* Returns how many symbols' sequence is made at once: the n of a tile or, if they end a code block, those of as many
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

/* Returns the scrambling sequence of n symbols from `first` on, beginning with a byte's first bit. Inlined: called, it
 * takes 10 ns more. */
static inline __attribute__((always_inline)) const unsigned char *load_sequence(work *w, size_t first, size_t n)
{
    if (first < w->sequence_first || first + n > w->sequence_end)
        make_sequence(w, first, sequence_symbols(w, first, n));
    const size_t bit = (first - w->sequence_first) * w->n_bits;
    const unsigned char *from = w->sequence + bit / 8;
    if (bit % 8 == 0)
        return from;
    uint64_t *shifted = w->scratch->shifted;
    for (size_t k = 0; k < n * w->n_bits / 64 + 1; k++) {
        uint64_t low, high;
        memcpy(&low, from + 8 * k, sizeof low);
        memcpy(&high, from + 8 * k + 1, sizeof high);
        shifted[k] = low >> bit % 8 | high >> 56 << (64 - bit % 8);
    }
    return (const unsigned char *)shifted;
}

/* Running the loop. */

/* Copies n items, and repeats the last one until there are n_padded. */
static void copy_padded(void *to, const void *from, size_t nbytes, size_t n, size_t n_padded)
{
    unsigned char *bytes = to;
    memcpy(bytes, from, n * nbytes);
    for (; n < n_padded; n++)
        memcpy(bytes + n * nbytes, bytes + (n - 1) * nbytes, nbytes);
}

/* Runs a loop on fewer symbols than w->loop takes: a loop that takes fewer, if these suffice for it. Else pads them
 * with copies of the last one, and lets the loop write to scratch memory. */
static NOT_INLINED void run_few(work *w, size_t n)
{
    enum { PLANE_STRIDE = MOST_MIN_SYMBOLS * sizeof(float) };
    float components[2 * MOST_MIN_SYMBOLS], noise[MOST_MIN_SYMBOLS], gains[MOST_MIN_SYMBOLS];
    unsigned char out[MOST_MIN_SYMBOLS * MAX_OUTPUT_NBYTES];
    ptrdiff_t planes[MAX_SYMBOL_BITS];
    const softqam_placement *placement = &w->segment.placement;
    const int axis_bits = softqam_axis_bits((softqam_modulation)placement->modulation);
    softqam_loop *loop = w->loops->few_by_layout[axis_bits][layout_of(placement)];
    const size_t min_symbols = w->loops->min_few_symbols << w->has_planes;
    if (n >= min_symbols) {
        loop(&w->call);
        return;
    }
    softqam_loop_call call = w->call;
    call.n_symbols = min_symbols;
    copy_padded(components, call.components, 2 * sizeof *components, n, call.n_symbols);
    call.components = components;
    if (call.noise_kind != SOFTQAM_ONE_WEIGHT) {
        copy_padded(noise, call.noise, sizeof *noise, n, call.n_symbols);
        call.noise = noise;
    }
    if (call.gains) {
        copy_padded(gains, call.gains, sizeof *gains, n, call.n_symbols);
        call.gains = gains;
    }
    call.out = out;
    for (size_t k = 0; k < w->n_bits; k++)
        planes[k] = (ptrdiff_t)(k * PLANE_STRIDE);
    call.planes = w->has_planes ? planes : NULL;
    loop(&call);
    if (!w->has_planes)
        memcpy(w->call.out, out, n * w->symbol_nbytes);
    for (size_t k = 0; w->call.planes && k < w->n_bits; k++)
        /* All n_bits are set. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        memcpy(w->call.out + w->call.planes[k], out + planes[k], n * w->symbol_nbytes);
}

/* Runs the loop on n symbols, whose inputs and destination w->call has. */
static inline void run(work *w, size_t n)
{
    w->call.n_symbols = n;
    if (n < w->min_symbols)
        run_few(w, n);
    else
        w->loop(&w->call);
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

/* Decides where the loop writes at most n symbols that go to a soft buffer: straight there, as far as they lie at
 * consecutive positions in all planes; to scratch memory if that is not far, or if LLRs are added. Returns how many
 * symbols the tile takes. */
static size_t open_soft_tile(work *w, size_t first, size_t n, bool *is_staged)
{
    const size_t value_nbytes = w->soft.value_nbytes;
    uint32_t positions[MAX_SYMBOL_BITS];
    const size_t n_run = w->soft.adds ? 0 : softqam_soft_block_runs(&w->soft, symbol_of_block(w, first), positions);
    *is_staged = w->soft.adds || (n_run < n && n_run < WORTH_RUN_SYMBOLS);
    if (*is_staged) {
        const size_t most = w->soft.adds ? PLANE_NBYTES / value_nbytes : n_run + WORTH_RUN_SYMBOLS;
        w->call.out = w->scratch->out;
        set_planes(w, PLANE_NBYTES);
        return n < most ? n : most;
    }
    w->call.out = w->to.out + positions[0] * value_nbytes;
    w->call.planes = w->has_planes ? w->planes : NULL;
    for (size_t k = 0; k < w->n_bits; k++)
        w->planes[k] = ((ptrdiff_t)positions[k] - (ptrdiff_t)positions[0]) * (ptrdiff_t)value_nbytes;
    return n < n_run ? n : n_run;
}

/* Demodulates the next symbols from `first` on, at most n, all of one code block. Returns how many they are. */
static size_t demodulate_tile(work *w, size_t first, size_t n)
{
    const softqam_placement *placement = &w->segment.placement;
    unsigned char *out = w->to.out + (first - w->to_first) * w->symbol_nbytes;
    bool is_staged = false;
    w->call.out = w->is_streamed ? w->scratch->out : out;
    if (placement->has_soft_buffers)
        n = open_soft_tile(w, first, n, &is_staged);
    w->call.components = load_symbols(w, first, n);
    load_noise(w, first, n);
    set_i_flips(w, first);
    if (placement->is_descrambled)
        w->call.sequence = load_sequence(w, first, n);
    run(w, n);
    if (is_staged)
        softqam_soft_block_store(&w->soft, symbol_of_block(w, first), n, w->scratch->out, PLANE_NBYTES);
    else if (w->is_streamed)
        softqam_copy_streaming(out, w->scratch->out, n * w->symbol_nbytes);
    return n;
}

/* Demodulates the symbols from `first` to `end`, all of one code block. */
static void demodulate_tiles(work *w, size_t first, size_t end)
{
    while (first < end)
        first += demodulate_tile(w, first, end - first < w->tile_symbols ? end - first : w->tile_symbols);
}

/* Opens the destination of the symbols from `first` on. Returns the last one's successor. */
static size_t open_destination(work *w, size_t first)
{
    const softqam_placement *placement = &w->segment.placement;
    const size_t left = w->segment.n_symbols - first;
    softqam_destination_open(&w->to, placement, first);
    w->to_first = first;
    if (!placement->has_soft_buffers) {
        set_planes(w, w->to.plane_stride * placement->value_nbytes);
    } else if (w->to.out) {
        softqam_soft_block_open(&w->soft, placement, &w->to, w->loops->add, w->params->sum_limit);
        if (!placement->combines && symbol_of_block(w, first) == 0)
            softqam_soft_block_begin(&w->soft, w->params->output_format, placement->filler_value);
    }
    return first + (left < w->to.n_symbols ? left : w->to.n_symbols);
}

/* Demodulates a segment that the loop cannot read and write in place. */
static NOT_INLINED void demodulate_in_tiles(work *w)
{
    const softqam_source *source = &w->segment.source;
    const softqam_placement *placement = &w->segment.placement;
    w->is_gathered = source->n_layers > 1 || source->symbol_stride > 1 || source->is_split;
    w->is_noise_gathered =
        w->call.noise_kind != SOFTQAM_ONE_WEIGHT && (source->n_layers > 1 || source->noise_stride != 1);
    w->tile_symbols = w->is_streamed                                              ? STREAMED_SYMBOLS
                      : w->is_gathered || w->is_noise_gathered || w->is_converted ? TILE_SYMBOLS
                      : placement->is_descrambled                                 ? DESCRAMBLED_SYMBOLS
                                                                                  : SIZE_MAX;
    w->sequence_first = w->sequence_end = 0;
    if (placement->has_code_blocks)
        w->to.block = softqam_code_block_at(&placement->blocks, placement->codeword_symbol);
    for (size_t first = 0, end; first < w->segment.n_symbols; first = end) {
        if (first > 0)
            w->to.block = softqam_code_block_after(&placement->blocks, &w->to.block);
        end = open_destination(w, first);
        if (w->to.out)
            demodulate_tiles(w, first, end);
    }
}

/* Demodulates what a thread has of a segment. */
static inline void demodulate_segment(work *w, bool is_streamed)
{
    const softqam_source *source = &w->segment.source;
    const softqam_placement *placement = &w->segment.placement;
    const size_t n = w->segment.n_symbols;
    prepare(w, is_streamed);
    if (!source->is_contiguous || w->is_converted || placement->has_code_blocks || w->is_streamed ||
        (placement->is_descrambled && n > DESCRAMBLED_SYMBOLS)) {
        demodulate_in_tiles(w);
        return;
    }
    w->call.components = source->layers[0].symbols;
    w->call.out = placement->out;
    if (w->has_planes)
        set_planes(w, placement->plane_stride * placement->value_nbytes);
    if (placement->is_descrambled) {
        make_sequence(w, 0, n);
        w->call.sequence = w->sequence;
    }
    run(w, n);
}

/* Threads. */

/* A call that threads work on. Parts look for their first segment from a checkpoint on, so that those of a long list do
 * not all search it from its beginning. */
enum { CHECKPOINTS = 16 };
typedef struct cpu_call {
    const softqam_cpu_loops *loops;
    const softqam_segment_list *list;
    bool is_streamed;
    /* With several threads. */
    size_t part_symbols;
    size_t checkpoint_symbols; /* from one to the next */
    softqam_cursor checkpoints[CHECKPOINTS];
} cpu_call;

/* A call is cut into parts for the threads: several a thread, so that threads of unequal speed end together; none so
 * small that a thread which has to wake up for it is too late, nor so large that the last one is waited for; and whole
 * cache lines of an aligned output, so that no two threads write to one. */
enum { MOST_PART_SYMBOLS = 16384, PARTS_PER_THREAD = 4, PART_UNIT = 64, WORTH_THREADS_PARTS = 6 };

/* Changing the processor's mode twice takes as long as a few symbols; a loop that has to wait for a subnormal number
 * takes half a microsecond. */
enum { WORTH_FLUSHING_SYMBOLS = 32 };

/* Returns whether subnormal numbers may be flushed to zero. They may not if LLRs are added to what a caller's buffer
 * holds. */
static bool may_flush(const cpu_call *call, const softqam_source *source)
{
    return call->loops->flushes_subnormals && !call->list->adds && !source->has_gains &&
           softqam_is_scale_for_flushing(source->input_scale);
}

/* Demodulates n symbols from the cursor on, on the calling thread. */
static void demodulate_part(const cpu_call *call, softqam_cursor *cursor, size_t n)
{
    const bool is_worth_flushing = n >= WORTH_FLUSHING_SYMBOLS;
    softqam_float_environment environment = softqam_float_enter();
    scratch memory;
    work w;
    memory.is_gold_open = false;
    w.params = call->list->params;
    w.loops = call->loops;
    w.scratch = &memory;
    while (n > 0) {
        softqam_cursor_next(cursor, n, &w.segment);
        n -= w.segment.n_symbols;
        softqam_float_flush(&environment, is_worth_flushing && may_flush(call, &w.segment.source));
        demodulate_segment(&w, call->is_streamed);
    }
    softqam_float_leave(&environment);
    if (call->is_streamed)
        softqam_streaming_fence();
}

/* Demodulates a part, on any thread. */
static void demodulate_numbered_part(void *context, size_t number)
{
    const cpu_call *call = context;
    const size_t first = number * call->part_symbols, left = call->list->n_symbols - first;
    softqam_cursor cursor = call->checkpoints[first / call->checkpoint_symbols];
    softqam_cursor_skip(&cursor, first % call->checkpoint_symbols);
    demodulate_part(call, &cursor, left < call->part_symbols ? left : call->part_symbols);
}

void softqam_cpu_demodulate(const softqam_cpu *cpu, const softqam_cpu_loops *loops, const softqam_segment_list *list)
{
    const size_t n = list->n_symbols, short_symbols = cpu->variant->short_symbols;
    softqam_cursor cursor = softqam_cursor_at(list, 0);
    softqam_pool *pool = NULL;
    cpu_call call;
    call.loops = loops;
    call.list = list;
    call.is_streamed = list->out_nbytes >= cpu->streaming_nbytes;
    if (cpu->n_threads > 1 && !list->repeats && n >= WORTH_THREADS_PARTS * short_symbols)
        pool = softqam_pool_for_call(cpu->pool);
    if (!pool) {
        demodulate_part(&call, &cursor, n);
        return;
    }
    const size_t part = n / (PARTS_PER_THREAD * cpu->n_threads) / PART_UNIT * PART_UNIT;
    call.part_symbols = part > MOST_PART_SYMBOLS ? MOST_PART_SYMBOLS : part < short_symbols ? short_symbols : part;
    call.checkpoint_symbols = n / CHECKPOINTS + 1;
    for (int k = 0; k < CHECKPOINTS; k++) {
        call.checkpoints[k] = cursor;
        softqam_cursor_skip(&cursor, call.checkpoint_symbols);
    }
    softqam_pool_run(pool, demodulate_numbered_part, &call, (n - 1) / call.part_symbols + 1);
}
