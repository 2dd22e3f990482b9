/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include "sample_format.h"

#include <oracle.h>
#include <string.h>

enum {
    PART_SYMBOLS = 1024
};

bool verify_is_available(void)
{
    return true;
}

const char *verify_oracle_version(void)
{
    return oracle_version();
}

bool verify_start(struct verifier *verifier, softqam_input_format format, float scale)
{
    memset(verifier, 0, sizeof *verifier);
    verifier->format = format;
    verifier->scale = scale;
    verifier->oracle = oracle_create();
    return verifier->oracle != NULL;
}

void verify_end(struct verifier *verifier)
{
    if (verifier->oracle)
        oracle_destroy(verifier->oracle);
    verifier->oracle = NULL;
}

static void describe(struct verify_difference *difference, uint64_t first, const float *components, const uint8_t *got,
                     const uint8_t *expected)
{
    size_t place = 0;
    while (got[place] == expected[place])
        place++;
    difference->symbol = first + place / 8;
    difference->i = components[place / 8 * 2];
    difference->q = components[place / 8 * 2 + 1];
    difference->bit = (unsigned)(place % 8);
    difference->got = got[place];
    difference->expected = expected[place];
}

/* At most PART_SYMBOLS symbols, `offset` symbols into the block that starts at n_seen. */
static bool check_part(struct verifier *verifier, const void *block, const uint8_t *block_soft_bits, size_t offset,
                       size_t n_symbols, struct verify_difference *difference)
{
    float components[2 * PART_SYMBOLS];
    uint8_t expected[8 * PART_SYMBOLS];
    const char *samples = (const char *)block + offset * softqam_input_symbol_nbytes(verifier->format);
    const uint8_t *got = block_soft_bits + 8 * offset;
    sample_format_widen(verifier->format, samples, n_symbols, verifier->scale, components);
    oracle_soft_bits(verifier->oracle, components, n_symbols, expected);
    verifier->n_checked += n_symbols;
    if (!memcmp(got, expected, 8 * n_symbols))
        return true;
    describe(difference, verifier->n_seen + offset, components, got, expected);
    return false;
}

/* The symbol to check in a run: its first plus a hash of the run's number (the finaliser of splitmix64). */
static uint64_t sampled_symbol(uint64_t run)
{
    uint64_t hash = run + UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    hash ^= hash >> 31;
    return run * VERIFY_RUN_SYMBOLS + hash % VERIFY_RUN_SYMBOLS;
}

bool verify_next(struct verifier *verifier, const void *samples, const uint8_t *soft_bits, size_t n_symbols,
                 struct verify_difference *difference)
{
    const uint64_t first = verifier->n_seen, end = first + n_symbols;
    const uint64_t end_of_all = end < VERIFY_ALL_SYMBOLS ? end : VERIFY_ALL_SYMBOLS;
    for (uint64_t i = first; i < end_of_all; i += PART_SYMBOLS) {
        const uint64_t n = end_of_all - i < PART_SYMBOLS ? end_of_all - i : PART_SYMBOLS;
        if (!check_part(verifier, samples, soft_bits, (size_t)(i - first), (size_t)n, difference))
            return false;
    }
    /* A whole number of runs lies before VERIFY_ALL_SYMBOLS; a run that two blocks share is looked at in both. */
    const uint64_t rest = first > VERIFY_ALL_SYMBOLS ? first : VERIFY_ALL_SYMBOLS;
    for (uint64_t run = rest / VERIFY_RUN_SYMBOLS; run * VERIFY_RUN_SYMBOLS < end; run++) {
        const uint64_t i = sampled_symbol(run);
        if (i >= rest && i < end && !check_part(verifier, samples, soft_bits, (size_t)(i - first), 1, difference))
            return false;
    }
    verifier->n_seen = end;
    return true;
}
