/* SPDX-License-Identifier: MIT */
/* Finds a tile's erasures and samples its groups; the portable loops of statistics. All results are whole numbers, so
 * they depend neither on vectors nor on cuts. */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "float_environment.h"
#include "variant.h"
#include "weight.h"
#include "widen_half.h"

#include "arithmetic_energies.h"

_Static_assert(N_OUTPUT_FORMATS == 5,
               "Here, and in statistics_loops.c, a format has integers, bits or an index of its own");

/* Portable loops. */

static uint32_t bits_of_value(const unsigned char *value, size_t nbytes)
{
    uint32_t bits = 0;
    memcpy(&bits, value, nbytes);
    return bits;
}

/* Returns an LLR's magnitude: an integer, or the bits of a float. */
static uint32_t magnitude_of(softqam_output_format format, const unsigned char *value)
{
    const uint32_t bits = bits_of_value(value, softqam_value_nbytes(format));
    if (format == SOFTQAM_OUTPUT_S8)
        return (uint32_t)abs((int8_t)bits);
    if (format == SOFTQAM_OUTPUT_S16)
        return (uint32_t)abs((int16_t)bits);
    return bits & (format == SOFTQAM_OUTPUT_F16 ? 0x7fff : 0x7fffffff);
}

static uint64_t count_limited(softqam_output_format format, const unsigned char *values, size_t n, uint32_t limit)
{
    const size_t nbytes = softqam_value_nbytes(format);
    uint64_t count = 0;
    for (size_t k = 0; k < n; k++)
        count += magnitude_of(format, values + k * nbytes) == limit;
    return count;
}

static void find_range(const float *values, size_t n, uint32_t range[2])
{
    range[0] = UINT32_MAX;
    range[1] = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t bits = vec_bits(values[k]);
        range[0] = bits < range[0] ? bits : range[0];
        range[1] = bits > range[1] ? bits : range[1];
    }
}

static void add_energies(const softqam_levels *levels, const float *symbols, size_t n_groups, uint64_t sums[2])
{
    for (size_t k = 0; k < n_groups * SAMPLE_SYMBOLS; k++) {
        const size_t position = k / SAMPLE_SYMBOLS * SAMPLE_PERIOD + k % SAMPLE_SYMBOLS;
        float symbol[2]; /* a copy, since the source may have any alignment */
        memcpy(symbol, (const unsigned char *)symbols + position * sizeof symbol, sizeof symbol);
        const float i = symbol[0], q = symbol[1];
        const float error = levels->axis_bits == 0
                                ? energy_of(bpsk_distance(levels, i, i + q), bpsk_distance(levels, q, i + q))
                                : energy_of(level_distance(levels, i), level_distance(levels, q));
        sums[0] += (uint64_t)rintf(error);
        sums[1] += (uint64_t)rintf(energy_of(i, q));
    }
}

static uint64_t sum_information(const softqam_information *information, const unsigned char *values, size_t n,
                                size_t n_groups)
{
    const softqam_output_format format = information->format;
    uint64_t sum = 0;
    for (size_t k = 0; k < n_groups * n; k++) {
        const size_t position = k / n * SAMPLE_SPACING * n + k % n;
        const uint32_t magnitude = magnitude_of(format, values + position * information->value_nbytes);
        const float llr = format == SOFTQAM_OUTPUT_F32   ? vec_from_bits(magnitude)
                          : format == SOFTQAM_OUTPUT_F16 ? widen_half((uint16_t)magnitude)
                                                         : (float)magnitude;
        const float bin = llr * information->bins_per_unit;
        sum += information->of_bins[(int)rintf(bin < LAST_BIN ? bin : LAST_BIN)];
    }
    return sum;
}

const softqam_count_loops softqam_count_portable = {count_limited, find_range, add_energies, sum_information};

/* Erasures. */

/* Returns whether some of n symbols may be erasures: true if one is, and perhaps if none is. Reads the components
 * unless the tile is fast. */
