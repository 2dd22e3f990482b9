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

static const char extension_name[] = SIGMF_EXTENSION, extension_version[] = "1.0.0";
static const char default_version[] = "1.2.0"; /* of SigMF, where the input does not say */

/* NULL for what SigMF has no datatype for. */
static const char *const datatypes[N_OUTPUT_KINDS] = {[OUTPUT_U8] = "ru8",
                                                      [OUTPUT_HARD] = "ru8",
                                                      [OUTPUT_S8] = "ri8",
                                                      [OUTPUT_S16] = "ri16_le",
                                                      [OUTPUT_F32] = "rf32_le"};

/* What is true of the input's data and not of the output's, and where it goes; NULL: nowhere. */
static const struct {
    const char *name, *input_name;
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
    return output->input ? cJSON_GetObjectItemCaseSensitive(output->input->document, name) : NULL;
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

/* Metadata in the making. */
struct builder {
    const struct sigmf_output *output;
    bool sound; /* until memory is short */
};

/* Adds or replaces. Takes the value over. */
static void set(struct builder *builder, cJSON *object, const char *name, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (value && cJSON_AddItemToObject(object, name, value))
        return;
    cJSON_Delete(value);
    builder->sound = false;
}

static void set_string(struct builder *builder, cJSON *object, const char *name, const char *value)
{
    if (value)
        set(builder, object, name, cJSON_CreateString(value));
}

static void set_number(struct builder *builder, cJSON *object, const char *name, double value)
{
    set(builder, object, name, cJSON_CreateNumber(value));
}

/* Takes the item over. */
static void append(struct builder *builder, cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item))
        return;
    cJSON_Delete(item);
    builder->sound = false;
}

/* The input's captures or annotations. What was before a capture's samples is not there any more. */
static cJSON *carry_segments(const struct builder *builder, const char *name)
{
    const cJSON *array = input_member(builder->output, name);
    cJSON *carried = array ? cJSON_Duplicate(array, 1) : cJSON_CreateArray(), *item;
    cJSON_ArrayForEach(item, carried)
    {
        cJSON_DeleteItemFromObjectCaseSensitive(item, "core:header_bytes");
    }
    return carried;
}

static cJSON *make_captures(struct builder *builder)
{
    cJSON *captures = carry_segments(builder, "captures");
    if (captures && cJSON_GetArraySize(captures) == 0) {
        cJSON *capture = cJSON_CreateObject();
        set_number(builder, capture, "core:sample_start", 0);
        append(builder, captures, capture);
    }
    return captures;
}

/* The input's global object without what is not true of the output. */
static cJSON *carry_global(struct builder *builder)
{
    const struct sigmf_output *output = builder->output;
    cJSON *global = output->input ? cJSON_Duplicate(input_member(output, "global"), 1) : cJSON_CreateObject();
    for (size_t i = 0; global && i < sizeof input_only / sizeof input_only[0]; i++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(global, input_only[i].name);
        if (item && input_only[i].input_name)
            set(builder, global, input_only[i].input_name, item);
        else
            cJSON_Delete(item);
    }
    return global;
}

/* Versions before 1 have another form of extensions, so such metadata becomes version 1. */
static void set_version(struct builder *builder, cJSON *global)
{
    const char *version = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(global, "core:version"));
    if (!version || *version == '0')
        set_string(builder, global, "core:version", default_version);
}

static cJSON *make_extension(struct builder *builder, const char *name, const char *version)
{
    cJSON *extension = cJSON_CreateObject();
    set_string(builder, extension, "name", name);
    set_string(builder, extension, "version", version);
    set(builder, extension, "optional", cJSON_CreateTrue());
    return extension;
}

/* Declares our namespace beside those of the input. */
static void set_extensions(struct builder *builder, cJSON *global)
{
    const cJSON *item, *old = cJSON_GetObjectItemCaseSensitive(global, "core:extensions");
    cJSON *extensions = cJSON_CreateArray();
    cJSON_ArrayForEach(item, old)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        if (cJSON_IsObject(old) && cJSON_IsString(item)) /* version 0: names with versions */
            append(builder, extensions, make_extension(builder, item->string, item->valuestring));
        else if (cJSON_IsString(name) && strcmp(name->valuestring, extension_name) != 0)
            append(builder, extensions, cJSON_Duplicate(item, 1));
    }
    append(builder, extensions, make_extension(builder, extension_name, extension_version));
    set(builder, global, "core:extensions", extensions);
}

/* A file's name need not be UTF-8, as JSON is. */
static void set_input_name(struct builder *builder, cJSON *global)
{
    const struct sigmf_output *output = builder->output;
    const char *old = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(global, "core:description"));
    const char *what = output->kind == OUTPUT_HARD ? "Hard decisions"
                       : output->kind == OUTPUT_U8 ? "Soft bits"
                                                   : "LLRs";
    const struct modulation *modulation = modulation_get(output->config->modulation);
    const size_t nbytes = strlen(output->input_name) + (old ? strlen(old) : 0) + 80;
    char *text = malloc(nbytes);
    if (!text) {
        builder->sound = false;
        return;
    }
    snprintf(text, nbytes, "%s of the %s symbols in %s, %u a symbol%s%s", what, modulation->name, output->input_name,
             modulation->n_bits, old && *old ? ": " : "", old ? old : "");
    utf8_repair(text);
    set_string(builder, global, "core:description", text);
    free(text);
    cJSON *name = cJSON_CreateString(output->input_name);
    if (name)
        utf8_repair(name->valuestring);
    set(builder, global, "softqam:input", name);
}

