#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in the pictures of softqam-plot, by the data of its figures: its panels, every format, recordings, samples of
large files; and a few of its functions.
"""
import array
import json
import math
import os
import re
import struct
import sys
import time
import unittest

import plot_harness
from output_formats import LLR_STEPS, LLR_TYPECODE
from plot_harness import PlotTest, load
from tools_harness import DEMOD, MODULATIONS, PLOT, ROOT, SNRS, max_log

SYMBOL_DATATYPES = "cf32_le, cf32_be, ci16_le, ci16_be, cf64_le, cf64_be, ci32_le, ci32_be, ci8, cu8"
PANELS = {"constellation": "Constellation", "bits": "Soft bits of the I axis", "histograms": "Histograms", "evm": "EVM over time"}


def level_bits(level):
    """The four bits of an axis at a level, by 38.211's formula."""
    for n in range(16):
        b = [n >> k & 1 for k in range(4)]
        s = [1 - 2 * x for x in b]
        if s[0] * (8 - s[1] * (4 - s[2] * (2 - s[3]))) == level:
            return b
    raise ValueError


def same(one, other):
    """Whether two figures show the same."""
    lanes = ([(name, position.tolist(), soft.tolist()) for name, position, soft in drawn.lanes()] for drawn in (one, other))
    return next(lanes) == next(lanes) and one.header[1:] == other.header[1:]


class Functions(unittest.TestCase):
    def test_runs(self):
        """Of a whole file, without a gap; of a sample, of the start and the end and evenly between them."""
        for n in (1, 2, 199, 200, 201, 12345):
            runs = load("sample").runs_of(n, 20000)
            self.assertEqual(runs[0][0], 0)
            for (first, length), (following, _) in zip(runs, runs[1:] + [(n, 0)]):
                self.assertGreater(length, 0)
                self.assertEqual(first + length, following)
        for n, wanted in ((2, 1), (1000, 10), (1001, 1000), (1 << 40, 200000), (10**6, 777)):
            runs = load("sample").runs_of(n, wanted)
            drawn = sum(length for _, length in runs)
            self.assertTrue(0.5 * wanted < drawn <= wanted)
            self.assertTrue(runs[0][0] == 0 and (len(runs) == 1 or sum(runs[-1]) == n))
            gaps = [b[0] - a[0] for a, b in zip(runs, runs[1:])]
            self.assertLessEqual(max(gaps, default=0) - min(gaps, default=0), 1)
            self.assertGreaterEqual(min(gaps, default=runs[0][1]), runs[0][1])

    def test_counts(self):
        for text, value in (("1", 1), ("1M", 10**6), ("64Ki", 65536), ("1e6", 10**6), ("2.5k", 2500), ("1.5e3", 1500)):
            self.assertEqual(load("command").count("--sample", text), value)


