#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vectors and their checkers with other receivers: the library's LLRs and soft buffers, from softqam-demod and the Python
package, and generate.py's own max-log pass in every format; the field's usual mistakes do not, nor any changed value, and nor do
files that are none. generate.py writes the vectors that are here.

    test_checkers.py [--demod PROGRAM] [TEST...]
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
import check_soft_buffers
import generate

try:
    import numpy
    import softqam
except ImportError:
    softqam = None

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODULATIONS = check_soft_buffers.BITS
DEMOD = sys.argv[2:3] if sys.argv[1:2] == ["--demod"] else []
CODEWORDS = check_soft_buffers.read_codewords()


@functools.lru_cache(maxsize=None)
def read_floats(name):
    return check_llrs.read(os.path.join(FOLDER, name), "f")


@functools.lru_cache(maxsize=None)
def demap(stem, n_bits, axis=generate.axis_metrics):
    """The LLRs of all symbols of a file."""
    components, noise = read_floats(stem + ".cf32"), read_floats(stem + ".noise_var.f32")
    return [llr for n, n0 in enumerate(noise)
            for llr in generate.llrs_of(n_bits, components[2 * n : 2 * n + 2], n0, stem == "pi2-bpsk" and n % 2, axis)]


def simplified(v, n_bits):
    """The recursion that has the right signs and not the right magnitudes."""
    unit, metrics = generate.unit_of(n_bits), []
    for k in range(n_bits):
        metrics.append(4 / unit * v)
        v = 2 ** (n_bits - 1 - k) / unit - abs(v)
    return metrics


def binary(v, n_bits):
    """No Gray code."""
    return generate.axis_metrics(v, n_bits, lambda n: [2 ** n - 1 - 2 * label for label in range(2 ** n)])


