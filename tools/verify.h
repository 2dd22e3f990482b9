/* SPDX-License-Identifier: MIT */
/* Checks soft bits against the oracle, liquid-dsp: every symbol of the first VERIFY_ALL_SYMBOLS, and of the rest one at
 * a pseudo-random place in each run of VERIFY_RUN_SYMBOLS. Which symbols those are depends on their index alone. */
#ifndef SOFTQAM_TOOLS_VERIFY_H
#define SOFTQAM_TOOLS_VERIFY_H

#include <softqam/softqam.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERIFY_ALL_SYMBOLS ((uint64_t)16 << 20)
#define VERIFY_RUN_SYMBOLS ((uint64_t)256)

struct verifier {
    struct oracle *oracle; /* NULL before the start and after the end */
    softqam_input_format format;
    float scale;
    uint64_t n_seen, n_checked; /* symbols */
};

/* What differs: the first soft bit of the first symbol that is wrong. */
struct verify_difference {
    uint64_t symbol;
    float i, q; /* after scaling */
    unsigned bit;
    uint8_t got, expected;
};

/* Whether this build has the oracle. Without it there is nothing else to call here. */
bool verify_is_available(void);

/* liquid-dsp's version. */
const char *verify_oracle_version(void);

/* False when memory is short. */
bool verify_start(struct verifier *verifier, softqam_input_format format, float scale);

/* Checks the next n symbols and their soft bits. Returns false and fills the difference at the first wrong byte. */
bool verify_next(struct verifier *verifier, const void *samples, const uint8_t *soft_bits, size_t n_symbols,
                 struct verify_difference *difference);

void verify_end(struct verifier *verifier);

#endif
