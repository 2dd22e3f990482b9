/* SPDX-License-Identifier: MIT */
/* A call on the CPU: parts for the threads, spans of segments, tiles for the loops. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu.h"
#include "float_environment.h"
#include "span.h"
#include "streaming.h"

typedef struct tile_memory {
    _Alignas(64) unsigned char out[STREAMED_SYMBOLS * MAX_OUTPUT_NBYTES]; /* or of few symbols */
    _Alignas(64) float components[2 * TILE_SYMBOLS];
    float noise[TILE_SYMBOLS];
    _Alignas(64) unsigned char symbols[TILE_SYMBOLS * MAX_INPUT_NBYTES]; /* until they are converted; then gains */
    _Alignas(64) uint32_t sequence[SEQUENCE_WORDS + SEQUENCE_SLACK];
    _Alignas(64) uint64_t shifted[SHIFTED_WORDS + SEQUENCE_SLACK / 2]; /* the same, from a bit within a byte on */
    softqam_gold gold;
    bool is_gold_open;
} tile_memory;

typedef struct cpu_call {
    const softqam_cpu_loops *loops;
    const softqam_segment_list *list;
    size_t part; /* symbols of a part */
    bool streaming;
} cpu_call;

/* Where the next n symbols' LLRs go in a soft buffer: straight there, as far as they follow each other in all planes;
 * where that is not far, or they are added, to a tile first. Returns how many are taken. */
static size_t open_soft_tile(span *s, size_t first, size_t n)
{
    const size_t value_nbytes = s->params->value_nbytes;
    uint32_t positions[MAX_SYMBOL_BITS];
    s->call.planes = s->n_bits > 1 ? s->planes : NULL;
    const size_t n_run = s->soft.adds ? 0 : softqam_soft_block_runs(&s->soft, symbol_of_block(s, first), positions);
    s->is_staged = s->soft.adds || (n_run < n && n_run < WORTH_RUN_SYMBOLS);
    if (s->is_staged) {
        const size_t room = STAGED_NBYTES / value_nbytes;
        const size_t most = s->soft.adds ? room : n_run + WORTH_RUN_SYMBOLS;
        set_planes(s, s->n_bits > 1 ? STAGED_NBYTES : 0);
        return n < most ? n : most;
    }
    s->call.out = s->out + positions[0] * value_nbytes;
    for (size_t k = 0; k < s->n_bits; k++)
        s->planes[k] = ((ptrdiff_t)positions[k] - (ptrdiff_t)positions[0]) * (ptrdiff_t)value_nbytes;
    return n < n_run ? n : n_run;
}

/* Which of a span's symbols its loop takes next: all, where they lie and go as loops have it, else a tile of them.
 * Returns how many. */
static size_t next_tile(span *s, size_t first)
{
    if (first == s->out_end) {
        s->block = softqam_code_block_after(&s->blocks, &s->block);
        open_destination(s, first);
    }
    const size_t left = s->out_end - first;
    size_t n = left > s->tile_symbols ? s->tile_symbols : left;
    s->call.out = s->out ? s->out + (first - s->out_first) * s->out_nbytes : NULL;
    s->call.planes = s->plane_nbytes ? s->planes : NULL;
    if (s->has_soft_buffer && s->out)
        n = open_soft_tile(s, first, n);
    s->call.n_symbols = n;
    return n;
}

/* Gathers n items of nbytes side by side, from the span's item `first` on; item i is of source i modulo n_sources,
 * whose items lie `stride` apart. */
static void gather_items(const span *s, const void *const sources[], size_t n_sources, size_t nbytes, size_t stride,
                         size_t first, size_t n, void *to)
{
    if (n_sources == 0) /* there is a layer */
        __builtin_unreachable();
    const size_t n_rounds = n / n_sources;
    const unsigned char *from[SOFTQAM_MAX_SOURCES];
    for (size_t k = 0; k < n_sources; k++)
        from[k] = (const unsigned char *)sources[(first + k) % n_sources] + (first + k) / n_sources * stride * nbytes;
    s->loops->gather(from, n_sources, nbytes, stride, n_rounds, to);
    for (size_t k = n_rounds * n_sources; k < n; k++)
        memcpy((unsigned char *)to + k * nbytes, from[k % n_sources] + n_rounds * stride * nbytes, nbytes);
}

