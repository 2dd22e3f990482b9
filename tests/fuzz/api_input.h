/* SPDX-License-Identifier: MIT */
/* What the parts of fuzz_api share: the bytes of its input, and segments made of them, whose memory is no larger than
 * it must be; how a refusal is told. */
#ifndef SOFTQAM_TESTS_FUZZ_API_INPUT_H
#define SOFTQAM_TESTS_FUZZ_API_INPUT_H

#include <softqam/softqam.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "fuzz.h"

/* Symbols of a segment, at most; and what outputs hold where nothing is written. */
enum { MAX_SYMBOLS = 255, BETWEEN = 0x5a };

/* Bytes of the input, zeros after its end. */
typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

void take(source *self, void *to, size_t nbytes);
uint8_t take_byte(source *self);
/* Small numbers mostly, so that most configurations are accepted. */
int take_choice(source *self, int n_valid);
/* So many bytes in memory that the caller frees. */
void *take_alloc(source *self, size_t nbytes);

/* A refusal is a documented status with a line that says why; the second takes no other than an invalid argument. */
void check_refusal(softqam_status status);
void require_invalid(softqam_status status);

/* A segment whose memory is no larger than it must be, so that every byte too many is seen. */
typedef struct piece {
    softqam_segment segment;
    bool is_good;
    unsigned apart;   /* layers whose I and Q lie apart, a bit each */
    uint8_t reserved; /* which of the words that must be 0 is not; 0: none */
    bool has_gains;
    uint8_t *out;
    uint8_t *expected;
    size_t out_nbytes; /* from the first to the last */
} piece;

/* All but its memory; of a segment without a codeword, or of one with it. */
piece take_shape(source *self, const softqam_demodulator_config *config, bool is_range);
/* Its memory, which free_piece() frees. */
void take_memory(source *self, piece *p, const softqam_demodulator_config *config);
void free_piece(piece *p);

softqam_modulation modulation_of(const softqam_segment *segment, const softqam_demodulator_config *config);
unsigned layers_of(const piece *p);

/* api_codewords.c */

/* A codeword and a range of it from the input, demodulated and compared with the definition's values in their places.
 */
void use_codeword(source *self, const softqam_demodulator *demodulator, const softqam_demodulator *definition,
                  const softqam_demodulator_config *config);

#endif
