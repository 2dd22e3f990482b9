/* SPDX-License-Identifier: MIT */
/* The files of vectors/ through the public API: every input NAME.cf32, NAME.cs16 or NAME.cs8 must give NAME.u8, to the
 * last byte, however it is cut into calls; and NAME.u8 must still be what liquid-dsp says. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "oracle.h"

typedef struct vector {
    char name[64];
    softqam_input_format format;
    size_t n_symbols;
    uint8_t *samples;
    uint8_t *soft_bits;
} vector;

typedef struct vector_list {
    vector *items;
    size_t n_items;
} vector_list;

static const struct {
    const char *suffix;
    softqam_input_format format;
} formats[] = {
    {".cf32", SOFTQAM_INPUT_CF32},
    {".cs16", SOFTQAM_INPUT_CS16},
    {".cs8", SOFTQAM_INPUT_CS8},
};

/* The whole file in memory that the caller frees. */
static uint8_t *read_file(const char *name, size_t *nbytes)
{
    char path[4096];
    const int length = snprintf(path, sizeof(path), "%s/%s", SOFTQAM_VECTORS_DIR, name);
    assert_in_range(length, 1, sizeof(path) - 1);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("%s: %s", path, strerror(errno));
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    *nbytes = (size_t)size;
    uint8_t *bytes = harness_alloc(*nbytes);
    assert_int_equal(fread(bytes, 1, *nbytes, file), *nbytes);
    fclose(file);
    return bytes;
}

static void add_vector(vector_list *list, const char *input_name, size_t stem_length, softqam_input_format format)
{
    list->items = realloc(list->items, (list->n_items + 1) * sizeof(*list->items));
    assert_non_null(list->items);
    vector *self = &list->items[list->n_items++];
    assert_in_range(strlen(input_name), 1, sizeof(self->name) - 1);
    strcpy(self->name, input_name);
    self->format = format;

    size_t nbytes;
    self->samples = read_file(input_name, &nbytes);
    self->n_symbols = nbytes / softqam_input_symbol_nbytes(format);
    assert_int_equal(nbytes % softqam_input_symbol_nbytes(format), 0);
    assert_true(self->n_symbols > 0);

    char expected_name[sizeof(self->name)];
    snprintf(expected_name, sizeof(expected_name), "%.*s.u8", (int)stem_length, input_name);
    self->soft_bits = read_file(expected_name, &nbytes);
    assert_int_equal(nbytes, self->n_symbols * HARNESS_SYMBOL_BITS);
}

/* Every u8 file belongs to exactly one input, so that none lies there unused. */
static int open_vectors(void **state)
{
    vector_list *list = harness_alloc(sizeof(*list));
    *list = (vector_list){NULL, 0};
    size_t n_expected = 0;
    DIR *directory = opendir(SOFTQAM_VECTORS_DIR);
    if (!directory) {
        fail_msg("%s: %s", SOFTQAM_VECTORS_DIR, strerror(errno));
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *suffix = strrchr(entry->d_name, '.');
        n_expected += suffix && strcmp(suffix, ".u8") == 0;
        for (size_t f = 0; suffix && f < HARNESS_COUNT(formats); f++) {
            if (strcmp(suffix, formats[f].suffix) == 0) {
                add_vector(list, entry->d_name, (size_t)(suffix - entry->d_name), formats[f].format);
            }
        }
    }
    closedir(directory);
    if (list->n_items == 0) {
        fail_msg("no vectors in %s", SOFTQAM_VECTORS_DIR);
    }
    if (list->n_items != n_expected) {
        fail_msg("%s: %zu inputs, %zu u8 files", SOFTQAM_VECTORS_DIR, list->n_items, n_expected);
    }
    *state = list;
    return 0;
}

static int close_vectors(void **state)
{
    vector_list *list = *state;
    for (size_t v = 0; v < list->n_items; v++) {
        free(list->items[v].samples);
        free(list->items[v].soft_bits);
    }
    free(list->items);
    free(list);
    return 0;
}

