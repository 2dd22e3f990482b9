/* SPDX-License-Identifier: MIT */
/* The misuse of a batch: each block that is wrong is refused, whatever its place, and nothing is written. */
#include <string.h>

#include "api_fixture.h"

/* A good block of API_SYMBOLS, then one that is not: nothing may be written to the good one's output. */
static void assert_block_refused(softqam_demodulator *demodulator, softqam_output_format format, softqam_block bad,
                                 const char *what)
{
    uint8_t out[sizeof api_soft_bits * sizeof(float)], untouched[sizeof out];
    memset(out, API_OUT_BYTE, sizeof out);
    memset(untouched, API_OUT_BYTE, sizeof untouched);
    const float *noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : &api_low_noise;
    const softqam_block good = {.n_symbols = API_SYMBOLS, .symbols = api_symbols, .noise_var = noise_var, .out = out};
    for (size_t place = 0; place < 3; place++) {
        softqam_block blocks[3] = {good, {0}, good};
        blocks[2].n_symbols = 0;
        blocks[place] = bad;
        softqam_status status = softqam_demodulate_batch(demodulator, blocks, HARNESS_COUNT(blocks));
        if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
            fail_msg("%s: %s", what, softqam_status_string(status));
        api_assert_one_line(softqam_error_message());
        assert_memory_equal(out, untouched, sizeof out);
    }
}

static void check_batch_misuse(softqam_output_format format)
{
    uint8_t memory[64 + sizeof api_soft_bits * sizeof(float)], *out = memory + 64;
    softqam_config config = api_llr_config(format);
    softqam_demodulator *demodulator = harness_create(&config);
    const float *noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : &api_low_noise;
    const float *wrong_noise = format == SOFTQAM_OUTPUT_U8 ? &api_low_noise : NULL;
    const softqam_block good = {.n_symbols = API_SYMBOLS, .symbols = api_symbols, .noise_var = noise_var, .out = out};
    softqam_block bad = good;
    bad.symbols = NULL;
    assert_block_refused(demodulator, format, bad, "no symbols");
    bad = good;
    bad.out = NULL;
    assert_block_refused(demodulator, format, bad, "no output");
    bad = good;
    bad.noise_var = wrong_noise;
    assert_block_refused(demodulator, format, bad, "noise where none is taken, or none where it is");
    bad = good;
    bad.symbols = out;
    assert_block_refused(demodulator, format, bad, "in place");
    bad = good;
    bad.symbols_q = out + 8;
    assert_block_refused(demodulator, format, bad, "Q in the output");
    bad = good;
    bad.symbols = out - 3 * sizeof(float);
    bad.symbols_q = api_symbols;
    assert_block_refused(demodulator, format, bad, "I runs into the output");
    bad = good;
    bad.symbols = out - 3 * 5 * sizeof(float);
    bad.symbols_q = api_symbols;
    bad.symbol_stride = 5;
    assert_block_refused(demodulator, format, bad, "I runs into the output in strides");
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 8 + 1, PTRDIFF_MAX / 8 + 1};
    for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
        bad = good;
        bad.n_symbols = counts[i];
        assert_block_refused(demodulator, format, bad, "more symbols than memory holds");
        bad = good;
        bad.symbol_stride = counts[i];
        assert_block_refused(demodulator, format, bad, "a stride over the end of memory");
    }
    softqam_destroy(demodulator);
}

static void test_batch_misuse(void **state)
{
    (void)state;
    const softqam_block none[1] = {{0}};
    softqam_demodulator *demodulator = api_create_default();
    assert_int_equal(softqam_demodulate_batch(demodulator, NULL, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    assert_int_equal(softqam_demodulate_batch(NULL, none, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    assert_int_equal(softqam_demodulate_batch(NULL, NULL, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate_batch(demodulator, NULL, 0), SOFTQAM_OK);
    api_assert_works(demodulator);
    softqam_destroy(demodulator);
    for (int format = SOFTQAM_OUTPUT_U8; format <= SOFTQAM_OUTPUT_F32; format++)
        check_batch_misuse((softqam_output_format)format);
}

/* What only LLRs have: noise variances in strides. */
static void test_batch_noise_misuse(void **state)
{
    (void)state;
    softqam_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    softqam_demodulator *demodulator = harness_create(&config);
    float memory[32] = {0};
    const softqam_block good = {
        .n_symbols = API_SYMBOLS, .symbols = api_symbols, .noise_var = memory, .noise_stride = 1, .out = memory + 16};
    softqam_block bad = good;
    bad.noise_var = memory + 13;
    assert_block_refused(demodulator, config.output_format, bad, "noise runs into the output");
    bad.noise_var = memory + 4;
    bad.noise_stride = 4;
    assert_block_refused(demodulator, config.output_format, bad, "noise runs into the output in strides");
    bad.noise_stride = SIZE_MAX / 4;
    assert_block_refused(demodulator, config.output_format, bad, "a noise stride over the end of memory");
    bad = good;
    bad.noise_var = (const float *)(const void *)((const uint8_t *)memory + 1);
    assert_block_refused(demodulator, config.output_format, bad, "misaligned noise");
    api_assert_llrs_work(demodulator, config.output_format);
    softqam_destroy(demodulator);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_misuse),
        cmocka_unit_test(test_batch_noise_misuse),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
