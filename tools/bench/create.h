/* SPDX-License-Identifier: MIT */
/* Contexts and demodulators for what is measured. */
#ifndef SOFTQAM_TOOLS_BENCH_CREATE_H
#define SOFTQAM_TOOLS_BENCH_CREATE_H

#include <softqam/softqam.h>

/* A context's settings for a backend; n_threads 0 stands for one a CPU. */
softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads);

/* Makes a demodulator, and a context that is gone with it. config's context does not matter; NULL stands for the
 * defaults. What is measured is no first call: a warm-up has made what it needs, or softqam_context_prepare(). */
softqam_status bench_create(softqam_demodulator **demodulator, const softqam_context_config *context_config,
                            const softqam_config *config);

#endif
