/* SPDX-License-Identifier: MIT */
/* The contract of softqam.h around the arithmetic: defaults, misuse, statuses, messages and the growth of the
 * configuration. After every refusal the demodulator must still work. */
#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SYMBOLS 4
#define OUT_BYTE  0x5A

/* Symbols far outside the constellation in all four quadrants: every soft bit is sure. In 3GPP order the outermost
 * level has label 1000 or 0000 on its axis, whose complements are b0 b2 b4 b6 (I) and b1 b3 b5 b7 (Q). */
static const float symbols[2 * N_SYMBOLS] = {2, 2, -2, 2, 2, -2, -2, -2};
static const uint8_t soft_bits[HARNESS_SYMBOL_BITS * N_SYMBOLS] = {
    255, 255, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

static void assert_one_line(const char *message)
{
    assert_non_null(message);
    assert_true(strlen(message) > 0);
    assert_null(strpbrk(message, "\r\n"));
}

static void assert_works(softqam_demodulator *demodulator)
{
    uint8_t out[sizeof(soft_bits)];
    memset(out, OUT_BYTE, sizeof(out));
    harness_demodulate(demodulator, symbols, N_SYMBOLS, out);
    assert_memory_equal(out, soft_bits, sizeof(soft_bits));
}

static softqam_demodulator *create_default(void)
{
    softqam_config config = harness_config();
    return harness_create(&config);
}

static void test_defaults(void **state)
{
    (void)state;
    softqam_config config;
    memset(&config, 0xff, sizeof(config));
    softqam_config_init(&config);
    assert_int_equal(config.struct_nbytes, sizeof(config));
    assert_int_equal(config.backend, SOFTQAM_BACKEND_AUTO);
    assert_int_equal(config.constellation, SOFTQAM_CONSTELLATION_256QAM);
    assert_int_equal(config.input_format, SOFTQAM_INPUT_CF32);
    assert_int_equal(config.output_format, SOFTQAM_OUTPUT_U8);
    assert_true(config.input_scale == 0 && !signbit(config.input_scale));
    assert_int_equal(config.n_threads, 0);
    assert_int_equal(config.device, -1);
    assert_int_equal(config.n_streams, 0);
    assert_int_equal(config.chunk_symbols, 0);
    assert_int_equal(config.sign, SOFTQAM_SIGN_POSITIVE_IS_0);
    assert_int_equal(config.noise, SOFTQAM_NOISE_PER_CALL);
    assert_true(config.llr_scale == 0 && !signbit(config.llr_scale));
    assert_int_equal(config.llr_limit, 0);
    softqam_config_init(NULL);
    softqam_config_init_nbytes(NULL, sizeof(config));
}

static void test_null_config(void **state)
{
    (void)state;
    softqam_demodulator *demodulator;
    assert_int_equal(softqam_create(&demodulator, NULL), SOFTQAM_OK);
    assert_works(demodulator);
    softqam_destroy(demodulator);
}

static void assert_refused(const softqam_config *config, softqam_status expected, const char *what)
{
    int anything;
    softqam_demodulator *demodulator = (softqam_demodulator *)(void *)&anything;
    softqam_status status = softqam_create(&demodulator, config);
    if (status != expected) {
        fail_msg("%s: \"%s\" instead of \"%s\"", what, softqam_status_string(status), softqam_status_string(expected));
    }
    assert_null(demodulator);
    assert_one_line(softqam_error_message());
}

static void assert_invalid(const softqam_config *config, const char *what)
{
    assert_refused(config, SOFTQAM_ERROR_INVALID_ARGUMENT, what);
}

static void assert_accepted(const softqam_config *config)
{
    softqam_demodulator *demodulator = harness_create(config);
    assert_works(demodulator);
    softqam_destroy(demodulator);
}

static void test_null_demodulator(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    assert_int_equal(softqam_create(NULL, &config), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_one_line(softqam_error_message());
    uint8_t out[sizeof(soft_bits)];
    assert_int_equal(softqam_demodulate(NULL, symbols, NULL, N_SYMBOLS, out), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_one_line(softqam_error_message());
    softqam_destroy(NULL);
    assert_string_equal(softqam_backend_name(NULL), "none");
    assert_string_equal(softqam_backend_detail(NULL), "");
}

/* One past each end of every enumeration, and far away. */
static void test_enumerations(void **state)
{
    (void)state;
    static const int far[] = {0, -1, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < HARNESS_COUNT(far); i++) {
        softqam_config config = harness_config();
        config.backend = (softqam_backend)(far[i] ? far[i] : 3);
        assert_invalid(&config, "backend");
        config = harness_config();
        config.constellation = (softqam_constellation)(far[i] ? far[i] : 1);
        assert_invalid(&config, "constellation");
        config = harness_config();
        config.input_format = (softqam_input_format)(far[i] ? far[i] : 4);
        assert_invalid(&config, "input_format");
        assert_int_equal(softqam_input_symbol_nbytes(config.input_format), 0);
        assert_true(softqam_input_default_scale(config.input_format) == 0);
        config = harness_config();
        config.output_format = (softqam_output_format)(far[i] ? far[i] : 4);
        assert_invalid(&config, "output_format");
        assert_int_equal(softqam_output_symbol_nbytes(config.output_format), 0);
        config = harness_config();
        config.sign = (softqam_sign)(far[i] ? far[i] : 2);
        assert_invalid(&config, "sign");
        config = harness_config();
        config.noise = (softqam_noise)(far[i] ? far[i] : 2);
        assert_invalid(&config, "noise");
    }
}

static const float low_noise = 1e-6F;

/* The LLRs of the symbols above have the signs of their soft bits. */
static void assert_llrs_work(softqam_demodulator *demodulator, softqam_output_format format)
{
    uint8_t out[sizeof(soft_bits) * sizeof(float)];
    size_t nbytes = softqam_output_symbol_nbytes(format) / HARNESS_SYMBOL_BITS;
    const float noise_vars[N_SYMBOLS] = {low_noise, low_noise, low_noise, low_noise};
    harness_demodulate_llrs(demodulator, symbols, noise_vars, N_SYMBOLS, out);
    for (size_t i = 0; i < sizeof(soft_bits); i++) {
        /* The sign is the last byte's highest bit in every format. */
        assert_int_equal(out[(i + 1) * nbytes - 1] >> 7, soft_bits[i] == 0);
    }
}

static softqam_config llr_config(softqam_output_format format)
{
    softqam_config config = harness_config();
    config.output_format = format;
    return config;
}

static void assert_llrs_accepted(const softqam_config *config)
{
    softqam_demodulator *demodulator = harness_create(config);
    assert_llrs_work(demodulator, config->output_format);
    softqam_destroy(demodulator);
}

static void test_llr_scales(void **state)
{
    (void)state;
    static const float refused[] = {-1, -6, 0x1.fffffep-11F, 0x1.000002p20F, 1e-45F, NAN, -NAN, INFINITY, -INFINITY};
    static const float accepted[] = {0, 1, 6, 20, 0x1p-10F, 0x1p20F};
    softqam_config config = llr_config(SOFTQAM_OUTPUT_S8);
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        config.llr_scale = refused[i];
        assert_invalid(&config, "llr_scale");
    }
    for (size_t i = 0; i < HARNESS_COUNT(accepted); i++) {
        config.llr_scale = accepted[i];
        assert_llrs_accepted(&config);
    }
}

static void test_llr_limits(void **state)
{
    (void)state;
    static const int refused[] = {-1, -127, 128, 255, INT32_MIN, INT32_MAX};
    static const int accepted[] = {0, 1, 64, 127};
    softqam_config config = llr_config(SOFTQAM_OUTPUT_S8);
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        config.llr_limit = refused[i];
        assert_invalid(&config, "llr_limit");
    }
    for (size_t i = 0; i < HARNESS_COUNT(accepted); i++) {
        config.llr_limit = accepted[i];
        assert_llrs_accepted(&config);
    }
}

/* Only s8 has steps. */
static void test_formats_without_steps(void **state)
{
    (void)state;
    static const softqam_output_format formats[] = {SOFTQAM_OUTPUT_U8, SOFTQAM_OUTPUT_F16, SOFTQAM_OUTPUT_F32};
    static const float scales[] = {6, 0.5F, 0x1.000002p0F, -1, NAN, INFINITY};
    static const int limits[] = {-1, 1, 127, 128};
    for (size_t k = 0; k < HARNESS_COUNT(formats); k++) {
        for (size_t i = 0; i < HARNESS_COUNT(scales); i++) {
            softqam_config config = llr_config(formats[k]);
            config.llr_scale = scales[i];
            assert_invalid(&config, "llr_scale of a format in nats");
        }
        for (size_t i = 0; i < HARNESS_COUNT(limits); i++) {
            softqam_config config = llr_config(formats[k]);
            config.llr_limit = limits[i];
            assert_invalid(&config, "llr_limit of a format in nats");
        }
        softqam_config config = llr_config(formats[k]);
        config.llr_scale = 1;
        if (formats[k] == SOFTQAM_OUTPUT_U8) {
            assert_accepted(&config);
        } else {
            assert_llrs_accepted(&config);
        }
    }
}

static void test_input_scales(void **state)
{
    (void)state;
    static const float refused[] = {-1, -1e-45F, NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        softqam_config config = harness_config();
        config.input_scale = refused[i];
        assert_invalid(&config, "input_scale");
    }
    softqam_config config = harness_config();
    config.input_scale = 1;
    assert_accepted(&config);
}

static void test_counts(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    config.n_threads = 1025;
    assert_invalid(&config, "n_threads");
    config.n_threads = UINT32_MAX;
    assert_invalid(&config, "n_threads");
    config = harness_config();
    config.n_streams = 65;
    assert_invalid(&config, "n_streams");
    config.n_streams = UINT32_MAX;
    assert_invalid(&config, "n_streams");
    config = harness_config();
    config.chunk_symbols = ((size_t)1 << 28) + 1;
    assert_invalid(&config, "chunk_symbols");
    config.chunk_symbols = SIZE_MAX;
    assert_invalid(&config, "chunk_symbols");
    config = harness_config();
    config.device = -2;
    assert_invalid(&config, "device");
    config.device = INT32_MIN;
    assert_invalid(&config, "device");
    config = harness_config();
    config.n_threads = 1;
    config.n_streams = 64;
    config.chunk_symbols = 1;
    assert_accepted(&config);
}

/* The first version's configuration ends with chunk_symbols; nothing shorter has ever existed. */
#define MIN_CONFIG_NBYTES (offsetof(softqam_config, chunk_symbols) + sizeof(size_t))

static void test_config_sizes(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    for (size_t nbytes = 0; nbytes < MIN_CONFIG_NBYTES; nbytes++) {
        config.struct_nbytes = nbytes;
        assert_invalid(&config, "struct_nbytes too small");
    }
    config.struct_nbytes = MIN_CONFIG_NBYTES;
    assert_accepted(&config);
    /* Not a byte behind it may be read. */
    harness_buffer buffer;
    harness_buffer_open(&buffer, sizeof(config));
    harness_buffer_place_at_end(&buffer, MIN_CONFIG_NBYTES, 0);
    memcpy(buffer.data, &config, MIN_CONFIG_NBYTES);
    assert_accepted((const softqam_config *)(void *)buffer.data);
    harness_buffer_close(&buffer);
}

/* A caller of a later version: its fields that this library does not know must have their default, which is zero. */
static void test_later_config(void **state)
{
    (void)state;
    union {
        softqam_config config;
        uint8_t bytes[sizeof(softqam_config) + 40];
    } later;
    for (size_t more = 1; more <= 40; more++) {
        memset(&later, 0xff, sizeof(later));
        size_t nbytes = sizeof(softqam_config) + more;
        softqam_config_init_nbytes(&later.config, nbytes);
        assert_int_equal(later.config.struct_nbytes, nbytes);
        later.config.backend = harness_backend();
        assert_accepted(&later.config);
        later.bytes[nbytes - 1] = 1;
        assert_invalid(&later.config, "an unknown field that is set");
        later.bytes[nbytes - 1] = 0;
        later.bytes[sizeof(softqam_config)] = 0x80;
        assert_invalid(&later.config, "an unknown field that is set");
        later.config.struct_nbytes = SIZE_MAX;
        assert_invalid(&later.config, "a structure that was never initialised");
    }
}

/* A caller of an earlier version has a smaller structure: not a byte behind it may be written. */
static void test_init_stays_inside(void **state)
{
    (void)state;
    harness_buffer buffer;
    harness_buffer_open(&buffer, sizeof(softqam_config) + 40);
    for (size_t nbytes = 0; nbytes <= sizeof(softqam_config) + 40; nbytes++) {
        union {
            softqam_config config;
            uint8_t bytes[sizeof(softqam_config) + 41];
        } whole;
        memset(&whole, OUT_BYTE, sizeof(whole));
        softqam_config_init_nbytes(&whole.config, nbytes);
        for (size_t i = nbytes; i < sizeof(whole.bytes); i++) {
            assert_int_equal(whole.bytes[i], OUT_BYTE);
        }
        if (nbytes % _Alignof(softqam_config) == 0) {
            harness_buffer_place_at_end(&buffer, nbytes, 0);
            softqam_config_init_nbytes((softqam_config *)(void *)buffer.data, nbytes);
            harness_buffer_check(&buffer);
        }
    }
    harness_buffer_close(&buffer);
}

static void assert_call_refused(softqam_demodulator *demodulator, const void *in, const float *noise_var,
                                size_t n_symbols, void *out)
{
    softqam_status status = softqam_demodulate(demodulator, in, noise_var, n_symbols, out);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT) {
        fail_msg("%zu symbols from %p to %p: %s", n_symbols, in, out, softqam_status_string(status));
    }
    assert_one_line(softqam_error_message());
    assert_works(demodulator);
}

