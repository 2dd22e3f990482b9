/* SPDX-License-Identifier: MIT */
#include "soft_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

size_t soft_values_nbytes(soft_format format)
{
    static const size_t nbytes[] = {[SOFT_S8] = 1, [SOFT_S16] = 2, [SOFT_F16] = 2, [SOFT_F32] = 4};
    return nbytes[format];
}

static double soft_values_read(soft_format format, const void *value)
{
    union {
        int8_t s8;
        int16_t s16;
        uint16_t f16;
        float f32;
    } stored;
    memcpy(&stored, value, soft_values_nbytes(format));
    switch (format) {
    case SOFT_S8:
        return stored.s8;
    case SOFT_S16:
        return stored.s16;
    case SOFT_F16:
        return half_to_double(stored.f16);
    case SOFT_F32:
        break;
    }
    return stored.f32;
}

void soft_values_write(soft_format format, double number, void *value)
{
    union {
        int8_t s8;
        int16_t s16;
        uint16_t f16;
        float f32;
    } stored;
    switch (format) {
    case SOFT_S8:
        stored.s8 = (int8_t)number;
        break;
    case SOFT_S16:
        stored.s16 = (int16_t)number;
        break;
    case SOFT_F16:
        stored.f16 = half_from_double(number);
        break;
    case SOFT_F32:
        stored.f32 = (float)number;
        break;
    }
    memcpy(value, &stored, soft_values_nbytes(format));
}

void soft_values_add(const soft_values *self, void *value, const void *llr)
{
    const double old = soft_values_read(self->format, value);
    if (!(fabs(old) <= self->limit))
        return;
    /* Exact but for f32. There double has more than twice the digits, so that rounding twice is rounding once. */
    const double sum = old + soft_values_read(self->format, llr);
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
    if (E == 0)
        return;
    size_t *position = calloc(E, sizeof *position);
    if (!position)
        abort();
    rate_recovery_positions(buffer, E, Q_m, position);
    for (size_t n = 0; n < buffer->N_cb && is_new_data; n++)
        soft_values_write(self->format, circular_buffer_is_filler(buffer, n) ? filler_value : 0, to + n * nbytes);
    for (size_t k = 0; k < E; k++)
        if (is_added)
            soft_values_add(self, to + position[k] * nbytes, from + k * nbytes);
        else
            memcpy(to + position[k] * nbytes, from + k * nbytes, nbytes);
    free(position);
}
