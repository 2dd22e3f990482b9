# SPDX-License-Identifier: MIT
"""Layers, descrambling, bit planes and the place in the codeword: the reference's bytes in the codeword's order."""
import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_noise, make_symbols

import softqam


def test_gold_sequence():
    assert "".join(map(str, reference.gold(0x12345, 32))) == "11010110010101110111101001111011"
    expected = np.array(reference.gold(0x12345, 3000), np.uint8)
    for first, n in ((0, 3000), (0, 0), (0, 1), (7, 100), (991, 992), (2999, 1)):
        part = expected[first : first + n]
        bits = softqam.gold_sequence(0x12345, n, first=first)
        assert bits.dtype == np.uint8 and np.array_equal(bits, part)
        packed = softqam.gold_sequence(0x12345, np.int64(n), first=first, packed=True)
        assert np.array_equal(packed, np.packbits(part, bitorder="little")) and packed.flags.writeable


OPTIONS = [
    *({"c_init": c_init, "first_symbol": first} for c_init, first in ((0x12345, 0), (0, 17), (2**31 - 1, 1000))),
    *({"c_init": c_init, "first_symbol": 5, "planes": planes} for c_init in (None, 99) for planes in (1, 7, 64, 300, 1000)),
]


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_descrambling_and_planes(rng, modulation, output):
    symbols, noise = make_symbols(rng, 300), make_noise(rng, 300)
    for options in OPTIONS:
        got = softqam.demodulate(symbols, modulation, noise, output=output, **options)
        assert_bytes(got, reference.llrs(symbols, modulation, noise, output=output, **options))


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", [name for name in reference.MODULATIONS if name != "pi2-bpsk"])
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_layers(rng, modulation, layers, output):
    codeword, noise = make_symbols(rng, 60 * layers), make_noise(rng, 60 * layers)
    in_layers = codeword.reshape(60, layers).T
    for of_layers in (in_layers, np.ascontiguousarray(in_layers)):
        for options in ({}, {"c_init": 4321, "first_symbol": 12, "planes": 2 * 3 * layers}):
            options = {**options, "output": output}
            got = softqam.demodulate(of_layers, modulation, noise.reshape(60, layers).T, layers=layers, **options)
            assert_bytes(got, reference.llrs(codeword, modulation, noise, **options))


def test_each_row_is_a_codeword(rng):
    """With a c_init of its own; of pi/2-BPSK the first symbol of each has the same parity."""
    symbols = make_symbols(rng, 15).reshape(3, 5)
    for modulation, options in (("256qam", {"c_init": [1, 2, 3]}), ("pi2-bpsk", {}), ("pi2-bpsk", {"first_symbol": 1})):
        got = softqam.demodulate(symbols, modulation, 0.1, output="f32", **options)
        for k in range(3):
            of_row = {name: np.ravel(value)[min(k, np.size(value) - 1)] for name, value in options.items()}
            assert_bytes(got[k], reference.llrs(symbols[k], modulation, 0.1, output="f32", **of_row))
