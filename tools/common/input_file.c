/* SPDX-License-Identifier: MIT */
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file_name.h"
#include "message.h"

/* A pause in a pipe is what is longer than this. Shorter ones are those of a writer that is as fast as it can be, whose
 * bytes are best taken in large blocks. */
enum { PAUSE_MILLISECONDS = 1 };

/* What comes without a pause is not held back for longer than this. */
static const double max_held_seconds = 0.005;

bool input_file_open(struct input_file *file, const char *path)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    struct stat status;
    *file = (struct input_file){.name = file_name_shown(path, STDIN_FILENO), .limit = UINT64_MAX};
    file->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &status))
        return message_print_errno(file->name);
    const off_t position = lseek(file->fd, 0, SEEK_CUR);
    if (!S_ISREG(status.st_mode) || position < 0)
        file->nbytes = -1;
    else
        file->nbytes = status.st_size > position ? status.st_size - position : 0;
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return true;
}

/* What waiting came to. */
enum arrival { ARRIVED, NOT_YET, STOPPED };

/* Waits for something to read, or the end: no longer than so many milliseconds (-1: however long), nor than until
 * stop_fd is readable. */
static enum arrival wait_for_bytes(const struct input_file *file, int timeout)
{
    struct pollfd polled[2] = {{.fd = file->fd, .events = POLLIN}, {.fd = file->stop_fd, .events = POLLIN}};
    if (file->nbytes >= 0 || file->n_ahead_taken < file->n_ahead || (file->stop_fd <= 0 && timeout < 0))
        return ARRIVED;
    int n_ready;
    while ((n_ready = poll(polled, file->stop_fd > 0 ? 2 : 1, timeout)) < 0 && errno == EINTR)
        continue;
    if (n_ready == 0)
        return NOT_YET;
    return polled[1].revents ? STOPPED : ARRIVED;
}

/* As read(); first what was read ahead. */
static ssize_t read_bytes(struct input_file *file, void *buffer, size_t nbytes)
{
    const size_t n_ahead = file->n_ahead - file->n_ahead_taken;
    if (n_ahead == 0)
        return read(file->fd, buffer, nbytes);
    nbytes = nbytes < n_ahead ? nbytes : n_ahead;
    memcpy(buffer, file->ahead + file->n_ahead_taken, nbytes);
    file->n_ahead_taken += nbytes;
    return (ssize_t)nbytes;
}

/* Whether what has been read since `started` is not to wait for more. */
static bool is_enough(const struct input_file *file, enum arrival arrival, double started,
                      const struct input_taker *taker)
{
    return file->nbytes < 0 && arrival != STOPPED &&
           (arrival == NOT_YET || clock_seconds() - started > max_held_seconds) && !taker->is_busy(taker->context);
}

bool input_file_read_available(struct input_file *file, void *buffer, size_t nbytes, size_t least,
                               const struct input_taker *taker, size_t *n_read, bool *is_end)
{
    *n_read = 0;
    *is_end = false;
    if (nbytes > file->limit - file->n_read)
        nbytes = (size_t)(file->limit - file->n_read);
    double started = 0;
    while (*n_read < nbytes) {
        const enum arrival arrival = wait_for_bytes(file, *n_read < least ? -1 : PAUSE_MILLISECONDS);
        if (taker && *n_read >= least && is_enough(file, arrival, started, taker))
            return true;
        if (arrival == STOPPED)
            return false;
        if (arrival == NOT_YET)
            continue;
        const ssize_t n = read_bytes(file, (char *)buffer + *n_read, nbytes - *n_read);
        if (n == 0) {
            *is_end = true;
            return file->nbytes < 0 || file->n_read >= (uint64_t)file->nbytes ||
                   message_print(file->name,
                                 "became shorter while it was read: %" PRIu64 " bytes, but there were %" PRId64,
                                 file->n_read, file->nbytes);
        }
        if (n > 0) {
            if (*n_read == 0)
                started = clock_seconds();
            *n_read += (size_t)n;
            file->n_read += (size_t)n;
        } else if (errno != EINTR) {
            return message_print_errno(file->name);
        }
    }
    *is_end = file->n_read == file->limit;
    return true;
}

bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read)
{
    bool is_end;
    return input_file_read_available(file, buffer, nbytes, nbytes, NULL, n_read, &is_end);
}

bool input_file_select(struct input_file *file, uint64_t offset, uint64_t nbytes, uint64_t *n_skipped)
{
    unsigned char buffer[1 << 14];
    size_t n = 1;
    if (file->nbytes >= 0) {
        const uint64_t size = (uint64_t)file->nbytes;
        *n_skipped = offset < size ? offset : size;
        if (lseek(file->fd, (off_t)*n_skipped, SEEK_CUR) < 0)
            return message_print_errno(file->name);
        file->nbytes = (int64_t)(nbytes < size - *n_skipped ? nbytes : size - *n_skipped);
        if (nbytes < UINT64_MAX)
            file->limit = (uint64_t)file->nbytes;
        return true;
    }
    for (*n_skipped = 0; *n_skipped < offset && n > 0; *n_skipped += n) {
        const uint64_t left = offset - *n_skipped;
        if (!input_file_read(file, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer, &n))
            return false;
    }
    file->n_read = 0; /* counts from here on */
    file->limit = nbytes;
    return true;
}

bool input_file_peek(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read)
{
    const bool read = input_file_read(file, buffer, nbytes, n_read);
    file->n_read = 0;
    if (!read)
        return false;
    if (file->nbytes >= 0)
        return lseek(file->fd, -(off_t)*n_read, SEEK_CUR) >= 0 || message_print_errno(file->name);
    file->ahead = malloc(*n_read + 1);
    if (!file->ahead)
        return message_print(file->name, "out of memory");
    memcpy(file->ahead, buffer, *n_read);
    file->n_ahead = *n_read;
    return true;
}

bool input_file_is_whole(const struct input_file *file, uint64_t nbytes, const char *item, size_t item_nbytes)
{
    const unsigned leftover = (unsigned)(nbytes % item_nbytes);
    return !leftover || message_print(file->name, "not a whole number of %ss: %u byte%s left over (a %s has %u)", item,
                                      leftover, PLURAL(leftover), item, (unsigned)item_nbytes);
}

void input_file_close(struct input_file *file)
{
    if (file->fd > 0)
        close(file->fd);
    free(file->ahead);
    memset(file, 0, sizeof *file);
}
