/* SPDX-License-Identifier: MIT */
#include "joint.h"

#include <string.h>

#include "simd_scalar.h"

/* Opening. */

/* Fills in the source of each layer's partner. A partner that is not demapped may have no noise values, so it gets the
 * layer's own. */
static void resolve_partners(softqam_joint *joint, const softqam_segment *from)
{
    const unsigned n = joint->n_layers;
    softqam_segment partners = *from;
    for (unsigned k = 0; k < n; k++) {
        partners.layers[k] = from->layers[k ^ 1];
        if ((k ^ 1) >= n)
            partners.layers[k].noise_var = from->layers[k].noise_var;
        if (!from->cross_gain[k / 2])
            partners.layers[k] = from->layers[k];
    }
    softqam_source_resolve(&joint->partners, &partners, &joint->params->defaults);
}

/* Finds which layers have partners of which modulation. */
static void sort_layers(softqam_joint *joint, const softqam_segment *from)
{
    memset(joint->layers_by_partner, 0, sizeof joint->layers_by_partner);
    for (unsigned k = 0; k < joint->n_layers; k++) {
        const bool has_own_modulation = (k ^ 1) >= joint->n_layers && from->partner_modulation;
        const softqam_modulation partner = has_own_modulation ? from->partner_modulation : joint->modulation;
        const int axis_bits = from->cross_gain[k / 2] ? softqam_axis_bits(partner) : 0;
        joint->layers_by_partner[axis_bits] |= (uint8_t)(1u << k);
    }
}

static bool is_in_order(const softqam_source *source)
{
    return source->n_layers == 1 && source->symbol_stride == 1 && !source->is_split && source->gain_stride == 1;
}

void softqam_joint_open(softqam_joint *joint, const softqam_params *params, const softqam_cpu_loops *loops,
                        const softqam_segment *from, size_t first)
{
    const unsigned n = softqam_segment_layers(from);
    const softqam_source *source = &joint->source;
    joint->params = params;
    joint->loops = loops;
    joint->first = first;
    joint->n_layers = n;
    joint->modulation = (softqam_modulation)softqam_segment_modulation(from, &params->defaults);
    joint->has_partners = n % 2 != 0;
    softqam_source_resolve(&joint->source, from, &params->defaults);
    if (joint->has_partners)
        resolve_partners(joint, from);
    sort_layers(joint, from);
    joint->cross_stride = softqam_segment_cross_stride(from);
    joint->n_cross = joint->has_partners ? n : n / 2;
    for (size_t k = 0; k < joint->n_cross; k++) {
        const size_t pair = joint->has_partners ? k / 2 : k;
        /* A pair without c is not demapped here, so any values will do. */
        joint->cross_gain[k] = from->cross_gain[pair] ? from->cross_gain[pair] : from->cross_gain[pair ^ 1];
    }
    joint->has_one_noise = source->noise_stride == 0;
    for (unsigned k = 1; k < n; k++)
        joint->has_one_noise &= from->layers[k].noise_var == from->layers[0].noise_var;
    joint->is_direct = params->input_format == SOFTQAM_INPUT_CF32 && vec_bits(source->input_scale) == vec_bits(1.0f) &&
                       is_in_order(source) && (!joint->has_partners || is_in_order(&joint->partners)) &&
                       (joint->has_one_noise || source->noise_stride == 1) && joint->n_cross == 1 &&
                       joint->cross_stride == 1;
}

/* Loading. */

static void gather_symbols(const softqam_joint *joint, const softqam_source *source, softqam_joint_memory *memory,
                           size_t first, size_t n, float *to)
{
    softqam_source_gather_symbols(source, joint->loops->gather, first, n, memory->raw);
    joint->loops->convert(memory->raw, source->input_scale, 2 * n, to);
}

/* Gathers c: one for each pair of a resource element or, if partners are not neighbours, one for each symbol, as its
 * layer sees it. */
