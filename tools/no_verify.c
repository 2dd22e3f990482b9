/* SPDX-License-Identifier: MIT */
/* In place of verify.c in a build without liquid-dsp. */
#include "verify.h"

bool verify_is_available(void)
{
    return false;
}

const char *verify_oracle_version(void)
{
    return "";
}

bool verify_start(struct verifier *verifier, softqam_input_format format, float scale)
{
    (void)verifier;
    (void)format;
    (void)scale;
    return false;
}

bool verify_next(struct verifier *verifier, const void *samples, const uint8_t *soft_bits, size_t n_symbols,
                 struct verify_difference *difference)
{
    (void)verifier;
    (void)samples;
    (void)soft_bits;
    (void)n_symbols;
    (void)difference;
    return false;
}

void verify_end(struct verifier *verifier)
{
    (void)verifier;
}
