/* SPDX-License-Identifier: MIT */
/* softqam-demod: a file of symbols in, a file of soft bits or LLRs out, block by block. */
#include "common/message.h"
#include "options.h"
#include "outputs.h"
#include "report.h"
#include "run.h"

/* Everything that can be found wrong before the first byte is written. The outputs come before the library, which
 * starts threads. */
static int open_files(struct demod_run *run, struct demod_outputs *outputs)
{
    const struct demod_options *options = run->options;
    int result = demod_open(run);
    if (result == EXIT_DONE && options->n_shards > 1 &&
        !demod_run_choose_part(run, options->shard - 1, options->n_shards))
        result = EXIT_FAILED;
    if (result == EXIT_DONE)
        result = demod_outputs_open(outputs, options);
    return result == EXIT_DONE ? demod_run_prepare(run, 0) : result;
}

static bool write_blocks(struct demod_run *run, struct demod_outputs *outputs)
{
    struct progress progress;
    uint64_t n_written = 0;
    bool written = true;
    const struct block *block;
    progress_start(&progress, run->options->show_progress, run->symbols.n_symbols);
    while (written && (block = demod_run_next(run))) {
        written = output_file_write(&outputs->data, block->out, block->out_nbytes);
        n_written += block->n_symbols;
        if (written) {
            demod_run_written(run);
            progress_update(&progress, n_written);
        }
    }
    return written;
}

static bool demodulate(struct demod_run *run, struct demod_outputs *outputs)
{
    if (!demod_run_start(run))
        return false;
    const bool written = write_blocks(run, outputs);
    if (!demod_run_finish(run, !written))
        return false;
    message_clear_transient();
    return demod_warn(run, outputs->data.name) && demod_outputs_publish(outputs);
}

static int demodulate_file(const struct demod_options *options)
{
    /* Too large for the smallest stacks. */
    static struct demod_run run;
    static struct demod_outputs outputs;
    outputs = (struct demod_outputs){.data = {.fd = -1}, .report = {.fd = -1}};
    demod_run_init(&run, options);
    int result = open_files(&run, &outputs);
    if (result == EXIT_DONE && !demodulate(&run, &outputs))
        result = EXIT_FAILED;
    message_clear_transient();
    const bool published = result == EXIT_DONE;
    if (published && !demod_report(&run, &outputs.report))
        result = EXIT_FAILED;
    demod_outputs_end(&outputs, published);
    demod_run_close(&run);
    return message_end(result == EXIT_DONE && options->strict && message_n_warnings() > 0 ? EXIT_FAILED : result);
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    message_start("softqam-demod");
    const enum option_result action = demod_options_parse(argc, argv, false, &options);
    return action == OPTIONS_RUN ? demodulate_file(&options) : option_table_answer(action, demod_help(false));
}
