/* SPDX-License-Identifier: MIT */
/* softqam-demod: a file of symbols in, a file of soft bits or LLRs out, block by block. */
#include "common/message.h"
#include "common/output_file.h"
#include "metadata.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "run.h"

/* What a run writes. */
struct outputs {
    struct output_file data;
    struct output_file meta;   /* not opened unless the output is SigMF */
    struct output_file report; /* not opened unless --stats names it */
    struct sha512 *hash;       /* of the data; NULL for none */
};

static bool open_metadata(struct demod_run *run, struct outputs *outputs)
{
    const struct demod_options *options = run->options;
    if (!options->output_is_sigmf)
        return true;
    if (!output_file_open(&outputs->meta, run->names.meta, demod_options_how(options)))
        return false;
    if (!options->hash)
        return true;
    outputs->hash = sha512_create();
    if (!outputs->hash)
        message_print(NULL, "out of memory");
    return outputs->hash && symbol_source_hash(&run->symbols);
}

/* Everything that can be found wrong before the first byte is written. The output file comes before the library,
 * which starts threads. */
static int open_files(struct demod_run *run, struct outputs *outputs)
{
    const struct demod_options *options = run->options;
    int result = demod_run_open(run);
    if (result != EXIT_DONE)
        return result;
    if (options->n_shards > 1 && !demod_run_choose_part(run, options->shard - 1, options->n_shards))
        return EXIT_FAILED;
    result = demod_metadata_check(run);
    if (result != EXIT_DONE)
        return result;
    if (!output_file_open(&outputs->data, run->names.data, demod_options_how(options)) ||
        !open_metadata(run, outputs) ||
        (options->stats_file && !output_file_open(&outputs->report, options->stats_file, demod_options_how(options))))
        return EXIT_FAILED;
    return demod_run_prepare(run, 0);
}

static bool write_blocks(struct demod_run *run, struct outputs *outputs)
{
    struct progress progress;
    uint64_t n_written = 0;
    bool written = true;
    const struct block *block;
    progress_start(&progress, run->options->show_progress, run->symbols.n_symbols);
    while (written && (block = demod_run_next(run))) {
        sha512_add(outputs->hash, block->out, block->out_nbytes);
        written = output_file_write(&outputs->data, block->out, block->out_nbytes);
        n_written += block->n_symbols;
        if (written) {
            demod_run_written(run);
            progress_update(&progress, n_written);
        }
    }
    return written;
}

/* The metadata take their name last: who sees them sees the data. */
static bool finish_files(struct demod_run *run, struct outputs *outputs)
{
    return output_file_finish(&outputs->data) &&
           (!run->options->output_is_sigmf ||
            demod_metadata_write(run, "softqam-demod", outputs->hash, &outputs->meta)) &&
           output_file_publish(&outputs->data, &outputs->meta);
}

static bool demodulate(struct demod_run *run, struct outputs *outputs)
{
    if (!demod_run_start(run))
        return false;
    const bool written = write_blocks(run, outputs);
    if (!demod_run_finish(run, !written))
        return false;
    message_clear_transient();
    return demod_warn(run, outputs->data.name) && finish_files(run, outputs);
}

static int demodulate_file(const struct demod_options *options)
{
    /* Too large for the smallest stacks. */
    static struct demod_run run;
    static struct outputs outputs;
    outputs = (struct outputs){.data = {.fd = -1}, .meta = {.fd = -1}, .report = {.fd = -1}};
    demod_run_init(&run, options);
    int result = open_files(&run, &outputs);
    if (result == EXIT_DONE)
        result = demodulate(&run, &outputs) ? EXIT_DONE : EXIT_FAILED;
    message_clear_transient();
    if (result == EXIT_DONE) {
        if (!demod_report(&run, &outputs.report))
            result = EXIT_FAILED;
        output_file_release(&outputs.data);
        output_file_release(&outputs.meta);
    }
    output_file_discard(&outputs.data);
    output_file_discard(&outputs.meta);
    output_file_discard(&outputs.report);
    sha512_destroy(outputs.hash);
    demod_run_close(&run);
    return message_end(result == EXIT_DONE && options->strict && message_n_warnings() > 0 ? EXIT_FAILED : result);
}

int main(int argc, char *argv[])
{
    struct demod_options options;
    message_start("softqam-demod");
    switch (demod_options_parse(argc, argv, false, &options)) {
    case OPTIONS_RUN:
        return demodulate_file(&options);
    case OPTIONS_HELP:
        return message_to_stdout(demod_help(false));
    case OPTIONS_VERSION:
        return message_version_to_stdout();
    default:
        return EXIT_COMMAND;
    }
}
