#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command-line tools, driven as processes.

    test_tools.py --demod PATH --gen PATH [--check PATH] [--backend cpu|cuda] [TEST...]

PATH are the programs (or SOFTQAM_DEMOD, SOFTQAM_GEN, SOFTQAM_TOOLS_CHECK; the last is looked for beside softqam-demod),
TEST a class or a class.method of this file. With the cuda backend only the tests whose outcome depends on the backend
run, and without a usable device the exit status is 77, or 1 when SOFTQAM_REQUIRE_GPU=1.
"""
import argparse
import array
import hashlib
import math
import os
import pty
import re
import resource
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

DEMOD = GEN = CHECK = ""
BACKEND = "cpu"
TIMEOUT = 300

# The number of symbols that softqam-demod takes at once on the CPU, and on CUDA with --chunk 1000 --streams 3.
BLOCK_SYMBOLS = 262144
ODD_BLOCK_SYMBOLS = 264000

SUFFIXES = {
    "cf32": [".cf32", ".fc32", ".cfile"], "cs16": [".cs16", ".sc16"], "cs8": [".cs8", ".sc8"], "cf16": [".cf16"]
}  # fmt: skip
FULL_SCALE = {"cf32": 1.0, "cs16": 1 / 32768, "cs8": 1 / 128, "cf16": 1.0}
TYPECODE = {"cf32": "f", "cs16": "h", "cs8": "b", "cf16": "e"}  # of struct
LLR_TYPECODE = {"s8": "b", "f16": "e", "f32": "f"}
LLR_FORMATS = list(LLR_TYPECODE)
DEADLY_SIGNALS = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def pack(typecode, values):
    return struct.pack(f"={len(values)}{typecode}", *values)


def unpack(typecode, data):
    return struct.unpack(f"={len(data) // struct.calcsize(typecode)}{typecode}", data)


def hard_bits(soft_bits):
    """One byte, 0 or 1, a bit: from 127 on the decision is 0."""
    return soft_bits.translate(bytes(127 * [1] + 129 * [0]))


def hard_bits_of_llrs(format_, data):
    return bytes(llr < 0 for llr in unpack(LLR_TYPECODE[format_], data))


def max_log(component, noise_var):
    """The LLRs of the four bits of an axis by their definition."""
    llrs = []
    for bit in range(4):
        nearest = [math.inf, math.inf]
        for label in range(16):
            s = [1 - 2 * (label >> (3 - k) & 1) for k in range(4)]
            level = s[0] * (8 - s[1] * (4 - s[2] * (2 - s[3]))) / math.sqrt(170)
            value = label >> (3 - bit) & 1
            nearest[value] = min(nearest[value], (component - level) ** 2)
        llrs.append((nearest[1] - nearest[0]) / noise_var)
    return llrs


def count_differences(a, b):
    """Number of bits in which two strings of bytes 0 and 1 differ."""
    assert len(a) == len(b)
    return bin(int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).count("1")


def bit_errors_per_component(snr_db):
    """Mean and variance of the number of bit errors of one component (four bits) of Gray-coded 256QAM in white Gaussian
    noise, summed over all pairs of a sent and a decided level."""
    alpha, sigma = 1 / math.sqrt(170), math.sqrt(10 ** (-snr_db / 10) / 2)

    def below(boundary):  # probability that the noise is less
        return 0.5 * math.erfc(-boundary / sigma / math.sqrt(2))

    mean = square = 0
    for sent in range(16):
        for decided in range(16):
            low = -math.inf if decided == 0 else 2 * alpha * (decided - sent) - alpha
            high = math.inf if decided == 15 else 2 * alpha * (decided - sent) + alpha
            errors = bin((sent ^ sent >> 1) ^ (decided ^ decided >> 1)).count("1")
            # Differences of small numbers, not of numbers near 1.
            share = below(high) - below(low) if low < 0 else below(-low) - below(-high)
            mean += errors * share / 16
            square += errors**2 * share / 16
    return mean, square - mean**2


def philox4x32(counter, key):
    """Salmon et al., SC11: ten rounds."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err.decode("utf-8", "backslashreplace")


