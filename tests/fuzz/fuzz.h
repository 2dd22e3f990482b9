/* SPDX-License-Identifier: MIT */
/* Shared by the fuzzers: requirements that end the program, and a folder for files that programs find by name. */
#ifndef SOFTQAM_TESTS_FUZZ_FUZZ_H
#define SOFTQAM_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each fuzzer has its own, which libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

/* Ends the program with its core if the condition does not hold. */
void require(bool condition);

/* An empty folder of this process's own, in memory where the system has such a file system; gone when the process ends
 * in good order. */
const char *folder_path(void);

/* Writes a file into the folder. */
void folder_put(const char *name, const void *data, size_t nbytes);

/* The bytes of a file that must be in the folder. */
size_t folder_size(const char *name);

/* Removes all files and empty folders in it; returns how many there were. */
size_t folder_clear(void);

/* Holds back what is written on standard error from here on. */
void hold_messages(void);

/* Ends that. The messages must be lines of printable characters, and if something failed exactly one line that begins
 * with `start`. */
void check_messages(bool failed, const char *start);

/* softqam-demod as a function: the exit status with these arguments, between blanks; @NAME is a file of the folder. Its
 * messages are checked. */
__attribute__((format(printf, 1, 2))) int demod_call(const char *format, ...);

#endif