class Pictures(PlotTest):
    """What is in the pictures."""

    def test_kinds_and_sizes(self):
        pair = self.make_pair(n=300)
        for name, start in (("out.png", b"\x89PNG\r\n"), ("out.SVG", b"<?xml"), ("out.pdf", b"%PDF-")):
            self.ok(self.plot(*pair, "-o", name))
            self.assertTrue(self.read(name).startswith(start))
        self.assertEqual(struct.unpack_from(">II", self.read("out.png"), 16), (1200, 1050))
        self.assertRegex(self.read("out.SVG"), rb'width="900\.\d*pt" height="787\.\d*pt"')
        for panels, option, size in (("evm", [], (600, 556)), ("bits,constellation", [], (1200, 556)), ("histograms,evm,bits", [], (1200, 1050)),
                                     *(("evm", ["--size", f"{w}x{h}"], (w, h)) for w, h in ((420, 442), (421, 443), (999, 1001), (1111, 777)))):  # fmt: skip
            drawn = self.draw(*pair, "--panels", panels, *option)
            self.assertEqual(drawn.titles, [PANELS[name] for name in panels.split(",")])
            self.assertEqual(struct.unpack_from(">II", self.encoded(drawn, "png"), 16), size)

    def test_constellation(self):
        """Nobody is lost; every level is in the middle of a cell; the points are those of the modulation; ticks are at levels,
        symmetrical, few enough to be read."""
        for name, (n_bits, energy) in MODULATIONS.items():
            drawn = self.draw(*self.make_llrs(name, 5000))
            axes, colours = drawn.panel("Constellation")
            (mesh,) = axes.collections
            cells, corners = mesh.get_array(), mesh.get_coordinates()
            n_points, outer = 4 if name == "pi2-bpsk" else 2**n_bits, 2 ** ((n_bits + 1) // 2) - 1
            self.assertEqual(cells.sum(), 5000)
            self.assertTrue(0.9 * n_points < cells.count() <= n_points, (name, cells.count()))
            right = corners.max()
            self.assertEqual((corners[0, 0].tolist(), corners[-1, -1].tolist()), ([-right, -right], [right, right]))
            self.assertAlmostEqual((1 + right) * (len(corners) - 1) / (2 * right) % 1, 0.5)
            self.assertEqual(len(axes.lines[0].get_xdata()), n_points)
            self.assertEqual((axes.get_xlabel(), colours.get_ylabel()), (f"I, in units of 1/\u221a{energy}", "symbols in a cell"))
            for axis in (axes.xaxis, axes.yaxis, drawn.panel("Soft bits")[-1].xaxis):
                ticks = list(axis.get_majorticklocs())
                self.assertEqual(ticks, [-v for v in reversed(ticks)])
                self.assertTrue(set(ticks) <= set(range(-outer, outer + 1, 2)) and ticks[-1] == outer, (name, ticks))
                self.assertTrue((4 if outer > 1 else 0) <= len(ticks) <= 8)

    def test_bits(self):
        """Each level's soft bits are where the bits of 38.211 say, above the midpoint for 0; b1, b3, b5, b7 against Q are as
        b0, b2, b4, b6 against I; the sign is written."""
        data = array.array("f", self.read(self.make("x.cf32", "--symbols", "3000")))
        self.write("y.cf32", array.array("f", [data[k ^ 1] for k in range(len(data))]).tobytes())
        for name in "xy":
            self.ok(self.demod(f"{name}.cf32", f"{name}.u8"))
        one, other = self.draw("x.cf32", "x.u8"), self.draw("y.cf32", "y.u8", "--axis", "Q")
        for drawn, names in ((one, ["b0", "b2", "b4", "b6"]), (other, ["b1", "b3", "b5", "b7"])):
            self.assertEqual([name for name, _, _ in drawn.lanes()], names)
            for k, (_, position, soft) in enumerate(drawn.lanes()):
                decided = {round(x): int(y < 127) for x, y in zip(position, soft)}
                self.assertEqual(decided, {level: level_bits(level)[k] for level in range(-15, 16, 2)})
        self.assertIn("Soft bits of the Q axis", other.titles)
        for drawn, signs in ((one, ["bit 0", "bit 1"]), (self.draw("x.cf32", "x.u8", "--sign", "1"), ["bit 1", "bit 0"])):
            for lane in drawn.panel("Soft bits"):
                self.assertEqual([text.get_text() for text in lane.texts[1:]], signs)
            self.assertEqual(drawn.panel("Histograms")[0].get_xlabel(), f"soft bit (u8); above the midpoint: {signs[0]}")

    def test_one_bit(self):
        """A curve, of the projection on the diagonal, from which pi/2-BPSK's odd symbols have been turned back."""
        for name, n_drawn in (("bpsk", "4000"), ("pi2-bpsk", "4000"), ("pi2-bpsk", "777")):
            drawn = self.draw("--sample", n_drawn, *self.make_llrs(name, 4000, 3, 3, "f32"))
            ((_, position, soft),) = drawn.lanes()
            expected = position * 4 / 10**-0.3
            self.assertLess(max(abs(soft - expected)), 1e-4 * max(abs(expected)))
            label = drawn.panel("Soft bits")[0].get_xlabel()
            self.assertEqual(("turned back" in label, drawn.titles[1]), (name == "pi2-bpsk", "Soft bits of the diagonal"))

    def test_facts(self):
        """Modulation; the EVM that softqam-demod finds; the SNR that the generator was given."""
        for name, (n_bits, _) in MODULATIONS.items():
            for snr_db in (35, 22, 6 if n_bits < 3 else 18 if n_bits < 7 else 26):
                command = self.make_llrs(name, 20001, snr_db)
                stats = self.ok(self.demod("-m", name, "-o", "s8", "--snr-db", str(snr_db), "--stats=json", "-q", "x.cf32", "x.s8")).err
                _, facts = self.draw("--panels", "evm", *command).header
                found = re.fullmatch(r"(\S+) \u00b7 20\u202f001 symbols \u00b7 EVM ([\d.]+) % \u00b7 SNR ([\d.]+) dB \u00b7 cf32 \u2192 s8", facts)
                self.assertEqual((found[1], found[2]), (name.upper().replace("PI2", "\u03c0/2"), f"{100 * json.loads(stats)['evm']:.2f}"))
                self.assertAlmostEqual(float(found[3]), snr_db, delta=0.4)
        self.assertIn("SNR above 80 dB", self.draw(*self.make_pair(snr_db="200")).header[1])

    def test_complaints(self):
        """Symbols that are not on the points: the cause, and what mends it, in the picture and on standard error."""
        for name, snr_db in SNRS.items():
            self.make_llrs(name, 9000, snr_db)
            for other, (n_bits, _) in MODULATIONS.items():
                self.write("y.s8", bytes(9000 * n_bits))
                drawn = self.draw("-m", other, "--panels", "evm", "x.cf32", "y.s8")
                with self.subTest(modulation=name, other=other):
                    if name == other:
                        self.assertEqual((drawn.complaint, len(drawn.header)), (None, 2))
                        continue
                    self.assertRegex(drawn.complaint, rf"^look like \S+ at ({snr_db - 1}|{snr_db}) dB, not \S+; use --modulation {name}$")
                    self.assertEqual(drawn.header[2], "The symbols " + drawn.complaint)
                    self.assertNotIn("SNR", drawn.header[1])
            complaint = self.draw("-m", name, "x.cf32", "x.s8", "--input-scale", "1/2").complaint
            found = re.fullmatch(r"miss the points: their mean energy is (0\.2\d+), not 1; use --input-scale (\S+)", complaint)
            self.assertAlmostEqual(float(found[2]), 1, delta=0.05, msg=(name, complaint))
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "16")
        self.ok(self.demod("-q", "-m", "qpsk", "-o", "s8", "--snr-db", "20", "x.cf32", "y.s8"))
        result = self.ok(self.plot("-m", "qpsk", "--panels", "evm", "x.cf32", "y.s8", "-o", "y.png"))
        self.assertEqual(result.err, "softqam-plot: x.cf32: warning: the symbols do not look like QPSK, but have more points; --modulation tells which\n")
        self.make("x.cf32", "-m", "qpsk", "--symbols", "900")
        self.ok(self.demod("-q", "x.cf32", "x.u8"))
        self.assertIsNone(self.draw("x.cf32", "x.u8").complaint)  # of so few

    def test_histograms(self):
        """Shares of the symbols, on a logarithmic axis of whole decades that holds one symbol and all."""
        values = [0, 1, 2, 255, 255, 127, 127, 127]
        self.write("x.cf32", struct.pack("=16f", *[0.1] * 16))
        self.write("x.u8", bytes(v for v in values for _ in range(8)))
        drawn = self.draw("x.cf32", "x.u8")
        for shares, edges in drawn.histograms().values():
            self.assertEqual((shares[0], shares[1], shares[63], shares[-1], shares.sum()), (0.25, 0.125, 0.375, 0.25, 1))
            self.assertEqual((edges[0], edges[-1]), (-0.5, 255.5))
        (axes,) = drawn.panel("Histograms")
        self.assertEqual((axes.get_yscale(), axes.get_ylim(), list(drawn.histograms())), ("log", (0.5 / 8, 1), [f"b{k}" for k in range(8)]))
        self.write("x.f32", struct.pack("=64f", *[v for v in (-1506, 0.1, 1506, math.inf, 0, 0, 1506, math.nan) for _ in range(8)]))
        drawn = self.draw("x.cf32", "x.f32")
        for shares, edges in drawn.histograms().values():
            self.assertEqual((shares[0], shares[63] + shares[64], shares[-1], shares.sum()), (0.125, 0.375, 0.25, 0.75))
        ticks = [v for v in drawn.panel("Histograms")[0].get_xticks() if abs(v) <= 1506]
        self.assertTrue({-1000, -100, -10, 0, 10, 100, 1000} <= set(ticks), ticks)

    def test_evm_over_time(self):
        """40 dB, then 30."""
        parts = [self.read(self.make("x.cf32", "--symbols", "20000", "--snr-db", snr_db)) for snr_db in ("40", "30")]
        self.write("x.cf32", b"".join(parts))
        self.ok(self.demod("x.cf32", "x.u8"))
        for sample in ("40000", "10k"):
            middles, evms = self.draw("x.cf32", "x.u8", "--panels", "evm", "--sample", sample).evm()
            self.assertEqual(len(evms), 200)
            self.assertLess(max(evms[:100]), min(evms[100:]))
            self.assertLess(max(abs(b - a - 200) for a, b in zip(middles, middles[1:])), 2)

    def test_extremes(self):
        """Few symbols, all in one place, none that counts, far away, and the ends of the soft formats."""
        pair = [0.1, 0.1, -0.3, 0.3]
        for components, format_, soft in (
            ([0.1, -0.1], "u8", [127] * 8), ([0.1, 0.1] * 1000, "u8", [255] * 8000), ([math.nan, 0.0, math.inf, -math.inf] * 50, "u8", [127] * 800),
            ([3e38, -3e38] * 1000, "u8", [0, 255] * 4000), ([1e-45, -1e-45] * 1000, "u8", [0, 255] * 4000),
            (pair, "s8", [-128, 127] * 8), (pair, "s16", [-32768, 32767] * 8), (pair, "s16", [0] * 16), (pair, "f32", [math.nan, math.inf] * 8),
            (pair, "f32", [3.4e38, -1e-45] * 8), (pair, "f32", [0, -0.0] * 8), (pair, "f32", [1e-45] * 16), (pair, "f16", [65504, 6e-8] * 8),
        ):  # fmt: skip
            self.write("x.cf32", array.array("f", components).tobytes())
            self.write("x." + format_, struct.pack(f"={len(soft)}{ {'u8': 'B', **LLR_TYPECODE}[format_]}", *soft))
            with self.subTest(components=components[:2], format=format_, soft=soft[:2]):
                self.encoded(self.draw("x.cf32", "x." + format_), "png")


