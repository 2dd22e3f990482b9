# SPDX-License-Identifier: MIT
"""Arrays on a GPU: the bytes of host memory in any layout, what is refused, and that nothing is kept. With whatever array library
there is; with SOFTQAM_FAKE_CUDA, which says that the package is linked with the fake CUDA runtime, with arrays of that."""
import contextlib
import gc
import itertools
import os
import re
import sys

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu

if "SOFTQAM_FAKE_CUDA" in os.environ:
    from fake_gpu import gpu  # noqa: F401
else:
    from real_gpu import gpu  # noqa: F401


@pytest.fixture
def only_in_c(gpu, monkeypatch):
    """Fails where a call of described arrays goes another way."""
    if gpu.Array in _gpu.in_c:
        monkeypatch.delattr(_gpu, "demodulate")


@pytest.mark.parametrize("dtype, output", [*itertools.product(["complex64", "int8"], reference.DTYPES), ("float32", "s8"), ("float16", "f16"),
                                           ("int16", "s16")])  # fmt: skip
def test_bytes_are_those_of_host_memory(rng, gpu, only_in_c, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    arrays, numbers = [make_noise(rng, 600).reshape(3, 200), np.full((3, 1), 0.1, np.float32)], [0.1, 1e-300, 1e300, 3, -1.0, np.inf]
    for noise in [None] if output == "u8" else [*arrays, *numbers, np.float64(0.1)]:
        expected = softqam.demodulate(symbols, noise_var=noise, output=output)
        on_gpu = gpu.to_gpu(noise) if isinstance(noise, np.ndarray) else noise
        got = softqam.demodulate(gpu.to_gpu(symbols), noise_var=on_gpu, output=output)
        assert type(got) is gpu.Array and got.shape == expected.shape
        assert_bytes(gpu.result_of(got), expected)


# Of symbols, and of noise.
VIEWS = [
    (lambda a: a[::3, 1::2], lambda a: a[::3, 0::2]),
    (lambda a: a[5:9], lambda a: a[5:9, 0:1]),
    *((view, view) for view in (lambda a: a[:, 7], lambda a: a[3, 4:5], lambda a: a[0:0], lambda a: a[:, 0:0], lambda a: a.T,
                                lambda a: a[2].reshape(5, 6)[:, None])),
]  # fmt: skip


def test_views_and_broadcast_noise(rng, gpu, only_in_c):
    symbols, noise = make_symbols(rng, 600).reshape(20, 30), make_noise(rng, 600).reshape(20, 30)
    on_gpu, noise_on_gpu = gpu.to_gpu(symbols), gpu.to_gpu(noise)
    reversed_rows = [(lambda a: a[19::-4], lambda a: a[0:1])] if gpu.has_negative_strides else []
    for view, noise_view in VIEWS + reversed_rows:
        got = softqam.demodulate(gpu.view(on_gpu, view), noise_var=gpu.view(noise_on_gpu, noise_view))
        assert_bytes(gpu.result_of(got), softqam.demodulate(view(symbols), noise_var=noise_view(noise)))
    one = gpu.view(noise_on_gpu, lambda a: a[0, 0:1].reshape(()))
    for n0 in (one, gpu.expand(one, (20, 30))):
        got = softqam.demodulate(on_gpu, noise_var=n0)
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=float(noise[0, 0])))
    apart = gpu.view(gpu.to_gpu(np.stack([symbols.real, symbols.imag])), lambda a: a.swapaxes(0, 1).swapaxes(1, 2))
    got = softqam.demodulate(apart, noise_var=noise_on_gpu)
    assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=noise))


