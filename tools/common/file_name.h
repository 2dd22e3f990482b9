/* SPDX-License-Identifier: MIT */
/* Names that stand for a descriptor that is open already. */
#ifndef SOFTQAM_TOOLS_COMMON_FILE_NAME_H
#define SOFTQAM_TOOLS_COMMON_FILE_NAME_H

/* The descriptor that a path names: `standard` for "-", another for /dev/stdin, /dev/stdout, /dev/stderr and /dev/fd/N;
 * -1 for every other path. To open such a path anew would read or write from the file's start, and to replace it would
 * replace the file that somebody redirected. */
int file_name_descriptor(const char *path, int standard);

/* What messages call it. */
const char *file_name_shown(const char *path, int standard);

#endif
