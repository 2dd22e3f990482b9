#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_llrs.py with other demappers: the library's LLRs, from softqam-demod, and max-log in plain Python, from the formulas
of TS 38.211, pass in every format; the field's usual mistakes do not, and nor do files that are no LLRs.

    test_check_llrs.py [--demod PROGRAM] [TEST...]
"""
import contextlib
import functools
import io
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import check_llrs

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODULATIONS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
DEMOD = sys.argv[2:3] if sys.argv[1:2] == ["--demod"] else []
SQUARE = [name for name, n_bits in MODULATIONS.items() if n_bits > 1]


@functools.lru_cache(maxsize=None)
def read_floats(name):
    return check_llrs.read(os.path.join(FOLDER, name), "f")


@functools.lru_cache(maxsize=None)
def levels(n_bits):
    """The coordinates of an axis with these bits, by their bits read as a number."""
    if n_bits == 1:
        return [1, -1]
    inner = levels(n_bits - 1)
    return [sign * (2 ** (n_bits - 1) - level) for sign in (1, -1) for level in inner]


def axis_llrs(v, n_bits, noise_var, gray=levels):
    """Exact max-log of one axis. The difference of two squares is factored, which leaves small numbers their digits."""
    coordinates = gray(n_bits)
    unit = math.sqrt(2 * sum(x * x for x in coordinates) / len(coordinates))
    llrs = []
    for place in range(n_bits - 1, -1, -1):
        zero, one = (min((x / unit for label, x in enumerate(coordinates) if label >> place & 1 == bit),
                         key=lambda x: x * (x - 2 * v)) for bit in (0, 1))
        llrs.append((one - zero) * (one + zero - 2 * v) / noise_var)
    return llrs


def simplified(v, n_bits, noise_var, gray=levels):
    """The recursion that has the right signs and not the right magnitudes."""
    coordinates = gray(n_bits)
    unit = math.sqrt(2 * sum(x * x for x in coordinates) / len(coordinates))
    values, llrs = v, []
    for k in range(n_bits):
        llrs.append(4 / unit * values / noise_var)
        values = 2 ** (n_bits - 1 - k) / unit - abs(values)
    return llrs


def binary_levels(n_bits):
    """Not a Gray code."""
    return [2 ** n_bits - 1 - 2 * label for label in range(2 ** n_bits)]


def counts_as_zero(v):
    return 0.0 if abs(v) < 2.0 ** -63 else v


@functools.lru_cache(maxsize=None)
def demap(modulation, axis=axis_llrs, gray=levels):
    """The LLRs of all symbols of a file."""
    components, noise = read_floats(modulation + ".cf32"), read_floats(modulation + ".noise_var.f32")
    n_bits, llrs = MODULATIONS[modulation], []
    for n, n0 in enumerate(noise):
        i, q = components[2 * n], components[2 * n + 1]
        if not (math.isfinite(i) and math.isfinite(q) and math.isfinite(n0) and n0 > 0):
            llrs += n_bits * [0.0]
            continue
        n0, i, q = min(max(n0, 2.0 ** -100), 2.0 ** 40), counts_as_zero(i), counts_as_zero(q)
        if n_bits == 1:
            turned = modulation == "pi2-bpsk" and n % 2
            llrs.append(2 * math.sqrt(2) * ((q - i) if turned else (i + q)) / n0)
        else:
            both = axis(i, n_bits // 2, n0, gray), axis(q, n_bits // 2, n0, gray)
            llrs += [llr for pair in zip(*both) for llr in pair]
    return llrs


def pack(llrs, code, scale=1, limit=3.4028234663852886e38):
    limited = (min(max(scale * llr, -limit), limit) for llr in llrs)
    return struct.pack(f"<{len(llrs)}{code}", *(round(llr) if code in "bh" else llr for llr in limited))


def call(checker, before, data, *after):
    """A checker's answer to a file of these bytes, in this process for the sake of time."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.NamedTemporaryFile() as file, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
            unittest.mock.patch.object(sys, "argv", [checker.__name__, *before, file.name, *after]):
        file.write(data)
        file.flush()
        try:
            status = int(checker.main())
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            err.write("" if isinstance(end.code, int) else end.code)
    return subprocess.CompletedProcess([], status, out.getvalue(), err.getvalue())


