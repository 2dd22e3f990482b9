/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int demod_main(int argc, char *argv[]);
#define main demod_main
#include "../../tools/demod/demod.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static char path[64];
static int directory = -1;

void require(bool condition)
{
    if (!condition)
        abort();
}

static void remove_folder(void)
{
    folder_clear();
    rmdir(path);
}

const char *folder_path(void)
{
    if (directory < 0) {
        snprintf(path, sizeof path, "%s/softqam-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
        require(mkdtemp(path));
        directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        require(directory >= 0);
        atexit(remove_folder);
    }
    return path;
}

void folder_put(const char *name, const void *data, size_t nbytes)
{
    folder_path();
    const int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, nbytes) == (ssize_t)nbytes);
    close(fd);
}

size_t folder_size(const char *name)
{
    struct stat status;
    require(fstatat(directory, name, &status, 0) == 0);
    return (size_t)status.st_size;
}

size_t folder_clear(void)
{
    size_t n = 0;
    DIR *entries = opendir(path);
    require(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        require(unlinkat(directory, entry->d_name, 0) == 0 || unlinkat(directory, entry->d_name, AT_REMOVEDIR) == 0);
        n++;
    }
    closedir(entries);
    return n;
}

static FILE *standard;
static char *held;
static size_t held_nbytes;

void hold_messages(void)
{
    standard = stderr;
    stderr = open_memstream(&held, &held_nbytes);
    require(stderr);
}

void check_messages(bool failed, const char *start)
{
    int n_lines = 0;
    fclose(stderr);
    stderr = standard;
    for (size_t i = 0; i < held_nbytes; i++) {
        const unsigned char c = (unsigned char)held[i];
        n_lines += c == '\n';
        require(c == '\n' || (c >= ' ' && c != 0x7f));
    }
    require(held_nbytes == 0 || held[held_nbytes - 1] == '\n');
    require(!failed || (n_lines == 1 && strncmp(held, start, strlen(start)) == 0));
    free(held);
}

int demod_call(const char *format, ...)
{
    char name[] = "demod", command[256], paths[3][sizeof path + 32], *argv[32] = {name};
    int argc = 1, n_paths = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    for (char *word = strtok(command, " "); word; word = strtok(NULL, " ")) {
        if (*word == '@') {
            snprintf(paths[n_paths], sizeof paths[0], "%s/%s", folder_path(), word + 1);
            word = paths[n_paths++];
        }
        argv[argc++] = word;
    }
    optind = 0; /* getopt starts again */
    hold_messages();
    const int code = demod_main(argc, argv);
    check_messages(code != 0, "softqam-demod: ");
    return code;
}
