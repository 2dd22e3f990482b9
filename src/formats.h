/* SPDX-License-Identifier: MIT */
/* The formats and modulations, and what each of them is. */
#ifndef SOFTQAM_FORMATS_H
#define SOFTQAM_FORMATS_H

#include <softqam/softqam.h>

typedef struct softqam_input_kind {
    const char *name; /* for messages */
    size_t symbol_nbytes;
    float default_scale;
} softqam_input_kind;

/* Scales are far wider than of use, and narrow enough that scale / N0 never vanishes. */
typedef struct softqam_output_kind {
    const char *name;
    const char *scales; /* in steps per nat, for messages */
    size_t value_nbytes;
    float default_scale;
    float min_scale;
    float max_scale;
    int max_limit;     /* the largest llr_limit, and its default; 0: there is none. f16's is that of sums */
    float largest_llr; /* 0: llr_limit */
    float filler_end;  /* of a filler's magnitude; 0: fillers are whole numbers, of as many bits as max_limit + 1 */
} softqam_output_kind;

/* What has something for each of them takes these lists, or asserts how many they are; the compiler finds both when one
 * is added, and holds the lists against the enumerations. Formats are numbered from 0 on, modulations from 1 on. */
#define INPUT_FORMAT_LIST(X)                                                                                           \
    X(CF32, "cf32", 8, 1.0f)                                                                                           \
    X(CS16, "cs16", 4, 1.0f / 32768.0f)                                                                                \
    X(CS8, "cs8", 2, 1.0f / 128.0f)                                                                                    \
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

#define LISTED_INPUT(value, ...)       LISTED_INPUT_##value,
#define LISTED_OUTPUT(value, ...)      LISTED_OUTPUT_##value,
#define LISTED_MODULATION(value, name) LISTED_MODULATION_##value,
enum { INPUT_FORMAT_LIST(LISTED_INPUT) N_INPUT_FORMATS };
enum { OUTPUT_FORMAT_LIST(LISTED_OUTPUT) N_OUTPUT_FORMATS };
enum { MODULATION_LIST(LISTED_MODULATION) N_MODULATIONS };

/* NULL for an unknown value, and for SOFTQAM_MODULATION_DEFAULT. */
const softqam_input_kind *softqam_input_kind_of(softqam_input_format format);
const softqam_output_kind *softqam_output_kind_of(softqam_output_format format);
const char *softqam_modulation_name(softqam_modulation modulation);

#endif
