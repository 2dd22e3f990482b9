#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in the pictures of softqam-plot, by the data of its figures: its panels, every format, recordings, samples of
large files.
"""
import array
import json
import math
import os
import re
import struct
import sys
import time

import plot_harness
from output_formats import LLR_STEPS, LLR_TYPECODE
from plot_harness import LEVELS, ROOT, PlotTest, load
from tools_harness import DEMOD, MODULATIONS, max_log

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
    lanes = [(a[0], a[1].tolist(), a[2].tolist()) for a in one.lanes()], [(b[0], b[1].tolist(), b[2].tolist()) for b in other.lanes()]
    return lanes[0] == lanes[1] and one.header[1:] == other.header[1:]


class Pictures(PlotTest):
    """What is in the pictures."""

    def test_kinds(self):
        pair = self.make_pair(n=300)
        for name, start in (("out.png", b"\x89PNG\r\n"), ("out.SVG", b"<?xml"), ("out.pdf", b"%PDF-")):
            self.ok(self.plot(*pair, "-o", name))
            self.assertTrue(self.read(name).startswith(start))
        self.assertEqual(struct.unpack_from(">II", self.read("out.png"), 16), (1200, 1050))
        self.assertRegex(self.read("out.SVG"), rb'width="900\.\d*pt" height="787\.\d*pt"')
        self.assertIn("Constellation", self.read("out.SVG").decode())

    def test_sizes(self):
        encoded = load("program").encoded
        pair = self.make_pair(n=300)
        for panels, size in ((["evm"], (600, 556)), (["bits", "constellation"], (1200, 556)), (["histograms", "evm", "bits"], (1200, 1050))):
            drawn = self.draw(*pair, "--panels", ",".join(panels))
            self.assertEqual(drawn.titles, [PANELS[name] for name in panels])
            self.assertEqual(struct.unpack_from(">II", encoded(drawn.figure, "png"), 16), size)
        for size in ((420, 442), (421, 443), (999, 1001), (1111, 777)):
            drawn = self.draw(*pair, "--panels", "evm", "--size", f"{size[0]}x{size[1]}")
            self.assertEqual(struct.unpack_from(">II", encoded(drawn.figure, "png"), 16), size)

    def test_constellation(self):
        """Nobody is lost; every level is in the middle of a cell; the points are those of the modulation."""
        for name, (n_bits, _) in MODULATIONS.items():
            self.make("x.cf32", "-m", name, "--symbols", "5000")
            self.ok(self.demod("-m", name, "-o", "s8", "--snr-db", "30", "x.cf32", "x.s8"))
            axes, colours = self.draw("-m", name, "x.cf32", "x.s8").panel("Constellation")
            (image,), cells = axes.images, axes.images[0].get_array()
            self.assertEqual(cells.sum(), 5000)
            n_points = 4 if name == "pi2-bpsk" else 2**n_bits
            self.assertTrue(0.9 * n_points < cells.count() <= n_points, (name, cells.count()))
            left, right, bottom, top = image.get_extent()
            self.assertEqual((left, bottom), (-right, -top))
            self.assertAlmostEqual((1 + right) * cells.shape[0] / (2 * right) % 1, 0.5)
            self.assertEqual(len(axes.lines[0].get_xdata()), n_points)
            self.assertEqual(axes.get_xlabel(), f"I, in units of 1/\u221a{MODULATIONS[name][1]}")
            self.assertEqual(colours.get_ylabel(), "symbols in a cell")

    def test_ticks(self):
        """At levels, symmetrical, few enough to be read, in every modulation."""
        for name in MODULATIONS:
            self.make("x.cf32", "-m", name, "--symbols", "2000", "--snr-db", "40")
            self.ok(self.demod("-m", name, "-o", "s8", "--snr-db", "30", "x.cf32", "x.s8"))
            drawn = self.draw("-m", name, "x.cf32", "x.s8")
            outer = 2 ** ((MODULATIONS[name][0] + 1) // 2) - 1
            for axis in (drawn.panel("Constellation")[0].xaxis, drawn.panel("Constellation")[0].yaxis, drawn.panel("Soft bits")[-1].xaxis):
                ticks = list(axis.get_majorticklocs())
                self.assertEqual(ticks, [-v for v in reversed(ticks)])
                self.assertTrue(set(ticks) <= set(range(-outer, outer + 1, 2)) and ticks[-1] == outer, (name, ticks))
                self.assertLessEqual(len(ticks), 8)
                if outer > 1:
                    self.assertGreaterEqual(len(ticks), 4)

    def test_bits_are_above_the_midpoint_for_0(self):
        """Each level's soft bits are where the bits of 38.211 say."""
        self.make("x.cf32", "--symbols", "3000")
        self.ok(self.demod("x.cf32", "x.u8"))
        lanes = self.draw("x.cf32", "x.u8", "--panels", "bits").lanes()
        self.assertEqual([name for name, _, _ in lanes], ["b0", "b2", "b4", "b6"])
        for k, (_, position, soft) in enumerate(lanes):
            drawn = {round(x): int(y < 127) for x, y in zip(position, soft)}
            self.assertEqual(drawn, {level: level_bits(level)[k] for level in LEVELS})

    def test_axis_and_sign(self):
        """b1, b3, b5, b7 against Q are as b0, b2, b4, b6 against I; the sign is written."""
        self.make("x.cf32", "--symbols", "3000")
        data = array.array("f", self.read("x.cf32"))
        self.ok(self.demod("x.cf32", "x.u8"))
        self.write("y.cf32", array.array("f", [data[k ^ 1] for k in range(len(data))]).tobytes())
        self.ok(self.demod("y.cf32", "y.u8"))
        one, other = self.draw("x.cf32", "x.u8"), self.draw("y.cf32", "y.u8", "--axis", "Q")
        self.assertEqual([name for name, _, _ in other.lanes()], ["b1", "b3", "b5", "b7"])
        for a, b in zip(one.lanes(), other.lanes()):
            self.assertTrue((a[1] == b[1]).all() and (a[2] == b[2]).all())
        self.assertIn("Soft bits of the Q axis", other.titles)
        for drawn, signs in ((one, ["bit 0", "bit 1"]), (self.draw("x.cf32", "x.u8", "--sign", "1"), ["bit 1", "bit 0"])):
            for lane in drawn.panel("Soft bits"):
                self.assertEqual([text.get_text() for text in lane.texts[1:]], signs)
            self.assertEqual(drawn.panel("Histograms")[0].get_xlabel(), f"soft bit (u8); above the midpoint: {signs[0]}")

    def test_one_bit(self):
        """A curve, of the projection on the diagonal, from which pi/2-BPSK's odd symbols have been turned back."""
        for name, n_drawn in (("bpsk", "4000"), ("pi2-bpsk", "4000"), ("pi2-bpsk", "777")):
            self.make("x.cf32", "-m", name, "--symbols", "4000", "--snr-db", "3")
            self.ok(self.demod("-m", name, "-o", "f32", "--snr-db", "3", "x.cf32", "x.f32"))
            drawn = self.draw("-m", name, "--sample", n_drawn, "x.cf32", "x.f32")
            ((_, position, soft),) = drawn.lanes()
            expected = position * 4 / 10**-0.3
            self.assertLess(max(abs(soft - expected)), 1e-4 * max(abs(expected)))
            label = drawn.panel("Soft bits")[0].get_xlabel()
            self.assertEqual("turned back" in label, name == "pi2-bpsk")
            self.assertEqual(drawn.titles[1], "Soft bits of the diagonal")

    def test_facts(self):
        """Modulation; the EVM that softqam-demod finds; the SNR that the generator was given."""
        for name, (n_bits, _) in MODULATIONS.items():
            for snr_db in (35, 22, 6 if n_bits < 3 else 18 if n_bits < 7 else 26):
                self.make("x.cf32", "-m", name, "--symbols", "20001", "--snr-db", str(snr_db))
                stats = self.ok(self.demod("-m", name, "-o", "s8", "--snr-db", str(snr_db), "--stats=json", "-q", "x.cf32", "x.s8")).err
                _, facts = self.draw("-m", name, "--panels", "evm", "x.cf32", "x.s8").header
                found = re.fullmatch(r"(\S+) \u00b7 20\u202f001 symbols \u00b7 EVM ([\d.]+) % \u00b7 SNR ([\d.]+) dB \u00b7 cf32 \u2192 s8", facts)
                self.assertEqual(found[1], name.upper().replace("PI2", "\u03c0/2"))
                self.assertEqual(found[2], f"{100 * json.loads(stats)['evm']:.2f}")
                self.assertAlmostEqual(float(found[3]), snr_db, delta=0.4)
        self.make("x.cf32", "--symbols", "2000")
        self.ok(self.demod("x.cf32", "x.u8"))
        self.assertIn("SNR above 80 dB", self.draw("x.cf32", "x.u8").header[1])

    def test_complaints(self):
        """Symbols that are not on the points: the cause, and what mends it, in the picture and on standard error."""
        for name, snr_db in (("bpsk", 12), ("pi2-bpsk", 12), ("qpsk", 9), ("16qam", 18), ("64qam", 24), ("256qam", 30), ("1024qam", 36)):
            self.make("x.cf32", "-m", name, "--symbols", "9000", "--snr-db", str(snr_db))
            for other in MODULATIONS:
                self.ok(self.demod("-q", "-m", other, "-o", "s8", "--snr-db", "20", "x.cf32", "x.s8"))
                drawn = self.draw("-m", other, "--panels", "evm", "x.cf32", "x.s8")
                with self.subTest(modulation=name, other=other):
                    if name == other:
                        self.assertEqual((drawn.complaint, len(drawn.header)), (None, 2))
                        continue
                    self.assertRegex(drawn.complaint, rf"^look like \S+ at ({snr_db - 1}|{snr_db}) dB, not \S+; use --modulation {name}$")
                    self.assertEqual(drawn.header[2], "The symbols " + drawn.complaint)
                    self.assertNotIn("SNR", drawn.header[1])
            self.ok(self.demod("-q", "-m", name, "-o", "s8", "--snr-db", "20", "x.cf32", "x.s8"))
            complaint = self.draw("-m", name, "x.cf32", "x.s8", "--input-scale", "1/2").complaint
            found = re.fullmatch(r"miss the points: their mean energy is (0\.2\d+), not 1; use --input-scale (\S+)", complaint)
            self.assertAlmostEqual(float(found[2]), 1, delta=0.05, msg=(name, complaint))
        result = self.ok(self.plot("-m", "qpsk", "-s", "s8", "--panels", "evm", "x.cf32", self.qpsk(), "-o", "y.png"))
        self.assertEqual(result.err, "softqam-plot: x.cf32: warning: the symbols look like 1024QAM at 36 dB, not QPSK; use --modulation 1024qam\n")
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "16")
        self.assertEqual(self.draw("-m", "qpsk", "-s", "s8", "x.cf32", self.qpsk()).complaint,
                         "do not look like QPSK, but have more points; --modulation tells which")  # fmt: skip

    def qpsk(self):
        self.ok(self.demod("-q", "-m", "qpsk", "-o", "s8", "--snr-db", "20", "x.cf32", "y.s8"))
        return "y.s8"

    def test_no_complaint_of_few_symbols(self):
        self.make("x.cf32", "-m", "qpsk", "--symbols", "900")
        self.ok(self.demod("-q", "x.cf32", "x.u8"))
        self.assertIsNone(self.draw("x.cf32", "x.u8").complaint)

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
        self.assertEqual((axes.get_yscale(), axes.get_ylim()), ("log", (0.5 / 8, 1)))
        self.assertEqual(list(drawn.histograms()), [f"b{k}" for k in range(8)])
        self.write("x.f32", struct.pack("=64f", *[v for v in (-1506, 0.1, 1506, math.inf, 0, 0, 1506, math.nan) for _ in range(8)]))
        drawn = self.draw("x.cf32", "x.f32")
        for shares, edges in drawn.histograms().values():
            self.assertEqual((shares[0], shares[63] + shares[64], shares[-1], shares.sum()), (0.125, 0.375, 0.25, 0.75))
        (axes,) = drawn.panel("Histograms")
        ticks = [v for v in axes.get_xticks() if abs(v) <= 1506]
        self.assertTrue({-1000, -100, -10, 0, 10, 100, 1000} <= set(ticks), ticks)

    def test_evm_over_time(self):
        """40 dB, then 30."""
        self.make("a.cf32", "--symbols", "20000", "--snr-db", "40")
        self.make("b.cf32", "--symbols", "20000", "--snr-db", "30")
        self.write("x.cf32", self.read("a.cf32") + self.read("b.cf32"))
        self.ok(self.demod("x.cf32", "x.u8"))
        for sample in ("40000", "10k"):
            middles, evms = self.draw("x.cf32", "x.u8", "--panels", "evm", "--sample", sample).evm()
            self.assertEqual(len(evms), 200)
            self.assertLess(max(evms[:100]), min(evms[100:]))
            self.assertLess(max(abs(b - a - 200) for a, b in zip(middles, middles[1:])), 2)

    def test_extremes(self):
        """Few symbols, all in one place, none that counts, far away, and the ends of the soft formats."""
        files = {
            "one": ([0.1, -0.1], [127] * 8),
            "same": ([0.1, 0.1] * 1000, [255] * 8000),
            "erased": ([math.nan, 0.0, math.inf, -math.inf] * 50, [127] * 800),
            "far": ([3e38, -3e38] * 1000, [0, 255] * 4000),
            "tiny": ([1e-45, -1e-45] * 1000, [0, 255] * 4000),
        }
        encoded = load("program").encoded
        for name, (components, soft) in files.items():
            self.write("x.cf32", array.array("f", components).tobytes())
            self.write("x.u8", bytes(soft))
            with self.subTest(name=name):
                encoded(self.draw("x.cf32", "x.u8").figure, "svg")
        for typecode, suffix, values in (
            ("b", "s8", [-128, 127]), ("h", "s16", [-32768, 32767]), ("h", "s16", [0, 0]),
            ("f", "f32", [math.nan, math.inf]), ("f", "f32", [3.4e38, -1e-45]),
            ("f", "f32", [0, -0.0]), ("f", "f32", [1e-45, 1e-45]), ("e", "f16", [65504, 6e-8]),
        ):  # fmt: skip
            self.write("x.cf32", struct.pack("=4f", 0.1, 0.1, -0.3, 0.3))
            self.write("x." + suffix, struct.pack(f"=16{typecode}", *values * 8))
            with self.subTest(suffix=suffix, values=values):
                encoded(self.draw("x.cf32", "x." + suffix).figure, "png")


