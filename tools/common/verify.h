/* SPDX-License-Identifier: MIT */
/* Checks soft bits against the oracle, liquid-dsp, and LLRs against double-precision max-log within the bound that
 * reference/ derives for binary32: every symbol of the first ones, and of the rest one at a pseudo-random position in
 * each run of VERIFY_RUN_SYMBOLS. Which symbols those are depends on their index alone. */
#ifndef SOFTQAM_TOOLS_COMMON_VERIFY_H
#define SOFTQAM_TOOLS_COMMON_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* The first ones: what takes a few seconds. Whole numbers of runs. */
#define VERIFY_ALL_SYMBOLS     ((uint64_t)16 << 20)
#define VERIFY_ALL_LLR_SYMBOLS ((uint64_t)256 << 10)
#define VERIFY_RUN_SYMBOLS     ((uint64_t)256)

struct nr_scrambling;

struct verifier {
    struct oracle *oracle; /* for soft bits; NULL before the start and after the end */
    char reference[64];    /* what is compared with, by name */
    softqam_demodulator_config config;
    uint64_t n_all;                   /* symbols of which every one is checked */
    uint64_t n_seen, n_checked;       /* symbols */
    uint64_t position;                /* of the symbol with index 0 in its codeword */
    struct nr_scrambling *scrambling; /* NULL where the LLRs are not descrambled */
};

/* What differs: the first soft bit or LLR of the first symbol that is wrong. */
struct verify_difference {
    uint64_t symbol;
    float i, q;      /* after scaling */
    float noise_var; /* 0 for soft bits */
    unsigned bit;
    double got;
    double expected;
    double low, high; /* what would have been accepted, expected included; both ends too */
};

/* NULL in programs that are built without the reference. */
struct verification {
    /* For a configuration in which input_scale, and for s8 and s16 llr_scale and llr_limit, are not 0; and what the
     * LLRs are descrambled by, NULL for none. False when memory is short. */
    bool (*start)(struct verifier *verifier, const softqam_demodulator_config *config, const uint32_t *c_init);
    /* Checks what the library made of the next n symbols and noise variances. Returns false and fills the difference at
     * the first that is wrong. */
    bool (*next)(struct verifier *verifier, const void *samples, const float *noise_var, const void *out,
                 size_t n_symbols, struct verify_difference *difference);
    void (*end)(struct verifier *verifier);
};

extern const struct verification *const verification;

#endif
