/* SPDX-License-Identifier: MIT */
/* What the tables of test_bad_calls share: rows, the memory that they are about, and the check of a row. */
#ifndef SOFTQAM_TESTS_API_BAD_CALLS_H
#define SOFTQAM_TESTS_API_BAD_CALLS_H

#include "api_fixture.h"

enum { MEMORY_NBYTES = 4096 };

extern uint8_t memory[MEMORY_NBYTES];

/* Where the parts of a call lie in it, where nothing else is said. */
#define IN    (memory + 128)
#define Q     (memory + 512)
#define NOISE (memory + 1024)
#define OUT   (memory + 2048)
/* In a row, NULL: what is not given is one of those above. */
#define NONE ((void *)1)
/* An address that lies so many bytes before the end of all addresses. */
#define BEFORE_END(nbytes) ((void *)(UINTPTR_MAX - (nbytes) + 1))

#define FLOATS(bytes) ((const float *)(const void *)(bytes))

#define OVERLAP      "an input and out overlap"
#define TOO_LARGE(n) #n " symbols are more than memory can hold"
#define UNCOUNTED    ": the codeword has more bits than can be counted"

/* A segment that is wrong. */
typedef struct bad_row {
    softqam_output_format format;
    softqam_segment segment;
    const char *message;
} bad_row;

#define ROW(kind, n, text, ...)                                                                                        \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_##kind, {.n_symbols = (n), __VA_ARGS__}, text                                                   \
    }

/* Numbers that a field of a row's segment must not have. */
#define WRONG(right, name, path, ...)                                                                                  \
    {                                                                                                                  \
        right, offsetof(bad_row, segment.path), name #path, __VA_ARGS__                                                \
    }

/* The row's segment, with symbols, noise and output where it gives none. */
softqam_segment segment_of(const bad_row *row);

void fill_memory(uint8_t *copy);

/* Refused alone, before a good segment and behind one, and as a simple call where it is one. */
void check_refused(softqam_demodulator_config config, const softqam_segment *bad, const char *message, const char *what,
                   size_t number);

/* What is wrong: where the values of symbols lie, so that without symbols it is accepted; what is refused without them
 * too; and what softqam_codeword_block() refuses as well, with one layer of 256QAM. */
typedef enum bad_part { BAD_MEMORY, BAD_FIELD, BAD_CODE_BLOCKS } bad_part;

void check_rows(const bad_row *rows, size_t n_rows, bad_part part, const char *what);
void check_numbers(const api_numbers *numbers, size_t n, bad_part part);

#endif
