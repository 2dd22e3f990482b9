/* SPDX-License-Identifier: MIT */
/* The interface of the inner loops. All work on the calling thread, on symbols that lie side by side, as pairs of
 * floats at any address. */
#ifndef SOFTQAM_CPU_LOOPS_H
#define SOFTQAM_CPU_LOOPS_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gold.h"
#include "params.h"
#include "soft_buffer.h"

/* Converts components of an input format, an even number, to floats, times the scale, rounded once. The floats up to
 * the next multiple of 16 may be overwritten. */
typedef void softqam_convert_loop(const void *components, float scale, size_t n_components, float *to);

/* Says what `noise` of a loop points at: one weight for all symbols, as llr_weight() makes it, or a value a symbol, N0
 * or 1/N0, without gains or with a gain for each symbol. Soft bits take none. */
typedef enum softqam_noise_kind {
    SOFTQAM_ONE_WEIGHT,
    SOFTQAM_EACH_N0,
    SOFTQAM_EACH_INVERSE,
    SOFTQAM_GAINS_N0,
    SOFTQAM_GAINS_INVERSE,
    /* Internal to vector loops: a weight for each symbol. With SOFTQAM_ERASED_WEIGHTS there are erasures, whose
     * weight is 0. */
    SOFTQAM_WEIGHTS,
    SOFTQAM_ERASED_WEIGHTS
} softqam_noise_kind;

static inline bool softqam_has_gains(softqam_noise_kind kind)
{
    return kind == SOFTQAM_GAINS_N0 || kind == SOFTQAM_GAINS_INVERSE;
}

static inline bool softqam_is_noise_n0(softqam_noise_kind kind)
{
    return kind == SOFTQAM_EACH_N0 || kind == SOFTQAM_GAINS_N0;
}

/* Orders of LLRs: symbol by symbol; the same, descrambled; or de-interleaved to a plane for each bit of a symbol, and
 * descrambled if there is a sequence. */
typedef enum softqam_llr_layout {
    SOFTQAM_LLRS_IN_ORDER,
    SOFTQAM_LLRS_DESCRAMBLED,
    SOFTQAM_LLRS_IN_PLANES,
    SOFTQAM_LLR_LAYOUTS
} softqam_llr_layout;

/* Tells a loop what to do. */
typedef struct softqam_loop_call {
    const softqam_params *params;
    size_t n_symbols; /* 1 at least */
    const void *components;
    unsigned char *out;
    /* The rest is for LLRs; soft bits do not use it. */
    const softqam_llr_table *table;
    softqam_llr_rules rules;
    softqam_noise_kind noise_kind;
    const float *noise;
    const float *gains;
    uint32_t i_flips[2]; /* BPSK: bit 31 changes the sign of I, [0]'s of symbols 0, 2, .., [1]'s of symbols 1, 3, .. */
    /* The scrambling sequence from the first symbol on: LLRs whose bit is 1 change their sign. 64 bytes more are read.
     * NULL: none does. Loops for SOFTQAM_LLRS_DESCRAMBLED have one. */
    const unsigned char *sequence;
    /* Each plane's distance from the first one, which is at `out`, in bytes; NULL in other layouts, by which portable
     * loops know them. */
    const ptrdiff_t *planes;
    bool *left_fast_path; /* NULL, or set by a vector loop that leaves the fast path */
    bool begins_exact;    /* a vector loop tries the fast path with its first few symbols only */
} softqam_loop_call;

/* Soft bits or LLRs. */
typedef void softqam_loop(const softqam_loop_call *call);

/* Demodulates fewer symbols than an iteration takes: `loop` gets n_iteration of them. Internal to vector loops. */
typedef void softqam_padded_loop(const softqam_loop_call *call, softqam_loop *loop, size_t n_iteration, size_t n_bits,
                                 size_t value_nbytes);

/* Says which loop takes symbols that have been divided by their gains. */
typedef struct softqam_divided_call {
    softqam_loop *loop;
    const softqam_loop_call *call; /* with gains */
    float scale;                   /* scale of weights, which have its sign */
    size_t n_bits;                 /* bits of a symbol */
    size_t symbol_nbytes;          /* from a symbol's first LLR to the next symbol's */
} softqam_divided_call;