class ToolTest(unittest.TestCase):
    """Each test has a directory of its own as its working directory."""

    uses_backend = False
    maxDiff = None

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="softqam-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.directory))

    def start(self, *command, **options):
        options.setdefault("stdin", subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(command, cwd=self.directory, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                try:
                    stream.close()
                except OSError:
                    pass

    def run_tool(self, *command, data=b"", **options):
        process = self.start(*command, **options)
        out, err = process.communicate(data if process.stdin else None, timeout=TIMEOUT)
        return Result(process.returncode, out, err or b"")

    def demod(self, *arguments, **options):
        return self.run_tool(DEMOD, "--backend", BACKEND, *arguments, **options)

    def gen(self, *arguments, **options):
        return self.run_tool(GEN, *arguments, **options)

    def ok(self, result):
        self.assertEqual(result.code, 0, result.err)
        return result

    def make(self, name, *arguments):
        self.ok(self.gen("-q", *arguments, name))
        return name

    def soft_bits(self, *arguments, **options):
        """What softqam-demod writes to standard output, which must be all that it says."""
        result = self.ok(self.demod(*arguments, "-", **options))
        self.assertEqual(result.err, "")
        return result.out

    def fails(self, result, code, message, program="softqam-demod"):
        """Exit status, and one line on standard error, complete."""
        self.assertEqual(result.err, f"{program}: {message}\n")
        self.assertEqual(result.code, code)


class Check(ToolTest):
    def test_units(self):
        if not os.path.exists(CHECK):
            self.skipTest(f"{CHECK}: not built")
        result = self.run_tool(CHECK)
        self.assertEqual(result.code, 0, result.out.decode() + result.err)
        self.assertEqual(self.run_tool(CHECK, "test_nothing").code, 1)


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
        self.assertEqual(
            self.read(self.make("without", "--symbols", "50")), self.ok(self.gen("--symbols", "50", "-")).out
        )
        self.assertEqual(len(self.read(self.make("default.cs8"))), 2000000)

    def test_bits_to_stdout(self):
        result = self.ok(self.gen("--symbols", "300", "--bits", "-", "x.cf32"))
        self.make("y.cf32", "--symbols", "300", "--bits", "y.bits")
        self.assertEqual(result.out, self.read("y.bits"))


class SoftBits(ToolTest):
    """What the demodulator makes of symbols."""

    uses_backend = True

    def test_noise_free_signs(self):
        for name, scale in (("x.cf32", "1"), ("x.cs16", "1/8192"), ("x.cs8", "1/64"), ("x.cf16", "1")):
            self.make(name, "--symbols", "20000", "--bits", "x.bits")
            self.ok(self.demod("--input-scale", scale, name, "x.u8"))
            soft_bits = self.read("x.u8")
            self.assertEqual(len(soft_bits), 160000)
            self.assertEqual(hard_bits(soft_bits), self.read("x.bits"))
            self.assertTrue({0, 255} < set(soft_bits))

    def test_bit_error_rate(self):
        """Against theory, within five standard deviations."""
        n = 1000000
        for snr_db in (24, 26, 30):
            self.make("x.cf32", "--symbols", str(n), "--snr-db", str(snr_db), "--bits", "x.bits")
            self.ok(self.demod("x.cf32", "x.u8"))
            errors = count_differences(hard_bits(self.read("x.u8")), self.read("x.bits"))
            mean, variance = bit_errors_per_component(snr_db)
            deviations = (errors - 2 * n * mean) / math.sqrt(2 * n * variance)
            print(f"{snr_db} dB: bit error rate {errors / n / 8:.4e}, theory {mean / 4:.4e}, {deviations:+.2f} sigma")
            self.assertLess(abs(deviations), 5)

    def test_known_bytes(self):
        """b0 rides on I and b1 on Q, above the midpoint is 0, an erasure is 127."""
        a = 1 / math.sqrt(170)
        symbols = [15 * a, -15 * a, math.nan, 0.1, 0.1, math.inf, 1e30, -1e30]
        bytes_ = self.soft_bits("-", data=array.array("f", symbols).tobytes())
        self.assertEqual([list(bytes_[:4]), bytes_[4:6]], [[255, 0, 0, 0], b"\0\0"])
        self.assertEqual(bytes_[8:24], 16 * b"\x7f")
        self.assertEqual(list(bytes_[24:30]), [255, 0, 0, 0, 0, 0])

    def test_formats_agree(self):
        """An integer stands for sample times scale, rounded once to binary32."""
        scales = {"1/8192": 1 / 8192, "0.0002": 0.0002, "1/3333": 1 / 3333, "2/16384": 1 / 8192, "1e-4": 1e-4}
        self.make("x.cs16", "--symbols", "3000", "--snr-db", "25")
        samples = array.array("h", self.read("x.cs16"))
        for text, scale in scales.items():
            floats = array.array("f", [sample * float32(scale) for sample in samples])
            self.assertEqual(
                self.soft_bits("--input-scale", text, "x.cs16"), self.soft_bits("-", data=floats.tobytes())
            )
        scaled = array.array("f", [sample / 8192 for sample in samples])
        self.write("y.cf32", scaled.tobytes())
        floats = array.array("f", [v * float32(0.7) for v in scaled])
        self.assertEqual(self.soft_bits("--input-scale", "0.7", "y.cf32"), self.soft_bits("-", data=floats.tobytes()))

    def test_default_scales(self):
        for name, scale in FULL_SCALE.items():
            self.make("x." + name, "--symbols", "3000", "--snr-db", "25")
            floats = [sample * scale for sample in unpack(TYPECODE[name], self.read("x." + name))]
            self.assertEqual(self.soft_bits("x." + name), self.soft_bits("-", data=pack("f", floats)))

    def test_suffixes(self):
        for name, suffixes in SUFFIXES.items():
            data = self.ok(self.gen("-q", "--symbols", "100", "--snr-db", "20", "-o", name, "-")).out
            expected = self.soft_bits("-i", name, "-", data=data)
            for suffix in suffixes + [s.upper() for s in suffixes] + [".old" + suffixes[0]]:
                self.assertEqual(self.soft_bits(self.write("x" + suffix, data)), expected, suffix)
            # A format that is named counts for more than a suffix.
            self.assertEqual(self.soft_bits("-i", name, self.write("x.cs8", data)), expected)
            self.assertEqual(self.soft_bits("--input-format=" + name, self.write("x.cf16", data)), expected)
            self.assertEqual(self.soft_bits("--input-format=" + name, self.write("x.cf32", data)), expected)
        data = self.ok(self.gen("--symbols", "100", "--snr-db", "20", "-")).out
        self.assertEqual(self.soft_bits("-", data=data), self.soft_bits(self.write("plain", data)))
        self.ok(self.demod("-o", "u8", "plain", "x.s8"))
        self.assertEqual(self.read("x.s8"), self.soft_bits("plain"))

    def test_chunks_streams_and_threads(self):
        self.make("x.cs16", "--symbols", "50003", "--snr-db", "22")
        expected = self.soft_bits("x.cs16")
        self.assertEqual(len(expected), 8 * 50003)
        for chunk, streams, threads in (
            ("1", "64", "1"), ("7", "1", "2"), ("1000", "3", "5"), ("4096", "2", "64"), ("50003", "1", "1"),
            ("50002", "1", "3"), ("100000", "64", "2"),
        ):  # fmt: skip
            arguments = ["--chunk", chunk, "--streams", streams, "--threads", threads]
            self.assertEqual(self.soft_bits(*arguments, "x.cs16"), expected, arguments)

    def test_block_boundaries(self):
        """One symbol more or less than the tool takes at once, from a file and from a pipe."""
        longest = 2 * ODD_BLOCK_SYMBOLS + 1
        self.make("x.cs16", "--symbols", str(longest), "--snr-db", "22")
        data = self.read("x.cs16")
        machine = ["-i", "cs16", "--chunk", "1000", "--streams", "3"]
        expected = self.soft_bits("-i", "cs16", "--chunk", "12345", "-", data=data)
        self.assertEqual(len(expected), 8 * longest)
        for block in (BLOCK_SYMBOLS, ODD_BLOCK_SYMBOLS):
            for n in (block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 1):
                self.write("y.cs16", data[: 4 * n])
                self.assertEqual(self.soft_bits(*machine, "-", data=data[: 4 * n]), expected[: 8 * n], n)
                self.ok(self.demod(*machine, "y.cs16", "y.u8"))
                self.assertEqual(self.read("y.u8"), expected[: 8 * n], n)

    def test_small_lengths(self):
        self.make("x.cs8", "--symbols", "40", "--snr-db", "22")
        data = self.read("x.cs8")
        expected = self.soft_bits("x.cs8")
        for n in (0, 1, 2, 3, 17, 39):
            self.assertEqual(self.soft_bits("-i", "cs8", "-", data=data[: 2 * n]), expected[: 8 * n])

    def test_verify(self):
        for name, scale in (
            ("x.cf32", "1"), ("x.cs16", "1/8192"), ("x.cf16", "1"), ("x.cf16", "0.9"), ("x.cs8", "1/64"),
            ("x.cs8", "3"),
        ):  # fmt: skip
            self.make(name, "--symbols", "30011", "--snr-db", "20")
            result = self.ok(self.demod("--verify", "--input-scale", scale, name, "x.u8"))
            self.assertRegex(
                result.err,
                r"^softqam-demod: verify: all 30011 symbols checked, every byte is liquid-dsp \d+\.\d+\.\d+'s\n$",
            )
        self.assertEqual(self.soft_bits("--verify", "-q", "x.cs8"), self.soft_bits("x.cs8"))

    def test_verify_special_floats(self):
        """Random bit patterns, which hold NaN, infinities and denormal numbers; erasures agree too."""
        words = [w for i in range(5000) for w in philox4x32((i, 0, 0, 7), (3, 4))]
        data = struct.pack(f"={len(words)}I", *words)
        result = self.ok(self.demod("--verify", "-", "x.u8", data=data))
        self.assertIn("all 10000 symbols checked", result.err)

    def test_verify_few(self):
        self.assertIn("all 0 symbols checked", self.ok(self.demod("--verify", "-", "x.u8")).err)
        self.assertIn("all 1 symbol checked", self.ok(self.demod("--verify", "-", "x.u8", data=bytes(8))).err)

    def test_verify_sample(self):
        """Beyond 16 Mi symbols one in 256 is checked."""
        n = (16 << 20) + 256 * 1000
        self.make("x.cs8", "--symbols", str(n), "--snr-db", "20")
        result = self.ok(self.demod("--verify", "--input-scale", "1/64", "x.cs8", "/dev/null"))
        self.assertIn(f"verify: sample of {(16 << 20) + 1000} of {n} symbols checked, every byte", result.err)

    def stats(self, *arguments, **options):
        """The lines of --stats by their first word."""
        result = self.ok(self.demod("--stats", *arguments, **options))
        lines = [line for line in result.err.splitlines() if not line.startswith("softqam-demod: ")]
        self.assertEqual({line[:2] for line in lines}, {"  "})
        starts = {re.match(r"  \w+ +", line).end() for line in lines}
        self.assertEqual(len(starts), 1, "not aligned:\n" + result.err)
        pairs = [line.split(None, 1) for line in lines]
        names = [name for name, _ in pairs if name != "N0"]
        self.assertEqual(
            names, ["symbols", "library", "overall", "backend", "saturated", "erased", "estimate", "EVM"]
        )
        return dict(pairs)

    def test_stats(self):
        self.make("x.cf32", "--symbols", "200000", "--snr-db", "31")
        lines = self.stats("x.cf32", "x.u8")
        self.assertEqual(lines["symbols"], "200000")
        rate = re.compile(r"^(\d+\.\d+) s, (\d+\.\d) Msym/s$")
        library, overall = (float(rate.match(lines[name]).group(1)) for name in ("library", "overall"))
        self.assertLessEqual(library, overall)
        for name in ("library", "overall"):
            seconds, megasymbols = map(float, rate.match(lines[name]).groups())
            self.assertAlmostEqual(megasymbols, 0.2 / seconds, delta=0.051 + 0.01 * megasymbols)
        self.assertRegex(lines["backend"], rf"^{BACKEND} \(.+\)$")
        saturated = sum(self.read("x.u8").count(byte) for byte in (b"\0", b"\xff"))
        self.assertEqual(lines["saturated"], f"{100 * saturated / 1600000:.4f} % of the soft bits")
        self.assertEqual(lines["erased"], "0 symbols")
        percent, db = map(float, re.match(r"^(\S+) %, (\S+) dB \(decision-directed", lines["EVM"]).groups())
        self.assertAlmostEqual(percent, 100 * 10 ** (-31 / 20), delta=0.02)
        self.assertAlmostEqual(db, 20 * math.log10(percent / 100), delta=0.01)
        noise_var, snr_db = map(float, re.match(r"^N0 (\S+), (\S+) dB \(", lines["estimate"]).groups())
        self.assertAlmostEqual(noise_var, 10**-3.1, delta=0.01 * 10**-3.1)
        self.assertAlmostEqual(snr_db, -10 * math.log10(noise_var), delta=0.01)
        self.assertNotIn("N0", lines)

    def test_stats_of_erasures(self):
        a = 1 / math.sqrt(170)
        symbols = [a, a, math.nan, 0, -math.inf, a, 1.1 * a, -3 * a, a, math.inf, -a, 15.2 * a]
        lines = self.stats("-q", "-", "x.u8", data=array.array("f", symbols).tobytes())
        self.assertEqual((lines["symbols"], lines["erased"]), ("6", "3 symbols"))
        expected = math.sqrt((0.01 + 0.04) / 170 / 3)
        self.assertTrue(lines["EVM"].startswith(f"{100 * expected:.4f} %, {20 * math.log10(expected):.2f} dB"), lines)
        lines = self.stats("-", "x.u8", data=array.array("f", [math.nan, 1.0]).tobytes())
        self.assertEqual((lines["erased"], lines["saturated"]), ("1 symbol", "0.0000 % of the soft bits"))
        self.assertTrue(lines["EVM"].startswith("unknown"), lines)

    def test_stats_of_nothing_and_of_points(self):
        lines = self.stats("-", "x.u8")
        self.assertEqual((lines["symbols"], lines["erased"]), ("0", "0 symbols"))
        self.assertTrue(lines["EVM"].startswith("unknown"), lines)
        self.assertTrue(lines["estimate"].startswith("unknown"), lines)
        lines = self.stats(self.make("x.cf32", "--symbols", "1000"), "x.u8")
        self.assertLess(float(re.search(r"(\S+) dB", lines["EVM"]).group(1)), -120)

    def test_stats_and_verify_leave_stdout_alone(self):
        self.make("x.cf32", "--symbols", "1000", "--snr-db", "20")
        plain = self.soft_bits("x.cf32")
        result = self.ok(self.demod("--stats", "--verify", "--progress", "always", "x.cf32", "-"))
        self.assertEqual(result.out, plain)

    def test_memory_is_bounded(self):
        peaks = []
        for n in (6000000, 16000000):
            source = self.start(GEN, "-q", "--symbols", str(n), "-o", "cs8", "-", stderr=None)
            sink = subprocess.Popen(
                [DEMOD, "--backend", BACKEND, "-i", "cs8", "-", "/dev/null"], stdin=source.stdout
            )
            _, status, usage = os.wait4(sink.pid, 0)
            sink.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual((sink.returncode, source.wait()), (0, 0))
            peaks.append(usage.ru_maxrss)
        self.assertLess(peaks[1], peaks[0] + 16384, "KiB")

    def test_cuda_device(self):
        """An ordinal that no machine has is the device's failure with CUDA, and of no interest without."""
        self.make("x.cf32", "--symbols", "10")
        result = self.demod("--device", "4095", "x.cf32", "x.u8")
        if BACKEND == "cpu":
            self.ok(result)
        else:
            self.assertIn(result.code, (1, 2))
            self.assertRegex(result.err, r"^softqam-demod: .+\n$")
            self.assertEqual(self.files(), ["x.cf32"])
            self.ok(self.demod("--device", "0", "x.cf32", "x.u8"))


class Llrs(ToolTest):
    """LLRs and the noise variances that they take."""

    uses_backend = True

    def llrs(self, format_, *arguments, **options):
        """What softqam-demod writes as LLRs of a format, as numbers."""
        return unpack(LLR_TYPECODE[format_], self.soft_bits("-o", format_, *arguments, **options))

    def refuses(self, arguments, message, data=b""):
        """Exit status 1, one line, and no output."""
        before = self.files()
        self.fails(self.demod(*arguments, "none.s8", data=data), 1, message)
        self.assertEqual(self.files(), before)

    def test_known_values(self):
        """Those of MATLAB's nrSymbolDemodulate for N0 = 2, and brute force over the levels; b0 rides on I, b1 on Q."""
        data = pack("f", [-2.454288, -2.454288, 0.3, -0.05])
        known = [-2.352941, -0.988235, -0.447059, -0.211765]
        llrs = self.llrs("f32", "--noise-var", "2", "-", data=data)
        for axis in range(2):
            for got, expected in zip(llrs[axis:8:2], known):
                self.assertAlmostEqual(got, expected, delta=1e-6)
        for axis, component in ((0, 0.3), (1, -0.05)):
            for got, expected in zip(llrs[8 + axis :: 2], max_log(component, 2)):
                self.assertAlmostEqual(got, expected, delta=1e-6)

    def test_verify(self):
        """Every input format, every LLR format, noise variances of every kind, both signs."""
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(1500)]))
        noise = (["--noise-var", "0.02"], ["--snr-db", "24"], ["--noise-file", "n.f32"], ["-q", "--noise-var", "auto"])
        formats = [f + sign for sign in "01" for f in LLR_FORMATS]
        for i, name in enumerate(SUFFIXES):
            self.make("x." + name, "--symbols", "1500", "--snr-db", "22", "--output-scale", "1/60")
            for k, text in enumerate(formats):
                arguments = ["-o", text[:-1], "--sign", text[-1], "--input-scale", "1/60", *noise[(i + k) % 4]]
                result = self.ok(self.demod("--verify", *arguments, "x." + name, "y"))
                self.assertEqual(
                    result.err,
                    "" if "-q" in arguments else "softqam-demod: verify: all 1500 symbols checked, every LLR is "
                    "double-precision max-log's within the bound for binary32\n",
                )

    def test_verify_special_floats(self):
        """Random bit patterns for symbols and noise variances; no NaN or infinity comes out."""
        words = [w for i in range(1000) for w in philox4x32((i, 0, 0, 8), (3, 4))]
        self.write("n.f32", pack("I", [w ^ 0x5A5A5A5A for w in words[:2000]]))
        for format_ in LLR_FORMATS:
            for limit in ([], ["--llr-limit", "31", "--llr-scale", "0.5"]) if format_ == "s8" else ([],):
                arguments = ["-o", format_, "--verify", "--noise-file", "n.f32", *limit]
                result = self.ok(self.demod(*arguments, "-", "y", data=pack("I", words)))
                self.assertIn("all 2000 symbols checked", result.err)
                self.assertTrue(all(map(math.isfinite, unpack(LLR_TYPECODE[format_], self.read("y")))))

    def test_verify_sample(self):
        """Beyond 256 Ki symbols one in 256 is checked."""
        n = (256 << 10) + 256 * 100
        self.make("x.cs8", "--symbols", str(n), "--snr-db", "20")
        arguments = ["--verify", "--input-scale", "1/64", "--snr-db", "20", "x.cs8", "x.s8"]
        self.assertIn(
            f"verify: sample of {(256 << 10) + 100} of {n} symbols checked, every LLR of it is double-precision",
            self.ok(self.demod(*arguments)).err,
        )

    def test_formats_by_suffix(self):
        data = self.read(self.make("x.cf32", "--symbols", "100", "--snr-db", "20"))
        for name, nbytes in (("s8", 8), ("f16", 16), ("f32", 32)):
            expected = self.soft_bits("-o", name, "--snr-db", "20", "-", data=data)
            self.assertEqual(len(expected), 100 * nbytes)
            for path in ("y." + name, "z." + name.upper()):
                self.ok(self.demod("--snr-db", "20", "x.cf32", path))
                self.assertEqual(self.read(path), expected)
            self.ok(self.demod("--snr-db", "20", "--output-format=" + name, "x.cf32", "z.u8"))
            self.assertEqual(self.read("z.u8"), expected)

    def test_formats_agree(self):
        """f16 is f32 rounded; s8 is f32 in steps, rounded and limited, but for what the float's last bit decides."""
        self.make("x.cf32", "--symbols", "5000", "--snr-db", "18")
        exact = self.llrs("f32", "--snr-db", "18", "x.cf32")
        self.assertEqual(pack("e", self.llrs("f16", "--snr-db", "18", "x.cf32")), pack("e", exact))
        for scale, limit in ((6, 127), (1, 127), (100, 127), (6, 31), (0.25, 1)):
            arguments = ["--llr-scale", str(scale), "--llr-limit", str(limit), "--snr-db", "18", "x.cf32"]
            for got, llr in zip(self.llrs("s8", *arguments), exact):
                step = max(-limit, min(limit, scale * llr))
                self.assertLessEqual(abs(got - step), 0.5 + 1e-4)
        self.assertEqual(
            self.llrs("s8", "--snr-db", "18", "x.cf32"),
            self.llrs("s8", "--snr-db", "18", "--llr-scale", "6", "--llr-limit", "127", "x.cf32"),
        )

    def test_ways_to_give_the_noise_variance(self):
        self.make("x.cf32", "--symbols", "2000", "--snr-db", "20")
        for snr_db in (-3.7, 0, 17.3, 30, 45.5):
            noise_var = 10 ** (-snr_db / 10)
            self.write("n.f32", pack("f", 2000 * [noise_var]))
            llrs = {
                self.soft_bits("-o", "f32", *arguments, "x.cf32")
                for arguments in (
                    ["--snr-db", str(snr_db)], ["--noise-var", repr(noise_var)], ["--noise-file", "n.f32"],
                    ["--noise-var", f"{noise_var * 1e3!r}/1e3"],
                    ["--noise-var", "7", "--noise-var", repr(noise_var)], ["--snr-db", "7", "--snr-db", str(snr_db)],
                )
            }  # fmt: skip
            self.assertEqual(len(llrs), 1)

    def test_noise_per_symbol(self):
        """Each symbol has its own, as if demodulated alone."""
        data = self.read(self.make("x.cf32", "--symbols", "50", "--snr-db", "20"))
        noise = [10 ** (-i / 10) for i in range(50)]
        self.write("n.f32", pack("f", noise))
        llrs = self.soft_bits("-o", "s8", "--noise-file", "n.f32", "x.cf32")
        for i in range(0, 50, 7):
            arguments = ["-o", "s8", "--noise-var", repr(float32(noise[i])), "-"]
            self.assertEqual(self.soft_bits(*arguments, data=data[8 * i : 8 * i + 8]), llrs[8 * i : 8 * i + 8])

    def test_special_noise_variances(self):
        """What is no noise variance erases its symbol; the smallest saturates; the largest says nothing."""
        a = 1 / math.sqrt(170)
        noise = [0, -0.0, -1, math.nan, math.inf, -math.inf, 1e-45, 3e38, 0.01]
        self.write("n.f32", pack("f", noise))
        data = pack("f", len(noise) * [15 * a, -15 * a])
        for format_, largest in (("s8", 127), ("f16", 65504), ("f32", float32(3.4028234e38))):
            llrs = self.llrs(format_, "--noise-file", "n.f32", "-", data=data)
            self.assertEqual(set(llrs[:48]), {0})
            self.assertEqual([abs(llr) for llr in llrs[48:50]], 2 * [largest])
            # The factor is limited to the largest float, which leaves the least of f32's LLRs below that.
            self.assertGreaterEqual(min(abs(llr) for llr in llrs[48:56]), min(largest, 4 / 170 * 3.4e38))
            self.assertLess(max(map(abs, llrs[56:64])), 1e-37)
            self.assertEqual([llr > 0 for llr in llrs[64:66]], [True, False])
            symbols = pack("f", [math.nan, 0, math.inf, 0, 0, -math.inf])
            self.assertEqual(set(self.llrs(format_, "--snr-db", "20", "-", data=symbols)), {0})

    def test_bit_error_rate(self):
        """The signs are the hard decisions of the soft bits, and as often wrong as theory says."""
        n = 300000
        for snr_db in (24, 27):
            self.make("x.cf32", "--symbols", str(n), "--snr-db", str(snr_db), "--bits", "x.bits")
            sent, hard = self.read("x.bits"), hard_bits(self.soft_bits("x.cf32"))
            mean, variance = bit_errors_per_component(snr_db)
            for format_ in LLR_FORMATS:
                data = self.soft_bits("-o", format_, "--snr-db", str(snr_db), "x.cf32")
                decided = hard_bits_of_llrs(format_, data)
                deviations = (count_differences(decided, sent) - 2 * n * mean) / math.sqrt(2 * n * variance)
                print(f"{snr_db} dB, {format_}: bit errors {deviations:+.2f} sigma from theory")
                # A few of s8's LLRs are rounded to 0 and decided as 0.
                self.assertLess(abs(deviations), 5)
                undecided = data.count(0) if format_ == "s8" else 2
                self.assertLessEqual(count_differences(decided, hard), undecided)

    def test_sign(self):
        """The opposite sign negates LLRs exactly; of soft bits, 255 and 0 change places and 127 stays."""
        a = 1 / math.sqrt(170)
        data = self.read(self.make("x.cf32", "--symbols", "3000", "--snr-db", "20")) + pack("f", [math.nan, 0, a, -a])
        for format_ in LLR_FORMATS:
            arguments = ["--snr-db", "20", "-"]
            plain = self.llrs(format_, *arguments, data=data)
            self.assertEqual(self.llrs(format_, "--sign", "0", *arguments, data=data), plain)
            opposite = self.llrs(format_, "--sign", "1", *arguments, data=data)
            self.assertEqual(opposite, tuple(-llr for llr in plain))
            self.assertGreater(max(plain), 0)
        plain, opposite = self.soft_bits("-", data=data), self.soft_bits("--sign", "1", "-", data=data)
        self.assertEqual(self.soft_bits("--sign", "0", "-", data=data), plain)
        self.assertEqual(opposite[8 * 3000 : 8 * 3001], 8 * b"\x7f")
        right = {byte: {max(253 - byte, 0), max(254 - byte, 0)} for byte in range(256)}
        right[0].add(255)
        for byte, flipped in zip(plain, opposite):
            self.assertIn(flipped, right[byte])
        self.assertGreater(sum((p, o) == (0, 255) for p, o in zip(plain, opposite)), 3000)
        result = self.ok(self.demod("--sign", "1", "--verify", "-", "y.u8", data=data))
        self.assertRegex(
            result.err,
            r"^softqam-demod: verify: all 3002 symbols checked, every byte is liquid-dsp [\d.]+'s with the opposite "
            r"sign, within one step\n$",
        )

    def test_half_float_input(self):
        """cf16 is widened exactly."""
        halves = unpack("e", self.read(self.make("x.cf16", "--symbols", "3000", "--snr-db", "20")))
        halves += unpack("e", bytes.fromhex("0000008001000180ff03ff83ff7bfffb007c00fc007e007e"))
        for scale in ("1", "0.7"):
            data = pack("f", [half * float32(float(scale)) for half in halves])
            for arguments in (["-o", "u8"], ["-o", "s8", "--snr-db", "20"], ["-o", "f32", "--snr-db", "20"]):
                got = self.soft_bits("-i", "cf16", "--input-scale", scale, *arguments, "-", data=pack("e", halves))
                self.assertEqual(got, self.soft_bits(*arguments, "-", data=data))

    def test_chunks_streams_and_threads(self):
        n = 50003
        self.make("x.cf16", "--symbols", str(n), "--snr-db", "22")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 83) for i in range(n)]))
        for format_ in LLR_FORMATS:
            for noise in (["--noise-file", "n.f32"], ["--noise-var", "auto", "-q"]):
                expected = self.soft_bits("-o", format_, *noise, "x.cf16")
                for chunk, streams, threads in (("7", "1", "2"), ("1000", "3", "5"), ("50002", "1", "1")):
                    arguments = ["--chunk", chunk, "--streams", streams, "--threads", threads, "-o", format_, *noise]
                    self.assertEqual(self.soft_bits(*arguments, "x.cf16"), expected, arguments)

    def test_block_boundaries(self):
        """Noise variances keep step with symbols from block to block, and an estimate is the first block's."""
        longest = ODD_BLOCK_SYMBOLS + 1
        data = self.read(self.make("x.cs8", "--symbols", str(longest), "--snr-db", "22"))
        noise = array.array("f", [0.001 * (1 + i % 83) for i in range(longest)]).tobytes()
        machine = ["-q", "-i", "cs8", "-o", "s8", "--input-scale", "1/64", "--chunk", "1000", "--streams", "3"]
        self.write("n", noise)
        expected = self.soft_bits("--noise-file", "n", *machine, "x.cs8")
        self.assertEqual(len(expected), 8 * longest)
        auto = self.soft_bits("--noise-var", "auto", *machine, "-", data=data[: 2 * BLOCK_SYMBOLS])
        for n in (BLOCK_SYMBOLS - 1, BLOCK_SYMBOLS, BLOCK_SYMBOLS + 1, ODD_BLOCK_SYMBOLS, longest):
            self.write("n", noise[: 4 * n])
            self.assertEqual(self.soft_bits("--noise-file", "n", *machine, "-", data=data[: 2 * n]), expected[: 8 * n])
            if n >= BLOCK_SYMBOLS:
                for source in ("-", self.write("y.cs8", data[: 2 * n])):
                    got = self.soft_bits("--noise-var", "auto", *machine, source, data=data[: 2 * n])
                    self.assertEqual(got[: 8 * BLOCK_SYMBOLS], auto)

    def test_noise_file_of_another_length(self):
        data = self.read(self.make("x.cf32", "--symbols", "1000", "--snr-db", "20"))
        arguments = ["--noise-file", "n.f32"]
        for n, values in ((999, "999 noise variances"), (1, "1 noise variance"), (0, "0 noise variances"),
                          (1001, "1001 noise variances")):  # fmt: skip
            self.write("n.f32", bytes(4 * n))
            self.refuses([*arguments, "x.cf32"], f"n.f32: has {values}, but x.cf32 has 1000 symbols")
            message = f"ends after {values}, but standard input has more symbols"
            if n > 1000:
                message = "goes on after 1000 noise variances, but standard input has no more symbols"
            self.refuses([*arguments, "-"], "n.f32: " + message, data=data)
        self.write("n.f32", bytes(4 * 1000 + 3))
        whole = "not a whole number of noise variances: {} left over (a noise variance has 4)"
        self.refuses([*arguments, "x.cf32"], "n.f32: " + whole.format("3 bytes"))
        self.write("n.f32", bytes(4 * 999 + 1))
        self.refuses([*arguments, "-"], "n.f32: " + whole.format("1 byte"), data=data)
        self.write("one.cf32", data[:8])
        self.write("n.f32", bytes(8))
        self.refuses([*arguments, "one.cf32"], "n.f32: has 2 noise variances, but one.cf32 has 1 symbol")
        message = "goes on after 0 noise variances, but standard input has no more symbols"
        self.refuses([*arguments, "-"], "n.f32: " + message)
        self.write("old.s8", b"old")
        self.assertEqual(self.demod(*arguments, "-", "old.s8", data=data).code, 1)
        self.assertEqual(self.read("old.s8"), b"old")

    def test_long_noise_file_of_another_length(self):
        """Found after blocks have been written."""
        n = BLOCK_SYMBOLS + 1000
        data = bytes(2 * n)
        for n_values, message in (
            (n - 1, f"ends after {n - 1} noise variances, but standard input has more symbols"),
            (BLOCK_SYMBOLS, f"ends after {BLOCK_SYMBOLS} noise variances, but standard input has more symbols"),
            (n + 1, f"goes on after {n} noise variances, but standard input has no more symbols"),
        ):
            self.write("n.f32", bytes(4 * n_values))
            self.refuses(["-i", "cs8", "--noise-file", "n.f32", "-"], "n.f32: " + message, data=data)

    def test_noise_file_that_cannot_be(self):
        self.make("x.cf32", "--symbols", "10")
        self.refuses(["--noise-file", "missing", "x.cf32"], "missing: No such file or directory")
        self.refuses(["--noise-file", "", "x.cf32"], "'': No such file or directory")
        self.refuses(["--noise-file", ".", "x.cf32"], ".: Is a directory")

    def test_noise_from_standard_input(self):
        self.make("x.cf32", "--symbols", "100", "--snr-db", "20")
        noise = pack("f", [0.001 * (1 + i % 7) for i in range(100)])
        expected = self.soft_bits("-o", "f16", "--noise-file", self.write("n", noise), "x.cf32")
        self.assertEqual(self.soft_bits("-o", "f16", "--noise-file", "-", "x.cf32", data=noise), expected)
        self.refuses(
            ["--noise-file", "-", "x.cf32"],
            "standard input: ends after 99 noise variances, but x.cf32 has more symbols", data=noise[:-4],
        )  # fmt: skip

    def test_noise_fifo(self):
        n = 300000
        data = self.read(self.make("x.cs8", "--symbols", str(n), "--snr-db", "20"))
        noise = array.array("f", [0.001 * (1 + i % 83) for i in range(n)]).tobytes()
        arguments = ["-i", "cs8", "-o", "s8", "--input-scale", "1/64", "--noise-file"]
        expected = self.soft_bits(*arguments, self.write("n", noise), "x.cs8")
        os.mkfifo(self.path("fifo"))
        for cut, source in ((0, "-"), (0, "x.cs8"), (4, "x.cs8"), (4, "-")):
            writer = threading.Thread(target=self.write, args=("fifo", noise[: len(noise) - cut]))
            writer.start()
            result = self.demod(*arguments, "fifo", source, "-", data=data if source == "-" else b"")
            writer.join(TIMEOUT)
            if not cut:
                self.assertEqual((result.out, result.err), (expected, ""))
                continue
            name = "standard input" if source == "-" else source
            self.fails(result, 1, f"fifo: ends after {n - 1} noise variances, but {name} has more symbols")

    def estimated(self, result):
        """The noise variance that --noise-var auto says it has found, and from how many symbols."""
        match = re.match(
            r"^softqam-demod: [^:]+: noise variance (\S+) \(Es/N0 (\S+) dB\), estimated from (\d+) symbols?\n",
            self.ok(result).err,
        )
        noise_var, snr_db, n = map(float, match.groups())
        self.assertAlmostEqual(snr_db, -10 * math.log10(noise_var), delta=0.006)
        return noise_var, n

    def test_auto(self):
        """Within 5 % of the truth, from where most decisions are wrong to where none is."""
        for snr_db in (10, 16, 20, 25, 30, 36, 40):
            self.make("x.cf32", "--symbols", "262144", "--snr-db", str(snr_db))
            result = self.demod("--noise-var", "auto", "x.cf32", "x.s8")
            noise_var, n = self.estimated(result)
            true = 10 ** (-snr_db / 10)
            print(f"{snr_db} dB: estimate {noise_var:.6g}, {100 * (noise_var / true - 1):+.2f} %")
            self.assertEqual(n, 262144)
            self.assertLess(abs(noise_var / true - 1), 0.05)
            self.assertEqual(result.err.count("\n"), 1)
        # What it says is what it used.
        exact = self.llrs("f32", "--noise-var", repr(noise_var), "x.cf32")
        for got, expected in zip(self.llrs("f32", "-q", "--noise-var", "auto", "x.cf32"), exact[:1000]):
            self.assertAlmostEqual(got, expected, delta=1e-5 * abs(expected))

    def test_auto_takes_the_first_symbols(self):
        data = self.read(self.make("x.cf32", "--symbols", "262144", "--snr-db", "20"))
        bad = pack("f", 4000 * [0.5])
        alone = self.estimated(self.demod("--noise-var", "auto", "x.cf32", "y.s8"))
        machine = ["--chunk", "100000", "--streams", "3"]
        for arguments in ([], machine):
            result = self.demod("--noise-var", "auto", *arguments, "-", "y.s8", data=data + bad)
            self.assertEqual(self.estimated(result), alone)
        self.assertNotEqual(self.estimated(self.demod("--noise-var", "auto", "-", "y.s8", data=bad + data)), alone)

    def test_auto_leaves_out_what_is_not_finite(self):
        data = self.read(self.make("x.cf32", "--symbols", "3000", "--snr-db", "30"))
        expected = self.estimated(self.demod("--noise-var", "auto", "x.cf32", "y.s8"))
        bad = pack("f", [math.nan, 0.1, 0.1, math.inf, -math.inf, math.nan])
        result = self.demod("--noise-var", "auto", "-", "y.s8", data=bad + data + bad)
        self.assertEqual(self.estimated(result), expected)

    def test_auto_without_a_symbol(self):
        nothing = "no finite symbol among the first 262144 to estimate the noise variance from"
        auto = ["--noise-var", "auto"]
        self.refuses([*auto, self.write("x.cf32", b"")], f"x.cf32: {nothing}")
        self.refuses([*auto, "-"], f"standard input: {nothing}", data=pack("f", [math.nan, 1.0, 1.0, math.inf]))
        bad = pack("H", 2 * BLOCK_SYMBOLS * [0x7E00] + 2000 * [0])
        for machine in ([], ["--chunk", "1000", "--streams", "3"]):
            self.refuses([*auto, "-i", "cf16", *machine, "-"], f"standard input: {nothing}", data=bad)

    def test_auto_without_noise(self):
        """The rounding of the symbols is the noise that is left."""
        for name, bits in (("x.cf32", 24), ("x.cf16", 11)):
            self.make(name, "--symbols", "3000", "--bits", "x.bits")
            noise_var, _ = self.estimated(self.demod("--noise-var", "auto", name, "y.f32"))
            self.assertLess(noise_var, 4.0**-bits)
            self.assertEqual(hard_bits_of_llrs("f32", self.read("y.f32")), self.read("x.bits"))

    def test_stats(self):
        self.make("x.cf32", "--symbols", "100000", "--snr-db", "26")
        self.write("n.f32", pack("f", 99999 * [0.002] + [-1.0]))
        for arguments, noise in (
            (["--snr-db", "25"], r"^0\.00316228, 25\.00 dB \(as given\)$"),
            (["--noise-var", "auto"], r"^0\.0025\d+, (25.9|26.0)\d dB \(estimated from the first symbols\)$"),
            (["--noise-file", "n.f32"], r"^one a symbol, from n\.f32$"),
        ):
            for format_, largest in (("s8", 127), ("f16", 65504), ("f32", 3.4e38)):
                result = self.ok(self.demod("-q", "--stats", *arguments, "-o", format_, "x.cf32", "y"))
                lines = dict(line.split(None, 1) for line in result.err.splitlines())
                self.assertEqual(len(lines), 9, result.err)
                self.assertRegex(lines["N0"], noise)
                llrs = unpack(LLR_TYPECODE[format_], self.read("y"))
                share = sum(abs(llr) >= largest for llr in llrs) / len(llrs)
                self.assertEqual(lines["saturated"], f"{100 * share:.4f} % of the LLRs")
                self.assertEqual(lines["erased"], "1 symbol" if "n.f32" in arguments else "0 symbols")
                estimate = float(re.match(r"^N0 (\S+), ", lines["estimate"]).group(1))
                self.assertAlmostEqual(estimate / 10**-2.6, 1, delta=0.02)

    def test_stats_of_saturation(self):
        """f16 and f32 saturate at their largest number."""
        a = 1 / math.sqrt(170)
        self.write("n.f32", pack("f", [1e-45, 0.01, 0.01, 0.01]))
        data = pack("f", 4 * [15 * a, -15 * a])
        for format_, share in (("f16", "25.0000"), ("f32", "6.2500")):
            result = self.ok(self.demod("--stats", "-o", format_, "--noise-file", "n.f32", "-", "y", data=data))
            self.assertIn(f"saturated  {share} % of the LLRs\n", result.err)
            self.assertNotIn("warning", result.err)

    def test_saturation_warning(self):
        """Not at the default scale, where most LLRs may saturate and nothing is lost; not of soft bits; not unasked."""
        for snr_db in (16, 20, 30, 36):
            self.make("x.cf32", "--symbols", "20000", "--snr-db", str(snr_db))
            stats = ["--stats", "--snr-db", str(snr_db)]
            self.assertNotIn("warning", self.ok(self.demod(*stats, "x.cf32", "x.s8")).err)
            result = self.ok(self.demod(*stats, "-q", "--llr-scale", "100", "x.cf32", "x.s8"))
            self.assertRegex(
                result.err.splitlines()[-1],
                r"^softqam-demod: x\.s8: warning: \d+\.\d % of the LLRs saturate, at only 1\.27 nats, which costs "
                r"decoder performance; lower --llr-scale \(100\)$",
            )
        warned = {}
        for scale in (16, 20):  # 0.004 and 0.020 bit a symbol lost, where all LLRs saturate
            result = self.ok(self.demod("--stats", "--snr-db", "36", "--llr-scale", str(scale), "x.cf32", "x.s8"))
            warned[scale] = "warning" in result.err
        self.assertEqual(warned, {16: False, 20: True})
        limited = ["--stats", "--snr-db", "36", "--llr-limit", "20"]
        self.assertIn("at only 3.33 nats", self.ok(self.demod(*limited, "x.cf32", "x.s8")).err)
        self.assertNotIn("warning", self.ok(self.demod(*limited, "--llr-scale", "1", "x.cf32", "x.s8")).err)
        # Only the outermost levels' first bit, one LLR in 32.
        few = self.ok(self.demod("--stats", "--snr-db", "0", "--llr-scale", "100", "x.cf32", "x.s8")).err
        self.assertRegex(few, r"saturated +3\.\d+ % of the LLRs")
        self.assertNotIn("warning", few)
        self.assertNotIn("warning", self.ok(self.demod("--stats", "x.cf32", "x.u8")).err)
        self.assertEqual(self.ok(self.demod("--snr-db", "36", "--llr-scale", "100", "x.cf32", "x.s8")).err, "")


