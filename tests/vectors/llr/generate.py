#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the vectors of this folder, in plain Python from the formulas of TS 38.211 and 38.212: README.md says what each is.
Nothing but IEEE 754's basic operations and square roots is used, so the files are the same on every machine.

    generate.py FOLDER
"""
import functools
import math
import os
import struct
import sys

from check import BITS, CODES, LARGEST, Codeword

FLT_MAX = LARGEST["f32"]
LOW, MIDDLE, HIGH, EACH = range(4)  # which noise variance the symbols of a section have, and the stream of its random numbers
# N0 where 0.3, about 0.6 and 0.95 of the bits arrive.
NOISE = {"pi2-bpsk": (3.85, 1.4, 0.4), "bpsk": (3.85, 1.4, 0.4), "qpsk": (1.92, 0.7, 0.2), "16qam": (0.65, 0.2, 0.0447),
         "64qam": (0.288, 0.069, 0.0118), "256qam": (0.147, 0.0263, 0.00323), "1024qam": (0.0804, 0.0105, 8.85e-4)}


def f32(x):
    """The nearest number of binary32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def beside(x, above):
    """The next number of binary32."""
    if x == 0:
        return 2.0 ** -149 if above else -2.0 ** -149
    bits, = struct.unpack("<i", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<i", bits + (1 if (x > 0) == above else -1)))[0]


def f32_below(x):
    """The nearest number of binary32 that is not above."""
    return beside(f32(x), False) if f32(x) > x else f32(x)


def f32_above(x):
    return -f32_below(-x)


def clamp(x, low, high):
    return min(max(x, low), high)


def philox(seed, stream, n, k):
    """Four random words: Philox4x32 of ten rounds, by Salmon et al., Parallel random numbers, 2011."""
    words, keys = (n, k, 0, 0), [seed, stream]
    for _ in range(10):
        products = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        high, low = [p >> 32 for p in products], [p & 0xFFFFFFFF for p in products]
        words = high[1] ^ words[1] ^ keys[0], low[1], high[0] ^ words[3] ^ keys[1], low[0]
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, (0x9E3779B9, 0xBB67AE85))]
    return words


def random_words(seed, stream, n, k=0):
    return [word for j in range(k, k + 4) for word in philox(seed, stream, n, j)]


# The constellations and max-log.


@functools.lru_cache(maxsize=None)
def levels(n_bits):
    """The coordinates of an axis with these bits, by their bits read as a number."""
    if n_bits == 0:
        return [0]
    return [sign * (2 ** (n_bits - 1) - level) for sign in (1, -1) for level in levels(n_bits - 1)]


def unit_of(n_bits):
    """Returns the number that brings an axis's coordinates to a mean energy of 1: they are divided by it."""
    return math.sqrt(2 * sum(x * x for x in levels(n_bits)) / 2 ** n_bits)


