/* SPDX-License-Identifier: MIT */
/* Checks a caller's segments; codeword.c checks their codewords. */
#include <inttypes.h>
#include <math.h>

#include "error.h"
#include "float_environment.h"
#include "segment.h"
#include "soft_buffer.h"

/* Without inlining a check takes 4 ns more. */
#define INLINED static inline __attribute__((always_inline))

static bool has_codeword(const softqam_segment *segment) { return segment->codeword.n_code_blocks != 0; }

/* Fields. */

/* Checks plane_stride, the number of layers, and what must be a multiple of it. */
static softqam_status check_layout(const softqam_segment *segment, softqam_modulation modulation)
{
    const unsigned n = segment->n_layers;
    const size_t stride = segment->plane_stride;
    REFUSE_IF(n > SOFTQAM_MAX_LAYERS, "segment.n_layers is %u, more than %d", n, SOFTQAM_MAX_LAYERS);
    REFUSE_IF(stride != 0 && stride < segment->n_symbols, "segment.plane_stride is %zu, less than %zu symbols", stride,
              segment->n_symbols);
    if (n <= 1)
        return SOFTQAM_OK;
    REFUSE_IF(modulation == SOFTQAM_MODULATION_PI2_BPSK, "segment.n_layers is %u: pi/2-BPSK has one layer", n);
    REFUSE_IF(segment->n_symbols % n != 0, "segment.n_symbols is %zu, not a multiple of %u layers", segment->n_symbols,
              n);
    REFUSE_IF(segment->first_symbol % n != 0, "segment.first_symbol is %" PRIu64 ", not a multiple of %u layers",
              segment->first_symbol, n);
    REFUSE_IF(segment->scrambling_offset % n != 0,
              "segment.scrambling_offset is %" PRIu64 ", not a multiple of %u layers", segment->scrambling_offset, n);
    return SOFTQAM_OK;
}

/* Checks the fields for two layers that are demapped jointly. */
static softqam_status check_joint(const softqam_segment *segment, softqam_modulation modulation)
{
    const unsigned n = softqam_segment_layers(segment), last = (n - 1) / 2;
    const softqam_modulation partner = segment->partner_modulation;
    for (unsigned j = 0; j < SOFTQAM_MAX_LAYERS / 2; j++) {
        if (!segment->cross_gain[j])
            continue;
        REFUSE_IF(j > last, "segment.cross_gain[%u] is given, but the layers are %u", j, n);
        REFUSE_IF(modulation < SOFTQAM_MODULATION_QPSK, "segment.cross_gain[%u] is given, which %s does not take", j,
                  softqam_modulation_name(modulation));
        REFUSE_IF((uintptr_t)segment->cross_gain[j] % sizeof(float) != 0,
                  "segment.cross_gain[%u] is not aligned to 4 bytes", j);
    }
    if (partner == SOFTQAM_MODULATION_DEFAULT)
        return SOFTQAM_OK;
    TRY(softqam_check_modulation("segment.partner_modulation", partner, SOFTQAM_OUTPUT_F32));
    REFUSE_IF(partner < SOFTQAM_MODULATION_QPSK, "segment.partner_modulation is %s, not QPSK to 1024QAM",
              softqam_modulation_name(partner));
    REFUSE_IF(n % 2 == 0, "segment.partner_modulation is %s, but all of the %u layers have a partner among them",
              softqam_modulation_name(partner), n);
    REFUSE_IF(!segment->cross_gain[last] && segment->n_symbols > 0,
              "segment.partner_modulation is %s, but segment.cross_gain[%u] is NULL", softqam_modulation_name(partner),
              last);
    return SOFTQAM_OK;
}

