/* SPDX-License-Identifier: MIT */
/* The loops that count statistics: CMakeLists.txt compiles this for each instruction set (simd.h). */
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

_Static_assert(N_OUTPUT_FORMATS == 5, "Not s8, not f32 means 16 bits; not s8, not s16, not f16 means f32");

/* Returns a register with the integer `a` for each LLR of the format. */
VEC vec_bytes splat_of(softqam_output_format format, uint32_t a)
{
    return format == SOFTQAM_OUTPUT_S8    ? vec_splat_u8((int)a)
           : format == SOFTQAM_OUTPUT_F32 ? (vec_bytes)vec_splat_u32(a)
                                          : vec_splat_s16((int)a);
}

/* Returns a vector of LLRs' magnitudes: integers, or the bits of floats. */
VEC vec_bytes magnitudes_at(softqam_output_format format, const unsigned char *values)
{
    const vec_bytes a = vec_load_bytes(values);
    return format == SOFTQAM_OUTPUT_S8 ? vec_abs_s8(a)
           : format == SOFTQAM_OUTPUT_S16
               ? vec_abs_s16(a)
               : (vec_bytes)((vec_lanes_u8)a &
                             (vec_lanes_u8)splat_of(format, format == SOFTQAM_OUTPUT_F16 ? 0x7fff : 0x7fffffff));
}

/* Returns, for each LLR, `most`, the limit less 1, if it is below the limit, else the limit. */
VEC vec_bytes limited_at(softqam_output_format format, const unsigned char *values, vec_bytes most)
{
    const vec_bytes a = magnitudes_at(format, values);
    return format == SOFTQAM_OUTPUT_S8    ? vec_max_s8(a, most)
           : format == SOFTQAM_OUTPUT_F32 ? (vec_bytes)vec_max_u32((vec_u32)a, (vec_u32)most)
                                          : vec_max_s16(a, most);
}

VEC vec_bytes add_counts(softqam_output_format format, vec_bytes a, vec_bytes b)
{
    return format == SOFTQAM_OUTPUT_S8    ? (vec_bytes)((vec_lanes_u8)a + (vec_lanes_u8)b)
           : format == SOFTQAM_OUTPUT_F32 ? (vec_bytes)((vec_lanes_u32)a + (vec_lanes_u32)b)
                                          : vec_add_s16(a, b);
}

/* Counts n_rounds of four vectors in two independent sums. So few rounds are counted that a lane's count fits in a
 * byte. */
VEC vec_lanes_u64 add_limited(softqam_output_format format, const unsigned char *values, size_t n_rounds,
                              uint32_t limit, vec_lanes_u64 counts)
{
    const vec_bytes most = splat_of(format, limit - 1);
    vec_bytes sums[2] = {splat_of(format, 0u - 4 * (uint32_t)n_rounds * (limit - 1)), splat_of(format, 0)};
    for (size_t k = 0; k < 2 * n_rounds; k++, values += 2 * VECTOR_NBYTES) {
        sums[0] = add_counts(format, sums[0], limited_at(format, values, most));
        sums[1] = add_counts(format, sums[1], limited_at(format, values + VECTOR_NBYTES, most));
    }
    return vec_add_bytes(counts, add_counts(format, sums[0], sums[1]));
}

VEC uint64_t count_of(softqam_output_format format, const unsigned char *values, size_t nbytes, uint32_t limit)
{
    enum { MOST_ROUNDS = 255 / 4 };
    vec_lanes_u64 counts = {0};
    for (size_t n_rounds; nbytes >= FOUR_NBYTES; nbytes -= n_rounds * FOUR_NBYTES) {
        n_rounds = nbytes / FOUR_NBYTES < MOST_ROUNDS ? nbytes / FOUR_NBYTES : MOST_ROUNDS;
        counts = add_limited(format, values, n_rounds, limit, counts);
        values += n_rounds * FOUR_NBYTES;
    }
    if (nbytes > 0) {
        unsigned char padded[FOUR_NBYTES] = {0};
        memcpy(padded, values, nbytes);
        counts = add_limited(format, padded, 1, limit, counts);
    }
    return total_of(counts);
}

