# SPDX-License-Identifier: MIT
"""The reference is what it says: max-log by brute force, and the standard's scrambling sequence."""
import numpy as np
import pytest
import reference
import softqam


def test_gold_sequence_of_reference():
    assert "".join(map(str, reference.gold(0x12345, 32))) == "11010110010101110111101001111011"


def test_gold_sequence():
    expected = np.array(reference.gold(0x12345, 3000), np.uint8)
    for first, n in ((0, 3000), (0, 0), (0, 1), (7, 100), (991, 992), (2999, 1)):
        part = expected[first : first + n]
        bits = softqam.gold_sequence(0x12345, n, first=first)
        assert bits.dtype == np.uint8 and np.array_equal(bits, part)
        packed = softqam.gold_sequence(0x12345, np.int64(n), first=first, packed=True)
        assert np.array_equal(packed, np.packbits(part, bitorder="little")) and packed.flags.writeable


def test_gold_sequence_refuses():
    for arguments in ((2**31, 8), (-1, 8), (1, -1), (1, 2**61), (1.0, 8), (1, 8.0), (True, 8), ("1", 8), (1, None)):
        with pytest.raises((TypeError, ValueError), match="c_init is|n is"):
            softqam.gold_sequence(*arguments)
    with pytest.raises(ValueError, match="first is"):
        softqam.gold_sequence(1, 8, first=-1)


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
