/* SPDX-License-Identifier: MIT */
/* Measures how well symbols fit a constellation, and what would make them fit. Scrambled data use all levels of an axis
 * alike, so magnitudes of components have a known density but for the noise, which is taken as a mixture of Gaussian
 * noise of all strengths: fading has many. The fit is the mean log-likelihood of a component beyond that of such noise
 * alone, in nats. It is above 0.4 where few decisions are wrong, and falls to 0 as noise hides the points. Whatever is
 * tried instead of the command's settings must fit better by more than chance and a mixture of few strengths explain:
 * 0.006 was the most for 10,000 right files. */
#include "fit.h"

#include <complex.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"

enum {
    N_BINS = 256,
    N_STRENGTHS = 16,
    N_ROUNDS = 14,
};
static const double bin_width = 0.01, least_deviation = 0.003, strength_ratio = 1.6;

/* By magnitude; the last bin has all that is larger. Columns are deviations of the noise. */
typedef float density[N_BINS + 1][N_STRENGTHS];
struct histogram {
    double counts[N_BINS + 1], n;
};

/* Returns the share of a normal variate that is below x. */
static double below(double x) { return x > 7 ? 1 : x < -7 ? 0 : 0.5 * erfc(-x * sqrt(0.5)); }

/* Makes the density of magnitudes for levels that are used alike, and of which each has its opposite. */
static void make_density(density to, const double *levels, unsigned n_levels)
{
    double deviation = least_deviation;
    memset(to, 0, sizeof(density));
    for (int j = 0; j < N_STRENGTHS; j++, deviation *= strength_ratio) {
        for (unsigned k = 0; k < n_levels; k++) {
            double before = below(-levels[k] / deviation);
            for (int b = 0; b <= N_BINS; b++) {
                const double share = b < N_BINS ? below(((b + 1) * bin_width - levels[k]) / deviation) : 1;
                to[b][j] += (float)(2 * (share - before) / n_levels);
                before = share;
            }
        }
    }
}

/* Returns the density of one of the two axes, made when first asked for: BPSK's second one has one level, 0, as noise
 * has. */
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

/* Returns the mean log-likelihood of both axes' magnitudes for the mixture of strengths that makes it largest, which
 * expectation and maximisation find. */
static double likelihood(const struct histogram axes[2], const density *const densities[2])
{
    double weights[N_STRENGTHS], sum = 0, n = axes[0].n + axes[1].n;
    for (int j = 0; j < N_STRENGTHS; j++)
        weights[j] = 1.0 / N_STRENGTHS;
    for (int round = 0; round < N_ROUNDS; round++) {
        double shares[N_STRENGTHS] = {0};
        sum = 0;
        for (int i = 0; i < 2 * (N_BINS + 1); i++) {
            const double count = axes[i % 2].counts[i / 2];
            const float *row = (*densities[i % 2])[i / 2];
            double p = 1e-12;
            if (count == 0)
                continue;
            for (int j = 0; j < N_STRENGTHS; j++)
                p += weights[j] * (double)row[j];
            for (int j = 0; j < N_STRENGTHS; j++)
                shares[j] += count / p * (double)row[j];
            if (round == N_ROUNDS - 1)
                sum += count * log(p);
        }
        double total = 0;
        for (int j = 0; j < N_STRENGTHS; j++)
            total += weights[j] *= shares[j] * shares[j]; /* squared: in half as many rounds */
        for (int j = 0; j < N_STRENGTHS; j++)
            weights[j] /= total;
    }
    return sum / n;
}

/* Returns whether a component is at an end of its range, to which larger ones were limited. */
static bool is_limited(const struct fit_view *view, size_t i)
{
    return fabs((double)view->symbols[i] + 0.5) >= view->limit;
}

