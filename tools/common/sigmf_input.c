/* SPDX-License-Identifier: MIT */
/* SigMF metadata that are read: where a recording's samples are, and what they mean. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "input_file.h"
#include "message.h"
#include "modulation.h"
#include "sigmf.h"
#include "sigmf_name.h"
#include "utf8.h"

/* More metadata than this is a mistake. */
static const uint64_t max_meta_nbytes = (uint64_t)1 << 30;

/* Whole numbers up to here are exact in JSON's numbers as cJSON has them. */
static const double max_whole = 9007199254740992;

static const struct {
    const char *name;
    enum file_format format;
    bool is_big_endian;
} datatypes[] = {{"cf32_le", FILE_CF32, false}, {"cf32_be", FILE_CF32, true},  {"cf64_le", FILE_CF64, false},
                 {"cf64_be", FILE_CF64, true},  {"ci32_le", FILE_CS32, false}, {"ci32_be", FILE_CS32, true},
                 {"ci16_le", FILE_CS16, false}, {"ci16_be", FILE_CS16, true},  {"ci8", FILE_CS8, false},
                 {"cu8", FILE_CU8, false}};

enum { N_DATATYPES = sizeof datatypes / sizeof datatypes[0], LIST_NBYTES = 128 };

static char *read_text(const struct input_file *file, size_t *length)
{
    char *text = NULL;
    if (file->nbytes < 0 || (uint64_t)file->nbytes > max_meta_nbytes)
        message_print(file->name, "not a file of metadata: %s", file->nbytes < 0 ? "no regular file" : "over 1 GiB");
    else if (!(text = malloc((size_t)file->nbytes + 1)))
        message_print(file->name, "out of memory");
    else if (!input_file_read_at(file, 0, text, (size_t)file->nbytes, length)) {
        free(text);
        text = NULL;
    }
    return text;
}

static bool refuse_line(const struct sigmf_input *input, const char *text, const char *at, const char *cause)
{
    unsigned line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    message_print(input->meta_path, "line %u: %s", line, cause);
    return false;
}

/* What JSON may not have, or C's strings. */
static bool check_text(const struct sigmf_input *input, char *text, size_t length)
{
    const char *error = utf8_find_error(text);
    if (error < text + length)
        return refuse_line(input, text, error, *error ? "not UTF-8" : "a zero byte");
    for (const char *c = text; (c = strchr(c, '\\')) && c[1]; c += 2)
        if (!strncmp(c, "\\u0000", 6))
            return refuse_line(input, text, c, "a string with a zero character");
    return true;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Whether an object has each name once: of two members, readers take this one or that. */
static bool check_members(const struct sigmf_input *input, const cJSON *object)
{
    const char **names = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *names), *twice = NULL;
    const cJSON *item;
    size_t n = 0;
    if (!names) {
        message_print(input->meta_path, "out of memory");
        return false;
    }
    cJSON_ArrayForEach(item, object)
    {
        names[n++] = item->string;
    }
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(names[i - 1], names[i]))
            twice = names[i];
    if (twice)
        message_print(input->meta_path, "%s: twice in one object", twice);
    free(names);
    return !twice;
}

static bool check_names(const struct sigmf_input *input)
{
    const cJSON *parents[CJSON_NESTING_LIMIT + 1], *item = input->document; /* cJSON reads nothing that is deeper */
    size_t depth = 0;
    while (item) {
        if (cJSON_IsObject(item) && !check_members(input, item))
            return false;
        if (item->child && depth <= CJSON_NESTING_LIMIT) {
            parents[depth++] = item;
            item = item->child;
            continue;
        }
        while (!item->next && depth > 0)
            item = parents[--depth];
        item = item->next;
    }
    return true;
}

/* Frees the text. */
static bool parse(struct sigmf_input *input, char *text, size_t length)
{
    const char *end = NULL;
    if (!text)
        return false;
    text[length] = '\0';
    input->document = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    const bool parsed =
        (input->document || refuse_line(input, text, end, "not JSON")) && check_text(input, text, length);
    free(text);
    return parsed && check_names(input);
}

/* A member of the global object; NULL where there is none. */
static const cJSON *global_member(const struct sigmf_input *input, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(input->document, "global"), name);
}

