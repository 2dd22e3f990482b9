/* SPDX-License-Identifier: MIT */
/* The lists of formats and modulations; a caller's configurations, checked and completed; the parameters that loops and
 * kernels read. */
#ifndef SOFTQAM_PARAMS_H
#define SOFTQAM_PARAMS_H

#if __SIZEOF_POINTER__ != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "softqam is for 64-bit, little-endian processors"
#endif

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "tables.h"

/* Mark functions of headers that C, C++ and kernels share. The second are constant expressions in kernels, and inlined
 * on hosts, where formats are mostly constants. */
#ifdef __CUDACC__
#define HOST_AND_DEVICE    __host__ __device__
#define CONSTANT_ON_DEVICE __host__ __device__ constexpr
#else
#define HOST_AND_DEVICE
#define CONSTANT_ON_DEVICE __attribute__((always_inline))
#endif

typedef struct softqam_input_traits {
    const char *name; /* for messages */
    size_t symbol_nbytes;
    float default_scale;
} softqam_input_traits;

/* Scales may be far larger and smaller than useful ones, as long as scale / N0 does not underflow. */
typedef struct softqam_output_traits {
    const char *name;
    const char *scales; /* the range of scales, for messages */
    size_t value_nbytes;
    float default_scale;
    float min_scale;
    float max_scale;
    int max_limit;     /* the largest llr_limit, and its default; 0: llr_limit must be 0 */
    float largest_llr; /* 0: it is max_limit */
    float filler_end;  /* fillers have smaller magnitudes; 0: they are whole numbers from -1 - max_limit to max_limit */
} softqam_output_traits;

/* Code that handles every format or modulation expands these lists or asserts their length, so that a new entry does
 * not compile until it is handled. Formats are numbered from 0 on, modulations from 1 on. The columns after a value are
 * the members of the traits above. */
#define INPUT_FORMAT_LIST(X)                                                                                           \
    X(CF32, "cf32", 8, 1.0f)                                                                                           \
    X(CS16, "cs16", 4, 1.0f / 8192.0f)                                                                                 \
    X(CS8, "cs8", 2, 1.0f / 64.0f)                                                                                     \
    X(CF16, "cf16", 4, 1.0f)
#define OUTPUT_FORMAT_LIST(X)                                                                                          \
    X(S8, "s8", "2^-10 to 2^20", 1, 6.0f, 0x1p-10f, 0x1p20f, 127, 0.0f, 0.0f)                                          \
    X(S16, "s16", "2^-10 to 2^14", 2, 64.0f, 0x1p-10f, 0x1p14f, 32767, 0.0f, 0.0f)                                     \
    X(F16, "f16", "1, the only scale of this output format", 2, 1.0f, 1.0f, 1.0f, 65504, 65504.0f, 65520.0f)           \
    X(F32, "f32", "1, the only scale of this output format", 4, 1.0f, 1.0f, 1.0f, 0, FLT_MAX, INFINITY)                \
    X(U8, "u8", "1, the only scale of this output format", 1, 1.0f, 1.0f, 1.0f, 0, 0.0f, 0.0f)
#define MODULATION_LIST(X)                                                                                             \
    X(BPSK, "BPSK")                                                                                                    \
    X(PI2_BPSK, "pi/2-BPSK")                                                                                           \
    X(QPSK, "QPSK") X(16QAM, "16QAM") X(64QAM, "64QAM") X(256QAM, "256QAM") X(1024QAM, "1024QAM")

#define ONE_MORE(...) +1 /* NOLINT(bugprone-macro-parentheses): one term of a sum */
enum {
    N_INPUT_FORMATS = INPUT_FORMAT_LIST(ONE_MORE),
    N_OUTPUT_FORMATS = OUTPUT_FORMAT_LIST(ONE_MORE),
    N_MODULATIONS = MODULATION_LIST(ONE_MORE)
};

