/* SPDX-License-Identifier: MIT */
/* Finds why symbols do not fit: tries other modulations, scales and formats, and removes a mean or a rotation. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "fit.h"

/* The changes that are tried besides other modulations and scales. */
enum change { AS_READ, WITHOUT_MEAN, TURNED, SPINNING, CONJUGATED, AS_FORMAT, N_CHANGES };

/* A change must improve the fit by more than its cost: chance improves it by less, and the right change by more if its
 * cause costs a receiver much. */
static const double costs[N_CHANGES] = {0, 0.05, 0.1, 0.12, 0.03, 0.15};
static const double modulation_cost = 0.015, scale_cost = 0.05;
static const double least_fit = 0.03, least_changed_fit = 0.18, least_foreign_fit = 0.25;

static const double most_clipped = 0.1; /* share of components; in right symbols, fading at 5 dB clips 0.06 */

enum { SURE = 9 /* a score above that of any fit */ };

struct trial {
    enum change change;
    enum file_format format;
    softqam_modulation modulation;
    bool other_scale;
    double scale;
    double score;  /* the fit less the costs of the changes */
    double amount; /* what was removed: the mean, degrees, or degrees a symbol */
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

static double complex powers[FIT_SYMBOLS]; /* raise_symbols() makes them */

/* Returns the median energy of symbols. */
static double median_energy(const struct fit_view *view)
{
    const softqam_demodulator_config config = {.input_format = SOFTQAM_INPUT_CF32, .input_scale = 1};
    return noise_energy_limit(&config, view->symbols, view->n) / 64;
}

/* Raises symbols to the power that removes the modulation from their mean phase: the second for BPSK, else the fourth.
 * Outer symbols weigh more, up to a limit. */
static void raise_symbols(const struct fit_view *view, const struct modulation *modulation, double median)
{
    const double largest = 2 * sqrt(median);
    for (size_t i = 0; i < view->n; i++) {
        double complex y = (double)view->symbols[2 * i] + I * (double)view->symbols[2 * i + 1];
        y *= modulation->rotates && (view->position + i) % 2 ? -I : 1;
        const double magnitude = sqrt(creal(y) * creal(y) + cimag(y) * cimag(y)), weight = fmin(magnitude, largest);
        const double complex phase = magnitude > 0 && magnitude <= DBL_MAX ? y / magnitude : 0;
        powers[i] = phase * phase * weight;
        if (modulation->n_bits > 1)
            powers[i] *= phase * phase * weight;
    }
}

static void turn(struct fit_view *view, double angle, double step)
{
    for (size_t i = 0; i < view->n; i++) {
        const double complex y = ((double)view->symbols[2 * i] + I * (double)view->symbols[2 * i + 1]) *
                                 cexp(I * (angle + step * (double)i));
        view->symbols[2 * i] = (float)creal(y);
        view->symbols[2 * i + 1] = (float)cimag(y);
    }
}

/* Removes a rotation from the symbols, or with `spins` a frequency offset, which is found from longer and longer lags.
 * Returns the degrees, or the degrees a symbol, that were removed. */
static double straighten(struct fit_view *view, const struct modulation *modulation, double median, bool spins)
{
    const bool is_bpsk = modulation->n_bits == 1;
    const double order = is_bpsk ? 2 : 4, reference = is_bpsk ? acos(-1) / 2 : acos(-1);
    double complex sum = 0;
    double step = 0;
    raise_symbols(view, modulation, median);
    for (size_t lag = 1; spins && lag < view->n / 2; lag *= 2) {
        sum = 0;
        for (size_t i = lag; i < view->n; i++)
            sum += powers[i] * conj(powers[i - lag]);
        step += carg(sum * cexp(-I * step * (double)lag)) / (double)lag;
    }
    sum = 0;
    for (size_t i = 0; i < view->n; i++)
        sum += powers[i] * (spins ? cexp(-I * step * (double)i) : 1);
    const double angle = carg(sum * cexp(-I * reference)) / order;
    if (spins || fabs(angle) > 0.02)
        turn(view, -angle, -step / order);
    return (spins ? step / order : angle) * 180 / acos(-1);
}

/* Turns symbols by the angle, of up to two degrees, at which they fit best. Returns it. */
static double turn_exactly(struct fit_view *view, softqam_modulation modulation, double scale)
{
    const double step = 0.5 * acos(-1) / 180;
    double best = -9;
    int chosen = 0;
    for (int k = -4; k <= 4; k++) {
        turn(view, k == -4 ? -4 * step : step, 0);
        const double got = fit_measure(view, modulation, scale, false).fit;
        chosen = got > best ? k : chosen;
        best = fmax(best, got);
    }
    turn(view, (chosen - 4) * step, 0);
    return 0.5 * chosen;
}

/* Returns whether the phase varies: neighbours agree in it, distant symbols do not. Requires raise_symbols(). */
static bool has_varying_phase(const struct fit_view *view)
{
    enum { BLOCK = 128 };
    double complex sum = 0, of_block = 0;
    double blocks = 0, all = 0;
    for (size_t i = 0; i < view->n; i++) {
        sum += powers[i];
        of_block = i % BLOCK ? of_block + powers[i] : powers[i];
        blocks += i % BLOCK == BLOCK - 1 ? creal(of_block * conj(of_block)) : 0;
        all += creal(powers[i] * conj(powers[i]));
    }
    const double near = (blocks / all - 1) / BLOCK, far = creal(sum * conj(sum)) / all / (double)view->n;
    return near > 3.0 / BLOCK && far < 0.3 * near;
}

/* Returns whether the second half of the symbols seems rotated against the first, by so little that all may still fit.
 */
static bool turns_slowly(const struct fit_view *view, const struct modulation *modulation, double median)
{
    double complex halves[2] = {0, 0};
    raise_symbols(view, modulation, median);
    for (size_t i = 0; i < view->n; i++)
        halves[2 * i >= view->n] += powers[i];
    return fabs(carg(halves[1] * conj(halves[0]))) > 0.15; /* 2 degrees; for BPSK 4 */
}

/* Returns a component, limited because fading makes large ones; 0 if the symbol is not finite. */
static double limited(const struct fit_view *view, size_t i, double largest)
{
    const double x = (double)view->symbols[i], other = (double)view->symbols[i ^ 1];
    return fabs(x) + fabs(other) <= DBL_MAX ? fmax(fmin(x, largest), -largest) : 0;
}

/* Scrambled data make I and Q independent and equally large. Writes how they are not, else "". Sets *one_sided if
 * nearly all components of each have one sign. */
static void describe_balance(const struct fit_view *view, double median, const struct modulation *modulation,
                             char text[256], bool *one_sided)
{
    const double largest = sqrt(4 * median);
    double sizes[2] = {0, 0}, sums[2] = {0, 0}, product = 0, energy = 0;
    *text = '\0';
    for (size_t i = 0; i < view->n; i++) {
        double x[2];
        for (int k = 0; k < 2; k++) {
            x[k] = limited(view, 2 * i + (size_t)k, largest);
            sizes[k] += fabs(x[k]);
            sums[k] += x[k];
        }
        product += x[0] * x[1];
        energy += (x[0] * x[0] + x[1] * x[1]) / 2;
    }
    const double n = (double)view->n, ratio = sizes[0] / sizes[1], chance = 4 / sqrt(n);
    const double likeness = (product - sums[0] * sums[1] / n) / energy;
    *one_sided = fabs(sums[0]) > 0.5 * sizes[0] && fabs(sums[1]) > 0.5 * sizes[1];
    if (modulation->n_bits == 1)
        return;
    if (fabs(likeness) > 0.05 + chance)
        snprintf(text, 256, ": I and Q are not independent: their correlation is %.2g", likeness);
    else if (fabs(log(ratio)) > 0.05 + chance)
        snprintf(text, 256, ": I is %.3g times as large as Q", ratio);
}

/* Returns whether symbols are in a format of floats and of similar size. Bytes of other formats, read as floats, are
 * not. */
static bool are_floats(enum file_format format, const struct fit_view *view, double median)
{
    size_t n = 0;
    for (size_t i = 0; i < 2 * view->n; i++) {
        const double energy = (double)view->symbols[i] * (double)view->symbols[i];
        n += energy > 0x1p-40 * median && energy < 0x1p40 * median;
    }
    return file_formats[format].scale == 1 && format != FILE_CF16 && (double)n > 1.9 * (double)view->n &&
           median > 0x1p-100 && median < 0x1p100;
}

/* Tries cs8 for cu8 and cu8 for cs8: BPSK and QPSK may fit in both, at different scales. Returns the format and the
 * scale that fit; the change is AS_READ if none does. */
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
    const bool is_full = fit_measure(&view, twin.modulation, twin.scale, false).gap < 0.1 + 0.1 * twin.score;
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
        trial.amount = straighten(&view, modulation_get(given), median_energy(&view), trial.change == SPINNING);
    if (trial.change == TURNED)
        trial.amount -= turn_exactly(&view, given, (double)run->config->input_scale);
    if (fabs(trial.amount) < (trial.change == TURNED ? 1.5 : trial.change == SPINNING ? 5 / (double)view.n : 0))
        return;
    for (size_t i = 1; trial.change == CONJUGATED && i < 2 * view.n; i += 2)
        view.symbols[i] = -view.symbols[i];
    const double own_cost = costs[trial.change];
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
                                     : fit_measure(&view, trial.modulation, trial.scale, is_foreign).fit;
            if (other && !is_foreign && fabs(trial.scale / (double)run->config->input_scale - 1) < 0.02)
                continue; /* rounding to integers may improve the fit as much */
            if (other && is_foreign && fabs(log2(trial.scale / (double)file_formats[trial.format].scale)) > 10)
                continue; /* no signal has such a scale, but numbers that are no symbols may fit at it */
            if (other && is_foreign && file_formats[trial.format].symbol_nbytes == 2 &&
                file_formats[run->recording.format].symbol_nbytes == 2)
                continue; /* QPSK fits in both formats: see find_twin() */
            trial.score = got - cost - (cost > 0 ? chance : 0);
            if (trial.score <= best->score + 0.05 * fabs(best->score) || got < least)
                continue;
            /* Lumps and a uniform spread leave a gap. */
            if (fit_measure(&view, trial.modulation, trial.scale, false).gap < 0.1 + 0.1 * got || cost == 0)
                *best = trial;
        }
    }
}

