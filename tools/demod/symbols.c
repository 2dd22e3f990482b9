/* SPDX-License-Identifier: MIT */
/* Warns of what is wrong with the first symbols and with their noise. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "fit.h"

/* Returns the estimated N0 without the noise of rounding to integers. */
static double estimate_noise(const struct fit_view *view, const softqam_demodulator_config *config,
                             const struct noise_estimate *seen)
{
    const double rounding = view->quantum * (double)config->input_scale * (double)config->input_scale / 6;
    return fmax(noise_estimate_variance(seen, config->modulation) - rounding, 1e-3 * rounding);
}

/* Compares the noise with the N0 that the command gives. Only for symbols that fit: else the estimate means nothing. */
static void check_noise(const struct demod_run *run, const struct fit_view *view)
{
    const softqam_demodulator_config config = {.input_format = SOFTQAM_INPUT_CF32,
                                               .input_scale = run->config->input_scale,
                                               .modulation = run->config->modulation};
    struct noise_estimate seen = {.limit = noise_energy_limit(&config, view->symbols, view->n)};
    noise_estimate_add(&seen, &config, view->position, view->symbols, view->n);
    const double given = (double)run->noise_var, energy = noise_estimate_energy(&seen), n = (double)seen.n_symbols;
    const double estimate = estimate_noise(view, &config, &seen);
    /* Five standard deviations of the relative mean energy or more: one is at most 0.63 / sqrt(n) without noise, and
     * approaches 1 / sqrt(n) in strong noise. */
    if (fabs(energy / (1 + given) - 1) > 0.1 + 5 / sqrt(n))
        message_warn(run->symbols.name,
                     "mean symbol energy %.4g, where %.4g is expected for N0 %.3g: scale or N0 is wrong", energy,
                     1 + given, given);
    else if (fmax(estimate / given, given / estimate) >
             1.6) /* catches the variance of one component given for that of both */
        message_warn(run->symbols.name,
                     "N0 seems to be %.3g (Es/N0 %.1f dB), not %.3g (%.1f dB) as given; --noise-var auto estimates it",
                     estimate, -10 * log10(estimate), given, -10 * log10(given));
}

/* Warns, and returns false, if many values of the noise file are not positive and finite, or cannot be the N0 of the
 * symbols. */
static bool check_noise_file(const struct demod_run *run)
{
    const char *name = run->noise_vars.name;
    const size_t n = run->n_first_bytes / file_formats[run->recording.format].symbol_nbytes;
    const uint64_t n_bad = run->n_noise_low + run->n_noise_other;
    size_t n_negative = 0, n_large = 0, n_absurd = 0, n_swapped = 0;
    for (size_t i = 0; i < n; i++) {
        const float value = run->first_noise_vars[i];
        uint32_t word;
        float other;
        memcpy(&word, &value, sizeof word);
        word = __builtin_bswap32(word);
        memcpy(&other, &word, sizeof other);
        n_negative += value < 0 && value > -100;
        n_large += value > 4;
        n_absurd += !(value > 1e-9F && value < 1e3F);
        n_swapped += other > 1e-7F && other < 1e4F;
    }
    if (2 * n_absurd > n && 10 * n_swapped > 9 * n)
        message_warn(name, "its values seem to have the other byte order: write 32-bit floats, little endian");
    else if (10 * n_bad > run->n_demodulated)
        message_warn(
            name, "%" PRIu64 " of %" PRIu64 " values are not positive and finite, so the LLRs of their symbols are 0%s",
            n_bad, run->n_demodulated, 2 * n_negative > n ? ": decibels? N0 is 10^(dB/10)" : "");
    else if (run->n_noise_low > 0)
        message_warn(name,
                     "%" PRIu64 " of %" PRIu64 " values are 0 or negative, so the LLRs of their symbols are 0; "
                     "--noise-floor takes them as a small N0",
                     run->n_noise_low, run->n_demodulated);
    else if (10 * n_large > 9 * n)
        message_warn(
            name,
            "N0 is above 4 for nine in ten symbols: Es/N0, or decibels? N0 is 10^(-dB/10) for an Es/N0 in decibels");
    else
        return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Compares the noise file with the symbols' distances to the nearest points, for the quarter of the symbols that has
 * the least noise by the file: there the fewest decisions are wrong, whatever the unit of the values. */
static void check_noise_level(const struct demod_run *run, const struct fit_view *view)
{
    enum { STEP = 5 }; /* one value in five is enough; values may come in groups of 2, 4 or 12 */
    float sorted[FIT_SYMBOLS / STEP + 1];
    const softqam_demodulator_config config = {.input_format = SOFTQAM_INPUT_CF32,
                                               .input_scale = run->config->input_scale,
                                               .modulation = run->config->modulation};
    const float *values = run->first_noise_vars, floor = run->config->noise_floor;
    struct noise_estimate seen = {.limit = 0};
    double given = 0, n_given = 0;
    size_t n = 0;
    for (size_t i = 0; i < view->n; i += STEP)
        if (values[i] > floor && values[i] <= FLT_MAX)
            sorted[n++] = values[i];
    if (n == 0)
        return;
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t first = 0, end; first < view->n; first = end + 1) {
        for (end = first; end < view->n && values[end] > floor && values[end] <= sorted[n / 4]; end++) {
            given += (double)values[end];
            n_given++;
        }
        noise_estimate_add(&seen, &config, view->position + first, view->symbols + 2 * first, end - first);
    }
    /* Wrong decisions lower the distances. */
    const double mean = given / n_given, error = seen.error_energy / (double)seen.n_symbols,
                 estimate = estimate_noise(view, &config, &seen);
    const bool is_more = estimate > 1.7 * mean, is_less = error < noise_expected_error(config.modulation, mean) / 1.7;
    if (4 * seen.n_symbols >= FIT_MIN_SYMBOLS && (is_more || is_less))
        message_warn(run->noise_vars.name, "N0 seems to be %.2g times that, by the distances of symbols to points",
                     estimate / mean);
}