static void test_null_buffers(void **state)
{
    (void)state;
    softqam_demodulator *demodulator = create_default();
    uint8_t out[sizeof(soft_bits)], untouched[sizeof(soft_bits)];
    memset(untouched, OUT_BYTE, sizeof(untouched));
    memset(out, OUT_BYTE, sizeof(out));
    const float noise_var[N_SYMBOLS] = {1, 1, 1, 1};
    assert_call_refused(demodulator, NULL, NULL, N_SYMBOLS, out);
    assert_call_refused(demodulator, symbols, NULL, N_SYMBOLS, NULL);
    assert_call_refused(demodulator, NULL, NULL, N_SYMBOLS, NULL);
    assert_call_refused(demodulator, symbols, noise_var, N_SYMBOLS, out);
    assert_memory_equal(out, untouched, sizeof(out));
    softqam_destroy(demodulator);
}

/* Of a plan for LLRs: each is refused, writes nothing and leaves the plan usable. */
static void assert_llr_call_refused(softqam_demodulator *demodulator, softqam_output_format format, const void *in,
                                    const float *noise_var, size_t n_symbols, void *out)
{
    assert_int_equal(softqam_demodulate(demodulator, in, noise_var, n_symbols, out), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_one_line(softqam_error_message());
    assert_llrs_work(demodulator, format);
}

static void test_noise_var_misuse(void **state)
{
    (void)state;
    const float noise_vars[N_SYMBOLS + 1] = {1, 1, 1, 1, 1};
    const float *misaligned[] = {NULL, (const float *)(const void *)((const uint8_t *)noise_vars + 1),
                                 (const float *)(const void *)((const uint8_t *)noise_vars + 2)};
    for (int format = SOFTQAM_OUTPUT_S8; format <= SOFTQAM_OUTPUT_F32; format++) {
        for (int noise = SOFTQAM_NOISE_PER_CALL; noise <= SOFTQAM_NOISE_PER_SYMBOL; noise++) {
            softqam_config config = llr_config((softqam_output_format)format);
            config.noise = (softqam_noise)noise;
            softqam_demodulator *demodulator = harness_create(&config);
            uint8_t out[sizeof(soft_bits) * sizeof(float)], untouched[sizeof(out)];
            memset(out, OUT_BYTE, sizeof(out));
            memset(untouched, OUT_BYTE, sizeof(untouched));
            for (size_t i = 0; i < HARNESS_COUNT(misaligned); i++) {
                assert_llr_call_refused(demodulator, config.output_format, symbols, misaligned[i], N_SYMBOLS, out);
            }
            assert_llr_call_refused(demodulator, config.output_format, NULL, noise_vars, N_SYMBOLS, out);
            assert_llr_call_refused(demodulator, config.output_format, symbols, noise_vars, N_SYMBOLS, NULL);
            assert_memory_equal(out, untouched, sizeof(out));
            assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
            softqam_destroy(demodulator);
        }
    }
}

/* Noise variances at every multiple of 4 around an output: one value, or one for each symbol. */
static void test_noise_var_overlap(void **state)
{
    (void)state;
    for (int noise = SOFTQAM_NOISE_PER_CALL; noise <= SOFTQAM_NOISE_PER_SYMBOL; noise++) {
        softqam_config config = llr_config(SOFTQAM_OUTPUT_S8);
        config.noise = (softqam_noise)noise;
        softqam_demodulator *demodulator = harness_create(&config);
        const size_t noise_nbytes = sizeof(float) * (noise == SOFTQAM_NOISE_PER_SYMBOL ? N_SYMBOLS : 1), out = 32;
        for (size_t at = 0; at <= 96; at += sizeof(float)) {
            float block[32];
            for (size_t i = 0; i < HARNESS_COUNT(block); i++) {
                block[i] = low_noise;
            }
            bool overlap = at + noise_nbytes > out && at < out + sizeof(soft_bits);
            softqam_status status =
                softqam_demodulate(demodulator, symbols, block + at / sizeof(float), N_SYMBOLS, (uint8_t *)block + out);
            assert_int_equal(status, overlap ? SOFTQAM_ERROR_INVALID_ARGUMENT : SOFTQAM_OK);
        }
        softqam_destroy(demodulator);
    }
}

/* A good block of N_SYMBOLS, then one that is not: nothing may be written to the good one's output. */
static void assert_block_refused(softqam_demodulator *demodulator, softqam_output_format format, softqam_block bad,
                                 const char *what)
{
    uint8_t out[sizeof(soft_bits) * sizeof(float)], untouched[sizeof(out)];
    memset(out, OUT_BYTE, sizeof(out));
    memset(untouched, OUT_BYTE, sizeof(untouched));
    const float *noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : &low_noise;
    const softqam_block good = {.n_symbols = N_SYMBOLS, .symbols = symbols, .noise_var = noise_var, .out = out};
    for (size_t place = 0; place < 3; place++) {
        softqam_block blocks[3] = {good, {0}, good};
        blocks[2].n_symbols = 0;
        blocks[place] = bad;
        softqam_status status = softqam_demodulate_batch(demodulator, blocks, HARNESS_COUNT(blocks));
        if (status != SOFTQAM_ERROR_INVALID_ARGUMENT) {
            fail_msg("%s: %s", what, softqam_status_string(status));
        }
        assert_one_line(softqam_error_message());
        assert_memory_equal(out, untouched, sizeof(out));
    }
}

static void check_batch_misuse(softqam_output_format format)
{
    uint8_t memory[64 + sizeof(soft_bits) * sizeof(float)], *out = memory + 64;
    softqam_config config = llr_config(format);
    softqam_demodulator *demodulator = harness_create(&config);
    const float *noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : &low_noise;
    const float *wrong_noise = format == SOFTQAM_OUTPUT_U8 ? &low_noise : NULL;
    const softqam_block good = {.n_symbols = N_SYMBOLS, .symbols = symbols, .noise_var = noise_var, .out = out};
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
    bad.symbols_q = symbols;
    assert_block_refused(demodulator, format, bad, "I runs into the output");
    bad = good;
    bad.symbols = out - 3 * 5 * sizeof(float);
    bad.symbols_q = symbols;
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
    softqam_demodulator *demodulator = create_default();
    assert_int_equal(softqam_demodulate_batch(demodulator, NULL, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_one_line(softqam_error_message());
    assert_int_equal(softqam_demodulate_batch(NULL, none, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_one_line(softqam_error_message());
    assert_int_equal(softqam_demodulate_batch(NULL, NULL, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate_batch(demodulator, NULL, 0), SOFTQAM_OK);
    assert_works(demodulator);
    softqam_destroy(demodulator);
    for (int format = SOFTQAM_OUTPUT_U8; format <= SOFTQAM_OUTPUT_F32; format++) {
        check_batch_misuse((softqam_output_format)format);
    }
}

/* What only LLRs have: noise variances in strides. */
static void test_batch_noise_misuse(void **state)
{
    (void)state;
    softqam_config config = llr_config(SOFTQAM_OUTPUT_S8);
    softqam_demodulator *demodulator = harness_create(&config);
    float memory[32] = {0};
    const softqam_block good = {
        .n_symbols = N_SYMBOLS, .symbols = symbols, .noise_var = memory, .noise_stride = 1, .out = memory + 16};
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
    assert_llrs_work(demodulator, config.output_format);
    softqam_destroy(demodulator);
}

static void test_no_symbols(void **state)
{
    (void)state;
    softqam_demodulator *demodulator = create_default();
    uint8_t out[1] = {OUT_BYTE};
    assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
    assert_int_equal(softqam_demodulate(demodulator, symbols, NULL, 0, out), SOFTQAM_OK);
    assert_int_equal(softqam_demodulate(demodulator, out, NULL, 0, out), SOFTQAM_OK);
    assert_int_equal(out[0], OUT_BYTE);
    assert_works(demodulator);
    softqam_destroy(demodulator);
}

/* Counts whose bytes overflow size_t, wrap to something small, or exceed PTRDIFF_MAX, in every input and output
 * format. */
static void test_overflowing_counts(void **state)
{
    (void)state;
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
    for (unsigned k = 0; k < 4 * 4; k++) {
        softqam_config config = harness_config();
        config.input_format = (softqam_input_format)(k % 4);
        config.output_format = (softqam_output_format)(k / 4);
        const float *noise_var = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : &low_noise;
        softqam_demodulator *demodulator = harness_create(&config);
        for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
            uint8_t out[8] = {0};
            assert_int_equal(softqam_demodulate(demodulator, symbols, noise_var, counts[i], out),
                             SOFTQAM_ERROR_INVALID_ARGUMENT);
            assert_one_line(softqam_error_message());
            assert_memory_equal(out, "\0\0\0\0\0\0\0", sizeof(out));
        }
        softqam_destroy(demodulator);
    }
}

/* An input of N_SYMBOLS at byte `in` of a block, and an output at byte `out`. */
static void check_layout(softqam_demodulator *demodulator, size_t in, size_t out, bool overlap)
{
    uint8_t block[4 * sizeof(symbols)], before[sizeof(block)];
    memset(block, OUT_BYTE, sizeof(block));
    memcpy(block + in, symbols, sizeof(symbols));
    memcpy(before, block, sizeof(block));
    if (overlap) {
        assert_call_refused(demodulator, block + in, NULL, N_SYMBOLS, block + out);
        assert_memory_equal(block, before, sizeof(block));
    } else {
        harness_demodulate(demodulator, block + in, N_SYMBOLS, block + out);
        memcpy(before + out, soft_bits, sizeof(soft_bits));
        assert_memory_equal(block, before, sizeof(block));
    }
}

static void test_overlap(void **state)
{
    (void)state;
    softqam_demodulator *demodulator = create_default();
    const size_t middle = 48;
    for (size_t out = 0; out <= 2 * middle; out++) {
        bool overlap = out + sizeof(soft_bits) > middle && out < middle + sizeof(symbols);
        check_layout(demodulator, middle, out, overlap);
    }
    softqam_destroy(demodulator);
}

/* With 2 bytes a symbol the input is the shorter one: it may lie anywhere within the output. */
static void test_overlap_of_unequal_sizes(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    config.input_format = SOFTQAM_INPUT_CS8;
    softqam_demodulator *demodulator = harness_create(&config);
    uint8_t block[64];
    memset(block, OUT_BYTE, sizeof(block));
    for (size_t in = 0; in <= 56; in++) {
        bool overlap = in + 2 * N_SYMBOLS > 16 && in < 16 + sizeof(soft_bits);
        softqam_status status = softqam_demodulate(demodulator, block + in, NULL, N_SYMBOLS, block + 16);
        assert_int_equal(status, overlap ? SOFTQAM_ERROR_INVALID_ARGUMENT : SOFTQAM_OK);
    }
    softqam_destroy(demodulator);
}

static void test_host_memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 1 << 20};
    softqam_demodulator *demodulator = create_default();
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        void *memory = NULL;
        assert_int_equal(softqam_host_alloc(demodulator, sizes[i], &memory), SOFTQAM_OK);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 4096, 0);
        memset(memory, OUT_BYTE, sizes[i] ? sizes[i] : 1);
        softqam_host_free(memory);
    }
    softqam_host_free(NULL);
    softqam_destroy(demodulator);
}

static void test_host_memory_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX - 4096, SIZE_MAX / 2};
    softqam_demodulator *demodulator = create_default();
    int anything;
    void *memory = &anything;
    assert_int_equal(softqam_host_alloc(NULL, 64, &memory), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_null(memory);
    assert_int_equal(softqam_host_alloc(demodulator, 64, NULL), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_one_line(softqam_error_message());
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        memory = &anything;
        assert_int_equal(softqam_host_alloc(demodulator, sizes[i], &memory), SOFTQAM_ERROR_OUT_OF_MEMORY);
        assert_null(memory);
        assert_one_line(softqam_error_message());
        assert_works(demodulator);
    }
    softqam_destroy(demodulator);
}

