/* SPDX-License-Identifier: MIT */
#include "file_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const struct {
    softqam_input_format library;
    size_t component_nbytes;
} formats[] = {
    [FILE_CF32] = {SOFTQAM_INPUT_CF32, 4}, [FILE_CS16] = {SOFTQAM_INPUT_CS16, 2}, [FILE_CS8] = {SOFTQAM_INPUT_CS8, 1},
    [FILE_CF16] = {SOFTQAM_INPUT_CF16, 2}, [FILE_CU8] = {SOFTQAM_INPUT_CS8, 1},   [FILE_CS32] = {SOFTQAM_INPUT_CF32, 4},
    [FILE_CF64] = {SOFTQAM_INPUT_CF32, 8}};

softqam_input_format file_format_library(enum file_format format) { return formats[format].library; }

size_t file_format_symbol_nbytes(enum file_format format) { return 2 * formats[format].component_nbytes; }

float file_format_default_scale(enum file_format format)
{
    return format == FILE_CS32 ? 0x1p-31F : softqam_input_default_scale(formats[format].library);
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
    const size_t nbytes = formats[format].component_nbytes;
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
