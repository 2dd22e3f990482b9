#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod: LLRs and the noise variances that they take."""
import array
import math
import os
import re
import sys
import threading

from output_formats import LLR_FORMATS, LLR_STEPS, LLR_TYPECODE
from tools_harness import (
    BLOCK_SYMBOLS, NOISE_AUTO_SYMBOLS, SUFFIXES, TIMEOUT, ToolTest,
    bit_errors_per_component, count_differences, float32, hard_bits, hard_bits_of_llrs, main, max_log, pack,
    philox4x32, unpack,
)  # fmt: skip


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
                    self.without_warnings(result.err),
                    "" if "-q" in arguments else "softqam-demod: verify: all 1500 symbols checked, every LLR is "
                    "double-precision max-log's within the bound for binary32\n",
                )

    def test_verify_special_floats(self):
        """Random bit patterns for symbols and noise variances; no NaN or infinity comes out."""
        words = [w for i in range(1000) for w in philox4x32((i, 0, 0, 8), (3, 4))]
        self.write("n.f32", pack("I", [w ^ 0x5A5A5A5A for w in words[:2000]]))
        for format_ in LLR_FORMATS:
            for limit in ([], ["--llr-limit", "31", "--llr-scale", "0.5"]) if format_ in LLR_STEPS else ([],):
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
        for name, typecode in LLR_TYPECODE.items():
            expected = self.soft_bits("-o", name, "--snr-db", "20", "-", data=data)
            self.assertEqual(len(expected), 800 * len(pack(typecode, [0])))
            for path in ("y." + name, "z." + name.upper()):
                self.ok(self.demod("--snr-db", "20", "x.cf32", path))
                self.assertEqual(self.read(path), expected)
            self.ok(self.demod("--snr-db", "20", "--output-format=" + name, "x.cf32", "z.u8"))
            self.assertEqual(self.read("z.u8"), expected)

    def test_formats_agree(self):
        """f16 is f32 rounded; s8 and s16 are f32 in steps, rounded and limited, but for what the float's last bits
        decide."""
        self.make("x.cf32", "--symbols", "5000", "--snr-db", "18")
        exact = self.llrs("f32", "--snr-db", "18", "x.cf32")
        self.assertEqual(pack("e", self.llrs("f16", "--snr-db", "18", "x.cf32")), pack("e", exact))
        for format_, scale, limit in (
            ("s8", 6, 127), ("s8", 1, 127), ("s8", 100, 127), ("s8", 6, 31), ("s8", 0.25, 1), ("s16", 64, 32767),
            ("s16", 1000, 32767), ("s16", 16384, 32767), ("s16", 64, 300), ("s16", 6, 127), ("s16", 0.25, 1),
        ):  # fmt: skip
            arguments = ["--llr-scale", str(scale), "--llr-limit", str(limit), "--snr-db", "18", "x.cf32"]
            llrs = self.llrs(format_, *arguments)
            for got, llr in zip(llrs, exact):
                step = max(-limit, min(limit, scale * llr))
                self.assertLessEqual(abs(got - step), 0.5 + 1e-4 + 2e-6 * abs(scale * llr))
            self.assertEqual(max(map(abs, llrs)) == limit, scale * max(map(abs, exact)) >= limit - 0.5)
        for format_, (scale, _, limit) in LLR_STEPS.items():
            self.assertEqual(
                self.llrs(format_, "--snr-db", "18", "x.cf32"),
                self.llrs(format_, "--snr-db", "18", "--llr-scale", str(scale), "--llr-limit", str(limit), "x.cf32"),
            )
        arguments = ["--llr-scale", "6", "--llr-limit", "127", "--snr-db", "18", "x.cf32"]
        self.assertEqual(self.llrs("s16", *arguments), self.llrs("s8", *arguments))

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
        for format_, largest in (("s8", 127), ("s16", 32767), ("f16", 65504), ("f32", 224 / 170 * 2**100)):
            llrs = self.llrs(format_, "--noise-file", "n.f32", "-", data=data)
            self.assertEqual(set(llrs[:48]), {0})
            # The smallest counts as 2^-100, the largest as 2^40.
            self.assertGreaterEqual(min(abs(llr) for llr in llrs[48:56]), min(largest, 3.9 / 170 * 2**100))
            self.assertLess(max(map(abs, llrs[48:56])), 2 * largest)
            self.assertLess(max(map(abs, llrs[56:64])), 1e-11)
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
                # A few LLRs that are integers are rounded to 0 and decided as 0.
                self.assertLess(abs(deviations), 5)
                undecided = unpack(LLR_TYPECODE[format_], data).count(0) if format_ in LLR_STEPS else 2
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
            for arguments in (["-o", "u8"], ["-o", "s8", "--snr-db", "20"], ["-o", "s16", "--snr-db", "20"],
                              ["-o", "f32", "--snr-db", "20"]):  # fmt: skip
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
        """Noise variances keep step with symbols from block to block, and an estimate is from the first symbols."""
        longest = BLOCK_SYMBOLS + 1
        data = self.read(self.make("x.cs8", "--symbols", str(longest), "--snr-db", "22"))
        noise = array.array("f", [0.001 * (1 + i % 83) for i in range(longest)]).tobytes()
        machine = ["-q", "-i", "cs8", "-o", "s8", "--input-scale", "1/64", "--chunk", "1000", "--streams", "3"]
        self.write("n", noise)
        expected = self.soft_bits("--noise-file", "n", *machine, "x.cs8")
        self.assertEqual(len(expected), 8 * longest)
        auto = self.soft_bits("--noise-var", "auto", *machine, "-", data=data[: 2 * NOISE_AUTO_SYMBOLS])
        for n in (BLOCK_SYMBOLS - 1, BLOCK_SYMBOLS, longest):
            self.write("n", noise[: 4 * n])
            self.assertEqual(self.soft_bits("--noise-file", "n", *machine, "-", data=data[: 2 * n]), expected[: 8 * n])
            if n >= NOISE_AUTO_SYMBOLS:
                for source in ("-", self.write("y.cs8", data[: 2 * n])):
                    got = self.soft_bits("--noise-var", "auto", *machine, source, data=data[: 2 * n])
                    self.assertEqual(got[: 8 * NOISE_AUTO_SYMBOLS], auto)

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
        zeros = nothing.replace("symbol", "symbol but zeros")
        self.refuses([*auto, self.write("x.cf32", bytes(8000))], f"x.cf32: {zeros}")
        self.refuses([*auto, "-"], f"standard input: {zeros}", data=bytes(80))
        self.refuses([*auto, "-"], f"standard input: {nothing}", data=pack("f", [math.nan, 1.0, 1.0, math.inf]))
        bad = pack("H", 2 * NOISE_AUTO_SYMBOLS * [0x7E00] + 2000 * [0])
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
            for format_, largest in (("s8", 127), ("s16", 32767), ("f16", 65504), ("f32", 3.4e38)):
                result = self.ok(self.demod("-q", "--stats", *arguments, "-o", format_, "x.cf32", "y"))
                lines = dict(line.split(None, 1) for line in result.err.splitlines())
                self.assertEqual(len(lines), 10, result.err)
                self.assertRegex(lines["N0"], noise)
                llrs = unpack(LLR_TYPECODE[format_], self.read("y"))
                share = sum(abs(llr) >= largest for llr in llrs) / len(llrs)
                self.assertEqual(lines["saturated"], f"{100 * share:.4f} % of the LLRs")
                self.assertEqual(lines["erased"], "1 symbol" if "n.f32" in arguments else "0 symbols")
                estimate = float(re.match(r"^N0 (\S+), ", lines["estimate"]).group(1))
                self.assertAlmostEqual(estimate / 10**-2.6, 1, delta=0.02)

    def test_stats_of_saturation(self):
        """s16, f16 and f32 saturate at their largest number, s16 at --llr-limit, too."""
        a = 1 / math.sqrt(170)
        self.write("n.f32", pack("f", [1e-45, 0.01, 0.01, 0.01]))
        data = pack("f", [1e30, -1e30] + 3 * [15 * a, -15 * a])
        for format_, *limit in (["f16"], ["f32"], ["s16"], ["s16", "--llr-limit", "20000"], ["s16", "--llr-limit", "128"]):
            result = self.ok(self.demod("--stats", "-o", format_, *limit, "--noise-file", "n.f32", "-", "y", data=data))
            llrs = unpack(LLR_TYPECODE[format_], self.read("y"))
            share = 100 * sum(abs(llr) >= max(map(abs, llrs)) for llr in llrs) / len(llrs)
            self.assertIn(f"saturated  {share:.4f} % of the LLRs\n", result.err)
            self.assertTrue(share == 25 or "128" in limit, result.err)
            self.assertEqual("warning" in result.err, "128" in limit, result.err)

    def test_saturation_warning(self):
        """Not at the default scale, where most LLRs may saturate and nothing is lost; not of soft bits; not unasked."""
        for snr_db in (16, 20, 30, 36):
            self.make("x.cf32", "--symbols", "20000", "--snr-db", str(snr_db))
            stats = ["--stats", "--snr-db", str(snr_db)]
            self.assertNotIn("warning", self.ok(self.demod(*stats, "x.cf32", "x.s8")).err)
            result = self.ok(self.demod(*stats, "-q", "--llr-scale", "100", "x.cf32", "x.s8"))
            self.assertRegex(
                result.err,
                r"(?m)^softqam-demod: x\.s8: warning: \d+\.\d % of the LLRs saturate, at only 1\.27 nats, which costs "
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
        limited = ["--stats", "--snr-db", "36", "--llr-scale", "16384"]
        self.assertNotIn("warning", self.ok(self.demod("--stats", "--snr-db", "36", "x.cf32", "x.s16")).err)
        self.assertIn("at only 2 nats", self.ok(self.demod(*limited, "x.cf32", "x.s16")).err)
        # Only the outermost levels' first bit, one LLR in 32.
        few = self.ok(self.demod("--stats", "--snr-db", "0", "--llr-scale", "100", "x.cf32", "x.s8")).err
        self.assertRegex(few, r"saturated +3\.\d+ % of the LLRs")
        self.assertNotIn("warning", self.without_warnings(few))
        self.assertNotIn("warning", self.ok(self.demod("--stats", "x.cf32", "x.u8")).err)
        self.assertEqual(self.ok(self.demod("--snr-db", "36", "--llr-scale", "100", "x.cf32", "x.s8")).err, "")


if __name__ == "__main__":
    sys.exit(main())
