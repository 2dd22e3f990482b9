/* SPDX-License-Identifier: MIT */
#include "modulation.h"

#include <strings.h>

enum { FIRST = SOFTQAM_MODULATION_BPSK };

static const struct modulation modulations[] = {
    [SOFTQAM_MODULATION_BPSK - FIRST] = {"bpsk", "BPSK", 1, 1, 2, false},
    [SOFTQAM_MODULATION_PI2_BPSK - FIRST] = {"pi2-bpsk", "pi/2-BPSK", 1, 1, 2, true},
    [SOFTQAM_MODULATION_QPSK - FIRST] = {"qpsk", "QPSK", 2, 1, 2, false},
    [SOFTQAM_MODULATION_16QAM - FIRST] = {"16qam", "16QAM", 4, 2, 10, false},
    [SOFTQAM_MODULATION_64QAM - FIRST] = {"64qam", "64QAM", 6, 3, 42, false},
    [SOFTQAM_MODULATION_256QAM - FIRST] = {"256qam", "256QAM", 8, 4, 170, false},
    [SOFTQAM_MODULATION_1024QAM - FIRST] = {"1024qam", "1024QAM", 10, 5, 682, false},
};

_Static_assert(sizeof modulations / sizeof modulations[0] == MODULATION_COUNT &&
                   MODULATION_MAX_BITS == 2 * (MODULATION_COUNT - SOFTQAM_MODULATION_QPSK + 1),
               "modulation.h knows each");

const struct modulation *modulation_get(softqam_modulation modulation)
{
    if (modulation == SOFTQAM_MODULATION_DEFAULT)
        modulation = SOFTQAM_MODULATION_256QAM;
    return &modulations[modulation - FIRST];
}

softqam_modulation modulation_find(const char *text)
{
    for (int i = 0; i < MODULATION_COUNT; i++)
        if (!strcasecmp(text, modulations[i].option) || !strcasecmp(text, modulations[i].name))
            return (softqam_modulation)(i + FIRST);
    return SOFTQAM_MODULATION_DEFAULT;
}

/* Goes from the innermost bracket of the standard's formula outwards; for 256QAM (1 - 2 b0) [8 - (1 - 2 b2) [4 - (1 - 2
 * b4) [2 - (1 - 2 b6)]]]. */
int modulation_level(const struct modulation *modulation, unsigned bits)
{
    int level = 0;
    for (unsigned k = 0; k < modulation->axis_bits; k++) {
        const unsigned bit = bits >> 2 * (modulation->axis_bits - 1 - k) & 1;
        level = (1 - 2 * (int)bit) * ((1 << k) - level);
    }
    return level;
}