class Streams(ToolTest):
    """Pipes, FIFOs and what is not a regular file."""

    uses_backend = True

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "3000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")

    def test_dribbled_pipe(self):
        process = self.start(DEMOD, "--backend", BACKEND, "-", "y.u8", bufsize=0)
        place = 0
        for i in range(60):
            n = (1, 3, 7, 64, 1001)[i % 5]
            process.stdin.write(self.data[place : place + n])
            place += n
            time.sleep(0.002)
        self.assertNotIn("y.u8", self.files())
        process.stdin.write(self.data[place:])
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(self.read("y.u8"), self.expected)

    def test_pipes_on_both_sides(self):
        self.assertEqual(self.soft_bits("-", data=self.data), self.expected)

    def test_fifos(self):
        os.mkfifo(self.path("in"))
        os.mkfifo(self.path("out"))
        process = self.start(DEMOD, "--backend", BACKEND, "in", "out")
        received = []
        reader = threading.Thread(target=lambda: received.append(self.read("out")))
        reader.start()
        self.write("in", self.data)
        self.assertEqual(process.wait(TIMEOUT), 0)
        reader.join(TIMEOUT)
        self.assertEqual(received, [self.expected])
        self.assertEqual(self.files(), ["in", "out", "x.cf32"])

    def test_stdin_from_the_middle_of_a_file(self):
        with open(self.path("x.cf32"), "rb") as file:
            file.seek(8 * 1000)
            file.flush()
            os.lseek(file.fileno(), 8 * 1000, os.SEEK_SET)
            self.assertEqual(self.soft_bits("-", stdin=file), self.expected[8 * 1000 :])

    def test_dev_null(self):
        self.ok(self.demod("x.cf32", "/dev/null"))
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))
        self.assertEqual(self.soft_bits("/dev/null"), b"")

    def test_dev_full(self):
        self.fails(self.demod("x.cf32", "/dev/full"), 1, "/dev/full: No space left on device")
        with open("/dev/full", "wb") as full:
            result = self.demod("x.cf32", "-", stdout=full)
            self.fails(result, 1, "standard output: No space left on device")
        self.fails(self.gen("/dev/full"), 1, "/dev/full: No space left on device", "softqam-gen")
        self.fails(
            self.gen("--bits", "/dev/full", "y.cf32"), 1, "/dev/full: No space left on device", "softqam-gen"
        )
        self.fails(
            self.gen("--bits", "y.bits", "/dev/full"), 1, "/dev/full: No space left on device", "softqam-gen"
        )
        self.assertEqual(self.files(), ["x.cf32"])

    def test_reader_leaves(self):
        for program, arguments in ((DEMOD, ["--backend", BACKEND, "x.cs8", "-"]), (GEN, ["-"])):
            self.make("x.cs8", "--symbols", "100000")
            process = self.start(program, *arguments)
            process.stdout.read(10)
            process.stdout.close()
            error = process.stderr.read().decode()
            self.assertEqual(error, f"{os.path.basename(program)}: standard output: Broken pipe\n")
            self.assertEqual(process.wait(TIMEOUT), 1)

    def test_closed_standard_streams(self):
        """A file that takes the descriptor of a closed stream must not be written or read in its place."""
        result = self.demod("x.cf32", "-", stdout=None, preexec_fn=lambda: os.close(1))
        self.fails(result, 1, "standard output: Bad file descriptor")
        result = self.demod("-", "y.u8", stdin=None, preexec_fn=lambda: os.close(0))
        self.fails(result, 1, "standard input: Bad file descriptor")
        self.assertEqual(self.files(), ["x.cf32"])
        # The output would be the first to get descriptor 2, and messages with it.
        progress = ["--progress", "always"]
        result = self.demod(*progress, "-", "y.u8", data=self.data, stderr=None, preexec_fn=lambda: os.close(2))
        self.assertEqual((result.code, result.out), (0, b""))
        self.assertEqual(self.read("y.u8"), self.expected)
        result = self.demod(
            "x.cf32", "z.u8", stdin=None, stdout=None, stderr=None, preexec_fn=lambda: os.closerange(0, 3)
        )
        self.assertEqual(result.code, 0)
        self.assertEqual(self.read("z.u8"), self.expected)


