#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every modulation, scrambled or not, from softqam-gen to softqam-demod: in one go, in blocks, from a pipe in pieces, in
parts and shards, in symbol order and in bit planes; what is estimated of each."""
import json
import math
import struct
import time

from output_formats import LLR_TYPECODE
from tools_harness import BLOCK_SYMBOLS, MODULATIONS, QUICK, SNRS, TIMEOUT, ToolTest, hard_bits, main, pack, unpack

EACH = dict(list(MODULATIONS.items())[1::2]) if QUICK else MODULATIONS
C_INITS = [[], ["--c-init", "0x7ffffFFF"]]
N = 1237


def gold_sequence(c_init, n):
    """c(0) to c(n - 1), from the recurrences of 3GPP TS 38.211 clause 5.2.1."""
    x1, x2 = [1] + 30 * [0], [c_init >> k & 1 for k in range(31)]
    for k in range(1600 + n - 31):
        x1.append(x1[k + 3] ^ x1[k])
        x2.append(x2[k + 3] ^ x2[k + 2] ^ x2[k + 1] ^ x2[k])
    return bytes(a ^ b for a, b in zip(x1[1600 : 1600 + n], x2[1600 : 1600 + n]))


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
        negates; lengths are those of the format."""
        for _, n_bits, options in self.each():
            sent = self.send(options)
            self.assertEqual(self.soft_bits(*options, "--verify", "-q", "-o", "hard", "x.cf32"), sent)
            self.assertEqual(self.soft_bits(*options, "-o", "hard", "-", data=b""), b"")
            data = self.soft_bits(*options, "-o", "bits", "x.cf32")
            self.assertEqual((unpacked(data, len(sent)), len(data)), ((sent, bytes(-len(sent) % 8)), -(-len(sent) // 8)))
            for format_, typecode in LLR_TYPECODE.items():
                arguments = [*options, "-o", format_, "--noise-var", "auto", "--input-scale", "auto", "--verify", "--compare", "sent"]
                lines = self.ok(self.demod(*arguments, "x.cf32", "y")).err.splitlines()
                self.assertIn(f"verify: {N} of {N} symbols checked, every LLR is double-precision max-log's", lines[-2])
                self.assertIn(f"sent: 0 of {n_bits * N} bits are wrong", lines[-1])
                data = self.read("y")
                self.assertEqual((len(unpack(typecode, data)), hard_bits(format_, data)), (n_bits * N, sent))
                self.ok(self.demod(*arguments, "--sign", "1", "x.cf32", "z"))
                self.assertEqual(unpack(typecode, self.read("z")), tuple(-v for v in unpack(typecode, data)))

    def test_scrambling(self):
        """The bits before scrambling are those of the seed; what is not descrambled differs where the sequence is 1."""
        for name, (n_bits, _) in EACH.items():
            plain = self.send(["-m", name])
            self.assertEqual(self.send(["-m", name, "--c-init", "77"]), plain)
            scrambled = self.soft_bits("-m", name, "-o", "hard", "x.cf32")
            self.assertEqual(bytes(a ^ b for a, b in zip(plain, scrambled)), gold_sequence(77, n_bits * N), name)
            erased = ["-m", name, "--c-init", "77", "-o", "f32", "--noise-var", "1", "-"]
            self.assertEqual(self.soft_bits(*erased, data=pack("f", 20 * [math.nan])), bytes(40 * n_bits))
            # Nothing is known of erased symbols: their bits are 0.
            self.assertEqual(self.soft_bits("-m", name, "-o", "hard", "-", data=pack("f", [math.nan, 1, math.inf, 0])), bytes(2 * n_bits))

    def test_parts(self):
        """The position in the file counts: with --skip and --count, in shards, and from a pipe."""
        for name, n_bits, options in self.each():
            sent = self.send(options, "--snr-db", "45")
            hard = [*options, "-q", "--verify", "-o", "hard"]
            for skip, count in ((0, 1), (1, 1), (1, 500), (14, 501), (1235, 9), (1237, 1)):
                got = self.soft_bits(*hard, "--skip", str(skip), "--count", str(count), "x.cf32")
                self.assertEqual(got, sent[n_bits * skip : n_bits * (skip + count)], (name, skip))
            shards = [self.soft_bits(*hard, "--skip", "3", "--shard", f"{k}/5", "x.cf32") for k in range(1, 6)]
            self.assertEqual(b"".join(shards), sent[3 * n_bits :], name)
            self.assertEqual(self.soft_bits(*hard, "--skip", "1", "-", data=self.read("x.cf32")), sent[n_bits:], name)

    def test_blocks(self):
        """More than the tools take at once, on both sides."""
        n = (1 << 20) + BLOCK_SYMBOLS + 3
        for options in (["-m", "pi2-bpsk"], ["-m", "64qam", "--c-init", "5"]):
            sent = self.send(options, "-o", "cs8", n=n)
            arguments = [*options, "-q", "--input-scale", "1/64", "-i", "cs8", "-o", "hard", "--verify"]
            self.assertEqual(self.soft_bits(*arguments, "--skip", "1", "x.cf32"), sent[len(sent) // n :])


class Noise(ToolTest):
    def test_statistics(self):
        """N0 from the symbols alone, from an odd position on too; the EVM, of which there is none without noise; symbols that
        are erased or saturate."""
        for name in EACH:
            snr = SNRS[name]
            self.make("x.cf32", "-m", name, "--symbols", "3000")
            stats = json.loads(self.ok(self.demod("-m", name, "-o", "hard", "--stats=json", "x.cf32", "y")).err)
            self.assertTrue(stats["evm"] < 1e-6 and abs(stats["energy"] - 1) < 0.05, (name, stats))
            for snr_db in (snr - 4, snr):
                self.make("x.cf32", "-m", name, "--symbols", "60000", "--snr-db", str(snr_db))
                for skip in ("0", "1"):
                    result = self.ok(self.demod("-m", name, "-q", "--skip", skip, "-o", "s8", "--noise-var", "auto",
                                                "--input-scale", "auto", "--stats=json", "x.cf32", "y"))  # fmt: skip
                    stats = json.loads(result.err)
                    n0 = 10 ** (-snr_db / 10)
                    self.assertAlmostEqual(stats["n0"] / n0, 1, delta=0.06, msg=(name, snr_db, skip))
                    self.assertAlmostEqual(stats["estimated_n0"] / n0, 1, delta=0.06)
                    self.assertAlmostEqual(stats["input_scale"], 1, delta=0.01)
                    self.assertAlmostEqual(stats["energy"], 1 + n0, delta=0.03)
                    self.assertTrue(0.7 < stats["evm"] / math.sqrt(n0) < 1.03)
            self.make("x.cf32", "-m", name, "--symbols", "5")
            data = self.read("x.cf32") + pack("f", [math.nan, 0, 0, math.inf])
            options = ["-m", name, "--c-init", "3", "-q", "-o", "s8", "--noise-var", "1e-9", "--stats=json"]
            stats = json.loads(self.ok(self.demod(*options, "-", "y", data=data)).err)
            self.assertEqual((stats["symbols"], stats["erased"], round(7 * stats["saturated_share"], 6)), (7, 2, 5))
            self.assertEqual(self.read("y")[5 * MODULATIONS[name][0] :], bytes(2 * MODULATIONS[name][0]))


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
        for name, (n_bits, _) in EACH.items():
            options = self.make_symbols(name)
            for format_, nbytes in (*((f, struct.calcsize("=" + code)) for f, code in LLR_TYPECODE.items()), ("hard", 1)):
                noise = [] if format_ == "hard" else ["--noise-file", "n.f32"]
                arguments = [*options, *noise, "-o", format_, "x.cf32"]
                plain = self.statistics(*arguments, "y")
                for block_symbols in (1, 300, N - 1, N, N + 1, 1 << 22):
                    self.assertEqual(self.statistics(*arguments, "z", "--planes", str(block_symbols)), plain)
                    self.assertEqual(self.read("z"), to_planes(self.read("y"), n_bits, nbytes, block_symbols),
                                     (name, format_, block_symbols))  # fmt: skip
        hard = self.soft_bits(*options, "-o", "hard", "--planes", "100", "x.cf32")
        data = self.soft_bits(*options, "-o", "bits", "--planes", "100", "x.cf32")
        self.assertEqual(unpacked(data, len(hard))[0], hard)

    def test_parts(self):
        """Shards end between code blocks; --skip leaves whole ones."""
        options = [*self.make_symbols("16qam"), "-o", "s8", "--snr-db", "20", "--verify"]
        for block_symbols in (1, 100, 1000, 2000):
            arguments = [*options, "--planes", str(block_symbols), "x.cf32"]
            whole = self.soft_bits(*arguments)
            for n in (1, 2, 5):
                shards = [self.soft_bits("--shard", f"{k}/{n}", *arguments) for k in range(1, n + 1)]
                self.assertEqual(b"".join(shards), whole, (block_symbols, n))
        whole = self.soft_bits(*options, "--planes", "100", "x.cf32")
        part = self.soft_bits(*options, "--planes", "100", "--skip", "300", "--count", "450", "x.cf32")
        self.assertEqual(part[:1600], whole[1200:2800])
        self.assertEqual(part[1600:], to_planes(self.soft_bits(*options, "--skip", "700", "--count", "50", "x.cf32"), 4, 1, 50))

    def test_blocks(self):
        """Code blocks shorter and longer than what is read at once; many in a call."""
        self.make("x.cs8", "-m", "qpsk", "--symbols", str(BLOCK_SYMBOLS + 12345), "--snr-db", "10")
        options = ["-m", "qpsk", "-q", "-o", "s8", "--snr-db", "10", "x.cs8"]
        plain = self.soft_bits(*options)
        for block_symbols in (3, 1000, BLOCK_SYMBOLS - 1, BLOCK_SYMBOLS + 1):
            got = self.soft_bits("--planes", str(block_symbols), "--verify", *options)
            self.assertEqual(got, to_planes(plain, 2, 1, block_symbols), block_symbols)

    def test_pipe_in_pieces(self):
        """Whole code blocks come out before more goes in; one that has begun waits for its rest."""
        options = [*self.make_symbols("256qam"), "-o", "s8", "--snr-db", "20", "--planes", "50"]
        whole, data = self.soft_bits(*options, "x.cf32"), self.read("x.cf32")
        process, out = self.start_demod(*options, "-", "-"), b""
        for first in range(0, len(data), 2400):  # of six code blocks, of which each has as many bytes on both sides
            process.stdin.write(data[first : first + 2400])
            process.stdin.flush()
            out += process.stdout.read(min(first + 2400, len(data)) // 400 * 400 - len(out))
        process = self.start_demod(*options, "-", "y")
        for first in range(0, len(data), 1501):  # with pauses, at which what has arrived is demodulated
            process.stdin.write(data[first : first + 1501])
            process.stdin.flush()
            time.sleep(0.03)
        process.stdin.close()
        self.assertEqual((out, process.wait(TIMEOUT), self.read("y")), (whole[: len(out)], 0, whole))


main()