/* Returns the size of a component, the distance at which the bytes' statistics repeat; 0 if they do not show it. */
static size_t component_nbytes(const struct demod_run *run)
{
    enum { MAX_NBYTES = 8, BINS = 32, ENOUGH = 16384 };
    for (size_t nbytes = 1; nbytes <= MAX_NBYTES; nbytes *= 2) {
        double counts[2 * MAX_NBYTES][BINS] = {0}, most = 0, from_even = 0;
        const size_t period = 2 * nbytes, n = (run->n_first_bytes < ENOUGH ? run->n_first_bytes : ENOUGH) / period;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < period; k++)
                counts[k][run->first_bytes[i * period + k] * BINS / 256]++;
        for (size_t k = 0; k < nbytes; k++) {
            double distance = 0;
            for (int b = 0; b < BINS; b++) {
                const double first = counts[k][b] / (double)n, second = counts[k + nbytes][b] / (double)n;
                distance += fabs(first - second) / 2;
                from_even += fabs((first + second) / 2 - 1.0 / BINS) / 2 / (double)nbytes;
            }
            most = fmax(most, distance);
        }
        if (from_even < 0.08)
            return 0;
        if (most < 0.03 + 4.5 / sqrt((double)n) && most < 0.7 * from_even)
            return nbytes;
    }
    return 0;
}

