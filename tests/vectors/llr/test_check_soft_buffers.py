#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vectors of soft buffers and their checker with another receiver: max-log, descrambling and rate recovery in plain
Python, from the standard's formulas, pass; the field's usual mistakes do not, nor does any changed value."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import check_soft_buffers as checker
from test_check_llrs import axis_llrs, call

FOLDER = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(FOLDER, "soft_buffers")
CODEWORDS = checker.read_codewords(VECTORS)


def gold(c_init, n_bits):
    """TS 38.211 clause 5.2.1."""
    x1, x2 = [1] + 30 * [0], [c_init >> n & 1 for n in range(31)]
    for n in range(1600 + n_bits):
        x1.append(x1[n + 3] ^ x1[n])
        x2.append(x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n])
    return [x1[n + 1600] ^ x2[n + 1600] for n in range(n_bits)]


def llrs_of(codeword):
    """All LLRs of a codeword as sent."""
    stem = os.path.join(VECTORS, codeword.name)
    components, noise = checker.read(stem + ".cf32", "f"), checker.read(stem + ".noise_var.f32", "f")
    llrs = []
    for n, n0 in enumerate(noise):
        both = (axis_llrs(v, codeword.q_m // 2, n0) for v in components[2 * n : 2 * n + 2])
        llrs += [llr for pair in zip(*both) for llr in pair]
    return llrs


def stored(codeword, value):
    """A number as the codeword's format has it."""
    value, code = min(max(value, -codeword.limit), codeword.limit), checker.CODES[codeword.format]
    return struct.unpack("<" + code, struct.pack("<" + code, round(value) if code in "bh" else value))[0]


def add(codeword, old, llr):
    return old if abs(old) > codeword.limit else stored(codeword, old + llr)


def recover(codeword, soft, mistake=None):
    """Soft buffers after a transmission, a list for each code block; `soft` is what they were, None at first."""
    if soft is None:
        soft = [[codeword.filler if codeword.is_filler(n) else 0 for n in range(codeword.n_cb)] for _ in range(codeword.c)]
    sequence = gold(codeword.c_init, codeword.g)
    llrs = llrs_of(codeword)
    if mistake == "layers apart":
        order = [i + n * codeword.n_l for i in range(codeword.n_l) for n in range(codeword.g // codeword.q_m // codeword.n_l)]
        llrs = [llr for n in order for llr in llrs[n * codeword.q_m : (n + 1) * codeword.q_m]]
    first = 0
    for r, length in enumerate(codeword.lengths()):
        selected = codeword.selected(length)
        for k in range(length):
            sign = -1 if sequence[first + k] and mistake != "no descrambling" else 1
            value = stored(codeword, codeword.scale * sign * (1 - 2 * codeword.positive) * llrs[first + k])
            place = k % codeword.q_m * (length // codeword.q_m) + k // codeword.q_m if mistake != "no interleaver" else k
            soft[r][selected[place]] = add(codeword, soft[r][selected[place]], value)
        first += length
    return soft


def soft_buffers(name, mistake=None):
    soft = None
    for codeword in checker.transmissions(CODEWORDS, name):
        soft = recover(codeword, soft if mistake != "no combining" else None, mistake)
    return [value for block in soft for value in block]


def pack(codeword, values):
    code = checker.CODES[codeword.format]
    return struct.pack(f"<{len(values)}{code}", *(int(v) if code in "bh" else v for v in values))


class CheckSoftBuffers(unittest.TestCase):
    def check(self, name, data, *options):
        return call(checker, (name,), data, *options)

    def accept(self, *arguments):
        result = self.check(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertTrue(result.stdout.endswith("all soft bits are max-log's\n"))

    def refuse(self, name, values, what, *options):
        result = self.check(name, pack(CODEWORDS[name], values), *options)
        with self.subTest(what, name=name):
            self.assertEqual((result.returncode, result.stderr), (1, ""), result.stdout)
        return result.stdout

    def test_plain_python_passes(self):
        for name, codeword in CODEWORDS.items():
            self.accept(name, pack(codeword, soft_buffers(name)))

    def test_usual_mistakes(self):
        for name, codeword in CODEWORDS.items():
            values = soft_buffers(name)
            self.refuse(name, soft_buffers(name, "no interleaver"), "not de-interleaved")
            self.refuse(name, soft_buffers(name, "no descrambling"), "not descrambled")
            self.refuse(name, [-v for v in values], "sign")
            self.refuse(name, values[1:] + values[:1], "off by one")
            if codeword.n_l > 1:
                self.refuse(name, soft_buffers(name, "layers apart"), "a layer behind the other")
            if name.endswith(".2"):
                self.refuse(name, soft_buffers(name, "no combining"), "not combined")

    def test_one_value(self):
        """A single wrong value of each kind, whichever it is, is found and named."""
        for name, codeword in CODEWORDS.items():
            low, high = checker.read_bounds(VECTORS, codeword)
            self.accept(name, pack(codeword, low))
            self.accept(name, pack(codeword, high))
            kinds = checker.kinds_of(CODEWORDS, name)
            for kind in set(kinds):
                of_kind = [i for i, each in enumerate(kinds) if each == kind]
                for i in (of_kind[0], of_kind[len(of_kind) // 2], of_kind[-1]):
                    wrong = list(low)
                    wrong[i] = 100 if wrong[i] < 50 else 0
                    output = self.refuse(name, wrong, kind)
                    self.assertIn(f"  {kind}: code block {i // codeword.n_cb}, position {i % codeword.n_cb}: ", output)
                    self.assertTrue(output.endswith("\n1 soft bits are not max-log's\n"), output)
                    result = self.check(name, pack(codeword, wrong), "--skip", kind)
                    self.assertEqual(result.returncode, 0)

    def test_changed_bytes(self):
        """Any byte of a file of integers or half floats, changed, is found."""
        for name in ("srsran-repeated.1", "srsran-limited.1", "cuphy.2"):
            codeword = CODEWORDS[name]
            data = pack(codeword, checker.read_bounds(VECTORS, codeword)[0])
            for i in range(0, len(data), 61):
                wrong = bytearray(data)
                wrong[i] ^= 1 << i % 7
                result = self.check(name, bytes(wrong))
                self.assertEqual(result.returncode, 1, (name, i))

    def test_layouts(self):
        """Values in front, strides, other formats."""
        name = "oai.1"
        codeword = CODEWORDS[name]
        values = checker.read_bounds(VECTORS, codeword)[0]
        blocks = [list(values[r * codeword.n_cb : (r + 1) * codeword.n_cb]) for r in range(codeword.c)]
        front = 2 * codeword.z_c
        self.accept(name, pack(codeword, [v for block in blocks for v in front * [0] + block]), "--front", str(front))
        self.accept(name, pack(codeword, [v for block in blocks for v in front * [0] + block + 10 * [7]]), "--front", str(front),
                    "--stride", str(front + codeword.n_cb + 10))
        self.accept(name, struct.pack(f"<{len(values)}f", *values), "--format", "f32")
        self.accept(name, pack(codeword, [v + 1 for v in values]), "--slack", "1")

    def test_folder_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("check_llrs.py", "check_soft_buffers.py"):
                shutil.copy(os.path.join(FOLDER, name), folder)
            shutil.copytree(VECTORS, os.path.join(folder, "soft_buffers"))
            path = os.path.join(folder, "soft")
            with open(path, "wb") as file:
                file.write(pack(CODEWORDS["srsran.2"], soft_buffers("srsran.2")))
            command = [sys.executable, "-EsB", os.path.join(folder, "check_soft_buffers.py"), "srsran.2", path]
            self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)

    def test_no_soft_buffers(self):
        data = pack(CODEWORDS["srsran.1"], soft_buffers("srsran.1"))
        for name, what, message in (("srsran.1", data[:-1], "expected"), ("cuphy.1", data[:-1], "no whole number"),
                                    ("srsran.3", data, "not one of")):
            result = self.check(name, what)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
        for options, message in ((["--stride", "0"], "--stride: 0 values have no room"), (["--front", "-1"], "no room for the -1"),
                                 (["--skip", "sent", "--skip", "not_sent", "--skip", "fillers"], "no values are left")):
            self.assertIn(message, self.check("srsran.1", data, *options).stderr)
        for wrong in (("--skip", "nothing"), ("--slack", "nan")):
            self.assertEqual(self.check("srsran.1", data, *wrong).returncode, 2)


if __name__ == "__main__":
    unittest.main()
