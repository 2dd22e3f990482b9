/* SPDX-License-Identifier: MIT */
/* A file that appears complete or not at all. It is written without a name (O_TMPFILE) on the file system of its target
 * and gets its name at the end, so that nothing is left behind whatever ends the process, but for the instant in which
 * two files take their names. Until then a file that it replaces stays as it is. A file system without O_TMPFILE gets a
 * temporary name in the target's folder instead, which every signal removes that can be caught. What cannot be replaced
 * (standard output, "-", another descriptor, a FIFO, a device) is written directly.
 *
 * Failures are reported on standard error. At most OUTPUT_FILE_MAX files at a time. Open them before any thread is
 * started: a thread that gets a signal between creating a temporary name and listing it would leave the file behind. */
#ifndef SOFTQAM_TOOLS_COMMON_OUTPUT_FILE_H
#define SOFTQAM_TOOLS_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { OUTPUT_FILE_MAX = 4 };

/* How a file is opened, to be or-ed. */
enum {
    OUTPUT_FILE_SYNC = 1, /* it is on the disk before it takes its name, and so is the name when that is done */
    OUTPUT_FILE_NEW = 4,  /* it replaces no file, not even one that is made meanwhile */
    OUTPUT_FILE_NAMED = 2 /* it has a temporary name from the start, by which other processes open it */
};

struct output_file {
    const char *name;               /* as messages call it */
    char *target;                   /* what is to appear; NULL when written directly */
    struct output_pending *pending; /* its temporary name; NULL while it has none */
    unsigned how;
    bool replaces; /* whether the target was there before */
    bool published;
    int fd;
    int given_fd; /* the descriptor that the name stands for; -1 for none */
};

/* A symbolic link stands for the file it points to. A new file's mode follows the umask; one that replaces another has
 * its mode, access control list and user attributes, and its owner and group where the system allows that. */
bool output_file_open(struct output_file *file, const char *path, unsigned how);

/* The temporary name of a file that was opened with OUTPUT_FILE_NAMED; NULL when it is written directly. */
const char *output_file_temporary(const struct output_file *file);

/* Removes another process's temporary file, too, when a signal ends this one. Counts among the
 * OUTPUT_FILE_MAX. */
void output_file_remove_on_signal(const char *temporary);

bool output_file_write(struct output_file *file, const void *data, size_t nbytes);

/* Nothing more will be written, and the system has accepted all of it; with OUTPUT_FILE_SYNC the disk has. */
bool output_file_finish(struct output_file *file);

/* Two finished files take their names, in this order: both or, unless the file system cannot exchange names, none. One
 * that was not opened has none. A folder that cannot be synced costs a warning: its files are whole all the same. */
bool output_file_publish(struct output_file *first, struct output_file *second);

/* Abandons a file at any time, also one that is all zero or not open; a new file that was published is removed again.
 */
void output_file_discard(struct output_file *file);

/* Frees what the description holds. The file stays. */
void output_file_release(struct output_file *file);

/* The one or the other. */
void output_file_end(struct output_file *file, bool keep);

/* Whether a path is no terminal, which binary data may upset; says so if it is. */
bool output_file_check_terminal(const char *path);

/* Whether two paths, neither of which is open yet, would be one file. Pipes and devices may be written from both. */
bool output_file_is_same(const char *path, const char *other);

#endif
