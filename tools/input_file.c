/* SPDX-License-Identifier: MIT */
#include "input_file.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t remaining_nbytes(int fd, const struct stat *status)
{
    const off_t position = lseek(fd, 0, SEEK_CUR);
    if (!S_ISREG(status->st_mode) || position < 0)
        return -1;
    return status->st_size > position ? status->st_size - position : 0;
}

bool input_file_open(struct input_file *file, const char *path)
{
    const bool is_stdin = !strcmp(path, "-");
    struct stat status;
    file->name = is_stdin ? "standard input" : path;
    file->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &status)) {
        message_print_errno(file->name);
        return false;
    }
    file->nbytes = remaining_nbytes(file->fd, &status);
    return true;
}

bool input_file_read(struct input_file *file, void *buffer, size_t nbytes, size_t *n_read)
{
    *n_read = 0;
    while (*n_read < nbytes) {
        const ssize_t n = read(file->fd, (char *)buffer + *n_read, nbytes - *n_read);
        if (n == 0)
            break;
        if (n > 0) {
            *n_read += (size_t)n;
        } else if (errno != EINTR) {
            message_print_errno(file->name);
            return false;
        }
    }
    return true;
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