def test_gains(rng, gpu):
    """One stride for them and the noise: any that both have; a number becomes as many."""
    symbols, noise, gains = (make(rng, 600).reshape(20, 30) for make in (make_symbols, make_noise, make_gain))
    arrays = [gpu.to_gpu(array) for array in (symbols, noise, gains)]
    for view in (*(view for view, _ in VIEWS), lambda a: a[0:1, 3:4]):
        got = softqam.demodulate(gpu.view(arrays[0], view), noise_var=gpu.view(arrays[1], view), gain=gpu.view(arrays[2], view))
        assert_bytes(gpu.result_of(got), softqam.demodulate(view(symbols), noise_var=view(noise), gain=view(gains)))
    for n0, gain in ((noise, 0.5), (0.1, gains), (0.1, 0.5), (0.1, gains[0]), (0.1, np.float64(2)), (noise[:, :1], gains[:, :1])):
        on_gpu = (gpu.to_gpu(floats) if isinstance(floats, np.ndarray) else floats for floats in (n0, gain))
        got = softqam.demodulate(arrays[0], noise_var=next(on_gpu), gain=next(on_gpu))
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=n0, gain=gain))
    for n0, gain in ((arrays[1], gpu.view(arrays[2], lambda a: a[:1, :1])), (gpu.to_gpu(noise[0]), gpu.to_gpu(gains[:, :1]))):
        with pytest.raises(ValueError, match="^gain is float32 of shape .*strides of noise_var"):
            softqam.demodulate(arrays[0], noise_var=n0, gain=gain)


@pytest.mark.parametrize("options", [{}, {"c_init": 9, "first_symbol": 6}, {"c_init": [1, 2, 3]}, {"planes": 24}])
def test_layers_and_rows(rng, gpu, only_in_c, options):
    """Interleaved, some of more, in planes; rows that are one run of symbols and rows with gaps; gains in layers."""
    codewords, noise, gains = (make(rng, 720).reshape(3, 80, 3) for make in (make_symbols, make_noise, make_gain))

    def arrangements(array):
        wide, long = (np.concatenate([array, array], axis=axis) for axis in (2, 1))
        yield gpu.view(gpu.to_gpu(array), lambda a: a.swapaxes(1, 2))
        yield gpu.to_gpu(np.ascontiguousarray(array.swapaxes(1, 2)))
        yield gpu.view(gpu.to_gpu(wide), lambda a: a.swapaxes(1, 2)[:, :3])
        yield gpu.view(gpu.to_gpu(long), lambda a: a.swapaxes(1, 2)[..., :80])

    in_layers, noise_in_layers, gains_in_layers = (array.swapaxes(1, 2) for array in (codewords, noise, gains))
    of_layers = noise_in_layers[..., :1]
    calls = [(noise_in_layers, None), (of_layers, None), (noise_in_layers, gains_in_layers)]
    expected = [softqam.demodulate(in_layers, noise_var=n0, gain=gain, layers=3, **options) for n0, gain in calls]
    for s in arrangements(codewords):
        for n0, gain in zip(arrangements(noise), arrangements(gains)):
            assert_bytes(gpu.result_of(softqam.demodulate(s, noise_var=n0, layers=3, **options)), expected[0])
            assert_bytes(gpu.result_of(softqam.demodulate(s, noise_var=n0, gain=gain, layers=3, **options)), expected[2])
        assert_bytes(gpu.result_of(softqam.demodulate(s, noise_var=gpu.to_gpu(of_layers), layers=3, **options)), expected[1])


def test_out_with_an_offset(rng, gpu, only_in_c):
    symbols, whole = make_symbols(rng, 20), gpu.to_gpu(np.full(400, 99, np.int8))
    out = gpu.view(whole, lambda a: a[80:240])
    assert softqam.demodulate(gpu.to_gpu(symbols), noise_var=0.1, out=out) is out
    got = gpu.result_of(whole)
    assert_bytes(got[80:240], softqam.demodulate(symbols, noise_var=0.1))
    assert (got[:80] == 99).all() and (got[240:] == 99).all()


def test_soft_buffers(rng, gpu):
    """New ones, and a retransmission in the caller's; rows with gaps."""
    codeword = softqam.Codeword(720, "64qam", 3, 4, 200, 30, 100, 40)
    symbols, noise = make_symbols(rng, 120).reshape(3, 40), make_noise(rng, 120).reshape(3, 40)
    options = {"output": "f16", "c_init": 5, "codeword": codeword}
    expected = softqam.demodulate(symbols, "64qam", noise, **options)
    on_gpu = gpu.to_gpu(symbols), "64qam", gpu.to_gpu(noise)
    got = softqam.demodulate(*on_gpu, **options)
    assert type(got) is gpu.Array
    assert_bytes(gpu.result_of(got), expected)
    room = np.zeros((4, 256), expected.dtype)
    room[:, 16:216] = expected
    room = gpu.to_gpu(room)
    again = gpu.view(room, lambda a: a[:, 16:216])
    softqam.demodulate(symbols, "64qam", noise, soft_buffers=expected, combine=True, **options)
    assert softqam.demodulate(*on_gpu, soft_buffers=again, combine=True, **options) is again
    got = gpu.result_of(room)
    assert_bytes(got[:, 16:216], expected)
    assert not got[:, :16].any() and not got[:, 216:].any()