/* These return NULL for an unknown value, and for SOFTQAM_MODULATION_DEFAULT. */
const softqam_input_traits *softqam_input_traits_of(softqam_input_format format);
const softqam_output_traits *softqam_output_traits_of(softqam_output_format format);
const char *softqam_modulation_name(softqam_modulation modulation);

/* From QPSK on each modulation has one more bit an axis. */
static_assert(MAX_AXIS_BITS == N_MODULATIONS - (int)SOFTQAM_MODULATION_QPSK + 1,
              "A new modulation: raise MAX_AXIS_BITS; further assertions say where it needs tables, loops and kernels");

/* Says how a metric becomes an LLR in the output format. Plain data, for kernels too. */
typedef struct softqam_llr_rules {
    float steps_per_nat; /* negative if a positive LLR means bit 1 */
    float limit;         /* largest magnitude */
    float noise_bound;   /* llr_bounded_noise()'s, for the form of the noise values */
} softqam_llr_rules;

/* The values that a segment's zeros stand for. Plain data, for kernels too. */
typedef struct softqam_segment_defaults {
    float input_scale;
    float llr_scale;
    uint8_t modulation;
    uint8_t noise_form;
    uint8_t symbol_nbytes; /* size in the input format */
    uint8_t value_nbytes;  /* size in the output format */
    bool is_negative;      /* a positive LLR means bit 1 */
} softqam_segment_defaults;

/* The information of an LLR, in units of 2^-16 bit, by its bin: its magnitude times BINS_PER_NAT, rounded. From
 * LAST_BIN on, 14.9 nats, the information rounds to a whole bit. */
enum { BINS_PER_NAT = 16, INFORMATION_BINS = 256, LAST_BIN = 239, WHOLE_INFORMATION = 1 << 16 };

/* The information that an LLR lacks of a whole bit is INFORMATION_RADIX * high + low, for loops that look up bytes.
 * Both are bytes: 2^16 is 257 * 255 + 1, and no bin's remainder is 256. A row has 16 entries, as many as a shuffle of
 * bytes looks up. A loop takes entry index % 16 of each row up to the index's own, index / 16, and the exclusive or of
 * these is `high`, or `low`. Rows from HALF_ROWS on, whose indices are negative as signed bytes, begin anew. Indices of
 * s8 are magnitudes in steps, STEP_INDICES of them; those of other formats are bins. */
enum { INFORMATION_RADIX = 257, INFORMATION_ROWS = (LAST_BIN + 1) / 16, HALF_ROWS = 8, STEP_INDICES = 16 * HALF_ROWS };
typedef struct softqam_information_table {
    uint8_t high[INFORMATION_ROWS][16];
    uint8_t low[INFORMATION_ROWS][16];
    int n_high_rows; /* the rest have zeros */
    int n_rows;
    int last_index; /* stands for all after it */
    /* The same as words, less 2^15, for loops that look up those. Words cannot hold the first n_empty, 2^16, which are
     * 1 too small. */
    int16_t words[INFORMATION_BINS];
    int n_empty;
} softqam_information_table;

typedef struct softqam_params {
    softqam_segment_defaults defaults;
    softqam_input_format input_format;
    softqam_output_format output_format;
    softqam_noise noise;
    float llr_limit;                             /* largest magnitude of an LLR, and of a sum in a soft buffer */
    float min_noise;                             /* the floor of N0; 0 if there is none */
    float max_inverse_noise;                     /* the most 1/N0; INFINITY if there is no floor */
    uint8_t output_nbytes[N_MODULATIONS + 1];    /* size of a symbol's values, by modulation */
    const uint32_t *information;                 /* by bin */
    softqam_information_table information_table; /* by bins; s8: by steps of the demodulator's scale */
    softqam_u8_table u8_table;                   /* for u8 */
    softqam_u8_linear u8_linear;
    const softqam_llr_table *llrs[MAX_AXIS_BITS + 1]; /* for the others, by bits an axis */
} softqam_params;