/* Ways to divide: the last batch's, and the one that the next batch tries first. Both begin as 0. */
typedef struct softqam_division_ways {
    unsigned last;
    unsigned next;
} softqam_division_ways;

/* Demodulates n symbols of a call from symbol `first` on, a multiple of 8. Internal to vector loops. */
typedef void softqam_divided_loop(const softqam_divided_call *divided, softqam_division_ways *ways, size_t first,
                                  size_t n_symbols);

/* The tables for the information of LLRs, and how many bins a unit of an LLR has. */
typedef struct softqam_information {
    const softqam_information_table *table;
    const uint32_t *of_bins;
    float bins_per_unit;
    softqam_output_format format;
    size_t value_nbytes;
} softqam_information;

struct softqam_levels; /* in arithmetic_energies.h */

/* The loops of statistics. */
typedef struct softqam_count_loops {
    /* Returns how many LLRs have the limit's magnitude: an integer, or the bits of a float. */
    uint64_t (*limited)(softqam_output_format format, const unsigned char *values, size_t n, uint32_t limit);
    /* Sets the least and the largest of n values, by their bits: anything negative or not finite is large. */
    void (*find_range)(const float *values, size_t n, uint32_t range[2]);
    /* Adds the energies of the errors and of the symbols of groups, each of which is sampled, to the sums. */
    void (*add_energies)(const struct softqam_levels *levels, const float *symbols, size_t n_groups, uint64_t sums[2]);
    /* Returns the information of such groups of n LLRs, a multiple of SAMPLE_SYMBOLS. */
    uint64_t (*information)(const softqam_information *information, const unsigned char *values, size_t n,
                            size_t n_groups);
} softqam_count_loops;

/* The loops of one modulation, by format and layout. BPSK's bit has no planes. */
typedef struct softqam_llr_loops {
    softqam_loop *by_format[N_OUTPUT_FORMATS][SOFTQAM_LLR_LAYOUTS];
} softqam_llr_loops;

/* Gathers n rounds of items of 1, 2, 4 or 8 bytes side by side. A round takes one item of each source; items of a
 * source lie `stride` items apart. */
enum { SOFTQAM_MAX_SOURCES = 2 * SOFTQAM_MAX_LAYERS };
typedef void softqam_gather_loop(const unsigned char *const from[], size_t n_sources, size_t nbytes, size_t stride,
                                 size_t n, void *to);

/* `convert` is indexed by input format. */
typedef struct softqam_input_loops {
    softqam_convert_loop *convert[N_INPUT_FORMATS];
    softqam_gather_loop *gather;
} softqam_input_loops;

/* Returns whether subnormal components may be flushed without changing an LLR: the scale is normal and at most 2^62.
 * With gains, by which components are divided, no component may become subnormal: one of cf32 is not scaled, and the
 * least of other formats is 2^-24. A product that rounds to the least normal number would be flushed. It compares bits,
 * so that 0, which stands for the demodulator's scale, differs from subnormal numbers in every mode. */
static inline bool softqam_is_scale_for_flushing(softqam_input_format format, float scale, bool has_gains)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    if (has_gains && format == SOFTQAM_INPUT_CF32)
        return scale == 1.0f;
    return bits == 0 || (scale >= (has_gains ? 0x1p-102f : FLT_MIN) && scale <= 0x1p62f);
}

struct softqam_joint_loops; /* joint_loops.h */

/* A demodulator's choice. */
typedef struct softqam_cpu_loops {
    softqam_convert_loop *convert;
    softqam_loop *const *by_layout[MAX_AXIS_BITS + 1]; /* by bits an axis; soft bits have one layout */
    softqam_gold_loops gold;
    softqam_gather_loop *gather;
    softqam_soft_add *add; /* NULL for soft bits */
    const softqam_count_loops *count;
    const struct softqam_joint_loops *joint[MAX_AXIS_BITS + 1]; /* by bits an axis */
    size_t min_joint_symbols;                                   /* the fewest that these take */
    bool is_vector[MAX_AXIS_BITS + 1]; /* by bits an axis: the loops are not the portable ones */
    bool flushes_subnormals;           /* vector loops want them flushed to zero, and are right then */
} softqam_cpu_loops;

#endif
