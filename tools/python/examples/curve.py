#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same curve, much faster: what LLRs are worth to a decoder, by a search over all points in NumPy and by softqam.

    pip install './tools/python[plot]'
    curve.py [--symbols 20000] [--picture curve.png]

Mutual information of the bits and their LLRs, in bits a symbol, over Es/N0. A wrong scale or sign of LLRs would lower it.
"""
import argparse
import time

import matplotlib
import numpy as np

import softqam

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

MODULATIONS = {"qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8}
SNRS_DB = np.arange(-5, 31, 2.5)


def constellation(modulation, n_bits):
    """Points of unit mean energy, and their bits: what softqam makes of points without noise."""
    levels = np.arange(1 - 2 ** (n_bits // 2), 2 ** (n_bits // 2), 2)
    points = np.ravel(levels[:, None] + 1j * levels) / np.sqrt(2 * np.mean(levels**2))
    return points, softqam.demodulate(points[:, None], modulation, 1e-4) < 0


def search(symbols, points, bits, n0):
    """Max-log LLRs by the distances to all points."""
    distances = np.abs(symbols[:, None] - points) ** 2 / n0
    return np.stack([distances[:, b].min(axis=1) - distances[:, ~b].min(axis=1) for b in bits.T], axis=1)


def information(llrs, sent):
    """Bits a symbol, of LLRs that are positive for 0."""
    return sent.shape[1] - np.mean(np.sum(np.logaddexp(0, np.where(sent, llrs, -llrs)), axis=1)) / np.log(2)


def sweep(modulation, n_bits, n):
    """The two curves, and seconds a symbol of each."""
    rng, (points, bits) = np.random.default_rng(1), constellation(modulation, n_bits)
    demodulator = softqam.Demodulator(modulation, output="f32", threads=1)
    curves, times = ([], []), ([], [])
    for snr_db in SNRS_DB:
        n0, sent = 10 ** (-snr_db / 10), rng.integers(0, len(points), n)
        symbols = (points[sent] + rng.normal(0, np.sqrt(n0 / 2), (n, 2)) @ [1, 1j]).astype(np.complex64)
        for k, demap in enumerate((lambda: search(symbols, points, bits, n0), lambda: demodulator(symbols, n0))):
            start = time.perf_counter()
            llrs = demap()
            times[k].append((time.perf_counter() - start) / n)
            curves[k].append(information(llrs.reshape(n, -1), bits[sent]))
    return curves, [float(np.median(t)) for t in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--symbols", type=int, default=20000, help="a point of a curve")
    parser.add_argument("--picture", metavar="FILE", default="curve.png")
    arguments = parser.parse_args()
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for k, (modulation, n_bits) in enumerate(MODULATIONS.items()):
        (searched, demodulated), (slow, fast) = sweep(modulation, n_bits, arguments.symbols)
        axes.plot(SNRS_DB, searched, "o", color=f"C{k}", markerfacecolor="none")
        axes.plot(SNRS_DB, demodulated, "-", color=f"C{k}", label=f"{modulation.upper()}: {slow / fast:,.0f} times as fast")
        apart = np.max(np.abs(np.subtract(searched, demodulated)))
        print(f"{modulation:6}  NumPy {1e-6 / slow:8.3f} Msym/s  softqam {1e-6 / fast:8.1f} Msym/s  curves {apart:.1g} bits apart", flush=True)
    axes.set(xlabel="Es/N0, dB", ylabel="mutual information, bits a symbol", title="A search over all points (o) and softqam (-), one thread each")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.savefig(arguments.picture, dpi=100)


if __name__ == "__main__":
    main()
