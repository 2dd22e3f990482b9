/* SPDX-License-Identifier: MIT */
#include "sigmf.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "file.h"
#include "message.h"
#include "modulation.h"

static const char meta_suffix[] = ".sigmf-meta", data_suffix[] = ".sigmf-data";

static bool ends_with(const char *path, const char *suffix)
{
    const size_t length = strlen(path), n = strlen(suffix);
    return length > n && !strcmp(path + length - n, suffix);
}

bool sigmf_name_is_metadata(const char *path) { return ends_with(path, meta_suffix); }

bool sigmf_name_is_archive(const char *path) { return ends_with(path, ".sigmf"); }

bool sigmf_name_is_explicit(const char *path) { return sigmf_name_is_metadata(path) || ends_with(path, data_suffix); }

/* Replaces the suffix of .sigmf-meta or .sigmf-data, if the path has one, or adds it. */
static bool with_suffix(const char *path, const char *suffix, char name[PATH_MAX])
{
    const size_t length = strlen(path) - (sigmf_name_is_explicit(path) ? strlen(suffix) : 0);
    errno = length > 0 ? ENAMETOOLONG : ENOENT;
    return length > 0 && length < PATH_MAX && snprintf(name, PATH_MAX, "%.*s%s", (int)length, path, suffix) < PATH_MAX;
}

bool sigmf_name_is_recording(const char *path)
{
    char meta[PATH_MAX];
    return sigmf_name_is_explicit(path) ||
           (access(path, F_OK) && with_suffix(path, meta_suffix, meta) && !access(meta, F_OK));
}

bool sigmf_name_files(const char *path, char meta[PATH_MAX], char data[PATH_MAX])
{
    return (with_suffix(path, meta_suffix, meta) && with_suffix(path, data_suffix, data)) || message_print_errno(path);
}

/* Returns whether a string of JSON has the character U+0000 as an escape. cJSON would end the string there. */
static bool has_null_character(const char *text)
{
    for (; *text; text++) {
        if (!strncmp(text, "\\u0000", 6))
            return true;
        text += *text == '\\'; /* a string goes on after an escaped character */
    }
    return false;
}

