/* SPDX-License-Identifier: MIT */
/* Estimates of the scale and the noise variance, and warnings where they are not what the command says. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "run.h"

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

/* Puts in the configuration the input_scale with which the symbols have mean energy 1 + N0, N0 being noise_var or, if
 * that is 0, what is estimated from them. How many they are, without those that are not finite. `position` is the first
 * one's in the codeword. */
static uint64_t scale_estimate(softqam_demodulator_config *config, double noise_var, uint64_t position,
                               const void *symbols, size_t n_symbols)
{
    const float first_scale = config->input_scale;
    const bool is_given = noise_var > 0;
    struct noise_estimate first = {0};
    noise_estimate_add(&first, config, position, symbols, n_symbols);
    for (int round = 0; first.energy > 0 && round < (is_given ? 1 : N_ROUNDS); round++) {
        struct noise_estimate scaled = {0};
        const double scale = (double)first_scale * sqrt((1 + noise_var) / noise_estimate_energy(&first));
        config->input_scale = (float)fmin(fmax(scale, FLT_MIN), FLT_MAX);
        noise_estimate_add(&scaled, config, position, symbols, n_symbols);
        noise_var = fmin(noise_estimate_variance(&scaled, config->modulation), largest_noise_var(config->modulation));
    }
    return first.energy > 0 ? first.n_symbols : 0;
}

bool demod_estimate(struct demod_run *run, const void *symbols, size_t n_symbols)
{
    const char *name = run->symbols.file.name;
    const uint64_t position = run->options->skip;
    struct noise_source *source = &run->noise;
    struct noise_estimate noise = {0};
    if (n_symbols == 0)
        return true;
    if (run->options->scale_auto) {
        const double noise_var = source->kind == NOISE_VALUE ? (double)source->noise_var : 0;
        run->n_scale_estimated = scale_estimate(&run->config, noise_var, position, symbols, n_symbols);
        if (run->n_scale_estimated == 0)
            return message_print(name, "no finite symbol but zeros among the first %zu to estimate --input-scale from",
                                 n_symbols);
    }
    if (source->kind != NOISE_AUTO)
        return true;
    noise_estimate_add(&noise, &run->config, position, symbols, n_symbols);
    source->n_estimated = noise.n_symbols;
    /* Neither the symbols of a file without noise nor those of a wrong scale leave what a noise variance can be. */
    source->noise_var = (float)fmin(fmax(noise_estimate_variance(&noise, run->config.modulation), FLT_MIN), FLT_MAX);
    return noise_estimate_energy(&noise) > 0 ||
           message_print(name, "no finite symbol%s among the first %zu to estimate the noise variance from",
                         noise.n_symbols ? " but zeros" : "", ESTIMATE_SYMBOLS);
}

/* Symbols that are buried in noise say nothing of the scale. */
void demod_scale_check(struct demod_run *run, const struct block *block)
{
    struct scale_check *check = &run->scale_check;
    const softqam_demodulator_config *config = &run->config;
    const size_t n_left = SCALE_CHECK_SYMBOLS - check->n_symbols,
                 n = block->n_symbols < n_left ? block->n_symbols : n_left;
    float(*component)[2] = check->components + check->n_symbols;
    check->n_symbols += n;
    sample_format_widen(config->input_format, block->samples, n, config->input_scale, *component);
    for (size_t k = 0; block->noise_vars && k < n; k++) {
        const double noise_var = (double)block->noise_vars[k];
        if (!(noise_var > 0 && noise_var <= largest_noise_var(config->modulation)))
            component[k][0] = NAN;
        else if (isfinite(component[k][0]) && isfinite(component[k][1]))
            check->noise_var_sum += noise_var;
    }
}

static double decibels(double noise_var) { return -10 * log10(noise_var); }

