#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod: the noise variances that LLRs take; --verify, --compare and --stats."""
import array
import json
import math
import operator
import os
import re
import threading

from output_formats import LLR_FORMATS, LLR_STEPS, LLR_TYPECODE
from tools_harness import BACKEND, BLOCK_SYMBOLS, NOISE_AUTO_SYMBOLS, TIMEOUT, ToolTest, hard_bits, main, pack, unpack

SOFT_FORMATS = ["u8", *LLR_FORMATS]
A = 1 / math.sqrt(170)  # half the distance of two levels


def noise_option(format_, *noise):
    return ["-o", format_, *(() if format_ == "u8" else noise)]


class LlrTest(ToolTest):
    uses_backend = True

    def write_noise(self, n):
        self.write("n.f32", array.array("f", [0.001 * (1 + i % 97) for i in range(n)]).tobytes())
        return ["--noise-file", "n.f32"]


class Values(LlrTest):
    def test_verify(self):
        """Every input format and every output format, with noise variances of every kind, both signs, scales and limits of LLRs."""
        kinds = (["--noise-var", "0.02"], ["--snr-db", "24"], self.write_noise(1500), ["-q", "--noise-var", "auto"])
        inputs = (("cf32", "1/60"), ("cs16", "1/8192"), ("cs8", "1/60"), ("cf16", "0.9"))
        for name, scale in inputs:
            self.make("x." + name, "--symbols", "1500", "--snr-db", "22", "--output-scale", scale)
        for k, format_ in enumerate(SOFT_FORMATS):
            for sign in (0, 1):
                (name, scale), noise = inputs[(k + sign) % 4], noise_option(format_, *kinds[(k + 2 * sign) % 4])
                steps = ["--llr-scale", "7/4", "--llr-limit", "31"] if format_ in LLR_STEPS and sign else []
                result = self.ok(self.demod("--verify", *noise, *steps, "--sign", str(sign), "--input-scale", scale, "x." + name, "y"))
                if steps:
                    self.assertEqual(max(map(abs, unpack(LLR_TYPECODE[format_], self.read("y")))), 31)
                agrees = r"every LLR is double-precision max-log's within the bound for binary32" if format_ != "u8" else \
                    r"every byte is liquid-dsp [\d.]+'s" + " with the opposite sign, within one step" * sign  # fmt: skip
                expected = "" if "-q" in noise else rf"softqam-demod: verify: 1500 of 1500 symbols checked, {agrees}\n"
                self.assertRegex(self.without_warnings(result.err), rf"\A{expected}\Z")


class Machine(LlrTest):
    """The bytes are the same however the work is divided."""

    def test_block_boundaries(self):
        """One symbol more or less than is taken at once, from a file and from a pipe: noise variances keep step, and an
        estimate is from the first symbols."""
        longest = 2 * BLOCK_SYMBOLS + 1
        data = self.read(self.make("x.cs8", "--symbols", str(longest), "--snr-db", "22"))
        scale = ["-i", "cs8", "-os8"]
        machine = ["-q", *scale, "--chunk", "1000", "--streams", "3"]
        noise_file = self.write_noise(longest)
        noise = self.read("n.f32")
        expected = self.soft_bits(*scale, "--chunk", "12345", *noise_file, "x.cs8")
        auto = self.soft_bits("--noise-var", "auto", *machine, "-", data=data[: 2 * NOISE_AUTO_SYMBOLS])
        for n in (1, BLOCK_SYMBOLS - 1, BLOCK_SYMBOLS, BLOCK_SYMBOLS + 1, longest):
            self.write("n.f32", noise[: 4 * n])
            for source in ("-", self.write("y.cs8", data[: 2 * n])):
                self.assertEqual(self.soft_bits(*noise_file, *machine, source, data=data[: 2 * n]), expected[: 8 * n], n)
                if n >= NOISE_AUTO_SYMBOLS:
                    got = self.soft_bits("--noise-var", "auto", *machine, source, data=data[: 2 * n])
                    self.assertEqual(got[: 8 * NOISE_AUTO_SYMBOLS], auto)


