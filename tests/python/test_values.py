# SPDX-License-Identifier: MIT
"""Settings and options reach the library: its LLRs are the specified ones, to the last bit. tests/llr proves the values
themselves, test_demod.py compares every format."""
import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam

SETTINGS = [
    ("bpsk", {"output": "f32", "sign": 1}),
    ("pi2-bpsk", {"output": "s16", "llr_scale": 2.0**-10}),
    ("qpsk", {"output": "f16", "noise_form": "inverse"}),
    ("16qam", {"llr_scale": 2.5, "sign": 1}),
    ("64qam", {"llr_limit": 31}),
    ("256qam", {"output": "s16", "llr_scale": 300.5, "llr_limit": 20000, "noise_form": "inverse"}),
    ("1024qam", {"input_scale": 0.37}),
]


@pytest.mark.parametrize("modulation, settings", SETTINGS)
def test_settings(rng, modulation, settings):
    """With noise variances and gains as numbers and as arrays."""
    symbols, noise, gains = make_symbols(rng, 1531), make_noise(rng, 1531, settings.get("noise_form", "n0")), make_gain(rng, 1531)
    for n0, gain in [(noise, None), (0.01, None), (noise, gains), (noise, 0.3), (0.1, gains), (0.1, gains.astype(float)), (1, 2), (1, 0)]:
        got = softqam.demodulate(symbols, modulation, n0, gain=gain, **settings)
        assert_bytes(got, reference.llrs(symbols, modulation, n0, gain=gain, **settings))


@pytest.mark.parametrize("modulation, settings", SETTINGS)
def test_order_in_the_codeword(rng, modulation, settings):
    symbols, noise = make_symbols(rng, 300), make_noise(rng, 300)
    for options in ({"c_init": 0x12345}, {"c_init": 2**31 - 1, "first_symbol": 1000}, {"planes": 7, "first_symbol": 5}, {"planes": 1000, "c_init": 0}):
        got = softqam.demodulate(symbols, modulation, noise, **settings, **options)
        assert_bytes(got, reference.llrs(symbols, modulation, noise, **settings, **options))
    options = {"c_init": 4321, "first_symbol": 12, "planes": 12}
    expected = reference.llrs(symbols, modulation, noise, **settings, **options)
    for layers in (1,) if modulation == "pi2-bpsk" else (1, 2, 3, 4):
        in_layers, noise_in_layers = (array.reshape(-1, layers).T for array in (symbols, noise))
        got = softqam.demodulate(in_layers, modulation, noise_in_layers, layers=layers, **settings, **options)
        assert_bytes(got, expected)


@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_matlab_signature(rng, modulation):
    """Upper and lower case are one. Variances are at least 1e-10 in every dtype. A codeword in MATLAB's shape, a column, gives one."""
    symbols, noise = make_symbols(rng, 31)[11:], np.abs(make_noise(rng, 31)[11:])
    name = modulation.upper().replace("PI2", "pi/2")

    def check(sym, variance, expected):
        assert_bytes(softqam.nrSymbolDemodulate(sym, name, variance), expected)
        assert_bytes(softqam.nrSymbolDemodulate(sym, name.swapcase(), variance, "Hard"), (expected < 0).astype(np.int8))

    for exact, given in [(0.1, 0.1), (np.maximum(noise, np.float32(1e-10)), noise), (1e-10, 0), (1e-10, np.zeros(20, "i4"))]:
        expected = reference.llrs(symbols, modulation, exact, output="f32")
        check(symbols, given, expected)
        for column in (symbols[:, None], symbols[:, None].tolist()):
            for variance in (given, np.reshape(given, (-1, 1))):
                check(column, variance, expected[:, None])
    assert_bytes(softqam.nrSymbolDemodulate(symbols[None, :], name), expected[None, :])
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name, np.nan, "hard"), (expected < 0).astype(np.int8))
    assert softqam.nrSymbolDemodulate(symbols[:0, None], name).shape == (0, 1)


def test_gold_sequence():
    assert "".join(map(str, reference.gold(0x12345, 32))) == "11010110010101110111101001111011"
    expected = np.array(reference.gold(0x12345, 3000), np.uint8)
    for first, n in ((0, 3000), (0, 0), (7, 100), (991, 992), (2999, 1)):
        part = expected[first : first + n]
        bits = softqam.gold_sequence(0x12345, n, first=first)
        assert bits.dtype == np.uint8 and np.array_equal(bits, part)
        packed = softqam.gold_sequence(0x12345, np.int64(n), first=first, packed=True)
        assert np.array_equal(packed, np.packbits(part, bitorder="little")) and packed.flags.writeable