static softqam_status check_scrambling(const softqam_segment *segment, softqam_modulation modulation)
{
    const uint64_t n_after_first = segment->n_symbols - (segment->n_symbols > 0),
                   n_bits = softqam_symbol_bits(modulation);
    uint64_t last;
    REFUSE_IF(segment->descramble > 1, "segment.descramble is %u, not 0 or 1", segment->descramble);
    REFUSE_IF(!segment->descramble && segment->c_init != 0, "segment.c_init is %u, but segment.descramble is 0",
              segment->c_init);
    REFUSE_IF(segment->c_init > 0x7fffffff, "segment.c_init is %u, more than 2^31 - 1", segment->c_init);
    REFUSE_IF(segment->descramble && (__builtin_add_overflow(segment->first_symbol, n_after_first, &last) ||
                                      __builtin_add_overflow(segment->scrambling_offset, last, &last) ||
                                      last > (UINT64_MAX - (n_bits - 1)) / n_bits),
              "segment.first_symbol is %" PRIu64 ", segment.scrambling_offset %" PRIu64
              ": the codeword has more bits than can be counted",
              segment->first_symbol, segment->scrambling_offset);
    return SOFTQAM_OK;
}

static softqam_status check_u8(const softqam_segment *segment)
{
    REFUSE_IF(segment->n_layers > 1, "segment.n_layers is %u: u8 soft bits are liquid-dsp's, which has no layers",
              segment->n_layers);
    REFUSE_IF(segment->plane_stride != 0,
              "segment.plane_stride is %zu: u8 soft bits are liquid-dsp's, which has no bit planes",
              segment->plane_stride);
    REFUSE_IF(segment->descramble, "segment.descramble is 1: u8 soft bits are not symmetric, so not descrambled");
    REFUSE_IF(has_codeword(segment),
              "codeword.n_code_blocks is %u: u8 soft bits are liquid-dsp's, which has no code blocks",
              segment->codeword.n_code_blocks);
    for (unsigned j = 0; j < SOFTQAM_MAX_LAYERS / 2; j++)
        REFUSE_IF(segment->cross_gain[j], "segment.cross_gain[%u] is given, which u8 soft bits do not take", j);
    return SOFTQAM_OK;
}

/* Runs in the library's own floating-point environment: with subnormals flushed 1e-40 is 0, and comparing a NaN may
 * trap. */
static softqam_status check_filler_value(const softqam_params *params, float value)
{
    const softqam_output_traits *traits = softqam_output_traits_of(params->output_format);
    const float max = (float)traits->max_limit;
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    const bool is_right = softqam_is_zero(traits->filler_end)
                              ? value >= -1.0f - max && value <= max && truncf(value) == value
                              : fabsf(value) < traits->filler_end;
    REFUSE_IF(!is_right, "codeword.filler_value is %g, which is no value of %s", (double)value, traits->name);
    return SOFTQAM_OK;
}

static softqam_status check_scales(const softqam_params *params, const softqam_segment *segment)
{
    if (softqam_is_zero(segment->input_scale) && softqam_is_zero(segment->llr_scale))
        return SOFTQAM_OK;
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    TRY(softqam_check_input_scale("segment.input_scale", segment->input_scale));
    return softqam_check_llr_scale("segment.llr_scale", segment->llr_scale, params->output_format);
}

/* Checks the codeword's own fields, and what the segment says of its place in it. Fills in the blocks. */
static softqam_status check_codeword(const softqam_params *params, const softqam_segment *segment,
                                     softqam_modulation modulation, softqam_code_blocks *blocks)
{
    const softqam_codeword *codeword = &segment->codeword;
    const unsigned n_bits = softqam_symbol_bits(modulation);
    softqam_code_blocks_make(blocks, codeword, n_bits, softqam_segment_layers(segment));
    TRY(softqam_codeword_check(codeword, blocks, n_bits));
    REFUSE_IF(segment->out, "segment.out is given, but segment.codeword says where the LLRs go");
    REFUSE_IF(segment->plane_stride != 0, "segment.plane_stride is %zu, but segment.codeword says where the LLRs go",
              segment->plane_stride);
    const uint64_t n_symbols = codeword->n_bits / n_bits;
    REFUSE_IF(segment->first_symbol > n_symbols || segment->n_symbols > n_symbols - segment->first_symbol,
              "%zu symbols from %" PRIu64 " on are not all within a codeword of %" PRIu64, segment->n_symbols,
              segment->first_symbol, n_symbols);
    REFUSE_IF(codeword->block_buffers && (codeword->buffers || codeword->block_stride),
              "codeword.%s is given, and codeword.block_buffers too", codeword->buffers ? "buffers" : "block_stride");
    return check_filler_value(params, codeword->filler_value);
}

