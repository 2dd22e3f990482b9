#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod says of symbols that are not what the command takes them for: the cause, and the option that mends it; and nothing
of right ones. --strict fails for each.
"""
import array
import cmath
import json
import math
import os
import struct
import sys
import zlib

from tools_harness import MODULATIONS, QUICK, ToolTest, main, pack, thorough, unpack

OTHERS = ("x.cs16", "x.cs8", "x.cf16")
SNR_DB = {1: 7, 2: 10, 4: 17, 6: 22, 8: 26, 10: 34}  # by bits of a symbol


def swapped(typecode, data):
    """Returns the data in the other byte order."""
    values = array.array(typecode, data)
    values.byteswap()
    return values.tobytes()


class FitTest(ToolTest):
    def symbols(self, modulation, n=6000, snr_db=None, *arguments, others=()):
        """Complex numbers; and x.cf32 with them, and others."""
        snr_db = snr_db if snr_db is not None else SNR_DB[MODULATIONS[modulation][0]]
        for name in (*others, "x.cf32"):
            self.make(name, "-m", modulation, "--symbols", str(n), "--snr-db", str(snr_db), *arguments)
        parts = unpack("f", self.read("x.cf32"))
        return [complex(*pair) for pair in zip(parts[::2], parts[1::2])]

    def write_symbols(self, name, symbols):
        return self.write(name, pack("f", [part for y in symbols for part in (y.real, y.imag)]))

    def warned(self, message, *arguments):
        """Expects a warning of one thing only, with which --strict fails."""
        with self.subTest(arguments=arguments):
            result = self.demod("--strict", *arguments, "y")
            lines = [line for line in result.err.splitlines() if "warning" in line]
            self.assertEqual((result.code, len(lines)), (1, 1), result.err)
            self.assertRegex(lines[0], f"^softqam-demod: [^:]+: warning: {message}$")

    def silent(self, *arguments):
        with self.subTest(arguments=arguments):
            self.assertNotIn("warning", self.ok(self.demod("--strict", *arguments, "y")).err)


class Causes(FitTest):
    def test_modulations(self):
        """Any for any other; auto finds it."""
        for modulation in list(MODULATIONS)[:: 3 if QUICK else 1]:
            self.symbols(modulation, others=OTHERS[:2])
            for other in MODULATIONS:
                options = ["-o", "hard", "-m", other, "x.cf32"]
                if other == modulation:
                    self.silent(*options)
                else:
                    self.warned(rf"the symbols do not fit \S+, but would with -m {modulation}", *options)
            if modulation != "256qam":
                for name in ("x.cs16", "x.cs8", "x.cf32"):  # the default
                    self.warned(rf"the symbols do not fit 256QAM, but would with -m {modulation}", "-o", "hard", name)
            for scale in ([], ["--input-scale", "auto"]):
                self.assertIn("fits best", self.ok(self.demod("-m", "auto", "-o", "hard", *scale, "x.cs16", "y")).err)
                given = self.ok(self.demod("-q", "-m", modulation, "-o", "hard", *scale, "x.cs16", "-")).out
                self.assertEqual(self.read("y"), given)
        self.symbols("1024qam", 6000, 5)
        self.fails(self.demod("-m", "auto", "-o", "hard", "x.cf32", "y"), 1,
                   "x.cf32: no modulation fits clearly better than another; name one with --modulation")  # fmt: skip

    def test_scales_of_integers(self):
        """Another scale and modulation than the defaults are no other format."""
        for modulation in ("qpsk", "64qam") if QUICK else ("bpsk", "qpsk", "64qam", "1024qam"):
            for name, scales in (("x.cs8", (40, 80)), ("x.cs16", (128, 512, 3000, 20000))):
                for scale in scales:
                    self.make(name, "-m", modulation, "--symbols", "6000", "--snr-db", str(SNR_DB[MODULATIONS[modulation][0]] + 3), "--output-scale", f"1/{scale}")
                    self.warned(rf"the symbols do not fit 256QAM, but would with -m {modulation} and --input-scale auto \(about 1/[^)]+\)(, or with -i cu8, which looks the same)?", "-o", "hard", name)

    def test_bytes(self):
        """Another format, byte order or first byte."""
        for modulation in ("qpsk", "64qam") if QUICK else ("bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"):
            self.symbols(modulation, others=OTHERS)
            self.write("x.cs16be", swapped("h", self.read("x.cs16")))
            self.write("x.cf32be", swapped("f", self.read("x.cf32")))
            self.write("x.cf64", pack("d", unpack("f", self.read("x.cf32"))))
            self.write("o.cs16", b"abc" + self.read("x.cs16") + b"d")
            fit = rf"the symbols do not fit \S+, but would with -i "
            for read_as, name, format_ in (("cs16", "x.cs16be", r"cs16be \(or an odd .*"), ("cs16", "o.cs16", r"cs16be \(or an odd number of --header-bytes\)"),
                                           ("cf32", "x.cf32be", "cf32be"), ("cs16", "x.cf32", "cf32"), ("cs8", "x.cs16", "cs16"),
                                           ("cf32", "x.cs16", "cs16"), ("cf32", "x.cf64", "cf64"), ("cs32", "x.cf32", "cf32"), ("cu8h", "x.cf32", "cf32"), ("cs16be", "x.cs16", "cs16"),
                                           ("cs32", "x.cs16", "cs16"), ("cs16", "x.cs8", "cs8"), ("cs16", "x.cf64", "cf64"), ("cf32", "x.cs8", "cs8")):  # fmt: skip
                self.warned(fit + format_, "-o", "hard", "-m", modulation, "-i", read_as, name)
            for read_as, name, format_ in (("cs8", "x.cf64", "cf64"), ("cf16", "x.cs16", "cs16")):
                said = rf"({fit}|\d+ of the first \d+ symbols are (0|NaN or infinite); they would fit with -i ){format_}"
                self.warned(said, "-o", "hard", "-m", modulation, "-i", read_as, name)
            for name in ("cs8", "cf32"):
                self.warned(rf"{fit}{name}( and --input-scale 1/\S+)?", "-o", "hard", "-m", modulation, "--input-scale", "auto", "-i", "cs16", "x." + name)
            self.warned(fit + "cs16be .*", "-o", "hard", "-m", modulation, "--input-scale", "auto", "-i", "cs16", "x.cs16be")
            for name in ("x.cs16", "x.cf32be", "x.cs16be", "x.cs8", "x.cf64", "x.cf16"):
                self.silent("-o", "hard", "-m", modulation, name)
            self.silent("-o", "hard", "-m", modulation, "--header-bytes", "3", "--count", "5999", "o.cs16")

    def test_zero_of_bytes(self):
        """Bytes that are signed, or begin at 128: the format that fits as it is; both causes if neither does and both might."""
        for modulation, snr_db in (("bpsk", 7), ("pi2-bpsk", 7), ("qpsk", 6), ("qpsk", 20), ("16qam", 17), ("1024qam", 36)):
            for scale in ("1/64", "1/40"):
                self.make("x.cs8", "-m", modulation, "--symbols", "6000", "--snr-db", str(snr_db), "--output-scale", scale)
                self.write("x.cu8", bytes(byte ^ 128 for byte in self.read("x.cs8")))
                for read_as, name in (("cs8", "x.cu8"), ("cu8", "x.cs8")):
                    options = ["-o", "hard", "-m", modulation, "-i", read_as, name]
                    right, fit = name[2:], r"the symbols do not fit \S+, but would with "
                    if scale == "1/64":
                        self.warned(f"{fit}-i {right}", *options)
                    elif MODULATIONS[modulation][0] < 3:
                        self.warned(rf"{fit}--input-scale auto \(about 1/1[34]\d\S*\), or with -i {right}, which looks the same", *options)
                    else:
                        self.warned(r"the symbols do not fit \S+ at any scale, .*", *options)

    def test_receivers(self):
        """A scale, a mean, a rotation, a frequency offset, the conjugate, several samples a symbol."""
        would = r"the symbols do not fit 64QAM, but would "
        y = self.symbols("64qam")
        for change, message in (
            (lambda k: y[k] * 0.25, r"with --input-scale auto \(about 1/0\.2[45].*\)"), (lambda k: y[k] * 1.3, r"with --input-scale auto \(about 1/1\.[23].*\)"),
            (lambda k: y[k] + 0.2, r"without their mean of 0\.\d* \(a DC offset\)"), (lambda k: y[k] * cmath.rect(1, 0.4), r"if turned back by 2[23]\.\d degrees"),
            (lambda k: y[k] * cmath.rect(1, 0.01 * k), r"if turned back by 0\.57\d* degrees a symbol \(a frequency offset\)"),
        ):  # fmt: skip
            self.write_symbols("z.cf32", [change(k) for k in range(len(y))])
            self.warned(would + message, "-o", "hard", "-m", "64qam", "z.cf32")
        for modulation, degrees in (("16qam", 0.002), ("64qam", 0.0015), ("256qam", 0.0015), ("256qam", 0.003), ("1024qam", 0.002)):  # by 12 to 25 in all
            self.symbols(modulation, 8192, SNR_DB[MODULATIONS[modulation][0]] + 2, "--frequency-offset", str(degrees))
            self.warned(r"the symbols do not fit \S+, but would if turned back by 0\.00\d+ degrees a symbol \(a frequency offset\)", "-o", "hard",
                        "-m", modulation, "x.cf32")  # fmt: skip
        for modulation in ("qpsk", "16qam", "256qam"):
            y = self.symbols(modulation)
            for change, message in (
                (lambda k: y[k] * cmath.rect(1, math.radians(10)), r", but would if turned back by (9|10)\.\d degrees"),
                (lambda k: y[k] * cmath.rect(1, 0.8 * math.sin(k / 500)), ": their phase varies"),
                (lambda k: complex(1.3 * y[k].real, y[k].imag), r": I is 1\.(2|3)\d* times as large as Q"),
                (lambda k: complex(y[k].real, y[k].imag + 0.34 * y[k].real), r": I and Q are not independent: their correlation is 0\.3\d*"),
                (lambda k: complex(abs(y[k].real), abs(y[k].imag)), ": nearly all have one sign"), (lambda k: y[k] + 1, r", but would without their mean of \S+ \(a DC offset\)"),
                (lambda k: y[k] * (0.5 + k / 4000), ": their size varies, as before an equaliser"),
                (lambda k: y[k] * (0.88 + 0.32 * k / len(y)), ": their size varies, as before an equaliser"),
            ):  # fmt: skip
                self.write_symbols("z.cf32", [change(k) for k in range(len(y))])
                self.warned(rf"the symbols do not fit \S+{message}", "-o", "hard", "-m", modulation, "z.cf32")
            self.write_symbols("z.cf32", [complex(v.real, 0) for v in y])
            self.warned("Q of the first symbols is 0: are the samples real numbers, without I and Q\\?", "-o", "hard", "-m", modulation, "z.cf32")
        y = self.symbols("qpsk")
        self.assertEqual(self.ok(self.demod("-q", "x.cf32", "y")).err, "")
        self.write_symbols("z.cf32", [value * cmath.rect(1, math.pi / 4) for value in y])
        self.warned(r"the symbols do not fit QPSK, but would if turned back by -?4[45]\.\d degrees", "-o", "hard", "-m", "qpsk", "z.cf32")
        self.write_symbols("z.cf32", [y[k // 4] * (4 - k % 4) / 4 + y[k // 4 + 1] * (k % 4) / 4 for k in range(12000)])
        self.warned("the symbols do not fit QPSK: neighbours are alike, as if there were several samples a symbol", "-o", "hard", "-m", "qpsk", "z.cf32")
        self.write_symbols("z.cf32", [value.conjugate() for value in self.symbols("pi2-bpsk")])
        self.warned("the symbols do not fit pi/2-BPSK, but would with --conjugate", "-o", "hard", "-m", "pi2-bpsk", "z.cf32")
        self.silent("-o", "hard", "-m", "pi2-bpsk", "--conjugate", "z.cf32")

    def test_nothing_that_fits(self):
        self.make("n.cf32", "-m", "qpsk", "--symbols", "9000", "--snr-db", "-60", "--output-scale", "1000")
        self.write("r.cs16", b"".join(zlib.compress(str(k).encode() * 9, 9)[2:-4] for k in range(9000))[:60000])
        noise, spread = "they look like noise", "they are spread evenly, as compressed data are"
        for message, arguments in ((noise, ["n.cf32"]), (noise, ["--input-scale", "auto", "n.cf32"]), (f"({noise}|{spread})", ["-i", "cs16", "r.cs16"])):
            self.warned(f"the symbols do not fit 256QAM at any scale, nor another modulation or format: {message}", "-o", "u8", *arguments)
        y = self.symbols("qpsk", 8000, 18)
        self.write_symbols("z.cf32", [value * cmath.rect(1, math.pi / 4 * (k % 2)) for k, value in enumerate(y)])  # pi/4-QPSK
        self.warned("the symbols do not fit 256QAM at any scale, nor another modulation or format: they have other points", "z.cf32")
        self.symbols("64qam", others=OTHERS[:1])
        self.write("z.cs16", pack("h", [max(-32768, min(32767, 4 * v)) for v in unpack("h", self.read("x.cs16"))]))
        self.warned(r"the symbols do not fit 64QAM: \d+ % of the samples are at the ends of their range, clipped", "-o", "hard", "-m", "64qam", "z.cs16")
        for modulation, scale in (("64qam", "1/128"), ("256qam", "1/120")):
            self.make("z.cs8", "-m", modulation, "--symbols", "6000", "--snr-db", "28", "--output-scale", scale)
            self.warned(r"the symbols do not fit \d+QAM: (1\d|2\d) % of the samples are at the ends of their range, clipped", "-o", "hard", "-m", modulation, "z.cs8")
        y = self.symbols("64qam")
        self.write_symbols("z.cf32", [complex(max(-0.8, min(0.8, v.real)), max(-0.8, min(0.8, v.imag))) for v in y])
        self.warned("the symbols do not fit 64QAM: none is near the outer points, as if they were clipped or too small", "-o", "hard", "-m", "64qam", "z.cf32")
        none = pack("f", 8000 * [1, math.nan])
        for data, message in ((none, "4000|8000 of the first 8000 symbols are NaN or infinite"), (bytes(64000), "8000 of the first 8000 symbols are 0"),
                              (b"", "has no symbols")):  # fmt: skip
            self.write("z.cf32", data)
            self.warned(f"({message})", "-o", "hard", "-m", "qpsk", "z.cf32")
        self.symbols("256qam", 2000)
        self.warned("has only 500 symbols, where --count asks for 501", "--skip", "1500", "--count", "501", "x.cf32")
        self.warned("has only as many symbols as --skip leaves out", "--skip", "2000", "x.cf32")
        few = self.ok(self.demod("--strict", "-o", "hard", "--count", "999", "x.cf32", "y")).err
        self.assertEqual(few, "softqam-demod: x.cf32: fewer than 1000 symbols: too few to tell whether they fit\n")

    def test_few_in_fading(self):
        """Some components of deep fades are limited, so fewer than 1000 symbols are left."""
        for modulation in ("bpsk", "16qam", "1024qam"):
            self.symbols(modulation, 1000, 7, "--fading", "n0", others=OTHERS[1:2])
            self.silent("-m", modulation, "-o", "s8", "--noise-file", "n0", "x.cs8")

    def test_large_neighbours(self):
        """Noise of a deep fade, a hundred times as large as symbols, and erasures side by side are no samples that are alike."""
        self.symbols("bpsk", 12000, 5.7, "--fading", "n0", "--seed", "154247")
        self.silent("-m", "bpsk", "-o", "s8", "--noise-file", "n0", "x.cf32")
        for modulation in ("qpsk", "16qam", "256qam"):
            y = self.symbols(modulation, 8000)
            for erasure in (math.nan, complex(math.nan, math.nan), math.inf):
                self.write_symbols("z.cf32", [erasure if 500 <= k < 1200 else value for k, value in enumerate(y)])
                self.silent("-m", modulation, "-o", "hard", "z.cf32")

    def test_outliers(self):
        """One in thousands spoils neither scale nor noise."""
        y = self.symbols("256qam", 20000)
        self.write_symbols("z.cf32", [3e38 if k == 77 else value / 3 for k, value in enumerate(y)])
        result = self.ok(self.demod("--strict", "-o", "s8", "--noise-var", "auto", "--input-scale", "auto", "z.cf32", "y"))
        scale, noise_var = (float(line.split()[4]) for line in result.err.splitlines())
        self.assertLess(abs(scale / 3 - 1) + abs(noise_var / 10**-2.6 - 1), 0.05, result.err)


class NoiseFiles(FitTest):
    def test_values(self):
        self.symbols("qpsk", 8000, 10)
        options = ["-o", "s8", "-m", "qpsk", "--noise-file", "n0", "x.cf32"]
        bad = r"\d+ of 8000 values are not positive and finite, so the LLRs of their symbols are 0"
        for value, message in ((-10, bad + r": decibels\? N0 is 10\^\(dB/10\)"), (0, bad), (math.nan, bad), (math.inf, bad),
                               (10, r"N0 is above 4 for nine in ten symbols: Es/N0, or decibels\? .*")):  # fmt: skip
            self.write("n0", pack("f", 8000 * [value]))
            self.warned(message, *options)
        self.write("n0", pack("f", [0.0 if k % 7 == 0 else 0.1 for k in range(8000)]))
        self.warned(bad, *options)
        self.write("n0", swapped("f", pack("f", [0.1 + 0.001 * (k % 89) for k in range(8000)])))
        self.warned("its values seem to have the other byte order: write 32-bit floats, little endian", *options)
        for value, times in ((0.01, r"(9\.\d|10|11)"), (0.05, r"(1\.9|2|2\.1)"), (0.2, r"0\.(4|5)\d?"), (1, r"0\.(1|09\d|1\d)"), (0.1**0.5, r"0\.3\d?")):
            self.write("n0", pack("f", 8000 * [value]))
            self.warned(f"N0 seems to be {times} times that, by the distances of symbols to points", *options)
        self.write("n0", pack("f", [0.0 if k % 50 == 0 else 0.1 for k in range(8000)]))  # as the best elements of an equaliser
        self.warned("160 of 8000 values are 0 or negative, so the LLRs of their symbols are 0; --noise-floor takes them as a small N0", *options)
        self.silent("--noise-floor", "1e-5", *options)
        self.write("n0", pack("f", [math.inf if k % 50 == 0 else 0.1 for k in range(8000)]))  # erased on purpose
        self.silent(*options)


class Recordings(FitTest):
    """Recordings as people have them."""

    def test_headers(self):
        """Said with the options that read the samples, which do; also if the format is named."""
        self.symbols("256qam", 3000, others=OTHERS[:1])
        expected = {name: self.soft_bits("x." + name) for name in ("cs16", "cf32")}
        for name, kind, bits in (("cs16", 1, 16), ("cf32", 3, 32)):
            data = self.read("x." + name)
            header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, kind, 2, 48000, 48000 * bits // 4, bits // 4, bits,
                                     b"data", len(data))  # fmt: skip
            text = "{'descr': '<c8', 'fortran_order': False, 'shape': (3000,), }".ljust(117) + "\n"
            npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.encode()
            for what, head in (("a WAV file", header), *([("a NumPy array", npy)] if name == "cf32" else [])):
                self.write("z." + name, head + data)
                mend = ["-i", name, "--header-bytes", str(len(head))]
                for options in ([], ["-i", name]):
                    self.fails(self.demod(*options, "z." + name, "y"), 1, f"z.{name}: {what}, whose samples begin after its header: give {' '.join(mend)}")
                self.assertEqual(self.soft_bits(*mend, "z." + name), expected[name])
                self.assertEqual(self.soft_bits(*mend, "-", data=head + data), expected[name])
        self.write("z.cs16", header[:20] + struct.pack("<H", 1) + header[22:34] + struct.pack("<H", 16) + header[36:40] + struct.pack("<I", 12000) + data + b"LIST")
        self.fails(self.demod("z.cs16", "y"), 1, "z.cs16: a WAV file, whose samples begin after its header: give -i cs16 --header-bytes 44 --count 3000")
        chunks = b"".join(name + struct.pack("<I", n) + bytes(n) for name, n in ((b"bext", 858), (b"PAD ", 5000)))
        head = b"RF64\xff\xff\xff\xffWAVE" + chunks + header[12:20] + struct.pack("<H", 1) + header[22:34] + struct.pack("<H", 16) + b"data\xff\xff\xff\xff"
        self.write("z.cs16", head)
        os.truncate(self.path("z.cs16"), 2**32 + 40000)  # as long as such files are
        self.fails(self.demod("z.cs16", "y"), 1, f"z.cs16: a WAV file, whose samples begin after its header: give -i cs16 --header-bytes {len(head)}")
        head = struct.pack("<IQQII", 48000, 10**8, 0, 16, 0)
        self.write("z.sdriq", head + struct.pack("<I", zlib.crc32(head)) + self.read("x.cs16"))
        self.fails(self.demod("-i", "cs16", "z.sdriq", "y"), 1,
                   "z.sdriq: an SDRangel recording, whose samples begin after its header: give -i cs16 --header-bytes 32")  # fmt: skip
        for head, message in ((b"\x07\x02rx_rate" + bytes(99), "GNU Radio's metadata lie among its samples; record with a detached header, or by a plain file sink"),
                              (b"\x1f\x8b\x08" + bytes(99), "compressed; gunzip it"), (bytes(257) + b"ustar" + bytes(99), "a tar archive; unpack it"), (b"1.5, 2.5\n" * 99, "text, not samples"),
                              (b"I \xc2\xb5V, Q\n" + b"1.5, 2.5\n" * 5, "text, not samples"), (b"\xfd7zXZ" + bytes(99), "compressed; unxz it"),
                              (b"BZh91AY&SY" + bytes(99), "compressed; bunzip2 it"), (b"fLaC" + bytes(99), "compressed; decode it with flac"),
                              (b"FORM    AIFF" + bytes(99), "an AIFF file; write its samples to a file of their own"),
                              (b"riff\x2e\x91\xcf\x11" + bytes(99), "a Wave64 file; write its samples to a file of their own"),
                              (b"BLUEEEEIEEEI" + bytes(99), "a BLUE file, whose samples begin after its header: give -i and --header-bytes 512")):  # fmt: skip
            self.write("z.cs16", head)
            self.fails(self.demod("z.cs16", "y"), 1, "z.cs16: " + message)
        self.write("z.cs8", b"--" * 3000)  # one point of QPSK, at the default scale
        self.assertEqual(self.soft_bits("-q", "-m", "qpsk", "-o", "hard", "z.cs8"), bytes(6000))
        apart = "z.cf32: a NumPy array in which I and Q do not alternate; save it as complex64"
        after = "z.cf32: a NumPy array, whose samples begin after its header: give -i cf32 --header-bytes 128"
        for kind, order, shape, message in (("<f4", False, (9, 2), after), ("<f4", False, (3, 3, 2), after), ("<f4", False, (18,), after),
                                            ("<c8", False, (3, 3), after), ("<f4", True, (9, 2), apart), ("<f4", False, (2, 9), apart),
                                            ("<f4", False, (2, 2, 9), apart), ("<c8", True, (3, 3), apart)):  # fmt: skip
            text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117) + "\n"
            self.write("z.cf32", b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.encode() + bytes(72))
            self.fails(self.demod("z.cf32", "y"), 1, message)
        self.fails(self.demod("-i", "cs16", "--header-bytes", "1T", "x.cs16", "y"), 1,
                   "x.cs16: has only 12000 bytes, and its header should have 1000000000000")  # fmt: skip

    def test_channels(self):
        """Channels of plain files and recordings, with --skip and shards; swapped and conjugated samples."""
        y, pairs = self.symbols("256qam", 3000, others=OTHERS), self.read("x.cs16")
        other, expected = bytes(12000), self.soft_bits("x.cs16")
        both = b"".join(a + b for a, b in zip(*([data[k : k + 4] for k in range(0, 12000, 4)] for data in (other, pairs))))
        self.write("b.cs16", both)
        self.assertEqual(self.soft_bits("--channel", "2/2", "b.cs16"), expected)
        self.assertEqual(self.soft_bits("--channel", "2/2", "--skip", "100", "-i", "cs16", "-", data=both), expected[800:])
        self.assertEqual(b"".join(self.soft_bits("--channel", "2/2", "--shard", f"{k}/3", "b.cs16") for k in (1, 2, 3)), expected)
        self.fails(self.demod("--channel", "1/7", "x.cs16", "y"), 1, "x.cs16: not a whole number of groups: 16 bytes left over (a group has 28)")
        members = {"core:datatype": "ci16_be", "core:num_channels": 2, "core:trailing_bytes": 3, "core:sha512": "0"}
        self.write("r.sigmf-meta", json.dumps({"global": members, "captures": [{"core:header_bytes": 5}, {}]}).encode())
        self.write("r.sigmf-data", b"12345" + swapped("h", both) + b"123")
        self.assertEqual(self.soft_bits("-q", "--channel", "2/2", "r"), expected)
        self.assertIn("r.sigmf-meta: core:sha512 is not checked\n", self.ok(self.demod("--channel", "2/2", "r", "y")).err)
        for name, code, change in (("x.cf32", "f", 0), ("x.cs16", "h", 0), ("x.cs8", "b", 0), ("x.cf16", "e", 0)):
            parts = unpack(code, self.read(name))
            flat = [part for pair in zip((-v for v in parts[1::2]), parts[::2]) for part in pair]  # conjugated, then swapped
            top = {"h": 32767, "b": 127}.get(code, math.inf)
            self.write("z" + name[1:], pack(code, [min(v, top) for v in flat]))
            self.assertEqual(self.soft_bits("--swap-iq", "--conjugate", "z" + name[1:]), self.soft_bits(name), name)

    def test_zero_of_cu8(self):
        """128 by default, 127.5 with -i cu8h."""
        values = list(range(256))
        self.write("x.cu8", bytes(values))
        for name, zero in (("cu8", 128), ("cu8h", 127.5)):
            floats = self.soft_bits("-o", "f32", "--snr-db", "20", "-", data=pack("f", [(v - zero) / 64 for v in values]))
            self.assertEqual(self.soft_bits("-i", name, "-o", "f32", "--snr-db", "20", "x.cu8"), floats)


class RightFiles(FitTest):
    @thorough
    def test_random(self):
        """No warning, whatever the modulation, the format and the noise, from 5 dB on, fading too."""
        for seed in range(40):
            modulation = list(MODULATIONS)[seed % 7]
            snr_db = 5 + 40 * (seed * 0.618 % 1)
            y = self.symbols(modulation, 2000 + 500 * (seed % 9), snr_db, "--seed", str(seed), others=OTHERS)
            noise = (["--snr-db", str(snr_db)], ["--noise-var", "auto"], ["--noise-var", "auto", "--input-scale", "auto"])[seed % 3]
            for name in ("x.cs16", "x.cs8", "x.cf16", "x.cf32"):
                self.silent("-m", modulation, "-o", "s8", *noise, name)
            clean = self.symbols(modulation, len(y), 200, "--seed", str(seed))
            gain = [0.2 + abs(math.sin(0.01 * k) * math.cos(0.0037 * k)) for k in range(len(y))]
            self.write_symbols("f.cf32", [c + (v - c) / g for c, v, g in zip(clean, y, gain)])
            self.write("n0", pack("f", [10 ** (-snr_db / 10) / g**2 for g in gain]))
            self.silent("-m", modulation, "-o", "s8", "--noise-file", "n0", "f.cf32")


if sys.byteorder == "little":
    main()
