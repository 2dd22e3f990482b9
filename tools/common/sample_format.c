/* SPDX-License-Identifier: MIT */
#include "sample_format.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "message.h"

/* The rows are in the order of FILE_ values. The first four formats are the library's, in which symbols are written
 * too. */
const struct file_format_row file_formats[N_FILE_FORMATS] = {
    {{".cf32", ".fc32", ".cfile"}, FILE_CF32, SOFTQAM_INPUT_CF32, 8, 1, "cf32_le"},
    {{".cs16", ".sc16", ".ci16"}, FILE_CS16, SOFTQAM_INPUT_CS16, 4, 0x1p-13F, "ci16_le"},
    {{".cs8", ".sc8", ".ci8"}, FILE_CS8, SOFTQAM_INPUT_CS8, 2, 0x1p-6F, "ci8"},
    {{".cf16"}, FILE_CF16, SOFTQAM_INPUT_CF16, 4, 1, NULL},
    {{".cu8"}, FILE_CU8, SOFTQAM_INPUT_CS8, 2, 0x1p-6F, "cu8"},
    {{".cs32", ".ci32"}, FILE_CS32, SOFTQAM_INPUT_CF32, 8, 0x1p-29F, "ci32_le"},
    {{".cf64"}, FILE_CF64, SOFTQAM_INPUT_CF32, 16, 1, "cf64_le"},
    {{".cu8h"}, FILE_CU8_HALF, SOFTQAM_INPUT_CF32, 2, 0x1p-6F, NULL},
    {{".cf32be"}, FILE_CF32_BE, SOFTQAM_INPUT_CF32, 8, 1, "cf32_be"},
    {{".cs16be"}, FILE_CS16_BE, SOFTQAM_INPUT_CS16, 4, 0x1p-13F, "ci16_be"},
    {{".cs32be"}, FILE_CS32_BE, SOFTQAM_INPUT_CF32, 8, 0x1p-29F, "ci32_be"},
    {{".cf64be"}, FILE_CF64_BE, SOFTQAM_INPUT_CF32, 16, 1, "cf64_be"},
};

static const struct file_format_row soft_bit_formats[] = {
    {.suffixes = {".u8"}, .value = OUTPUT_U8},     {.suffixes = {".s8"}, .value = OUTPUT_S8},
    {.suffixes = {".s16"}, .value = OUTPUT_S16},   {.suffixes = {".f16"}, .value = OUTPUT_F16},
    {.suffixes = {".f32"}, .value = OUTPUT_F32},   {.suffixes = {".hard"}, .value = OUTPUT_HARD},
    {.suffixes = {".bits"}, .value = OUTPUT_BITS},
};

/* The formats of a file by its contents; the first is that of a name without a suffix. */
static const struct {
    const struct file_format_row *formats;
    size_t n;
    const char *what;
} contents_of[] = {
    [FILE_SYMBOLS_IN] = {file_formats, N_FILE_FORMATS, "symbols"},
    [FILE_SYMBOLS_OUT] = {file_formats, 4, "symbols"},
    [FILE_SOFT_BITS] = {soft_bit_formats, sizeof soft_bit_formats / sizeof soft_bit_formats[0], "soft bits or LLRs"},
};

/* Returns the format's suffix that equals this one in upper or lower case, without its dot; NULL if there is none. */
static const char *find_suffix(const struct file_format_row *format, const char *suffix)
{
    const char *const *known = format->suffixes;
    while (*known && strcasecmp(*known + 1, suffix) != 0)
        known++;
    return *known;
}

/* Returns the last dot of a file's name and what follows it; NULL if nothing follows, or if all dots are at the start.
 */
static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base + strspn(base, "."), '.');
    return dot && dot[1] ? dot : NULL;
}

int sample_format_choose(enum file_contents kind, const char *option, const char *named, const char *path)
{
    const enum file_contents other = kind == FILE_SOFT_BITS ? FILE_SYMBOLS_IN : FILE_SOFT_BITS;
    const struct file_format_row *formats = contents_of[kind].formats;
    const char *suffix = suffix_of(path), *wanted = named ? named : suffix ? suffix + 1 : NULL, *of_other = NULL;
    char list[128] = "";
    for (size_t i = 0, length = 0; i < contents_of[kind].n; i++) {
        if (!wanted || find_suffix(&formats[i], wanted))
            return formats[i].value;
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", formats[i].suffixes[0] + 1);
    }
    for (size_t i = 0; suffix && i < contents_of[other].n && !of_other; i++)
        of_other = find_suffix(&contents_of[other].formats[i], suffix + 1);
    if (named)
        message_print(option, "'%s' is not one of %s", named, list);
    else if (of_other) /* such as swapped operands, which would replace the capture */
        message_print(path, "suffix %s means %s, not %s; %s overrides it", of_other, contents_of[other].what,
                      contents_of[kind].what, option);
    else /* any choice would be a guess */
        message_print(path, "suffix %s is unknown; %s names the format: %s", suffix, option, list);
    return -1;
}

const char *sample_format_name(enum output_kind kind)
{
    const struct file_format_row *format = soft_bit_formats;
    while (format->value != (int)kind)
        format++;
    return format->suffixes[0] + 1;
}