static void gather_cross_gains(const softqam_joint *joint, size_t first, size_t n, float *to)
{
    enum { PAIR_NBYTES = 2 * sizeof(float) };
    const unsigned char *from[SOFTQAM_MAX_SOURCES] = {NULL};
    const size_t element = first / joint->n_layers, n_elements = n / joint->n_layers;
    for (size_t k = 0; k < joint->n_cross; k++)
        from[k] = (const unsigned char *)(joint->cross_gain[k] + 2 * element * joint->cross_stride);
    joint->loops->gather(from, joint->n_cross, PAIR_NBYTES, joint->cross_stride, n_elements, to);
    /* If there are three layers, the second one sees the first pair's c conjugated. */
    for (size_t k = 1; joint->n_cross == 3 && k < n; k += joint->n_cross)
        to[2 * k + 1] = -to[2 * k + 1];
}

/* Gathers the inputs of n symbols from the segment's symbol `first` on. If the loop needs more symbols, the rest are
 * erasures. */
static void gather_inputs(const softqam_joint *joint, softqam_joint_memory *memory, size_t first, size_t n,
                          softqam_joint_call *call)
{
    const softqam_source *source = &joint->source, *partners = &joint->partners;
    softqam_gather_loop *gather = joint->loops->gather;
    if (n < joint->loops->min_joint_symbols)
        memset(memory, 0, offsetof(softqam_joint_memory, raw));
    gather_symbols(joint, source, memory, first, n, memory->symbols);
    softqam_source_gather_gains(source, gather, first, n, memory->gains);
    if (!joint->has_one_noise)
        softqam_source_gather_noise(source, gather, first, n, memory->noise);
    gather_cross_gains(joint, first, n, memory->cross);
    call->symbols = memory->symbols;
    call->gains = memory->gains;
    call->noise = joint->has_one_noise ? source->layers[0].noise_var : memory->noise;
    call->cross = memory->cross;
    if (!joint->has_partners)
        return;
    gather_symbols(joint, partners, memory, first, n, memory->partners);
    softqam_source_gather_gains(partners, gather, first, n, memory->partner_gains);
    if (!joint->has_one_noise && joint->n_layers > 1)
        softqam_source_gather_noise(partners, gather, first, n, memory->partner_noise);
    call->partners = memory->partners;
    call->partner_gains = memory->partner_gains;
    call->partner_noise = !joint->has_one_noise && joint->n_layers > 1 ? memory->partner_noise : NULL;
}

static const float *floats_at(const void *first, size_t n) { return first ? (const float *)first + n : NULL; }

/* Points at these inputs where they lie in the caller's memory. */
static void point_at_inputs(const softqam_joint *joint, size_t first, softqam_joint_call *call)
{
    const softqam_source_layer *layer = &joint->source.layers[0], *partner = &joint->partners.layers[0];
    call->symbols = floats_at(layer->symbols, 2 * first);
    call->gains = layer->gain + first;
    call->noise = layer->noise_var + (joint->has_one_noise ? 0 : first);
    call->cross = joint->cross_gain[0] + 2 * (first / joint->n_layers);
    if (!joint->has_partners)
        return;
    call->partners = floats_at(partner->symbols, 2 * first);
    call->partner_gains = partner->gain + first;
}

/* Demapping. */

/* Copies those of n items whose layer's bit is set; item k is of layer k % n_layers. */
static inline void copy_items(unsigned layers, size_t n_layers, size_t nbytes, size_t n, const unsigned char *from,
                              unsigned char *to)
{
    for (size_t layer = 0; layer < n_layers; layer++)
        for (size_t k = layer; layers >> layer & 1 && k < n; k += n_layers)
            memcpy(to + k * nbytes, from + k * nbytes, nbytes);
}

/* Does so with the frequent sizes as constants, which saves the calls of memcpy(). */
static void copy_some(unsigned layers, size_t n_layers, size_t nbytes, size_t n, const unsigned char *from,
                      unsigned char *to)
{
    if (nbytes == 1)
        copy_items(layers, n_layers, 1, n, from, to);
    else if (nbytes == 2)
        copy_items(layers, n_layers, 2, n, from, to);
    else if (nbytes == 4)
        copy_items(layers, n_layers, 4, n, from, to);
    else if (nbytes == 8)
        copy_items(layers, n_layers, 8, n, from, to);
    else
        copy_items(layers, n_layers, nbytes, n, from, to);
}

