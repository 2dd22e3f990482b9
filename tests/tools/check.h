/* SPDX-License-Identifier: MIT */
/* The checks of check_modulations.c and check_verify.c, for check.c's list. */
#ifndef SOFTQAM_TESTS_TOOLS_CHECK_H
#define SOFTQAM_TESTS_TOOLS_CHECK_H

void test_expected_error(void **state);
void test_noise_estimate(void **state);
void test_points(void **state);
void test_verify_modulations(void **state);

void test_verify_finds_wrong_value(void **state);
void test_verify_samples_every_run(void **state);
void test_verify_opposite_sign(void **state);
void test_verify_ends_of_the_bound(void **state);
void test_verify_erased_llrs(void **state);

#endif
