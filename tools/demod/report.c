/* SPDX-License-Identifier: MIT */
/* Prints progress, warnings and reports on standard error. Estimates the scale and the noise variance. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "demod.h"

/* Estimates are made from this many symbols at most, before any is demodulated, so that they work on a pipe too. */
#define ESTIMATE_SYMBOLS ((size_t)262144)

enum { N_ROUNDS = 4 /* iterations that find the scale from the noise variance and that from the scale */ };

/* Nobody demodulates symbols in stronger noise: 6 dB above symbols of one or two bits, or as strong as others. */
static double largest_noise_var(softqam_modulation modulation)
{
    return softqam_bits_per_symbol(modulation) <= 2 ? 4 : 1;
}

/* Sets the configuration's input_scale so that the symbols have mean energy 1 + N0. N0 is noise_var or, if that is 0,
 * estimated from the symbols. Returns how many symbols are finite, or 0 if no scale fits. `position` is the first
 * symbol's in its codeword. */
static uint64_t scale_estimate(softqam_demodulator_config *config, double noise_var, uint64_t position,
                               const void *symbols, size_t n_symbols)
{
    const float first_scale = config->input_scale;
    const bool is_given = noise_var > 0;
    struct noise_estimate first = {.limit = noise_energy_limit(config, symbols, n_symbols)};
    noise_estimate_add(&first, config, position, symbols, n_symbols);
    for (int round = 0; first.energy > 0 && round < (is_given ? 1 : N_ROUNDS); round++) {
        const double scale = (double)first_scale * sqrt((1 + noise_var) / noise_estimate_energy(&first));
        config->input_scale = (float)fmin(fmax(scale, FLT_MIN), FLT_MAX);
        struct noise_estimate scaled = {.limit = noise_energy_limit(config, symbols, n_symbols)};
        noise_estimate_add(&scaled, config, position, symbols, n_symbols);
        noise_var = fmin(noise_estimate_variance(&scaled, config->modulation), largest_noise_var(config->modulation));
    }
    if (first.energy > 0)
        config->input_scale =
            (float)fmin(fmax(demod_fit_scale(config, position, symbols, n_symbols), FLT_MIN), FLT_MAX);
    return first.energy > 0 ? first.n_symbols : 0;
}

/* Estimates scale and noise from the first n symbols, in the library's format. */
static bool estimate(struct demod_run *run, const void *symbols, size_t n_symbols)
{
    const char *name = run->symbols.name;
    const uint64_t position = run->options->skip;
    const enum noise_kind kind = run->options->noise;
    struct noise_estimate noise = {0};
    if (run->options->scale_auto) {
        const double noise_var = kind == NOISE_VALUE ? (double)run->noise_var : 0;
        run->n_scale_symbols = scale_estimate(run->config, noise_var, position, symbols, n_symbols);
        if (run->n_scale_symbols == 0)
            return message_print(name, "no finite symbol but zeros among the first %zu to estimate --input-scale from",
                                 n_symbols);
        if (run->config->input_scale <= FLT_MIN || run->config->input_scale >= FLT_MAX)
            return message_print(name, "the symbols are too %s for --input-scale auto",
                                 run->config->input_scale > 1 ? "small" : "large");
    }
    if (kind != NOISE_AUTO)
        return true;
    noise.limit = noise_energy_limit(run->config, symbols, n_symbols);
    noise_estimate_add(&noise, run->config, position, symbols, n_symbols);
    run->n_noise_symbols = noise.n_symbols;
    /* Without noise the estimate is 0, and at a wrong scale it may overflow. */
    run->noise_var = (float)fmin(fmax(noise_estimate_variance(&noise, run->config->modulation), FLT_MIN), FLT_MAX);
    return noise_estimate_energy(&noise) > 0 ||
           message_print(name, "no finite symbol%s among the first %zu to estimate the noise variance from",
                         noise.n_symbols ? " but zeros" : "", ESTIMATE_SYMBOLS);
}

bool demod_estimate(struct demod_run *run)
{
    size_t n = 0;
    if (run->n_noise_symbols > 0 || run->n_scale_symbols > 0 ||
        (run->options->noise != NOISE_AUTO && !run->options->scale_auto))
        return true;
    const size_t nbytes = run->symbols.symbol_nbytes;
    void *symbols = malloc(ESTIMATE_SYMBOLS * (nbytes > FORMAT_ROOM ? nbytes : FORMAT_ROOM));
    if (!symbols)
        return message_print(NULL, "out of memory");
    bool good = input_file_read(&run->symbols, symbols, ESTIMATE_SYMBOLS * nbytes, &n) &&
                input_file_put_back(&run->symbols, symbols, n);
    if (good && n >= nbytes) {
        demod_take_channel(run, symbols, n / nbytes);
        demod_convert(run->options, run->recording.format, symbols, n / nbytes);
        good = estimate(run, symbols, n / nbytes);
    }
    free(symbols);
    return good;
}