static void test_host_memory_outlives_demodulator(void **state)
{
    (void)state;
    softqam_demodulator *first = create_default();
    void *in, *out;
    assert_int_equal(softqam_host_alloc(first, sizeof(symbols), &in), SOFTQAM_OK);
    assert_int_equal(softqam_host_alloc(first, sizeof(soft_bits), &out), SOFTQAM_OK);
    softqam_destroy(first);
    memcpy(in, symbols, sizeof(symbols));
    softqam_demodulator *second = create_default();
    harness_demodulate(second, in, N_SYMBOLS, out);
    assert_memory_equal(out, soft_bits, sizeof(soft_bits));
    softqam_destroy(second);
    softqam_host_free(out);
    softqam_host_free(in);
}

static void test_format_sizes(void **state)
{
    (void)state;
    assert_int_equal(softqam_input_symbol_nbytes(SOFTQAM_INPUT_CF32), 8);
    assert_int_equal(softqam_input_symbol_nbytes(SOFTQAM_INPUT_CS16), 4);
    assert_int_equal(softqam_input_symbol_nbytes(SOFTQAM_INPUT_CS8), 2);
    assert_int_equal(softqam_input_symbol_nbytes(SOFTQAM_INPUT_CF16), 4);
    assert_int_equal(softqam_output_symbol_nbytes(SOFTQAM_OUTPUT_U8), HARNESS_SYMBOL_BITS);
    assert_int_equal(softqam_output_symbol_nbytes(SOFTQAM_OUTPUT_S8), HARNESS_SYMBOL_BITS);
    assert_int_equal(softqam_output_symbol_nbytes(SOFTQAM_OUTPUT_F16), 2 * HARNESS_SYMBOL_BITS);
    assert_int_equal(softqam_output_symbol_nbytes(SOFTQAM_OUTPUT_F32), 4 * HARNESS_SYMBOL_BITS);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CF32) == 1);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CF16) == 1);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CS16) == 1.0F / 32768);
    assert_true(softqam_input_default_scale(SOFTQAM_INPUT_CS8) == 1.0F / 128);
}

