/* SPDX-License-Identifier: MIT */
/* The loop of soft bits for vectors of any number of quads (128 bits): CMakeLists.txt compiles this for each
 * instruction set (simd.h). An iteration takes LANES symbols, which are two registers of components; the last iteration
 * goes back to be a whole one.
 *
 * An iteration is computed by the linear functions of arithmetic_fast.h if these decide, else by arithmetic.h. */
#include "loops.h"
#include "simd.h"

#include "arithmetic_fast.h"

/* Soft bits by arithmetic.h. */

/* Sources of bytes, to be or-ed to a row's byte_select, I and Q alternating: for the first two of four symbols; for the
 * last two; and for an erasure, whose bytes are all its `low`. */
static const uint8_t places_of_first_two[16] = {0, FROM_Q,     0, FROM_Q,     0, FROM_Q,     0, FROM_Q,
                                                1, FROM_Q | 1, 1, FROM_Q | 1, 1, FROM_Q | 1, 1, FROM_Q | 1};
static const uint8_t places_of_last_two[16] = {2, FROM_Q | 2, 2, FROM_Q | 2, 2, FROM_Q | 2, 2, FROM_Q | 2,
                                               3, FROM_Q | 3, 3, FROM_Q | 3, 3, FROM_Q | 3, 3, FROM_Q | 3};

/* Returns the soft bytes of an axis, two words a symbol, the low bit's and the high bit's; an erasure's low one is 127.
 */
VEC vec_bytes u8_words(const u8_axis *axis, vec_mask valid)
{
    return vec_pack_s16((vec_s32)vec_to_index(vec_choose(valid, axis->low, vec_splat(127.0f))),
                        (vec_s32)vec_to_index(axis->high));
}

/* Returns where an axis's bytes come from: an erasure's all come from the low bit's. */
VEC vec_u32 u8_select(const vec_u8_table *table, const u8_axis *axis, vec_mask valid)
{
    return vec_bits(vec_keep(valid, vec_from_bits(vec_byte_select(table, axis->row))));
}

VEC symbol_distances iteration_distances(const vec_u8_table *table, const float *symbols)
{
    const vec_f32 a = vec_load_f32(symbols), b = vec_load_f32(symbols + LANES);
    return symbol_distances_of(table, vec_firsts(a, b), vec_seconds(a, b));
}

VEC void store_u8_bits(const vec_u8_table *table, const symbol_distances *symbols, unsigned char *out)
{
    const u8_bits bits = u8_bits_from_distances(table, symbols);
    const vec_bytes soft = vec_pack_u8(u8_words(&bits.i, bits.valid), u8_words(&bits.q, bits.valid));
    const vec_u32 i = u8_select(table, &bits.i, bits.valid), q = u8_select(table, &bits.q, bits.valid);
    const vec_bytes first =
        vec_or(vec_interleave_bytes_lower((vec_bytes)i, (vec_bytes)q), vec_splat_bytes(places_of_first_two));
    const vec_bytes last =
        vec_or(vec_interleave_bytes_upper((vec_bytes)i, (vec_bytes)q), vec_splat_bytes(places_of_last_two));
    vec_store(out, vec_place_bytes(soft, first));
    vec_store(out + 4 * LANES, vec_place_bytes(soft, last));
}

/* Says where an iteration's symbols lie and where its bytes go. */
typedef struct iteration_place {
    const float *symbols;
    unsigned char *out;
} iteration_place;

/* Computes an even number of iterations by arithmetic.h, two at a time: one alone would mostly wait for its own
 * results. */
NOT_INLINED void exact_iterations(const softqam_params *params, const iteration_place *places, size_t n_iterations)
{
    const vec_u8_table table = vec_load_u8_table(&params->u8_table);
    for (size_t k = 0; k < n_iterations; k += 2) {
        const symbol_distances a = iteration_distances(&table, places[k].symbols);
        const symbol_distances b = iteration_distances(&table, places[k + 1].symbols);
        store_u8_bits(&table, &a, places[k].out);
        store_u8_bits(&table, &b, places[k + 1].out);
    }
}

/* Soft bits by the linear functions. */

typedef struct linear_constants {
    vec_u8_linear linear;
    vec_bytes middle;      /* half of 2 alpha, modulo 1 */
    vec_bytes error_bound; /* a value closer to an integer is undecided */
    vec_s32 largest;       /* |x3| of a component of LINEAR_COMPONENT */
    vec_bytes zero_byte;   /* the byte of x = 0: 127, or 255 - 126 if all bits are inverted */
    vec_bytes inverted;    /* all bits, or none; if x is no integer, trunc(127 - x) is 126 - floor(x) */
} linear_constants;

VEC linear_constants load_linear(const softqam_params *params)
{
    const softqam_u8_linear *from = &params->u8_linear;
    const bool inverted = params->defaults.is_negative;
    linear_constants constants;
    constants.linear.units_per_component = vec_splat(from->units_per_component);
    for (int k = 0; k < U8_AXIS_BITS - 1; k++)
        constants.linear.fold_points[k] = vec_splat_s32(from->fold_points[k]);
    constants.middle = vec_splat_s16(from->middle);
    constants.error_bound = vec_splat_s16(from->error_bound);
    constants.largest = vec_splat_s32(from->largest);
    constants.zero_byte = vec_splat_s16(inverted ? 255 - 126 : 127);
    constants.inverted = vec_splat_u8(inverted ? 0xff : 0);
    return constants;
}

