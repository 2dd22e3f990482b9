/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "config.h"
#include "error.h"

/* Larger than any version will be. */
enum { MAX_SEGMENT_NBYTES = 1024 };

/* Size of the first version's structure: what every caller has. */
#define MIN_SEGMENT_NBYTES (offsetof(softqam_segment, reserved) + sizeof(uint32_t))

const softqam_segment *softqam_segment_read(const softqam_segment_list *list, size_t k, softqam_segment *copy)
{
    const unsigned char *at = list->first + k * list->segment_nbytes;
    if (list->segment_nbytes >= sizeof *copy)
        return (const softqam_segment *)(const void *)at;
    *copy = (softqam_segment){0};
    memcpy(copy, at, list->segment_nbytes);
    return copy;
}

/* By its bits: with subnormal numbers flushed, as a caller may have them, == takes those for 0 too. */
static bool is_zero(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits << 1 == 0;
}

softqam_segment softqam_segment_at(const softqam_segment_list *list, size_t k)
{
    const softqam_params *params = list->params;
    softqam_segment copy;
    softqam_segment segment = *softqam_segment_read(list, k, &copy);
    if (segment.symbol_stride == 0)
        segment.symbol_stride = 1;
    if (segment.n_layers == 0)
        segment.n_layers = 1;
    if (segment.modulation == SOFTQAM_MODULATION_DEFAULT)
        segment.modulation = params->modulation;
    if (segment.noise_form == SOFTQAM_NOISE_FORM_DEFAULT)
        segment.noise_form = params->noise_form;
    if (is_zero(segment.input_scale))
        segment.input_scale = params->input_scale;
    if (is_zero(segment.llr_scale))
        segment.llr_scale = params->llr_scale;
    return segment;
}

softqam_segment softqam_segment_of_call(const softqam_params *params, const void *symbols, const float *noise_var,
                                        size_t n_symbols, void *out)
{
    return (softqam_segment){
        .n_symbols = n_symbols,
        .out = out,
        .noise_stride = params->noise == SOFTQAM_NOISE_PER_SYMBOL ? 1 : 0,
        .layers = {{.symbols = symbols, .noise_var = noise_var}},
    };
}

softqam_segment softqam_segment_span(const softqam_params *params, const softqam_segment *segment, size_t first,
                                     size_t n_symbols)
{
    softqam_segment span = *segment;
    softqam_layer *layer = &span.layers[0];
    const size_t step = span.symbol_stride * (layer->symbols_q ? params->input_nbytes / 2 : params->input_nbytes);
    span.n_symbols = n_symbols;
    span.first_symbol += first;
    layer->symbols = (const unsigned char *)layer->symbols + first * step;
    if (layer->symbols_q)
        layer->symbols_q = (const unsigned char *)layer->symbols_q + first * step;
    if (layer->noise_var)
        layer->noise_var += first * span.noise_stride;
    span.out = (unsigned char *)span.out + first * softqam_params_output_nbytes(params, span.modulation);
    return span;
}

/* Checks. */

/* Bytes of memory from `first` on. */
typedef struct memory_range {
    uintptr_t first;
    size_t nbytes;
} memory_range;

/* The range of n items of nbytes, `stride` items apart; false when it is larger than memory. */
static bool range_of(memory_range *range, const void *first, size_t n, size_t stride, size_t nbytes)
{
    size_t spanned;
    range->first = (uintptr_t)first;
    if (__builtin_mul_overflow(n - 1, stride, &spanned) || __builtin_add_overflow(spanned, 1, &spanned) ||
        __builtin_mul_overflow(spanned, nbytes, &range->nbytes))
        return false;
    return range->nbytes <= PTRDIFF_MAX && range->first <= UINTPTR_MAX - range->nbytes;
}

static bool overlap(const memory_range *a, const memory_range *b)
{
    return a->first < b->first + b->nbytes && b->first < a->first + a->nbytes;
}

static softqam_status check_scrambling(const softqam_params *params, const softqam_segment *segment)
{
    const softqam_modulation modulation = segment->modulation ? segment->modulation : params->modulation;
    uint64_t end;
    if (segment->descramble > 1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.descramble is %u, not 0 or 1",
                            segment->descramble);
    if (!segment->descramble)
        return segment->c_init == 0
                   ? SOFTQAM_OK
                   : softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.c_init is %u, but segment.descramble is 0",
                                  (unsigned)segment->c_init);
    if (params->output_format == SOFTQAM_OUTPUT_U8)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "segment.descramble is 1: u8 soft bits are not symmetric, so not descrambled");
    if (segment->c_init > 0x7fffffff)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.c_init is %u, more than 2^31 - 1",
                            (unsigned)segment->c_init);
    if (__builtin_add_overflow(segment->first_symbol, segment->n_symbols, &end) ||
        __builtin_mul_overflow(end, softqam_bits_per_symbol(modulation), &end))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "segment.first_symbol is %llu: the codeword has more bits than can be counted",
                            (unsigned long long)segment->first_symbol);
    return SOFTQAM_OK;
}

