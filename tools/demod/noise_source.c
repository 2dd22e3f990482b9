/* SPDX-License-Identifier: MIT */
#include "noise_source.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "common/message.h"
#include "common/noise_estimate.h"

static const char item[] = "noise variance";

bool noise_source_open(struct noise_source *source, enum noise_kind kind, double noise_var, const char *path)
{
    source->kind = kind;
    source->noise_var = (float)noise_var;
    return kind != NOISE_FILE || input_file_open(&source->file, path);
}

void noise_source_close(struct noise_source *source)
{
    if (source->kind == NOISE_FILE)
        input_file_close(&source->file);
}

bool noise_source_fits(const struct noise_source *source, const struct input_file *symbols, size_t symbol_nbytes)
{
    if (source->kind != NOISE_FILE || source->file.nbytes < 0 || symbols->nbytes < 0)
        return true;
    const uint64_t nbytes = (uint64_t)source->file.nbytes;
    const uint64_t n_values = nbytes / sizeof(float), n_symbols = (uint64_t)symbols->nbytes / symbol_nbytes;
    if (!input_file_is_whole(&source->file, nbytes, item, sizeof(float)))
        return false;
    if (n_values == n_symbols)
        return true;
    message_print(source->file.name, "has %" PRIu64 " noise variance%s, but %s has %" PRIu64 " symbol%s", n_values,
                  PLURAL(n_values), symbols->name, n_symbols, PLURAL(n_symbols));
    return false;
}

bool noise_source_choose_part(struct noise_source *source, uint64_t first, uint64_t n_symbols)
{
    if (source->kind != NOISE_FILE)
        return true;
    if (source->file.nbytes < 0) {
        message_print(source->file.name, "not a regular file, a part of which could be read");
        return false;
    }
    return input_file_choose_part(&source->file, first * sizeof(float), n_symbols * sizeof(float));
}

bool noise_source_read(struct noise_source *source, const struct input_file *symbols, float *values, size_t n_symbols)
{
    size_t nbytes;
    if (source->kind != NOISE_FILE)
        return true;
    if (!input_file_read(&source->file, values, n_symbols * sizeof(float), &nbytes) ||
        !input_file_is_whole(&source->file, nbytes, item, sizeof(float)))
        return false;
    source->n_read += nbytes / sizeof(float);
    if (nbytes == n_symbols * sizeof(float))
        return true;
    message_print(source->file.name, "ends after %" PRIu64 " noise variance%s, but %s has more symbols", source->n_read,
                  PLURAL(source->n_read), symbols->name);
    return false;
}

bool noise_source_estimate(struct noise_source *source, const struct input_file *symbols, const softqam_config *config,
                           const void *samples, size_t n_symbols)
{
    struct noise_estimate noise = {0};
    const size_t n = n_symbols < NOISE_AUTO_SYMBOLS ? n_symbols : NOISE_AUTO_SYMBOLS;
    noise_estimate_add(&noise, config, samples, n);
    source->n_estimated = noise.n_symbols;
    if (noise.n_symbols == 0) {
        message_print(symbols->name, "no finite symbol among the first %zu to estimate the noise variance from",
                      NOISE_AUTO_SYMBOLS);
        return false;
    }
    /* Neither the symbols of a file without noise nor those of a wrong scale leave what a noise variance can be. */
    source->noise_var = (float)fmin(fmax(noise_estimate_variance(&noise), FLT_MIN), FLT_MAX);
    return true;
}

bool noise_source_get(struct noise_source *source, const struct input_file *symbols, const softqam_config *config,
                      const void *samples, const float *values, size_t n_symbols, const float **noise_var)
{
    const float *const sources[] = {[NOISE_NONE] = NULL,
                                    [NOISE_VALUE] = &source->noise_var,
                                    [NOISE_AUTO] = &source->noise_var,
                                    [NOISE_FILE] = values};
    *noise_var = sources[source->kind];
    return source->kind != NOISE_AUTO || source->noise_var > 0 ||
           noise_source_estimate(source, symbols, config, samples, n_symbols);
}

bool noise_source_end(struct noise_source *source, const struct input_file *symbols)
{
    char byte;
    size_t n_read = 0;
    if (source->kind != NOISE_FILE || source->file.is_part)
        return true;
    if (!input_file_read(&source->file, &byte, sizeof byte, &n_read))
        return false;
    if (n_read > 0)
        message_print(source->file.name, "goes on after %" PRIu64 " noise variance%s, but %s has no more symbols",
                      source->n_read, PLURAL(source->n_read), symbols->name);
    return n_read == 0;
}
