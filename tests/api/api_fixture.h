/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the API: four symbols whose answer is obvious, the check of a refusal, and the threads of this
 * process. */
#ifndef SOFTQAM_TESTS_API_FIXTURE_H
#define SOFTQAM_TESTS_API_FIXTURE_H

#include <sys/types.h>

#include "harness.h"

#define API_SYMBOLS  4
#define API_OUT_BYTE 0x5A

extern const float api_symbols[2 * API_SYMBOLS];
extern const uint8_t api_soft_bits[HARNESS_SYMBOL_BITS * API_SYMBOLS];

/* The context on the backend under test that all tests of a program share, and a configuration on it with one noise
 * value a call. */
softqam_context *api_shared_context(void);
softqam_demodulator_config api_config(softqam_output_format format);

/* Creates a demodulator for u8, which takes no noise. */
softqam_demodulator *api_create_in(softqam_context *context);

/* Right soft bits of the symbols above, over and over. */
void api_assert_works(const softqam_demodulator *demodulator, size_t n_symbols);

void api_assert_one_line(const char *message);

/* Fails unless the status is a refusal whose message is `expected`, one line of printable characters. If `expected`
 * ends in two dots, the message must begin with the rest. `what` and `row` say which check failed. */
void api_check_refusal(softqam_status status, const char *expected, const char *what, size_t row);

/* Ends of messages, of demodulators and of segments. */
#define S8_SCALE  ", not 2^-10 to 2^20"
#define POSITIVE  ", not finite and positive"
#define OF_256QAM ": u8 soft bits are those of 256QAM alone"

/* Stops the compiler if a field has other bytes than this: the reserved bytes of a structure that has a new field. */
#define KEEPS(structure, field, nbytes)                                                                                \
    _Static_assert(sizeof(((structure *)NULL)->field) == (nbytes), "a new field: which of its values are refused?")

/* The threads of this process, as the kernel has them. */
enum { TASKS_MAX = 256 };

typedef struct task_list {
    pid_t ids[TASKS_MAX];
    size_t n;
} task_list;

task_list tasks_now(void);

/* Counts them. While the number differs from the expected one it looks again for a while: the kernel lists a thread for
 * a moment after it was joined. */
size_t tasks_count(size_t expected);

/* Returns the tasks of `after` that are not in `before`. */
task_list tasks_new(const task_list *before, const task_list *after);

#endif