static bool may_have_erasures(const softqam_counted_tile *tile, size_t first, size_t n)
{
    const softqam_loop_call *call = tile->call;
    const bool has_gains = softqam_has_gains(call->noise_kind);
    const unsigned char *components = (const unsigned char *)call->components + 2 * first * sizeof(float);
    uint32_t of_noise[2], of_gains[2] = {vec_bits(1.0f), vec_bits(1.0f)};
    if (has_gains)
        tile->loops->find_range(call->gains + first, n, of_gains);
    if (of_gains[0] == 0 || of_gains[1] >= vec_bits(INFINITY))
        return true;
    const double gain = (double)vec_from_bits(of_gains[0]), scale = fabs((double)call->rules.steps_per_nat);
    const double component_end = 0x1p127 * (gain < 1.0 ? gain : 1.0); /* the quotient must not overflow */
    size_t n_usual = 0;
    for (size_t k = 0; !tile->is_fast && k < 2 * n; k++) {
        float component; /* a copy, since the source may have any alignment */
        memcpy(&component, components + k * sizeof component, sizeof component);
        n_usual += fabs((double)component) < component_end;
    }
    if (!tile->is_fast && n_usual < 2 * n)
        return true;
    if (call->noise_kind == SOFTQAM_ONE_WEIGHT)
        return !isfinite(call->noise[0]);
    tile->loops->find_range(call->noise + first, n, of_noise);
    /* Subnormal numbers may count as zero here. */
    if (of_noise[0] == 0 || of_noise[1] >= vec_bits(INFINITY) || of_noise[1] < vec_bits(0x1p-126f))
        return true;
    /* The floor raises N0, and lowers 1/N0. */
    const double bound = (double)call->rules.noise_bound;
    const double inverse = softqam_is_noise_n0(call->noise_kind) ? 1.0 / fmax((double)vec_from_bits(of_noise[1]), bound)
                                                                 : fmin((double)vec_from_bits(of_noise[0]), bound);
    /* Gains that were subnormal give 0 or NaN. */
    return has_gains && !(scale * gain * gain * inverse >= 2.0 * (double)MIN_WEIGHT);
}

static bool is_erased(const softqam_loop_call *call, size_t k)
{
    float symbol[2];
    memcpy(symbol, (const float *)call->components + 2 * k, sizeof symbol);
    const float weight = weight_of(call, k, symbol);
    return !isfinite(weight) || !isfinite(symbol[0]) || !isfinite(symbol[1]);
}

/* Finds a group's erasures: bit k is symbol first + k. */
static uint64_t find_erasures(const softqam_loop_call *call, size_t first, size_t n)
{
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    uint64_t erased = 0;
    for (size_t k = 0; k < n; k++)
        erased |= (uint64_t)is_erased(call, first + k) << k;
    return erased;
}

void softqam_find_erasures(const softqam_loop_call *call, unsigned layers, unsigned n_layers, uint64_t *erased)
{
    for (size_t k = 0; k < call->n_symbols; k++)
        if (layers >> k % n_layers & 1)
            erased[k / 64] |= (uint64_t)is_erased(call, k) << k % 64;
}

/* Sampled groups. */

/* The values that all groups of a tile share. */
typedef struct sampler {
    const softqam_counted_tile *tile;
    softqam_levels levels;
    size_t n_bits; /* bits of a symbol */
    softqam_statistics *to;
} sampler;

/* Divides n symbols by their gains. Compilers vectorise the second loop, in which no gain must be split. */
static void divide_by_gains(const sampler *self, const float *gains, size_t n, float *symbols)
{
    uint32_t range[2];
    self->tile->loops->find_range(gains, n, range);
    if (range[0] < vec_bits(MIN_GAIN) || range[1] > vec_bits(MAX_GAIN)) {
        for (size_t k = 0; k < n; k++)
            divide_by_gain(gains[k], symbols + 2 * k);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const float inverse = 1.0f / gains[k];
        symbols[2 * k] *= inverse;
        symbols[2 * k + 1] *= inverse;
    }
}

