#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-gen: what it generates; and the unit tests of the tools, softqam-tools-check."""
import array
import hashlib
import math
import os
import statistics
import struct
import sys

from tools_harness import SUFFIXES, TYPECODE, ToolTest, float32, main, pack, philox4x32, tool, unpack


class Check(ToolTest):
    def test_units(self):
        check = tool("softqam-tools-check")
        if not os.path.exists(check):
            self.skipTest(f"{check}: not built")
        result = self.run_tool(check)
        self.assertEqual(result.code, 0, result.out.decode() + result.err)
        self.assertEqual(self.run_tool(check, "test_nothing").code, 1)


class GenNumbers(ToolTest):
    """What the generator generates."""

    def test_golden(self):
        if sys.byteorder != "little":
            self.skipTest("files have the byte order of the machine; these are little endian")
        golden = {
            "g.bits": "14830c57efa3eeb7c58d88c3276130869a1e7d77706b665218d8b81b8dce1fc6",
            "g.cf32": "549b94d7fdcbf70eb63f00aa4b8f343a111cde6901e162942f189af6d02223de",
            "g.cs16": "88ca161db95d98f8ef92483c5459dd83438b412707b5e766005dd823ed375d4d",
            "g.cs8": "83962463f1a17a3613aeb7f394e070dc3a25350438bdd4b5b4163ee2a8243722",
            "g.cf16": "9f4c85e039ad8d3e7fd398bb37be536c422165c3cfcbd2034f50deb4a09a484e",
        }
        for name in ("g.cf32", "g.cs16", "g.cs8", "g.cf16"):
            self.make(name, "--symbols", "1000", "--snr-db", "20", "--seed", "42", "--bits", "g.bits")
        for name, digest in golden.items():
            self.assertEqual(hashlib.sha256(self.read(name)).hexdigest(), digest, name)

    def test_against_a_second_implementation(self):
        """Philox, the bits' place, 38.211's formula, AS 241 and the scale, all written a second time."""
        seed, snr_db, n = 0xFEDCBA9876543210, 17.5, 500
        self.make("x.cf32", "--symbols", str(n), "--snr-db", str(snr_db), "--seed", str(seed), "--bits", "x.bits")
        samples, bits = array.array("f", self.read("x.cf32")), self.read("x.bits")
        sigma, normal = math.sqrt(10 ** (-snr_db / 10) / 2), statistics.NormalDist()
        for i in range(n):
            key = (seed & 0xFFFFFFFF, seed >> 32)
            byte = philox4x32((i, 0, 0, 0), key)[0] & 255
            b = [byte >> k & 1 for k in range(8)]
            self.assertEqual(list(bits[8 * i : 8 * i + 8]), b)
            noise = philox4x32((i, 0, 0, 1), key)
            for axis in range(2):
                s = [1 - 2 * b[k] for k in range(axis, 8, 2)]
                point = s[0] * (8 - s[1] * (4 - s[2] * (2 - s[3]))) / math.sqrt(170)
                word = noise[2 * axis] | noise[2 * axis + 1] << 32
                uniform = ((word >> 12) * 2 + 1) / 2**53
                expected = point + sigma * normal.inv_cdf(uniform)
                self.assertAlmostEqual(samples[2 * i + axis], expected, delta=2e-7)

    def test_threads(self):
        digests = set()
        for threads in ("1", "2", "7", "1024"):
            result = self.ok(
                self.gen("--symbols", "1500001", "--snr-db", "10", "--threads", threads, "--bits", "x.bits", "x.cs16")
            )
            self.assertEqual(result.out, b"")
            digests.add(hashlib.sha256(self.read("x.cs16") + self.read("x.bits")).hexdigest())
        self.assertEqual(len(digests), 1)

    def test_prefix(self):
        long = self.read(self.make("x.cf32", "--symbols", "1048600", "--snr-db", "10", "--bits", "x.bits"))
        long_bits = self.read("x.bits")
        for n in (0, 1, 999, 1048575, 1048576, 1048577):
            self.make("y.cf32", "--symbols", str(n), "--snr-db", "10", "--bits", "y.bits")
            self.assertEqual(self.read("y.cf32"), long[: 8 * n])
            self.assertEqual(self.read("y.bits"), long_bits[: 8 * n])

    def test_snr_leaves_the_bits(self):
        bits = set()
        for arguments in ([], ["--snr-db", "30"], ["--snr-db", "-5"]):
            self.make("x.cf32", "--symbols", "10000", "--bits", "x.bits", *arguments)
            bits.add(self.read("x.bits"))
        self.assertEqual(len(bits), 1)

    def test_seeds_differ(self):
        files = set()
        for seed in ("0", "1", "2", "4294967296", "18446744073709551615"):
            self.make("x.cf32", "--symbols", "10", "--seed", seed)
            files.add(self.read("x.cf32"))
        self.make("x.cf32", "--symbols", "10")
        files.add(self.read("x.cf32"))
        self.assertEqual(len(files), 5)

    def test_bits_are_uniform(self):
        n = 256 * 1000
        self.make("x.cs8", "--symbols", str(n), "--bits", "x.bits")
        bits = self.read("x.bits")
        self.assertEqual(set(bits), {0, 1})
        counts = [0] * 256
        planes = [bits[k::8] for k in range(8)]
        for symbol in zip(*planes):
            counts[sum(bit << k for k, bit in enumerate(symbol))] += 1
        chi_square = sum((count - 1000) ** 2 / 1000 for count in counts)
        # 255 degrees of freedom: mean 255, standard deviation sqrt(510).
        self.assertLess(abs(chi_square - 255), 5 * math.sqrt(510))

    def test_noise(self):
        """Mean, variance and fourth moment of the noise of each axis, and that the axes are independent."""
        n, snr_db = 200000, 13
        clean = array.array("f", self.read(self.make("x.cf32", "--symbols", str(n))))
        noisy = array.array("f", self.read(self.make("y.cf32", "--symbols", str(n), "--snr-db", str(snr_db))))
        sigma = math.sqrt(10 ** (-snr_db / 10) / 2)
        axes = [[(b - a) / sigma for a, b in zip(clean[k::2], noisy[k::2])] for k in range(2)]
        for x in axes:
            self.assertLess(abs(sum(x) / n), 5 / math.sqrt(n))
            self.assertLess(abs(sum(v**2 for v in x) / n - 1), 5 * math.sqrt(2 / n))
            self.assertLess(abs(sum(v**4 for v in x) / n - 3), 5 * math.sqrt(96 / n))
        self.assertLess(abs(sum(a * b for a, b in zip(*axes)) / n), 5 / math.sqrt(n))
        self.assertLess(abs(sum(a * b for a, b in zip(axes[0], axes[0][1:])) / n), 5 / math.sqrt(n))

    def test_mean_energy(self):
        samples = array.array("f", self.read(self.make("x.cf32", "--symbols", "200000")))
        self.assertAlmostEqual(sum(v * v for v in samples) / 200000, 1, delta=0.01)
        alpha = float32(1 / math.sqrt(170))
        self.assertEqual(set(samples), {float32(level * alpha) for level in range(-15, 16, 2)})

    def test_integer_formats(self):
        clean = array.array("f", self.read(self.make("x.cf32", "--symbols", "5000")))
        for name, scale, default in (("cs16", 1 / 8192, True), ("cs8", 1 / 64, True), ("cs8", 1 / 50, False)):
            arguments = [] if default else ["--output-scale", "1/50"]
            samples = array.array(TYPECODE[name], self.read(self.make("x." + name, "--symbols", "5000", *arguments)))
            self.assertEqual(list(samples), [round(v / scale) for v in clean])

    def test_half_floats(self):
        """To the nearest, ties to even, from the exact value; too large a number is the largest and is counted."""
        clean = unpack("f", self.read(self.make("x.cf32", "--symbols", "5000")))
        for scale in ("1", "1/1024", "3e4"):
            self.make("x.cf16", "--symbols", "5000", "--output-scale", scale)
            self.assertEqual(self.read("x.cf16"), pack("e", [v / eval(scale) for v in clean]), scale)
        expected = sum(abs(v * 60000) >= 65520 for v in clean)
        self.assertGreater(expected, 0)
        result = self.ok(self.gen("--symbols", "5000", "--output-scale", "1/60000", "x.cf16"))
        self.assertIn(f"warning: {expected} of 10000 components were clipped", result.err)
        self.assertEqual(max(unpack("e", self.read("x.cf16"))), 65504)
        noisy = unpack("f", self.read(self.make("x.cf32", "--symbols", "5000", "--snr-db", "12")))
        halves = unpack("e", self.read(self.make("x.cf16", "--symbols", "5000", "--snr-db", "12")))
        for v, half in zip(noisy, halves):
            self.assertLessEqual(abs(half - v), abs(v) * (2**-11 + 2**-23) + 2**-25)

    def test_messages(self):
        self.assertEqual(self.ok(self.gen("--symbols", "10", "x.cf32")).err, "")
        self.assertEqual(self.ok(self.gen("--symbols", "10", "x.cf16")).err, "")
        self.assertEqual(
            self.ok(self.gen("--symbols", "1000", "x.cs16")).err,
            "softqam-gen: x.cs16: 1000 symbols; read it with --input-scale 1/8192\n",
        )
        self.assertEqual(
            self.ok(self.gen("--symbols", "1", "x.cs8")).err,
            "softqam-gen: x.cs8: 1 symbol; read it with --input-scale 1/64\n",
        )
        self.assertEqual(
            self.ok(self.gen("--symbols", "2", "--output-scale", "1/100", "-o", "cs8", "-")).err,
            "softqam-gen: standard output: 2 symbols; read it with --input-scale 1/100\n",
        )
        for arguments in (["-q", "x.cs8"], ["--quiet", "--output-scale", "0.001", "x.cs8"]):
            self.assertEqual(self.ok(self.gen("--symbols", "100", *arguments)).err, "")

    def test_clipping_is_counted(self):
        clean = array.array("f", self.read(self.make("x.cf32", "--symbols", "5000")))
        expected = sum(not -128 <= round(v * 128) <= 127 for v in clean)
        self.assertGreater(expected, 0)
        result = self.ok(self.gen("--symbols", "5000", "--output-scale", "1/128", "--threads", "3", "x.cs8"))
        warning = f"softqam-gen: x.cs8: warning: {expected} of 10000 components were clipped"
        self.assertEqual(result.err.splitlines()[1:], [warning])
        samples = array.array("b", self.read("x.cs8"))
        self.assertEqual(list(samples), [max(-128, min(127, round(v * 128))) for v in clean])

    def test_suffixes_and_stdout(self):
        for name, suffixes in SUFFIXES.items():
            data = self.ok(self.gen("-q", "--symbols", "50", "-o", name, "-")).out
            self.assertEqual(len(data), 50 * 2 * struct.calcsize(TYPECODE[name]))
            for suffix in suffixes:
                self.assertEqual(self.read(self.make("y" + suffix, "--symbols", "50")), data)
                self.assertEqual(self.ok(self.gen("-q", "--symbols", "50", "-o", suffix[1:], "-")).out, data)
        self.assertEqual(
            self.read(self.make("without", "--symbols", "50")), self.ok(self.gen("--symbols", "50", "-")).out
        )
        self.assertEqual(len(self.read(self.make("default.cs8"))), 2000000)

    def test_bits_to_stdout(self):
        result = self.ok(self.gen("--symbols", "300", "--bits", "-", "x.cf32"))
        self.make("y.cf32", "--symbols", "300", "--bits", "y.bits")
        self.assertEqual(result.out, self.read("y.bits"))


if __name__ == "__main__":
    sys.exit(main())
