/* SPDX-License-Identifier: MIT */
#include "noise_source.h"

#include <float.h>
#include <math.h>

#include "common/message.h"
#include "common/noise_estimate.h"

bool noise_source_open(struct noise_source *source, enum noise_kind kind, double noise_var, const char *path)
{
    source->kind = kind;
    source->noise_var = kind == NOISE_UNIT ? 1 : (float)noise_var;
    return side_file_open(&source->values, kind == NOISE_FILE ? path : NULL, "noise variance", 1, sizeof(float));
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
    if (source->kind == NOISE_FILE)
        return values;
    return source->kind == NOISE_NONE ? NULL : &source->noise_var;
}