/* Copies a group's symbols, divided by their gains. A symbol that is not valid is replaced by a constellation point,
 * which has no error. */
static void copy_symbols(const sampler *self, size_t first, uint64_t valid, float symbols[2 * SAMPLE_SYMBOLS])
{
    const softqam_loop_call *call = self->tile->call;
    const float *gains = softqam_has_gains(call->noise_kind) ? call->gains + first : NULL;
    const size_t n = SAMPLE_SYMBOLS - (size_t)__builtin_clzll(valid | 1);
    memcpy(symbols, (const float *)call->components + 2 * first, 2 * n * sizeof *symbols);
    if (gains)
        divide_by_gains(self, gains, n, symbols);
    for (size_t k = 0; self->levels.axis_bits == 0 && k < n; k++)
        symbols[2 * k] = vec_flip(symbols[2 * k], call->i_flips[(first + k) % 2]);
    for (size_t k = 0; valid != UINT64_MAX && k < SAMPLE_SYMBOLS; k++)
        if (!(valid >> k & 1))
            symbols[2 * k] = symbols[2 * k + 1] = self->levels.least;
}

/* Adds the information of groups of n symbols, the first of which begins at symbol `first`. A group that is not whole
 * is the only one. */
static void add_information(const sampler *self, size_t first, size_t n, size_t n_groups)
{
    const softqam_counted_tile *tile = self->tile;
    const softqam_loop_call *call = tile->call;
    const size_t nbytes = tile->information.value_nbytes;
    const size_t n_planes = call->planes ? self->n_bits : 1, n_bits = call->planes ? 1 : self->n_bits;
    const size_t n_left = n * n_bits % SAMPLE_SYMBOLS, n_whole = n * n_bits - n_left;
    for (size_t k = 0; k < n_planes; k++) {
        const unsigned char *values = call->out + (call->planes ? call->planes[k] : 0) + first * n_bits * nbytes;
        if (n_whole > 0)
            self->to->information += tile->loops->information(&tile->information, values, n_whole, n_groups);
        if (n_left > 0) {
            unsigned char padded[SAMPLE_SYMBOLS * sizeof(float)] = {0}; /* with zeros, which carry no information */
            memcpy(padded, values + n_whole * nbytes, n_left * nbytes);
            self->to->information += tile->loops->information(&tile->information, padded, SAMPLE_SYMBOLS, 1);
        }
    }
}

/* Adds a group, or n symbols of one. */
static void add_group(const sampler *self, size_t first, size_t n, uint64_t erased)
{
    const softqam_counted_tile *tile = self->tile;
    const uint64_t valid = UINT64_MAX >> (SAMPLE_SYMBOLS - n) & ~erased;
    const unsigned n_others = SAMPLE_SYMBOLS - (unsigned)__builtin_popcountll(valid);
    float symbols[2 * SAMPLE_SYMBOLS];
    uint64_t sums[2] = {0, 0};
    self->to->n_sampled += SAMPLE_SYMBOLS - n_others;
    if (!tile->erased) {
        copy_symbols(self, first, valid, symbols);
        tile->loops->add_energies(&self->levels, symbols, 1, sums);
        self->to->error_energy += sums[0];
        self->to->symbol_energy +=
            sums[1] - (n_others ? n_others * (uint64_t)rintf(energy_of(self->levels.least, self->levels.least)) : 0);
    }
    add_information(self, first, n, 1);
}

/* Adds all sampled groups of n symbols, which are whole and have neither gains nor erasures. */
static void add_groups(const sampler *self, size_t first, size_t n)
{
    const softqam_counted_tile *tile = self->tile;
    const size_t n_groups = (n + SAMPLE_PERIOD - SAMPLE_SYMBOLS) / SAMPLE_PERIOD;
    uint64_t sums[2] = {0, 0};
    tile->loops->add_energies(&self->levels, (const float *)tile->call->components + 2 * first, n_groups, sums);
    self->to->n_sampled += n_groups * SAMPLE_SYMBOLS;
    self->to->error_energy += sums[0];
    self->to->symbol_energy += sums[1];
    add_information(self, first, SAMPLE_SYMBOLS, n_groups);
}

