/* SPDX-License-Identifier: MIT */
/* Recovers the rate of LDPC codewords bit by bit, in the standard's own steps and names: undoes 3GPP TS 38.212 clauses
 * 5.4.2.1 and 5.4.2.2, and finds the lengths E_r of code blocks and which of them are transmitted (38.214
 * clauses 5.1.7.1 and 6.1.5.1). Updates soft buffers of 8 and 16 bits, binary16 and binary32, to the last bit. */
#ifndef SOFTQAM_REFERENCE_RATE_RECOVERY_H
#define SOFTQAM_REFERENCE_RATE_RECOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds which of C code blocks are transmitted, with at most N groups of code blocks (N 0: all are). Bit m of CBGTI
 * stands for group m. */
void rate_recovery_transmitted(size_t C, size_t N, uint32_t CBGTI, bool transmitted[]);

/* Computes E_r of all C code blocks; 0 if a code block is not transmitted. */
void rate_recovery_lengths(size_t G, size_t N_L, size_t Q_m, size_t C, const bool transmitted[], size_t E[]);

/* A code block's circular buffer. It has n_fillers bits <NULL>, fewer than N_cb, from first_filler on. New data defines
 * the positions below N_fill; N_fill 0 stands for N_cb. */
typedef struct circular_buffer {
    size_t N_cb, k0, first_filler, n_fillers, N_fill;
} circular_buffer;

/* Returns true if some position is sent more than once. */
bool circular_buffer_repeats(const circular_buffer *self, size_t E);

/* Finds the position in the circular buffer of each bit f_0 .. f_(E-1), in the order in which bits are mapped to
 * symbols. E is a multiple of Q_m. */
void rate_recovery_positions(const circular_buffer *self, size_t E, size_t Q_m, size_t position[]);

typedef enum soft_format { SOFT_S8, SOFT_S16, SOFT_F16, SOFT_F32 } soft_format;

/* The format of stored values, and the largest magnitude of a sum: an integer for s8 and s16, a binary16 number for
 * f16. */
typedef struct soft_values {
    soft_format format;
    double limit;
} soft_values;

size_t soft_values_nbytes(soft_format format);
double soft_values_read(soft_format format, const void *value);
/* Rounds to nearest even. The number must be in the format's range. */
void soft_values_write(soft_format format, double number, void *value);

/* Adds an LLR to a stored value: the sum is rounded once to nearest even, and limited. A stored value that is NaN or
 * beyond the limit stays. */
void soft_values_add(const soft_values *self, void *value, const void *llr);

/* Updates a code block's soft buffer, of N_cb or N_fill values, by its LLRs f_0 .. f_(E-1), which are added in this
 * order. If E is 0, nothing is written. */
void soft_buffer_update(const soft_values *self, const circular_buffer *buffer, size_t E, size_t Q_m, const void *f,
                        bool is_new_data, double filler_value, void *soft);

#endif
