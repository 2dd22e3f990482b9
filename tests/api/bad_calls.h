/* SPDX-License-Identifier: MIT */
/* The parts of test_bad_calls: what a refusal must be, and the tests that are not in test_bad_calls.c. */
#ifndef SOFTQAM_TESTS_BAD_CALLS_H
#define SOFTQAM_TESTS_BAD_CALLS_H

#include <stddef.h>

#include <softqam/softqam.h>

/* A refusal of row number `row` of `what` says one line, of printable characters, that starts as expected; of several
 * segments it says first which one is meant. */
void check_refusal(softqam_status status, const char *expected, const char *what, size_t row);

/* bad_settings.c */
void test_configurations(void **state);
void test_context_configurations(void **state);
void test_variant_with_control_characters(void **state);

/* bad_codewords.c */
void test_soft_buffers(void **state);

#endif