class Formats(PlotTest):
    def test_input_formats(self):
        """The same symbols in every format make the same picture but for rounding, with the scales of softqam-demod."""
        self.make_pair()
        components = array.array("f", self.read("x.cf32"))
        for name, typecode, steps in (("cf32", "f", 1), ("cf16", "e", 1), ("cs16", "h", 16384), ("cs8", "b", 64),
                                      ("cu8", "B", 64), ("cs32", "i", 1 << 30), ("cf64", "d", 1)):  # fmt: skip
            zero = 128 if name == "cu8" else 0
            values = [round(v * steps) + zero if steps > 1 else v for v in components]
            self.write("y." + name, struct.pack(f"={len(values)}{typecode}", *values))
            self.write("y", self.read("y." + name))
            drawn = self.draw("y." + name, "x.u8", "--input-scale", f"1/{steps}")
            position, expected = drawn.lanes()[0][1], [v * math.sqrt(170) for v in components[::2]]
            self.assertLess(max(abs(position - expected)), 0.11 if steps == 64 else 0.01)
            self.assertTrue(same(drawn, self.draw("y", "x.u8", "--input-format", name.upper(), "--input-scale", str(1 / steps))))

    def test_names_of_formats(self):
        """A suffix without its dot is one, as softqam-demod has them."""
        self.make("x.cs16", "--symbols", "100")
        self.ok(self.demod("--input-scale", "1/8192", "x.cs16", "x.u8"))
        for name in ("cs16", "sc16", "ci16"):
            self.assertIn("cs16 \u2192 u8", self.draw("-i", name, "x.cs16", "x.u8", "--input-scale", "1/8192").header[1])

    def test_default_scales(self):
        self.make_pair(n=500)
        components = array.array("f", self.read("x.cf32"))
        for name, typecode, full in (("cs16", "h", 32768), ("sc8", "b", 128)):
            values = [round(v * full / 2) for v in components]
            self.write("y." + name, array.array(typecode, values).tobytes())
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

    def test_default_formats(self):
        iq, soft = self.make_pair(n=100)
        os.rename(self.path(iq), self.path("iq"))
        os.rename(self.path(soft), self.path("soft"))
        self.assertIn("cf32 \u2192 u8", self.draw("iq", "soft").header[1])


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
        self.expected = self.draw("x.cs16", "x.u8", "--input-scale", "1/8192")

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
                    self.assertTrue(same(self.draw(iq, soft), self.expected))
        for format_ in "s8", "s16":
            self.ok(self.demod("-o", format_, "--snr-db", "25", "--input-scale", "1/8192", "r", "llrs"))
            plain = self.draw("r", "llrs.sigmf-data", "-s", format_, "--input-scale", "1/8192")
            self.assertTrue(same(self.draw("r", "llrs"), plain))
        self.ok(self.demod("--sign", "1", "-o", "f32", "--snr-db", "25", "--input-scale", "1/8192", "r", "llrs"))
        for options, sign in (([], 1), (["--sign", "0"], 0)):
            (axes,) = self.draw("r", "llrs", *options).panel("Histograms")
            self.assertEqual(axes.get_xlabel(), f"LLR, nats; above the midpoint: bit {sign}")

    def test_modulation_of_the_metadata(self):
        self.make("r.sigmf-meta", "-m", "64qam", "--symbols", "3000")
        self.ok(self.demod("-o", "s8", "--snr-db", "20", "-q", "r", "llrs"))
        self.assertTrue(self.draw("r", "llrs").header[1].startswith("64QAM"))
        self.assertEqual(len(self.draw("r", "llrs").lanes()), 3)

    def test_bytes_around_the_samples(self):
        data = b"header" + self.samples.tobytes() + b"end"
        self.record("r", data, core__datatype="ci16_le", core__trailing_bytes=3, header=6, softqam__input_scale=1 / 8192)
        self.assertTrue(same(self.draw("r", "x.u8"), self.expected))

    def test_failures(self):
        self.ok(self.demod("--sigmf", "x.cs16", "soft"))
        for global_, message in (
            ({}, "core:datatype: '' is not one of " + SYMBOL_DATATYPES),
            ({"core__datatype": "ru8"}, "core:datatype: 'ru8' is not one of " + SYMBOL_DATATYPES),
            ({"core__datatype": 5}, "core:datatype: not what SigMF has there"),
            ({"core__datatype": "ci8", "core__num_channels": 2}, "core:num_channels: 2, but 1 is needed"),
            ({"core__datatype": "ci8", "core__trailing_bytes": -1}, "core:trailing_bytes: not what SigMF has there"),
            ({"core__datatype": "ci8", "softqam__input_scale": 0}, "softqam:input_scale: not a positive number"),
            ({"core__datatype": "ci8", "softqam__c_init": "7"}, "softqam:c_init: not what SigMF has there"),
            ({"core__datatype": "ci8", "softqam__c_init": 2**31}, "softqam:c_init: not a whole number from 0 to 2147483647"),
        ):
            self.record("r", self.samples.tobytes(), **global_)
            self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-meta: " + message)
        for text in (b"{", b'{"global": {"core:datatype": "ci8", "core:datatype": "cf32_le"}}'):
            self.write("r.sigmf-meta", text)
            self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-meta: not JSON, or an object in it has a name twice")
        self.write("r.sigmf-meta", b'{"global": {"core:datatype": "ci8"}, "captures": {}}')
        self.fails(self.plot("r", "soft", "-o", "out.png"), 1, "r.sigmf-meta: captures: not an array")
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
        self.assertEqual([command.split()[0] for command in commands], ["softqam-gen", "softqam-demod", "softqam-plot"])
        path = os.pathsep.join([os.path.dirname(DEMOD), os.path.dirname(sys.executable), os.environ["PATH"]])
        for command in commands:
            self.ok(self.run_tool("sh", "-c", command, env=dict(os.environ, PATH=path)))
        self.assertTrue(self.read("picture.png").startswith(b"\x89PNG"))


