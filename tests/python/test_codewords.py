# SPDX-License-Identifier: MIT
"""Layers, descrambling, bit planes and the place in the codeword: the reference's bytes in the codeword's order."""
import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_noise, make_symbols

import softqam


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_descrambling(rng, supported, modulation, output):
    symbols, noise = make_symbols(rng, 300), make_noise(rng, 300)
    for c_init, first in ((0x12345, 0), (0, 17), (2**31 - 1, 1000)):
        options = {"c_init": c_init, "first_symbol": first, "output": output}
        got = supported(softqam.demodulate, symbols, modulation, noise, **options)
        assert_bytes(got, reference.llrs(symbols, modulation, noise, **options))


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", reference.MODULATIONS)
@pytest.mark.parametrize("planes", [1, 7, 64, 300, 1000])
def test_planes(rng, supported, modulation, planes, output):
    symbols, noise = make_symbols(rng, 300), make_noise(rng, 300)
    for c_init in (None, 99):
        options = {"c_init": c_init, "planes": planes, "first_symbol": 5, "output": output}
        got = supported(softqam.demodulate, symbols, modulation, noise, **options)
        assert_bytes(got, reference.llrs(symbols, modulation, noise, **options))


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", [name for name in reference.MODULATIONS if name != "pi2-bpsk"])
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_layers(rng, supported, modulation, layers, output):
    codeword, noise = make_symbols(rng, 60 * layers), make_noise(rng, 60 * layers)
    in_layers = codeword.reshape(60, layers).T
    for of_layers in (in_layers, np.ascontiguousarray(in_layers)):
        for options in ({}, {"c_init": 4321, "first_symbol": 12, "planes": 2 * 3 * layers}):
            options = {**options, "output": output}
            got = supported(
                softqam.demodulate, of_layers, modulation, noise.reshape(60, layers).T, layers=layers, **options
            )
            assert_bytes(got, reference.llrs(codeword, modulation, noise, **options))


def test_noise_of_each_layer(rng, supported):
    symbols = make_symbols(rng, 120).reshape(2, 60)
    noise = np.array([[0.5], [0.01]], np.float32)
    got = supported(softqam.demodulate, symbols, "256qam", noise, layers=2)
    whole = np.ascontiguousarray(np.broadcast_to(noise, (2, 60)).T).reshape(-1)
    assert_bytes(got, reference.llrs(symbols.T.reshape(-1), "256qam", whole))


def test_c_init_of_each_codeword(rng, supported):
    symbols = make_symbols(rng, 60).reshape(3, 20)
    got = supported(softqam.demodulate, symbols, "256qam", 0.1, c_init=np.array([1, 2, 3]))
    for k in range(3):
        assert_bytes(got[k], reference.llrs(symbols[k], "256qam", 0.1, c_init=k + 1))


@pytest.mark.parametrize("first", [0, 1])
def test_pi2_bpsk_counts_from_each_row(rng, supported, first):
    symbols = make_symbols(rng, 15).reshape(3, 5)
    got = supported(softqam.demodulate, symbols, "pi2-bpsk", 0.1, output="f32", first_symbol=first)
    for k in range(3):
        assert_bytes(got[k], reference.llrs(symbols[k], "pi2-bpsk", 0.1, output="f32", first_symbol=first))
