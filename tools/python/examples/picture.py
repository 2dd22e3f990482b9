#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A picture of LLRs: symbols of its own with noise, and what the LLR of each bit is over the symbols' position.

    pip install './tools/python[plot]'
    tools/python/examples/picture.py [--modulation 64qam] [--snr-db 20] [--picture llrs.png]
"""
import argparse
import typing

import matplotlib
import numpy as np

import softqam

matplotlib.use("Agg")
from matplotlib.figure import Figure  # noqa: E402


def constellation(modulation):
    """Points and their bits, [n] and [n, bits per symbol]: the bits are what noiseless points are demodulated to."""
    bits_per_symbol = softqam.Demodulator(modulation).bits_per_symbol
    levels = np.arange(1 - 2 ** ((bits_per_symbol + 1) // 2), 2 ** ((bits_per_symbol + 1) // 2), 2)
    points = (levels[:, None] + 1j * levels).reshape(-1)
    if bits_per_symbol == 1:
        points = np.array([1 + 1j, -1 - 1j])
    points = points / np.sqrt(np.mean(np.abs(points) ** 2))
    llrs = softqam.demodulate(points[:, None], modulation, 1e-3, output="f32")
    return points, (llrs < 0).astype(int)


def turns(modulation, n):
    """pi/2-BPSK turns every second symbol by a quarter."""
    return 1j ** (np.arange(n) % 2) if modulation == "pi2-bpsk" else np.ones(n)


def receive(modulation, snr_db, n=20000, seed=1):
    """Sent bits, received symbols and their LLRs in nats."""
    rng = np.random.default_rng(seed)
    points, bits = constellation(modulation)
    sent = rng.integers(0, len(points), n)
    n0 = 10 ** (-snr_db / 10)
    noise = rng.normal(0, np.sqrt(n0 / 2), (n, 2)) @ [1, 1j]
    received = points[sent] * turns(modulation, n) + noise
    llrs = softqam.demodulate(received, modulation, n0, output="f32").reshape(n, -1)
    return bits[sent], received, llrs


def bit_axes(modulation, received):
    """What the LLR of each bit depends on: its name, its values."""
    n_bits = softqam.Demodulator(modulation).bits_per_symbol
    if n_bits == 1:
        straight = received / turns(modulation, len(received))
        name = "(I + Q)/√2" if modulation == "bpsk" else "(I + Q)/√2, turned back"
        return [(name, (straight.real + straight.imag) / np.sqrt(2))]
    return [(("I", received.real), ("Q", received.imag))[k % 2] for k in range(n_bits)]


def draw(modulation, snr_db, bits, received, llrs):
    points = constellation(modulation)[0]
    if modulation == "pi2-bpsk":
        points = np.concatenate([points, 1j * points])
    error = np.abs(received[:, None] - points).min(axis=1)
    evm = 100 * np.sqrt(np.mean(error**2))
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    figure.suptitle(f"{modulation.upper()} at {snr_db:g} dB: EVM {evm:.1f} %, bit error rate {np.mean((llrs < 0) != bits):.2g}")
    left, right = figure.subplots(1, 2)
    left.plot(received.real, received.imag, ",", color="C0", label="received", rasterized=True)
    left.plot(points.real, points.imag, ".", color="C1", markersize=3, label="points")
    left.set(xlabel="I", ylabel="Q", aspect="equal", title="Constellation")
    left.legend(loc="upper right", markerscale=3)
    axes = bit_axes(modulation, received)
    for k, (name, position) in enumerate(axes):
        if name == axes[0][0]:
            right.plot(position, llrs[:, k], ",", color=f"C{k // 2}", rasterized=True)
            right.plot([], [], "-", color=f"C{k // 2}", label=f"b{k}")
    right.axhline(0, color="0.5", linewidth=0.8)
    right.set(xlabel=axes[0][0], ylabel="LLR, nats; above 0: bit 0", title=f"LLRs over {axes[0][0]}")
    right.legend(loc="upper right")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--modulation", choices=typing.get_args(softqam.Modulation), default="64qam")
    parser.add_argument("--snr-db", type=float, default=20.0)
    parser.add_argument("--picture", metavar="FILE", default="llrs.png")
    arguments = parser.parse_args()
    received = receive(arguments.modulation, arguments.snr_db)
    draw(arguments.modulation, arguments.snr_db, *received).savefig(arguments.picture, dpi=100)
    print(f"{arguments.picture} written")


if __name__ == "__main__":
    main()
