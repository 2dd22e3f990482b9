/* SPDX-License-Identifier: MIT */
/* The sample formats by name and by file name, and the conversions from and to floating point. */
#ifndef SOFTQAM_TOOLS_COMMON_SAMPLE_FORMAT_H
#define SOFTQAM_TOOLS_COMMON_SAMPLE_FORMAT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <softqam/softqam.h>

/* IEEE-754 binary16, for which C11 has no type. */

/* Converts exactly; a NaN gives some NaN. */
static inline float binary16_to_float(uint16_t half)
{
    const uint16_t field = half & 0x7fff, infinite = 0x7c00;
    const uint32_t bits = (uint32_t)field << 13; /* as the fields of binary32, whose bias is larger by 112 */
    float magnitude;
    memcpy(&magnitude, &bits, sizeof magnitude);
    magnitude *= 0x1p112F;
    if (field >= infinite)
        magnitude = field > infinite ? NAN : INFINITY;
    return half & 0x8000 ? -magnitude : magnitude;
}

/* Rounds to the nearest, ties to even; from 65520 on 65504, infinity included, with its sign. Not for NaN. */
uint16_t binary16_from_double(double x);

/* The format of symbols in a file: one of the library's formats, or one that is converted to those. The first four are
 * the library's, by its numbers. */
enum file_format {
    FILE_CF32 = SOFTQAM_INPUT_CF32,
    FILE_CS16 = SOFTQAM_INPUT_CS16,
    FILE_CS8 = SOFTQAM_INPUT_CS8,
    FILE_CF16 = SOFTQAM_INPUT_CF16,
    FILE_CU8,      /* offset binary, 128 is 0, as rtl_sdr writes; becomes cs8, exactly */
    FILE_CS32,     /* becomes cf32, rounded once */
    FILE_CF64,     /* becomes cf32, rounded once; what is too large for that becomes infinite */
    FILE_CU8_HALF, /* cu8 whose 0 is 127.5; becomes cf32 */
    FILE_CF32_BE,  /* big endian, as the next */
    FILE_CS16_BE,
    FILE_CS32_BE,
    FILE_CF64_BE,
    N_FILE_FORMATS
};

/* A format; the members from the third on are of formats of symbols. */
struct file_format_row {
    const char *suffixes[4]; /* each without its dot is a name; messages have the first */
    int value;
    softqam_input_format library; /* what its symbols become */
    size_t symbol_nbytes;         /* in the file */
    float scale;                  /* --input-scale by default; full scale of integers is 2 (8 bits) or 4 */
    const char *datatype;         /* in SigMF; NULL for none */
};

extern const struct file_format_row file_formats[N_FILE_FORMATS];

/* Converts n symbols of a file to the library's, in place. Symbols may grow: FORMAT_ROOM bytes suffice for each. */
enum { FORMAT_ROOM = 16 };
void file_format_convert(enum file_format format, void *samples, size_t n_symbols);

/* The contents of a file of bits: an output of the library, by its numbers, or the signs of one. When the library gets
 * a format, the switch in sample_format_value() stops the build until it is here. */
enum output_kind {
    OUTPUT_S8 = SOFTQAM_OUTPUT_S8,
    OUTPUT_S16 = SOFTQAM_OUTPUT_S16,
    OUTPUT_F16 = SOFTQAM_OUTPUT_F16,
    OUTPUT_F32 = SOFTQAM_OUTPUT_F32,
    OUTPUT_U8 = SOFTQAM_OUTPUT_U8,
    OUTPUT_HARD, /* bits, 0 or 1, one a byte */
    OUTPUT_BITS  /* the same, packed: the first one highest in its byte */
};
enum { N_LIBRARY_FORMATS = OUTPUT_HARD };

/* The contents of a file: symbols that are read, or written, or values made of them. */
enum file_contents { FILE_SYMBOLS_IN, FILE_SYMBOLS_OUT, FILE_SOFT_BITS };

/* Chooses the format of a file: the one named (NULL for none), else by the suffix of `path`; cf32 or u8 if that has
 * none. An enum file_format, which for symbols that are written is a softqam_input_format, or an enum output_kind. -1
 * after it has said what is wrong: a name that is none or, if no format is named, any other suffix. */
int sample_format_choose(enum file_contents contents, const char *option, const char *named, const char *path);

/* Returns the name of what a file of bits holds. */
const char *sample_format_name(enum output_kind kind);

/* Returns a value of what the library makes, of memory that need not be aligned. Inline, so that loops over values of
 * one format do not decide which it is for each. */
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

/* Decides bits, 0 or 1, by n values; a bit of which nothing is known is 0. `bits` may be `values`. */
void sample_format_decide(softqam_output_format format, softqam_sign sign, const void *values, size_t n, uint8_t *bits);

/* Widens both components of n symbols as the library sees them: binary32 of the sample times the scale, rounded
 * once. */
void sample_format_widen(softqam_input_format format, const void *samples, size_t n_symbols, float scale,
                         float *components);

/* Quantises both components of n symbols, divided by the scale and rounded to the nearest sample (ties to even), those
 * outside the range of the format to its end. Returns how many were outside. */
uint64_t sample_format_quantise(softqam_input_format format, const double *components, size_t n_symbols, double scale,
                                void *samples);

#endif
