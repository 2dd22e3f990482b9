/* SPDX-License-Identifier: MIT */
/* Segments: what each field means, by a demodulator that has it as its own setting; what is reserved;
 * and misuse, where the segment that is wrong is refused whatever its place, and nothing is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_fixture.h"

enum { STREAM_SYMBOLS = 1, STREAM_NOISE, N_SYMBOLS = 333, MAX_STRIDE = 4, MAX_VALUE_NBYTES = 4 };

static const float *noise_for(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_U8 ? NULL : &api_low_noise;
}

/* Of API_SYMBOLS, in order for a format. */
static softqam_segment good_segment(softqam_output_format format, void *out)
{
    return (softqam_segment){
        .n_symbols = API_SYMBOLS,
        .out = out,
        .layers = {{.symbols = api_symbols, .noise_var = noise_for(format)}},
    };
}

/* What fields mean. */

/* Symbols and noise in memory with strides, and side by side. */
typedef struct samples {
    uint8_t pairs[N_SYMBOLS * MAX_STRIDE * 8];
    uint8_t i[N_SYMBOLS * MAX_STRIDE * 4];
    uint8_t q[N_SYMBOLS * MAX_STRIDE * 4];
    float noise[N_SYMBOLS * MAX_STRIDE];
    uint8_t together[N_SYMBOLS * 8];
    float noise_together[N_SYMBOLS];
} samples;

static void fill_samples(samples *self, softqam_input_format format)
{
    harness_random random = harness_random_stream(STREAM_SYMBOLS);
    const size_t n = (size_t)N_SYMBOLS * MAX_STRIDE;
    const size_t half = softqam_input_symbol_nbytes(format) / 2;
    if (format == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(&random, n, (float *)(void *)self->pairs);
    else
        harness_random_fill(&random, self->pairs, n * 2 * half);
    for (size_t k = 0; k < n; k++) {
        memcpy(self->i + k * half, self->pairs + 2 * k * half, half);
        memcpy(self->q + k * half, self->pairs + (2 * k + 1) * half, half);
    }
    random = harness_random_stream(STREAM_NOISE);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, n, self->noise);
}

/* A segment's bytes against those of a demodulator that has its fields as settings. */
static void check_values(const softqam_demodulator_config *config, const softqam_demodulator_config *same,
                         const softqam_segment *segment, const void *symbols, const float *noise_var, const char *what)
{
    static uint8_t expected[N_SYMBOLS * HARNESS_SYMBOL_BITS * MAX_VALUE_NBYTES], out[sizeof expected];
    const size_t nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_256QAM, segment->n_symbols);
    softqam_demodulator_config alone = *same;
    alone.noise = segment->noise_stride ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    softqam_demodulator *definition = api_create(&alone);
    harness_demodulate_llrs(definition, symbols, noise_var, segment->n_symbols, expected);
    softqam_demodulator_destroy(definition);
    scoped_demodulator *demodulator = api_create(config);
    harness_poison(out, expected, nbytes);
    softqam_segment placed = *segment;
    placed.out = out;
    const softqam_status status = softqam_demodulate_segments(demodulator, &placed, 1);
    if (status != SOFTQAM_OK || memcmp(out, expected, nbytes) != 0)
        fail_msg("%s, input %d, output %d: %s", what, (int)config->input_format, (int)config->output_format,
                 status == SOFTQAM_OK ? "other bytes" : softqam_error_message());
}

/* I and Q together or apart, symbols and noise in strides. */
static void check_strides(samples *self, softqam_input_format input, softqam_output_format output)
{
    softqam_demodulator_config config = api_llr_config(output);
    config.input_format = input;
    const size_t half = softqam_input_symbol_nbytes(input) / 2;
    for (unsigned shape = 0; shape < 2 * MAX_STRIDE * MAX_STRIDE; shape++) {
        const bool apart = shape & 1;
        const size_t stride = shape / 2 % MAX_STRIDE;
        const size_t noise_stride = output == SOFTQAM_OUTPUT_U8 ? 0 : shape / 2 / MAX_STRIDE;
        const size_t step = stride ? stride : 1;
        for (size_t k = 0; k < N_SYMBOLS; k++) {
            memcpy(self->together + 2 * k * half, self->pairs + 2 * k * step * half, 2 * half);
            self->noise_together[k] = self->noise[k * noise_stride];
        }
        const softqam_segment segment = {
            .n_symbols = N_SYMBOLS,
            .symbol_stride = stride,
            .noise_stride = noise_stride,
            .layers = {{.symbols = apart ? self->i : self->pairs,
                        .symbols_q = apart ? self->q : NULL,
                        .noise_var = output == SOFTQAM_OUTPUT_U8 ? NULL : self->noise}},
        };
        check_values(&config, &config, &segment, self->together,
                     output == SOFTQAM_OUTPUT_U8 ? NULL : self->noise_together, apart ? "planes" : "pairs");
    }
}

