# SPDX-License-Identifier: MIT
"""What is counted of a sample for a panel."""

import collections
import math

DENSITY_CELLS = 240  # along an axis, at most about
BIT_COLUMNS, BIT_ROWS, BIT_POINTS = 600, 120, 15000  # one point a cell at most, and so many points a bit


def axis_limit(sample, modulation):
    """An even number of level units that has nearly all symbols in it, and all points."""
    known = [max(abs(i), abs(q)) for i, q, erased in zip(sample.i, sample.q, sample.erased) if not erased]
    outer = sorted(known)[int(0.999 * len(known))] if known else 0
    return max(modulation.outer + 3, 2 * math.ceil(outer / 2))


def density_grid(limit, side, n_symbols):
    """Cells along an axis and pixels of a cell, for so many pixels in all and a few symbols in most cells; where that
    wastes little room, such that every level is in the middle of a cell."""
    pixels = max(2, math.ceil(side / min(DENSITY_CELLS, 0.9 * math.sqrt(n_symbols))))
    smaller = max(1, min(pixels, side // (3 * limit)))
    cells = limit * (side // (smaller * limit) - 1 | 1)
    return (cells, smaller) if 0.85 * side < cells * smaller <= side else (max(1, side // pixels), pixels)


def density(sample, limit, cells):
    """How many symbols are in each cell, by (column, row)."""
    factor = cells / (2 * limit)
    return collections.Counter(
        (math.floor((i + limit) * factor), math.floor((q + limit) * factor))
        for i, q, erased in zip(sample.i, sample.q, sample.erased)
        if not erased and -limit <= i < limit and -limit <= q < limit
    )


def largest(values):
    """The largest magnitude of those that are finite, or 0."""
    return max((abs(v) for v in values if math.isfinite(v)), default=0)


def nice_ceiling(x):
    """The next round number."""
    if not 0 < x < 1e300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    return next((step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8) if x <= step * power), 10 * power)


def bit_points(sample, k, axis, limit, low, high):
    """(I or Q, soft bit) of the symbols, one a cell of the panel at most."""
    cells = {}
    x_factor, y_factor = BIT_COLUMNS / (2 * limit), BIT_ROWS / (high - low)
    for i, value, erased in zip(sample.components(axis), sample.soft[k], sample.erased):
        if not erased and -limit <= i <= limit and low <= value <= high:
            cells[int((i + limit) * x_factor), int((value - low) * y_factor)] = (i, value)
    points = list(cells.values())
    return points[:: 1 + len(points) // BIT_POINTS]
