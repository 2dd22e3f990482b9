/* SPDX-License-Identifier: MIT */
/* The symbols that softqam-bench measures on. */
#ifndef SOFTQAM_TOOLS_BENCH_INPUT_H
#define SOFTQAM_TOOLS_BENCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

/* At a working SNR, 28 dB. */
struct bench_input {
    float *symbols; /* cf32 */
    size_t n_symbols;
    unsigned char *expected; /* soft bits by the CPU backend; NULL for other modulations than 256QAM */
};

/* Makes an input. False after it has said why it could not; bench_input_free() ends it in any case. */
bool bench_input_make(struct bench_input *input, softqam_modulation modulation, size_t n_symbols);
void bench_input_free(struct bench_input *input);

/* Symbols with noise, the same ones in every format. */
void bench_fill(softqam_modulation modulation, void *symbols, size_t n_symbols, double snr_db,
                softqam_input_format format, float scale);

/* The scale of a format for symbols of unit energy: integers at half of full scale, where no point clips. */
float bench_input_scale(softqam_input_format format);

#endif