/* Symbols of layers, or of each layer I and Q; where only some layers have these apart, symbol by symbol. */
static void gather_symbols(const span *s, size_t first, size_t n, void *to)
{
    const softqam_layer *layers = s->segment->layers;
    const size_t nbytes = s->params->input_nbytes;
    const void *sources[SOFTQAM_MAX_SOURCES];
    const bool has_q = layers[0].symbols_q != NULL;
    for (size_t k = 0; k < s->n_layers; k++) {
        if ((layers[k].symbols_q != NULL) != has_q) {
            softqam_segment_gather_symbols(s->params, s->segment, first, n, to);
            return;
        }
        sources[k << has_q] = layers[k].symbols;
        if (has_q)
            sources[2 * k + 1] = layers[k].symbols_q;
    }
    gather_items(s, sources, (size_t)s->n_layers << has_q, nbytes >> has_q, s->symbol_stride, first << has_q,
                 n << has_q, to);
}

/* Noise values, or gains. */
static void gather_noise(const span *s, bool gains, size_t first, size_t n, float *to)
{
    const softqam_layer *layers = s->segment->layers;
    const void *sources[SOFTQAM_MAX_SOURCES];
    for (size_t k = 0; k < s->n_layers; k++)
        sources[k] = gains ? layers[k].gain : layers[k].noise_var;
    gather_items(s, sources, s->n_layers, sizeof *to, s->noise_stride, first, n, to);
}

/* The symbols of a tile, side by side, as floats. */
static const void *load_symbols(span *s, size_t first, tile_memory *tile)
{
    const softqam_params *params = s->params;
    const size_t n = s->call.n_symbols;
    const unsigned char *symbols = s->symbols + first * params->input_nbytes;
    if (s->is_gathered) {
        unsigned char *gathered = s->is_converted ? tile->symbols : (unsigned char *)tile->components;
        gather_symbols(s, s->first + first, n, gathered);
        symbols = gathered;
    }
    if (!s->is_converted)
        return symbols;
    s->loops->convert(symbols, s->input_scale, 2 * n, tile->components);
    return tile->components;
}

/* Noise values, or gains, of a tile; `to` is room for them. */
static const float *load_noise(const span *s, bool gains, size_t first, float *to)
{
    const float *from = gains ? s->gains : s->noise;
    if (!from || s->call.noise_kind == SOFTQAM_ONE_WEIGHT)
        return from;
    if (!s->is_noise_gathered)
        return from + first;
    gather_noise(s, gains, s->first + first, s->call.n_symbols, to);
    return to;
}

/* How many symbols' sequence is made at once: those of the tile, or of all the code blocks that there is room for. */
static size_t sequence_symbols(const span *s, size_t first)
{
    const size_t left = s->n_symbols - first;
    size_t n = s->call.n_symbols;
    if (s->out_end < s->n_symbols && n == s->out_end - first) {
        const size_t longest = softqam_code_blocks_longest(&s->blocks);
        n += (DESCRAMBLED_SYMBOLS - n) / longest * longest;
    }
    return n < left ? n : left;
}

/* The scrambling sequence of n of a segment's symbols from `first` on, from the first bit of a byte on. */
static const unsigned char *make_sequence(const softqam_cpu_loops *loops, const softqam_segment *segment, size_t n_bits,
                                          size_t first, size_t n, tile_memory *tile)
{
    const uint64_t position = segment->first_symbol + segment->scrambling_offset + first;
    if (!tile->is_gold_open) {
        softqam_gold_open(&tile->gold, loops->gold);
        memset(tile->sequence + SEQUENCE_WORDS, 0, SEQUENCE_SLACK * sizeof tile->sequence[0]);
        memset(tile->shifted + SHIFTED_WORDS, 0, SEQUENCE_SLACK * sizeof tile->sequence[0]);
        tile->is_gold_open = true;
    }
    return softqam_gold_bits(&tile->gold, segment->c_init, position * n_bits, n * n_bits, tile->sequence);
}

