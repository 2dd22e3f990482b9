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
#include <sys/xattr.h>
#include <unistd.h>

#include "file_name.h"
#include "message.h"

/* The temporary names that exist, for the signal handler: static storage, because the handler may run in any thread
 * while another one gives a file up. */
struct output_pending {
    atomic_bool exists;
    char path[PATH_MAX];
};

static struct output_pending pending_files[OUTPUT_FILE_MAX];

enum { MAX_LINKS = 40, MAX_NAMES = 1000, MIN_SYNC_NBYTES = 1 << 20 };

static void remove_pending_and_die(int number)
{
    for (size_t i = 0; i < sizeof pending_files / sizeof pending_files[0]; i++)
        if (atomic_load(&pending_files[i].exists))
            unlink(pending_files[i].path);
    message_clear_transient_in_signal();
    raise(number); /* SA_RESETHAND has restored the default */
}

/* Whether a signal ends a process that does not catch it, and can be caught. */
static bool is_deadly(int number)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH};
    size_t i = 0;
    while (i < sizeof others / sizeof others[0] && others[i] != number)
        i++;
    return i == sizeof others / sizeof others[0];
}

/* A signal that our parent ignores (nohup) stays ignored. */
static void catch_deadly_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (!is_deadly(number) || sigaction(number, NULL, &action) || action.sa_handler != SIG_DFL)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = remove_pending_and_die;
        action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
        sigaction(number, &action, NULL);
    }
}

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, before);
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