/* Of symbols, and of what was made of them. */
static void set_modulation(struct builder *builder, cJSON *global, softqam_modulation modulation,
                           const uint32_t *c_init)
{
    char text[64];
    const struct modulation *m = modulation_get(modulation);
    snprintf(text, sizeof text, "%s, 3GPP TS 38.211 clause 5.1.%u", m->name, m->clause);
    set_string(builder, global, "softqam:modulation", m->option);
    set_string(builder, global, "softqam:constellation", text);
    if (c_init)
        set_number(builder, global, "softqam:c_init", *c_init);
}

static void set_meaning(struct builder *builder, cJSON *global)
{
    const struct sigmf_output *output = builder->output;
    const softqam_demodulator_config *config = output->config;
    const bool u8 = config->output_format == SOFTQAM_OUTPUT_U8;
    set_modulation(builder, global, config->modulation, output->c_init);
    if (output->kind == OUTPUT_HARD) {
        set_string(builder, global, "softqam:algorithm", "hard decisions: the signs of exact max-log LLRs");
        return;
    }
    set_string(builder, global, "softqam:algorithm",
               u8 ? "liquid-dsp soft bits: hard decision and nearest neighbours" : "exact max-log LLRs");
    set_number(builder, global, "softqam:positive_means", config->sign == SOFTQAM_SIGN_POSITIVE_IS_1);
    set_number(builder, global, "softqam:neutral_value", u8 ? 127 : 0);
    if (config->llr_limit > 0) {
        set_number(builder, global, "softqam:llr_scale", (double)config->llr_scale);
        set_number(builder, global, "softqam:llr_limit", config->llr_limit);
    } else if (!u8) {
        set_number(builder, global, "softqam:llr_scale", 1);
    }
    set_string(builder, global, "softqam:noise_var_origin", output->noise_origin);
    if (output->noise_var > 0)
        set_number(builder, global, "softqam:noise_var", output->noise_var);
}

static void set_recorder(struct builder *builder, cJSON *global, const char *tool)
{
    char recorder[64];
    snprintf(recorder, sizeof recorder, "%s %s", tool, softqam_version());
    set_string(builder, global, "core:recorder", recorder);
}

static void set_global(struct builder *builder, cJSON *global)
{
    const struct sigmf_output *output = builder->output;
    set_string(builder, global, "core:datatype", datatypes[output->kind]);
    set_number(builder, global, "core:num_channels", softqam_bits_per_symbol(output->config->modulation));
    set_version(builder, global);
    set_recorder(builder, global, output->tool);
    set_input_name(builder, global);
    set_string(builder, global, "core:sha512", output->sha512);
    set_extensions(builder, global);
    set_string(builder, global, "softqam:input_sha512", output->input_sha512);
    set_number(builder, global, "softqam:input_scale", (double)output->config->input_scale);
    set_meaning(builder, global);
}

/* Prints a document, and deletes it. */
static char *finish(const struct builder *builder, cJSON *document)
{
    char *text = builder->sound ? cJSON_Print(document) : NULL;
    cJSON_Delete(document);
    if (!text)
        message_print(NULL, "out of memory");
    return text;
}

char *sigmf_output_text(const struct sigmf_output *output)
{
    struct builder builder = {output, true};
    cJSON *document = cJSON_CreateObject(), *global = carry_global(&builder);
    if (global)
        set_global(&builder, global);
    set(&builder, document, "global", global);
    set(&builder, document, "captures", make_captures(&builder));
    set(&builder, document, "annotations", carry_segments(&builder, "annotations"));
    return finish(&builder, document);
}

bool sigmf_write(struct output_file *file, char *text)
{
    const bool written = text && output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                         output_file_finish(file);
    free(text);
    return written;
}

static const char *const sample_datatypes[] = {[SOFTQAM_INPUT_CF32] = "cf32_le",
                                               [SOFTQAM_INPUT_CS16] = "ci16_le",
                                               [SOFTQAM_INPUT_CS8] = "ci8",
                                               [SOFTQAM_INPUT_CF16] = NULL};

bool sigmf_samples_check(softqam_input_format format)
{
    return sample_datatypes[format] != NULL;
}

char *sigmf_samples_text(const struct sigmf_samples *samples)
{
    static const struct sigmf_output nothing;
    struct builder builder = {&nothing, true};
    cJSON *document = cJSON_CreateObject(), *global = cJSON_CreateObject();
    set_string(&builder, global, "core:datatype", sample_datatypes[samples->format]);
    set_string(&builder, global, "core:version", default_version);
    set_recorder(&builder, global, samples->tool);
    set_string(&builder, global, "core:description", samples->description);
    set_extensions(&builder, global);
    set_modulation(&builder, global, samples->modulation, samples->c_init);
    set_number(&builder, global, "softqam:input_scale", samples->scale);
    set(&builder, document, "global", global);
    set(&builder, document, "captures", make_captures(&builder));
    set(&builder, document, "annotations", cJSON_CreateArray());
    return finish(&builder, document);
}
