/* SPDX-License-Identifier: MIT */
/* The names of the files of a SigMF recording: BASE.sigmf-meta and BASE.sigmf-data. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sigmf.h"

static bool ends_with(const char *path, const char *suffix)
{
    const size_t length = strlen(path), n = strlen(suffix);
    return length > n && !strcmp(path + length - n, suffix);
}

bool sigmf_name_is_metadata(const char *path) { return ends_with(path, SIGMF_META_SUFFIX); }

bool sigmf_name_is_explicit(const char *path)
{
    return sigmf_name_is_metadata(path) || ends_with(path, SIGMF_DATA_SUFFIX);
}

bool sigmf_name_is_recording(const char *path)
{
    char meta[PATH_MAX];
    return sigmf_name_is_explicit(path) ||
           (access(path, F_OK) && sigmf_name_with_suffix(path, SIGMF_META_SUFFIX, meta) && !access(meta, F_OK));
}

const char *sigmf_name_unsupported(const char *path)
{
    if (ends_with(path, ".sigmf"))
        return "an archive of SigMF; unpack it with tar";
    if (ends_with(path, ".sigmf.gz") || ends_with(path, ".sigmf.xz") || ends_with(path, ".sigmf.zip"))
        return "a compressed archive of SigMF; unpack it";
    return ends_with(path, ".sigmf-collection") ? "a collection of SigMF, not a recording" : NULL;
}

bool sigmf_name_with_suffix(const char *path, const char *suffix, char name[PATH_MAX])
{
    const size_t length = strlen(path) - (sigmf_name_is_explicit(path) ? strlen(suffix) : 0);
    if (length > 0 && length < PATH_MAX && snprintf(name, PATH_MAX, "%.*s%s", (int)length, path, suffix) < PATH_MAX)
        return true;
    errno = length > 0 ? ENAMETOOLONG : ENOENT;
    return false;
}