/* Returns whether a codeword without code blocks is all 0, or -0. */
static bool is_no_codeword(const softqam_codeword *codeword)
{
    softqam_codeword rest = *codeword;
    if (softqam_is_zero(rest.filler_value))
        rest.filler_value = 0.0f;
    return softqam_is_all_zero(&rest, sizeof rest);
}

static softqam_status check_extras(const softqam_params *params, const softqam_segment *segment,
                                   softqam_modulation modulation, softqam_code_blocks *blocks)
{
    if (softqam_segment_is_joint(segment) || segment->partner_modulation != SOFTQAM_MODULATION_DEFAULT)
        TRY(check_joint(segment, modulation));
    if (has_codeword(segment))
        TRY(check_codeword(params, segment, modulation, blocks));
    else /* the other fields would be ignored without a word */
        REFUSE_IF(!is_no_codeword(&segment->codeword),
                  "codeword.n_code_blocks is 0, but another field of the codeword is not");
    REFUSE_IF((uintptr_t)segment->statistics % _Alignof(softqam_statistics) != 0,
              "segment.statistics is not aligned to %zu bytes", _Alignof(softqam_statistics));
    REFUSE_IF(!softqam_is_all_zero(segment->reserved, sizeof segment->reserved), "segment.reserved is not 0");
    return SOFTQAM_OK;
}

/* Returns whether a segment is plain: it has one layer, and no field from partner_modulation on. Checking such a
 * segment separately takes two thirds of the time. */
static bool is_plain_segment(const softqam_segment *segment)
{
    return segment->n_layers <= 1 && segment->partner_modulation == SOFTQAM_MODULATION_DEFAULT &&
           softqam_is_all_zero(&segment->codeword, sizeof *segment - offsetof(softqam_segment, codeword));
}

/* Returns how many of the layers are looked at. */
INLINED unsigned sources_of(const softqam_segment *segment, bool is_plain)
{
    return is_plain ? 1 : softqam_segment_layers_read(segment);
}

INLINED softqam_status check_fields(const softqam_params *params, const softqam_segment *segment, bool is_plain,
                                    softqam_modulation modulation, softqam_code_blocks *blocks)
{
    if (segment->modulation != SOFTQAM_MODULATION_DEFAULT)
        TRY(softqam_check_modulation("segment.modulation", segment->modulation, params->output_format));
    REFUSE_IF((unsigned)segment->noise_form > SOFTQAM_NOISE_FORM_INVERSE, "segment.noise_form is %d, not 0 to %d",
              (int)segment->noise_form, SOFTQAM_NOISE_FORM_INVERSE);
    if (!is_plain || segment->plane_stride != 0)
        TRY(check_layout(segment, modulation));
    if (segment->descramble != 0 || segment->c_init != 0)
        TRY(check_scrambling(segment, modulation));
    if (!softqam_params_have_llrs(params))
        TRY(check_u8(segment));
    if (!is_plain)
        TRY(check_extras(params, segment, modulation, blocks));
    for (unsigned k = 0, n = sources_of(segment, is_plain); k < n; k++)
        REFUSE_IF(!softqam_is_all_zero(segment->layers[k].reserved, sizeof segment->layers[k].reserved),
                  "segment.layers[%u].reserved is not 0", k);
    return check_scales(params, segment);
}

/* Pointers and memory. */

/* Returns what a message about a layer begins with. */
static const char *layer_name(const softqam_segment *segment, unsigned k)
{
    static const char *const names[SOFTQAM_MAX_LAYERS] = {"segment.layers[0].", "segment.layers[1].",
                                                          "segment.layers[2].", "segment.layers[3]."};
    static const char *const partners[SOFTQAM_MAX_LAYERS] = {"", "layer 0's partner: segment.layers[1].", "",
                                                             "layer 2's partner: segment.layers[3]."};
    if (k >= softqam_segment_layers(segment))
        return partners[k];
    return softqam_segment_layers_read(segment) > 1 ? names[k] : "";
}

