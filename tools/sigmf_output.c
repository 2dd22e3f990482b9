/* SPDX-License-Identifier: MIT */
/* SigMF metadata that are written: the input's, carried over, and what is known of soft bits or LLRs. */
#include "sigmf.h"

#include "message.h"
#include "sample_format.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char extension_name[] = "softqam", extension_version[] = "1.0.0";
static const char default_version[] = "1.2.0"; /* of SigMF, where the input does not say */
enum { N_BITS = 8 };

static const char *const datatypes[] = {[SOFTQAM_OUTPUT_U8] = "ru8",
                                        [SOFTQAM_OUTPUT_S8] = "ri8",
                                        [SOFTQAM_OUTPUT_F16] = NULL,
                                        [SOFTQAM_OUTPUT_F32] = "rf32_le"};

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
        if (cJSON_IsNumber(start) && start->valuedouble >= 0)
            continue;
        message_print(output->input->meta_path, "%s: one of them has no core:sample_start", name);
        return false;
    }
    return true;
}

bool sigmf_output_check(const struct sigmf_output *output)
{
    const softqam_output_format format = output->config->output_format;
    if (!datatypes[format]) {
        message_print("--output-format", "%s has no datatype in SigMF; choose another, or --no-sigmf",
                      sample_format_name(format));
        return false;
    }
    return check_segments(output, "captures") && check_segments(output, "annotations");
}