def wrong_calls(rng, gpu):
    """Arguments, and what the message has."""
    good, memory, rows = gpu.to_gpu(make_symbols(rng, 12).reshape(4, 3)), gpu.empty((8, 24), "i1"), gpu.empty((8, 3), "f4")
    for dtype, shape in (("c16", (3, 2)), ("u1", (3, 2)), ("f4", (3,)), ("i1", (4, 3)), ("c8", ())):
        yield {"symbols": gpu.empty(shape, dtype)}, "symbols is"
    yield {"symbols": gpu.expand(gpu.view(good, lambda a: a[:, :1]), (4, 3))}, "symbols is complex64 .*contiguous"
    for name in ("noise_var", "gain"):
        yield {name: gpu.empty((2, 4, 3), "f4")}, f"{name} is float32.*broadcast"
        yield {name: gpu.empty((4, 3), "f8")}, f"{name} is"
        yield from (({name: thing}, f"{name} is") for thing in (np.ones((4, 3), np.float32), [1, 2], object(), "0.1", True, 10**400, np.ma.masked))
        yield {name: gpu.view(rows, lambda a: a[4:]), "out": gpu.view(rows, lambda a: a.view(gpu.int8).reshape(4, 24))}, f"out overlaps {name}"
    yield from (({"out": thing}, "out is") for thing in (np.zeros((4, 24), np.int8), object()))
    yield from (({"out": gpu.empty(shape, dtype)}, "out is u?int8 of shape") for shape, dtype in (((4, 24), "u1"), ((4, 23), "i1"), ((), "i1")))
    yield {"out": gpu.view(memory, lambda a: a[::2])}, "out is int8 .*contiguous"
    yield {"symbols": good, "out": gpu.view(good, lambda a: a.view(gpu.int8))}, "out overlaps symbols"
    codeword = softqam.Codeword(24, "qpsk", 1, 2, 200)
    for wrong, words in [([gpu.empty(200, "i1")] * 2, "soft_buffers is a list: on a GPU it takes one array"),
                         (gpu.empty((2, 201), "i1"), r"soft_buffers is .*\(2, 200\)"), (gpu.empty((2, 200), "i2"), "this output is int8")]:  # fmt: skip
        yield {"symbols": gpu.empty(12, "c8"), "noise_var": 0.1, "modulation": "qpsk", "codeword": codeword, "soft_buffers": wrong}, words
    yield {"noise_var": None}, "noise_var is missing"
    yield {"output": "u8"}, "noise_var"
    if gpu.has_negative_strides:
        yield {"noise_var": gpu.view(rows, lambda a: a[:4, ::-1])}, "noise_var is.*contiguous"


def test_wrong_calls(rng, gpu):
    good, noise = gpu.to_gpu(make_symbols(rng, 12).reshape(4, 3)), gpu.to_gpu(np.ones((4, 3), np.float32))
    for wrong, words in wrong_calls(rng, gpu):
        arguments = {"symbols": good, "noise_var": noise, **wrong}
        try:
            softqam.demodulate(arguments.pop("symbols"), **arguments)
        except (TypeError, ValueError) as error:
            assert re.search(words, str(error)), error
        else:
            raise AssertionError(f"accepted: {wrong}")


def test_no_reference_is_kept(rng, gpu):
    symbols, noise, out = gpu.to_gpu(make_symbols(rng, 1)), gpu.to_gpu(np.ones(1, np.float32)), gpu.empty((8,), np.int8)
    shared = (symbols, noise, out, gpu.Array, None, np.int8)
    for arguments in ({"out": out}, {}, {"out": gpu.empty((9,), np.int8)}, {"out": symbols}):
        for n in (10, 1000):
            before = [sys.getrefcount(thing) for thing in shared]
            for _ in range(n):
                with contextlib.suppress(TypeError, ValueError):
                    softqam.demodulate(symbols, noise_var=noise, **arguments)
            gpu.result_of(out)
            gc.collect()
            after = [sys.getrefcount(thing) for thing in shared]
        assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)
