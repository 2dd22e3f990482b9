#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every modulation, scrambled or not, from softqam-gen to softqam-demod: in one go, in blocks, from a pipe in pieces, in
parts and shards; bit error rates against theory."""
import json
import math
import struct
import subprocess
import sys
import time

from output_formats import LLR_TYPECODE
from tools_harness import (
    BLOCK_SYMBOLS, DEMOD, MODULATIONS, QUICK, ToolTest, bit_errors_per_component, count_differences,
    hard_bits_of_llrs, main, pack, thorough, unpack,
)  # fmt: skip

C_INITS = [[], ["--c-init", "123456789"], ["--c-init", "0"], ["--c-init", "0x7ffffFFF"]][: 2 if QUICK else 4]


def gold_sequence(c_init, n):
    """c(0) to c(n - 1), from the recurrences of 3GPP TS 38.211 clause 5.2.1."""
    x1, x2 = [1] + 30 * [0], [c_init >> k & 1 for k in range(31)]
    for k in range(1600 + n - 31):
        x1.append(x1[k + 3] ^ x1[k])
        x2.append(x2[k + 3] ^ x2[k + 2] ^ x2[k + 1] ^ x2[k])
    return bytes(a ^ b for a, b in zip(x1[1600 : 1600 + n], x2[1600 : 1600 + n]))


class RoundTrips(ToolTest):
    N = 1237

    def each(self):
        """Every modulation with and without scrambling: its name, its bits a symbol, and the options of both tools."""
        for name, (n_bits, _) in MODULATIONS.items():
            for c_init in C_INITS:
                yield name, n_bits, ["-m", name, *c_init]

    def send(self, options, *more, n=N):
        self.make("x.cf32", *options, "--symbols", str(n), "--bits", "sent", *more)
        return self.read("sent")

    def test_hard_bits(self):
        for _, n_bits, options in self.each():
            sent = self.send(options)
            self.assertEqual(len(sent), n_bits * self.N)
            self.assertEqual(self.soft_bits(*options, "--verify", "-q", "-o", "hard", "x.cf32"), sent)
            self.assertEqual(self.soft_bits(*options, "-o", "hard", "-", data=b""), b"")
            packed = self.soft_bits(*options, "-o", "bits", "x.cf32")
            text = "".join(f"{byte:08b}" for byte in packed)
            self.assertEqual(bytes(map(int, text[: len(sent)])), sent)
            self.assertEqual((len(packed), int(text[len(sent) :] or "0")), (-(-len(sent) // 8), 0))

    def test_llr_formats(self):
        """Their signs are the bits; --verify agrees, and --compare; lengths are those of the format."""
        for _, n_bits, options in self.each():
            sent = self.send(options, "--snr-db", "40")
            for format_, typecode in LLR_TYPECODE.items():
                result = self.ok(self.demod(*options, "-o", format_, "--snr-db", "40", "--verify", "--compare", "sent",
                                            "x.cf32", "y"))  # fmt: skip
                verified, compared = result.err.splitlines()
                self.assertIn(f"verify: all {self.N} symbols checked, every LLR is double-precision max-log's", verified)
                self.assertIn(f"sent: 0 of {n_bits * self.N} bits are wrong", compared)
                data = self.read("y")
                self.assertEqual(len(unpack(typecode, data)), n_bits * self.N)
                self.assertEqual(hard_bits_of_llrs(format_, data), sent)
                flipped = self.soft_bits(*options, "-o", format_, "--snr-db", "40", "--sign", "1", "x.cf32")
                self.assertEqual(unpack(typecode, flipped), tuple(-v for v in unpack(typecode, data)))

    def test_scrambling(self):
        """The bits before scrambling are those of the seed; what is not descrambled differs where the sequence is 1."""
        for name, (n_bits, _) in MODULATIONS.items():
            plain = self.send(["-m", name])
            self.assertEqual(self.send(["-m", name, "--c-init", "77"]), plain)
            scrambled = self.soft_bits("-m", name, "-o", "hard", "x.cf32")
            sequence = gold_sequence(77, n_bits * self.N)
            self.assertEqual(bytes(a ^ b for a, b in zip(plain, scrambled)), sequence, name)
            erased = self.soft_bits("-m", name, "--c-init", "77", "-o", "f32", "--noise-var", "1", "-",
                                    data=pack("f", 20 * [math.nan]))  # fmt: skip
            self.assertEqual(erased, bytes(40 * n_bits))

    def test_parts(self):
        """The position in the file counts: with --skip and --count, in shards, and from a pipe."""
        for name, n_bits, options in self.each():
            sent = self.send(options, "--snr-db", "45")
            for skip, count in ((0, 1), (1, 1), (1, 500), (14, 501), (1235, 9), (1237, 1)):
                arguments = [*options, "-q", "--verify", "--skip", str(skip), "--count", str(count)]
                expected = sent[n_bits * skip : n_bits * (skip + count)]
                self.assertEqual(self.soft_bits(*arguments, "-o", "hard", "x.cf32"), expected, (name, skip))
            arguments = [*options, "-q", "--verify", "--skip", "3", "-o", "hard"]
            shards = [self.soft_bits(*arguments, "--shard", f"{k}/5", "x.cf32") for k in range(1, 6)]
            self.assertEqual(b"".join(shards), sent[3 * n_bits :], name)

    def test_threads(self):
        for name, _, options in self.each():
            sent = self.send(options, "--snr-db", "12", "--threads", "1")
            symbols = self.read("x.cf32")
            for n in ("2", "5"):
                self.assertEqual(self.send(options, "--snr-db", "12", "--threads", n), sent)
                self.assertEqual(self.read("x.cf32"), symbols, name)
            arguments = [*options, "-o", "f32", "--snr-db", "12", "x.cf32"]
            one = self.soft_bits("--threads", "1", *arguments)
            self.assertEqual(self.soft_bits("--threads", "3", *arguments), one)

    def test_blocks(self):
        """More than the tools take at once, on both sides."""
        n = (1 << 20) + BLOCK_SYMBOLS + 3
        for options in (["-m", "pi2-bpsk"], ["-m", "64qam", "--c-init", "5"]):
            sent = self.send(options, "-o", "cs8", n=n)
            arguments = [*options, "-q", "--input-scale", "1/64", "-i", "cs8", "-o", "hard", "--verify"]
            self.assertEqual(self.soft_bits(*arguments, "--skip", "1", "x.cf32"), sent[len(sent) // n :])

    def test_pipe_in_pieces(self):
        """Blocks of any length, odd ones too, with parts of symbols: each piece comes out before the next goes in."""
        for name, n_bits, options in self.each():
            sent, out, n_written = self.send(options), b"", 0
            data = self.read("x.cf32")
            command = [DEMOD, *options, "--backend", "cpu", "-q", "--verify", "-o", "hard", "-", "-"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.directory) as process:
                for first in range(0, len(data), 2331):
                    n_written += process.stdin.write(data[first : first + 2331])
                    process.stdin.flush()
                    out += process.stdout.read(n_written // 8 * n_bits - len(out))
                out += process.communicate()[0]
            self.assertEqual((process.returncode, out), (0, sent), name)


class Noise(ToolTest):
    # Es/N0 in dB; the last has few errors, the first many.
    SNRS = {"bpsk": (0, 4, 8), "pi2-bpsk": (0, 4, 8), "qpsk": (3, 7, 10), "16qam": (8, 13, 17), "64qam": (14, 19, 23),
            "256qam": (20, 25, 29), "1024qam": (26, 31, 35)}  # fmt: skip

    @thorough
    def test_bit_error_rate(self):
        """Against theory, within five standard deviations. BPSK is an axis through two points."""
        for name, (n_bits, energy) in MODULATIONS.items():
            n = 400000 // n_bits
            n_axes, axis_bits, alpha = (1, 1, 1.0) if n_bits == 1 else (2, n_bits // 2, 1 / math.sqrt(energy))
            for snr_db in self.SNRS[name]:
                arguments = ["-m", name, "--c-init", "1234"]
                self.make("x.cf32", *arguments, "--symbols", str(n), "--snr-db", str(snr_db), "--bits", "sent")
                bits = self.soft_bits(*arguments, "-o", "hard", "x.cf32")
                errors = count_differences(bits, self.read("sent"))
                mean, variance = bit_errors_per_component(snr_db, 1 << axis_bits, alpha)
                deviations = (errors - n_axes * n * mean) / math.sqrt(n_axes * n * variance)
                print(f"{name} {snr_db} dB: bit error rate {errors / n / n_bits:.4e}, theory {mean / axis_bits:.4e}, "
                      f"{deviations:+.2f} sigma")  # fmt: skip
                self.assertGreater(errors, 5)
                self.assertLess(abs(deviations), 5)

    def test_estimates(self):
        """N0 from the symbols alone, from an odd position on too; the EVM; symbols that are erased."""
        for name, snrs in self.SNRS.items():
            for snr_db in snrs[1:]:
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
                    self.assertLess(stats["evm"], math.sqrt(n0) * 1.03)
                    self.assertGreater(stats["evm"], math.sqrt(n0) * 0.7)

    def test_warnings(self):
        """Of a scale that is wrong, and not of noise that is strong, where few bits a symbol are for that."""
        for name, snr_db in (("bpsk", -5), ("pi2-bpsk", -5), ("qpsk", -4), ("16qam", 3), ("64qam", 9), ("1024qam", 25)):
            self.make("x.cf32", "-m", name, "--symbols", "70001", "--snr-db", str(snr_db))
            for scale, warns in (("1", False), ("0.5", True), ("2", True)):
                result = self.ok(self.demod("-m", name, "-o", "s8", "--noise-var", "auto", "--input-scale", scale,
                                            "x.cf32", "y"))  # fmt: skip
                self.assertEqual("warning: mean symbol energy" in result.err, warns, (name, scale, result.err))

    def test_counts(self):
        for name, (n_bits, _) in MODULATIONS.items():
            self.make("x.cf32", "-m", name, "--symbols", "5")
            data = self.read("x.cf32") + pack("f", [math.nan, 0, 0, math.inf])
            result = self.ok(self.demod("-m", name, "--c-init", "3", "-q", "-o", "s8", "--noise-var", "1e-9",
                                        "--stats=json", "-", "y", data=data))  # fmt: skip
            stats = json.loads(result.err)
            self.assertEqual((stats["symbols"], stats["erased"]), (7, 2))
            self.assertAlmostEqual(stats["saturated_share"], 5 / 7)
            self.assertEqual(len(self.read("y")), 7 * n_bits)


def to_planes(data, n_bits, nbytes, block_symbols):
    """Symbol order to bit planes, code block by code block."""
    values = [data[k : k + nbytes] for k in range(0, len(data), nbytes)]
    blocks = (values[k : k + block_symbols * n_bits] for k in range(0, len(values), block_symbols * n_bits))
    return b"".join(b"".join(block[k::n_bits]) for block in blocks for k in range(n_bits))


class Planes(ToolTest):
    N = 1237

    def make_symbols(self, name, n=N):
        self.make("x.cf32", "-m", name, "--c-init", "5", "--symbols", str(n), "--snr-db", "20", "--bits", "sent")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(n)]))
        return ["-m", name, "--c-init", "5", "-q"]

    def statistics(self, result):
        return next(json.loads(line) for line in self.ok(result).err.splitlines() if line.startswith("{"))

    def test_formats(self):
        """Each format, with noise for all symbols or for each: what symbol order gives, permuted; checked and counted
        as in symbol order."""
        for name, (n_bits, _) in MODULATIONS.items():
            options = self.make_symbols(name)
            for format_, nbytes in (*((f, struct.calcsize("=" + code)) for f, code in LLR_TYPECODE.items()), ("hard", 1)):
                noise = [] if format_ == "hard" else ["--noise-file", "n.f32"]
                arguments = [*options, *noise, "-o", format_, "--verify", "--compare", "sent", "--stats=json", "x.cf32"]
                plain = self.statistics(self.demod(*arguments, "y"))
                for block_symbols in (1, 1236, 1 << 22) if QUICK else (1, 7, 300, 1236, 1237, 1238, 1 << 22):
                    stats = self.statistics(self.demod(*arguments, "z", "--planes", str(block_symbols)))
                    self.assertEqual(self.read("z"), to_planes(self.read("y"), n_bits, nbytes, block_symbols),
                                     (name, format_, block_symbols))  # fmt: skip
                    for key in ("symbols", "erased", "saturated_share", "evm"):
                        self.assertEqual(stats[key], plain[key], key)

    def test_packed_bits(self):
        options = self.make_symbols("64qam")
        hard = self.soft_bits(*options, "-o", "hard", "--planes", "100", "x.cf32")
        packed = self.soft_bits(*options, "-o", "bits", "--planes", "100", "x.cf32")
        text = "".join(f"{byte:08b}" for byte in packed)
        self.assertEqual(bytes(map(int, text[: len(hard)])), hard)

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
        n = BLOCK_SYMBOLS + 12345
        self.make("x.cs8", "-m", "qpsk", "--symbols", str(n), "--snr-db", "10")
        options = ["-m", "qpsk", "-q", "-o", "s8", "--snr-db", "10", "x.cs8"]
        plain = self.soft_bits(*options)
        for block_symbols in (3, 1000, BLOCK_SYMBOLS - 1, BLOCK_SYMBOLS + 1):
            got = self.soft_bits("--planes", str(block_symbols), "--verify", *options)
            self.assertEqual(got, to_planes(plain, 2, 1, block_symbols), block_symbols)

    def test_pipe_in_pieces(self):
        """Whole code blocks come out before more goes in; one that has begun waits for its rest."""
        options = [*self.make_symbols("256qam"), "-o", "s8", "--snr-db", "20", "--planes", "50"]
        whole, data, out, n_written = self.soft_bits(*options, "x.cf32"), self.read("x.cf32"), b"", 0
        with subprocess.Popen([DEMOD, *options, "--backend", "cpu", "--verify", "-", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, cwd=self.directory) as process:  # fmt: skip
            for first in range(0, len(data), 2400):  # six code blocks
                n_written += process.stdin.write(data[first : first + 2400])
                process.stdin.flush()
                out += process.stdout.read(n_written // 400 * 400 - len(out))
            out += process.communicate()[0]
        self.assertEqual((process.returncode, out), (0, whole))
        self.assertEqual(self.demod_slowly(options, data, 1501), whole)

    def demod_slowly(self, options, data, nbytes):
        """With pauses, at which what has arrived is demodulated."""
        with subprocess.Popen([DEMOD, *options, "--backend", "cpu", "-", "y"], stdin=subprocess.PIPE,
                              cwd=self.directory) as process:  # fmt: skip
            for first in range(0, len(data), nbytes):
                process.stdin.write(data[first : first + nbytes])
                process.stdin.flush()
                time.sleep(0.03)
        self.assertEqual(process.returncode, 0)
        return self.read("y")

    def test_recordings(self):
        """A recording's planes are plain unless a recording is asked for, which is refused."""
        self.ok(self.gen("-m", "qpsk", "--symbols", "100", "r.sigmf-meta"))
        self.ok(self.demod("-m", "qpsk", "-q", "-o", "s8", "--snr-db", "20", "--planes", "10", "r", "y"))
        self.assertEqual(len(self.read("y")), 200)
        result = self.demod("-m", "qpsk", "-o", "s8", "--snr-db", "20", "--planes", "10", "--sigmf", "r", "z")
        self.assertEqual(result.code, 2)
        self.assertIn("--sigmf: bit planes are no recording, whose sample k is symbol k", result.err)


