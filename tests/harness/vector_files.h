/* SPDX-License-Identifier: MIT */
/* The reader of vectors/, which the test of the vectors and the fuzzer of the reader share. */
#ifndef SOFTQAM_TESTS_VECTOR_FILES_H
#define SOFTQAM_TESTS_VECTOR_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* An input, and the soft bits that it must give. */
typedef struct vector {
    char name[NAME_MAX + 1]; /* of the input's file */
    softqam_input_format format;
    size_t n_symbols;
    uint8_t *samples;
    uint8_t *soft_bits;
} vector;

typedef struct vector_list {
    vector *items;
    size_t n_items;
    char problem[2 * NAME_MAX]; /* why it could not be read: one line */
} vector_list;

/* Reads a directory: inputs NAME.cf32, NAME.cs16, NAME.cs8 or NAME.cf16 of one symbol or more, each with its NAME.u8,
 * and no two with the same; no u8 file without an input, so that none lies there unused. Files of other names are left
 * alone. The list is to be closed in either case. */
bool vector_list_open(vector_list *self, const char *directory);

void vector_list_close(vector_list *self);

#endif
