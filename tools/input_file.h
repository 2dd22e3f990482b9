/* SPDX-License-Identifier: MIT */
/* A file, FIFO or standard input ("-") that is read from here to its end. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_INPUT_FILE_H
#define SOFTQAM_TOOLS_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_file {
    const char *name; /* as messages call it */
    int fd;
    int64_t nbytes; /* what a regular file holds from here on; -1 where that is not known beforehand */
};

bool input_file_open(struct input_file *file, const char *path);

/* Fills the buffer; *n_read is smaller than nbytes only at the end of the input. */
bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read);

/* Whether so many bytes of the file are whole items (a noun) of item_nbytes; says so if not. */
bool input_file_is_whole(const struct input_file *file, uint64_t nbytes, const char *item, size_t item_nbytes);

void input_file_close(struct input_file *file);

#endif