INLINED softqam_status check_layer(const softqam_params *params, const softqam_segment *segment, unsigned k)
{
    const softqam_layer *layer = &segment->layers[k];
    REFUSE_IF(!layer->symbols, "%ssymbols is NULL", layer_name(segment, k));
    REFUSE_IF(!segment->out && !has_codeword(segment), "out is NULL");
    REFUSE_IF(has_codeword(segment) && !segment->codeword.buffers && !segment->codeword.block_buffers,
              "codeword.buffers is NULL");
    REFUSE_IF(softqam_params_have_llrs(params) && !layer->noise_var && k < softqam_segment_layers(segment),
              "%snoise_var is NULL, which LLRs need", layer_name(segment, k));
    REFUSE_IF((uintptr_t)layer->noise_var % sizeof(float) != 0, "%snoise_var is not aligned to 4 bytes",
              layer_name(segment, k));
    REFUSE_IF(layer->gain && !segment->layers[0].gain, "%sgain is given, but layer 0 has none", layer_name(segment, k));
    REFUSE_IF(!layer->gain && segment->layers[0].gain, "%sgain is NULL", layer_name(segment, k));
    REFUSE_IF((uintptr_t)layer->gain % sizeof(float) != 0, "%sgain is not aligned to 4 bytes", layer_name(segment, k));
    return SOFTQAM_OK;
}

/* Checks that strides of gains and cross gains come with these, and cross gains with gains. */
static softqam_status check_gains(const softqam_segment *segment)
{
    const float *const *cross = segment->cross_gain;
    REFUSE_IF(segment->gain_stride != 0 && !segment->layers[0].gain,
              "segment.gain_stride is %zu, but layer 0 has no gain", segment->gain_stride);
    REFUSE_IF(segment->cross_stride != 0 && !cross[0] && !cross[1],
              "segment.cross_stride is %zu, but segment.cross_gain is NULL", segment->cross_stride);
    for (unsigned j = 0; j < SOFTQAM_MAX_LAYERS / 2; j++)
        REFUSE_IF(cross[j] && !segment->layers[0].gain, "segment.cross_gain[%u] is given, but layer 0 has no gain", j);
    return SOFTQAM_OK;
}

/* Bytes of memory from `first` on. */
typedef struct memory_range {
    uintptr_t first;
    size_t nbytes;
} memory_range;

/* Makes the range that n > 0 items of nbytes span, `stride` items apart. False if it goes beyond memory's end. */
INLINED bool make_range(memory_range *range, const void *first, size_t n, size_t stride, size_t nbytes)
{
    range->first = (uintptr_t)first;
    return !__builtin_mul_overflow(n - 1, stride, &n) && !__builtin_add_overflow(n, 1, &n) &&
           !__builtin_mul_overflow(n, nbytes, &range->nbytes) && range->nbytes <= PTRDIFF_MAX &&
           range->first <= UINTPTR_MAX - range->nbytes;
}

/* Makes the range of a codeword's output, from the first value of its buffers to the last; an empty one for
 * block_buffers. A code block is no longer than its soft buffer, the codeword or its stride. Code blocks that are not
 * transmitted count too, unless soft buffers are packed (block_stride 0). */
static bool codeword_range(memory_range *range, const softqam_codeword *codeword, const softqam_code_blocks *blocks,
                           size_t value_nbytes)
{
    const uint64_t n_soft = softqam_codeword_buffer_size(codeword);
    const uint64_t stride = codeword->block_stride ? codeword->block_stride : n_soft;
    const uint64_t longest = n_soft ? n_soft : stride > 0 && codeword->n_bits > stride ? stride : codeword->n_bits;
    const size_t n = n_soft && codeword->block_stride == 0 ? blocks->n_transmitted : codeword->n_code_blocks;
    size_t n_values;
    if (codeword->block_buffers)
        return make_range(range, NULL, 1, 1, 0);
    return !__builtin_mul_overflow(stride, n - 1, &n_values) && !__builtin_add_overflow(n_values, longest, &n_values) &&
           make_range(range, codeword->buffers, n_values, 1, value_nbytes);
}

