/* SPDX-License-Identifier: MIT */
/* What a run says on standard error: its progress, warnings, and the reports that were asked for. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/clock.h"
#include "common/file_name.h"
#include "common/message.h"
#include "common/modulation.h"
#include "run.h"

/* A warning about saturation needs this share of saturated LLRs, and that the decoder may lose this much information,
 * in bits a symbol: the most that reference/ lets s8 lose at its default scale. The share alone says little: at 30 dB
 * most LLRs of any receiver are beyond +-127 steps of 1/6 nat, and nothing is lost. */
static const double warned_saturated_share = 0.05;
static const double warned_loss = 0.01;

static const double seconds_between_lines = 0.25;

void demod_progress(const struct demod_run *run, int64_t n_total, uint64_t n_done, double *due)
{
    const double now = clock_seconds(), done = (double)n_done, total = (double)n_total;
    const bool complete = n_total >= 0 && n_done >= (uint64_t)n_total;
    if (!run->options->show_progress || (now < *due && !complete))
        return;
    *due = now + seconds_between_lines;
    const double rate = done / (now - run->started + 1e-9);
    if (n_total <= 0 || n_done > (uint64_t)n_total)
        message_print_transient("%" PRIu64 " symbols done, %.1f Msym/s", n_done, rate / 1e6);
    else
        message_print_transient("%.1f %% of %" PRId64 " symbols done, %.1f Msym/s, %.0f s left", 100 * done / total,
                                n_total, rate / 1e6, complete ? 0 : (total - done) / (rate + 1e-9));
}

static void warn_of_saturation(const struct demod_run *run)
{
    const softqam_demodulator_config *config = &run->config;
    const double share = statistics_saturated_share(&run->statistics, config->modulation);
    const double limit_nats = (double)config->llr_limit / (double)config->llr_scale;
    if (config->llr_limit > 0 && share > warned_saturated_share &&
        statistics_saturation_loss(config->modulation, share, limit_nats) > warned_loss)
        message_warn(file_name_shown(run->options->output, STDOUT_FILENO),
                     "%.1f %% of the LLRs saturate, at only %.3g nats, which costs decoder performance; lower "
                     "--llr-scale (%g)",
                     100 * share, limit_nats, (double)config->llr_scale);
}

/* The command overrides the recording, but not in silence. */
static void warn_of_contradiction(const struct demod_run *run)
{
    const struct sigmf_input *recording = &run->recording;
    const softqam_modulation modulation = run->config.modulation;
    const unsigned c_init = (unsigned)recording->c_init;
    const double given = (double)run->options->config.input_scale; /* 0 without the option */
    if (recording->scale > 0 && given > 0 && given != (double)(float)recording->scale)
        message_warn(recording->meta_path, "says an input scale of %.7g, but --input-scale %.7g", recording->scale,
                     given);
    if (recording->modulation != SOFTQAM_MODULATION_DEFAULT && recording->modulation != modulation)
        message_warn(recording->meta_path, "says %s, but --modulation %s", modulation_get(recording->modulation)->name,
                     modulation_get(modulation)->option);
    if (recording->is_scrambled && !run->descrambles)
        message_warn(recording->meta_path, "says c_init %u, but --c-init none", c_init);
    else if (recording->is_scrambled && run->c_init != recording->c_init)
        message_warn(recording->meta_path, "says c_init %u, but --c-init %u", c_init, (unsigned)run->c_init);
}

bool demod_warn(const struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const struct symbol_source *symbols = &run->symbols;
    const char *name = symbols->file.name;
    if (options->stats)
        warn_of_saturation(run);
    if (options->quiet && !options->strict)
        return true;
    if (symbols->foreign)
        message_warn(name, "begins like %s", symbols->foreign);
    warn_of_contradiction(run);
    const uint64_t n = run->n_available >= 0 ? (uint64_t)run->n_available : run->n_demodulated;
    if (options->count != UINT64_MAX && n < options->count)
        message_warn(name, "only %" PRIu64 " symbol%s%s, fewer than --count %" PRIu64, n, PLURAL(n),
                     options->skip ? " after --skip" : "", options->count);
    if (symbols->n_ignored > 0)
        message_warn(name, "%zu byte%s left over at the end ignored (a symbol has %zu)", symbols->n_ignored,
                     PLURAL(symbols->n_ignored), symbols->nbytes);
    demod_scale_warn(run);
    return !options->strict || message_n_warnings() == 0;
}