static const double seconds_between_lines = 0.25;

void demod_progress(const struct demod_run *run, uint64_t n_done, double *due)
{
    const double now = clock_seconds(), done = (double)n_done, total = (double)run->n_symbols;
    if (!run->options->show_progress || (now < *due && n_done < run->n_symbols))
        return;
    *due = now + seconds_between_lines;
    const double rate = done / (now - run->started + 1e-9);
    if (run->n_symbols == UINT64_MAX)
        message_print_transient("%" PRIu64 " symbols done, %.1f Msym/s", n_done, rate / 1e6);
    else
        message_print_transient("%.1f %% of %" PRIu64 " symbols done, %.1f Msym/s, %.0f s left",
                                100 * done / fmax(total, 1), run->n_symbols, rate / 1e6,
                                (total - done) / (rate + 1e-9));
}

bool demod_warn(const struct demod_run *run)
{
    const struct demod_options *options = run->options;
    if (options->quiet && !options->strict)
        return true;
    demod_check_symbols(run);
    return !options->strict || message_n_warnings() == 0;
}

/* Prints estimates and the result of --verify. */
static void report_findings(const struct demod_run *run)
{
    const char *name = run->symbols.name;
    const double scale = (double)run->config->input_scale, noise_var = (double)run->noise_var;
    const uint64_t n = run->n_demodulated, n_checked = run->verifier.n_checked;
    const bool u8 = run->config->output_format == SOFTQAM_OUTPUT_U8;
    if (run->options->modulation_auto)
        message_print(name, "%s fits best", modulation_get(run->config->modulation)->name);
    if (run->recording.has_hash)
        message_print(run->recording.meta_path, "core:sha512 is not checked");
    if (run->n_scale_symbols > 0)
        message_print(name, "input scale %.6g (1/%.6g), estimated from %" PRIu64 " symbol%s", scale, 1 / scale,
                      run->n_scale_symbols, PLURAL(run->n_scale_symbols));
    if (run->n_noise_symbols > 0)
        message_print(name, "noise variance %.6g (Es/N0 %.2f dB), estimated from %" PRIu64 " symbol%s", noise_var,
                      10 * log10(1 / noise_var), run->n_noise_symbols, PLURAL(run->n_noise_symbols));
    if (run->options->verify)
        message_print("verify", "%" PRIu64 " of %" PRIu64 " symbol%s checked, every %s is %s's%s", n_checked, n,
                      PLURAL(n), u8 ? "byte" : "LLR", run->verifier.reference,
                      !u8                                               ? " within the bound for binary32"
                      : run->config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? " with the opposite sign, within one step"
                                                                        : "");
}

bool demod_sees_all(const struct demod_run *run)
{
    enum { FEW = 65536 };
    return run->options->output_kind == OUTPUT_U8 || run->n_demodulated <= FEW;
}

static double bit_error_rate(const struct demod_run *run)
{
    return run->n_wrong ? (double)run->n_wrong / (double)run->n_compared : 0;
}

/* Returns decibels, rounded to a millionth. */
static double decibels(double noise_var) { return round(-1e7 * log10(noise_var)) / 1e6; }

/* A line of --stats: a text or, if that is NULL, a number; one that is not finite is printed as unknown. */
struct statistic {
    const char *name, *text;
    double number;
};

