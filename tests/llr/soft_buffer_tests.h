/* SPDX-License-Identifier: MIT */
/* Tests of test_soft_buffers besides those of random codewords: real decoders' layouts, UCI on PUSCH, refusals, the
 * ends of ranges. */
#ifndef SOFTQAM_TESTS_SOFT_BUFFER_TESTS_H
#define SOFTQAM_TESTS_SOFT_BUFFER_TESTS_H

void test_ocudu(void **state);
void test_oai(void **state);
void test_cuphy(void **state);
void test_bbdev_harq_of_the_host(void **state);
void test_bbdev_harq_of_the_device(void **state);
void test_sionna(void **state);
void test_py3gpp(void **state);

void test_uci_rate_matched(void **state);
void test_uci_punctured(void **state);

void test_refusals(void **state);
void test_refusals_of_formats(void **state);
void test_refused_overlaps(void **state);
void test_accepted(void **state);

void test_largest_buffer(void **state);
void test_input_behind_transmitted_blocks(void **state);
void test_floating_point_modes(void **state);

#endif
