#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam in place of Sionna's demapper, between Sionna's own modulator and LDPC decoder.

    pip install './tools/python[compare]'
    compare.py [--modulation 256qam] [--blocks 500] [--snr 17.5 18 18.5 19] [--picture FILE]

Block error rates of three receivers on the same noise, and how long each demaps on one CPU thread: Sionna's max-log
demapper, softqam's f32, softqam's s8 divided by its scale. Sionna's LLRs are positive for bit 1, hence sign=1.
"""
import argparse
import time

import numpy as np
import torch
from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder
from sionna.phy.mapping import Constellation, Demapper, Mapper

import softqam

BITS = {"qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
INFORMATION_BITS, CODED_BITS = 1024, 1536
LLR_SCALE = 6


class Link:
    """One transmitter and channel, one decoder, several demappers."""

    def __init__(self, modulation):
        constellation = Constellation("qam", BITS[modulation])
        self.encoder = LDPC5GEncoder(INFORMATION_BITS, CODED_BITS, num_bits_per_symbol=BITS[modulation])
        self.decoder = LDPC5GDecoder(self.encoder, num_iter=20)
        self.mapper = Mapper(constellation=constellation)
        demapper = Demapper("maxlog", constellation=constellation)
        settings = {"threads": 1, "sign": 1}
        in_floats = softqam.Demodulator(modulation, output="f32", **settings)
        in_bytes = softqam.Demodulator(modulation, output="s8", llr_scale=LLR_SCALE, **settings)
        self.demappers = {
            "Sionna, max-log": lambda y, n0: demapper(torch.from_numpy(y), torch.tensor(n0)),
            "softqam, f32": in_floats,
            "softqam, s8": in_bytes,
        }

    def send(self, n_blocks, snr_db, generator):
        """Information bits, received symbols, noise variance."""
        bits = torch.randint(0, 2, (n_blocks, INFORMATION_BITS), generator=generator).float()
        symbols = self.mapper(self.encoder(bits))
        n0 = 10 ** (-snr_db / 10)
        noise = torch.randn((*symbols.shape, 2), generator=generator) * (n0 / 2) ** 0.5
        return bits, (symbols + torch.view_as_complex(noise)).numpy(), n0

    def block_errors(self, llrs, bits):
        if isinstance(llrs, np.ndarray) and llrs.dtype.kind == "i":
            llrs = llrs.astype(np.float32) / LLR_SCALE
        decoded = self.decoder(torch.as_tensor(llrs))
        return int((decoded != bits).any(-1).sum())


def sweep(link, snrs, n_blocks, seed):
    """Block error rates, name by name, and seconds a symbol."""
    generator = torch.Generator().manual_seed(seed)
    rates = {name: [] for name in link.demappers}
    times = {name: [] for name in link.demappers}
    for snr_db in snrs:
        bits, symbols, n0 = link.send(n_blocks, snr_db, generator)
        for name, demap in link.demappers.items():
            demap(symbols, n0)
            start = time.perf_counter()
            llrs = demap(symbols, n0)
            times[name].append((time.perf_counter() - start) / symbols.size)
            rates[name].append(link.block_errors(llrs, bits) / n_blocks)
        print(f"{snr_db:5.2f} dB  " + "  ".join(f"{name}: {r[-1]:.4f}" for name, r in rates.items()), flush=True)
    return rates, {name: float(np.median(t)) for name, t in times.items()}


def draw(path, title, snrs, rates, times):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for (name, rate), style in zip(rates.items(), ("ko-", "C0x--", "C1+:")):
        speed = 1e-6 / times[name]
        label = f"{name}, {speed:,.0f} Msym/s" if speed >= 10 else f"{name}, {speed:.2g} Msym/s"
        axes.semilogy(snrs, [r if r > 0 else np.nan for r in rate], style, label=label)
    axes.set(xlabel="Es/N0, dB", ylabel="block error rate", title=title, ylim=(1e-3, 1.1))
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--modulation", choices=BITS, default="256qam")
    parser.add_argument("--blocks", type=int, default=500, help="a point")
    parser.add_argument("--snr", type=float, nargs="+", default=[17.5, 18.0, 18.5, 19.0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", metavar="FILE", default="compare.png")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    link = Link(arguments.modulation)
    rates, times = sweep(link, arguments.snr, arguments.blocks, arguments.seed)
    for name, taken in times.items():
        print(f"{name:16} {1e-6 / taken:10.3f} Msym/s, {times['Sionna, max-log'] / taken:8.0f} times Sionna")
    title = f"{arguments.modulation.upper()}, 5G LDPC {INFORMATION_BITS}/{CODED_BITS}, {arguments.blocks} blocks a point"
    draw(arguments.picture, title, arguments.snr, rates, times)


if __name__ == "__main__":
    main()
