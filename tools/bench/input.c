/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/transmitter.h"
#include "create.h"

void bench_fill(softqam_modulation modulation, void *symbols, size_t n_symbols, double snr_db,
                softqam_input_format format, float scale)
{
    struct transmitter transmitter;
    transmitter_init(&transmitter, modulation, 1, snr_db, format, (double)scale);
    transmitter_generate(&transmitter, 0, n_symbols, symbols, NULL);
}

float bench_input_scale(softqam_input_format format)
{
    const float scale = softqam_input_default_scale(format);
    return scale < 1 ? 2 * scale : scale;
}

/* The soft bits by the CPU backend. */
static bool make_expected(struct bench_input *input)
{
    softqam_demodulator *demodulator = NULL;
    const softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CPU, 0);
    softqam_status status = bench_create(&demodulator, &config, NULL);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, input->symbols, NULL, input->n_symbols, input->expected);
    if (status != SOFTQAM_OK)
        message_print(NULL, "%s", softqam_error_message());
    softqam_destroy(demodulator);
    return status == SOFTQAM_OK;
}

bool bench_input_make(struct bench_input *input, softqam_modulation modulation, size_t n_symbols)
{
    /* The same ones come again after so many, which no cache tells from others. An even number, for pi/2-BPSK. */
    enum { DIFFERENT = 1 << 22 };
    const bool has_soft_bits = modulation == SOFTQAM_MODULATION_256QAM;
    *input = (struct bench_input){.n_symbols = n_symbols, .symbols = malloc(8 * n_symbols)};
    if (has_soft_bits)
        input->expected = malloc(8 * n_symbols);
    if (!input->symbols || (has_soft_bits && !input->expected)) {
        message_print(NULL, "no memory for %zu symbols", n_symbols);
        return false;
    }
    bench_fill(modulation, input->symbols, n_symbols < DIFFERENT ? n_symbols : DIFFERENT, 28.0, SOFTQAM_INPUT_CF32, 1);
    for (size_t first = DIFFERENT; first < n_symbols; first += DIFFERENT)
        memcpy(input->symbols + 2 * first, input->symbols,
               8 * (n_symbols - first < DIFFERENT ? n_symbols - first : DIFFERENT));
    return !has_soft_bits || make_expected(input);
}

void bench_input_free(struct bench_input *input)
{
    free(input->symbols);
    free(input->expected);
}
