/* SPDX-License-Identifier: MIT */
#include "sample_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "binary16.h"
#include "file_name.h"
#include "message.h"

/* Its suffixes, of which each without its dot is a name; the first is the one that messages have. */
struct format {
    const char *suffixes[4];
    int value;
};

/* The first four are the library's, in which symbols are written. */
static const struct format symbol_formats[] = {
    {{".cf32", ".fc32", ".cfile"}, FILE_CF32},
    {{".cs16", ".sc16", ".ci16"}, FILE_CS16},
    {{".cs8", ".sc8", ".ci8"}, FILE_CS8},
    {{".cf16"}, FILE_CF16},
    {{".cu8"}, FILE_CU8},
    {{".cs32", ".ci32"}, FILE_CS32},
    {{".cf64"}, FILE_CF64},
};

#define LLR_SUFFIX(value, name) {{"." name}, OUTPUT_##value},
/* clang-format off */
static const struct format soft_bit_formats[] = {
    {{".u8"}, OUTPUT_U8},
    LLR_FORMAT_LIST(LLR_SUFFIX)
    {{".hard"}, OUTPUT_HARD},
    {{".bits"}, OUTPUT_BITS},
};
/* clang-format on */

enum { N_SYMBOL_FORMATS = sizeof symbol_formats / sizeof symbol_formats[0] };

/* What a file may hold; without a suffix the first. */
struct contents {
    const struct format *formats;
    size_t n;
    const char *what;
};

static const struct contents contents_of[] = {
    [FILE_SYMBOLS_IN] = {symbol_formats, N_SYMBOL_FORMATS, "symbols"},
    [FILE_SYMBOLS_OUT] = {symbol_formats, 4, "symbols"},
    [FILE_SOFT_BITS] = {soft_bit_formats, N_OUTPUT_KINDS, "soft bits or LLRs"},
};

/* The format with a suffix, in any case, which starts at the dot or after it, and how the table has it; NULL for none.
 */
static const struct format *find(const struct contents *contents, const char *suffix, const char **in_table)
{
    const bool has_dot = suffix && *suffix == '.';
    for (size_t i = 0; suffix && i < contents->n; i++)
        for (const char *const *known = contents->formats[i].suffixes; *known; known++)
            if (!strcasecmp(*known + !has_dot, suffix)) {
                *in_table = *known;
                return &contents->formats[i];
            }
    return NULL;
}

enum { LIST_NBYTES = 64 };

static const char *list_names(const struct contents *contents, char list[LIST_NBYTES])
{
    size_t length = 0;
    for (size_t i = 0; i < contents->n; i++)
        length += (size_t)snprintf(list + length, LIST_NBYTES - length, "%s%s", i ? ", " : "",
                                   contents->formats[i].suffixes[0] + 1);
    return list;
}

int sample_format_choose(enum file_contents kind, const char *option, const char *named, const char *path)
{
    const struct contents *contents = &contents_of[kind];
    const struct contents *other = &contents_of[kind == FILE_SOFT_BITS ? FILE_SYMBOLS_IN : FILE_SOFT_BITS];
    const char *suffix = file_name_suffix(path);
    const char *in_table;
    const struct format *format = find(contents, named ? named : suffix, &in_table);
    char list[LIST_NBYTES];
    if (format && !(named && *named == '.'))
        return format->value;
    if (named)
        message_print(option, "'%s' is not one of %s", named, list_names(contents, list));
    else if (find(other, suffix, &in_table)) /* such as swapped operands, which would replace the capture */
        message_print(path, "suffix %s means %s, not %s; %s overrides it", in_table, other->what, contents->what,
                      option);
    else if (suffix) /* any choice would be a guess */
        message_print(path, "suffix %s is unknown; %s names the format: %s", suffix, option,
                      list_names(contents, list));
    else
        return contents->formats[0].value;
    return -1;
}

const char *sample_format_name(enum output_kind kind) { return soft_bit_formats[kind].suffixes[0] + 1; }

const char *sample_format_input_name(enum file_format format)
{
    return symbol_formats[format - FILE_CF32].suffixes[0] + 1;
}

#define NAME_OF_LLRS(value, name)                                                                                      \
    case SOFTQAM_OUTPUT_##value:                                                                                       \
        return name;

const char *sample_format_output_name(softqam_output_format format)
{
    switch (format) {
        LLR_FORMAT_LIST(NAME_OF_LLRS)
    case SOFTQAM_OUTPUT_U8:
        return sample_format_name(OUTPUT_U8);
    }
    return "unknown";
}

#define LIBRARY_LLRS(value, name)                                                                                      \
    case OUTPUT_##value:                                                                                               \
        return SOFTQAM_OUTPUT_##value;

softqam_output_format sample_format_library(enum output_kind kind)
{
    switch (kind) {
    case OUTPUT_U8:
        return SOFTQAM_OUTPUT_U8;
        LLR_FORMAT_LIST(LIBRARY_LLRS)
    case OUTPUT_HARD:
    case OUTPUT_BITS:
    case N_OUTPUT_KINDS:
        break;
    }
    return SOFTQAM_OUTPUT_F32;
}

void sample_format_widen(softqam_input_format format, const void *samples, size_t n_symbols, float scale,
                         float *components)
{
    const size_t n = 2 * n_symbols;
    if (format == SOFTQAM_INPUT_CS16)
        for (size_t i = 0; i < n; i++)
            components[i] = (float)((const int16_t *)samples)[i] * scale;
    else if (format == SOFTQAM_INPUT_CS8)
        for (size_t i = 0; i < n; i++)
            components[i] = (float)((const int8_t *)samples)[i] * scale;
    else if (format == SOFTQAM_INPUT_CF16)
        for (size_t i = 0; i < n; i++)
            components[i] = binary16_to_float(((const uint16_t *)samples)[i]) * scale;
    else
        for (size_t i = 0; i < n; i++)
            components[i] = ((const float *)samples)[i] * scale;
}

