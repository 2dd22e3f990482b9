# SPDX-License-Identifier: MIT
"""Arrays on a GPU, as far as no GPU is needed: what is passed on, in which order, on which stream, and what is refused.
SOFTQAM_FAKE_CUDA says that the package is linked with the fake CUDA runtime."""
import gc
import os
import re
import weakref

import numpy as np
import pytest
from symbols import assert_bytes, make_noise, make_symbols

import softqam
from softqam import _gpu

if "SOFTQAM_FAKE_CUDA" not in os.environ:
    pytest.skip("not with the fake CUDA runtime", allow_module_level=True)
import fake_gpu
from fake_gpu import Library, Stream, empty, synchronize, to_gpu


@pytest.fixture(autouse=True)
def library(monkeypatch):
    monkeypatch.setitem(_gpu.LIBRARIES, "fake_gpu", Library)
    monkeypatch.setattr(Library, "current", Stream().ptr)
    _gpu._in_flight.clear()
    yield
    gc.collect()
    assert fake_gpu.exports == {}


def result_of(array):
    synchronize()
    return array.host.copy()


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("output", ["u8", "s8", "f16", "f32"])
def test_bytes_are_those_of_host_memory(rng, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    noise = None if output == "u8" else make_noise(rng, 600).reshape(3, 200)
    expected = softqam.demodulate(symbols, noise_var=noise, output=output)
    got = softqam.demodulate(to_gpu(symbols), noise_var=None if noise is None else to_gpu(noise), output=output)
    assert type(got) is fake_gpu.Array and got.shape == expected.shape
    assert_bytes(result_of(got), expected)


def test_returns_before_the_stream_has_passed(rng):
    symbols = make_symbols(rng, 300)
    expected = softqam.demodulate(symbols, noise_var=0.1)
    on_gpu, noise, out = to_gpu(symbols), to_gpu(np.float32(0.1)), to_gpu(np.full(2400, 99, np.int8))
    assert softqam.demodulate(on_gpu, noise_var=noise, out=out) is out
    assert (out.host == 99).all()
    assert_bytes(result_of(out), expected)


def test_views_and_broadcast_noise(rng):
    symbols, noise = make_symbols(rng, 600), make_noise(rng, 600)
    on_gpu, noise_on_gpu = to_gpu(symbols.reshape(20, 30)), to_gpu(noise.reshape(20, 30))
    for view, noise_view in [
        ((slice(None, None, 3), slice(1, None, 2)), (slice(None, None, 3), slice(0, None, 2))),
        ((slice(5, 9), slice(None)), (slice(5, 9), slice(0, 1))),
        ((slice(19, None, -4), slice(None)), (slice(0, 1), slice(None))),
        ((slice(0, 0),), (slice(0, 0),)),
    ]:
        expected = softqam.demodulate(symbols.reshape(20, 30)[view], noise_var=noise.reshape(20, 30)[noise_view])
        got = softqam.demodulate(on_gpu[view], noise_var=noise_on_gpu[noise_view])
        assert_bytes(result_of(got), expected)


def test_streams(rng):
    symbols, noise, out = to_gpu(make_symbols(rng, 10)), to_gpu(np.float32(0.1)), to_gpu(np.zeros(80, np.int8))
    other = Stream()

    class OfTorch:
        cuda_stream = other.ptr

    class OfCuda:
        def __cuda_stream__(self):
            return 0, other.ptr

    for stream, seen in [(None, -1), (Library.current, -1), (other, other.ptr), (OfTorch(), other.ptr),
                         (OfCuda(), other.ptr), (other.ptr, other.ptr), (0, 1)]:  # fmt: skip
        softqam.demodulate(symbols, noise_var=noise, out=out, stream=stream)
        assert [a.streams.pop() for a in (symbols, noise, out)] == [seen] * 3
    for wrong in ("stream", 1.5, object()):
        with pytest.raises(TypeError, match="stream"):
            softqam.demodulate(symbols, noise_var=noise, stream=wrong)
    synchronize()


def test_arrays_live_until_another_stream_has_passed(rng, monkeypatch):
    symbols, other = to_gpu(make_symbols(rng, 10)), Stream()
    alive = weakref.ref(symbols)
    softqam.demodulate(symbols, noise_var=to_gpu(np.float32(0.1)))
    assert len(_gpu._in_flight) == 0
    out = weakref.ref(softqam.demodulate(symbols, noise_var=to_gpu(np.float32(0.1)), stream=other))
    del symbols
    gc.collect()
    assert alive() is not None and out() is not None
    monkeypatch.setattr(Library, "has_passed", True)
    softqam.demodulate(to_gpu(make_symbols(rng, 1)), noise_var=0.1, stream=other)
    gc.collect()
    assert alive() is None and out() is None
    synchronize()


def test_numbers_are_kept_for_their_stream(rng, monkeypatch):
    symbols = to_gpu(make_symbols(rng, 10))
    expected = softqam.demodulate(symbols.host.copy(), noise_var=0.123)
    before = Library.numbers
    for _ in range(3):
        assert_bytes(result_of(softqam.demodulate(symbols, noise_var=0.123)), expected)
    assert Library.numbers == before + 1
    monkeypatch.setattr(Library, "capturing", True)
    softqam.demodulate(symbols, noise_var=np.float64(0.123))
    assert Library.numbers == before + 2
    synchronize()


def test_libraries_whose_arrays_are_not_written(rng, monkeypatch):
    values = make_symbols(rng, 50)
    symbols = to_gpu(values, kind=fake_gpu.Foreign)
    with pytest.raises(TypeError, match="foreign.*out="):
        softqam.demodulate(symbols, noise_var=0.1)
    out = empty((400,), np.int8)
    assert softqam.demodulate(symbols, noise_var=0.1, out=out) is out
    assert symbols.streams == [Library.current] and len(_gpu._in_flight) == 1
    assert_bytes(result_of(out), softqam.demodulate(values, noise_var=0.1))
    with pytest.raises(TypeError, match="foreign.*out="):
        softqam.demodulate(symbols, noise_var=0.1, out=empty((400,), np.int8, kind=fake_gpu.Foreign))


def wrong_calls(rng):
    """Arguments, and what the message has."""
    good = to_gpu(make_symbols(rng, 12).reshape(4, 3))
    noise = to_gpu(np.ones((4, 3), np.float32))
    overlapping = good[:]
    overlapping.host = good.host.view(np.int8).reshape(4, 24)

    def gpu(shape, dtype, device=0):
        return empty(shape, dtype, device)

    for dtype in ("c16", "f8", "i4", "u1", "i8"):
        yield {"symbols": gpu((3, 2), dtype)}, "symbols is"
    for dtype, shape in (("f4", (3,)), ("i1", (4, 3)), ("i2", ()), ("c8", ())):
        yield {"symbols": gpu(shape, dtype)}, "symbols is"
    yield {"symbols": gpu((4, 3), "c8")[:, ::-1]}, "contiguous"
    yield {"symbols": gpu((4, 3), "c8", 1), "noise_var": noise}, "noise_var is float32.*GPU 0"
    for shape in ((3, 3), (2, 4, 3), (5,)):
        yield {"noise_var": gpu(shape, "f4")}, "noise_var is float32.*broadcast"
    for dtype in ("f8", "f2", "i4", "c8"):
        yield {"noise_var": gpu((4, 3), dtype)}, "noise_var is"
    yield {"noise_var": gpu((4, 3), "f4")[:, ::-1]}, "noise_var is.*contiguous"
    for thing in (np.ones((4, 3), np.float32), [1, 2], "x", object()):
        yield {"noise_var": thing}, "noise_var is"
    for thing in (np.zeros((4, 24), np.int8), "x", object(), np.zeros(3)):
        yield {"out": thing}, "out is"
    for shape, dtype in (((4, 24), "u1"), ((4, 23), "i1"), ((96,), "i1"), ((), "i1")):
        yield {"out": gpu(shape, dtype)}, "out is"
    yield {"out": gpu((8, 24), "i1")[::2]}, "out is.*contiguous"
    yield {"out": gpu((4, 24), "i1", 1)}, "out is.*GPU 1"
    yield {"symbols": good, "out": overlapping}, "out overlaps"
    for name in ("layers", "planes", "first_symbol", "c_init"):
        for value in ("x", -1, 1.5, 2**70):
            yield {name: value}, name
    yield {"noise_var": None}, "noise_var"
    yield {"output": "u8"}, "noise_var"


def test_wrong_calls(rng):
    good = to_gpu(make_symbols(rng, 12).reshape(4, 3))
    noise = to_gpu(np.ones((4, 3), np.float32))
    for wrong, words in wrong_calls(rng):
        arguments = {"symbols": good, "noise_var": noise, **wrong}
        try:
            softqam.demodulate(arguments.pop("symbols"), **arguments)
        except (TypeError, ValueError) as error:
            assert re.search(words, str(error)), error
        else:
            raise AssertionError(f"accepted: {wrong}")
    with pytest.raises(ValueError, match='backend="cpu"'):
        softqam.Demodulator(backend="cpu")(good, noise)
    # What was never taken out of its capsule.
    fake_gpu.exports.clear()


def test_second_device(rng):
    values = make_symbols(rng, 100)
    got = softqam.demodulate(to_gpu(values, 1), noise_var=0.1, stream=0)
    fake_gpu.check(fake_gpu.cuda.cudaSetDevice(1))
    synchronize()
    fake_gpu.check(fake_gpu.cuda.cudaSetDevice(0))
    assert got.device == 1
    assert_bytes(got.host.copy(), softqam.demodulate(values, noise_var=0.1))
