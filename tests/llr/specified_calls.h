/* SPDX-License-Identifier: MIT */
/* Tests of test_llr_specified for what a call is made of: where in it unusual values lie, how long it is, segments with
 * settings of their own. */
#ifndef SOFTQAM_TESTS_SPECIFIED_CALLS_H
#define SOFTQAM_TESTS_SPECIFIED_CALLS_H

void test_every_position(void **state);
void test_many_tiles(void **state);
void test_lengths(void **state);
void test_segments(void **state);

#endif
