/* SPDX-License-Identifier: MIT */
/* Where the noise variances N0 of the symbols come from. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_NOISE_SOURCE_H
#define SOFTQAM_TOOLS_DEMOD_NOISE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "common/input_file.h"

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
    struct input_file file; /* NOISE_FILE, like the next */
    uint64_t n_read;        /* values */
};

bool noise_source_open(struct noise_source *source, enum noise_kind kind, double noise_var, const char *path);

/* Whether a file holds one value for each of the symbols, where the number of both is known beforehand. */
bool noise_source_fits(const struct noise_source *source, const struct input_file *symbols, size_t symbol_nbytes);

/* Only the values of n symbols from the one with index `first` on. Of a file that noise_source_fits() knew the size of.
 */
bool noise_source_choose_part(struct noise_source *source, uint64_t first, uint64_t n_symbols);

/* NOISE_FILE: the values of the next n symbols. */
bool noise_source_read(struct noise_source *source, const struct input_file *symbols, float *values, size_t n_symbols);

/* NOISE_FILE: whether it ends where the symbols do. */
bool noise_source_end(struct noise_source *source, const struct input_file *symbols);

/* NOISE_AUTO: the estimate, from the first n symbols, those beyond NOISE_AUTO_SYMBOLS left out. */
bool noise_source_estimate(struct noise_source *source, const struct input_file *symbols, const softqam_config *config,
                           const void *samples, size_t n_symbols);

/* *noise_var as softqam_demodulate() takes it, for symbols whose values, with NOISE_FILE, these are. With NOISE_AUTO
 * makes the estimate where there is none. */
bool noise_source_get(struct noise_source *source, const struct input_file *symbols, const softqam_config *config,
                      const void *samples, const float *values, size_t n_symbols, const float **noise_var);

void noise_source_close(struct noise_source *source);

#endif