def point(n_bits, label, turned):
    """I and Q of a symbol with these bits, b0 highest; turned: of pi/2-BPSK at an odd position."""
    if n_bits == 1:
        v = (1 - 2 * label) / math.sqrt(2)
        return (-v, v) if turned else (v, v)
    axes = [0, 0]
    for b in range(n_bits):
        axes[b % 2] = 2 * axes[b % 2] + (label >> (n_bits - 1 - b) & 1)
    return tuple(levels(n_bits // 2)[axis] / unit_of(n_bits // 2) for axis in axes)


def axis_metrics(v, n_bits):
    """N0 * LLR of an axis's bits. The difference of two squares is factored, which leaves small numbers their digits."""
    unit, metrics = unit_of(n_bits), []
    for place in range(n_bits - 1, -1, -1):
        zero, one = (min((x / unit for label, x in enumerate(levels(n_bits)) if label >> place & 1 == bit),
                         key=lambda x: x * (x - 2 * v)) for bit in (0, 1))
        metrics.append((one - zero) * (one + zero - 2 * v))
    return metrics


def metrics_of(n_bits, symbol, turned=False):
    """N0 * LLR of each bit, b0 first."""
    i, q = symbol
    if n_bits == 1:
        return [4 / math.sqrt(2) * (q - i if turned else i + q)]
    return [metric for pair in zip(axis_metrics(i, n_bits // 2), axis_metrics(q, n_bits // 2)) for metric in pair]


def conventional(symbol, n0):
    """softqam's convention: a symbol and its N0 as they count; None for an erasure."""
    if not all(map(math.isfinite, (*symbol, n0))) or n0 <= 0:
        return None
    return [0.0 if abs(v) < 2.0 ** -63 else v for v in symbol], clamp(n0, 2.0 ** -100, 2.0 ** 40)


def llrs_of(n_bits, symbol, n0, turned=False):
    known = conventional(symbol, n0)
    return [metric * (1 / known[1]) for metric in metrics_of(n_bits, known[0], turned)] if known else n_bits * [0.0]


def tolerance(symbol, n0, llr):
    """Returns how far from an LLR any way to compute max-log in binary32 may come. Two squared distances are at most P^2 = (|r| + 1.75)^2
    each (points reach 1.69), with at most 7 roundings of 2^-24 P^2; the rest are those of the weighted difference."""
    reach = math.sqrt(symbol[0] * symbol[0] + symbol[1] * symbol[1]) + 1.75
    return 2.0 ** -20 * reach * reach / n0 + 2.0 ** -22 * abs(llr)


def special_interval(n_bits, component, metric, exact, weight):
    """Returns what softqam's arithmetic may make of a metric (reference/max_log.h), and the exact one beside it if N0 * LLR, or what
    binary32 makes of it, overflows."""
    half, unit = 2 ** (max(n_bits // 2, 1) - 1), 2.0 ** -24 * (1 + 2.0 ** -20)
    energy = 2 if n_bits < 4 else 2 * (2 ** n_bits - 1) / 3
    constant, slope = 0 if half == 1 else 2 * ((half + 1) * (half + 1) - 1) / energy, 8 * half / math.sqrt(energy)
    error = unit * (3 * abs(metric) if n_bits == 1 else constant + slope * abs(component))
    value, bound = metric * weight, error * weight + 2 * unit * (abs(metric) + error) * weight
    low, high = clamp(value - bound, -FLT_MAX, FLT_MAX), clamp(value + bound, -FLT_MAX, FLT_MAX)
    if abs(metric) >= FLT_MAX * (1 + 2.0 ** -20):
        low = high = math.copysign(FLT_MAX, metric)
    elif abs(metric) >= FLT_MAX * (1 - 2.0 ** -20):
        low, high = (-FLT_MAX, high) if metric < 0 else (low, FLT_MAX)
    if max(-low, high) >= FLT_MAX:
        limited = clamp(exact * weight, -FLT_MAX, FLT_MAX)
        low, high = min(low, limited), max(high, limited)
    return low, high


def noisy(at, n0, words):
    """A point with noise: of each axis twelve 16-bit uniforms, their mean taken off (Irwin and Hall), which is roughly Gaussian
    with variance 1 and exact in double."""
    sums = [sum(word >> shift & 0xFFFF for word in words[:12]) - 6 * 65535 for shift in (0, 16)]
    return tuple(f32(v + math.sqrt(n0 / 2) * (s / 65536)) for v, s in zip(at, sums))


class Symbols:
    """One modulation's vectors so far."""

    def __init__(self, modulation):
        self.modulation, self.n_bits, self.seed = modulation, BITS[modulation], list(NOISE).index(modulation) + 1
        self.symbols, self.noise, self.low, self.high = [], [], [], []

    def turned(self):
        return self.modulation == "pi2-bpsk" and len(self.noise) % 2 == 1

    def add(self, i, q, n0, special=False):
        known = conventional((i, q), n0)
        llrs, turned = llrs_of(self.n_bits, (i, q), n0, self.turned()), self.turned()
        if special and known:
            metrics, exact = (metrics_of(self.n_bits, symbol, turned) for symbol in (known[0], (i, q)))
            intervals = [special_interval(self.n_bits, known[0][b % 2], metrics[b], exact[b], 1 / known[1]) for b in range(self.n_bits)]
        else:
            room = [tolerance((i, q), n0, llr) if known else 0 for llr in llrs]
            intervals = [(llr - r, llr + r) for llr, r in zip(llrs, room)]
        self.symbols += [i, q]
        self.noise.append(n0)
        self.low += [f32_below(low) for low, _ in intervals]
        self.high += [f32_above(high) for _, high in intervals]

    def points(self, n0, _):
        """All points, in the order of their bits read as a number. pi/2-BPSK has each at an even and at an odd position."""
        for label in range(2 ** self.n_bits):
            for _ in range(2 if self.modulation == "pi2-bpsk" else 1):
                self.add(*map(f32, point(self.n_bits, label, self.turned())), n0)

    def add_noisy(self, n, n0, stream):
        words = random_words(self.seed, stream, n)
        self.add(*noisy(point(self.n_bits, words[12] >> (32 - self.n_bits), self.turned()), n0, words), n0)

    def noisy(self, n0, stream):
        for n in range(96):
            self.add_noisy(n, n0, stream)

    def noise_range(self, _, stream):
        """Steps of a half of an octave, 2^-20 to about 2^10."""
        for n in range(62):
            self.add_noisy(n, math.ldexp(f32(1.4142135) if n % 2 else 1, n // 2 - 20), stream)

    def boundaries(self, n0, _):
        """One axis within an ulp of every multiple of half the distance of neighbouring levels: even ones are boundaries, odd
        ones levels. The other axis is elsewhere; of BPSK, where the sum or the difference decides, it is as large."""
        n_levels = 2 ** max(self.n_bits // 2, 1)
        alpha = f32(1 / unit_of(max(self.n_bits // 2, 1)))
        for m in range(-n_levels, n_levels + 1):
            middle = f32(m * alpha)
            for k, value in enumerate((beside(middle, False), middle, beside(middle, True))):
                other = middle if self.n_bits == 1 else f32(f32(int(math.fmod(5 * m + k, n_levels)) * f32(0.9)) * alpha)
                self.add(value, other, n0)
                self.add(-other, value, n0)
        for n in range(4):
            self.add((0.0, -0.0)[n % 2], (0.0, -0.0)[n // 2], n0)

    def outliers(self, n0, _):
        values = [sign * f32(v) for sign in (1, -1) for v in (1.3, 2, 5, 30)]
        for i in values:
            for q in values:
                self.add(i, q, n0)

    def special(self, _, __):
        """Erasures, noise and components at the ends of binary32."""
        bad, usual, n0 = (math.nan, math.inf, -math.inf), f32(0.3), f32(0.01)
        rows = [row for k in range(3) for row in ((bad[k], usual, n0), (-usual, bad[k], n0), (bad[k], bad[2 - k], n0))]
        rows += [(usual, -usual, wrong) for wrong in (0.0, -0.0, -1.0, *bad)]
        rows += [(usual, 2 * usual, 2.0 ** n) for n in (-149, -126, -101, -100, 40, 41)] + [(usual, 2 * usual, FLT_MAX)]
        rows += [row for v in (FLT_MAX, *map(f32, (1e38, 1e19)), *(2.0 ** n for n in (-62, -63, -64, -126, -149)))
                 for end in (n0, 2.0 ** -100, 2.0 ** 40) for row in ((v, usual, end), (usual, -v, end))]
        for row in rows:
            self.add(*row, special=True)


SECTIONS = (("points", HIGH, Symbols.points), ("noisy_low", LOW, Symbols.noisy), ("noisy_middle", MIDDLE, Symbols.noisy),
            ("noisy_high", HIGH, Symbols.noisy), ("noise_range", EACH, Symbols.noise_range), ("boundaries", MIDDLE, Symbols.boundaries),
            ("outliers", LOW, Symbols.outliers), ("special", EACH, Symbols.special))


def write(stem, code, **files):
    for suffix, values in files.items():
        with open(f"{stem}.{suffix.replace('__', '.')}", "wb") as file:
            file.write(struct.pack(f"<{len(values)}{code}", *values))


def write_llrs(folder):
    lines = ["# modulation, section, its first symbol, number of symbols, noise variance N0"]
    for modulation in NOISE:
        vectors = Symbols(modulation)
        for name, noise, make in SECTIONS:
            first, n0 = len(vectors.noise), None if noise == EACH else f32(NOISE[modulation][noise])
            make(vectors, n0, noise)
            text = "each" if n0 is None else f"{n0:.9g}"
            lines.append(f"{modulation:8} {name:12} {first:5} {len(vectors.noise) - first:5} {text}")
        write(os.path.join(folder, modulation), "f", cf32=vectors.symbols, noise_var__f32=vectors.noise, low__f32=vectors.low,
              high__f32=vectors.high)
    return lines


# Soft buffers. A transport block's bits are random, those of a code block without regard to LDPC. Symbols carry them as
# TS 38.212 and 38.211 say: bit selection, interleaving, scrambling, modulation. A symbol is drawn again if its LLRs would not be
# the same integers or half floats wherever in their intervals they lie, so that everybody's soft buffers are.

# A grant and a receiver's conventions: name, modulation, N_L, c_init, G, A, base graph, rv, N_ref; C, Z_c, K' of clause 5.2.2, as
# the library finds them; format, scale, limit, filler, positive; N0, about.
TRANSMISSIONS = (
    ("srsran.1", "256qam", 2, 0x2301004D, 1408, 1032, 1, 0, 0, 1, 48, 1048, "s8", 6, 120, 127, 0, 0.006),
    ("srsran.2", "64qam", 2, 0x2301004D, 1440, 1032, 1, 2, 0, 1, 48, 1048, "s8", 6, 120, 127, 0, 0.03),
    ("srsran-limited.1", "qpsk", 1, 0x1F4C8005, 1200, 1032, 1, 2, 1500, 1, 48, 1048, "s8", 5, 120, 127, 0, 0.4),
    ("srsran-repeated.1", "qpsk", 2, 12345, 1440, 40, 2, 0, 0, 1, 10, 56, "s8", 5, 120, 127, 0, 4),
    ("oai.1", "16qam", 1, 0x7FFFFFFF, 5204, 3904, 2, 0, 4000, 2, 208, 1988, "s16", 6, 2047, 0, 0, 0.1),
    ("cuphy.1", "64qam", 1, 0, 720, 504, 1, 0, 0, 1, 24, 520, "f16", 1, 10000, 10000, 0, 0.03),
    ("cuphy.2", "16qam", 2, 99, 800, 504, 1, 3, 0, 1, 24, 520, "f16", 1, 10000, 10000, 0, 0.1),
    ("sionna.1", "1024qam", 2, 0x0B5A8001, 600, 112, 2, 0, 0, 1, 22, 128, "f32", 1, FLT_MAX, -20, 1, 0.002),
    ("sionna.2", "256qam", 1, 0x0B5A8001, 480, 112, 2, 2, 0, 1, 22, 128, "f32", 1, FLT_MAX, -20, 1, 0.006))
K0_FACTORS = {1: (0, 17, 33, 56), 2: (0, 13, 25, 43)}  # table 5.4.2.1-2


def line_of(sent):
    """The line of codewords.txt: the buffer is clause 5.4.2.1's."""
    graph, rv, n_ref, c, z_c, k_prime = sent[6:12]
    n, k = (66 * z_c, 22 * z_c) if graph == 1 else (50 * z_c, 10 * z_c)
    n_cb = min(n_ref, n) if n_ref else n
    k0 = K0_FACTORS[graph][rv] * n_cb // n * z_c
    numbers = [*sent[2:12], n_cb, k0, k_prime - 2 * z_c, k - k_prime, sent[12], *(f"{x:.9g}" for x in sent[13:16]), sent[16]]
    return " ".join(map(str, (*sent[:2], *numbers)))


@functools.lru_cache(maxsize=None)
def gold(c_init, n_bits):
    """TS 38.211 clause 5.2.1."""
    x1, x2 = [1] + 30 * [0], [c_init >> n & 1 for n in range(31)]
    for n in range(1600 + n_bits):
        x1.append(x1[n + 3] ^ x1[n])
        x2.append(x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n])
    return [x1[n + 1600] ^ x2[n + 1600] for n in range(n_bits)]


def stored(codeword, value):
    """A number as the codeword's format has it."""
    value, code = clamp(value, -codeword.limit, codeword.limit), CODES[codeword.format]
    return struct.unpack("<" + code, struct.pack("<" + code, round(value) if code in "bh" else value))[0]


def positions(codeword):
    """The code block and the position in it of each bit of the codeword. Clause 5.4.2.2: f_(i + j Q_m) = e_(i E / Q_m + j)."""
    for r, length in enumerate(codeword.lengths()):
        selected = codeword.selected(length)
        for k in range(length):
            yield r, selected[k % codeword.q_m * (length // codeword.q_m) + k // codeword.q_m]


def recover(codeword, soft, llrs):
    """Soft buffers after a transmission with these LLRs, in the output's unit: a list for each code block; `soft` is what they
    were, None at first."""
    if soft is None:
        block = [codeword.filler if codeword.is_filler(n) else 0 for n in range(codeword.n_cb)]
        soft = [list(block) for _ in range(codeword.c)]
    for (r, place), llr in zip(positions(codeword), llrs):
        old = soft[r][place]
        soft[r][place] = old if abs(old) > codeword.limit else stored(codeword, old + llr)
    return soft


def draw(codeword, number, n, bits, signs, mean_n0):
    """A symbol with these bits, its noise variance, half to twice of its mean, and the ends of its LLRs."""
    label = int("".join(map(str, bits)), 2)
    for tries in range(10000):
        words = random_words(1000 + number, 1, n, 4 * tries)
        n0 = f32(mean_n0 * f32(0.5 + f32(1.5 * (words[12] >> 8)) * 2.0 ** -24))
        symbol = noisy(point(codeword.q_m, label, False), n0, words)
        llrs = [sign * llr for sign, llr in zip(signs, llrs_of(codeword.q_m, symbol, n0))]
        room = [tolerance(symbol, n0, llr) for llr in llrs]
        ends = [(codeword.scale * (llr - r), codeword.scale * (llr + r)) for llr, r in zip(llrs, room)]
        if codeword.format == "f32":
            return symbol, n0, [(f32_below(low), f32_above(high)) for low, high in ends]
        stored_ends = [(stored(codeword, low), stored(codeword, high)) for low, high in ends]
        if all(low == high for low, high in stored_ends):
            return symbol, n0, stored_ends
    sys.exit(f"{codeword.name}: no symbol has LLRs of one value")


def write_soft_buffers(folder):
    lines = ["# name modulation N_L c_init G A base_graph rv_id N_ref C Z_c K' N_cb k0 first_filler n_fillers format scale limit filler "
             "positive"]
    soft, stream = [None, None], 0
    for number, sent in enumerate(TRANSMISSIONS):
        lines.append(line_of(sent))
        codeword = Codeword(lines[-1].split())
        if codeword.name.endswith(".1"):
            soft, stream = [None, None], 1000 + number
        sequence, places, q_m = gold(codeword.c_init, codeword.g), list(positions(codeword)), codeword.q_m
        bits = [philox(stream, 0, 4096 * r + place, 0)[0] >> 31 ^ c for (r, place), c in zip(places, sequence)]
        signs = [1 if c == codeword.positive else -1 for c in sequence]
        drawn = [draw(codeword, number, n, bits[n * q_m : (n + 1) * q_m], signs[n * q_m : (n + 1) * q_m], f32(sent[17]))
                 for n in range(codeword.g // q_m)]
        for end in (0, 1):
            soft[end] = recover(codeword, soft[end], [ends[end] for _, _, llrs in drawn for ends in llrs])
        stem = os.path.join(folder, "soft_buffers", codeword.name)
        write(stem, "f", cf32=[v for symbol, _, _ in drawn for v in symbol], noise_var__f32=[n0 for _, n0, _ in drawn])
        low, high = ([value for block in each for value in block] for each in soft)
        if codeword.format == "f32":
            write(stem, "f", low__f32=low, high__f32=high)
        else:
            write(stem, CODES[codeword.format], **{codeword.format: [int(v) if codeword.format != "f16" else v for v in low]})
    return lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, lines in (("sections.txt", write_llrs(sys.argv[1])), (os.path.join("soft_buffers", "codewords.txt"), write_soft_buffers(sys.argv[1]))):
        with open(os.path.join(sys.argv[1], name), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
