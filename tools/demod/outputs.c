/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_name.h"
#include "common/message.h"
#include "common/sigmf.h"

/* The paths of what is written, "" for none, with the file that is there before: all zero for none. */
enum { N_PATHS = 2 };

struct targets {
    const char *paths[N_PATHS];
    struct stat files[N_PATHS];
};

/* A file that cannot be compared with those that are read is not written either. */
static bool find_targets(struct targets *targets)
{
    for (int i = 0; i < N_PATHS; i++) {
        if (!file_name_stat(targets->paths[i], STDOUT_FILENO, &targets->files[i]))
            continue;
        if (errno != ENOENT) {
            message_print_errno(file_name_shown(targets->paths[i], STDOUT_FILENO));
            return false;
        }
        memset(&targets->files[i], 0, sizeof targets->files[i]);
    }
    return true;
}

/* Whether a file that is read, as `role` says, is not written. Links and other names of it count. */
static bool check_file(const struct targets *targets, const struct stat *source, const char *role)
{
    for (int i = 0; i < N_PATHS; i++) {
        if (!file_name_is_same(source, &targets->files[i]))
            continue;
        message_print(file_name_shown(targets->paths[i], STDOUT_FILENO), "is %s; give OUTPUT another name", role);
        return false;
    }
    return true;
}

static bool check_path(const struct targets *targets, const char *path)
{
    struct stat status;
    return stat(path, &status) || check_file(targets, &status, "INPUT's");
}

/* The files that are open, and both files of a recording, even where one of them is read as plain samples. */
static int check_sources(const struct demod_run *run, const struct targets *targets)
{
    const struct demod_options *options = run->options;
    const struct {
        int fd;
        const char *path, *role;
    } sources[] = {
        {run->symbols.file.fd, options->input, options->input_is_sigmf ? "INPUT's" : "INPUT as well"},
        {run->noise.values.file.fd, options->noise_file, "--noise-file as well"},
        {run->comparison.sent.file.fd, options->compared_bits, "--compare's as well"},
    };
    char data[PATH_MAX], meta[PATH_MAX];
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct stat source;
        if (sources[i].fd >= 0 && fstat(sources[i].fd, &source)) {
            message_print_errno(file_name_shown(sources[i].path, STDIN_FILENO));
            return EXIT_FAILED;
        }
        if (sources[i].fd >= 0 && !check_file(targets, &source, sources[i].role))
            return EXIT_COMMAND;
    }
    if (!check_path(targets, run->recording.meta_path))
        return EXIT_COMMAND;
    if (sigmf_name_is_explicit(options->input) && sigmf_name_with_suffix(options->input, SIGMF_DATA_SUFFIX, data) &&
        sigmf_name_with_suffix(options->input, SIGMF_META_SUFFIX, meta) &&
        !(check_path(targets, data) && check_path(targets, meta)))
        return EXIT_COMMAND;
    return EXIT_DONE;
}

static int check_outputs(const struct demod_run *run)
{
    const struct demod_options *options = run->options;
    struct targets targets = {.paths = {options->output, options->stats_file ? options->stats_file : ""}};
    return find_targets(&targets) ? check_sources(run, &targets) : EXIT_FAILED;
}

int demod_open(struct demod_run *run)
{
    int result = demod_run_open(run);
    if (result == EXIT_DONE)
        result = check_outputs(run);
    return result == EXIT_DONE && !demod_run_start_inputs(run) ? EXIT_FAILED : result;
}

int demod_outputs_open(struct demod_outputs *outputs, const struct demod_options *options)
{
    const unsigned how = (options->sync ? OUTPUT_FILE_SYNC : 0U) | (options->no_clobber ? OUTPUT_FILE_NEW : 0U);
    if (!output_file_open(&outputs->data, options->output, how))
        return EXIT_FAILED;
    if (!output_file_check_terminal(&outputs->data))
        return EXIT_COMMAND;
    if (!options->stats_file)
        return EXIT_DONE;
    if (!output_file_open(&outputs->report, options->stats_file, how))
        return EXIT_FAILED;
    if (!output_file_is_same(&outputs->data, &outputs->report))
        return EXIT_DONE;
    message_print("--stats", "'%s' is OUTPUT as well", options->stats_file);
    return EXIT_COMMAND;
}

bool demod_outputs_publish(struct demod_outputs *outputs)
{
    return output_file_finish(&outputs->data) && output_file_publish(&outputs->data);
}

void demod_outputs_end(struct demod_outputs *outputs, bool keep)
{
    output_file_end(&outputs->data, keep);
    output_file_discard(&outputs->report);
}