static softqam_status check_fields(const softqam_params *params, const softqam_segment *segment)
{
    if (segment->modulation != SOFTQAM_MODULATION_DEFAULT) {
        const softqam_status status =
            softqam_check_modulation("segment.modulation", segment->modulation, params->output_format);
        if (status != SOFTQAM_OK)
            return status;
    }
    if ((unsigned)segment->noise_form > SOFTQAM_NOISE_FORM_INVERSE)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.noise_form is %d", (int)segment->noise_form);
    if (!(segment->input_scale >= 0.0f && isfinite(segment->input_scale)))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.input_scale is %g, not finite and positive",
                            (double)segment->input_scale);
    if (segment->n_layers > 1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.n_layers is %u: this version takes one layer",
                            segment->n_layers);
    if (segment->plane_stride != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "segment.plane_stride is %zu: this version has no bit planes", segment->plane_stride);
    const softqam_status status = check_scrambling(params, segment);
    if (status != SOFTQAM_OK)
        return status;
    if (segment->reserved != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment.reserved is %u, not 0",
                            (unsigned)segment->reserved);
    return softqam_check_llr_scale("segment.llr_scale", segment->llr_scale, params->output_format);
}

static softqam_status check_pointers(const softqam_params *params, const softqam_segment *segment)
{
    const softqam_layer *layer = &segment->layers[0];
    if (!softqam_params_take_noise(params) && layer->noise_var)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is given, which u8 soft bits do not take");
    if (segment->n_symbols == 0)
        return SOFTQAM_OK;
    if (!layer->symbols || !segment->out)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is NULL", layer->symbols ? "out" : "symbols");
    if (softqam_params_take_noise(params) && !layer->noise_var)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is NULL, which LLRs need");
    if ((uintptr_t)layer->noise_var % sizeof(float) != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is not aligned to 4 bytes");
    return SOFTQAM_OK;
}

/* Of a segment with symbols. */
static softqam_status check_memory(const softqam_params *params, const softqam_segment *segment)
{
    const softqam_layer *layer = &segment->layers[0];
    const size_t n = segment->n_symbols;
    const size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    const size_t nbytes = layer->symbols_q ? params->input_nbytes / 2 : params->input_nbytes;
    const softqam_modulation modulation = segment->modulation ? segment->modulation : params->modulation;
    memory_range out;
    memory_range inputs[3];
    int n_inputs = 0;
    bool fits = range_of(&out, segment->out, n, 1, softqam_params_output_nbytes(params, modulation)) &&
                range_of(&inputs[n_inputs++], layer->symbols, n, stride, nbytes);
    if (fits && layer->symbols_q)
        fits = range_of(&inputs[n_inputs++], layer->symbols_q, n, stride, nbytes);
    if (fits && layer->noise_var)
        fits = range_of(&inputs[n_inputs++], layer->noise_var, segment->noise_stride ? n : 1,
                        segment->noise_stride ? segment->noise_stride : 1, sizeof(float));
    if (!fits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%zu symbols are more than memory can hold", n);
    for (int k = 0; k < n_inputs; k++)
        if (overlap(&inputs[k], &out))
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "an input and out overlap");
    return SOFTQAM_OK;
}

static softqam_status check_size(const softqam_segment_list *list)
{
    if (!list->first)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segments is NULL");
    if (list->segment_nbytes < MIN_SEGMENT_NBYTES || list->segment_nbytes > MAX_SEGMENT_NBYTES ||
        list->segment_nbytes % _Alignof(softqam_segment) != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "segment_nbytes is %zu: pass sizeof(softqam_segment)",
                            list->segment_nbytes);
    return SOFTQAM_OK;
}

static softqam_status check_newer_fields(const softqam_segment_list *list, size_t k)
{
    const unsigned char *bytes = list->first + k * list->segment_nbytes;
    for (size_t byte = sizeof(softqam_segment); byte < list->segment_nbytes; byte++)
        if (bytes[byte] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "the segment sets a field that version " SOFTQAM_VERSION " does not know");
    return SOFTQAM_OK;
}

static softqam_status check_segment(const softqam_segment_list *list, size_t k, const softqam_segment *segment)
{
    softqam_status status = check_newer_fields(list, k);
    if (status == SOFTQAM_OK)
        status = check_fields(list->params, segment);
    if (status == SOFTQAM_OK)
        status = check_pointers(list->params, segment);
    if (status == SOFTQAM_OK && segment->n_symbols > 0)
        status = check_memory(list->params, segment);
    if (status == SOFTQAM_OK || list->n_segments == 1)
        return status;
    const softqam_error_note note = softqam_error_note_take();
    return softqam_fail(status, "segment %zu of %zu: %s", k, list->n_segments, note.text);
}

/* Adds a checked segment to what the list holds. */
static softqam_status count_segment(softqam_segment_list *list, const softqam_segment *segment)
{
    const softqam_params *params = list->params;
    const softqam_modulation modulation = segment->modulation ? segment->modulation : params->modulation;
    const size_t nbytes = segment->n_symbols * softqam_params_output_nbytes(params, modulation);
    list->is_for_gpu = list->is_for_gpu && modulation == SOFTQAM_MODULATION_256QAM && !segment->descramble;
    if (__builtin_add_overflow(list->n_symbols, segment->n_symbols, &list->n_symbols) ||
        __builtin_add_overflow(list->out_nbytes, nbytes, &list->out_nbytes))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "the call has more symbols than memory can hold");
    return SOFTQAM_OK;
}

