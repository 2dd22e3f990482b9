# SPDX-License-Identifier: MIT
"""Points and distances, in level units, in which I and Q of points are odd."""
from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .modulation import Modulation

Reals = npt.NDArray[np.float64]
Symbols = npt.NDArray[np.complex128]
Positions = npt.NDArray[np.int64]


def levels_of(modulation: Modulation) -> npt.NDArray[np.int64]:
    return np.arange(-modulation.outer, modulation.outer + 1, 2)


def points_of(modulation: Modulation) -> Symbols:
    """At all positions."""
    points: Symbols = np.ravel(levels_of(modulation)[:, None] + 1j * levels_of(modulation))
    return points[points.real == points.imag] if modulation.n_bits == 1 and not modulation.rotates else points


def turned_back(modulation: Modulation, symbols: Symbols, positions: Positions) -> Symbols:
    """As if the modulation did not rotate."""
    return np.where(positions % 2, -1j * symbols, symbols) if modulation.rotates else symbols


def nearest_levels(modulation: Modulation, values: Reals) -> Reals:
    nearest: Reals = np.clip(2 * np.floor(values / 2) + 1, -modulation.outer, modulation.outer)
    return nearest


def squared_errors(modulation: Modulation, symbols: Symbols, positions: Positions) -> Reals:
    """Squared distances to the nearest points of these positions."""
    if modulation.n_bits > 1:
        i, q = symbols.real, symbols.imag
        errors: Reals = (i - nearest_levels(modulation, i)) ** 2 + (q - nearest_levels(modulation, q)) ** 2
        return errors
    straight = turned_back(modulation, symbols, positions)
    along, across = (straight.real + straight.imag) / 2, straight.real - straight.imag
    errors = 2 * (np.abs(along) - 1) ** 2 + across**2 / 2
    return errors


def expected_error(modulation: Modulation, noise_var: float) -> float:
    """The mean of squared_errors() with Gaussian noise: less than the noise where symbols cross to other points."""
    deviation = math.sqrt(noise_var * modulation.energy / 2)
    steps = np.linspace(-6, 6, 1201)
    weights = np.exp(-(steps**2) / 2)
    # Of one bit: the levels along the diagonal, and all of the noise across it.
    spacing = math.sqrt(2) if modulation.n_bits == 1 else 1
    values = (levels_of(modulation)[:, None] * spacing + deviation * steps) / spacing
    along = spacing**2 * (values - nearest_levels(modulation, values)) ** 2
    mean = float(np.mean(along @ weights) / np.sum(weights))
    return mean + deviation**2 if modulation.n_bits == 1 else 2 * mean
