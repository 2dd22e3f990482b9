/* SPDX-License-Identifier: MIT */
/* LDPC soft buffers of 8 and 16 bits, binary16 and binary32, to the last bit: rate_recovery.h says where each LLR goes,
 * this file how it is added there. */
#ifndef SOFTQAM_REFERENCE_SOFT_VALUES_H
#define SOFTQAM_REFERENCE_SOFT_VALUES_H

#include "rate_recovery.h"

typedef enum soft_format { SOFT_S8, SOFT_S16, SOFT_F16, SOFT_F32 } soft_format;

/* How values are stored, and the largest magnitude that a sum has: of s8 and s16 an integer, of f16 a binary16. */
typedef struct soft_values {
    soft_format format;
    double limit;
} soft_values;

size_t soft_values_nbytes(soft_format format);
/* Rounds to nearest even. Not for NaN nor for what the format does not hold. */
void soft_values_write(soft_format format, double number, void *value);

/* A stored value that is beyond the limit, or NaN, stays. Any other becomes the sum, rounded once to nearest even and
 * limited. */
void soft_values_add(const soft_values *self, void *value, const void *llr);

/* Updates the soft buffer of a code block, N_cb values, by its LLRs f_0 .. f_(E-1), which are added in this order. With
 * E 0 nothing is written. */
void soft_buffer_update(const soft_values *self, const circular_buffer *buffer, size_t E, size_t Q_m, const void *f,
                        bool is_new_data, double filler_value, void *soft);

#endif