/* Returns the file's contents; NULL after a failure. */
static cJSON *parse(const char *path)
{
    static char text[16 << 20]; /* more metadata than this is a mistake */
    struct input_file file;
    size_t n = 0;
    const bool read = input_file_open(&file, path, "byte", 1, 1) && input_file_read(&file, text, sizeof text - 1, &n);
    input_file_close(&file);
    text[n] = '\0';
    cJSON *document = read && strlen(text) == n ? cJSON_ParseWithOpts(text, NULL, 1) : NULL;
    if (read && !document)
        message_print(path, n == sizeof text - 1 ? "more than 16 MiB of metadata" : "not JSON");
    if (document && has_null_character(text)) {
        cJSON_Delete(document);
        message_print(path, "a string has the character U+0000");
        return NULL;
    }
    return document;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_number(const cJSON *item, double min, double max)
{
    return cJSON_IsNumber(item) && item->valuedouble >= min && item->valuedouble <= max;
}

static bool read_datatype(struct sigmf_input *input, const cJSON *global)
{
    const char *name = cJSON_GetStringValue(member(global, "core:datatype"));
    for (int i = 0; name && i < N_FILE_FORMATS; i++) {
        if (file_formats[i].datatype && !strcmp(file_formats[i].datatype, name)) {
            input->format = (enum file_format)i;
            return true;
        }
    }
    return message_print(input->meta_path,
                         "core:datatype: '%s' is not one of cf32, cf64, ci32, ci16 with _le or _be, ci8, cu8",
                         name ? name : "");
}

/* Reads the members that softqam-gen writes: scale, modulation and c_init. */
static bool read_own_members(struct sigmf_input *input, const cJSON *global)
{
    const cJSON *scale = member(global, "softqam:input_scale"), *c_init = member(global, "softqam:c_init");
    const cJSON *modulation = member(global, "softqam:modulation");
    const char *name = cJSON_GetStringValue(modulation), *path = input->meta_path;
    input->modulation = name ? modulation_find(name) : SOFTQAM_MODULATION_DEFAULT;
    input->is_scrambled = c_init != NULL;
    if (scale && !is_number(scale, (double)FLT_MIN, (double)FLT_MAX))
        return message_print(path, "softqam:input_scale: not a positive number");
    if (modulation && input->modulation == SOFTQAM_MODULATION_DEFAULT)
        return message_print(path, "softqam:modulation: '%s' is no modulation of 5G NR", name ? name : "");
    if (c_init && !(is_number(c_init, 0, INT32_MAX) && floor(c_init->valuedouble) == c_init->valuedouble))
        return message_print(path, "softqam:c_init: not a whole number from 0 to 2147483647");
    input->scale = scale ? scale->valuedouble : 0;
    input->c_init = c_init ? (uint32_t)c_init->valuedouble : 0;
    return true;
}

/* Reads an optional number of bytes. */
static bool read_nbytes(const char *path, const cJSON *object, const char *name, uint64_t *nbytes)
{
    const cJSON *item = member(object, name);
    *nbytes = is_number(item, 0, 0x1p52) ? (uint64_t)item->valuedouble : 0;
    return !item || (is_number(item, 0, 0x1p52) && floor(item->valuedouble) == item->valuedouble) ||
           message_print(path, "%s: not a number of bytes", name);
}

/* Reads the sizes of header and trailer. Refuses recordings with other gaps between samples. */
static bool read_gaps(struct sigmf_input *input, const cJSON *document, const cJSON *global)
{
    const char *path = input->meta_path;
    const cJSON *capture;
    bool is_first = true;
    uint64_t nbytes;
    if (member(global, "core:dataset") || cJSON_IsTrue(member(global, "core:metadata_only")))
        return message_print(path, "its samples are not in the file beside it; copy them to one");
    cJSON_ArrayForEach(capture, member(document, "captures"))
    {
        if (!read_nbytes(path, capture, "core:header_bytes", &nbytes))
            return false;
        if (nbytes > 0 && !is_first)
            return message_print(
                path, "core:header_bytes: among the samples too; copy the samples of one capture out of them");
        input->header_nbytes = is_first ? nbytes : input->header_nbytes;
        is_first = false;
    }
    return read_nbytes(path, global, "core:trailing_bytes", &input->trailing_nbytes);
}

/* Returns whether a text says version 0 or 1. */
static bool is_old_version(const char *version)
{
    return version && version[0] >= '0' && version[0] <= '1' && strtoul(version, NULL, 10) <= 1;
}

/* Refuses later versions and required extensions, whose meaning is unknown. Versions 0 and 1 agree in all that is read
 * here. */
static bool check_versions(const char *path, const cJSON *global)
{
    const cJSON *item = member(global, "core:version"), *extension;
    const char *version = cJSON_GetStringValue(item);
    if (item && !is_old_version(version))
        return message_print(path, "core:version: '%s' is not supported, only versions 0 and 1",
                             version ? version : "");
    cJSON_ArrayForEach(extension, member(global, "core:extensions"))
    {
        const char *name = cJSON_GetStringValue(member(extension, "name"));
        const bool is_known = name && !strcmp(name, SIGMF_EXTENSION) &&
                              is_old_version(cJSON_GetStringValue(member(extension, "version")));
        if (cJSON_IsFalse(member(extension, "optional")) && !is_known)
            return message_print(path, "core:extensions: '%s' is required to read it, and not supported",
                                 name ? name : "");
    }
    return true;
}

static bool read_document(struct sigmf_input *input, const cJSON *document)
{
    const cJSON *global = member(document, "global"), *n_channels = member(global, "core:num_channels");
    if (!cJSON_IsObject(global))
        return message_print(input->meta_path, "not SigMF: there is no object 'global'");
    for (const cJSON *item = global->child; item; item = item->next)
        if (member(global, item->string) != item)
            return message_print(input->meta_path, "%s: twice in 'global'", item->string);
    if (n_channels && !is_number(n_channels, 1, SIGMF_MAX_CHANNELS))
        return message_print(input->meta_path, "core:num_channels: not a number from 1 to %d", SIGMF_MAX_CHANNELS);
    input->n_channels = n_channels ? (unsigned)n_channels->valuedouble : 1;
    input->has_hash = member(global, "core:sha512") != NULL;
    return check_versions(input->meta_path, global) && read_datatype(input, global) &&
           read_own_members(input, global) && read_gaps(input, document, global);
}

bool sigmf_input_read(struct sigmf_input *input, const char *path)
{
    cJSON *document = sigmf_name_files(path, input->meta_path, input->data_path) ? parse(input->meta_path) : NULL;
    const bool read = document && read_document(input, document);
    cJSON_Delete(document);
    return read;
}
