/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local softqam_error_note message;

softqam_status softqam_fail(softqam_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.text, sizeof message.text, format, arguments);
    va_end(arguments);
    /* A character of a caller's text must not break the line, nor control a terminal. */
    for (char *text = message.text; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    return status;
}

const char *softqam_error_message(void) { return message.text; }

softqam_error_note softqam_error_note_take(void) { return message; }

void softqam_error_note_restore(const softqam_error_note *note) { message = *note; }

const char *softqam_status_string(softqam_status status)
{
    static const char *const phrases[] = {
        [SOFTQAM_OK] = "success",
        [SOFTQAM_ERROR_INVALID_ARGUMENT] = "invalid argument",
        [SOFTQAM_ERROR_BACKEND_UNAVAILABLE] = "backend unavailable",
        [SOFTQAM_ERROR_OUT_OF_MEMORY] = "out of memory",
        [SOFTQAM_ERROR_SYSTEM] = "operating system error",
        [SOFTQAM_ERROR_CUDA] = "CUDA error",
    };
    return (unsigned)status < sizeof phrases / sizeof phrases[0] ? phrases[status] : "unknown status";
}
