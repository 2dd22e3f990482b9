/* SPDX-License-Identifier: MIT */
/* How a failure travels: a status up the call chain, its details in the thread's message. */
#ifndef SOFTQAM_ERROR_H
#define SOFTQAM_ERROR_H

#include <softqam/softqam.h>

/* Sets the thread's message (printf's format, one line) and returns the status, so that `return softqam_fail(...)` does
 * both. */
softqam_status softqam_fail(softqam_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The thread's message, and its return to what it was: for a failure that the library makes good by itself. */
typedef struct softqam_error_note {
    char text[256];
} softqam_error_note;

softqam_error_note softqam_error_note_take(void);
void softqam_error_note_restore(const softqam_error_note *note);

#endif
