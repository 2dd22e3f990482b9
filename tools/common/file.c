/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "message.h"

static int number_after(const char *path, const char *prefix)
{
    const size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0)
        return -1;
    const char *digits = path + length;
    const unsigned long number = strtoul(digits, NULL, 10);
    return *digits && !digits[strspn(digits, "0123456789")] && number <= INT_MAX ? (int)number : -1;
}

int file_name_descriptor(const char *path, int standard)
{
    static const char *const streams[] = {
        [STDIN_FILENO] = "/dev/stdin", [STDOUT_FILENO] = "/dev/stdout", [STDERR_FILENO] = "/dev/stderr"};
    if (!strcmp(path, "-"))
        return standard;
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (!strcmp(path, streams[fd]))
            return fd;
    const int number = number_after(path, "/dev/fd/");
    return number >= 0 ? number : number_after(path, "/proc/self/fd/");
}

/* Returns the name of a file in messages. */
static const char *file_name_shown(const char *path, int standard)
{
    if (strcmp(path, "-") != 0)
        return path;
    return standard == STDIN_FILENO ? "standard input" : "standard output";
}

bool input_file_open(struct input_file *file, const char *path, const char *item, size_t item_nbytes,
                     size_t symbol_nbytes)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    char byte;
    *file = (struct input_file){.name = file_name_shown(path, STDIN_FILENO),
                                .item = item,
                                .item_nbytes = item_nbytes,
                                .symbol_nbytes = symbol_nbytes,
                                .n_left = UINT64_MAX};
    file->fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &file->status))
        return message_print_errno(file->name);
    errno = EBADF;
    if (fcntl(file->fd, F_GETFL) & (O_WRONLY | O_PATH)) /* reading an empty file would not show this */
        return message_print_errno(file->name);
    file->start = lseek(file->fd, 0, SEEK_CUR);
    /* Files in /proc have a size of 0, but can be read. */
    file->is_regular = S_ISREG(file->status.st_mode) && file->start >= 0 &&
                       (file->status.st_size > 0 || pread(file->fd, &byte, 1, file->start) < 1);
    if (file->is_regular)
        file->n_left = file->status.st_size > file->start ? (uint64_t)(file->status.st_size - file->start) : 0;
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return true;
}

uint64_t input_file_n_symbols(const struct input_file *file)
{
    return file->is_regular ? file->n_left / file->symbol_nbytes : UINT64_MAX;
}

bool input_file_skip(struct input_file *file, uint64_t nbytes, uint64_t *n_skipped)
{
    unsigned char buffer[1 << 14];
    uint64_t left = nbytes;
    if (file->is_regular) {
        left -= nbytes < file->n_left ? nbytes : file->n_left;
        file->start += (off_t)(nbytes - left);
        file->n_left -= nbytes - left;
        if (lseek(file->fd, file->start, SEEK_SET) < 0)
            return message_print_errno(file->name);
    }
    while (!file->is_regular && left > 0 && !input_file_is_at_end(file)) {
        size_t n = left < sizeof buffer ? (size_t)left : sizeof buffer;
        if (!input_file_read(file, buffer, n, &n))
            return false;
        left -= n;
    }
    *n_skipped = nbytes - left;
    return true;
}

/* Returns the bytes of n symbols, at most UINT64_MAX. */
static uint64_t symbols_nbytes(const struct input_file *file, uint64_t n_symbols)
{
    uint64_t nbytes;
    return __builtin_mul_overflow(n_symbols, file->symbol_nbytes, &nbytes) ? UINT64_MAX : nbytes;
}

bool input_file_select(struct input_file *file, uint64_t first, uint64_t n_symbols, uint64_t *n_skipped)
{
    const uint64_t nbytes = symbols_nbytes(file, n_symbols);
    if (!input_file_skip(file, symbols_nbytes(file, first), n_skipped))
        return false;
    *n_skipped /= file->symbol_nbytes;
    if (nbytes == UINT64_MAX)
        return true;
    file->n_ahead = nbytes < file->n_ahead ? (size_t)nbytes : file->n_ahead;
    file->n_left = nbytes - file->n_ahead < file->n_left ? nbytes - file->n_ahead : file->n_left;
    return true;
}

/* Returns whether a pipe has more data, or a writer that may add some. */
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

/* Waits for the next data of a pipe. Returns whether the reader was told to stop. */
static bool is_stopped(const struct input_file *file)
{
    struct pollfd polled[2] = {{.fd = file->fd, .events = POLLIN}, {.fd = file->stop_fd, .events = POLLIN}};
    while (poll(polled, 2, -1) < 0 && errno == EINTR)
        continue;
    return polled[1].revents != 0;
}

