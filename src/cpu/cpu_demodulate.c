/* SPDX-License-Identifier: MIT */
#include "cpu_demodulate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "float_environment.h"
#include "simd_scalar.h"
#include "streaming.h"
#include "variant.h"

#include "arithmetic.h"

/* Stages that not every call needs work on tiles, which stay in the first caches: symbols that must be brought together
 * or converted, noise that must be brought together, and values that leave past the caches. */
enum { TILE_SYMBOLS = 1024, TILE_OUT_NBYTES = 16384, MAX_INPUT_NBYTES = 8, LARGEST_STEP = 16 };

typedef struct tile_memory {
    _Alignas(64) unsigned char out[TILE_OUT_NBYTES];
    _Alignas(64) float components[2 * TILE_SYMBOLS];
    float noise[TILE_SYMBOLS];
    unsigned char symbols[TILE_SYMBOLS * MAX_INPUT_NBYTES];
} tile_memory;

/* Part of a call, for one thread. */
typedef struct span_job {
    const softqam_demodulator *demodulator;
    bool streaming; /* past the caches */
    bool converts;  /* components cannot be taken as they lie */
    softqam_noise_kind noise_kind;
    softqam_llr_scale llr_scale;
    float weight; /* of all symbols, with SOFTQAM_ONE_WEIGHT */
    size_t output_nbytes;
} span_job;

static span_job span_job_of(const softqam_demodulator *demodulator, const softqam_segment *span, bool streaming)
{
    const softqam_params *params = &demodulator->params;
    span_job job = {.demodulator = demodulator, .streaming = streaming};
    job.output_nbytes = softqam_params_output_nbytes(params, span->modulation);
    job.converts = params->input_format != SOFTQAM_INPUT_CF32 || span->input_scale != 1.0f;
    job.llr_scale = softqam_params_llr_scale(params, span);
    const bool inverse = span->noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    if (!softqam_params_take_noise(params))
        return job;
    job.noise_kind = inverse ? SOFTQAM_NOISE_INVERSE : SOFTQAM_NOISE_N0;
    if (span->noise_stride == 0) {
        job.noise_kind = SOFTQAM_ONE_WEIGHT;
        job.weight = llr_weight(job.llr_scale.steps_per_nat, *span->layers[0].noise_var, inverse);
    }
    return job;
}

/* The components of a span of at most TILE_SYMBOLS, side by side as floats. */
static const float *load_components(const span_job *job, const softqam_segment *span, tile_memory *tile)
{
    const softqam_params *params = &job->demodulator->params;
    const void *symbols = span->layers[0].symbols;
    if (!softqam_segment_is_contiguous(span)) {
        void *gathered = job->converts ? (void *)tile->symbols : (void *)tile->components;
        softqam_segment_gather_symbols(params, span, gathered);
        symbols = gathered;
    }
    if (!job->converts)
        return symbols;
    job->demodulator->loops.convert(symbols, span->input_scale, 2 * span->n_symbols, tile->components);
    return tile->components;
}

static const float *load_noise(const span_job *job, const softqam_segment *span, tile_memory *tile)
{
    if (job->noise_kind == SOFTQAM_ONE_WEIGHT)
        return &job->weight;
    if (span->noise_stride == 1)
        return span->layers[0].noise_var;
    softqam_segment_gather_noise(span, tile->noise);
    return tile->noise;
}

static void compute(const span_job *job, const float *components, const float *noise, size_t n_symbols,
                    unsigned char *out)
{
    const softqam_demodulator *demodulator = job->demodulator;
    if (softqam_params_take_noise(&demodulator->params))
        demodulator->loops.llrs[job->noise_kind](&demodulator->params.llrs, job->llr_scale, components, noise,
                                                 n_symbols, out);
    else
        demodulator->loops.soft_bits(&demodulator->params, components, n_symbols, out);
}

/* Fewer symbols than a loop takes, with zeros behind them. */
static void compute_few(const span_job *job, const float *components, const float *noise, size_t n_symbols,
                        unsigned char *out, tile_memory *tile)
{
    float padded[2 * LARGEST_STEP] = {0};
    float padded_noise[LARGEST_STEP] = {0};
    memcpy(padded, components, n_symbols * 2 * sizeof padded[0]);
    if (job->noise_kind != SOFTQAM_ONE_WEIGHT) {
        for (size_t k = n_symbols; k < LARGEST_STEP; k++)
            padded_noise[k] = 1.0f;
        memcpy(padded_noise, noise, n_symbols * sizeof padded_noise[0]);
        noise = padded_noise;
    }
    compute(job, padded, noise, job->demodulator->loops.min_symbols, tile->out);
    memcpy(out, tile->out, n_symbols * job->output_nbytes);
}