HARNESS_TEST(test_strides_and_planes)
{
    scoped_memory samples *self = harness_alloc(sizeof *self);
    for (int input = SOFTQAM_INPUT_CF32; input < HARNESS_N_INPUT_FORMATS; input++) {
        fill_samples(self, (softqam_input_format)input);
        for (int output = 0; output < HARNESS_N_OUTPUT_FORMATS; output++)
            check_strides(self, (softqam_input_format)input, (softqam_output_format)output);
    }
}

/* A segment's own scales, noise form and modulation count for it alone, and zero stands for the demodulator's. */
HARNESS_TEST(test_own_settings)
{
    static const float input_scales[] = {0, 1, 0x1p-9F, 0.37F}, llr_scales[] = {0, 1, 3.25F, 100};
    scoped_memory samples *self = harness_alloc(sizeof *self);
    fill_samples(self, SOFTQAM_INPUT_CS16);
    for (unsigned shape = 0; shape < 4 * 4 * 3 * HARNESS_N_OUTPUT_FORMATS * 2; shape++) {
        const softqam_output_format output = (softqam_output_format)(shape % HARNESS_N_OUTPUT_FORMATS);
        const unsigned rest = shape / HARNESS_N_OUTPUT_FORMATS;
        const float llr_scale = harness_llr_defaults_of[output].limit ? llr_scales[rest / 4 % 4] : 0;
        const float *noise_var = output == SOFTQAM_OUTPUT_U8 ? NULL : self->noise;
        softqam_demodulator_config config = api_llr_config(output);
        config.input_format = SOFTQAM_INPUT_CS16;
        config.input_scale = 0x1p-11F;
        config.llr_scale = harness_llr_defaults_of[output].limit ? 11 : 0;
        config.noise_form = SOFTQAM_NOISE_FORM_INVERSE;
        const softqam_segment segment = {
            .n_symbols = N_SYMBOLS,
            .first_symbol = UINT64_MAX - rest,
            .noise_stride = output == SOFTQAM_OUTPUT_U8 ? 0 : rest / 48 % 2,
            .layers = {{.symbols = self->pairs, .noise_var = noise_var}},
            .n_layers = rest % 2,
            .modulation = rest % 3 ? SOFTQAM_MODULATION_256QAM : SOFTQAM_MODULATION_DEFAULT,
            .noise_form = (softqam_noise_form)(rest / 16 % 3),
            .input_scale = input_scales[rest % 4],
            .llr_scale = llr_scale,
        };
        softqam_demodulator_config same = config;
        if (segment.input_scale != 0)
            same.input_scale = segment.input_scale;
        if (segment.llr_scale != 0)
            same.llr_scale = segment.llr_scale;
        if (segment.noise_form != SOFTQAM_NOISE_FORM_DEFAULT)
            same.noise_form = segment.noise_form;
        check_values(&config, &same, &segment, self->pairs, noise_var, "own settings");
    }
}

/* In one call, segments of different settings: none takes over its neighbour's. */
HARNESS_TEST(test_different_settings_in_one_call)
{
    enum { N_SEGMENTS = 12 };
    scoped_memory samples *self = harness_alloc(sizeof *self);
    fill_samples(self, SOFTQAM_INPUT_CS16);
    softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    config.input_format = SOFTQAM_INPUT_CS16;
    scoped_demodulator *demodulator = api_create(&config);
    static uint8_t expected[N_SEGMENTS * N_SYMBOLS * HARNESS_SYMBOL_BITS], out[sizeof expected];
    softqam_segment segments[N_SEGMENTS];
    for (unsigned k = 0; k < N_SEGMENTS; k++) {
        const size_t at = (size_t)k * N_SYMBOLS * HARNESS_SYMBOL_BITS;
        segments[k] = (softqam_segment){
            .n_symbols = k == 5 ? 0 : N_SYMBOLS - k,
            .out = expected + at,
            .symbol_stride = 1 + k % 3,
            .noise_stride = k % 2,
            .layers = {{.symbols = self->pairs, .noise_var = self->noise}},
            .noise_form = (softqam_noise_form)(k % 3),
            .input_scale = k % 4 ? ldexpf(1, -(int)k) : 0,
            .llr_scale = (float)(k % 5),
        };
        assert_int_equal(softqam_demodulate_segments(demodulator, &segments[k], 1), SOFTQAM_OK);
        segments[k].out = out + at;
    }
    for (unsigned k = 0; k < N_SEGMENTS; k++)
        harness_poison(segments[k].out, expected + ((uint8_t *)segments[k].out - out),
                       segments[k].n_symbols * HARNESS_SYMBOL_BITS);
    assert_int_equal(softqam_demodulate_segments(demodulator, segments, N_SEGMENTS), SOFTQAM_OK);
    assert_memory_equal(out, expected, sizeof out);
}