class Formats(PlotTest):
    def test_input_formats(self):
        """The same symbols in every format make the same picture but for rounding, with the scales of softqam-demod."""
        self.make_pair()
        components = array.array("f", self.read("x.cf32"))
        for names, typecode, steps, full in ((["cf32"], "f", 1, 1), (["cf16"], "e", 1, 1), (["cs16", "sc16", "ci16"], "h", 16384, 32768), (["cs8", "sc8"], "b", 64, 128),
                                             (["cu8"], "B", 64, 128), (["cs32"], "i", 1 << 30, 1 << 31), (["cf64"], "d", 1, 1)):  # fmt: skip
            zero = 128 if typecode == "B" else 0
            values = [round(v * steps) + zero if steps > 1 else v for v in components]
            for name in names:
                self.write("y." + name, struct.pack(f"={len(values)}{typecode}", *values))
                self.write("y", self.read("y." + name))
                drawn = self.draw("y." + name, "x.u8", "--input-scale", f"1/{steps}")
                position, expected = drawn.lanes()[0][1], [v * math.sqrt(170) for v in components[::2]]
                self.assertLess(max(abs(position - expected)), 0.11 if steps == 64 else 0.01)
                self.assertTrue(same(drawn, self.draw("y", "x.u8", "--input-format", name.upper(), "--input-scale", str(1 / steps))))
                self.assertIn(f"{names[0]} \u2192 u8", drawn.header[1])
                self.assertTrue(same(self.draw("y." + name, "x.u8"), self.draw("y." + name, "x.u8", "--input-scale", f"1/{full}")))

    def test_soft_formats(self):
        """Max-log soft bits of each format, here from their definition, are drawn as they are; the panel's sides hold them."""
        self.make("x.cf32", "--symbols", "400", "--snr-db", "25")
        values = [max_log(v, 10**-2.5) for v in array.array("f", self.read("x.cf32"))]
        llrs = [llr for i, q in zip(values[::2], values[1::2]) for pair in zip(i, q) for llr in pair]
        for name, typecode in LLR_TYPECODE.items():
            scale, _, limit = LLR_STEPS.get(name, (0, 0, 0))
            data = [max(-limit, min(limit, round(scale * llr))) for llr in llrs] if scale else llrs
            self.write("x." + name, struct.pack(f"={len(data)}{typecode}", *data))
            drawn = self.draw("x.cf32", "x." + name)
            unit = f"LLR ({name})" if scale else "LLR, nats"
            self.assertEqual(drawn.panel("Histograms")[0].get_xlabel(), unit + "; above the midpoint: bit 0")
            self.assertIn(f"cf32 \u2192 {name}", drawn.header[1])
            stored = struct.unpack(f"={len(data)}{typecode}", self.read("x." + name))
            for lane, (_, _, soft), k in zip(drawn.panel("Soft bits"), drawn.lanes(), (0, 2, 4, 6)):
                self.assertEqual(soft.tolist(), list(stored[k::8]))
                self.assertTrue(lane.get_ylim()[0] < min(soft) and max(soft) < lane.get_ylim()[1])
            self.write("soft", self.read("x." + name))
            self.assertTrue(same(drawn, self.draw("x.cf32", "soft", "-s", name)))
        self.ok(self.demod("x.cf32", "soft"))
        self.write("iq", self.read("x.cf32"))
        self.assertIn("cf32 \u2192 u8", self.draw("iq", "soft").header[1])


