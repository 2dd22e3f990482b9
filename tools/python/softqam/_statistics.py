# SPDX-License-Identifier: MIT
"""Statistics: counts of symbols and LLRs, EVM and mutual information."""
from __future__ import annotations

import math

import numpy as np

from softqam._names import integer

_NAMES = ("n_symbols", "n_erased", "n_limited", "n_sampled", "error_energy", "symbol_energy", "information")


class Statistics:
    """Counts the symbols and LLRs of the calls that it is passed to as `statistics`, with arrays in host memory, one call at a time.

        >>> statistics = softqam.Statistics()
        >>> llrs = softqam.demodulate(symbols, "16qam", noise_var, statistics=statistics)
        >>> statistics.evm, statistics.n_limited / llrs.size, statistics.mutual_information(4)

    n_symbols      symbols that were demodulated.
    n_erased       symbols that are erasures.
    n_limited      LLRs whose magnitude is llr_limit, or the largest float; of "u8" bytes of 0 and 255.
    n_sampled      symbols of the subset that the rest is computed from: the first 64 of every 512, without erasures.
    error_energy   sum of 2^24 |r - x|^2, x the nearest point; symbol_energy sum of 2^24 |r|^2; both up to 16 a symbol.
    information    sum over LLRs of 2^16 times the information of a bit.
    evm            error vector magnitude, as a factor.
    energy         mean energy of symbols, which should be 1 + N0. Joint calls add to neither evm nor energy.
    """

    n_symbols: int
    n_erased: int
    n_limited: int
    n_sampled: int
    error_energy: int
    symbol_energy: int
    information: int

    def __init__(self) -> None:
        self._counts = np.zeros(len(_NAMES), np.uint64)

    def __getstate__(self) -> dict[str, np.ndarray]:
        """Returns a copy of the counts, so that copies of this object count separately."""
        return {"_counts": self._counts.copy()}

    def _address(self) -> int:
        return self._counts.ctypes.data

    def __getattr__(self, name: str) -> int:
        if name not in _NAMES:  # also _counts, before an object has been unpickled
            raise AttributeError(f"Statistics has no {name}")
        return int(self._counts[_NAMES.index(name)])

    def _mean(self, total: int, unit: int) -> float:
        return total / unit / self.n_sampled if self.n_sampled else math.nan

    @property
    def evm(self) -> float:
        return math.sqrt(self._mean(self.error_energy, 2**24))

    @property
    def energy(self) -> float:
        return self._mean(self.symbol_energy, 2**24)

    def mutual_information(self, bits_per_symbol: int) -> float:
        """Estimates the mutual information of a bit, from 0 to 1; that of erasures is 0. If the sum
        of (that + 0.1) E_r over all transmissions is below K', a decoder would hardly succeed."""
        known = self._mean(self.information, 2**16 * integer("bits_per_symbol", bits_per_symbol, 1, 10))
        return known * (1 - self.n_erased / self.n_symbols) if self.n_sampled else known

    def __repr__(self) -> str:
        return f"softqam.Statistics({', '.join(f'{name}={getattr(self, name)}' for name in _NAMES)})"
