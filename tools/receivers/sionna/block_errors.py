#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what joint demapping of two layers brings: block error rates in Sionna's chain, after LMMSE and Demapper and after
softqam.demodulate_joint(), of the same received samples. Prints, for each case, the SNR at which 10 % and 1 % of the blocks are lost;
with --picture it draws the curves.

    pip install ./tools/python && pip install 'softqam[sionna,plot]'
    block_errors.py [--blocks 400] [--channel rayleigh rayleigh0.7 tdl-c ...] [--antennas 2 4] [--modulation 4 6] [--rate 0.5 0.75]
                    [--json FILE] [--picture FILE]
    block_errors.py --read FILE ... --picture FILE        # pictures and tables of what --json has written

A block is a codeword of two layers on 96 resource elements. rayleighX: 8 independent fades of 12 elements, with X as correlation of
the two layers' channels; tdl-a, tdl-b, tdl-c: 3GPP TR 38.901's models with a delay spread of 300 ns, on 8 times 12
subcarriers that are 60 subcarriers of 30 kHz apart. The channel is known, its entries have unit mean energy. SNR is 2/N0, that of
both layers at an antenna. Sionna's LDPC5GEncoder and LDPC5GDecoder are used, with 20 iterations.
"""
import argparse
import json
import sys

import numpy as np
import torch
from sionna.phy import config
from sionna.phy.channel import cir_to_ofdm_channel
from sionna.phy.channel.tr38901 import TDL
from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder
from sionna.phy.mapping import Mapper
from sionna.phy.mimo import lmmse_equalizer

import softqam
from softqam.sionna import Demapper

N_FADES, N_OF_FADE, N_LAYERS = 8, 12, 2
N_ELEMENTS = N_FADES * N_OF_FADE
MODULATIONS = {2: "qpsk", 4: "16qam", 6: "64qam", 8: "256qam"}
DETECTORS = ("LMMSE", "joint")


def gaussian(*shape):
    return torch.view_as_complex(torch.randn(*shape, 2)) / np.sqrt(2)


def make_channel(name, n_blocks, n_antennas):
    """Returns channels [block, element, antenna, layer]."""
    if name.startswith("tdl"):
        model = TDL(name[-1].upper(), 300e-9, 3.5e9, num_rx_ant=n_antennas, num_tx_ant=N_LAYERS)
        frequencies = (torch.arange(N_FADES)[:, None] * 60 + torch.arange(N_OF_FADE)).flatten() * 30e3
        channel = cir_to_ofdm_channel(frequencies.float(), *model(n_blocks, 1, 1.0), normalize=False)
        return channel[:, 0, :, 0, :, 0, :].permute(0, 3, 1, 2)
    correlation = float(name[len("rayleigh") :] or 0)
    fades = gaussian(n_blocks, N_FADES, n_antennas, N_LAYERS)
    fades[..., 1] = correlation * fades[..., 0] + np.sqrt(1 - correlation**2) * fades[..., 1]
    return fades.repeat_interleave(N_OF_FADE, 1)


class Chain:
    def __init__(self, channel, n_antennas, bits, rate):
        n_coded = N_ELEMENTS * N_LAYERS * bits
        self.channel, self.n_antennas, self.bits = channel, n_antennas, bits
        self.encoder = LDPC5GEncoder(int(n_coded * rate), n_coded, num_bits_per_symbol=bits)
        self.decoder = LDPC5GDecoder(self.encoder, num_iter=20)
        self.mapper, self.demapper = Mapper("qam", bits), Demapper("maxlog", "qam", bits)

    def llrs_of(self, received, channel, n0):
        """Yields the LLRs after each detector: [block, bit], positive for bit 1."""
        noise = n0 * torch.eye(self.n_antennas, dtype=torch.complex64).expand(*received.shape[:2], -1, -1)
        equalised, noise_var = lmmse_equalizer(received, channel, noise, whiten_interference=False)
        yield self.demapper(equalised.flatten(1), noise_var.flatten(1))
        z, gram = (channel.mH @ received[..., None])[..., 0], channel.mH @ channel
        yield softqam.demodulate_joint(z, gram, n0, MODULATIONS[self.bits], output="f32", sign=1)

    def lost(self, n_blocks, snr_db):
        """Returns how many blocks are lost after each detector."""
        n0 = N_LAYERS * 10 ** (-snr_db / 10)
        sent = torch.randint(0, 2, (n_blocks, self.encoder.k)).float()
        symbols = self.mapper(self.encoder(sent)).reshape(n_blocks, N_ELEMENTS, N_LAYERS)
        channel = make_channel(self.channel, n_blocks, self.n_antennas).contiguous()
        received = (channel @ symbols[..., None])[..., 0] + gaussian(n_blocks, N_ELEMENTS, self.n_antennas) * np.sqrt(n0)
        return [int((self.decoder(llrs) != sent).any(-1).sum()) for llrs in self.llrs_of(received, channel, n0)]


def snr_at(curve, target):
    """Returns where a curve of (SNR, rate) falls to the target, between points by the logarithm of the rate; NaN if nowhere."""
    for (low, above), (high, below) in zip(curve, curve[1:]):
        if above > target >= below:
            a, b = np.log10(above), np.log10(max(below, target / 10))
            return low + (high - low) * (a - np.log10(target)) / (a - b)
    return float("nan")


def measure(options, channel, n_antennas, bits, rate):
    """Returns error rates from where both detectors lose more than 20 % of the blocks to where both lose less than the least rate."""
    chain, rates = Chain(channel, n_antennas, bits, rate), {}
    snr = 3 * bits - 2 + (0 if rate < 0.6 else 5) - 3 * (n_antennas > 2)
    while snr < 45:
        rates[snr] = [lost / options.blocks for lost in chain.lost(options.blocks, snr)]
        print(f"# {snr:5.1f} dB {rates[snr]}", file=sys.stderr, flush=True)
        if min(rates[min(rates)]) < 0.2:  # it began too high
            snr = min(rates) - options.step
        elif max(rates[max(rates)]) > 0.8 * options.least:
            snr = max(rates) + options.step
        else:
            break
    return {name: [(at, rates[at][k]) for at in sorted(rates)] for k, name in enumerate(DETECTORS)}


def row(case):
    targets = [[snr_at(case["rates"][name], target) for name in DETECTORS] for target in (0.1, 0.01)]
    cells = [f"{lmmse:.1f} | {joint:.1f} | {lmmse - joint:.1f}" for lmmse, joint in targets]
    return (f"| {case['channel']} | {N_LAYERS}x{case['antennas']} | {MODULATIONS[case['bits']].upper()} | {case['rate']} | "
            + " | ".join(cells).replace("nan", "-") + " |")  # fmt: skip


def draw(cases, path):
    """Draws a panel for each channel: a colour for each modulation, LMMSE dashed, the higher rate thicker."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = sorted({(case["channel"], case["antennas"]) for case in cases}, key=lambda panel: (panel[1], panel[0]))
    columns = min(5, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(rows, columns, squeeze=False, sharey=True, layout="constrained", figsize=(4.2 * columns, 3.4 * rows + 0.4))
    for panel, axis in zip(panels, axes.flat):
        for case in (case for case in cases if (case["channel"], case["antennas"]) == panel):
            for name, style in zip(DETECTORS, ("--", "-")):
                curve = np.array([point for point in case["rates"][name] if point[1] > 0])
                axis.semilogy(curve[:, 0], curve[:, 1], style, color=f"C{case['bits'] // 2}", linewidth=3 * case["rate"])
        axis.set(title=f"{panel[0]}, {N_LAYERS}x{panel[1]}", xlabel="SNR, dB", ylim=(8e-3, 1))
        axis.grid(True, which="both", alpha=0.3)
    for row_of in axes:
        row_of[0].set_ylabel("blocks lost")
    labels = [(f"C{bits // 2}", "-", 2, MODULATIONS[bits].upper()) for bits in sorted({case["bits"] for case in cases})]
    labels += [("black", style, 2, name) for name, style in zip(DETECTORS, ("--", "-"))]
    labels += [("gray", "-", 3 * rate, f"rate {rate}") for rate in sorted({case["rate"] for case in cases})]
    handles = [matplotlib.lines.Line2D([], [], color=color, linestyle=style, linewidth=width, label=label) for color, style, width, label in labels]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=400, help="blocks a point")
    parser.add_argument("--step", type=float, default=1.0, help="dB between points")
    parser.add_argument("--least", type=float, default=0.01, help="error rate at which a curve ends")
    parser.add_argument("--channel", nargs="+", default=["rayleigh", "rayleigh0.7"])
    parser.add_argument("--antennas", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--modulation", type=int, nargs="+", choices=MODULATIONS, default=list(MODULATIONS), metavar="BITS", help="bits a symbol")
    parser.add_argument("--rate", type=float, nargs="+", default=[0.5, 0.75])
    parser.add_argument("--json", metavar="FILE", help="receives all cases")
    parser.add_argument("--read", metavar="FILE", nargs="+", help="cases to be shown instead of measured")
    parser.add_argument("--picture", metavar="FILE", help="receives the curves, as PNG, SVG or PDF")
    options = parser.parse_args()
    torch.manual_seed(1)
    config.seed = 1
    print("| channel | antennas | modulation | rate | 10 %: LMMSE | joint | gained, dB | 1 %: LMMSE | joint | gained, dB |\n" + 10 * "|---" + "|")
    cases = [case for path in options.read or () for case in json.load(open(path, encoding="utf-8"))]
    for case in cases:
        print(row(case))
    for channel, antennas, bits, rate in () if options.read else (
        (c, a, m, r) for c in options.channel for a in options.antennas for m in options.modulation for r in options.rate
    ):  # fmt: skip
        rates = measure(options, channel, antennas, bits, rate)
        cases.append({"channel": channel, "antennas": antennas, "bits": bits, "rate": rate, "blocks": options.blocks, "rates": rates})
        print(row(cases[-1]), flush=True)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(cases, file)
    if options.picture:
        draw(cases, options.picture)


if __name__ == "__main__":
    main()
