# SPDX-License-Identifier: MIT
"""Symbols and points in level units, in which I and Q of points are odd: EVM, SNR, and whether symbols lie on points."""
from __future__ import annotations

import bisect
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .files import MODULATIONS, Modulation

Reals = npt.NDArray[np.float64]
Symbols = npt.NDArray[np.complex128]
Positions = npt.NDArray[np.int64]

# As softqam-demod has them: symbols that are looked at, the fewest of which anything is said, nats a component by
# which another number of levels has to be likelier, deviation of the noise in half spacings up to which points stand out.
MAX_SYMBOLS, MIN_SYMBOLS = 65536, 1000
CLEAR_DIFFERENCE, CLEAR_DEVIATION = 0.03, 0.6
# A histogram of magnitudes ends at so many root mean squares; the outermost points are at 1.7.
N_BINS, HISTOGRAM_END = 512, 3.0
ENERGY_TOLERANCE = 0.1
MAX_SNR_DB = 50


def levels_of(modulation: Modulation) -> npt.NDArray[np.int64]:
    return np.arange(-modulation.outer, modulation.outer + 1, 2)


def points_of(modulation: Modulation) -> Symbols:
    """At all positions."""
    points: Symbols = np.ravel(levels_of(modulation)[:, None] + 1j * levels_of(modulation))
    return points[points.real == points.imag] if modulation.n_bits == 1 and not modulation.rotates else points


def nearest_levels(modulation: Modulation, values: Reals) -> Reals:
    nearest: Reals = np.clip(2 * np.floor(values / 2) + 1, -modulation.outer, modulation.outer)
    return nearest


def turned_back(modulation: Modulation, symbols: Symbols, positions: Positions) -> Symbols:
    """As if the modulation did not rotate."""
    return np.where(positions % 2, -1j * symbols, symbols) if modulation.rotates else symbols


def squared_errors(modulation: Modulation, symbols: Symbols, positions: Positions) -> Reals:
    """Squared distances to the nearest points of these positions."""
    symbols = turned_back(modulation, symbols, positions)
    if modulation.n_bits == 1:
        nearest = (1 + 1j) * nearest_levels(modulation, (symbols.real + symbols.imag) / 2)
    else:
        nearest = nearest_levels(modulation, symbols.real) + 1j * nearest_levels(modulation, symbols.imag)
    errors: Reals = np.abs(symbols - nearest) ** 2
    return errors


def evm_percent(errors: Reals, energy: float) -> float:
    """Of squared errors, those that are finite, of points of that mean energy. NaN without any."""
    known = errors[np.isfinite(errors)]
    return 100 * math.sqrt(float(np.mean(known)) / energy) if len(known) else math.nan


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


def noise_var_of(mean_error: float, modulation: Modulation) -> float:
    """N0 for which the mean squared distance to the nearest point is expected to be that, 1e-9 to 100."""
    step = bisect.bisect(range(11000), mean_error, key=lambda step: expected_error(modulation, 10 ** (step / 1000 - 9)))
    return float(10 ** (step / 1000 - 9))


class Fit(NamedTuple):
    """How well a number of levels explains a histogram at its best SNR."""

    likelihood: float  # its logarithm, the mean of a component
    deviation: float  # of the noise, in half spacings
    snr_db: int


def fit_of(histogram: Reals, n_levels: int) -> Fit:
    """The magnitudes have a density, a sum of Gaussians, at the scale at which the mean energy is theirs."""
    width = HISTOGRAM_END / N_BINS
    magnitudes = (np.arange(N_BINS) + 0.5) * width
    snrs_db = np.arange(-2, MAX_SNR_DB + 1)[:, None]
    noise_var = 10 ** (-snrs_db / 10)
    half_spacing = np.sqrt(3 / (n_levels**2 - 1) / (1 + noise_var))
    deviation = np.sqrt(noise_var / (1 + noise_var) + width**2 / 12)
    levels = range(1 - n_levels, n_levels, 2)
    gaussians = sum(np.exp(-((magnitudes - level * half_spacing) ** 2) / (2 * deviation**2)) for level in levels)
    likelihoods = np.log((1e-9 + gaussians) / (n_levels * deviation)) @ histogram / np.sum(histogram)
    best = int(np.argmax(likelihoods))
    return Fit(float(likelihoods[best]), float((deviation / half_spacing)[best, 0]), int(snrs_db[best, 0]))


def two_levels(symbols: Symbols, positions: Positions, fit: Fit) -> str:
    """Points on one diagonal, or on both in turns, have I = Q and I = -Q."""
    products = symbols.real * symbols.imag / np.mean(np.abs(symbols) ** 2) * 2
    least = 0.5 / (1 + 10 ** (-fit.snr_db / 10))
    even, odd = (products[positions % 2 == parity] for parity in (0, 1))
    if not len(even) or not len(odd) or np.mean(even) <= least or abs(np.mean(odd)) <= least:
        return "qpsk"
    return "bpsk" if np.mean(odd) > 0 else "pi2-bpsk"


def recognise(symbols: Symbols, positions: Positions, expected: Modulation) -> tuple[str | None, int]:
    """The modulation that symbols look like, whatever their scale, and their SNR; None where points do not stand out and
    yet it is not the expected one."""
    unit = math.sqrt(float(np.mean(np.abs(symbols) ** 2)) / 2)
    components = np.abs(np.concatenate([symbols.real, symbols.imag])) / unit
    histogram = np.histogram(components, N_BINS, (0, HISTOGRAM_END))[0].astype(float)
    fits = {bits: fit_of(histogram, 2**bits) for bits in range(1, 6)}
    best = max(fits, key=lambda bits: fits[bits].likelihood)
    differs = fits[best].likelihood > fits[expected.axis_bits].likelihood + CLEAR_DIFFERENCE
    if not differs:
        best = expected.axis_bits
    if fits[best].deviation >= CLEAR_DEVIATION:
        return (None if differs else expected.name), fits[best].snr_db
    name = two_levels(symbols, positions, fits[best]) if best == 1 else f"{4**best}qam"
    return name, fits[best].snr_db


def complaint_of(symbols: Symbols, positions: Positions, modulation: Modulation, scale: float) -> str | None:
    """What is wrong with symbols, and which option mends it; None where they lie on their points. `scale` is the input
    scale that they have had."""
    known = np.isfinite(symbols) & (np.abs(symbols) < 1e100)
    symbols, positions = symbols[known][:MAX_SYMBOLS], positions[known][:MAX_SYMBOLS]
    energies = np.abs(symbols) ** 2 / modulation.energy
    energy = float(np.mean(energies)) if len(symbols) >= MIN_SYMBOLS else 0
    if not 0 < energy < math.inf:
        return None
    name, snr_db = recognise(symbols, positions, modulation)
    if name is None:
        return f"do not look like {modulation.shown}, but have more points; --modulation tells which"
    if name != modulation.name:
        noise = f"at {snr_db} dB" if snr_db < MAX_SNR_DB else "without noise"
        return f"look like {MODULATIONS[name].shown} {noise}, not {modulation.shown}; use --modulation {name}"
    noise_var = noise_var_of(float(np.mean(squared_errors(modulation, symbols, positions))), modulation)
    spread = 5 * float(np.std(energies)) / math.sqrt(len(symbols))
    if abs(energy - 1 - noise_var) > max(ENERGY_TOLERANCE, spread):
        better = scale / math.sqrt(energy / (1 + 10 ** (-snr_db / 10)))
        return f"miss the points: their mean energy is {energy:.3g}, not 1; use --input-scale {better:.3g}"
    return None
