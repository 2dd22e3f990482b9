/* SPDX-License-Identifier: MIT */
/* The names of the files of a SigMF recording: BASE.sigmf-meta and BASE.sigmf-data. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "sigmf.h"

static const char meta_suffix[] = ".sigmf-meta", data_suffix[] = ".sigmf-data";

static bool ends_with(const char *path, const char *suffix)
{
    const size_t length = strlen(path), n = strlen(suffix);
    return length > n && !strcmp(path + length - n, suffix);
}

bool sigmf_name_is_metadata(const char *path) { return ends_with(path, meta_suffix); }

bool sigmf_name_is_explicit(const char *path) { return sigmf_name_is_metadata(path) || ends_with(path, data_suffix); }

/* The path with the suffix, in the place of the one that makes it explicit. */
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

const char *sigmf_name_unsupported(const char *path)
{
    if (ends_with(path, ".sigmf"))
        return "an archive of SigMF; unpack it with tar";
    if (ends_with(path, ".sigmf.gz") || ends_with(path, ".sigmf.xz") || ends_with(path, ".sigmf.zip"))
        return "a compressed archive of SigMF; unpack it";
    return ends_with(path, ".sigmf-collection") ? "a collection of SigMF, not a recording" : NULL;
}
