/* SPDX-License-Identifier: MIT */
/* Which constellation symbols look like, at whatever scale. */
#ifndef SOFTQAM_TOOLS_DEMOD_CONSTELLATION_H
#define SOFTQAM_TOOLS_DEMOD_CONSTELLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* The modulation under which I and Q of n symbols are clearly likelier than under the one that is expected;
 * SOFTQAM_MODULATION_DEFAULT where there are such, but noise hides which; and the expected one where there is none.
 * *is_clear says whether its points stand out of the noise. Symbols that are not finite are left out; `position` is the
 * first one's in its codeword. */
softqam_modulation constellation_recognise(const float *components, size_t n_symbols, uint64_t position,
                                           softqam_modulation expected, bool *is_clear);

#endif
