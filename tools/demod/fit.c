/* SPDX-License-Identifier: MIT */
/* Measures how well symbols fit a constellation, and finds the scale and the modulation that fit best. Scrambled data
 * use all levels of an axis equally often, so the density of the components' magnitudes is known except for the noise.
 * The noise is modelled as a mixture of Gaussian noise of N_STRENGTHS deviations, because fading has many. The fit is
 * the mean log-likelihood of a component's magnitude less that under noise alone, in nats. It is above 0.4 if few
 * decisions are wrong, and falls to 0 as noise hides the points. Whatever is tried instead of the command's settings
 * must fit better by more than chance: by more than 0.006, the most that was seen for 10,000 right files. */
#include "fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"

enum {
    N_BINS = 256,
    N_STRENGTHS = 16,
    N_ROUNDS = 14,
    N_COARSE_ROUNDS = 4, /* enough to compare scales */
    LIMIT = 5,           /* in deviations: a normal variate is taken to lie within */
};
static const double bin_width = 0.01, least_deviation = 0.003, strength_ratio = 1.6;

/* A density has a row for each bin of magnitudes, the last of which has all that is larger, and a column for each
 * deviation of the noise. */
typedef float strengths __attribute__((vector_size(N_STRENGTHS * sizeof(float))));
typedef strengths density[N_BINS + 1];
struct histogram {
    double counts[N_BINS + 1], n;
};

/* Returns the probability that a normal variate is below x, from a table: erfc() would take most of a short run's time.
 */
static double below(double x)
{
    enum { STEPS = 64, N = 2 * LIMIT * STEPS };
    static double shares[N + 1];
    for (int i = 0; shares[N] == 0 && i <= N; i++)
        shares[i] = 0.5 * erfc((LIMIT - (double)i / STEPS) * sqrt(0.5));
    const double place = (x + LIMIT) * STEPS;
    if (place < 0 || place >= N)
        return place > 0;
    const int i = (int)place;
    return shares[i] + (place - i) * (shares[i + 1] - shares[i]);
}

/* Makes the density of magnitudes for equally likely levels that lie symmetrically about 0. */
static void make_density(density to, const double *levels, unsigned n_levels)
{
    double deviation = least_deviation;
    memset(to, 0, sizeof(density));
    for (int j = 0; j < N_STRENGTHS; j++, deviation *= strength_ratio) {
        const int step = deviation > 1.2 ? 8 : deviation > 0.3 ? 4 : 1; /* bins whose densities are nearly equal */
        for (unsigned k = 0; k < n_levels; k++) {
            const int first = (int)fmax(0, (levels[k] - LIMIT * deviation) / bin_width) / step * step;
            double before = below((first * bin_width - levels[k]) / deviation);
            for (int b = first; b < N_BINS && before < 1; b += step) {
                const double share = below(((b + step) * bin_width - levels[k]) / deviation);
                for (int i = b; i < b + step; i++)
                    to[i][j] += (float)(2 * (share - before) / (step * n_levels));
                before = share;
            }
            to[N_BINS][j] += (float)(2 * (1 - before) / n_levels);
        }
    }
}

/* Returns the density of one of the two axes, which is made when it is first needed. Noise alone (NULL) has one level,
 * 0, and so has BPSK's second axis. */
static const density *density_of(const struct modulation *modulation, int axis)
{
    static density made[MODULATION_MAX_BITS / 2 + 2];
    static bool is_made[MODULATION_MAX_BITS / 2 + 2];
    const bool is_bpsk = modulation && modulation->n_bits == 1, is_noise = !modulation || (is_bpsk && axis == 1);
    const unsigned bits = is_noise ? 0 : modulation->axis_bits,
                   which = is_bpsk && !is_noise ? MODULATION_MAX_BITS / 2 + 1 : bits;
    double levels[1 << MODULATION_MAX_BITS / 2];
    for (unsigned k = 0; k < 1u << bits; k++)
        levels[k] = is_noise ? 0 : (2.0 * k + 1 - (1 << bits)) / (is_bpsk ? 1 : sqrt(modulation->energy));
    if (!is_made[which])
        make_density(made[which], levels, 1u << bits);
    is_made[which] = true;
    return (const density *)&made[which];
}

/* Returns the mean log-likelihood of both axes' magnitudes, for the mixture of deviations that maximises it.
 * Expectation maximisation finds that. */
