# SPDX-License-Identifier: MIT
"""The modulations of 3GPP TS 38.211 clause 5.1, in level units: 1/sqrt(energy), in which I and Q of points are odd."""

import collections
import math


class Modulation(collections.namedtuple("Modulation", "n_bits axis_bits energy rotates")):
    """BPSK's one bit chooses both I and Q; where a modulation rotates, symbols at odd positions are turned by a quarter."""

    @property
    def outer(self):
        """The largest level."""
        return 2**self.axis_bits - 1

    @property
    def levels(self):
        return range(-self.outer, self.outer + 1, 2)

    def points(self):
        """At all positions."""
        points = [(i, q) for i in self.levels for q in self.levels]
        return [(i, q) for i, q in points if i == q or self.n_bits > 1 or self.rotates]

    def bits_of_axis(self, axis):
        return range(axis == "q", self.n_bits, 2) if self.n_bits > 1 else range(1)

    def squared_error(self, i, q, position):
        """Squared distance to the nearest point of this position."""
        if self.n_bits > 1:
            x, y = (min(max(2 * math.floor(v / 2) + 1, -self.outer), self.outer) for v in (i, q))
        else:
            turned = self.rotates and position % 2
            y = 1 if q + (-i if turned else i) >= 0 else -1
            x = -y if turned else y
        return (i - x) ** 2 + (q - y) ** 2


MODULATIONS = {
    "bpsk": Modulation(1, 1, 2, False),
    "pi2-bpsk": Modulation(1, 1, 2, True),
    "qpsk": Modulation(2, 1, 2, False),
    "16qam": Modulation(4, 2, 10, False),
    "64qam": Modulation(6, 3, 42, False),
    "256qam": Modulation(8, 4, 170, False),
    "1024qam": Modulation(10, 5, 682, False),
}
DEFAULT_MODULATION = "256qam"
