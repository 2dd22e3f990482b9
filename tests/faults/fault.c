/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched.h */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

static atomic_bool armed;
static atomic_ulong n_calls;
static unsigned long fails_at;
static fault_kind kind;
static _Atomic(const char *) struck;
static atomic_bool is_lost;
static atomic_long live_blocks;
static atomic_long live_threads;
static _Thread_local int cuda_depth;

void fault_arm(unsigned long number, fault_kind how)
{
    fails_at = number;
    kind = how;
    atomic_store(&n_calls, 0);
    atomic_store(&struck, NULL);
    atomic_store(&is_lost, false);
    atomic_store(&armed, true);
}

void fault_disarm(void) { atomic_store(&armed, false); }

const char *fault_struck(void) { return atomic_load(&struck); }

long fault_live_blocks(void) { return atomic_load(&live_blocks); }

long fault_live_threads(void) { return atomic_load(&live_threads); }

static bool count_call(const char *function)
{
    if (!atomic_load(&armed) || cuda_depth > 0)
        return false;
    const unsigned long n = atomic_fetch_add(&n_calls, 1) + 1;
    if (n == fails_at)
        atomic_store(&struck, function);
    return n == fails_at;
}

void fault_enter_cuda(void) { cuda_depth++; }

void fault_leave_cuda(void) { cuda_depth--; }

__attribute__((weak)) void fault_lose_device(void) {}

bool fault_device_is_lost(void) { return atomic_load(&is_lost) && atomic_load(&armed) && cuda_depth == 0; }

bool fault_is_due_in_cuda(const char *function)
{
    const bool is_due = count_call(function);
    if (is_due && kind == FAULT_LASTING) {
        atomic_store(&is_lost, true);
        fault_enter_cuda();
        fault_lose_device();
        fault_leave_cuda();
    }
    return is_due || fault_device_is_lost();
}

static bool fails(const char *function, int error)
{
    const bool is_due = (kind == FAULT_ERROR || kind == FAULT_LASTING) && count_call(function);
    if (is_due)
        errno = error;
    return is_due;
}

/* For a call that may be interrupted, or transfer less than `nbytes`, which is then set. */
static bool fails_or_falls_short(const char *function, int error, size_t *nbytes)
{
    if (kind == FAULT_INTERRUPT) {
        errno = EINTR;
        return count_call(function);
    }
    if (kind == FAULT_SHORT) {
        if (*nbytes > 1 && count_call(function))
            *nbytes = 1;
        return false;
    }
    return fails(function, error);
}

static void *note_block(void *block)
{
    if (block && cuda_depth == 0)
        atomic_fetch_add(&live_blocks, 1);
    return block;
}

/* Declares a wrapper and the function that it wraps, by the names that the linker's --wrap gives them. */
#define WRAP(type, name, parameters)                                                                                   \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters

