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
#include "sigmf_archive.h"
#include "sigmf_name.h"
#include "sigmf_numbers.h"

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

bool sigmf_is_available(void)
{
    return true;
}

/* The metadata: the file's, or a member's of an archive, which are so many bytes at an offset. */
static char *read_text(const struct input_file *file, const char *path, uint64_t offset, uint64_t nbytes,
                       size_t *length)
{
    char *text = NULL;
    if (file->nbytes < 0 || nbytes > max_meta_nbytes)
        message_print(path, "not a file of metadata: %s", file->nbytes < 0 ? "no regular file" : "over 1 GiB");
    else if (!(text = malloc((size_t)nbytes + 1)))
        message_print(path, "out of memory");
    else if (!input_file_read_at(file, offset, text, (size_t)nbytes, length)) {
        free(text);
        text = NULL;
    }
    return text;
}

static void report_line(const struct sigmf_input *input, const char *text, const char *end)
{
    unsigned line = 1;
    for (const char *c = text; c < end; c++)
        line += *c == '\n';
    message_print(input->meta_path, "line %u: not JSON", line);
}

/* Frees the text. */
static bool parse(struct sigmf_input *input, char *text, size_t length)
{
    const char *end = NULL;
    if (!text)
        return false;
    text[length] = '\0';
    input->document = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    const bool kept = input->document && sigmf_numbers_keep(input->document, text);
    if (!input->document)
        report_line(input, text, end);
    else if (!kept)
        message_print(input->meta_path, "out of memory");
    free(text);
    return kept;
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
    cJSON_ArrayForEach(capture, cJSON_GetObjectItemCaseSensitive(input->document, "captures"))
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

/* The name of the data: NULL for that of the metadata. */
static bool read_dataset(const struct sigmf_input *input, const char **name)
{
    const cJSON *dataset = global_member(input, "core:dataset");
    *name = NULL;
    if (cJSON_IsTrue(global_member(input, "core:metadata_only"))) {
        message_print(input->meta_path, "core:metadata_only: has no samples");
        return false;
    }
    if (!dataset)
        return true;
    if (cJSON_IsString(dataset) && sigmf_name_is_metadata(dataset->valuestring)) {
        message_print(input->meta_path, "core:dataset: names metadata, not samples");
        return false;
    }
    if (cJSON_IsString(dataset) && *dataset->valuestring && !strchr(dataset->valuestring, '/') &&
        strlen(dataset->valuestring) < PATH_MAX) {
        *name = dataset->valuestring;
        return true;
    }
    message_print(input->meta_path, "core:dataset: not the name of a file beside it");
    return false;
}

/* BASE.sigmf-data, or beside the metadata the file that it names. */
static bool find_data(struct sigmf_input *input, const char *path)
{
    const char *name, *slash = strrchr(input->meta_path, '/');
    if (!read_dataset(input, &name))
        return false;
    if (!name)
        return sigmf_name_with_suffix(path, SIGMF_DATA_SUFFIX, input->data_path);
    const int directory = slash ? (int)(slash - input->meta_path) + 1 : 0;
    if (snprintf(input->data_path, PATH_MAX, "%.*s%s", directory, input->meta_path, name) < PATH_MAX)
        return true;
    message_print(input->meta_path, "core:dataset: not the name of a file beside it");
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

/* Versions 0 and 1 mean the same by what is read here; what a later one means is not known. */
static bool read_version(const struct sigmf_input *input)
{
    const char *version = cJSON_GetStringValue(global_member(input, "core:version"));
    if (!version || strtoul(version, NULL, 10) < 2)
        return true;
    message_print(input->meta_path, "core:version: '%s' is not supported, only versions 0 and 1", version);
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

static bool read_files(struct sigmf_input *input, const char *path)
{
    struct input_file file;
    size_t length = 0;
    if (!sigmf_name_with_suffix(path, SIGMF_META_SUFFIX, input->meta_path)) {
        message_print_errno(path);
        return false;
    }
    const bool opened = input_file_open(&file, input->meta_path);
    char *text = opened ? read_text(&file, input->meta_path, 0, (uint64_t)file.nbytes, &length) : NULL;
    input_file_close(&file);
    return parse(input, text, length) && read_global(input) && find_data(input, path);
}

static bool read_members(struct sigmf_input *input, struct tar_file *tar)
{
    struct tar_member meta, data;
    size_t length = 0;
    const char *name;
    if (!sigmf_archive_find_meta(tar, &meta))
        return false;
    char *text = read_text(&tar->file, tar->file.name, meta.offset, meta.nbytes, &length);
    if (!parse(input, text, length) || !read_global(input) || !read_dataset(input, &name) ||
        !sigmf_archive_find_data(tar, &meta, name, &data))
        return false;
    input->is_archive = true;
    input->data_offset = data.offset;
    input->data_nbytes = data.nbytes;
    return true;
}

static bool read_archive(struct sigmf_input *input, const char *path)
{
    struct tar_file tar;
    if (snprintf(input->meta_path, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        message_print_errno(path);
        return false;
    }
    memcpy(input->data_path, input->meta_path, sizeof input->data_path);
    const bool read = tar_file_open(&tar, input->meta_path) && read_members(input, &tar);
    tar_file_close(&tar);
    return read;
}

bool sigmf_input_read(struct sigmf_input *input, const char *path)
{
    return sigmf_name_is_archive(path) ? read_archive(input, path) : read_files(input, path);
}

void sigmf_input_free(struct sigmf_input *input)
{
    cJSON_Delete(input->document);
    memset(input, 0, sizeof *input);
}
