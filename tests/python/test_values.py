# SPDX-License-Identifier: MIT
"""LLRs are max-log of all points; settings and options reach the library, as relations between calls show. tests/llr proves all
values, test_demod.py compares every format with softqam-demod's."""
import copy
import pickle

import numpy as np
import pytest
from symbols import LLRS, MODULATIONS, OUTPUTS, assert_bytes, make_gain, make_noise, make_symbols, points

import softqam

each_modulation = pytest.mark.parametrize("modulation", MODULATIONS)


def finite(rng, n):
    """Symbols and noise variances without special values: powers of two, whose products are exact."""
    return make_symbols(rng, n + 20)[20:], np.float32(2.0) ** rng.integers(-6, 0, n)


@each_modulation
def test_definition(rng, modulation):
    """The nearest point with bit 1 and the nearest one with bit 0, among all points."""
    symbols, (bits, of_bits) = finite(rng, 3000)[0], points(modulation)
    turned = symbols * (-1j) ** (np.arange(3000) % 2) if modulation == "pi2-bpsk" else symbols
    distance = abs(turned.astype(complex)[:, None] - of_bits) ** 2
    expected = np.stack([distance[:, of_bit == 1].min(1) - distance[:, of_bit == 0].min(1) for of_bit in bits.T], 1) / 0.1
    got = softqam.demodulate(symbols, modulation, 0.1, output="f32").reshape(expected.shape)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@each_modulation
@pytest.mark.parametrize("output", LLRS)
def test_settings(rng, modulation, output):
    symbols, noise = finite(rng, 500)

    def call(symbols=symbols, noise_var=noise, **options):
        return softqam.demodulate(symbols, modulation, noise_var, output=output, **options)

    expected = call()
    assert len(np.unique(expected)) > 20
    np.testing.assert_array_equal(call(sign=1), -expected)
    assert_bytes(call(noise_var=1 / noise, noise_form="inverse"), expected)
    assert_bytes(call(symbols / 8, input_scale=8), expected)
    for unit in (4, 2.0**-60, 2.0**58):
        assert_bytes(call(symbols * np.float32(unit), noise * np.float32(unit**2), gain=unit), expected)
    assert_bytes(call(symbols * noise, noise**3, gain=noise), expected)
    if output == "f32":  # LLRs reach some 2,000, as symbols and N0 are rounded
        gain, noise_var = (2 ** rng.uniform(-10, 10, 500)).astype(np.float32), np.float32(0.01)
        for n0, form in ((noise_var * gain**2, "n0"), (1 / (noise_var * gain**2), "inverse")):
            np.testing.assert_allclose(call(symbols * gain, n0, gain=gain, noise_form=form), call(noise_var=0.01), rtol=0, atol=1e-3)
    if output in ("s8", "s16"):
        assert_bytes(call(llr_limit=31), np.clip(expected, -31, 31))
        limit = np.iinfo(expected.dtype).max
        nats = softqam.demodulate(symbols, modulation, noise, output="f32")
        np.testing.assert_array_equal(call(llr_scale=0.5), np.clip(np.rint(nats / 2), -limit, limit))


@each_modulation
def test_order_in_the_codeword(rng, modulation):
    """Descrambling, planes and layers only change signs and places."""
    bits, (symbols, noise) = MODULATIONS[modulation], finite(rng, 300)
    plain = softqam.demodulate(symbols, modulation, noise, output="f32", first_symbol=4)
    signs = 1 - 2 * softqam.gold_sequence(77, 300 * bits, first=4 * bits).astype(int)
    for options in ({"first_symbol": 4}, {"scrambling_offset": 4}, {"first_symbol": 2, "scrambling_offset": 2}):
        np.testing.assert_array_equal(softqam.demodulate(symbols, modulation, noise, output="f32", c_init=77, **options), plain * signs)
    got = softqam.demodulate(symbols, modulation, noise, output="f32", first_symbol=4, planes=120)
    blocks = [plain[first : first + 120 * bits].reshape(-1, bits).T.reshape(-1) for first in range(0, 300 * bits, 120 * bits)]
    np.testing.assert_array_equal(got, np.concatenate(blocks))
    for layers in (1,) if modulation == "pi2-bpsk" else (1, 2, 3, 4):
        in_layers, noise_in_layers = (array.reshape(-1, layers).T for array in (symbols, noise))
        got = softqam.demodulate(in_layers, modulation, noise_in_layers, layers=layers, output="f32", first_symbol=12, scrambling_offset=12, c_init=5)
        assert_bytes(got, softqam.demodulate(symbols, modulation, noise, output="f32", first_symbol=24, c_init=5))