class Sampling(PlotTest):
    def test_huge_sparse_file(self):
        n = 1 << 33
        for name in ("x.cs8", "x.u8"):
            with open(self.path(name), "wb") as file:
                file.truncate(n * (8 if name == "x.u8" else 2))
        start = time.monotonic()
        facts = self.draw("x.cs8", "x.u8", "--sample", "20k").header[1]
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn("8\u202f589\u202f934\u202f592 symbols, 20\u202f000 drawn", facts)

    def test_sample_is_of_all(self):
        """A sample of a tenth sees both the start and the end."""
        pair = self.make_pair(n=20000)
        data = self.read("x.cf32")
        self.write("x.cf32", data[:-800] + struct.pack("=2f", math.nan, 0) * 100)
        self.assertIn("20\u202f000 symbols, 2\u202f000 drawn \u00b7 10 erased", self.draw(*pair, "--sample", "2000").header[1])
        self.assertIn("20\u202f000 symbols \u00b7 100 erased", self.draw(*pair).header[1])

    def test_smallest_sample(self):
        for n in ("1", "2", "199", "200"):
            drawn = self.draw(*self.make_pair(n=1000), "--sample", n)
            self.assertIn(f"1\u202f000 symbols, {n} drawn", drawn.header[1])


if __name__ == "__main__":
    sys.exit(plot_harness.main())
