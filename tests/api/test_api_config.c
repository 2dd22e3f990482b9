/* SPDX-License-Identifier: MIT */
/* The configuration in softqam.h: defaults, every value out of range, and its growth between versions. */
#include <math.h>
#include <string.h>

#include "api_fixture.h"

static void test_defaults(void **state)
{
    (void)state;
    softqam_config config;
    memset(&config, 0xff, sizeof config);
    softqam_config_init(&config);
    assert_int_equal(config.struct_nbytes, sizeof config);
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
    softqam_config_init_nbytes(NULL, sizeof config);
}

static void test_null_config(void **state)
{
    (void)state;
    softqam_demodulator *demodulator;
    assert_int_equal(softqam_create(&demodulator, NULL), SOFTQAM_OK);
    api_assert_works(demodulator);
    softqam_destroy(demodulator);
}

/* One past each end of every enumeration, and far away. */
static void test_enumerations(void **state)
{
    (void)state;
    static const int far[] = {0, -1, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < HARNESS_COUNT(far); i++) {
        softqam_config config = harness_config();
        config.backend = (softqam_backend)(far[i] ? far[i] : 3);
        api_assert_invalid(&config, "backend");
        config = harness_config();
        config.constellation = (softqam_constellation)(far[i] ? far[i] : 1);
        api_assert_invalid(&config, "constellation");
        config = harness_config();
        config.input_format = (softqam_input_format)(far[i] ? far[i] : 4);
        api_assert_invalid(&config, "input_format");
        assert_int_equal(softqam_input_symbol_nbytes(config.input_format), 0);
        assert_true(softqam_input_default_scale(config.input_format) == 0);
        config = harness_config();
        config.output_format = (softqam_output_format)(far[i] ? far[i] : 4);
        api_assert_invalid(&config, "output_format");
        assert_int_equal(softqam_output_symbol_nbytes(config.output_format), 0);
        config = harness_config();
        config.sign = (softqam_sign)(far[i] ? far[i] : 2);
        api_assert_invalid(&config, "sign");
        config = harness_config();
        config.noise = (softqam_noise)(far[i] ? far[i] : 2);
        api_assert_invalid(&config, "noise");
    }
}

static void assert_llrs_accepted(const softqam_config *config)
{
    softqam_demodulator *demodulator = harness_create(config);
    api_assert_llrs_work(demodulator, config->output_format);
    softqam_destroy(demodulator);
}

static void test_llr_scales(void **state)
{
    (void)state;
    static const float refused[] = {-1, -6, 0x1.fffffep-11F, 0x1.000002p20F, 1e-45F, NAN, -NAN, INFINITY, -INFINITY};
    static const float accepted[] = {0, 1, 6, 20, 0x1p-10F, 0x1p20F};
    softqam_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        config.llr_scale = refused[i];
        api_assert_invalid(&config, "llr_scale");
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
    softqam_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        config.llr_limit = refused[i];
        api_assert_invalid(&config, "llr_limit");
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
            softqam_config config = api_llr_config(formats[k]);
            config.llr_scale = scales[i];
            api_assert_invalid(&config, "llr_scale of a format in nats");
        }
        for (size_t i = 0; i < HARNESS_COUNT(limits); i++) {
            softqam_config config = api_llr_config(formats[k]);
            config.llr_limit = limits[i];
            api_assert_invalid(&config, "llr_limit of a format in nats");
        }
        softqam_config config = api_llr_config(formats[k]);
        config.llr_scale = 1;
        if (formats[k] == SOFTQAM_OUTPUT_U8)
            api_assert_accepted(&config);
        else
            assert_llrs_accepted(&config);
    }
}

static void test_input_scales(void **state)
{
    (void)state;
    static const float refused[] = {-1, -1e-45F, NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        softqam_config config = harness_config();
        config.input_scale = refused[i];
        api_assert_invalid(&config, "input_scale");
    }
    softqam_config config = harness_config();
    config.input_scale = 1;
    api_assert_accepted(&config);
}

