# SPDX-License-Identifier: MIT
"""What symbols look like: EVM, SNR, and whether they lie on the points that they should lie on."""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .geometry import Positions, Reals, Symbols, expected_error, squared_errors
from .modulation import Modulation, shown

# As softqam-demod has them: symbols that are looked at, the fewest of which anything is said, nats a component by
# which another number of levels has to be likelier, deviation of the noise in half spacings up to which points stand out.
MAX_SYMBOLS, MIN_SYMBOLS = 65536, 1000
CLEAR_DIFFERENCE, CLEAR_DEVIATION = 0.03, 0.6
# A histogram of magnitudes ends at so many root mean squares; the outermost points are at 1.7.
N_BINS, HISTOGRAM_END = 512, 3.0
ENERGY_TOLERANCE = 0.1
MAX_SNR_DB = 50


class Fit(NamedTuple):
    """How well a number of levels explains a histogram at its best SNR."""

    likelihood: float  # its logarithm, the mean of a component
    deviation: float  # of the noise, in half spacings
    snr_db: int


def evm_percent(errors: Reals, energy: float) -> float | None:
    """Of squared errors that are finite, of points of that mean energy."""
    known = errors[np.isfinite(errors)]
    return 100 * math.sqrt(float(np.mean(known)) / energy) if len(known) else None


def noise_var_of(mean_error: float, modulation: Modulation) -> float:
    """N0 for which the mean squared distance to the nearest point is expected to be that, 1e-9 to 100."""
    low, high = -9.0, 2.0
    for _ in range(30):
        middle = (low + high) / 2
        if expected_error(modulation, 10**middle) < mean_error:
            low = middle
        else:
            high = middle
    return float(10**low)


def _fit(histogram: Reals, n_levels: int) -> Fit:
    """The magnitudes have a density, a sum of Gaussians, at the scale at which the mean energy is theirs."""
    width = HISTOGRAM_END / N_BINS
    magnitudes = (np.flatnonzero(histogram)[:, None] + 0.5) * width
    counts, levels = histogram[histogram > 0], np.arange(1, n_levels, 2)
    best = Fit(-math.inf, 0, 0)
    for snr_db in range(-2, MAX_SNR_DB + 1):
        noise_var = 10 ** (-snr_db / 10)
        half_spacing = math.sqrt(3 / (n_levels**2 - 1) / (1 + noise_var))
        deviation = math.sqrt(noise_var / (1 + noise_var) + width**2 / 12)
        gaussians = sum(np.exp(-((magnitudes + sign * levels * half_spacing) ** 2) / (2 * deviation**2)) for sign in (-1, 1))
        density = (1e-9 + np.sum(gaussians, axis=1)) / (n_levels * deviation)
        likelihood = float(counts @ np.log(density) / np.sum(histogram))
        if likelihood > best.likelihood:
            best = Fit(likelihood, deviation / half_spacing, snr_db)
    return best


def _two_levels(symbols: Symbols, positions: Positions, fit: Fit) -> str:
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
    fits = {bits: _fit(histogram, 2**bits) for bits in range(1, 6)}
    best = max(fits, key=lambda bits: fits[bits].likelihood)
    differs = fits[best].likelihood > fits[expected.axis_bits].likelihood + CLEAR_DIFFERENCE
    if not differs:
        best = expected.axis_bits
    if fits[best].deviation >= CLEAR_DEVIATION:
        return (None if differs else expected.name), fits[best].snr_db
    name = _two_levels(symbols, positions, fits[best]) if best == 1 else f"{4**best}qam"
    return name, fits[best].snr_db


def complaint(symbols: Symbols, positions: Positions, modulation: Modulation, scale: float) -> str | None:
    """What is wrong with symbols in level units, and which option mends it; None where they lie on their points. `scale`
    is the input scale that they have had."""
    known = np.isfinite(symbols) & (np.abs(symbols) < 1e100)
    symbols, positions = symbols[known][:MAX_SYMBOLS], positions[known][:MAX_SYMBOLS]
    energies = np.abs(symbols) ** 2 / modulation.energy
    energy = float(np.mean(energies)) if len(symbols) >= MIN_SYMBOLS else 0
    if not 0 < energy < math.inf:
        return None
    name, snr_db = recognise(symbols, positions, modulation)
    if name is None:
        return f"do not look like {shown(modulation.name)}, but have more points; --modulation tells which"
    if name != modulation.name:
        noise = f"at {snr_db} dB" if snr_db < MAX_SNR_DB else "without noise"
        return f"look like {shown(name)} {noise}, not {shown(modulation.name)}; use --modulation {name}"
    noise_var = noise_var_of(float(np.mean(squared_errors(modulation, symbols, positions))), modulation)
    spread = 5 * float(np.std(energies)) / math.sqrt(len(symbols))
    if abs(energy - 1 - noise_var) > max(ENERGY_TOLERANCE, spread):
        better = scale / math.sqrt(energy / (1 + 10 ** (-snr_db / 10)))
        return f"miss the points: their mean energy is {energy:.3g}, not 1; use --input-scale {better:.3g}"
    return None
