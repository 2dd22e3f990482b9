/* SPDX-License-Identifier: MIT */
/* Any metadata with any data: softqam-demod as a whole accepts a recording and writes what --verify expects of the
 * samples; or one line says why not, and no file is left. tests/tools/test_sigmf.py and test_bad_input.py prove what it
 * accepts. */
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <softqam/softqam.h>

#include "common/sample_format.h"

int demod_main(int argc, char *argv[]);
#define main demod_main
#include "../../tools/demod/demod.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

/* libFuzzer calls it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

#define DATA_NAME "x.sigmf-data"
#define META_NAME "x.sigmf-meta"

/* Ends the program with its core if the condition does not hold. */
static void require(bool condition)
{
    if (!condition)
        abort();
}

/* The files lie in a folder of this process's own, which is the current one, in memory if the system has such a file
 * system. */

static char folder[64];

static void remove_folder(void) { rmdir(folder); }

static void enter_folder(void)
{
    if (*folder)
        return;
    snprintf(folder, sizeof folder, "%s/softqam-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    require(mkdtemp(folder) && chdir(folder) == 0);
    atexit(remove_folder);
}

static void write_file(const char *name, const void *data, size_t nbytes)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, nbytes) == (ssize_t)nbytes);
    close(fd);
}

/* Removes all files; returns how many there were. */
static size_t remove_files(void)
{
    size_t n = 0;
    DIR *entries = opendir(".");
    require(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            require(unlink(entry->d_name) == 0);
            n++;
        }
    closedir(entries);
    return n;
}

/* Calls softqam-demod with the words of a command; returns its exit status. Its messages must be lines of printable
 * characters, and if it fails exactly one line, which begins with its name. */
static int call_demod(char *command)
{
    static const char start[] = "softqam-demod: ";
    char name[] = "demod", *argv[32] = {name}, *messages = NULL;
    FILE *standard = stderr;
    size_t nbytes = 0;
    int argc = 1, n_lines = 0;
    for (char *word = strtok(command, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    optind = 0; /* getopt starts again */
    stderr = open_memstream(&messages, &nbytes);
    require(stderr);
    const int code = demod_main(argc, argv);
    fclose(stderr);
    stderr = standard;
    for (size_t i = 0; i < nbytes; i++) {
        const unsigned char c = (unsigned char)messages[i];
        n_lines += c == '\n';
        require(c == '\n' || (c >= ' ' && c != 0x7f));
    }
    require(nbytes == 0 || messages[nbytes - 1] == '\n');
    require(code == 0 || (n_lines == 1 && strncmp(messages, start, sizeof start - 1) == 0));
    free(messages);
    return code;
}

/* Input: one byte for the options, two for the length of the data, then the metadata and the data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const char *const names[] = {META_NAME, DATA_NAME, "x", META_NAME};
    if (nbytes < 3)
        return 0;
    const uint8_t what = data[0];
    const softqam_output_format format = (softqam_output_format)(data[1] % N_LIBRARY_FORMATS);
    size_t n_data = (size_t)data[1] | (size_t)data[2] << 8;
    nbytes -= 3;
    data += 3;
    n_data = n_data < nbytes ? n_data : nbytes;
    enter_folder();
    write_file(META_NAME, data, nbytes - n_data);
    write_file(DATA_NAME, data + nbytes - n_data, n_data);
    char command[256];
    snprintf(command, sizeof command, "-q --backend cpu --threads 1 -m 256qam --c-init none -o %s %s %s %s y",
             sample_format_name((enum output_kind)format), format != SOFTQAM_OUTPUT_U8 ? "--noise-var 0.25" : "",
             what & 0x80 ? "--verify" : "", names[what >> 4 & 3]);
    const int code = call_demod(command);
    require(code >= 0 && code <= 2);
    struct stat status;
    if (code == 0)
        require(stat("y", &status) == 0 &&
                (size_t)status.st_size % softqam_output_nbytes(format, SOFTQAM_MODULATION_256QAM, 1) == 0);
    require(remove_files() == (size_t)(code == 0 ? 3 : 2));
    return 0;
}
