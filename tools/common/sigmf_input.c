/* SPDX-License-Identifier: MIT */
/* SigMF metadata that are read: where a recording's samples are, and what they mean. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "input_file.h"
#include "message.h"
#include "modulation.h"
#include "sigmf.h"

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

static bool is_between(unsigned char byte, unsigned char low, unsigned char high)
{
    return byte >= low && byte <= high;
}

/* Bytes of the character at the start of a text; 0 where there is none. The second byte's range excludes longer forms
 * than are needed, surrogates, and what is beyond U+10FFFF. */
static size_t character_nbytes(const unsigned char *text)
{
    const unsigned char lead = text[0];
    if (lead < 0x80)
        return 1;
    const size_t n = is_between(lead, 0xc2, 0xdf) ? 2 : is_between(lead, 0xe0, 0xef) ? 3 : 4;
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (!is_between(lead, 0xc2, 0xf4) || !is_between(text[1], low, high))
        return 0;
    for (size_t k = 2; k < n; k++)
        if (!is_between(text[k], 0x80, 0xbf))
            return 0;
    return n;
}

char *utf8_find_error(char *text)
{
    size_t n;
    while (*text && (n = character_nbytes((const unsigned char *)text)) > 0)
        text += n;
    return text;
}

void utf8_repair(char *text)
{
    while (*(text = utf8_find_error(text)))
        *text = '?';
}

static bool refuse_line(const char *path, const char *text, const char *at, const char *cause)
{
    unsigned line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    return message_print(path, "line %u: %s", line, cause);
}

/* The file as a string, which may hold zero bytes too; NULL after a failure. */
static char *read_text(const char *path, size_t *length)
{
    struct input_file file;
    char *text = NULL;
    bool read = input_file_open(&file, path);
    if (read && (file.nbytes < 0 || (uint64_t)file.nbytes > max_meta_nbytes))
        read = message_print(path, "not a file of metadata: %s", file.nbytes < 0 ? "no regular file" : "over 1 GiB");
    else if (read && !(text = calloc((size_t)file.nbytes + 1, 1)))
        read = message_print(path, "out of memory");
    read = read && input_file_read(&file, text, (size_t)file.nbytes, length);
    input_file_close(&file);
    if (read)
        return text;
    free(text);
    return NULL;
}

/* What JSON may not have, or C's strings. */
static bool check_text(const char *path, char *text, size_t length)
{
    const char *error = utf8_find_error(text);
    if (error < text + length)
        return refuse_line(path, text, error, *error ? "not UTF-8" : "a zero byte");
    for (const char *c = text; (c = strchr(c, '\\')) && c[1]; c += 2)
        if (!strncmp(c, "\\u0000", 6))
            return refuse_line(path, text, c, "a string with a zero character");
    return true;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Whether an object has each name once: of two members, readers take this one or that. */
static bool check_members(const char *path, const cJSON *object)
{
    const char **names = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *names);
    bool good = true;
    const cJSON *item;
    size_t n = 0;
    if (!names)
        return message_print(path, "out of memory");
    for (item = object->child; item; item = item->next)
        names[n++] = item->string;
    if (n > 1)
        qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; good && i < n; i++)
        good = strcmp(names[i - 1], names[i]) != 0 || message_print(path, "%s: twice in one object", names[i]);
    free(names);
    return good;
}

