/* SPDX-License-Identifier: MIT */
/* The files of vectors/ through the public API: every input must give its soft bits, NAME.u8, to the
 * last byte, however it is cut into calls; and NAME.u8 must still be what liquid-dsp says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "oracle.h"
#include "vector_files.h"

static int open_vectors(void **state)
{
    vector_list *list = harness_alloc(sizeof *list);
    if (!vector_list_open(list, SOFTQAM_VECTORS_DIR))
        fail_msg("%s", list->problem);
    *state = list;
    return 0;
}

static int close_vectors(void **state)
{
    vector_list_close(*state);
    free(*state);
    return 0;
}

/* The samples as the oracle takes them. */
static float *scaled_symbols(const vector *self)
{
    float *symbols = harness_alloc(2 * self->n_symbols * sizeof *symbols);
    harness_widen(self->format, 0, self->samples, self->n_symbols, symbols);
    return symbols;
}

static void default_scales_are_those_of_the_files(void **state)
{
    (void)state;
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CF32) == 1.0f);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CS16) == 1.0f / 32768);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CS8) == 1.0f / 128);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CF16) == 1.0f);
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
    harness_setup setup = harness_soft_bits_setup();
    setup.demodulator.input_format = self->format;
    softqam_demodulator *demodulator = harness_create(&setup);
    uint8_t *soft_bits = harness_alloc(self->n_symbols * HARNESS_SYMBOL_BITS);
    harness_poison(soft_bits, self->soft_bits, self->n_symbols * HARNESS_SYMBOL_BITS);

    const size_t symbol_nbytes = softqam_input_symbol_nbytes(self->format);
    const size_t step = call ? call : self->n_symbols;
    for (size_t first = 0; first < self->n_symbols; first += step) {
        const size_t n = self->n_symbols - first < step ? self->n_symbols - first : step;
        harness_demodulate(demodulator, self->samples + first * symbol_nbytes, n,
                           soft_bits + first * HARNESS_SYMBOL_BITS);
    }
    softqam_demodulator_destroy(demodulator);

    char what[NAME_MAX + 64];
    snprintf(what, sizeof what, "%s, %zu symbols a call", self->name, step);
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
    for (size_t v = 0; v < list->n_items; v++)
        equal &= library_agrees(&list->items[v], call);
    assert_true(equal);
}

static void whole(void **state) { library_agrees_with_all(state, 0); }

static void seven_symbols_a_call(void **state) { library_agrees_with_all(state, 7); }

static void one_symbol_a_call(void **state) { library_agrees_with_all(state, 1); }

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
