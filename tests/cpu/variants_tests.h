/* SPDX-License-Identifier: MIT */
/* The parts of test_variants: streams of random numbers, and the tests that are not in test_variants.c. */
#ifndef SOFTQAM_TESTS_VARIANTS_TESTS_H
#define SOFTQAM_TESTS_VARIANTS_TESTS_H

/* One a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_SETS = 1,
    STREAM_SCALES,
    STREAM_LENGTHS,
    STREAM_PLACES,
    STREAM_CONVERT,
    STREAM_WORST,
    STREAM_ENVIRONMENT,
    STREAM_NOISES,
    STREAM_INTEGERS,
    STREAM_LARGE,
    STREAM_COPY,
    STREAM_ZEROS,
    STREAM_FAR,
};

/* variants_memory.c */
void test_lengths(void **state);
void test_misalignment(void **state);
void test_convert(void **state);

/* variants_streaming.c */
void test_large_calls(void **state);
void test_large_in_pieces(void **state);
void test_copy_streaming(void **state);

#endif