/* Makes the range of a segment's output. False if it goes beyond memory's end. */
INLINED bool out_range(memory_range *range, const softqam_params *params, const softqam_segment *segment,
                       const softqam_code_blocks *blocks, bool is_plain, softqam_modulation modulation)
{
    const size_t n_bits = softqam_symbol_bits(modulation), n = segment->n_symbols, stride = segment->plane_stride;
    if (!is_plain && has_codeword(segment))
        return codeword_range(range, &segment->codeword, blocks, params->defaults.value_nbytes);
    if (stride == 0)
        return make_range(range, segment->out, n, 1, softqam_params_output_nbytes(params, modulation));
    size_t n_values;
    return !__builtin_mul_overflow(stride, n_bits - 1, &n_values) && !__builtin_add_overflow(n_values, n, &n_values) &&
           make_range(range, segment->out, n_values, 1, params->defaults.value_nbytes);
}

/* An array of n > 0 items of nbytes, `stride` items apart, that may be NULL. */
typedef struct array {
    const char *name;
    const void *first;
    size_t n, stride, nbytes;
} array;

/* Says what is wrong with a segment's arrays, by their names. */
typedef struct array_faults {
    const char *overlapping; /* NULL, or an array that shares bytes with the output */
    const char *too_wide;    /* NULL, or an array that goes beyond memory's end with a stride of more than 1 */
} array_faults;

/* Checks an array of a segment. Returns false if it goes beyond memory's end. */
INLINED bool check_array(array_faults *faults, const memory_range *out, array input)
{
    memory_range range;
    if (!input.first)
        return true;
    if (!make_range(&range, input.first, input.n, input.stride, input.nbytes)) {
        if (input.stride > 1)
            faults->too_wide = input.name;
        return false;
    }
    if (range.first < out->first + out->nbytes && out->first < range.first + range.nbytes)
        faults->overlapping = input.name;
    return true;
}

/* Returns whether a segment's inputs lie in memory. Notes their faults. */
INLINED bool check_inputs(array_faults *faults, const softqam_params *params, const softqam_segment *segment,
                          bool is_plain, const memory_range *out)
{
    const unsigned n_layers = is_plain ? 1 : softqam_segment_layers(segment), n_sources = sources_of(segment, is_plain);
    /* An unneeded division would take as long as two symbols. */
    const size_t n = n_layers > 1 ? segment->n_symbols / n_layers : segment->n_symbols;
    const size_t stride = softqam_segment_stride(segment);
    const size_t noise_stride = segment->noise_stride, n_noise = noise_stride ? n : 1;
    const size_t gain_stride = softqam_segment_gain_stride(segment), n_gains = gain_stride ? n : 1;
    bool fits = true;
    for (unsigned k = 0; k < n_sources; k++) {
        const softqam_layer *layer = &segment->layers[k];
        const size_t nbytes = layer->symbols_q ? params->defaults.symbol_nbytes / 2 : params->defaults.symbol_nbytes;
        const array noise = {"noise_var", k < n_layers ? layer->noise_var : NULL, n_noise, noise_stride, sizeof(float)};
        fits &= check_array(faults, out, (array){"symbols", layer->symbols, n, stride, nbytes}) &&
                check_array(faults, out, (array){"symbols_q", layer->symbols_q, n, stride, nbytes}) &&
                check_array(faults, out, noise) &&
                check_array(faults, out, (array){"gain", layer->gain, n_gains, gain_stride, sizeof(float)});
    }
    if (is_plain)
        return fits;
    for (unsigned j = 0; j < SOFTQAM_MAX_LAYERS / 2; j++)
        fits &= check_array(
            faults, out,
            (array){"cross_gain", segment->cross_gain[j], n, softqam_segment_cross_stride(segment), 2 * sizeof(float)});
    (void)check_array(
        faults, out,
        (array){"block_buffers", segment->codeword.block_buffers, segment->codeword.n_code_blocks, 1, sizeof(void *)});
    return fits;
}

