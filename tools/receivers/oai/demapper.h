/* SPDX-License-Identifier: MIT */
/* What OAI looks up in libdemapper_softqam.so, with the types of its own headers. */
#ifndef SOFTQAM_RECEIVERS_OAI_DEMAPPER_H
#define SOFTQAM_RECEIVERS_OAI_DEMAPPER_H

#include <stdint.h>

/* OAI's c16_t: a complex number of 16-bit integers. */
typedef struct oai_c16 {
    int16_t r;
    int16_t i;
} oai_c16;

/* Before the first call, by one thread; 0 where it worked. Reads SOFTQAM_OAI_SCALE. */
int32_t demapper_init(void);
/* In each thread that will call: nothing is needed. */
int32_t demapper_init_thread(void);
int32_t demapper_shutdown(void);

/* LLRs of a layer's resource elements on an OFDM symbol; any number, any alignment, any number of threads at once.
 *
 * rxdataF_comp   nb_re matched-filter outputs, h* y: pairs of int16 that are not divided by the channel
 * ul_ch_mag      thresholds of 16QAM, 64QAM and 256QAM: |h|^2 times 2/sqrt(10), 4/sqrt(42) and 8/sqrt(170), of which
 * the real part is read; the next two are multiples of it and are not read llr            receives nb_re * mod_order
 * LLRs, b0 first; positive means bit 0
 *
 * 1: done. 0, and nothing written, for another mod_order than 2, 4, 6 and 8, which leaves the call to OAI's own. */
int demapper_compute_llr(int32_t *rxdataF_comp, oai_c16 *ul_ch_mag, oai_c16 *ul_ch_magb, oai_c16 *ul_ch_magc,
                         int16_t *llr, uint32_t nb_re, uint8_t symbol, uint8_t mod_order);

#endif