void sample_format_decide(softqam_output_format format, softqam_sign sign, const void *values, size_t n, uint8_t *bits)
{
    const unsigned positive = sign == SOFTQAM_SIGN_POSITIVE_IS_1;
    const double neutral = format == SOFTQAM_OUTPUT_U8 ? 127 : 0;
    for (size_t i = 0; i < n; i++) {
        const double value = sample_format_value(format, values, i);
        bits[i] = (uint8_t)(value > neutral ? positive : value < neutral ? !positive : 0);
    }
}

/* A sign bit, five of exponent, ten of fraction. Numbers below 2^MIN_EXPONENT are subnormal. */
enum { FRACTION_BITS = 10, HIDDEN_BIT = 1 << FRACTION_BITS, MIN_EXPONENT = -14 };

uint16_t binary16_from_double(double x)
{
    const int sign = signbit(x) ? 0x8000 : 0;
    const double magnitude = fabs(x);
    if (magnitude >= 65520) /* half way from the largest number to the next one that the format would have */
        return (uint16_t)(sign | 0x7bff);
    const int exponent = magnitude >= ldexp(1, MIN_EXPONENT) ? ilogb(magnitude) : MIN_EXPONENT;
    const int units = (int)rint(ldexp(magnitude, FRACTION_BITS - exponent));
    /* The hidden bit of a normal number, and a carry from rounding, add to the exponent field. */
    return (uint16_t)(sign | (units + (exponent - MIN_EXPONENT) * HIDDEN_BIT));
}

static inline float widen(softqam_input_format format, const void *samples, size_t index)
{
    switch (format) {
    case SOFTQAM_INPUT_CS16:
        return ((const int16_t *)samples)[index];
    case SOFTQAM_INPUT_CS8:
        return ((const int8_t *)samples)[index];
    case SOFTQAM_INPUT_CF16:
        return binary16_to_float(((const uint16_t *)samples)[index]);
    case SOFTQAM_INPUT_CF32:
        break;
    }
    return ((const float *)samples)[index];
}

void sample_format_widen(softqam_input_format format, const void *samples, size_t n_symbols, float scale,
                         float *components)
{
    for (size_t i = 0; i < 2 * n_symbols; i++)
        components[i] = widen(format, samples, i) * scale;
}

/* Rounds to a whole number and clips it to -limit - 1 .. limit; counts it if it was outside. */
static double clip(double scaled, double limit, uint64_t *n_clipped)
{
    const double rounded = rint(scaled);
    if (rounded >= -limit - 1 && rounded <= limit)
        return rounded;
    ++*n_clipped;
    return rounded < 0 ? -limit - 1 : limit;
}

uint64_t sample_format_quantise(softqam_input_format format, const double *components, size_t n_symbols, double scale,
                                void *samples)
{
    uint64_t n_clipped = 0;
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        const double scaled = components[i] / scale;
        switch (format) {
        case SOFTQAM_INPUT_CS16:
            ((int16_t *)samples)[i] = (int16_t)clip(scaled, INT16_MAX, &n_clipped);
            break;
        case SOFTQAM_INPUT_CS8:
            ((int8_t *)samples)[i] = (int8_t)clip(scaled, INT8_MAX, &n_clipped);
            break;
        case SOFTQAM_INPUT_CF16:
            ((uint16_t *)samples)[i] = binary16_from_double(scaled);
            n_clipped += fabs(scaled) >= 65520;
            break;
        case SOFTQAM_INPUT_CF32:
            ((float *)samples)[i] = (float)fmax((double)-FLT_MAX, fmin(scaled, (double)FLT_MAX));
            n_clipped += fabs(scaled) > (double)FLT_MAX;
            break;
        }
    }
    return n_clipped;
}

void file_format_convert(enum file_format format, void *samples, size_t n_symbols)
{
    unsigned char *bytes = samples;
    const size_t nbytes = file_formats[format].symbol_nbytes / 2, n = 2 * n_symbols;
    union {
        unsigned char bytes[8];
        int32_t word;
        double number;
    } component;
    for (size_t i = 0; format >= FILE_CF32_BE && i < n * nbytes; i += nbytes)
        for (size_t k = 0; k < nbytes / 2; k++) {
            const unsigned char low = bytes[i + k];
            bytes[i + k] = bytes[i + nbytes - 1 - k];
            bytes[i + nbytes - 1 - k] = low;
        }
    for (size_t i = 0; format == FILE_CU8 && i < n; i++)
        bytes[i] ^= 0x80;
    for (size_t i = n; format == FILE_CU8_HALF && i-- > 0;)
        ((float *)samples)[i] = (float)bytes[i] - 127.5F;
    const bool is_word = format == FILE_CS32 || format == FILE_CS32_BE;
    for (size_t i = 0; (is_word || nbytes == sizeof(double)) && i < n; i++) {
        memcpy(component.bytes, bytes + i * nbytes, nbytes);
        const float value = is_word ? (float)component.word : (float)component.number;
        memcpy(bytes + i * sizeof value, &value, sizeof value);
    }
}
