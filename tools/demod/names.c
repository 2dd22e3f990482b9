/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_name.h"
#include "common/message.h"
#include "common/output_file.h"
#include "common/sigmf_name.h"

const char *demod_names_data(const struct demod_names *names, const struct demod_options *options)
{
    return options->output_is_sigmf ? names->data : options->output;
}

/* What is written, with what is there before: all zero for nothing. */
enum { N_PATHS = 3 };

struct outputs {
    const char *paths[N_PATHS]; /* "" for one that is not written */
    struct stat files[N_PATHS];
};

/* A file that cannot be told from those that are read is not written either. */
static bool find_outputs(struct outputs *outputs)
{
    for (int i = 0; i < N_PATHS; i++) {
        if (!file_name_stat(outputs->paths[i], STDOUT_FILENO, &outputs->files[i]))
            continue;
        if (errno != ENOENT) {
            message_print_errno(file_name_shown(outputs->paths[i], STDOUT_FILENO));
            return false;
        }
        memset(&outputs->files[i], 0, sizeof outputs->files[i]);
    }
    return true;
}

/* What is open to be read; all zero for nothing. */
static bool find_source(int fd, const char *path, struct stat *source)
{
    memset(source, 0, sizeof *source);
    if (fd < 0 || !fstat(fd, source))
        return true;
    message_print_errno(file_name_shown(path, STDIN_FILENO));
    return false;
}

/* Whether a file that is read, as `role` says, is not written. Links and other names of it count. */
static bool check_file(const struct outputs *outputs, const struct stat *source, const char *role)
{
    for (int i = 0; i < N_PATHS; i++) {
        if (!file_name_is_same(source, &outputs->files[i]))
            continue;
        message_print(file_name_shown(outputs->paths[i], STDOUT_FILENO), "is %s; give OUTPUT another name", role);
        return false;
    }
    return true;
}

static bool check_path(const struct outputs *outputs, const char *path)
{
    struct stat status;
    return stat(path, &status) || check_file(outputs, &status, "INPUT's");
}

/* Both files of a recording, even where one of them is read as plain samples. */
static bool check_recording(const struct outputs *outputs, const char *input)
{
    char data[PATH_MAX], meta[PATH_MAX];
    return !sigmf_name_is_explicit(input) || !sigmf_name_with_suffix(input, SIGMF_DATA_SUFFIX, data) ||
           !sigmf_name_with_suffix(input, SIGMF_META_SUFFIX, meta) ||
           (check_path(outputs, data) && check_path(outputs, meta));
}

int demod_names_find(struct demod_names *names, const struct demod_options *options,
                     const struct demod_sources *sources)
{
    names->data[0] = names->meta[0] = '\0';
    if (options->output_is_sigmf && (!sigmf_name_with_suffix(options->output, SIGMF_DATA_SUFFIX, names->data) ||
                                     !sigmf_name_with_suffix(options->output, SIGMF_META_SUFFIX, names->meta))) {
        message_print_errno(options->output);
        return EXIT_FAILED;
    }
    struct outputs outputs = {
        .paths = {demod_names_data(names, options), names->meta, options->stats_file ? options->stats_file : ""}};
    struct stat input, noise, bits;
    if (!find_outputs(&outputs) || !find_source(sources->input_fd, options->input, &input) ||
        !find_source(sources->noise_fd, options->noise_file, &noise) ||
        !find_source(sources->bits_fd, options->compared_bits, &bits))
        return EXIT_FAILED;
    if (!check_file(&outputs, &input, options->input_is_sigmf ? "INPUT's" : "INPUT as well") ||
        !check_path(&outputs, sources->recording->meta_path) || !check_recording(&outputs, options->input) ||
        !check_file(&outputs, &noise, "--noise-file as well") || !check_file(&outputs, &bits, "--compare's as well"))
        return EXIT_COMMAND;
    for (int i = 0; i < N_PATHS; i++) {
        for (int k = 0; k < i; k++) {
            if (!*outputs.paths[i] || !*outputs.paths[k] || !output_file_is_same(outputs.paths[i], outputs.paths[k]))
                continue;
            message_print(file_name_shown(outputs.paths[i], STDOUT_FILENO), "is %s as well; give OUTPUT another name",
                          file_name_shown(outputs.paths[k], STDOUT_FILENO));
            return EXIT_COMMAND;
        }
    }
    return EXIT_DONE;
}
