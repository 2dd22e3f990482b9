/* SPDX-License-Identifier: MIT */
/* A file, FIFO or standard input ("-") with a value, or some, for each symbol, read from here to its end, or a part of
 * it. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_INPUT_FILE_H
#define SOFTQAM_TOOLS_COMMON_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* All zero is no file. */
struct input_file {
    const char *name;     /* as messages call it */
    const char *item;     /* the noun for a value */
    size_t item_nbytes;   /* of a value */
    size_t symbol_nbytes; /* of a symbol's values */
    int fd;               /* 0 for none: the standard streams are never closed, and their copies are read */
    struct stat status;
    bool is_regular;
    int stop_fd;          /* when it is readable, waiting for a pipe is over; 0 for none */
    off_t start;          /* of a regular file's first symbol */
    uint64_t n_left;      /* bytes that come after those read ahead; UINT64_MAX while that is not known */
    unsigned char *ahead; /* bytes that are read, and will be read again */
    size_t n_ahead;
    /* Once a caller has set these, reads are of whole units, as many as a pipe has, more only while somebody is busy.
     */
    bool (*is_busy)(void *busy);
    void *busy;
    size_t unit_nbytes;
};

bool input_file_open(struct input_file *file, const char *path, const char *item, size_t item_nbytes,
                     size_t symbol_nbytes);

/* Symbols that are left of a regular file; UINT64_MAX for another. */
uint64_t input_file_n_symbols(const struct input_file *file);

/* Leaves only n symbols from one on, fewer where the file ends before; UINT64_MAX: all. Of a regular file counts from
 * its start, of a pipe reads what is before. *n_skipped is less than `first` where the file ends before it. */
bool input_file_select(struct input_file *file, uint64_t first, uint64_t n_symbols, uint64_t *n_skipped);

/* Fills the buffer; *n_read is smaller only at the end, before a failure, or with is_busy(). False without a message
 * when stop_fd ends it. */
bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* The next read gives these n bytes again; nothing is read ahead already. */
bool input_file_put_back(struct input_file *file, const void *bytes, size_t n);

/* Whether nothing comes any more. */
bool input_file_is_at_end(const struct input_file *file);

/* Whether so many bytes of the file are whole values; says so if not. */
bool input_file_is_whole(const struct input_file *file, uint64_t nbytes);

void input_file_close(struct input_file *file);

#endif
