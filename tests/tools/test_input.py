#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod reads INPUT: its formats, parts of it, a pipe that is still being written, its scale; warnings of
symbols that are not what the command takes them for.
"""
import math
import os
import random
import re
import select
import time

from output_formats import LLR_FORMATS, LLR_TYPECODE
from tools_harness import NOISE_AUTO_SYMBOLS, SUFFIXES, TIMEOUT, CaptureTest, ToolTest, float32, main, pack, unpack


def narrow(x):
    """The nearest number of binary32, which may be infinite."""
    return math.copysign(math.inf, x) if abs(x) > 3.4028236e38 else float32(x)


class Formats(ToolTest):
    def test_samples(self):
        """A sample of any format stands for itself times the scale, rounded once to binary32; wider ones are rounded before."""
        generator = random.Random(1)
        floats = unpack("f", self.read(self.make("x.cf32", "--symbols", "999", "--snr-db", "25")))
        halves = unpack("e", bytes.fromhex("0000008001000180ff03ff83ff7bfffb007c00fc007e007e"))
        # Less than half a step of binary32 above and below, which is rounded away.
        doubles = [v * (1 + generator.choice([-1, 0, 1]) * 2.0**-26) for v in floats] + [1e300, 0, -1e-320, 1, math.nan, 1, -math.inf, 1]
        words = [generator.randrange(-(2**31), 2**31) for _ in range(996)] + [2**31 - 1, -(2**31), 0, 1]
        for name, code, default, zero, samples in (
            ("cf32", "f", 1, 0, floats), ("cs16", "h", 2**-13, 0, range(-32768, 32768, 23)), ("cs8", "b", 2**-6, 0, range(-128, 128)),
            ("cf16", "e", 1, 0, halves), ("cu8", "B", 2**-6, 128, range(256)), ("cs32", "i", 2**-29, 0, words), ("cf64", "d", 1, 0, doubles),
        ):  # fmt: skip
            samples = list(samples)[: len(samples) // 2 * 2]
            self.write("x." + name, pack(code, samples))
            for text, scale in (("", default), ("1/3333", 1 / 3333)):
                scaled = pack("f", [narrow(narrow(v - zero) * float32(scale)) for v in samples])
                got = self.soft_bits("-q", "-o", "f32", "--snr-db", "20", *(["--input-scale", text] if text else []), "x." + name)
                self.assertEqual(got, self.soft_bits("-q", "-o", "f32", "--snr-db", "20", "-", data=scaled), (name, text))

    def test_default_scales(self):
        """They are those that --help lists."""
        text = self.ok(self.demod("--help")).out.decode().split("--input-scale X|auto")[1].split("--skip N")[0]
        listed = re.findall(r"([\d/]+) \(((?:\w+(?:, )?)+)\)", " ".join(text.split()))
        self.assertGreater(len(listed), 3)
        for scale, names in listed:
            for name in names.split(", "):
                call = ["-q", "-i", name, "-o", "f32", "--snr-db", "20"]
                expected = self.soft_bits(*call, "--input-scale", scale, "-", data=bytes(range(64, 128)))
                self.assertEqual(self.soft_bits(*call, "-", data=bytes(range(64, 128))), expected, name)

    def test_formats_by_name(self):
        """A suffix, without its dot too, is a format's name; a format that is named counts for more. None is cf32 and u8."""
        for name, suffixes in SUFFIXES.items():
            data = self.ok(self.gen("-q", "--symbols", "100", "--snr-db", "20", "-o", name, "-")).out
            expected = self.soft_bits("-i", name, "-", data=data)
            for suffix in suffixes:
                self.assertEqual(self.soft_bits(self.write("x.old" + suffix.upper(), data)), expected, suffix)
                other = self.write("x.cs8" if name != "cs8" else "x.cf16", data)
                self.assertEqual(self.soft_bits("-i", suffix[1:], other), expected, suffix)
        self.make("x", "--symbols", "100", "--snr-db", "20")
        for name in ("u8", *LLR_FORMATS):
            noise = ["--snr-db", "20"] * (name != "u8")
            expected = self.soft_bits("-o", name, *noise, "-", data=self.read("x"))
            for options, path in (([], "y." + name.upper()), (["--output-format=" + name], "z.hard")):
                self.ok(self.demod("-q", *noise, *options, "x", path))
                self.assertEqual(self.read(path), expected)


