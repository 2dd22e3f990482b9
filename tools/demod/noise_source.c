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
    source->noise_var = kind == NOISE_UNIT ? 1 : (float)noise_var;
    return kind != NOISE_FILE || input_file_open(&source->file, path);
}

void noise_source_close(struct noise_source *source)
{
    if (source->kind == NOISE_FILE)
        input_file_close(&source->file);
}

static bool fits(const struct noise_source *source, const struct symbol_source *symbols)
{
    if (source->file.nbytes < 0 || symbols->n_symbols < 0)
        return true;
    const uint64_t nbytes = (uint64_t)source->file.nbytes;
    const uint64_t n_values = nbytes / sizeof(float), n_symbols = (uint64_t)symbols->n_symbols;
    if (!input_file_is_whole(&source->file, nbytes, item, sizeof(float)))
        return false;
    if (n_values == n_symbols)
        return true;
    message_print(source->file.name, "has %" PRIu64 " noise variance%s, but %s has %" PRIu64 " symbol%s", n_values,
                  PLURAL(n_values), symbols->file.name, n_symbols, PLURAL(n_symbols));
    return false;
}

bool noise_source_start(struct noise_source *source, const struct symbol_source *symbols, uint64_t skip)
{
    uint64_t n_skipped;
    return source->kind != NOISE_FILE ||
           ((skip == 0 || input_file_skip(&source->file, skip * sizeof(float), &n_skipped)) && fits(source, symbols));
}

bool noise_source_limit(struct noise_source *source, uint64_t count)
{
    return source->kind != NOISE_FILE || input_file_limit(&source->file, count * sizeof(float));
}

bool noise_source_choose_part(struct noise_source *source, uint64_t first, uint64_t n_symbols)
{
    return source->kind != NOISE_FILE ||
           input_file_choose_part(&source->file, first * sizeof(float), n_symbols * sizeof(float));
}

bool noise_source_read(struct noise_source *source, const char *symbols_name, float *values, size_t n_symbols)
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
                  PLURAL(source->n_read), symbols_name);
    return false;
}

bool noise_source_estimate(struct noise_source *source, const char *symbols_name,
                           const softqam_demodulator_config *config, uint64_t position, const void *symbols,
                           size_t n_symbols)
{
    struct noise_estimate noise = {0};
    if (n_symbols == 0)
        return true;
    noise_estimate_add(&noise, config, position, symbols, n_symbols);
    source->n_estimated = noise.n_symbols;
    if (!(noise_estimate_energy(&noise) > 0)) {
        message_print(symbols_name, "no finite symbol%s among the first %zu to estimate the noise variance from",
                      noise.n_symbols ? " but zeros" : "", NOISE_AUTO_SYMBOLS);
        return false;
    }
    /* Neither the symbols of a file without noise nor those of a wrong scale leave what a noise variance can be. */
    source->noise_var = (float)fmin(fmax(noise_estimate_variance(&noise, config->modulation), FLT_MIN), FLT_MAX);
    return true;
}

const float *noise_source_get(const struct noise_source *source, const float *values)
{
    const float *const sources[] = {[NOISE_NONE] = NULL,
                                    [NOISE_UNIT] = &source->noise_var,
                                    [NOISE_VALUE] = &source->noise_var,
                                    [NOISE_AUTO] = &source->noise_var,
                                    [NOISE_FILE] = values};
    return sources[source->kind];
}

bool noise_source_end(struct noise_source *source, const char *symbols_name)
{
    char byte;
    size_t n_read = 0;
    if (source->kind != NOISE_FILE || source->file.limit != UINT64_MAX)
        return true;
    if (!input_file_read(&source->file, &byte, sizeof byte, &n_read))
        return false;
    if (n_read > 0)
        message_print(source->file.name, "goes on after %" PRIu64 " noise variance%s, but %s has no more symbols",
                      source->n_read, PLURAL(source->n_read), symbols_name);
    return n_read == 0;
}
