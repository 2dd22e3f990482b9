#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what each output format is worth to a decoder, for every modulation. Prints the generalised mutual information (GMI) of
the library's output on an AWGN channel, in bits a symbol, without simulating one: the output depends on one component (of
BPSK, on the projection onto the line through its points), so an expected value is an integral over that component, and it
is summed on a grid.

    GMI = max over s of the sum over the bits of 1 - E[log2(1 + exp(-(1 - 2b) s L))]

is a rate that bit-interleaved coding with a decoder that takes s L for the LLRs achieves (L. Szczecinski and A. Alvarado,
"Bit-Interleaved Coded Modulation", 2015). Where the scale of L is known, s is 1 / scale."""
import argparse
import math
import sys

import numpy as np
import softqam

MODULATIONS = {"pi2-bpsk": 1, "bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
# The rates, as shares of the bits a symbol, between which the formats are judged. Rows go on to MAX_RATE, where all bits
# are certain and what costs is the limit of s8.
MIN_RATE, HIGH_RATE, MAX_RATE = 0.3, 0.95, 0.99999
# Each format may lose this much to exact max-log, bits a symbol.
ALLOWED = {"f32": 1e-6, "f16": 1e-4, "s8": 0.01}
SCALES = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 32)


class Axis:
    """The levels of an axis, by their bits read as a number: TS 38.211 clauses 5.1.1 to 5.1.7. BPSK's axis is the line
    through its two points."""

    def __init__(self, modulation):
        self.modulation, self.n_bits = modulation, MODULATIONS[modulation]
        self.n_axis_bits = max(1, self.n_bits // 2)
        levels = np.array([1.0, -1.0])
        for k in range(1, self.n_axis_bits):
            levels = np.concatenate([2**k - levels, levels - 2**k])
        self.levels = levels / math.sqrt((1 if self.n_bits == 1 else 2) * np.mean(levels**2))
        labels = np.arange(len(levels))
        self.bits = [labels >> k & 1 for k in range(self.n_axis_bits - 1, -1, -1)]


class Grid:
    """Components v in equal steps, from 9 deviations outside the constellation to 9 outside its other end, each as a symbol;
    the probability of being received at each with a bit of the axis a 0 or a 1."""

    def __init__(self, axis, snr_db, n_points):
        self.axis, self.snr_db = axis, snr_db
        self.noise_var = np.float32(10 ** (-snr_db / 10))
        deviation = math.sqrt(self.noise_var / 2)
        reach = axis.levels.max() + 9 * deviation
        step = 2 * reach / n_points
        v = (np.arange(n_points) + 0.5) * step - reach
        direction = np.full(n_points, 1 + 1j)
        if axis.n_bits == 1:
            direction /= math.sqrt(2)
        if axis.modulation == "pi2-bpsk":
            direction[1::2] *= 1j
        self.symbols = (v * direction).astype(np.complex64)
        density = step / (deviation * math.sqrt(2 * math.pi) * len(axis.levels))
        probability = density * np.exp(-0.5 * ((v[:, None] - axis.levels) / deviation) ** 2)
        weights = [[probability[:, bits == value].sum(axis=1) for value in (0, 1)] for bits in axis.bits]
        self.weights = np.repeat(weights, axis.n_bits // axis.n_axis_bits, axis=0)  # [bit][value][point]
        # The component as binary32 has it.
        v = (self.symbols * direction.conj()).real if axis.n_bits == 1 else self.symbols.real.astype(float)
        self.distances = (v[:, None] - axis.levels) ** 2 / self.noise_var

    def information(self, llrs, s=1.0):
        lost = self.weights[:, 0] * np.logaddexp(0, -s * llrs) + self.weights[:, 1] * np.logaddexp(0, s * llrs)
        return self.axis.n_bits - lost.sum() / math.log(2)

    def both(self, reduce):
        """LLRs by the points with either value of each bit."""
        llrs = [reduce(self.distances[:, bits == 1]) - reduce(self.distances[:, bits == 0]) for bits in self.axis.bits]
        return np.repeat(llrs, self.axis.n_bits // self.axis.n_axis_bits, axis=0)

    def max_log(self):
        return self.both(lambda distances: distances.min(axis=1))

    def log_map(self):
        return self.both(lambda distances: -np.logaddexp.reduce(-distances, axis=1))

    def output(self, output, **options):
        """The library's, an array for each bit."""
        noise_var = {} if output == "u8" else {"noise_var": self.noise_var}
        values = softqam.demodulate(self.symbols, self.axis.modulation, output=output, **noise_var, **options)
        return values.reshape(-1, self.axis.n_bits).T.astype(float) - (127 if output == "u8" else 0)

    def best_information(self, llrs):
        return max(self.information(llrs, s) for s in np.geomspace(1e-3, 10, 100))


