#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vectors and check.py with other receivers: the library's LLRs and soft buffers, from softqam-demod and the Python package,
and generate.py's own max-log pass in every format; changed values do not, whichever they are, and nor do files that are none.
generate.py writes the vectors that are here.

    test_check.py [--demod PROGRAM] [TEST...]
"""
import contextlib
import functools
import hashlib
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

import check
import generate

try:
    import numpy
    import softqam
except ImportError:
    softqam = None

FOLDER, MODULATIONS = check.FOLDER, check.BITS
DEMOD = sys.argv[2:3] if sys.argv[1:2] == ["--demod"] else []
CODEWORDS = check.read_codewords()
read_floats = functools.lru_cache(maxsize=None)(check.read_here)


@functools.lru_cache(maxsize=None)
def demap(stem, n_bits):
    """The LLRs of all symbols of a file."""
    components, noise = read_floats(stem + ".cf32"), read_floats(stem + ".noise_var.f32")
    return [llr for n, n0 in enumerate(noise)
            for llr in generate.llrs_of(n_bits, components[2 * n : 2 * n + 2], n0, stem == "pi2-bpsk" and n % 2)]


def soft_buffers(name):
    soft = None
    for codeword in check.transmissions(CODEWORDS, name):
        signs = [codeword.scale if c == codeword.positive else -codeword.scale for c in generate.gold(codeword.c_init, codeword.g)]
        llrs = [generate.stored(codeword, sign * llr) for sign, llr in zip(signs, demap("soft_buffers/" + codeword.name, codeword.q_m))]
        soft = generate.recover(codeword, soft, llrs)
    return [value for block in soft for value in block]


def pack(values, code, scale=1, limit=generate.FLT_MAX):
    limited = (generate.clamp(scale * v, -limit, limit) if math.isfinite(v) else v for v in values)
    return struct.pack(f"<{len(values)}{code}", *(round(v) if code in "bh" else v for v in limited))


def call(before, data, *after):
    """The answer to a file of these bytes, in this process for the sake of time."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.NamedTemporaryFile() as file, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
            unittest.mock.patch.object(sys, "argv", ["check.py", *before, file.name, *after]):
        file.write(data)
        file.flush()
        try:
            status = int(check.main())
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            err.write("" if isinstance(end.code, int) else end.code)
    return subprocess.CompletedProcess([], status, out.getvalue(), err.getvalue())


