/* SPDX-License-Identifier: MIT */
/* What a run says on standard error: its progress, warnings, and the reports that were asked for. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "run.h"

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
    demod_scale_warn(run);
    return !options->strict || message_n_warnings() == 0;
}

/* What is said unless the run is quiet. */
static void report_findings(const struct demod_run *run)
{
    const char *name = run->symbols.name;
    const double scale = (double)run->config.input_scale, noise_var = (double)run->noise_var;
    const uint64_t n = run->n_demodulated, n_checked = run->verifier.n_checked;
    const bool u8 = run->config.output_format == SOFTQAM_OUTPUT_U8;
    if (run->n_scale_symbols > 0)
        message_print(name, "input scale %.6g (1/%.6g), estimated from %" PRIu64 " symbol%s", scale, 1 / scale,
                      run->n_scale_symbols, PLURAL(run->n_scale_symbols));
    if (run->n_noise_symbols > 0)
        message_print(name, "noise variance %.6g (Es/N0 %.2f dB), estimated from %" PRIu64 " symbol%s", noise_var,
                      10 * log10(1 / noise_var), run->n_noise_symbols, PLURAL(run->n_noise_symbols));
    if (run->options->verify)
        message_print("verify", "%" PRIu64 " of %" PRIu64 " symbol%s checked, every %s is %s's%s", n_checked, n,
                      PLURAL(n), u8 ? "byte" : "LLR", run->verifier.reference,
                      !u8                                              ? " within the bound for binary32"
                      : run->config.sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? " with the opposite sign, within one step"
                                                                       : "");
}

static double bit_error_rate(const struct demod_run *run)
{
    return run->n_wrong ? (double)run->n_wrong / (double)run->n_compared : 0;
}

/* To a millionth. */
static double decibels(double noise_var) { return round(-1e7 * log10(noise_var)) / 1e6; }

/* What --stats says: a text, or else a number, which is nothing where it is not finite. */
struct statistic {
    const char *name, *text;
    double number;
};

/* A line each; of JSON one line, in which null is nothing. */
static void print_statistics(const struct demod_run *run)
{
    const struct noise_estimate *seen = &run->statistics.noise;
    const softqam_modulation modulation = run->config.modulation;
    const enum noise_kind kind = run->options->noise;
    const double n_bits = softqam_bits_per_symbol(modulation);
    const double n = (double)run->n_demodulated, library = run->seconds_in_library;
    const double overall = clock_seconds() - run->started;
    const double n0 = kind == NOISE_VALUE || kind == NOISE_AUTO ? (double)run->noise_var : (double)NAN;
    const double estimated_n0 = noise_estimate_variance(seen, modulation);
    const struct statistic all[] = {
        {"version", softqam_version(), 0},
        {"input_format", sample_format_input_name(run->recording.format), 0},
        {"output_format", sample_format_name(run->options->output_kind), 0},
        {"modulation", modulation_get(modulation)->option, 0},
        {"backend", softqam_backend_name(run->demodulator), 0},
        {"backend_detail", softqam_backend_detail(run->demodulator), 0},
        {"symbols", NULL, n},
        {"library_s", NULL, library},
        {"library_msym_s", NULL, n / library / 1e6},
        {"overall_s", NULL, overall},
        {"overall_msym_s", NULL, n / overall / 1e6},
        {"c_init", NULL, run->descrambles ? run->c_init : (double)NAN},
        {"input_scale", NULL, (double)run->config.input_scale},
        {"n0", NULL, n0},
        {"snr_db", NULL, decibels(n0)},
        {"saturated_share", NULL, n > 0 ? (double)run->statistics.n_saturated / n / n_bits : 0},
        {"erased", NULL, (double)run->statistics.n_erased},
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

void demod_report(const struct demod_run *run)
{
    message_clear_transient();
    if (!run->options->quiet)
        report_findings(run);
    if (run->options->compared_bits)
        message_print(run->sent_bits.name, "%" PRIu64 " of %" PRIu64 " bits are wrong, bit error rate %.6g",
                      run->n_wrong, run->n_compared, bit_error_rate(run));
    if (run->options->stats)
        print_statistics(run);
}