class CheckLlrs(unittest.TestCase):
    def check(self, modulation, fmt, data, *options):
        return call(check_llrs, (modulation, fmt), data, *options)

    def accept(self, *arguments):
        result = self.check(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertTrue(result.stdout.endswith("all LLRs are max-log's\n"))

    def refuse(self, modulation, llrs, what, section="noisy_low", options=("--skip", "special")):
        result = self.check(modulation, "f32", pack(llrs, "f"), *options)
        with self.subTest(what, modulation=modulation):
            self.assertEqual((result.returncode, result.stderr), (1, ""))
            line = next(line for line in result.stdout.split("\n") if line.startswith(f"{section}: "))
            self.assertGreater(int(line.split()[-2]), 0, result.stdout)

    def test_max_log_passes(self):
        for modulation in MODULATIONS:
            llrs = demap(modulation)
            self.accept(modulation, "f64", pack(llrs, "d"))
            self.accept(modulation, "f32", pack(llrs, "f"))
            self.accept(modulation, "f16", pack(llrs, "e", limit=65504))
            self.accept(modulation, "s8", pack(llrs, "b", 6, 127))
            self.accept(modulation, "s8", pack(llrs, "b", -6, 120), "--positive", "1", "--limit", "120")
            self.accept(modulation, "s8", pack([float(math.trunc(2 * llr)) for llr in llrs], "b", 1, 127), "--scale", "2",
                        "--slack", "1")
            self.accept(modulation, "s16", pack(llrs, "h", 100, 30000), "--scale", "100", "--limit", "30000")

    @unittest.skipUnless(DEMOD, "without --demod")
    def test_library_passes(self):
        for modulation in MODULATIONS:
            stem = os.path.join(FOLDER, modulation)
            for fmt, scale in {"s8": "6", "s16": "64", "f16": "1", "f32": "1"}.items():
                command = [*DEMOD, "--backend", "cpu", "-m", modulation, "-o", fmt, "--noise-file", stem + ".noise_var.f32",
                           stem + ".cf32", "-"]
                self.accept(modulation, fmt, subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout, "--scale", scale)

    def test_usual_mistakes(self):
        for modulation, n_bits in MODULATIONS.items():
            llrs = demap(modulation)
            self.refuse(modulation, [2 * llr for llr in llrs], "noise variance of one dimension")
            self.refuse(modulation, [-llr for llr in llrs], "sign", "points")
            self.refuse(modulation, [1.001 * llr for llr in llrs], "a thousandth more")
            self.refuse(modulation, [llr + 1e-3 for llr in llrs], "an offset")
            self.refuse(modulation, llrs[n_bits:] + llrs[:n_bits], "off by a symbol")
        for modulation in SQUARE:
            llrs = demap(modulation)
            swapped = [llr for pair in zip(llrs[1::2], llrs[::2]) for llr in pair]
            self.refuse(modulation, swapped, "I and Q swapped", "points")
        for modulation in SQUARE[1:]:
            self.refuse(modulation, demap(modulation, gray=binary_levels), "no Gray code", "points")
            self.refuse(modulation, demap(modulation, simplified), "simplified", "noisy_middle")

    def test_rotation(self):
        """pi/2-BPSK taken for BPSK, and counted from the wrong position."""
        components = read_floats("pi2-bpsk.cf32")
        noise = read_floats("pi2-bpsk.noise_var.f32")
        pairs = list(zip(components[::2], components[1::2], noise))
        self.refuse("pi2-bpsk", [2 * math.sqrt(2) * (i + q) / n0 if n0 else 0 for i, q, n0 in pairs], "no rotation")
        self.refuse("pi2-bpsk", [2 * math.sqrt(2) * ((i + q) if n % 2 else (q - i)) / n0 if n0 else 0
                                 for n, (i, q, n0) in enumerate(pairs)], "wrong parity")

    def test_erasures(self):
        llrs = demap("qpsk")
        for wrong in (math.nan, math.inf, 1.0):
            special = [wrong if n >= 2 * 452 and llr == 0 else llr for n, llr in enumerate(llrs)]
            result = self.check("qpsk", "f32", struct.pack(f"<{len(special)}f", *(
                llr if not math.isfinite(llr) else max(min(llr, 3.4e38), -3.4e38) for llr in special)))
            self.assertEqual(result.returncode, 1)
            self.assertIn("special", result.stdout)

    def test_one_llr(self):
        """A single wrong LLR, whichever it is, is found and named."""
        llrs = demap("16qam")
        for n in (0, 63, 500, 1951):
            wrong = list(llrs)
            wrong[n] += 0.01 * abs(wrong[n]) + 0.1
            result = self.check("16qam", "f64", pack(wrong, "d"), "--skip", "special")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f": symbol {n // 4}, b{n % 4}: ", result.stdout)
            self.assertTrue(result.stdout.endswith("\n1 LLRs are not max-log's\n"), result.stdout)

    def test_presets(self):
        """Receivers' conventions: their own LLRs pass, those of others do not."""
        for modulation, n_bits in MODULATIONS.items():
            llrs = demap(modulation)
            components = read_floats(modulation + ".cf32")
            zeros = {n for n in range(len(llrs) // n_bits) if components[2 * n : 2 * n + 2] == (0, 0)}
            self.assertTrue(zeros)
            erased = [0.0 if n // n_bits in zeros else llr for n, llr in enumerate(llrs)]
            scale = 5 if n_bits < 4 else 6
            written = {"softqam": pack(llrs, "b", 6, 127), "srsran": pack(erased, "b", scale, 120),
                       "cuphy": pack(llrs, "e", limit=65504), "sionna": pack([-llr for llr in llrs], "f")}
            for preset, data in written.items():
                result = self.check_preset(modulation, preset, data)
                self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            for preset, data in (("srsran", written["softqam"]), ("softqam", written["srsran"]), ("sionna", pack(llrs, "f"))):
                self.assertEqual(self.check_preset(modulation, preset, data).returncode, 1, (modulation, preset))
            self.assertEqual(self.check_preset(modulation, "sionna", pack(llrs, "f"), "--positive", "0").returncode, 0)
            self.assertEqual(self.check_preset(modulation, "sionna", pack(llrs, "d"), "--positive", "0", first=["f64"]).returncode, 0)
            if n_bits > 2:
                self.assertEqual(self.check_preset(modulation, "srsran", written["srsran"], "--zeros", "points").returncode, 1)

    def check_preset(self, modulation, preset, data, *options, first=()):
        """With options among the files, as people write them."""
        return call(check_llrs, (modulation, *first, "--preset", preset), data, *options)

    def test_folder_alone(self):
        """Copied elsewhere, without what makes and tests it."""
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(FOLDER):
                if name in ("README.md", "LICENSE", "sections.txt", "check_llrs.py") or name.endswith("f32"):
                    shutil.copy(os.path.join(FOLDER, name), folder)
            self.assertEqual(len(os.listdir(folder)), 4 + 4 * len(MODULATIONS))
            path = os.path.join(folder, "llrs")
            with open(path, "wb") as file:
                file.write(pack(demap("64qam"), "f"))
            command = [sys.executable, "-I", os.path.join(folder, "check_llrs.py"), "64qam", "f32", path]
            self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)
            with open("/dev/full", "w") as full:
                for stdout, close, last, message in ((full, [], path, "standard output: No space left on device"),
                                                     (None, [1], path, "standard output: is closed"),
                                                     (None, [], folder, f"{folder}: Is a directory")):
                    result = subprocess.run([*command[:-1], last], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
                                            preexec_fn=lambda close=close: [os.close(fd) for fd in close])
                    self.assertEqual((result.returncode, result.stderr), (1, message + "\n"))

    def test_no_llrs(self):
        llrs = pack(demap("qpsk"), "f")
        skips = [word for name, _, _ in check_llrs.read_sections(FOLDER, "qpsk") for word in ("--skip", name)]
        for arguments, message in ((("qpsk", "f32", llrs[:-1]), "no whole number"), (("qpsk", "f32", llrs[:-4]), "expected"),
                                   (("8psk", "f32", llrs), "no such modulation"), (("bpsk", "f32", llrs), "expected"),
                                   (("qpsk", "f32", llrs, "--skip", "nothing"), "no section nothing"),
                                   (("qpsk", "f32", llrs, *skips), "no section is left")):
            result = self.check(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
        self.assertEqual(self.check("qpsk", "u8", llrs).returncode, 2)
        for wrong in (("--preset", "oai"), ("--scale", "0"), ("--scale", "nan"), ("--limit", "-1"), ("--slack", "inf"), ("--slack", "-1")):
            self.assertEqual(self.check("qpsk", "f32", llrs, *wrong).returncode, 2, wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1 + 2 * len(DEMOD):])