/* Returns whether the bytes can be symbols of a format. In the given format I and Q may have different statistics. */
static bool may_be(const struct demod_run *run, int format)
{
    const size_t nbytes = file_formats[format].symbol_nbytes, seen = component_nbytes(run);
    return run->n_first_bytes >= nbytes * FIT_MIN_SYMBOLS &&
           (seen == 0 || nbytes == 2 * seen || (nbytes == seen && format == (int)run->recording.format));
}

static bool has_offset(const struct file_format_row *row)
{
    return row->value == FILE_CU8 || row->value == FILE_CU8_HALF;
}

/* Finds the format in which symbols fit without any other change; the change is AS_READ if there is none. */
static struct trial find_as_is(const struct demod_run *run)
{
    static struct fit_view view;
    const struct file_format_row *given = &file_formats[run->recording.format];
    const bool is_free = !run->options->modulation_given,
               has_scale = run->options->scale_given && !run->options->scale_auto;
    struct trial best = {.change = AS_READ, .score = 0.1};
    for (int format = 0; format < N_FILE_FORMATS; format++) {
        const struct file_format_row *row = &file_formats[format];
        const bool is_alike = row == given || (has_offset(row) && has_offset(given));
        if (is_alike || !may_be(run, format))
            continue;
        fit_load(run, (enum file_format)format, &view);
        for (int k = SOFTQAM_MODULATION_BPSK; k <= MODULATION_COUNT; k++) {
            const softqam_modulation modulation = (softqam_modulation)k, wanted = run->config->modulation;
            const double scale = has_scale ? (double)run->config->input_scale : (double)row->scale;
            if (modulation != wanted && !is_free)
                continue;
            const struct fit_measure got = fit_measure(&view, modulation, scale, true);
            const double score = got.fit - (modulation != wanted) * modulation_cost;
            if (score > 1.01 * best.score && got.gap < 0.03 + (modulation == wanted) * 0.02 + 120 / (double)view.n)
                best = (struct trial){AS_FORMAT, (enum file_format)format, modulation, false, scale, score, 0};
        }
    }
    best.score = best.change == AS_FORMAT ? SURE : best.score;
    return best;
}

