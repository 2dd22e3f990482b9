/* SPDX-License-Identifier: MIT */
/* The symbols that softqam-bench measures on. */
#ifndef SOFTQAM_TOOLS_BENCH_INPUT_H
#define SOFTQAM_TOOLS_BENCH_INPUT_H

#include <stddef.h>

#include <softqam/softqam.h>

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

/* Symbols with noise, the same ones in every format. */
void bench_fill(softqam_modulation modulation, void *symbols, size_t n_symbols, double snr_db,
                softqam_input_format format);

/* The scale that they have: integers at half of full scale, where no point clips. */
float bench_input_scale(softqam_input_format format);

/* cf32 at a working SNR, 28 dB. The same symbols come again after so many that no cache tells them from others. */
void bench_fill_large(softqam_modulation modulation, float *symbols, size_t n_symbols);

#endif
