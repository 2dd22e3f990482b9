#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-plot, driven as a process, its pictures read again; and a few of its functions, called.

Called as tools_harness.py says. Without gnuplot the exit status is 77.
"""
import array
import importlib
import json
import math
import os
import re
import shutil
import struct
import sys
import time
import types
import unittest
import xml.etree.ElementTree
import zlib

import tools_harness
from tools_harness import DEMOD, PLOT

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEVELS = range(-15, 16, 2)
UNITS = math.sqrt(170)
BIT_COLOURS = ["#0b62a8", "#c4520e", "#1b8a5a", "#7a4fa3"]
SVG = "{http://www.w3.org/2000/svg}"


def load():
    """The functions of softqam-plot's modules."""
    sys.path.insert(0, os.path.join(ROOT, "tools", "plot"))
    names = ("command", "counts", "palette", "sample", "soft_axis", "text")
    return types.SimpleNamespace(**{k: v for name in names for k, v in vars(importlib.import_module(name)).items()})


def level_bits(level):
    """The four bits of an axis at a level, by 38.211's formula."""
    for n in range(16):
        b = [n >> k & 1 for k in range(4)]
        s = [1 - 2 * x for x in b]
        if s[0] * (8 - s[1] * (4 - s[2] * (2 - s[3]))) == level:
            return b
    raise ValueError


def chunks(png):
    """The chunks of a PNG, their sums checked, the end at the end."""
    place, found = 8, []
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    while place < len(png):
        (n,) = struct.unpack_from(">I", png, place)
        name, body = png[place + 4 : place + 8], png[place + 8 : place + 8 + n]
        (crc,) = struct.unpack_from(">I", png, place + 8 + n)
        assert crc == zlib.crc32(name + body)
        found.append((name, body))
        place += n + 12
    assert found[-1] == (b"IEND", b"")
    return found


def is_near(colour, other):
    return all(abs(a - b) <= 12 for a, b in zip(colour, bytes.fromhex(other[1:])))


class Svg:
    """A picture that gnuplot wrote, by its texts and marks."""

    def __init__(self, data):
        self.root = xml.etree.ElementTree.fromstring(data)
        self.size = self.root.get("width"), self.root.get("height")
        self.texts = [" ".join("".join(text.itertext()).split()) for text in self.root.iter(SVG + "text")]

    def exact_texts(self):
        return ["".join(text.itertext()) for text in self.root.iter(SVG + "text")]

    def marks(self, colour):
        """Where there are dots of a colour."""
        wanted, places = [int(colour[k : k + 2], 16) for k in (1, 3, 5)], []
        for use in self.root.iter(SVG + "use"):
            if [int(n) for n in re.findall(r"\d+", use.get("color", ""))] == wanted:
                places.append(tuple(float(v) for v in re.findall(r"[-\d.]+", use.get("transform"))[:2]))
        return places


class PlotTest(tools_harness.ToolTest):
    """Each test has a directory of its own as its working directory."""

    def plot(self, *arguments, **options):
        return self.run_tool(sys.executable, PLOT, *arguments, **options)

    def make_pair(self, name="x", n=2000, snr_db="30", *arguments):
        self.make(name + ".cf32", "--symbols", str(n), "--snr-db", snr_db, *arguments)
        self.ok(self.demod(name + ".cf32", name + ".u8"))
        return name + ".cf32", name + ".u8"

    def svg(self, *arguments):
        result = self.ok(self.plot(*arguments, "-o", "out.svg"))
        self.assertEqual((result.out, result.err), (b"", ""))
        return Svg(self.read("out.svg"))

    def fails(self, result, code, message, program="softqam-plot"):
        super().fails(result, code, message, program)


class Functions(unittest.TestCase):
    """What is easier seen from within."""

    @classmethod
    def setUpClass(cls):
        cls.plot = load()

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
        for i in LEVELS:
            for dx in (-0.9, 0, 0.9):
                self.assertAlmostEqual(self.plot.squared_error(i + dx, -i - dx / 2), 1.25 * dx * dx)
        self.assertAlmostEqual(self.plot.squared_error(25, -1000), 100 + 985**2)

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


