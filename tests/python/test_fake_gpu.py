# SPDX-License-Identifier: MIT
"""Arrays on a GPU, as far as no GPU is needed: what is passed on, in which order, on which stream, and what is refused.
SOFTQAM_FAKE_CUDA says that the package is linked with the fake CUDA runtime."""
import contextlib
import ctypes
import gc
import itertools
import os
import re
import sys
import weakref

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_noise, make_symbols

import softqam
from softqam import _gpu

if "SOFTQAM_FAKE_CUDA" not in os.environ:
    pytest.skip("not with the fake CUDA runtime", allow_module_level=True)
import fake_gpu
from fake_gpu import Array, Library, Stream, empty, synchronize, to_gpu


@pytest.fixture(autouse=True, params=["capsules", "exchange API"])
def library(request, monkeypatch):
    """How the library describes its arrays."""
    monkeypatch.setitem(_gpu.LIBRARIES, "fake_gpu", Library)
    monkeypatch.setattr(Library, "current", Stream().ptr)
    monkeypatch.setattr(_gpu, "in_c", {})
    if request.param == "exchange API":
        _gpu.describe_in_c(_gpu._library_named("fake_gpu"))
        assert Array in _gpu.in_c
    _gpu._in_flight.clear()
    yield
    gc.collect()
    assert fake_gpu.exports == {}