class Recordings(ToolTest):
    def test_keys(self):
        clauses = {"bpsk": 2, "pi2-bpsk": 1, "qpsk": 3, "16qam": 4, "64qam": 5, "256qam": 6, "1024qam": 7}
        for name, (n_bits, _) in MODULATIONS.items():
            shown = name.replace("pi2-", "pi/2-").upper().replace("PI", "pi")
            constellation = f"{shown}, 3GPP TS 38.211 clause 5.1.{clauses[name]}"
            self.ok(self.gen("-m", name, "--c-init", "9", "--symbols", "10", "r.sigmf-meta"))
            meta = json.loads(self.read("r.sigmf-meta"))["global"]
            keys = [meta["softqam:" + key] for key in ("modulation", "constellation", "c_init")]
            self.assertEqual(keys, [name, constellation, 9])
            self.assertEqual(meta["core:description"], f"10 random {shown} symbols without noise, seed 1")
            for options, c_init in (([], 9), (["--c-init", "none"], None), (["--c-init", "0x9"], 9)):
                self.ok(self.demod(*options, "-o", "s8", "--snr-db", "30", "r", "out"))
                meta = json.loads(self.read("out.sigmf-meta"))["global"]
                keys = [meta.get("softqam:" + key) for key in ("modulation", "constellation", "c_init", "input_c_init")]
                self.assertEqual(keys, [name, constellation, c_init, 9])
                self.assertEqual((meta["core:num_channels"], meta["core:datatype"]), (n_bits, "ri8"))
                description = f"LLRs of the {shown} symbols in r.sigmf-data, {n_bits} a symbol: 10 random"
                self.assertTrue(meta["core:description"].startswith(description), meta["core:description"])


if __name__ == "__main__":
    sys.exit(main())
