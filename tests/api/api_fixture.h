/* SPDX-License-Identifier: MIT */
/* What the tests of the API's contract share: four symbols whose answer is obvious, and what is true of every refusal:
 * a status, a message of one line, and a demodulator that still works. */
#ifndef SOFTQAM_TESTS_API_FIXTURE_H
#define SOFTQAM_TESTS_API_FIXTURE_H

#include <sys/types.h>

#include "harness.h"

#define API_SYMBOLS  4
#define API_OUT_BYTE 0x5A

extern const float api_symbols[2 * API_SYMBOLS];
extern const uint8_t api_soft_bits[HARNESS_SYMBOL_BITS * API_SYMBOLS];

/* A context on the backend under test, which all tests of a program share; a configuration on it, of one noise value a
 * call. */
softqam_context *api_shared_context(void);
softqam_demodulator_config api_config(softqam_output_format format);

/* A demodulator where a failure is the test's; one for soft bits, which take no noise, in any context. */
softqam_demodulator *api_create(const softqam_demodulator_config *config);
softqam_demodulator *api_create_in(softqam_context *context);

/* Right soft bits of the symbols above, over and over. */
void api_assert_works(const softqam_demodulator *demodulator, size_t n_symbols);

void api_assert_one_line(const char *message);

/* A refusal of row number `row` of `what` says one line, of printable characters: what is expected, of which only the
 * beginning counts where it ends in two dots. */
void api_check_refusal(softqam_status status, const char *expected, const char *what, size_t row);

/* The threads of this process, as the kernel has them. */
enum { TASKS_MAX = 256 };

typedef struct task_list {
    pid_t ids[TASKS_MAX];
    size_t n;
} task_list;

task_list tasks_now(void);

/* How many there are; where that is not what is expected it is looked at again for a while, as the kernel lists a
 * thread for a moment after it has been joined. */
size_t tasks_count(size_t expected);

/* Those of `after` that are not in `before`. */
task_list tasks_new(const task_list *before, const task_list *after);

#endif
