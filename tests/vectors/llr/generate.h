/* SPDX-License-Identifier: MIT */
/* What both parts of the generator share: the files, and noise that is the same on every machine. */
#ifndef SOFTQAM_TESTS_GENERATE_H
#define SOFTQAM_TESTS_GENERATE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A file to be written in this folder, and one of these bytes. */
FILE *writer_create(const char *name);
void writer_put(const char *name, const void *bytes, size_t nbytes);

/* Ends the program with a message. */
void writer_fail(const char *what, const char *cause) __attribute__((noreturn));

/* Four random words: Random123's Philox under this key. */
void writer_random(uint32_t seed, uint32_t stream, uint32_t n, uint32_t k, uint32_t words[4]);

/* Roughly Gaussian with variance 1, from 12 random words of writer_random(); axis is 0 or 1, each its own number. Exact
 * in double. */
double writer_noise(const uint32_t words[12], unsigned int axis);

/* The nearest float that is not above, or not below. */
float writer_float_below(double x);
float writer_float_above(double x);

/* What any way to compute max-log in binary32 may make of an LLR: README.md derives it. */
double writer_tolerance(const float symbol[2], double noise_var, double llr);

/* The part of generate_soft_buffers.c. */
void write_soft_buffers(void);

#endif
