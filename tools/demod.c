/* SPDX-License-Identifier: MIT */
/* softqam-demod: a file of 256QAM symbols in, a file of soft bits or LLRs out, block by block. */
#include "demod_options.h"
#include "input_file.h"
#include "message.h"
#include "noise_source.h"
#include "output_file.h"
#include "progress.h"
#include "statistics.h"
#include "verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A block is at least this many symbols: enough to make the cost of a call small, small enough to stay in the cache of
 * a CPU between reading, demodulating and writing. */
static const size_t min_block_symbols = 256 << 10;

/* What more of the LLRs than this share of them saturated is worth a warning, if it may cost the decoder this much
 * information, in bits a symbol: the most that reference/ lets s8 lose at its default scale. Alone the share says
 * little: at 30 dB most LLRs of any receiver are beyond +-127 steps of 1/6 nat, and nothing is lost. */
static const double warned_saturated_share = 0.05;
static const double warned_loss = 0.01;

/* What softqam.h says a 0 in the configuration stands for. */
static const size_t default_chunk_symbols = 1 << 20;
static const unsigned default_n_streams = 4;

/* One run, from the files to the report. All zero is a run that holds nothing. */
struct run {
    const struct demod_options *options;
    struct input_file input;
    struct output_file output;
    struct noise_source noise;
    softqam_demodulator *demodulator;
    size_t symbol_nbytes; /* of the input */
    size_t out_nbytes;    /* of what a symbol becomes */
    size_t block_symbols;
    void *samples;
    void *noise_values;
    void *out;
    uint64_t n_symbols;
    double seconds_in_library;
    struct progress progress;
    struct statistics statistics;
    struct verifier verifier;
};

/* The GPU works best on whole rounds of its streams; a known small input needs no more memory than it fills. */
static size_t choose_block_symbols(const struct run *run)
{
    const softqam_config *config = &run->options->config;
    size_t n = min_block_symbols;
    if (!strcmp(softqam_backend_name(run->demodulator), "cuda")) {
        const size_t chunk = config->chunk_symbols ? config->chunk_symbols : default_chunk_symbols;
        const size_t round = chunk * (config->n_streams ? config->n_streams : default_n_streams);
        n = (n + round - 1) / round * round;
    }
    const uint64_t n_input = run->input.nbytes < 0 ? UINT64_MAX : (uint64_t)run->input.nbytes / run->symbol_nbytes;
    return n_input < n ? (size_t)n_input + 1 : n;
}

static int create_demodulator(struct run *run)
{
    const softqam_status status = softqam_create(&run->demodulator, &run->options->config);
    if (status == SOFTQAM_OK)
        return EXIT_DONE;
    message_print(NULL, "%s", softqam_error_message());
    return status == SOFTQAM_ERROR_INVALID_ARGUMENT ? EXIT_COMMAND : EXIT_FAILED;
}

