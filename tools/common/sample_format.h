/* SPDX-License-Identifier: MIT */
/* The sample formats by name and by file name, and the conversions from and to floating point. */
#ifndef SOFTQAM_TOOLS_COMMON_SAMPLE_FORMAT_H
#define SOFTQAM_TOOLS_COMMON_SAMPLE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <softqam/softqam.h>

#include "binary16.h"

/* How symbols lie in a file: in one of the library's formats, or in one that is converted to those. The first four are
 * the library's, by its numbers. */
enum file_format {
    FILE_CF32 = SOFTQAM_INPUT_CF32,
    FILE_CS16 = SOFTQAM_INPUT_CS16,
    FILE_CS8 = SOFTQAM_INPUT_CS8,
    FILE_CF16 = SOFTQAM_INPUT_CF16,
    FILE_CU8,  /* offset binary, 128 is 0, as rtl_sdr writes; becomes cs8, exactly */
    FILE_CS32, /* becomes cf32, rounded once */
    FILE_CF64  /* becomes cf32, rounded once; what is too large for that becomes infinite */
};

/* The largest symbol of a file. */
enum { FILE_SYMBOL_MAX_NBYTES = 16 };

/* What its symbols become. */
softqam_input_format file_format_library(enum file_format format);

/* Bytes of a symbol in the file, never less than of what it becomes. */
size_t file_format_symbol_nbytes(enum file_format format);

/* The factor that full scale, or 1 of a float, takes to 1. */
float file_format_default_scale(enum file_format format);

/* Reverses the byte order of n symbols. */
void file_format_swap(enum file_format format, void *samples, size_t n_symbols);

/* Converts n symbols of the file to the library's, in place. */
void file_format_convert(enum file_format format, void *samples, size_t n_symbols);

/* What the first bytes of a file look like that holds more than samples, and how to get at those; NULL for nothing
 * known.
 */
const char *file_format_foreign(const void *bytes, size_t nbytes);

/* The library's formats of LLRs, each with its name. Tables of formats are made from this list; when the library gets a
 * format, the switch in sample_format_output_name() stops the build until it is here. */
#define LLR_FORMAT_LIST(X) X(S8, "s8") X(S16, "s16") X(F16, "f16") X(F32, "f32")

/* What a file of bits holds: what the library makes, or the signs of that. The numbers are not the library's. */
/* clang-format off */
#define OUTPUT_KIND(value, name) OUTPUT_##value,
enum output_kind {
    OUTPUT_U8,
    LLR_FORMAT_LIST(OUTPUT_KIND)
    OUTPUT_HARD, /* bits, 0 or 1, one a byte */
    OUTPUT_BITS, /* the same, packed: the first one highest in its byte */
    N_OUTPUT_KINDS
};
#undef OUTPUT_KIND
enum { N_LIBRARY_FORMATS = OUTPUT_HARD };
/* clang-format on */

/* What a file holds: symbols that are read, or written, or what is made of them. */
enum file_contents { FILE_SYMBOLS_IN, FILE_SYMBOLS_OUT, FILE_SOFT_BITS };

/* The format of a file: the one named (NULL for none), else by the suffix of `path`; cf32 or u8 where that has none
 * (file_name_suffix()) or, with any_suffix, one that is unknown. An enum file_format, which for symbols that are
 * written is a softqam_input_format, or an enum output_kind. -1 after it has said what is wrong: a name that is none
 * or, where no format is named, any other suffix. */
int sample_format_choose(enum file_contents contents, const char *option, const char *named, const char *path);

/* The names of what a file of bits holds, of a file of symbols, and of what the library makes. */
const char *sample_format_name(enum output_kind kind);
const char *sample_format_input_name(enum file_format format);
const char *sample_format_output_name(softqam_output_format format);

/* What the library makes for a file of bits; for signs, which are the same in all formats, LLRs. */
softqam_output_format sample_format_library(enum output_kind kind);

/* A value of what the library makes, of memory that need not be aligned. Inline, so that loops over values of one
 * format do not decide which it is for each. */
static inline double sample_format_value(softqam_output_format format, const void *values, size_t index)
{
    const unsigned char *bytes = values;
    uint16_t word;
    float single;
    switch (format) {
    case SOFTQAM_OUTPUT_U8:
        return bytes[index];
    case SOFTQAM_OUTPUT_S8:
        return (int8_t)bytes[index];
    case SOFTQAM_OUTPUT_S16:
        memcpy(&word, bytes + 2 * index, sizeof word);
        return (int16_t)word;
    case SOFTQAM_OUTPUT_F16:
        memcpy(&word, bytes + 2 * index, sizeof word);
        return (double)binary16_to_float(word);
    case SOFTQAM_OUTPUT_F32:
        memcpy(&single, bytes + 4 * index, sizeof single);
        return (double)single;
    }
    return 0;
}

/* Both components of n symbols as the library sees them: binary32 of the sample times the scale, rounded once. */
void sample_format_widen(softqam_input_format format, const void *samples, size_t n_symbols, float scale,
                         float *components);

/* Both components of n symbols, divided by the scale and rounded to the nearest sample (ties to even), those outside
 * the range of the format to its end. Returns how many were outside. */
uint64_t sample_format_quantise(softqam_input_format format, const double *components, size_t n_symbols, double scale,
                                void *samples);

#endif