class Pictures(PlotTest):
    """What is in the pictures."""

    def test_png(self):
        self.ok(self.plot(*self.make_pair(), "-o", "out.png"))
        self.assertEqual(chunks(self.read("out.png"))[0][1], struct.pack(">IIBBBBB", 1200, 1050, 8, 2, 0, 0, 0))
        self.assertEqual(self.files(), ["out.png", "x.cf32", "x.u8"])

    def test_small_png(self):
        pair = self.make_pair()
        self.ok(self.plot(*pair, "-o", "out.png", "--size", "900x850"))
        self.ok(self.plot(*pair, "-o", "small.PNG", "--size", "900x850", "--small"))
        parts = dict(chunks(self.read("small.PNG")))
        self.assertEqual(parts[b"IHDR"], struct.pack(">IIBBBBB", 900, 850, 8, 3, 0, 0, 0))
        palette, numbers = parts[b"PLTE"], zlib.decompress(parts[b"IDAT"])
        self.assertEqual(len(numbers), 901 * 850)
        colours = [palette[k : k + 3] for k in range(0, len(palette), 3)]
        self.assertLessEqual(len(colours), 256)
        self.assertEqual(colours[numbers[1]], b"\xff\xff\xff")
        for colour in BIT_COLOURS:
            near = [n for n, c in enumerate(colours) if is_near(c, colour)]
            self.assertGreater(sum(numbers.count(n) for n in near), 100, colour)
        self.assertLess(len(self.read("small.PNG")), len(self.read("out.png")) / 2)

    def test_svg(self):
        svg = self.svg(*self.make_pair())
        self.assertEqual(svg.size, ("1200", "1050"))
        for text in ("x.cf32", "Constellation", "Soft bits of the I axis", "Histograms", "EVM over time", "b0", "b7",
                     "bit 0", "I, in units of 1/\u221a170", "soft bit (u8); above the midpoint: bit 0", "255", "127",
                     "EVM against the nearest point, %", "symbols in a cell", "symbol"):  # fmt: skip
            self.assertIn(text, svg.texts)
        references = re.findall(rb"href=['\"]([^'\"]{0,20})", self.read("out.svg"))
        self.assertEqual({r[:1] for r in references}, {b"#", b"d"})
        self.assertIn(b'font-weight="bold"', self.read("out.svg"))
        self.assertNotIn(b":Bold", self.read("out.svg"))

    def test_bits_are_above_the_midpoint_for_0(self):
        """Each level's dots are where the bits of 38.211 say."""
        self.make("x.cf32", "--symbols", "3000")
        self.ok(self.demod("x.cf32", "x.u8"))
        svg = self.svg("x.cf32", "x.u8", "--panels", "bits")
        for k, colour in enumerate(BIT_COLOURS):
            dots = sorted(svg.marks(colour))
            self.assertEqual(len(dots), 16)
            middle = (min(y for _, y in dots) + max(y for _, y in dots)) / 2
            drawn = [int(y > middle) for _, y in dots]  # y grows downwards
            self.assertEqual(drawn, [level_bits(level)[k] for level in LEVELS])

    def test_axis_and_sign(self):
        """b1, b3, b5, b7 against Q are as b0, b2, b4, b6 against I; the sign is written."""
        self.make("x.cf32", "--symbols", "3000")
        data = array.array("f", self.read("x.cf32"))
        self.ok(self.demod("x.cf32", "x.u8"))
        self.write("y.cf32", array.array("f", [data[k ^ 1] for k in range(len(data))]).tobytes())
        self.ok(self.demod("y.cf32", "y.u8"))
        one = self.svg("x.cf32", "x.u8", "--panels", "bits", "--title", "")
        other = self.svg("y.cf32", "y.u8", "--panels", "bits", "--title", "", "--axis", "q")
        for colour in BIT_COLOURS:
            self.assertEqual(sorted(one.marks(colour)), sorted(other.marks(colour)))
        self.assertTrue({"b1", "b3", "b5", "b7", "Soft bits of the Q axis"} < set(other.texts))
        self.ok(self.demod("--sign", "1", "x.cf32", "x.u8"))
        opposite = self.svg("x.cf32", "x.u8", "--panels", "bits", "--sign", "1")
        self.assertIn("soft bit (u8); above the midpoint: bit 1", opposite.texts)
        names = [text for text in opposite.texts if text.startswith("bit ")]
        self.assertEqual(names, 4 * ["bit 1", "bit 0"])

    def test_evm_is_that_of_demod(self):
        for snr_db in ("35", "22", "5"):
            pair = self.make_pair("x", 5000, snr_db)
            stats = self.ok(self.demod("--stats", *pair)).err
            evm = float(re.search(r"EVM +([\d.]+) %", stats)[1])
            facts = f"5\u202f000 symbols \u00b7 EVM {evm:.2f} % \u00b7 cf32 \u2192 u8"
            self.assertIn(facts, self.svg(*pair).exact_texts())

    def test_evm_over_time(self):
        """40 dB, then 30."""
        self.make("a.cf32", "--symbols", "20000", "--snr-db", "40")
        self.make("b.cf32", "--symbols", "20000", "--snr-db", "30")
        self.write("x.cf32", self.read("a.cf32") + self.read("b.cf32"))
        self.ok(self.demod("x.cf32", "x.u8"))
        for sample in ("40000", "10000"):
            dots = sorted(self.svg("x.cf32", "x.u8", "--panels", "evm", "--sample", sample).marks(BIT_COLOURS[0]))
            self.assertEqual(len(dots), 200)
            before, after = [y for _, y in dots[:100]], [y for _, y in dots[100:]]
            self.assertGreater(min(before), max(after))
            self.assertEqual(len({round(b[0] - a[0]) for a, b in zip(dots, dots[1:])} - {2, 3}), 0)

    def test_panels_and_sizes(self):
        pair = self.make_pair(n=300)
        titles = {"constellation": "Constellation", "bits": "Soft bits of the I axis", "histograms": "Histograms",
                  "evm": "EVM over time"}  # fmt: skip
        for panels, size in (
            (["evm"], ("600", "556")), (["bits", "constellation"], ("1200", "556")),
            (["histograms", "evm", "bits"], ("1200", "1050")),
        ):  # fmt: skip
            svg = self.svg(*pair, "--panels", ",".join(panels))
            self.assertEqual(svg.size, size)
            shown = [text for text in svg.texts if text in titles.values()]
            self.assertEqual(shown, [titles[name] for name in panels])
        self.assertEqual(self.svg(*pair, "--panels", "evm", "--size", "420x442").size, ("420", "442"))

    def test_extremes(self):
        """Few symbols, all in one place, none that counts, far away, and the ends of the soft formats."""
        files = {
            "one": ([0.1, -0.1], [127] * 8),
            "same": ([0.1, 0.1] * 1000, [255] * 8000),
            "erased": ([math.nan, 0.0, math.inf, -math.inf] * 50, [127] * 800),
            "far": ([3e38, -3e38] * 300, [0, 255] * 1200),
            "tiny": ([1e-45, -1e-45] * 300, [0, 255] * 1200),
        }
        for name, (components, soft) in files.items():
            self.write("x.cf32", array.array("f", components).tobytes())
            self.write("x.u8", bytes(soft))
            with self.subTest(name=name):
                self.svg("x.cf32", "x.u8")
        for typecode, suffix, values in (
            ("b", "s8", [-128, 127]), ("f", "f32", [math.nan, math.inf]), ("f", "f32", [3.4e38, -1e-45]),
            ("f", "f32", [0, -0.0]), ("f", "f32", [1e-45, 1e-45]), ("e", "f16", [65504, 6e-8]),
        ):  # fmt: skip
            self.write("x.cf32", struct.pack("=4f", 0.1, 0.1, -0.3, 0.3))
            self.write("x." + suffix, struct.pack(f"=16{typecode}", *values * 8))
            with self.subTest(suffix=suffix, values=values):
                self.svg("x.cf32", "x." + suffix)