/* What the estimate of noise takes symbols for that are scaled already. */
static softqam_demodulator_config scaled_symbols(softqam_modulation modulation)
{
    return (softqam_demodulator_config){.modulation = modulation, .input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
}

static size_t n_looked_at(const struct demod_run *run)
{
    return run->scale_check.n_symbols < MAX_LOOKED_AT ? run->scale_check.n_symbols : MAX_LOOKED_AT;
}

/* Of the first symbol in its codeword. */
static uint64_t first_position(const struct demod_run *run) { return run->options->skip + run->symbols.first_symbol; }

/* The factor to unit energy of what was looked at if it is of a modulation; and its noise, in words. */
static double measure(const struct demod_run *run, softqam_modulation modulation, char text[32])
{
    softqam_demodulator_config config = scaled_symbols(modulation);
    struct noise_estimate noise = {0};
    scale_estimate(&config, 0, first_position(run), run->scale_check.components, n_looked_at(run));
    noise_estimate_add(&noise, &config, first_position(run), run->scale_check.components, n_looked_at(run));
    const double noise_var = noise_estimate_variance(&noise, modulation);
    snprintf(text, 32, noise_var < 1e-6 ? "without noise" : "at %.1f dB", decibels(noise_var));
    return (double)config.input_scale;
}

/* Of another modulation than that of the command. */
static void warn_of_modulation(const struct demod_run *run, softqam_modulation looks)
{
    const char *expected = modulation_get(run->config.modulation)->name, *name = run->symbols.file.name;
    const size_t n = n_looked_at(run);
    char noise[32];
    if (looks == SOFTQAM_MODULATION_DEFAULT) {
        message_warn(name, "its first %zu symbols do not look like %s, but have more points; --modulation tells which",
                     n, expected);
        return;
    }
    const double factor = measure(run, looks, noise);
    const bool is_scaled = fabs(1 / (factor * factor) - 1) <= warned_energy_error;
    message_warn(name, "its first %zu symbols look like %s %s%s, not %s; use --modulation %s%s", n,
                 modulation_get(looks)->name, noise, is_scaled ? "" : " of another scale", expected,
                 modulation_get(looks)->option, is_scaled ? "" : " --input-scale auto");
}

static void warn_of_energy(const struct demod_run *run, bool is_clear, double energy, double expected)
{
    const char *modulation = modulation_get(run->config.modulation)->name;
    char noise[32], look[80] = "";
    measure(run, run->config.modulation, noise);
    if (is_clear)
        snprintf(look, sizeof look, ": %s %s of another scale", modulation, noise);
    message_warn(run->symbols.file.name,
                 "mean symbol energy %.4g, where %.4g is expected%s; --input-scale auto would scale it%s%s", energy,
                 expected, look, is_clear ? "" : " if it is ", is_clear ? "" : modulation);
}

void demod_scale_warn(const struct demod_run *run)
{
    const struct scale_check *check = &run->scale_check;
    const softqam_modulation modulation = run->config.modulation;
    const softqam_demodulator_config config = scaled_symbols(modulation);
    const char *name = run->symbols.file.name;
    struct noise_estimate seen = {0};
    bool is_clear;
    noise_estimate_add(&seen, &config, first_position(run), check->components, check->n_symbols);
    const double n = (double)seen.n_symbols, energy = noise_estimate_energy(&seen);
    if (seen.n_symbols < MIN_CHECK_SYMBOLS)
        return;
    if (energy == 0) {
        message_warn(name, "its first %.0f symbols are all zero", n);
        return;
    }
    const bool is_given = run->noise.kind == NOISE_VALUE;
    const double given = is_given ? (double)run->noise.noise_var : 0;
    const double estimate =
        run->noise.kind == NOISE_FILE ? check->noise_var_sum / n : noise_estimate_variance(&seen, modulation);
    const double expected = 1 + (is_given ? given : fmin(estimate, largest_noise_var(modulation)));
    const softqam_modulation looks =
        constellation_recognise(check->components[0], n_looked_at(run), first_position(run), modulation, &is_clear);
    if (looks != modulation)
        warn_of_modulation(run, looks);
    else if (fabs(energy / expected - 1) > warned_energy_error + energy_deviations / sqrt(n))
        warn_of_energy(run, is_clear, energy, expected);
    else if (is_given && fmax(estimate / given, given / estimate) > warned_noise_ratio)
        message_warn(name,
                     "N0 seems to be %.3g (Es/N0 %.1f dB), not %.3g (%.1f dB) as given; --noise-var auto estimates it",
                     estimate, decibels(estimate), given, decibels(given));
}
