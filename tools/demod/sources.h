/* SPDX-License-Identifier: MIT */
/* What is read: the symbols that are demodulated, which are those of INPUT or a part of them, and files with values for
 * each of these symbols. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_SOURCES_H
#define SOFTQAM_TOOLS_DEMOD_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/input_file.h"
#include "common/sample_format.h"

struct symbol_source {
    struct input_file file;
    enum file_format format;
    bool is_big_endian;
    bool ignores_partial;  /* what follows the last whole symbol is left out, and not an error */
    size_t nbytes;         /* of a symbol in the file */
    int64_t n_symbols;     /* of the part that is read; -1 when not known beforehand */
    uint64_t first_symbol; /* of that part, from the start of what --skip leaves */
    bool is_at_start;      /* of a plain file */
    const char *foreign;   /* what the file begins like, if that is not plain samples; else NULL */
    size_t n_ignored;      /* bytes of a partial symbol that is left out, whichever part is read */
    unsigned char rest[FILE_SYMBOL_MAX_NBYTES];
    size_t n_rest; /* bytes of a symbol of which the others have not arrived */
};

/* Opens the file of a description that has all but the file, and counts the symbols, of which the first `skip` are left
 * out; in two steps, between which nothing is lost. */
bool symbol_source_open(struct symbol_source *source, const char *path);
bool symbol_source_start(struct symbol_source *source, uint64_t skip);

/* Leaves only n symbols from the one with index `first` on; UINT64_MAX: all. */
bool symbol_source_select(struct symbol_source *source, uint64_t first, uint64_t n_symbols);

/* The first symbols, no more than n, of all that symbol_source_read() will give, as the library takes them. Once only.
 */
bool symbol_source_peek(struct symbol_source *source, void *symbols, size_t n, size_t *n_read);

/* The next symbols, no more than n, for a buffer of n symbols of the file: those that have arrived, more where the
 * taker is busy. *is_end says whether they are the last. False after a failure, before which there may be some. */
bool symbol_source_read(struct symbol_source *source, void *symbols, size_t n, const struct input_taker *taker,
                        size_t *n_read, bool *is_end);

/* A file with values for each symbol of INPUT: its noise variance, or the bits that were sent. All zero is no file; the
 * functions then do nothing and succeed. */
struct side_file {
    struct input_file file;
    const char *item;  /* the noun for a value; NULL where there is no file */
    unsigned n_values; /* of a symbol */
    size_t value_nbytes;
    uint64_t n_read; /* values */
};

/* No path, NULL, is no file. */
bool side_file_open(struct side_file *side, const char *path, const char *item, unsigned n_values, size_t value_nbytes);

/* Leaves out the values of the first `skip` symbols. Whether there is one for each of the others, where the number of
 * both is known beforehand. */
bool side_file_start(struct side_file *side, const struct symbol_source *symbols, uint64_t skip);

/* Leaves only those of n symbols from the one with index `first` on. */
bool side_file_select(struct side_file *side, uint64_t first, uint64_t n_symbols);

/* The next n values, which belong to the symbols of the file of that name. */
bool side_file_read(struct side_file *side, const char *symbols_name, void *values, size_t n);

/* Whether the file ends where the symbols do. */
bool side_file_end(struct side_file *side, const char *symbols_name);

/* Bits that were sent, one byte 0 or 1 each, against the hard decisions. */
struct bit_comparison {
    struct side_file sent;
    uint64_t n_wrong; /* of sent.n_read */
};

/* Compares what the library made of the next n symbols. */
bool bit_comparison_add(struct bit_comparison *comparison, const char *symbols_name,
                        const softqam_demodulator_config *config, const void *values, size_t n_symbols);

#endif
