/* SPDX-License-Identifier: MIT */
/* A file that appears complete or not at all. It has a temporary name in its target's folder and takes the target's
 * name at the end; until then a file that it replaces stays as it is. Every signal that can be caught removes the
 * temporary file. What cannot be replaced (standard output, "-", another descriptor, a FIFO, a device) is written
 * directly.
 *
 * Failures are reported on standard error. At most OUTPUT_FILE_MAX files at a time, which are opened before any
 * thread is started. */
#ifndef SOFTQAM_TOOLS_COMMON_OUTPUT_FILE_H
#define SOFTQAM_TOOLS_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { OUTPUT_FILE_MAX = 4 };

/* How a file is opened, to be or-ed. */
enum {
    OUTPUT_FILE_SYNC = 1, /* it is on the disk before it takes its name, and so is the name when that is done */
    OUTPUT_FILE_NEW = 2   /* it replaces no file, not even one that is made meanwhile */
};

/* All zero is no file. */
struct output_file {
    const char *name;               /* as messages call it */
    char *target;                   /* what is to appear; NULL when written directly */
    struct output_pending *pending; /* its temporary name; NULL once it has none */
    unsigned how;
    struct stat status; /* of what was there before */
    bool replaces;      /* whether that was a regular file */
    bool published;
    int fd;       /* 0, which standard input has, for none */
    int given_fd; /* the descriptor that the name stands for; -1 for none */
};

/* What is there under a name; nothing is opened yet, so that the caller can see whether it may be replaced. */
bool output_file_find(struct output_file *file, const char *path, unsigned how);

/* Opens what was found. A symbolic link stands for the file it points to, which must be there. A new file's mode
 * follows the umask; one that replaces another has its mode, and its owner and group where the system allows that, but
 * not its access control list and attributes. */
bool output_file_create(struct output_file *file);

/* Both. */
bool output_file_open(struct output_file *file, const char *path, unsigned how);

/* The temporary name, by which other processes can open the file; NULL when it is written directly. */
const char *output_file_temporary(const struct output_file *file);

/* Opens another process's temporary file, which a signal to this one removes too. That process publishes it. */
bool output_file_join(struct output_file *file, const char *name, const char *temporary, unsigned how);

bool output_file_write(struct output_file *file, const void *data, size_t nbytes);

/* Nothing more will be written, and the system has accepted all of it; with OUTPUT_FILE_SYNC the disk has. */
bool output_file_finish(struct output_file *file);

/* A finished file takes its name. */
bool output_file_publish(struct output_file *file);

/* Frees what the description holds. A file that is not to be kept is abandoned, at any time, also none; a new one that
 * was published is removed again. */
void output_file_end(struct output_file *file, bool keep);

/* Whether an open file is no terminal, which binary data may upset; says so if it is. */
bool output_file_check_terminal(const struct output_file *file);

/* Whether a file that was found is another one, or would replace it: that one would be lost. */
bool output_file_is(const struct output_file *file, const struct stat *other);

/* Whether two open files are one. Pipes and devices may be written from both. */
bool output_file_is_same(const struct output_file *file, const struct output_file *other);

#endif
