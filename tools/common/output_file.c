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

enum { MAX_LINKS = 40, MAX_NAMES = 1000, DESCRIPTOR_PATH_NBYTES = 32, MIN_SYNC_NBYTES = 1 << 20 };

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

static void block_deadly_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int number = 1; number < NSIG; number++)
        if (is_deadly(number))
            sigaddset(&set, number);
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

static void close_file(struct output_file *file)
{
    if (file->name && file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* By which a file without a name is reached. */
static void descriptor_path(int fd, char path[DESCRIPTOR_PATH_NBYTES])
{
    snprintf(path, DESCRIPTOR_PATH_NBYTES, "/proc/self/fd/%d", fd);
}

/* Whether the file system of the target has such files, and there is /proc to give them a name by. */
static bool create_unnamed(struct output_file *file)
{
    char folder[PATH_MAX], path[DESCRIPTOR_PATH_NBYTES];
    if (snprintf(folder, sizeof folder, "%.*s.", directory_length(file->target), file->target) >= (int)sizeof folder)
        return false;
    file->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return false;
    descriptor_path(file->fd, path);
    if (!access(path, F_OK))
        return true;
    close_file(file);
    return false;
}

/* Gives a file without a name one that nobody has. */
static bool link_unnamed(const struct output_file *file, const char *path)
{
    char unnamed[DESCRIPTOR_PATH_NBYTES];
    descriptor_path(file->fd, unnamed);
    return !linkat(AT_FDCWD, unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* Makes a file with such a name, or gives it to the one that there is. */
static bool take_name(struct output_file *file, const char *path)
{
    if (file->fd >= 0)
        return link_unnamed(file, path);
    file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file->fd >= 0;
}

/* A temporary name. It says nothing of the target's, which may already be as long as names can be. */
static bool create_name(struct output_file *file)
{
    struct output_pending *entry = free_entry();
    for (int i = 0; i < MAX_NAMES; i++) {
        const int length = snprintf(entry->path, sizeof entry->path, "%.*s.softqam-%ld-%d.tmp",
                                    directory_length(file->target), file->target, (long)getpid(), i);
        if (length >= (int)sizeof entry->path) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (take_name(file, entry->path)) {
            atomic_store(&entry->exists, true);
            file->pending = entry;
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool create_temporary(struct output_file *file)
{
    return (!(file->how & OUTPUT_FILE_NAMED) && create_unnamed(file)) || create_name(file);
}

/* Attributes of the user's, and the access control list. *lost_acl says whether there is one that could not be kept. */
static bool copy_attributes(int fd, const char *path, bool *lost_acl)
{
    static const char acl[] = "system.posix_acl_access";
    char *names = malloc(XATTR_LIST_MAX + XATTR_SIZE_MAX);
    if (!names)
        return false;
    const ssize_t length = listxattr(path, names, XATTR_LIST_MAX);
    char *value = names + XATTR_LIST_MAX;
    *lost_acl = false;
    fremovexattr(fd, acl); /* by its folder's default */
    for (const char *name = names; name < names + length; name += strlen(name) + 1) {
        const bool is_acl = !strcmp(name, acl);
        if (!is_acl && strncmp(name, "user.", 5) != 0)
            continue;
        const ssize_t n = getxattr(path, name, value, XATTR_SIZE_MAX);
        if (n < 0 || fsetxattr(fd, name, value, (size_t)n, 0))
            *lost_acl = *lost_acl || is_acl;
    }
    free(names);
    return true;
}

/* Gives a file what the one has that it replaces. Nobody gains access: where the group, or a list whose mask the
 * group's bits are, cannot be kept, the group has what others have. */
static bool keep_access(int fd, const char *path, const struct stat *replaced)
{
    mode_t mode = replaced->st_mode & 0777;
    bool lost_acl;
    const bool lost_group = fchown(fd, replaced->st_uid, replaced->st_gid) && fchown(fd, (uid_t)-1, replaced->st_gid);
    if (!copy_attributes(fd, path, &lost_acl))
        return false;
    if (lost_group || lost_acl)
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    return !fchmod(fd, mode);
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
    return created && (!replaced || keep_access(file->fd, path, replaced));
}

static bool open_by_kind(struct output_file *file, const char *path)
{
    struct stat status;
    if (!stat(path, &status)) {
        if (S_ISREG(status.st_mode)) {
            errno = EEXIST;
            if (file->how & OUTPUT_FILE_NEW)
                return false;
            file->replaces = true;
            return open_temporary(file, path, &status);
        }
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0;
    }
    return *path && errno == ENOENT && open_temporary(file, path, NULL);
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
    const bool is_denied = cause == EACCES || cause == EROFS, is_missing = cause == ENOENT;
    const bool may_be_written = !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
    const bool by_folder =
        file->given_fd < 0 && ((is_denied && (may_be_written || errno == ENOENT)) || (is_missing && may_be_written));
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
            if (!message_reader_left())
                message_print_errno(file->name);
            return false;
        }
    }
    return true;
}

/* Waits for the disk, where that is wanted and there is one. */
static bool sync_data(const struct output_file *file)
{
    return !file->target || !(file->how & OUTPUT_FILE_SYNC) || !fsync(file->fd);
}

/* Errors of a close() come with that of any descriptor of the file; one that has no name must keep one open. */
static bool close_written(struct output_file *file)
{
    int fd = file->fd;
    if (file->target && !file->pending)
        fd = fcntl(file->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else
        file->fd = -1;
    return fd >= 0 && !close(fd);
}

bool output_file_finish(struct output_file *file)
{
    if (sync_data(file) && close_written(file))
        return true;
    message_print_errno(file->name);
    return false;
}

static void forget_name(struct output_file *file)
{
    atomic_store(&file->pending->exists, false);
    file->pending = NULL;
}

static bool rename_over(const struct output_file *file) { return !rename(file->pending->path, file->target); }

/* Some file systems can only link. */
static bool rename_new(const struct output_file *file)
{
    return !renameat2(AT_FDCWD, file->pending->path, AT_FDCWD, file->target, RENAME_NOREPLACE) ||
           (errno == EINVAL && !link(file->pending->path, file->target) && !unlink(file->pending->path));
}

/* The file takes its target's name. */
static bool take_target(struct output_file *file)
{
    const bool has_name = file->pending != NULL;
    if (!has_name && !file->replaces && link_unnamed(file, file->target))
        return true;
    if ((!has_name && !create_name(file)) || !(file->how & OUTPUT_FILE_NEW ? rename_new : rename_over)(file))
        return false;
    forget_name(file);
    return true;
}

static bool publish(struct output_file *file)
{
    if (!file->target)
        return true;
    if (!take_target(file)) {
        message_print_errno(file->name);
        return false;
    }
    file->published = true;
    return true;
}

/* The temporary file and the one that it replaces change names. False where there is none, or no file system for that.
 */
static bool exchange(struct output_file *file)
{
    return file->target && file->replaces && (file->pending || create_name(file)) &&
           !renameat2(AT_FDCWD, file->pending->path, AT_FDCWD, file->target, RENAME_EXCHANGE);
}

/* Removes the older file, which has the temporary name. */
static void end_exchange(struct output_file *file)
{
    unlink(file->pending->path);
    forget_name(file);
    file->published = true;
}

static bool publish_both(struct output_file *first, struct output_file *second)
{
    const bool exchanged = second->target && exchange(first);
    const bool published = (exchanged || publish(first)) && publish(second);
    if (exchanged && published)
        end_exchange(first);
    else if (exchanged)
        exchange(first);
    return published;
}

/* Without this a name that was taken can be lost with the power. A folder that may be written and not read is left. */
static void sync_folder(const struct output_file *file)
{
    char folder[PATH_MAX];
    if (!file->target || !(file->how & OUTPUT_FILE_SYNC))
        return;
    snprintf(folder, sizeof folder, "%.*s.", directory_length(file->target), file->target);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return;
    if (fd < 0 || fsync(fd))
        message_warn(file->name, "its folder could not be synced: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
}

bool output_file_publish(struct output_file *first, struct output_file *second)
{
    sigset_t before;
    block_deadly_signals(&before);
    const bool published = publish_both(first, second);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!published)
        return false;
    close_file(first);
    close_file(second);
    sync_folder(first);
    sync_folder(second);
    return true;
}

void output_file_discard(struct output_file *file)
{
    if (!file->name)
        return;
    close_file(file);
    if (file->pending) {
        unlink(file->pending->path);
        forget_name(file);
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

void output_file_end(struct output_file *file, bool keep) { (keep ? output_file_release : output_file_discard)(file); }

bool output_file_check_terminal(const char *path)
{
    struct stat status;
    const int given = file_name_descriptor(path, STDOUT_FILENO);
    if (file_name_stat(path, STDOUT_FILENO, &status) || !S_ISCHR(status.st_mode))
        return true;
    const int fd = given >= 0 ? given : open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const bool is_terminal = isatty(fd);
    if (given < 0 && fd >= 0)
        close(fd);
    if (is_terminal)
        message_print(file_name_shown(path, STDOUT_FILENO),
                      "a terminal, which binary data may upset; redirect it, or name a file");
    return !is_terminal;
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