/* The samples as the oracle takes them. */
static float *scaled_symbols(const vector *self)
{
    const float scale = softqam_input_default_scale(self->format);
    const size_t n_components = 2 * self->n_symbols;
    float *symbols = harness_alloc(n_components * sizeof(*symbols));
    if (self->format == SOFTQAM_INPUT_CF32) {
        memcpy(symbols, self->samples, n_components * sizeof(*symbols));
        return symbols;
    }
    for (size_t c = 0; c < n_components; c++) {
        int16_t wide;
        if (self->format == SOFTQAM_INPUT_CS16) {
            memcpy(&wide, self->samples + c * sizeof(wide), sizeof(wide));
        } else {
            wide = (int8_t)self->samples[c];
        }
        symbols[c] = (float)wide * scale;
    }
    return symbols;
}

static void default_scales_are_those_of_the_files(void **state)
{
    (void)state;
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CF32) == 1.0f);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CS16) == 1.0f / 32768);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CS8) == 1.0f / 128);
}

static void files_are_what_the_oracle_says(void **state)
{
    const vector_list *list = *state;
    oracle *reference = oracle_create();
    assert_non_null(reference);
    bool equal = true;
    for (size_t v = 0; v < list->n_items; v++) {
        const vector *self = &list->items[v];
        float *symbols = scaled_symbols(self);
        uint8_t *soft_bits = harness_alloc(self->n_symbols * HARNESS_SYMBOL_BITS);
        oracle_soft_bits(reference, symbols, self->n_symbols, soft_bits);
        equal &= harness_soft_bits_equal(self->name, symbols, self->soft_bits, soft_bits, self->n_symbols);
        free(soft_bits);
        free(symbols);
    }
    oracle_destroy(reference);
    assert_true(equal);
}

/* `call` symbols a call; 0 is all of them in one. */
static bool library_agrees(const vector *self, size_t call)
{
    softqam_config config = harness_config();
    config.input_format = self->format;
    softqam_demodulator *demodulator = harness_create(&config);
    uint8_t *soft_bits = harness_alloc(self->n_symbols * HARNESS_SYMBOL_BITS);
    harness_poison(soft_bits, self->soft_bits, self->n_symbols * HARNESS_SYMBOL_BITS);

    const size_t symbol_nbytes = softqam_input_symbol_nbytes(self->format);
    const size_t step = call ? call : self->n_symbols;
    for (size_t first = 0; first < self->n_symbols; first += step) {
        const size_t n = self->n_symbols - first < step ? self->n_symbols - first : step;
        harness_demodulate(demodulator, self->samples + first * symbol_nbytes, n,
                           soft_bits + first * HARNESS_SYMBOL_BITS);
    }
    softqam_destroy(demodulator);

    char what[128];
    snprintf(what, sizeof(what), "%s, %zu symbols a call", self->name, step);
    float *symbols = scaled_symbols(self);
    const bool equal = harness_soft_bits_equal(what, symbols, self->soft_bits, soft_bits, self->n_symbols);
    free(symbols);
    free(soft_bits);
    return equal;
}

static void library_agrees_with_all(void **state, size_t call)
{
    const vector_list *list = *state;
    bool equal = true;
    for (size_t v = 0; v < list->n_items; v++) {
        equal &= library_agrees(&list->items[v], call);
    }
    assert_true(equal);
}

static void whole(void **state)
{
    library_agrees_with_all(state, 0);
}

static void seven_symbols_a_call(void **state)
{
    library_agrees_with_all(state, 7);
}

static void one_symbol_a_call(void **state)
{
    library_agrees_with_all(state, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_vectors, close_vectors)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(default_scales_are_those_of_the_files),
        TEST(files_are_what_the_oracle_says),
        TEST(whole),
        TEST(seven_symbols_a_call),
        TEST(one_symbol_a_call),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