/* Counts erasures and the ends of the range among soft bits. */
static void count_u8(const softqam_loop_call *call, softqam_statistics *to)
{
    for (size_t k = 0; k < call->n_symbols; k++) {
        float symbol[2];
        memcpy(symbol, (const float *)call->components + 2 * k, sizeof symbol);
        to->n_erased += !isfinite(symbol[0]) || !isfinite(symbol[1]);
    }
    for (size_t k = 0; k < 8 * call->n_symbols; k++)
        to->n_limited += call->out[k] == 0 || call->out[k] == 255;
}

static uint64_t count_all_limited(const softqam_counted_tile *tile)
{
    const softqam_loop_call *call = tile->call;
    const softqam_output_format format = call->params->output_format;
    const size_t n_bits = tile->axis_bits ? 2 * (size_t)tile->axis_bits : 1, n = call->n_symbols;
    const float limit = call->rules.limit;
    const uint32_t bits = format == SOFTQAM_OUTPUT_F32   ? vec_bits(limit)
                          : format == SOFTQAM_OUTPUT_F16 ? vec_to_f16(limit)
                                                         : (uint32_t)limit;
    uint64_t count = 0;
    if (!call->planes)
        return tile->loops->limited(format, call->out, n * n_bits, bits);
    for (size_t bit = 0; bit < n_bits; bit++)
        count += tile->loops->limited(format, call->out + call->planes[bit], n, bits);
    return count;
}

/* Returns n bits, at most a word, from bit `first` on. */
static uint64_t bits_from(const uint64_t *words, size_t first, size_t n)
{
    const size_t word = first / 64, shift = first % 64;
    uint64_t bits = words[word] >> shift;
    if (shift + n > 64)
        bits |= words[word + 1] << (64 - shift);
    return bits & UINT64_MAX >> (64 - n);
}

void softqam_count_tile(const softqam_counted_tile *tile, softqam_statistics *to)
{
    const softqam_loop_call *call = tile->call;
    const size_t n = call->n_symbols;
    const sampler self = {tile, softqam_levels_of(tile->axis_bits, call->table->row_scale, call->table->last_row),
                          tile->axis_bits ? 2 * (size_t)tile->axis_bits : 1, to};
    to->n_symbols += n;
    if (call->params->output_format == SOFTQAM_OUTPUT_U8) {
        count_u8(call, to);
        return;
    }
    to->n_limited += count_all_limited(tile);
    const bool is_searched = !tile->erased && (!tile->is_fast || may_have_erasures(tile, 0, n));
    const bool are_groups_whole =
        !is_searched && !tile->erased && !softqam_has_gains(call->noise_kind) && tile->axis_bits > 0;
    for (size_t first = 0, n_taken; first < n; first += n_taken) {
        const uint32_t position = tile->codeword_symbol + (uint32_t)first;
        const bool is_sampled = softqam_is_sampled(position);
        const size_t left = n - first;
        uint64_t erased = 0;
        if (are_groups_whole && position % SAMPLE_PERIOD == 0 && left >= SAMPLE_SYMBOLS) {
            n_taken = left % SAMPLE_PERIOD < SAMPLE_SYMBOLS ? left - left % SAMPLE_PERIOD : left;
            add_groups(&self, first, n_taken);
            continue;
        }
        const size_t taken = is_sampled || is_searched || tile->erased ? SAMPLE_SYMBOLS : SAMPLE_PERIOD,
                     whole = taken - position % taken;
        n_taken = left < whole ? left : whole;
        if (tile->erased)
            erased = bits_from(tile->erased, first, n_taken);
        else if (is_searched && may_have_erasures(tile, first, n_taken))
            erased = find_erasures(call, first, n_taken);
        to->n_erased += (uint64_t)__builtin_popcountll(erased);
        if (is_sampled)
            add_group(&self, first, n_taken, erased);
    }
}
