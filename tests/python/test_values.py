# SPDX-License-Identifier: MIT
"""The LLRs are the specified ones, to the last bit, for every modulation, format and setting; and in the codeword's order: layers,
descrambling, bit planes and the place in the codeword."""
import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam

N = 1531
each_output = pytest.mark.parametrize("output", reference.LLRS)
each_modulation = pytest.mark.parametrize("modulation", reference.MODULATIONS)


def assert_specified(symbols, modulation, noise, **settings):
    got = softqam.demodulate(symbols, modulation, noise, **settings)
    assert_bytes(got, reference.llrs(symbols, modulation, noise, **settings))


@pytest.mark.parametrize("noise_form", ["n0", "inverse"])
@each_output
@each_modulation
def test_noise_and_gains(rng, modulation, output, noise_form):
    symbols, noise, gains = make_symbols(rng, N), make_noise(rng, N, noise_form), make_gain(rng, N)
    for n0, gain in [(noise, None), (0.01, None), (noise, gains), (noise, 0.3), (0.1, gains), (0.1, gains.astype(float)), (1, 2), (1, 0)]:
        assert_specified(symbols, modulation, n0, gain=gain, output=output, noise_form=noise_form)


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("modulation", ["qpsk", "256qam"])
def test_input_formats(rng, dtype, modulation):
    for scale in (None, 0.37 if not dtype.startswith("int") else 0.0021):
        assert_specified(make_symbols(rng, N, dtype), modulation, 0.02, output="f32", input_scale=scale)


SETTINGS = [
    {"sign": 1},
    {"sign": 1, "output": "f32"},
    {"llr_scale": 2.5},
    {"llr_limit": 31},
    {"llr_scale": 1, "llr_limit": 15, "sign": 1},
    {"output": "s16", "sign": 1},
    {"output": "s16", "llr_limit": 127},
    {"output": "s16", "llr_limit": 1},
    {"output": "s16", "llr_scale": 6, "llr_limit": 127},
    {"output": "s16", "llr_scale": 300.5, "llr_limit": 20000, "sign": 1},
    *({"output": output, "llr_scale": 2.0**k} for output, k in (("s8", -10), ("s8", 20), ("s16", -10), ("s16", 14))),
    *({"output": output, "llr_limit": limit} for output, (_, limit) in reference.STEPS.items()),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("modulation", ["16qam", "256qam"])
def test_settings(rng, modulation, settings):
    assert_specified(make_symbols(rng, N), modulation, make_noise(rng, N), **settings)


@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_matlab_signature(rng, modulation):
    """Upper and lower case are one. Variances are at least 1e-10 in every dtype. A codeword in MATLAB's shape, a column, gives one."""
    symbols, noise = make_symbols(rng, 31)[11:], np.abs(make_noise(rng, 31)[11:])
    name = modulation.upper().replace("PI2", "pi/2")

    def check(sym, variance, expected):
        assert_bytes(softqam.nrSymbolDemodulate(sym, name, variance), expected)
        assert_bytes(softqam.nrSymbolDemodulate(sym, name.swapcase(), variance, "Hard"), (expected < 0).astype(np.int8))

    zeros = [0, np.int64(0), *(np.zeros(20, dtype) for dtype in ("f2", "f4", "f8", "i4"))]
    for exact, given in [(0.1, 0.1), (np.maximum(noise, np.float32(1e-10)), noise), *((1e-10, zero) for zero in zeros)]:
        expected = reference.llrs(symbols, modulation, exact, output="f32")
        check(symbols, given, expected)
        in_column = np.reshape(given, (-1, 1))
        for column in (symbols[:, None], symbols[:, None].astype(complex), symbols[:, None].tolist()):
            for variance in (given, in_column, in_column.tolist()):
                check(column, variance, expected[:, None])
    assert_bytes(softqam.nrSymbolDemodulate(symbols[None, :], name), expected[None, :])
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name, np.nan, "hard"), (expected < 0).astype(np.int8))
    assert softqam.nrSymbolDemodulate(symbols[:0, None], name).shape == (0, 1)


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


@each_output
@each_modulation
def test_order_in_the_codeword(rng, modulation, output):
    symbols, noise = make_symbols(rng, 300), make_noise(rng, 300)
    for options in OPTIONS:
        assert_specified(symbols, modulation, noise, output=output, **options)
    for layers in (1,) if modulation == "pi2-bpsk" else (1, 2, 3, 4):
        in_layers, noise_in_layers = (array.reshape(-1, layers).T for array in (symbols, noise))
        for options in ({}, {"c_init": 4321, "first_symbol": 12, "planes": 6 * layers}):
            expected = reference.llrs(symbols, modulation, noise, output=output, **options)
            for arranged in (np.asarray, np.ascontiguousarray):
                got = softqam.demodulate(arranged(in_layers), modulation, arranged(noise_in_layers), layers=layers, output=output, **options)
                assert_bytes(got, expected)
