# SPDX-License-Identifier: MIT
"""Arrays on a GPU, as far as the fake CUDA runtime is needed: what is passed on, in which order, on which stream."""
import ctypes
import gc
import itertools
import weakref

import fake_gpu
import numpy as np
import pytest
from fake_gpu import Array, Library, Stream, empty, gpu, result_of, synchronize, to_gpu  # noqa: F401
from symbols import assert_bytes, make_noise, make_symbols

import softqam
from softqam import _gpu


def test_returns_before_the_stream_has_passed(rng):
    symbols = make_symbols(rng, 300)
    expected = softqam.demodulate(symbols, noise_var=0.1)
    on_gpu, noise, out = to_gpu(symbols), to_gpu(np.float32(0.1)), to_gpu(np.full(2400, 99, np.int8))
    for other in (Stream().handle, None):
        assert softqam.demodulate(on_gpu, noise_var=noise, out=out) is out
        fake_gpu.check(fake_gpu.cuda.cudaStreamSynchronize(other))
        assert (out.host == 99).all()
    fake_gpu.check(fake_gpu.cuda.cudaStreamSynchronize(ctypes.c_void_p(Library.current)))
    assert_bytes(out.host.copy(), expected)


def test_streams(rng):
    symbols, noise, out = to_gpu(make_symbols(rng, 10)), to_gpu(np.float32(0.1)), to_gpu(np.zeros(80, np.int8))
    other = Stream()

    class OfTorch:
        cuda_stream = other.ptr

    class OfCuda:
        def __cuda_stream__(self):
            return 0, other.ptr

    softqam.demodulate(symbols, noise_var=noise, out=out)
    assert [a.streams for a in (symbols, noise, out)] == ([[]] if Array in _gpu.in_c else [[-1]]) * 3
    for array in (symbols, noise, out):
        array.streams.clear()
    for stream, seen in [(Library.current, -1), (other, other.ptr), (OfTorch(), other.ptr), (OfCuda(), other.ptr),
                         (other.ptr, other.ptr), (0, 1)]:  # fmt: skip
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
    for number in (np.float64(0.123), np.float32(0.123)):
        assert_bytes(result_of(softqam.demodulate(symbols, noise_var=number)), expected)
    assert Library.numbers == before + 3


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


@pytest.mark.parametrize("backend, chosen", [("cpu", "cpu"), ("CUDA", "cuda"), ("auto", "cuda")])
def test_backend_is_of_host_arrays(rng, backend, chosen):
    """An array on a GPU is demodulated there whatever the backend is."""
    values = make_symbols(rng, 100)
    demodulator = softqam.Demodulator(backend=backend)
    got = demodulator(to_gpu(values), 0.1)
    assert isinstance(got, Array)
    assert_bytes(result_of(got), softqam.demodulate(values, noise_var=0.1))
    assert_bytes(demodulator(values, 0.1), softqam.demodulate(values, noise_var=0.1))
    assert demodulator.backend == chosen


@pytest.mark.parametrize("arguments", [{}, {"stream": 0}])
def test_second_device(rng, monkeypatch, arguments):
    monkeypatch.setattr(Library, "current", 0)
    values = make_symbols(rng, 100)
    got = softqam.demodulate(to_gpu(values, 1), noise_var=0.1, **arguments)
    fake_gpu.check(fake_gpu.cuda.cudaSetDevice(1))
    synchronize()
    fake_gpu.check(fake_gpu.cuda.cudaSetDevice(0))
    assert got.device == 1
    assert_bytes(got.host.copy(), softqam.demodulate(values, noise_var=0.1))
    good, noise = empty((4, 3), "c8"), empty((4, 3), "f4")
    for wrong, words in [
        ({"symbols": empty((4, 3), "c8", 1), "noise_var": noise}, "noise_var is float32.*GPU 0"),
        ({"gain": empty((4, 3), "f4", 1)}, "gain is float32.*GPU 1"),
        ({"out": empty((4, 24), "i1", 1)}, "out is.*GPU 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            softqam.demodulate(**{"symbols": good, "noise_var": noise, **wrong})


def test_what_c_does_not_describe_goes_by_capsules(rng, monkeypatch):
    class Derived(Array):
        pass

    def on_gpu(kind=Array):
        return to_gpu(values, kind=kind), to_gpu(noise, kind=kind), empty((80,), np.int8, kind=kind)

    values, noise = make_symbols(rng, 10), make_noise(rng, 10)
    expected = softqam.demodulate(values, noise_var=noise)
    for k, kind in itertools.product(range(3), (Array, Derived)):
        arrays = list(on_gpu())
        arrays[k] = on_gpu(kind)[k]
        arrays[k].plain = kind is Derived
        assert_bytes(result_of(softqam.demodulate(arrays[0], noise_var=arrays[1], out=arrays[2])), expected)
        assert arrays[k].streams == [-1]
