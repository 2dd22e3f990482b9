/* SPDX-License-Identifier: MIT */
/* IEEE-754 binary16, for which C11 has no type. */
#ifndef SOFTQAM_TOOLS_COMMON_BINARY16_H
#define SOFTQAM_TOOLS_COMMON_BINARY16_H

#include <stdint.h>

/* The magnitude that lies half way between the largest number, 65504, and the next that the format would have. */
#define BINARY16_OVERFLOW 65520.0

/* The bits of +65504. */
#define BINARY16_LARGEST 0x7bff

/* Exact; NaN gives some NaN. */
float binary16_to_float(uint16_t half);

/* The nearest, ties to even; from BINARY16_OVERFLOW on 65504, infinity included, with its sign. Not for NaN. */
uint16_t binary16_from_double(double x);

#endif
