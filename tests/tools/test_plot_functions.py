#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is easier seen from within softqam-plot: a few of its functions, called."""
import math
import re
import sys
import types
import unittest

import plot_harness
import tools_harness
from plot_harness import LEVELS


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plot = plot_harness.load()

    def test_runs_of_a_whole_file(self):
        for n in (1, 2, 199, 200, 201, 12345):
            runs = self.plot.runs_of(n, 20000)
            self.assertEqual(runs[0][0], 0)
            for (first, length), (following, _) in zip(runs, runs[1:] + [(n, 0)]):
                self.assertGreater(length, 0)
                self.assertEqual(first + length, following)

    def test_runs_of_a_sample(self):
        for n, wanted in ((2, 1), (1000, 10), (1001, 1000), (1 << 40, 200000), (10**6, 777)):
            runs = self.plot.runs_of(n, wanted)
            drawn = sum(length for _, length in runs)
            self.assertTrue(0.5 * wanted < drawn <= wanted)
            self.assertEqual(runs[0][0], 0)
            if len(runs) > 1:
                self.assertEqual(sum(runs[-1]), n)
            gaps = [b[0] - a[0] for a, b in zip(runs, runs[1:])]
            self.assertLessEqual(max(gaps, default=0) - min(gaps, default=0), 1)
            self.assertGreaterEqual(min(gaps, default=runs[0][1]), runs[0][1])

    def test_quoted(self):
        text = "".join(map(chr, range(32, 127))) + "1\u00b5\u221a\U0001f600 7"
        quoted = self.plot.quoted(text)
        self.assertRegex(quoted, r'^"([A-Za-z ]|\\[0-7]{1,3}(?![0-9]))*"$')
        octal = re.sub(rb"\\([0-7]+)", lambda m: bytes([int(m[1], 8)]), quoted[1:-1].encode())
        self.assertEqual(octal.decode(), text)

    def test_printable(self):
        for text, expected in (
            ("plain \u00e4\u221a\u4e2d", "plain \u00e4\u221a\u4e2d"), ("a\nb", "a\\nb"), ("\udcff", "\\xff"),
            ("\x1b[1m\x7f", "\\x1b[1m\\x7f"), ("\u202e\u2028", "\\u202e\\u2028"), ("\x85", "\\x85"),
        ):  # fmt: skip
            self.assertEqual(self.plot.printable(text), expected)

    def test_shortened(self):
        self.assertEqual(self.plot.shortened("abcdefghij", 10), "abcdefghij")
        self.assertEqual(self.plot.shortened("abcdefghijk", 10), "abcd\u2026hijk")
        self.assertLessEqual(2 * len(self.plot.shortened(100 * "\u4e2d", 20)), 21)

    def test_numbers(self):
        for value, text in (
            (0, "0"), (-1, "\u22121"), (0.5, "0.5"), (1500, "1500"), (1e5, "10\u2075"), (1e-7, "10\u207b\u2077"),
            (-2e38, "\u22122\u00b710\u00b3\u2078"),
        ):  # fmt: skip
            self.assertEqual(self.plot.number(value), text)
        for x, nice in ((1, 1), (1.01, 1.5), (1506, 2000), (23.5, 30), (0.9, 1), (0, 1), (math.inf, 1), (3.4e38, 4e38)):
            self.assertAlmostEqual(self.plot.nice_ceiling(x) / nice, 1)

    def test_squared_error(self):
        qam = self.plot.MODULATIONS["256qam"]
        for i in LEVELS:
            for dx in (-0.9, 0, 0.9):
                self.assertAlmostEqual(qam.squared_error(i + dx, -i - dx / 2, 0), 1.25 * dx * dx)
        self.assertAlmostEqual(qam.squared_error(25, -1000, 0), 100 + 985**2)

    def test_modulations(self):
        """Unit energy; as many points as there are, those of pi/2-BPSK at both parities; and how far it is to them."""
        for name, modulation in self.plot.MODULATIONS.items():
            points = modulation.points()
            self.assertEqual(len(set(points)), 4 if name == "pi2-bpsk" else 2**modulation.n_bits)
            self.assertEqual(sum(i * i + q * q for i, q in points), modulation.energy * len(points))
            self.assertEqual({k for axis in "iq" for k in modulation.bits_of_axis(axis)}, set(range(modulation.n_bits)))
            for position in (0, 1):
                sign = -1 if modulation.rotates and position else 1
                mine = [(i, q) for i, q in points if modulation.n_bits > 1 or i == sign * q]
                for x, y in ((0.3, -2.2), (-5.1, 1.4), (40, 0.2), (-0.1, -0.2), (1, 1), (-1, 1)):
                    nearest = min((x - i) ** 2 + (y - q) ** 2 for i, q in mine)
                    self.assertAlmostEqual(modulation.squared_error(x, y, position), nearest, msg=(name, x, y))

    def test_density(self):
        """Every level in the middle of a cell, and nobody lost."""
        for limit, side, n in (
            (18, 396, 200000), (18, 290, 5000), (18, 282, 1), (30, 400, 10**6), (400, 400, 100), (10**40, 400, 1000),
        ):  # fmt: skip
            cells, pixels = self.plot.density_grid(limit, side, n)
            self.assertTrue(0 < cells * pixels <= side)
            self.assertGreater(cells * pixels, 0.8 * side)
            if limit == 18:
                for level in LEVELS:
                    self.assertAlmostEqual((level + limit) * cells / (2 * limit) % 1, 0.5)
        symbols = [(i, q) for i in LEVELS for q in LEVELS]
        sample = types.SimpleNamespace(i=[i for i, _ in symbols], q=[q for _, q in symbols], erased=256 * [False])
        self.assertEqual(set(self.plot.density(sample, 18, 18 * 5).values()), {1})
        self.assertEqual(len(self.plot.density(sample, 18, 18 * 5)), 256)

    def test_histograms(self):
        axis = self.plot.SoftAxis("u8", [[0, 255]])
        bins = axis.histogram([0, 1, 2, 255, 255, 127, 127, 127])
        self.assertEqual((bins[0], bins[1], bins[63], bins[-1], sum(bins)), (0.25, 0.125, 0.375, 0.25, 1))
        axis = self.plot.SoftAxis("s8", [[0]])
        bins = axis.histogram([-128, -127, 0, 127])
        self.assertEqual((bins[0], bins[64], bins[-1]), (0.5, 0.25, 0.25))
        axis = self.plot.SoftAxis("s16", [[-32767, 3], [0, 0]])
        bins = axis.histogram([-32768, 3, 32767, 3])
        self.assertEqual((bins[0], bins[64], bins[-1]), (0.25, 0.5, 0.25))
        self.assertEqual(sum(self.plot.SoftAxis("s16", [[0]]).histogram([0])), 1)
        axis = self.plot.SoftAxis("f32", [[-1506.0, 23.0], [math.nan, math.inf]])
        bins = axis.histogram([-1506.0, 0.1, 1506.0, math.inf])
        self.assertEqual((bins[0], bins[64], bins[-1], sum(bins)), (0.25, 0.25, 0.25, 0.75))
        self.assertEqual([label for label, _ in axis.ticks][:2], ["\u221210", "10"])

    def test_unfiltered(self):
        """All filters of the PNG specification, made here from its definition."""
        width, rows = 5, [bytes((7 * x * x + 31 * y * x + y * y) % 8 * 35 for x in range(15)) for y in range(40)]
        filtered, upper = [], bytes(15)
        for y, row in enumerate(rows):
            kind, line = y % 5, bytearray()
            for x in range(3 * width):
                a, b, c = (row[x - 3] if x > 2 else 0), upper[x], (upper[x - 3] if x > 2 else 0)
                p = a + b - c
                nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                line.append((row[x] - (0, a, b, (a + b) // 2, nearest)[kind]) & 255)
            filtered.append(bytes([kind]) + line)
            upper = row
        self.assertEqual(list(self.plot.unfiltered(filtered, 3)), rows)


if __name__ == "__main__":
    sys.exit(tools_harness.main())