class Noise(LlrTest):
    def test_ways_to_give_it(self):
        self.make("x.cf32", "--symbols", "2000", "--snr-db", "20")
        self.write("n.f32", pack("f", 2000 * [10**0.37]))
        ways = (["--snr-db", "-3.7"], ["--noise-var", repr(10**0.37)], ["--noise-file", "n.f32"], ["--noise-var", f"{10**3.37!r}/1e3"],
                ["--snr-db", "7", "--noise-var", repr(10**0.37)], ["--noise-file", "none", "--snr-db", "-3.7"])  # fmt: skip
        self.assertEqual(len({self.soft_bits("-o", "f32", *arguments, "x.cf32") for arguments in ways}), 1)

    def test_from_a_pipe(self):
        """Standard input, and a FIFO beside a file and a pipe of symbols; too few and too many, after a block has been written."""
        n = BLOCK_SYMBOLS + 1000
        data = self.read(self.make("x.cs8", "--symbols", str(n), "--snr-db", "20"))
        arguments = ["-i", "cs8", "-o", "s8", *self.write_noise(n)]
        expected, noise = self.soft_bits(*arguments, "x.cs8"), self.read("n.f32")
        self.assertEqual(self.soft_bits(*arguments[:-1], "-", "x.cs8", data=noise), expected)
        os.mkfifo(self.path("fifo"))
        ends, goes_on = "too few noise variances for the symbols of {}", "too many noise variances for the symbols of {}"
        for n_given, source, message in ((n, "-", None), (n, "x.cs8", None), (n - 1, "x.cs8", ends), (n - 1, "-", ends),
                                         (BLOCK_SYMBOLS, "-", ends), (n + 1, "-", goes_on)):  # fmt: skip
            writer = threading.Thread(target=self.write, args=("fifo", (noise + bytes(4))[: 4 * n_given]))
            writer.start()
            result = self.demod(*arguments[:-1], "fifo", source, "-", data=data if source == "-" else b"")
            writer.join(TIMEOUT)
            name = "standard input" if source == "-" else source
            if message:
                self.fails(result, 1, "fifo: " + message.format(name))
            else:
                self.assertEqual((result.out, result.err), (expected, ""))


class Compare(ToolTest):
    """Bit errors against what was sent."""

    def errors_told(self, *arguments, **options):
        result = self.ok(self.demod("-q", "--compare", *arguments, **options))
        match = re.fullmatch(r"softqam-demod: (.*): (\d+) of (\d+) bits are wrong, bit error rate (\S+)\n", result.err)
        n_wrong, n = int(match[2]), int(match[3])
        self.assertAlmostEqual(float(match[4]), n_wrong / max(n, 1), places=6)
        return match[1], n_wrong, n

    def test_compare(self):
        n = 1237
        self.make("x.cf32", "--symbols", str(n), "--snr-db", "18", "--bits", "sent.hard")
        sent, decided = self.read("sent.hard"), hard_bits("u8", self.soft_bits("x.cf32"))
        n_wrong = sum(map(operator.ne, sent, decided))
        self.assertGreater(n_wrong, 100)
        for format_ in ("u8", "hard", "bits"):
            self.assertEqual(self.errors_told("sent.hard", "-o", format_, "x.cf32", "y"), ("sent.hard", n_wrong, 8 * n))
        for k, format_ in enumerate(LLR_FORMATS):
            bits = hard_bits(format_, self.soft_bits("-q", "-o", format_, "--snr-db", "18", "x.cf32"))
            told = self.errors_told("sent.hard", "-o", format_, "--snr-db", "18", "--sign", str(k % 2), "x.cf32", "y")
            self.assertEqual(told, ("sent.hard", sum(map(operator.ne, sent, bits)), 8 * n))
        part = slice(8 * 100, 8 * 300)
        for bits, data in (("sent.hard", b""), ("-", sent)):
            told = self.errors_told(bits, "--skip", "100", "--count", "200", "x.cf32", "y", data=data)
            self.assertEqual(told[1:], (sum(map(operator.ne, sent[part], decided[part])), 1600))


    def test_causes(self):
        """The places of wrong bits show swapped and conjugated samples; half of all bits are those of something else."""
        for modulation in ("qpsk", "256qam"):
            self.make("x.cf32", "-m", modulation, "--symbols", "2000", "--snr-db", "30", "--bits", "sent.hard", "--c-init", "5")
            options = ["-q", "-m", modulation, "-o", "hard", "--compare", "sent.hard"]
            scrambled = self.ok(self.demod(*options, "x.cf32", "y")).err
            self.assertRegex(scrambled, r"0\.(4|5)\d*, as of other bits, another scrambling \(--c-init\), or symbols turned by 90 degrees\n$")
            for turned, option, words in (
                (["--swap-iq"], "--swap-iq", r"I and Q swapped \(--swap-iq\)"),
                (["--phase", "90", "--swap-iq"], "--conjugate", r"the other sign of Q \(--conjugate\)"),
            ):
                self.make("x.cf32", "-m", modulation, "--symbols", "2000", "--snr-db", "30", "--bits", "sent.hard", *turned)
                self.assertRegex(self.ok(self.demod(*options, "x.cf32", "y")).err, rf"; with {words} it would be \S+\n$")
                self.assertRegex(self.ok(self.demod(*options, option, "x.cf32", "y")).err, r"bit error rate [-.e\d]*\n$")
                self.make("x.cf32", "-m", modulation, "--symbols", "2000", "--snr-db", "30", "--bits", "sent.hard")
                self.assertRegex(self.ok(self.demod(*options, option, "x.cf32", "y")).err, rf"; without {option} it would be \S+\n$")