/* The scrambling sequence of a tile, from the first bit of a byte on. Inlined: called, it takes 10 ns more. */
static inline __attribute__((always_inline)) const unsigned char *load_sequence(span *s, size_t first,
                                                                                tile_memory *tile)
{
    if (first < s->sequence_first || first + s->call.n_symbols > s->sequence_end) {
        const size_t n = sequence_symbols(s, first);
        s->sequence = make_sequence(s->loops, s->segment, s->n_bits, s->first + first, n, tile);
        s->sequence_first = first;
        s->sequence_end = first + n;
    }
    const size_t bit = (first - s->sequence_first) * s->n_bits;
    const unsigned char *from = s->sequence + bit / 8;
    if (bit % 8 == 0)
        return from;
    const size_t n_words = s->call.n_symbols * s->n_bits / 64 + 1;
    for (size_t k = 0; k < n_words; k++) {
        uint64_t low, high;
        memcpy(&low, from + 8 * k, sizeof low);
        memcpy(&high, from + 8 * k + 1, sizeof high);
        tile->shifted[k] = low >> bit % 8 | high >> 56 << (64 - bit % 8);
    }
    return (const unsigned char *)tile->shifted;
}

/* What the loop reads of a tile. */
static void load_tile(span *s, size_t first, tile_memory *tile)
{
    softqam_loop_call *call = &s->call;
    const uint64_t position = s->segment->first_symbol + s->segment->scrambling_offset + s->first + first;
    call->components = load_symbols(s, first, tile);
    call->noise = load_noise(s, false, first, tile->noise);
    call->gains = load_noise(s, true, first, (float *)(void *)tile->symbols);
    if (s->segment->descramble)
        call->sequence = load_sequence(s, first, tile);
    if (s->is_pi2_bpsk) {
        call->i_flips[position % 2] = 0;
        call->i_flips[1 - position % 2] = 0x80000000u;
    }
}

/* n items, and the last one again until they are so many. */
static void copy_padded(void *to, const void *from, size_t nbytes, size_t n, size_t n_padded)
{
    unsigned char *bytes = to;
    memcpy(bytes, from, n * nbytes);
    for (; n < n_padded; n++)
        memcpy(bytes + n * nbytes, bytes + (n - 1) * nbytes, nbytes);
}

/* Fewer symbols than a loop takes, to a tile, with the last one again behind them: no other way to compute them is
 * looked for. Planes lie `planes` apart there. */
static void demodulate_few(span *s, tile_memory *tile, const ptrdiff_t *planes)
{
    softqam_loop_call *call = &s->call;
    float padded[2 * MOST_MIN_SYMBOLS];
    float padded_noise[MOST_MIN_SYMBOLS], padded_gains[MOST_MIN_SYMBOLS];
    const size_t n_symbols = call->n_symbols;
    call->n_symbols = s->min_symbols;
    copy_padded(padded, call->components, 2 * sizeof padded[0], n_symbols, call->n_symbols);
    call->components = padded;
    if (call->noise_kind != SOFTQAM_ONE_WEIGHT) {
        copy_padded(padded_noise, call->noise, sizeof padded_noise[0], n_symbols, call->n_symbols);
        call->noise = padded_noise;
    }
    if (call->gains) {
        copy_padded(padded_gains, call->gains, sizeof padded_gains[0], n_symbols, call->n_symbols);
        call->gains = padded_gains;
    }
    call->out = tile->out;
    call->planes = planes;
    s->loop(call);
}

/* From a tile with planes so far apart to where the call's LLRs go. */
static void move_few(const span *s, unsigned char *out, size_t n_symbols, const unsigned char *from,
                     size_t plane_nbytes)
{
    const size_t value_nbytes = s->params->value_nbytes;
    if (plane_nbytes == 0)
        memcpy(out, from, n_symbols * s->out_nbytes);
    for (size_t k = 0; plane_nbytes > 0 && k < s->n_bits; k++)
        memcpy(out + s->planes[k], from + k * plane_nbytes, n_symbols * value_nbytes);
}

/* The span's symbols from `first` on that next_tile() has taken and load_tile() loaded: straight to where they go; or
 * to a tile, and from there past the caches, to a soft buffer, or, fewer than a loop takes, as they are. */
