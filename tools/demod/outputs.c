/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_name.h"
#include "common/message.h"
#include "common/sigmf_name.h"

/* The paths of what is written, "" for none, with the file that is there before: all zero for none. */
enum { N_PATHS = 3 };

struct targets {
    const char *paths[N_PATHS];
    struct stat files[N_PATHS];
};

static bool find_names(struct demod_run *run)
{
    const char *output = run->options->output;
    run->meta_name[0] = '\0';
    errno = ENAMETOOLONG;
    if (run->options->output_is_sigmf ? sigmf_name_with_suffix(output, SIGMF_DATA_SUFFIX, run->data_name) &&
                                            sigmf_name_with_suffix(output, SIGMF_META_SUFFIX, run->meta_name)
                                      : snprintf(run->data_name, PATH_MAX, "%s", output) < PATH_MAX)
        return true;
    message_print_errno(output);
    return false;
}

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

/* Whether no two of the paths are one file. */
static bool check_pairs(const struct demod_run *run, const struct targets *targets)
{
    for (int i = 0; i < N_PATHS; i++) {
        for (int k = 0; k < i; k++) {
            const char *path = targets->paths[i], *other = targets->paths[k];
            if (!*path || !*other || !output_file_is_same(path, other))
                continue;
            if (path == run->options->stats_file)
                message_print("--stats", "'%s' is OUTPUT as well", path);
            else
                message_print(path, "is %s as well; give OUTPUT another name", other);
            return false;
        }
    }
    return true;
}

static struct sigmf_output describe(const struct demod_run *run)
{
    static const char *const origins[] = {[NOISE_NONE] = NULL,
                                          [NOISE_UNIT] = NULL,
                                          [NOISE_VALUE] = "given",
                                          [NOISE_AUTO] = "estimated from the first symbols",
                                          [NOISE_FILE] = "given for each symbol"};
    const char *slash = strrchr(run->symbols.file.name, '/');
    const enum noise_kind kind = run->noise.kind;
    return (struct sigmf_output){.input = run->options->input_is_sigmf ? &run->recording : NULL,
                                 .input_name = slash ? slash + 1 : run->symbols.file.name,
                                 .config = &run->config,
                                 .c_init = run->descrambles ? &run->c_init : NULL,
                                 .kind = run->options->output_kind,
                                 .noise_origin = origins[kind],
                                 .noise_var =
                                     kind == NOISE_VALUE || kind == NOISE_AUTO ? (double)run->noise.noise_var : 0};
}

static int find_outputs(struct demod_run *run)
{
    const char *report = run->options->stats_file ? run->options->stats_file : "";
    struct targets targets = {.paths = {run->data_name, run->meta_name, report}};
    const struct sigmf_output description = describe(run);
    if (!find_names(run) || !find_targets(&targets))
        return EXIT_FAILED;
    const int result = check_sources(run, &targets);
    if (result != EXIT_DONE)
        return result;
    if (!check_pairs(run, &targets))
        return EXIT_COMMAND;
    return run->options->output_is_sigmf ? sigmf_output_check(&description) : EXIT_DONE;
}

int demod_open(struct demod_run *run)
{
    int result = demod_run_open(run);
    if (result == EXIT_DONE)
        result = find_outputs(run);
    return result == EXIT_DONE && !demod_run_start_inputs(run) ? EXIT_FAILED : result;
}

bool demod_outputs_open(struct demod_outputs *outputs, struct demod_run *run, unsigned how)
{
    const struct demod_options *options = run->options;
    const unsigned all = (options->sync ? OUTPUT_FILE_SYNC : 0U) | (options->no_clobber ? OUTPUT_FILE_NEW : 0U);
    if (!output_file_open(&outputs->data, run->data_name, all | how) ||
        (options->output_is_sigmf && !output_file_open(&outputs->meta, run->meta_name, all)) ||
        (options->stats_file && !output_file_open(&outputs->report, options->stats_file, all)))
        return false;
    if (!options->output_is_sigmf || !options->hash)
        return true;
    outputs->hash = sha512_create();
    if (!outputs->hash)
        message_print(NULL, "out of memory");
    return outputs->hash && symbol_source_hash(&run->symbols);
}

/* *result is the hash, or NULL where none was wanted. */
static bool finish_hash(struct sha512 *hash, char hex[SHA512_HEX_NBYTES], const char **result)
{
    *result = sha512_finish(hash, hex) ? hex : NULL;
    if (hash && !*result)
        message_print(NULL, "SHA-512 could not be computed");
    return !hash || *result;
}

static bool write_metadata(struct demod_outputs *outputs, const struct demod_run *run, const char *tool)
{
    struct sigmf_output output = describe(run);
    char hex[SHA512_HEX_NBYTES], input_hex[SHA512_HEX_NBYTES];
    const char *expected = run->recording.sha512;
    output.tool = tool;
    if (!finish_hash(outputs->hash, hex, &output.sha512) ||
        !finish_hash(run->symbols.hash, input_hex, &output.input_sha512))
        return false;
    if (output.input_sha512 && expected && strcasecmp(output.input_sha512, expected) != 0) {
        message_print(run->symbols.file.name, "SHA-512 is not the core:sha512 in %s; --no-hash leaves that out",
                      run->recording.meta_path);
        return false;
    }
    return sigmf_write(&outputs->meta, sigmf_output_text(&output));
}

/* The metadata take their name last: who sees them sees the data. */
bool demod_outputs_publish(struct demod_outputs *outputs, const struct demod_run *run, const char *tool)
{
    return output_file_finish(&outputs->data) &&
           (!run->options->output_is_sigmf || write_metadata(outputs, run, tool)) &&
           output_file_publish(&outputs->data, &outputs->meta);
}

void demod_outputs_end(struct demod_outputs *outputs, bool keep)
{
    output_file_end(&outputs->data, keep);
    output_file_end(&outputs->meta, keep);
    output_file_discard(&outputs->report);
    sha512_destroy(outputs->hash);
}
