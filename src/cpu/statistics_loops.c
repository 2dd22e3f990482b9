/* SPDX-License-Identifier: MIT */
/* The loops that count statistics: CMakeLists.txt compiles this for each instruction set (simd.h). */
#include <stdlib.h>

#include "loops.h"
#include "simd.h"

#include "arithmetic_energies.h"

enum { VECTOR_NBYTES = 4 * LANES, FOUR_NBYTES = 4 * VECTOR_NBYTES };

/* Adds the elements of a sum. */
VEC uint64_t total_of(vec_lanes_u64 sums)
{
    uint64_t total = 0;
    for (size_t k = 0; k < LANES / 2; k++)
        total += sums[k];
    return total;
}

VEC vec_bytes magnitude_of_steps(const unsigned char *values) { return vec_abs_s8(vec_load_bytes(values)); }

/* Returns `below`, the limit less 1, for each byte below the limit, and one more for each at it. */
VEC vec_lanes_u8 limited_at(const unsigned char *values, vec_bytes below)
{
    return (vec_lanes_u8)vec_max_s8(magnitude_of_steps(values), below);
}

/* Counts in four sums, modulo 2^8, so that none waits for another. */
static uint64_t count_s8(const unsigned char *values, size_t n, int limit)
{
    enum { MOST_ROUNDS = 255 / 4 };
    const vec_bytes below = vec_splat_u8(limit - 1);
    vec_lanes_u64 counts = {0};
    while (n >= FOUR_NBYTES) {
        const size_t n_rounds = n / FOUR_NBYTES < MOST_ROUNDS ? n / FOUR_NBYTES : MOST_ROUNDS;
        vec_lanes_u8 sum = (vec_lanes_u8)vec_splat_u8(-4 * (int)n_rounds * (limit - 1)), others = {0};
        for (size_t k = 0; k < n_rounds; k++, values += FOUR_NBYTES) {
            sum += limited_at(values, below) + limited_at(values + VECTOR_NBYTES, below);
            others += limited_at(values + 2 * VECTOR_NBYTES, below) + limited_at(values + 3 * VECTOR_NBYTES, below);
        }
        counts = vec_add_bytes(counts, (vec_bytes)(sum + others));
        n -= n_rounds * FOUR_NBYTES;
    }
    uint64_t count = total_of(counts);
    for (size_t k = 0; k < n; k++)
        count += abs((int8_t)values[k]) == limit;
    return count;
}

#define DEFINE_COUNT(name, type)                                                                                       \
    static uint64_t name(const unsigned char *values, size_t n, type limit, type negative)                             \
    {                                                                                                                  \
        enum { MOST = 65535 };                                                                                         \
        typedef type __attribute__((aligned(1), may_alias)) anywhere;                                                  \
        uint64_t total = 0;                                                                                            \
        for (size_t n_taken; n > 0; n -= n_taken, values += n_taken * sizeof(type)) {                                  \
            n_taken = n < MOST ? n : MOST;                                                                             \
            type count = 0;                                                                                            \
            for (size_t k = 0; k < n_taken; k++) {                                                                     \
                const type value = ((const anywhere *)(const void *)values)[k];                                        \
                count += (type)((value == limit) | (value == negative));                                               \
            }                                                                                                          \
            total += count;                                                                                            \
        }                                                                                                              \
        return total;                                                                                                  \
    }
DEFINE_COUNT(count_16, uint16_t)
DEFINE_COUNT(count_32, uint32_t)

static uint64_t count_limited(softqam_output_format format, const unsigned char *values, size_t n, uint32_t limit)
{
    if (format == SOFTQAM_OUTPUT_S8)
        return count_s8(values, n, (int)limit);
    if (format == SOFTQAM_OUTPUT_F32)
        return count_32(values, n, limit, limit | 0x80000000u);
    return count_16(values, n, (uint16_t)limit, (uint16_t)(format == SOFTQAM_OUTPUT_S16 ? 0u - limit : limit | 0x8000));
}

