#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says which LLRs, or values of LDPC soft buffers, of a soft demapper are not those of max-log. Needs Python 3 and the files
beside it, nothing else.

llrs: demodulate MODULATION.cf32 with the noise variances in MODULATION.noise_var.f32 and write the LLRs of all symbols to a file,
b0 first. soft-buffers: demodulate soft_buffers/NAME.cf32 as the line of NAME in codewords.txt says, and write the soft buffers,
one code block after the other. Files have no header and are little-endian. README.md has the rest."""
import argparse
import os
import struct
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
CODES = {"s8": "b", "s16": "h", "f16": "e", "f32": "f", "f64": "d"}
BITS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
KINDS = ("sent", "not_sent", "fillers")
SHOWN = 3  # values of a section or kind that are printed
LARGEST = {"s8": 127, "s16": 32767, "f16": 65504.0, "f32": 3.4028234663852886e38, "f64": 3.4028234663852886e38}


def read(path, code):
    """All values of a file."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.calcsize("<" + code)
    if len(data) % size:
        sys.exit(f"{path}: {len(data)} bytes are no whole number of values of {size} bytes")
    return struct.unpack(f"<{len(data) // size}{code}", data)


def read_here(name, code="f"):
    return read(os.path.join(FOLDER, name), code)


def rows_of(name):
    """The words of each line of a list."""
    with open(os.path.join(FOLDER, name), encoding="ascii") as file:
        return [line.split() for line in file if not line.startswith("#")]


def report(options, names, intervals, where):
    """Holds the values of the file to their intervals; names says of which section or kind each is. The exit status."""
    values = read(options.values, CODES[options.format])
    if len(values) != len(names):
        sys.exit(f"{options.values}: {len(values)} values, expected {len(names)}")
    checked = [name for name in dict.fromkeys(names) if name not in options.skip]
    if not checked or not set(options.skip) <= {*names, *KINDS}:
        sys.exit(f"--skip: {', '.join(options.skip)}: nothing is left, or there is no such section or kind")
    outside = {name: [] for name in checked}
    for i, (name, (low, high)) in enumerate(zip(names, intervals)):
        if name in outside and not low - options.slack <= values[i] <= high + options.slack:  # nor is NaN
            outside[name].append(f"  {name}: {where(i)}: {values[i]!r} is not in [{low!r}, {high!r}]")
    for name in checked:
        print(*outside[name][:SHOWN], f"{name}: {names.count(name)} values, {len(outside[name])} outside", sep="\n")
    n_wrong = sum(map(len, outside.values()))
    print(f"{n_wrong} values are not max-log's" if n_wrong else "all values are max-log's")
    return n_wrong > 0


def quantise(options, llr):
    """An LLR as the output has it."""
    limit = options.limit or LARGEST[options.format]
    llr = min(max((options.scale or (6 if options.format == "s8" else 1)) * llr, -limit), limit)
    if options.format in ("s8", "s16"):
        return round(llr)  # ties to even
    if options.format == "f16" and abs(llr) < 65504:
        return struct.unpack("<e", struct.pack("<e", llr))[0]
    return llr


