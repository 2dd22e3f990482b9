/* SPDX-License-Identifier: MIT */
/* The checks of --verify, for check.c's list. */
#ifndef SOFTQAM_TESTS_TOOLS_CHECK_VERIFY_H
#define SOFTQAM_TESTS_TOOLS_CHECK_VERIFY_H

void test_verify_accepts_right_bytes(void **state);
void test_verify_finds_wrong_byte(void **state);
void test_verify_samples_every_run(void **state);
void test_verify_boundary(void **state);
void test_verify_opposite_sign(void **state);
void test_verify_accepts_right_llrs(void **state);
void test_verify_finds_wrong_llr(void **state);
void test_verify_ends_of_the_bound(void **state);
void test_verify_erased_llrs(void **state);
void test_verify_llr_boundary(void **state);

#endif