/* Returns the array of the statistics. */
INLINED array statistics_of(const softqam_segment *segment)
{
    return (array){"statistics", segment->statistics, 1, 1, sizeof *segment->statistics};
}

/* Checks that statistics, which are given, overlap no input. */
static softqam_status check_statistics(const softqam_params *params, const softqam_segment *segment)
{
    const memory_range own = {(uintptr_t)segment->statistics, sizeof *segment->statistics};
    array_faults faults = {NULL, NULL};
    (void)check_inputs(&faults, params, segment, false, &own);
    REFUSE_IF(faults.overlapping, "%s and statistics overlap", faults.overlapping);
    return SOFTQAM_OK;
}

/* Checks that a segment with right fields has its pointers, and that its inputs lie in memory apart from its outputs.
 */
INLINED softqam_status check_memory(const softqam_params *params, const softqam_segment *segment, bool is_plain,
                                    softqam_modulation modulation, const softqam_code_blocks *blocks)
{
    const softqam_layer *layer = &segment->layers[0];
    memory_range out;
    array_faults faults = {NULL, NULL};
    REFUSE_IF(!softqam_params_have_llrs(params) && (layer->noise_var || layer->gain),
              "%s is given, which u8 soft bits do not take", layer->gain ? "gain" : "noise_var");
    if (segment->n_symbols == 0)
        return SOFTQAM_OK;
    if (!is_plain)
        TRY(check_gains(segment));
    for (unsigned k = 0, n = sources_of(segment, is_plain); k < n; k++)
        TRY(check_layer(params, segment, k));
    REFUSE_IF(!out_range(&out, params, segment, blocks, is_plain, modulation) ||
                  !check_inputs(&faults, params, segment, is_plain, &out),
              "%zu symbols are more than memory can hold%s%s", segment->n_symbols,
              faults.too_wide ? ", by the stride of " : "", faults.too_wide ? faults.too_wide : "");
    if (!is_plain)
        (void)check_array(&faults, &out, statistics_of(segment));
    REFUSE_IF(faults.overlapping, "%s and %s overlap", faults.overlapping,
              has_codeword(segment) ? "codeword.buffers" : "out");
    return !is_plain && segment->statistics ? check_statistics(params, segment) : SOFTQAM_OK;
}

/* Checks the same for a codeword's block_buffers, as far as the segment has symbols of their code blocks. */
static softqam_status check_block_buffers(const softqam_params *params, const softqam_segment *segment)
{
    const softqam_codeword *codeword = &segment->codeword;
    const unsigned n_bits =
        softqam_symbol_bits((softqam_modulation)softqam_segment_modulation(segment, &params->defaults));
    const uint64_t end = segment->first_symbol + segment->n_symbols;
    softqam_code_blocks blocks;
    softqam_code_block block;
    softqam_code_blocks_make(&blocks, codeword, n_bits, softqam_segment_layers(segment));
    for (uint64_t symbol = segment->first_symbol; symbol < end; symbol = block.first + block.n_symbols) {
        block = softqam_code_block_at(&blocks, (uint32_t)symbol);
        const uint64_t n_values =
            codeword->n_cb ? softqam_codeword_buffer_size(codeword) : (uint64_t)block.n_symbols * n_bits;
        memory_range out;
        array_faults faults = {NULL, NULL};
        if (!codeword->block_buffers[block.r])
            continue;
        REFUSE_IF(!make_range(&out, codeword->block_buffers[block.r], n_values, 1, params->defaults.value_nbytes),
                  "codeword.block_buffers[%u] is too near memory's end", block.r);
        (void)check_inputs(&faults, params, segment, false, &out);
        (void)check_array(&faults, &out, statistics_of(segment));
        REFUSE_IF(faults.overlapping, "codeword.block_buffers[%u] and %s overlap", block.r, faults.overlapping);
    }
    return SOFTQAM_OK;
}

