#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-gen: what it generates."""
import hashlib
import math
import statistics
import sys

from tools_harness import SUFFIXES, TYPECODE, ToolTest, float32, main, pack, unpack


def philox4x32(counter, key):
    """Salmon et al., SC11: ten rounds."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class Numbers(ToolTest):
    def symbols(self, name, n, *arguments):
        return unpack(TYPECODE[name[2:]], self.read(self.make(name, "--symbols", str(n), *arguments)))

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
        for name in list(golden)[1:]:
            self.make(name, "--symbols", "1000", "--snr-db", "20", "--seed", "42", "--bits", "g.bits")
        for name, digest in golden.items():
            self.assertEqual(hashlib.sha256(self.read(name)).hexdigest(), digest, name)

    def test_against_a_second_implementation(self):
        """Philox, the bits' places, 38.211's formula, AS 241 and the scale, all written a second time."""
        n, snr_db, normal = 200, 17.5, statistics.NormalDist()
        sigma = math.sqrt(10 ** (-snr_db / 10) / 2)
        for seed in (1, 1 << 32, 0xFEDCBA9876543210):
            samples = self.symbols("x.cf32", n, "--snr-db", str(snr_db), "--seed", str(seed), "--bits", "x.bits")
            key, bits = (seed & 0xFFFFFFFF, seed >> 32), self.read("x.bits")
            for i in range(n):
                byte = philox4x32((i, 0, 0, 0), key)[0] & 255
                b = [byte >> k & 1 for k in range(8)]
                self.assertEqual(list(bits[8 * i : 8 * i + 8]), b)
                noise = philox4x32((i, 0, 0, 1), key)
                for axis in range(2):
                    s = [1 - 2 * b[k] for k in range(axis, 8, 2)]
                    point = s[0] * (8 - s[1] * (4 - s[2] * (2 - s[3]))) / math.sqrt(170)
                    word = noise[2 * axis] | noise[2 * axis + 1] << 32
                    expected = point + sigma * normal.inv_cdf(((word >> 12) * 2 + 1) / 2**53)
                    self.assertAlmostEqual(samples[2 * i + axis], expected, delta=2e-7)
        default = self.read(self.make("y.cf32", "--symbols", "10"))
        self.assertEqual(default, self.read(self.make("y.cf32", "--symbols", "10", "--seed", "1")))

    def test_lengths(self):
        """A shorter file is the start of a longer one, noise leaves the bits."""
        n_all, made = (1 << 20) + 500001, {}
        for n, noise in ((n_all, "10"), (0, "10"), (999, "10"), (1 << 20, "10"), (1000, "-5")):
            self.make("x.cs16", "--symbols", str(n), f"--snr-db={noise}", "--bits", "x.bits")
            made[n] = self.read("x.cs16"), self.read("x.bits")
        samples, bits = made[n_all]
        for n, found in made.items():
            self.assertTrue(found[1] == bits[: 8 * n] and (n == 1000 or found[0] == samples[: 4 * n]), n)

    def test_formats(self):
        """Rounded to the nearest sample, ties to even, from the exact value; too large a number is the largest and is
        counted."""
        clean = self.symbols("x.cf32", 5000)
        alpha = float32(1 / math.sqrt(170))
        self.assertEqual(set(clean), {float32(level * alpha) for level in range(-15, 16, 2)})
        for name, text, top in (("cs16", "1/8192", 32767), ("cs16", "1", 32767), ("cs8", "1/64", 127), ("cs8", "1/50", 127), ("cs8", "1/128", 127),
                                ("cf16", "1", 65504), ("cf16", "1/1024", 65504), ("cf16", "3e4", 65504), ("cf16", "1/60000", 65504)):  # fmt: skip
            exact, bottom = [v / eval(text) for v in clean], -top - (name != "cf16")
            if name == "cf16":
                expected = unpack("e", pack("e", [max(bottom, min(top, v)) for v in exact]))
                n_clipped = sum(abs(v) >= 65520 for v in exact)
            else:
                expected = tuple(max(bottom, min(top, round(v))) for v in exact)
                n_clipped = sum(not bottom <= round(v) <= top for v in exact)
            result = self.ok(self.gen("--symbols", "5000", "--output-scale", text, "x." + name))
            self.assertEqual(unpack(TYPECODE[name], self.read("x." + name)), expected, (name, text))
            default = {"cs16": 1 / 32768, "cs8": 1 / 128, "cf16": 1}[name]
            said = [f"5000 symbols; read it with --input-scale {text}"] * (eval(text) != default)
            said += [f"warning: {n_clipped} of 10000 components were clipped"] * (n_clipped > 0)
            self.assertEqual(result.err, "".join(f"softqam-gen: x.{name}: {line}\n" for line in said))
        noisy = self.symbols("x.cf32", 5000, "--snr-db", "12")
        for v, half in zip(noisy, self.symbols("x.cf16", 5000, "--snr-db", "12")):
            self.assertLessEqual(abs(half - v), abs(v) * (2**-11 + 2**-23) + 2**-25)

    def test_names_and_messages(self):
        for name, suffixes in SUFFIXES.items():
            result = self.ok(self.gen("--symbols", "50", "-o", name, "-"))
            scale = {"cs16": "1/8192", "cs8": "1/64"}.get(name)
            self.assertEqual(result.err, f"softqam-gen: standard output: 50 symbols; read it with --input-scale {scale}\n" if scale else "")
            for suffix in suffixes:
                self.assertEqual(self.read(self.make("y" + suffix, "--symbols", "50")), result.out)
                self.assertEqual(self.ok(self.gen("-q", "--symbols", "50", "-o", suffix[1:].upper(), "-")).out, result.out)
        self.assertEqual(self.read(self.make("without", "--symbols", "50")), self.ok(self.gen("--symbols", "50", "-")).out)
        self.assertEqual(len(self.read(self.make("default.cs8"))), 2000000)
        self.assertIn(" 1 symbol; ", self.ok(self.gen("--symbols", "1", "x.cs8")).err)
        self.make("y.cf32", "--symbols", "300", "--bits", "y.bits")
        self.assertEqual(self.ok(self.gen("--symbols", "300", "--bits", "-", "x.cf32")).out, self.read("y.bits"))


main()
