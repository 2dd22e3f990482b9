/* SPDX-License-Identifier: MIT */
/* Where the noise variances N0 of the symbols come from. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_NOISE_SOURCE_H
#define SOFTQAM_TOOLS_DEMOD_NOISE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "side_file.h"

enum noise_kind {
    NOISE_NONE,  /* soft bits take none */
    NOISE_UNIT,  /* 1, because any gives the same signs */
    NOISE_VALUE, /* one for all */
    NOISE_AUTO,  /* one for all, estimated from the first symbols */
    NOISE_FILE   /* one a symbol */
};

/* An estimate takes no more symbols than this, so that it is made before anything else and can be made in a pipe. */
#define NOISE_AUTO_SYMBOLS ((size_t)262144)

struct noise_source {
    enum noise_kind kind;
    float noise_var;         /* NOISE_VALUE; NOISE_AUTO, 0 before the estimate */
    uint64_t n_estimated;    /* NOISE_AUTO: symbols that the estimate is from */
    struct side_file values; /* NOISE_FILE */
};

bool noise_source_open(struct noise_source *source, enum noise_kind kind, double noise_var, const char *path);

/* NOISE_AUTO: the estimate, from the first n symbols, of which the first has this position in the codeword. Without any
 * there is none. */
bool noise_source_estimate(struct noise_source *source, const char *symbols_name,
                           const softqam_demodulator_config *config, uint64_t position, const void *symbols,
                           size_t n_symbols);

/* The noise variances as softqam_demodulate() takes them, for symbols whose values, with NOISE_FILE, these are. */
const float *noise_source_get(const struct noise_source *source, const float *values);

#endif
