/* SPDX-License-Identifier: MIT */
/* Files, pipes and the standard streams: those that are read, and those that are written. Failures are reported on
 * standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_FILE_H
#define SOFTQAM_TOOLS_COMMON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Returns the descriptor that a path names: `standard` for "-", another for /dev/stdin, /dev/stdout, /dev/stderr and
 * /dev/fd/N; -1 for every other path. To open such a path anew would read or write from the file's start, and to
 * replace it would replace the file that somebody redirected. */
int file_name_descriptor(const char *path, int standard);

/* A file, FIFO or standard input ("-") with a value, or some, for each symbol, read from here to its end, or a part of
 * it. All zero is no file. */
struct input_file {
    const char *name;     /* as messages call it */
    const char *item;     /* the noun for a value */
    size_t item_nbytes;   /* bytes of a value */
    size_t symbol_nbytes; /* bytes of a symbol's values */
    int fd;               /* 0 for none: the standard streams are never closed, and their copies are read */
    struct stat status;
    bool is_regular;
    int stop_fd;          /* when it is readable, waiting for a pipe is over; 0 for none */
    off_t start;          /* offset of a regular file's first symbol */
    uint64_t n_left;      /* bytes that come after those read ahead; UINT64_MAX while that is not known */
    unsigned char *ahead; /* bytes of a pipe that are read, and will be read again */
    size_t n_ahead;
    /* Once a caller has set these, reads are of whole units, as many as a pipe has, more only while somebody is busy.
     */
    bool (*is_busy)(void *busy);
    void *busy;
    size_t unit_nbytes;
};

bool input_file_open(struct input_file *file, const char *path, const char *item, size_t item_nbytes,
                     size_t symbol_nbytes);

/* Returns the symbols that are left of a regular file; UINT64_MAX for another. */
uint64_t input_file_n_symbols(const struct input_file *file);

/* Skips bytes, of which *n_skipped are there: counts them from the start of a regular file, reads them from a pipe. */
bool input_file_skip(struct input_file *file, uint64_t nbytes, uint64_t *n_skipped);

/* Leaves only n symbols from one on, fewer if the file ends before; UINT64_MAX: all. *n_skipped is less than `first`
 * if the file ends before it. */
bool input_file_select(struct input_file *file, uint64_t first, uint64_t n_symbols, uint64_t *n_skipped);

/* Fills the buffer; *n_read is smaller only at the end, before a failure, or with is_busy(). False without a message
 * when stop_fd ends it. */
bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Lets the next read give these n bytes again; nothing is read ahead already. */
bool input_file_put_back(struct input_file *file, const void *bytes, size_t n);

/* Returns whether nothing comes any more. */
bool input_file_is_at_end(const struct input_file *file);

/* Checks that nbytes of the file are whole values. */
bool input_file_is_whole(const struct input_file *file, uint64_t nbytes);

void input_file_close(struct input_file *file);

enum { OUTPUT_FILE_MAX = 4 };

/* A file that appears complete or not at all. It has a temporary name in its target's folder and takes the target's
 * name at the end; until then a file that it replaces stays as it is. Every signal that can be caught removes the
 * temporary file. What cannot be replaced (standard output, "-", another descriptor, a FIFO, a device) is written
 * directly. At most OUTPUT_FILE_MAX files at a time, which are opened before any thread is started. All zero is no
 * file. */
struct output_file {
    const char *name;               /* as messages call it */
    char *target;                   /* what is to appear; NULL when written directly */
    struct output_pending *pending; /* its temporary name; NULL once it has none */
    bool is_new;                    /* it replaces no file, not even one that is made meanwhile */
    struct stat status;             /* status of what was there before */
    bool replaces;                  /* a regular file is replaced */
    bool published;
    int fd;       /* 0, which standard input has, for none */
    int given_fd; /* the descriptor that the name stands for; -1 for none */
};

/* Finds out what lies under a name, and opens nothing yet: the caller then decides whether to replace it. */
bool output_file_find(struct output_file *file, const char *path, bool is_new);

/* Opens what was found. A symbolic link stands for the file it points to, which must be there. A new file's mode
 * follows the umask; one that replaces another has its mode, and its owner and group if the system allows that, but
 * not its access control list and attributes. */
bool output_file_create(struct output_file *file);

/* Does both. */
bool output_file_open(struct output_file *file, const char *path, bool is_new);

/* Returns the temporary name, by which other processes can open the file; NULL when it is written directly. */
const char *output_file_temporary(const struct output_file *file);

/* Opens another process's temporary file, which a signal to this one removes too. That process publishes it. */
bool output_file_join(struct output_file *file, const char *name, const char *temporary);

bool output_file_write(struct output_file *file, const void *data, size_t nbytes);

/* Ends writing: the system has accepted all of it; the disk too, of what has a temporary name. */
bool output_file_finish(struct output_file *file);

/* Gives a finished file its name, which is on the disk then. */
bool output_file_publish(struct output_file *file);

/* Frees what the description holds. A file that is not to be kept is abandoned, at any time, also none; a new one that
 * was published is removed again. */
void output_file_end(struct output_file *file, bool keep);

/* Checks that an open file is no terminal, which binary data may upset. */
bool output_file_check_terminal(const struct output_file *file);

/* Returns whether the output is a given file or would replace it, so that this file would be lost. */
bool output_file_is(const struct output_file *file, const struct stat *other);

/* Returns whether two open files are one. Pipes and devices may be written from both. */
bool output_file_is_same(const struct output_file *file, const struct output_file *other);

#endif
