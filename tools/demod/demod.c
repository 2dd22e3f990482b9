/* SPDX-License-Identifier: MIT */
/* softqam-demod: a file of symbols in, a file of soft bits or LLRs out, block by block. */
#include <string.h>

#include "common/message.h"
#include "run.h"

/* Everything that can be found wrong before the first byte is written. The outputs come before the library, which
 * starts threads. */
static bool open_files(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    return demod_run_open(run) &&
           (options->n_shards <= 1 || demod_run_choose_part(run, options->shard - 1, options->n_shards)) &&
           demod_outputs_open(run) && demod_run_start(run, 0);
}

static bool write_blocks(struct demod_run *run)
{
    uint64_t n_written = 0;
    double due = 0;
    const struct block *block;
    while ((block = block_ring_wait(&run->ring, STAGE_WRITE))) {
        if (!output_file_write(&run->output, block->out, block->out_nbytes))
            return false;
        n_written += block->n_symbols;
        block_ring_done(&run->ring, STAGE_WRITE);
        demod_progress(run, run->symbols.n_symbols, n_written, &due);
    }
    return true;
}

static bool demodulate(struct demod_run *run)
{
    if (!demod_run_finish(run, !write_blocks(run)))
        return false;
    message_clear_transient();
    return demod_warn(run) && output_file_finish(&run->output) && output_file_publish(&run->output);
}

static int demodulate_file(const struct demod_options *options)
{
    static struct demod_run run; /* too large for the smallest stacks */
    memset(&run, 0, sizeof run);
    run.options = options;
    const bool published = open_files(&run) && demodulate(&run);
    message_clear_transient();
    const bool reported = published && demod_report(&run);
    demod_run_close(&run, published);
    return message_end(reported && !(options->strict && message_n_warnings() > 0));
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    message_start("softqam-demod");
    const enum option_result action = demod_options_parse(argc, argv, false, &options);
    return action == OPTIONS_RUN ? demodulate_file(&options) : option_table_answer(action, demod_help(false));
}
