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
#include "sigmf_numbers.h"
#include "sigmf_walk.h"
#include "utf8.h"

static const char extension_name[] = SIGMF_EXTENSION, extension_version[] = "1.0.0";
static const char default_version[] = "1.2.0"; /* of SigMF, where the input does not say */

/* 2^63, one more than SigMF allows. */
static const double max_sample_start = 0x1p63;

/* NULL for what SigMF has no datatype for. */
static const char *datatype_of(enum output_kind kind)
{
    switch (kind) {
    case OUTPUT_U8:
    case OUTPUT_HARD:
        return "ru8";
    case OUTPUT_S8:
        return "ri8";
    case OUTPUT_S16:
        return "ri16_le";
    case OUTPUT_F32:
        return "rf32_le";
    case OUTPUT_F16:
    case OUTPUT_BITS:
    case N_OUTPUT_KINDS:
        break;
    }
    return NULL;
}

/* What is true of the input's data and not of the output's, and where it goes; NULL: nowhere. */
static const struct {
    const char *name, *input_name;
} input_only[] = {{"core:datatype", "softqam:input_datatype"},
                  {"core:recorder", "softqam:input_recorder"},
                  {"core:data_doi", "softqam:input_data_doi"},
                  {"core:meta_doi", "softqam:input_meta_doi"},
                  {"core:sha512", NULL},
                  {"core:num_channels", NULL},
                  {"core:dataset", NULL},
                  {"core:trailing_bytes", NULL},
                  {"core:metadata_only", NULL},
                  {"core:collection", NULL},
                  {"softqam:c_init", "softqam:input_c_init"},
                  {"softqam:input_scale", NULL}};

/* A place in an array of captures or annotations. */
struct segment {
    cJSON *item;
    double start;
    size_t index;
};

static const cJSON *input_member(const struct sigmf_output *output, const char *name)
{
    return output->input ? cJSON_GetObjectItemCaseSensitive(output->input->document, name) : NULL;
}

static bool check_segments(const struct sigmf_output *output, const char *name)
{
    const cJSON *item, *array = input_member(output, name);
    if (array && !cJSON_IsArray(array)) {
        message_print(output->input->meta_path, "%s: not an array", name);
        return false;
    }
    cJSON_ArrayForEach(item, array)
    {
        const cJSON *start = cJSON_GetObjectItemCaseSensitive(item, "core:sample_start");
        if (start && cJSON_IsNumber(start) && start->valuedouble >= 0 && start->valuedouble <= max_sample_start &&
            floor(start->valuedouble) == start->valuedouble)
            continue;
        if (start)
            message_print(output->input->meta_path, "%s: core:sample_start: not a whole number", name);
        else
            message_print(output->input->meta_path, "%s: one of them has no core:sample_start", name);
        return false;
    }
    return true;
}

int sigmf_output_check(const struct sigmf_output *output)
{
    if (!datatype_of(output->kind)) {
        message_print("--output-format", "%s has no datatype in SigMF; choose another, or --no-sigmf",
                      sample_format_name(output->kind));
        return EXIT_COMMAND;
    }
    return check_segments(output, "captures") && check_segments(output, "annotations") ? EXIT_DONE : EXIT_FAILED;
}

