/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"

/* What more of the LLRs than this share of them saturated is worth a warning, if it may cost the decoder this much
 * information, in bits a symbol: the most that reference/ lets s8 lose at its default scale. Alone the share says
 * little: at 30 dB most LLRs of any receiver are beyond +-127 steps of 1/6 nat, and nothing is lost. */
static const double warned_saturated_share = 0.05;
static const double warned_loss = 0.01;

static const char unknown[] = "unknown: no symbol to tell it from";

/* What every soft bit or LLR that was checked turned out to be. */
static const char *describe_agreement(const softqam_demodulator_config *config)
{
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        return "'s within the bound for binary32";
    return config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? "'s with the opposite sign, within one step" : "'s";
}

static void report_verify(const struct demod_run *run)
{
    const struct verifier *verifier = &run->verifier;
    const uint64_t n = run->n_demodulated;
    const char *what = verifier->config.output_format == SOFTQAM_OUTPUT_U8 ? "byte" : "LLR";
    const char *agreement = describe_agreement(&verifier->config);
    if (verifier->n_checked == n)
        message_print("verify", "all %" PRIu64 " symbol%s checked, every %s is %s%s", n, PLURAL(n), what,
                      verifier->reference, agreement);
    else
        message_print("verify", "sample of %" PRIu64 " of %" PRIu64 " symbols checked, every %s of it is %s%s",
                      verifier->n_checked, n, what, verifier->reference, agreement);
}

static void report_estimate(const struct demod_run *run)
{
    const double noise_var = (double)run->noise.noise_var;
    message_print(run->symbols.file.name, "noise variance %.6g (Es/N0 %.2f dB), estimated from %" PRIu64 " symbol%s",
                  noise_var, 10 * log10(1 / noise_var), run->noise.n_estimated, PLURAL(run->noise.n_estimated));
}

static void report_scale(const struct demod_run *run)
{
    const double scale = (double)run->config.input_scale;
    message_print(run->symbols.file.name, "input scale %.6g (1/%.6g), estimated from %" PRIu64 " symbol%s", scale,
                  1 / scale, run->n_scale_estimated, PLURAL(run->n_scale_estimated));
}

static void warn_of_saturation(const struct demod_run *run, const char *output)
{
    const softqam_demodulator_config *config = &run->config;
    const double share = statistics_saturated_share(&run->statistics, config->modulation);
    const double limit_nats = (double)config->llr_limit / (double)config->llr_scale;
    if (config->llr_limit == 0 || share <= warned_saturated_share ||
        statistics_saturation_loss(config->modulation, share, limit_nats) <= warned_loss)
        return;
    message_warn(output,
                 "%.1f %% of the LLRs saturate, at only %.3g nats, which costs decoder performance; lower "
                 "--llr-scale (%g)",
                 100 * share, limit_nats, (double)config->llr_scale);
}

static void report_rate(const char *name, double seconds, uint64_t n_symbols)
{
    fprintf(stderr, "  %-10s %.6f s, %.1f Msym/s\n", name, seconds,
            seconds > 0 ? (double)n_symbols / seconds / 1e6 : 0);
}

static void report_noise(const struct noise_source *noise)
{
    static const char *const origins[] = {
        [NOISE_VALUE] = "as given", [NOISE_AUTO] = "estimated from the first symbols"};
    if (noise->kind == NOISE_FILE)
        fprintf(stderr, "  %-10s one a symbol, from %s\n", "N0", noise->file.name);
    else if (noise->kind == NOISE_VALUE || noise->kind == NOISE_AUTO)
        fprintf(stderr, "  %-10s %.6g, %.2f dB (%s)\n", "N0", (double)noise->noise_var,
                10 * log10(1 / (double)noise->noise_var), origins[noise->kind]);
}

static double bit_error_rate(const struct bit_comparison *comparison)
{
    return comparison->n_compared ? (double)comparison->n_wrong / (double)comparison->n_compared : 0;
}

static void report_energy(const struct noise_estimate *estimate)
{
    if (estimate->n_symbols > 0)
        fprintf(stderr, "  %-10s %.6g a symbol in the mean (1 + N0 where the scale is right)\n", "energy",
                noise_estimate_energy(estimate));
    else
        fprintf(stderr, "  %-10s %s\n", "energy", unknown);
}

static void report_errors(const struct noise_estimate *estimate, softqam_modulation modulation)
{
    const double noise_var = noise_estimate_variance(estimate, modulation), evm = noise_estimate_evm(estimate);
    if (isnan(evm)) {
        fprintf(stderr, "  %-10s %s\n  %-10s %s\n", "estimate", unknown, "EVM", unknown);
        return;
    }
    fprintf(stderr, "  %-10s N0 %.6g, %.2f dB (from the EVM, corrected for wrong decisions)\n", "estimate", noise_var,
            10 * log10(1 / noise_var));
    fprintf(stderr, "  %-10s %.4f %%, %.2f dB (decision-directed: distances to the nearest point)\n", "EVM", 100 * evm,
            20 * log10(evm));
}

