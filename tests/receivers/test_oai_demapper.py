# SPDX-License-Identifier: MIT
"""libdemapper_softqam.so, loaded as OAI loads it: exact max-log of its inputs, by brute force in double; lengths and
alignments; what it leaves to OAI.

    test_oai_demapper.py LIBRARY
"""
import ctypes
import os
import sys
import unittest

try:
    import numpy as np
except ImportError as error:
    print(f"skipped, {error}")
    sys.exit(77)

LIBRARY = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL)
# By the bits of a symbol: the constellation's energy with odd levels; OAI's threshold is |h|^2 times this level over the
# energy's root; the slope of OAI's first bit.
ORDERS = {2: (2, 0, 1 / 16), 4: (10, 2, 1 / 16), 6: (42, 4, 1 / 16), 8: (170, 8, 1)}
random = np.random.default_rng(20240)


def demap(bits, z, thresholds, llrs):
    """Demaps complex int16 in rows of two, to the beginning of `llrs`."""
    pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
    return LIBRARY.demapper_compute_llr(pointer(z), pointer(thresholds), None, None, pointer(llrs), ctypes.c_uint32(len(z)), ctypes.c_uint8(3),
                                        ctypes.c_uint8(bits))  # fmt: skip


def levels_of(n):
    """The level of an axis for each label of n bits, b0 highest, and the labels' bits."""
    label_bits = np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1) & 1
    levels = np.zeros(2**n)
    for k in range(n):
        levels = (1 - 2 * label_bits[:, n - 1 - k]) * (2**k - levels)
    return levels, label_bits


def exact(bits, z, gain):
    """Max-log of each axis times what OAI's first bit has next to 0, and how far binary32 may be from it."""
    energy, _, slope = ORDERS[bits]
    levels, label_bits = levels_of(bits // 2)
    weight = gain * slope * np.sqrt(energy) / 4
    distances = (z / gain - levels[:, None, None] / np.sqrt(energy)) ** 2
    nearest = [[distances[label_bits[:, k] == bit].min(axis=0) for k in range(bits // 2)] for bit in (0, 1)]
    llrs = (np.array(nearest[1]) - nearest[0]) * weight
    slack = 2**-22 * (np.abs(z) / gain + 2) ** 2 * weight  # of distances that are far larger than the LLR
    return llrs.clip(-32767, 32767).transpose(1, 0, 2).reshape(len(z), bits), np.tile(slack, bits // 2)


def make_elements(n):
    """Gains of a fading channel, and symbols about its points and anywhere."""
    thresholds = np.repeat(random.integers(1, np.where(np.arange(n) % 3, 2001, 32768)), 2).reshape(n, 2)
    z, span = random.integers(-32768, 32768, (n, 2)), np.minimum(32767, 4 * thresholds)
    anywhere = (np.arange(n) % 5 == 0)[:, None]
    return np.where(anywhere, z, np.fmod(z, span)).astype(np.int16), thresholds.astype(np.int16)


class Demapper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for wrong in ("x", "0.5 ", "0,5", "5000", "", "nan"):
            os.environ["SOFTQAM_OAI_SCALE"] = wrong
            assert LIBRARY.demapper_init() == -1, wrong
        os.environ["SOFTQAM_OAI_SCALE"] = "1.0"
        assert LIBRARY.demapper_init() == LIBRARY.demapper_init() == LIBRARY.demapper_init_thread() == 0
        assert LIBRARY.demapper_shutdown
        assert not hasattr(LIBRARY, "softqam_demodulate"), "two copies in a process would meet"

    def test_values(self):
        """A million elements of each order, within half a step."""
        for bits, (energy, first_level, _) in ORDERS.items():
            for _ in range(20):
                z, thresholds = make_elements(50_000)
                thresholds[7:9] = (0, 0), (-5, 5)  # no channel: an erasure
                z[9, 0] = -32768
                llrs = np.empty((len(z), bits), np.int16)
                self.assertEqual(demap(bits, z, thresholds, llrs), 1)
                gain = np.ones((len(z), 1)) if bits == 2 else thresholds[:, :1] * np.sqrt(energy) / first_level
                expected, slack = exact(bits, z.astype(float), np.where(gain > 0, gain, 1))
                wrong = np.argwhere(np.abs(llrs - np.where(gain > 0, expected, 0)) > 0.5 + np.where(gain > 0, slack, 0))
                self.assertEqual(wrong[:9].tolist(), [], f"{bits} bits: [element, bit]")

    def test_lengths(self):
        """Every length that OAI's own test has, at every alignment, with nothing written beyond."""
        for bits in ORDERS:
            z, thresholds = make_elements(3300)
            llrs, out = np.empty(3300 * bits, np.int16), np.empty(3300 * bits + 40, np.int16)
            demap(bits, z, thresholds, llrs)
            for n in [*range(1000), *range(1000, 3300, 575), 3276]:
                gap, out[:] = n % 17, 0x5555
                self.assertEqual(demap(bits, z[:n], thresholds[:n], out[gap:]), 1)
                self.assertTrue(np.array_equal(out[gap : gap + n * bits], llrs[: n * bits]), (bits, n))
                self.assertTrue((out[:gap] == 0x5555).all() and (out[gap + n * bits :] == 0x5555).all(), (bits, n))

    def test_what_is_left_to_oai(self):
        z, llrs = np.zeros((16, 2), np.int16), np.full(128, 0x5555, np.int16)
        for bits in set(range(256)) - set(ORDERS):
            self.assertEqual(demap(bits, z, z, llrs), 0, bits)
        self.assertTrue((llrs == 0x5555).all())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
