/* SPDX-License-Identifier: MIT */
/* softqam-demod: reads a file of symbols and writes a file of soft bits, LLRs or decisions, batch by batch. */
#include "demod.h"

#include <string.h>

#include "common/message.h"

/* Runs a command. All that can be found wrong is found before the first byte is written. OUTPUT is opened before the
 * library starts threads. */
static bool demodulate(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    return demod_run_open(run) && demod_run_open_output(run) &&
           demod_run_select(run, options->shard - 1, options->n_shards) && demod_run_start(run) &&
           demod_run_write(run) && demod_warn(run) && output_file_finish(&run->output) &&
           output_file_publish(&run->output);
}

static int demodulate_file(struct demod_options *options)
{
    static struct demod_run run; /* too large for the smallest stacks */
    memset(&run, 0, sizeof run);
    run.options = options;
    const bool published = demodulate(&run);
    message_clear_transient();
    if (published)
        demod_report(&run);
    demod_run_close(&run, published);
    return message_end(published && !(options->strict && message_n_warnings() > 0));
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    message_start("softqam-demod");
    const enum option_result action = demod_options_parse(argc, argv, false, &options);
    return action == OPTIONS_RUN ? demodulate_file(&options) : option_table_answer(action, demod_option_rows);
}