/* An empty segment may have NULL pointers wherever it stands, of LLRs too. */
HARNESS_TEST(test_empty_segments)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_S8;
    config.context = api_shared_context();
    scoped_demodulator *demodulator = api_create(&config);
    static const float symbols[] = {0.5F, -0.5F};
    static const float noise_var = 0.01F;
    int8_t out[2][8] = {{0}};
    softqam_segment segments[5] = {{0}};
    for (int k = 0; k < 2; k++) {
        softqam_segment *full = &segments[2 * k + 1];
        full->n_symbols = 1;
        full->layers[0] = (softqam_layer){.symbols = symbols, .noise_var = &noise_var};
        full->out = out[k];
    }
    assert_int_equal(softqam_demodulate_segments(demodulator, segments, 5), SOFTQAM_OK);
    assert_int_equal(out[0][0], 127);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}

/* Not a byte behind the last segment is read, nor one written. */
HARNESS_TEST(test_segments_are_only_read)
{
    scoped_demodulator *demodulator = api_create_soft_bits();
    uint8_t out[2][sizeof api_soft_bits];
    const softqam_segment segments[2] = {good_segment(SOFTQAM_OUTPUT_U8, out[0]),
                                         good_segment(SOFTQAM_OUTPUT_U8, out[1])};
    SCOPED(harness_buffer_close) harness_buffer buffer;
    harness_buffer_open(&buffer, sizeof segments);
    harness_buffer_place_at_end(&buffer, sizeof segments, 0);
    memcpy(buffer.data, segments, sizeof segments);
    const softqam_segment *placed = (const softqam_segment *)(const void *)buffer.data;
    assert_int_equal(softqam_demodulate_segments(demodulator, placed, 2), SOFTQAM_OK);
    assert_memory_equal(out[1], api_soft_bits, sizeof api_soft_bits);
    assert_memory_equal(placed, segments, sizeof segments);
    harness_buffer_check(&buffer);
}

/* Misuse. */

/* A good segment of API_SYMBOLS, then one that is not: nothing may be written to the good one's output. */
static void assert_segment_refused(softqam_demodulator *demodulator, softqam_output_format format, softqam_segment bad,
                                   const char *what)
{
    uint8_t out[sizeof api_soft_bits * MAX_VALUE_NBYTES], untouched[sizeof out];
    memset(out, API_OUT_BYTE, sizeof out);
    memset(untouched, API_OUT_BYTE, sizeof untouched);
    const softqam_segment good = good_segment(format, out);
    for (size_t place = 0; place < 3; place++) {
        softqam_segment segments[3] = {good, {0}, good};
        segments[2].n_symbols = 0;
        segments[place] = bad;
        const softqam_status status = softqam_demodulate_segments(demodulator, segments, HARNESS_COUNT(segments));
        if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
            fail_msg("%s: %s", what, softqam_status_string(status));
        api_assert_one_line(softqam_error_message());
        assert_memory_equal(out, untouched, sizeof out);
    }
}

static void check_misuse(softqam_output_format format)
{
    uint8_t memory[64 + sizeof api_soft_bits * MAX_VALUE_NBYTES], *out = memory + 64;
    softqam_demodulator_config config = api_llr_config(format);
    scoped_demodulator *demodulator = api_create(&config);
    const softqam_segment good = good_segment(format, out);
    softqam_segment bad = good;
    bad.layers[0].symbols = NULL;
    assert_segment_refused(demodulator, format, bad, "no symbols");
    bad = good;
    bad.out = NULL;
    assert_segment_refused(demodulator, format, bad, "no output");
    bad = good;
    bad.layers[0].noise_var = format == SOFTQAM_OUTPUT_U8 ? &api_low_noise : NULL;
    assert_segment_refused(demodulator, format, bad, "noise where none is taken, or none where it is");
    bad = good;
    bad.layers[0].symbols = out;
    assert_segment_refused(demodulator, format, bad, "in place");
    bad = good;
    bad.layers[0].symbols_q = out + 8;
    assert_segment_refused(demodulator, format, bad, "Q in the output");
    bad = good;
    bad.layers[0].symbols = out - 3 * sizeof(float);
    bad.layers[0].symbols_q = api_symbols;
    assert_segment_refused(demodulator, format, bad, "I runs into the output");
    bad = good;
    bad.layers[0].symbols = out - 3 * 5 * sizeof(float);
    bad.layers[0].symbols_q = api_symbols;
    bad.symbol_stride = 5;
    assert_segment_refused(demodulator, format, bad, "I runs into the output in strides");
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 8 + 1, PTRDIFF_MAX / 8 + 1};
    for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
        bad = good;
        bad.n_symbols = counts[i];
        assert_segment_refused(demodulator, format, bad, "more symbols than memory holds");
        bad = good;
        bad.symbol_stride = counts[i];
        assert_segment_refused(demodulator, format, bad, "a stride over the end of memory");
    }
}

