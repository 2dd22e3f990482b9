#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam.sionna.Demapper beside Sionna's own in one chain: which blocks Sionna's decoder loses after either, on the same
received samples, and how long a slot takes; and how long TBDemapper takes from equalised symbols to code blocks. Exits with
1 where a block is lost by one alone.

    pip install './tools/python[sionna]'
    block_errors.py [--blocks 100] [--channel awgn tdl1 tdl2] [--modulation 4 ...]
    block_errors.py --blocks 0                  # a slot only

awgn is a symbol of noise variance N0 each; tdl1 and tdl2 are one codeword of 1 or 2 layers on 24 subcarriers and 14 OFDM
symbols through TDL-C, 2 and 4 receive antennas, known channel, LMMSE equaliser, whose noise variance differs in every
element. LDPC of base graph 1 or 2, rate 2/3, 20 iterations.
"""
import argparse
import functools
import sys
import time

import numpy as np
import torch
from sionna.phy import config
from sionna.phy.channel import OFDMChannel
from sionna.phy.channel.tr38901 import TDL
from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder
from sionna.phy.mapping import Demapper as SionnaDemapper
from sionna.phy.mapping import Mapper
from sionna.phy.mimo import StreamManagement
from sionna.phy.nr import LayerDemapper, LayerMapper, TBDecoder, TBEncoder
from sionna.phy.ofdm import LMMSEEqualizer, ResourceGrid

from softqam.sionna import Demapper, TBDemapper

N_SUBCARRIERS, N_OFDM_SYMBOLS = 24, 14
N_ELEMENTS = N_SUBCARRIERS * N_OFDM_SYMBOLS
SLOT = 273 * 12 * 14

# Es/N0 in dB, two points each: about half of the blocks are lost, and about a tenth.
SNRS = {
    "awgn": {2: (3.4, 3.6), 4: (8.8, 9.2), 6: (13.5, 13.9), 8: (18.1, 18.5), 10: (22.7, 23.1)},
    "tdl1": {2: (-2.0, 1.0), 4: (4.0, 7.0), 6: (9.0, 12.0), 8: (13.5, 16.5), 10: (18.0, 21.0)},
    "tdl2": {2: (-1.0, 1.0), 4: (4.5, 6.5), 6: (9.5, 12.0), 8: (14.0, 16.5), 10: (18.5, 21.0)},
}


class Awgn:
    n_layers = 1

    def __call__(self, symbols, n0):
        noise = torch.view_as_complex(torch.randn(*symbols.shape, 2)) * np.sqrt(n0 / 2)
        return symbols + noise, torch.tensor(n0, dtype=torch.float32)


class Fading:
    """The layers of a codeword on an OFDM grid. Equalised symbols and their noise variances: [block, layer, element]."""

    def __init__(self, n_layers):
        self.n_layers = n_layers
        grid = ResourceGrid(N_OFDM_SYMBOLS, N_SUBCARRIERS, subcarrier_spacing=30e3, num_tx=1, num_streams_per_tx=n_layers,
                            cyclic_prefix_length=6)  # fmt: skip
        model = TDL("C", 300e-9, 3.5e9, min_speed=10.0, num_rx_ant=2 * n_layers, num_tx_ant=n_layers)
        self.channel = OFDMChannel(model, grid, normalize_channel=True, return_channel=True)
        self.equaliser = LMMSEEqualizer(grid, StreamManagement(np.ones([1, 1], bool), n_layers))

    def __call__(self, symbols, n0):
        layers = symbols.reshape(len(symbols), N_ELEMENTS, self.n_layers).transpose(1, 2)
        grid = layers.reshape(len(symbols), 1, self.n_layers, N_OFDM_SYMBOLS, N_SUBCARRIERS)
        n0 = torch.tensor(n0, dtype=torch.float32)
        received, channel = self.channel(grid, n0)
        equalised, noise_var = self.equaliser(received, channel, torch.zeros(1), n0)
        return equalised[:, 0], noise_var[:, 0]


def to_codeword(llrs, bits, n_layers):
    """[block, layer, element * bit], or [block, symbol * bit], to the codeword's order."""
    if llrs.dim() == 2:
        return llrs
    return llrs.reshape(len(llrs), n_layers, -1, bits).transpose(1, 2).reshape(len(llrs), -1)