static void count(const struct fit_view *view, const struct modulation *modulation, double scale,
                  struct histogram axes[2])
{
    const bool is_bpsk = modulation->n_bits == 1;
    const double width = fmax(view->quantum * scale, bin_width);
    memset(axes, 0, 2 * sizeof axes[0]);
    for (size_t i = 0; i < view->n; i++) {
        double c[2]; /* spread, for a level may lie where two bins meet, and integers be coarser than bins */
        for (int k = 0; k < 2; k++)
            c[k] = scale * (double)view->symbols[2 * i + k] +
                   width * ((uint32_t)i * (k ? UINT32_C(2654435769) : UINT32_C(3242174889)) * 0x1p-32 - 0.5);
        if (!(fabs(c[0]) + fabs(c[1]) <= DBL_MAX) || is_limited(view, 2 * i) || is_limited(view, 2 * i + 1))
            continue;
        if (is_bpsk) { /* the diagonals */
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

/* The fit of symbols, and the most that any density could gain, infinite if an even spread of components explains them
 * better. */
struct measure {
    double fit, gap;
};

/* `of_worse`: of the worse axis. Bytes that are read as another format often leave one that looks good. */
static struct measure measure(const struct fit_view *view, softqam_modulation kind, double scale, bool of_worse)
{
    static struct histogram axes[2];
    const struct modulation *modulation = modulation_get(kind);
    const density *const points[2] = {density_of(modulation, 0), density_of(modulation, 1)};
    const density *const noise[2] = {density_of(NULL, 0), density_of(NULL, 0)};
    count(view, modulation, scale, axes);
    const double n = axes[0].n;
    if (n < FIT_MIN_SYMBOLS || axes[0].counts[N_BINS] + axes[1].counts[N_BINS] > 0.2 * n)
        return (struct measure){-9, (double)INFINITY};
    const double found = likelihood(axes, points);
    double highest = 0;
    int last = 0;
    for (int i = 0; i < 2 * (N_BINS + 1); i++) {
        const double share = axes[i % 2].counts[i / 2] / n;
        highest += share > 0 ? share * log(share) / 2 : 0;
        last = share > 0 ? i / 2 : last;
    }
    /* Noise is that of I and Q for all: then BPSK and QPSK compare. */
    const double gap = -log(last + 1) > found + 1e-3 + 4 / n ? (double)INFINITY : highest - found;
    if (modulation->n_bits == 1)
        count(view, modulation_get(SOFTQAM_MODULATION_QPSK), scale, axes);
    double least = found - likelihood(axes, noise);
    for (int axis = 0; of_worse && axis < 2 && modulation->n_bits > 1; axis++) {
        const struct histogram one[2] = {axes[axis], {.n = 0}};
        least = fmin(least, likelihood(one, points) - likelihood(one, noise)); /* both have the same points */
    }
    return (struct measure){least, gap};
}

/* Returns the factor that brings all but outliers to unit energy; 0 if there is none. */
static double unit_scale(const struct fit_view *view)
{
    const softqam_demodulator_config config = {.input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
    struct noise_estimate estimate = {.limit = noise_energy_limit(&config, view->symbols, view->n)};
    noise_estimate_add(&estimate, &config, 0, view->symbols, view->n);
    return estimate.energy > 0 ? 1 / sqrt(noise_estimate_energy(&estimate)) : 0;
}

/* Returns the best fit of a modulation at any scale near that of unit energy, to which noise adds, and the scale. */
static double fit_any_scale(const struct fit_view *view, softqam_modulation modulation, bool of_worse, double *scale)
{
    const double unit = unit_scale(view);
    double best = -9;
    *scale = unit;
    for (int k = 0; unit > 0 && k < 22; k++) { /* coarse steps, then fine ones around the best */
        const double tried = k < 15 ? unit * (0.97 + 0.03 * k) : *scale * (k == 15 ? 0.98 : 1.006);
        const double got = measure(view, modulation, tried, of_worse).fit;
        if (got > best || k >= 15)
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
    return found > 0.1 && fabs(scale / (double)config->input_scale - 1) > 0.02 ? scale : (double)config->input_scale;
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

/* The changes that are tried besides other modulations and scales. */
enum change { AS_READ, WITHOUT_MEAN, TURNED, SPINNING, CONJUGATED, AS_FORMAT, N_CHANGES };

/* The gain that a change must bring: less than its cause does where it matters, more than chance gives. */
static const double costs[N_CHANGES] = {0, 0.05, 0.1, 0.12, 0.03, 0.15};
static const double modulation_cost = 0.015, scale_cost = 0.05, rare_cost = 0.12;
static const double least_fit = 0.03, least_changed_fit = 0.18, least_foreign_fit = 0.25;

struct trial {
    enum change change;
    enum file_format format;
    softqam_modulation modulation;
    bool other_scale;
    double scale, score, amount; /* what was taken away: the mean, or degrees, or degrees a symbol */
};

static double remove_mean(struct fit_view *view)
{
    double sums[2] = {0, 0};
    for (size_t i = 0; i < 2 * view->n; i++)
        sums[i % 2] += (double)view->symbols[i] / (double)view->n;
    for (size_t i = 0; i < 2 * view->n; i++)
        view->symbols[i] -= (float)sums[i % 2];
    return hypot(sums[0], sums[1]);
}

/* Turns symbols to where the constellation has its points: their power has one phase, for BPSK the second, else the
 * fourth. With `spins` by another angle each, found from lags that become longer. Returns degrees, per symbol if so. */
static double straighten(struct fit_view *view, const struct modulation *modulation, bool spins)
{
    static double complex powers[FIT_SYMBOLS];
    const bool is_bpsk = modulation->n_bits == 1;
    const double order = is_bpsk ? 2 : 4, reference = is_bpsk ? acos(-1) / 2 : acos(-1);
    double complex sum = 0;
    double step = 0;
    for (size_t i = 0; i < view->n; i++) {
        double complex y = (double)view->symbols[2 * i] + I * (double)view->symbols[2 * i + 1];
        y *= modulation->rotates && (view->position + i) % 2 ? -I : 1;
        const double energy = creal(y) * creal(y) + cimag(y) * cimag(y);
        powers[i] = !(energy > 0 && energy <= DBL_MAX) ? 0 : is_bpsk ? y * y / sqrt(energy) : y * y / energy * y * y;
    }
    for (size_t lag = 1; spins && lag < view->n / 2; lag *= 2) {
        sum = 0;
        for (size_t i = lag; i < view->n; i++)
            sum += powers[i] * conj(powers[i - lag]);
        step += carg(sum * cexp(-I * step * (double)lag)) / (double)lag;
    }
    sum = 0;
    for (size_t i = 0; i < view->n; i++)
        sum += powers[i] * cexp(-I * step * (double)i);
    const double angle = carg(sum * cexp(-I * reference)) / order;
    for (size_t i = 0; i < view->n; i++) {
        const double complex y = ((double)view->symbols[2 * i] + I * (double)view->symbols[2 * i + 1]) *
                                 cexp(-I * (angle + step / order * (double)i));
        view->symbols[2 * i] = (float)creal(y);
        view->symbols[2 * i + 1] = (float)cimag(y);
    }
    return (spins ? step / order : angle) * 180 / acos(-1);
}

/* Returns whether symbols are floats and of like size, as other formats' bytes are not if they are read as floats. */
static bool are_floats(enum file_format format, const struct fit_view *view)
{
    const softqam_demodulator_config config = {.input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
    const double median = noise_energy_limit(&config, view->symbols, view->n) / 64;
    size_t n = 0;
    for (size_t i = 0; i < 2 * view->n; i++) {
        const double energy = (double)view->symbols[i] * (double)view->symbols[i];
        n += energy > 0x1p-40 * median && energy < 0x1p40 * median;
    }
    return file_formats[format].scale == 1 && format != FILE_CF16 && (double)n > 1.9 * (double)view->n;
}

/* Reads bytes with the other zero, signed or not: BPSK and QPSK have points then, too, with another share of noise.
 * Returns the format and the scale that fit; no change if none does. */
static struct trial find_twin(const struct demod_run *run, const struct trial *trial)
{
    static struct fit_view view;
    const enum file_format given = run->recording.format;
    struct trial twin = {.change = AS_FORMAT, .format = given == FILE_CS8 ? FILE_CU8 : FILE_CS8};
    if (trial->change != AS_READ || !trial->other_scale || file_formats[given].symbol_nbytes != 2)
        return (struct trial){.change = AS_READ};
    fit_load(run, twin.format, &view);
    twin.modulation = trial->modulation;
    twin.score = fit_any_scale(&view, twin.modulation, true, &twin.scale);
    const double least = modulation_get(twin.modulation)->n_bits <= 2 ? 0.1 : 0.8 * trial->score;
    const bool is_full = measure(&view, twin.modulation, twin.scale, false).gap < 0.1 + 0.1 * twin.score;
    return twin.score > least && is_full ? twin : (struct trial){.change = AS_READ};
}

static void try_all(const struct demod_run *run, struct trial trial, struct trial *best)
{
    static struct fit_view view;
    const struct demod_options *options = run->options;
    const softqam_modulation given = run->config->modulation;
    const bool is_foreign = trial.change == AS_FORMAT,
               any = trial.change == AS_READ || (is_foreign && !options->modulation_given);
    fit_load(run, trial.format, &view);
    if (trial.change == WITHOUT_MEAN)
        trial.amount = remove_mean(&view) * (double)run->config->input_scale;
    if (trial.change == TURNED || trial.change == SPINNING)
        trial.amount = straighten(&view, modulation_get(given), trial.change == SPINNING);
    if (trial.change == TURNED && fabs(trial.amount) < 1.5)
        return;
    for (size_t i = 1; trial.change == CONJUGATED && i < 2 * view.n; i += 2)
        view.symbols[i] = -view.symbols[i];
    const bool is_rare = is_foreign && (trial.format == FILE_CS32 || trial.format == FILE_CS32_BE);
    const double own_cost = costs[trial.change] + is_rare * rare_cost;
    const double least = is_foreign ? least_foreign_fit : trial.change == AS_READ ? least_fit : least_changed_fit;
    const double chance = 40 / (2.0 * (double)view.n + 1);
    for (int k = SOFTQAM_MODULATION_BPSK; k <= MODULATION_COUNT; k++) {
        trial.modulation = (softqam_modulation)k;
        for (int other = 0; other < 2 && (any || trial.modulation == given); other++) {
            const double cost = own_cost + other * scale_cost + (trial.modulation != given) * modulation_cost;
            trial.other_scale = other;
            trial.scale = is_foreign && !options->scale_given ? (double)file_formats[trial.format].scale
                                                              : (double)run->config->input_scale;
            const double got = other ? fit_any_scale(&view, trial.modulation, is_foreign, &trial.scale)
                                     : measure(&view, trial.modulation, trial.scale, is_foreign).fit;
            if (other && !is_foreign && fabs(trial.scale / (double)run->config->input_scale - 1) < 0.02)
                continue; /* rounding gains as much */
            if (other && is_foreign && file_formats[trial.format].symbol_nbytes == 2 &&
                file_formats[run->recording.format].symbol_nbytes == 2)
                continue; /* QPSK looks alike */
            trial.score = got - cost - (cost > 0 ? chance : 0);
            if (trial.score <= best->score + 0.05 * fabs(best->score) || got < least)
                continue;
            /* Lumps, or an even spread, have a gap. */
            if (measure(&view, trial.modulation, trial.scale, false).gap < 0.1 + 0.1 * got || cost == 0)
                *best = trial;
        }
    }
}

/* Returns whether a format of 32-bit integers would have floats. */
static bool has_floats(const struct demod_run *run, int format)
{
    static struct fit_view view;
    const enum file_format twin = format == FILE_CS32 ? FILE_CF32 : FILE_CF32_BE;
    if (format != FILE_CS32 && format != FILE_CS32_BE)
        return false;
    fit_load(run, twin, &view);
    return are_floats(twin, &view);
}

/* Finds what fits best, the command's own included; other formats only if the density is that of no noisy
 * constellation, and nothing else of one change fits. */
static struct trial find_best(const struct demod_run *run, bool looks_foreign)
{
    const enum file_format given = run->recording.format;
    const bool is_bpsk = modulation_get(run->config->modulation)->n_bits == 1;
    struct trial best = {.score = -9, .modulation = run->config->modulation};
    for (int change = AS_READ; change <= CONJUGATED; change++)
        if (change < CONJUGATED || is_bpsk)
            try_all(run, (struct trial){.change = (enum change)change, .format = given}, &best);
    const struct trial twin = find_twin(run, &best);
    if (twin.change == AS_FORMAT && fabs(twin.scale / (double)run->config->input_scale - 1) < 0.04)
        return twin; /* as it is */
    const int n_changes = (best.change != AS_READ) + best.other_scale + (best.modulation != run->config->modulation);
    if (!looks_foreign || (n_changes == 1 && best.score > least_foreign_fit && !has_floats(run, (int)given)))
        return best;
    const struct trial native = best; /* of several changes, which any bytes may seem to have */
    best = (struct trial){.score = least_fit};
    for (int format = 0; format < N_FILE_FORMATS; format++)
        if (format != (int)given && run->n_first_bytes >= file_formats[format].symbol_nbytes * FIT_MIN_SYMBOLS &&
            !has_floats(run, format))
            try_all(run, (struct trial){.change = AS_FORMAT, .format = (enum file_format)format}, &best);
    return best.change == AS_FORMAT ? best : native;
}

/* Writes what would make the symbols fit. */
static void describe(const struct demod_run *run, const struct trial *best, char text[256])
{
    char change[96] = "", modulation[32] = "", scale[128] = "";
    const struct trial twin = find_twin(run, best);
    if (best->change == WITHOUT_MEAN)
        snprintf(change, sizeof change, " without their mean of %.3g (a DC offset)", best->amount);
    if (best->change == TURNED)
        snprintf(change, sizeof change, " if turned back by %.1f degrees", best->amount);
    if (best->change == SPINNING)
        snprintf(change, sizeof change, " if turned back by %.3g degrees a symbol (a frequency offset)", best->amount);
    if (best->change == CONJUGATED)
        snprintf(change, sizeof change, " with --conjugate");
    if (best->change == AS_FORMAT)
        snprintf(change, sizeof change, " with -i %s%s", file_formats[best->format].suffixes[0] + 1,
                 best->format == FILE_CS16_BE && run->recording.format == FILE_CS16
                     ? " (or an odd number of --header-bytes)"
                     : "");
    if (best->modulation != run->config->modulation)
        snprintf(modulation, sizeof modulation, "%s -m %s", *change ? " and" : " with",
                 modulation_get(best->modulation)->option);
    if (best->other_scale)
        snprintf(scale, sizeof scale,
                 run->options->scale_auto ? "%s --input-scale 1/%.4g" : "%s --input-scale auto (about 1/%.4g)",
                 *change || *modulation ? " and" : " with", 1 / best->scale);
    if (twin.change == AS_FORMAT)
        snprintf(scale + strlen(scale), sizeof scale - strlen(scale), ", or with -i %s, which looks the same",
                 file_formats[twin.format].suffixes[0] + 1);
    snprintf(text, 256, "%s%s%s", change, modulation, scale);
}

/* Returns how alike a component and the one `distance` before it are: +-1 if they are the same but for their sign, 0
 * for scrambled data. Alternate symbols change their sign if wanted, for pi/2-BPSK. */
static double likeness(const struct fit_view *view, size_t distance, bool alternates)
{
    double product = 0, energy = 0;
    for (size_t i = distance; i < 2 * view->n; i++) {
        const double x = (double)view->symbols[i], y = (double)view->symbols[i - distance];
        if (distance == 1 && i % 2 == 0)
            continue; /* another symbol */
        product += alternates && i / 2 % 2 ? -x * y : x * y;
        energy += (x * x + y * y) / 2;
    }
    return energy > 0 && energy <= DBL_MAX ? fabs(product / energy) : 0;
}

/* Returns the share of components that were limited. */
static double clipped_share(const struct fit_view *view)
{
    double n = 0;
    for (size_t i = 0; i < 2 * view->n; i++)
        n += is_limited(view, i);
    return n / 2 / (double)view->n;
}

bool fit_check(const struct demod_run *run)
{
    static struct fit_view view;
    const softqam_modulation given = run->config->modulation;
    const struct modulation *modulation = modulation_get(given);
    double scale;
    char text[256];
    fit_load(run, run->recording.format, &view);
    const struct measure found = measure(&view, given, (double)run->config->input_scale, false);
    const double alike = likeness(&view, 2, false);
    const bool is_diagonal = modulation->n_bits > 1 && fmax(likeness(&view, 1, false), likeness(&view, 1, true)) > 0.2;
    if (found.fit > 0.08 && found.gap < 0.02 + 120 / (double)view.n && alike < 0.3 && !is_diagonal)
        return true;
    const struct trial best = find_best(run, found.fit < 0.3 && (found.fit < -1 || found.gap > 0.04) &&
                                                 !are_floats(run->recording.format, &view));
    describe(run, &best, text);
    fit_any_scale(&view, given, false, &scale);
    const double clipped = clipped_share(&view);
    const bool others_fit = best.score > found.fit && *text, is_clipped = clipped > 0.03;
    const bool is_even = isinf(found.gap) && isinf(measure(&view, given, scale, false).gap);
    const double least = modulation->n_bits > 2 ? 0.002 + 2 / (double)view.n : -0.002; /* few bits take much noise */
    if (alike <= 0.3 && !others_fit && !is_even && !(isinf(found.gap) && !is_clipped) && found.fit >= least)
        return true;
    if (alike > 0.3)
        snprintf(text, sizeof text, ": neighbours are alike, as if there were several samples a symbol");
    else if (is_clipped)
        snprintf(text, sizeof text, ": %.0f %% of the samples are at the ends of their range, clipped", 100 * clipped);
    else if (!others_fit)
        snprintf(text, sizeof text, " at any scale, nor another modulation or format: they %s",
                 is_even ? "are spread evenly, as compressed data are" : "look like noise");
    message_warn(run->symbols.name, "the symbols do not fit %s%s%s", modulation->name,
                 *text == ':' || !others_fit ? "" : ", but would", text);
    return false;
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
                                                    : measure(&view, modulation, scale, false).fit;
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
