/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/message.h"
#include "common/sample_format.h"

enum {
    CHECK_SYMBOLS = 65536, /* a tenth of a millisecond's work */
    MIN_CHECK_SYMBOLS = 1000,
    PART_SYMBOLS = 1024,
    N_ROUNDS = 4 /* of scale and noise variance, each from the other */
};

/* A scale that is off by 5 % moves the outermost points of 256QAM by most of the way to a decision boundary. */
static const double warned_energy_error = 0.1;

/* The deviation of the mean energy of n symbols from random ones is up to 0.63 / sqrt(n) without noise, a little more
 * with noise; five of these. */
static const double energy_deviations = 5;

/* 2 dB: less than what is lost by taking the variance of a component for that of the complex noise, or the other way
 * round. */
static const double warned_noise_ratio = 1.6;

/* Noise that is stronger than this is nothing that anyone would demodulate: 6 dB above the symbols with up to two bits
 * a symbol, else as strong as they are. */
static double largest_noise_var(softqam_modulation modulation)
{
    return softqam_bits_per_symbol(modulation) <= 2 ? 4 : 1;
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
    if (!(noise_estimate_energy(&first) > 0)) {
        message_print(name, "no finite symbol but zeros among the first %zu to estimate --input-scale from", n_symbols);
        return false;
    }
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
static void add_symbol(struct scale_check *check, const float component[2], float noise_var)
{
    const double i = (double)component[0], q = (double)component[1], energy = i * i + q * q;
    if (!(noise_var > 0 && (double)noise_var <= largest_noise_var(check->modulation)) || !(energy <= DBL_MAX))
        return;
    check->noise.n_symbols++;
    check->noise.energy += energy;
    check->noise_var_sum += (double)noise_var;
}

static void add_with_noise(struct scale_check *check, const softqam_demodulator_config *config, const char *symbols,
                           const float *noise_vars, size_t n_symbols)
{
    float components[2 * PART_SYMBOLS];
    const size_t nbytes = softqam_input_symbol_nbytes(config->input_format);
    for (size_t first = 0; first < n_symbols; first += PART_SYMBOLS) {
        const size_t n = n_symbols - first < PART_SYMBOLS ? n_symbols - first : PART_SYMBOLS;
        sample_format_widen(config->input_format, symbols + first * nbytes, n, config->input_scale, components);
        for (size_t k = 0; k < n; k++)
            add_symbol(check, components + 2 * k, noise_vars[first + k]);
    }
}

void scale_check_add(struct scale_check *check, const softqam_demodulator_config *config, uint64_t position,
                     const void *symbols, const float *noise_vars, size_t n_symbols)
{
    check->modulation = config->modulation;
    if (check->noise.n_symbols >= CHECK_SYMBOLS)
        return;
    if (n_symbols > CHECK_SYMBOLS - check->noise.n_symbols)
        n_symbols = (size_t)(CHECK_SYMBOLS - check->noise.n_symbols);
    if (noise_vars)
        add_with_noise(check, config, symbols, noise_vars, n_symbols);
    else
        noise_estimate_add(&check->noise, config, position, symbols, n_symbols);
}

static double decibels(double noise_var)
{
    return -10 * log10(noise_var);
}

void scale_check_warn(const struct scale_check *check, const char *name, const struct noise_source *noise)
{
    const double n = (double)check->noise.n_symbols, energy = noise_estimate_energy(&check->noise);
    if (check->noise.n_symbols < MIN_CHECK_SYMBOLS)
        return;
    if (energy == 0) {
        message_print(name, "warning: its first %.0f symbols are all zero", n);
        return;
    }
    const double given = noise->kind == NOISE_VALUE ? (double)noise->noise_var : 0;
    const double estimate = noise->kind == NOISE_FILE ? check->noise_var_sum / n
                                                      : noise_estimate_variance(&check->noise, check->modulation);
    const double expected =
        1 + (noise->kind == NOISE_VALUE ? given : fmin(estimate, largest_noise_var(check->modulation)));
    if (fabs(energy / expected - 1) > warned_energy_error + energy_deviations / sqrt(n))
        message_print(name,
                      "warning: mean symbol energy %.4g, where %.4g is expected; --input-scale auto would scale it",
                      energy, expected);
    else if (given > 0 && fmax(estimate / given, given / estimate) > warned_noise_ratio)
        message_print(name, "warning: N0 seems to be %.3g (Es/N0 %.1f dB), not %.3g (%.1f dB) as given", estimate,
                      decibels(estimate), given, decibels(given));
}
