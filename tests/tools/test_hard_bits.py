#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hard decisions, one a byte and packed; bit errors against what was sent; --stats=json."""
import json
import math
import sys

from output_formats import LLR_FORMATS
from tools_harness import ToolTest, count_differences, hard_bits, hard_bits_of_llrs, main, pack


def packed(bits):
    """The first bit highest in its byte."""
    bits += bytes(-len(bits) % 8)
    return bytes(int("".join(map(str, bits[k : k + 8])), 2) for k in range(0, len(bits), 8))


class HardBits(ToolTest):
    N = 1237

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", str(self.N), "--snr-db", "18", "--bits", "sent.hard")
        self.sent = self.read("sent.hard")
        self.expected = hard_bits(self.soft_bits("x.cf32"))

    def test_formats(self):
        self.assertEqual(self.soft_bits("-o", "hard", "x.cf32"), self.expected)
        self.assertEqual(self.soft_bits("-o", "bits", "x.cf32"), packed(self.expected))
        for name, expected in (("y.hard", self.expected), ("y.bits", packed(self.expected))):
            self.ok(self.demod("--verify", "x.cf32", name))
            self.assertEqual(self.read(name), expected)
        self.assertEqual(self.soft_bits("-o", "hard", "/dev/null"), b"")
        self.assertEqual(self.soft_bits("-o", "bits", "/dev/null"), b"")

    def test_without_noise_they_are_what_was_sent(self):
        self.make("y.cs16", "--symbols", "500", "--bits", "y.hard")
        self.assertEqual(self.soft_bits("--input-scale", "1/8192", "-o", "hard", "y.cs16"), self.read("y.hard"))

    def test_erased_symbols(self):
        """Nothing is known of them: their bits are 0."""
        data = pack("f", [math.nan, 1, -1, -1, math.inf, 0])
        bits = self.soft_bits("-o", "hard", "-", data=data)
        self.assertEqual((bits[:8], bits[16:]), (bytes(8), bytes(8)))
        self.assertEqual(bits[8:10], b"\1\1")

    def test_parts(self):
        shards = b"".join(self.soft_bits("-o", "bits", "--shard", f"{k}/3", "x.cf32") for k in (1, 2, 3))
        self.assertEqual(shards, packed(self.expected))

    def test_recordings(self):
        self.ok(self.demod("--sigmf", "-o", "hard", "x.cf32", "out"))
        self.assertEqual(self.read("out.sigmf-data"), self.expected)
        meta = json.loads(self.read("out.sigmf-meta"))["global"]
        self.assertEqual((meta["core:datatype"], meta["core:num_channels"]), ("ru8", 8))
        self.assertEqual(meta["softqam:algorithm"], "hard decisions: the signs of exact max-log LLRs")
        self.assertTrue(meta["core:description"].startswith("Hard decisions of"))
        self.assertFalse([key for key in meta if "noise" in key or "llr" in key or "positive" in key])
        cause = "--output-format: bits has no datatype in SigMF; choose another, or --no-sigmf"
        self.fails(self.demod("--sigmf", "-o", "bits", "x.cf32", "z"), 2, cause)

    def errors_told(self, *arguments, **options):
        result = self.ok(self.demod("-q", "--compare", *arguments, **options))
        name, line = result.err.removeprefix("softqam-demod: ").split(": ")
        words = line.split()
        self.assertEqual(words[1:2] + words[3:9], ["of", "bits", "are", "wrong,", "bit", "error", "rate"])
        self.assertAlmostEqual(float(words[9]), int(words[0]) / max(int(words[2]), 1), places=6)
        return name, int(words[0]), int(words[2])

    def test_compare(self):
        n_wrong = count_differences(self.sent, self.expected)
        self.assertGreater(n_wrong, 100)
        for format_ in ("u8", "hard", "bits"):
            self.assertEqual(self.errors_told("sent.hard", "-o", format_, "x.cf32", "y"), ("sent.hard", n_wrong, 8 * self.N))
        for format_ in LLR_FORMATS:
            for sign in "01":
                arguments = ["-o", format_, "--snr-db", "18", "--sign", sign, "x.cf32", "y"]
                told = self.errors_told("sent.hard", *arguments)
                bits = hard_bits_of_llrs(format_, self.soft_bits("-q", *arguments[:4], "x.cf32"))
                self.assertEqual(told, ("sent.hard", count_differences(self.sent, bits), 8 * self.N))
        self.assertEqual(self.errors_told("-", "x.cf32", "y", data=self.sent)[1:], (n_wrong, 8 * self.N))
        self.assertEqual(self.errors_told("sent.hard", "-", "y", data=self.read("x.cf32"))[1:], (n_wrong, 8 * self.N))

    def test_compare_parts(self):
        part = slice(8 * 100, 8 * 300)
        n_wrong = count_differences(self.sent[part], self.expected[part])
        for bits, data in (("sent.hard", b""), ("-", self.sent)):
            told = self.errors_told(bits, "--skip", "100", "--count", "200", "x.cf32", "y", data=data)
            self.assertEqual(told[1:], (n_wrong, 1600))
        wrong = [self.errors_told("sent.hard", "--shard", f"{k}/3", "x.cf32", "y")[1] for k in (1, 2, 3)]
        self.assertEqual(sum(wrong), count_differences(self.sent, self.expected))

    def test_json(self):
        result = self.ok(self.demod("-q", "--stats=json", "--compare", "sent.hard", "x.cf32", "y"))
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 2)
        stats = json.loads(lines[1])
        self.assertEqual((stats["symbols"], stats["bits_compared"], stats["erased"]), (self.N, 8 * self.N, 0))
        self.assertEqual(stats["bits_wrong"], count_differences(self.sent, self.expected))
        self.assertEqual((stats["backend"], stats["n0"], stats["input_scale"]), ("cpu", None, 1))
        self.assertLess(abs(stats["energy"] - 1.016), 0.1)
        self.assertLess(abs(stats["estimated_n0"] / 10**-1.8 - 1), 0.3)
        result = self.ok(self.demod("--stats=json", "-o", "s8", "--snr-db", "20", "/dev/null", "y"))
        stats = json.loads(result.err)
        self.assertEqual((stats["symbols"], stats["energy"], stats["evm"]), (0, None, None))
        self.assertAlmostEqual(stats["n0"], 0.01)


if __name__ == "__main__":
    sys.exit(main())
