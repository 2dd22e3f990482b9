/* SPDX-License-Identifier: MIT */
/* The settings of demodulators and contexts: defaults, every value out of range, and their growth between versions. */
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
    assert_null(config.context);
    assert_int_equal(config.modulation, SOFTQAM_MODULATION_256QAM);
    assert_int_equal(config.input_format, SOFTQAM_INPUT_CF32);
    assert_int_equal(config.output_format, SOFTQAM_OUTPUT_U8);
    assert_int_equal(config.sign, SOFTQAM_SIGN_POSITIVE_IS_0);
    assert_int_equal(config.noise, SOFTQAM_NOISE_PER_CALL);
    assert_int_equal(config.noise_form, SOFTQAM_NOISE_FORM_N0);
    assert_true(config.input_scale == 0 && !signbit(config.input_scale));
    assert_true(config.llr_scale == 0 && !signbit(config.llr_scale));
    assert_int_equal(config.llr_limit, 0);
    softqam_config_init(NULL);
    softqam_config_init_nbytes(NULL, sizeof config);
}

static void test_context_defaults(void **state)
{
    (void)state;
    softqam_context_config config;
    memset(&config, 0xff, sizeof config);
    softqam_context_config_init(&config);
    assert_int_equal(config.struct_nbytes, sizeof config);
    assert_int_equal(config.backend, SOFTQAM_BACKEND_AUTO);
    assert_int_equal(config.n_threads, 0);
    assert_null(config.cpus);
    assert_int_equal(config.n_cpus, 0);
    assert_int_equal(config.thread_priority, 0);
    assert_int_equal(config.device, -1);
    assert_null(config.devices);
    assert_int_equal(config.n_devices, 0);
    assert_int_equal(config.n_streams, 0);
    assert_int_equal(config.chunk_symbols, 0);
    assert_null(config.cpu_variant);
    softqam_context_config_init(NULL);
    softqam_context_config_init_nbytes(NULL, sizeof config);
}

static void test_null_config(void **state)
{
    (void)state;
    softqam_demodulator *demodulator;
    assert_int_equal(softqam_create(&demodulator, NULL), SOFTQAM_OK);
    api_assert_works(demodulator);
    softqam_destroy(demodulator);
    softqam_context *context;
    assert_int_equal(softqam_context_create(&context, NULL), SOFTQAM_OK);
    demodulator = api_create_in(context);
    api_assert_works(demodulator);
    softqam_destroy(demodulator);
    softqam_context_destroy(context);
}

/* One past each end of every enumeration, and far away. */
static void test_enumerations(void **state)
{
    (void)state;
    static const int far[] = {0, -1, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < HARNESS_COUNT(far); i++) {
        softqam_context_config context_config = api_context_config();
        context_config.backend = (softqam_backend)(far[i] ? far[i] : 3);
        api_assert_context_invalid(&context_config, "backend");
        softqam_config config = api_config();
        config.modulation = (softqam_modulation)(far[i] ? far[i] : 8);
        api_assert_invalid(&config, "modulation");
        config = api_config();
        config.input_format = (softqam_input_format)(far[i] ? far[i] : 4);
        api_assert_invalid(&config, "input_format");
        config = api_config();
        config.output_format = (softqam_output_format)(far[i] ? far[i] : 4);
        api_assert_invalid(&config, "output_format");
        config = api_config();
        config.sign = (softqam_sign)(far[i] ? far[i] : 2);
        api_assert_invalid(&config, "sign");
        config = api_config();
        config.noise = (softqam_noise)(far[i] ? far[i] : 2);
        api_assert_invalid(&config, "noise");
        config = api_config();
        config.noise_form = (softqam_noise_form)(far[i] ? far[i] : 3);
        api_assert_invalid(&config, "noise_form");
    }
}

/* 256QAM by name and by zero; the others, but not to u8. */
static void test_modulations(void **state)
{
    (void)state;
    for (int modulation = SOFTQAM_MODULATION_DEFAULT; modulation <= SOFTQAM_MODULATION_1024QAM; modulation++) {
        const bool is_256qam = modulation == SOFTQAM_MODULATION_DEFAULT || modulation == SOFTQAM_MODULATION_256QAM;
        for (int format = SOFTQAM_OUTPUT_U8; format <= SOFTQAM_OUTPUT_F32; format++) {
            softqam_config config = api_llr_config((softqam_output_format)format);
            config.modulation = (softqam_modulation)modulation;
            if (is_256qam || format != SOFTQAM_OUTPUT_U8) {
                softqam_destroy(api_create(&config));
                continue;
            }
            api_assert_invalid(&config, "modulation");
            assert_non_null(strstr(softqam_error_message(), "u8 soft bits are those of 256QAM alone"));
        }
    }
}

