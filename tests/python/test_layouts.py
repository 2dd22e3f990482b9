# SPDX-License-Identifier: MIT
"""Arrays of any layout: the bytes of contiguous ones, at no more than the cost of a copy."""
import itertools
import os
import signal
import time

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from symbols import DTYPES, assert_bytes, make_gain, make_noise, make_symbols

import softqam

SANITIZED = "SOFTQAM_SANITIZED" in os.environ
ROWS, COLUMNS = 700, 130


def wide(array, before=1, after=2):
    """The same in the middle of longer rows."""
    around = np.zeros((*array.shape[:-1], before + array.shape[-1] + after), array.dtype)
    around[..., before : before + array.shape[-1]] = array
    return around[..., before : before + array.shape[-1]]


def unaligned(array):
    """And read-only."""
    return np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)


def in_records(array):
    records = np.zeros(array.shape, [("before", "i1"), ("value", array.dtype), ("after", "i2")])
    records["value"] = array
    return records["value"]


# Views of symbols, and of noise variances.
VIEWS = {
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "negative": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "in longer rows": wide,
    "every third": lambda a: np.repeat(a, 3, axis=1)[:, ::3],
    "axes of length 1": lambda a: a[None, :, None, :, None],
    "rows of 1": lambda a: wide(a.reshape(-1, 1)),
    "short rows transposed": lambda a: np.ascontiguousarray(a.reshape(-1, 5).T).T,
    "many axes": lambda a: np.ascontiguousarray(a.reshape(7, 10, 10, 13, 10).transpose(3, 0, 4, 1, 2)).transpose(1, 3, 4, 0, 2),
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "unaligned": unaligned,
    "in records": in_records,
}


def array_of(rng, dtype):
    """[ROWS, COLUMNS] of complex numbers; of pairs as well, as a record, so that views of it are like those of noise."""
    symbols = make_symbols(rng, ROWS * COLUMNS, dtype)
    return (symbols.view([("iq", dtype, (2,))]) if symbols.ndim == 2 else symbols).reshape(ROWS, COLUMNS)


def as_symbols(array):
    return array["iq"] if array.dtype.names else array


