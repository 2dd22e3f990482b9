/* SPDX-License-Identifier: MIT */
/* What a run writes: OUTPUT, and the report that --stats names. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_name.h"
#include "common/message.h"
#include "run.h"

/* Whether a file that is read, as `role` says, is not written. Links and other names of it count; a file that cannot be
 * compared is not written either. */
static bool check_file(const struct demod_options *options, const struct stat *source, const char *role)
{
    const char *const targets[] = {options->output, options->stats_file};
    for (int i = 0; i < 2 && targets[i]; i++) {
        struct stat target;
        const char *name = file_name_shown(targets[i], STDOUT_FILENO);
        const int fd = file_name_descriptor(targets[i], STDOUT_FILENO);
        const bool is_there = !(fd >= 0 ? fstat(fd, &target) : stat(targets[i], &target));
        if (!is_there && errno != ENOENT)
            return message_print_errno(name);
        if (is_there && file_name_is_same(source, &target))
            return message_of_command(message_print(name, "is %s; give OUTPUT another name", role));
    }
    return true;
}

/* The files that are open, and both files of a recording, even where one of them is read as plain samples. */
bool demod_outputs_check(const struct demod_run *run)
{
    const struct demod_options *options = run->options;
    char meta[PATH_MAX] = "", data[PATH_MAX] = "";
    const struct {
        int fd; /* 0 for a file that is not open */
        const char *path, *role;
    } sources[] = {
        {run->symbols.file.fd, options->input, options->input_is_sigmf ? "INPUT's" : "INPUT as well"},
        {run->noise.values.file.fd, options->noise_file, "--noise-file as well"},
        {run->comparison.sent.file.fd, options->compared_bits, "--compare's as well"},
        {0, meta, "INPUT's"},
        {0, data, "INPUT's"},
    };
    if ((options->input_is_sigmf || sigmf_name_is_explicit(options->input)) &&
        !sigmf_name_files(options->input, meta, data))
        return false;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct stat source;
        const bool is_open = sources[i].fd > 0;
        const bool is_there =
            is_open ? !fstat(sources[i].fd, &source) : sources[i].path && !stat(sources[i].path, &source);
        if (is_open && !is_there)
            return message_print_errno(file_name_shown(sources[i].path, STDIN_FILENO));
        if (is_there && !check_file(options, &source, sources[i].role))
            return false;
    }
    return true;
}

bool demod_outputs_open(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const unsigned how = (options->no_sync ? 0U : OUTPUT_FILE_SYNC) | (options->no_clobber ? OUTPUT_FILE_NEW : 0U);
    if (!output_file_open(&run->output, options->output, how) ||
        !message_of_command(output_file_check_terminal(&run->output)))
        return false;
    if (!options->stats_file)
        return true;
    return output_file_open(&run->report, options->stats_file, how) &&
           message_of_command(!output_file_is_same(&run->output, &run->report) ||
                              message_print("--stats", "'%s' is OUTPUT as well", options->stats_file));
}