def snr_of_rate(axis, rate, n_points, information=lambda grid: grid.information(grid.max_log())):
    """Es/N0, in dB, where max-log, or what is asked for, carries this share of the bits."""
    low, high = -20.0, 50.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        if information(Grid(axis, middle, n_points)) < rate * axis.n_bits:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def compute_row(grid):
    """The information of exact LLRs, and what the formats lose to exact max-log."""
    exact, log_map, s8 = grid.max_log(), grid.log_map(), grid.output("s8")
    # No sum of exponentials is larger than its largest term times their number.
    assert np.abs(log_map - exact).max() <= (grid.axis.n_axis_bits - 1) * math.log(2) + 1e-6
    max_log = grid.information(exact)
    row = {"snr_db": grid.snr_db, "log_map": grid.information(log_map), "max_log": max_log}
    row.update((output, max_log - grid.information(grid.output(output))) for output in ("f32", "f16"))
    row["s8"] = max_log - grid.information(s8, 1 / 6)
    row["s8_at_limit"] = (grid.weights.sum(axis=1) * (np.abs(s8) >= 127)).sum() / grid.axis.n_bits
    is_u8 = grid.axis.modulation == "256qam"
    row["u8"] = max_log - grid.best_information(grid.output("u8")) if is_u8 else math.nan
    return row


def is_good(axis, row):
    """Max-log has no more than log-MAP, which is exact, by more than the grid's error. A NaN is not less."""
    good = (abs(row["f32"]) < ALLOWED["f32"] and abs(row["f16"]) < ALLOWED["f16"] and row["s8"] < ALLOWED["s8"]
            and row["max_log"] < row["log_map"] + 1e-6)
    if not good:
        print(f"quality.py: {axis.modulation}: {row}, allowed: {ALLOWED}", file=sys.stderr)
    return good


def print_rows(axis, n_rows, n_points):
    """A modulation's rows, evenly in dB from MIN_RATE to HIGH_RATE and on, and its line of the summary; whether all is good."""
    from_db, to_db, last_db = (snr_of_rate(axis, rate, n_points) for rate in (MIN_RATE, HIGH_RATE, MAX_RATE))
    step = (to_db - from_db) / (n_rows - 1)
    n_all = n_rows + max(1, math.ceil((last_db - to_db) / step - 1e-9))
    rows = [compute_row(Grid(axis, from_db + n * step, n_points)) for n in range(n_all)]
    print(f"# {axis.modulation}: information in bits a symbol; losses are to exact max-log, u8's at its best s")
    print(*(f"{name:>12}" for name in rows[0]))
    for row in rows:
        print(*(f"{value:12.7f}" for value in row.values()))
    judged, above = rows[:n_rows], rows[n_rows:]
    print(f"# the most that is lost from {from_db:.1f} to {to_db:.1f} dB: by max-log to log-MAP "
          f"{max(row['log_map'] - row['max_log'] for row in judged):.4f}, by f32 {max(abs(row['f32']) for row in judged):.0e}, "
          f"f16 {max(abs(row['f16']) for row in judged):.0e}, s8 {max(row['s8'] for row in judged):.5f}; "
          f"by s8 above {max(row['s8'] for row in above):.5f}")
    return from_db, to_db, all([is_good(axis, row) for row in rows])


def print_scales(axis, from_db, to_db, n_points):
    """The most that s8 loses with each scale: at four Es/N0 from MIN_RATE to HIGH_RATE, and far above."""
    grids = [Grid(axis, snr_db, n_points) for snr_db in (*np.linspace(from_db, to_db, 4), 2 * to_db - from_db)]
    exact = [grid.information(grid.max_log()) for grid in grids]
    losses = {scale: max(most - grid.information(grid.output("s8", llr_scale=scale), 1 / scale) for most, grid in zip(exact, grids))
              for scale in SCALES}
    print("# most that s8 loses, by its scale:", *(f"{scale:g} {loss:.4f} " for scale, loss in losses.items()))


def print_snrs(axis, n_points):
    """Es/N0 that a rate takes, relative to max-log's: of exact log-MAP, of max-log with the best s, of formats."""
    cases = {
        "log-MAP": lambda grid: grid.information(grid.log_map()),
        "max-log at its best s": lambda grid: max(grid.information(grid.max_log(), s) for s in np.linspace(1, 2, 21)),
        "s8": lambda grid: grid.information(grid.output("s8"), 1 / 6),
        "s8 at scale 2 and limit 31": lambda grid: grid.information(grid.output("s8", llr_scale=2, llr_limit=31), 1 / 2),
    }
    if axis.modulation == "256qam":
        cases["u8"] = lambda grid: grid.best_information(grid.output("u8"))
    for rate in (1 / 2, 2 / 3, 0.9):
        max_log = snr_of_rate(axis, rate, n_points)
        print(f"# dB to max-log's {max_log:.2f} at rate {rate:.2f}:",
              ", ".join(f"{name} {snr_of_rate(axis, rate, n_points, of) - max_log:+.3f}" for name, of in cases.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="small tables, exit status 1 where a format loses too much")
    options = parser.parse_args()
    n_rows, n_points = (4, 1 << 11) if options.check else (14, 1 << 14)
    good = True
    for axis in map(Axis, MODULATIONS):
        from_db, to_db, is_one_good = print_rows(axis, n_rows, n_points)
        good = good and is_one_good
        if not options.check:
            print_scales(axis, from_db, to_db, n_points)
            print_snrs(axis, 1 << 11)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