/* Without recursion, which cJSON's nesting would make too deep for a small stack. */
static bool check_names(const char *path, const cJSON *item)
{
    const cJSON *parents[CJSON_NESTING_LIMIT + 1];
    size_t depth = 0;
    while (item) {
        if (cJSON_IsObject(item) && !check_members(path, item))
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

/* The file's contents; NULL after a failure. */
static cJSON *parse(const char *path)
{
    const char *end = NULL;
    size_t length = 0;
    char *text = read_text(path, &length);
    if (!text)
        return NULL;
    cJSON *document = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    const bool good = (document || refuse_line(path, text, end, "not JSON")) && check_text(path, text, length) &&
                      check_names(path, document);
    free(text);
    if (good)
        return document;
    cJSON_Delete(document);
    return NULL;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* A whole number that is a member of an object, `absent` where there is none. */
static bool read_count(const char *path, const cJSON *object, const char *name, uint64_t absent, uint64_t *count)
{
    const cJSON *item = member(object, name);
    *count = absent;
    if (!item)
        return true;
    const double value = item->valuedouble;
    if (!cJSON_IsNumber(item) || !(value >= 0 && value <= max_whole && floor(value) == value))
        return message_print(path, "%s: not a whole number", name);
    *count = (uint64_t)value;
    return true;
}

static bool read_datatype(struct sigmf_input *input, const cJSON *global)
{
    const cJSON *item = member(global, "core:datatype");
    const char *path = input->meta_path;
    char list[LIST_NBYTES] = "";
    if (!cJSON_IsString(item))
        return message_print(path, "core:datatype: %s", item ? "not a string" : "missing");
    for (size_t i = 0, length = 0; i < N_DATATYPES; i++) {
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", datatypes[i].name);
        if (strcmp(datatypes[i].name, item->valuestring) != 0)
            continue;
        input->format = datatypes[i].format;
        input->is_big_endian = datatypes[i].is_big_endian;
        return true;
    }
    return message_print(path, "core:datatype: '%s' is not one of %s", item->valuestring, list);
}

/* What softqam-gen has written, and this program reads: scale, modulation and c_init. */
static bool read_own_members(struct sigmf_input *input, const cJSON *global)
{
    const cJSON *scale = member(global, "softqam:input_scale");
    const cJSON *modulation = member(global, "softqam:modulation");
    const char *name = cJSON_GetStringValue(modulation), *path = input->meta_path;
    uint64_t c_init;
    input->scale = scale ? scale->valuedouble : 0;
    input->modulation = name ? modulation_find(name) : SOFTQAM_MODULATION_DEFAULT;
    input->is_scrambled = member(global, "softqam:c_init") != NULL;
    if (scale && !(cJSON_IsNumber(scale) && input->scale >= (double)FLT_MIN && input->scale <= (double)FLT_MAX))
        return message_print(path, "softqam:input_scale: not a positive number");
    if (modulation && input->modulation == SOFTQAM_MODULATION_DEFAULT)
        return message_print(path, "softqam:modulation: '%s' is no modulation of 5G NR", name ? name : "");
    if (!read_count(path, global, "softqam:c_init", 0, &c_init))
        return false;
    input->c_init = (uint32_t)c_init;
    return c_init <= INT32_MAX || message_print(path, "softqam:c_init: not a whole number from 0 to 2147483647");
}

/* Whether a member says that the data are no samples alone: any but 0. */
static bool conforms(const char *path, const cJSON *object, const char *name)
{
    const cJSON *item = member(object, name);
    if (!item || (cJSON_IsNumber(item) && item->valuedouble == 0))
        return true;
    return message_print(path, "%s: data that do not conform to SigMF; copy the samples out of them", name);
}

static bool check_conforms(const char *path, const cJSON *document, const cJSON *global)
{
    const cJSON *captures = member(document, "captures"), *capture;
    if (captures && !cJSON_IsArray(captures))
        return message_print(path, "captures: not an array");
    if (cJSON_IsTrue(member(global, "core:metadata_only")))
        return message_print(path, "core:metadata_only: has no samples");
    if (!conforms(path, global, "core:dataset") || !conforms(path, global, "core:trailing_bytes"))
        return false;
    cJSON_ArrayForEach(capture, captures)
    {
        if (!conforms(path, capture, "core:header_bytes"))
            return false;
    }
    return true;
}

/* Three numbers with points between them. */
static bool is_version(const char *text)
{
    int length = 0;
    sscanf(text, "%*[0123456789].%*[0123456789].%*[0123456789]%n", &length);
    return length > 0 && !text[length];
}

/* Versions 0 and 1 mean the same by what is read here; what a later one means is not known, nor what an extension does
 * that must be understood. */
static bool check_versions(const char *path, const cJSON *global)
{
    const cJSON *item = member(global, "core:version"), *extension;
    const char *version = cJSON_GetStringValue(item);
    if (item && (!version || !is_version(version)))
        return message_print(path, "core:version: not a version such as \"1.2.0\"");
    if (item && strtoul(version, NULL, 10) > 1)
        return message_print(path, "core:version: '%s' is not supported, only versions 0 and 1", version);
    cJSON_ArrayForEach(extension, member(global, "core:extensions"))
    {
        const char *name = cJSON_GetStringValue(member(extension, "name"));
        if (cJSON_IsFalse(member(extension, "optional")) && !(name && !strcmp(name, SIGMF_EXTENSION)))
            return message_print(path, "core:extensions: '%s' is required to read it, and not supported",
                                 name ? name : "");
    }
    return true;
}

static bool read_document(struct sigmf_input *input, const cJSON *document)
{
    const cJSON *global = member(document, "global");
    const char *path = input->meta_path;
    uint64_t n_channels;
    if (!cJSON_IsObject(global))
        return message_print(path, "not SigMF: there is no object 'global'");
    if (!check_versions(path, global) || !read_datatype(input, global) ||
        !read_count(path, global, "core:num_channels", 1, &n_channels))
        return false;
    if (n_channels != 1)
        return message_print(path, "core:num_channels: has %" PRIu64 " channels, but only one can be demodulated",
                             n_channels);
    return read_own_members(input, global) && check_conforms(path, document, global);
}

bool sigmf_input_read(struct sigmf_input *input, const char *path)
{
    cJSON *document = sigmf_name_files(path, input->meta_path, input->data_path) ? parse(input->meta_path) : NULL;
    const bool read = document && read_document(input, document);
    cJSON_Delete(document);
    return read;
}