class Stats(LlrTest):
    def stats(self, *arguments, **options):
        """Returns what --stats=json says; --stats says as much, in lines."""
        stats = json.loads(self.ok(self.demod("--stats=json", *arguments, **options)).err.splitlines()[-1])
        lines = [line.split()[0] for line in self.ok(self.demod("--stats", *arguments, **options)).err.splitlines()[-len(stats) :]]
        self.assertEqual(lines, list(stats))
        return stats

    def test_numbers(self):
        """LLRs of one modulation with each kind of noise; test_modulations.py has the others."""
        n = 100000
        self.make("x.cf32", "--symbols", str(n), "--snr-db", "31")
        self.write("n.f32", pack("f", (n - 1) * [0.002] + [-1.0]))
        for arguments, snr_db in ((["--input-scale", "1"], None), (["-o", "s8", "--noise-var", "auto"], 31), (["-o", "s8", "--noise-file", "n.f32"], None)):
            stats = self.stats("-q", *arguments, "x.cf32", "y")
            self.assertEqual((stats["symbols"], stats["erased"], stats["backend"]), (n, int("n.f32" in arguments), BACKEND))
            self.assertAlmostEqual(stats["snr_db"] or 0, snr_db or 0, delta=0.05)
            out = self.read("y")
            n_saturated = sum(abs(v) == 127 for v in unpack("b", out)) if "s8" in arguments else out.count(0) + out.count(255)
            self.assertAlmostEqual(stats["saturated_share"], n_saturated / 8 / n)
            self.assertAlmostEqual(stats["estimated_n0"], 10**-3.1, delta=0.02 * 10**-3.1)
            self.assertAlmostEqual(stats["estimated_snr_db"], -10 * math.log10(stats["estimated_n0"]), delta=0.01)
            self.assertAlmostEqual(stats["evm"], 10 ** (-31 / 20), delta=0.0004)
            self.assertLessEqual(stats["library_s"], stats["overall_s"])
            for name in ("library", "overall"):
                self.assertAlmostEqual(stats[name + "_msym_s"] * stats[name + "_s"], n / 1e6)

    def test_noise_floor(self):
        """Smaller values count as it, 0 and negative ones too; NaN and infinite ones stay erasures."""
        self.write("x.cf32", pack("f", [A, -3 * A, 5 * A, 7 * A] * 6))
        noise = [0, -1, -math.inf, 1e-4, 0.25, math.nan, math.inf, 1e-3, 2e-3, 0.5, 1e-9, -0.0]
        low = [1e-3 if n < 1e-3 else n for n in noise]
        for name, values in (("n0", noise), ("low", low)):
            self.write(name, pack("f", values))
        options = ["-m", "qpsk", "-o", "f32", "--noise-file"]
        self.assertEqual(self.soft_bits(*options, "n0", "--noise-floor", "1/1000", "--verify", "-q", "x.cf32"), self.soft_bits(*options, "low", "x.cf32"))

    def test_erasures_points_and_nothing(self):
        symbols = [A, A, math.nan, 0, -math.inf, A, 1.1 * A, -3 * A, A, math.inf, -A, 15.2 * A]
        stats = self.stats("-q", "-", "x.u8", data=pack("f", symbols))
        self.assertEqual((stats["symbols"], stats["erased"]), (6, 3))
        self.assertAlmostEqual(stats["evm"], math.sqrt((0.01 + 0.04) / 170 / 3), places=6)
        self.assertEqual(self.stats("-o", "f16", "--noise-var", "1e-30", "-", "y", data=pack("f", [1e30, math.nan]))["saturated_share"], 0)
        limited = ["-o", "s16", "--llr-limit", "20000", "--noise-var", "1e-30"]
        self.assertEqual(self.stats(*limited, "-", "y", data=pack("f", [15 * A, -15 * A, math.nan, 0]))["saturated_share"], 0.5)
        for n, data in ((1, pack("f", [math.nan, 1.0])), (0, b"")):
            stats = self.stats("-", "x.u8", data=data)
            self.assertEqual((stats["symbols"], stats["saturated_share"]), (n, 0))
            self.assertEqual([stats[name] for name in ("evm", "energy", "estimated_n0")], 3 * [None])


main()
