# SPDX-License-Identifier: MIT
"""The modulations of 3GPP TS 38.211 clause 5.1."""
from __future__ import annotations

from typing import NamedTuple


class Modulation(NamedTuple):
    """BPSK's one bit chooses both I and Q; where a modulation rotates, symbols at odd positions are turned by a quarter.
    In level units, 1/sqrt(energy), I and Q of points are odd."""

    name: str
    n_bits: int
    axis_bits: int
    energy: int
    rotates: bool = False

    @property
    def outer(self) -> int:
        """The largest level."""
        return (1 << self.axis_bits) - 1

    def bits_of_axis(self, axis: str) -> range:
        return range(axis == "q", self.n_bits, 2) if self.n_bits > 1 else range(1)


MODULATIONS = {
    modulation.name: modulation
    for modulation in (
        Modulation("bpsk", 1, 1, 2),
        Modulation("pi2-bpsk", 1, 1, 2, True),
        Modulation("qpsk", 2, 1, 2),
        Modulation("16qam", 4, 2, 10),
        Modulation("64qam", 6, 3, 42),
        Modulation("256qam", 8, 4, 170),
        Modulation("1024qam", 10, 5, 682),
    )
}
DEFAULT_MODULATION = "256qam"


def shown(name: str) -> str:
    """A modulation's name in a text."""
    return name.upper().replace("PI2", "\u03c0/2")
