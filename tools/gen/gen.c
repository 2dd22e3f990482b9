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
    return (run->samples && (run->bits || !run->options->bits)) || message_print(NULL, "out of memory");
}

static bool open_files(struct run *run)
{
    const struct gen_options *options = run->options;
    const unsigned how = (options->no_sync ? 0U : OUTPUT_FILE_SYNC) | (options->no_clobber ? OUTPUT_FILE_NEW : 0U);
    return (!options->is_sigmf || sigmf_name_files(options->output, run->meta_path, run->data_path)) &&
           output_file_open(&run->output, options->is_sigmf ? run->data_path : options->output, how) &&
           (!options->bits || output_file_open(&run->bits_output, options->bits, how)) &&
           (!options->is_sigmf || output_file_open(&run->meta_output, run->meta_path, how));
}

static bool check_files(const struct run *run)
{
    const char *bits = run->options->bits;
    const bool is_sigmf = run->options->is_sigmf;
    if (bits && (output_file_is_same(&run->output, &run->bits_output) ||
                 (is_sigmf && output_file_is_same(&run->meta_output, &run->bits_output))))
        return message_print("--bits", "'%s' is OUTPUT as well", bits);
    if (is_sigmf && output_file_is_same(&run->output, &run->meta_output))
        return message_print(run->meta_path, "is %s as well; give OUTPUT another name", run->data_path);
    return output_file_check_terminal(&run->output) && (!bits || output_file_check_terminal(&run->bits_output));
}

/* No text in it has anything that JSON would escape. */
static const char metadata[] = "{\n"
                               "\t\"global\":\t{\n"
                               "\t\t\"core:datatype\":\t\"%s\",\n"
                               "\t\t\"core:version\":\t\"1.2.0\",\n"
                               "\t\t\"core:recorder\":\t\"softqam-gen %s\",\n"
                               "\t\t\"core:description\":\t\"%" PRIu64 " random %s symbols %s, seed %" PRIu64 "\",\n"
                               "\t\t\"core:extensions\":\t[{\n"
                               "\t\t\t\t\"name\":\t\"" SIGMF_EXTENSION "\",\n"
                               "\t\t\t\t\"version\":\t\"1.0.0\",\n"
                               "\t\t\t\t\"optional\":\ttrue\n"
                               "\t\t\t}],\n"
                               "\t\t\"softqam:modulation\":\t\"%s\",\n"
                               "%s"
                               "\t\t\"softqam:input_scale\":\t%s\n"
                               "\t},\n"
                               "\t\"captures\":\t[{\n"
                               "\t\t\t\"core:sample_start\":\t0\n"
                               "\t\t}],\n"
                               "\t\"annotations\":\t[]\n"
                               "}\n";

static bool write_metadata(struct run *run)
{
    const struct gen_options *options = run->options;
    const struct modulation *modulation = run->transmitter.modulation;
    char noise[64] = "without noise", c_init[64] = "", scale[32], text[2048];
    if (!options->is_sigmf)
        return true;
    if (!isinf(options->snr_db))
        snprintf(noise, sizeof noise, "with noise at an Es/N0 of %g dB", options->snr_db);
    if (options->scrambles)
        snprintf(c_init, sizeof c_init, "\t\t\"softqam:c_init\":\t%" PRIu32 ",\n", options->c_init);
    snprintf(scale, sizeof scale, "%.15g", options->scale);
    if (strtod(scale, NULL) != options->scale)
        snprintf(scale, sizeof scale, "%.17g", options->scale);
    const int n =
        snprintf(text, sizeof text, metadata, file_formats[options->format].datatype, softqam_version(),
                 options->n_symbols, modulation->name, noise, options->seed, modulation->option, c_init, scale);
    return output_file_write(&run->meta_output, text, (size_t)n) && output_file_finish(&run->meta_output);
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
    run.transmitter.scrambles = options->scrambles;
    run.transmitter.c_init = options->c_init;
    const bool done = allocate(&run) && open_files(&run) && message_of_command(check_files(&run)) && generate(&run);
    if (done && !options->quiet)
        report(&run);
    output_file_end(&run.output, done);
    output_file_end(&run.bits_output, done);
    output_file_end(&run.meta_output, done);
    free(run.samples);
    free(run.bits);
    return message_end(done);
}

int main(int argc, char *argv[])
{
    struct gen_options options;
    message_start("softqam-gen");
    const enum option_result action = gen_options_parse(argc, argv, &options);
    return action == OPTIONS_RUN ? generate_files(&options) : option_table_answer(action, gen_option_rows);
}