@pytest.mark.parametrize("output", OUTPUTS)
def test_statistics(rng, output):
    """They are the symbols' and LLRs', added up over calls and rows; a row is a codeword."""
    sent = softqam.modulate(rng.integers(0, 2, (3, 8 * 600)), "256qam")
    symbols = (sent + rng.normal(0, 0.02, (3, 600, 2)) @ [1, 1j]).astype(np.complex64)
    symbols[1, 5:9], noise = np.nan, None if output == "u8" else 0.0008
    statistics, layers = softqam.Statistics(), softqam.Statistics()
    llrs = softqam.demodulate(symbols, "256qam", noise, output=output, statistics=statistics)
    limit = {"s8": 127, "s16": 32767, "f16": 65504, "f32": np.finfo(np.float32).max}.get(output)
    n_limited = np.isin(llrs, [0, 255]).sum() if limit is None else (np.abs(llrs.astype(float)) == limit).sum()
    assert (statistics.n_symbols, statistics.n_erased, statistics.n_limited) == (1800, 4, n_limited)
    assert statistics.n_sampled == (0 if output == "u8" else 3 * 128 - 4)
    softqam.demodulate(symbols[0].reshape(300, 2).T, "256qam", noise, output=output, statistics=layers, layers=None if output == "u8" else 2)
    softqam.demodulate(symbols[1:], "256qam", noise, output=output, statistics=layers)
    assert repr(layers) == repr(statistics) or output == "u8"
    if output in ("s16", "f32"):
        assert statistics.evm == pytest.approx(0.0283, rel=0.1) and statistics.energy == pytest.approx(1, rel=0.1)
        assert 0.9 < statistics.mutual_information(8) < 1
    for other in (copy.copy(statistics), copy.deepcopy(statistics), pickle.loads(pickle.dumps(statistics))):
        softqam.demodulate(symbols, "256qam", noise, output=output, statistics=other)
        assert (statistics.n_symbols, other.n_symbols, other.n_erased) == (1800, 3600, 8)
    for wrong in ({}, np.zeros(7, np.uint64)):
        with pytest.raises(TypeError, match="statistics is .*softqam.Statistics"):
            softqam.demodulate(symbols, "256qam", noise, output=output, statistics=wrong)


@pytest.mark.parametrize("form, better, erasures", [("n0", [0, -1, -np.inf, 1e-9, -0.0], [np.nan, -np.nan, np.inf]),
                                                    ("inverse", [np.inf, 3e38, 1e9, 2.0**7 + 1], [np.nan, -np.nan, -np.inf, -1, 0])])  # fmt: skip
def test_noise_floor(rng, form, better, erasures):
    """The N0 that a single-precision equaliser writes for its best elements counts as the floor, in arrays and as one value. What is no
    noise value stays an erasure."""
    symbols = finite(rng, 100)[0]
    floor, above = (2.0**-7, 2.0**-6) if form == "n0" else (2.0**7, 2.0**6)
    for gain in (None, 2.0):
        options = {"output": "f32", "noise_form": form, "gain": gain}
        expected = softqam.demodulate(symbols, "16qam", floor, **options)
        for noise in (*better, np.resize(better, 100)):
            assert_bytes(softqam.demodulate(symbols, "16qam", noise, noise_floor=2.0**-7, **options), expected)
        assert_bytes(softqam.demodulate(symbols, "16qam", above, noise_floor=2.0**-7, **options), softqam.demodulate(symbols, "16qam", above, **options))
        assert not softqam.demodulate(symbols, "16qam", np.resize(erasures, 100), noise_floor=2.0**-7, **options).any()
    for wrong in ({"noise_var": np.nan}, {"noise_var": np.inf if form == "n0" else 0}, {"noise_var": 0.1, "gain": 0}):
        with pytest.raises(ValueError, match="one value for all symbols"):
            softqam.demodulate(symbols, "16qam", noise_form=form, noise_floor=0.1, **wrong)


def test_scrambling_offset_of_soft_buffers(rng):
    """UCI on PUSCH: positions in the codeword do not count the symbols of UCI, the sequence does."""
    symbols, noise = finite(rng, 200)
    codeword = softqam.Codeword(400, "qpsk", 1, 2, 150)
    llrs = softqam.demodulate(symbols, "qpsk", noise, c_init=9, first_symbol=31)
    got = softqam.demodulate(symbols, "qpsk", noise, c_init=9, scrambling_offset=31, codeword=codeword)
    assert_bytes(got, softqam.rate_recover(llrs, codeword))
    for wrong, error, words in [({"scrambling_offset": -1}, ValueError, "scrambling_offset is not between 0"), ({"scrambling_offset": 1.0}, TypeError, "scrambling_offset"),
                                ({"scrambling_offset": 3, "layers": 2}, ValueError, "layers is 2, and scrambling_offset is no multiple")]:  # fmt: skip
        with pytest.raises(error, match=words):
            softqam.demodulate(symbols.reshape(2, 100), "qpsk", 0.1, **wrong)


