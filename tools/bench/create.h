/* SPDX-License-Identifier: MIT */
/* Contexts and demodulators for what is measured, the names and bytes of their symbols, and the symbols. */
#ifndef SOFTQAM_TOOLS_BENCH_CREATE_H
#define SOFTQAM_TOOLS_BENCH_CREATE_H

#include <stdbool.h>

#include <softqam/softqam.h>

#include "common/sample_format.h"

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

/* A context's settings for a backend; n_threads 0 stands for one a CPU. */
softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads);

/* The formats of LLRs, all that the library has. */
#define BENCH_LISTED(value, name) BENCH_LLRS_##value,
enum { LLR_FORMAT_LIST(BENCH_LISTED) BENCH_N_LLR_FORMATS };
#undef BENCH_LISTED
extern const softqam_output_format bench_llr_formats[BENCH_N_LLR_FORMATS];

/* A demodulator's settings; the others are the defaults. */
softqam_demodulator_config bench_config(softqam_modulation modulation, softqam_input_format input,
                                        softqam_output_format output, softqam_noise noise);

/* Makes a demodulator, and a context that is gone with it. config's context does not matter; NULL stands for cf32 of
 * 256QAM to soft bits. What is measured is no first call: a warm-up has made what it needs, or
 * softqam_context_prepare(). */
softqam_status bench_create(softqam_demodulator **demodulator, softqam_context_config context_config,
                            const softqam_demodulator_config *config);

/* Whether a noise variance is read with each symbol. */
bool bench_has_noise(const softqam_demodulator_config *config);

/* Bytes that are written for so many symbols, and all that are read and written for one. */
size_t bench_out_nbytes(const softqam_demodulator_config *config, size_t n_symbols);
size_t bench_symbol_nbytes(const softqam_demodulator_config *config);

/* "cf32". */
const char *bench_input_name(softqam_input_format format);

/* Symbols with noise, the same ones in every format. */
void bench_fill(softqam_modulation modulation, void *symbols, size_t n_symbols, double snr_db,
                softqam_input_format format);

/* The scale that they have: integers at half of full scale, where no point clips. */
float bench_input_scale(softqam_input_format format);

/* cf32 at a working SNR, 28 dB. The same symbols come again after so many that no cache tells them from others. */
void bench_fill_large(softqam_modulation modulation, float *symbols, size_t n_symbols);

#endif
