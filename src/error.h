/* SPDX-License-Identifier: MIT */
/* A failure is a status that goes up the call chain; the thread's message has the details. */
#ifndef SOFTQAM_ERROR_H
#define SOFTQAM_ERROR_H

#include <softqam/softqam.h>

/* Sets the thread's message (printf's format, one line) and returns the status. */
softqam_status softqam_fail(softqam_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns from the calling function with the status of a call, if it fails. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const softqam_status try_status = (call);                                                                      \
        if (try_status != SOFTQAM_OK)                                                                                  \
            return try_status;                                                                                         \
    } while (0)

/* Returns from the calling function with SOFTQAM_ERROR_INVALID_ARGUMENT and a message, if the condition holds. */
#define REFUSE_IF(condition, ...)                                                                                      \
    do {                                                                                                               \
        if (condition)                                                                                                 \
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, __VA_ARGS__);                                          \
    } while (0)

/* Attribute of a variable: when its block ends, however it ends, the function is called with the variable's address. */
#define ENDED_BY(function) __attribute__((cleanup(function), unused))

/* A thread's message. softqam_error_note_take() returns it; softqam_error_note_restore() sets it, after a failure that
 * the library recovered from, or to hand it to another thread. */
typedef struct softqam_error_note {
    char text[256];
} softqam_error_note;

softqam_error_note softqam_error_note_take(void);
void softqam_error_note_restore(const softqam_error_note *note);

#endif