@each_modulation
def test_bits_there_and_back(rng, modulation):
    bits = rng.integers(0, 2, (3, 40 * MODULATIONS[modulation]))
    name = modulation.upper().replace("PI2", "pi/2")
    symbols = softqam.modulate(bits, name, first_symbol=1)
    assert_bytes(softqam.modulate(bits.astype(np.uint64), name, first_symbol=2**64 - 1), symbols)
    assert symbols.dtype == np.complex64 and abs(np.mean(np.abs(softqam.modulate(rng.integers(0, 2, 100000 * len(bits)), name)) ** 2) - 1) < 0.02
    for options in ({}, {"sign": 1}, {"noise_var": 1e-3}):
        got = softqam.demodulate(symbols, modulation, output="hard", first_symbol=1, **options)
        assert got.dtype == np.int8 and np.array_equal(got, bits)
    assert np.array_equal(softqam.demodulate(symbols, modulation, 1e-3, first_symbol=1) < 0, bits)
    assert softqam.modulate([], name).shape == (0,) and softqam.modulate(np.zeros((2, 0)), name).shape == (2, 0)
    c_init = softqam.demodulate(symbols, modulation, output="hard", first_symbol=1, c_init=3)
    assert np.array_equal(c_init, bits ^ softqam.gold_sequence(3, bits.shape[1], first=MODULATIONS[modulation]))


@pytest.mark.parametrize("wrong, words", [([0, 2], "0 and 1"), ([0.0, 1.0], "0 and 1"), ([0, 1, 0], "2 bits for each symbol"), (1, "2 bits for each symbol")])
def test_what_is_not_modulated(wrong, words):
    with pytest.raises(ValueError, match=f"^bits is .*{words}"):
        softqam.modulate(wrong, "qpsk")


@pytest.mark.parametrize("dtype, unit", [(np.complex64, 3e-9), (np.int16, 700), (np.int8, 20)])
def test_input_scale_auto(rng, dtype, unit):
    """Whatever the unit is, the LLRs are near those of unit energy; one outlier does not matter, zeros do not count."""
    sent = softqam.modulate(rng.integers(0, 2, 4 * 5000), "16qam")
    received = (sent + rng.normal(0, 0.1, (5000, 2)) @ [1, 1j]).astype(np.complex64)
    expected = softqam.demodulate(received, "16qam", 0.02, output="f32")
    scaled = received * unit
    scaled = scaled.astype(dtype) if dtype == np.complex64 else np.rint(scaled.view(np.float32).reshape(-1, 2)).astype(dtype)
    for noise_var, options in ((0.02, {}), (np.full(5000, 50), {"noise_form": "inverse"})):
        got = softqam.demodulate(scaled, "16qam", noise_var, output="f32", input_scale="auto", **options)
        assert np.median(np.abs(got - expected)) < 2
    if dtype == np.complex64:
        scaled[7] = 3e38
        again = softqam.Demodulator("16qam", output="f32", input_scale="auto")(scaled, 0.02)
        np.testing.assert_allclose(np.delete(again, range(28, 32)), np.delete(got, range(28, 32)), rtol=0.01)
    for wrong, options in ((np.zeros(4, np.complex64), {}), (scaled, {"gain": 2.0})):
        with pytest.raises(ValueError, match='input_scale is "auto"'):
            softqam.demodulate(wrong, "16qam", 0.1, input_scale="auto", **options)


@each_modulation
def test_matlab_signature(rng, modulation):
    """Upper and lower case are one. Variances are at least 1e-10 in every dtype. A codeword in MATLAB's shape, a column, gives one."""
    symbols, noise = make_symbols(rng, 31)[11:], np.abs(make_noise(rng, 31)[11:])
    name = modulation.upper().replace("PI2", "pi/2")

    def check(sym, variance, expected):
        assert_bytes(softqam.nrSymbolDemodulate(sym, name, variance), expected)
        assert_bytes(softqam.nrSymbolDemodulate(sym, name.swapcase(), variance, "Hard"), (expected < 0).astype(np.int8))

    for exact, given in [(0.1, 0.1), (np.maximum(noise, np.float32(1e-10)), noise), (1e-10, 0), (1e-10, np.zeros(20, "i4"))]:
        expected = softqam.demodulate(symbols, modulation, exact, output="f32")
        check(symbols, given, expected)
        for column in (symbols[:, None], symbols[:, None].tolist()):
            for variance in (given, np.reshape(given, (-1, 1))):
                check(column, variance, expected[:, None])
    assert_bytes(softqam.nrSymbolDemodulate(symbols[None, :], name), expected[None, :])
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name, np.nan, "hard"), (expected < 0).astype(np.int8))
    assert softqam.nrSymbolDemodulate(symbols[:0, None], name).shape == (0, 1)


def test_gold_sequence():
    whole = softqam.gold_sequence(0x12345, 3000)
    assert "".join(map(str, whole[:32])) == "11010110010101110111101001111011"
    for first, n in ((0, 0), (7, 100), (991, 992), (2999, 1)):
        bits = softqam.gold_sequence(0x12345, n, first=first)
        assert bits.dtype == np.uint8 and np.array_equal(bits, whole[first : first + n])
        packed = softqam.gold_sequence(0x12345, np.int64(n), first=first, packed=True)
        assert np.array_equal(packed, np.packbits(bits, bitorder="little")) and packed.flags.writeable
    assert len(softqam.gold_sequence(1, 10, first=2**64 - 10)) == 10
    with pytest.raises(ValueError, match=f"^first is {2**64 - 9}, from which on there are no 10 bits$"):
        softqam.gold_sequence(1, 10, first=2**64 - 9)
