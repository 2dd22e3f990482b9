/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softqam/softqam.h>

enum { LINE_NBYTES = 2 * PATH_MAX };

static const char *program_name = "";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next three, and the order of lines */
static atomic_bool transient_on_screen;                   /* atomic, because a signal handler reads it too */
static bool holding;
static char held_line[LINE_NBYTES];
static atomic_uint n_warnings;

int message_failure = EXIT_FAILED;

/* Opens each closed standard stream for the wrong direction, so that its use still fails with EBADF. */
static void keep_standard_descriptors(void)
{
    static const int flags[3] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            _exit(EXIT_FAILED);
}

void message_start(const char *program)
{
    program_name = program;
    message_failure = EXIT_FAILED;
    signal(SIGXFSZ, SIG_IGN); /* A limit on the size of files is an error of write(), to be reported. */
    keep_standard_descriptors();
}

bool message_check_command(bool passed)
{
    if (!passed)
        message_failure = EXIT_COMMAND;
    return passed;
}

int message_end(bool done) { return !done ? message_failure : ferror(stderr) ? EXIT_FAILED : EXIT_DONE; }

/* Prints a line, escaped. The caller holds the mutex, which also guards the buffer: that is too large for a small
 * stack.
 */
static void print_line(const char *line, const char *before, const char *after)
{
    static char escaped[4 * LINE_NBYTES];
    char *to = escaped;
    for (; *line; line++) {
        const unsigned char c = (unsigned char)*line;
        if (c == '\n')
            to += sprintf(to, "\\n");
        else
            to += sprintf(to, c < 0x20 || c == 0x7f ? "\\x%02x" : "%c", c);
    }
    *to = '\0';
    fprintf(stderr, "%s%s: %s%s", before, program_name, escaped, after);
    fflush(stderr);
}

void message_clear_transient(void)
{
    static const char clear[] = "\r\033[K";
    if (transient_on_screen && write(STDERR_FILENO, clear, sizeof clear - 1) > 0)
        transient_on_screen = 0;
}

bool message_print(const char *subject, const char *format, ...)
{
    char line[LINE_NBYTES] = "";
    if (subject)
        snprintf(line, sizeof line, "%.*s: ", PATH_MAX, *subject ? subject : "''");
    const size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&mutex);
    if (!holding) {
        message_clear_transient();
        print_line(line, "", "\n");
    } else if (!*held_line) {
        memcpy(held_line, line, sizeof line);
    }
    pthread_mutex_unlock(&mutex);
    return false;
}

void message_warn(const char *subject, const char *format, ...)
{
    char text[LINE_NBYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    atomic_fetch_add(&n_warnings, 1);
    if (holding) /* only the cause of a failure is kept */
        return;
    message_print(subject ? subject : "warning", "%s%s", subject ? "warning: " : "", text);
}

unsigned message_n_warnings(void) { return atomic_load(&n_warnings); }

bool message_print_errno(const char *subject) { return message_print(subject, "%s", strerror(errno)); }

void message_hold(void) { holding = true; }

void message_release(bool wanted)
{
    holding = false;
    if (wanted && *held_line)
        message_print(NULL, "%s", held_line);
    *held_line = '\0';
}

void message_print_transient(const char *format, ...)
{
    char line[LINE_NBYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&mutex);
    const bool failed_before = ferror(stderr);
    transient_on_screen = isatty(STDERR_FILENO);
    if (transient_on_screen)
        print_line(line, "\r", "\033[K");
    else
        print_line(line, "", "\n");
    if (!failed_before)
        clearerr(stderr);
    pthread_mutex_unlock(&mutex);
}

int message_end_stdout(void)
{
    errno = EIO;
    if (ferror(stdout))
        fputc('\n', stdout); /* a write that fails again, and says why */
    const bool failed = ferror(stdout);
    return (!fclose(stdout) && !failed) || message_print_errno("standard output") ? EXIT_DONE : EXIT_FAILED;
}

void message_print_version(void) { printf("%s %s\n", program_name, softqam_version()); }