/* Returns whether a read or write that failed is to be tried again. A descriptor that another process made non-blocking
 * is waited for first. */
static bool is_tried_again(int fd, short events)
{
    struct pollfd polled = {.fd = fd, .events = events};
    if (errno == EAGAIN)
        return poll(&polled, 1, -1) > 0 || errno == EINTR;
    return errno == EINTR;
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
        if (n < 0 && !is_tried_again(file->fd, POLLIN))
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
    /* An incomplete unit is kept until its rest comes. */
    const size_t rest = file->unit_nbytes > 0 && file->n_left > 0 ? *n_read % file->unit_nbytes : 0;
    *n_read -= rest;
    return rest == 0 || input_file_put_back(file, bytes + *n_read, rest);
}

bool input_file_put_back(struct input_file *file, const void *bytes, size_t n)
{
    if (file->is_regular) {
        file->n_left += n;
        return lseek(file->fd, -(off_t)n, SEEK_CUR) >= 0 || message_print_errno(file->name);
    }
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

/* The temporary names that exist, for the signal handler: static storage, because the handler may run in any thread
 * while another one gives a file up. */
struct output_pending {
    atomic_bool exists;
    char path[PATH_MAX];
};

static struct output_pending pending_files[OUTPUT_FILE_MAX];

enum { MAX_NAMES = 1000 };

static void remove_pending_and_die(int number)
{
    for (size_t i = 0; i < sizeof pending_files / sizeof pending_files[0]; i++)
        if (atomic_load(&pending_files[i].exists))
            unlink(pending_files[i].path);
    message_clear_transient();
    /* SA_RESETHAND has restored the default, but ThreadSanitizer calls this function with all signals blocked. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    raise(number);
    /* A container's first process is still running. */
    _exit(128 + number);
}

/* Catches all signals that would end the process, except those that it was started to ignore (nohup). */
static void catch_deadly_signals(void)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH};
    const struct sigaction caught = {.sa_handler = remove_pending_and_die, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    for (int number = 1; number < NSIG; number++) {
        struct sigaction before;
        bool is_caught = !sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            is_caught = is_caught && number != others[i];
        if (is_caught)
            sigaction(number, &caught, NULL);
    }
}

static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Returns the path that the finished file gets, with symbolic links followed; NULL after a failure. */
static char *find_target(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX], target[2 * PATH_MAX];
    const int start = directory_length(path); /* where the file's name begins */
    if (realpath(path, real))
        return strdup(real);
    if (errno != ENOENT || readlink(path, folder, sizeof folder) >= 0)
        return NULL;
    snprintf(folder, sizeof folder, "%.*s.", start, path);
    if (!realpath(folder, real))
        return NULL;
    snprintf(target, sizeof target, "%s/%s", real, path + start);
    return strdup(target);
}

static struct output_pending *free_entry(void)
{
    struct output_pending *entry = pending_files;
    while (atomic_load(&entry->exists))
        entry++;
    return entry;
}

/* Makes a temporary file. Its name does not contain the target's, which may have the greatest length already. The name
 * is listed before the file is made, so that no signal leaves one behind. */
static bool create_temporary(struct output_file *file)
{
    struct output_pending *entry = free_entry();
    errno = EEXIST;
    for (int i = 0; i < MAX_NAMES && errno == EEXIST; i++) {
        snprintf(entry->path, sizeof entry->path, "%.*s.softqam-%ld-%d.tmp", directory_length(file->target),
                 file->target, (long)getpid(), i);
        atomic_store(&entry->exists, true);
        file->fd = open(entry->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0) {
            file->pending = entry;
            return true;
        }
        atomic_store(&entry->exists, false);
    }
    return false;
}

/* Gives a file the mode of the one that it replaces, and its owner and group if that is allowed. Nobody must gain
 * access. So the group gets the rights of others if the group changes, or if there was an access control list: then the
 * group's bits were the list's mask. */
static bool keep_access(int fd, const char *path, const struct stat *replaced)
{
    static const char acl[] = "system.posix_acl_access";
    const bool lost_group = fchown(fd, replaced->st_uid, replaced->st_gid) && fchown(fd, (uid_t)-1, replaced->st_gid);
    mode_t mode = replaced->st_mode & 0777;
    fremovexattr(fd, acl); /* a list that the folder's default gave it */
    if (lost_group || getxattr(path, acl, NULL, 0) > 0)
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    return !fchmod(fd, mode);
}

static bool open_temporary(struct output_file *file)
{
    catch_deadly_signals();
    file->target = find_target(file->name);
    return file->target && create_temporary(file) &&
           (!file->replaces || keep_access(file->fd, file->name, &file->status));
}