/* Checks a caller's configuration, or takes the defaults if it is NULL. Replaces every zero that stands for a default;
 * context may stay NULL. */
softqam_status softqam_demodulator_config_resolve(softqam_demodulator_config *config,
                                                  const softqam_demodulator_config *settings);

/* Does the same for a context. n_threads may stay 0 and `device` -1; the arrays stay the caller's. */
softqam_status softqam_context_config_resolve(softqam_context_config *config, const softqam_context_config *settings);

/* Refuses a modulation that is unknown or does not suit a format; `field` names it in the message. */
softqam_status softqam_check_modulation(const char *field, softqam_modulation modulation, softqam_output_format format);

/* These refuse a scale that does not suit a format; 0, for the default, does. The caller has set the library's own
 * floating-point environment. */
softqam_status softqam_check_input_scale(const char *field, float input_scale);
softqam_status softqam_check_llr_scale(const char *field, float llr_scale, softqam_output_format format);

/* Makes a table from softqam_params.information, whose indices are bins_per_index bins each. */
void softqam_information_table_make(softqam_information_table *table, const uint32_t information[],
                                    float bins_per_index, int n_indices);

/* Makes the parameters of a configuration that softqam_demodulator_config_resolve() has passed. */
void softqam_params_make(softqam_params *params, const softqam_demodulator_config *config);

/* Compares bits: with subnormal numbers flushed, as a caller may have them, == takes those for 0 too. */
HOST_AND_DEVICE static inline bool softqam_is_zero(float a)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits << 1 == 0;
}

/* Returns whether all bytes of a field, which has whole words, are 0. */
static inline bool softqam_is_all_zero(const void *field, size_t nbytes)
{
    uint64_t word, bits = 0;
    for (size_t k = 0; k < nbytes; k += sizeof word) {
        __builtin_memcpy(&word, (const unsigned char *)field + k, sizeof word);
        bits |= word;
    }
    return bits == 0;
}

/* Returns whether LLRs are whole numbers of steps. */
CONSTANT_ON_DEVICE static inline bool softqam_is_in_steps(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_S8 || format == SOFTQAM_OUTPUT_S16;
}

/* Returns the size of a value. */
#define NBYTES_IF(value, name, scales, nbytes, ...) format == SOFTQAM_OUTPUT_##value ? (nbytes):
CONSTANT_ON_DEVICE static inline size_t softqam_value_nbytes(softqam_output_format format)
{
    return OUTPUT_FORMAT_LIST(NBYTES_IF) 0;
}

/* Returns the bits of an axis; 0 for BPSK and pi/2-BPSK, whose one bit rides on both axes. */
HOST_AND_DEVICE static inline int softqam_axis_bits(softqam_modulation modulation)
{
    return modulation < SOFTQAM_MODULATION_QPSK ? 0 : (int)modulation - (int)SOFTQAM_MODULATION_QPSK + 1;
}

HOST_AND_DEVICE static inline unsigned softqam_symbol_bits(softqam_modulation modulation)
{
    return modulation < SOFTQAM_MODULATION_QPSK ? 1 : 2 * (unsigned)softqam_axis_bits(modulation);
}

/* Returns whether there is a modulation of n bits a symbol. */
static inline bool softqam_is_symbol_bits(unsigned n)
{
    return n >= 1 && n <= MAX_SYMBOL_BITS && (n == 1 || n % 2 == 0);
}

/* Returns whether the output is LLRs, which noise scales, not soft bits. */
static inline bool softqam_params_have_llrs(const softqam_params *params)
{
    return params->output_format != SOFTQAM_OUTPUT_U8;
}

/* Returns the bytes of a symbol's values. */
static inline size_t softqam_params_output_nbytes(const softqam_params *params, softqam_modulation modulation)
{
    return params->output_nbytes[modulation];
}

#endif
