# SPDX-License-Identifier: MIT
"""gold_sequence(), the scrambling sequence of 3GPP TS 38.211 clause 5.2.1."""
from __future__ import annotations

import numpy as np

from softqam import _core
from softqam._names import integer


def gold_sequence(c_init: int, n: int, *, first: int = 0, packed: bool = False) -> np.ndarray:
    """Bits c(first) to c(first + n - 1) of the sequence of c_init.

    c_init  0 to 2^31 - 1.
    n       number of bits.
    first   number of the first bit; any place costs the same.
    packed  False: one bit a byte; True: eight, the first one lowest, and zeros behind the last one.

    Returns [n] uint8, or [(n + 7) // 8].
    """
    c_init, first, n = integer("c_init", c_init, 0, 2**31 - 1), integer("first", first, 0, 2**64 - 1), integer("n", n, 0, 2**60)
    bits = np.empty((n + 7) // 8, np.uint8)
    _core.gold_sequence(c_init, first, n, bits)
    return bits if packed else np.unpackbits(bits, count=n, bitorder="little")
