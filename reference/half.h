/* SPDX-License-Identifier: MIT */
/* IEEE-754 binary16 by its definition: sign, 5 bits of exponent with a bias of 15, 10 bits of fraction. Slow and plain,
 * to check fast conversions with. */
#ifndef SOFTQAM_REFERENCE_HALF_H
#define SOFTQAM_REFERENCE_HALF_H

#include <stdint.h>

/* Rounds to the nearest binary16, ties to even; overflow and infinity give +-65504. x must not be a NaN. */
uint16_t half_from_double(double x);

/* Converts exactly; NaN gives some NaN. */
double half_to_double(uint16_t half);

#endif
