/* SPDX-License-Identifier: MIT */
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_name.h"
#include "message.h"

static int64_t remaining_nbytes(int fd, const struct stat *status)
{
    const off_t position = lseek(fd, 0, SEEK_CUR);
    if (!S_ISREG(status->st_mode) || position < 0)
        return -1;
    return status->st_size > position ? status->st_size - position : 0;
}

bool input_file_open(struct input_file *file, const char *path)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    struct stat status;
    memset(file, 0, sizeof *file);
    file->stop_fd = -1;
    file->name = file_name_shown(path, STDIN_FILENO);
    file->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &status)) {
        message_print_errno(file->name);
        return false;
    }
    file->nbytes = remaining_nbytes(file->fd, &status);
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return true;
}

bool input_file_choose_part(struct input_file *file, uint64_t offset, uint64_t nbytes)
{
    if (lseek(file->fd, (off_t)offset, SEEK_CUR) < 0) {
        message_print_errno(file->name);
        return false;
    }
    file->nbytes = (int64_t)nbytes;
    file->is_part = true;
    return true;
}

/* Whether there is something to read, or the end, before stop_fd is readable. */
static bool wait_for_bytes(const struct input_file *file)
{
    struct pollfd polled[2] = {{.fd = file->stop_fd, .events = POLLIN}, {.fd = file->fd, .events = POLLIN}};
    if (file->stop_fd < 0 || file->nbytes >= 0)
        return true;
    while (poll(polled, 2, -1) < 0 && errno == EINTR)
        continue;
    return !polled[0].revents;
}

static bool check_end(const struct input_file *file)
{
    if (file->nbytes < 0 || file->n_read >= (uint64_t)file->nbytes)
        return true;
    message_print(file->name, "became shorter while it was read: %" PRIu64 " bytes, but there were %" PRId64,
                  file->n_read, file->nbytes);
    return false;
}

bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read)
{
    *n_read = 0;
    if (file->is_part && nbytes > (uint64_t)file->nbytes - file->n_read)
        nbytes = (size_t)((uint64_t)file->nbytes - file->n_read);
    while (*n_read < nbytes) {
        if (!wait_for_bytes(file))
            return false;
        const ssize_t n = read(file->fd, (char *)buffer + *n_read, nbytes - *n_read);
        if (n == 0)
            return check_end(file);
        if (n > 0) {
            *n_read += (size_t)n;
            file->n_read += (size_t)n;
        } else if (errno != EINTR) {
            message_print_errno(file->name);
            return false;
        }
    }
    return true;
}

bool input_file_read_at(const struct input_file *file, uint64_t offset, void *buffer, size_t nbytes, size_t *n_read)
{
    ssize_t n = 1;
    for (*n_read = 0; *n_read < nbytes && n != 0; *n_read += n > 0 ? (size_t)n : 0) {
        n = pread(file->fd, (char *)buffer + *n_read, nbytes - *n_read, (off_t)(offset + *n_read));
        if (n < 0 && errno != EINTR) {
            message_print_errno(file->name);
            return false;
        }
    }
    return true;
}

bool input_file_peek(const struct input_file *file, void *buffer, size_t nbytes, size_t *n_read)
{
    return input_file_read_at(file, (uint64_t)lseek(file->fd, 0, SEEK_CUR), buffer, nbytes, n_read);
}

uint64_t input_file_growth(const struct input_file *file)
{
    return file->nbytes >= 0 && file->n_read > (uint64_t)file->nbytes ? file->n_read - (uint64_t)file->nbytes : 0;
}

bool input_file_is_whole(const struct input_file *file, uint64_t nbytes, const char *item, size_t item_nbytes)
{
    const unsigned leftover = (unsigned)(nbytes % item_nbytes);
    if (leftover)
        message_print(file->name, "not a whole number of %ss: %u byte%s left over (a %s has %u)", item, leftover,
                      PLURAL(leftover), item, (unsigned)item_nbytes);
    return !leftover;
}

void input_file_close(struct input_file *file)
{
    if (file->fd > STDERR_FILENO)
        close(file->fd);
    file->fd = -1;
}