HARNESS_TEST(test_misuse)
{
    const softqam_segment none[1] = {{0}};
    softqam_demodulator *demodulator = api_create_soft_bits();
    assert_int_equal(softqam_demodulate_segments(demodulator, NULL, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    assert_int_equal(softqam_demodulate_segments(NULL, none, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
    api_assert_one_line(softqam_error_message());
    assert_int_equal(softqam_demodulate_segments(NULL, NULL, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate_segments(demodulator, NULL, 0), SOFTQAM_OK);
    assert_int_equal(softqam_demodulate_segments(demodulator, none, 1), SOFTQAM_OK);
    api_assert_works(demodulator);
    softqam_demodulator_destroy(demodulator);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        check_misuse((softqam_output_format)format);
}

/* What only LLRs have: noise in strides. */
HARNESS_TEST(test_noise_misuse)
{
    softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    float memory[32] = {0};
    const softqam_segment good = {.n_symbols = API_SYMBOLS,
                                  .out = memory + 16,
                                  .noise_stride = 1,
                                  .layers = {{.symbols = api_symbols, .noise_var = memory}}};
    softqam_segment bad = good;
    bad.layers[0].noise_var = memory + 13;
    assert_segment_refused(demodulator, config.output_format, bad, "noise runs into the output");
    bad.layers[0].noise_var = memory + 4;
    bad.noise_stride = 4;
    assert_segment_refused(demodulator, config.output_format, bad, "noise runs into the output in strides");
    bad.noise_stride = SIZE_MAX / 4;
    assert_segment_refused(demodulator, config.output_format, bad, "a noise stride over the end of memory");
    bad = good;
    bad.layers[0].noise_var = (const float *)(const void *)((const uint8_t *)memory + 1);
    assert_segment_refused(demodulator, config.output_format, bad, "misaligned noise");
    api_assert_llrs_work(demodulator, config.output_format);
}

/* What later versions may give a meaning, each alone; of layers, those that the segment has. */
HARNESS_TEST(test_reserved_fields)
{
    softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    scoped_demodulator *demodulator = api_create(&config);
    uint8_t out[sizeof api_soft_bits];
    softqam_segment good = good_segment(SOFTQAM_OUTPUT_S8, out);
    good.n_layers = 2;
    for (size_t k = 1; k < SOFTQAM_MAX_LAYERS; k++)
        good.layers[k] = good.layers[0];
    assert_int_equal(HARNESS_COUNT(good.reserved), 8);
    assert_int_equal(HARNESS_COUNT(good.layers[0].reserved), 2);
    for (size_t k = 0; k < 9 + SOFTQAM_MAX_LAYERS * 2; k++) {
        softqam_segment bad = good;
        const size_t layer = k < 9 ? 0 : (k - 9) / 2;
        char expected[80] = "segment.reserved is not 0";
        if (k == 8) {
            bad.reserved_word = 0x80000000U;
            snprintf(expected, sizeof expected, "segment.reserved_word is not 0");
        } else if (k < 8) {
            bad.reserved[k] = k % 2 ? 1 : (uint64_t)1 << 63;
        } else {
            bad.layers[layer].reserved[k % 2] = k % 2 ? 1 : (uint64_t)1 << 63;
            snprintf(expected, sizeof expected, "segment.layers[%zu].reserved is not 0", layer);
        }
        if (layer >= good.n_layers) {
            harness_demodulate_segments(demodulator, &bad, 1);
            continue;
        }
        assert_segment_refused(demodulator, SOFTQAM_OUTPUT_S8, bad, expected);
        memset(out, API_OUT_BYTE, sizeof out);
        assert_int_equal(softqam_demodulate_segments(demodulator, &bad, 1), SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_string_equal(softqam_error_message(), expected);
        for (size_t i = 0; i < sizeof out; i++)
            assert_int_equal(out[i], API_OUT_BYTE);
    }
}
