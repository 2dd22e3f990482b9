/* SPDX-License-Identifier: MIT */
/* A checked list of segments, cut anywhere: each span holds the symbols, the noise and the place in the output that the
 * whole segment has there, in whichever layer it begins. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "params.h"
#include "segment.h"

enum {
    STREAM_SPANS = 1,
    STREAM_MARKS,
    MOST_ELEMENTS = 50,
    MOST_STRIDE = 3,
    MOST_SYMBOLS = MOST_ELEMENTS * SOFTQAM_MAX_LAYERS
};

typedef struct layer_memory {
    uint8_t i[MOST_ELEMENTS * MOST_STRIDE * 8];
    uint8_t q[MOST_ELEMENTS * MOST_STRIDE * 4];
    float noise[MOST_ELEMENTS * MOST_STRIDE];
    float gains[MOST_ELEMENTS * MOST_STRIDE];
} layer_memory;

static softqam_segment random_segment(harness_random *random, layer_memory memory[SOFTQAM_MAX_LAYERS], uint8_t *out)
{
    const unsigned n_layers = (unsigned)harness_random_below(random, SOFTQAM_MAX_LAYERS + 1);
    softqam_segment segment = {
        .n_symbols = harness_random_below(random, MOST_ELEMENTS + 1) * (n_layers ? n_layers : 1),
        .first_symbol = (uint64_t)harness_random_u32(random) * 12,
        .out = out,
        .symbol_stride = harness_random_below(random, MOST_STRIDE + 1),
        .noise_stride = harness_random_below(random, MOST_STRIDE + 1),
        .n_layers = n_layers,
        .modulation = (softqam_modulation)(SOFTQAM_MODULATION_QPSK + harness_random_below(random, 5)),
    };
    if (harness_random_below(random, 2))
        segment.plane_stride = segment.n_symbols + harness_random_below(random, 9);
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++)
        segment.layers[k] = (softqam_layer){.symbols = memory[k].i,
                                            .symbols_q = harness_random_below(random, 3) ? NULL : memory[k].q,
                                            .noise_var = memory[k].noise,
                                            .gain = memory[k].gains};
    return segment;
}

/* The symbols, noise and gains of a segment, in the order of its definition. */
static void define(const softqam_params *params, const softqam_segment *segment, uint8_t *symbols, float *noise,
                   float *gains)
{
    const size_t n_layers = segment->n_layers ? segment->n_layers : 1, half = params->input_nbytes / 2;
    const size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    for (size_t i = 0; i < segment->n_symbols; i++) {
        const softqam_layer *layer = &segment->layers[i % n_layers];
        const size_t at = i / n_layers * stride * half;
        const uint8_t *both = layer->symbols;
        memcpy(symbols + 2 * i * half, layer->symbols_q ? both + at : both + 2 * at, half);
        memcpy(symbols + (2 * i + 1) * half,
               layer->symbols_q ? (const uint8_t *)layer->symbols_q + at : both + 2 * at + half, half);
        noise[i] = layer->noise_var[i / n_layers * segment->noise_stride];
        gains[i] = layer->gain[i / n_layers * segment->noise_stride];
    }
}

static void check_spans(harness_random *random, softqam_segment_list *list, const softqam_segment *segment,
                        uint8_t *out)
{
    static uint8_t symbols[MOST_SYMBOLS * 8], got[MOST_SYMBOLS * 8];
    static float noise[MOST_SYMBOLS], got_noise[MOST_SYMBOLS], gains[MOST_SYMBOLS], got_gains[MOST_SYMBOLS];
    const softqam_params *params = list->params;
    const size_t nbytes = params->input_nbytes;
    define(params, segment, symbols, noise, gains);
    softqam_cursor cursor = softqam_cursor_at(list, 0);
    for (size_t first = 0; first < segment->n_symbols;) {
        softqam_segment span = softqam_cursor_take(&cursor, 1 + harness_random_below(random, segment->n_symbols));
        const size_t skipped = harness_random_below(random, span.n_symbols);
        const size_t out_step =
            segment->plane_stride ? params->value_nbytes : params->output_nbytes[segment->modulation];
        assert_true(span.first_symbol == segment->first_symbol + first);
        assert_ptr_equal(span.out, out + first * out_step);
        assert_int_equal(span.plane_stride, segment->plane_stride);
        softqam_segment_gather_symbols(params, &span, skipped, span.n_symbols - skipped, got);
        softqam_segment_gather_floats(&span, false, skipped, span.n_symbols - skipped, got_noise);
        softqam_segment_gather_floats(&span, true, skipped, span.n_symbols - skipped, got_gains);
        assert_memory_equal(got, symbols + (first + skipped) * nbytes, (span.n_symbols - skipped) * nbytes);
        assert_memory_equal(got_noise, noise + first + skipped, (span.n_symbols - skipped) * sizeof *noise);
        assert_memory_equal(got_gains, gains + first + skipped, (span.n_symbols - skipped) * sizeof *gains);
        first += span.n_symbols;
    }
}

HARNESS_TEST(test_spans)
{
    static layer_memory memory[SOFTQAM_MAX_LAYERS];
    static uint8_t out[1];
    harness_random random = harness_random_stream(STREAM_SPANS);
    harness_random_fill(&random, memory, sizeof memory);
    for (size_t k = 0; k < 20000; k++) {
        softqam_demodulator_config config;
        softqam_params params = {0};
        softqam_demodulator_config_init(&config);
        config.output_format = harness_llr_formats[k % HARNESS_N_LLR_FORMATS];
        config.input_format = (softqam_input_format)(k / HARNESS_N_LLR_FORMATS % HARNESS_N_INPUT_FORMATS);
        softqam_params_make(&params, &config);
        const softqam_segment segment = random_segment(&random, memory, out);
        softqam_segment_list list = softqam_segment_list_of(&params, &segment, 1);
        check_spans(&random, &list, &segment, out);
    }
}

/* A cursor that begins at a mark stands where one stands that begins at the first segment. */
HARNESS_TEST(test_marks)
{
    enum { MOST_SEGMENTS = 1000 };
    static softqam_segment segments[MOST_SEGMENTS];
    softqam_params params = {0};
    harness_random random = harness_random_stream(STREAM_MARKS);
    for (size_t n = SOFTQAM_CHECKPOINTS; n <= MOST_SEGMENTS; n += 1 + harness_random_below(&random, 40)) {
        softqam_segment_list list = softqam_segment_list_of(&params, segments, n);
        size_t marks[SOFTQAM_CHECKPOINTS], n_symbols = 0;
        for (size_t k = 0; k < n; k++)
            n_symbols += segments[k].n_symbols = harness_random_below(&random, 3) * harness_random_below(&random, 9);
        softqam_segment_list marked = list;
        softqam_segment_list_add_checkpoints(&marked, marks);
        for (size_t first = 0; first < n_symbols; first++) {
            const softqam_cursor expected = softqam_cursor_at(&list, first), got = softqam_cursor_at(&marked, first);
            assert_int_equal(got.segment, expected.segment);
            assert_int_equal(got.offset, expected.offset);
        }
    }
}