class Formats(PlotTest):
    def test_input_formats(self):
        """The same symbols in every format make the same picture but for rounding, with the scales of softqam-demod."""
        self.make_pair()
        components = array.array("f", self.read("x.cf32"))
        pictures = {}
        for name, typecode, steps in (("cf32", "f", 1), ("cf16", "e", 1), ("cs16", "h", 16384), ("cs8", "b", 64)):
            values = [round(v * steps) if steps > 1 else v for v in components]
            self.write("y." + name, struct.pack(f"={len(values)}{typecode}", *values))
            self.write("y", self.read("y." + name))
            svg = self.svg("y." + name, "x.u8", "--input-scale", f"1/{steps}")
            evm = float(re.search(r"EVM ([\d.]+) %", " ".join(svg.texts))[1])
            self.assertAlmostEqual(evm, 3.16, delta=0.3 if name == "cs8" else 0.05)
            pictures[name] = self.read("out.svg").replace(b"y." + name.encode(), b"y")
            self.svg("y", "x.u8", "--input-format", name, "--input-scale", str(1 / steps))
            self.assertEqual(self.read("out.svg"), pictures[name])
        self.assertEqual(len(set(pictures.values())), 4)

    def test_default_scales(self):
        self.make_pair(n=500)
        components = array.array("f", self.read("x.cf32"))
        for name, typecode, full in (("cs16", "h", 32768), ("sc8", "b", 128)):
            values = [round(v * full / 2) for v in components]
            self.write("y." + name, array.array(typecode, values).tobytes())
            self.svg("y." + name, "x.u8", "--title", "")
            by_default = self.read("out.svg")
            self.svg("y." + name, "x.u8", "--title", "", "--input-scale", f"1/{full}")
            self.assertEqual(self.read("out.svg"), by_default)

    def test_soft_formats(self):
        """Max-log soft bits of each format, here from their definition; those of b0 rise with I."""
        self.make("x.cf32", "--symbols", "400", "--snr-db", "25")
        n0, values = 10**-2.5, []
        for v in array.array("f", self.read("x.cf32")):
            squares = [((v - x / UNITS) ** 2, level_bits(x)) for x in LEVELS]
            nearest = [[min(d for d, bits in squares if bits[k] == b) for b in (0, 1)] for k in range(4)]
            values.append([(one - zero) / n0 for zero, one in nearest])
        llrs = [llr for i, q in zip(values[::2], values[1::2]) for pair in zip(i, q) for llr in pair]
        for name, typecode, unit in (("s8", "b", "LLR (s8)"), ("f16", "e", "LLR, nats"), ("f32", "f", "LLR, nats")):
            data = [max(-127, min(127, round(6 * llr))) for llr in llrs] if name == "s8" else llrs
            self.write("x." + name, struct.pack(f"={len(data)}{typecode}", *data))
            svg = self.svg("x.cf32", "x." + name)
            by_suffix = self.read("out.svg")
            self.assertIn(unit + "; above the midpoint: bit 0", svg.texts)
            self.assertIn(f"cf32 \u2192 {name}", " ".join(svg.texts))
            self.write("soft", self.read("x." + name))
            self.svg("x.cf32", "soft", "-s", name)
            self.assertEqual(self.read("out.svg"), by_suffix)
            dots = sorted(self.svg("x.cf32", "x." + name, "--panels", "bits").marks(BIT_COLOURS[0]))
            self.assertGreater(len(dots), 100)
            for (_, y), (_, following) in zip(dots, dots[1:]):
                self.assertLessEqual(following, y + 0.01)

    def test_default_formats(self):
        iq, soft = self.make_pair(n=100)
        os.rename(self.path(iq), self.path("iq"))
        os.rename(self.path(soft), self.path("soft"))
        self.assertIn("cf32 \u2192 u8", " ".join(self.svg("iq", "soft").texts))