/* Finds the changes with which the symbols fit best, if any. Other formats are tried only if `looks_foreign`: the
 * density is that of no noisy constellation. Another format without other changes is likelier than another scale, and
 * both are likelier than several changes. */
static struct trial find_best(const struct demod_run *run, bool looks_foreign)
{
    const enum file_format given = run->recording.format;
    const softqam_modulation modulation = run->config->modulation;
    struct trial best = {.score = -9, .modulation = modulation};
    for (int change = AS_READ; change <= CONJUGATED && may_be(run, given); change++)
        if (change < CONJUGATED || modulation_get(modulation)->n_bits == 1)
            try_all(run, (struct trial){.change = (enum change)change, .format = given}, &best);
    const int n_changes = (best.change != AS_READ) + best.other_scale + (best.modulation != modulation);
    const struct trial as_is = n_changes || looks_foreign ? find_as_is(run) : best;
    const bool is_likelier = n_changes != 1 || as_is.modulation == modulation || best.score < least_foreign_fit;
    if (as_is.change == AS_FORMAT && is_likelier)
        return as_is;
    if (!looks_foreign || (n_changes == 1 && best.score > least_foreign_fit))
        return best;
    /* With several changes any bytes may seem to fit. Another modulation and scale are likelier than another format
     * with them. */
    const struct trial native = best;
    const bool is_likely = native.change == AS_READ && may_be(run, given);
    best = (struct trial){.score = is_likely ? native.score : least_fit};
    for (int format = 0; format < N_FILE_FORMATS; format++)
        if (format != (int)given && may_be(run, format))
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

/* Returns the magnitude of the correlation between components `distance` apart: 1, I with Q of a symbol, or 2,
 * neighbours. It is 0 for scrambled data. With `alternates` odd symbols change their sign, as for pi/2-BPSK. */
static double likeness(const struct fit_view *view, double median, size_t distance, bool alternates)
{
    const double largest = sqrt(4 * median);
    double product = 0, energy = 0, means[2] = {0, 0};
    static double x[2 * FIT_SYMBOLS];
    for (size_t i = 0; i < 2 * view->n; i++) {
        x[i] = limited(view, i, largest);
        means[i % 2] += x[i] / (double)view->n;
    }
    for (size_t i = distance; i < 2 * view->n; i += 3 - distance) { /* I with the same symbol's Q */
        const double own = x[i] - means[i % 2], other = x[i - distance] - means[(i - distance) % 2];
        product += alternates && i / 2 % 2 ? -own * other : own * other;
        energy += (own * own + other * other) / 2;
    }
    return energy > 0 && energy <= DBL_MAX ? fabs(product / energy) : 0;
}

/* Returns the share of components that lie at an end of their range. */
static double clipped_share(const struct fit_view *view)
{
    double n = 0;
    for (size_t i = 0; !isinf(view->limit) && i < 2 * view->n; i++)
        n += fit_is_limited(view, i);
    return n / 2 / (double)view->n;
}

void fit_describe_format(const struct demod_run *run, char text[256])
{
    struct trial best = find_as_is(run);
    *text = '\0';
    if (best.change == AS_FORMAT)
        describe(run, &best, text);
}

/* Returns whether the quarters of the symbols differ in energy, and either one has less than the points have, or they
 * fit at different scales. */
static bool has_varying_size(const struct fit_view *view, double median, softqam_modulation modulation,
                             double given_scale)
{
    static struct fit_view part;
    const size_t n = view->n / 4;
    double least = DBL_MAX, most = 0, gain = 0;
    for (size_t k = 0; k < 4; k++) {
        double energy = 0, n_finite = 0;
        for (size_t i = 2 * k * n; i < 2 * (k + 1) * n; i++) {
            const double x = limited(view, i, 2 * sqrt(median));
            energy += x * x;
            n_finite += x != 0;
        }
        least = fmin(least, 2 * energy / n_finite);
        most = fmax(most, 2 * energy / n_finite);
    }
    if (most < 1.2 * least)
        return false;
    if (least * given_scale * given_scale < 0.75)
        return true;
    part = *view;
    part.n = n;
    if (n < FIT_MIN_SYMBOLS)
        return false;
    least = DBL_MAX;
    most = 0;
    for (size_t k = 0; k < 4; k++) {
        double scale;
        part.position = view->position + k * part.n;
        memcpy(part.symbols, view->symbols + 2 * k * part.n, 2 * part.n * sizeof *part.symbols);
        const double best = fit_any_scale(&part, modulation, false, &scale);
        if (best < 0.1)
            return false;
        gain = fmax(gain, best - fit_measure(&part, modulation, given_scale, false).fit);
        least = fmin(least, scale);
        most = fmax(most, scale);
    }
    return most > 1.1 * least && gain > 0.05;
}

/* Returns whether the outermost two levels of an axis are hardly used. */
static bool lacks_outer_points(const struct fit_view *view, const struct modulation *modulation, double scale)
{
    const double n_levels = 1 << modulation->axis_bits, limit = (n_levels - 2) / sqrt(modulation->energy);
    double n = 0;
    for (size_t i = 0; i < 2 * view->n; i++)
        n += fabs((double)view->symbols[i]) * scale > limit;
    return n < 0.1 * 2 / n_levels * 2 * (double)view->n;
}

/* Returns whether the symbols, whose fit is `found`, are as the command says. If not, `best` gets the changes with
 * which they would be. */
static bool fits_as_given(const struct demod_run *run, const struct fit_view *view, double median,
                          struct fit_measure found, bool is_odd, struct trial *best)
{
    const double most_gap = 0.02 + 120 / (double)view->n;
    const bool is_good = found.fit > 0.08 && found.gap < most_gap && !is_odd;
    *best = (struct trial){.change = AS_READ};
    const enum file_format given = run->recording.format;
    const size_t seen = are_floats(given, view, median) ? 0 : component_nbytes(run);
    if (seen > 0 && file_formats[given].symbol_nbytes != 2 * seen)
        *best = find_best(run, true); /* pairs of integers that are read as one integer may fit at another scale */
    if (is_good && best->change == AS_READ && turns_slowly(view, modulation_get(run->config->modulation), median)) {
        *best = (struct trial){.score = found.fit, .modulation = run->config->modulation};
        try_all(run, (struct trial){.change = SPINNING, .format = given}, best);
    }
    if (!is_good && best->change == AS_READ)
        *best = find_best(run, found.fit < 0.3 && (found.fit < -1 || found.gap > fmax(0.04, most_gap)) &&
                                   !are_floats(given, view, median));
    return is_good && best->change == AS_READ;
}

bool fit_check(const struct demod_run *run, const struct fit_view *view)
{
    static struct fit_view first; /* fewer symbols, enough for the simple checks */
    const softqam_modulation given = run->config->modulation;
    const struct modulation *modulation = modulation_get(given);
    struct trial best;
    double scale;
    char text[256], balance[256];
    bool one_sided;
    first = *view;
    first.n = view->n < 3000 ? view->n : 3000;
    const struct fit_measure found = fit_measure(view, given, (double)run->config->input_scale, false);
    const double median = median_energy(view), clipped = clipped_share(view),
                 alike = likeness(&first, median, 2, false);
    const bool is_diagonal =
        modulation->n_bits > 1 && fmax(likeness(&first, median, 1, false), likeness(&first, median, 1, true)) > 0.2;
    describe_balance(&first, median, modulation, balance, &one_sided);
    const double turn_limit = modulation->n_bits > 6 ? 6.5 : 4; /* degrees: three standard deviations of the estimate */
    const bool is_turned = fabs(straighten(&first, modulation, median, false)) > turn_limit,
               varies = has_varying_phase(&first);
    const bool fades = has_varying_size(view, median, given, (double)run->config->input_scale),
               is_cut = lacks_outer_points(view, modulation, (double)run->config->input_scale);
    const bool is_odd = alike > 0.3 || varies || one_sided || fades || is_cut || *balance || clipped > most_clipped;
    if (fits_as_given(run, view, median, found, is_odd || is_diagonal || is_turned, &best))
        return true;
    describe(run, &best, text);
    fit_any_scale(view, given, false, &scale);
    const bool others_fit = *text && best.score > found.fit, is_foreign = others_fit && best.change == AS_FORMAT;
    const bool is_clipped = clipped > 0.03;
    const bool is_even = isinf(found.gap) && isinf(fit_measure(view, given, scale, false).gap);
    const double least = modulation->n_bits > 2 ? 0.002 + 2 / (double)view->n
                                                : -0.002; /* modulations of few bits are usable in strong noise */
    const bool has_other_points = !isinf(found.gap) && found.gap > 0.2 + 400 / (double)view->n;
    const bool is_noisy = !is_even && !(isinf(found.gap) && !is_clipped) && found.fit >= least;
    if (!others_fit && is_noisy && !has_other_points && !is_odd)
        return true;
    if (is_foreign)
        *balance = '\0';
    else if (alike > 0.3)
        snprintf(text, sizeof text, ": neighbours are alike, as if there were several samples a symbol");
    else if (varies && is_noisy && best.change != SPINNING)
        snprintf(text, sizeof text, ": their phase varies");
    else if (one_sided && best.change != WITHOUT_MEAN)
        snprintf(text, sizeof text, ": nearly all have one sign");
    else if (fades && !others_fit)
        snprintf(text, sizeof text, ": their size varies, as before an equaliser");
    else if (*balance && is_noisy && best.change != WITHOUT_MEAN && (best.modulation == given || !others_fit))
        snprintf(text, sizeof text, "%s", balance);
    else if (is_cut && !is_clipped && !others_fit)
        snprintf(text, sizeof text, ": none is near the outer points, as if they were clipped or too small");
    else if (is_clipped)
        snprintf(text, sizeof text, ": %.0f %% of the samples are at the ends of their range, clipped", 100 * clipped);
    else if (!others_fit)
        snprintf(text, sizeof text, " at any scale, nor another modulation or format: they %s",
                 is_even            ? "are spread evenly, as compressed data are"
                 : has_other_points ? "have other points"
                                    : "look like noise");
    message_warn(run->symbols.name, "the symbols do not fit %s%s%s", modulation->name,
                 *text == ':' || !others_fit ? "" : ", but would", text);
    return false;
}