/* Prints each on a line, or all as one line of JSON, with null for unknown. */
static void print_statistics(const struct demod_run *run)
{
    const softqam_statistics *counted = &run->statistics;
    const struct noise_estimate sampled = {.n_symbols = counted->n_sampled,
                                           .energy = 0x1p-24 * (double)counted->symbol_energy,
                                           .error_energy = 0x1p-24 * (double)counted->error_energy};
    const struct noise_estimate *seen = demod_sees_all(run) ? &run->seen : &sampled;
    const softqam_modulation modulation = run->config->modulation;
    const enum noise_kind kind = run->options->noise;
    const double n_bits = softqam_bits_per_symbol(modulation);
    const double n = (double)run->n_demodulated, library = run->seconds_in_library;
    const double overall = clock_seconds() - run->started;
    const double n0 = kind == NOISE_VALUE || kind == NOISE_AUTO ? (double)run->noise_var : (double)NAN;
    const double estimated_n0 = noise_estimate_variance(seen, modulation);
    const struct statistic all[] = {
        {"version", softqam_version(), 0},
        {"input_format", file_formats[run->recording.format].suffixes[0] + 1, 0},
        {"output_format", sample_format_name(run->options->output_kind), 0},
        {"modulation", modulation_get(modulation)->option, 0},
        {"backend", softqam_backend_name(run->demodulator), 0},
        {"backend_detail", softqam_backend_detail(run->demodulator), 0},
        {"symbols", NULL, n},
        {"library_s", NULL, library},
        {"library_msym_s", NULL, n / library / 1e6},
        {"overall_s", NULL, overall},
        {"overall_msym_s", NULL, n / overall / 1e6},
        {"c_init", NULL, run->options->descrambles ? run->options->c_init : (double)NAN},
        {"input_scale", NULL, (double)run->config->input_scale},
        {"n0", NULL, n0},
        {"snr_db", NULL, decibels(n0)},
        {"saturated_share", NULL, n > 0 ? (double)counted->n_limited / n / n_bits : 0},
        {"erased", NULL, (double)counted->n_erased},
        {"energy", NULL, noise_estimate_energy(seen)},
        {"estimated_n0", NULL, estimated_n0},
        {"estimated_snr_db", NULL, decibels(estimated_n0)},
        {"evm", NULL, noise_estimate_evm(seen)},
        {"bits_compared", NULL, (double)run->n_compared},
        {"bits_wrong", NULL, (double)run->n_wrong},
        {"bit_error_rate", NULL, bit_error_rate(run)},
    };
    const bool json = run->options->stats_json;
    const size_t n_listed = sizeof all / sizeof all[0] - (run->options->compared_bits ? 0 : 3);
    for (size_t i = 0; i < n_listed; i++) {
        const struct statistic *it = &all[i];
        if (json)
            fprintf(stderr, "%s\"%s\":", i ? "," : "{", it->name);
        else
            fprintf(stderr, "  %-16s ", it->name);
        if (it->text)
            fprintf(stderr, json ? "\"%s\"" : "%s", it->text);
        else if (isfinite(it->number))
            fprintf(stderr, "%.*g", json || it->number == floor(it->number) ? 15 : 6, it->number);
        else
            fprintf(stderr, json ? "null" : "unknown");
        fprintf(stderr, "%s", !json ? "\n" : i + 1 < n_listed ? "" : "}\n");
    }
}

/* Writes what may explain many wrong bits, else "". Descrambling hides a swap of I and Q. */
static void explain_wrong_bits(const struct demod_run *run, char text[128])
{
    const struct demod_options *options = run->options;
    const double n = (double)run->n_compared, n_wrong = (double)run->n_wrong;
    const bool is_conjugated = (double)run->n_wrong_conjugated < n_wrong / 2;
    const bool is_swapped = (double)run->n_wrong_swapped < n_wrong / 2;
    *text = '\0';
    if (n < 1000 || n_wrong < 0.1 * n)
        return;
    const char *with_swap = options->swaps ? "without --swap-iq" : "with I and Q swapped (--swap-iq)";
    const char *with_sign = options->conjugates ? "without --conjugate" : "with the other sign of Q (--conjugate)";
    if (is_conjugated || is_swapped)
        snprintf(text, 128, "; %s it would be %.3g", is_swapped ? with_swap : with_sign,
                 (double)(is_swapped ? run->n_wrong_swapped : run->n_wrong_conjugated) / n);
    else if (n_wrong > 0.4 * n)
        snprintf(text, 128, ", as of other bits, another scrambling (--c-init), or symbols turned by 90 degrees%s",
                 options->descrambles ? " or swapped" : "");
}

void demod_report(const struct demod_run *run)
{
    char cause[128];
    message_clear_transient();
    if (!run->options->quiet)
        report_findings(run);
    explain_wrong_bits(run, cause);
    if (run->options->compared_bits)
        message_print(run->sent_bits.name, "%" PRIu64 " of %" PRIu64 " bits are wrong, bit error rate %.6g%s",
                      run->n_wrong, run->n_compared, bit_error_rate(run), cause);
    if (run->options->stats)
        print_statistics(run);
}
