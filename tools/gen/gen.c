/* SPDX-License-Identifier: MIT */
/* softqam-gen: random symbols with noise, and their bits, block by block. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/output_file.h"
#include "common/sigmf.h"
#include "common/transmitter.h"
#include "options.h"

enum { BLOCK_SYMBOLS = 1 << 20 };

/* One run. All zero is a run that holds nothing. */
struct run {
    const struct gen_options *options;
    struct transmitter transmitter;
    struct output_file output;
    struct output_file bits_output;
    struct output_file meta_output;
    char data_path[PATH_MAX], meta_path[PATH_MAX]; /* of a recording */
    void *samples;
    uint8_t *bits;
    uint64_t n_clipped;
};

static bool allocate(struct run *run)
{
    run->samples = malloc(BLOCK_SYMBOLS * softqam_input_symbol_nbytes(run->options->format));
    if (run->options->bits)
        run->bits = malloc(run->transmitter.modulation->n_bits * (size_t)BLOCK_SYMBOLS);
    const bool complete = run->samples && (run->bits || !run->options->bits);
    if (!complete)
        message_print(NULL, "out of memory");
    return complete;
}

/* The paths of what is written: OUTPUT's, and of a recording its metadata's. */
static bool find_names(struct run *run)
{
    const struct gen_options *options = run->options;
    if (!options->is_sigmf)
        return true;
    if (sigmf_name_with_suffix(options->output, SIGMF_DATA_SUFFIX, run->data_path) &&
        sigmf_name_with_suffix(options->output, SIGMF_META_SUFFIX, run->meta_path))
        return true;
    message_print_errno(options->output);
    return false;
}

static bool open_files(struct run *run)
{
    const struct gen_options *options = run->options;
    const unsigned how = (options->sync ? OUTPUT_FILE_SYNC : 0U) | (options->no_clobber ? OUTPUT_FILE_NEW : 0U);
    return output_file_open(&run->output, options->is_sigmf ? run->data_path : options->output, how) &&
           (!options->bits || output_file_open(&run->bits_output, options->bits, how)) &&
           (!options->is_sigmf || output_file_open(&run->meta_output, run->meta_path, how));
}

static int check_files(const struct run *run)
{
    const char *bits = run->options->bits;
    const bool is_sigmf = run->options->is_sigmf;
    if (bits && (output_file_is_same(&run->output, &run->bits_output) ||
                 (is_sigmf && output_file_is_same(&run->meta_output, &run->bits_output)))) {
        message_print("--bits", "'%s' is OUTPUT as well", bits);
        return EXIT_COMMAND;
    }
    if (is_sigmf && output_file_is_same(&run->output, &run->meta_output)) {
        message_print(run->meta_path, "is %s as well; give OUTPUT another name", run->data_path);
        return EXIT_COMMAND;
    }
    const bool no_terminal =
        output_file_check_terminal(&run->output) && (!bits || output_file_check_terminal(&run->bits_output));
    return no_terminal ? EXIT_DONE : EXIT_COMMAND;
}

static bool write_metadata(struct run *run)
{
    const struct gen_options *options = run->options;
    char description[192], noise[64] = "without noise";
    if (!options->is_sigmf)
        return true;
    if (!isinf(options->snr_db))
        snprintf(noise, sizeof noise, "with noise at an Es/N0 of %g dB", options->snr_db);
    snprintf(description, sizeof description, "%" PRIu64 " random %s symbols %s, seed %" PRIu64, options->n_symbols,
             run->transmitter.modulation->name, noise, options->seed);
    const struct sigmf_samples samples = {.description = description,
                                          .modulation = options->modulation,
                                          .c_init = options->scrambles ? &options->c_init : NULL,
                                          .format = options->format,
                                          .scale = options->scale};
    return sigmf_samples_write(&run->meta_output, &samples);
}

/* The metadata take their name last: who sees them sees the data. */
static bool finish_files(struct run *run)
{
    return output_file_finish(&run->output) && (!run->bits || output_file_finish(&run->bits_output)) &&
           write_metadata(run) && output_file_publish(&run->output) && output_file_publish(&run->bits_output) &&
           output_file_publish(&run->meta_output);
}

static bool generate(struct run *run)
{
    const struct gen_options *options = run->options;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(options->format);
    for (uint64_t first = 0; first < options->n_symbols; first += BLOCK_SYMBOLS) {
        const uint64_t left = options->n_symbols - first;
        const size_t n = left < BLOCK_SYMBOLS ? (size_t)left : BLOCK_SYMBOLS;
        run->n_clipped += transmitter_generate(&run->transmitter, first, n, run->samples, run->bits);
        if (!output_file_write(&run->output, run->samples, n * symbol_nbytes) ||
            (run->bits && !output_file_write(&run->bits_output, run->bits, run->transmitter.modulation->n_bits * n)))
            return false;
    }
    return finish_files(run);
}

static void report(const struct run *run)
{
    const struct gen_options *options = run->options;
    const uint64_t n = options->n_symbols;
    if ((float)options->scale != softqam_input_default_scale(options->format) && !options->is_sigmf)
        message_print(run->output.name, "%" PRIu64 " symbol%s; read it with --input-scale %s", n, PLURAL(n),
                      options->scale_text);
    if (run->n_clipped)
        message_warn(run->output.name, "%" PRIu64 " of %" PRIu64 " components were clipped", run->n_clipped, 2 * n);
}

static int generate_files(const struct gen_options *options)
{
    struct run run = {.options = options};
    transmitter_init(&run.transmitter, options->modulation, options->seed, options->snr_db, options->format,
                     options->scale);
    if (options->scrambles)
        transmitter_scramble(&run.transmitter, options->c_init);
    int result = allocate(&run) && find_names(&run) && open_files(&run) ? check_files(&run) : EXIT_FAILED;
    if (result == EXIT_DONE && !generate(&run))
        result = EXIT_FAILED;
    const bool done = result == EXIT_DONE;
    if (done && !options->quiet)
        report(&run);
    output_file_end(&run.output, done);
    output_file_end(&run.bits_output, done);
    output_file_end(&run.meta_output, done);
    free(run.samples);
    free(run.bits);
    return message_end(result);
}

int main(int argc, char *argv[])
{
    struct gen_options options;
    message_start("softqam-gen");
    const enum option_result action = gen_options_parse(argc, argv, &options);
    return action == OPTIONS_RUN ? generate_files(&options) : option_table_answer(action, gen_help());
}