/* Copies some layers' LLRs of a tile from memory->out, where its planes lie plane_nbytes apart. `layers` as in
 * softqam_joint. */
static void copy_layers(const softqam_joint *joint, unsigned layers, const softqam_joint_memory *memory,
                        size_t plane_nbytes, const softqam_loop_call *to)
{
    const size_t n_bits = softqam_symbol_bits(joint->modulation), n_planes = to->planes ? n_bits : 1;
    const size_t nbytes = joint->params->defaults.value_nbytes * (to->planes ? 1 : n_bits);
    for (size_t plane = 0; plane < n_planes; plane++) {
        const unsigned char *from = memory->out + plane * plane_nbytes;
        unsigned char *out = to->out + (to->planes ? to->planes[plane] : 0);
        copy_some(layers, joint->n_layers, nbytes, to->n_symbols, from, out);
    }
}

/* Returns those of a word's erasures, symbols `first` to n, whose layer's bit is set. */
static uint64_t erasures_of(unsigned layers, size_t n_layers, size_t first, size_t n, uint64_t found)
{
    uint64_t erased = 0;
    for (size_t k = first; found >> k % 64 != 0 && k < n && k < first + 64; k++)
        if (layers >> k % n_layers & 1)
            erased |= found & (uint64_t)1 << k % 64;
    return erased;
}

void softqam_joint_demodulate(const softqam_joint *joint, softqam_joint_memory *memory, size_t first,
                              const softqam_loop_call *to, uint64_t *erased)
{
    const int axis_bits = softqam_axis_bits(joint->modulation);
    const unsigned all = (1u << joint->n_layers) - 1;
    const size_t n = to->n_symbols, min_symbols = joint->loops->min_joint_symbols;
    const size_t plane_nbytes = JOINT_GATHERED_SYMBOLS * joint->params->defaults.value_nbytes;
    const softqam_llr_layout layout = to->planes     ? SOFTQAM_LLRS_IN_PLANES
                                      : to->sequence ? SOFTQAM_LLRS_DESCRAMBLED
                                                     : SOFTQAM_LLRS_IN_ORDER;
    softqam_joint_loop *loop = joint->loops->joint[axis_bits]->by_format[joint->params->output_format][layout];
    ptrdiff_t planes[MAX_SYMBOL_BITS];
    uint64_t found[JOINT_SYMBOLS / 64 + 1];
    softqam_joint_call call = {.rules = to->rules,
                               .is_noise_inverse = joint->source.noise_is_inverse,
                               .has_one_noise = joint->has_one_noise,
                               .n_symbols = n < min_symbols ? min_symbols : n,
                               .sequence = to->sequence,
                               .erased = erased ? found : NULL};
    if (joint->is_direct && n >= min_symbols)
        point_at_inputs(joint, joint->first + first, &call);
    else
        gather_inputs(joint, memory, joint->first + first, n, &call);
    for (size_t k = 0; k < MAX_SYMBOL_BITS; k++)
        planes[k] = (ptrdiff_t)(k * plane_nbytes);
    for (int partner = 1; partner <= MAX_AXIS_BITS; partner++) {
        const unsigned layers = joint->layers_by_partner[partner];
        const bool is_copied = layers != all || n < min_symbols;
        if (layers == 0)
            continue;
        call.table = softqam_joint_table_of(axis_bits, partner);
        call.is_partner_qpsk = partner == 1;
        call.out = is_copied ? memory->out : to->out;
        call.planes = !to->planes ? NULL : is_copied ? planes : to->planes;
        if (erased)
            memset(found, 0, sizeof found);
        loop(&call);
        if (is_copied)
            copy_layers(joint, layers, memory, plane_nbytes, to);
        for (size_t word = 0; erased && word * 64 < n; word++)
            erased[word] |= erasures_of(layers, joint->n_layers, word * 64, n, found[word]);
    }
}
