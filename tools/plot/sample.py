# SPDX-License-Identifier: MIT
"""A sample of both files: runs of symbols, their soft bits, and how far they are from the nearest points."""

import array
import errno
import itertools
import math
import os
import stat
import struct

from failure import Failure, cause_of
from formats import INPUT_FORMATS, SOFT_FORMATS
from text import grouped

BLOCKS = 200  # of the EVM, each one run of the sample


class SymbolFile:
    """A regular file of so many values a symbol."""

    def __init__(self, source, typecode, values):
        path = source.path
        self.path, self.typecode, self.values, self.order = path, typecode, values, source.order
        self.skipped, trailing = source.skipped
        self.nbytes = values * struct.calcsize("=" + typecode)
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            status = os.fstat(self.fd)
        except (OSError, ValueError) as error:
            raise Failure(path, cause_of(error)) from None
        if stat.S_ISDIR(status.st_mode):
            raise Failure(path, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise Failure(path, "not a regular file, which is needed to read a sample of it")
        if status.st_size < self.skipped + trailing:
            raise Failure(path, "shorter than its metadata say")
        self.n_symbols, rest = divmod(status.st_size - self.skipped - trailing, self.nbytes)
        if rest:
            left = f"{rest} byte{'s' if rest > 1 else ''} left over (a symbol has {self.nbytes})"
            raise Failure(path, f"not a whole number of symbols: {left}")

    def read(self, first, n):
        """The values of n symbols."""
        data, offset = bytearray(), self.skipped + first * self.nbytes
        while len(data) < n * self.nbytes:
            try:
                part = os.pread(self.fd, n * self.nbytes - len(data), offset + len(data))
            except OSError as error:
                raise Failure(self.path, cause_of(error)) from None
            if not part:
                raise Failure(self.path, "became shorter while it was read")
            data += part
        if self.typecode == "e":  # which arrays do not have
            return struct.unpack(f"={self.values * n}e", data)
        values = array.array(self.typecode, bytes(data))
        if self.order == ">":
            values.byteswap()
        return values


def runs_of(n_symbols, n_wanted):
    """First symbol and length of each run of a sample: all symbols, or about n_wanted in runs evenly spread."""
    if n_symbols <= n_wanted:
        length = -(-n_symbols // BLOCKS)
        return [(first, min(length, n_symbols - first)) for first in range(0, n_symbols, length)]
    n_runs = min(BLOCKS, n_wanted)
    length = n_wanted // n_runs
    return [(i * (n_symbols - length) // max(n_runs - 1, 1), length) for i in range(n_runs)]


class Sample:
    """Runs of symbols, with I and Q in level units (modulation.py), and their soft bits: soft[k] holds those of bit k."""

    def __init__(self, options):
        iq = SymbolFile(options.iq, INPUT_FORMATS[options.input_format].typecode, 2)
        soft = SymbolFile(options.soft, SOFT_FORMATS[options.soft_format].typecode, options.modulation.n_bits)
        if iq.n_symbols != soft.n_symbols:
            theirs = f"the soft bits of {grouped(soft.n_symbols)} symbols ({options.soft_format})"
            raise Failure(soft.path, f"{theirs}, but {iq.path} has {grouped(iq.n_symbols)} ({options.input_format})")
        if not iq.n_symbols:
            raise Failure(iq.path, "has no symbols")
        self.n_symbols = iq.n_symbols
        self.runs = runs_of(iq.n_symbols, options.sample)
        self.i, self.q, self.soft = [], [], [[] for _ in range(options.modulation.n_bits)]
        scale = options.scale * math.sqrt(options.modulation.energy)
        for first, n in self.runs:
            self.add(iq.read(first, n), soft.read(first, n), scale, INPUT_FORMATS[options.input_format].zero)
        self.erased = [not math.isfinite(i + q) for i, q in zip(self.i, self.q)]
        positions = itertools.chain.from_iterable(range(first, first + n) for first, n in self.runs)
        self.errors = [
            None if erased else options.modulation.squared_error(i, q, position)
            for i, q, position, erased in zip(self.i, self.q, positions, self.erased)
        ]

    def add(self, components, soft_bits, scale, zero):
        self.i += [scale * (v - zero) for v in components[::2]]
        self.q += [scale * (v - zero) for v in components[1::2]]
        for k, values in enumerate(self.soft):
            values += soft_bits[k :: len(self.soft)]

    def components(self, axis):
        return self.i if axis == "i" else self.q


def evm_percent(errors, energy):
    """Of the errors that are not None; None where all are. The points have that mean energy."""
    known = [e for e in errors if e is not None]
    return 100 * math.sqrt(sum(known) / len(known) / energy) if known else None


def evm_of_blocks(sample, energy):
    """Middle symbol and EVM of every run that has one."""
    blocks, place = [], 0
    for first, n in sample.runs:
        evm = evm_percent(sample.errors[place : place + n], energy)
        place += n
        if evm is not None:
            blocks.append((first + n / 2, evm))
    return blocks