static void report_statistics(const struct demod_run *run)
{
    const struct statistics *statistics = &run->statistics;
    const bool u8 = run->config.output_format == SOFTQAM_OUTPUT_U8;
    message_clear_transient();
    fprintf(stderr, "  %-10s %" PRIu64 "\n", "symbols", run->n_demodulated);
    report_rate("library", run->seconds_in_library, run->n_demodulated);
    report_rate("overall", clock_seconds() - run->started, run->n_demodulated);
    fprintf(stderr, "  %-10s %s (%s)\n", "backend", softqam_backend_name(run->demodulator),
            softqam_backend_detail(run->demodulator));
    report_noise(&run->noise);
    if (run->noise.kind != NOISE_UNIT)
        fprintf(stderr, "  %-10s %.4f %% of the %s\n", "saturated",
                100 * statistics_saturated_share(statistics, run->config.modulation), u8 ? "soft bits" : "LLRs");
    fprintf(stderr, "  %-10s %" PRIu64 " symbol%s\n", "erased", statistics->n_erased, PLURAL(statistics->n_erased));
    report_energy(&statistics->noise);
    report_errors(&statistics->noise, run->config.modulation);
}

static void warn_of_partial(const struct demod_run *run)
{
    const unsigned n = (unsigned)run->symbols.n_ignored;
    if (n > 0)
        message_warn(run->symbols.file.name, "%u byte%s left over at the end ignored (a symbol has %u)", n, PLURAL(n),
                     (unsigned)run->symbols.nbytes);
}

static void warn_of_count(const struct demod_run *run)
{
    const uint64_t count = run->options->count;
    const uint64_t n = run->n_available >= 0 ? (uint64_t)run->n_available : run->n_demodulated;
    if (count != UINT64_MAX && n < count)
        message_warn(run->symbols.file.name, "only %" PRIu64 " symbol%s%s, fewer than --count %" PRIu64, n, PLURAL(n),
                     run->options->skip ? " after --skip" : "", count);
}

/* What the command says counts, but not in silence. */
static void warn_of_contradiction(const struct demod_run *run)
{
    const struct sigmf_input *recording = &run->recording;
    const softqam_modulation modulation = run->config.modulation;
    const unsigned c_init = (unsigned)recording->c_init;
    if (recording->modulation != SOFTQAM_MODULATION_DEFAULT && recording->modulation != modulation)
        message_warn(recording->meta_path, "says %s, but --modulation %s", modulation_get(recording->modulation)->name,
                     modulation_get(modulation)->option);
    if (recording->is_scrambled && !run->descrambles)
        message_warn(recording->meta_path, "says c_init %u, but --c-init none", c_init);
    else if (recording->is_scrambled && run->c_init != recording->c_init)
        message_warn(recording->meta_path, "says c_init %u, but --c-init %u", c_init, (unsigned)run->c_init);
}

bool demod_warn(const struct demod_run *run, const char *output)
{
    const struct demod_options *options = run->options;
    if (options->stats)
        warn_of_saturation(run, output);
    if (options->quiet && !options->strict)
        return true;
    if (run->symbols.foreign)
        message_warn(run->symbols.file.name, "begins like %s", run->symbols.foreign);
    warn_of_contradiction(run);
    warn_of_count(run);
    warn_of_partial(run);
    scale_check_warn(&run->scale_check, run->symbols.file.name, &run->noise);
    return !options->strict || message_n_warnings() == 0;
}

static void report_growth(const struct demod_run *run)
{
    const uint64_t growth = input_file_growth(&run->symbols.file);
    if (growth > 0)
        message_print(run->symbols.file.name,
                      "grew while it was read: %" PRIu64 " symbols of the output are of what came later",
                      growth / run->symbols.nbytes);
}

static void report_comparison(const struct demod_run *run)
{
    const struct bit_comparison *comparison = &run->comparison;
    message_print(comparison->file.name, "%" PRIu64 " of %" PRIu64 " bits are wrong, bit error rate %.6g",
                  comparison->n_wrong, comparison->n_compared, bit_error_rate(comparison));
}

/* As one line, to the file or to standard error. */
static bool write_json(const struct demod_run *run, struct output_file *file)
{
    enum { TEXT_NBYTES = 16 * PATH_MAX }; /* two names, of which each character may become six */
    struct output_file none = {.fd = -1};
    char *text = malloc(TEXT_NBYTES);
    bool written = text && report_json(run, text, TEXT_NBYTES);
    message_clear_transient();
    if (!written)
        message_print("--stats", "out of memory");
    else if (!file->name)
        written = fputs(text, stderr) >= 0;
    else
        written =
            output_file_write(file, text, strlen(text)) && output_file_finish(file) && output_file_publish(file, &none);
    if (written)
        output_file_release(file);
    free(text);
    return written;
}

bool demod_report(const struct demod_run *run, struct output_file *file)
{
    const struct demod_options *options = run->options;
    if (!options->quiet)
        report_growth(run);
    if (run->n_scale_estimated > 0 && !options->quiet)
        report_scale(run);
    if (run->noise.n_estimated > 0 && !options->quiet)
        report_estimate(run);
    if (options->verify && !options->quiet)
        report_verify(run);
    if (options->compared_bits)
        report_comparison(run);
    if (options->stats_json)
        return write_json(run, file);
    if (options->stats)
        report_statistics(run);
    return true;
}