def contiguous(array):
    return np.ascontiguousarray(array, np.complex64 if array.dtype == complex else None)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_views(rng, dtype, view):
    symbols, noise = array_of(rng, dtype), make_noise(rng, ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    expected = softqam.demodulate(contiguous(as_symbols(symbols)), noise_var=noise)
    symbols_view, noise_view = VIEWS[view](symbols), VIEWS[view](noise)
    n = 8 * symbols_view.shape[-1]
    same_symbols = symbols.reshape(symbols_view.shape)
    for s, n0 in ((symbols_view, noise_view), (symbols_view, noise.reshape(noise_view.shape)), (same_symbols, noise_view),
                  (symbols_view, noise_view.astype(float, copy=False)), (symbols_view, VIEWS[view](noise.astype(float)))):  # fmt: skip
        got = softqam.demodulate(as_symbols(s), noise_var=n0)
        assert got.shape == (*symbols_view.shape[:-1], n)
        assert_bytes(got.reshape(expected.shape), expected)


@pytest.mark.parametrize("dtype", DTYPES[2:])
def test_i_and_q_apart(rng, dtype):
    pairs = make_symbols(rng, ROWS * COLUMNS, dtype).reshape(ROWS, COLUMNS, 2)
    expected = softqam.demodulate(pairs, noise_var=0.1)
    for axis in (0, 1):
        assert_bytes(softqam.demodulate(np.moveaxis(np.moveaxis(pairs, -1, axis).copy(), axis, -1), noise_var=0.1), expected)
    swapped = pairs[..., ::-1].copy()
    assert_bytes(softqam.demodulate(swapped[..., ::-1], noise_var=0.1), expected)


@pytest.mark.parametrize("with_gain", [False, True])
def test_floats_broadcast(rng, with_gain):
    """Noise and gains along any axes, with and without leading ones; the library has one stride for both."""
    shape = (7, 10, 130)
    symbols, noise, gains = (make(rng, int(np.prod(shape))).reshape(shape) for make in (make_symbols, make_noise, make_gain))
    others = (noise, noise[:1, :, :1], noise[0, 0], np.float32(0.1)) if with_gain else (None,)
    for kept, n0 in itertools.product(itertools.product((1, None), repeat=3), others):
        part = (gains if with_gain else noise)[tuple(map(slice, kept))]
        short = part.reshape(part.shape[next((k for k, length in enumerate(part.shape) if length > 1), 3) :])

        def call(s, floats, n0=n0):
            return softqam.demodulate(s, noise_var=n0, gain=floats) if with_gain else softqam.demodulate(s, noise_var=floats)

        whole = np.broadcast_to(part, shape)
        expected = call(symbols, whole.copy(), np.broadcast_to(n0, shape).copy() if with_gain else None)
        for s in (symbols, VIEWS["transposed"](symbols), wide(symbols), symbols.astype(complex)):
            for floats in (part, short, whole, part.astype(float), VIEWS["transposed"](part), unaligned(part)):
                assert_bytes(call(s, floats), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_views(rng, dtype):
    """Strides of every kind within a buffer, 0 among them: the bytes of a copy, and nothing outside is read."""
    buffer, noise_buffer = array_of(rng, dtype).reshape(-1)[:500].copy(), make_noise(rng, 500)
    for _ in range(300):
        shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))

        def view(array):
            steps = [int(rng.integers(0, 8)) * (-1) ** int(rng.integers(0, 4) == 0) for _ in shape]
            first = sum((length - 1) * max(0, -step) for length, step in zip(shape, steps))
            return as_strided(array[first:], shape, [step * array.itemsize for step in steps])

        symbols, noise = view(buffer), view(noise_buffer)
        expected = softqam.demodulate(contiguous(as_symbols(symbols)), noise_var=np.ascontiguousarray(noise))
        assert_bytes(softqam.demodulate(as_symbols(symbols), noise_var=noise), expected)


def test_lists(rng):
    symbols = make_symbols(rng, 50)
    expected = softqam.demodulate(symbols, noise_var=0.1)
    assert_bytes(softqam.demodulate(symbols.astype(complex).tolist(), noise_var=[0.1] * 50), expected)
    assert_bytes(softqam.demodulate([1e300 + 0j], noise_var=0.1), np.zeros(8, np.int8))


CODEWORDS = {
    "descrambled": {"c_init": 77, "first_symbol": 40},
    "code blocks": {"planes": 1000, "c_init": 99},
    "long code blocks": {"planes": 70000},
    "odd rows": {"modulation": "pi2-bpsk", "first_symbol": 3},
}


@pytest.mark.parametrize("name", CODEWORDS)
@pytest.mark.parametrize("shape", [(ROWS, COLUMNS), (13000, 7)])
def test_place_in_the_codeword(rng, name, shape):
    """A row is a codeword, even if there are more rows than the library gets at once."""
    symbols, noise = array_of(rng, "complex64").reshape(shape), make_noise(rng, ROWS * COLUMNS).reshape(shape)
    expected = softqam.demodulate(symbols, noise_var=noise, **CODEWORDS[name])
    row = shape[0] // 2 | 1
    assert_bytes(expected[row], softqam.demodulate(symbols[row].copy(), noise_var=noise[row].copy(), **CODEWORDS[name]))
    for view in (symbols.astype(complex), symbols[..., ::-1].copy()[..., ::-1], wide(symbols), np.asfortranarray(symbols)):
        for n0 in (noise, noise.astype(float), np.asfortranarray(noise)):
            assert_bytes(softqam.demodulate(view, noise_var=n0, **CODEWORDS[name]), expected)


def arrangements(array):
    """[codeword, symbol, layer] as [codeword, layer, symbol] in memory of several orders."""
    interleaved = array.transpose(0, 2, 1)
    return [
        interleaved,
        np.ascontiguousarray(interleaved),
        wide(array).transpose(0, 2, 1),
        wide(interleaved),
        np.ascontiguousarray(interleaved[:, ::-1])[:, ::-1],
        np.ascontiguousarray(array.transpose(2, 0, 1)).transpose(1, 0, 2),
    ][: 2 if SANITIZED else 6]


