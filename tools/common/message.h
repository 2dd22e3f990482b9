/* SPDX-License-Identifier: MIT */
/* Everything that a tool says on standard error. One message is one line, whatever a file name contains. */
#ifndef SOFTQAM_TOOLS_COMMON_MESSAGE_H
#define SOFTQAM_TOOLS_COMMON_MESSAGE_H

#include <stdbool.h>

/* Exit codes of the tools. */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* the data, a file or the device */
    EXIT_COMMAND = 2 /* the command was wrong */
};

/* Sets the name with which each message begins, and keeps the descriptors of closed standard streams from being used
 * for files. Called first in main(). */
void message_start(const char *program);

/* The exit code of a failure. */
extern int message_failure;

/* Returns `passed`. If it is false, sets message_failure to EXIT_COMMAND. */
bool message_check_command(bool passed);

/* Returns the exit code, which is a failure if a message other than progress could not be written. Called last in
 * main(). */
int message_end(bool done);

/* Prints "program: SUBJECT: cause" with control characters escaped; the subject is a file, an option, or NULL. Any
 * thread may call it. Returns false, as most callers then do. */
bool message_print(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does the same with the text of errno as the cause. */
bool message_print_errno(const char *subject);

/* Print "program: SUBJECT: warning: .."; return the number of warnings so far, printed or not. */
void message_warn(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
unsigned message_n_warnings(void);

/* Prints a line, which the next message replaces if standard error is a terminal. */
void message_print_transient(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_clear_transient(void); /* a signal handler may call it */

/* From message_hold() to message_release() only the first message is kept, which is then printed if `wanted`. Processes
 * of one job use this to fail with one message. */
void message_hold(void);
void message_release(bool wanted);

/* Closes standard output. Returns EXIT_FAILED, after a message, if some of it was not written. */
int message_end_stdout(void);

/* Prints the program's name and version to standard output. */
void message_print_version(void);

/* "s" for a noun that follows n. */
#define PLURAL(n) ((n) == 1 ? "" : "s")

#endif
