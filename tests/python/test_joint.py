# SPDX-License-Identifier: MIT
"""demodulate_joint(): by brute force over all pairs of points, in any layout, for both layers or one, with codewords.
test_sionna_pusch.py compares it with Sionna's detector, test_wrong_calls.py has what it refuses."""
import numpy as np
import pytest
from symbols import LLRS, assert_bytes, points

import softqam

NOISE_VAR = 0.05


def brute_force(z, gram, noise_var, modulations):
    """[n, bit] of each layer."""
    (_, e), (_, f) = tables = [points(modulation) for modulation in modulations]
    e, f = e[:, None], f[None, :]
    cost = np.array([g[0, 0].real * abs(e) ** 2 + g[1, 1].real * abs(f) ** 2
                     + 2 * (e.conj() * g[0, 1] * f - e.conj() * y[0] - f.conj() * y[1]).real for y, g in zip(z, gram)])  # fmt: skip
    for layer, (bits, _) in enumerate(tables):
        least = cost.min(2 - layer)
        yield np.stack([np.where(of_bit, least, np.inf).min(1) - np.where(of_bit, np.inf, least).min(1) for of_bit in bits.T == 1], 1) / noise_var


@pytest.fixture
def received(rng):
    """z and the Gram matrix of 60 elements."""
    h = rng.normal(0, 0.7, (60, 3, 2, 2)) @ [1, 1j]
    y = (h @ rng.choice(points("16qam")[1], (60, 2, 1)))[..., 0] + rng.normal(0, 0.2, (60, 3, 2)) @ [1, 1j]
    return np.einsum("nae,na->ne", h.conj(), y).astype(np.complex64), np.einsum("nae,naf->nef", h.conj(), h).astype(np.complex64)


@pytest.mark.parametrize("modulations", [("qpsk", "qpsk"), ("16qam", "16qam"), ("64qam", "64qam"), ("16qam", "qpsk"), ("qpsk", "64qam")])
def test_values(received, modulations):
    """Both layers, and each beside its partner."""
    each = [softqam.demodulate_joint(*received, NOISE_VAR, modulations[k], layer=k, partner_modulation=modulations[1 - k].upper(), output="f32")
            for k in range(2)]  # fmt: skip
    for got, expected in zip(each, brute_force(*received, NOISE_VAR, modulations)):
        np.testing.assert_allclose(got, expected.reshape(-1), atol=1e-5 * np.abs(expected).max())
    if modulations[0] == modulations[1]:
        both = softqam.demodulate_joint(*received, NOISE_VAR, modulations[0], output="f32")
        assert_bytes(both, np.stack([layer.reshape(60, -1) for layer in each], 1).reshape(-1))
        np.testing.assert_array_equal(softqam.demodulate_joint(*received, NOISE_VAR, modulations[0], output="f32", sign=1), -both)
        assert_bytes(softqam.demodulate_joint(*received, 1 / NOISE_VAR, modulations[0], output="f32", noise_form="inverse"), both)
        for unit in 2.0 ** np.arange(-40, 41):  # all values get the same unit
            assert_bytes(softqam.demodulate_joint(*(array * np.float32(unit) for array in received), NOISE_VAR * unit, modulations[0], output="f32"), both)


def test_layouts(rng, received):
    """Rows with c_init of their own, strides, double precision, noise for each element, one matrix for many."""
    z, gram = (array.reshape(3, 20, *array.shape[1:]) for array in received)
    noise = rng.uniform(0.01, 1, (3, 20)).astype(np.float32)
    options = {"c_init": [5, 6, 7], "first_symbol": 8, "scrambling_offset": 2}
    expected = softqam.demodulate_joint(z, gram, noise, "16qam", **options)
    for row in range(3):
        one = softqam.demodulate_joint(z[row], gram[row], noise[row], "16qam", **{**options, "c_init": 5 + row})
        assert_bytes(expected[row], one)
    strided = [np.repeat(np.asfortranarray(array), 2, 1)[:, ::2] for array in (z, gram, noise)]
    for arrays in (strided, (z.astype(complex), gram.astype(complex), noise.astype(float)), (z.tolist(), gram.tolist(), noise.tolist())):
        assert_bytes(softqam.demodulate_joint(*arrays, "16qam", **options), expected)
    packed = np.zeros(noise.shape, [("flags", "u2"), ("n0", "f4")])  # unaligned, and 6 bytes apart
    packed["n0"] = noise
    for values in (packed["n0"], noise[:, ::-1].copy()[:, ::-1]):
        assert_bytes(softqam.demodulate_joint(z, gram, values, "16qam", **options), expected)
    got = softqam.demodulate_joint(z, gram[0, 0], noise[:, :1], "16qam")
    assert_bytes(got, softqam.demodulate_joint(z, np.broadcast_to(gram[0, 0], gram.shape), np.repeat(noise[:, :1], 20, 1), "16qam"))
    out = np.empty_like(expected)
    assert softqam.demodulate_joint(z, gram, noise, "16qam", out=out, **options) is out
    assert_bytes(out, expected)
    assert softqam.demodulate_joint(z[:, :0], gram[:, :0], 0.1).shape == (3, 0)
    columns = [array[:, :1] for array in (z, gram, noise)]  # codewords of one element, each of which is a code block
    assert_bytes(softqam.demodulate_joint(*columns, layer=1, planes=1), softqam.demodulate_joint(*columns, layer=1))


@pytest.mark.parametrize("output", LLRS)
@pytest.mark.parametrize("layer", [None, 0, 1])
def test_soft_buffers(received, output, layer):
    """They are those of the LLRs: in one call, by OFDM symbols, and after a retransmission."""
    layers = 2 if layer is None else 1
    codeword = softqam.Codeword(60 * layers * 4, "16qam", layers, 2, 150, 30, 100, 20)
    options = {"output": output, "layer": layer, "c_init": 9}
    llrs = softqam.demodulate_joint(*received, NOISE_VAR, "16qam", **options)
    expected = softqam.rate_recover(llrs, codeword)
    got = softqam.demodulate_joint(*received, NOISE_VAR, "16qam", codeword=codeword, **options)
    np.testing.assert_array_equal(got, expected)
    pieces = np.zeros_like(got)
    for first in (0, 25):
        part = [array[first : first + 25 if first == 0 else None] for array in received]
        softqam.demodulate_joint(*part, NOISE_VAR, "16qam", codeword=codeword, soft_buffers=pieces, first_symbol=first * layers, **options)
    np.testing.assert_array_equal(pieces, expected)
    assert softqam.demodulate_joint(*received, NOISE_VAR, "16qam", codeword=codeword, soft_buffers=got, combine=True, **options) is got
    np.testing.assert_array_equal(got, softqam.rate_recover(llrs, codeword, soft_buffers=expected, combine=True))


@pytest.mark.parametrize("layer, n", [(None, 120), (1, 60)])
def test_statistics(received, layer, n):
    """They count the wanted layers' symbols; erasures have no information."""
    received[1][:15], statistics = np.nan, softqam.Statistics()
    softqam.demodulate_joint(*received, NOISE_VAR, "16qam", layer=layer, output="f32", statistics=statistics)
    assert (statistics.n_symbols, statistics.n_erased, statistics.n_sampled) == (n, n // 4, 64 - 15 * n // 60 if layer is None else 45)
    assert 0.4 < statistics.mutual_information(4) < 0.75
