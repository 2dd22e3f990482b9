/* SPDX-License-Identifier: MIT */
#include "file_name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int file_name_descriptor(const char *path, int standard)
{
    static const char *const streams[] = {
        [STDIN_FILENO] = "/dev/stdin", [STDOUT_FILENO] = "/dev/stdout", [STDERR_FILENO] = "/dev/stderr"};
    if (!strcmp(path, "-"))
        return standard;
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (!strcmp(path, streams[fd]))
            return fd;
    int number = -1, length = 0;
    if (sscanf(path, "/dev/fd/%9d%n", &number, &length) < 1)
        sscanf(path, "/proc/self/fd/%9d%n", &number, &length);
    return length > 0 && !path[length] ? number : -1;
}

const char *file_name_shown(const char *path, int standard)
{
    if (strcmp(path, "-") != 0)
        return path;
    return standard == STDIN_FILENO ? "standard input" : "standard output";
}

const char *file_name_suffix(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base + strspn(base, "."), '.');
    return dot && dot[1] ? dot : NULL;
}