class Sigmf(PlotTest):
    """Recordings, which make the picture that plain files make."""

    def record(self, name, data, **global_):
        members = {"core:version": "1.2.0", **{key.replace("__", ":"): value for key, value in global_.items()}}
        self.write(name + ".sigmf-data", data)
        captures = [{"core:sample_start": 0, "core:header_bytes": global_.get("header", 0)}]
        metadata = {"global": members, "captures": captures, "annotations": []}
        self.write(name + ".sigmf-meta", json.dumps(metadata).encode())

    def setUp(self):
        super().setUp()
        if b"--sigmf" not in self.run_tool(DEMOD, "--help").out:
            self.skipTest("softqam-demod is built without SigMF")
        self.make("x.cs16", "--symbols", "1000", "--snr-db", "25")
        self.samples = array.array("h", self.read("x.cs16"))
        self.ok(self.demod("--input-scale", "1/8192", "x.cs16", "x.u8"))
        self.svg("x.cs16", "x.u8", "--input-scale", "1/8192", "--title", "")
        self.expected = self.read("out.svg")

    def test_what_demod_writes(self):
        """Formats, byte order and scale come from the metadata."""
        for order, byteswap in (("le", False), ("be", True)):
            samples = self.samples[:]
            if byteswap:
                samples.byteswap()
            self.record("r", samples.tobytes(), core__datatype="ci16_" + order)
            self.ok(self.demod("--input-scale", "1/8192", "r", "soft"))
            for iq in ("r", "r.sigmf-meta", "r.sigmf-data"):
                for soft in ("soft", "soft.sigmf-meta", "soft.sigmf-data"):
                    self.svg(iq, soft, "--title", "")
                    self.assertEqual(self.read("out.svg"), self.expected)
        os.unlink(self.path("out.svg"))
        self.ok(self.demod("--sign", "1", "-o", "f32", "--snr-db", "25", "--input-scale", "1/8192", "r", "llrs"))
        texts = self.svg("r", "llrs").texts
        self.assertIn("LLR, nats; above the midpoint: bit 1", texts)
        self.assertIn("LLR, nats; above the midpoint: bit 0", self.svg("r", "llrs", "--sign", "0").texts)

    def test_bytes_around_the_samples(self):
        data = b"header" + self.samples.tobytes() + b"end"
        self.record("r", data, core__datatype="ci16_le", core__trailing_bytes=3, header=6, softqam__input_scale=1 / 8192)
        self.svg("r", "x.u8", "--title", "")
        self.assertEqual(self.read("out.svg"), self.expected)

    def test_failures(self):
        self.ok(self.demod("--sigmf", "x.cs16", "soft"))
        for global_, message in (
            ({}, "core:datatype: '' is not one of cf32_le, cf32_be, ci16_le, ci16_be, ci8"),
            ({"core__datatype": "ru8"}, "core:datatype: 'ru8' is not one of cf32_le, cf32_be, ci16_le, ci16_be, ci8"),
            ({"core__datatype": 5}, "core:datatype: not what SigMF has there"),
            ({"core__datatype": "ci8", "core__num_channels": 2}, "core:num_channels: 2, but 1 is needed"),
            ({"core__datatype": "ci8", "core__trailing_bytes": -1}, "core:trailing_bytes: not what SigMF has there"),
        ):
            self.record("r", self.samples.tobytes(), **global_)
            self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-meta: " + message)
        self.write("r.sigmf-meta", b"{")
        self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-meta: not JSON")
        self.write("r.sigmf-meta", b"[]")
        self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-meta: not SigMF: there is no object 'global'")
        self.record("r", b"", core__datatype="ci8", core__trailing_bytes=10)
        self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-data: shorter than its metadata say")
        os.unlink(self.path("r.sigmf-data"))
        self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-data: No such file or directory")

    def test_commands_of_the_readme(self):
        """From a recording to a picture, as they stand there."""
        with open(os.path.join(ROOT, "README.md")) as file:
            commands = [line.strip() for line in file if re.match("    softqam-.* recording.sigmf-meta", line)]
        self.assertEqual([command.split()[0] for command in commands], ["softqam-demod", "softqam-plot"])
        self.record("recording", self.samples.tobytes(), core__datatype="ci16_le")
        path = os.path.dirname(DEMOD) + os.pathsep + os.environ["PATH"]
        for command in commands:
            self.ok(self.run_tool("sh", "-c", command, env=dict(os.environ, PATH=path)))
        self.assertEqual(chunks(self.read("picture.png"))[0][0], b"IHDR")