bool output_file_find(struct output_file *file, const char *path, bool is_new)
{
    const int given_fd = file_name_descriptor(path, STDOUT_FILENO);
    *file = (struct output_file){.name = file_name_shown(path, STDOUT_FILENO), .is_new = is_new, .given_fd = given_fd};
    return !(given_fd >= 0 ? fstat(given_fd, &file->status) : stat(path, &file->status)) ||
           (given_fd < 0 && *path && errno == ENOENT) || message_print_errno(file->name);
}

/* Opens what the name stands for, or a temporary file. A file that may not be written is not replaced either, though
 * its folder would allow that. */
static bool create_by_kind(struct output_file *file)
{
    const mode_t mode = file->status.st_mode; /* 0: no file yet */
    file->replaces = S_ISREG(mode);
    if (file->given_fd >= 0 || (mode && !file->replaces)) {
        file->fd = file->given_fd >= 0 ? fcntl(file->given_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                       : open(file->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        return file->fd >= 0;
    }
    errno = EEXIST;
    return (!file->replaces || (!file->is_new && !faccessat(AT_FDCWD, file->name, W_OK, AT_EACCESS))) &&
           open_temporary(file);
}

bool output_file_create(struct output_file *file)
{
    const char *name = file->name;
    if (create_by_kind(file))
        return true;
    const int cause = errno;
    output_file_end(file, false);
    errno = cause;
    return cause == EEXIST ? message_print(name, "is there already, and --no-clobber keeps it")
                           : message_print_errno(name);
}

bool output_file_open(struct output_file *file, const char *path, bool is_new)
{
    return output_file_find(file, path, is_new) && output_file_create(file);
}

const char *output_file_temporary(const struct output_file *file) { return file->pending ? file->pending->path : NULL; }

bool output_file_join(struct output_file *file, const char *name, const char *temporary)
{
    struct output_pending *entry = free_entry();
    snprintf(entry->path, sizeof entry->path, "%s", temporary);
    atomic_store(&entry->exists, true);
    catch_deadly_signals();
    *file = (struct output_file){.name = name, .target = strdup(temporary), .given_fd = -1};
    file->fd = open(temporary, O_WRONLY | O_CLOEXEC);
    return (file->target && file->fd >= 0) || message_print_errno(name);
}

bool output_file_write(struct output_file *file, const void *data, size_t nbytes)
{
    for (const char *bytes = data; nbytes > 0;) {
        const ssize_t n = write(file->fd, bytes, nbytes);
        if (n < 0 && !is_tried_again(file->fd, POLLOUT))
            return message_print_errno(file->name);
        bytes += n > 0 ? n : 0;
        nbytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool output_file_finish(struct output_file *file)
{
    const bool synced = !file->target || !fsync(file->fd);
    const int fd = file->fd;
    file->fd = 0;
    return (!close(fd) && synced) || message_print_errno(file->name);
}

static void forget_name(struct output_file *file)
{
    atomic_store(&file->pending->exists, false);
    file->pending = NULL;
}

/* Gives the finished file its name. A file system that cannot rename a file only if the name is free, such as NFS, says
 * that the flag is invalid; there a link does. */
static bool take_name(const struct output_file *file)
{
    const char *temporary = file->pending->path;
    if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, file->target, file->is_new ? RENAME_NOREPLACE : 0))
        return true;
    return file->is_new && errno == EINVAL && !link(temporary, file->target) && !unlink(temporary);
}

bool output_file_publish(struct output_file *file)
{
    if (!file->target)
        return true;
    file->published = take_name(file);
    if (!file->published)
        return message_print_errno(file->name);
    forget_name(file);
    return true;
}

void output_file_end(struct output_file *file, bool keep)
{
    if (!keep && file->fd > 0)
        close(file->fd);
    if (!keep && file->pending) {
        unlink(file->pending->path);
        forget_name(file);
    } else if (!keep && file->target && file->published && !file->replaces) {
        unlink(file->target);
    }
    free(file->target);
    memset(file, 0, sizeof *file);
}

bool output_file_check_terminal(const struct output_file *file)
{
    return !isatty(file->fd) ||
           message_print(file->name, "a terminal, which binary data may upset; redirect it, or name a file");
}

bool output_file_is(const struct output_file *file, const struct stat *other)
{
    return S_ISREG(file->status.st_mode) && file->status.st_dev == other->st_dev &&
           file->status.st_ino == other->st_ino;
}

bool output_file_is_same(const struct output_file *file, const struct output_file *other)
{
    return (file->given_fd >= 0 && file->given_fd == other->given_fd) ||
           (file->target && other->target && !strcmp(file->target, other->target)) ||
           output_file_is(file, &other->status);
}
