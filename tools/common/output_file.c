/* SPDX-License-Identifier: MIT */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_name.h"
#include "message.h"

/* The temporary files that exist, for the signal handler: static storage, because the handler may run in any thread
 * while another one gives a file up. */
struct output_pending {
    atomic_bool exists;
    char path[PATH_MAX];
};

static struct output_pending pending_files[2];

static const int deadly_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
enum { N_DEADLY_SIGNALS = sizeof deadly_signals / sizeof deadly_signals[0], MAX_LINKS = 40, MAX_NAMES = 1000 };

static void remove_pending_and_die(int number)
{
    for (size_t i = 0; i < sizeof pending_files / sizeof pending_files[0]; i++)
        if (atomic_load(&pending_files[i].exists))
            unlink(pending_files[i].path);
    message_clear_transient_in_signal();
    raise(number); /* SA_RESETHAND has restored the default */
}

/* A signal that our parent ignores (nohup) stays ignored. */
static void catch_deadly_signals(void)
{
    for (int i = 0; i < N_DEADLY_SIGNALS; i++) {
        struct sigaction action;
        if (sigaction(deadly_signals[i], NULL, &action) || action.sa_handler != SIG_DFL)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = remove_pending_and_die;
        action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
        sigaction(deadly_signals[i], &action, NULL);
    }
}

static void block_deadly_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < N_DEADLY_SIGNALS; i++)
        sigaddset(&set, deadly_signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* The path with the symbolic links of its last part followed, whether or not there is a file at their end. */
static bool follow_links(const char *path, char target[PATH_MAX])
{
    char link[PATH_MAX], next[2 * PATH_MAX];
    int length = snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < MAX_LINKS && length < PATH_MAX; i++) {
        const ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0)
            return errno == EINVAL || errno == ENOENT;
        link[n] = '\0';
        snprintf(next, sizeof next, "%.*s%s", link[0] == '/' ? 0 : directory_length(target), target, link);
        length = snprintf(target, PATH_MAX, "%s", next);
    }
    errno = length < PATH_MAX ? ELOOP : ENAMETOOLONG;
    return false;
}

static struct output_pending *free_entry(void)
{
    struct output_pending *entry = pending_files;
    while (atomic_load(&entry->exists))
        entry++;
    return entry;
}

