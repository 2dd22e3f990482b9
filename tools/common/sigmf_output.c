/* SPDX-License-Identifier: MIT */
/* SigMF metadata that are written: the input's, carried over, and what is known of soft bits or LLRs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "message.h"
#include "modulation.h"
#include "sample_format.h"
#include "sigmf.h"
#include "utf8.h"

static const char extension_version[] = "1.0.0";
static const char default_version[] = "1.2.0"; /* of SigMF, where the input does not say */

/* NULL for what SigMF has no datatype for. */
static const char *const datatypes[N_OUTPUT_KINDS] = {[OUTPUT_U8] = "ru8",
                                                      [OUTPUT_HARD] = "ru8",
                                                      [OUTPUT_S8] = "ri8",
                                                      [OUTPUT_S16] = "ri16_le",
                                                      [OUTPUT_F32] = "rf32_le"};

static const char *const sample_datatypes[] = {[SOFTQAM_INPUT_CF32] = "cf32_le",
                                               [SOFTQAM_INPUT_CS16] = "ci16_le",
                                               [SOFTQAM_INPUT_CS8] = "ci8",
                                               [SOFTQAM_INPUT_CF16] = NULL};

/* Members that are true of the input's data and not of the output's, and their names there; NULL: they are left out. */
static const struct {
    const char *name, *output_name;
} input_only[] = {{"core:datatype", "softqam:input_datatype"},
                  {"core:recorder", "softqam:input_recorder"},
                  {"core:data_doi", NULL},
                  {"core:meta_doi", NULL},
                  {"core:sha512", NULL},
                  {"core:num_channels", NULL},
                  {"core:dataset", NULL},
                  {"core:trailing_bytes", NULL},
                  {"core:metadata_only", NULL},
                  {"core:collection", NULL},
                  {"softqam:c_init", "softqam:input_c_init"},
                  {"softqam:input_scale", NULL}};

static const cJSON *input_member(const struct sigmf_output *output, const char *name)
{
    return output && output->input ? cJSON_GetObjectItemCaseSensitive(output->input->document, name) : NULL;
}

int sigmf_output_check(const struct sigmf_output *output)
{
    static const char *const carried[] = {"captures", "annotations"};
    for (int i = 0; i < 2; i++) {
        const cJSON *array = input_member(output, carried[i]);
        if (!array || cJSON_IsArray(array))
            continue;
        message_print(output->input->meta_path, "%s: not an array", carried[i]);
        return EXIT_FAILED;
    }
    if (datatypes[output->kind])
        return EXIT_DONE;
    message_print("--output-format", "%s has no datatype in SigMF; choose another, or --no-sigmf",
                  sample_format_name(output->kind));
    return EXIT_COMMAND;
}

bool sigmf_samples_check(softqam_input_format format) { return sample_datatypes[format] != NULL; }

/* An object in the making, and whether memory has been enough so far. */
struct builder {
    cJSON *object;
    bool sound;
};

/* Adds or replaces a member, or, without a name, appends to an array. Takes the value over. */
static void set(struct builder *builder, const char *name, cJSON *value)
{
    if (name)
        cJSON_DeleteItemFromObjectCaseSensitive(builder->object, name);
    if (value &&
        (name ? cJSON_AddItemToObject(builder->object, name, value) : cJSON_AddItemToArray(builder->object, value)))
        return;
    cJSON_Delete(value);
    builder->sound = false;
}

static void set_number(struct builder *builder, const char *name, double value)
{
    set(builder, name, cJSON_CreateNumber(value));
}

/* No value, NULL, sets nothing. A file's name need not be UTF-8, as JSON is. */
static void set_string(struct builder *builder, const char *name, const char *value)
{
    cJSON *text = value ? cJSON_CreateString(value) : NULL;
    if (text)
        utf8_repair(text->valuestring);
    if (value)
        set(builder, name, text);
}

/* What has been built, or NULL. */
static cJSON *finish(struct builder *builder)
{
    if (builder->sound)
        return builder->object;
    cJSON_Delete(builder->object);
    return NULL;
}

/* The input's captures or annotations. What was before a capture's samples is not there any more. */
static cJSON *carry_segments(const struct sigmf_output *output, const char *name)
{
    const cJSON *array = input_member(output, name);
    cJSON *carried = array ? cJSON_Duplicate(array, 1) : cJSON_CreateArray(), *item;
    cJSON_ArrayForEach(item, carried) { cJSON_DeleteItemFromObjectCaseSensitive(item, "core:header_bytes"); }
    return carried;
}

static cJSON *make_captures(const struct sigmf_output *output)
{
    struct builder captures = {carry_segments(output, "captures"), true};
    if (captures.object && cJSON_GetArraySize(captures.object) == 0) {
        struct builder capture = {cJSON_CreateObject(), true};
        set_number(&capture, "core:sample_start", 0);
        set(&captures, NULL, finish(&capture));
    }
    return finish(&captures);
}

/* The input's global object without what is not true of the output. */
static cJSON *carry_global(const struct sigmf_output *output)
{
    struct builder global = {output->input ? cJSON_Duplicate(input_member(output, "global"), 1) : cJSON_CreateObject(),
                             true};
    for (size_t i = 0; global.object && i < sizeof input_only / sizeof input_only[0]; i++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(global.object, input_only[i].name);
        if (item && input_only[i].output_name)
            set(&global, input_only[i].output_name, item);
        else
            cJSON_Delete(item);
    }
    return finish(&global);
}

static cJSON *make_extension(const char *name, const char *version)
{
    struct builder extension = {cJSON_CreateObject(), true};
    set_string(&extension, "name", name);
    set_string(&extension, "version", version);
    set(&extension, "optional", cJSON_CreateTrue());
    return finish(&extension);
}