/* Returns the linear functions' bytes of components as they lie in memory. */
VEC vec_bytes linear_bytes(const linear_constants *constants, const linear_bits *bits)
{
    static const uint8_t places[16] = {0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15};
    const vec_bytes first = vec_add_s16(constants->zero_byte, vec_upper_words(bits->x[0], bits->x[1]));
    const vec_bytes last = vec_add_s16(constants->zero_byte, vec_upper_words(bits->x[2], bits->x[3]));
    return vec_shuffle_bytes(vec_xor(vec_pack_u8(first, last), constants->inverted), vec_splat_bytes(places));
}

/* Returns whether a value may be too near an integer, or a component too large. Up to its sign,
 * a value that is not saturated is |x3|, the distance to the nearest boundary of the last bit, or 2 alpha - |x3|. So it
 * is near an integer if the fraction of |x3| is near 0 or near that of 2 alpha. The words of a lie in the lower halves
 * and the words of b in the upper ones. */
VEC bool is_undecided(const linear_constants *constants, const linear_bits *a, const linear_bits *b)
{
    const vec_s32 distance_a = vec_abs_s32(a->x[3]), distance_b = vec_abs_s32(b->x[3]);
    const vec_bytes fractions = vec_lower_words(distance_a, distance_b);
    const vec_bytes from_middle = vec_abs_s16(vec_sub_s16(fractions, constants->middle));
    const vec_bytes from_integers = vec_abs_s16(vec_sub_s16(from_middle, constants->middle));
    return vec_any_less_or_more(from_integers, constants->error_bound, vec_max_s32(distance_a, distance_b),
                                constants->largest);
}

VEC bool linear_iteration(const linear_constants *constants, iteration_place place)
{
    const linear_bits a = linear_bits_of(&constants->linear, vec_load_f32(place.symbols));
    const linear_bits b = linear_bits_of(&constants->linear, vec_load_f32(place.symbols + LANES));
    vec_store(place.out, linear_bytes(constants, &a));
    vec_store(place.out + 4 * LANES, linear_bytes(constants, &b));
    return is_undecided(constants, &a, &b);
}

VEC iteration_place iterations_after(iteration_place place, ptrdiff_t n_symbols)
{
    return (iteration_place){place.symbols + 2 * n_symbols, place.out + 8 * n_symbols};
}

/* Computes iterations by the linear functions; returns how many are undecided, and which. */
VEC size_t linear_iterations(const softqam_params *params, iteration_place place, size_t n_iterations,
                             iteration_place *undecided)
{
    const linear_constants constants = load_linear(params);
    size_t n_undecided = 0;
    for (size_t k = 0; k < n_iterations; k++, place = iterations_after(place, LANES)) {
        prefetch_inputs(place.symbols, 2 * LANES * sizeof(float));
        undecided[n_undecided] = place;
        n_undecided += linear_iteration(&constants, place);
    }
    return n_undecided;
}

/* Symbols are taken in batches of BATCH_ITERATIONS, which stay in the nearest cache. A batch is computed by the linear
 * functions, then its undecided iterations again, so that single ones cause no mispredicted branches. If most of a
 * batch is undecided, as zeros are, the next batches skip the linear functions. */
enum { BATCH_ITERATIONS = 64, U8_BATCHES_BEFORE_RETRY = 63 };

/* Computes the iterations of a batch; returns those that must be computed by arithmetic.h. The next n_exact batches do
 * not try the linear functions. */
VEC size_t batch_iterations(const softqam_params *params, unsigned *n_exact, iteration_place place, size_t n_iterations,
                            iteration_place *undecided)
{
    if (*n_exact == 0) {
        const size_t n = linear_iterations(params, place, n_iterations, undecided);
        *n_exact = n > n_iterations / 2 ? U8_BATCHES_BEFORE_RETRY : 0;
        return n;
    }
    --*n_exact;
    for (size_t k = 0; k < n_iterations; k++)
        undecided[k] = iterations_after(place, (ptrdiff_t)(k * LANES));
    return n_iterations;
}

softqam_padded_loop SIMD_NAME(softqam_padded_loop);
softqam_loop SIMD_NAME(softqam_u8_loop);

void SIMD_NAME(softqam_u8_loop)(const softqam_loop_call *call)
{
    if (call->n_symbols < LANES) {
        SIMD_NAME(softqam_padded_loop)(call, SIMD_NAME(softqam_u8_loop), LANES, 2 * U8_AXIS_BITS, 1);
        return;
    }
    iteration_place place = {call->components, call->out};
    size_t n_iterations = call->n_symbols / LANES, n_left = call->n_symbols % LANES;
    iteration_place again[BATCH_ITERATIONS + 2];
    size_t n_again = 0;
    unsigned n_exact = 0;
    while (n_iterations > 0) {
        const size_t n = n_iterations < BATCH_ITERATIONS ? n_iterations : BATCH_ITERATIONS;
        n_again += batch_iterations(call->params, &n_exact, place, n, again + n_again);
        /* An odd iteration is left for the next batch. */
        if (n_again > 1) {
            exact_iterations(call->params, again, n_again / 2 * 2);
            again[0] = again[n_again - 1];
            n_again %= 2;
        }
        place = iterations_after(place, (ptrdiff_t)(n * LANES));
        n_iterations -= n;
        if (n_iterations == 0 && n_left > 0) {
            place = iterations_after(place, (ptrdiff_t)n_left - LANES); /* the last one goes back */
            n_iterations = 1;
            n_left = 0;
        }
    }
    if (n_again > 0) {
        again[1] = again[0];
        exact_iterations(call->params, again, 2);
    }
}