def check_llrs(options):
    n_bits, sign = BITS[options.modulation], -1 if options.positive else 1
    sections = [row for row in rows_of("sections.txt") if row[0] == options.modulation]
    names = [row[1] for row in sections for _ in range(int(row[3]) * n_bits)]
    components = read_here(options.modulation + ".cf32")
    is_zero = [pair == (0, 0) for pair in zip(components[::2], components[1::2])]
    intervals = [(0, 0) if options.zeros == "erased" and is_zero[i // n_bits] else
                 tuple(sorted((sign * quantise(options, low), sign * quantise(options, high))))
                 for i, (low, high) in enumerate(zip(read_here(options.modulation + ".low.f32"), read_here(options.modulation + ".high.f32")))]
    return report(options, names, intervals, lambda i: f"symbol {i // n_bits}, b{i % n_bits}")


class Codeword:
    """A line of codewords.txt; the letters are those of TS 38.212."""

    def __init__(self, words):
        self.name, self.modulation = words[:2]
        (self.n_l, self.c_init, self.g, self.a, self.base_graph, self.rv, self.n_ref, self.c, self.z_c, self.k_prime,
         self.n_cb, self.k0, self.first_filler, self.n_fillers) = map(int, words[2:16])
        self.format = words[16]
        self.scale, self.limit, self.filler = map(float, words[17:20])
        self.positive = int(words[20])
        self.q_m = BITS[self.modulation]

    def lengths(self):
        """E_r of each code block, clause 5.4.2.1."""
        elements = self.g // (self.n_l * self.q_m)
        n_short = self.c - elements % self.c
        return [self.n_l * self.q_m * (elements // self.c + (r >= n_short)) for r in range(self.c)]

    def is_filler(self, position):
        return self.first_filler <= position < self.first_filler + self.n_fillers

    def selected(self, length):
        """The position of each bit e_k of a code block, clause 5.4.2.1."""
        around = [n % self.n_cb for n in range(self.k0, self.k0 + self.n_cb) if not self.is_filler(n % self.n_cb)]
        return [around[k % len(around)] for k in range(length)]

    def bounds(self):
        """The ends of each value's interval, which are the same but for f32."""
        files = ["low.f32", "high.f32"] if self.format == "f32" else 2 * [self.format]
        return [read_here(f"soft_buffers/{self.name}.{suffix}", CODES[self.format]) for suffix in files]


def read_codewords():
    """All of them, by name."""
    return {words[0]: Codeword(words) for words in rows_of("soft_buffers/codewords.txt")}


def transmissions(codewords, name):
    """A codeword and those before it that are in the same soft buffers, the first one first."""
    stem, _, number = name.rpartition(".")
    return [codewords[f"{stem}.{k}"] for k in range(1, int(number) + 1)]


def kinds_of(codewords, name):
    """Returns what each position of each code block is."""
    last, kinds = codewords[name], []
    for r in range(last.c):
        sent = {position for each in transmissions(codewords, name) for position in each.selected(each.lengths()[r])}
        kinds += ["fillers" if last.is_filler(n) else "sent" if n in sent else "not_sent" for n in range(last.n_cb)]
    return kinds


def check_soft_buffers(options):
    codewords = read_codewords()
    codeword = codewords[options.name]
    options.format = codeword.format
    return report(options, kinds_of(codewords, options.name), zip(*codeword.bounds()),
                  lambda i: f"code block {i // codeword.n_cb}, position {i % codeword.n_cb}")


def positive(text):
    """An option's value; ValueError says that it is none."""
    if not 0 < float(text) < float("inf"):
        raise ValueError
    return float(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    llrs, buffers = (commands.add_parser(name) for name in ("llrs", "soft-buffers"))
    llrs.add_argument("modulation", choices=BITS)
    llrs.add_argument("format", choices=CODES)
    buffers.add_argument("name", choices=read_codewords(), help="of the transmission")
    for each, check in ((llrs, check_llrs), (buffers, check_soft_buffers)):
        each.set_defaults(check=check)
        each.add_argument("values", metavar="FILE")
        each.add_argument("--slack", type=lambda text: positive(text) if float(text) else 0, default=0, help="tolerance beyond both ends of an interval, in the output's unit")
        each.add_argument("--skip", action="append", default=[], help=f"a section to leave out, such as special, or of soft buffers {', '.join(KINDS)}")
    llrs.add_argument("--scale", type=positive, help="output steps a nat; default: 6 of s8, else 1")
    llrs.add_argument("--limit", type=positive, help="largest magnitude in the output; default: the format's")
    llrs.add_argument("--positive", type=int, choices=(0, 1), default=0, help="the bit that a positive LLR means; default: 0")
    llrs.add_argument("--zeros", choices=("points", "erased"), default="points",
                      help="a symbol of zero is a point as any other, the default, or an erasure, whose LLRs are 0")
    options = parser.parse_args()
    try:
        status = options.check(options)
        print(end="", flush=True)
        return status
    except OSError as error:
        return f"{error.filename or 'standard output'}: {error.strerror}"


if __name__ == "__main__":
    sys.exit(main())