/* Adds the segment's number to a message, unless it is the only one. */
static softqam_status in_segment(const softqam_segment_list *list, size_t k, softqam_status status)
{
    if (status == SOFTQAM_OK || list->n_segments == 1)
        return status;
    const softqam_error_note note = softqam_error_note_take();
    return softqam_fail(status, "segment %zu of %zu: %s", k, list->n_segments, note.text);
}

softqam_status softqam_segment_list_check_block_buffers(const softqam_segment_list *list)
{
    for (size_t k = 0; k < list->n_segments; k++)
        if (list->segments[k].codeword.block_buffers && list->segments[k].n_symbols > 0)
            TRY(in_segment(list, k, check_block_buffers(list->params, &list->segments[k])));
    return SOFTQAM_OK;
}

/* Notes what a checked segment does to its soft buffers. */
static void note_soft_buffers(softqam_segment_list *list, const softqam_codeword *codeword,
                              const softqam_code_blocks *blocks, softqam_modulation modulation)
{
    const softqam_soft_buffer buffer = softqam_soft_buffer_of(codeword);
    const uint64_t longest = (uint64_t)softqam_code_blocks_longest(blocks) * softqam_symbol_bits(modulation);
    const bool repeats = softqam_soft_is_repeated(&buffer, longest);
    list->repeats |= repeats;
    list->adds |= repeats || codeword->combine != 0;
}

/* Adds a checked segment to what the list holds. */
INLINED softqam_status count_segment(softqam_segment_list *list, const softqam_segment *segment, bool is_plain,
                                     size_t symbol_nbytes)
{
    const size_t nbytes = segment->n_symbols * symbol_nbytes;
    REFUSE_IF(__builtin_add_overflow(list->n_symbols, segment->n_symbols, &list->n_symbols) ||
                  __builtin_add_overflow(list->out_nbytes, nbytes, &list->out_nbytes),
              "the call has more symbols than memory can hold");
    if (list->most_symbol_nbytes < symbol_nbytes)
        list->most_symbol_nbytes = symbol_nbytes;
    list->has_gains |= segment->layers[0].gain != NULL;
    if (is_plain)
        return SOFTQAM_OK;
    list->is_joint |= softqam_segment_is_joint(segment);
    list->has_block_buffers |= segment->codeword.block_buffers != NULL;
    list->has_statistics |= segment->statistics != NULL;
    return SOFTQAM_OK;
}

INLINED softqam_status check_segment(softqam_segment_list *list, const softqam_segment *segment, bool is_plain)
{
    const softqam_params *params = list->params;
    const softqam_modulation modulation = (softqam_modulation)softqam_segment_modulation(segment, &params->defaults);
    softqam_code_blocks blocks = {0};
    TRY(check_fields(params, segment, is_plain, modulation, &blocks));
    TRY(check_memory(params, segment, is_plain, modulation, &blocks));
    TRY(count_segment(list, segment, is_plain, softqam_params_output_nbytes(params, modulation)));
    if (!is_plain && segment->codeword.n_cb != 0)
        note_soft_buffers(list, &segment->codeword, &blocks, modulation);
    return SOFTQAM_OK;
}

static __attribute__((noinline)) softqam_status check_any_segment(softqam_segment_list *list,
                                                                  const softqam_segment *segment)
{
    return check_segment(list, segment, false);
}

softqam_status softqam_segment_list_check(softqam_segment_list *list)
{
    REFUSE_IF(list->n_segments > 0 && !list->segments, "segments is NULL");
    for (size_t k = 0; k < list->n_segments; k++) {
        const softqam_segment *segment = &list->segments[k];
        const softqam_status status =
            is_plain_segment(segment) ? check_segment(list, segment, true) : check_any_segment(list, segment);
        if (status != SOFTQAM_OK)
            return in_segment(list, k, status);
    }
    return SOFTQAM_OK;
}
