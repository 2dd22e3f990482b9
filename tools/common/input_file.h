/* SPDX-License-Identifier: MIT */
/* A file, FIFO or standard input ("-") that is read from here to its end, or a part of a regular file. Failures are
 * reported on standard error. */
#ifndef SOFTQAM_TOOLS_COMMON_INPUT_FILE_H
#define SOFTQAM_TOOLS_COMMON_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_file {
    const char *name; /* as messages call it */
    int fd;
    int64_t nbytes; /* what a regular file holds from here on; -1 where that is not known beforehand */
    bool is_part;   /* reading ends after nbytes, not at the end of the file */
    uint64_t n_read;
    int stop_fd; /* when it is readable, waiting for the next bytes is over; -1 for none */
};

bool input_file_open(struct input_file *file, const char *path);

/* Of a file whose size is known and of which nothing was read: so many bytes after the next `offset`. */
bool input_file_choose_part(struct input_file *file, uint64_t offset, uint64_t nbytes);

/* Fills the buffer; *n_read is smaller than nbytes only at the end of the input, which for a regular file is not before
 * the size that it had. False without a message when stop_fd ends it. */
bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Bytes at an offset of a regular file, which stays where it is for input_file_read(). */
bool input_file_read_at(const struct input_file *file, uint64_t offset, void *buffer, size_t nbytes, size_t *n_read);

/* Bytes from here on in a regular file, which stays where it is for input_file_read(). */
bool input_file_peek(const struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Bytes read of a regular file beyond those that it had when it was opened. */
uint64_t input_file_growth(const struct input_file *file);

/* Whether so many bytes of the file are whole items (a noun) of item_nbytes; says so if not. */
bool input_file_is_whole(const struct input_file *file, uint64_t nbytes, const char *item, size_t item_nbytes);

void input_file_close(struct input_file *file);

#endif