class Chain:
    def __init__(self, channel, bits):
        n_coded = N_ELEMENTS * channel.n_layers * bits
        self.bits, self.channel = bits, channel
        self.encoder = LDPC5GEncoder(n_coded * 2 // 3, n_coded, num_bits_per_symbol=bits)
        self.decoder = LDPC5GDecoder(self.encoder, num_iter=20)
        self.mapper = Mapper("qam", bits)
        self.demappers = [kind("maxlog", "qam", bits) for kind in (SionnaDemapper, Demapper)]

    def lost_blocks(self, n_blocks, snr_db):
        """Which blocks are lost after Sionna's demapper, and after softqam's."""
        sent = torch.randint(0, 2, (n_blocks, self.encoder.k)).float()
        received, noise_var = self.channel(self.mapper(self.encoder(sent)), 10 ** (-snr_db / 10))
        lost = []
        for demapper in self.demappers:
            llrs = to_codeword(demapper(received, noise_var), self.bits, self.channel.n_layers)
            lost.append((self.decoder(llrs) != sent).any(-1))
        return lost


def compare_blocks(options):
    """How many points were compared, and at how many blocks they differed."""
    n_points = n_different = 0
    for name in options.channel:
        channel = Awgn() if name == "awgn" else Fading(int(name[-1]))
        for bits in options.modulation:
            chain = Chain(channel, bits)
            for snr_db in SNRS[name][bits]:
                theirs, ours = chain.lost_blocks(options.blocks, snr_db)
                different = int((theirs != ours).sum())
                print(f"{name} {2**bits:5} points {snr_db:5.1f} dB: of {options.blocks} blocks Sionna loses {int(theirs.sum()):4}, "
                      f"softqam {int(ours.sum()):4}; {different} differ", flush=True)  # fmt: skip
                n_points, n_different = n_points + 1, n_different + different
    return n_points, n_different


def medians(theirs, ours):
    """Seconds of a call of each, in turn: after one of Sionna's, 29 of softqam's. A call may say itself when it ended."""
    times = [], []
    for _ in range(7):
        for of_one, function, n_calls in zip(times, (theirs, ours), (1, 29)):
            for _ in range(n_calls):
                start = time.perf_counter()
                end = function()
                of_one.append((end if isinstance(end, float) else time.perf_counter()) - start)
    return [np.median(of_one) for of_one in times]


def make_slot(*shape):
    """Symbols, and a noise variance for each."""
    return torch.view_as_complex(torch.randn(*shape, 2)), torch.rand(*shape) / 10 + 1e-3


def time_slot(bits):
    """A slot of one layer."""
    slot = make_slot(SLOT)
    return medians(*(functools.partial(kind("maxlog", "qam", bits), *slot) for kind in (SionnaDemapper, Demapper)))


class Arrival(torch.nn.Module):
    """In the place of an LDPC decoder: when LLRs come to it."""

    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, llrs):
        self.time = time.perf_counter()
        return torch.zeros(*llrs.shape[:-1], self.k)


def time_transport_block(bits, n_layers=2):
    """A slot of two layers, until LLRs come to the LDPC decoder."""
    encoder = TBEncoder(SLOT * n_layers * bits * 2 // 3, SLOT * n_layers * bits, 2 / 3, bits, num_layers=n_layers)
    demapper, layer_demapper = SionnaDemapper("maxlog", "qam", bits), LayerDemapper(LayerMapper(n_layers), bits)
    decoder = TBDecoder(encoder)
    decoder._decoder = Arrival(encoder.ldpc_encoder.k)
    slot = make_slot(1, 1, n_layers, SLOT)

    def theirs():
        decoder(layer_demapper(demapper(*slot)))
        return decoder._decoder.time

    return medians(theirs, functools.partial(TBDemapper(encoder), *slot))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=100, help="a point")
    parser.add_argument("--channel", nargs="+", choices=SNRS, default=list(SNRS))
    parser.add_argument("--modulation", type=int, nargs="+", choices=SNRS["awgn"], default=list(SNRS["awgn"]), metavar="BITS",
                        help="bits a symbol")  # fmt: skip
    options = parser.parse_args()
    torch.manual_seed(1)
    config.seed = 1
    n_points, n_different = compare_blocks(options) if options.blocks else (0, 0)
    print(f"{n_points} points, {n_different} blocks differ")
    for bits in options.modulation:
        theirs, ours = time_slot(bits)
        print(f"a slot of {2**bits:4} points: Sionna {1e3 * theirs:8.2f} ms, softqam {1e3 * ours:6.3f} ms, {theirs / ours:6.0f} times",
              flush=True)  # fmt: skip
        theirs, ours = time_transport_block(bits)
        print(f"to code blocks, 2 layers of {2**bits:4} points: Sionna {1e3 * theirs:8.2f} ms, softqam {1e3 * ours:6.3f} ms", flush=True)
    return n_different > 0


if __name__ == "__main__":
    sys.exit(main())
