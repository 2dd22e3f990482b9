/* SPDX-License-Identifier: MIT */
/* Demodulation of host memory on the CPU. */
#ifndef SOFTQAM_CPU_DEMODULATE_H
#define SOFTQAM_CPU_DEMODULATE_H

#include "demodulator.h"
#include "segment.h"

/* The symbols of a checked list from `first` to the last, on the context's threads where they are many. */
void softqam_cpu_demodulate(const softqam_demodulator *demodulator, const softqam_segment_list *list, size_t first);

#endif