static int allocate(struct run *run)
{
    run->block_symbols = choose_block_symbols(run);
    const size_t noise_nbytes = run->noise.kind == NOISE_FILE ? run->block_symbols * sizeof(float) : 0;
    const size_t nbytes[3] = {run->block_symbols * run->symbol_nbytes, run->block_symbols * run->out_nbytes,
                              noise_nbytes};
    void **const buffers[3] = {&run->samples, &run->out, &run->noise_values};
    for (int i = 0; i < 3; i++) {
        if (nbytes[i] > 0 && softqam_host_alloc(run->demodulator, nbytes[i], buffers[i]) != SOFTQAM_OK) {
            message_print(NULL, "%s", softqam_error_message());
            return EXIT_FAILED;
        }
    }
    run->noise.values = run->noise_values;
    if (run->options->verify && !verify_start(&run->verifier, &run->options->config)) {
        message_print("--verify", "out of memory");
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static bool is_whole(const struct run *run, uint64_t nbytes)
{
    return input_file_is_whole(&run->input, nbytes, "symbol", run->symbol_nbytes);
}

/* Everything that can be found wrong before the first byte is written. The output file comes before the library,
 * which starts threads. */
static int open_run(struct run *run, const struct demod_options *options)
{
    run->options = options;
    run->symbol_nbytes = softqam_input_symbol_nbytes(options->config.input_format);
    run->out_nbytes = softqam_output_symbol_nbytes(options->config.output_format);
    if (!input_file_open(&run->input, options->input) ||
        (run->input.nbytes > 0 && !is_whole(run, (uint64_t)run->input.nbytes)) ||
        !noise_source_open(&run->noise, options->noise, options->noise_var, options->noise_file) ||
        !noise_source_fits(&run->noise, &run->input, run->symbol_nbytes) ||
        !output_file_open(&run->output, options->output))
        return EXIT_FAILED;
    const int result = create_demodulator(run);
    return result == EXIT_DONE ? allocate(run) : result;
}

static bool demodulate(struct run *run, const float *noise_var, size_t n_symbols)
{
    const double started = progress_clock();
    const softqam_status status = softqam_demodulate(run->demodulator, run->samples, noise_var, n_symbols, run->out);
    run->seconds_in_library += progress_clock() - started;
    if (status != SOFTQAM_OK)
        message_print(run->input.name, "%s", softqam_error_message());
    return status == SOFTQAM_OK;
}

static bool verify(struct run *run, const float *noise_var, size_t n_symbols)
{
    struct verify_difference difference;
    if (verify_next(&run->verifier, run->samples, noise_var, run->out, n_symbols, &difference))
        return true;
    char noise[32] = "", accepted[64] = "";
    if (noise_var)
        snprintf(noise, sizeof noise, ", N0 %.9g", (double)difference.noise_var);
    if (difference.low < difference.high)
        snprintf(accepted, sizeof accepted, " (%.9g to %.9g would do)", difference.low, difference.high);
    message_print(run->input.name, "verify: symbol %" PRIu64 " (I %.9g, Q %.9g%s): b%u is %.9g, but %s has %.9g%s",
                  difference.symbol, (double)difference.i, (double)difference.q, noise, difference.bit, difference.got,
                  run->verifier.reference, difference.expected, accepted);
    return false;
}

static bool process_block(struct run *run, size_t n_symbols)
{
    const struct demod_options *options = run->options;
    const float *noise_var;
    if (!noise_source_next(&run->noise, &run->input, &options->config, run->samples, n_symbols, &noise_var) ||
        !demodulate(run, noise_var, n_symbols) || (options->verify && !verify(run, noise_var, n_symbols)))
        return false;
    if (options->stats)
        statistics_add(&run->statistics, &options->config, run->samples, run->out, n_symbols);
    if (!output_file_write(&run->output, run->out, n_symbols * run->out_nbytes))
        return false;
    run->n_symbols += n_symbols;
    progress_update(&run->progress, run->n_symbols);
    return true;
}

static bool process(struct run *run)
{
    const size_t block_nbytes = run->block_symbols * run->symbol_nbytes;
    size_t n_read;
    do {
        if (!input_file_read(&run->input, run->samples, block_nbytes, &n_read) ||
            !process_block(run, n_read / run->symbol_nbytes) || !is_whole(run, n_read))
            return false;
    } while (n_read == block_nbytes);
    return noise_source_end(&run->noise, &run->input) && output_file_finish(&run->output) &&
           output_file_publish(&run->output);
}

/* What every soft bit or LLR that was checked turned out to be. */
static const char *describe_agreement(const softqam_config *config)
{
    if (config->output_format != SOFTQAM_OUTPUT_U8)
        return "'s within the bound for binary32";
    return config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? "'s with the opposite sign, within one step" : "'s";
}

static void report_verify(const struct run *run)
{
    const struct verifier *verifier = &run->verifier;
    const char *what = verifier->config.output_format == SOFTQAM_OUTPUT_U8 ? "byte" : "LLR";
    const char *agreement = describe_agreement(&verifier->config);
    if (verifier->n_checked == verifier->n_seen)
        message_print("verify", "all %" PRIu64 " symbol%s checked, every %s is %s%s", verifier->n_seen,
                      PLURAL(verifier->n_seen), what, verifier->reference, agreement);
    else
        message_print("verify", "sample of %" PRIu64 " of %" PRIu64 " symbols checked, every %s of it is %s%s",
                      verifier->n_checked, verifier->n_seen, what, verifier->reference, agreement);
}

static void report_estimate(const struct run *run)
{
    const double noise_var = (double)run->noise.noise_var;
    message_print(run->input.name, "noise variance %.6g (Es/N0 %.2f dB), estimated from %" PRIu64 " symbol%s",
                  noise_var, 10 * log10(1 / noise_var), run->noise.n_estimated, PLURAL(run->noise.n_estimated));
}

static void warn_of_saturation(const struct run *run)
{
    const softqam_config *config = &run->options->config;
    const double share = statistics_saturated_share(&run->statistics);
    const double limit_nats = (double)config->llr_limit / (double)config->llr_scale;
    if (config->output_format != SOFTQAM_OUTPUT_S8 || share <= warned_saturated_share ||
        statistics_saturation_loss(share, limit_nats) <= warned_loss)
        return;
    message_print(run->output.name,
                  "warning: %.1f %% of the LLRs saturate, at only %.3g nats, which costs decoder performance; lower "
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
    else if (noise->kind != NOISE_NONE)
        fprintf(stderr, "  %-10s %.6g, %.2f dB (%s)\n", "N0", (double)noise->noise_var,
                10 * log10(1 / (double)noise->noise_var), origins[noise->kind]);
}

static void report_errors(const struct noise_estimate *estimate)
{
    const double noise_var = noise_estimate_variance(estimate), evm = noise_estimate_evm(estimate);
    if (isnan(evm)) {
        fprintf(stderr, "  %-10s unknown: no symbol to tell it from\n", "estimate");
        fprintf(stderr, "  %-10s unknown: no symbol to tell it from\n", "EVM");
        return;
    }
    fprintf(stderr, "  %-10s N0 %.6g, %.2f dB (from the EVM, corrected for wrong decisions)\n", "estimate", noise_var,
            10 * log10(1 / noise_var));
    fprintf(stderr, "  %-10s %.4f %%, %.2f dB (decision-directed: distances to the nearest point)\n", "EVM", 100 * evm,
            20 * log10(evm));
}

static void report_statistics(const struct run *run)
{
    const struct statistics *statistics = &run->statistics;
    const bool u8 = run->options->config.output_format == SOFTQAM_OUTPUT_U8;
    message_clear_transient();
    fprintf(stderr, "  %-10s %" PRIu64 "\n", "symbols", run->n_symbols);
    report_rate("library", run->seconds_in_library, run->n_symbols);
    report_rate("overall", progress_clock() - run->progress.started, run->n_symbols);
    fprintf(stderr, "  %-10s %s (%s)\n", "backend", softqam_backend_name(run->demodulator),
            softqam_backend_detail(run->demodulator));
    report_noise(&run->noise);
    fprintf(stderr, "  %-10s %.4f %% of the %s\n", "saturated", 100 * statistics_saturated_share(statistics),
            u8 ? "soft bits" : "LLRs");
    fprintf(stderr, "  %-10s %" PRIu64 " symbol%s\n", "erased", statistics->n_erased, PLURAL(statistics->n_erased));
    report_errors(&statistics->noise);
    warn_of_saturation(run);
}

static void close_run(struct run *run)
{
    verify_end(&run->verifier);
    softqam_host_free(run->samples);
    softqam_host_free(run->out);
    softqam_host_free(run->noise_values);
    softqam_destroy(run->demodulator);
    input_file_close(&run->input);
    noise_source_close(&run->noise);
}

static void report(const struct run *run)
{
    const struct demod_options *options = run->options;
    if (run->noise.kind == NOISE_AUTO && !options->quiet)
        report_estimate(run);
    if (options->verify && !options->quiet)
        report_verify(run);
    if (options->stats)
        report_statistics(run);
}

static int demodulate_file(const struct demod_options *options)
{
    struct run run = {.input = {.fd = -1}, .noise = {.file = {.fd = -1}}};
    progress_start(&run.progress, options->show_progress, -1);
    int result = open_run(&run, options);
    if (result == EXIT_DONE) {
        if (run.input.nbytes >= 0)
            run.progress.n_total = run.input.nbytes / (int64_t)run.symbol_nbytes;
        result = process(&run) ? EXIT_DONE : EXIT_FAILED;
    }
    message_clear_transient();
    if (result == EXIT_DONE) {
        report(&run);
        output_file_release(&run.output);
    } else {
        output_file_discard(&run.output);
    }
    close_run(&run);
    return result;
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    char version[64];
    message_start("softqam-demod");
    switch (demod_options_parse(argc, argv, &options)) {
    case DEMOD_RUN:
        return demodulate_file(&options);
    case DEMOD_HELP:
        return message_to_stdout(demod_help);
    case DEMOD_VERSION:
        snprintf(version, sizeof version, "softqam-demod %s\n", softqam_version());
        return message_to_stdout(version);
    default:
        return EXIT_COMMAND;
    }
}
