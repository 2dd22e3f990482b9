/* SPDX-License-Identifier: MIT */
/* A recording in an archive of SigMF, NAME.sigmf: a tar file with its metadata and its data. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_ARCHIVE_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_ARCHIVE_H

#include "tar_file.h"

/* The metadata of the only recording in an archive. */
bool sigmf_archive_find_meta(struct tar_file *tar, struct tar_member *meta);

/* The data beside the metadata: of the name `dataset`, NULL for that of the metadata. */
bool sigmf_archive_find_data(struct tar_file *tar, const struct tar_member *meta, const char *dataset,
                             struct tar_member *data);

#endif
