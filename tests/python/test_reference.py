# SPDX-License-Identifier: MIT
"""The reference is what it says: max-log by brute force, and the standard's scrambling sequence."""
import numpy as np
import pytest
import reference
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


@pytest.mark.parametrize("output", reference.STEPS)
def test_steps_are_rounded_once(rng, output):
    """To nearest even, of the exact product; -2^7 and -2^15 are none."""
    scale, limit = reference.STEPS[output]
    symbols = rng.normal(0, 0.7, (20000, 2)).astype(np.float32)
    symbols[:2001] = np.arange(-1000, 1001)[:, None] / 2 / np.float32(2 * np.sqrt(2))
    noise = np.where(np.arange(20000) < 2001, 1, 10 ** rng.uniform(-4, 1, 20000)).astype(np.float32)
    metrics = reference.metrics_of(*symbols.T, "qpsk", 0)
    for of_call, most in ((scale, limit), (1, limit), (1, 1), (2.0**-10, limit), (2.0**14, limit)):
        exact = metrics.astype(np.float64) * reference.weights(noise, "n0", of_call)[:, None]
        expected = np.clip(np.rint(exact), -most, most).astype(reference.DTYPES[output])
        got = reference.llrs(symbols, "qpsk", noise, output=output, llr_scale=of_call, llr_limit=most)
        assert np.array_equal(got, expected.reshape(-1)) and got.dtype == expected.dtype
    plain = reference.llrs(symbols, "qpsk", noise, output=output)
    assert np.array_equal(plain, reference.llrs(symbols, "qpsk", noise, output=output, llr_scale=scale, llr_limit=limit))
    assert (plain.min(), plain.max()) == (-limit, limit) == (-np.iinfo(plain.dtype).max, np.iinfo(plain.dtype).max)


@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_reference_is_max_log(rng, modulation):
    symbols = rng.normal(0, 0.7, (2, 200)).astype(np.float32)
    symbols = symbols[0] + 1j * symbols[1]
    points, words = reference.points(modulation)
    assert np.isclose(np.mean(np.abs(points) ** 2), 1)
    distances = np.abs(symbols[:, None] - points) ** 2
    if modulation == "pi2-bpsk":
        distances[1::2] = np.abs(symbols[1::2, None] - 1j * points) ** 2
    expected = np.stack(
        [distances[:, w == 1].min(1) - distances[:, w == 0].min(1) for w in words.T], axis=1
    )  # fmt: skip
    got = reference.llrs(symbols, modulation, 1, output="f32").reshape(expected.shape)
    assert np.abs(got - expected).max() < 2e-6 * (1 + np.abs(symbols).max()) ** 2