softqam_status softqam_segment_list_check(softqam_segment_list *list)
{
    list->n_symbols = 0;
    list->out_nbytes = 0;
    list->is_for_gpu = true;
    if (list->n_segments == 0)
        return SOFTQAM_OK;
    softqam_status status = check_size(list);
    for (size_t k = 0; k < list->n_segments && status == SOFTQAM_OK; k++) {
        softqam_segment copy;
        const softqam_segment *segment = softqam_segment_read(list, k, &copy);
        status = check_segment(list, k, segment);
        if (status == SOFTQAM_OK)
            status = count_segment(list, segment);
    }
    return status;
}

softqam_status softqam_segment_list_check_for_gpu(const softqam_segment_list *list)
{
    return list->is_for_gpu ? SOFTQAM_OK
                            : softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                           "in this version CUDA demodulates 256QAM alone and does not descramble");
}

/* The run of symbols. */

/* Leaves segments that are used up. */
static void settle(softqam_cursor *cursor)
{
    while (cursor->segment < cursor->list->n_segments) {
        softqam_segment copy;
        const size_t n_symbols = softqam_segment_read(cursor->list, cursor->segment, &copy)->n_symbols;
        if (cursor->offset < n_symbols)
            return;
        cursor->offset -= n_symbols;
        cursor->segment++;
    }
}

softqam_cursor softqam_cursor_at(const softqam_segment_list *list, size_t first)
{
    softqam_cursor cursor = {list, 0, first};
    settle(&cursor);
    return cursor;
}

softqam_segment softqam_cursor_take(softqam_cursor *cursor, size_t n_symbols)
{
    const softqam_segment segment = softqam_segment_at(cursor->list, cursor->segment);
    const size_t left = segment.n_symbols - cursor->offset;
    const size_t n = n_symbols < left ? n_symbols : left;
    const softqam_segment span = softqam_segment_span(cursor->list->params, &segment, cursor->offset, n);
    cursor->offset += n;
    settle(cursor);
    return span;
}

/* Bringing together what does not lie side by side. */

bool softqam_segment_is_contiguous(const softqam_segment *segment)
{
    return !segment->layers[0].symbols_q && (segment->symbol_stride == 1 || segment->n_symbols == 1);
}

void softqam_segment_gather_symbols(const softqam_params *params, const softqam_segment *segment, size_t first,
                                    size_t n, void *symbols)
{
    const size_t nbytes = params->input_nbytes;
    const size_t half = nbytes / 2;
    const size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    unsigned char *to = symbols;
    const unsigned char *i = segment->layers[0].symbols;
    const unsigned char *q = segment->layers[0].symbols_q;
    const size_t step = stride * (q ? half : nbytes);
    i += first * step;
    if (!q && stride == 1) {
        memcpy(to, i, n * nbytes);
        return;
    }
    q = q ? q + first * step : i + half;
    for (size_t k = 0; k < n; k++, to += nbytes, i += step, q += step) {
        memcpy(to, i, half);
        memcpy(to + half, q, half);
    }
}

void softqam_segment_gather_noise(const softqam_segment *segment, size_t first, size_t n, float *noise)
{
    for (size_t k = 0; k < n; k++)
        noise[k] = segment->layers[0].noise_var[(first + k) * segment->noise_stride];
}
