/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_name.h"
#include "common/message.h"
#include "common/output_file.h"
#include "common/sigmf_name.h"

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

static bool find_names(struct demod_names *names, const struct demod_options *options)
{
    const char *output = options->output;
    names->meta[0] = '\0';
    if (!options->output_is_sigmf) {
        errno = ENAMETOOLONG;
        return snprintf(names->data, PATH_MAX, "%s", output) < PATH_MAX;
    }
    return sigmf_name_with_suffix(output, SIGMF_DATA_SUFFIX, names->data) &&
           sigmf_name_with_suffix(output, SIGMF_META_SUFFIX, names->meta);
}

int demod_names_find(struct demod_names *names, const struct demod_options *options, const char *recording_meta,
                     const int source_fds[N_DEMOD_SOURCES])
{
    const char *const paths[] = {options->input, options->noise_file, options->compared_bits};
    const char *const roles[] = {options->input_is_sigmf ? "INPUT's" : "INPUT as well", "--noise-file as well",
                                 "--compare's as well"};
    struct outputs outputs = {.paths = {names->data, names->meta, options->stats_file ? options->stats_file : ""}};
    if (!find_names(names, options)) {
        message_print_errno(options->output);
        return EXIT_FAILED;
    }
    if (!find_outputs(&outputs))
        return EXIT_FAILED;
    for (int i = 0; i < N_DEMOD_SOURCES; i++) {
        struct stat source;
        if (source_fds[i] >= 0 && fstat(source_fds[i], &source)) {
            message_print_errno(file_name_shown(paths[i], STDIN_FILENO));
            return EXIT_FAILED;
        }
        if (source_fds[i] >= 0 && !check_file(&outputs, &source, roles[i]))
            return EXIT_COMMAND;
    }
    if (!check_path(&outputs, recording_meta) || !check_recording(&outputs, options->input))
        return EXIT_COMMAND;
    for (int i = 0; i < N_PATHS; i++) {
        for (int k = 0; k < i; k++) {
            if (!*outputs.paths[i] || !*outputs.paths[k] || !output_file_is_same(outputs.paths[i], outputs.paths[k]))
                continue;
            if (outputs.paths[i] == options->stats_file)
                message_print("--stats", "'%s' is OUTPUT as well", options->stats_file);
            else
                message_print(outputs.paths[i], "is %s as well; give OUTPUT another name", outputs.paths[k]);
            return EXIT_COMMAND;
        }
    }
    return EXIT_DONE;
}
