/* SPDX-License-Identifier: MIT */
/* Where the noise variances N0 of the symbols come from. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_NOISE_SOURCE_H
#define SOFTQAM_TOOLS_DEMOD_NOISE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/input_file.h"
#include "symbol_source.h"

enum noise_kind {
    NOISE_NONE,  /* none is taken */
    NOISE_UNIT,  /* 1, because any would do */
    NOISE_VALUE, /* one for all */
    NOISE_AUTO,  /* one for all, estimated from the first symbols */
    NOISE_FILE   /* one a symbol */
};

/* An estimate takes no more symbols than this, so that it is made before anything else and can be made in a pipe. */
#define NOISE_AUTO_SYMBOLS ((size_t)262144)

/* All zero is a source of none. */
struct noise_source {
    enum noise_kind kind;
    float noise_var;        /* NOISE_VALUE; NOISE_AUTO, 0 before the estimate */
    uint64_t n_estimated;   /* NOISE_AUTO: symbols that the estimate is from */
    struct input_file file; /* NOISE_FILE, like the next */
    uint64_t n_read;        /* values */
};

bool noise_source_open(struct noise_source *source, enum noise_kind kind, double noise_var, const char *path);

/* NOISE_FILE: leaves out the values of the first `skip` symbols. Whether there is one for each of the others, where the
 * number of both is known beforehand. */
bool noise_source_start(struct noise_source *source, const struct symbol_source *symbols, uint64_t skip);

/* NOISE_FILE: leaves out all but those of the next `count` symbols. */
bool noise_source_limit(struct noise_source *source, uint64_t count);

/* Only the values of n symbols from the one with index `first` on, of a file whose size is known. */
bool noise_source_choose_part(struct noise_source *source, uint64_t first, uint64_t n_symbols);

/* NOISE_FILE: the values of the next n symbols, which are of the file of that name. */
bool noise_source_read(struct noise_source *source, const char *symbols_name, float *values, size_t n_symbols);

/* NOISE_FILE: whether it ends where the symbols do. */
bool noise_source_end(struct noise_source *source, const char *symbols_name);

/* NOISE_AUTO: the estimate, from the first n symbols, of which the first has this position in the codeword. Without any
 * there is none. */
bool noise_source_estimate(struct noise_source *source, const char *symbols_name,
                           const softqam_demodulator_config *config, uint64_t position, const void *symbols,
                           size_t n_symbols);

/* The noise variances as softqam_demodulate() takes them, for symbols whose values, with NOISE_FILE, these are. */
const float *noise_source_get(const struct noise_source *source, const float *values);

void noise_source_close(struct noise_source *source);

#endif
