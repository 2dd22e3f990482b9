/* SPDX-License-Identifier: MIT */
/* Where the noise variances N0 of the symbols come from. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_NOISE_SOURCE_H
#define SOFTQAM_TOOLS_NOISE_SOURCE_H

#include "input_file.h"

#include <softqam/softqam.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum noise_kind {
    NOISE_NONE,  /* none is taken */
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
    struct input_file file; /* NOISE_FILE, like the next two */
    float *values;          /* room for those of a block; the caller's */
    uint64_t n_read;
};

bool noise_source_open(struct noise_source *source, enum noise_kind kind, double noise_var, const char *path);

/* Whether a file holds one value for each of the symbols, where the number of both is known beforehand. */
bool noise_source_fits(const struct noise_source *source, const struct input_file *symbols, size_t symbol_nbytes);

/* The noise variances of the next n symbols: *noise_var is as softqam_demodulate() takes it. */
bool noise_source_next(struct noise_source *source, const struct input_file *symbols, const softqam_config *config,
                       const void *samples, size_t n_symbols, const float **noise_var);

/* Whether a file ends where the symbols do. */
bool noise_source_end(struct noise_source *source, const struct input_file *symbols);

void noise_source_close(struct noise_source *source);

#endif
