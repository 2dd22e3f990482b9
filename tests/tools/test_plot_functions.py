#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is easier seen from within softqam-plot: a few of its functions, called."""
import math
import sys
import unittest

import plot_harness
from plot_harness import load


class Functions(unittest.TestCase):
    def test_runs_of_a_whole_file(self):
        for n in (1, 2, 199, 200, 201, 12345):
            runs = load("sample").runs_of(n, 20000)
            self.assertEqual(runs[0][0], 0)
            for (first, length), (following, _) in zip(runs, runs[1:] + [(n, 0)]):
                self.assertGreater(length, 0)
                self.assertEqual(first + length, following)

    def test_runs_of_a_sample(self):
        for n, wanted in ((2, 1), (1000, 10), (1001, 1000), (1 << 40, 200000), (10**6, 777)):
            runs = load("sample").runs_of(n, wanted)
            drawn = sum(length for _, length in runs)
            self.assertTrue(0.5 * wanted < drawn <= wanted)
            self.assertEqual(runs[0][0], 0)
            if len(runs) > 1:
                self.assertEqual(sum(runs[-1]), n)
            gaps = [b[0] - a[0] for a, b in zip(runs, runs[1:])]
            self.assertLessEqual(max(gaps, default=0) - min(gaps, default=0), 1)
            self.assertGreaterEqual(min(gaps, default=runs[0][1]), runs[0][1])

    def test_printable(self):
        for text, expected in (
            ("plain \u00e4\u221a\u4e2d", "plain \u00e4\u221a\u4e2d"), ("a\nb", "a\\nb"), ("\udcff", "\\xff"),
            ("\x1b[1m\x7f", "\\x1b[1m\\x7f"), ("\u202e\u2028", "\\u202e\\u2028"), ("\x85", "\\x85"),
        ):  # fmt: skip
            self.assertEqual(load("text").printable(text), expected)

    def test_shortened(self):
        shortened = load("text").shortened
        self.assertEqual(shortened("abcdefghij", 10), "abcdefghij")
        self.assertEqual(shortened("abcdefghijk", 10), "abcd\u2026hijk")
        self.assertLessEqual(2 * len(shortened(100 * "\u4e2d", 20)), 21)

    def test_counts(self):
        count = load("command").count
        for text, value in (("1", 1), ("1M", 10**6), ("64Ki", 65536), ("1e6", 10**6), ("2.5k", 2500), ("1.5e3", 1500)):
            self.assertEqual(count("--sample", text), value)

    def test_points(self):
        """Unit energy; as many points as there are, those of pi/2-BPSK at both parities; and how far it is to them."""
        import numpy

        geometry, places = load("geometry"), [0.3 - 2.2j, -5.1 + 1.4j, 40 + 0.2j, -0.1 - 0.2j, 1 + 1j, -1 + 1j, 25 - 1000j]
        for name, modulation in load("modulation").MODULATIONS.items():
            points = geometry.points_of(modulation)
            self.assertEqual(len(set(points)), 4 if name == "pi2-bpsk" else 2**modulation.n_bits)
            self.assertAlmostEqual(numpy.mean(abs(points) ** 2), modulation.energy)
            self.assertEqual({k for axis in "iq" for k in modulation.bits_of_axis(axis)}, set(range(modulation.n_bits)))
            for position in (0, 1):
                sign = -1 if modulation.rotates and position else 1
                mine = [p for p in points if modulation.n_bits > 1 or p.real == sign * p.imag]
                errors = geometry.squared_errors(modulation, numpy.array(places), numpy.full(len(places), position))
                for place, error in zip(places, errors):
                    self.assertAlmostEqual(error, min(abs(place - p) ** 2 for p in mine), msg=(name, place))

    def test_noise(self):
        """N0 is found from the distance to the nearest point, also where that is the wrong one."""
        import numpy

        rng = numpy.random.default_rng(1)
        for modulation in load("modulation").MODULATIONS.values():
            points = load("geometry").points_of(modulation)
            if modulation.rotates:
                continue
            for snr_db in (0, 5, 12, 20, 30, 40) if modulation.n_bits < 6 else (20, 30, 40):
                n0 = 10 ** (-snr_db / 10)
                noise = rng.normal(0, math.sqrt(n0 * modulation.energy / 2), (40000, 2)) @ [1, 1j]
                errors = load("geometry").squared_errors(modulation, rng.choice(points, 40000) + noise, numpy.zeros(40000, int))
                found = load("measure").noise_var_of(float(numpy.mean(errors)), modulation)
                self.assertAlmostEqual(-10 * math.log10(found), snr_db, delta=0.6, msg=modulation.name)


if __name__ == "__main__":
    sys.exit(plot_harness.main())
