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

/* Sets the name that starts each message; the first thing in main(). Also sees to it that no file opened later gets the
 * descriptor of a closed standard stream. */
void message_start(const char *program);

/* The exit code of a failure. */
extern int message_failure;

/* Passes on whether a check is passed; if not, the command was wrong, which is then message_failure. */
bool message_of_command(bool passed);

/* Returns the exit code, as the last thing in main(): a failure if a message could not be written (progress
 * aside). */
int message_end(bool done);

/* Prints "program: SUBJECT: cause"; SUBJECT is a file, an option, or NULL for none. Control characters are escaped.
 * From any thread. False, which is what most callers then return; so do the others that say why something failed. */
bool message_print(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does the same for the cause in errno. */
bool message_print_errno(const char *subject);

/* Prints "program: SUBJECT: warning: .."; returns how many of these there were, printed or not. */
void message_warn(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
unsigned message_n_warnings(void);

/* Prints a line that the next message replaces if standard error is a terminal; else an ordinary line. */
void message_print_transient(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_clear_transient(void); /* in a signal handler too */

/* Keeps the first message and prints no others from here on; the kept one is printed if wanted. Processes that work
 * together use it to fail with one message. */
void message_hold(void);
void message_release(bool wanted);

/* Makes sure that what was printed to standard output got there: an exit code. Nothing is printed after it. */
int message_end_stdout(void);

/* Prints the program's name and version to standard output. */
void message_print_version(void);

/* "s" for a noun that follows n. */
#define PLURAL(n) ((n) == 1 ? "" : "s")

#endif
