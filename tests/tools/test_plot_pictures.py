#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in the pictures of softqam-plot: its panels, every format, recordings, samples of large files."""
import array
import json
import math
import os
import re
import struct
import sys
import time
import zlib

import plot_harness
from output_formats import LLR_STEPS, LLR_TYPECODE
from plot_harness import BIT_COLOURS, LEVELS, ROOT, PlotTest
from tools_harness import DEMOD, MODULATIONS, max_log

SYMBOL_DATATYPES = "cf32_le, cf32_be, ci16_le, ci16_be, cf64_le, cf64_be, ci32_le, ci32_be, ci8, cu8"


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
                     "EVM against the nearest point, %", "symbols in a cell", "\u25cf ideal points", "symbol"):  # fmt: skip
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

    def test_modulations(self):
        """The EVM is softqam-demod's, from all positions of pi/2-BPSK; a lane and a row for each bit; metadata say which."""
        for name, (n_bits, energy) in MODULATIONS.items():
            self.ok(self.gen("-m", name, "-q", "--symbols", "5001", "--snr-db", "24", "x.sigmf-meta"))
            result = self.ok(self.demod("-m", name, "-o", "s8", "--snr-db", "24", "--stats=json", "x", "y"))
            evm = f"EVM {100 * json.loads(result.err)['evm']:.2f} %"
            for pair in (["x.sigmf-meta", "y.sigmf-meta"],
                         ["-m", name, "-i", "cf32", "-s", "s8", "x.sigmf-data", "y.sigmf-data"]):  # fmt: skip
                svg = self.svg(*pair)
                self.assertIn(f"5\u202f001 symbols \u00b7 {evm} \u00b7 cf32 \u2192 s8", svg.exact_texts())
                self.assertTrue({f"I, in units of 1/\u221a{energy}", "LLR (s8); above the midpoint: bit 0"} < set(svg.texts))
                labels = [text for text in svg.texts if re.fullmatch(r"b\d", text)]
                axis = [f"b{k}" for k in range(0, n_bits, 2)]
                self.assertEqual(sorted(labels), sorted(axis + [f"b{k}" for k in range(n_bits)]))

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
            ("b", "s8", [-128, 127]), ("h", "s16", [-32768, 32767]), ("h", "s16", [0, 0]),
            ("f", "f32", [math.nan, math.inf]), ("f", "f32", [3.4e38, -1e-45]),
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
        for name, typecode, steps in (("cf32", "f", 1), ("cf16", "e", 1), ("cs16", "h", 16384), ("cs8", "b", 64),
                                      ("cu8", "B", 64), ("cs32", "i", 1 << 30), ("cf64", "d", 1)):  # fmt: skip
            zero = 128 if name == "cu8" else 0
            values = [round(v * steps) + zero if steps > 1 else v for v in components]
            self.write("y." + name, struct.pack(f"={len(values)}{typecode}", *values))
            self.write("y", self.read("y." + name))
            svg = self.svg("y." + name, "x.u8", "--input-scale", f"1/{steps}")
            evm = float(re.search(r"EVM ([\d.]+) %", " ".join(svg.texts))[1])
            self.assertAlmostEqual(evm, 3.16, delta=0.3 if name in ("cs8", "cu8") else 0.05)
            pictures[name] = self.read("out.svg").replace(b"y." + name.encode(), b"y")
            self.svg("y", "x.u8", "--input-format", name, "--input-scale", str(1 / steps))
            self.assertEqual(self.read("out.svg"), pictures[name])
        self.assertEqual(len(set(pictures.values())), 7)

    def test_names_of_formats(self):
        """A suffix without its dot is one, as softqam-demod has them."""
        self.make("x.cs16", "--symbols", "100")
        self.ok(self.demod("--input-scale", "1/8192", "x.cs16", "x.u8"))
        for name in ("cs16", "sc16", "ci16"):
            texts = self.svg("-i", name, "x.cs16", "x.u8", "--input-scale", "1/8192").texts
            self.assertIn("cs16 \u2192 u8", " ".join(texts))

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
        values = [max_log(v, 10**-2.5) for v in array.array("f", self.read("x.cf32"))]
        llrs = [llr for i, q in zip(values[::2], values[1::2]) for pair in zip(i, q) for llr in pair]
        for name, typecode in LLR_TYPECODE.items():
            scale, _, limit = LLR_STEPS.get(name, (0, 0, 0))
            unit = f"LLR ({name})" if scale else "LLR, nats"
            data = [max(-limit, min(limit, round(scale * llr))) for llr in llrs] if scale else llrs
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
        for format_ in "s8", "s16":
            self.ok(self.demod("-o", format_, "--snr-db", "25", "--input-scale", "1/8192", "r", "llrs"))
            self.svg("r", "llrs", "--title", "")
            of_recording = self.read("out.svg")
            self.svg("r", "llrs.sigmf-data", "-s", format_, "--input-scale", "1/8192", "--title", "")
            self.assertEqual(self.read("out.svg"), of_recording)
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
            ({}, "core:datatype: '' is not one of " + SYMBOL_DATATYPES),
            ({"core__datatype": "ru8"}, "core:datatype: 'ru8' is not one of " + SYMBOL_DATATYPES),
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
        self.assertEqual([command.split()[0] for command in commands], ["softqam-gen", "softqam-demod", "softqam-plot"])
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


if __name__ == "__main__":
    sys.exit(plot_harness.main())