static void find_range(const float *values, size_t n, uint32_t range[2])
{
    vec_u32 smallest = vec_splat_u32(UINT32_MAX), largest = vec_splat_u32(0);
    size_t k = 0;
    for (; k + 4 * LANES <= n; k += 4 * LANES) {
        const vec_u32 a = vec_load_u32(values + k), b = vec_load_u32(values + k + LANES);
        const vec_u32 c = vec_load_u32(values + k + 2 * LANES), d = vec_load_u32(values + k + 3 * LANES);
        smallest = vec_min_u32(smallest, vec_min_u32(vec_min_u32(a, b), vec_min_u32(c, d)));
        largest = vec_max_u32(largest, vec_max_u32(vec_max_u32(a, b), vec_max_u32(c, d)));
    }
    range[0] = ~vec_largest_u32(~smallest);
    range[1] = vec_largest_u32(largest);
    for (; k < n; k++) {
        range[0] = float_bits(values[k]) < range[0] ? float_bits(values[k]) : range[0];
        range[1] = float_bits(values[k]) > range[1] ? float_bits(values[k]) : range[1];
    }
}

/* Adds the errors' and the symbols' energies of 2 LANES components to sums of 32 bits. */
VEC void add_energies_of(const softqam_levels *levels, int axis_bits, const float *symbols, vec_lanes_u32 sums[2])
{
    const vec_f32 a = vec_load_f32(symbols), b = vec_load_f32(symbols + LANES);
    const vec_f32 i = vec_firsts(a, b), q = vec_seconds(a, b), sum = vec_add(i, q), least = vec_splat(levels->least);
    const vec_f32 error = axis_bits == 0   ? energy_of(bpsk_distance(levels, i, sum), bpsk_distance(levels, q, sum))
                          : axis_bits == 1 ? energy_of(vec_sub(vec_abs(i), least), vec_sub(vec_abs(q), least))
                                           : energy_of(level_distance(levels, i), level_distance(levels, q));
    sums[0] += (vec_lanes_u32)vec_round_s32(error);
    sums[1] += (vec_lanes_u32)vec_round_s32(energy_of(i, q));
}

VEC vec_lanes_u64 add_pairs(vec_lanes_u64 sums, vec_lanes_u32 numbers)
{
    return sums + ((vec_lanes_u64)numbers & UINT32_MAX) + ((vec_lanes_u64)numbers >> 32);
}

/* Up to 15 energies have a sum of 32 bits. */
VEC void add_energies_by(const softqam_levels *levels, int axis_bits, const float *symbols, size_t n_groups,
                         uint64_t sums[2])
{
    enum { ADDED_SYMBOLS = LANES < 8 ? GROUP_SYMBOLS / 2 : GROUP_SYMBOLS };
    vec_lanes_u64 errors = {0}, energies = {0};
    for (size_t k = 0; k < n_groups * GROUP_SYMBOLS; k += ADDED_SYMBOLS) {
        const float *from = symbols + 2 * (k / GROUP_SYMBOLS * SAMPLED_GROUPS * GROUP_SYMBOLS + k % GROUP_SYMBOLS);
        vec_lanes_u32 added[2] = {{0}, {0}};
        VEC_UNROLL
        for (size_t j = 0; j < ADDED_SYMBOLS; j += LANES)
            add_energies_of(levels, axis_bits, from + 2 * j, added);
        errors = add_pairs(errors, added[0]);
        energies = add_pairs(energies, added[1]);
    }
    sums[0] += total_of(errors);
    sums[1] += total_of(energies);
}

static void add_energies(const softqam_levels *levels, const float *symbols, size_t n_groups, uint64_t sums[2])
{
    if (levels->axis_bits <= 1)
        add_energies_by(levels, levels->axis_bits == 0 ? 0 : 1, symbols, n_groups, sums);
    else
        add_energies_by(levels, 2, symbols, n_groups, sums);
}

