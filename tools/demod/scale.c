/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"

enum {
    MAX_LOOKED_AT = 8192, /* for their modulation */
    MIN_CHECK_SYMBOLS = 1000,
    N_ROUNDS = 4 /* of scale and noise variance, each from the other */
};

/* A scale that is off by 5 % moves the outermost points of 256QAM almost to a decision boundary. */
static const double warned_energy_error = 0.1;

/* The deviation of the mean energy of n symbols from random ones is up to 0.63 / sqrt(n) without noise, a little more
 * with noise; five of these. */
static const double energy_deviations = 5;

/* 2 dB: less than what is lost by taking the variance of a component for that of the complex noise, or vice
 * versa. */
static const double warned_noise_ratio = 1.6;

/* Noise that is stronger than this is nothing that anyone would demodulate: 6 dB above the symbols with up to two bits
 * a symbol, else as strong as they are. */
static double largest_noise_var(softqam_modulation modulation)
{
    return softqam_bits_per_symbol(modulation) <= 2 ? 4 : 1;
}

bool noise_source_estimate(struct noise_source *source, const char *name, const softqam_demodulator_config *config,
                           uint64_t position, const void *symbols, size_t n_symbols)
{
    struct noise_estimate noise = {0};
    if (n_symbols == 0)
        return true;
    noise_estimate_add(&noise, config, position, symbols, n_symbols);
    source->n_estimated = noise.n_symbols;
    /* Neither the symbols of a file without noise nor those of a wrong scale leave what a noise variance can be. */
    source->noise_var = (float)fmin(fmax(noise_estimate_variance(&noise, config->modulation), FLT_MIN), FLT_MAX);
    return noise_estimate_energy(&noise) > 0 ||
           message_print(name, "no finite symbol%s among the first %zu to estimate the noise variance from",
                         noise.n_symbols ? " but zeros" : "", ESTIMATE_SYMBOLS);
}

bool scale_estimate(softqam_demodulator_config *config, const char *name, const struct noise_source *noise,
                    uint64_t position, const void *symbols, size_t n_symbols, uint64_t *n_used)
{
    const float first_scale = config->input_scale;
    double noise_var = noise->kind == NOISE_VALUE ? (double)noise->noise_var : 0;
    struct noise_estimate first = {0};
    noise_estimate_add(&first, config, position, symbols, n_symbols);
    *n_used = first.n_symbols;
    if (n_symbols == 0)
        return true;
    if (!(noise_estimate_energy(&first) > 0))
        return message_print(name, "no finite symbol but zeros among the first %zu to estimate --input-scale from",
                             n_symbols);
    for (int round = 0; round < N_ROUNDS; round++) {
        const double scale = (double)first_scale * sqrt((1 + noise_var) / noise_estimate_energy(&first));
        config->input_scale = (float)fmin(fmax(scale, FLT_MIN), FLT_MAX);
        if (noise->kind == NOISE_VALUE)
            break;
        struct noise_estimate scaled = {0};
        noise_estimate_add(&scaled, config, position, symbols, n_symbols);
        noise_var = fmin(noise_estimate_variance(&scaled, config->modulation), largest_noise_var(config->modulation));
    }
    return true;
}

/* Symbols that are buried in noise say nothing of the scale. */
void scale_check_add(struct scale_check *check, const softqam_demodulator_config *config, uint64_t position,
                     const void *symbols, const float *noise_vars, size_t n_symbols)
{
    const size_t n_left = SCALE_CHECK_SYMBOLS - check->n_symbols, n = n_symbols < n_left ? n_symbols : n_left;
    float(*component)[2] = check->components + check->n_symbols;
    if (check->n_symbols == 0)
        check->position = position;
    check->n_symbols += n;
    check->modulation = config->modulation;
    sample_format_widen(config->input_format, symbols, n, config->input_scale, *component);
    for (size_t k = 0; noise_vars && k < n; k++) {
        const double noise_var = (double)noise_vars[k];
        if (!(noise_var > 0 && noise_var <= largest_noise_var(config->modulation)))
            component[k][0] = NAN;
        else if (isfinite(component[k][0]) && isfinite(component[k][1]))
            check->noise_var_sum += noise_var;
    }
}

static double decibels(double noise_var) { return -10 * log10(noise_var); }