def soft_buffers(name, mistake=None):
    soft = None
    for codeword in check_soft_buffers.transmissions(CODEWORDS, name):
        llrs, n_l, q_m = demap("soft_buffers/" + codeword.name, codeword.q_m), codeword.n_l, codeword.q_m
        if mistake == "layers apart":
            order = [i + n * n_l for i in range(n_l) for n in range(codeword.g // q_m // n_l)]
            llrs = [llr for n in order for llr in llrs[n * q_m : (n + 1) * q_m]]
        sequence = codeword.g * [0] if mistake == "no descrambling" else generate.gold(codeword.c_init, codeword.g)
        signs = [codeword.scale if c == codeword.positive else -codeword.scale for c in sequence]
        values = [generate.stored(codeword, sign * llr) for sign, llr in zip(signs, llrs)]
        soft = generate.recover(codeword, soft if mistake != "no combining" else None, values, mistake != "no interleaver")
    return [value for block in soft for value in block]


def pack(values, code, scale=1, limit=generate.FLT_MAX):
    limited = (generate.clamp(scale * v, -limit, limit) for v in values)
    return struct.pack(f"<{len(values)}{code}", *(round(v) if code in "bh" else v for v in limited))


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
    def check(self, modulation, fmt, data, *options, status=0):
        result = call(check_llrs, (modulation, fmt), data, *options)
        self.assertEqual((result.returncode, result.stderr), (status, ""), result.stdout)
        self.assertEqual(result.stdout.endswith("all LLRs are max-log's\n"), status == 0)
        return result.stdout

    def refuse(self, modulation, llrs, what, section="noisy_low"):
        with self.subTest(what, modulation=modulation):
            output = self.check(modulation, "f32", pack(llrs, "f"), "--skip", "special", status=1)
            line = next(line for line in output.split("\n") if line.startswith(f"{section}: "))
            self.assertGreater(int(line.split()[-2]), 0, output)

    def test_max_log_passes(self):
        for modulation, n_bits in MODULATIONS.items():
            llrs = demap(modulation, n_bits)
            self.check(modulation, "f64", pack(llrs, "d"))
            self.check(modulation, "f16", pack(llrs, "e", limit=65504))
            self.check(modulation, "s8", pack(llrs, "b", -6, 120), "--positive", "1", "--limit", "120")
            self.check(modulation, "s8", pack([float(math.trunc(2 * llr)) for llr in llrs], "b", 1, 127), "--scale", "2",
                       "--slack", "1")
            self.check(modulation, "s16", pack(llrs, "h", 100, 30000), "--scale", "100", "--limit", "30000")
            components = read_floats(modulation + ".cf32")
            erased = pack([0.0 if components[2 * (n // n_bits) :][:2] == (0, 0) else llr for n, llr in enumerate(llrs)], "f")
            self.check(modulation, "f32", erased, "--zeros", "erased")
            self.check(modulation, "f32", erased, status=int(n_bits > 2))  # of one row an axis they are 0 anyhow

    @unittest.skipUnless(DEMOD, "without --demod")
    def test_library_passes(self):
        for modulation in MODULATIONS:
            stem = os.path.join(FOLDER, modulation)
            for fmt, scale in {"s8": "6", "s16": "64", "f16": "1", "f32": "1"}.items():
                command = [*DEMOD, "--backend", "cpu", "-m", modulation, "-o", fmt, "--noise-file", stem + ".noise_var.f32",
                           stem + ".cf32", "-"]
                self.check(modulation, fmt, subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout, "--scale", scale)

    def test_usual_mistakes(self):
        for modulation, n_bits in MODULATIONS.items():
            llrs = demap(modulation, n_bits)
            self.refuse(modulation, [2 * llr for llr in llrs], "noise variance of one dimension")
            self.refuse(modulation, [-llr for llr in llrs], "sign", "points")
            self.refuse(modulation, [1.001 * llr for llr in llrs], "a thousandth more")
            self.refuse(modulation, [llr + 1e-3 for llr in llrs], "an offset")
            self.refuse(modulation, llrs[n_bits:] + llrs[:n_bits], "off by a symbol")
            if n_bits > 1:
                swapped = [llr for pair in zip(llrs[1::2], llrs[::2]) for llr in pair]
                self.refuse(modulation, swapped, "I and Q swapped", "points")
            if n_bits > 2:
                self.refuse(modulation, demap(modulation, n_bits, binary), "no Gray code", "points")
                self.refuse(modulation, demap(modulation, n_bits, simplified), "simplified", "noisy_middle")
        self.refuse("pi2-bpsk", demap("pi2-bpsk", 1)[::2] * 2, "no rotation")

    def test_erasures(self):
        llrs = demap("qpsk", 2)
        for wrong in (math.nan, math.inf, 1.0):
            special = [wrong if n >= 2 * 452 and llr == 0 else llr for n, llr in enumerate(llrs)]
            data = struct.pack(f"<{len(special)}f", *(generate.clamp(v, -3e38, 3e38) if math.isfinite(v) else v for v in special))
            self.assertIn("  special", self.check("qpsk", "f32", data, status=1))

    def test_one_llr(self):
        """A single wrong LLR, whichever it is, is found and named."""
        llrs = demap("16qam", 4)
        for n in (0, 63, 500, 1951):
            wrong = list(llrs)
            wrong[n] += 0.01 * abs(wrong[n]) + 0.1
            output = self.check("16qam", "f64", pack(wrong, "d"), "--skip", "special", status=1)
            self.assertIn(f": symbol {n // 4}, b{n % 4}: ", output)
            self.assertTrue(output.endswith("\n1 LLRs are not max-log's\n"), output)


class CheckSoftBuffers(unittest.TestCase):
    def check(self, name, values, *options, status=0, what=""):
        result = call(check_soft_buffers, (name,), pack(values, check_llrs.CODES[CODEWORDS[name].format]), *options)
        with self.subTest(what, name=name):
            self.assertEqual((result.returncode, result.stderr), (status, ""), result.stdout)
            self.assertEqual(result.stdout.endswith("all soft bits are max-log's\n"), status == 0)
        return result.stdout

    def test_usual_mistakes(self):
        for name, codeword in CODEWORDS.items():
            values = soft_buffers(name)
            self.check(name, values)
            self.check(name, [-v for v in values], status=1, what="sign")
            self.check(name, values[1:] + values[:1], status=1, what="off by one")
            mistakes = ["no interleaver", "no descrambling"] + ["layers apart"] * (codeword.n_l > 1)
            for mistake in mistakes + ["no combining"] * name.endswith(".2"):
                self.check(name, soft_buffers(name, mistake), status=1, what=mistake)

    @unittest.skipUnless(softqam, "without the Python package")
    def test_library_passes(self):
        """By the grant of each line: the library finds the code blocks and buffers that the line names."""
        soft = None
        for name, line in CODEWORDS.items():
            codeword = softqam.ldpc_codeword(line.g, line.a, line.modulation, base_graph=line.base_graph, rv=line.rv,
                                             n_ref=line.n_ref or None, layers=line.n_l, filler_value=line.filler)
            found = (codeword.n_code_blocks, codeword.ldpc.lifting_size, codeword.ldpc.k_prime, codeword.n_cb, codeword.k0,
                     codeword.first_filler, codeword.n_fillers)
            self.assertEqual(found, (line.c, line.z_c, line.k_prime, line.n_cb, line.k0, line.first_filler, line.n_fillers))
            symbols, noise = (numpy.array(read_floats(f"soft_buffers/{name}.{suffix}"), "<f4")
                              for suffix in ("cf32", "noise_var.f32"))
            settings = {"llr_scale": line.scale} if line.format in ("s8", "s16") else {}
            if line.format != "f32":
                settings["llr_limit"] = int(line.limit)
            is_first = name.endswith(".1")
            soft = softqam.demodulate(
                symbols.view("<c8").reshape(-1, line.n_l).T.copy(), line.modulation, noise.reshape(-1, line.n_l).T.copy(),
                output=line.format, sign=line.positive, c_init=line.c_init, layers=line.n_l, codeword=codeword,
                **({} if is_first else {"soft_buffers": soft, "combine": True}), **settings)
            self.check(name, numpy.asarray(soft).ravel().tolist())

    def test_one_value(self):
        """A single wrong value of each kind, whichever it is, is found and named."""
        for name, codeword in CODEWORDS.items():
            low, high = check_soft_buffers.read_bounds(codeword)
            self.check(name, low)
            self.check(name, high)
            kinds = check_soft_buffers.kinds_of(CODEWORDS, name)
            for kind in set(kinds):
                of_kind = [i for i, each in enumerate(kinds) if each == kind]
                for i in (of_kind[0], of_kind[-1]):
                    wrong = list(low)
                    wrong[i] = 100 if wrong[i] < 50 else 0
                    output = self.check(name, wrong, status=1)
                    self.assertIn(f"  {kind}: code block {i // codeword.n_cb}, position {i % codeword.n_cb}: ", output)
                    self.assertTrue(output.endswith("\n1 soft bits are not max-log's\n"), output)
                    self.check(name, wrong, "--skip", kind)
                    self.check(name, wrong, "--slack", "1e6")


class Files(unittest.TestCase):
    def test_generated(self):
        """generate.py writes what is here; the checkers work in a copy of the folder without what makes and tests it."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "soft_buffers"))
            subprocess.run([sys.executable, "-B", os.path.join(FOLDER, "generate.py"), folder], check=True)
            for path, _, names in os.walk(folder):
                for name in (os.path.relpath(os.path.join(path, name), folder) for name in names):
                    with open(os.path.join(folder, name), "rb") as made, open(os.path.join(FOLDER, name), "rb") as here:
                        self.assertEqual(made.read(), here.read(), name)
            path = os.path.join(folder, "values")
            for arguments, data in ((("check_llrs.py", "64qam", "f32"), pack(demap("64qam", 6), "f")),
                                    (("check_soft_buffers.py", "srsran.2"), pack(soft_buffers("srsran.2"), "b"))):
                for checker in ("check_llrs.py", "check_soft_buffers.py"):
                    shutil.copy(os.path.join(FOLDER, checker), folder)
                with open(path, "wb") as file:
                    file.write(data)
                command = [sys.executable, "-EsB", os.path.join(folder, arguments[0]), *arguments[1:]]
                for last, expected in ((path, (0, "")), (folder, (1, f"{folder}: Is a directory\n"))):
                    result = subprocess.run([*command, last], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                            check=False)
                    self.assertEqual((result.returncode, result.stderr), expected)

    def test_no_values(self):
        """Files that are none, and options that contradict each other."""
        llrs, soft = pack(demap("qpsk", 2), "f"), pack(soft_buffers("srsran.1"), "b")
        kinds = [word for kind in check_soft_buffers.KINDS for word in ("--skip", kind)]
        for checker, before, data, after, message in (
                (check_llrs, ("qpsk", "f32"), llrs[:-1], (), "no whole number"),
                (check_llrs, ("bpsk", "f32"), llrs, (), "expected"),
                (check_llrs, ("8psk", "f32"), llrs, (), "no such modulation"),
                (check_llrs, ("qpsk", "f32"), llrs, ("--skip", "nothing"), "no section nothing"),
                (check_soft_buffers, ("srsran.1",), soft[:-1], (), "expected"),
                (check_soft_buffers, ("srsran.3",), soft, (), "not one of"),
                (check_soft_buffers, ("srsran.1",), soft, kinds, "no values are left")):
            result = call(checker, before, data, *after)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
        for wrong in (("--scale", "0"), ("--limit", "nan"), ("--slack", "-1")):
            self.assertEqual(call(check_llrs, ("qpsk", "f32"), llrs, *wrong).returncode, 2, wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1 + 2 * len(DEMOD):])