static void test_status_strings(void **state)
{
    (void)state;
    static const softqam_status statuses[] = {
        SOFTQAM_OK,
        SOFTQAM_ERROR_INVALID_ARGUMENT,
        SOFTQAM_ERROR_BACKEND_UNAVAILABLE,
        SOFTQAM_ERROR_OUT_OF_MEMORY,
        SOFTQAM_ERROR_SYSTEM,
        SOFTQAM_ERROR_CUDA,
    };
    for (size_t i = 0; i < HARNESS_COUNT(statuses); i++) {
        assert_one_line(softqam_status_string(statuses[i]));
        assert_string_not_equal(softqam_status_string(statuses[i]), "unknown status");
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(softqam_status_string(statuses[i]), softqam_status_string(statuses[k]));
        }
    }
    static const int unknown[] = {-1, 6, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < HARNESS_COUNT(unknown); i++) {
        assert_string_equal(softqam_status_string((softqam_status)unknown[i]), "unknown status");
    }
}

/* Fails in a way of its own and notes its message before and after. */
static void *fail_elsewhere(void *argument)
{
    char *messages = argument;
    strncpy(messages, softqam_error_message(), 255);
    softqam_create(NULL, NULL);
    strncpy(messages + 256, softqam_error_message(), 255);
    return NULL;
}