@pytest.mark.parametrize("layers", [2, 3, 4])
@pytest.mark.parametrize("options", [{"c_init": 5, "first_symbol": 12}, {"planes": 120}, {"c_init": 5, "codeword": (3, 90000, 100, 20, 30)}])
def test_layers(rng, layers, options):
    """Layers in planes, interleaved, some of many, of several codewords give what the symbols in codeword order give. A codeword
    of one layer stands for that order, with code blocks of the same lengths."""
    n = 9000
    one_layer, options = options, {**options, "layers": layers}
    if "codeword" in options:
        codewords = [softqam.Codeword(n * layers * 8, "256qam", of, *options["codeword"]) for of in (1, layers)]
        one_layer, options = ({**each, "codeword": codeword} for each, codeword in zip((one_layer, options), codewords))
    codewords = make_symbols(rng, 2 * n * layers).reshape(2, n, layers)
    noise, gains = (make(rng, codewords.size).reshape(codewords.shape) for make in (make_noise, make_gain))
    in_order = [array.reshape(2, -1) for array in (codewords, noise, gains)]
    expected = softqam.demodulate(in_order[0], noise_var=in_order[1], **one_layer)
    with_gains = softqam.demodulate(in_order[0], noise_var=in_order[1], gain=in_order[2], **one_layer)
    of_layers = np.full((layers, 1), 0.1, np.float32)
    of_layers[-1] = 0.02
    whole = np.broadcast_to(of_layers[:, 0], codewords.shape)
    with_noise_of_layers = softqam.demodulate(in_order[0], noise_var=whole.reshape(2, -1), **one_layer)
    for k, s in enumerate([*arrangements(codewords), codewords.transpose(0, 2, 1).astype(complex)]):
        for n0 in [*arrangements(noise), noise.transpose(0, 2, 1).astype(float)]:
            assert_bytes(softqam.demodulate(s, noise_var=n0, **options), expected)
            for gain in arrangements(gains)[k % 2 :: 2]:
                assert_bytes(softqam.demodulate(s, noise_var=n0, gain=gain, **options), with_gains)
        assert_bytes(softqam.demodulate(s, noise_var=of_layers, **options), with_noise_of_layers)


def seconds(function):
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


SLOW_ONCE = {
    "axis of 1": lambda s, n: (s[:, None], n[:, None]),
    "short rows": lambda s, n: (wide(s.reshape(-1, 4)), wide(n.reshape(-1, 4))),
    "noise of short rows": lambda s, n: (s.reshape(-1, 4), n[:16384, None]),
    "transposed": lambda s, n: (s.reshape(4, -1).T, n.reshape(4, -1).T),
    "strided": lambda s, n: (np.repeat(s, 5)[::5], n),
}


@pytest.mark.skipif(SANITIZED, reason="copies are slow with a sanitizer in them")
@pytest.mark.parametrize("name", SLOW_ONCE)
def test_no_layout_is_slow(rng, name):
    """Contiguous symbols and the copy, or twice that; a segment a row costs 10 to 60 times what contiguous symbols do."""
    symbols, noise = np.resize(make_symbols(rng, 1000)[30:], 65536), np.full(65536, 0.01, np.float32)
    demodulator, out = softqam.Demodulator(threads=1), np.empty(8 * 65536, np.int8)
    plain = seconds(lambda: demodulator(symbols, noise, out=out))
    view, of_noise = SLOW_ONCE[name](symbols, noise)
    out = out.reshape(*view.shape[:-1], -1)
    copies = seconds(lambda: (view.copy(), np.broadcast_to(of_noise, view.shape).copy()))
    assert seconds(lambda: demodulator(view, of_noise, out=out)) < 2 * (plain + copies)


class Stopped(Exception):
    """What the signal's handler raises."""


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