class Parts(ToolTest):
    """--skip, --count and --shard choose what the whole gives."""

    def joined(self, n_shards, *arguments):
        return b"".join(self.soft_bits("--shard", f"{k}/{n_shards}", *arguments) for k in range(1, n_shards + 1))

    def test_parts(self):
        n = 1237
        self.write("n0", pack("f", [0.001 * (1 + i % 97) for i in range(n)]))
        for modulation, options, nbytes in ((["-m", "pi2-bpsk"], ["-o", "s8", "--snr-db", "20"], 1), ([], [], 8),
                                            (["-m", "64qam", "--c-init", "5"], ["-o", "s16", "--noise-file", "n0"], 12)):  # fmt: skip
            data = self.read(self.make("x.cf32", *modulation, "--symbols", str(n), "--snr-db", "20"))
            arguments = [*modulation, *options, "--verify", "-q"]
            whole = self.soft_bits(*arguments, "x.cf32")
            for skip, count in ((0, 0), (0, 1), (7, 1230), (1236, 9), (1237, 1), (500, 250)):
                part = ["--skip", str(skip), "--count", str(count)]
                for name in ("x.cf32", *["-"] * ("n0" not in options)):
                    got = self.soft_bits(*arguments, *part, name, data=data)
                    self.assertEqual(got, whole[nbytes * skip : nbytes * (skip + count)], (options, skip))
            for n_shards in (1, 2, 7):
                self.assertEqual(self.joined(n_shards, *arguments, "x.cf32"), whole, options)
            self.assertEqual(self.joined(5, "--skip", "3", *arguments, "x.cf32"), whole[3 * nbytes :], options)
        noise = ["-m", "64qam", "--c-init", "5", "-o", "s16", "--skip", "11", "--noise-file", "-"]
        self.assertEqual(self.soft_bits(*noise, "x.cf32", data=self.read("n0")), whole[11 * 12 :])

    def test_auto(self):
        """Pipes and files of which the beginning has been read before; a file's rest may be anything."""
        data = self.read(self.make("x.cf32", "-m", "16qam", "--symbols", "20000", "--snr-db", "25"))
        for auto in (["-m", "auto", "-o", "hard"], ["-m", "16qam", "-o", "s8", "--noise-var", "auto"], ["-m", "auto", "-o", "s8", "--noise-var", "auto"]):
            for part in (["--count", "2000"], ["--skip", "9000", "--count", "9500"], ["--skip", "7", "--count", "30000"]):
                from_pipe = self.soft_bits("-q", *auto, *part, "-", data=data)
                self.assertEqual(from_pipe, self.soft_bits("-q", *auto, *part, "x.cf32"), (auto, part))
        self.write("y.cf32", data + b"rest")
        self.assertEqual(self.soft_bits("-q", *auto, "--count", "15000", "y.cf32"), self.soft_bits("-q", *auto, "--count", "15000", "x.cf32"))

    def test_more_bytes_than_can_be_counted(self):
        self.write("x.cf32", bytes(3 * 8 * 1024))
        result = self.demod("--channel", "1/1024", "--skip", str(2**54), "x.cf32", "y")
        self.fails(result, 1, "x.cf32: has only 3 symbols, so --skip 18014398509481984 leaves nothing")
        self.assertEqual(len(self.soft_bits("-q", "--channel", "1/1024", "--count", str(2**54), "x.cf32")), 24)

    def test_lengths_of_shards(self):
        """They differ by one symbol at most, also if there are many; what a shard reports is its own."""
        self.make("x.cs16", "--symbols", "1009", "--snr-db", "20")
        self.assertEqual({len(self.soft_bits("--shard", f"{k}/100", "x.cs16")) for k in (1, 2, 50, 91, 99, 100)}, {80, 88})
        result = self.ok(self.demod("--shard", "2/3", "--verify", "--stats", "x.cs16", "y.u8"))
        self.assertRegex(result.err, r"verify: 336 of 336 symbols checked[^\n]*\n(.*\n)*  symbols +336\n")


class Ends(CaptureTest):
    def test_an_end_is_not_waited_for(self):
        """Symbols after --count need not come."""
        process = self.start_demod("--count", "3", "-", "-")
        process.stdin.write(self.data[:30])
        self.assertEqual((process.wait(TIMEOUT), process.stdout.read()), (0, self.expected[:24]))

    def test_part_of_a_symbol(self):
        """Whole symbols come out of a pipe before the tool fails for the rest."""
        result = self.demod("-", "-", data=self.data + bytes(7))
        self.fails(result, 1, "standard input: not a whole number of symbols: 7 bytes left over (a symbol has 8)")
        self.assertEqual(result.out, self.expected)

    def test_empty(self):
        """Is as good with one noise variance as with another, and worth a warning."""
        self.write("e.cf32", b"")
        for noise in (["--noise-var", "auto", "--input-scale", "auto"], ["--noise-file", "e.cf32"]):
            result = self.ok(self.demod(*noise, "-o", "s8", "-", "y"))
            self.assertEqual((self.read("y"), result.err), (b"", "softqam-demod: standard input: warning: has no symbols\n"))

    def test_file_that_states_no_size(self):
        with open("/proc/version", "rb") as file:
            data = file.read()
        n = str(len(data) // 2)
        self.assertEqual(self.soft_bits("-i", "cs8", "--count", n, "/proc/version"), self.soft_bits("-i", "cs8", "--count", n, "-", data=data))


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
        """Packets have all lengths; half a symbol waits for its other half."""
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
        arguments = ["-q", "-o", "s8", "--noise-var", "auto"]
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
    """Warnings of wrong noise; a scale that is estimated from the symbols; what a recording says of itself. test_fit.py has what does not fit."""

    def says(self, *arguments):
        return self.ok(self.demod(*arguments, "y")).err.replace("softqam-demod: ", "").splitlines()

    def setUp(self):
        super().setUp()
        self.make("x.cs16", "--symbols", "20000", "--snr-db", "30")
        self.make("x.cf32", "--symbols", "20000", "--snr-db", "30")

    def test_wrong_noise(self):
        for snr_db, warns in ((27, True), (33, True), (29, False), (31, False)):
            found = self.says("-o", "s8", "--snr-db", str(snr_db), "x.cf32")
            self.assertEqual(len(found), warns)
            for line in found:
                told = r"N0 seems to be 0\.00\d+ \(Es/N0 (29\.9|30\.0|30\.1) dB\)"
                self.assertRegex(line, rf"\Ax\.cf32: warning: {told}, not \S+ \({snr_db}\.0 dB\) as given; --noise-var auto estimates it\Z")

    def test_auto(self):
        """From a file and from a pipe alike, with each noise."""
        self.make("z.cs16", "--symbols", "20000", "--snr-db", "30", "--output-scale", "1/25000")
        for name, scale, noise in (("z.cs16", 1 / 25000, []), ("x.cf32", 1, ["--noise-var", "auto"]), ("x.cs16", 1 / 8192, ["--snr-db", "30"])):
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


main()