static void demodulate_tile(span *s, size_t first, tile_memory *tile)
{
    softqam_loop_call *call = &s->call;
    const size_t n_symbols = call->n_symbols;
    const bool is_short = n_symbols < s->min_symbols;
    unsigned char *out = call->out;
    size_t plane_nbytes = s->plane_nbytes;
    ptrdiff_t planes[MAX_SYMBOL_BITS];
    if (!is_short && !s->is_staged && !s->is_streamed) {
        s->loop(call);
        return;
    }
    if (is_short) {
        plane_nbytes = call->planes ? MOST_MIN_SYMBOLS * s->params->value_nbytes : 0;
        for (size_t k = 0; k < s->n_bits; k++)
            planes[k] = (ptrdiff_t)(k * plane_nbytes);
        demodulate_few(s, tile, call->planes ? planes : NULL);
    } else {
        call->out = tile->out;
        s->loop(call);
    }
    if (s->is_staged)
        softqam_soft_block_store(&s->soft, symbol_of_block(s, first), n_symbols, tile->out, plane_nbytes);
    else if (is_short)
        move_few(s, out, n_symbols, tile->out, plane_nbytes);
    else
        softqam_copy_streaming(out, tile->out, n_symbols * s->out_nbytes);
}

/* A span, tile by tile. */
static void demodulate_tiles(span *s, tile_memory *tile)
{
    for (size_t first = 0, n; first < s->n_symbols; first += n) {
        n = next_tile(s, first);
        if (!s->out)
            continue;
        load_tile(s, first, tile);
        demodulate_tile(s, first, tile);
    }
}

_Static_assert(SEGMENT_RESERVED == 764,
               "is_simple(), may_flush() ask for the new field; load_tile(), make_sequence() take it");

/* Whether all of a segment lies as the loops have it, as it does in most calls, and its sequence can be made at once.
 */
static inline bool is_simple(const cpu_call *call, const softqam_segment *segment, size_t n_symbols)
{
    const softqam_params *params = call->list->params;
    const softqam_layer *layer = &segment->layers[0];
    return !call->streaming && call->loops->takes_symbols && segment->n_layers <= 1 &&
           (segment->symbol_stride | segment->noise_stride) <= 1 && !layer->symbols_q &&
           (!layer->gain || segment->noise_stride == 1) && segment->codeword.n_code_blocks == 0 &&
           segment->input_scale == 0.0f && softqam_segment_modulation(params, segment) != SOFTQAM_MODULATION_PI2_BPSK &&
           n_symbols >= call->loops->min_symbols << (segment->plane_stride != 0) &&
           (!segment->descramble || n_symbols <= DESCRAMBLED_SYMBOLS);
}

/* n of such a segment's symbols from `first` on: what a span would do, in a tenth of the steps. */
static inline void demodulate_simply(const cpu_call *call, const softqam_segment *segment, size_t first,
                                     size_t n_symbols, tile_memory *tile)
{
    const softqam_params *params = call->list->params;
    const softqam_layer *layer = &segment->layers[0];
    const softqam_modulation modulation = softqam_segment_modulation(params, segment);
    const int axis_bits = softqam_axis_bits(modulation);
    const size_t plane_nbytes = axis_bits > 0 ? segment->plane_stride * params->value_nbytes : 0;
    const size_t out_nbytes = plane_nbytes ? params->value_nbytes : softqam_params_output_nbytes(params, modulation);
    softqam_llr_layout layout = segment->descramble ? SOFTQAM_LLRS_DESCRAMBLED : SOFTQAM_LLRS_IN_ORDER;
    ptrdiff_t planes[MAX_SYMBOL_BITS];
    float weight;
    softqam_loop_call loop = {
        .params = params,
        .n_symbols = n_symbols,
        .components = (const float *)layer->symbols + 2 * first,
        .out = (unsigned char *)segment->out + first * out_nbytes,
        .table = params->llrs[axis_bits],
    };
    set_noise(&loop, params, segment, first, segment->noise_stride == 0, &weight);
    if (segment->descramble)
        loop.sequence = make_sequence(call->loops, segment, softqam_symbol_bits(modulation), first, n_symbols, tile);
    if (plane_nbytes) {
        layout = SOFTQAM_LLRS_IN_PLANES;
        loop.planes = planes;
        for (size_t k = 0; k < MAX_SYMBOL_BITS; k++)
            planes[k] = (ptrdiff_t)(k * plane_nbytes);
    }
    call->loops->by_layout[axis_bits][layout](&loop);
}

