/* SPDX-License-Identifier: MIT */
/* The members of a tar file that are regular files, with POSIX's long names and sizes (pax) and GNU's. Failures are
 * reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_TAR_FILE_H
#define SOFTQAM_TOOLS_COMMON_TAR_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "input_file.h"

struct tar_file {
    struct input_file file;
    uint64_t next; /* offset of the next header */
};

struct tar_member {
    char name[PATH_MAX];
    uint64_t offset, nbytes; /* of what it holds, in the tar file, which has all of it */
};

bool tar_file_open(struct tar_file *tar, const char *path);

/* The next member; *found is false after the last. */
bool tar_file_next(struct tar_file *tar, struct tar_member *member, bool *found);

/* Starts again with the first. */
void tar_file_rewind(struct tar_file *tar);

void tar_file_close(struct tar_file *tar);

#endif