static void test_messages_belong_to_threads(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    config.n_streams = 65;
    assert_invalid(&config, "n_streams");
    char mine[256] = {0}, theirs[2][256] = {{0}};
    strncpy(mine, softqam_error_message(), sizeof(mine) - 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, theirs), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(theirs[0], "");
    assert_one_line(theirs[1]);
    assert_string_not_equal(theirs[1], mine);
    assert_string_equal(softqam_error_message(), mine);
    /* It is the last failure's, so a success leaves it alone. */
    softqam_demodulator *demodulator = create_default();
    assert_works(demodulator);
    assert_string_equal(softqam_error_message(), mine);
    softqam_destroy(demodulator);
}

static void test_backend_names(void **state)
{
    (void)state;
    bool usable = harness_cuda_is_usable();
    softqam_demodulator *demodulator = create_default();
    bool cuda = harness_backend() == SOFTQAM_BACKEND_CUDA || (harness_backend() == SOFTQAM_BACKEND_AUTO && usable);
    assert_string_equal(softqam_backend_name(demodulator), cuda ? "cuda" : "cpu");
    assert_one_line(softqam_backend_detail(demodulator));
    print_message("%s: %s\n", softqam_backend_name(demodulator), softqam_backend_detail(demodulator));
    softqam_destroy(demodulator);
}