class Sampling(PlotTest):
    def test_huge_sparse_file(self):
        n = 1 << 33
        for name in ("x.cs8", "x.u8"):
            with open(self.path(name), "wb") as file:
                file.truncate(n * (8 if name == "x.u8" else 2))
        start = time.monotonic()
        svg = self.svg("x.cs8", "x.u8", "--sample", "20000")
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn("8\u202f589\u202f934\u202f592 symbols, 20\u202f000 drawn", " ".join(svg.exact_texts()))

    def test_sample_is_of_all(self):
        """A sample of a tenth sees both the start and the end."""
        pair = self.make_pair(n=20000)
        data = self.read("x.cf32")
        self.write("x.cf32", data[:-800] + struct.pack("=2f", math.nan, 0) * 100)
        svg = self.svg(*pair, "--sample", "2000")
        self.assertIn("20\u202f000 symbols, 2\u202f000 drawn \u00b7 10 erased", " ".join(svg.exact_texts()))
        self.assertIn("20\u202f000 symbols \u00b7 100 erased", " ".join(self.svg(*pair).exact_texts()))

    def test_smallest_sample(self):
        for n in ("1", "2", "199", "200"):
            svg = self.svg(*self.make_pair(n=1000), "--sample", n)
            self.assertIn(f"1\u202f000 symbols, {n} drawn", " ".join(svg.exact_texts()))


HOSTILE = [
    "a'b\"c\\d", "`touch pwned`", "$(touch pwned)", "'; system \"touch pwned\"; '", '"; system "touch pwned"; "',
    "line\nsystem 'touch pwned'\nend", "{/Symbol a}_b^2@x~a{b}&{c}", "%d %s %%", "<svg>&amp;</text>", "|touch pwned",
    "-", "--output", "@PROJECT_VERSION@", "\u00fc\u221a\u4e2d\u6587", "x.161", "\\", "'", '"', " ", "EOD", "#",
    "font-family=",
]  # fmt: skip


