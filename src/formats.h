/* SPDX-License-Identifier: MIT */
/* The lists of formats and modulations. */
#ifndef SOFTQAM_FORMATS_H
#define SOFTQAM_FORMATS_H

#include <softqam/softqam.h>

/* Each with its name for messages. What has something for each of them takes these lists, or asserts how many they are;
 * the compiler finds both when one is added. Formats are numbered from 0 on, modulations from 1 on. */
#define INPUT_FORMAT_LIST(X)  X(CF32, "cf32") X(CS16, "cs16") X(CS8, "cs8") X(CF16, "cf16")
#define OUTPUT_FORMAT_LIST(X) X(S8, "s8") X(S16, "s16") X(F16, "f16") X(F32, "f32") X(U8, "u8")
#define MODULATION_LIST(X)                                                                                             \
    X(BPSK, "BPSK")                                                                                                    \
    X(PI2_BPSK, "pi/2-BPSK")                                                                                           \
    X(QPSK, "QPSK") X(16QAM, "16QAM") X(64QAM, "64QAM") X(256QAM, "256QAM") X(1024QAM, "1024QAM")

#define LISTED_INPUT(value, name)      LISTED_INPUT_##value,
#define LISTED_OUTPUT(value, name)     LISTED_OUTPUT_##value,
#define LISTED_MODULATION(value, name) LISTED_MODULATION_##value,
enum { INPUT_FORMAT_LIST(LISTED_INPUT) N_INPUT_FORMATS };
enum { OUTPUT_FORMAT_LIST(LISTED_OUTPUT) N_OUTPUT_FORMATS };
enum { MODULATION_LIST(LISTED_MODULATION) N_MODULATIONS };

/* Their names: switches, which the compiler holds against the enumerations. NULL for an unknown value. */
const char *softqam_input_name(softqam_input_format format);
const char *softqam_output_name(softqam_output_format format);
const char *softqam_modulation_name(softqam_modulation modulation);

#endif