/* A component as a whole number from -limit - 1 to limit; counts it when it was outside. */
static double clip(double component, double scale, double limit, uint64_t *n_clipped)
{
    const double rounded = rint(component / scale);
    if (rounded >= -limit - 1 && rounded <= limit)
        return rounded;
    ++*n_clipped;
    return rounded < 0 ? -limit - 1 : limit;
}

/* A component as the nearest binary16; counts it when it was outside. */
static uint16_t narrow(double component, double scale, uint64_t *n_clipped)
{
    const double scaled = component / scale;
    *n_clipped += fabs(scaled) >= BINARY16_OVERFLOW;
    return binary16_from_double(scaled);
}

uint64_t sample_format_quantise(softqam_input_format format, const double *components, size_t n_symbols, double scale,
                                void *samples)
{
    const size_t n = 2 * n_symbols;
    uint64_t n_clipped = 0;
    if (format == SOFTQAM_INPUT_CS16)
        for (size_t i = 0; i < n; i++)
            ((int16_t *)samples)[i] = (int16_t)clip(components[i], scale, INT16_MAX, &n_clipped);
    else if (format == SOFTQAM_INPUT_CS8)
        for (size_t i = 0; i < n; i++)
            ((int8_t *)samples)[i] = (int8_t)clip(components[i], scale, INT8_MAX, &n_clipped);
    else if (format == SOFTQAM_INPUT_CF16)
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)samples)[i] = narrow(components[i], scale, &n_clipped);
    else
        for (size_t i = 0; i < n; i++)
            ((float *)samples)[i] = (float)(components[i] / scale);
    return n_clipped;
}

static const struct {
    softqam_input_format library;
    size_t component_nbytes;
} file_formats[] = {
    [FILE_CF32] = {SOFTQAM_INPUT_CF32, 4}, [FILE_CS16] = {SOFTQAM_INPUT_CS16, 2}, [FILE_CS8] = {SOFTQAM_INPUT_CS8, 1},
    [FILE_CF16] = {SOFTQAM_INPUT_CF16, 2}, [FILE_CU8] = {SOFTQAM_INPUT_CS8, 1},   [FILE_CS32] = {SOFTQAM_INPUT_CF32, 4},
    [FILE_CF64] = {SOFTQAM_INPUT_CF32, 8}};

softqam_input_format file_format_library(enum file_format format) { return file_formats[format].library; }

size_t file_format_symbol_nbytes(enum file_format format) { return 2 * file_formats[format].component_nbytes; }

float file_format_default_scale(enum file_format format)
{
    return format == FILE_CS32 ? 0x1p-31F : softqam_input_default_scale(file_formats[format].library);
}

/* A symbol as GNU Radio's pmt writes it, which is the first key of a dictionary: tag, length and name. */
static bool is_gnu_radio(const unsigned char *bytes, size_t nbytes)
{
    if (nbytes < 5 || (bytes[0] != 7 && bytes[0] != 9) || bytes[1] != 7 || bytes[2] != 2 || bytes[3] != 0 ||
        bytes[4] == 0 || nbytes < 5 + (size_t)bytes[4])
        return false;
    for (size_t i = 5; i < 5 + (size_t)bytes[4]; i++)
        if (bytes[i] != '_' && (bytes[i] < 'a' || bytes[i] > 'z'))
            return false;
    return true;
}

const char *file_format_foreign(const void *bytes, size_t nbytes)
{
    static const struct {
        size_t offset;
        const char *magic, *what;
    } known[] = {{257, "ustar", "a tar archive; unpack it"},
                 {0, "RIFF", "a WAV file; convert it"},
                 {0, "\x93NUMPY", "a NumPy array; its tofile() writes plain samples"},
                 {0, "MATLAB ", "a MATLAB file; its fwrite() writes plain samples"},
                 {0, "\x89HDF\r\n", "an HDF5 file; convert it"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t length = strlen(known[i].magic);
        if (nbytes >= known[i].offset + length &&
            !memcmp((const char *)bytes + known[i].offset, known[i].magic, length))
            return known[i].what;
    }
    return is_gnu_radio(bytes, nbytes) ? "a header of GNU Radio's; a detached one leaves plain samples" : NULL;
}

void file_format_swap(enum file_format format, void *samples, size_t n_symbols)
{
    const size_t nbytes = file_formats[format].component_nbytes;
    unsigned char *word = samples;
    for (const unsigned char *end = word + 2 * n_symbols * nbytes; word < end; word += nbytes) {
        for (size_t k = 0; k < nbytes / 2; k++) {
            const unsigned char first = word[k];
            word[k] = word[nbytes - 1 - k];
            word[nbytes - 1 - k] = first;
        }
    }
}

void file_format_convert(enum file_format format, void *samples, size_t n_symbols)
{
    unsigned char *bytes = samples;
    const size_t n = 2 * n_symbols;
    if (format == FILE_CU8)
        for (size_t i = 0; i < n; i++)
            bytes[i] ^= 0x80;
    if (format == FILE_CS32) {
        for (size_t i = 0; i < n; i++) {
            int32_t word;
            memcpy(&word, bytes + i * sizeof word, sizeof word);
            const float value = (float)word;
            memcpy(bytes + i * sizeof value, &value, sizeof value);
        }
    }
    if (format == FILE_CF64) {
        for (size_t i = 0; i < n; i++) {
            double component;
            memcpy(&component, bytes + i * sizeof component, sizeof component);
            const float value = (float)component;
            memcpy(bytes + i * sizeof value, &value, sizeof value);
        }
    }
}