/* Whether subnormal numbers may be flushed to zero: no LLR tells, but where they are scaled to 2^-63 and more. */
static bool may_flush(const softqam_demodulator *demodulator, const softqam_segment *span)
{
    return demodulator->loops.flushes_subnormals && softqam_params_take_noise(&demodulator->params) &&
           span->input_scale <= 0x1p62f;
}

/* A span on the calling thread: in one go where it lies as the loops take it, else tile by tile. */
static void demodulate_span(const softqam_demodulator *demodulator, const softqam_segment *span, bool streaming)
{
    const softqam_params *params = &demodulator->params;
    const softqam_float_environment environment = softqam_float_enter(may_flush(demodulator, span));
    const span_job job = span_job_of(demodulator, span, streaming);
    const size_t min_symbols = demodulator->loops.min_symbols;
    const bool in_tiles =
        streaming || job.converts || !softqam_segment_is_contiguous(span) || span->noise_stride > 1;
    size_t most = TILE_OUT_NBYTES / job.output_nbytes;
    most = !in_tiles ? span->n_symbols : most < TILE_SYMBOLS ? most : TILE_SYMBOLS;
    tile_memory tile;
    for (size_t first = 0; first < span->n_symbols;) {
        const size_t left = span->n_symbols - first;
        const size_t n = left < most ? left : most;
        const softqam_segment part = softqam_segment_span(params, span, first, n);
        const float *components = load_components(&job, &part, &tile);
        const float *noise = load_noise(&job, &part, &tile);
        if (n < min_symbols) {
            compute_few(&job, components, noise, n, part.out, &tile);
        } else if (streaming) {
            compute(&job, components, noise, n, tile.out);
            softqam_copy_streaming(part.out, tile.out, n * job.output_nbytes);
        } else {
            compute(&job, components, noise, n, part.out);
        }
        first += n;
    }
    softqam_float_leave(environment);
}

/* A call is cut into parts for the threads: several a thread, so that those of unequal speed are done together; none so
 * small that a thread which has to wake up for it is too late, nor so large that the last one is waited for; and whole
 * cache lines of an aligned output, so that no two threads write to one. */
enum { MOST_PART_SYMBOLS = 16384, PARTS_PER_THREAD = 4, PART_UNIT = 64, WORTH_THREADS_PARTS = 6 };

typedef struct cpu_call {
    const softqam_demodulator *demodulator;
    const softqam_segment_list *list;
    size_t first;
    size_t part; /* symbols of a part */
    bool streaming;
} cpu_call;

static void demodulate_part(void *context, size_t number)
{
    const cpu_call *call = context;
    const softqam_demodulator *demodulator = call->demodulator;
    const size_t first = call->first + number * call->part;
    size_t left = call->list->n_symbols - first;
    left = left < call->part ? left : call->part;
    softqam_cursor cursor = softqam_cursor_at(call->list, first);
    while (left > 0) {
        const softqam_segment span = softqam_cursor_take(&cursor, left);
        demodulate_span(demodulator, &span, call->streaming);
        left -= span.n_symbols;
    }
}

void softqam_cpu_demodulate(const softqam_demodulator *demodulator, const softqam_segment_list *list, size_t first)
{
    softqam_context *context = demodulator->context;
    const size_t n = list->n_symbols - first;
    const size_t short_symbols = context->variant->short_symbols;
    cpu_call call = {demodulator, list, first, n, false};
    softqam_pool *pool = NULL;
    if (context->config.n_threads > 1 && n >= WORTH_THREADS_PARTS * short_symbols)
        pool = softqam_context_pool(context);
    if (pool) {
        const size_t n_threads = softqam_pool_n_threads(pool);
        const size_t part = n / (PARTS_PER_THREAD * n_threads) / PART_UNIT * PART_UNIT;
        call.part = part > MOST_PART_SYMBOLS ? MOST_PART_SYMBOLS : part < short_symbols ? short_symbols : part;
    }
    call.streaming = n * softqam_params_output_nbytes(list->params, list->params->modulation) >=
                     context->streaming_nbytes;
    softqam_pool_run(pool, demodulate_part, &call, (n - 1) / call.part + 1);
}
