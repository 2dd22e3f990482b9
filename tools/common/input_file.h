/* SPDX-License-Identifier: MIT */
/* A file, FIFO or standard input ("-") that is read from here to its end, or a part of it. Failures are reported on
 * standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_INPUT_FILE_H
#define SOFTQAM_TOOLS_COMMON_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is no file. */
struct input_file {
    const char *name; /* as messages call it */
    int fd;           /* 0 for none: the standard streams are never closed, and their copies are read */
    int64_t nbytes;   /* what a regular file holds from here on; -1 where that is not known beforehand */
    uint64_t limit;   /* reading ends after so many bytes; UINT64_MAX for none */
    uint64_t n_read;
    int stop_fd;          /* when it is readable, waiting for the next bytes is over; 0 for none */
    unsigned char *ahead; /* bytes that input_file_peek() has read of a pipe; NULL for none */
    size_t n_ahead, n_ahead_taken;
};

bool input_file_open(struct input_file *file, const char *path);

/* Leaves only nbytes from an offset on, both from the next byte: fewer where the file ends before; UINT64_MAX: all. Of
 * a pipe reads what is before. *n_skipped is less than the offset where the file ends before it. */
bool input_file_select(struct input_file *file, uint64_t offset, uint64_t nbytes, uint64_t *n_skipped);

/* Fills the buffer; *n_read is smaller than nbytes only at the end of the input, which for a regular file is not before
 * the size that it had. False without a message when stop_fd ends it. */
bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Who takes what input_file_read_available() reads. */
struct input_taker {
    bool (*is_busy)(void *context); /* whether there is time to wait for more */
    void *context;
};

/* The same, but does not wait for what fills the buffer: when a pipe pauses after `least` bytes or more, or has been
 * read from for some milliseconds, they are what is read, unless the taker is busy. *is_end says whether nothing comes
 * after them. */
bool input_file_read_available(struct input_file *file, void *buffer, size_t nbytes, size_t least,
                               const struct input_taker *taker, size_t *n_read, bool *is_end);

/* The next bytes, which input_file_read() will read all the same. Once only, before any. */
bool input_file_peek(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Whether so many bytes of the file are whole items (a noun) of item_nbytes; says so if not. */
bool input_file_is_whole(const struct input_file *file, uint64_t nbytes, const char *item, size_t item_nbytes);

void input_file_close(struct input_file *file);

#endif
