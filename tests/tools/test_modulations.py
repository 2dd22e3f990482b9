#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every modulation, scrambled or not, from softqam-gen to softqam-demod, in symbol order and in bit planes; statistics of each."""
import json
import math
import re
import struct

from output_formats import LLR_TYPECODE
from tools_harness import BLOCK_SYMBOLS, MODULATIONS, QUICK, TIMEOUT, ToolTest, hard_bits, main, pack, unpack

EACH = dict(list(MODULATIONS.items())[1::2]) if QUICK else MODULATIONS
C_INITS = [[], ["--c-init", "0x7ffffFFF"]]
N = 1237


def unpacked(data, n):
    """The first n bits, and those that fill up the last byte."""
    bits = bytes(int(bit) for byte in data for bit in f"{byte:08b}")
    return bits[:n], bits[n:]


class RoundTrips(ToolTest):
    def each(self):
        """Every modulation with and without scrambling: its name, its bits a symbol, and the options of both tools."""
        for name, (n_bits, _) in EACH.items():
            for c_init in C_INITS:
                yield name, n_bits, ["-m", name, *c_init]

    def send(self, options, *more, n=N):
        self.make("x.cf32", *options, "--symbols", str(n), "--bits", "sent", *more)
        return self.read("sent")

    def test_formats(self):
        """Hard decisions, packed or not, and the signs of LLRs are the bits; --verify agrees, and --compare; the opposite sign
        negates."""
        for k, (name, n_bits, options) in enumerate(self.each()):
            sent = self.send(options)
            self.assertEqual(self.soft_bits(*options, "--verify", "-q", "-o", "hard", "x.cf32"), sent, name)
            data = self.soft_bits(*options, "-o", "bits", "x.cf32")
            self.assertEqual((unpacked(data, len(sent)), len(data)), ((sent, bytes(-len(sent) % 8)), -(-len(sent) // 8)), name)
            format_, typecode = list(LLR_TYPECODE.items())[k % 4]
            arguments = [*options, "-o", format_, "--noise-var", "auto", "--input-scale", "auto", "--verify", "--compare", "sent"]
            lines = self.ok(self.demod(*arguments, "x.cf32", "y")).err.splitlines()
            self.assertIn(f"verify: {N} of {N} symbols checked, every LLR is double-precision max-log's", lines[-2])
            self.assertIn(f"sent: 0 of {n_bits * N} bits are wrong", lines[-1])
            data = self.read("y")
            self.assertEqual((len(unpack(typecode, data)), hard_bits(format_, data)), (n_bits * N, sent), name)
            self.ok(self.demod(*arguments, "--sign", "1", "x.cf32", "z"))
            self.assertEqual(unpack(typecode, self.read("z")), tuple(-v for v in unpack(typecode, data)), name)

class Noise(ToolTest):
    def test_statistics(self):
        """Symbols that are erased or saturate; N0 and scale from the symbols alone, from an odd position on."""
        for name, (n_bits, _) in EACH.items():
            data = self.read(self.make("x.cf32", "-m", name, "--symbols", "5")) + pack("f", [math.nan, 0, 0, math.inf])
            options = ["-m", name, "--c-init", "3", "-q", "-o", "s8", "--noise-var", "1e-9", "--stats=json"]
            stats = json.loads(self.ok(self.demod(*options, "-", "y", data=data)).err)
            self.assertEqual((stats["symbols"], stats["erased"], round(7 * stats["saturated_share"], 6)), (7, 2, 5), name)
            self.assertEqual(self.read("y")[5 * n_bits :], bytes(2 * n_bits), name)
            # At the lowest SNR most decisions are wrong, at the highest none. The command uses the values that it prints.
            for snr_db in (10, 20, 40) if name == "256qam" else (min(12, 3 * n_bits) + 2 * n_bits,):
                self.make("x.cf32", "-m", name, "--symbols", "100000", "--snr-db", str(snr_db))
                options, n0 = ["-m", name, "-o", "f32", "--skip", "1", "x.cf32"], 10 ** (-snr_db / 10)
                err = self.ok(self.demod("--noise-var", "auto", "--input-scale", "auto", "--stats=json", *options, "y")).err
                said, stats = re.search(r"noise variance (\S+) \(Es/N0 (\S+) dB\), estimated from 99999 symbols\n", err), json.loads(err.splitlines()[-1])
                for found, expected in ((stats["n0"], n0), (stats["estimated_n0"], n0), (stats["energy"], 1 + n0), (stats["input_scale"], 1)):
                    self.assertAlmostEqual(found / expected, 1, delta=0.05, msg=(name, snr_db))
                self.assertAlmostEqual(float(said[2]), -10 * math.log10(float(said[1])), delta=0.006)
                given = self.soft_bits("--noise-var", said[1], "--input-scale", repr(stats["input_scale"]), "--count", "100", *options)
                for got, expected in zip(unpack("f", self.read("y")[: len(given)]), unpack("f", given)):
                    self.assertAlmostEqual(got, expected, delta=1e-5 * abs(expected) + 1e-6)


def to_planes(data, n_bits, nbytes, block_symbols):
    """Symbol order to bit planes, code block by code block."""
    values = [data[k : k + nbytes] for k in range(0, len(data), nbytes)]
    blocks = (values[k : k + block_symbols * n_bits] for k in range(0, len(values), block_symbols * n_bits))
    return b"".join(b"".join(block[k::n_bits]) for block in blocks for k in range(n_bits))


class Planes(ToolTest):
    def make_symbols(self, name):
        self.make("x.cf32", "-m", name, "--c-init", "5", "--symbols", str(N), "--snr-db", "20", "--bits", "sent")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(N)]))
        return ["-m", name, "--c-init", "5", "-q"]

    def statistics(self, *arguments):
        lines = self.ok(self.demod("--verify", "--compare", "sent", "--stats=json", *arguments)).err.splitlines()
        stats = next(json.loads(line) for line in lines if line.startswith("{"))
        return [round(stats[key], 9) for key in ("symbols", "erased", "saturated_share", "evm", "bits_wrong")]

    def test_formats(self):
        """Each format, with noise for all symbols or for each: what symbol order gives, permuted; checked and counted
        as in symbol order."""
        formats = [*((f, struct.calcsize("=" + code)) for f, code in LLR_TYPECODE.items()), ("hard", 1)]
        for k, (name, (n_bits, _)) in enumerate(EACH.items()):
            options = self.make_symbols(name)
            format_, nbytes = formats[k % 5]
            noise = [] if format_ == "hard" else ["--noise-file", "n.f32"]
            arguments = [*options, *noise, "-o", format_, "x.cf32"]
            plain = self.statistics(*arguments, "y")
            for block_symbols in (1, 300, N - 1, N, N + 1, 1 << 22):
                self.assertEqual(self.statistics(*arguments, "z", "--planes", str(block_symbols)), plain)
                self.assertEqual(self.read("z"), to_planes(self.read("y"), n_bits, nbytes, block_symbols), (name, format_, block_symbols))
        hard = self.soft_bits(*options, "-o", "hard", "--planes", "100", "x.cf32")
        data = self.soft_bits(*options, "-o", "bits", "--planes", "100", "x.cf32")
        self.assertEqual(unpacked(data, len(hard))[0], hard)

    def test_pipe_in_pieces(self):
        """Whole code blocks come out before more goes in; one that has begun waits for its rest."""
        options = [*self.make_symbols("256qam"), "-o", "s8", "--snr-db", "20", "--planes", "50"]
        whole, data = self.soft_bits(*options, "x.cf32"), self.read("x.cf32")
        process, out = self.start_demod(*options, "-", "-"), b""
        for first in range(0, len(data), 2400):  # of six code blocks, of which each has as many bytes on both sides
            process.stdin.write(data[first : first + 2400])
            process.stdin.flush()
            out += process.stdout.read(min(first + 2400, len(data)) // 400 * 400 - len(out))
        process.stdin.close()
        out += process.stdout.read()
        self.assertEqual((out, process.wait(TIMEOUT)), (whole, 0))


main()
