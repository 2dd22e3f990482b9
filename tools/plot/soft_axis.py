# SPDX-License-Identifier: MIT
"""Where the values of a soft format are drawn."""

import collections
import math

from counts import largest, nice_ceiling
from text import number

HISTOGRAM_BINS = 128
LABELS = {"u8": "soft bit (u8)", "s8": "LLR (s8)", "s16": "LLR (s16)", "f16": "LLR, nats", "f32": "LLR, nats"}
BYTES = {"u8": (0, 255), "s8": (-128, 127)}  # formats whose whole range is drawn


class SoftAxis:
    """Where the values of a soft format are drawn: limits, midpoint and ticks, with position() of a value in
    histograms, where all but bytes go by their inverse hyperbolic sine, which is linear near 0 and then logarithmic."""

    def __init__(self, name, soft):
        self.is_wide = name not in BYTES
        self.middle = 127 if name == "u8" else 0
        self.label = LABELS[name]
        if self.is_wide:
            self.set_wide_axis(largest(v for values in soft for v in values) or 1)
        else:
            self.set_byte_axis(*BYTES[name])

    def set_byte_axis(self, low, high):
        """A value is drawn from itself to the next."""
        self.lowest, self.highest, self.low, self.high = low, high, low, high + 1
        labels = (0, 64, 127, 192, 255) if self.middle else (-127, -64, 0, 64, 127)
        self.ticks = [(number(v), v + 0.5) for v in labels]
        self.middle_position = self.middle + 0.5

    def set_wide_axis(self, limit):
        self.unit = 10.0 ** (math.ceil(math.log10(limit)) - 3)
        self.high = self.position(limit)
        self.low, self.middle_position = -self.high, 0
        powers = [self.unit * 10**k for k in range(4) if self.unit * 10**k <= limit]
        self.ticks = [(number(v), self.position(v)) for power in powers for v in (-power, power)] + [("0", 0)]

    def position(self, value):
        return math.asinh(value / self.unit) if self.is_wide else value

    def lane(self, values):
        """Lowest and highest value that the lane of one bit has room for, and what is marked in it."""
        if not self.is_wide:
            return self.lowest, self.highest, (max(self.lowest, -127), self.middle, self.highest)
        limit = nice_ceiling(largest(values))
        return -limit, limit, (-limit, 0, limit)

    def histogram(self, values):
        """Shares of the values, by bins."""
        factor = HISTOGRAM_BINS / (self.high - self.low)
        bins = [0] * HISTOGRAM_BINS
        for value, n in collections.Counter(values).items():
            if math.isfinite(value):
                place = int((self.position(value) - self.low) * factor)
                bins[min(max(place, 0), HISTOGRAM_BINS - 1)] += n
        return [n / len(values) for n in bins]
