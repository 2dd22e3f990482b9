# SPDX-License-Identifier: MIT
"""A sample of symbols and their soft bits: runs of both files, arrays, or an example with noise."""
from __future__ import annotations

import argparse
import math
import os
import stat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .files import INPUT_FORMATS, MODULATIONS, SOFT_FORMATS, Failure, Format, Source, failures_of
from .measure import Positions, Symbols, points_of

BLOCKS = 200  # of the EVM over time, each one run of the sample
DEFAULT_SAMPLE = 200000
EXAMPLE_SYMBOLS = 20000
Run = tuple[int, int]  # first symbol, length


class Sample(NamedTuple):
    """Symbols in level units, their positions in the file of `n_symbols`, and their soft bits, [n, bits]."""

    symbols: Symbols
    positions: Positions
    soft: npt.NDArray[Any]
    n_symbols: int
    runs: list[Run]


def grouped(n: int) -> str:
    """A whole number with a narrow space between thousands."""
    return f"{n:,}".replace(",", "\u202f")


def hint_of(n_values: float, n_symbols: int) -> str:
    """Which modulation so many symbols with so many soft bits may have."""
    fitting = [name for name, modulation in MODULATIONS.items() if modulation.n_bits * n_symbols == n_values]
    return f"; --modulation {' or '.join(fitting)} would fit" if fitting else ""


class SymbolFile:
    """A regular file of so many values a symbol."""

    def __init__(self, source: Source, known: Format, n_values: int, iq: SymbolFile | None = None) -> None:
        self.path, self.n_values = source.path, n_values
        self.dtype = np.dtype(source.order + known.dtype)
        self.nbytes = n_values * self.dtype.itemsize
        with failures_of(self.path):
            self.file = open(self.path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK))
            status = os.fstat(self.file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Failure(self.path, "not a regular file, which is needed to read a sample of it")
        self.n_symbols, rest = divmod(status.st_size, self.nbytes)
        if rest:
            left = f"{rest} byte{'s' if rest > 1 else ''} left over (a symbol has {self.nbytes})"
            hint = hint_of(status.st_size / self.dtype.itemsize, iq.n_symbols) if iq else ""
            raise Failure(self.path, f"not a whole number of symbols: {left}{hint}")

    def read(self, runs: list[Run]) -> npt.NDArray[Any]:
        """The values of all symbols in the runs, [n, n_values]."""
        values = []
        with failures_of(self.path):
            for first, n in runs:
                self.file.seek(first * self.nbytes)
                values.append(np.fromfile(self.file, self.dtype, n * self.n_values))
                if len(values[-1]) < n * self.n_values:
                    raise Failure(self.path, "became shorter while it was read")
        return np.concatenate(values).reshape(-1, self.n_values)


def runs_of(n_symbols: int, n_wanted: int) -> list[Run]:
    """All symbols, or about n_wanted in runs evenly spread."""
    if n_symbols <= n_wanted:
        length = -(-n_symbols // BLOCKS)
        return [(first, min(length, n_symbols - first)) for first in range(0, n_symbols, length)]
    n_runs = min(BLOCKS, n_wanted)
    length = n_wanted // n_runs
    return [(i * (n_symbols - length) // max(n_runs - 1, 1), length) for i in range(n_runs)]


def sample_of_arrays(symbols: npt.NDArray[Any], soft: npt.NDArray[Any], scale: float, runs: list[Run] | None = None, n_symbols: int = 0) -> Sample:
    """Of symbols that the scale brings to level units. Without runs they are all that there are."""
    n = n_symbols or len(symbols)
    runs = runs or runs_of(n, n)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled: Symbols = symbols.astype(np.complex128) * scale
    # A component that is not finite makes one of both.
    scaled[~np.isfinite(scaled)] = complex(math.nan, math.nan)
    positions = np.concatenate([np.arange(first, first + n) for first, n in runs])
    return Sample(scaled, positions, soft.reshape(len(symbols), -1), n, runs)


def sample_of_files(options: argparse.Namespace) -> Sample:
    known = INPUT_FORMATS[options.input_format]
    iq = SymbolFile(options.iq, known, 2)
    soft = SymbolFile(options.soft, SOFT_FORMATS[options.soft_format], options.modulation.n_bits, iq)
    if iq.n_symbols != soft.n_symbols:
        theirs = f"the soft bits of {grouped(soft.n_symbols)} symbols ({options.soft_format})"
        hint = hint_of(soft.n_symbols * soft.n_values, iq.n_symbols)
        raise Failure(soft.path, f"{theirs}, but {iq.path} has {grouped(iq.n_symbols)} ({options.input_format}){hint}")
    if not iq.n_symbols:
        raise Failure(iq.path, "has no symbols")
    runs = runs_of(iq.n_symbols, options.sample or DEFAULT_SAMPLE)
    symbols = (iq.read(runs).astype(np.float64) - known.zero).view(np.complex128)[:, 0]
    return sample_of_arrays(symbols, soft.read(runs), options.scale * math.sqrt(options.modulation.energy), runs, iq.n_symbols)


def sample_of_example(options: argparse.Namespace) -> tuple[Sample, str]:
    """Symbols with noise, demodulated by the package: a picture for those who have no files yet. And a title."""
    try:
        import softqam
    except ImportError as error:
        raise Failure("--example", f"needs the Python package softqam ({error})") from None
    modulation, n, is_u8 = options.modulation, EXAMPLE_SYMBOLS, options.soft_format == "u8"
    if is_u8 and modulation.name != "256qam":
        raise Failure("--soft-format", f"u8 is for 256qam, not {modulation.name}", 2)
    # Some bits in a thousand are wrong by default.
    snr_db = 4 + 3 * modulation.n_bits if options.snr_db is None else options.snr_db
    n0 = 10 ** (-snr_db / 10)
    rng = np.random.default_rng(1)
    points = points_of(modulation) if modulation.n_bits > 1 else np.array([1 + 1j, -1 - 1j])
    sent = rng.choice(points, n) / math.sqrt(modulation.energy)
    if modulation.rotates:
        sent[1::2] = sent[1::2] * 1j
    received = (sent + rng.normal(0, math.sqrt(n0 / 2), (n, 2)) @ [1, 1j]).astype(np.complex64)
    bits = softqam.Demodulator(modulation.name, output="f32")(sent.astype(np.complex64), 1e-3) < 0
    soft = softqam.Demodulator(modulation.name, output=options.soft_format, sign=options.sign)(received, None if is_u8 else n0)
    wrong = np.mean(((soft > (127 if is_u8 else 0)) == bool(options.sign)) != bits)
    title = options.title or f"{modulation.shown} at {snr_db:g} dB, bit error rate {wrong:.2g}"
    return sample_of_arrays(received, soft, math.sqrt(modulation.energy)), title