static void assert_llrs_accepted(const softqam_config *config)
{
    softqam_demodulator *demodulator = api_create(config);
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
        softqam_config config = api_config();
        config.input_scale = refused[i];
        api_assert_invalid(&config, "input_scale");
    }
    softqam_config config = api_config();
    config.input_scale = 1;
    api_assert_accepted(&config);
}

static void test_counts(void **state)
{
    (void)state;
    softqam_context_config config = api_context_config();
    config.n_threads = 1025;
    api_assert_context_invalid(&config, "n_threads");
    config.n_threads = UINT32_MAX;
    api_assert_context_invalid(&config, "n_threads");
    config = api_context_config();
    config.thread_priority = -1;
    api_assert_context_invalid(&config, "thread_priority");
    config.thread_priority = 100;
    api_assert_context_invalid(&config, "thread_priority");
    config = api_context_config();
    config.n_streams = 65;
    api_assert_context_invalid(&config, "n_streams");
    config.n_streams = UINT32_MAX;
    api_assert_context_invalid(&config, "n_streams");
    config = api_context_config();
    config.chunk_symbols = ((size_t)1 << 28) + 1;
    api_assert_context_invalid(&config, "chunk_symbols");
    config.chunk_symbols = SIZE_MAX;
    api_assert_context_invalid(&config, "chunk_symbols");
    config = api_context_config();
    config.n_threads = 1;
    config.n_streams = 64;
    config.chunk_symbols = 1;
    api_assert_context_accepted(&config);
}

static void test_devices(void **state)
{
    (void)state;
    softqam_context_config config = api_context_config();
    config.device = -2;
    api_assert_context_invalid(&config, "device");
    config.device = INT32_MIN;
    api_assert_context_invalid(&config, "device");
    static const int some[] = {0, 1, -1, 1};
    config = api_context_config();
    config.devices = some;
    api_assert_context_invalid(&config, "a list without a length");
    config.n_devices = SOFTQAM_ALL_DEVICES;
    api_assert_context_invalid(&config, "a list and all devices");
    config.n_devices = 65;
    api_assert_context_invalid(&config, "n_devices");
    config.n_devices = 3;
    api_assert_context_invalid(&config, "a negative device in a list");
    config.devices = some + 1;
    api_assert_context_invalid(&config, "a negative device in a list");
    const int twice[] = {1, 0, 1};
    config.devices = twice;
    api_assert_context_invalid(&config, "a device twice");
    config.n_devices = 2;
    config.device = 0;
    api_assert_context_invalid(&config, "a list and a device");
    config = api_context_config();
    config.n_devices = 1;
    api_assert_context_invalid(&config, "a length without a list");
}

/* Of CPUs: both or neither, numbers that there may be, and as many as there may be. */
static void test_cpus(void **state)
{
    (void)state;
    unsigned cpus[1025] = {0};
    softqam_context_config config = api_context_config();
    config.n_cpus = 1;
    api_assert_context_invalid(&config, "a length without CPUs");
    config.cpus = cpus;
    config.n_cpus = 0;
    api_assert_context_invalid(&config, "CPUs without a length");
    config.n_cpus = 1025;
    api_assert_context_invalid(&config, "n_cpus");
    config.n_cpus = UINT32_MAX;
    api_assert_context_invalid(&config, "n_cpus");
    config.n_cpus = 3;
    cpus[2] = 1024;
    api_assert_context_invalid(&config, "a CPU past 1023");
    cpus[2] = UINT32_MAX;
    api_assert_context_invalid(&config, "a CPU past 1023");
    cpus[2] = 0;
    config.n_threads = 1;
    api_assert_context_accepted(&config);
    /* As many threads as CPUs in the list, which may have one twice. */
    config.n_threads = 0;
    config.backend = SOFTQAM_BACKEND_CPU;
    softqam_context *context = api_create_context(&config);
    softqam_demodulator *demodulator = api_create_in(context);
    assert_non_null(strstr(softqam_backend_detail(demodulator), ", 3 threads"));
    softqam_destroy(demodulator);
    softqam_context_destroy(context);
}

/* Both structures as bytes, with what is told of their size, and room for fields of later versions. */
enum { MORE_NBYTES = 40 };

typedef union config_bytes {
    size_t struct_nbytes;
    softqam_config config;
    softqam_context_config context_config;
    uint8_t bytes[(sizeof(softqam_context_config) > sizeof(softqam_config) ? sizeof(softqam_context_config)
                                                                           : sizeof(softqam_config)) +
                  MORE_NBYTES + 1];
} config_bytes;

typedef struct structure {
    const char *name;
    size_t nbytes;     /* of this version */
    size_t min_nbytes; /* of the first version */
    void (*init)(void *config, size_t nbytes);
    void (*settle)(config_bytes *config); /* for the backend under test */
    void (*accepted)(const void *config);
    void (*refused)(const void *config, const char *what);
} structure;

