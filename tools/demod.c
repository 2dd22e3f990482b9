/* SPDX-License-Identifier: MIT */
/* softqam-demod: a file of 256QAM symbols in, a file of soft bits out, block by block. */
#include "demod_options.h"
#include "input_file.h"
#include "message.h"
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

/* What softqam.h says a 0 in the configuration stands for. */
static const size_t default_chunk_symbols = 1 << 20;
static const unsigned default_n_streams = 4;

/* One run, from the files to the report. All zero is a run that holds nothing. */
struct run {
    const struct demod_options *options;
    struct input_file input;
    struct output_file output;
    softqam_demodulator *demodulator;
    size_t symbol_nbytes;    /* of the input */
    size_t soft_bits_nbytes; /* of a symbol's soft bits */
    size_t block_symbols;
    void *samples;
    void *soft_bits;
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
    const size_t nbytes[2] = {run->block_symbols * run->symbol_nbytes, run->block_symbols * run->soft_bits_nbytes};
    void **const buffers[2] = {&run->samples, &run->soft_bits};
    for (int i = 0; i < 2; i++) {
        if (softqam_host_alloc(run->demodulator, nbytes[i], buffers[i]) != SOFTQAM_OK) {
            message_print(NULL, "%s", softqam_error_message());
            return EXIT_FAILED;
        }
    }
    if (run->options->verify &&
        !verify_start(&run->verifier, run->options->config.input_format, run->options->config.input_scale)) {
        message_print("--verify", "out of memory");
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static bool is_whole(const struct run *run, uint64_t nbytes)
{
    const unsigned leftover = (unsigned)(nbytes % run->symbol_nbytes);
    if (leftover)
        message_print(run->input.name, "not a whole number of symbols: %u byte%s left over (a symbol has %u)", leftover,
                      PLURAL(leftover), (unsigned)run->symbol_nbytes);
    return !leftover;
}

/* Everything that can be found wrong before the first byte is written. The output file comes before the library,
 * which starts threads. */
static int open_run(struct run *run, const struct demod_options *options)
{
    run->options = options;
    run->symbol_nbytes = softqam_input_symbol_nbytes(options->config.input_format);
    run->soft_bits_nbytes = softqam_output_symbol_nbytes(options->config.output_format);
    if (!input_file_open(&run->input, options->input) ||
        (run->input.nbytes > 0 && !is_whole(run, (uint64_t)run->input.nbytes)) ||
        !output_file_open(&run->output, options->output))
        return EXIT_FAILED;
    const int result = create_demodulator(run);
    return result == EXIT_DONE ? allocate(run) : result;
}

static bool demodulate(struct run *run, size_t n_symbols)
{
    const double started = progress_clock();
    const softqam_status status = softqam_demodulate(run->demodulator, run->samples, NULL, n_symbols, run->soft_bits);
    run->seconds_in_library += progress_clock() - started;
    if (status != SOFTQAM_OK)
        message_print(run->input.name, "%s", softqam_error_message());
    return status == SOFTQAM_OK;
}

static bool verify(struct run *run, size_t n_symbols)
{
    struct verify_difference difference;
    if (verify_next(&run->verifier, run->samples, run->soft_bits, n_symbols, &difference))
        return true;
    message_print(run->input.name, "verify: symbol %" PRIu64 " (I %.9g, Q %.9g): b%u is %u, but liquid-dsp %s has %u",
                  difference.symbol, (double)difference.i, (double)difference.q, difference.bit, difference.got,
                  verify_oracle_version(), difference.expected);
    return false;
}

static bool process_block(struct run *run, size_t n_symbols)
{
    const softqam_config *config = &run->options->config;
    if (!demodulate(run, n_symbols) || (run->options->verify && !verify(run, n_symbols)))
        return false;
    if (run->options->stats)
        statistics_add(&run->statistics, config->input_format, config->input_scale, run->samples, run->soft_bits,
                       n_symbols);
    if (!output_file_write(&run->output, run->soft_bits, n_symbols * run->soft_bits_nbytes))
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
    return output_file_finish(&run->output) && output_file_publish(&run->output);
}

static void report_verify(const struct run *run)
{
    const struct verifier *verifier = &run->verifier;
    if (verifier->n_checked == verifier->n_seen)
        message_print("verify", "all %" PRIu64 " symbol%s checked, every byte is liquid-dsp %s's", verifier->n_seen,
                      PLURAL(verifier->n_seen), verify_oracle_version());
    else
        message_print("verify",
                      "sample of %" PRIu64 " of %" PRIu64 " symbols checked, every byte of it is liquid-dsp %s's",
                      verifier->n_checked, verifier->n_seen, verify_oracle_version());
}

static void report_rate(const char *name, double seconds, uint64_t n_symbols)
{
    fprintf(stderr, "  %-10s %.6f s, %.1f Msym/s\n", name, seconds,
            seconds > 0 ? (double)n_symbols / seconds / 1e6 : 0);
}

static void report_statistics(const struct run *run)
{
    const struct statistics *statistics = &run->statistics;
    const double evm = statistics_evm(statistics);
    message_clear_transient();
    fprintf(stderr, "  %-10s %" PRIu64 "\n", "symbols", run->n_symbols);
    report_rate("library", run->seconds_in_library, run->n_symbols);
    report_rate("overall", progress_clock() - run->progress.started, run->n_symbols);
    fprintf(stderr, "  %-10s %s (%s)\n", "backend", softqam_backend_name(run->demodulator),
            softqam_backend_detail(run->demodulator));
    fprintf(stderr, "  %-10s %.4f %% of the soft bits\n", "saturated", 100 * statistics_saturated_share(statistics));
    fprintf(stderr, "  %-10s %" PRIu64 " symbol%s\n", "erased", statistics->n_erased, PLURAL(statistics->n_erased));
    if (isnan(evm))
        fprintf(stderr, "  %-10s unknown: no symbol to tell it from\n", "EVM");
    else
        fprintf(stderr, "  %-10s %.4f %%, %.2f dB (decision-directed: distances to the nearest point)\n", "EVM",
                100 * evm, 20 * log10(evm));
}

static void close_run(struct run *run)
{
    verify_end(&run->verifier);
    softqam_host_free(run->samples);
    softqam_host_free(run->soft_bits);
    softqam_destroy(run->demodulator);
    input_file_close(&run->input);
}

static int demodulate_file(const struct demod_options *options)
{
    struct run run = {.input = {.fd = -1}};
    progress_start(&run.progress, options->show_progress, -1);
    int result = open_run(&run, options);
    if (result == EXIT_DONE) {
        if (run.input.nbytes >= 0)
            run.progress.n_total = run.input.nbytes / (int64_t)run.symbol_nbytes;
        result = process(&run) ? EXIT_DONE : EXIT_FAILED;
    }
    message_clear_transient();
    if (result == EXIT_DONE) {
        if (options->verify && !options->quiet)
            report_verify(&run);
        if (options->stats)
            report_statistics(&run);
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
