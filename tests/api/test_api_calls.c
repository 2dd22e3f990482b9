/* SPDX-License-Identifier: MIT */
/* The misuse of a call on host memory: null pointers, overlaps, misalignment and counts that no memory holds. After
 * every refusal the output is untouched and the demodulator works. */
#include <string.h>

#include "api_fixture.h"

HARNESS_TEST(test_null_demodulator)
{
    softqam_demodulator_config config = api_config();
    assert_int_equal(softqam_demodulator_create(NULL, &config), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    uint8_t out[sizeof api_soft_bits];
    assert_int_equal(softqam_demodulate(NULL, api_symbols, NULL, API_SYMBOLS, out), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    softqam_demodulator_destroy(NULL);
    softqam_context_destroy(NULL);
    assert_null(softqam_demodulator_context(NULL));
    assert_string_equal(softqam_backend_name(NULL), "none");
    assert_string_equal(softqam_backend_detail(NULL), "");
}

static void assert_call_refused(softqam_demodulator *demodulator, const void *in, const float *noise_var,
                                size_t n_symbols, void *out)
{
    softqam_status status = softqam_demodulate(demodulator, in, noise_var, n_symbols, out);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
        fail_msg("%zu symbols from %p to %p: %s", n_symbols, in, out, softqam_status_string(status));
    api_assert_one_line(softqam_error_message());
    api_assert_works(demodulator);
}

HARNESS_TEST(test_null_buffers)
{
    scoped_demodulator *demodulator = api_create_soft_bits();
    uint8_t out[sizeof api_soft_bits], untouched[sizeof api_soft_bits];
    memset(untouched, API_OUT_BYTE, sizeof untouched);
    memset(out, API_OUT_BYTE, sizeof out);
    const float noise_var[API_SYMBOLS] = {1, 1, 1, 1};
    assert_call_refused(demodulator, NULL, NULL, API_SYMBOLS, out);
    assert_call_refused(demodulator, api_symbols, NULL, API_SYMBOLS, NULL);
    assert_call_refused(demodulator, NULL, NULL, API_SYMBOLS, NULL);
    assert_call_refused(demodulator, api_symbols, noise_var, API_SYMBOLS, out);
    assert_memory_equal(out, untouched, sizeof out);
}

/* Of a plan for LLRs: each is refused, writes nothing and leaves the plan usable. */
static void assert_llr_call_refused(softqam_demodulator *demodulator, softqam_output_format format, const void *in,
                                    const float *noise_var, size_t n_symbols, void *out)
{
    assert_int_equal(softqam_demodulate(demodulator, in, noise_var, n_symbols, out), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    api_assert_llrs_work(demodulator, format);
}

HARNESS_TEST(test_noise_var_misuse)
{
    const float noise_vars[API_SYMBOLS + 1] = {1, 1, 1, 1, 1};
    const float *misaligned[] = {NULL, (const float *)(const void *)((const uint8_t *)noise_vars + 1),
                                 (const float *)(const void *)((const uint8_t *)noise_vars + 2)};
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        for (int noise = SOFTQAM_NOISE_PER_SYMBOL; noise <= SOFTQAM_NOISE_PER_CALL; noise++) {
            softqam_demodulator_config config = api_llr_config(harness_llr_formats[k]);
            config.noise = (softqam_noise)noise;
            scoped_demodulator *demodulator = api_create(&config);
            uint8_t out[sizeof api_soft_bits * sizeof(float)], untouched[sizeof out];
            memset(out, API_OUT_BYTE, sizeof out);
            memset(untouched, API_OUT_BYTE, sizeof untouched);
            for (size_t i = 0; i < HARNESS_COUNT(misaligned); i++) {
                assert_llr_call_refused(demodulator, config.output_format, api_symbols, misaligned[i], API_SYMBOLS,
                                        out);
            }
            assert_llr_call_refused(demodulator, config.output_format, NULL, noise_vars, API_SYMBOLS, out);
            assert_llr_call_refused(demodulator, config.output_format, api_symbols, noise_vars, API_SYMBOLS, NULL);
            assert_memory_equal(out, untouched, sizeof out);
            assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
        }
    }
}

/* Noise variances at every multiple of 4 around an output: one value, or one for each symbol. */
HARNESS_TEST(test_noise_var_overlap)
{
    for (int noise = SOFTQAM_NOISE_PER_SYMBOL; noise <= SOFTQAM_NOISE_PER_CALL; noise++) {
        softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
        config.noise = (softqam_noise)noise;
        scoped_demodulator *demodulator = api_create(&config);
        const size_t noise_nbytes = sizeof(float) * (noise == SOFTQAM_NOISE_PER_SYMBOL ? API_SYMBOLS : 1), out = 32;
        for (size_t at = 0; at <= 96; at += sizeof(float)) {
            float block[32];
            for (size_t i = 0; i < HARNESS_COUNT(block); i++)
                block[i] = api_low_noise;
            bool overlap = at + noise_nbytes > out && at < out + sizeof api_soft_bits;
            softqam_status status = softqam_demodulate(demodulator, api_symbols, block + at / sizeof(float),
                                                       API_SYMBOLS, (uint8_t *)block + out);
            assert_int_equal(status, overlap ? SOFTQAM_ERROR_INVALID_ARGUMENT : SOFTQAM_OK);
        }
    }
}

HARNESS_TEST(test_no_symbols)
{
    scoped_demodulator *demodulator = api_create_soft_bits();
    uint8_t out[1] = {API_OUT_BYTE};
    assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
    assert_int_equal(softqam_demodulate(demodulator, api_symbols, NULL, 0, out), SOFTQAM_OK);
    assert_int_equal(softqam_demodulate(demodulator, out, NULL, 0, out), SOFTQAM_OK);
    assert_int_equal(out[0], API_OUT_BYTE);
    api_assert_works(demodulator);
}

/* Counts whose bytes overflow size_t, wrap to something small, or exceed PTRDIFF_MAX, in every input and output
 * format. */
HARNESS_TEST(test_overflowing_counts)
{
    static const size_t counts[] = {
        SIZE_MAX,
        SIZE_MAX - 1,
        SIZE_MAX / 2 + 1,
        SIZE_MAX / 4 + 1,
        SIZE_MAX / 8,
        SIZE_MAX / 8 + 1,
        SIZE_MAX / 8 + 5,
        SIZE_MAX / 16 + 1,
        (size_t)PTRDIFF_MAX,
        (size_t)PTRDIFF_MAX + 1,
        PTRDIFF_MAX / 2 + 1,
        PTRDIFF_MAX / 4 + 1,
        PTRDIFF_MAX / 8 + 1,
    };
    for (unsigned k = 0; k < HARNESS_N_INPUT_FORMATS * HARNESS_N_OUTPUT_FORMATS; k++) {
        softqam_demodulator_config config = api_config();
        config.input_format = (softqam_input_format)(k % HARNESS_N_INPUT_FORMATS);
        config.output_format = (softqam_output_format)(k / HARNESS_N_INPUT_FORMATS);
        const float *noise_var = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : &api_low_noise;
        scoped_demodulator *demodulator = api_create(&config);
        for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
            uint8_t out[8] = {0};
            assert_int_equal(softqam_demodulate(demodulator, api_symbols, noise_var, counts[i], out),
                             SOFTQAM_ERROR_INVALID_ARGUMENT);
            api_assert_one_line(softqam_error_message());
            assert_memory_equal(out, "\0\0\0\0\0\0\0", sizeof out);
        }
    }
}

/* An input of API_SYMBOLS at byte `in` of a block, and an output at byte `out`. */
static void check_layout(softqam_demodulator *demodulator, size_t in, size_t out, bool overlap)
{
    uint8_t block[4 * sizeof api_symbols], before[sizeof block];
    memset(block, API_OUT_BYTE, sizeof block);
    memcpy(block + in, api_symbols, sizeof api_symbols);
    memcpy(before, block, sizeof block);
    if (overlap) {
        assert_call_refused(demodulator, block + in, NULL, API_SYMBOLS, block + out);
        assert_memory_equal(block, before, sizeof block);
    } else {
        harness_demodulate(demodulator, block + in, API_SYMBOLS, block + out);
        memcpy(before + out, api_soft_bits, sizeof api_soft_bits);
        assert_memory_equal(block, before, sizeof block);
    }
}

HARNESS_TEST(test_overlap)
{
    scoped_demodulator *demodulator = api_create_soft_bits();
    const size_t middle = 48;
    for (size_t out = 0; out <= 2 * middle; out++) {
        bool overlap = out + sizeof api_soft_bits > middle && out < middle + sizeof api_symbols;
        check_layout(demodulator, middle, out, overlap);
    }
}

/* With 2 bytes a symbol the input is the shorter one: it may lie anywhere within the output. */
HARNESS_TEST(test_overlap_of_unequal_sizes)
{
    softqam_demodulator_config config = api_config();
    config.input_format = SOFTQAM_INPUT_CS8;
    scoped_demodulator *demodulator = api_create(&config);
    uint8_t block[64];
    memset(block, API_OUT_BYTE, sizeof block);
    for (size_t in = 0; in <= 56; in++) {
        bool overlap = in + 2 * API_SYMBOLS > 16 && in < 16 + sizeof api_soft_bits;
        softqam_status status = softqam_demodulate(demodulator, block + in, NULL, API_SYMBOLS, block + 16);
        assert_int_equal(status, overlap ? SOFTQAM_ERROR_INVALID_ARGUMENT : SOFTQAM_OK);
    }
}