static void test_counts(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    config.n_threads = 1025;
    api_assert_invalid(&config, "n_threads");
    config.n_threads = UINT32_MAX;
    api_assert_invalid(&config, "n_threads");
    config = harness_config();
    config.n_streams = 65;
    api_assert_invalid(&config, "n_streams");
    config.n_streams = UINT32_MAX;
    api_assert_invalid(&config, "n_streams");
    config = harness_config();
    config.chunk_symbols = ((size_t)1 << 28) + 1;
    api_assert_invalid(&config, "chunk_symbols");
    config.chunk_symbols = SIZE_MAX;
    api_assert_invalid(&config, "chunk_symbols");
    config = harness_config();
    config.device = -2;
    api_assert_invalid(&config, "device");
    config.device = INT32_MIN;
    api_assert_invalid(&config, "device");
    static const int some[] = {0, 1, -1, 1};
    config = harness_config();
    config.devices = some;
    api_assert_invalid(&config, "a list without a length");
    config.n_devices = SOFTQAM_ALL_DEVICES;
    api_assert_invalid(&config, "a list and all devices");
    config.n_devices = 65;
    api_assert_invalid(&config, "n_devices");
    config.n_devices = 3;
    api_assert_invalid(&config, "a negative device in a list");
    config.devices = some + 1;
    api_assert_invalid(&config, "a negative device in a list");
    const int twice[] = {1, 0, 1};
    config.devices = twice;
    api_assert_invalid(&config, "a device twice");
    config.n_devices = 2;
    config.device = 0;
    api_assert_invalid(&config, "a list and a device");
    config = harness_config();
    config.n_devices = 1;
    api_assert_invalid(&config, "a length without a list");
    config = harness_config();
    config.n_threads = 1;
    config.n_streams = 64;
    config.chunk_symbols = 1;
    api_assert_accepted(&config);
}

/* The first version's configuration ends with chunk_symbols; nothing shorter has ever existed. */
#define MIN_CONFIG_NBYTES (offsetof(softqam_config, chunk_symbols) + sizeof(size_t))

static void test_config_sizes(void **state)
{
    (void)state;
    softqam_config config = harness_config();
    for (size_t nbytes = 0; nbytes < MIN_CONFIG_NBYTES; nbytes++) {
        config.struct_nbytes = nbytes;
        api_assert_invalid(&config, "struct_nbytes too small");
    }
    config.struct_nbytes = MIN_CONFIG_NBYTES;
    api_assert_accepted(&config);
    /* Not a byte behind it may be read. */
    harness_buffer buffer;
    harness_buffer_open(&buffer, sizeof config);
    harness_buffer_place_at_end(&buffer, MIN_CONFIG_NBYTES, 0);
    memcpy(buffer.data, &config, MIN_CONFIG_NBYTES);
    api_assert_accepted((const softqam_config *)(void *)buffer.data);
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
        memset(&later, 0xff, sizeof later);
        size_t nbytes = sizeof(softqam_config) + more;
        softqam_config_init_nbytes(&later.config, nbytes);
        assert_int_equal(later.config.struct_nbytes, nbytes);
        later.config.backend = harness_backend();
        api_assert_accepted(&later.config);
        later.bytes[nbytes - 1] = 1;
        api_assert_invalid(&later.config, "an unknown field that is set");
        later.bytes[nbytes - 1] = 0;
        later.bytes[sizeof(softqam_config)] = 0x80;
        api_assert_invalid(&later.config, "an unknown field that is set");
        later.config.struct_nbytes = SIZE_MAX;
        api_assert_invalid(&later.config, "a structure that was never initialised");
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
        memset(&whole, API_OUT_BYTE, sizeof whole);
        softqam_config_init_nbytes(&whole.config, nbytes);
        for (size_t i = nbytes; i < sizeof whole.bytes; i++)
            assert_int_equal(whole.bytes[i], API_OUT_BYTE);
        if (nbytes % _Alignof(softqam_config) == 0) {
            harness_buffer_place_at_end(&buffer, nbytes, 0);
            softqam_config_init_nbytes((softqam_config *)(void *)buffer.data, nbytes);
            harness_buffer_check(&buffer);
        }
    }
    harness_buffer_close(&buffer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),          cmocka_unit_test(test_null_config),
        cmocka_unit_test(test_enumerations),      cmocka_unit_test(test_llr_scales),
        cmocka_unit_test(test_llr_limits),        cmocka_unit_test(test_formats_without_steps),
        cmocka_unit_test(test_input_scales),      cmocka_unit_test(test_counts),
        cmocka_unit_test(test_config_sizes),      cmocka_unit_test(test_later_config),
        cmocka_unit_test(test_init_stays_inside),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
