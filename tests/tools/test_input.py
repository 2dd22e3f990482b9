#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What softqam-demod makes of INPUT: its formats, parts of it, a pipe that is still being written, its scale."""
import math
import os
import random
import select
import sys
import time

from tools_harness import BACKEND, DEMOD, NOISE_AUTO_SYMBOLS, TIMEOUT, ToolTest, main, pack, unpack


class Formats(ToolTest):
    """Those that are not the library's, as those that they become."""

    def setUp(self):
        super().setUp()
        self.make("x.cs8", "--symbols", "999", "--snr-db", "25")
        self.make("x.cf32", "--symbols", "999", "--snr-db", "25")

    def check(self, name, as_name, *arguments):
        result = self.ok(self.demod("-q", *arguments, name, "-"))
        self.assertEqual(result.out, self.ok(self.demod("-q", *arguments, as_name, "-")).out)

    def test_cu8(self):
        """Offset binary: 128 is 0."""
        self.write("x.cu8", bytes(byte ^ 0x80 for byte in self.read("x.cs8")))
        self.check("x.cu8", "x.cs8")
        self.check("x.cu8", "x.cs8", "-o", "f32", "--snr-db", "25", "--input-scale", "1/64")
        self.write("ends.cu8", bytes([0, 128, 255, 127]))
        self.write("ends.cf32", pack("f", [-1, 0, 127 / 128, -1 / 128]))
        self.check("ends.cu8", "ends.cf32", "-o", "f32", "--snr-db", "10")

    def test_cf64(self):
        values = unpack("f", self.read("x.cf32"))
        # Half a step of binary32 above and below, which are rounded away.
        doubles = [v * (1 + random.Random(i).choice([-1, 0, 1]) * 2.0**-26) for i, v in enumerate(values)]
        self.write("x.cf64", pack("d", doubles))
        self.check("x.cf64", "x.cf32", "-o", "f32", "--snr-db", "25")
        special = [1e300, 0, -1e-320, 1, math.nan, 1, -math.inf, 1]
        self.write("s.cf64", pack("d", special))
        self.write("s.cf32", pack("f", [math.inf, 0, -0.0, 1, math.nan, 1, -math.inf, 1]))
        self.check("s.cf64", "s.cf32", "-o", "f32", "--snr-db", "25")

    def test_cs32(self):
        generator = random.Random(1)
        words = [generator.randrange(-(2**31), 2**31) for _ in range(1996)] + [2**31 - 1, -(2**31), 0, 1]
        scaled = pack("f", [word / 2**31 for word in words])
        self.write("y.cf32", scaled)
        for suffix in (".cs32", ".ci32"):
            self.write("y" + suffix, pack("i", words))
            self.check("y" + suffix, "y.cf32", "-o", "f32", "--snr-db", "25")
        result = self.ok(self.demod("-q", "-i", "ci32", "--input-scale", "1/2147483648", "y.cs32", "-"))
        self.assertEqual(result.out, self.soft_bits("-q", "y.cf32"))

    def test_suffixes_of_sigmf(self):
        for suffix, name in ((".ci8", "cs8"), (".ci16", "cs16")):
            self.make("y." + name, "--symbols", "100")
            self.write("y" + suffix, self.read("y." + name))
            self.check("y" + suffix, "y." + name)


