/* SPDX-License-Identifier: MIT */
#include "bit_comparison.h"

#include <inttypes.h>

#include "common/hard_bits.h"
#include "common/message.h"

enum { PART_BITS = 4096 };

bool bit_comparison_open(struct bit_comparison *comparison, const char *path, unsigned bits_per_symbol)
{
    comparison->n_bits = bits_per_symbol;
    comparison->is_wanted = path != NULL;
    return !path || input_file_open(&comparison->file, path);
}

bool bit_comparison_start(struct bit_comparison *comparison, const struct symbol_source *symbols, uint64_t skip)
{
    const struct input_file *file = &comparison->file;
    uint64_t n_skipped;
    if (!comparison->is_wanted)
        return true;
    if (skip > 0 && !input_file_skip(&comparison->file, skip * comparison->n_bits, &n_skipped))
        return false;
    if (file->nbytes < 0 || symbols->n_symbols < 0 || file->nbytes == symbols->n_symbols * (int64_t)comparison->n_bits)
        return true;
    message_print(file->name, "has %" PRId64 " bits, but %s has %" PRId64 " symbol%s of %u", file->nbytes,
                  symbols->file.name, symbols->n_symbols, PLURAL(symbols->n_symbols), comparison->n_bits);
    return false;
}

bool bit_comparison_limit(struct bit_comparison *comparison, uint64_t count)
{
    return !comparison->is_wanted || input_file_limit(&comparison->file, count * comparison->n_bits);
}

bool bit_comparison_choose_part(struct bit_comparison *comparison, uint64_t first, uint64_t n_symbols)
{
    return !comparison->is_wanted ||
           input_file_choose_part(&comparison->file, first * comparison->n_bits, n_symbols * comparison->n_bits);
}

/* Compares up to PART_BITS bits; `sent` are as many of the file. */
static bool compare(struct bit_comparison *comparison, const uint8_t *bits, const uint8_t *sent, size_t n)
{
    unsigned all = 0, n_wrong = 0;
    for (size_t i = 0; i < n; i++) {
        all |= sent[i];
        n_wrong += bits[i] != sent[i];
    }
    if (all > 1) {
        message_print(comparison->file.name, "not bits: a byte is neither 0 nor 1");
        return false;
    }
    comparison->n_compared += n;
    comparison->n_wrong += n_wrong;
    return true;
}

bool bit_comparison_add(struct bit_comparison *comparison, const softqam_demodulator_config *config, const void *values,
                        size_t n_symbols)
{
    uint8_t bits[PART_BITS], sent[PART_BITS];
    const size_t n = n_symbols * comparison->n_bits;
    const size_t value_nbytes =
        softqam_output_nbytes(config->output_format, config->modulation, 1) / comparison->n_bits;
    for (size_t first = 0; comparison->is_wanted && first < n; first += PART_BITS) {
        const size_t n_part = n - first < PART_BITS ? n - first : PART_BITS;
        size_t n_read;
        hard_bits_decide(config->output_format, config->sign, (const char *)values + first * value_nbytes, n_part,
                         bits);
        if (!input_file_read(&comparison->file, sent, n_part, &n_read) || !compare(comparison, bits, sent, n_read))
            return false;
        if (n_read == n_part)
            continue;
        message_print(comparison->file.name, "ends after %" PRIu64 " bits, but there are more symbols",
                      comparison->n_compared);
        return false;
    }
    return true;
}

bool bit_comparison_end(struct bit_comparison *comparison)
{
    uint8_t byte;
    size_t n_read = 0;
    if (!comparison->is_wanted || comparison->file.limit != UINT64_MAX)
        return true;
    if (!input_file_read(&comparison->file, &byte, sizeof byte, &n_read))
        return false;
    if (n_read > 0)
        message_print(comparison->file.name, "goes on after %" PRIu64 " bits, but there are no more symbols",
                      comparison->n_compared);
    return n_read == 0;
}

void bit_comparison_close(struct bit_comparison *comparison)
{
    if (comparison->is_wanted)
        input_file_close(&comparison->file);
}