class Sigmf(PlotTest):
    """Recordings, which make the picture that plain files make."""

    SCALE = ["--input-scale", "1/8192"]

    def record(self, name, data, header=0, **global_):
        members = {"core:version": "1.2.0", **{key.replace("__", ":"): value for key, value in global_.items()}}
        self.write(name + ".sigmf-data", data)
        metadata = {"global": members, "captures": [{"core:sample_start": 0, "core:header_bytes": header}], "annotations": []}
        self.write(name + ".sigmf-meta", json.dumps(metadata).encode())

    def setUp(self):
        super().setUp()
        self.make("x.cs16", "--symbols", "1000", "--snr-db", "25")
        self.samples = array.array("h", self.read("x.cs16"))
        self.ok(self.demod(*self.SCALE, "x.cs16", "x.u8"))
        self.expected = self.draw("x.cs16", "x.u8", *self.SCALE)

    def test_metadata(self):
        """Format, byte order, scale and modulation come from the metadata."""
        for order in ("le", "be"):
            samples = self.samples[:]
            if order == "be":
                samples.byteswap()
            self.record("r", samples.tobytes(), core__datatype="ci16_" + order)
            for iq in ("r", "r.sigmf-meta", "r.sigmf-data"):
                self.assertTrue(same(self.draw(iq, "x.u8", *self.SCALE), self.expected))
        self.make("r.sigmf-meta", "-m", "64qam", "--symbols", "3000")
        self.ok(self.demod("--snr-db", "20", "-q", "r", "x.s8"))
        self.assertTrue(self.draw("r", "x.s8").header[1].startswith("64QAM"))
        self.assertEqual(len(self.draw("r", "x.s8").lanes()), 3)

    def test_failures(self):
        command, ci8 = ["r", "x.u8", "-o", "out.png"], {"core__datatype": "ci8"}
        for global_, message in (
            ({}, "core:datatype: '' is not one of " + SYMBOL_DATATYPES),
            ({"core__datatype": "ru8"}, "core:datatype: 'ru8' is not one of " + SYMBOL_DATATYPES),
            ({"core__datatype": 5}, "core:datatype: not what SigMF has there"),
            ({**ci8, "core__num_channels": 2}, "core:num_channels: 2, but 1 is needed"),
            *(({**ci8, gap: value}, gap.replace("__", ":") + ": data that do not conform to SigMF; copy the samples out of them")
              for gap, value in (("core__trailing_bytes", 3), ("core__trailing_bytes", "x"), ("core__dataset", "x"), ("core__metadata_only", True))),
            *(({**ci8, "core__version": version}, f"core:version: '{version}' is not supported, only versions 0 and 1")
              for version in ("2.0.0", "1.2", "10.0.0", "1.x.0", "")),
            ({**ci8, "core__extensions": [{"name": "a", "optional": True}, {"name": "b", "version": "1.0.0", "optional": False}]},
             "core:extensions: 'b' is required to read it, and not supported"),
            ({**ci8, "softqam__input_scale": None}, "softqam:input_scale: not what SigMF has there"),
            ({**ci8, "softqam__input_scale": 0}, "softqam:input_scale: not a positive number"),
            ({**ci8, "softqam__c_init": "7"}, "softqam:c_init: not what SigMF has there"),
            ({**ci8, "softqam__c_init": 2**31}, "softqam:c_init: not a whole number from 0 to 2147483647"),
        ):
            self.record("r", self.samples.tobytes(), **global_)
            self.refuses(PLOT, command, 1, "r.sigmf-meta: " + message)
        for text, message in (
            *((text, "not JSON, or an object in it has a name twice or a zero character")
              for text in (b"{", b'{"global": {"core:datatype": "ci8", "core:datatype": "cf32_le"}}', b'{"global": {"x": "y\\u0000"}}')),
            (b"[]", "not SigMF: there is no object 'global'"),
            (b'{"global": {"core:datatype": "ci8"}, "captures": {}}', "captures: not an array"),
        ):  # fmt: skip
            self.write("r.sigmf-meta", text)
            self.refuses(PLOT, command, 1, "r.sigmf-meta: " + message)
        self.record("r", b"", **ci8, header=3)
        self.refuses(PLOT, command, 1, "r.sigmf-meta: core:header_bytes: data that do not conform to SigMF; copy the samples out of them")
        self.record("r", b"", **ci8)
        os.unlink(self.path("r.sigmf-data"))
        self.refuses(PLOT, command, 1, "r.sigmf-data: No such file or directory")

    def test_commands_of_the_readme(self):
        """From a recording to a picture, as they stand there."""
        with open(os.path.join(ROOT, "README.md")) as file:
            commands = [line.strip() for line in file if re.match("    softqam-.* recording.sigmf-meta", line)]
        self.assertEqual([command.split()[0] for command in commands], ["softqam-gen", "softqam-demod", "softqam-plot"])
        path = os.pathsep.join([os.path.dirname(DEMOD), os.path.dirname(sys.executable), os.environ["PATH"]])
        for command in commands:
            self.ok(self.run_tool("sh", "-c", command, env=dict(os.environ, PATH=path)))
        self.assertTrue(self.read("picture.png").startswith(b"\x89PNG"))


class Sampling(PlotTest):
    def test_huge_sparse_file(self):
        for name, nbytes in (("x.cs8", 2), ("x.u8", 8)):
            with open(self.path(name), "wb") as file:
                file.truncate(nbytes << 33)
        start = time.monotonic()
        facts = self.draw("x.cs8", "x.u8", "--sample", "20k").header[1]
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn("8\u202f589\u202f934\u202f592 symbols, 20\u202f000 drawn", facts)

    def test_sample_is_of_all(self):
        """A sample of a tenth sees both the start and the end; the smallest are samples too."""
        pair = self.make_pair(n=20000)
        data = self.read("x.cf32")
        self.write("x.cf32", data[:-800] + struct.pack("=2f", math.nan, 0) * 100)
        self.assertIn("20\u202f000 symbols, 2\u202f000 drawn \u00b7 10 erased", self.draw(*pair, "--sample", "2000").header[1])
        self.assertIn("20\u202f000 symbols \u00b7 100 erased", self.draw(*pair).header[1])
        for n in ("1", "2", "199", "200"):
            self.assertIn(f"20\u202f000 symbols, {n} drawn", self.draw(*pair, "--sample", n).header[1])


if __name__ == "__main__":
    sys.exit(plot_harness.main())