class Parts(ToolTest):
    """--skip, --count and --partial."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "1000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.write("n0", pack("f", [0.001 * (1 + i % 97) for i in range(1000)]))
        self.expected = self.soft_bits("x.cf32")
        self.llrs = self.soft_bits("-o", "s8", "--noise-file", "n0", "x.cf32")

    def test_skip_and_count(self):
        for skip, count in ((0, 0), (0, 1), (1, 998), (7, 993), (999, 1), (1000, 0), (500, 250)):
            part = slice(8 * skip, 8 * (skip + count))
            arguments = ["--skip", str(skip), "--count", str(count)]
            self.assertEqual(self.soft_bits(*arguments, "x.cf32"), self.expected[part])
            self.assertEqual(self.soft_bits(*arguments, "-", data=self.data), self.expected[part])
            noise = [*arguments, "-o", "s8", "--noise-file"]
            self.assertEqual(self.soft_bits(*noise, "n0", "x.cf32"), self.llrs[part])
            self.assertEqual(self.soft_bits(*noise, "-", "x.cf32", data=self.read("n0")), self.llrs[part])
        self.assertEqual(self.soft_bits("--skip", "990", "x.cf32"), self.expected[8 * 990 :])
        shards = [self.soft_bits("--skip", "10", "--count", "7", "--shard", f"{k}/3", "x.cf32") for k in (1, 2, 3)]
        self.assertEqual(b"".join(shards), self.expected[80:136])

    def test_an_end_is_not_waited_for(self):
        """What comes after --count need not come."""
        process = self.start(DEMOD, "--backend", BACKEND, "--count", "3", "-", "-", bufsize=0)
        process.stdin.write(self.data[:30])
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(process.stdout.read(), self.expected[:24])

    def test_skipped_beyond_the_end(self):
        cause = "has only 1000 symbols, so --skip 1001 leaves nothing"
        self.fails(self.demod("--skip", "1001", "x.cf32", "y.u8"), 1, f"x.cf32: {cause}")
        result = self.demod("--skip", "1001", "-", "y.u8", data=self.data)
        self.fails(result, 1, f"standard input: {cause}")
        self.assertNotIn("y.u8", self.files())

    def test_estimate_of_the_part(self):
        self.make("y.cf32", "--symbols", "1000", "--snr-db", "30")
        self.write("both.cf32", self.data + self.read("y.cf32"))
        for part, name in ((["--count", "1000"], "x.cf32"), (["--skip", "1000"], "y.cf32")):
            arguments = ["-q", "-o", "f32", "--noise-var", "auto"]
            self.assertEqual(self.soft_bits(*arguments, *part, "both.cf32"), self.soft_bits(*arguments, name))

    def test_recordings(self):
        meta = b'{"global": {"core:datatype": "cf32_le", "core:version": "1.0.0"}, "captures": [], "annotations": []}'
        self.write("r.sigmf-meta", meta)
        self.write("r.sigmf-data", self.data)
        self.ok(self.demod("--skip", "1", "--count", "2", "r", "y"))
        self.assertEqual(self.read("y"), self.expected[8:24])
        for option in (["--skip", "1"], ["--count", "1"]):
            cause = "what --skip and --count leave is no recording; choose a plain OUTPUT"
            self.fails(self.demod(*option, "r", "z.sigmf-meta"), 2, f"z.sigmf-meta: {cause}")

    def test_partial(self):
        for left in (1, 7):
            warning = f"warning: {left} byte{'s' * (left > 1)} left over at the end ignored (a symbol has 8)"
            data = self.data + bytes(left)
            self.write("y.cf32", data)
            cause = f"not a whole number of symbols: {left} byte{'s' * (left > 1)} left over (a symbol has 8)"
            for partial in ([], ["--partial", "error"]):
                self.fails(self.demod(*partial, "y.cf32", "y.u8"), 1, f"y.cf32: {cause}")
            for name, shown in (("y.cf32", "y.cf32"), ("-", "standard input")):
                result = self.ok(self.demod("--partial", "ignore", name, "-", data=data))
                self.assertEqual((result.out, result.err), (self.expected, f"softqam-demod: {shown}: {warning}\n"))
                result = self.ok(self.demod("-q", "--partial", "ignore", name, "-", data=data))
                self.assertEqual((result.out, result.err), (self.expected, ""))
            noise = ["-q", "--partial", "ignore", "-o", "s8", "--noise-file", "n0"]
            self.assertEqual(self.soft_bits(*noise, "y.cf32"), self.llrs)
        self.write("y.cf32", b"\1\2")
        result = self.ok(self.demod("--partial", "ignore", "y.cf32", "-"))
        self.assertEqual(result.out, b"")
        self.write("n1", self.read("n0") + b"\0")
        result = self.demod("--partial", "ignore", "-o", "s8", "--noise-file", "n1", "x.cf32", "y")
        self.assertEqual(result.code, 1)

    def test_empty(self):
        """Is as good with one noise variance as with another."""
        self.write("e.cf32", b"")
        self.write("e", b"")
        for noise in (["--snr-db", "20"], ["--noise-var", "auto"], ["--noise-file", "e"]):
            for extra in ([], ["--input-scale", "auto"], ["--stats"], ["--verify"]):
                for name in ("e.cf32", "-"):
                    result = self.ok(self.demod(*noise, *extra, "-o", "s8", name, "y"))
                    self.assertEqual(self.read("y"), b"")
                    if not extra or "auto" in extra:
                        self.assertEqual(result.err, "")


class Live(ToolTest):
    """A pipe whose writer goes on: what has arrived comes out."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "3000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")

    def receive(self, process, n):
        received = b""
        deadline = time.monotonic() + TIMEOUT
        while len(received) < n:
            self.assertTrue(select.select([process.stdout], [], [], deadline - time.monotonic())[0], "nothing comes out")
            received += os.read(process.stdout.fileno(), n - len(received))
        return received

    def test_packets(self):
        """Of all lengths; half a symbol waits for its other half."""
        process = self.start(DEMOD, "--backend", BACKEND, "-", "-", bufsize=0)
        sent = received = 0
        for n in (8, 1, 7, 3, 20, 801, 800, 7, 1):
            process.stdin.write(self.data[sent : sent + n])
            sent += n
            complete = sent // 8 * 8
            self.assertEqual(self.receive(process, complete - received), self.expected[received:complete])
            received = complete
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_to_a_file_that_is_no_pipe(self):
        """Is still whole or not there."""
        process = self.start(DEMOD, "--backend", BACKEND, "-", "y.u8", bufsize=0)
        for k in range(0, len(self.data), 8000):
            process.stdin.write(self.data[k : k + 8000])
            time.sleep(0.002)
            self.assertNotIn("y.u8", self.files())
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(self.read("y.u8"), self.expected)

    def test_other_bytes_of_the_same_estimate(self):
        """An estimate takes as many symbols as there are, however they come."""
        arguments = ["-q", "-o", "f32", "--noise-var", "auto"]
        whole = self.soft_bits(*arguments, "x.cf32")
        process = self.start(DEMOD, "--backend", BACKEND, *arguments, "-", "-", bufsize=0)
        for k in range(0, len(self.data), 1001):
            process.stdin.write(self.data[k : k + 1001])
            time.sleep(0.001)
        self.assertFalse(select.select([process.stdout], [], [], 0.01)[0])
        process.stdin.close()
        self.assertEqual(process.stdout.read(), whole)

    def test_after_an_estimate(self):
        """Once there is one, it comes as it arrives."""
        self.make("y.cs8", "--symbols", str(NOISE_AUTO_SYMBOLS + 10), "--snr-db", "20")
        data = self.read("y.cs8")
        arguments = ["-q", "-o", "s8", "--noise-var", "auto", "--input-scale", "1/64"]
        expected = self.soft_bits(*arguments, "y.cs8")
        process = self.start(DEMOD, "--backend", BACKEND, *arguments, "-i", "cs8", "-", "-", bufsize=0)
        n = 2 * NOISE_AUTO_SYMBOLS
        process.stdin.write(data[:n])
        self.assertEqual(self.receive(process, 4 * n), expected[: 4 * n])
        process.stdin.write(data[n : n + 2])
        self.assertEqual(self.receive(process, 8), expected[4 * n : 4 * n + 8])
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)


