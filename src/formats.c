/* SPDX-License-Identifier: MIT */
/* What the formats and modulations are. */
#include "formats.h"

#define INPUT_NAME(value, name)                                                                                        \
    case SOFTQAM_INPUT_##value:                                                                                        \
        return name;
#define OUTPUT_NAME(value, name)                                                                                       \
    case SOFTQAM_OUTPUT_##value:                                                                                       \
        return name;
#define MODULATION_NAME(value, name)                                                                                   \
    case SOFTQAM_MODULATION_##value:                                                                                   \
        return name;

const char *softqam_input_name(softqam_input_format format)
{
    switch (format) {
        INPUT_FORMAT_LIST(INPUT_NAME)
    }
    return NULL;
}

const char *softqam_output_name(softqam_output_format format)
{
    switch (format) {
        OUTPUT_FORMAT_LIST(OUTPUT_NAME)
    }
    return NULL;
}

const char *softqam_modulation_name(softqam_modulation modulation)
{
    switch (modulation) {
    case SOFTQAM_MODULATION_DEFAULT:
        break;
        MODULATION_LIST(MODULATION_NAME)
    }
    return NULL;
}

unsigned softqam_bits_per_symbol(softqam_modulation modulation)
{
    switch (modulation) {
    case SOFTQAM_MODULATION_BPSK:
    case SOFTQAM_MODULATION_PI2_BPSK:
        return 1;
    case SOFTQAM_MODULATION_QPSK:
        return 2;
    case SOFTQAM_MODULATION_16QAM:
        return 4;
    case SOFTQAM_MODULATION_64QAM:
        return 6;
    case SOFTQAM_MODULATION_DEFAULT:
    case SOFTQAM_MODULATION_256QAM:
        return 8;
    case SOFTQAM_MODULATION_1024QAM:
        return 10;
    }
    return 0;
}

size_t softqam_input_symbol_nbytes(softqam_input_format format)
{
    switch (format) {
    case SOFTQAM_INPUT_CF32:
        return 8;
    case SOFTQAM_INPUT_CS16:
    case SOFTQAM_INPUT_CF16:
        return 4;
    case SOFTQAM_INPUT_CS8:
        return 2;
    }
    return 0;
}

static size_t value_nbytes(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_U8:
    case SOFTQAM_OUTPUT_S8:
        return 1;
    case SOFTQAM_OUTPUT_S16:
    case SOFTQAM_OUTPUT_F16:
        return 2;
    case SOFTQAM_OUTPUT_F32:
        return 4;
    }
    return 0;
}

size_t softqam_output_nbytes(softqam_output_format format, softqam_modulation modulation, size_t n_symbols)
{
    size_t nbytes;
    if (__builtin_mul_overflow(n_symbols, softqam_bits_per_symbol(modulation) * value_nbytes(format), &nbytes))
        return 0;
    return nbytes;
}

float softqam_input_default_scale(softqam_input_format format)
{
    switch (format) {
    case SOFTQAM_INPUT_CF32:
    case SOFTQAM_INPUT_CF16:
        return 1.0f;
    case SOFTQAM_INPUT_CS16:
        return 1.0f / 32768.0f;
    case SOFTQAM_INPUT_CS8:
        return 1.0f / 128.0f;
    }
    return 0.0f;
}
