/* SPDX-License-Identifier: MIT */
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_name.h"
#include "message.h"

bool input_file_open(struct input_file *file, const char *path, const char *item, size_t item_nbytes,
                     size_t symbol_nbytes)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    *file = (struct input_file){.name = file_name_shown(path, STDIN_FILENO),
                                .item = item,
                                .item_nbytes = item_nbytes,
                                .symbol_nbytes = symbol_nbytes,
                                .n_left = UINT64_MAX};
    file->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &file->status))
        return message_print_errno(file->name);
    errno = EBADF;
    if (fcntl(file->fd, F_GETFL) & (O_WRONLY | O_PATH)) /* which nothing else shows if there is nothing to read */
        return message_print_errno(file->name);
    file->start = lseek(file->fd, 0, SEEK_CUR);
    file->is_regular = S_ISREG(file->status.st_mode) && file->start >= 0;
    if (file->is_regular)
        file->n_left = file->status.st_size > file->start ? (uint64_t)(file->status.st_size - file->start) : 0;
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return true;
}

uint64_t input_file_n_symbols(const struct input_file *file)
{
    return file->is_regular ? file->n_left / file->symbol_nbytes : UINT64_MAX;
}

bool input_file_select(struct input_file *file, uint64_t first, uint64_t n_symbols, uint64_t *n_skipped)
{
    const uint64_t offset = first * file->symbol_nbytes;
    const uint64_t nbytes = n_symbols < UINT64_MAX ? n_symbols * file->symbol_nbytes : UINT64_MAX;
    unsigned char buffer[1 << 14];
    uint64_t left = offset;
    if (file->is_regular) {
        file->n_left += file->n_ahead;
        file->n_ahead = 0;
        left -= offset < file->n_left ? offset : file->n_left;
        file->start += (off_t)(offset - left);
        file->n_left -= offset - left;
        if (lseek(file->fd, file->start, SEEK_SET) < 0)
            return message_print_errno(file->name);
    }
    while (!file->is_regular && left > 0 && !input_file_is_at_end(file)) {
        size_t n = left < sizeof buffer ? (size_t)left : sizeof buffer;
        if (!input_file_read(file, buffer, n, &n))
            return false;
        left -= n;
    }
    *n_skipped = (offset - left) / file->symbol_nbytes;
    file->n_left = nbytes < file->n_left ? nbytes : file->n_left;
    return true;
}

/* Whether a pipe has more, or somebody is busy until it has. */
static bool waits_for_more(const struct input_file *file)
{
    struct pollfd polled = {.fd = file->fd, .events = POLLIN};
    bool busy;
    do {
        busy = file->is_busy(file->busy);
        if (poll(&polled, 1, busy ? 1 : 0) != 0)
            return true;
    } while (busy);
    return false;
}

/* Waits for what a pipe has next. Whether that is over. */
static bool is_stopped(const struct input_file *file)
{
    struct pollfd polled[2] = {{.fd = file->fd, .events = POLLIN}, {.fd = file->stop_fd, .events = POLLIN}};
    while (poll(polled, 2, -1) < 0 && errno == EINTR)
        continue;
    return polled[1].revents != 0;
}

bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read)
{
    unsigned char *bytes = buffer;
    *n_read = file->n_ahead < nbytes ? file->n_ahead : nbytes;
    if (*n_read > 0) {
        file->n_ahead -= *n_read;
        memcpy(bytes, file->ahead, *n_read);
        memmove(file->ahead, file->ahead + *n_read, file->n_ahead);
    }
    while (*n_read < nbytes && file->n_left > 0) {
        if (file->is_busy && *n_read >= file->unit_nbytes && !waits_for_more(file))
            break;
        if (file->stop_fd > 0 && !file->is_regular && is_stopped(file))
            return false;
        const size_t wanted = nbytes - *n_read;
        const ssize_t n = read(file->fd, bytes + *n_read, wanted < file->n_left ? wanted : (size_t)file->n_left);
        if (n < 0 && errno != EINTR)
            return message_print_errno(file->name);
        if (n == 0 && file->is_regular)
            return message_print(file->name, "became shorter while it was read");
        if (n == 0)
            file->n_left = 0;
        if (n > 0) {
            *n_read += (size_t)n;
            file->n_left -= file->n_left < UINT64_MAX ? (uint64_t)n : 0;
        }
    }
    /* What is left of a unit comes with its rest. */
    const size_t rest = file->unit_nbytes > 0 && file->n_left > 0 ? *n_read % file->unit_nbytes : 0;
    *n_read -= rest;
    return rest == 0 || input_file_put_back(file, bytes + *n_read, rest);
}

bool input_file_put_back(struct input_file *file, const void *bytes, size_t n)
{
    unsigned char *ahead = realloc(file->ahead, n + 1);
    if (!ahead)
        return message_print(file->name, "out of memory");
    memcpy(ahead, bytes, n);
    file->ahead = ahead;
    file->n_ahead = n;
    return true;
}

bool input_file_is_at_end(const struct input_file *file) { return file->n_left == 0 && file->n_ahead == 0; }

bool input_file_is_whole(const struct input_file *file, uint64_t nbytes)
{
    const unsigned leftover = (unsigned)(nbytes % file->item_nbytes);
    return !leftover || message_print(file->name, "not a whole number of %ss: %u byte%s left over (a %s has %zu)",
                                      file->item, leftover, PLURAL(leftover), file->item, file->item_nbytes);
}

void input_file_close(struct input_file *file)
{
    if (file->fd > 0)
        close(file->fd);
    free(file->ahead);
    memset(file, 0, sizeof *file);
}
