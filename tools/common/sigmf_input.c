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
#include "sigmf.h"
#include "sigmf_name.h"

/* More metadata than this is a mistake. */
static const int64_t max_meta_nbytes = (int64_t)1 << 30;

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

static char *read_text(const char *path, size_t *length)
{
    struct input_file file;
    char *text = NULL;
    if (input_file_open(&file, path)) {
        if (file.nbytes < 0 || file.nbytes > max_meta_nbytes)
            message_print(path, "not a file of metadata: %s", file.nbytes < 0 ? "no regular file" : "over 1 GiB");
        else if (!(text = malloc((size_t)file.nbytes + 1)))
            message_print(path, "out of memory");
        else if (!input_file_read(&file, text, (size_t)file.nbytes, length)) {
            free(text);
            text = NULL;
        }
    }
    input_file_close(&file);
    return text;
}

static bool parse(struct sigmf_input *input)
{
    size_t length = 0;
    char *text = read_text(input->meta_path, &length);
    if (!text)
        return false;
    const char *end = NULL;
    text[length] = '\0';
    input->document = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (!input->document) {
        unsigned line = 1;
        for (const char *c = text; c < end; c++)
            line += *c == '\n';
        message_print(input->meta_path, "line %u: not JSON", line);
    }
    free(text);
    return input->document != NULL;
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

/* BASE.sigmf-data, or beside the metadata the file that it names. */
static bool find_data(struct sigmf_input *input, const char *path)
{
    const cJSON *dataset = global_member(input, "core:dataset");
    if (cJSON_IsTrue(global_member(input, "core:metadata_only"))) {
        message_print(input->meta_path, "core:metadata_only: has no samples");
        return false;
    }
    if (!dataset)
        return sigmf_name_with_suffix(path, SIGMF_DATA_SUFFIX, input->data_path);
    const char *slash = strrchr(input->meta_path, '/');
    const int directory = slash ? (int)(slash - input->meta_path) + 1 : 0;
    if (cJSON_IsString(dataset) && *dataset->valuestring && !strchr(dataset->valuestring, '/') &&
        snprintf(input->data_path, PATH_MAX, "%.*s%s", directory, input->meta_path, dataset->valuestring) < PATH_MAX)
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

bool sigmf_input_read(struct sigmf_input *input, const char *path)
{
    if (!sigmf_name_with_suffix(path, SIGMF_META_SUFFIX, input->meta_path)) {
        message_print_errno(path);
        return false;
    }
    if (!parse(input))
        return false;
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(input->document, "global"))) {
        message_print(input->meta_path, "not SigMF: there is no object 'global'");
        return false;
    }
    return read_datatype(input) && read_channels(input) && read_scale(input) && read_gaps(input) &&
           read_sha512(input) && find_data(input, path);
}

void sigmf_input_free(struct sigmf_input *input)
{
    cJSON_Delete(input->document);
    memset(input, 0, sizeof *input);
}
