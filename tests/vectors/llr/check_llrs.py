#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says which LLRs of a soft demapper are not those of max-log. Needs Python 3 and the files beside it, nothing else.

Demodulate MODULATION.cf32 with the noise variances in MODULATION.noise_var.f32 and write the LLRs of all symbols to a
file, b0 first, without a header and little-endian. README.md has the rest."""
import argparse
import os
import struct
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
CODES = {"s8": "b", "s16": "h", "f16": "e", "f32": "f", "f64": "d"}
SHOWN = 3  # values of a section that are printed
LARGEST = {"s8": 127, "s16": 32767, "f16": 65504.0, "f32": 3.4028234663852886e38, "f64": 3.4028234663852886e38}


def read(path, code):
    """All values of a file."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.calcsize("<" + code)
    if len(data) % size:
        sys.exit(f"{path}: {len(data)} bytes are no whole number of values of {size} bytes")
    return struct.unpack(f"<{len(data) // size}{code}", data)


def positive(text):
    """An option's value; ValueError says that it is none."""
    if not 0 < float(text) < float("inf"):
        raise ValueError
    return float(text)


def not_negative(text):
    return positive(text) if float(text) else 0


def run(main):
    """The exit status of a checker, or a line that says what cannot be read or written."""
    try:
        status = main()
        print(end="", flush=True)
        return status
    except OSError as error:
        return f"{error.filename or 'standard output'}: {error.strerror}"


def read_sections(modulation):
    """Name, first symbol and number of symbols of each."""
    with open(os.path.join(FOLDER, "sections.txt"), encoding="ascii") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return [(row[1], int(row[2]), int(row[3])) for row in rows if row[0] == modulation]


def quantise(options, llr):
    """An LLR as the output has it."""
    limit = options.limit or LARGEST[options.format]
    llr = min(max((options.scale or (6 if options.format == "s8" else 1)) * llr, -limit), limit)
    if options.format in ("s8", "s16"):
        return round(llr)  # ties to even
    if options.format == "f16" and abs(llr) < 65504:
        return struct.unpack("<e", struct.pack("<e", llr))[0]
    return llr


def interval(options, low, high):
    sign = -1 if options.positive else 1
    ends = sorted((sign * quantise(options, low), sign * quantise(options, high)))
    return ends[0] - options.slack, ends[1] + options.slack


def check_section(section, n_bits, llrs, bounds, erased, options):
    """How many LLRs of a section are outside; says where the first few are."""
    name, first, n_symbols = section
    outside = 0
    for i in range(first * n_bits, (first + n_symbols) * n_bits):
        low, high = (0, 0) if i // n_bits in erased else interval(options, bounds[0][i], bounds[1][i])
        if not low <= llrs[i] <= high:  # nor is NaN
            outside += 1
            if outside <= SHOWN:
                print(f"  {name}: symbol {i // n_bits}, b{i % n_bits}: {llrs[i]!r} is not in [{low!r}, {high!r}]")
    print(f"{name}: {n_symbols} symbols, {n_symbols * n_bits} LLRs, {outside} outside")
    return outside


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modulation", help="bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam")
    parser.add_argument("format", choices=CODES)
    parser.add_argument("llrs", help="file of LLRs")
    parser.add_argument("--scale", type=positive, help="output steps a nat; default: 6 of s8, else 1")
    parser.add_argument("--limit", type=positive, help="largest magnitude in the output; default: the format's")
    parser.add_argument("--positive", type=int, choices=(0, 1), default=0, help="the bit that a positive LLR means; default: 0")
    parser.add_argument("--zeros", choices=("points", "erased"), default="points",
                        help="a symbol of zero is a point as any other, the default, or an erasure, whose LLRs are 0")
    parser.add_argument("--slack", type=not_negative, default=0, help="so much more on both sides, in the output's unit")
    parser.add_argument("--skip", action="append", default=[], help="a section to leave out, such as special")
    return parser.parse_intermixed_args()


def main():
    options = parse_options()
    sections = read_sections(options.modulation)
    if not sections:
        sys.exit(f"{options.modulation}: no such modulation in sections.txt")
    names, skipped = {name for name, _, _ in sections}, set(options.skip)
    if not skipped < names:
        sys.exit(f"--skip: no section {', '.join(sorted(skipped - names)) or 'is left'}")
    stem = os.path.join(FOLDER, options.modulation)
    bounds = read(stem + ".low.f32", "f"), read(stem + ".high.f32", "f")
    llrs = read(options.llrs, CODES[options.format])
    if len(llrs) != len(bounds[0]):
        sys.exit(f"{options.llrs}: {len(llrs)} LLRs, expected {len(bounds[0])}")
    n_bits = len(llrs) // sum(n for _, _, n in sections)
    components = read(stem + ".cf32", "f")
    zeros = {n for n, pair in enumerate(zip(components[::2], components[1::2])) if pair == (0, 0)}
    erased = zeros if options.zeros == "erased" else ()
    outside = sum(check_section(section, n_bits, llrs, bounds, erased, options)
                  for section in sections if section[0] not in options.skip)
    print("all LLRs are max-log's" if outside == 0 else f"{outside} LLRs are not max-log's")
    return outside > 0


if __name__ == "__main__":
    sys.exit(run(main))
