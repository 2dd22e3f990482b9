/* SPDX-License-Identifier: MIT */
#include "metadata.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/message.h"

static struct sigmf_output describe(const struct demod_run *run, const char *tool)
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
                                 .tool = tool,
                                 .config = &run->config,
                                 .c_init = run->descrambles ? &run->c_init : NULL,
                                 .kind = run->options->output_kind,
                                 .noise_origin = origins[kind],
                                 .noise_var =
                                     kind == NOISE_VALUE || kind == NOISE_AUTO ? (double)run->noise.noise_var : 0};
}

int demod_metadata_check(const struct demod_run *run)
{
    const struct sigmf_output output = describe(run, "");
    return run->options->output_is_sigmf ? sigmf_output_check(&output) : EXIT_DONE;
}

/* Whether the data are those that the input's metadata are of; no hash, NULL, says nothing against it. */
static bool check_hash(const struct demod_run *run, const char *hash)
{
    const struct sigmf_input *input = &run->recording;
    if (!hash || !input->sha512 || !strcasecmp(hash, input->sha512))
        return true;
    message_print(run->symbols.file.name, "SHA-512 is not the core:sha512 in %s; --no-hash leaves that out",
                  input->meta_path);
    return false;
}

/* *result is the hash, or NULL where none was wanted. */
static bool finish_hash(struct sha512 *hash, char hex[SHA512_HEX_NBYTES], const char **result)
{
    *result = sha512_finish(hash, hex) ? hex : NULL;
    if (hash && !*result)
        message_print(NULL, "SHA-512 could not be computed");
    return !hash || *result;
}

bool demod_metadata_write(const struct demod_run *run, const char *tool, struct sha512 *hash, struct output_file *meta)
{
    struct sigmf_output output = describe(run, tool);
    char hex[SHA512_HEX_NBYTES], input_hex[SHA512_HEX_NBYTES];
    if (!finish_hash(hash, hex, &output.sha512) || !finish_hash(run->symbols.hash, input_hex, &output.input_sha512) ||
        !check_hash(run, output.input_sha512))
        return false;
    char *text = sigmf_output_text(&output);
    const bool written = text && output_file_write(meta, text, strlen(text)) && output_file_write(meta, "\n", 1) &&
                         output_file_finish(meta);
    free(text);
    return written;
}
