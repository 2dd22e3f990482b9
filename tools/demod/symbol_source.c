/* SPDX-License-Identifier: MIT */
#include "symbol_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

bool symbol_source_open(struct symbol_source *source, const char *path, enum file_format format,
                        const struct sigmf_input *recording)
{
    source->recording = recording;
    source->format = format;
    source->nbytes = file_format_symbol_nbytes(format);
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
    if (n_skipped == first * source->nbytes)
        return true;
    message_print(source->file.name, "has only %" PRIu64 " symbols, so --skip %" PRIu64 " leaves nothing",
                  n_skipped / source->nbytes, first);
    return false;
}

bool symbol_source_start(struct symbol_source *source, uint64_t skip)
{
    const struct input_file *file = &source->file;
    source->is_at_start = source->recording->document == NULL;
    return (file->nbytes < 0 || is_whole(source, (uint64_t)file->nbytes)) &&
           symbol_source_select(source, skip, UINT64_MAX);
}

/* Makes the library's symbols of the file's. */
static void convert(const struct symbol_source *source, void *symbols, size_t n)
{
    if (source->recording->is_big_endian)
        file_format_swap(source->format, symbols, n);
    file_format_convert(source->format, symbols, n);
}

bool symbol_source_peek(struct symbol_source *source, void *symbols, size_t n, size_t *n_read)
{
    size_t nbytes;
    if (source->n_symbols >= 0 && (uint64_t)source->n_symbols < n)
        n = (size_t)source->n_symbols;
    if (!input_file_peek(&source->file, symbols, n * source->nbytes, &nbytes))
        return false;
    *n_read = nbytes / source->nbytes;
    convert(source, symbols, *n_read);
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
    convert(source, symbols, *n_read);
    if (!read || !*is_end)
        return read;
    source->n_ignored += source->n_rest;
    return is_whole(source, source->n_rest);
}

void symbol_source_close(struct symbol_source *source) { input_file_close(&source->file); }