/* "at 20.0 dB" */
static const char *describe_noise(double noise_var, char text[32])
{
    if (noise_var < 1e-6)
        return "without noise";
    snprintf(text, 32, "at %.1f dB", decibels(noise_var));
    return text;
}

static size_t n_looked_at(const struct scale_check *check)
{
    return check->n_symbols < MAX_LOOKED_AT ? check->n_symbols : MAX_LOOKED_AT;
}

/* The factor to unit energy, and the noise variance, of what was looked at if it is of a modulation. */
static double measure(const struct scale_check *check, softqam_modulation modulation, double *noise_var)
{
    softqam_demodulator_config config = {
        .modulation = modulation, .input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
    const struct noise_source unknown = {.kind = NOISE_NONE};
    const size_t n = n_looked_at(check);
    struct noise_estimate noise = {0};
    uint64_t n_used;
    scale_estimate(&config, "", &unknown, check->position, check->components, n, &n_used);
    noise_estimate_add(&noise, &config, check->position, check->components, n);
    *noise_var = noise_estimate_variance(&noise, modulation);
    return (double)config.input_scale;
}

/* Whether the modulation is another one than that of the command. */
static bool warn_of_modulation(const struct scale_check *check, softqam_modulation looks, const char *name)
{
    const char *expected = modulation_get(check->modulation)->name;
    const size_t n = n_looked_at(check);
    double noise_var;
    char noise[32];
    if (looks == check->modulation)
        return false;
    if (looks == SOFTQAM_MODULATION_DEFAULT) {
        message_warn(name, "its first %zu symbols do not look like %s, but have more points; --modulation tells which",
                     n, expected);
        return true;
    }
    const double factor = measure(check, looks, &noise_var);
    const bool is_scaled = fabs(1 / (factor * factor) - 1) <= warned_energy_error;
    message_warn(name, "its first %zu symbols look like %s %s%s, not %s; use --modulation %s%s", n,
                 modulation_get(looks)->name, describe_noise(noise_var, noise), is_scaled ? "" : " of another scale",
                 expected, modulation_get(looks)->option, is_scaled ? "" : " --input-scale auto");
    return true;
}

static void warn_of_energy(const struct scale_check *check, bool is_clear, double energy, double expected,
                           const char *name)
{
    const char *modulation = modulation_get(check->modulation)->name;
    char noise[32], look[80] = "";
    double noise_var;
    measure(check, check->modulation, &noise_var);
    if (is_clear)
        snprintf(look, sizeof look, ": %s %s of another scale", modulation, describe_noise(noise_var, noise));
    message_warn(name, "mean symbol energy %.4g, where %.4g is expected%s; --input-scale auto would scale it%s%s",
                 energy, expected, look, is_clear ? "" : " if it is ", is_clear ? "" : modulation);
}

void scale_check_warn(const struct scale_check *check, const char *name, const struct noise_source *noise)
{
    const softqam_demodulator_config config = {
        .modulation = check->modulation, .input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
    struct noise_estimate seen = {0};
    bool is_clear;
    noise_estimate_add(&seen, &config, check->position, check->components, check->n_symbols);
    const double n = (double)seen.n_symbols, energy = noise_estimate_energy(&seen);
    if (seen.n_symbols < MIN_CHECK_SYMBOLS)
        return;
    if (energy == 0) {
        message_warn(name, "its first %.0f symbols are all zero", n);
        return;
    }
    const double given = noise->kind == NOISE_VALUE ? (double)noise->noise_var : 0;
    const double estimate =
        noise->kind == NOISE_FILE ? check->noise_var_sum / n : noise_estimate_variance(&seen, check->modulation);
    const double expected =
        1 + (noise->kind == NOISE_VALUE ? given : fmin(estimate, largest_noise_var(check->modulation)));
    const softqam_modulation looks = constellation_recognise(check->components[0], n_looked_at(check), check->position,
                                                             check->modulation, &is_clear);
    if (warn_of_modulation(check, looks, name))
        return;
    if (fabs(energy / expected - 1) > warned_energy_error + energy_deviations / sqrt(n))
        warn_of_energy(check, is_clear, energy, expected, name);
    else if (given > 0 && fmax(estimate / given, given / estimate) > warned_noise_ratio)
        message_warn(name,
                     "N0 seems to be %.3g (Es/N0 %.1f dB), not %.3g (%.1f dB) as given; --noise-var auto estimates it",
                     estimate, decibels(estimate), given, decibels(given));
}
