/* SPDX-License-Identifier: MIT */
/* Copies elements: see elements.h. */
#include "elements.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <utility>

/* Rows of elements to copy, with the strides of rows and columns in the source and in the destination. */
struct rows_of_elements {
    const char *from;
    char *to;
    int64_t rows, columns, from_row, from_column, to_row, to_column;
};

template <typename From, typename To, typename Convert> static void copy_rows(rows_of_elements b, Convert convert)
{
    for (; b.rows > 0; b.rows--, b.from += b.from_row, b.to += b.to_row) {
        const char *from = b.from;
        char *to = b.to;
        for (int64_t column = 0; column < b.columns; column++, from += b.from_column, to += b.to_column) {
            From element;
            std::memcpy(&element, from, sizeof element);
            const To converted = convert(element);
            std::memcpy(to, &converted, sizeof converted);
        }
    }
}

struct complex64 {
    float real, imag;
};
struct complex128 {
    double real, imag;
};

float nearest_float(double value)
{
    const double magnitude = std::fabs(value);
    float nearest = static_cast<float>(value);
    if (__builtin_expect(magnitude > FLT_MAX && std::isfinite(value), 0))
        nearest = std::copysign(FLT_MAX, nearest);
    if (__builtin_expect(value > 0 && nearest == 0, 0))
        nearest = FLT_TRUE_MIN;
    return nearest;
}

static void copy_converted(const rows_of_elements &b, elements::conversion how, int64_t nbytes)
{
    const auto same = [](auto element) { return element; };
    const auto narrow = [](complex128 z) { return complex64{static_cast<float>(z.real), static_cast<float>(z.imag)}; };
    if (how == elements::TO_COMPLEX64)
        copy_rows<complex128, complex64>(b, narrow);
    else if (how == elements::TO_FLOAT32)
        copy_rows<double, float>(b, nearest_float);
    else if (nbytes == 8)
        copy_rows<uint64_t, uint64_t>(b, same);
    else if (nbytes == 4)
        copy_rows<uint32_t, uint32_t>(b, same);
    else if (nbytes == 2)
        copy_rows<uint16_t, uint16_t>(b, same);
    else
        copy_rows<uint8_t, uint8_t>(b, same);
}

/* Copies in tiles, whose lines stay in the L1 cache, if rows are long and neighbours in `from` belong to different
 * rows. Short rows of float64 are converted column by column, which compilers vectorise. */
static void copy_in_tiles(rows_of_elements b, elements::conversion how, int64_t nbytes)
{
    constexpr int64_t LINE = 64;
    if (how == elements::TO_FLOAT32 && b.columns < 8) {
        std::swap(b.rows, b.columns);
        std::swap(b.from_row, b.from_column);
        std::swap(b.to_row, b.to_column);
    }
    if (b.rows == 1 || b.columns < LINE || std::abs(b.from_row) >= std::abs(b.from_column)) {
        copy_converted(b, how, nbytes);
        return;
    }
    for (int64_t row = 0; row < b.rows; row += LINE / nbytes)
        for (int64_t column = 0; column < b.columns; column += LINE) {
            rows_of_elements tile = b;
            tile.from += row * b.from_row + column * b.from_column;
            tile.to += row * b.to_row + column * b.to_column;
            tile.rows = std::min(LINE / nbytes, b.rows - row);
            tile.columns = std::min(LINE, b.columns - column);
            copy_converted(tile, how, nbytes);
        }
}

void elements::copy(int64_t first, int64_t count, conversion how, int64_t nbytes, int64_t offset, char *to,
                    int64_t to_stride) const
{
    const int64_t length = n_consecutive();
    while (count > 0) {
        int64_t left, rows = 1;
        const char *from = at(first, &left) + offset;
        if (n_axes > 1 && left == length && count >= length) {
            const int64_t n_rows = shape[n_axes - 2];
            rows = std::min(count / length, n_rows - first / length % n_rows);
        }
        const int64_t columns = std::min(left, count);
        const int64_t row_stride = n_axes > 1 ? strides[n_axes - 2] : 0;
        copy_in_tiles({from, to, rows, columns, row_stride, stride(), length * to_stride, to_stride}, how, nbytes);
        first += rows * columns;
        count -= rows * columns;
        to += rows * columns * to_stride;
    }
}