static double likelihood(const struct histogram axes[2], const density *const densities[2], int n_rounds)
{
    const int step = densities[0] == densities[1] ? 2 : 1; /* 2: both axes at once */
    strengths weights = {0};
    double sum = 0;
    const double n = axes[0].n + axes[1].n;
    weights += 1.0F / N_STRENGTHS;
    for (int round = 0; round < n_rounds; round++) {
        strengths shares = {0};
        for (int i = 0; i < 2 * (N_BINS + 1); i += step) {
            const double count = axes[i % 2].counts[i / 2] + (step == 2 ? axes[1].counts[i / 2] : 0);
            if (count == 0)
                continue;
            const strengths row = (*densities[i % 2])[i / 2], of_each = weights * row;
            float p = 1e-12F;
            for (int j = 0; j < N_STRENGTHS / 4; j++)
                p += (of_each[j] + of_each[j + 4]) + (of_each[j + 8] + of_each[j + 12]);
            shares += (float)(count / n) / p * row;
            if (round == n_rounds - 1)
                sum += count * log((double)p);
        }
        weights *= shares;
    }
    return sum / n;
}

static void count(const struct fit_view *view, const struct modulation *modulation, double scale,
                  struct histogram axes[2])
{
    const bool is_bpsk = modulation->n_bits == 1;
    const double width = fmax(view->quantum * scale, bin_width);
    memset(axes, 0, 2 * sizeof axes[0]);
    for (size_t i = 0; i < view->n; i++) {
        /* Dithered, because a level may lie where two bins meet, and integers may be coarser than bins. */
        double c[2];
        for (int k = 0; k < 2; k++)
            c[k] = scale * (double)view->symbols[2 * i + k] +
                   width * ((uint32_t)i * (k ? UINT32_C(2654435769) : UINT32_C(3242174889)) * 0x1p-32 - 0.5);
        if (!(fabs(c[0]) + fabs(c[1]) <= DBL_MAX) || fit_is_limited(view, 2 * i) || fit_is_limited(view, 2 * i + 1))
            continue;
        if (is_bpsk) { /* its axes are the diagonals */
            const double turned = modulation->rotates && (view->position + i) % 2 ? -1 : 1, first = c[0];
            c[0] = (first + turned * c[1]) * sqrt(0.5);
            c[1] = (c[1] - turned * first) * sqrt(0.5);
        }
        for (int axis = 0; axis < 2; axis++) {
            const double bin = fabs(c[axis]) / bin_width;
            axes[axis].counts[bin < N_BINS ? (int)bin : N_BINS]++;
            axes[axis].n++;
        }
    }
}

static struct fit_measure measure(const struct fit_view *view, softqam_modulation kind, double scale, bool of_worse,
                                  int n_rounds)
{
    static struct histogram axes[2];
    const struct modulation *modulation = modulation_get(kind);
    const density *const points[2] = {density_of(modulation, 0), density_of(modulation, 1)};
    const density *const noise[2] = {density_of(NULL, 0), density_of(NULL, 0)};
    count(view, modulation, scale, axes);
    const double n = axes[0].n;
    if (n < FIT_MIN_SYMBOLS / 2.0 || axes[0].counts[N_BINS] + axes[1].counts[N_BINS] > 0.2 * n)
        return (struct fit_measure){-9, (double)INFINITY};
    const double found = likelihood(axes, points, n_rounds);
    double highest = 0;
    int last = 0;
    for (int i = 0; i < 2 * (N_BINS + 1); i++) {
        const double share = axes[i % 2].counts[i / 2] / n;
        highest += share > 0 ? share * log(share) / 2 : 0;
        last = share > 0 ? i / 2 : last;
    }
    /* Noise alone is measured on I and Q, for BPSK too, so that its fit compares with QPSK's. */
    const double gap = -log(last + 1) > found + 0.01 + 4 / n ? (double)INFINITY : highest - found;
    if (modulation->n_bits == 1)
        count(view, modulation_get(SOFTQAM_MODULATION_QPSK), scale, axes);
    double least = found - likelihood(axes, noise, n_rounds);
    for (int axis = 0; of_worse && axis < 2 && modulation->n_bits > 1; axis++) {
        const struct histogram one[2] = {axes[axis], {.n = 0}};
        least = fmin(least, likelihood(one, points, n_rounds) -
                                likelihood(one, noise, n_rounds)); /* I and Q have the same levels */
    }
    return (struct fit_measure){least, gap};
}

struct fit_measure fit_measure(const struct fit_view *view, softqam_modulation kind, double scale, bool of_worse)
{
    return measure(view, kind, scale, of_worse, N_ROUNDS);
}

