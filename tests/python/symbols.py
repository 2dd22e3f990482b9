# SPDX-License-Identifier: MIT
"""Symbols and noise of all kinds, points, a comparison of bytes, and what refuses to be looked at."""
import numpy as np

import softqam

MODULATIONS = {"bpsk": 1, "pi2-bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
# The outputs' types.
OUTPUTS = {"s8": np.int8, "s16": np.int16, "f16": np.float16, "f32": np.float32, "u8": np.uint8}
LLRS = [name for name in OUTPUTS if name != "u8"]

# Types of symbols; from the third on they are pairs, I and Q.
DTYPES = ["complex64", "complex128", "float32", "float16", "int16", "int8"]


class Refused(Exception):
    """An argument's or a library's own error."""


def refuse(*arguments, **options):
    raise Refused


def points(modulation):
    """The bits of each point, [point, bit], and the points."""
    bits = np.arange(2 ** MODULATIONS[modulation])[:, None] >> np.arange(MODULATIONS[modulation]) & 1
    return bits, softqam.modulate(bits, modulation)[:, 0].astype(complex)


def make_symbols(rng, n, dtype="complex64"):
    """Gaussian around the constellations' range, with special values among them."""
    pairs = rng.normal(0, 0.7, (n, 2)).astype(np.float32)
    if dtype.startswith("int"):
        info = np.iinfo(dtype)
        pairs = np.clip(np.rint(pairs * (info.max / 2)), info.min, info.max).astype(dtype)
        pairs[:4] = [[0, 0], [info.min, info.max], [1, -1], [info.max, info.min]][:n]
        return pairs
    special = [0.0, -0.0, 1e-20, -1e-30, 3.0, 1e4, -1e4, np.inf, -np.inf, np.nan]
    if dtype != "float16":
        special += [3e38, -3e38]
    pairs[: len(special), 0] = special[:n]
    pairs[3 : 3 + len(special), 1] = special[: max(0, n - 3)]
    pairs = pairs.astype(np.float16 if dtype == "float16" else np.float32)
    return pairs.view(np.complex64)[:, 0].astype(dtype) if dtype.startswith("complex") else pairs


def make_noise(rng, n, form="n0"):
    noise = (10 ** rng.uniform(-4, 1, n)).astype(np.float32)
    special = [0, -1, np.nan, np.inf, -np.inf, 1e-38, 3e38, 1e-31, 2e12, 1e-12, 1e12, 1, 0.5, -0.0, 1e-45]
    noise[5:20] = special[: max(0, n - 5)]
    return noise if form == "n0" else np.where(noise > 1e-3, np.float32(1) / np.maximum(noise, np.float32(1e-3)), noise)


def make_gain(rng, n):
    gain = (10 ** rng.uniform(-2, 2, n)).astype(np.float32)
    special = [0, -1, np.nan, np.inf, -np.inf, 2.0**-41, 2.0**41, 1e-45, 3e38, 1, -0.0, 2.0**-40, 2.0**40]
    gain[15:28] = special[: max(0, n - 15)]
    return gain


def assert_bytes(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    got, expected = (np.ascontiguousarray(a).view(f"u{a.itemsize}").reshape(-1) for a in (got, expected))
    wrong = np.flatnonzero(got != expected)
    assert len(wrong) == 0, f"{len(wrong)} wrong, first at {wrong[0]}: {got[wrong[0]]:x}, not {expected[wrong[0]]:x}"