/* The name says nothing of the target's, which may already be as long as names can be. */
static bool create_temporary(struct output_file *file)
{
    struct output_pending *entry = free_entry();
    for (int i = 0; i < MAX_NAMES; i++) {
        const int length = snprintf(entry->path, sizeof entry->path, "%.*s.softqam-%ld-%d.tmp",
                                    directory_length(file->target), file->target, (long)getpid(), i);
        if (length >= (int)sizeof entry->path) {
            errno = ENAMETOOLONG;
            return false;
        }
        file->fd = open(entry->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0) {
            atomic_store(&entry->exists, true);
            file->pending = entry;
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool open_temporary(struct output_file *file, const char *path, const struct stat *replaced)
{
    char target[PATH_MAX];
    if (!follow_links(path, target) || !(file->target = strdup(target)))
        return false;
    /* A file that may not be written is not to be replaced either, though its directory would allow that. */
    if (replaced && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return false;
    sigset_t before;
    block_deadly_signals(&before);
    catch_deadly_signals();
    const bool created = create_temporary(file);
    const int cause = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    return created && (!replaced || !fchmod(file->fd, replaced->st_mode & 0777));
}

static bool open_by_kind(struct output_file *file, const char *path)
{
    struct stat status;
    if (!stat(path, &status)) {
        if (S_ISREG(status.st_mode)) {
            file->replaces = true;
            return open_temporary(file, path, &status);
        }
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0;
    }
    return *path && errno == ENOENT && open_temporary(file, path, NULL);
}

bool output_file_open(struct output_file *file, const char *path)
{
    memset(file, 0, sizeof *file);
    file->fd = -1;
    file->given_fd = file_name_descriptor(path, STDOUT_FILENO);
    file->name = file_name_shown(path, STDOUT_FILENO);
    if (file->given_fd >= 0)
        file->fd = fcntl(file->given_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file->given_fd >= 0 ? file->fd >= 0 : open_by_kind(file, path))
        return true;
    const int cause = errno;
    output_file_discard(file);
    errno = cause;
    message_print_errno(file_name_shown(path, STDOUT_FILENO));
    return false;
}

const char *output_file_temporary(const struct output_file *file)
{
    return file->pending ? file->pending->path : NULL;
}

void output_file_remove_on_signal(const char *temporary)
{
    struct output_pending *entry = free_entry();
    snprintf(entry->path, sizeof entry->path, "%s", temporary);
    atomic_store(&entry->exists, true);
    catch_deadly_signals();
}

bool output_file_write(struct output_file *file, const void *data, size_t nbytes)
{
    const char *bytes = data;
    while (nbytes > 0) {
        const ssize_t n = write(file->fd, bytes, nbytes);
        if (n >= 0) {
            bytes += n;
            nbytes -= (size_t)n;
        } else if (errno != EINTR) {
            if (!message_reader_left())
                message_print_errno(file->name);
            return false;
        }
    }
    return true;
}

bool output_file_finish(struct output_file *file)
{
    const int fd = file->fd;
    file->fd = -1;
    if (!close(fd))
        return true;
    message_print_errno(file->name);
    return false;
}

static bool publish(struct output_file *file)
{
    if (!file->pending)
        return true;
    if (rename(file->pending->path, file->target)) {
        message_print_errno(file->name);
        return false;
    }
    atomic_store(&file->pending->exists, false);
    file->pending = NULL;
    file->published = true;
    return true;
}

/* The temporary file and the one that it replaces change names. False where there is none, or no file system for that.
 */
static bool exchange(const struct output_file *file)
{
    return file->pending && file->replaces &&
           !renameat2(AT_FDCWD, file->pending->path, AT_FDCWD, file->target, RENAME_EXCHANGE);
}

/* Removes the older file, which has the temporary name. */
static void end_exchange(struct output_file *file)
{
    unlink(file->pending->path);
    atomic_store(&file->pending->exists, false);
    file->pending = NULL;
    file->published = true;
}

bool output_file_publish(struct output_file *first, struct output_file *second)
{
    sigset_t before;
    block_deadly_signals(&before);
    const bool exchanged = second->pending && exchange(first);
    const bool published = (exchanged || publish(first)) && publish(second);
    if (exchanged && published)
        end_exchange(first);
    else if (exchanged)
        exchange(first);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return published;
}

void output_file_discard(struct output_file *file)
{
    if (!file->name)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->pending) {
        unlink(file->pending->path);
        atomic_store(&file->pending->exists, false);
    } else if (file->published && !file->replaces) {
        unlink(file->target);
    }
    output_file_release(file);
}

void output_file_release(struct output_file *file)
{
    free(file->target);
    memset(file, 0, sizeof *file);
    file->fd = -1;
}

/* Where a file that is not there yet would be made: the directory, and the rest of the path. */
static bool find_place(const char *path, char target[PATH_MAX], struct stat *directory)
{
    char name[PATH_MAX + 1];
    if (!follow_links(path, target))
        return false;
    snprintf(name, sizeof name, "%.*s.", directory_length(target), target);
    return !stat(name, directory);
}

bool output_file_is_same(const char *path, const char *other)
{
    const int fd = file_name_descriptor(path, STDOUT_FILENO), other_fd = file_name_descriptor(other, STDOUT_FILENO);
    if (fd >= 0 && fd == other_fd)
        return true;
    struct stat status, other_status;
    const bool exists = !file_name_stat(path, STDOUT_FILENO, &status);
    const bool other_exists = !file_name_stat(other, STDOUT_FILENO, &other_status);
    if (exists || other_exists)
        return exists && other_exists && file_name_is_same(&status, &other_status);
    char target[PATH_MAX], other_target[PATH_MAX];
    return find_place(path, target, &status) && find_place(other, other_target, &other_status) &&
           status.st_dev == other_status.st_dev && status.st_ino == other_status.st_ino &&
           !strcmp(target + directory_length(target), other_target + directory_length(other_target));
}
