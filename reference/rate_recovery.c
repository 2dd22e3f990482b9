/* SPDX-License-Identifier: MIT */
#include "rate_recovery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

void rate_recovery_transmitted(size_t C, size_t N, uint32_t CBGTI, bool transmitted[])
{
    const size_t M = N < C ? N : C;
    size_t r = 0;
    for (size_t m = 0; m < M;
         m++) /* the first mod(C, M) groups have ceil(C / M) code blocks, the others floor(C / M) */
        for (size_t k = 0; k < (m < C % M ? (C + M - 1) / M : C / M); k++)
            transmitted[r++] = CBGTI >> m & 1;
    for (; r < C; r++)
        transmitted[r] = true;
}

void rate_recovery_lengths(size_t G, size_t N_L, size_t Q_m, size_t C, const bool transmitted[], size_t E[])
{
    const size_t n = G / (N_L * Q_m);
    size_t C_prime = 0, j = 0;
    for (size_t r = 0; r < C; r++)
        C_prime += transmitted[r];
    for (size_t r = 0; r < C; r++) {
        E[r] = 0;
        if (!transmitted[r])
            continue;
        /* j <= C' - mod(G / (N_L Q_m), C') - 1, without negative numbers. */
        if (j + n % C_prime + 1 <= C_prime)
            E[r] = N_L * Q_m * (n / C_prime);
        else
            E[r] = N_L * Q_m * ((n + C_prime - 1) / C_prime);
        j = j + 1;
    }
}

static bool is_filler(const circular_buffer *self, size_t position)
{
    return position >= self->first_filler && position < self->first_filler + self->n_fillers;
}

bool circular_buffer_repeats(const circular_buffer *self, size_t E) { return E > self->N_cb - self->n_fillers; }

void rate_recovery_positions(const circular_buffer *self, size_t E, size_t Q_m, size_t position[])
{
    size_t *selected = calloc(E + 1, sizeof *selected), k = 0, j = 0;
    if (!selected)
        abort();
    /* Bit selection, clause 5.4.2.1: the position of each e_k. */
    while (k < E) {
        if (!is_filler(self, (self->k0 + j) % self->N_cb)) {
            selected[k] = (self->k0 + j) % self->N_cb;
            k = k + 1;
        }
        j = j + 1;
    }
    /* Bit interleaving, clause 5.4.2.2: f_(i + j Q_m) = e_(i E / Q_m + j). */
    for (j = 0; j < E / Q_m; j++)
        for (size_t i = 0; i < Q_m; i++)
            position[i + j * Q_m] = selected[i * E / Q_m + j];
    free(selected);
}

size_t soft_values_nbytes(soft_format format)
{
    static const size_t nbytes[] = {[SOFT_S8] = 1, [SOFT_S16] = 2, [SOFT_F16] = 2, [SOFT_F32] = 4};
    return nbytes[format];
}

typedef union stored_value {
    int8_t s8;
    int16_t s16;
    uint16_t f16;
    float f32;
} stored_value;

double soft_values_read(soft_format format, const void *value)
{
    stored_value stored;
    memcpy(&stored, value, soft_values_nbytes(format));
    return format == SOFT_S8    ? stored.s8
           : format == SOFT_S16 ? stored.s16
           : format == SOFT_F16 ? half_to_double(stored.f16)
                                : (double)stored.f32;
}

void soft_values_write(soft_format format, double number, void *value)
{
    stored_value stored;
    if (format == SOFT_S8)
        stored.s8 = (int8_t)number;
    else if (format == SOFT_S16)
        stored.s16 = (int16_t)number;
    else if (format == SOFT_F16)
        stored.f16 = half_from_double(number);
    else
        stored.f32 = (float)number;
    memcpy(value, &stored, soft_values_nbytes(format));
}

void soft_values_add(const soft_values *self, void *value, const void *llr)
{
    const double old = soft_values_read(self->format, value), added = soft_values_read(self->format, llr);
    if (!(fabs(old) <= self->limit) || added == 0) /* 0 changes no value, not even -0 */
        return;
    /* Exact but for f32. There double has more than twice the digits, so that rounding twice is rounding once. */
    const double sum = old + added;
    /* Limiting before rounding gives the same, since the format holds the limit. */
    soft_values_write(self->format, fmax(-self->limit, fmin(sum, self->limit)), value);
}

void soft_buffer_update(const soft_values *self, const circular_buffer *buffer, size_t E, size_t Q_m, const void *f,
                        bool is_new_data, double filler_value, void *soft)
{
    const size_t nbytes = soft_values_nbytes(self->format);
    const bool is_added = !is_new_data || circular_buffer_repeats(buffer, E);
    uint8_t *to = soft;
    const uint8_t *from = f;
    size_t *position = calloc(E + 1, sizeof *position);
    if (!position)
        abort();
    rate_recovery_positions(buffer, E, Q_m, position);
    const size_t N_fill = buffer->N_fill ? buffer->N_fill : buffer->N_cb;
    for (size_t n = 0; n < N_fill && is_new_data && E > 0; n++)
        soft_values_write(self->format, is_filler(buffer, n) ? filler_value : 0, to + n * nbytes);
    for (size_t n = N_fill; n < buffer->N_cb && is_new_data && is_added; n++)
        if (!is_filler(buffer, n)) /* LLRs are added to it */
            soft_values_write(self->format, 0, to + n * nbytes);
    for (size_t k = 0; k < E; k++)
        if (is_added)
            soft_values_add(self, to + position[k] * nbytes, from + k * nbytes);
        else
            memcpy(to + position[k] * nbytes, from + k * nbytes, nbytes);
    free(position);
}
