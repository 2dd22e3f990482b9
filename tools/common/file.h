/* SPDX-License-Identifier: MIT */
/* Reads and writes files, pipes and the standard streams. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_FILE_H
#define SOFTQAM_TOOLS_COMMON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Returns the descriptor that a path names: `standard` for "-", its own for /dev/stdin, /dev/stdout, /dev/stderr and
 * /dev/fd/N, and -1 for every other path. Such a path must not be opened, which would begin at the file's start, nor
 * replaced, which would replace the file that the stream was redirected to. */
int file_name_descriptor(const char *path, int standard);

/* A file, FIFO or standard input ("-") that has one or several values for each symbol. It is read from its current
 * position to its end, or a part of that. All zero: no file. */
struct input_file {
    const char *name;     /* as messages call it */
    const char *item;     /* the noun for a value */
    size_t item_nbytes;   /* bytes of a value */
    size_t symbol_nbytes; /* bytes of a symbol's values */
    int fd;               /* 0: none; standard input is read through a copy of its descriptor */
    struct stat status;
    bool is_regular;
    int stop_fd;          /* 0, or a descriptor that ends a wait for a pipe when it becomes readable */
    off_t start;          /* offset of a regular file's first symbol */
    uint64_t n_left;      /* bytes left after those in `ahead`; UINT64_MAX if unknown */
    unsigned char *ahead; /* bytes of a pipe that were read and put back */
    size_t n_ahead;
    /* If a caller sets these, input_file_read() returns the whole units that a pipe has, and waits for more only as
     * long as is_busy() is true. */
    bool (*is_busy)(void *busy);
    void *busy;
    size_t unit_nbytes;
};

bool input_file_open(struct input_file *file, const char *path, const char *item, size_t item_nbytes,
                     size_t symbol_nbytes);

/* Returns the number of symbols that are left in a regular file; UINT64_MAX for others. */
uint64_t input_file_n_symbols(const struct input_file *file);

/* Skips bytes, in a pipe by reading them. Sets *n_skipped to how many there were. */
bool input_file_skip(struct input_file *file, uint64_t nbytes, uint64_t *n_skipped);

/* Skips `first` symbols, and ends the file after n_symbols more (UINT64_MAX: does not). *n_skipped is less than `first`
 * if the file ends before. */
bool input_file_select(struct input_file *file, uint64_t first, uint64_t n_symbols, uint64_t *n_skipped);

/* Fills a buffer. *n_read is less than nbytes only at the file's end, after a failure, or with is_busy(). Returns false
 * after a message, or without one if stop_fd ended the wait. */
bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Puts back the last n bytes, which the next read returns again. Only one call's bytes can be put back. */
bool input_file_put_back(struct input_file *file, const void *bytes, size_t n);

/* Returns whether the file has ended. */
bool input_file_is_at_end(const struct input_file *file);

/* Checks that nbytes are a whole number of values; prints a message if not. */
bool input_file_is_whole(const struct input_file *file, uint64_t nbytes);

void input_file_close(struct input_file *file);

enum { OUTPUT_FILE_MAX = 4 };

/* A file that appears complete or not at all. It has a temporary name in its target's folder until it is published; a
 * file that it replaces stays as it is until then. Every signal that can be caught removes the temporary file. What
 * cannot be replaced (standard output, "-", another descriptor, a FIFO, a device) is written directly. At most
 * OUTPUT_FILE_MAX files may be open, and they must be opened before any thread is started. All zero: no file. */
struct output_file {
    const char *name;               /* as messages call it */
    char *target;                   /* the path that it will get; NULL if it is written directly */
    struct output_pending *pending; /* its temporary name; NULL: it has none */
    bool is_new;                    /* it must not replace a file, not even one that is made meanwhile */
    struct stat status;             /* status of the file that was there before */
    bool replaces;                  /* it replaces a regular file */
    bool published;
    int fd;       /* 0: none */
    int given_fd; /* the descriptor that the name stands for; -1: none */
};

/* Finds what a path names, but opens nothing yet, so that the caller can decide whether to replace it. */
bool output_file_find(struct output_file *file, const char *path, bool is_new);

/* Opens it. A symbolic link stands for its target, which must exist. A new file's mode follows the umask. A file that
 * replaces another gets its mode, and its owner and group if the system allows that, but not its access control list
 * and attributes. */
bool output_file_create(struct output_file *file);

/* Does both. */
bool output_file_open(struct output_file *file, const char *path, bool is_new);

/* Returns the temporary name, by which other processes can open the file; NULL if it is written directly. */
const char *output_file_temporary(const struct output_file *file);

/* Opens another process's temporary file, which that process will publish. A signal to this process removes it too. */
bool output_file_join(struct output_file *file, const char *name, const char *temporary);

bool output_file_write(struct output_file *file, const void *data, size_t nbytes);

/* Ends writing, and reports what the system did not accept. A file with a temporary name is on the disk then. */
bool output_file_finish(struct output_file *file);

/* Gives a finished file its name. On return the name is on the disk. */
bool output_file_publish(struct output_file *file);

/* Frees what the structure holds. Unless `keep`, removes the temporary file, or a new file that was published. May be
 * called at any time, also without a file. */
void output_file_end(struct output_file *file, bool keep);

/* Checks that an open file is no terminal, which binary data would confuse. */
bool output_file_check_terminal(const struct output_file *file);

/* Returns whether the output is, or would replace, the file of that status. */
bool output_file_is(const struct output_file *file, const struct stat *other);

/* Returns whether two open files are the same regular file; pipes and devices may be written to by both. */
bool output_file_is_same(const struct output_file *file, const struct output_file *other);

#endif