class Hostile(PlotTest):
    """No name and no title is taken for anything but text."""

    def as_shown(self, text):
        return text.replace("\n", "\\n")

    def test_titles(self):
        pair = self.make_pair(n=100)
        for title in HOSTILE:
            with self.subTest(title=title):
                svg = self.svg(*pair, "--panels", "evm", "--title=" + title, "--size", "2000x600")
                self.assertIn(self.as_shown(title).strip(), [text.strip() for text in svg.exact_texts()])
                self.assertEqual(self.files(), ["out.svg", *pair])

    def test_long_title(self):
        pair = self.make_pair(n=100)
        texts = self.svg(*pair, "--panels", "evm", "--title", "begin" + 5000 * "x" + "end").texts
        (title,) = [text for text in texts if text.startswith("beginxxx")]
        self.assertTrue(title.endswith("xxxend") and len(title) < 60, title)

    def test_names(self):
        pair = self.make_pair(n=100)
        for kind in ("png", "svg"):
            for name in HOSTILE:
                name = name.replace("/", "\u2215")
                iq, soft, output = name + "i", name + "s", "-" + name + "." + kind
                for old, new in zip(pair, (iq, soft)):
                    shutil.copy(self.path(old), self.path(new))
                with self.subTest(name=name):
                    self.ok(self.plot("--panels", "evm", "-icf32", "-su8", "-o" + output, "--", iq, soft))
                    self.assertEqual(self.files(), sorted([iq, soft, output, *pair]))
                for new in (iq, soft, output):
                    os.unlink(self.path(new))

    def test_bytes_that_are_not_utf8(self):
        iq, soft = self.make_pair(n=100)
        name = b"x\xff\xc3.cf32"
        os.rename(self.path(iq), os.path.join(os.fsencode(self.directory), name))
        svg = self.svg("--panels", "evm", name, soft)
        self.assertIn("x\\xff\\xc3.cf32", svg.texts)
        self.fails(self.plot(b"\xff", soft, "-o", "o.png"), 1, "\\xff: No such file or directory")

    def test_settings_of_the_user_are_not_read(self):
        pair = self.make_pair(n=100)
        self.write(".gnuplot", b"system 'touch pwned'\nset output 'pwned'\n")
        environment = dict(os.environ, HOME=self.directory, XDG_CONFIG_HOME=self.directory, LC_ALL="C")
        self.ok(self.plot(*pair, "-o", "out.png", env=environment))
        self.assertEqual(self.files(), [".gnuplot", "out.png", *pair])


