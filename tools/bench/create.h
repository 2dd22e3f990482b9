/* SPDX-License-Identifier: MIT */
/* Contexts and demodulators for what is measured. */
#ifndef SOFTQAM_TOOLS_BENCH_CREATE_H
#define SOFTQAM_TOOLS_BENCH_CREATE_H

#include <softqam/softqam.h>

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

/* A context's settings for a backend; n_threads 0 stands for one a CPU. */
softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads);

/* A demodulator's settings; the others are the defaults. */
softqam_demodulator_config bench_config(softqam_modulation modulation, softqam_input_format input,
                                        softqam_output_format output, softqam_noise noise);

/* Makes a demodulator, and a context that is gone with it. config's context does not matter; NULL stands for cf32 of
 * 256QAM to soft bits. What is measured is no first call: a warm-up has made what it needs, or
 * softqam_context_prepare(). */
softqam_status bench_create(softqam_demodulator **demodulator, softqam_context_config context_config,
                            const softqam_demodulator_config *config);

/* "cf32". */
const char *bench_input_name(softqam_input_format format);

/* The scale of samples: integers at half of full scale, where no point clips. */
float bench_input_scale(softqam_input_format format);

#endif