/* A call is cut into parts for the threads: several a thread, so that those of unequal speed are done together; none so
 * small that a thread which has to wake up for it is too late, nor so large that the last one is waited for; and whole
 * cache lines of an aligned output, so that no two threads write to one. */
enum { MOST_PART_SYMBOLS = 16384, PARTS_PER_THREAD = 4, PART_UNIT = 64, WORTH_THREADS_PARTS = 6 };

/* In a list of so many segments parts look for their first one from a checkpoint on. */
enum { WORTH_CHECKPOINTS_SEGMENTS = 256 };

/* Changing the processor's mode twice takes as long as a few symbols; a step that has to wait for subnormal numbers
 * takes half a microsecond. */
enum { WORTH_FLUSHING_SYMBOLS = 32 };

/* Whether subnormal numbers may be flushed to zero. They may not where LLRs are added to what a caller's buffer holds.
 */
static bool may_flush(const softqam_cpu_loops *loops, const softqam_segment *segment)
{
    return loops->flushes_subnormals && softqam_is_scale_for_flushing(segment->input_scale) && !segment->layers[0].gain;
}

/* A part, on the calling thread: span by span, each in tiles. */
static void demodulate_part(void *context, size_t number)
{
    const cpu_call *call = context;
    const size_t first_of_part = number * call->part;
    const size_t rest = call->list->n_symbols - first_of_part;
    size_t left = rest < call->part ? rest : call->part;
    const bool is_worth_flushing = left >= WORTH_FLUSHING_SYMBOLS;
    softqam_cursor cursor = {call->list, 0, 0};
    if (first_of_part > 0)
        cursor = softqam_cursor_at(call->list, first_of_part);
    softqam_float_environment environment = softqam_float_enter();
    tile_memory tile;
    tile.is_gold_open = false;
    span s;
    s.params = s.call.params = call->list->params;
    s.loops = call->loops;
    for (; left > 0; cursor.segment++, cursor.offset = 0) {
        const softqam_segment *segment = &call->list->segments[cursor.segment];
        if (segment->n_symbols == 0) /* its pointers may be NULL */
            continue;
        softqam_float_flush(&environment, is_worth_flushing && !call->list->adds && may_flush(call->loops, segment));
        const size_t n = segment->n_symbols - cursor.offset < left ? segment->n_symbols - cursor.offset : left;
        left -= n;
        if (is_simple(call, segment, n)) {
            demodulate_simply(call, segment, cursor.offset, n, &tile);
            continue;
        }
        open_span(&s, segment, cursor.offset, n, call->streaming);
        demodulate_tiles(&s, &tile);
    }
    softqam_float_leave(&environment);
    if (call->streaming)
        softqam_streaming_fence();
}

void softqam_cpu_demodulate(const softqam_cpu *cpu, const softqam_cpu_loops *loops, const softqam_segment_list *list)
{
    const size_t n = list->n_symbols;
    const size_t short_symbols = cpu->variant->short_symbols;
    cpu_call call = {loops, list, n, false};
    softqam_segment_list with_checkpoints;
    size_t checkpoints[SOFTQAM_CHECKPOINTS];
    softqam_pool *pool = NULL;
    if (cpu->n_threads > 1 && !list->repeats && n >= WORTH_THREADS_PARTS * short_symbols)
        pool = softqam_pool_for_call(cpu->pool);
    if (pool) {
        const size_t part = n / (PARTS_PER_THREAD * cpu->n_threads) / PART_UNIT * PART_UNIT;
        call.part = part > MOST_PART_SYMBOLS ? MOST_PART_SYMBOLS : part < short_symbols ? short_symbols : part;
        if (list->n_segments >= WORTH_CHECKPOINTS_SEGMENTS) {
            with_checkpoints = *list;
            softqam_segment_list_add_checkpoints(&with_checkpoints, checkpoints);
            call.list = &with_checkpoints;
        }
    }
    call.streaming = list->out_nbytes >= cpu->streaming_nbytes;
    if (pool)
        softqam_pool_run(pool, demodulate_part, &call, (n - 1) / call.part + 1);
    else
        demodulate_part(&call, 0);
}
