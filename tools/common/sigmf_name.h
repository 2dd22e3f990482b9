/* SPDX-License-Identifier: MIT */
/* The names of the files of a SigMF recording: BASE.sigmf-meta and BASE.sigmf-data. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_NAME_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_NAME_H

#include <limits.h>
#include <stdbool.h>

/* Whether a path ends like the metadata of a recording. */
bool sigmf_name_is_metadata(const char *path);

/* Whether a path ends like the metadata or the data of a recording. */
bool sigmf_name_is_explicit(const char *path);

/* Whether a path that is to be read names a recording: by its end, or because there is no such file but metadata with
 * this base name. */
bool sigmf_name_is_recording(const char *path);

/* What a path is that names something else of SigMF: an archive or a collection; NULL for any other. */
const char *sigmf_name_unsupported(const char *path);

/* The path with what makes it explicit replaced by the suffix. False where that is too long for the system, with errno.
 */
bool sigmf_name_with_suffix(const char *path, const char *suffix, char name[PATH_MAX]);

#define SIGMF_META_SUFFIX ".sigmf-meta"
#define SIGMF_DATA_SUFFIX ".sigmf-data"

#endif
