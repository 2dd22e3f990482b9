/* SPDX-License-Identifier: MIT */
#include "side_file.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/hard_bits.h"
#include "common/message.h"

bool side_file_open(struct side_file *side, const char *path, const char *item, unsigned n_values, size_t value_nbytes)
{
    if (!path)
        return true;
    side->item = item;
    side->n_values = n_values;
    side->value_nbytes = value_nbytes;
    return input_file_open(&side->file, path);
}

static uint64_t nbytes_of(const struct side_file *side, uint64_t n_symbols)
{
    return n_symbols * side->n_values * side->value_nbytes;
}

bool side_file_start(struct side_file *side, const struct symbol_source *symbols, uint64_t skip)
{
    uint64_t n_skipped;
    if (!side->item)
        return true;
    if (!input_file_select(&side->file, nbytes_of(side, skip), UINT64_MAX, &n_skipped))
        return false;
    if (side->file.nbytes < 0 || symbols->n_symbols < 0)
        return true;
    const uint64_t nbytes = (uint64_t)side->file.nbytes, n = nbytes / side->value_nbytes;
    const uint64_t n_symbols = (uint64_t)symbols->n_symbols;
    if (!input_file_is_whole(&side->file, nbytes, side->item, side->value_nbytes))
        return false;
    if (nbytes == nbytes_of(side, n_symbols))
        return true;
    char each[16] = "";
    if (side->n_values > 1)
        snprintf(each, sizeof each, " of %u", side->n_values);
    message_print(side->file.name, "has %" PRIu64 " %s%s, but %s has %" PRIu64 " symbol%s%s", n, side->item, PLURAL(n),
                  symbols->file.name, n_symbols, PLURAL(n_symbols), each);
    return false;
}

bool side_file_select(struct side_file *side, uint64_t first, uint64_t n_symbols)
{
    uint64_t n_skipped;
    return !side->item ||
           input_file_select(&side->file, nbytes_of(side, first), nbytes_of(side, n_symbols), &n_skipped);
}

bool side_file_read(struct side_file *side, const char *symbols_name, void *values, size_t n)
{
    size_t nbytes;
    if (!side->item)
        return true;
    if (!input_file_read(&side->file, values, n * side->value_nbytes, &nbytes) ||
        !input_file_is_whole(&side->file, nbytes, side->item, side->value_nbytes))
        return false;
    side->n_read += nbytes / side->value_nbytes;
    if (nbytes == n * side->value_nbytes)
        return true;
    message_print(side->file.name, "ends after %" PRIu64 " %s%s, but %s has more symbols", side->n_read, side->item,
                  PLURAL(side->n_read), symbols_name);
    return false;
}

bool side_file_end(struct side_file *side, const char *symbols_name)
{
    char byte;
    size_t n_read = 0;
    if (!side->item || side->file.limit != UINT64_MAX)
        return true;
    if (!input_file_read(&side->file, &byte, sizeof byte, &n_read))
        return false;
    if (n_read > 0)
        message_print(side->file.name, "goes on after %" PRIu64 " %s%s, but %s has no more symbols", side->n_read,
                      side->item, PLURAL(side->n_read), symbols_name);
    return n_read == 0;
}

void side_file_close(struct side_file *side)
{
    if (side->item)
        input_file_close(&side->file);
}

bool bit_comparison_add(struct bit_comparison *comparison, const char *symbols_name,
                        const softqam_demodulator_config *config, const void *values, size_t n_symbols)
{
    enum { TILE_BITS = 4096 };
    uint8_t bits[TILE_BITS], sent[TILE_BITS];
    const size_t n_bits = softqam_bits_per_symbol(config->modulation), n = n_symbols * n_bits;
    const size_t value_nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1) / n_bits;
    for (size_t first = 0; comparison->sent.item && first < n; first += TILE_BITS) {
        const size_t n_tile = n - first < TILE_BITS ? n - first : TILE_BITS;
        unsigned all = 0, n_wrong = 0;
        hard_bits_decide(config->output_format, config->sign, (const char *)values + first * value_nbytes, n_tile,
                         bits);
        if (!side_file_read(&comparison->sent, symbols_name, sent, n_tile))
            return false;
        for (size_t i = 0; i < n_tile; i++) {
            all |= sent[i];
            n_wrong += bits[i] != sent[i];
        }
        if (all > 1) {
            message_print(comparison->sent.file.name, "not bits: a byte is neither 0 nor 1");
            return false;
        }
        comparison->n_wrong += n_wrong;
    }
    return true;
}
