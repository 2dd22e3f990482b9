/* SPDX-License-Identifier: MIT */
/* The inner loops of an instruction set: what a demodulator picks its own from. All work on the calling thread, on
 * symbols that lie side by side, as pairs of floats at any address, or, where softqam_converts says so, of any format.
 *
 * Streaming: the symbols come from memory, and what comes out is stored past the caches; `out` is aligned to 64 bytes
 * then and the symbols are a multiple of softqam_cpu_variant.min_symbols. Who stores so ends with a fence
 * (streaming.h). */
#ifndef SOFTQAM_CPU_LOOPS_H
#define SOFTQAM_CPU_LOOPS_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gold.h"
#include "params.h"

/* Components of an input format to floats, times the scale, rounded once. */
typedef void softqam_convert_loop(const void *components, float scale, size_t n_components, float *to);

/* What `noise` of a loop points at: one weight for all symbols, as llr_weight() makes it, or a value a symbol, N0 or
 * 1/N0. Soft bits take none. */
typedef enum softqam_noise_kind { SOFTQAM_ONE_WEIGHT, SOFTQAM_NOISE_N0, SOFTQAM_NOISE_INVERSE } softqam_noise_kind;

enum { SOFTQAM_NOISE_KINDS = 3 };

/* For vector loops of s8 in bit planes: 2 or 4 layers. Symbol k is of layer k % n, its number k / n. */
typedef struct softqam_loop_layers {
    unsigned n; /* the loop's symbols are a multiple of it */
    const float *components[SOFTQAM_MAX_LAYERS];
    const float *noise[SOFTQAM_MAX_LAYERS];
} softqam_loop_layers;

/* What a loop is to do. */
typedef struct softqam_loop_call {
    const softqam_params *params;
    const softqam_llr_table *table; /* for LLRs, with their scale */
    softqam_llr_scale scale;
    /* BPSK: the sign that I takes at the first symbol and every other one after it, and at those between: bit 31. */
    uint32_t turn[2];
    const void *components; /* pairs of floats; or of params->input_format, times input_scale */
    bool converts;          /* the latter */
    float input_scale;
    bool has_no_small_components; /* none but zeros is below 2^-63 in magnitude */
    const float *noise;           /* softqam_noise_kind */
    size_t n_symbols;             /* softqam_cpu_variant.min_symbols at least, twice as many in bit planes */
    unsigned char *out;
    const void *ahead;   /* streaming: what is converted next, which this call asks memory for; NULL: nothing */
    size_t ahead_nbytes; /* of a symbol there */
    bool streaming;
    /* For the loops for codewords. The scrambling sequence from the first symbol on, LLRs whose bit is 1 change their
     * sign; 64 bytes more are read. NULL, of bit planes: none does. And from one bit plane to the next; 0: symbol
     * order. */
    const unsigned char *sequence;
    size_t plane_nbytes;
    const softqam_loop_layers *layers; /* NULL: components and noise */
} softqam_loop_call;

/* Soft bits or LLRs. */
typedef void softqam_loop(const softqam_loop_call *call);

/* Of functions with these names, by input format. */
#define CONVERT_LOOPS                                                                                                  \
    {                                                                                                                  \
        [SOFTQAM_INPUT_CF32] = convert_cf32, [SOFTQAM_INPUT_CS16] = convert_cs16, [SOFTQAM_INPUT_CS8] = convert_cs8,   \
        [SOFTQAM_INPUT_CF16] = convert_cf16                                                                            \
    }
_Static_assert(N_INPUT_FORMATS == 4, "CONVERT_LOOPS has one for each");

/* Of one modulation, by output and kind of noise. */
_Static_assert(N_OUTPUT_FORMATS == 5, "loops for each: here, in variant.c, llr_loops.h and portable.c");
typedef struct softqam_llr_loops {
    softqam_loop *s8_full[SOFTQAM_NOISE_KINDS]; /* where the limit is 127 */
    softqam_loop *s8[SOFTQAM_NOISE_KINDS];
    softqam_loop *s16[SOFTQAM_NOISE_KINDS];
    softqam_loop *f16[SOFTQAM_NOISE_KINDS];
    softqam_loop *f32[SOFTQAM_NOISE_KINDS];
    /* The same for codewords, which descramble and write bit planes; of noise values for each symbol only. */
    softqam_loop *codeword_s8[SOFTQAM_NOISE_KINDS];
    softqam_loop *codeword_s16[SOFTQAM_NOISE_KINDS];
    softqam_loop *codeword_f16[SOFTQAM_NOISE_KINDS];
    softqam_loop *codeword_f32[SOFTQAM_NOISE_KINDS];
} softqam_llr_loops;

/* n items of 2, 4 or 8 bytes of each of 2 to 4 layers, side by side, one of each layer in turn. */
typedef void softqam_interleave_loop(const unsigned char *const from[], size_t n_layers, size_t nbytes, size_t n,
                                     void *to);

/* When loops convert symbols themselves. All of soft bits, which take little longer than reading and writing; of f32,
 * the longest output, those of so many bits a symbol when they stream, where each symbol's LLRs lie together in the
 * order that they were sent in. */
typedef enum softqam_converts {
    SOFTQAM_CONVERTS_NEVER,
    SOFTQAM_CONVERTS_STREAMED,
    SOFTQAM_CONVERTS_ALWAYS
} softqam_converts;

enum { CONVERTED_BITS = 8 };

/* Whether with this input scale no LLR tells a subnormal component from zero: it stays below 2^-63, and the scale is no
 * subnormal number itself. By its bits 0, which stands for the demodulator's, is told from those in every mode. */
static inline bool softqam_is_scale_for_flushing(float scale)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return bits == 0 || (scale >= FLT_MIN && scale <= 0x1p62f);
}

/* A demodulator's choice. */
typedef struct softqam_cpu_loops {
    softqam_convert_loop *convert;
    softqam_loop *const *by_noise[MAX_AXIS_BITS + 1]; /* by bits an axis, and by kind of noise */
    softqam_loop *const *codeword[MAX_AXIS_BITS + 1]; /* likewise; NULL for soft bits */
    softqam_gold_loops gold;
    softqam_interleave_loop *interleave;
    size_t min_symbols;
    softqam_converts converts;
    bool flushes_subnormals; /* its loops want them flushed to zero, and are right then */
} softqam_cpu_loops;

#endif
