/* SPDX-License-Identifier: MIT */
/* A file with values for each symbol of INPUT: its noise variance, or the bits that were sent. Failures are reported on
 * standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_SIDE_FILE_H
#define SOFTQAM_TOOLS_DEMOD_SIDE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/input_file.h"
#include "symbol_source.h"

/* All zero is no file; the functions then do nothing and succeed. */
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

void side_file_close(struct side_file *side);

/* Bits that were sent, one byte 0 or 1 each, against the hard decisions. */
struct bit_comparison {
    struct side_file sent;
    uint64_t n_wrong; /* of sent.n_read */
};

/* Compares what the library made of the next n symbols. */
bool bit_comparison_add(struct bit_comparison *comparison, const char *symbols_name,
                        const softqam_demodulator_config *config, const void *values, size_t n_symbols);

#endif
