// SPDX-License-Identifier: MIT
/* OCUDU's erasures: a symbol of exactly zero, which softqam takes for a point at the origin. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <ocudu/adt/complex.h>

namespace softqam_ocudu
{

static_assert(sizeof(ocudu::cf_t) == 2 * sizeof(float), "symbols are read as two floats");

/// Whether a component of `n` symbols is zero, n being a multiple of 8: sums side by side, of which the compiler makes
/// vectors.
inline bool has_zero_component(const ocudu::cf_t *symbols, size_t n)
{
    const float *components = reinterpret_cast<const float *>(symbols);
    int32_t hits[16] = {};
    for (size_t i = 0; i < 2 * n; i += std::size(hits))
        for (size_t j = 0; j < std::size(hits); ++j)
            hits[j] |= components[i + j] == 0 ? -1 : 0;
    int32_t any = 0;
    for (int32_t hit : hits)
        any |= hit;
    return any != 0;
}

/// Calls erase(i) for each symbol i that is zero. Usually there is none.
template <typename erase_function> void for_each_zero_symbol(const ocudu::cf_t *symbols, size_t n, erase_function erase)
{
    constexpr size_t block = 256;
    for (size_t first = 0; first < n; first += block) {
        const size_t end = std::min(n, first + block), n_whole = (end - first) / 8 * 8;
        for (size_t i = first + (has_zero_component(symbols + first, n_whole) ? 0 : n_whole); i < end; ++i)
            if (symbols[i] == ocudu::cf_t())
                erase(i);
    }
}

} // namespace softqam_ocudu