def result_of(array):
    synchronize()
    return array.host.copy()


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("output", reference.DTYPES)
def test_bytes_are_those_of_host_memory(rng, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    noise = None if output == "u8" else make_noise(rng, 600).reshape(3, 200)
    expected = softqam.demodulate(symbols, noise_var=noise, output=output)
    got = softqam.demodulate(to_gpu(symbols), noise_var=None if noise is None else to_gpu(noise), output=output)
    assert type(got) is Array and got.shape == expected.shape
    assert_bytes(result_of(got), expected)


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


@pytest.mark.parametrize("options", [{}, {"c_init": 9, "first_symbol": 6}, {"planes": 24}])
def test_layers_and_rows(rng, options):
    """Interleaved, some of more, in planes; rows that are one run of symbols and rows with gaps."""
    codewords, noise = make_symbols(rng, 720).reshape(3, 80, 3), make_noise(rng, 720).reshape(3, 80, 3)

    def transposed(array, *axes):
        return Array(array.host.transpose(axes), array.memory, array.device)

    def arrangements(array):
        yield transposed(to_gpu(array), 0, 2, 1)
        yield to_gpu(np.ascontiguousarray(array.transpose(0, 2, 1)))
        yield transposed(to_gpu(np.concatenate([array, array], axis=2)), 0, 2, 1)[:, :3]
        yield transposed(to_gpu(np.concatenate([array, array], axis=1)), 0, 2, 1)[..., :80]

    expected = softqam.demodulate(codewords.transpose(0, 2, 1), noise_var=noise.transpose(0, 2, 1), layers=3, **options)
    for s in arrangements(codewords):
        for n0 in (*arrangements(noise), to_gpu(noise[:, :1, :].transpose(0, 2, 1))):
            got = result_of(softqam.demodulate(s, noise_var=n0, layers=3, **options))
            if n0.shape[-1] == 80:
                assert_bytes(got, expected)
            else:
                assert_bytes(got, softqam.demodulate(s.host.copy(), noise_var=n0.host.copy(), layers=3, **options))


@pytest.mark.parametrize("output", reference.LLRS)
def test_soft_buffers(rng, output):
    """New ones, and a retransmission in the caller's; rows with gaps."""
    codeword = softqam.Codeword(720, "64qam", 3, 4, 200, 30, 100, 40)
    symbols, noise = make_symbols(rng, 120).reshape(3, 40), make_noise(rng, 120).reshape(3, 40)
    options = {"output": output, "c_init": 5, "codeword": codeword}
    expected = softqam.demodulate(symbols, "64qam", noise, **options)
    got = softqam.demodulate(to_gpu(symbols), "64qam", to_gpu(noise), **options)
    assert type(got) is Array
    assert_bytes(result_of(got), expected)
    room = to_gpu(np.zeros((4, 256), expected.dtype))
    room.host[:, 16:216] = expected
    again = room[:, 16:216]
    softqam.demodulate(symbols, "64qam", noise, soft_buffers=expected, combine=True, **options)
    assert softqam.demodulate(to_gpu(symbols), "64qam", to_gpu(noise), soft_buffers=again, combine=True, **options) is again
    assert_bytes(result_of(again), expected)
    assert not room.host[:, :16].any() and not room.host[:, 216:].any()


def test_wrong_soft_buffers(rng):
    codeword = softqam.Codeword(240, "qpsk", 1, 2, 200)
    symbols, noise = to_gpu(make_symbols(rng, 120)), to_gpu(make_noise(rng, 120))
    for wrong, error, words in [
        ([to_gpu(np.zeros(200, np.int8))] * 2, TypeError, "soft_buffers is a list: on a GPU it takes one array"),
        (to_gpu(np.zeros((2, 201), np.int8)), ValueError, r"soft_buffers is .*\(2, 200\)"),
        (to_gpu(np.zeros((2, 200), np.int16)), TypeError, "this output is int8"),
    ]:
        with pytest.raises((error, ValueError), match=words):
            softqam.demodulate(symbols, "qpsk", noise, codeword=codeword, soft_buffers=wrong)


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
    for output, dtype in itertools.permutations(reference.LLRS, 2):
        yield {"output": output, "out": gpu((4, 24), reference.DTYPES[dtype])}, "out is .*: this output is"
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
    for wrong in ("0.1", b"0.1", True, np.True_, np.ma.masked, np.ma.masked_array(np.ones(3), mask=True)):
        with pytest.raises(TypeError, match="noise_var is"):
            softqam.demodulate(good, noise_var=wrong)
    # What was never taken out of its capsule.
    fake_gpu.exports.clear()


@pytest.mark.parametrize("backend", ["cpu", "CUDA", "auto"])
def test_backend_is_of_host_arrays(rng, backend):
    """An array on a GPU is demodulated there whatever the backend is."""
    values = make_symbols(rng, 100)
    demodulator = softqam.Demodulator(backend=backend)
    got = demodulator(to_gpu(values), 0.1)
    assert isinstance(got, Array)
    assert_bytes(result_of(got), softqam.demodulate(values, noise_var=0.1))
    assert_bytes(demodulator(values, 0.1), softqam.demodulate(values, noise_var=0.1))
    assert demodulator.backend == backend.lower()


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


def test_numbers_are_the_nearest_that_float32_has(rng):
    values = make_symbols(rng, 20)
    for number in (1e-300, 1e300, 3, -1.0, float("inf"), np.float64(0.1), np.float32(0.1)):
        got = softqam.demodulate(to_gpu(values), noise_var=number)
        assert_bytes(result_of(got), softqam.demodulate(values, noise_var=float(number)))
    with pytest.raises(ValueError, match="noise_var"):
        softqam.demodulate(to_gpu(values), noise_var=10**400)


def test_what_c_does_not_describe_goes_by_capsules(rng, monkeypatch):
    class Derived(Array):
        pass

    def on_gpu(kind=Array):
        return to_gpu(values, kind=kind), to_gpu(noise, kind=kind), empty((80,), np.int8, kind=kind)

    values, noise = make_symbols(rng, 10), make_noise(rng, 10)
    expected = softqam.demodulate(values, noise_var=noise)
    for k in range(3):
        arrays = list(on_gpu())
        arrays[k] = on_gpu(Derived)[k]
        assert_bytes(result_of(softqam.demodulate(arrays[0], noise_var=arrays[1], out=arrays[2])), expected)
        assert arrays[k].streams == [-1]
        arrays = on_gpu()
        arrays[k].plain = False
        assert_bytes(result_of(softqam.demodulate(arrays[0], noise_var=arrays[1], out=arrays[2])), expected)
        assert arrays[k].streams == [-1]


def test_versions_of_the_exchange_api(library):
    def library_of(capsule):
        kind = type("Kind", (), {} if capsule is None else {"__dlpack_c_exchange_api__": capsule})
        return softqam._core.ArrayLibrary(kind, bool, bool, bool)

    def table(major, minor, previous=None, describe=fake_gpu.describe, current_stream=fake_gpu.current_stream):
        tables.append(fake_gpu.ExchangeAPI(major, minor, None, (ctypes.c_void_p * 3)(), describe, current_stream))
        tables[-1].previous = previous and ctypes.addressof(previous)
        return tables[-1]

    tables = []
    for good in (table(1, 2), table(1, 9), table(2, 0, table(1, 3)), table(3, 0, table(2, 1, table(1, 3)))):
        library_of(good.capsule())
    none = [fake_gpu.DescribeArray(), fake_gpu.CurrentStream()]
    bad = [table(0, 9), table(2, 0), table(3, 0, table(2, 0)), table(2, 0, table(0, 9)), table(1, 3, None, none[0]),
           table(1, 3, None, fake_gpu.describe, none[1])]  # fmt: skip
    for capsule in (None, 0, 1, "text", table(1, 3).capsule(b"dltensor"), *(t.capsule() for t in bad)):
        with pytest.raises(TypeError, match="exchange API"):
            library_of(capsule)


class Refused(Exception):
    """The library's own error."""


def test_errors_of_the_library(monkeypatch):
    """What its functions raise comes out, and nothing is left behind."""

    class Refusing(Array):
        def __bool__(self):
            raise Refused

    # Returns -1 for such an array, with its error set.
    refusing = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, fake_gpu.DescribeArray)
    api = fake_gpu.ExchangeAPI(1, 3, None, (ctypes.c_void_p * 3)(), refusing, fake_gpu.current_stream)
    Refusing.__dlpack_c_exchange_api__ = api.capsule()
    symbols, out = empty((10,), "c8", kind=Refusing), empty((80,), "i1", kind=Refusing)

    def raises(*arguments):
        raise Refused

    for plain in (lambda array: True, raises):
        _gpu.in_c[Refusing] = softqam._core.ArrayLibrary(Refusing, plain, raises, raises)
        with pytest.raises(Refused):
            softqam.demodulate(symbols, noise_var=0.1, out=out)
    for function in ("number", "empty"):
        monkeypatch.setattr(Library, function, raises)
        if Array in _gpu.in_c:
            _gpu.describe_in_c(Library())
        noise = 0.1 if function == "number" else to_gpu(np.ones(1, np.float32))
        with pytest.raises(Refused):
            softqam.demodulate(to_gpu(np.ones(7, np.complex64)), noise_var=noise)


def test_no_reference_is_kept(rng):
    symbols, noise, out = to_gpu(make_symbols(rng, 1)), to_gpu(np.ones(1, np.float32)), empty((8,), np.int8)
    shared = (symbols, noise, out, Array, None, np.int8)
    for arguments in ({"out": out}, {}, {"out": empty((9,), np.int8)}):
        for n in (10, 1000):
            before = [sys.getrefcount(thing) for thing in shared]
            for _ in range(n):
                with contextlib.suppress(ValueError):
                    softqam.demodulate(symbols, noise_var=noise, **arguments)
            synchronize()
            gc.collect()
            after = [sys.getrefcount(thing) for thing in shared]
        assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)
