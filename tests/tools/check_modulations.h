/* SPDX-License-Identifier: MIT */
/* What depends on the modulation: in check_modulations.c. */
#ifndef SOFTQAM_TESTS_TOOLS_CHECK_MODULATIONS_H
#define SOFTQAM_TESTS_TOOLS_CHECK_MODULATIONS_H

void test_expected_error(void **state);
void test_noise_estimate(void **state);
void test_points(void **state);
void test_erased_symbols(void **state);
void test_scrambling_sequence(void **state);
void test_verify_modulations(void **state);

#endif