static int compare_segments(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* The input's captures or annotations, in the order that SigMF asks for. */
static cJSON *carry_segments(const struct sigmf_output *output, const char *name)
{
    const cJSON *array = input_member(output, name);
    cJSON *carried = cJSON_CreateArray(), *item;
    const size_t n = array ? (size_t)cJSON_GetArraySize(array) : 0;
    struct segment *segments = calloc(n + 1, sizeof *segments);
    if (!segments || !carried) {
        free(segments);
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
        cJSON_DeleteItemFromObjectCaseSensitive(segments[i].item, "core:header_bytes");
        cJSON_AddItemToArray(carried, segments[i].item);
    }
    free(segments);
    return carried;
}

static cJSON *make_captures(const struct sigmf_output *output)
{
    cJSON *captures = carry_segments(output, "captures");
    if (captures && cJSON_GetArraySize(captures) == 0) {
        cJSON *capture = cJSON_CreateObject();
        cJSON_AddNumberToObject(capture, "core:sample_start", 0);
        cJSON_AddItemToArray(captures, capture);
    }
    return captures;
}

/* Adds or replaces. */
static void set(cJSON *object, const char *name, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (!cJSON_AddItemToObject(object, name, value))
        cJSON_Delete(value);
}

static void set_string(cJSON *object, const char *name, const char *value)
{
    if (value)
        set(object, name, cJSON_CreateString(value));
}

static void set_number(cJSON *object, const char *name, double value)
{
    set(object, name, cJSON_CreateNumber(value));
}

/* The input's global object without what is not true of the output. */
static cJSON *carry_global(const struct sigmf_output *output)
{
    cJSON *global = output->input ? cJSON_Duplicate(input_member(output, "global"), 1) : cJSON_CreateObject();
    for (size_t i = 0; global && i < sizeof input_only / sizeof input_only[0]; i++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(global, input_only[i].name);
        if (item && input_only[i].input_name)
            set(global, input_only[i].input_name, item);
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
static void set_version(cJSON *global)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(global, "core:version");
    if (!cJSON_IsString(version) || !is_version_from_1(version->valuestring))
        set_string(global, "core:version", default_version);
}

static cJSON *make_extension(const char *name, const char *version)
{
    cJSON *extension = cJSON_CreateObject();
    set_string(extension, "name", name);
    set_string(extension, "version", version);
    set(extension, "optional", cJSON_CreateTrue());
    return extension;
}

/* Declares our namespace beside those of the input. */
static void set_extensions(cJSON *global)
{
    const cJSON *item, *old = cJSON_GetObjectItemCaseSensitive(global, "core:extensions");
    cJSON *extensions = cJSON_CreateArray();
    cJSON_ArrayForEach(item, old)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        if (cJSON_IsObject(old) && cJSON_IsString(item)) /* version 0: names with versions */
            cJSON_AddItemToArray(extensions, make_extension(item->string, item->valuestring));
        else if (cJSON_IsString(name) && strcmp(name->valuestring, extension_name) != 0)
            cJSON_AddItemToArray(extensions, cJSON_Duplicate(item, 1));
    }
    cJSON_AddItemToArray(extensions, make_extension(extension_name, extension_version));
    set(global, "core:extensions", extensions);
}

static void set_description(const struct sigmf_output *output, cJSON *global)
{
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(global, "core:description");
    const bool has_old = cJSON_IsString(old) && *old->valuestring;
    const char *what = output->config->output_format == SOFTQAM_OUTPUT_U8 ? "Soft bits" : "LLRs";
    static const char format[] = "%s of the 256QAM symbols in %s, 8 a symbol%s%s";
    const char *separator = has_old ? ": " : "", *rest = has_old ? old->valuestring : "";
    const int length = snprintf(NULL, 0, format, what, output->input_name, separator, rest);
    char *text = malloc((size_t)length + 1);
    if (!text)
        return;
    snprintf(text, (size_t)length + 1, format, what, output->input_name, separator, rest);
    set_string(global, "core:description", text);
    free(text);
}

static void set_meaning(const struct sigmf_output *output, cJSON *global)
{
    const softqam_config *config = output->config;
    const bool u8 = config->output_format == SOFTQAM_OUTPUT_U8;
    set_string(global, "softqam:constellation", "256QAM, 3GPP TS 38.211 clause 5.1.6");
    set_string(global, "softqam:algorithm",
               u8 ? "liquid-dsp soft bits: hard decision and nearest neighbours" : "exact max-log LLRs");
    set_number(global, "softqam:positive_means", config->sign == SOFTQAM_SIGN_POSITIVE_IS_1);
    set_number(global, "softqam:neutral_value", u8 ? 127 : 0);
    if (config->output_format == SOFTQAM_OUTPUT_S8) {
        set_number(global, "softqam:llr_scale", (double)config->llr_scale);
        set_number(global, "softqam:llr_limit", config->llr_limit);
    } else if (!u8) {
        set_number(global, "softqam:llr_scale", 1);
    }
    set_string(global, "softqam:noise_var_origin", output->noise_origin);
    if (output->noise_var > 0)
        set_number(global, "softqam:noise_var", output->noise_var);
}

static void set_global(const struct sigmf_output *output, cJSON *global)
{
    char recorder[64];
    snprintf(recorder, sizeof recorder, "%s %s", output->tool, softqam_version());
    set_string(global, "core:datatype", datatypes[output->config->output_format]);
    set_number(global, "core:num_channels", N_BITS);
    set_version(global);
    set_string(global, "core:recorder", recorder);
    set_description(output, global);
    set_string(global, "core:sha512", output->sha512);
    set_extensions(global);
    set_string(global, "softqam:input", output->input_name);
    set_string(global, "softqam:input_sha512", output->input_sha512);
    set_number(global, "softqam:input_scale", (double)output->config->input_scale);
    set_meaning(output, global);
}

static bool is_complete(const cJSON *document)
{
    return cJSON_GetArraySize(document) == 3;
}

char *sigmf_output_text(const struct sigmf_output *output)
{
    cJSON *document = cJSON_CreateObject(), *global = carry_global(output);
    if (global)
        set_global(output, global);
    set(document, "global", global);
    set(document, "captures", make_captures(output));
    set(document, "annotations", carry_segments(output, "annotations"));
    char *text = is_complete(document) ? cJSON_Print(document) : NULL;
    cJSON_Delete(document);
    if (!text)
        message_print(NULL, "out of memory");
    return text;
}