static void init_config(void *config, size_t nbytes)
{
    softqam_config_init_nbytes(config, nbytes);
}

static void init_context_config(void *config, size_t nbytes)
{
    softqam_context_config_init_nbytes(config, nbytes);
}

static void settle_config(config_bytes *config)
{
    config->config.context = api_shared_context();
}

static void settle_context_config(config_bytes *config)
{
    config->context_config.backend = harness_backend();
}

static void config_accepted(const void *config)
{
    api_assert_accepted(config);
}

static void config_refused(const void *config, const char *what)
{
    api_assert_invalid(config, what);
}

static void context_config_accepted(const void *config)
{
    api_assert_context_accepted(config);
}

static void context_config_refused(const void *config, const char *what)
{
    api_assert_context_invalid(config, what);
}

/* Nothing shorter has ever existed. */
static const structure structures[] = {
    {"softqam_config", sizeof(softqam_config), sizeof(softqam_config), init_config, settle_config, config_accepted,
     config_refused},
    {"softqam_context_config", sizeof(softqam_context_config), sizeof(softqam_context_config), init_context_config,
     settle_context_config, context_config_accepted, context_config_refused},
};

static void test_config_sizes(void **state)
{
    (void)state;
    for (const structure *s = structures; s < structures + HARNESS_COUNT(structures); s++) {
        config_bytes config;
        s->init(&config, s->nbytes);
        s->settle(&config);
        for (size_t nbytes = 0; nbytes < s->min_nbytes; nbytes++) {
            config.struct_nbytes = nbytes;
            s->refused(&config, "struct_nbytes too small");
        }
        config.struct_nbytes = s->min_nbytes;
        s->accepted(&config);
        config.struct_nbytes = SIZE_MAX;
        s->refused(&config, "a structure that was never filled");
        /* Not a byte behind it may be read. */
        config.struct_nbytes = s->min_nbytes;
        harness_buffer buffer;
        harness_buffer_open(&buffer, s->min_nbytes);
        harness_buffer_place_at_end(&buffer, s->min_nbytes, 0);
        memcpy(buffer.data, &config, s->min_nbytes);
        s->accepted(buffer.data);
        harness_buffer_close(&buffer);
    }
}

/* A caller of a later version: its fields that this library does not know must have their default, which is zero. */
static void test_later_config(void **state)
{
    (void)state;
    for (const structure *s = structures; s < structures + HARNESS_COUNT(structures); s++) {
        for (size_t more = 1; more <= MORE_NBYTES; more += more < 8 ? 1 : 8) {
            config_bytes later;
            memset(&later, 0xff, sizeof later);
            const size_t nbytes = s->nbytes + more;
            s->init(&later, nbytes);
            assert_int_equal(later.struct_nbytes, nbytes);
            s->settle(&later);
            s->accepted(&later);
            later.bytes[nbytes - 1] = 1;
            s->refused(&later, "an unknown field that is set");
            assert_non_null(strstr(softqam_error_message(), "does not know"));
            later.bytes[nbytes - 1] = 0;
            later.bytes[s->nbytes] = 0x80;
            s->refused(&later, "an unknown field that is set");
        }
    }
}

/* A caller of an earlier version has a smaller structure: not a byte behind it may be written. */
static void test_init_stays_inside(void **state)
{
    (void)state;
    harness_buffer buffer;
    harness_buffer_open(&buffer, sizeof(config_bytes));
    for (const structure *s = structures; s < structures + HARNESS_COUNT(structures); s++) {
        for (size_t nbytes = 0; nbytes <= s->nbytes + MORE_NBYTES; nbytes++) {
            config_bytes whole;
            memset(&whole, API_OUT_BYTE, sizeof whole);
            s->init(&whole, nbytes);
            for (size_t i = nbytes; i < sizeof whole.bytes; i++)
                assert_int_equal(whole.bytes[i], API_OUT_BYTE);
            if (nbytes % _Alignof(config_bytes) == 0) {
                harness_buffer_place_at_end(&buffer, nbytes, 0);
                s->init(buffer.data, nbytes);
                harness_buffer_check(&buffer);
            }
        }
    }
    harness_buffer_close(&buffer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),          cmocka_unit_test(test_context_defaults),
        cmocka_unit_test(test_null_config),       cmocka_unit_test(test_enumerations),
        cmocka_unit_test(test_modulations),       cmocka_unit_test(test_llr_scales),
        cmocka_unit_test(test_llr_limits),        cmocka_unit_test(test_formats_without_steps),
        cmocka_unit_test(test_input_scales),      cmocka_unit_test(test_counts),
        cmocka_unit_test(test_devices),           cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_config_sizes),      cmocka_unit_test(test_later_config),
        cmocka_unit_test(test_init_stays_inside),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