class Files(ToolTest):
    """OUTPUT appears complete or not at all."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "300", "--snr-db", "20")
        self.expected = self.soft_bits("x.cf32")

    def unchanged(self, result, code, message, program="softqam-demod"):
        """The tool failed, x.u8 is as it was, and nothing else is there."""
        self.fails(result, code, message, program)
        self.assertEqual(self.files(), ["x.cf32", "x.u8"])
        self.assertEqual(self.read("x.u8"), b"old")

    def test_empty_input(self):
        self.write("empty", b"")
        self.ok(self.demod("empty", "empty.u8"))
        self.assertEqual(self.read("empty.u8"), b"")
        self.assertEqual(self.ok(self.demod("-", "-")).out, b"")

    def test_truncated_input(self):
        text = "not a whole number of symbols: {} left over (a symbol has {})"
        for name, size, n in (("x.cf32", 8, 1), ("x.cf32", 8, 7), ("x.cs16", 4, 3), ("x.cs8", 2, 1)):
            for whole in (0, 1, 1000):
                self.write(name, bytes(whole * size + n))
                left = f"{n} byte{'' if n == 1 else 's'}"
                self.fails(self.demod(name, "y.u8"), 1, f"{name}: " + text.format(left, size))
                result = self.demod("-i", name[2:], "-", "y.u8", data=bytes(whole * size + n))
                self.fails(result, 1, "standard input: " + text.format(left, size))
                self.assertNotIn("y.u8", self.files())
                self.assertFalse([f for f in self.files() if f.startswith(".")])

    def test_truncated_after_blocks(self):
        data = bytes(8 * BLOCK_SYMBOLS + 5)
        self.write("x.u8", b"old")
        self.unchanged(
            self.demod("-", "x.u8", data=data), 1,
            "standard input: not a whole number of symbols: 5 bytes left over (a symbol has 8)",
        )  # fmt: skip

    def test_missing_input(self):
        self.write("x.u8", b"old")
        self.unchanged(self.demod("missing.cf32", "x.u8"), 1, "missing.cf32: No such file or directory")
        self.unchanged(self.demod("", "x.u8"), 1, "'': No such file or directory")
        self.unchanged(self.demod("x.cf32/y", "x.u8"), 1, "x.cf32/y: Not a directory")

    def test_directory(self):
        self.fails(self.demod(".", "y.u8"), 1, ".: Is a directory")
        self.fails(self.demod("x.cf32", "."), 1, ".: Is a directory")
        self.fails(self.gen("."), 1, ".: Is a directory", "softqam-gen")
        self.assertEqual(self.files(), ["x.cf32"])

    def test_output_that_cannot_be(self):
        self.fails(self.demod("x.cf32", "none/y.u8"), 1, "none/y.u8: No such file or directory")
        self.fails(self.demod("x.cf32", "none/"), 1, "none/: No such file or directory")
        self.fails(self.demod("x.cf32", ""), 1, "'': No such file or directory")
        self.fails(self.demod("x.cf32", "x.cf32/y.u8"), 1, "x.cf32/y.u8: Not a directory")
        too_long = 256 * "y"
        self.fails(self.demod("x.cf32", too_long), 1, too_long + ": File name too long")
        self.assertEqual(self.files(), ["x.cf32"])

    def test_longest_name(self):
        name = 252 * "y" + ".u8"
        self.ok(self.demod("x.cf32", name))
        self.assertEqual(self.read(name), self.expected)

    def test_control_characters_in_names(self):
        self.fails(self.demod("a\nb\x1b[1m\x7f", "y.u8"), 1, "a\\nb\\x1b[1m\\x7f: No such file or directory")
        self.fails(self.demod("\u00fc\u20ac", "y.u8"), 1, "\u00fc\u20ac: No such file or directory")

    def as_nobody(self):
        """Options of a process for whom permissions count."""
        if os.geteuid() != 0:
            return {}
        os.chmod(self.directory, 0o755)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            self.assertEqual(self.run_tool(DEMOD, "-V", **options).code, 0)
        except (PermissionError, AssertionError):
            self.skipTest("permissions do not bind root, and nobody else can run the tools")
        return options

    def test_permissions(self):
        nobody = self.as_nobody()
        self.write("locked.cf32", b"")
        os.chmod(self.path("locked.cf32"), 0)
        self.fails(self.demod("locked.cf32", "y.u8", **nobody), 1, "locked.cf32: Permission denied")
        os.mkdir(self.path("closed"))
        os.chmod(self.path("closed"), 0o555)
        self.fails(self.demod("x.cf32", "closed/y.u8", **nobody), 1, "closed/y.u8: Permission denied")
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        self.write("open/y.u8", b"old")
        os.chmod(self.path("open/y.u8"), 0o444)
        # The directory would allow it to be replaced, but its owner did not.
        self.fails(self.demod("x.cf32", "open/y.u8", **nobody), 1, "open/y.u8: Permission denied")
        self.assertEqual(self.read("open/y.u8"), b"old")
        self.assertEqual(os.listdir(self.path("open")), ["y.u8"])

    def test_mode(self):
        for mask, mode in ((0o022, 0o644), (0o027, 0o640), (0, 0o666)):
            self.ok(self.demod("x.cf32", "y.u8", umask=mask))
            self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, mode)
            os.unlink(self.path("y.u8"))
        for mode in (0o600, 0o664, 0o755):
            self.write("y.u8", b"old")
            os.chmod(self.path("y.u8"), mode)
            self.ok(self.demod("x.cf32", "y.u8", umask=0o077))
            self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, mode)
            self.assertEqual(self.read("y.u8"), self.expected)

    def test_replaced_at_once(self):
        """Who has the old file open keeps the old bytes: it is a new file that takes the name."""
        self.write("y.u8", b"old")
        with open(self.path("y.u8"), "rb") as old:
            self.ok(self.demod("x.cf32", "y.u8"))
            self.assertEqual(old.read(), b"old")
        self.assertEqual(self.read("y.u8"), self.expected)
        self.assertEqual(self.files(), ["x.cf32", "y.u8"])

    def test_symlinks(self):
        os.mkdir(self.path("d"))
        self.write("d/real", b"old")
        os.symlink("d/link2", self.path("link1"))
        os.symlink("real", self.path("d/link2"))
        os.symlink("d/fresh", self.path("dangling"))
        os.symlink(self.path("d/absolute"), self.path("to-absolute"))
        for link, target in (("link1", "d/real"), ("dangling", "d/fresh"), ("to-absolute", "d/absolute")):
            self.ok(self.demod("x.cf32", link))
            self.assertEqual(self.read(target), self.expected)
            self.assertTrue(os.path.islink(self.path(link)))
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["absolute", "fresh", "link2", "real"])
        os.symlink("loop", self.path("loop"))
        self.fails(self.demod("x.cf32", "loop"), 1, "loop: Too many levels of symbolic links")
        os.symlink("/dev/null", self.path("null"))
        self.ok(self.demod("x.cf32", "null"))
        self.assertTrue(os.path.islink(self.path("null")))

    def test_input_is_output(self):
        self.ok(self.demod("x.cf32", "x.cf32"))
        self.assertEqual(self.read("x.cf32"), self.expected)

    def test_bits_and_output_are_one(self):
        os.mkdir(self.path("d"))
        for bits, output in (("y", "y"), ("./y", "y"), ("d/../y", "y"), ("x.cf32", "x.cf32"), ("-", "-")):
            result = self.gen("--symbols", "10", "--bits", bits, output)
            self.fails(result, 2, f"--bits: '{bits}' is OUTPUT as well", "softqam-gen")
        self.assertEqual(self.files(), ["d", "x.cf32"])
        self.ok(self.gen("--symbols", "10", "--bits", "d/y", "y"))

    def test_neither_file_without_the_other(self):
        self.write("x.u8", b"old")
        self.unchanged(
            self.gen("--bits", "none/b", "x.u8"), 1, "none/b: No such file or directory", "softqam-gen"
        )
        self.unchanged(
            self.gen("--bits", "x.u8", "none/b"), 1, "none/b: No such file or directory", "softqam-gen"
        )
        self.unchanged(self.gen("--bits", "x.u8", "/dev/full"), 1, "/dev/full: No space left on device", "softqam-gen")

    def test_second_file_cannot_take_its_name(self):
        """The first one is taken back, unless it has replaced another."""
        for output in ("y", "x.cf32"):
            process = self.start(GEN, "-q", "--symbols", "5000000", "--bits", "b", "-o", "cs8", output)
            self.wait_for_temporary(2)
            os.mkdir(self.path("b"))
            self.assertEqual(process.stderr.read(), b"softqam-gen: b: Is a directory\n")
            self.assertEqual(process.wait(TIMEOUT), 1)
            os.rmdir(self.path("b"))
            self.assertEqual(self.files(), ["x.cf32"])

    def test_full_file_system(self):
        """A limit on the size of files stands for a disk that fills up half way."""
        self.make("x.cf32", "--symbols", "300000")
        self.write("x.u8", b"old")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        self.unchanged(self.demod("x.cf32", "x.u8", preexec_fn=limit), 1, "x.u8: File too large")

    def wait_for_temporary(self, n):
        deadline = time.monotonic() + 60
        while len([f for f in self.files() if f.startswith(".softqam-")]) < n:
            self.assertLess(time.monotonic(), deadline, "no temporary file")
            time.sleep(0.005)

    @staticmethod
    def default_signals():
        for number in DEADLY_SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    def test_signals(self):
        self.write("x.u8", b"old")
        for number in DEADLY_SIGNALS:
            process = self.start(DEMOD, "-", "x.u8", bufsize=0, preexec_fn=self.default_signals)
            process.stdin.write(bytes(8 * 1000))
            self.wait_for_temporary(1)
            process.send_signal(number)
            self.assertEqual(process.wait(TIMEOUT), -number)
            self.assertEqual(self.files(), ["x.cf32", "x.u8"])
            self.assertEqual(self.read("x.u8"), b"old")

    def test_signals_amid_work(self):
        self.write("x.u8", b"old")
        for delay in (0, 0.01, 0.1):
            process = self.start(
                GEN, "--symbols", "1000000000000", "--bits", "b", "x.u8", preexec_fn=self.default_signals
            )
            self.wait_for_temporary(2)
            time.sleep(delay)
            process.terminate()
            self.assertEqual(process.wait(TIMEOUT), -signal.SIGTERM)
            self.assertEqual(self.files(), ["x.cf32", "x.u8"])
            self.assertEqual(self.read("x.u8"), b"old")

    def test_ignored_signal(self):
        """nohup softqam-demod ..."""
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.start(DEMOD, "-", "y.u8", bufsize=0, preexec_fn=ignore)
        self.wait_for_temporary(1)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(self.read("x.cf32"))
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(self.read("y.u8"), self.expected)


class CommandLine(ToolTest):
    """Options, help and messages."""

    WRONG_DEMOD = [
        (["--threads", "0"], "--threads: '0' is not a whole number from 1 to 1024"),
        (["--threads", "-1"], "--threads: '-1' is not a whole number from 1 to 1024"),
        (["--threads", "+1"], "--threads: '+1' is not a whole number from 1 to 1024"),
        (["--threads=2x"], "--threads: '2x' is not a whole number from 1 to 1024"),
        (["--threads="], "--threads: '' is not a whole number from 1 to 1024"),
        (["--threads", " 1"], "--threads: ' 1' is not a whole number from 1 to 1024"),
        (["--threads", "1.0"], "--threads: '1.0' is not a whole number from 1 to 1024"),
        (["--threads", "1025"], "--threads: '1025' is not a whole number from 1 to 1024"),
        (["--threads", "4294967297"], "--threads: '4294967297' is not a whole number from 1 to 1024"),
        (["--threads", 30 * "9"], f"--threads: '{30 * '9'}' is not a whole number from 1 to 1024"),
        (["--streams", "0"], "--streams: '0' is not a whole number from 1 to 64"),
        (["--streams", "65"], "--streams: '65' is not a whole number from 1 to 64"),
        (["--chunk", "0"], "--chunk: '0' is not a whole number from 1 to 268435456"),
        (["--chunk", "268435457"], "--chunk: '268435457' is not a whole number from 1 to 268435456"),
        (["--chunk", "1M"], "--chunk: '1M' is not a whole number from 1 to 268435456"),
        (["--device", "x"], "--device: 'x' is not a whole number from 0 to 2147483647"),
        (["--device", "-1"], "--device: '-1' is not a whole number from 0 to 2147483647"),
        (["--device", "2147483648"], "--device: '2147483648' is not a whole number from 0 to 2147483647"),
        (
            ["--device", "0,1"],
            "--device: '0,1' names more than one device, and this version works on one; give a single number",
        ),
        (
            ["--device", "all"],
            "--device: 'all' names more than one device, and this version works on one; give a single number",
        ),
        (["--backend", "gpu"], "--backend: 'gpu' is not one of auto, cpu, cuda"),
        (["--backend", ""], "--backend: '' is not one of auto, cpu, cuda"),
        (["--progress", "sometimes"], "--progress: 'sometimes' is not one of auto, always, never"),
        (["-i", "cf64"], "--input-format: 'cf64' is not one of cf32, cs16, cs8, cf16"),
        (["-i", "CF32"], "--input-format: 'CF32' is not one of cf32, cs16, cs8, cf16"),
        (["-o", "u16"], "--output-format: 'u16' is not one of u8, s8, f16, f32"),
        (["--sign", "2"], "--sign: '2' is not one of 0, 1"),
        (["--sign", "+"], "--sign: '+' is not one of 0, 1"),
        (["--frobnicate"], "--frobnicate: no such option; --help lists them"),
        (["--frobnicate=3"], "--frobnicate=3: no such option; --help lists them"),
        (["-x"], "-x: no such option; --help lists them"),
        (["-qx"], "-x: no such option; --help lists them"),
        (["--verify=3"], "--verify: takes no value, but '--verify=3' gives it one"),
        (["--st"], "--st: could be more than one option; --help lists them"),
    ] + [
        (arguments, arguments[0] + ": only for output formats s8, f16 and f32; u8 takes no noise variance")
        for arguments in (["--noise-var", "1"], ["--noise-var", "auto"], ["--snr-db", "30"], ["--noise-file", "x.cf32"])
    ] + [
        ([*arguments], f"{arguments[0]}: only for output format s8")
        for arguments in (["--llr-scale", "6"], ["--llr-limit", "127"])
    ]  # fmt: skip

    ONE_OF = "output format {} needs a noise variance: --noise-var, --snr-db or --noise-file"
    WRONG_LLR = [
        ([], ONE_OF.format("s8")),
        (["-o", "f16"], ONE_OF.format("f16")),
        (["-o", "f32", "--sign", "1"], ONE_OF.format("f32")),
        (["--llr-scale", "6"], ONE_OF.format("s8")),
        (["--snr-db", "200.1"], "--snr-db: '200.1' is not a number from -200 to 200"),
        (["--snr-db", "30dB"], "--snr-db: '30dB' is not a number from -200 to 200"),
        (["--snr-db", "nan"], "--snr-db: 'nan' is not a number from -200 to 200"),
        (["--snr-db", "auto"], "--snr-db: 'auto' is not a number from -200 to 200"),
        (["--snr-db", "10", "--llr-limit", "0"], "--llr-limit: '0' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "--llr-limit", "128"], "--llr-limit: '128' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "--llr-limit", "1.5"], "--llr-limit: '1.5' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "-o", "f16", "--llr-scale", "1"], "--llr-scale: only for output format s8"),
        (["--snr-db", "10", "-o", "f32", "--llr-limit", "127"], "--llr-limit: only for output format s8"),
        (["-ou8", "--snr-db", "10"], "--snr-db: only for output formats s8, f16 and f32; u8 takes no noise variance"),
    ] + [
        (arguments, f"{arguments[-2]}: contradicts {arguments[-4]}: noise variances come from one of the two")
        for arguments in (
            ["--noise-var", "0.1", "--snr-db", "10"], ["--snr-db", "10", "--noise-var", "0.1"],
            ["--snr-db", "10", "--noise-var", "auto"], ["--noise-var", "auto", "--noise-file", "x.cf32"],
            ["--noise-file", "x.cf32", "--noise-file", "x.cf32", "--snr-db", "3"],
        )
    ] + [
        (["--noise-var", text], f"--noise-var: '{text}' is not a positive number or fraction (such as 0.001 or 1/1000) "
                                "nor 'auto'")
        for text in ("0", "-1", "nan", "inf", "Auto", "", "1e-60", "1e60", "1/0", "30dB")
    ] + [
        (["--snr-db", "10", "--llr-scale", text], f"--llr-scale: '{text}' is not a number from 0.0009765625 to 1048576")
        for text in ("0.0009", "1048577", "-6", "0", "x", "1/6")
    ]  # fmt: skip

    WRONG_RATIOS = ["0", "-1", "nan", "inf", "1/0", "0/1", "1/", "/2", "/", "1/2/3", "1e-60", "1e60", "1e400", "0x1p-3",
                    "1 ", " 1", "", "1/nan", "-1/-2", "1,5", "1e", "."]  # fmt: skip

    WRONG_GEN = [
        (["--symbols", "-1"], "--symbols: '-1' is not a whole number from 0 to 1152921504606846975"),
        (["--symbols", "1e6"], "--symbols: '1e6' is not a whole number from 0 to 1152921504606846975"),
        (
            ["--symbols", "1152921504606846976"],
            "--symbols: '1152921504606846976' is not a whole number from 0 to 1152921504606846975",
        ),
        (["--seed", "x"], "--seed: 'x' is not a whole number from 0 to 18446744073709551615"),
        (
            ["--seed", "18446744073709551616"],
            "--seed: '18446744073709551616' is not a whole number from 0 to 18446744073709551615",
        ),
        (["--snr-db", "nan"], "--snr-db: 'nan' is not a number from -200 to 200"),
        (["--snr-db", "inf"], "--snr-db: 'inf' is not a number from -200 to 200"),
        (["--snr-db", "200.1"], "--snr-db: '200.1' is not a number from -200 to 200"),
        (["--snr-db", "30dB"], "--snr-db: '30dB' is not a number from -200 to 200"),
        (["--snr-db", ""], "--snr-db: '' is not a number from -200 to 200"),
        (["--threads", "0"], "--threads: '0' is not a whole number from 1 to 1024"),
        (["-o", "u8"], "--output-format: 'u8' is not one of cf32, cs16, cs8, cf16"),
        (["--s"], "--s: could be more than one option; --help lists them"),
        (["--verify"], "--verify: no such option; --help lists them"),
    ]

    def rejects(self, program, arguments, message):
        with self.subTest(arguments=arguments):
            result = self.run_tool(program, *arguments)
            self.fails(result, 2, message, os.path.basename(program))
            self.assertEqual(result.out, b"")
            self.assertEqual(self.files(), ["x.cf32"])

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "10")

    def test_wrong_values(self):
        for arguments, message in self.WRONG_DEMOD:
            self.rejects(DEMOD, arguments + ["x.cf32", "x.u8"], message)
        for arguments, message in self.WRONG_LLR:
            self.rejects(DEMOD, arguments + ["x.cf32", "x.s8"], message)
        for arguments, message in self.WRONG_GEN:
            self.rejects(GEN, arguments + ["y.cf32"], message)

    def test_wrong_ratios(self):
        for text in self.WRONG_RATIOS:
            message = f"'{text}' is not a positive number or fraction (such as 0.25 or 1/32768)"
            self.rejects(DEMOD, ["--input-scale", text, "x.cf32", "x.u8"], "--input-scale: " + message)
            self.rejects(GEN, ["--output-scale", text, "y.cf32"], "--output-scale: " + message)

    def test_both_from_standard_input(self):
        self.rejects(DEMOD, ["--noise-file", "-", "-", "x.s8"], "--noise-file: '-' is INPUT as well")

    def test_missing_values(self):
        for option in ("--threads", "--input-scale", "--device", "--chunk", "--noise-var", "--snr-db", "--noise-file",
                       "--llr-scale", "--llr-limit", "--sign"):  # fmt: skip
            self.rejects(DEMOD, ["x.cf32", "x.u8", option], option + ": needs a value")
        self.rejects(DEMOD, ["x.cf32", "x.u8", "-i"], "--input-format: needs a value")
        self.rejects(GEN, ["x.cf32", "--bits"], "--bits: needs a value")

    def test_operands(self):
        for n, operands in enumerate(([], ["x.cf32"])):
            self.rejects(DEMOD, operands, f"needs 2 operands (INPUT and OUTPUT), but got {n}; --help explains")
        self.rejects(DEMOD, ["x.cf32", "y", "z"], "needs 2 operands (INPUT and OUTPUT), but got 3; --help explains")
        self.rejects(GEN, [], "needs 1 operand (OUTPUT), but got 0; --help explains")
        self.rejects(GEN, ["y", "z"], "needs 1 operand (OUTPUT), but got 2; --help explains")

    def test_right_values(self):
        """The ends of the ranges, options after operands, the last of two wins, -- ends them."""
        for arguments in (
            ["--threads", "1024"], ["--streams", "64", "--chunk", "268435456"], ["--device", "0"],
            ["--chunk", "1", "--streams", "1"], ["--backend", "auto"], ["--backend=cuda", "--backend", "cpu"],
            ["--input-scale", "1e-37"], ["--input-scale", ".5"], ["--input-scale", "3e1/4.5"], ["-q"],
            ["--progress=never"], ["--prog", "never"], ["-iu8", "-icf32"], ["-qou8"], ["--sign", "0"], ["--sign=1"],
            ["-os8", "--snr-db=-200"], ["-os8", "--snr-db", "200"], ["-of16", "--noise-var", "1/1000"],
            ["-of32", "--noise-var", "1e-37"], ["-of32", "--noise-var", "3e38"],
            ["-os8", "--snr-db", "10", "--llr-scale", "0.0009765625", "--llr-limit", "1"],
            ["-os8", "--snr-db", "10", "--llr-scale", "1048576", "--llr-limit", "127"],
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.ok(self.run_tool(DEMOD, "--backend", "cpu", "x.cf32", "x.u8", *arguments))
                self.ok(self.run_tool(DEMOD, "--backend", "cpu", *arguments, "--", "x.cf32", "x.u8"))
        for snr_db in ("-200", "200", "+3.5", "1e1"):
            self.ok(self.gen("--snr-db", snr_db, "--symbols", "10", "y.cf32"))

    def test_help(self):
        for program in (DEMOD, GEN):
            name = os.path.basename(program)
            for option in ("-h", "--help"):
                result = self.ok(self.run_tool(program, option))
                text = result.out.decode()
                self.assertEqual(result.err, "")
                self.assertTrue(text.startswith(f"usage: {name} "))
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
                self.assertNotIn("\t", text)
            self.assertEqual(self.ok(self.run_tool(program, "--threads", "2", "-h", "--frob")).out.decode(), text)
        help_ = self.run_tool(DEMOD, "--help").out.decode()
        for word in ("--input-format", "--output-format", "--input-scale", "--backend", "--device", "--threads",
                     "--streams", "--chunk", "--verify", "--stats", "--progress", "-q", "-h", "-V", "1/32768", ".cfile",
                     "--noise-var", "--snr-db", "--noise-file", "--llr-scale", "--llr-limit", "--sign", ".cf16", ".s8",
                     ".f16", ".f32", "a byte above the midpoint, means bit 0", "38.211", "exact max-log",
                     "complex noise", "E|n|^2", "262144", "5 %"):  # fmt: skip
            self.assertIn(word, help_)
        help_ = self.run_tool(GEN, "--help").out.decode()
        for word in ("--symbols", "--snr-db", "--seed", "--output-format", "--output-scale", "--bits", "--threads"):
            self.assertIn(word, help_)

    def test_version(self):
        for program in (DEMOD, GEN):
            for option in ("-V", "--version"):
                text = self.ok(self.run_tool(program, option)).out.decode()
                self.assertRegex(text, rf"^{os.path.basename(program)} \d+\.\d+\.\d+\n$")

    def test_help_that_cannot_be_written(self):
        for option in ("--help", "--version"):
            with open("/dev/full", "wb") as full:
                result = self.run_tool(GEN, option, stdout=full)
            self.fails(result, 1, "standard output: No space left on device", "softqam-gen")
        result = self.run_tool(DEMOD, "--help", stdout=None, preexec_fn=lambda: os.close(1))
        self.fails(result, 1, "standard output: Bad file descriptor")

    def test_silence(self):
        result = self.ok(self.demod("x.cf32", "x.u8"))
        self.assertEqual((result.out, result.err), (b"", ""))

    def test_progress_always(self):
        self.make("x.cf32", "--symbols", "600000")
        result = self.ok(self.demod("-q", "--progress", "always", "x.cf32", "x.u8"))
        lines = result.err.splitlines()
        for line in lines:
            self.assertRegex(
                line, r"^softqam-demod: \d+\.\d % of 600000 symbols done, \d+\.\d Msym/s, \d+ s left$"
            )
        self.assertIn("100.0 % of 600000 symbols done", lines[-1])
        result = self.ok(self.demod("--progress", "always", "-", "x.u8", data=self.read("x.cf32")))
        self.assertRegex(result.err.splitlines()[0], r"^softqam-demod: \d+ symbols done, \d+\.\d Msym/s$")

    def on_terminal(self, *arguments):
        """What standard error shows when it is a terminal."""
        master, slave = pty.openpty()
        process = self.start(DEMOD, "--backend", BACKEND, *arguments, "x.cf32", "x.u8", stderr=slave)
        os.close(slave)
        shown = b""
        try:
            while data := os.read(master, 4096):
                shown += data
        except OSError:  # the other end is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(TIMEOUT), 0)
        return shown.decode()

    def test_progress_on_a_terminal(self):
        shown = self.on_terminal("--verify")
        self.assertTrue(shown.startswith("\rsoftqam-demod: "), repr(shown))
        self.assertRegex(shown, r"\r\x1b\[Ksoftqam-demod: verify: all 10 symbols .*\r\n$")
        self.assertEqual(shown.count("\n"), 1)
        for arguments in (["--progress", "never"], ["-q"]):
            self.assertEqual(self.on_terminal(*arguments), "")

    def test_backend_that_is_not_there(self):
        """Without a device --backend cuda fails and auto does not."""
        hidden = dict(os.environ, CUDA_VISIBLE_DEVICES="-1")
        result = self.run_tool(DEMOD, "--backend", "cuda", "x.cf32", "x.u8", env=hidden)
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, r"^softqam-demod: .*CUDA.*\n$")
        self.assertEqual(self.files(), ["x.cf32"])
        self.ok(self.run_tool(DEMOD, "--backend", "auto", "x.cf32", "x.u8", env=hidden))

    def test_unknown_test_name(self):
        command = [sys.executable, __file__, "--demod", DEMOD, "--gen", GEN, "CommandLine.test_nothing"]
        self.assertEqual(self.run_tool(*command).code, 1)


def has_gpu():
    """Whether softqam-demod can use CUDA here; says why not."""
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run(
            [DEMOD, "--backend", "cuda", "-", os.path.join(directory, "x.u8")],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT,
        )  # fmt: skip
    print(result.stderr.decode(), end="", flush=True)
    return result.returncode == 0


def parse_arguments():
    global DEMOD, GEN, CHECK, BACKEND
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--demod", default=os.environ.get("SOFTQAM_DEMOD"))
    parser.add_argument("--gen", default=os.environ.get("SOFTQAM_GEN"))
    parser.add_argument("--check", default=os.environ.get("SOFTQAM_TOOLS_CHECK"))
    parser.add_argument("--backend", default=os.environ.get("SOFTQAM_TEST_BACKEND", "cpu"), choices=["cpu", "cuda"])
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    if not arguments.demod or not arguments.gen:
        parser.error("--demod and --gen are needed")
    DEMOD, GEN = os.path.abspath(arguments.demod), os.path.abspath(arguments.gen)
    CHECK = os.path.abspath(arguments.check or os.path.join(os.path.dirname(DEMOD), "softqam-tools-check"))
    BACKEND = arguments.backend
    return arguments.tests


def main():
    tests = parse_arguments()
    if BACKEND == "cuda" and not has_gpu():
        required = os.environ.get("SOFTQAM_REQUIRE_GPU") == "1"
        print("FAILED: a GPU is required, and" if required else "skipped:", "softqam-demod finds no usable CUDA device")
        return 1 if required else 77
    if BACKEND == "cuda" and not tests:
        tests = [t.__name__ for t in ToolTest.__subclasses__() if t.uses_backend]
        print("with cuda only what depends on the backend:", *tests, flush=True)
    return not unittest.main(argv=[sys.argv[0]] + tests, verbosity=2, exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
