/* SPDX-License-Identifier: MIT */
#include "vector_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { N_SYMBOL_BITS = 8 };

static const struct {
    const char *suffix;
    softqam_input_format format;
} inputs[] = {
    {".cf32", SOFTQAM_INPUT_CF32},
    {".cs16", SOFTQAM_INPUT_CS16},
    {".cs8", SOFTQAM_INPUT_CS8},
    {".cf16", SOFTQAM_INPUT_CF16},
};
enum { N_INPUTS = sizeof inputs / sizeof inputs[0] };

static bool refuse(vector_list *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(vector_list *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->problem, sizeof self->problem, format, arguments);
    va_end(arguments);
    for (char *c = self->problem; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return false;
}

static bool is_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The file STEM SUFFIX of the directory, in memory that the caller frees; NULL where it is none. */
static uint8_t *read_file(vector_list *self, const char *directory, const char *name, size_t stem_length,
                          const char *suffix, size_t *nbytes)
{
    char path[PATH_MAX];
    const int stem = (int)stem_length;
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s/%.*s%s", directory, stem, name, suffix) >= (int)sizeof path) {
        refuse(self, "%.*s%s: %s", stem, name, suffix, strerror(errno));
        return NULL;
    }
    /* Asked before, as opening a pipe waits for somebody to write. */
    FILE *file = is_regular(path) ? fopen(path, "rb") : NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    uint8_t *bytes = size >= 0 && fseek(file, 0, SEEK_SET) == 0 ? malloc((size_t)size + 1) : NULL;
    if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    *nbytes = size >= 0 ? (size_t)size : 0;
    if (!bytes)
        refuse(self, "%.*s%s: missing, or no file that can be read", stem, name, suffix);
    return bytes;
}

static bool has_other_input(const vector_list *self, const char *name, size_t stem_length)
{
    for (size_t v = 0; v < self->n_items; v++) {
        const char *other = self->items[v].name;
        if (strncmp(other, name, stem_length) == 0 && strrchr(other, '.') == other + stem_length)
            return true;
    }
    return false;
}

static bool add_vector(vector_list *self, const char *directory, const char *name, size_t stem_length,
                       softqam_input_format format)
{
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(format);
    size_t nbytes;
    if (has_other_input(self, name, stem_length))
        return refuse(self, "%s: another input has the same soft bits", name);
    vector *items = realloc(self->items, (self->n_items + 1) * sizeof *items);
    if (!items)
        return refuse(self, "%s: out of memory", name);
    self->items = items;
    vector *item = &items[self->n_items++];
    *item = (vector){.format = format};
    snprintf(item->name, sizeof item->name, "%s", name);
    item->samples = read_file(self, directory, name, strlen(name), "", &nbytes);
    if (!item->samples)
        return false;
    if (nbytes == 0 || nbytes % symbol_nbytes != 0)
        return refuse(self, "%s: %zu bytes are not a whole number of symbols, or none", name, nbytes);
    item->n_symbols = nbytes / symbol_nbytes;
    item->soft_bits = read_file(self, directory, name, stem_length, ".u8", &nbytes);
    if (item->soft_bits && nbytes != item->n_symbols * N_SYMBOL_BITS)
        return refuse(self, "%s: %zu symbols, but %zu bytes of soft bits", name, item->n_symbols, nbytes);
    return item->soft_bits != NULL;
}

static bool add_file(vector_list *self, const char *directory, const char *name, size_t *n_soft_bits)
{
    const char *suffix = strrchr(name, '.');
    if (!suffix || suffix == name)
        return true;
    *n_soft_bits += strcmp(suffix, ".u8") == 0;
    for (size_t k = 0; k < N_INPUTS; k++)
        if (strcmp(suffix, inputs[k].suffix) == 0)
            return add_vector(self, directory, name, (size_t)(suffix - name), inputs[k].format);
    return true;
}

bool vector_list_open(vector_list *self, const char *directory)
{
    *self = (vector_list){NULL, 0, ""};
    DIR *entries = opendir(directory);
    if (!entries)
        return refuse(self, "%s: %s", directory, strerror(errno));
    size_t n_soft_bits = 0;
    bool sound = true;
    for (const struct dirent *entry; sound && (entry = readdir(entries)) != NULL;)
        sound = add_file(self, directory, entry->d_name, &n_soft_bits);
    closedir(entries);
    if (sound && self->n_items == 0)
        return refuse(self, "%s: no vectors", directory);
    /* Each input has its own, so that more of them are without one. */
    if (sound && self->n_items != n_soft_bits)
        return refuse(self, "%s: %zu inputs, %zu u8 files", directory, self->n_items, n_soft_bits);
    return sound;
}

void vector_list_close(vector_list *self)
{
    for (size_t v = 0; v < self->n_items; v++) {
        free(self->items[v].samples);
        free(self->items[v].soft_bits);
    }
    free(self->items);
    *self = (vector_list){NULL, 0, ""};
}
