/* SPDX-License-Identifier: MIT */
/* Sample formats: their names and suffixes, and conversions to and from floating point. */
#ifndef SOFTQAM_TOOLS_COMMON_SAMPLE_FORMAT_H
#define SOFTQAM_TOOLS_COMMON_SAMPLE_FORMAT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <softqam/softqam.h>

/* IEEE-754 binary16, for which C11 has no type. */

/* Converts exactly; a NaN gives a NaN. */
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

/* Rounds to nearest even. A magnitude of 65520 or more, even infinity, gives 65504 with its sign. x must not be NaN. */
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
    FILE_CF64,     /* becomes cf32, rounded once; too large numbers become infinite */
    FILE_CU8_HALF, /* offset binary, 127.5 is 0; becomes cf32 */
    FILE_CF32_BE,  /* these are big-endian */
    FILE_CS16_BE,
    FILE_CS32_BE,
    FILE_CF64_BE,
    N_FILE_FORMATS
};

/* A format. Only formats of symbols have the members after `value`. */
struct file_format_row {
    const char *suffixes[4]; /* each is a name too, without its dot; messages use the first */
    int value;
    softqam_input_format library; /* what its symbols become */
    size_t symbol_nbytes;         /* in the file */
    float scale;                  /* --input-scale by default; full scale of integers is 2 (8 bits) or 4 */
    const char *datatype;         /* core:datatype of SigMF; NULL: none */
};

extern const struct file_format_row file_formats[N_FILE_FORMATS];

/* Converts n symbols of a file to the library's format, in place. Symbols may grow, to FORMAT_ROOM bytes at most. */
enum { FORMAT_ROOM = 16 };
void file_format_convert(enum file_format format, void *samples, size_t n_symbols);

/* The formats of OUTPUT: those of the library, with the same numbers, and hard decisions. A new format of the library
 * stops the build at the switch in sample_format_value() until it is added here. */
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

/* The contents of a file: symbols to read, symbols to write, or soft bits, LLRs or decisions. */
enum file_contents { FILE_SYMBOLS_IN, FILE_SYMBOLS_OUT, FILE_SOFT_BITS };

/* Chooses the format of a file: the one named, or if `named` is NULL that of the suffix of `path`, or if it has no
 * suffix cf32 or u8. Returns an enum file_format (for symbols to write, one of the library's) or an enum output_kind;
 * -1 after a message if the name or, without a name, the suffix is unknown. */
int sample_format_choose(enum file_contents contents, const char *option, const char *named, const char *path);

/* Returns the name of a format of OUTPUT. */
const char *sample_format_name(enum output_kind kind);

/* Returns a value that the library has written; `values` may be unaligned. Inline, so that loops over values of one
 * format do not switch in each iteration. */
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

/* Makes hard decisions, 0 or 1, from n values; an undecided one is 0. `bits` may be `values`. */
void sample_format_decide(softqam_output_format format, softqam_sign sign, const void *values, size_t n, uint8_t *bits);

/* Widens both components of n symbols as the library sees them: binary32 of the sample times the scale, rounded
 * once. */
void sample_format_widen(softqam_input_format format, const void *samples, size_t n_symbols, float scale,
                         float *components);

/* Divides both components of n symbols by the scale, rounds them to nearest even, and clips them to the format's range.
 * Returns how many were clipped. */
uint64_t sample_format_quantise(softqam_input_format format, const double *components, size_t n_symbols, double scale,
                                void *samples);

#endif