/* Declares our namespace beside those of the input. */
static void set_extensions(struct builder *global)
{
    const cJSON *item, *old = cJSON_GetObjectItemCaseSensitive(global->object, "core:extensions");
    struct builder extensions = {cJSON_CreateArray(), true};
    cJSON_ArrayForEach(item, old)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        if (cJSON_IsObject(old) && cJSON_IsString(item)) /* version 0: names with versions */
            set(&extensions, NULL, make_extension(item->string, item->valuestring));
        else if (cJSON_IsString(name) && strcmp(name->valuestring, SIGMF_EXTENSION) != 0)
            set(&extensions, NULL, cJSON_Duplicate(item, 1));
    }
    set(&extensions, NULL, make_extension(SIGMF_EXTENSION, extension_version));
    set(global, "core:extensions", finish(&extensions));
}

/* Versions before 1 have another form of extensions, so such metadata becomes version 1. */
static void set_version(struct builder *global)
{
    const char *version = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(global->object, "core:version"));
    if (!version || *version == '0')
        set_string(global, "core:version", default_version);
}

static void set_recorder(struct builder *global, const char *tool)
{
    char recorder[64];
    snprintf(recorder, sizeof recorder, "%s %s", tool, softqam_version());
    set_string(global, "core:recorder", recorder);
}

static void set_description(struct builder *global, const struct sigmf_output *output)
{
    const char *old = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(global->object, "core:description"));
    const char *what = output->kind == OUTPUT_HARD ? "Hard decisions"
                       : output->kind == OUTPUT_U8 ? "Soft bits"
                                                   : "LLRs";
    const struct modulation *modulation = modulation_get(output->config->modulation);
    const size_t nbytes = strlen(output->input_name) + (old ? strlen(old) : 0) + 80;
    char *text = malloc(nbytes);
    if (text)
        snprintf(text, nbytes, "%s of the %s symbols in %s, %u a symbol%s%s", what, modulation->name,
                 output->input_name, modulation->n_bits, old && *old ? ": " : "", old ? old : "");
    global->sound = global->sound && text;
    set_string(global, "core:description", text);
    free(text);
}

/* Of symbols, and of what was made of them. */
static void set_modulation(struct builder *global, softqam_modulation modulation, const uint32_t *c_init)
{
    char text[64];
    const struct modulation *m = modulation_get(modulation);
    snprintf(text, sizeof text, "%s, 3GPP TS 38.211 clause 5.1.%u", m->name, m->clause);
    set_string(global, "softqam:modulation", m->option);
    set_string(global, "softqam:constellation", text);
    if (c_init)
        set_number(global, "softqam:c_init", *c_init);
}

/* Of soft bits and LLRs: which bit a value means, and how large it is. */
static void set_meaning(struct builder *global, const struct sigmf_output *output)
{
    const softqam_demodulator_config *config = output->config;
    const bool u8 = config->output_format == SOFTQAM_OUTPUT_U8;
    set_string(global, "softqam:algorithm",
               u8 ? "liquid-dsp soft bits: hard decision and nearest neighbours" : "exact max-log LLRs");
    set_number(global, "softqam:positive_means", config->sign == SOFTQAM_SIGN_POSITIVE_IS_1);
    set_number(global, "softqam:neutral_value", u8 ? 127 : 0);
    if (!u8)
        set_number(global, "softqam:llr_scale", config->llr_limit > 0 ? (double)config->llr_scale : 1);
    if (config->llr_limit > 0)
        set_number(global, "softqam:llr_limit", config->llr_limit);
    set_string(global, "softqam:noise_var_origin", output->noise_origin);
    if (output->noise_var > 0)
        set_number(global, "softqam:noise_var", output->noise_var);
}

/* The document's text. */
static char *print(struct builder *global, const struct sigmf_output *output)
{
    struct builder document = {cJSON_CreateObject(), true};
    set(&document, "global", finish(global));
    set(&document, "captures", make_captures(output));
    set(&document, "annotations", carry_segments(output, "annotations"));
    cJSON *finished = finish(&document);
    char *text = finished ? cJSON_Print(finished) : NULL;
    cJSON_Delete(finished);
    if (!text)
        message_print(NULL, "out of memory");
    return text;
}

char *sigmf_output_text(const struct sigmf_output *output)
{
    struct builder global = {carry_global(output), true};
    set_string(&global, "core:datatype", datatypes[output->kind]);
    set_number(&global, "core:num_channels", softqam_bits_per_symbol(output->config->modulation));
    set_version(&global);
    set_recorder(&global, output->tool);
    set_description(&global, output);
    set_string(&global, "core:sha512", output->sha512);
    set_extensions(&global);
    set_string(&global, "softqam:input", output->input_name);
    set_string(&global, "softqam:input_sha512", output->input_sha512);
    set_number(&global, "softqam:input_scale", (double)output->config->input_scale);
    set_modulation(&global, output->config->modulation, output->c_init);
    if (output->kind == OUTPUT_HARD)
        set_string(&global, "softqam:algorithm", "hard decisions: the signs of exact max-log LLRs");
    else
        set_meaning(&global, output);
    return print(&global, output);
}

char *sigmf_samples_text(const struct sigmf_samples *samples)
{
    struct builder global = {cJSON_CreateObject(), true};
    set_string(&global, "core:datatype", sample_datatypes[samples->format]);
    set_version(&global);
    set_recorder(&global, samples->tool);
    set_string(&global, "core:description", samples->description);
    set_extensions(&global);
    set_modulation(&global, samples->modulation, samples->c_init);
    set_number(&global, "softqam:input_scale", samples->scale);
    return print(&global, NULL);
}

bool sigmf_write(struct output_file *file, char *text)
{
    const bool written = text && output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                         output_file_finish(file);
    free(text);
    return written;
}