/* Returns the factor that brings symbols, except outliers, to unit mean energy; 0 if there is none. */
static double unit_scale(const struct fit_view *view)
{
    const softqam_demodulator_config config = {.input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
    struct noise_estimate estimate = {.limit = noise_energy_limit(&config, view->symbols, view->n)};
    noise_estimate_add(&estimate, &config, 0, view->symbols, view->n);
    return estimate.energy > 0 ? 1 / sqrt(noise_estimate_energy(&estimate)) : 0;
}

double fit_any_scale(const struct fit_view *view, softqam_modulation modulation, bool of_worse, double *scale)
{
    const double unit = unit_scale(view);
    double best = -9;
    *scale = unit;
    for (int k = 0; unit > 0 && k < 15; k++) {
        const double tried = unit * (0.97 + 0.03 * k),
                     got = measure(view, modulation, tried, of_worse, N_COARSE_ROUNDS).fit;
        *scale = got > best ? tried : *scale;
        best = fmax(best, got);
    }
    best = fit_measure(view, modulation, *scale, of_worse).fit;
    for (double step = 0.012; unit > 0 && fabs(step) > 0.002; step *= step > 0 ? -1 : -0.5) {
        const double tried = *scale * (1 + step), got = fit_measure(view, modulation, tried, of_worse).fit;
        *scale = got > best ? tried : *scale;
        best = fmax(best, got);
    }
    return best;
}

static double limit_of(softqam_input_format format)
{
    return format == SOFTQAM_INPUT_CS8 ? 127.5 : format == SOFTQAM_INPUT_CS16 ? 32767.5 : (double)INFINITY;
}

double demod_fit_scale(const softqam_demodulator_config *config, uint64_t position, const void *samples, size_t n)
{
    static struct fit_view view;
    double scale;
    view.n = n < FIT_SYMBOLS ? n : FIT_SYMBOLS;
    view.position = position;
    view.quantum = config->input_format == SOFTQAM_INPUT_CS16 || config->input_format == SOFTQAM_INPUT_CS8;
    view.limit = limit_of(config->input_format);
    sample_format_widen(config->input_format, samples, view.n, 1, view.symbols);
    const double found = fit_any_scale(&view, config->modulation, false, &scale);
    const double least = found > 0.3 ? 0.008 : 0.02; /* relative change: clear points show a smaller one */
    return found > 0.1 && fabs(scale / (double)config->input_scale - 1) > least ? scale : (double)config->input_scale;
}

void fit_load(const struct demod_run *run, enum file_format format, struct fit_view *view)
{
    static unsigned char bytes[FIT_SYMBOLS * FORMAT_ROOM];
    const size_t nbytes = file_formats[format].symbol_nbytes, n = run->n_first_bytes / nbytes;
    view->n = n < FIT_SYMBOLS ? n : FIT_SYMBOLS;
    view->quantum = file_formats[format].scale < 1;
    view->limit = limit_of(file_formats[format].library);
    view->position = run->options->skip + run->first_symbol;
    memcpy(bytes, run->first_bytes, view->n * nbytes);
    demod_convert(run->options, format, bytes, view->n);
    sample_format_widen(file_formats[format].library, bytes, view->n, 1, view->symbols);
}

bool demod_choose_modulation(struct demod_run *run)
{
    static struct fit_view view;
    const size_t nbytes = run->symbols.symbol_nbytes;
    double best = -9, second = -9;
    size_t n = 0;
    run->first_bytes = malloc(FIT_SYMBOLS * (nbytes > FORMAT_ROOM ? nbytes : FORMAT_ROOM));
    if (!run->first_bytes)
        return message_print(NULL, "out of memory");
    if (!input_file_read(&run->symbols, run->first_bytes, FIT_SYMBOLS * nbytes, &n) ||
        !input_file_put_back(&run->symbols, run->first_bytes, n))
        return false;
    demod_take_channel(run, run->first_bytes, n / nbytes);
    run->n_first_bytes = n / nbytes * file_formats[run->recording.format].symbol_nbytes;
    fit_load(run, run->recording.format, &view);
    for (int k = SOFTQAM_MODULATION_BPSK; k <= MODULATION_COUNT; k++) {
        double scale = (double)run->config->input_scale;
        const softqam_modulation modulation = (softqam_modulation)k;
        const double got = run->options->scale_auto ? fit_any_scale(&view, modulation, false, &scale)
                                                    : fit_measure(&view, modulation, scale, false).fit;
        if (got > best)
            run->config->modulation = modulation;
        second = fmax(second, fmin(got, best));
        best = fmax(best, got);
    }
    free(run->first_bytes);
    run->first_bytes = NULL;
    run->n_first_bytes = 0;
    return (best > 0.06 && best > second + 0.03) ||
           message_print(run->symbols.name,
                         "no modulation fits clearly better than another; name one with --modulation");
}