static void report_verify(const struct demod_run *run)
{
    const struct verifier *verifier = &run->verifier;
    const uint64_t n = run->n_demodulated;
    const bool u8 = run->config.output_format == SOFTQAM_OUTPUT_U8;
    const char *what = u8 ? "byte" : "LLR";
    const char *agreement = !u8 ? "'s within the bound for binary32"
                            : run->config.sign == SOFTQAM_SIGN_POSITIVE_IS_1
                                ? "'s with the opposite sign, within one step"
                                : "'s";
    if (verifier->n_checked == n)
        message_print("verify", "all %" PRIu64 " symbol%s checked, every %s is %s%s", n, PLURAL(n), what,
                      verifier->reference, agreement);
    else
        message_print("verify", "sample of %" PRIu64 " of %" PRIu64 " symbols checked, every %s of it is %s%s",
                      verifier->n_checked, n, what, verifier->reference, agreement);
}

/* What is said unless the run is quiet. */
static void report_findings(const struct demod_run *run)
{
    const struct input_file *file = &run->symbols.file;
    const char *name = file->name;
    const double scale = (double)run->config.input_scale, noise_var = (double)run->noise.noise_var;
    if (file->nbytes >= 0 && file->n_read > (uint64_t)file->nbytes)
        message_print(name, "grew while it was read: %" PRIu64 " symbols of the output are of what came later",
                      (file->n_read - (uint64_t)file->nbytes) / run->symbols.nbytes);
    if (run->n_scale_estimated > 0)
        message_print(name, "input scale %.6g (1/%.6g), estimated from %" PRIu64 " symbol%s", scale, 1 / scale,
                      run->n_scale_estimated, PLURAL(run->n_scale_estimated));
    if (run->noise.n_estimated > 0)
        message_print(name, "noise variance %.6g (Es/N0 %.2f dB), estimated from %" PRIu64 " symbol%s", noise_var,
                      10 * log10(1 / noise_var), run->noise.n_estimated, PLURAL(run->noise.n_estimated));
    if (run->options->verify)
        report_verify(run);
}

static double bit_error_rate(const struct bit_comparison *comparison)
{
    return comparison->n_wrong ? (double)comparison->n_wrong / (double)comparison->sent.n_read : 0;
}

