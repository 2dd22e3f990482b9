/* SPDX-License-Identifier: MIT */
/* --compare: the hard decisions against a file of the bits that were sent, one byte 0 or 1 each. Failures are reported
 * on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_BIT_COMPARISON_H
#define SOFTQAM_TOOLS_DEMOD_BIT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/input_file.h"
#include "symbol_source.h"

/* All zero compares nothing. */
struct bit_comparison {
    bool is_wanted;
    struct input_file file;
    unsigned n_bits; /* of a symbol */
    uint64_t n_compared, n_wrong;
};

/* No path, NULL, compares nothing. */
bool bit_comparison_open(struct bit_comparison *comparison, const char *path, unsigned bits_per_symbol);

/* Leaves out the bits of the first `skip` symbols. Whether there is one for each bit of the others, where the number of
 * both is known beforehand. */
bool bit_comparison_start(struct bit_comparison *comparison, const struct symbol_source *symbols, uint64_t skip);

/* Leaves out all but those of the next `count` symbols. */
bool bit_comparison_limit(struct bit_comparison *comparison, uint64_t count);

/* Only those of n symbols from the one with index `first` on, of a file whose size is known. */
bool bit_comparison_choose_part(struct bit_comparison *comparison, uint64_t first, uint64_t n_symbols);

/* Compares what the library made of the next n symbols. */
bool bit_comparison_add(struct bit_comparison *comparison, const softqam_demodulator_config *config, const void *values,
                        size_t n_symbols);

/* Whether the file ends where the symbols do. */
bool bit_comparison_end(struct bit_comparison *comparison);

void bit_comparison_close(struct bit_comparison *comparison);

#endif
