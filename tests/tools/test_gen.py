#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-gen: what it generates."""
import hashlib
import math
import sys

from tools_harness import SUFFIXES, TYPECODE, ToolTest, float32, main, pack, unpack


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

    def test_lengths(self):
        """A shorter file is the start of a longer one."""
        n = (1 << 20) + 500001
        samples, bits = (self.read(self.make("x.cs16", "--symbols", str(n), "--snr-db=10", "--bits", "x.bits")), self.read("x.bits"))
        for part in (0, 999, 1 << 20):
            self.make("y.cs16", "--symbols", str(part), "--snr-db=10", "--bits", "y.bits")
            self.assertTrue(self.read("y.bits") == bits[: 8 * part] and self.read("y.cs16") == samples[: 4 * part], part)

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
            default = {"cs16": 1 / 8192, "cs8": 1 / 64, "cf16": 1}[name]
            said = [f"5000 symbols; read it with --input-scale {text}"] * (eval(text) != default)
            said += [f"warning: {n_clipped} of 10000 components were clipped"] * (n_clipped > 0)
            self.assertEqual(result.err, "".join(f"softqam-gen: x.{name}: {line}\n" for line in said))
        result = self.ok(self.gen("--symbols", "50", "--snr-db=-200", "--output-scale", "1.2e-38", "x.cf32"))
        self.assertEqual({abs(v) for v in unpack("f", self.read("x.cf32"))}, {float32(2.0**128 - 2.0**104)})
        self.assertIn("100 of 100 components were clipped", result.err)
        noisy = self.symbols("x.cf32", 5000, "--snr-db", "12")
        for v, half in zip(noisy, self.symbols("x.cf16", 5000, "--snr-db", "12")):
            self.assertLessEqual(abs(half - v), abs(v) * (2**-11 + 2**-23) + 2**-25)

    def test_impairments(self):
        """softqam-demod names each; N0 of fading is that of the noise, in order, and lowers the error rate."""
        command = ["-m", "qpsk", "--symbols", "9000", "--snr-db", "12", "--bits", "sent"]
        for options, said in ((["--phase", "30"], "if turned back by (29|30).* degrees"), (["--frequency-offset=-0.5"], "by -0.5.* degrees a symbol")):
            self.make("x.cf32", *command, *options)
            self.assertRegex(self.ok(self.demod("-m", "qpsk", "-o", "hard", "x.cf32", "y")).err, said)
        plain, swapped = (self.symbols("x.cf32", 99, "--snr-db", "12", *options) for options in ([], ["--swap-iq"]))
        self.assertEqual((plain[::2], plain[1::2]), (swapped[1::2], swapped[::2]))
        clean = self.symbols("x.cf32", 9000, *command[:2])
        noisy = self.symbols("x.cf32", 9000, *command, "--fading", "n0")
        n0 = unpack("f", self.read("n0"))
        self.assertEqual((len(n0), n0[0], n0[0] == n0[12]), (9000, n0[11], False))
        power = [((a - c) ** 2 + (b - d) ** 2) / n for a, b, c, d, n in zip(noisy[::2], noisy[1::2], clean[::2], clean[1::2], n0)]
        self.assertAlmostEqual(sum(power) / 9000, 1, delta=0.06)
        self.assertAlmostEqual(sum(0.0631 / n for n in n0) / 9000, 1, delta=0.2)  # the channel's mean power
        self.ok(self.demod("--strict", "-m", "qpsk", "-o", "s8", "--noise-file", "n0", "--compare", "sent", "x.cf32", "y"))

    def test_names(self):
        for name, suffixes in SUFFIXES.items():
            out = self.ok(self.gen("--symbols", "50", "-o", name, "-")).out
            for suffix in suffixes:
                self.assertEqual(self.read(self.make("y" + suffix, "--symbols", "50")), out)
        self.assertEqual(len(self.read(self.make("default.cs8"))), 2000000)
        self.make("y.cf32", "--symbols", "300", "--bits", "y.bits")
        self.assertEqual(self.ok(self.gen("--symbols", "300", "--bits", "-", "x.cf32")).out, self.read("y.bits"))


main()