void demod_check_symbols(const struct demod_run *run)
{
    static struct fit_view view;
    const struct demod_options *options = run->options;
    const char *name = run->symbols.name;
    size_t n_finite = 0, n_zero = 0, zeros[2] = {0, 0};
    bool fits = false;
    char text[256];
    if (options->n_shards <= 1 && options->count < UINT64_MAX && run->n_demodulated < options->count)
        message_warn(name, "has only %" PRIu64 " symbols, where --count asks for %" PRIu64, run->n_demodulated,
                     options->count);
    else if (run->n_demodulated == 0 && options->count > 0 && options->n_shards <= 1)
        message_warn(name, options->skip ? "has only as many symbols as --skip leaves out" : "has no symbols");
    if (run->n_demodulated == 0)
        return;
    fit_load(run, run->recording.format, &view);
    for (size_t i = 0; i < view.n; i++) {
        const double x = (double)view.symbols[2 * i], y = (double)view.symbols[2 * i + 1];
        n_finite += fabs(x) + fabs(y) <= DBL_MAX;
        n_zero += x == 0 && y == 0;
        zeros[0] += x == 0;
        zeros[1] += y == 0;
    }
    const bool is_nan = 10 * n_finite<9 * view.n, is_zero = 5 * n_zero> view.n;
    if (is_nan || is_zero) {
        fit_describe_format(run, text);
        message_warn(name, "%zu of the first %zu symbols are %s%s%s", is_nan ? view.n - n_finite : n_zero, view.n,
                     is_nan ? "NaN or infinite" : "0", *text ? "; they would fit" : "", text);
    } else if (10 * zeros[0] > 9 * view.n || 10 * zeros[1] > 9 * view.n) {
        fit_describe_format(run, text);
        message_warn(name, "%c of the first symbols is 0: %s%s", zeros[0] > zeros[1] ? 'I' : 'Q',
                     *text ? "they would fit" : "are the samples real numbers, without I and Q?", text);
    } else if (n_finite < FIT_MIN_SYMBOLS) {
        message_print(name, "fewer than %d symbols: too few to tell whether they fit", FIT_MIN_SYMBOLS);
    } else {
        fits = fit_check(run, &view);
    }
    if (fits && options->noise == NOISE_VALUE)
        check_noise(run, &view);
    if (options->noise == NOISE_FILE && check_noise_file(run) && fits)
        check_noise_level(run, &view);
}
