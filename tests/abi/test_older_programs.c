/* SPDX-License-Identifier: MIT */
/* A program that was compiled when some of today's fields were reserved bytes runs with this library, and gets the
 * bytes that it got then: its structures are frozen here, and it leaves zero in the reserved bytes. A program that uses
 * the fields of 1.0 gets 1.0's bytes. abi.py compares the layouts, and ../api/test_settings.c has what the older
 * program could ask for and is refused. */
#include <string.h>

#include "harness.h"

/* The structures of the older program. */

typedef struct old_context_config {
    int32_t backend;
    uint32_t n_threads;
    const unsigned *cpus;
    uint32_t n_cpus;
    int32_t thread_priority, device;
    uint32_t n_devices;
    const int *devices;
    uint32_t n_streams, reserved_word;
    uint64_t chunk_symbols;
    const char *cpu_variant;
    uint64_t reserved[8];
} old_context_config;

typedef struct old_demodulator_config {
    softqam_context *context;
    int32_t modulation, input_format, output_format, sign, noise, noise_form;
    float input_scale, llr_scale;
    int32_t llr_limit;
    uint32_t reserved_word;
    uint64_t reserved[8];
} old_demodulator_config;

typedef struct old_layer {
    const void *symbols, *symbols_q;
    const float *noise_var, *gain;
    uint64_t reserved[2];
} old_layer;

typedef struct old_codeword {
    uint64_t n_bits;
    void *buffers;
    uint64_t block_stride;
    void *const *block_buffers;
    uint32_t n_code_blocks, n_cbg, cbgti, deinterleave, n_cb, k0, first_filler, n_fillers;
    float filler_value;
    uint32_t combine;
    uint64_t reserved[4];
} old_codeword;

typedef struct old_segment {
    uint64_t n_symbols, first_symbol, scrambling_offset;
    void *out;
    uint64_t plane_stride, symbol_stride, noise_stride;
    old_layer layers[4];
    uint32_t n_layers;
    int32_t modulation, noise_form;
    float input_scale, llr_scale;
    uint32_t descramble, c_init, reserved_word;
    old_codeword codeword;
    uint64_t reserved[8];
} old_segment;

_Static_assert(sizeof(old_context_config) == sizeof(softqam_context_config) &&
                   sizeof(old_demodulator_config) == sizeof(softqam_demodulator_config) &&
                   sizeof(old_layer) == sizeof(softqam_layer) && sizeof(old_codeword) == sizeof(softqam_codeword) &&
                   sizeof(old_segment) == sizeof(softqam_segment),
               "a program keeps an array of segments, so no structure can grow");

/* A slot of two layers of 64QAM in two code blocks, interleaved, with a noise value and a gain each; and cross gains.
 */
enum { N_ELEMENTS = 500, N_SYMBOLS = 2 * N_ELEMENTS, N_BITS = 6 * N_SYMBOLS, N_BLOCKS = 2, N_CB = 2500, N_FILL = 2600 };
static float symbols[2 * N_SYMBOLS], noise_var[N_SYMBOLS], gains[N_SYMBOLS], cross_gain[2 * N_ELEMENTS];

/* Numbers from 0 to 1 without a seed: the hashes are of these. */
static float number(uint32_t i) { return (float)(i * 2654435761U >> 8) * 0x1p-24F; }

static int fill_slot(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_SYMBOLS; i++) {
        gains[i] = 0.25F + number(7 * i);
        noise_var[i] = gains[i] * (0.01F + 0.2F * number(5 * i + 1));
        symbols[2 * i] = gains[i] * (2.4F * number(3 * i + 2) - 1.2F);
        symbols[2 * i + 1] = gains[i] * (2.4F * number(11 * i + 3) - 1.2F);
        cross_gain[i] = 0.2F * number(13 * i) - 0.1F;
    }
    return 0;
}

static softqam_context *create_old_context(void)
{
    old_context_config configs[2];
    softqam_context *context;
    memset(configs, 0x55, sizeof configs);
    softqam_context_config_init((softqam_context_config *)(void *)&configs[0]);
    const old_context_config expected = {.device = -1};
    assert_memory_equal(&configs[0], &expected, sizeof expected);
    assert_int_equal(configs[1].backend, 0x55555555); /* it wrote no more than there was */
    configs[0].backend = (int32_t)harness_backend();
    assert_int_equal(softqam_context_create(&context, (softqam_context_config *)(void *)&configs[0]), SOFTQAM_OK);
    return context;
}