static int compare_segments(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* Metadata in the making. */
struct builder {
    const struct sigmf_output *output;
    bool sound; /* until memory is short */
};

/* All members of a name: JSON may have it more than once, and the first one counts. */
static void remove_all(cJSON *object, const char *name)
{
    while (cJSON_GetObjectItemCaseSensitive(object, name))
        cJSON_DeleteItemFromObjectCaseSensitive(object, name);
}

/* Adds or replaces. Takes the value over. */
static void set(struct builder *builder, cJSON *object, const char *name, cJSON *value)
{
    remove_all(object, name);
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

/* The input's captures or annotations, in the order that SigMF asks for. */
static cJSON *carry_segments(struct builder *builder, const char *name)
{
    const cJSON *array = input_member(builder->output, name);
    cJSON *carried = cJSON_CreateArray(), *item;
    const size_t n = array ? (size_t)cJSON_GetArraySize(array) : 0;
    struct segment *segments = calloc(n + 1, sizeof *segments);
    if (!segments) {
        cJSON_Delete(carried);
        return NULL;
    }
    size_t i = 0;
    cJSON_ArrayForEach(item, array)
    {
        segments[i] = (struct segment){cJSON_Duplicate(item, 1),
                                       cJSON_GetObjectItemCaseSensitive(item, "core:sample_start")->valuedouble, i};
        i++;
    }
    qsort(segments, n, sizeof *segments, compare_segments);
    for (i = 0; i < n; i++) {
        remove_all(segments[i].item, "core:header_bytes");
        append(builder, carried, segments[i].item);
    }
    free(segments);
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
        remove_all(global, input_only[i].name);
        if (item && input_only[i].input_name)
            set(builder, global, input_only[i].input_name, item);
        else
            cJSON_Delete(item);
    }
    return global;
}

/* Whether a text is three numbers with points between them, the first of them at least 1. */
static bool is_version_from_1(const char *text)
{
    bool from_1 = false;
    for (int number = 0; number < 3; number++) {
        const size_t n_digits = strspn(text, "0123456789");
        if (n_digits == 0 || text[n_digits] != (number < 2 ? '.' : '\0'))
            return false;
        if (number == 0)
            from_1 = strspn(text, "0") < n_digits;
        text += n_digits + 1;
    }
    return from_1;
}

/* Versions before 1 have another form of extensions, so such metadata becomes version 1. */
static void set_version(struct builder *builder, cJSON *global)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(global, "core:version");
    if (!cJSON_IsString(version) || !is_version_from_1(version->valuestring))
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

static void set_description(struct builder *builder, cJSON *global)
{
    const struct sigmf_output *output = builder->output;
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(global, "core:description");
    const bool has_old = cJSON_IsString(old) && *old->valuestring;
    const char *what = output->kind == OUTPUT_HARD ? "Hard decisions"
                       : output->kind == OUTPUT_U8 ? "Soft bits"
                                                   : "LLRs";
    const struct modulation *modulation = modulation_get(output->config->modulation);
    static const char format[] = "%s of the %s symbols in %s, %u a symbol%s%s";
    const char *separator = has_old ? ": " : "", *rest = has_old ? old->valuestring : "";
    const int length =
        snprintf(NULL, 0, format, what, modulation->name, output->input_name, modulation->n_bits, separator, rest);
    char *text = malloc((size_t)length + 1);
    if (!text) {
        builder->sound = false;
        return;
    }
    snprintf(text, (size_t)length + 1, format, what, modulation->name, output->input_name, modulation->n_bits,
             separator, rest);
    set_string(builder, global, "core:description", text);
    free(text);
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
    set_string(builder, global, "core:datatype", datatype_of(output->kind));
    set_number(builder, global, "core:num_channels", softqam_bits_per_symbol(output->config->modulation));
    set_version(builder, global);
    set_recorder(builder, global, output->tool);
    set_description(builder, global);
    set_string(builder, global, "core:sha512", output->sha512);
    set_extensions(builder, global);
    set_string(builder, global, "softqam:input", output->input_name);
    set_string(builder, global, "softqam:input_sha512", output->input_sha512);
    set_number(builder, global, "softqam:input_scale", (double)output->config->input_scale);
    set_meaning(builder, global);
}

/* JSON is UTF-8, which names of files, and metadata of others, need not be. */
static void repair_texts(cJSON *document)
{
    struct sigmf_walk walk = {.depth = 0};
    for (cJSON *item = document; item; item = sigmf_walk_next(&walk, item)) {
        if (item->string)
            utf8_repair(item->string);
        if (cJSON_IsString(item))
            utf8_repair(item->valuestring);
    }
}

/* Prints a document, and deletes it. */
static char *finish(const struct builder *builder, cJSON *document)
{
    repair_texts(document);
    sigmf_numbers_restore(document);
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