static void __attribute__((format(printf, 2, 3))) print_line(const char *name, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "  %-10s ", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void print_rate(const char *name, double seconds, uint64_t n_symbols)
{
    print_line(name, "%.6f s, %.1f Msym/s", seconds, seconds > 0 ? (double)n_symbols / seconds / 1e6 : 0);
}

static void print_noise(const struct noise_source *noise)
{
    const double noise_var = (double)noise->noise_var;
    if (noise->kind == NOISE_FILE)
        print_line("N0", "one a symbol, from %s", noise->values.file.name);
    else if (noise->kind == NOISE_VALUE || noise->kind == NOISE_AUTO)
        print_line("N0", "%.6g, %.2f dB (%s)", noise_var, 10 * log10(1 / noise_var),
                   noise->kind == NOISE_VALUE ? "as given" : "estimated from the first symbols");
}

static void print_estimates(const struct noise_estimate *estimate, softqam_modulation modulation)
{
    static const char unknown[] = "unknown: no symbol to tell it from";
    const double noise_var = noise_estimate_variance(estimate, modulation), evm = noise_estimate_evm(estimate);
    if (estimate->n_symbols == 0)
        print_line("energy", "%s", unknown);
    else
        print_line("energy", "%.6g a symbol in the mean (1 + N0 where the scale is right)",
                   noise_estimate_energy(estimate));
    print_line("estimate", isnan(evm) ? unknown : "N0 %.6g, %.2f dB (from the EVM, corrected for wrong decisions)",
               noise_var, 10 * log10(1 / noise_var));
    print_line("EVM", isnan(evm) ? unknown : "%.4f %%, %.2f dB (decision-directed: distances to the nearest point)",
               100 * evm, 20 * log10(evm));
}

static void print_statistics(const struct demod_run *run)
{
    const struct statistics *statistics = &run->statistics;
    message_clear_transient();
    print_line("symbols", "%" PRIu64, run->n_demodulated);
    print_rate("library", run->seconds_in_library, run->n_demodulated);
    print_rate("overall", clock_seconds() - run->started, run->n_demodulated);
    print_line("backend", "%s (%s)", softqam_backend_name(run->demodulator), softqam_backend_detail(run->demodulator));
    print_noise(&run->noise);
    if (run->noise.kind != NOISE_UNIT)
        print_line("saturated", "%.4f %% of the %s",
                   100 * statistics_saturated_share(statistics, run->config.modulation),
                   run->config.output_format == SOFTQAM_OUTPUT_U8 ? "soft bits" : "LLRs");
    print_line("erased", "%" PRIu64 " symbol%s", statistics->n_erased, PLURAL(statistics->n_erased));
    print_estimates(&statistics->noise, run->config.modulation);
}

/* A number that is not finite becomes null. */
static bool add_number(cJSON *json, const char *name, double value)
{
    return cJSON_AddNumberToObject(json, name, value) != NULL;
}

/* A file's name need not be UTF-8, as JSON is. */
static bool add_text(cJSON *json, const char *name, const char *value)
{
    const cJSON *text = cJSON_AddStringToObject(json, name, value);
    if (text)
        utf8_repair(text->valuestring);
    return text != NULL;
}

/* With the Es/N0 in dB, to a millionth. */
static bool add_noise(cJSON *json, const char *n0_name, const char *snr_name, double noise_var)
{
    return add_number(json, n0_name, noise_var) && add_number(json, snr_name, round(-1e7 * log10(noise_var)) / 1e6);
}

/* False where memory is short. */
static bool fill_json(cJSON *json, const struct demod_run *run)
{
    const struct noise_source *source = &run->noise;
    const struct noise_estimate *estimate = &run->statistics.noise;
    const softqam_modulation modulation = run->config.modulation;
    const bool has_n0 = source->kind == NOISE_VALUE || source->n_estimated > 0;
    return add_text(json, "version", softqam_version()) && add_text(json, "input", run->symbols.file.name) &&
           add_text(json, "output", run->options->output) &&
           add_text(json, "input_format", sample_format_input_name(run->recording.format)) &&
           add_text(json, "output_format", sample_format_name(run->options->output_kind)) &&
           add_text(json, "modulation", modulation_get(modulation)->option) &&
           (!run->descrambles || add_number(json, "c_init", run->c_init)) &&
           add_number(json, "symbols", (double)run->n_demodulated) &&
           add_number(json, "library_s", run->seconds_in_library) &&
           add_number(json, "overall_s", clock_seconds() - run->started) &&
           add_text(json, "backend", softqam_backend_name(run->demodulator)) &&
           add_text(json, "backend_detail", softqam_backend_detail(run->demodulator)) &&
           add_number(json, "input_scale", (double)run->config.input_scale) &&
           add_noise(json, "n0", "snr_db", has_n0 ? (double)source->noise_var : (double)NAN) &&
           add_number(json, "saturated_share", statistics_saturated_share(&run->statistics, modulation)) &&
           add_number(json, "erased", (double)run->statistics.n_erased) &&
           (!run->options->compared_bits || (add_number(json, "bits_compared", (double)run->comparison.sent.n_read) &&
                                             add_number(json, "bits_wrong", (double)run->comparison.n_wrong) &&
                                             add_number(json, "bit_error_rate", bit_error_rate(&run->comparison)))) &&
           add_number(json, "energy", noise_estimate_energy(estimate)) &&
           add_noise(json, "estimated_n0", "estimated_snr_db", noise_estimate_variance(estimate, modulation)) &&
           add_number(json, "evm", noise_estimate_evm(estimate));
}

/* As one line, to the file or to standard error. */
static bool write_json(struct demod_run *run)
{
    struct output_file *file = &run->report;
    cJSON *json = cJSON_CreateObject();
    char *text = fill_json(json, run) ? cJSON_PrintUnformatted(json) : NULL;
    bool written = text != NULL;
    message_clear_transient();
    if (!written)
        message_print("--stats", "out of memory");
    else if (!file->name)
        written = fprintf(stderr, "%s\n", text) >= 0;
    else
        written = output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                  output_file_finish(file) && output_file_publish(file);
    if (written)
        output_file_release(file);
    free(text);
    cJSON_Delete(json);
    return written;
}

bool demod_report(struct demod_run *run)
{
    const struct bit_comparison *comparison = &run->comparison;
    if (!run->options->quiet)
        report_findings(run);
    if (run->options->compared_bits)
        message_print(comparison->sent.file.name, "%" PRIu64 " of %" PRIu64 " bits are wrong, bit error rate %.6g",
                      comparison->n_wrong, comparison->sent.n_read, bit_error_rate(comparison));
    if (run->options->stats_json)
        return write_json(run);
    if (run->options->stats)
        print_statistics(run);
    return true;
}