static uint64_t count_limited(softqam_output_format format, const unsigned char *values, size_t n, uint32_t limit)
{
    if (format == SOFTQAM_OUTPUT_S8)
        return count_of(SOFTQAM_OUTPUT_S8, values, n, limit);
    if (format == SOFTQAM_OUTPUT_S16)
        return count_of(SOFTQAM_OUTPUT_S16, values, 2 * n, limit);
    if (format == SOFTQAM_OUTPUT_F16)
        return count_of(SOFTQAM_OUTPUT_F16, values, 2 * n, limit);
    return count_of(SOFTQAM_OUTPUT_F32, values, 4 * n, limit);
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

/* Adds energies in rounds of up to 15, whose sums fit in 32 bits. */
VEC void add_energies_by(const softqam_levels *levels, int axis_bits, const float *symbols, size_t n_groups,
                         uint64_t sums[2])
{
    enum { ADDED_SYMBOLS = LANES < 8 ? SAMPLE_SYMBOLS / 2 : SAMPLE_SYMBOLS };
    vec_lanes_u64 errors = {0}, energies = {0};
    for (size_t k = 0; k < n_groups * SAMPLE_SYMBOLS; k += ADDED_SYMBOLS) {
        const float *from = symbols + 2 * (k / SAMPLE_SYMBOLS * SAMPLE_PERIOD + k % SAMPLE_SYMBOLS);
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

/* Makes bytes of the bins of 4 LANES LLRs, in any order. */
VEC vec_bytes places_at(const softqam_information *information, const unsigned char *values)
{
    const vec_f32 scale = vec_splat(information->bins_per_unit), last = vec_splat(LAST_BIN);
    vec_s32 bins[4];
    VEC_UNROLL
    for (size_t k = 0; k < 4; k++) {
        const vec_f32 llr = information->format == SOFTQAM_OUTPUT_S16   ? vec_load_s16(values + 2 * k * LANES)
                            : information->format == SOFTQAM_OUTPUT_F16 ? vec_load_f16(values + 2 * k * LANES)
                                                                        : vec_load_f32(values + 4 * k * LANES);
        bins[k] = vec_round_s32(vec_min(vec_mul(vec_abs(llr), scale), last));
    }
    return vec_pack_u8(vec_pack_s16(bins[0], bins[1]), vec_pack_s16(bins[2], bins[3]));
}

/* Returns the indices of 4 LANES LLRs. */
VEC vec_bytes indices_at(const softqam_information *information, const unsigned char *values)
{
    const vec_bytes last = vec_splat_u8(information->table->last_index);
    return information->format == SOFTQAM_OUTPUT_S8 ? vec_min_s8(magnitudes_at(SOFTQAM_OUTPUT_S8, values), last)
                                                    : places_at(information, values);
}

#ifdef VEC_HAS_WORD_TABLES

/* Returns what LLRs lack of whole information, by words. Their sum has 32 bits: enough for 2^14 vectors. */
VEC uint64_t missing_of(const softqam_information *information, const unsigned char *values, size_t n, size_t n_groups)
{
    const softqam_information_table *table = information->table;
    const size_t nbytes = information->value_nbytes;
    const vec_lanes_u32 offset = (vec_lanes_u32){0} + 0x80000000u;
    uint64_t n_empty = 0;
    vec_lanes_u32 sums = offset;
    for (size_t group = 0; group < n_groups; group++, values += SAMPLE_SPACING * n * nbytes)
        for (size_t k = 0; k < n; k += VECTOR_NBYTES) {
            const vec_bytes indices = indices_at(information, values + k * nbytes);
            sums = vec_add_words_at(sums, information->format == SOFTQAM_OUTPUT_S8, table->words, indices);
            n_empty += vec_count_less(indices, table->n_empty);
        }
    return total_of(add_pairs((vec_lanes_u64){0}, sums)) - LANES * 0x80000000ull + n_empty +
           n_groups * n * (WHOLE_INFORMATION / 2);
}

#else

/* Adds what n independent vectors of LLRs lack of whole information. An index beyond its row, or its half, has its
 * highest bit set. */
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
        for (int row = first; row < first + n_rows; row++) {
            VEC_UNROLL
            for (int k = 0; k < n; k++)
                low[k] = vec_xor(low[k], vec_table_bytes(vec_splat_bytes(table->low[row]), index[k]));
            if (row < table->n_high_rows) {
                VEC_UNROLL
                for (int k = 0; k < n; k++)
                    high[k] = vec_xor(high[k], vec_table_bytes(vec_splat_bytes(table->high[row]), index[k]));
            }
            VEC_UNROLL
            for (int k = 0; k < n; k++)
                index[k] = vec_add_saturated_s8(index[k], vec_splat_u8(-16));
        }
    }
    VEC_UNROLL
    for (int k = 0; k < n; k++) {
        sums[0] = vec_add_bytes(sums[0], high[k]);
        sums[1] = vec_add_bytes(sums[1], low[k]);
    }
}

VEC uint64_t missing_of(const softqam_information *information, const unsigned char *values, size_t n, size_t n_groups)
{
    const size_t nbytes = information->value_nbytes;
    vec_lanes_u64 missing[2] = {{0}, {0}};
    for (size_t group = 0; group < n_groups; group++, values += SAMPLE_SPACING * n * nbytes)
        for (size_t k = 0; k < n; k += 2 * VECTOR_NBYTES) {
            vec_bytes indices[2] = {indices_at(information, values + k * nbytes)};
            if (k + VECTOR_NBYTES == n) {
                add_missing(information->table, 1, indices, missing);
                continue;
            }
            indices[1] = indices_at(information, values + (k + VECTOR_NBYTES) * nbytes);
            add_missing(information->table, 2, indices, missing);
        }
    return INFORMATION_RADIX * total_of(missing[0]) + total_of(missing[1]);
}

#endif

static uint64_t sum_information(const softqam_information *information, const unsigned char *values, size_t n,
                                size_t n_groups)
{
    return n_groups * n * WHOLE_INFORMATION - missing_of(information, values, n, n_groups);
}

const softqam_count_loops SIMD_NAME(softqam_count_loops) = {count_limited, find_range, add_energies, sum_information};
