/* SPDX-License-Identifier: MIT */
#include "sample_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "binary16.h"
#include "file_name.h"
#include "message.h"

struct named_format {
    const char *name;
    const char *suffixes[4];
    int value;
};

/* clang-format off */
#define LIBRARY_FORMATS \
    {"cf32", {".cf32", ".fc32", ".cfile"}, FILE_CF32}, \
    {"cs16", {".cs16", ".sc16", ".ci16"}, FILE_CS16}, \
    {"cs8", {".cs8", ".sc8", ".ci8"}, FILE_CS8}, \
    {"cf16", {".cf16"}, FILE_CF16}
/* clang-format on */

/* What is written, and what is read. */
static const struct named_format symbol_formats[] = {LIBRARY_FORMATS, {NULL, {NULL}, 0}};
static const struct named_format input_formats[] = {
    LIBRARY_FORMATS,
    {"cu8", {".cu8"}, FILE_CU8},
    {"cs32", {".cs32", ".ci32"}, FILE_CS32},
    {"cf64", {".cf64"}, FILE_CF64},
    {NULL, {NULL}, 0},
};

/* clang-format off */
#define NAMED_LLRS(value, name) [OUTPUT_##value] = {name, {"." name}, OUTPUT_##value},
static const struct named_format soft_bit_formats[] = {
    [OUTPUT_U8] = {"u8", {".u8"}, OUTPUT_U8},
    LLR_FORMAT_LIST(NAMED_LLRS)
    [OUTPUT_HARD] = {"hard", {".hard"}, OUTPUT_HARD},
    [OUTPUT_BITS] = {"bits", {".bits"}, OUTPUT_BITS},
    [N_OUTPUT_KINDS] = {NULL, {NULL}, 0},
};
/* clang-format on */

/* A suffix without its dot is a name; each format's own is among them. */
static bool has_name(const struct named_format *format, const char *name)
{
    const char *const *suffix = format->suffixes;
    while (*suffix && strcasecmp(*suffix + 1, name) != 0)
        suffix++;
    return *suffix != NULL;
}

static const struct named_format *find_by_name(const struct named_format *formats, const char *name)
{
    while (formats->name && !has_name(formats, name))
        formats++;
    return formats->name ? formats : NULL;
}

/* The suffix of a format that a path has; NULL for none. */
static const char *find_suffix(const struct named_format *format, const char *path)
{
    const char *own = file_name_suffix(path);
    const char *const *suffix = format->suffixes;
    while (*suffix && (!own || strcasecmp(own, *suffix) != 0))
        suffix++;
    return *suffix;
}

static const struct named_format *find_by_suffix(const struct named_format *formats, const char *path)
{
    const struct named_format *format = formats;
    while (format->name && !find_suffix(format, path))
        format++;
    return format->name ? format : NULL;
}

enum { LIST_NBYTES = 64 };

static void list_names(const struct named_format *formats, char list[LIST_NBYTES])
{
    list[0] = '\0';
    for (const struct named_format *format = formats; format->name; format++) {
        const size_t length = strlen(list);
        snprintf(list + length, LIST_NBYTES - length, "%s%s", format == formats ? "" : ", ", format->name);
    }
}

static const struct named_format *find_named(const struct named_format *formats, const char *option, const char *name)
{
    const struct named_format *format = find_by_name(formats, name);
    char list[LIST_NBYTES];
    if (format)
        return format;
    list_names(formats, list);
    message_print(option, "'%s' is not one of %s", name, list);
    return NULL;
}

/* The format for a path that has a suffix of none of `formats`. */
static const struct named_format *choose_other(const struct named_format *formats, const char *option, const char *path,
                                               bool any_suffix)
{
    static const char *const contents[] = {"symbols", "soft bits or LLRs"};
    const bool is_soft_bits = formats == soft_bit_formats;
    const struct named_format *other = find_by_suffix(is_soft_bits ? input_formats : soft_bit_formats, path);
    const char *suffix = any_suffix ? NULL : file_name_suffix(path);
    char list[LIST_NBYTES];
    /* A suffix of the other table is a mistake, such as swapped operands, which would replace the capture. */
    if (other) {
        message_print(path, "suffix %s means %s, not %s; %s overrides it", find_suffix(other, path),
                      contents[!is_soft_bits], contents[is_soft_bits], option);
        return NULL;
    }
    /* The format that it stands for is none of these, so any choice would be wrong. */
    if (suffix) {
        list_names(formats, list);
        message_print(path, "suffix %s is unknown; %s names the format: %s", suffix, option, list);
        return NULL;
    }
    return formats; /* the first of each table */
}

static const struct named_format *choose(const struct named_format *formats, const char *option, const char *named,
                                         const char *path, bool any_suffix)
{
    if (named)
        return find_named(formats, option, named);
    const struct named_format *format = find_by_suffix(formats, path);
    return format ? format : choose_other(formats, option, path, any_suffix);
}

bool sample_format_for_input(const char *option, const char *named, const char *path, enum file_format *format)
{
    const struct named_format *found = choose(input_formats, option, named, path, false);
    if (found)
        *format = (enum file_format)found->value;
    return found != NULL;
}

bool sample_format_for_symbols(const char *option, const char *named, const char *path, softqam_input_format *format)
{
    const struct named_format *found = choose(symbol_formats, option, named, path, false);
    if (found)
        *format = (softqam_input_format)found->value;
    return found != NULL;
}

bool sample_format_for_soft_bits(const char *option, const char *named, const char *path, bool any_suffix,
                                 enum output_kind *kind)
{
    const struct named_format *found = choose(soft_bit_formats, option, named, path, any_suffix);
    if (found)
        *kind = (enum output_kind)found->value;
    return found != NULL;
}

bool sample_format_has_suffix(const char *path)
{
    return find_by_suffix(soft_bit_formats, path) || find_by_suffix(input_formats, path);
}

const char *sample_format_name(enum output_kind kind)
{
    return soft_bit_formats[kind].name;
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
