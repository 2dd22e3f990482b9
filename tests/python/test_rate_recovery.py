# SPDX-License-Identifier: MIT
"""Soft buffers against rate recovery by others: py3gpp's nrRateRecoverLDPC() of the LLRs that the package gives in symbol
order. A skip without py3gpp."""
import numpy as np
import pytest
from symbols import make_noise, make_symbols

import softqam

py3gpp = pytest.importorskip("py3gpp", reason="no py3gpp")

MODULATIONS = {1: ("bpsk", "BPSK"), 2: ("qpsk", "QPSK"), 4: ("16qam", "16QAM"), 6: ("64qam", "64QAM"), 8: ("256qam", "256QAM")}
TRANSPORT_BLOCKS = [(100, 0.4), (3000, 0.5), (3824, 0.8), (20496, 0.7), (20496, 0.2)]


@pytest.mark.parametrize("tbs, rate", TRANSPORT_BLOCKS)
def test_code_blocks(tbs, rate):
    theirs = py3gpp.nrDLSCHInfo(tbs, rate)
    ours = softqam.ldpc_codeword(8, tbs, code_rate=rate).ldpc
    got = (ours.base_graph, ours.n_code_blocks, ours.lifting_size, ours.n_fillers, ours.k, ours.n)
    assert got == tuple(int(theirs[name]) for name in ("BGN", "C", "Zc", "F", "K", "N"))


@pytest.mark.parametrize("bits, layers", zip(MODULATIONS, (1, 2, 3, 4, 1)))
@pytest.mark.parametrize("rv", [0, 1, 2, 3])
@pytest.mark.parametrize("tbs, rate", TRANSPORT_BLOCKS)
def test_py3gpp(rng, tbs, rate, rv, bits, layers):
    name, theirs = MODULATIONS[bits]
    info = py3gpp.nrDLSCHInfo(tbs, rate)
    largest = np.finfo(np.float32).max
    for repetition in (0.4, 0.9, 1.7):
        step = bits * layers
        bits_of_block = int(info["N"] * repetition) // step * step
        n = int(bits_of_block * info["C"] + step * int(rng.integers(info["C"]))) // bits
        symbols, noise = make_symbols(rng, n), make_noise(rng, n)
        if repetition > 1:  # sums of what may overflow depend on their order
            symbols = (rng.normal(0, 0.7, n) + 1j * rng.normal(0, 0.7, n)).astype(np.complex64)
            noise = (10 ** rng.uniform(-4, 1, n)).astype(np.float32)
        c_init = int(rng.integers(2**31))
        codeword = softqam.ldpc_codeword(n * bits, tbs, name, code_rate=rate, rv=rv, layers=layers, filler_value=largest)
        in_layers = [array.reshape(-1, layers).T for array in (symbols, noise)]
        got = softqam.demodulate(in_layers[0], name, in_layers[1], layers=layers, output="f32", c_init=c_init, codeword=codeword)
        llrs = np.asarray(softqam.demodulate(symbols, name, noise, output="f32", c_init=c_init)).reshape(-1)
        expected = py3gpp.nrRateRecoverLDPC(llrs.astype(np.float64), tbs, rate, rv, theirs, layers).T
        expected = np.clip(expected, -largest, largest)
        if repetition < 1:
            np.testing.assert_array_equal(got, expected.astype(np.float32))
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(llrs).max())