/* Transmits twice: new data, then a retransmission that is added. */
static uint64_t demodulate_as_0_4(softqam_output_format format)
{
    static const uint32_t k0[] = {0, 1234};
    scoped_context *context = create_old_context();
    old_demodulator_config configs[2];
    softqam_demodulator *created;
    memset(configs, 0x55, sizeof configs);
    softqam_demodulator_config_init((softqam_demodulator_config *)(void *)&configs[0]);
    const old_demodulator_config expected = {.modulation = SOFTQAM_MODULATION_256QAM, .noise_form = 1};
    assert_memory_equal(&configs[0], &expected, sizeof expected);
    assert_int_equal(configs[1].modulation, 0x55555555);
    configs[0].context = context;
    configs[0].output_format = (int32_t)format;
    assert_int_equal(softqam_demodulator_create(&created, (softqam_demodulator_config *)(void *)&configs[0]),
                     SOFTQAM_OK);
    scoped_demodulator *demodulator = created;
    float soft[N_BLOCKS * N_CB] = {0};
    for (uint32_t k = 0; k < 2; k++) {
        const old_segment segment = {
            .n_symbols = N_SYMBOLS,
            .symbol_stride = 2,
            .noise_stride = 1,
            .n_layers = 2,
            .layers = {{.symbols = symbols, .noise_var = noise_var, .gain = gains},
                       {.symbols = symbols + 2, .noise_var = noise_var + N_ELEMENTS, .gain = gains + N_ELEMENTS}},
            .modulation = SOFTQAM_MODULATION_64QAM,
            .descramble = 1,
            .c_init = 0x12345,
            .codeword = {.n_bits = N_BITS,
                         .buffers = soft,
                         .n_code_blocks = N_BLOCKS,
                         .deinterleave = 1,
                         .n_cb = N_CB,
                         .k0 = k0[k],
                         .first_filler = 2000,
                         .n_fillers = 60,
                         .filler_value = 100,
                         .combine = k},
        };
        harness_demodulate_segments(demodulator, (const softqam_segment *)(const void *)&segment, 1);
    }
    return harness_hash(soft, sizeof soft);
}

/* Does the same with the fields that took reserved bytes: layers demapped jointly, statistics, buffers that are longer
 * than N_cb. */
static uint64_t demodulate_as_1_0(softqam_output_format format)
{
    harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.noise_floor = 0.05F;
    scoped_demodulator *demodulator = harness_create(&setup);
    softqam_statistics statistics = {0};
    float soft[N_BLOCKS * N_FILL];
    memset(soft, 0x55, sizeof soft);
    for (uint32_t k = 0; k < 2; k++) {
        const softqam_segment segment = {
            .n_symbols = N_SYMBOLS,
            .symbol_stride = 2,
            .gain_stride = 2,
            .n_layers = 2,
            .layers = {{.symbols = symbols, .noise_var = noise_var, .gain = gains},
                       {.symbols = symbols + 2, .noise_var = noise_var + 1, .gain = gains + 1}},
            .modulation = SOFTQAM_MODULATION_16QAM,
            .cross_gain = {k ? NULL : cross_gain},
            .statistics = &statistics,
            .codeword = {.n_bits = 4 * N_SYMBOLS,
                         .buffers = soft,
                         .n_code_blocks = N_BLOCKS,
                         .deinterleave = 1,
                         .n_cb = N_CB,
                         .n_fill = k ? 0 : N_FILL,
                         .block_stride = N_FILL,
                         .combine = k},
        };
        harness_demodulate_segments(demodulator, &segment, 1);
    }
    return harness_hash(soft, sizeof soft) ^ harness_hash(&statistics, sizeof statistics);
}

HARNESS_TEST_WITH(test_bytes, fill_slot, NULL)
{
    static const struct {
        softqam_output_format format;
        uint64_t as_0_4, as_1_0;
    } rows[] = {
        {SOFTQAM_OUTPUT_S8, 0x64b53502b3e71522, 0x8d7239c6711f2a5f},
        {SOFTQAM_OUTPUT_S16, 0x6cfe398ad6da7ace, 0x52e136fc2839fed3},
        {SOFTQAM_OUTPUT_F16, 0x9885152d098c3c80, 0x3a008fbbc49167dc},
        {SOFTQAM_OUTPUT_F32, 0x838a49fcd8effcc0, 0x1c02a5b9ddba0667},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const uint64_t old = demodulate_as_0_4(rows[k].format), now = demodulate_as_1_0(rows[k].format);
        if (old != rows[k].as_0_4 || now != rows[k].as_1_0)
            fail_msg("%s: the hashes are 0x%llx and 0x%llx", harness_output_names[rows[k].format],
                     (unsigned long long)old, (unsigned long long)now);
    }
}