/* A whole number, `absent` where there is none. */
static bool read_count(const struct sigmf_input *input, const cJSON *item, const char *name, uint64_t absent,
                       uint64_t *count)
{
    *count = absent;
    if (!item)
        return true;
    const double value = item->valuedouble;
    if (!cJSON_IsNumber(item) || !(value >= 0 && value <= max_whole && floor(value) == value)) {
        message_print(input->meta_path, "%s: not a whole number", name);
        return false;
    }
    *count = (uint64_t)value;
    return true;
}

static bool read_datatype(struct sigmf_input *input)
{
    const cJSON *item = global_member(input, "core:datatype");
    if (!cJSON_IsString(item)) {
        message_print(input->meta_path, "core:datatype: %s", item ? "not a string" : "missing");
        return false;
    }
    input->datatype = item->valuestring;
    char list[LIST_NBYTES] = "";
    for (size_t i = 0; i < N_DATATYPES; i++) {
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", datatypes[i].name);
        if (strcmp(datatypes[i].name, input->datatype) != 0)
            continue;
        input->format = datatypes[i].format;
        input->is_big_endian = datatypes[i].is_big_endian;
        return true;
    }
    message_print(input->meta_path, "core:datatype: '%s' is not one of %s", input->datatype, list);
    return false;
}

static bool read_channels(const struct sigmf_input *input)
{
    uint64_t n_channels;
    if (!read_count(input, global_member(input, "core:num_channels"), "core:num_channels", 1, &n_channels))
        return false;
    if (n_channels != 1)
        message_print(input->meta_path, "core:num_channels: has %llu channels, but only one can be demodulated",
                      (unsigned long long)n_channels);
    return n_channels == 1;
}

static bool read_scale(struct sigmf_input *input)
{
    const cJSON *item = global_member(input, "softqam:input_scale");
    if (!item)
        return true;
    input->scale = item->valuedouble;
    const bool valid = cJSON_IsNumber(item) && input->scale >= (double)FLT_MIN && input->scale <= (double)FLT_MAX;
    if (!valid)
        message_print(input->meta_path, "softqam:input_scale: not a positive number");
    return valid;
}

static bool read_modulation(struct sigmf_input *input)
{
    const cJSON *item = global_member(input, "softqam:modulation");
    const char *name = cJSON_GetStringValue(item);
    input->modulation = name ? modulation_find(name) : SOFTQAM_MODULATION_DEFAULT;
    if (!item || input->modulation != SOFTQAM_MODULATION_DEFAULT)
        return true;
    message_print(input->meta_path, "softqam:modulation: '%s' is no modulation of 5G NR", name ? name : "");
    return false;
}

static bool read_c_init(struct sigmf_input *input)
{
    const cJSON *item = global_member(input, "softqam:c_init");
    uint64_t c_init;
    if (!read_count(input, item, "softqam:c_init", 0, &c_init))
        return false;
    input->is_scrambled = item != NULL;
    input->c_init = (uint32_t)c_init;
    if (c_init > INT32_MAX)
        message_print(input->meta_path, "softqam:c_init: not a whole number from 0 to 2147483647");
    return c_init <= INT32_MAX;
}

/* The bytes that are no samples: at the end, and before the first capture. Before a later one they would be amid the
 * samples. */
static bool read_gaps(struct sigmf_input *input)
{
    const cJSON *capture;
    bool first = true;
    if (!read_count(input, global_member(input, "core:trailing_bytes"), "core:trailing_bytes", 0,
                    &input->trailing_nbytes))
        return false;
    const cJSON *captures = cJSON_GetObjectItemCaseSensitive(input->document, "captures");
    if (captures && !cJSON_IsArray(captures)) {
        message_print(input->meta_path, "captures: not an array");
        return false;
    }
    cJSON_ArrayForEach(capture, captures)
    {
        uint64_t nbytes;
        if (!read_count(input, cJSON_GetObjectItemCaseSensitive(capture, "core:header_bytes"), "core:header_bytes", 0,
                        &nbytes))
            return false;
        if (first)
            input->header_nbytes = nbytes;
        else if (nbytes > 0) {
            message_print(input->meta_path, "core:header_bytes: in a capture after the first, which is not supported");
            return false;
        }
        first = false;
    }
    return true;
}

