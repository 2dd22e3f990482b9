/* SPDX-License-Identifier: MIT */
/* What the formats are: the public queries. */
#include <softqam/softqam.h>

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

size_t softqam_output_symbol_nbytes(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_U8:
    case SOFTQAM_OUTPUT_S8:
        return 8;
    case SOFTQAM_OUTPUT_F16:
        return 16;
    case SOFTQAM_OUTPUT_F32:
        return 32;
    }
    return 0;
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
