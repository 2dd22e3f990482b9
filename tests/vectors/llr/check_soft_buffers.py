#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says which values of LDPC soft buffers are not those of max-log. Needs Python 3 and the folder soft_buffers beside it,
nothing else.

Demodulate NAME.cf32 with the noise variances in NAME.noise_var.f32 as the line of NAME in codewords.txt says, and write
the soft buffers, one code block behind the other, to a file without a header, little-endian. README.md has the rest."""
import argparse
import os
import sys

from check_llrs import CODES, FOLDER, SHOWN, not_negative, read, run

VECTORS = os.path.join(FOLDER, "soft_buffers")
BITS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
KINDS = ("sent", "not_sent", "fillers")


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


def read_codewords():
    """All of them, by name."""
    with open(os.path.join(VECTORS, "codewords.txt"), encoding="ascii") as file:
        words = [line.split() for line in file if not line.startswith("#")]
    return {line[0]: Codeword(line) for line in words}


def transmissions(codewords, name):
    """A codeword and those before it that are in the same soft buffers, the first one first."""
    stem, _, number = name.rpartition(".")
    return [codewords[f"{stem}.{k}"] for k in range(1, int(number) + 1)]


def read_bounds(codeword):
    """The ends of each value's interval, which are the same but for f32."""
    stem = os.path.join(VECTORS, codeword.name)
    if codeword.format == "f32":
        return read(stem + ".low.f32", "f"), read(stem + ".high.f32", "f")
    values = read(f"{stem}.{codeword.format}", CODES[codeword.format])
    return values, values


def kinds_of(codewords, name):
    """What each position of each code block is."""
    last = codewords[name]
    kinds = []
    for r in range(last.c):
        sent = {position for each in transmissions(codewords, name) for position in each.selected(each.lengths()[r])}
        kinds += ["fillers" if last.is_filler(n) else "sent" if n in sent else "not_sent" for n in range(last.n_cb)]
    return kinds


def check(codewords, options):
    """How many values are outside; says where the first few are."""
    codeword = codewords[options.name]
    n_cb = codeword.n_cb
    values = read(options.values, CODES[codeword.format])
    if len(values) != codeword.c * n_cb:
        sys.exit(f"{options.values}: {len(values)} values, expected {codeword.c * n_cb}")
    low, high = read_bounds(codeword)
    kinds = kinds_of(codewords, options.name)
    if not set(kinds) - set(options.skip):
        sys.exit("--skip: no values are left")
    slack = options.slack
    outside = [i for i in range(len(kinds)) if not low[i] - slack <= values[i] <= high[i] + slack]  # NaN is
    wrong = [i for i in outside if kinds[i] not in options.skip]
    for i in wrong[:SHOWN]:
        print(f"  {kinds[i]}: code block {i // n_cb}, position {i % n_cb}: {values[i]!r} is not in [{low[i]!r}, {high[i]!r}]")
    for kind in KINDS:
        print(f"{kind}: {kinds.count(kind)} values, {sum(kinds[i] == kind for i in outside)} outside")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the transmission, such as srsran.1")
    parser.add_argument("values", metavar="FILE", help="the soft buffers after it, in the codeword's format")
    parser.add_argument("--slack", type=not_negative, default=0, help="so much more on both sides")
    parser.add_argument("--skip", action="append", default=[], choices=KINDS, help="do not hold these values to anything")
    options = parser.parse_args()
    codewords = read_codewords()
    if options.name not in codewords:
        sys.exit(f"{options.name}: not one of {', '.join(codewords)}")
    outside = check(codewords, options)
    print("all soft bits are max-log's" if outside == 0 else f"{outside} soft bits are not max-log's")
    return outside > 0


if __name__ == "__main__":
    sys.exit(run(main))