class Check(unittest.TestCase):
    def check(self, before, data, *options, status=0):
        """Returns the lines that are printed."""
        result = call(before, data, *options)
        with self.subTest(before=before):
            self.assertEqual((result.returncode, result.stderr), (status, ""), result.stdout)
            self.assertEqual(result.stdout.endswith("all values are max-log's\n"), status == 0)
        return result.stdout.split("\n")

    def check_llrs(self, modulation, fmt, data, *options, status=0):
        return self.check(("llrs", modulation, fmt), data, *options, status=status)

    def check_soft_buffers(self, name, values, *options, status=0):
        return self.check(("soft-buffers", name), pack(values, check.CODES[CODEWORDS[name].format]), *options, status=status)

    def test_max_log_passes(self):
        for modulation, n_bits in MODULATIONS.items():
            llrs = demap(modulation, n_bits)
            self.check_llrs(modulation, "f64", pack(llrs, "d"))
            self.check_llrs(modulation, "f16", pack(llrs, "e", limit=65504))
            self.check_llrs(modulation, "s8", pack(llrs, "b", -6, 120), "--positive", "1", "--limit", "120")
            self.check_llrs(modulation, "s8", pack([float(math.trunc(2 * llr)) for llr in llrs], "b", 1, 127), "--scale", "2", "--slack", "1")
            self.check_llrs(modulation, "s16", pack(llrs, "h", 100, 30000), "--scale", "100", "--limit", "30000")
            components = read_floats(modulation + ".cf32")
            erased = pack([0.0 if components[2 * (n // n_bits) :][:2] == (0, 0) else llr for n, llr in enumerate(llrs)], "f")
            self.check_llrs(modulation, "f32", erased, "--zeros", "erased")
            self.check_llrs(modulation, "f32", erased, status=int(n_bits > 2))  # of one row an axis they are 0 anyhow

    @unittest.skipUnless(DEMOD, "without --demod")
    def test_librarys_llrs_pass(self):
        """They are the bytes of every 1.x, too."""
        hashes = {(modulation, fmt): digest for modulation, fmt, digest in check.rows_of("bytes.txt")}
        for modulation in MODULATIONS:
            stem = os.path.join(FOLDER, modulation)
            for fmt, scale in {"s8": "6", "s16": "64", "f16": "1", "f32": "1"}.items():
                command = [*DEMOD, "--backend", "cpu", "-m", modulation, "-o", fmt, "--noise-file", stem + ".noise_var.f32", stem + ".cf32", "-"]
                llrs = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
                self.check_llrs(modulation, fmt, llrs, "--scale", scale)
                self.assertEqual(hashlib.sha256(llrs).hexdigest(), hashes[modulation, fmt], (modulation, fmt))

    @unittest.skipUnless(softqam, "without the Python package")
    def test_librarys_soft_buffers_pass(self):
        """By the grant of each line: the library finds the code blocks and buffers that the line names."""
        soft = None
        for name, line in CODEWORDS.items():
            codeword = softqam.ldpc_codeword(line.g, line.a, line.modulation, base_graph=line.base_graph, rv=line.rv,
                                             n_ref=line.n_ref or None, layers=line.n_l, filler_value=line.filler)
            found = (codeword.n_code_blocks, codeword.ldpc.lifting_size, codeword.ldpc.k_prime, codeword.n_cb, codeword.k0,
                     codeword.first_filler, codeword.n_fillers)
            self.assertEqual(found, (line.c, line.z_c, line.k_prime, line.n_cb, line.k0, line.first_filler, line.n_fillers))
            symbols, noise = (numpy.array(read_floats(f"soft_buffers/{name}.{suffix}"), "<f4") for suffix in ("cf32", "noise_var.f32"))
            settings = {"llr_scale": line.scale} if line.format in ("s8", "s16") else {}
            if line.format != "f32":
                settings["llr_limit"] = int(line.limit)
            if name.endswith(".2"):
                settings.update(soft_buffers=soft, combine=True)
            soft = softqam.demodulate(
                symbols.view("<c8").reshape(-1, line.n_l).T.copy(), line.modulation, noise.reshape(-1, line.n_l).T.copy(),
                output=line.format, sign=line.positive, c_init=line.c_init, layers=line.n_l, codeword=codeword, **settings)
            self.check_soft_buffers(name, numpy.asarray(soft).ravel().tolist())

    def test_mistakes(self):
        """A thousandth more, an offset, and values off by one are found in each modulation and codeword."""
        for modulation, n_bits in MODULATIONS.items():
            llrs = demap(modulation, n_bits)
            for wrong in ([1.001 * llr for llr in llrs], [llr + 1e-3 for llr in llrs], llrs[n_bits:] + llrs[:n_bits]):
                lines = self.check_llrs(modulation, "f32", pack(wrong, "f"), "--skip", "special", status=1)
                self.assertGreater(int(next(line for line in lines if line.startswith("noisy_low: ")).split()[-2]), 0)
        for wrong in (math.nan, math.inf, 1.0):  # for an erasure
            data = pack([wrong if n >= 2 * 452 and llr == 0 else llr for n, llr in enumerate(demap("qpsk", 2))], "f")
            self.assertTrue(any(line.startswith("  special") for line in self.check_llrs("qpsk", "f32", data, status=1)))
        for name in CODEWORDS:
            values = soft_buffers(name)
            self.check_soft_buffers(name, values)
            self.check_soft_buffers(name, values[1:] + values[:1], status=1)

    def test_folder(self):
        """generate.py writes what is here; check.py works in a copy of it without what makes and tests it."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "soft_buffers"))
            subprocess.run([sys.executable, "-B", os.path.join(FOLDER, "generate.py"), folder], check=True)
            for path, _, names in os.walk(folder):
                for name in (os.path.relpath(os.path.join(path, name), folder) for name in names):
                    with open(os.path.join(folder, name), "rb") as made, open(os.path.join(FOLDER, name), "rb") as here:
                        self.assertEqual(made.read(), here.read(), name)
            values, copy = os.path.join(folder, "values"), shutil.copy(os.path.join(FOLDER, "check.py"), folder)
            with open(values, "wb") as file:
                file.write(pack(soft_buffers("srsran.2"), "b"))
            for last, expected in ((values, (0, "")), (folder, (1, f"{folder}: Is a directory\n"))):
                command = [sys.executable, "-EsB", copy, "soft-buffers", "srsran.2", last]
                result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr), expected)

    def test_no_values(self):
        """Files that are none, and options that contradict each other."""
        llrs, soft = pack(demap("qpsk", 2), "f"), pack(soft_buffers("srsran.1"), "b")
        qpsk, kinds = ("llrs", "qpsk", "f32"), [word for kind in check.KINDS for word in ("--skip", kind)]
        for before, data, after, status, message in (
                (qpsk, llrs[:-1], (), 1, "no whole number"), (("llrs", "bpsk", "f32"), llrs, (), 1, "expected"),
                (qpsk, llrs, ("--skip", "nothing"), 1, "no such section"), (("soft-buffers", "srsran.1"), soft[:-1], (), 1, "expected"),
                (("soft-buffers", "srsran.1"), soft, kinds, 1, "nothing is left"), (("llrs", "8psk", "f32"), llrs, (), 2, "8psk"),
                (("soft-buffers", "srsran.3"), soft, (), 2, "srsran.3"), (qpsk, llrs, ("--scale", "0"), 2, "--scale"),
                (qpsk, llrs, ("--limit", "nan"), 2, "--limit"), (qpsk, llrs, ("--slack", "-1"), 2, "--slack")):
            result = call(before, data, *after)
            self.assertEqual(result.returncode, status)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1 + 2 * len(DEMOD):])