/* What a machine without a GPU, or a build without CUDA, must do. */
static void test_cuda_unavailable(void **state)
{
    (void)state;
    if (harness_cuda_is_usable()) {
        skip();
    }
    softqam_config config = harness_config();
    config.backend = SOFTQAM_BACKEND_CUDA;
    assert_refused(&config, SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "CUDA without a device");
    config.backend = SOFTQAM_BACKEND_AUTO;
    config.device = 0;
    softqam_demodulator *demodulator = harness_create(&config);
    assert_string_equal(softqam_backend_name(demodulator), "cpu");
    assert_works(demodulator);
    softqam_destroy(demodulator);
}

static void test_absent_device(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    config.device = 100000;
    if (harness_backend() == SOFTQAM_BACKEND_CUDA) {
        assert_refused(&config, SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "device 100000");
    } else {
        assert_accepted(&config);
    }
}

static void test_version(void **state)
{
    (void)state;
    assert_string_equal(softqam_version(), SOFTQAM_TEST_VERSION);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_null_config),
        cmocka_unit_test(test_null_demodulator),
        cmocka_unit_test(test_enumerations),
        cmocka_unit_test(test_llr_scales),
        cmocka_unit_test(test_llr_limits),
        cmocka_unit_test(test_formats_without_steps),
        cmocka_unit_test(test_input_scales),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_config_sizes),
        cmocka_unit_test(test_later_config),
        cmocka_unit_test(test_init_stays_inside),
        cmocka_unit_test(test_null_buffers),
        cmocka_unit_test(test_noise_var_misuse),
        cmocka_unit_test(test_noise_var_overlap),
        cmocka_unit_test(test_batch_misuse),
        cmocka_unit_test(test_batch_noise_misuse),
        cmocka_unit_test(test_no_symbols),
        cmocka_unit_test(test_overflowing_counts),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_overlap_of_unequal_sizes),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_host_memory_refused),
        cmocka_unit_test(test_host_memory_outlives_demodulator),
        cmocka_unit_test(test_format_sizes),
        cmocka_unit_test(test_status_strings),
        cmocka_unit_test(test_messages_belong_to_threads),
        cmocka_unit_test(test_backend_names),
        cmocka_unit_test(test_cuda_unavailable),
        cmocka_unit_test(test_absent_device),
        cmocka_unit_test(test_version),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