class Failures(PlotTest):
    """One line that says why, and no output."""

    def setUp(self):
        super().setUp()
        self.pair = self.make_pair(n=100)
        self.write("out.png", b"old")

    def rejects(self, arguments, code, message, **options):
        with self.subTest(arguments=arguments):
            before = self.files()
            result = self.plot(*arguments, **options)
            self.fails(result, code, message)
            self.assertEqual(result.out, b"")
            self.assertEqual(self.files(), before)
            self.assertEqual(self.read("out.png"), b"old")

    WRONG = [
        (["--sample", "0"], "--sample: '0' is not a whole number from 1 to 10000000"),
        (["--sample", "1e3"], "--sample: '1e3' is not a whole number from 1 to 10000000"),
        (["--sample", "10000001"], "--sample: '10000001' is not a whole number from 1 to 10000000"),
        (["--sample", 5000 * "9"], f"--sample: '{5000 * '9'}' is not a whole number from 1 to 10000000"),
        (["--sample", "\u0663"], "--sample: '\u0663' is not a whole number from 1 to 10000000"),
        (["-i", "cf64"], "--input-format: 'cf64' is not one of cf32, cs16, cs8, cf16"),
        (["--input-format="], "--input-format: '' is not one of cf32, cs16, cs8, cf16"),
        (["-s", "u16"], "--soft-format: 'u16' is not one of u8, s8, f16, f32"),
        (["--panels", "eye"], "--panels: 'eye' is not one of constellation, bits, histograms, evm"),
        (["--panels", ""], "--panels: '' is not one of constellation, bits, histograms, evm"),
        (["--panels", "evm,"], "--panels: '' is not one of constellation, bits, histograms, evm"),
        (["--panels", "evm,bits,evm"], "--panels: 'evm,bits,evm' names a panel twice"),
        (["-o", "out.pdf"], "--output: 'out.pdf' ends in neither .png nor .svg"),
        (["-o", ""], "--output: '' ends in neither .png nor .svg"),
        (["-o", "-"], "--output: '-' ends in neither .png nor .svg"),
        (["-o", "out.svg", "--small"], "--small: is for PNG only"),
        (["--frobnicate"], "--frobnicate: no such option; --help lists them"),
        (["--frobnicate=3"], "--frobnicate: no such option; --help lists them"),
        (["-x"], "-x: no such option; --help lists them"),
        (["--help=3"], "--help: takes no value"),
        (["--s"], "--s: could be more than one option; --help lists them"),
        (["-s"], "--soft-format: needs a value"),
        (["--title"], "--title: needs a value"),
        (["third"], "needs 2 operands (IQ and SOFT), but got 3; --help explains"),
    ]

    def test_wrong_commands(self):
        for arguments, message in self.WRONG:
            self.rejects(["-o", "out.png", *self.pair, *arguments], 2, message)
        self.rejects(["-o", "out.png", "x.cf32"], 2, "needs 2 operands (IQ and SOFT), but got 1; --help explains")
        self.rejects([*self.pair], 2, "--output: is needed; --help explains")
        for text in ("100x100", "1200", "x", "1200x", "-1200x1000", "99999x1000", "1200x10001", "1200X1000"):
            message = f"--size: '{text}' is not a size from 840x822 to 10000x10000, which so many panels need"
            self.rejects(["-o", "out.png", *self.pair, "--size", text], 2, message)
        for text in ("0", "-1", "nan", "inf", "1/0", "0/1", "1/", "/2", "1/2/3", "1e-60", "1e60", "1e400", "0x1", " 1",
                     "", "1,5", "1e", "1_0", "\u0663"):  # fmt: skip
            message = f"--input-scale: '{text}' is not a positive number or fraction (such as 0.25 or 1/32768)"
            self.rejects(["-o", "out.png", *self.pair, "--input-scale", text], 2, message)

    def test_files(self):
        os.mkdir(self.path("d"))
        os.mkfifo(self.path("fifo"))
        self.write("empty", b"")
        self.write("odd.cf32", bytes(801))
        self.write("odd.u8", bytes(807))
        self.write("longer.u8", bytes(808))
        self.write("a\nb\x1b.u8", bytes(80))
        to = ["-o", "out.png"]
        not_regular = "not a regular file, which is needed to read a sample of it"
        for iq, soft, message in (
            ("none", "x.u8", "none: No such file or directory"),
            ("x.cf32", "none", "none: No such file or directory"),
            ("", "x.u8", "'': No such file or directory"),
            ("d", "x.u8", "d: Is a directory"),
            ("fifo", "x.u8", "fifo: " + not_regular),
            ("x.cf32", "/dev/zero", "/dev/zero: " + not_regular),
            ("-", "x.u8", "-: No such file or directory"),
            ("empty", "empty", "empty: has no symbols"),
            ("odd.cf32", "x.u8", "odd.cf32: not a whole number of symbols: 1 byte left over (a symbol has 8)"),
            ("x.cf32", "odd.u8", "odd.u8: not a whole number of symbols: 7 bytes left over (a symbol has 8)"),
            ("x.cf32", "longer.u8", "longer.u8: the soft bits of 101 symbols (u8), but x.cf32 has 100 (cf32)"),
            ("x.cf32", "a\nb\x1b.u8", "a\\nb\\x1b.u8: the soft bits of 10 symbols (u8), but x.cf32 has 100 (cf32)"),
        ):
            self.rejects(to + [iq, soft], 1, message)
        mismatch = "x.u8: the soft bits of 25 symbols (f32), but x.cf32 has 100 (cf32)"
        self.rejects(to + ["-s", "f32", *self.pair], 1, mismatch)

    def test_output_that_cannot_be(self):
        os.mkdir(self.path("d.png"))
        self.write("file", b"")
        os.symlink("loop.png", self.path("loop.png"))
        for output, message in (
            ("none/o.png", "none/o.png: No such file or directory"),
            ("file/o.png", "file/o.png: Not a directory"),
            ("d.png", "d.png: Is a directory"),
            ("loop.png", "loop.png: Too many levels of symbolic links"),
            (300 * "y" + ".png", 300 * "y" + ".png: File name too long"),
        ):
            self.rejects(["--panels", "evm", *self.pair, "-o", output], 1, message)
        os.symlink("/dev/full", self.path("full.svg"))
        self.rejects(["--panels", "evm", *self.pair, "-o", "full.svg"], 1, "full.svg: No space left on device")

    def fake_gnuplot(self, script):
        """An environment in which gnuplot is another program."""
        os.makedirs(self.path("bin"), exist_ok=True)
        self.write("bin/gnuplot", script)
        os.chmod(self.path("bin/gnuplot"), 0o755)
        return dict(os.environ, PATH=self.path("bin"))

    def test_gnuplot_fails(self):
        arguments = [*self.pair, "-o", "out.png"]
        missing = "gnuplot: not found (Debian has it in the package gnuplot-nox)"
        self.rejects(arguments, 1, missing, env=dict(os.environ, PATH=self.directory))
        start_of_png = b"printf '\\211PNG\\r\\n\\032\\nhalf'"
        complaint = b"echo; echo '         ^' >&2; echo '  line 3: no such terminal' >&2; echo >&2; exit 2"
        for script, message in (
            (complaint, "line 3: no such terminal"),
            (b"exit 3", "made no png (exit status 3)"),
            (b"exit 0", "made no png (exit status 0)"),
            (start_of_png, "made no png (exit status 0)"),
            (b"kill -9 $$", "made no png (exit status -9)"),
        ):
            environment = self.fake_gnuplot(b"#!/bin/sh\n" + script + b"\n")
            self.rejects(arguments, 1, "gnuplot: " + message, env=environment)
        environment = self.fake_gnuplot(b"#!/no/such/interpreter\n")
        self.rejects(arguments, 1, f"{self.path('bin/gnuplot')}: No such file or directory", env=environment)

    def test_signals(self):
        environment = self.fake_gnuplot(b"#!/bin/sh\n: > started\nexec /bin/sleep 100\n")
        before = self.files()
        for number in tools_harness.DEADLY_SIGNALS:
            process = self.start(
                sys.executable, PLOT, *self.pair, "-o", "out.png", env=environment,
                preexec_fn=tools_harness.default_signals,
            )  # fmt: skip
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("started")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(process.stderr.read(), b"")
            os.unlink(self.path("started"))
            self.assertEqual(self.files(), before)
            self.assertEqual(self.read("out.png"), b"old")