/* Defines a wrapper that fails with a value and an errno. */
#define WRAP_FAILING(type, name, parameters, arguments, value, error)                                                  \
    WRAP(type, name, parameters) { return fails(#name, error) ? (value) : __real_##name arguments; }

/* Defines a wrapper that does its work and then fails, as close() does if data could not be written; else it would
 * leak. */
#define WRAP_FAILING_LATE(type, name, parameters, arguments, value, error)                                             \
    WRAP(type, name, parameters)                                                                                       \
    {                                                                                                                  \
        const type result = __real_##name arguments;                                                                   \
        return fails(#name, error) ? (value) : result;                                                                 \
    }

#define WRAP_TRANSFER(name, parameters, arguments, error)                                                              \
    WRAP(ssize_t, name, parameters)                                                                                    \
    {                                                                                                                  \
        return fails_or_falls_short(#name, error, &nbytes) ? -1 : __real_##name arguments;                             \
    }

#define WRAP_ALLOCATION(name, parameters, arguments)                                                                   \
    WRAP(void *, name, parameters) { return fails(#name, ENOMEM) ? NULL : note_block(__real_##name arguments); }

WRAP_ALLOCATION(malloc, (size_t nbytes), (nbytes))
WRAP_ALLOCATION(calloc, (size_t n, size_t nbytes), (n, nbytes))
WRAP_ALLOCATION(strdup, (const char *text), (text))

WRAP(void *, realloc, (void *block, size_t nbytes))
{
    if (fails("realloc", ENOMEM))
        return NULL;
    void *moved = __real_realloc(block, nbytes);
    return block ? moved : note_block(moved);
}

WRAP(void, free, (void *block))
{
    if (block && cuda_depth == 0)
        atomic_fetch_sub(&live_blocks, 1);
    __real_free(block);
}

WRAP_FAILING(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode), -1, EMFILE)
WRAP_TRANSFER(read, (int fd, void *to, size_t nbytes), (fd, to, nbytes), EIO)
WRAP_TRANSFER(write, (int fd, const void *from, size_t nbytes), (fd, from, nbytes), ENOSPC)
WRAP_FAILING_LATE(int, close, (int fd), (fd), -1, EIO)
WRAP_FAILING(off64_t, lseek64, (int fd, off64_t offset, int whence), (fd, offset, whence), -1, EIO)
WRAP_FAILING(int, fstat64, (int fd, struct stat64 *status), (fd, status), -1, EIO)
WRAP_FAILING(int, stat64, (const char *path, struct stat64 *status), (path, status), -1, EIO)
WRAP_FAILING(int, faccessat, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags), -1,
             EACCES)
WRAP_FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
WRAP_FAILING(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1, EPERM)
WRAP_FAILING(ssize_t, getxattr, (const char *path, const char *name, void *to, size_t nbytes), (path, name, to, nbytes),
             -1, ERANGE)
WRAP_FAILING(int, fremovexattr, (int fd, const char *name), (fd, name), -1, ENOTSUP)
WRAP_FAILING(ssize_t, readlink, (const char *path, char *to, size_t nbytes), (path, to, nbytes), -1, EIO)
WRAP_FAILING(char *, realpath, (const char *path, char *to), (path, to), NULL, EACCES)
WRAP_FAILING(int, renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags),
             (from_at, from, to_at, to, flags), -1, EINVAL)
WRAP_FAILING(int, fsync, (int fd), (fd), -1, EIO)
WRAP_FAILING_LATE(int, unlink, (const char *path), (path), -1, EIO)
WRAP_FAILING(int, fputs, (const char *text, FILE *file), (text, file), EOF, ENOSPC)
WRAP_FAILING_LATE(int, fclose, (FILE * file), (file), EOF, ENOSPC)
WRAP_FAILING(int, sched_getaffinity, (pid_t pid, size_t nbytes, cpu_set_t *set), (pid, nbytes, set), -1, EINVAL)

WRAP_FAILING(int, poll, (struct pollfd * descriptors, nfds_t n, int timeout), (descriptors, n, timeout), -1, ENOMEM)
WRAP_FAILING(int, access, (const char *path, int mode), (path, mode), -1, EACCES)
WRAP_FAILING(int, eventfd, (unsigned initial, int flags), (initial, flags), -1, EMFILE)

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument))
{
    if (fails("pthread_create", errno))
        return EAGAIN;
    const int error = __real_pthread_create(thread, attributes, start, argument);
    if (!error && cuda_depth == 0)
        atomic_fetch_add(&live_threads, 1);
    return error;
}

/* glibc allocates for it. */
WRAP_FAILING(int, pthread_setaffinity_np, (pthread_t thread, size_t nbytes, const cpu_set_t *set),
             (thread, nbytes, set), EINVAL, errno)
/* It fails as while another thread holds the lock. */
WRAP_FAILING(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), EBUSY, errno)

/* Cannot fail if it is used rightly, so it only counts. */
WRAP(int, pthread_join, (pthread_t thread, void **result))
{
    if (cuda_depth == 0)
        atomic_fetch_sub(&live_threads, 1);
    return __real_pthread_join(thread, result);
}

/* Descriptors that are open, the standard ones aside. */
static int count_descriptors(void)
{
    int n = 0;
    for (int fd = STDERR_FILENO + 1; fd < FD_SETSIZE; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void report(void)
{
    fault_disarm();
    const int descriptors = count_descriptors();
    FILE *file = fopen(getenv("SOFTQAM_FAULT_REPORT"), "w");
    if (file) {
        fprintf(file, "failed %s, blocks %ld, threads %ld, descriptors %d\n", struck ? struck : "none", live_blocks,
                live_threads, descriptors);
        fclose(file);
    }
}

/* Before main(), so that its first call counts too. */
__attribute__((constructor)) static void arm_from_environment(void)
{
    static const char *const kinds[] = {"error", "lasting", "interrupt", "short"};
    const char *number = getenv("SOFTQAM_FAULT_AT"), *how = getenv("SOFTQAM_FAULT_KIND");
    if (!number || !getenv("SOFTQAM_FAULT_REPORT"))
        return;
    int chosen = FAULT_ERROR;
    while (how && chosen < FAULT_SHORT && strcmp(how, kinds[chosen]) != 0)
        chosen++;
    atexit(report);
    fault_arm(strtoul(number, NULL, 10), (fault_kind)chosen);
}
