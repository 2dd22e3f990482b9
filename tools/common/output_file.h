/* SPDX-License-Identifier: MIT */
/* A file that appears complete or not at all: it is written under a temporary name in the directory of its target and
 * renamed at the end. Until then a file that it replaces stays as it is, and an error, SIGHUP, SIGINT, SIGQUIT, SIGTERM
 * or SIGXCPU leaves nothing behind. What cannot be replaced (standard output, "-", another descriptor, a FIFO, a
 * device) is written directly.
 *
 * Failures are reported on standard error. At most two of these at a time, and opened before any thread is started: a
 * signal that came to a thread between the making of the temporary file and its entry in the list would leave it. */
#ifndef SOFTQAM_TOOLS_COMMON_OUTPUT_FILE_H
#define SOFTQAM_TOOLS_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct output_file {
    const char *name;               /* as messages call it */
    char *target;                   /* what is to appear; NULL when written directly */
    struct output_pending *pending; /* the temporary file; NULL when there is none */
    bool replaces;                  /* whether the target was there before */
    bool published;
    int fd;
    int given_fd; /* the descriptor that the name stands for; -1 for none */
};

/* A symbolic link stands for the file it points to. A new file's mode follows the umask; a replaced one's stays. */
bool output_file_open(struct output_file *file, const char *path);

/* The temporary file's path; NULL when the file is written directly. */
const char *output_file_temporary(const struct output_file *file);

/* Removes another process's temporary file, too, when a signal ends this one. Counts among the two. */
void output_file_remove_on_signal(const char *temporary);

bool output_file_write(struct output_file *file, const void *data, size_t nbytes);

/* Nothing more will be written, and the system has accepted all of it. */
bool output_file_finish(struct output_file *file);

/* Two finished files take their names, in this order: both or, unless the file system cannot exchange names, none. One
 * that was not opened has none. */
bool output_file_publish(struct output_file *first, struct output_file *second);

/* Gives up a file at any time, all zero or not opened included; a new file that was published is removed again. */
void output_file_discard(struct output_file *file);

/* Frees what the description holds. The file stays. */
void output_file_release(struct output_file *file);

/* Whether two paths, neither of which is open yet, would be one file. Pipes and devices may be written from both. */
bool output_file_is_same(const char *path, const char *other);

#endif
