/* SPDX-License-Identifier: MIT */
/* Gains of their own stride, and two layers demapped at once. */
#include <stdlib.h>
#include <string.h>

#include "llr_fixture.h"

/* A stride of gains that is not the noise values': the bytes are those of gains and noise values side by side. */
LLR_TEST(test_gain_strides)
{
    enum { N_ELEMENTS = 300, MOST_STRIDE = 4, N_GAINS = N_ELEMENTS * MOST_STRIDE * SOFTQAM_MAX_LAYERS };
    const llr_contexts *on = *state;
    harness_random random = harness_random_named(__func__);
    scoped_memory float *symbols = harness_alloc(2 * sizeof *symbols * N_GAINS);
    scoped_memory float *gains = harness_alloc(sizeof *gains * N_GAINS);
    scoped_memory float *noise = harness_alloc(sizeof *noise * N_GAINS),
                        *values = harness_alloc(sizeof *values * N_GAINS);
    for (size_t k = 0; k < on->n * 200; k++) {
        const unsigned n_layers = 1 + (unsigned)harness_random_below(&random, SOFTQAM_MAX_LAYERS);
        const size_t n = (1 + harness_random_below(&random, N_ELEMENTS)) * n_layers;
        const softqam_demodulator_config config = {.output_format = harness_llr_formats[k % HARNESS_N_LLR_FORMATS]};
        scoped_demodulator *demodulator = llr_create(&config, on->items[k % on->n]);
        softqam_segment segment = {.n_symbols = n, .n_layers = n_layers, .modulation = SOFTQAM_MODULATION_64QAM};
        const bool is_interleaved = harness_random_below(&random, 2);
        segment.symbol_stride = is_interleaved ? n_layers : 1;
        segment.noise_stride = harness_random_below(&random, 3);
        segment.gain_stride = is_interleaved ? n_layers : 1 + harness_random_below(&random, MOST_STRIDE);
        harness_fill_mixture(&random, N_GAINS, symbols);
        harness_fill_gains(&random, N_GAINS, gains);
        harness_fill_noise(&random, HARNESS_NOISE_USUAL, N_GAINS, noise);
        softqam_segment plain = segment;
        plain.noise_stride = plain.gain_stride = n_layers;
        for (size_t layer = 0; layer < n_layers; layer++) {
            const size_t first = is_interleaved ? layer : layer * N_ELEMENTS;
            segment.layers[layer] =
                (softqam_layer){.symbols = symbols + 2 * first, .noise_var = noise + layer, .gain = gains + first};
            plain.layers[layer] = segment.layers[layer];
            plain.layers[layer].noise_var = values + layer;
            plain.layers[layer].gain = values + N_GAINS / 2 + layer;
            for (size_t i = 0; i < n / n_layers; i++) {
                values[i * n_layers + layer] = noise[layer + i * segment.noise_stride];
                values[N_GAINS / 2 + i * n_layers + layer] = gains[first + i * segment.gain_stride];
            }
        }
        const size_t nbytes = softqam_output_nbytes(config.output_format, segment.modulation, n);
        scoped_memory uint8_t *expected = harness_alloc(nbytes), *out = harness_alloc(nbytes);
        plain.out = expected;
        segment.out = out;
        harness_demodulate_segments(demodulator, &plain, 1);
        harness_poison(out, expected, nbytes);
        harness_demodulate_segments(demodulator, &segment, 1);
        assert_memory_equal(out, expected, nbytes);
    }
}