/* Makes bytes of the places of 4 LANES LLRs, in any order. */
VEC vec_bytes places_at(const softqam_information *information, const unsigned char *values)
{
    const vec_f32 scale = vec_splat(information->places_per_unit), last = vec_splat(LAST_PLACE);
    vec_s32 places[4];
    VEC_UNROLL
    for (size_t k = 0; k < 4; k++) {
        const vec_f32 llr = information->format == SOFTQAM_OUTPUT_S16   ? vec_load_s16(values + 2 * k * LANES)
                            : information->format == SOFTQAM_OUTPUT_F16 ? vec_load_f16(values + 2 * k * LANES)
                                                                        : vec_load_f32(values + 4 * k * LANES);
        places[k] = vec_round_s32(vec_min(vec_mul(vec_abs(llr), scale), last));
    }
    return vec_pack_u8(vec_pack_s16(places[0], places[1]), vec_pack_s16(places[2], places[3]));
}

/* Returns the indices of 4 LANES LLRs. */
VEC vec_bytes indices_at(const softqam_information *information, const unsigned char *values)
{
    const vec_bytes last = vec_splat_u8(information->table->last_index);
    return information->format == SOFTQAM_OUTPUT_S8 ? vec_min_s8(magnitude_of_steps(values), last)
                                                    : places_at(information, values);
}

/* Adds the information that n independent vectors of LLRs lack of whole bits. An index beyond its row, or its half, has
 * its highest bit set. */
VEC void add_missing(const softqam_information_table *table, int n, vec_bytes indices[], vec_lanes_u64 sums[2])
{
    vec_bytes high[2], low[2], index[2];
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        high[k] = low[k] = vec_splat_u8(0);
    for (int first = 0; first < table->n_rows; first += HALF_ROWS) {
        const int n_rows = table->n_rows - first < HALF_ROWS ? table->n_rows - first : HALF_ROWS;
        VEC_UNROLL
        for (int k = 0; k < n; k++) {
            index[k] = indices[k];
            indices[k] = vec_xor(indices[k], vec_splat_u8(0x80));
        }
        for (int row = first; row < first + n_rows; row++)
            VEC_UNROLL
        for (int k = 0; k < n; k++) {
            high[k] = vec_xor(high[k], vec_table_bytes(vec_splat_bytes(table->high[row]), index[k]));
            low[k] = vec_xor(low[k], vec_table_bytes(vec_splat_bytes(table->low[row]), index[k]));
            index[k] = vec_add_saturated_s8(index[k], vec_splat_u8(-16));
        }
    }
    VEC_UNROLL
    for (int k = 0; k < n; k++) {
        sums[0] = vec_add_bytes(sums[0], high[k]);
        sums[1] = vec_add_bytes(sums[1], low[k]);
    }
}

static uint64_t information_of(const softqam_information *information, const unsigned char *values, size_t n,
                               size_t n_groups)
{
    const size_t nbytes = information->value_nbytes;
    vec_lanes_u64 missing[2] = {{0}, {0}};
    for (size_t group = 0; group < n_groups; group++, values += SAMPLED_GROUPS * n * nbytes)
        for (size_t k = 0; k < n; k += 2 * VECTOR_NBYTES) {
            vec_bytes indices[2] = {indices_at(information, values + k * nbytes)};
            if (k + VECTOR_NBYTES == n) {
                add_missing(information->table, 1, indices, missing);
                continue;
            }
            indices[1] = indices_at(information, values + (k + VECTOR_NBYTES) * nbytes);
            add_missing(information->table, 2, indices, missing);
        }
    return n_groups * n * WHOLE_INFORMATION - INFORMATION_RADIX * total_of(missing[0]) - total_of(missing[1]);
}

const softqam_count_loops SIMD_NAME(softqam_count_loops) = {count_limited, find_range, add_energies, information_of};
