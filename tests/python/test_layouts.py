# SPDX-License-Identifier: MIT
"""Arrays of any layout, soft buffers too: the bytes of contiguous ones, codeword by codeword. Signals end a large call."""
import os
import signal

import numpy as np
import pytest
from calls import Call, arrange, disguise
from symbols import assert_bytes, make_symbols

import softqam

SANITIZED = "SOFTQAM_SANITIZED" in os.environ


@pytest.mark.parametrize("seed", range(10 if SANITIZED else 100))
def test_random_calls(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        call = Call(rng)
        expected = call.expected()
        for _ in range(3):
            arrays = [None if array is None else disguise(rng, arrange(rng, array)) for array in (call.symbols, call.noise, call.gain)]
            assert_bytes(call(*arrays), expected)
        if "codeword" in call.options:  # in the caller's soft buffers, some of a larger array's
            room = np.full((*(2 * n for n in call.batch), expected.shape[-2] + 2, 120), 55, expected.dtype)
            buffers = room[(*(slice(None, None, 2) for _ in call.batch), slice(1, -1), slice(10, 110))]
            buffers[...] = 0  # what a part leaves to others
            assert call(*arrays, soft_buffers=buffers) is buffers
            assert_bytes(buffers, expected)
            assert np.count_nonzero(room == 55) >= room.size - buffers.size


def test_many_rows(rng):
    """More codewords than the library gets at once, and long code blocks."""
    symbols = make_symbols(rng, 91000)
    for shape, options in (((13000, 7), {"c_init": 77, "first_symbol": 40}), ((13000, 7), {"modulation": "pi2-bpsk"}), ((1, 91000), {"planes": 70000})):
        got = softqam.demodulate(np.asfortranarray(symbols.reshape(shape)), noise_var=0.1, **options)
        for row in (0, shape[0] // 2 | 1, shape[0] - 1)[: shape[0]]:
            assert_bytes(got[row], softqam.demodulate(symbols.reshape(shape)[row].copy(), noise_var=0.1, **options))


def test_core_reads_usual_arrays(rng, monkeypatch):
    """NumPy's defaults, complex128 and float64, and arrays of any strides are read by the core: quickly."""
    symbols, noise = make_symbols(rng, 300).astype(complex), rng.uniform(0.05, 0.2, 300)
    expected = softqam.demodulate(symbols[::-3].astype(np.complex64), noise_var=noise[::3].astype(np.float32), gain=1)
    for name in ("as_array", "usual_symbols", "usual_floats"):
        monkeypatch.delattr(softqam._arrays, name)
    assert_bytes(softqam.demodulate(symbols[::-3], noise_var=noise[::3], gain=np.float64(1)), expected)
    assert_bytes(softqam.demodulate(symbols[::-3].reshape(-1, 1), noise_var=noise[::3, None], gain=np.array(1.0)), expected.reshape(100, -1))


def test_lists(rng):
    symbols = make_symbols(rng, 50)
    expected = softqam.demodulate(symbols, noise_var=0.1)
    assert_bytes(softqam.demodulate(symbols.astype(complex).tolist(), noise_var=[0.1] * 50), expected)
    assert_bytes(softqam.demodulate([1e300 + 0j], noise_var=0.1), np.zeros(8, np.int8))


class Stopped(Exception):
    """Raised by the signal's handler."""


@pytest.mark.parametrize("copied", [False, True])
def test_signals_end_a_large_call(copied):
    """Between parts of it: what comes later in `out` is not written."""
    n = 1 << 26
    symbols = np.broadcast_to(np.complex64(0.5 + 0.5j), n) if copied else np.full((n, 2), 90, np.int8)
    out = np.zeros(n, np.int8)

    def stop(number, frame):
        if out[0] != 0:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Stopped):
            signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
            softqam.Demodulator("bpsk", threads=1)(symbols, 0.1, out=out)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert out[0] != 0 and out[-1] == 0
