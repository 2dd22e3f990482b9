/* SPDX-License-Identifier: MIT */
/* Estimates of the scale and the noise variance, and warnings where they are not what the command says. */
#include <float.h>
#include <math.h>

#include "common/message.h"
#include "run.h"

enum {
    MIN_CHECK_SYMBOLS = 1000,
    MAX_CHECK_SYMBOLS = 65536,
    N_ROUNDS = 4 /* of scale and noise variance, each from the other */
};

/* A scale that is off by 5 % moves the outermost points of 256QAM almost to a decision boundary. */
static const double warned_energy_error = 0.1;

/* Five of the deviations of n symbols' mean energy, up to 0.63 / sqrt(n) each without noise, a little more with it. */
static const double energy_deviations = 5;

/* 2 dB: less than what is lost by taking the variance of a component for that of the complex noise. */
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
    const char *name = run->symbols.name;
    const uint64_t position = run->options->skip;
    const enum noise_kind kind = run->options->noise;
    struct noise_estimate noise = {0};
    if (n_symbols == 0)
        return true;
    if (run->options->scale_auto) {
        const double noise_var = kind == NOISE_VALUE ? (double)run->noise_var : 0;
        run->n_scale_symbols = scale_estimate(&run->config, noise_var, position, symbols, n_symbols);
        if (run->n_scale_symbols == 0)
            return message_print(name, "no finite symbol but zeros among the first %zu to estimate --input-scale from",
                                 n_symbols);
    }
    if (kind != NOISE_AUTO)
        return true;
    noise_estimate_add(&noise, &run->config, position, symbols, n_symbols);
    run->n_noise_symbols = noise.n_symbols;
    /* Neither the symbols of a file without noise nor those of a wrong scale leave what a noise variance can be. */
    run->noise_var = (float)fmin(fmax(noise_estimate_variance(&noise, run->config.modulation), FLT_MIN), FLT_MAX);
    return noise_estimate_energy(&noise) > 0 ||
           message_print(name, "no finite symbol%s among the first %zu to estimate the noise variance from",
                         noise.n_symbols ? " but zeros" : "", ESTIMATE_SYMBOLS);
}

/* Not with a noise file: whatever its noise variances bury says nothing of the scale. */
void demod_scale_check(struct demod_run *run, const struct block *block)
{
    const uint64_t n = run->n_demodulated, left = n < MAX_CHECK_SYMBOLS ? MAX_CHECK_SYMBOLS - n : 0;
    if (!block->noise_vars)
        noise_estimate_add(&run->seen, &run->config, run->options->skip + run->first_symbol + n, block->samples,
                           block->n_symbols < left ? block->n_symbols : (size_t)left);
}

void demod_scale_warn(const struct demod_run *run)
{
    const softqam_modulation modulation = run->config.modulation;
    const char *name = run->symbols.name;
    const double n = (double)run->seen.n_symbols, energy = noise_estimate_energy(&run->seen);
    const double given = run->options->noise == NOISE_VALUE ? (double)run->noise_var : 0;
    const double estimate = noise_estimate_variance(&run->seen, modulation);
    const double expected = 1 + (given > 0 ? given : fmin(estimate, largest_noise_var(modulation)));
    if (n < MIN_CHECK_SYMBOLS)
        return;
    if (fabs(energy / expected - 1) > warned_energy_error + energy_deviations / sqrt(n))
        message_warn(name, "mean symbol energy %.4g, where %.4g is expected; --input-scale auto would scale it", energy,
                     expected);
    else if (given > 0 && fmax(estimate / given, given / estimate) > warned_noise_ratio)
        message_warn(name,
                     "N0 seems to be %.3g (Es/N0 %.1f dB), not %.3g (%.1f dB) as given; --noise-var auto estimates it",
                     estimate, -10 * log10(estimate), given, -10 * log10(given));
}