/* BASE.sigmf-data, or beside the metadata the file that it names. */
static bool find_data(struct sigmf_input *input, const char *path)
{
    const cJSON *dataset = global_member(input, "core:dataset");
    const char *name = cJSON_GetStringValue(dataset), *slash = strrchr(input->meta_path, '/');
    const int directory = slash ? (int)(slash - input->meta_path) + 1 : 0;
    if (cJSON_IsTrue(global_member(input, "core:metadata_only")))
        message_print(input->meta_path, "core:metadata_only: has no samples");
    else if (!dataset)
        return sigmf_name_with_suffix(path, SIGMF_DATA_SUFFIX, input->data_path);
    else if (name && sigmf_name_is_metadata(name))
        message_print(input->meta_path, "core:dataset: names metadata, not samples");
    else if (!name || !*name || !strcmp(name, "-") || strchr(name, '/') ||
             snprintf(input->data_path, PATH_MAX, "%.*s%s", directory, input->meta_path, name) >= PATH_MAX)
        message_print(input->meta_path, "core:dataset: not the name of a file beside it");
    else
        return true;
    return false;
}

static bool read_sha512(struct sigmf_input *input)
{
    const cJSON *item = global_member(input, "core:sha512");
    if (!item)
        return true;
    if (cJSON_IsString(item) && strlen(item->valuestring) == SHA512_HEX_NBYTES - 1) {
        input->sha512 = item->valuestring;
        return true;
    }
    message_print(input->meta_path, "core:sha512: not a string of %d digits", SHA512_HEX_NBYTES - 1);
    return false;
}

/* Three numbers with points between them. */
static bool is_version(const char *text)
{
    for (int k = 0; k < 3; k++) {
        const size_t n = strspn(text, "0123456789");
        if (n == 0 || text[n] != (k < 2 ? '.' : '\0'))
            return false;
        text += n + 1;
    }
    return true;
}

/* Versions 0 and 1 mean the same by what is read here; what a later one means is not known. */
static bool read_version(const struct sigmf_input *input)
{
    const cJSON *item = global_member(input, "core:version");
    const char *version = cJSON_GetStringValue(item);
    if (item && (!version || !is_version(version)))
        message_print(input->meta_path, "core:version: not a version such as \"1.2.0\"");
    else if (item && strtoul(version, NULL, 10) > 1)
        message_print(input->meta_path, "core:version: '%s' is not supported, only versions 0 and 1", version);
    else
        return true;
    return false;
}

/* Whether nothing is required to be understood that is not. */
static bool read_extensions(const struct sigmf_input *input)
{
    const cJSON *extension;
    cJSON_ArrayForEach(extension, global_member(input, "core:extensions"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(extension, "name"));
        if (!cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(extension, "optional")) ||
            (name && !strcmp(name, SIGMF_EXTENSION)))
            continue;
        message_print(input->meta_path, "core:extensions: '%s' is required to read it, and not supported",
                      name ? name : "");
        return false;
    }
    return true;
}

static bool read_global(struct sigmf_input *input)
{
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(input->document, "global"))) {
        message_print(input->meta_path, "not SigMF: there is no object 'global'");
        return false;
    }
    return read_version(input) && read_extensions(input) && read_datatype(input) && read_channels(input) &&
           read_scale(input) && read_modulation(input) && read_c_init(input) && read_gaps(input) && read_sha512(input);
}

bool sigmf_input_read(struct sigmf_input *input, const char *path)
{
    struct input_file file;
    size_t length = 0;
    if (!sigmf_name_with_suffix(path, SIGMF_META_SUFFIX, input->meta_path)) {
        message_print_errno(path);
        return false;
    }
    char *text = input_file_open(&file, input->meta_path) ? read_text(&file, &length) : NULL;
    input_file_close(&file);
    return parse(input, text, length) && read_global(input) && find_data(input, path);
}

void sigmf_input_free(struct sigmf_input *input)
{
    cJSON_Delete(input->document);
    memset(input, 0, sizeof *input);
}
