/* SPDX-License-Identifier: MIT */
/* softqam-demod as a function. */
#ifndef SOFTQAM_TESTS_FUZZ_DEMOD_CALL_H
#define SOFTQAM_TESTS_FUZZ_DEMOD_CALL_H

/* The exit status of a command; argv[argc] is NULL. Its messages are checked. */
int demod_call(int argc, const char *argv[]);

#endif
