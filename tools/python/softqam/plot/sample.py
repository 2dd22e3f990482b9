# SPDX-License-Identifier: MIT
"""A sample of both files: runs of symbols and their soft bits."""
from __future__ import annotations

import math
import os
import stat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .command import Options
from .failure import Failure, cause_of
from .formats import INPUT_FORMATS, SOFT_FORMATS, Format
from .geometry import Positions, Symbols
from .modulation import MODULATIONS
from .recording import Source
from .text import grouped

BLOCKS = 200  # of the EVM over time, each one run of the sample
Run = tuple[int, int]  # first symbol, length


class Sample(NamedTuple):
    """Symbols in level units (modulation.py), their positions in the file of `n_symbols`, and their soft bits, [n, bits]."""

    symbols: Symbols
    positions: Positions
    soft: npt.NDArray[Any]
    n_symbols: int
    runs: list[Run]


def hint_of(n_values: float, n_symbols: int) -> str:
    """Which modulation so many symbols with so many soft bits may have."""
    fitting = [name for name, modulation in MODULATIONS.items() if modulation.n_bits * n_symbols == n_values]
    return f"; --modulation {' or '.join(fitting)} would fit" if fitting else ""


class SymbolFile:
    """A regular file of so many values a symbol."""

    def __init__(self, source: Source, known: Format, n_values: int, iq: SymbolFile | None = None) -> None:
        self.path, self.n_values = source.path, n_values
        self.dtype = np.dtype(source.order.replace("=", "<") + known.dtype)
        self.nbytes = n_values * self.dtype.itemsize
        try:
            self.file = open(self.path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK))
            status = os.fstat(self.file.fileno())
        except (OSError, ValueError) as error:
            raise Failure(self.path, cause_of(error)) from None
        if not stat.S_ISREG(status.st_mode):
            raise Failure(self.path, "not a regular file, which is needed to read a sample of it")
        self.n_symbols, rest = divmod(status.st_size, self.nbytes)
        if rest:
            left = f"{rest} byte{'s' if rest > 1 else ''} left over (a symbol has {self.nbytes})"
            hint = hint_of(status.st_size / self.dtype.itemsize, iq.n_symbols) if iq else ""
            raise Failure(self.path, f"not a whole number of symbols: {left}{hint}")

    def read(self, first: int, n: int) -> npt.NDArray[Any]:
        """The values of n symbols, [n, n_values]."""
        try:
            self.file.seek(first * self.nbytes)
            values = np.fromfile(self.file, self.dtype, n * self.n_values)
        except OSError as error:
            raise Failure(self.path, cause_of(error)) from None
        if len(values) < n * self.n_values:
            raise Failure(self.path, "became shorter while it was read")
        return values.reshape(n, self.n_values)

    def read_runs(self, runs: list[Run]) -> npt.NDArray[Any]:
        return np.concatenate([self.read(first, n) for first, n in runs])


def runs_of(n_symbols: int, n_wanted: int) -> list[Run]:
    """All symbols, or about n_wanted in runs evenly spread."""
    if n_symbols <= n_wanted:
        length = -(-n_symbols // BLOCKS)
        return [(first, min(length, n_symbols - first)) for first in range(0, n_symbols, length)]
    n_runs = min(BLOCKS, n_wanted)
    length = n_wanted // n_runs
    return [(i * (n_symbols - length) // max(n_runs - 1, 1), length) for i in range(n_runs)]


def sample_of_arrays(components: npt.NDArray[Any], soft: npt.NDArray[Any], scale: float, runs: list[Run], n_symbols: int) -> Sample:
    """Of I and Q, [n, 2], which the scale brings to level units."""
    with np.errstate(over="ignore", invalid="ignore"):
        symbols: Symbols = components.astype(np.float64) * scale @ np.array([1, 1j])
        # A component that is not finite makes one of both.
        symbols[~np.isfinite(symbols.real + symbols.imag)] = complex(math.nan, math.nan)
    positions = np.concatenate([np.arange(first, first + n) for first, n in runs])
    return Sample(symbols, positions, soft, n_symbols, runs)


def sample_of_files(options: Options) -> Sample:
    known = INPUT_FORMATS[options.input_format]
    iq = SymbolFile(options.iq, known, 2)
    soft = SymbolFile(options.soft, SOFT_FORMATS[options.soft_format], options.modulation.n_bits, iq)
    if iq.n_symbols != soft.n_symbols:
        theirs = f"the soft bits of {grouped(soft.n_symbols)} symbols ({options.soft_format})"
        hint = hint_of(soft.n_symbols * soft.n_values, iq.n_symbols)
        raise Failure(soft.path, f"{theirs}, but {iq.path} has {grouped(iq.n_symbols)} ({options.input_format}){hint}")
    if not iq.n_symbols:
        raise Failure(iq.path, "has no symbols")
    runs = runs_of(iq.n_symbols, options.sample)
    components = iq.read_runs(runs).astype(np.float64) - known.zero
    scale = options.scale * math.sqrt(options.modulation.energy)
    return sample_of_arrays(components, soft.read_runs(runs), scale, runs, iq.n_symbols)
