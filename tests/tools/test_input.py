#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What softqam-demod makes of INPUT: its formats, parts of it, a pipe that is still being written, its scale; warnings of
symbols that are not what the command takes them for.
"""
import math
import os
import random
import re
import select
import time

from tools_harness import NOISE_AUTO_SYMBOLS, TIMEOUT, CaptureTest, ToolTest, main, pack, unpack


class Formats(ToolTest):
    def test_that_are_converted(self):
        """As the formats that they become: offset binary exactly, wider ones rounded once; all floats."""
        self.make("x.cs8", "--symbols", "999", "--snr-db", "25")
        floats = unpack("f", self.read(self.make("x.cf32", "--symbols", "999", "--snr-db", "25")))
        generator = random.Random(1)
        words = [generator.randrange(-(2**31), 2**31) for _ in range(1996)] + [2**31 - 1, -(2**31), 0, 1]
        # Less than half a step of binary32 above and below, which is rounded away.
        doubles = [v * (1 + generator.choice([-1, 0, 1]) * 2.0**-26) for v in floats] + [1e300, 0, -1e-320, 1, math.nan, 1, -math.inf, 1]
        singles = [*floats, math.inf, 0, -0.0, 1, math.nan, 1, -math.inf, 1]
        for names, data, as_name, as_data in (
            (["cu8"], bytes(byte ^ 0x80 for byte in self.read("x.cs8")), "cs8", self.read("x.cs8")),
            (["cu8"], bytes([0, 128, 255, 127]), "cf32", pack("f", [-1, 0, 127 / 128, -1 / 128])),
            (["cf64"], pack("d", doubles), "cf32", pack("f", singles)),
            (["cs32", "ci32"], pack("i", words), "cf32", pack("f", [word / 2**31 for word in words])),
        ):  # fmt: skip
            for name in names:
                self.write("y." + name, data)
                self.write("z." + as_name, as_data)
                for options in ([], ["-o", "f32", "--snr-db", "25"], ["-i", name]):
                    other = ["-i", as_name] if "-i" in options else options
                    self.assertEqual(self.soft_bits(*options, "y." + name), self.soft_bits(*other, "z." + as_name), (name, options))
        scaled = ["-q", "--input-scale"]
        self.assertEqual(self.soft_bits(*scaled, "1/2147483648", "y.ci32"), self.soft_bits(*scaled, "1", "z.cf32"))


class Parts(CaptureTest):
    """--skip and --count."""

    def test_skip_and_count(self):
        self.write("n0", pack("f", [0.001 * (1 + i % 97) for i in range(3000)]))
        llrs = self.soft_bits("-o", "s8", "--noise-file", "n0", "x.cf32")
        for skip, count in ((0, 0), (0, 1), (1, 2998), (7, 2993), (2999, 1), (3000, 0), (500, 250)):
            part = slice(8 * skip, 8 * (skip + count))
            arguments = ["--skip", str(skip), "--count", str(count)]
            self.assertEqual(self.soft_bits(*arguments, "x.cf32"), self.expected[part])
            self.assertEqual(self.soft_bits(*arguments, "-", data=self.data), self.expected[part])
            noise = [*arguments, "-o", "s8", "--noise-file"]
            self.assertEqual(self.soft_bits(*noise, "n0", "x.cf32"), llrs[part])
            self.assertEqual(self.soft_bits(*noise, "-", "x.cf32", data=self.read("n0")), llrs[part])
        self.assertEqual(self.soft_bits("--skip", "2990", "x.cf32"), self.expected[8 * 2990 :])
        for name in ("x.cf32", "-"):
            self.assertEqual(self.soft_bits("--skip", "2960", "--count", "41", name, data=self.data), self.expected[8 * 2960 :])

    def test_an_end_is_not_waited_for(self):
        """What comes after --count need not come."""
        process = self.start_demod("--count", "3", "-", "-")
        process.stdin.write(self.data[:30])
        self.assertEqual((process.wait(TIMEOUT), process.stdout.read()), (0, self.expected[:24]))

    def test_part_of_a_symbol(self):
        """Whole symbols come out of a pipe before the tool fails for the rest."""
        result = self.demod("-", "-", data=self.data + bytes(7))
        self.fails(result, 1, "standard input: not a whole number of symbols: 7 bytes left over (a symbol has 8)")
        self.assertEqual(result.out, self.expected)

    def test_empty(self):
        """Is as good with one noise variance as with another."""
        self.write("e.cf32", b"")
        for noise in (["--snr-db", "20"], ["--noise-var", "auto"], ["--noise-file", "e.cf32"]):
            for extra in ([], ["--input-scale", "auto"], ["--stats"], ["--verify"]):
                result = self.ok(self.demod(*noise, *extra, "-o", "s8", "-", "y"))
                self.assertEqual(self.read("y"), b"")
                if not extra or "auto" in extra:
                    self.assertEqual(result.err, "")


class Live(CaptureTest):
    """A pipe whose writer goes on: what has arrived comes out."""

    def receive(self, process, n):
        received = b""
        deadline = time.monotonic() + TIMEOUT
        while len(received) < n:
            self.assertTrue(select.select([process.stdout], [], [], deadline - time.monotonic())[0], "nothing comes out")
            received += os.read(process.stdout.fileno(), n - len(received))
        return received

    def ends(self, process):
        process.stdin.close()
        self.assertEqual((process.stdout.read(), process.wait(TIMEOUT)), (b"", 0))

    def test_packets(self):
        """Of all lengths; half a symbol waits for its other half."""
        process = self.start_demod("-", "-")
        sent = received = 0
        for n in (8, 1, 7, 3, 20, 801, 800, 7, 1):
            process.stdin.write(self.data[sent : sent + n])
            sent += n
            complete = sent // 8 * 8
            self.assertEqual(self.receive(process, complete - received), self.expected[received:complete])
            received = complete
        self.ends(process)

    def test_estimates(self):
        """An estimate waits for the symbols that it is of; once there is one, more comes as it arrives."""
        n = 2 * NOISE_AUTO_SYMBOLS
        self.make("y.cs8", "--symbols", str(NOISE_AUTO_SYMBOLS + 10), "--snr-db", "20")
        data = self.read("y.cs8")
        arguments = ["-q", "-o", "s8", "--noise-var", "auto", "--input-scale", "1/64"]
        expected = self.soft_bits(*arguments, "y.cs8")
        process = self.start_demod(*arguments, "-i", "cs8", "-", "-")
        process.stdin.write(data[: n - 1])
        self.assertFalse(select.select([process.stdout], [], [], 0.01)[0])
        process.stdin.write(data[n - 1 : n])
        self.assertEqual(self.receive(process, 4 * n), expected[: 4 * n])
        process.stdin.write(data[n : n + 2])
        self.assertEqual(self.receive(process, 8), expected[4 * n : 4 * n + 8])
        self.ends(process)


class Warnings(ToolTest):
    """Of a wrong scale or noise; a scale that is told from the symbols; what a recording says of itself."""

    def says(self, *arguments):
        return self.ok(self.demod(*arguments, "y")).err.replace("softqam-demod: ", "").splitlines()

    def setUp(self):
        super().setUp()
        self.make("x.cs16", "--symbols", "20000", "--snr-db", "30")
        self.make("x.cf32", "--symbols", "20000", "--snr-db", "30")

    def test_wrong_scale(self):
        told = r"x\.cs16: warning: mean symbol energy (\S+), where \S+ is expected; --input-scale auto would scale it"
        for k, (scale, energy) in enumerate((("1/32768", 0.0626), ("1/10000", 0.67), ("1/7000", 1.37), ("1", 6.7e7), ("1/8250", None), ("1/8130", None))):
            noise = (["-o", "u8"], ["-o", "s8", "--noise-var", "auto"], ["-o", "s8", "--snr-db", "30"])[k % 3]
            warnings = [line for line in self.says(*noise, "--input-scale", scale, "x.cs16") if "warning" in line]
            self.assertEqual(self.says("-q", *noise, "--input-scale", scale, "x.cs16"), [])
            self.assertEqual(len(warnings), energy is not None)
            for warning in warnings:
                self.assertLess(abs(float(re.fullmatch(told, warning)[1]) / energy - 1), 0.02)

    def test_weak_symbols(self):
        """Of a scale, and not of noise that is strong where few bits a symbol are for that."""
        self.make("y.cf32", "-m", "qpsk", "--symbols", "70001", "--snr-db=-4")
        for scale, warns in (("1", False), ("0.5", True)):
            said = self.says("-m", "qpsk", "-o", "s8", "--noise-var", "auto", "--input-scale", scale, "y.cf32")
            self.assertEqual("warning: mean symbol energy" in " ".join(said), warns, said)

    def test_wrong_noise(self):
        for snr_db, warns in ((27, True), (33, True), (29, False), (31, False)):
            found = self.says("-o", "s8", "--snr-db", str(snr_db), "x.cf32")
            self.assertEqual(len(found), warns)
            for line in found:
                told = r"N0 seems to be 0\.00\d+ \(Es/N0 (29\.9|30\.0|30\.1) dB\)"
                self.assertRegex(line, rf"\Ax\.cf32: warning: {told}, not \S+ \({snr_db}\.0 dB\) as given; --noise-var auto estimates it\Z")

    def test_few_symbols_and_zeros(self):
        self.write("few.cf32", pack("f", 999 * [7.0, 7.0]))
        self.assertEqual(self.says("-o", "u8", "few.cf32"), [])
        self.write("zero.cf32", bytes(16000))
        self.assertIn("zero.cf32: warning: mean symbol energy 0, where 2 is expected", self.says("-o", "u8", "zero.cf32")[0])

    def test_auto(self):
        """From a file and from a pipe alike, with each noise."""
        for name, scale, noise in (("x.cs16", 1 / 8192, []), ("x.cf32", 1, ["--noise-var", "auto"]), ("x.cs16", 1 / 8192, ["--snr-db", "30"])):
            written = set()
            for shown, arguments in ((name, [name]), ("standard input", ["-i", name[2:], "-"])):
                options = ["--input-scale", "auto", *noise, "-o", "f32" if noise else "u8"]
                result = self.ok(self.demod(*options, *arguments, "y", data=self.read(name)))
                line = result.err.splitlines()[0]
                self.assertRegex(line, rf"^softqam-demod: {shown}: input scale \S+ \(1/\S+\), estimated from 20000 symbols$")
                self.assertLess(abs(float(line.split("scale ")[1].split()[0]) / scale - 1), 0.006)
                self.assertNotIn("warning", result.err)
                written.add(self.read("y"))
            self.assertEqual(len(written), 1)

    def test_recording(self):
        """Its own modulation, c_init and scale count, unless the command says another."""
        self.make("x.sigmf-meta", "-m", "qpsk", "--c-init", "77", "--symbols", "5000")
        self.assertEqual(self.says("-o", "hard", "-m", "QPSK", "--c-init", "77", "--input-scale", "1", "x"), [])
        for option, value in (("-m", "16qam"), ("--c-init", "none"), ("--c-init", "78"), ("--input-scale", "1/4")):
            said = {"-m": "qpsk", "--c-init": "77", "--input-scale": "1", option: value}
            plain_file = [word for pair in said.items() for word in pair] + ["-i", "cf32", "x.sigmf-data"]
            soft = ["-q", "-o", "f32", "--snr-db", "10"]
            self.assertEqual(self.soft_bits(*soft, option, value, "x"), self.soft_bits(*soft, *plain_file))

    def test_noise_of_a_slot(self):
        """Noise variances that vary by 20 dB are no reason for a warning."""
        snrs_db = (20, 25, 30, 35, 40)
        self.write("n0", pack("f", 1000 * [10 ** (-snr_db / 10) for snr_db in snrs_db for _ in range(2)]))
        parts = [self.read(self.make("part.cf32", "--symbols", "2000", "--snr-db", str(snr_db), "--seed", str(snr_db))) for snr_db in snrs_db]
        self.write("x.cf32", b"".join(part[16 * k : 16 * k + 16] for k in range(1000) for part in parts))
        self.assertEqual(self.says("--noise-file", "n0", "-o", "s8", "x.cf32"), [])


main()
