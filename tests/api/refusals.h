/* SPDX-License-Identifier: MIT */
/* A table of calls that are wrong in one field: how its rows are written, and how a test goes through them. */
#ifndef SOFTQAM_TESTS_REFUSALS_H
#define SOFTQAM_TESTS_REFUSALS_H

#include "api_fixture.h"

/* The memory of all calls, and where the parts of a call lie in it unless its row says otherwise. */
enum { MEMORY_NBYTES = 4096 };
extern _Alignas(64) uint8_t memory[MEMORY_NBYTES];
#define IN    (memory + 128)
#define Q     (memory + 512)
#define NOISE (memory + 1024)
#define OUT   (memory + 2048)

#define FLOATS(bytes) ((const float *)(const void *)(bytes))

/* One row. `settings` are words: the output format, or "context" or "grant"; then FIELD=VALUE. FIELD is a field of a
 * context's, demodulator's or segment's structure, of the segment's codeword, or of one of its layers (layer1.gain).
 * VALUE is a number; for reserved words the index of the one that is not 0; for pointers in, q, noise, out (see above),
 * end (of all addresses), null or cpus (0, 1, 1024), plus or minus a number of bytes; for block_buffers three of them.
 * The last VALUE may be several with | between them, which are tried in turn. A segment has four symbols and good
 * memory unless its row says otherwise.
 *
 * `message` is what the library must say: a percent sign at its beginning stands for "FIELD is VALUE" of the last word,
 * and two dots at its end for any text. */
typedef struct refusal {
    const char *settings, *message;
} refusal;

typedef enum refusal_object { CONTEXT, DEMODULATOR, GRANT, SEGMENT, CODEWORD, LAYER } refusal_object;

typedef struct refused_call {
    softqam_output_format format;
    softqam_context_config context;
    softqam_demodulator_config demodulator;
    softqam_ldpc_grant grant;
    softqam_segment segment;
    void *pointers[3]; /* of codeword.block_buffers */
    char text[100];    /* of cpu_variant */
    char message[300];
} refused_call;

/* The next call of a table: begin with zeros. */
typedef struct refusal_position {
    size_t row;
    unsigned alternative;
} refusal_position;

/* Makes the next call; false after the last row. A row that cannot be read fails the test. */
bool refusal_next(const refusal *rows, size_t n_rows, refusal_object object, refusal_position *position,
                  refused_call *call);

/* Fails unless every byte of the public structures belongs to a field that rows can name. */
void refusal_check_fields(void);

#endif
