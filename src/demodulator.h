/* SPDX-License-Identifier: MIT */
/* What the CUDA entry points need of a demodulator. */
#ifndef SOFTQAM_DEMODULATOR_H
#define SOFTQAM_DEMODULATOR_H

#include "backend.h"

/* The demodulator's state of the given backend, or NULL when it has none. */
void *softqam_demodulator_state(const softqam_demodulator *demodulator, const softqam_backend_ops *backend);

#endif