class Scale(ToolTest):
    """Warnings about a wrong one, and one that is told from the symbols."""

    def setUp(self):
        super().setUp()
        self.make("x.cs16", "--symbols", "20000", "--snr-db", "30")
        self.make("x.cf32", "--symbols", "20000", "--snr-db", "30")

    def warnings(self, *arguments):
        lines = self.ok(self.demod(*arguments, "y")).err.splitlines()
        return [line.removeprefix("softqam-demod: ") for line in lines if "warning" in line]

    def test_wrong_scale(self):
        for noise in (["-o", "u8"], ["-o", "s8", "--noise-var", "auto"], ["-o", "s8", "--snr-db", "30"]):
            for scale, energy in (("1/32768", 0.0626), ("1/16384", 0.25), ("1/10000", 0.67), ("1/7000", 1.37), ("1/4096", 4.0),
                                  ("1", 6.7e7)):  # fmt: skip
                (warning,) = self.warnings(*noise, "--input-scale", scale, "x.cs16")
                pattern = (r"x\.cs16: warning: mean symbol energy \S+, where \S+ is expected:"
                           r" 256QAM at (30.0|29.9|30.1) dB of another scale; --input-scale auto would scale it")  # fmt: skip
                self.assertRegex(warning, rf"\A{pattern}\Z")
                told = float(warning.split("energy ")[1].split(",")[0])
                self.assertLess(abs(told / energy - 1), 0.02)
                self.assertEqual(self.ok(self.demod("-q", *noise, "--input-scale", scale, "x.cs16", "y")).err, "")
            for scale in ("1/8192", "1/8250", "1/8130"):
                self.assertEqual(self.warnings(*noise, "--input-scale", scale, "x.cs16"), [])

    def test_wrong_noise(self):
        for snr_db, warns in ((27, True), (33, True), (20, True), (60, True), (29, False), (31, False), (30, False)):
            found = self.warnings("-o", "s8", "--snr-db", str(snr_db), "x.cf32")
            self.assertEqual(len(found), warns)
            if warns:
                told = r"N0 seems to be 0\.00\d+ \(Es/N0 (29\.9|30\.0|30\.1) dB\)"
                pattern = rf"x\.cf32: warning: {told}, not \S+ \({snr_db}\.0 dB\) as given; --noise-var auto estimates it"
                self.assertRegex(found[0], rf"\A{pattern}\Z")

    def test_noise_file(self):
        for n0, scale, n in ((0.001, "1", 0), (0.1, "1", 0), (0.001, "1/2", 1), (5.0, "1/2", 0), (math.nan, "1/2", 0)):
            self.write("n0", pack("f", 20000 * [n0]))
            found = self.warnings("-o", "s8", "--noise-file", "n0", "--input-scale", scale, "x.cf32")
            self.assertEqual(len(found), n, (n0, scale, found))

    def test_few_symbols_and_zeros(self):
        self.write("few.cf32", pack("f", 999 * [7.0, 7.0]))
        self.assertEqual(self.warnings("-o", "u8", "few.cf32"), [])
        self.write("zero.cf32", bytes(16000))
        self.assertEqual(self.warnings("-o", "u8", "zero.cf32"), ["zero.cf32: warning: its first 2000 symbols are all zero"])
        cause = "zero.cf32: no finite symbol but zeros among the first 2000 to estimate --input-scale from"
        self.fails(self.demod("--input-scale", "auto", "zero.cf32", "z.u8"), 1, cause)
        result = self.ok(self.demod("--stats", "zero.cf32", "z.u8"))
        self.assertIn("  EVM        unknown: no symbol to tell it from\n", result.err)

    def test_auto(self):
        expected = {}
        for name, scale in (("x.cs16", 1 / 8192), ("x.cf32", 1)):
            data = self.read(name)
            for noise, format_ in (([], "u8"), (["--noise-var", "auto"], "f32"), (["--snr-db", "30"], "f32")):
                for input_, arguments in ((name, [name]), ("standard input", ["-i", name[2:], "-"])):
                    command = ["--input-scale", "auto", *noise, "-o", format_, *arguments, "y"]
                    result = self.ok(self.demod(*command, data=data))
                    line = result.err.splitlines()[0]
                    self.assertRegex(line, rf"^softqam-demod: {input_}: input scale \S+ \(1/\S+\), estimated from 20000 symbols$")
                    told = float(line.split("scale ")[1].split()[0])
                    self.assertLess(abs(told / scale - 1), 0.006)
                    self.assertNotIn("warning", result.err)
                    key = name, *noise, format_
                    self.assertEqual(self.read("y"), expected.setdefault(key, self.read("y")))

    def test_auto_at_all_ratios(self):
        for snr_db in (12, 20, 40):
            self.make("y.cs8", "--symbols", "100000", "--snr-db", str(snr_db), "--output-scale", "1/50")
            result = self.ok(self.demod("--input-scale", "auto", "y.cs8", "-"))
            self.assertLess(abs(float(result.err.split("scale ")[1].split()[0]) * 50 - 1), 0.006, snr_db)

    def test_energy_in_the_report(self):
        result = self.ok(self.demod("--stats", "--input-scale", "1/4", "x.cf32", "y.u8"))
        (line,) = [line for line in result.err.splitlines() if line.startswith("  energy ")]
        values = unpack("f", self.read("x.cf32"))
        self.assertAlmostEqual(float(line.split()[1]), sum(v * v for v in values) / 20000 / 16, places=6)


if __name__ == "__main__":
    sys.exit(main())
