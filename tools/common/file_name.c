/* SPDX-License-Identifier: MIT */
#include "file_name.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number_after(const char *path, const char *prefix)
{
    const size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0)
        return -1;
    const char *digits = path + length;
    const unsigned long number = strtoul(digits, NULL, 10);
    return *digits && !digits[strspn(digits, "0123456789")] && number <= INT_MAX ? (int)number : -1;
}

int file_name_descriptor(const char *path, int standard)
{
    static const char *const streams[] = {
        [STDIN_FILENO] = "/dev/stdin", [STDOUT_FILENO] = "/dev/stdout", [STDERR_FILENO] = "/dev/stderr"};
    if (!strcmp(path, "-"))
        return standard;
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (!strcmp(path, streams[fd]))
            return fd;
    const int number = number_after(path, "/dev/fd/");
    return number >= 0 ? number : number_after(path, "/proc/self/fd/");
}

const char *file_name_shown(const char *path, int standard)
{
    if (strcmp(path, "-") != 0)
        return path;
    return standard == STDIN_FILENO ? "standard input" : "standard output";
}
