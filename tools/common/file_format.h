/* SPDX-License-Identifier: MIT */
/* How symbols lie in a file: in one of the library's formats, or in one that is converted to those. */
#ifndef SOFTQAM_TOOLS_COMMON_FILE_FORMAT_H
#define SOFTQAM_TOOLS_COMMON_FILE_FORMAT_H

#include <stddef.h>

#include <softqam/softqam.h>

/* The first four are the library's, by its numbers. */
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

#endif
