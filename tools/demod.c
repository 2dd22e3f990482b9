/* SPDX-License-Identifier: MIT */
/* softqam-demod: a file of 256QAM symbols in, a file of soft bits or LLRs out, block by block. */
#include "demod_options.h"
#include "demod_report.h"
#include "demod_run.h"
#include "message.h"
#include "output_file.h"
#include "progress.h"

#include <stdio.h>

/* Everything that can be found wrong before the first byte is written. The output file comes before the library,
 * which starts threads. */
static int open_files(struct demod_run *run, struct output_file *output)
{
    const struct demod_options *options = run->options;
    if (!demod_run_open(run) ||
        (options->n_shards > 1 && !demod_run_choose_part(run, options->shard - 1, options->n_shards)) ||
        !output_file_open(output, options->output))
        return EXIT_FAILED;
    if (output_file_overwrites(output, run->input.fd)) {
        message_print(output->name, "is INPUT as well, which would be overwritten while it is read");
        return EXIT_FAILED;
    }
    return demod_run_prepare(run, 0);
}

static bool write_blocks(struct demod_run *run, struct output_file *output)
{
    struct progress progress;
    uint64_t n_written = 0;
    bool written = true;
    const struct block *block;
    progress_start(&progress, run->options->show_progress, run->n_symbols);
    while (written && (block = demod_run_next(run))) {
        written = output_file_write(output, block->out, block->n_symbols * run->out_nbytes);
        n_written += block->n_symbols;
        if (written) {
            demod_run_written(run);
            progress_update(&progress, n_written);
        }
    }
    return written;
}

static bool demodulate(struct demod_run *run, struct output_file *output)
{
    if (!demod_run_start(run))
        return false;
    const bool written = write_blocks(run, output);
    return demod_run_finish(run, !written) && output_file_finish(output) && output_file_publish(output);
}

static int demodulate_file(const struct demod_options *options)
{
    struct demod_run run;
    struct output_file output = {.fd = -1};
    demod_run_init(&run, options);
    int result = open_files(&run, &output);
    if (result == EXIT_DONE)
        result = demodulate(&run, &output) ? EXIT_DONE : EXIT_FAILED;
    message_clear_transient();
    if (result == EXIT_DONE) {
        demod_report(&run, output.name);
        output_file_release(&output);
    } else {
        output_file_discard(&output);
    }
    demod_run_close(&run);
    return message_end(result);
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
