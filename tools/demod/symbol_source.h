/* SPDX-License-Identifier: MIT */
/* The symbols that are demodulated: those of INPUT, or a part of them, as the library takes them. Failures are reported
 * on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_SYMBOL_SOURCE_H
#define SOFTQAM_TOOLS_DEMOD_SYMBOL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/input_file.h"
#include "common/sample_format.h"
#include "common/sigmf.h"

struct symbol_source {
    struct input_file file;
    const struct sigmf_input *recording; /* that the file belongs to; all zero for none */
    enum file_format format;
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

bool symbol_source_open(struct symbol_source *source, const char *path, enum file_format format,
                        const struct sigmf_input *recording);

/* Leaves out the first `skip` symbols, and counts the others. */
bool symbol_source_start(struct symbol_source *source, uint64_t skip);

/* Leaves only n symbols from the one with index `first` on; UINT64_MAX: all. */
bool symbol_source_select(struct symbol_source *source, uint64_t first, uint64_t n_symbols);

/* The first symbols, no more than n, of all that symbol_source_read() will give. Once only. */
bool symbol_source_peek(struct symbol_source *source, void *symbols, size_t n, size_t *n_read);

/* The next symbols, no more than n, for a buffer of n symbols of the file: those that have arrived, more where the
 * taker is busy. *is_end says whether they are the last. False after a failure, before which there may be some. */
bool symbol_source_read(struct symbol_source *source, void *symbols, size_t n, const struct input_taker *taker,
                        size_t *n_read, bool *is_end);

void symbol_source_close(struct symbol_source *source);

#endif
