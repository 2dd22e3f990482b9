#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long softqam.sionna.Demapper takes for a slot beside Sionna's own, and TBDemapper from equalised symbols to code blocks.

    pip install './tools/python[sionna]'
    measure.py [--modulation 4 ...]
"""
import argparse
import functools
import time

import numpy as np
import torch
from sionna.phy import config
from sionna.phy.mapping import Demapper as SionnaDemapper
from sionna.phy.nr import LayerDemapper, LayerMapper, TBDecoder, TBEncoder

from softqam.sionna import Demapper, TBDemapper

SLOT = 273 * 12 * 14


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
    parser.add_argument("--modulation", type=int, nargs="+", default=[2, 4, 6, 8, 10], metavar="BITS", help="bits a symbol")
    torch.manual_seed(1)
    config.seed = 1
    for bits in parser.parse_args().modulation:
        theirs, ours = time_slot(bits)
        print(f"a slot of {2**bits:4} points: Sionna {1e3 * theirs:8.2f} ms, softqam {1e3 * ours:6.3f} ms, {theirs / ours:6.0f} times",
              flush=True)  # fmt: skip
        theirs, ours = time_transport_block(bits)
        print(f"to code blocks, 2 layers of {2**bits:4} points: Sionna {1e3 * theirs:8.2f} ms, softqam {1e3 * ours:6.3f} ms", flush=True)


if __name__ == "__main__":
    main()
