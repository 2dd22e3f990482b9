/* SPDX-License-Identifier: MIT */
#include "planes.h"

#include <string.h>

static inline void copy_planes(size_t value_nbytes, const unsigned char *llrs, size_t n_bits, size_t n_symbols,
                               unsigned char *out, size_t plane_nbytes)
{
    for (size_t k = 0; k < n_bits; k++, out += plane_nbytes, llrs += value_nbytes)
        for (size_t i = 0; i < n_symbols; i++)
            memcpy(out + i * value_nbytes, llrs + i * n_bits * value_nbytes, value_nbytes);
}

#define DEFINE_PLANES(name, value_nbytes)                                                                              \
    void name(const unsigned char *llrs, size_t n_bits, size_t n_symbols, unsigned char *out, size_t plane_nbytes)     \
    {                                                                                                                  \
        copy_planes(value_nbytes, llrs, n_bits, n_symbols, out, plane_nbytes);                                         \
    }
DEFINE_PLANES(softqam_planes_s8, 1)
DEFINE_PLANES(softqam_planes_f16, 2)
DEFINE_PLANES(softqam_planes_f32, 4)
