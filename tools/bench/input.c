/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <string.h>

#include "common/transmitter.h"

float bench_input_scale(softqam_input_format format)
{
    const float scale = softqam_input_default_scale(format);
    return scale < 1 ? 2 * scale : scale;
}

void bench_fill(softqam_modulation modulation, void *symbols, size_t n_symbols, double snr_db,
                softqam_input_format format)
{
    struct transmitter transmitter;
    transmitter_init(&transmitter, modulation, 1, snr_db, format, (double)bench_input_scale(format));
    transmitter_generate(&transmitter, 0, n_symbols, symbols, NULL);
}

void bench_fill_large(softqam_modulation modulation, float *symbols, size_t n_symbols)
{
    enum { DIFFERENT = 1 << 22 }; /* an even number, for pi/2-BPSK */
    bench_fill(modulation, symbols, n_symbols < DIFFERENT ? n_symbols : DIFFERENT, 28.0, SOFTQAM_INPUT_CF32);
    for (size_t first = DIFFERENT; first < n_symbols; first += DIFFERENT)
        memcpy(symbols + 2 * first, symbols, 8 * (n_symbols - first < DIFFERENT ? n_symbols - first : DIFFERENT));
}
