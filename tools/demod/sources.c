/* SPDX-License-Identifier: MIT */
/* What is read: the symbols of INPUT, and files with values for each of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "run.h"

bool symbol_source_open(struct symbol_source *source, const char *path)
{
    source->nbytes = file_format_symbol_nbytes(source->format);
    source->n_symbols = -1;
    return input_file_open(&source->file, path);
}

static bool is_whole(const struct symbol_source *source, uint64_t nbytes)
{
    return source->ignores_partial || input_file_is_whole(&source->file, nbytes, "symbol", source->nbytes);
}

bool symbol_source_select(struct symbol_source *source, uint64_t first, uint64_t n_symbols)
{
    uint64_t n_skipped;
    source->is_at_start = source->is_at_start && first == 0;
    if (!input_file_select(&source->file, first * source->nbytes,
                           n_symbols < UINT64_MAX ? n_symbols * source->nbytes : UINT64_MAX, &n_skipped))
        return false;
    if (source->file.nbytes >= 0)
        source->n_symbols = source->file.nbytes / (int64_t)source->nbytes;
    return n_skipped == first * source->nbytes ||
           message_print(source->file.name, "has only %" PRIu64 " symbols, so --skip %" PRIu64 " leaves nothing",
                         n_skipped / source->nbytes, first);
}

bool symbol_source_start(struct symbol_source *source, uint64_t skip)
{
    return (source->file.nbytes < 0 || is_whole(source, (uint64_t)source->file.nbytes)) &&
           symbol_source_select(source, skip, UINT64_MAX);
}

bool symbol_source_peek(struct symbol_source *source, void *symbols, size_t n, size_t *n_read)
{
    size_t nbytes;
    if (source->n_symbols >= 0 && (uint64_t)source->n_symbols < n)
        n = (size_t)source->n_symbols;
    if (!input_file_peek(&source->file, symbols, n * source->nbytes, &nbytes))
        return false;
    *n_read = nbytes / source->nbytes;
    file_format_convert(source->format, source->is_big_endian, symbols, *n_read);
    return true;
}

bool symbol_source_read(struct symbol_source *source, void *symbols, size_t n, const struct input_taker *taker,
                        size_t *n_read, bool *is_end)
{
    unsigned char *bytes = symbols;
    const size_t n_rest = source->n_rest;
    size_t n_new;
    memcpy(bytes, source->rest, n_rest);
    const bool read = input_file_read_available(&source->file, bytes + n_rest, n * source->nbytes - n_rest,
                                                source->nbytes - n_rest, taker, &n_new, is_end);
    if (source->is_at_start && n_new > 0)
        source->foreign = file_format_foreign(bytes, n_rest + n_new);
    source->is_at_start = false;
    *n_read = (n_rest + n_new) / source->nbytes;
    source->n_rest = (n_rest + n_new) % source->nbytes;
    memcpy(source->rest, bytes + *n_read * source->nbytes, source->n_rest);
    file_format_convert(source->format, source->is_big_endian, symbols, *n_read);
    if (!read || !*is_end)
        return read;
    source->n_ignored += source->n_rest;
    return is_whole(source, source->n_rest);
}

bool side_file_open(struct side_file *side, const char *path, const char *item, unsigned n_values, size_t value_nbytes)
{
    if (!path)
        return true;
    *side = (struct side_file){.item = item, .n_values = n_values, .value_nbytes = value_nbytes};
    return input_file_open(&side->file, path);
}

bool side_file_select(struct side_file *side, uint64_t first, uint64_t n_symbols)
{
    const uint64_t nbytes = side->n_values * side->value_nbytes; /* of a symbol */
    uint64_t n_skipped;
    return !side->item || input_file_select(&side->file, first * nbytes,
                                            n_symbols < UINT64_MAX ? n_symbols * nbytes : UINT64_MAX, &n_skipped);
}

bool side_file_start(struct side_file *side, const struct symbol_source *symbols, uint64_t skip)
{
    side->symbols_name = symbols->file.name;
    const uint64_t n_symbols = (uint64_t)symbols->n_symbols;
    char each[16] = "";
    if (!side_file_select(side, skip, UINT64_MAX))
        return false;
    if (!side->item || side->file.nbytes < 0 || symbols->n_symbols < 0)
        return true;
    const uint64_t nbytes = (uint64_t)side->file.nbytes, n = nbytes / side->value_nbytes;
    if (!input_file_is_whole(&side->file, nbytes, side->item, side->value_nbytes))
        return false;
    if (side->n_values > 1)
        snprintf(each, sizeof each, " of %u", side->n_values);
    return n == n_symbols * side->n_values ||
           message_print(side->file.name, "has %" PRIu64 " %s%s, but %s has %" PRIu64 " symbol%s%s", n, side->item,
                         PLURAL(n), symbols->file.name, n_symbols, PLURAL(n_symbols), each);
}

bool side_file_read(struct side_file *side, void *values, size_t n)
{
    size_t nbytes;
    if (!side->item)
        return true;
    if (!input_file_read(&side->file, values, n * side->value_nbytes, &nbytes) ||
        !input_file_is_whole(&side->file, nbytes, side->item, side->value_nbytes))
        return false;
    side->n_read += nbytes / side->value_nbytes;
    return nbytes == n * side->value_nbytes ||
           message_print(side->file.name, "ends after %" PRIu64 " %s%s, but %s has more symbols", side->n_read,
                         side->item, PLURAL(side->n_read), side->symbols_name);
}

bool side_file_end(struct side_file *side)
{
    char byte;
    size_t n_read = 0;
    if (!side->item || side->file.limit != UINT64_MAX)
        return true;
    return input_file_read(&side->file, &byte, sizeof byte, &n_read) &&
           (n_read == 0 || message_print(side->file.name, "goes on after %" PRIu64 " %s%s, but %s has no more symbols",
                                         side->n_read, side->item, PLURAL(side->n_read), side->symbols_name));
}

bool bit_comparison_add(struct bit_comparison *comparison, const softqam_demodulator_config *config, const void *values,
                        size_t n_symbols)
{
    enum { TILE_BITS = 4096 };
    uint8_t bits[TILE_BITS], sent[TILE_BITS];
    const size_t n_bits = softqam_bits_per_symbol(config->modulation), n = n_symbols * n_bits;
    const size_t value_nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1) / n_bits;
    for (size_t first = 0; comparison->sent.item && first < n; first += TILE_BITS) {
        const size_t n_tile = n - first < TILE_BITS ? n - first : TILE_BITS;
        unsigned all = 0, n_wrong = 0;
        sample_format_decide(config->output_format, config->sign, (const char *)values + first * value_nbytes, n_tile,
                             bits);
        if (!side_file_read(&comparison->sent, sent, n_tile))
            return false;
        for (size_t i = 0; i < n_tile; i++) {
            all |= sent[i];
            n_wrong += bits[i] != sent[i];
        }
        if (all > 1)
            return message_print(comparison->sent.file.name, "not bits: a byte is neither 0 nor 1");
        comparison->n_wrong += n_wrong;
    }
    return true;
}
