#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod: what it makes of symbols as soft bits."""
import array
import math
import os
import re
import struct
import subprocess
import sys

from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEMOD, FULL_SCALE, GEN, SUFFIXES, TYPECODE, ToolTest,
    bit_errors_per_component, count_differences, float32, hard_bits, main, pack, philox4x32, thorough, unpack,
)  # fmt: skip


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

    @thorough
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
            # A suffix is a format's name as well.
            for suffix in suffixes:
                self.assertEqual(self.soft_bits("-i", suffix[1:], "-", data=data), expected, suffix)
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
        block, longest = BLOCK_SYMBOLS, 2 * BLOCK_SYMBOLS + 1
        self.make("x.cs16", "--symbols", str(longest), "--snr-db", "22")
        data = self.read("x.cs16")
        machine = ["-i", "cs16", "--chunk", "1000", "--streams", "3"]
        expected = self.soft_bits("-i", "cs16", "--chunk", "12345", "-", data=data)
        self.assertEqual(len(expected), 8 * longest)
        for n in (block - 1, block, block + 1, 2 * block - 1, 2 * block, longest):
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
                self.without_warnings(result.err),
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

    @thorough
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
            names, ["symbols", "library", "overall", "backend", "saturated", "erased", "energy", "estimate", "EVM"]
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
        self.assertTrue(lines["energy"].startswith("unknown"), lines)

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

    @thorough
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
        """An ordinal that no machine has is the device's failure with CUDA."""
        self.make("x.cf32", "--symbols", "10")
        result = self.demod("--device", "4095", "x.cf32", "x.u8")
        if BACKEND == "cuda":
            for backend in ("auto", "cuda"):
                self.assertEqual(self.demod("--backend", backend, "--device", "4095", "x.cf32", "x.u8").err, result.err)
            self.assertIn(result.code, (1, 2))
            self.assertRegex(result.err, r"^softqam-demod: .+\n$")
            self.assertEqual(self.files(), ["x.cf32"])
            self.ok(self.demod("--device", "0", "x.cf32", "x.u8"))


if __name__ == "__main__":
    sys.exit(main())