class Output(PlotTest):
    def setUp(self):
        super().setUp()
        self.pair = [*self.make_pair(n=100), "--panels", "evm"]

    def test_mode(self):
        self.ok(self.plot(*self.pair, "-o", "y.png", umask=0o027))
        self.assertEqual(os.stat(self.path("y.png")).st_mode & 0o7777, 0o640)
        os.chmod(self.path("y.png"), 0o604)
        self.ok(self.plot(*self.pair, "-o", "y.png", umask=0o077))
        self.assertEqual(os.stat(self.path("y.png")).st_mode & 0o7777, 0o604)

    def test_replaced_at_once(self):
        self.write("y.png", b"old")
        with open(self.path("y.png"), "rb") as old:
            self.ok(self.plot(*self.pair, "-o", "y.png"))
            self.assertEqual(old.read(), b"old")
        self.assertTrue(self.read("y.png").startswith(b"\x89PNG"))

    def test_links_and_devices(self):
        os.mkdir(self.path("d"))
        os.symlink("d/target", self.path("y.svg"))
        os.symlink("/dev/null", self.path("null.png"))
        for name in ("y.svg", "y.svg", "null.png"):
            self.ok(self.plot(*self.pair, "-o", name))
            self.assertTrue(os.path.islink(self.path(name)))
        self.assertEqual(os.listdir(self.path("d")), ["target"])

    def test_same_picture_again(self):
        for kind in ("png", "svg"):
            self.ok(self.plot(*self.pair, "-o", "a." + kind))
            self.ok(self.plot(*self.pair, "-o", "b." + kind))
            self.assertEqual(self.read("a." + kind), self.read("b." + kind))

    def test_help_and_version(self):
        self.assertTrue(os.access(PLOT, os.X_OK))
        for option in ("-h", "--help"):
            text = self.ok(self.run_tool(PLOT, option)).out.decode()
            self.assertTrue(text.startswith("Usage: softqam-plot "))
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for option in load().LONG_OPTIONS:
            self.assertIn("--" + option.rstrip("="), text)
        self.assertIn("the bit that a value above the midpoint means; default: 0", " ".join(text.split()))
        version = self.ok(self.run_tool(tools_harness.DEMOD, "-V")).out.decode().replace("demod", "plot")
        for option in ("-V", "--version"):
            self.assertEqual(self.ok(self.plot(option)).out.decode(), version)
        with open("/dev/full", "wb") as full:
            result = self.plot("--help", stdout=full)
        self.fails(result, 1, "standard output: No space left on device")


def main():
    if not shutil.which("gnuplot"):
        print("skipped: gnuplot is not installed (Debian has it in the package gnuplot-nox)")
        return tools_harness.SKIPPED
    return tools_harness.main()


if __name__ == "__main__":
    sys.exit(main())