static void close_file(struct output_file *file)
{
    if (file->name && file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* A temporary name. It says nothing of the target's, which may already be as long as names can be. */
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

/* Gives a file the mode of the one that it replaces, and its owner and group where that is allowed. Nobody gains
 * access: where the group cannot be kept, or there was an access control list, whose mask the group's bits were, the
 * group has what others have. */
static bool keep_access(int fd, const char *path, const struct stat *replaced)
{
    static const char acl[] = "system.posix_acl_access";
    const bool lost_group = fchown(fd, replaced->st_uid, replaced->st_gid) && fchown(fd, (uid_t)-1, replaced->st_gid);
    mode_t mode = replaced->st_mode & 0777;
    fremovexattr(fd, acl); /* by its folder's default */
    if (lost_group || getxattr(path, acl, NULL, 0) > 0)
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    return !fchmod(fd, mode);
}

/* What is to appear: the path with symbolic links followed, those in the name of its folder too. NULL after a failure.
 */
static char *find_target(const char *path)
{
    char target[PATH_MAX], folder[PATH_MAX], real[PATH_MAX], found[2 * PATH_MAX];
    if (!follow_links(path, target))
        return NULL;
    const int length = directory_length(target);
    snprintf(folder, sizeof folder, "%.*s", length > 0 ? length : 1, length > 0 ? target : ".");
    if (!realpath(folder, real))
        return NULL;
    snprintf(found, sizeof found, "%s/%s", real, target + length);
    return strdup(found);
}

static bool open_temporary(struct output_file *file, const char *path, const struct stat *replaced)
{
    file->target = find_target(path);
    if (!file->target)
        return false;
    sigset_t before;
    block_signals(&before);
    catch_deadly_signals();
    const bool created = create_temporary(file);
    const int cause = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    return created && (!replaced || keep_access(file->fd, path, replaced));
}

/* A file that may not be written is not to be replaced either, though its folder would allow that. */
static bool open_by_kind(struct output_file *file, const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return *path && errno == ENOENT && open_temporary(file, path, NULL);
    if (!S_ISREG(status.st_mode)) {
        file->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        return file->fd >= 0;
    }
    errno = EEXIST;
    if ((file->how & OUTPUT_FILE_NEW) || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return false;
    file->replaces = true;
    return open_temporary(file, path, &status);
}

bool output_file_open(struct output_file *file, const char *path, unsigned how)
{
    memset(file, 0, sizeof *file);
    file->how = how;
    file->fd = -1;
    file->given_fd = file_name_descriptor(path, STDOUT_FILENO);
    file->name = file_name_shown(path, STDOUT_FILENO);
    if (file->given_fd >= 0)
        file->fd = fcntl(file->given_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file->given_fd >= 0 ? file->fd >= 0 : open_by_kind(file, path))
        return true;
    const int cause = errno;
    const bool by_folder = file->target && (cause == EACCES || cause == EROFS);
    output_file_discard(file);
    if (cause == EEXIST)
        message_print(path, "is there already, and --no-clobber keeps it");
    else
        message_print(file_name_shown(path, STDOUT_FILENO), "%s%s",
                      by_folder ? "no file can be made in its folder: " : "", strerror(cause));
    return false;
}

const char *output_file_temporary(const struct output_file *file) { return file->pending ? file->pending->path : NULL; }

void output_file_remove_on_signal(const char *temporary)
{
    struct output_pending *entry = free_entry();
    snprintf(entry->path, sizeof entry->path, "%s", temporary);
    atomic_store(&entry->exists, true);
    catch_deadly_signals();
}

/* The disk begins with what will be waited for in the end. Not for a few bytes, which it would get one by one. */
static void start_sync(const struct output_file *file, size_t nbytes)
{
    if (file->target && (file->how & OUTPUT_FILE_SYNC) && nbytes >= MIN_SYNC_NBYTES)
        sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

bool output_file_write(struct output_file *file, const void *data, size_t nbytes)
{
    const char *bytes = data;
    while (nbytes > 0) {
        const ssize_t n = write(file->fd, bytes, nbytes);
        if (n >= 0) {
            start_sync(file, (size_t)n);
            bytes += n;
            nbytes -= (size_t)n;
        } else if (errno != EINTR) {
            message_print_errno(file->name);
            return false;
        }
    }
    return true;
}

bool output_file_finish(struct output_file *file)
{
    const bool synced = !file->target || !(file->how & OUTPUT_FILE_SYNC) || !fsync(file->fd);
    const int fd = file->fd;
    file->fd = -1;
    if (!close(fd) && synced)
        return true;
    message_print_errno(file->name);
    return false;
}

static void forget_name(struct output_file *file)
{
    atomic_store(&file->pending->exists, false);
    file->pending = NULL;
}

/* Some file systems can only link. */
static bool rename_new(const struct output_file *file)
{
    return !renameat2(AT_FDCWD, file->pending->path, AT_FDCWD, file->target, RENAME_NOREPLACE) ||
           (errno == EINVAL && !link(file->pending->path, file->target) && !unlink(file->pending->path));
}

static bool take_target(struct output_file *file)
{
    if (!(file->how & OUTPUT_FILE_NEW ? rename_new(file) : !rename(file->pending->path, file->target)))
        return false;
    forget_name(file);
    file->published = true;
    return true;
}

/* Without this a name that was taken can be lost with the power. A folder that may be written and not read is left. */
static void sync_folder(const struct output_file *file)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s.", directory_length(file->target), file->target);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 ? errno != EACCES : fsync(fd) != 0)
        message_warn(file->name, "its folder could not be synced: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
}

bool output_file_publish(struct output_file *file)
{
    sigset_t before;
    if (!file->target)
        return true;
    block_signals(&before);
    const bool published = take_target(file);
    const int cause = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    if (!published)
        message_print_errno(file->name);
    else if (file->how & OUTPUT_FILE_SYNC)
        sync_folder(file);
    return published;
}

void output_file_discard(struct output_file *file)
{
    if (!file->name)
        return;
    close_file(file);
    if (file->pending) {
        unlink(file->pending->path);
        forget_name(file);
    } else if (file->target && file->published && !file->replaces) {
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

void output_file_end(struct output_file *file, bool keep) { (keep ? output_file_release : output_file_discard)(file); }

bool output_file_check_terminal(const struct output_file *file)
{
    if (!isatty(file->fd))
        return true;
    message_print(file->name, "a terminal, which binary data may upset; redirect it, or name a file");
    return false;
}

static bool find_status(const struct output_file *file, struct stat *status)
{
    return file->target ? !stat(file->target, status) : !fstat(file->fd, status);
}

bool output_file_is_same(const struct output_file *file, const struct output_file *other)
{
    struct stat status, other_status;
    if ((file->given_fd >= 0 && file->given_fd == other->given_fd) ||
        (file->target && other->target && !strcmp(file->target, other->target)))
        return true;
    return find_status(file, &status) && find_status(other, &other_status) && file_name_is_same(&status, &other_status);
}
