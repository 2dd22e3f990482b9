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
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu

if "SOFTQAM_FAKE_CUDA" not in os.environ:
    pytest.skip("not with the fake CUDA runtime", allow_module_level=True)
import fake_gpu
from fake_gpu import Array, Library, Stream, empty, result_of, synchronize, to_gpu

# How a library describes its arrays.
KINDS = ["capsules", "exchange API", "PyTorch"]
of_array = pytest.mark.parametrize("gpu", KINDS[:2], indirect=True)
of_torch = pytest.mark.parametrize("gpu", KINDS[2:], indirect=True)


@pytest.fixture(autouse=True, params=KINDS)
def gpu(request, monkeypatch):
    """The module with such arrays."""
    of_pytorch = request.param == "PyTorch"
    module = __import__("fake_torch" if of_pytorch else "fake_gpu")
    name = "torch" if of_pytorch else "fake_gpu"
    monkeypatch.setitem(_gpu.LIBRARIES, name, module.Library)
    monkeypatch.setattr(Library, "current", Stream().ptr)
    monkeypatch.setattr(_gpu, "in_c", {})
    for function in (_gpu._library_named, _gpu._library_of_type):
        function.cache_clear()
    library = _gpu._library_named(name)
    if request.param == "exchange API":
        _gpu.describe_in_c(library)
    assert (module.Array in _gpu.in_c) == (request.param != "capsules")
    _gpu._in_flight.clear()
    yield module
    for function in (_gpu._library_named, _gpu._library_of_type, _gpu._kept_number):
        function.cache_clear()
    gc.collect()
    assert fake_gpu.exports == {}


@pytest.fixture
def only_in_c(gpu, monkeypatch):
    """Fails where a call of described arrays goes another way."""
    if gpu.Array in _gpu.in_c:
        monkeypatch.delattr(_gpu, "demodulate")


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("output", reference.DTYPES)
def test_bytes_are_those_of_host_memory(rng, gpu, only_in_c, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    for noise in [None] if output == "u8" else [make_noise(rng, 600).reshape(3, 200), np.full((3, 1), 0.1, np.float32), 0.1]:
        expected = softqam.demodulate(symbols, noise_var=noise, output=output)
        on_gpu = gpu.to_gpu(noise) if isinstance(noise, np.ndarray) else noise
        got = softqam.demodulate(gpu.to_gpu(symbols), noise_var=on_gpu, output=output)
        assert type(got) is gpu.Array and got.shape == expected.shape
        assert_bytes(gpu.result_of(got), expected)


# Of symbols, and of noise.
VIEWS = [
    (lambda a: a[::3, 1::2], lambda a: a[::3, 0::2]),
    (lambda a: a[5:9], lambda a: a[5:9, 0:1]),
    *((view, view) for view in (
        lambda a: a[::3, 1::2], lambda a: a[:, 7], lambda a: a[3, 4:5], lambda a: a[0:0], lambda a: a[:, 0:0], lambda a: a.T,
        lambda a: a[2].reshape(5, 6)[:, None],
    )),
]  # fmt: skip


def test_views_and_broadcast_noise(rng, gpu, only_in_c):
    symbols, noise = make_symbols(rng, 600).reshape(20, 30), make_noise(rng, 600).reshape(20, 30)
    on_gpu, noise_on_gpu = gpu.to_gpu(symbols), gpu.to_gpu(noise)
    reversed_rows = [(lambda a: a[19::-4], lambda a: a[0:1])] if gpu.Array is Array else []  # PyTorch has none
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
    numbers = [(noise, 0.5), (0.1, gains), (0.1, 0.5), (0.1, gains[0]), (0.1, np.float64(2))]
    if gpu.Array is not Array:
        numbers.clear()  # C does not take them, and here PyTorch makes no capsules
    for n0, gain in (*numbers, (noise[:, :1], gains[:, :1])):
        on_gpu = (gpu.to_gpu(floats) if isinstance(floats, np.ndarray) else floats for floats in (n0, gain))
        got = softqam.demodulate(arrays[0], noise_var=next(on_gpu), gain=next(on_gpu))
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=n0, gain=gain))
    for of_layers in (lambda a: a.swapaxes(0, 1)[None, :3], lambda a: a[:3], lambda a: a.reshape(200, 3).swapaxes(0, 1)):
        views = [gpu.view(array, of_layers) for array in arrays]
        got = softqam.demodulate(views[0], noise_var=views[1], gain=views[2], layers=3)
        expected = softqam.demodulate(of_layers(symbols), noise_var=of_layers(noise), gain=of_layers(gains), layers=3)
        assert_bytes(gpu.result_of(got), expected)
    got = softqam.demodulate(views[0], noise_var=gpu.to_gpu(noise[1, :1]), gain=gpu.to_gpu(gains[:3, :1]), layers=3)
    assert_bytes(gpu.result_of(got), softqam.demodulate(of_layers(symbols), noise_var=noise[1, :1], gain=gains[:3, :1], layers=3))
    for n0, gain in ((arrays[1], gpu.view(arrays[2], lambda a: a[:1, :1])), (gpu.to_gpu(noise[0]), gpu.to_gpu(gains[:, :1]))):
        with pytest.raises(ValueError, match="^gain is float32 of shape .*strides of noise_var"):
            softqam.demodulate(arrays[0], noise_var=n0, gain=gain)


@pytest.mark.parametrize("options", [{}, {"c_init": 9, "first_symbol": 6}, {"c_init": [1, 2, 3]}, {"planes": 24}])
def test_layers_and_rows(rng, gpu, only_in_c, options):
    """Interleaved, some of more, in planes; rows that are one run of symbols and rows with gaps."""
    codewords, noise = make_symbols(rng, 720).reshape(3, 80, 3), make_noise(rng, 720).reshape(3, 80, 3)

    def arrangements(array):
        wide, long = (np.concatenate([array, array], axis=axis) for axis in (2, 1))
        yield gpu.view(gpu.to_gpu(array), lambda a: a.swapaxes(1, 2))
        yield gpu.to_gpu(np.ascontiguousarray(array.swapaxes(1, 2)))
        yield gpu.view(gpu.to_gpu(wide), lambda a: a.swapaxes(1, 2)[:, :3])
        yield gpu.view(gpu.to_gpu(long), lambda a: a.swapaxes(1, 2)[..., :80])

    in_layers, noise_in_layers = codewords.swapaxes(1, 2), noise.swapaxes(1, 2)
    of_layers = noise_in_layers[..., :1]
    expected, with_noise_of_layers = (softqam.demodulate(in_layers, noise_var=n0, layers=3, **options) for n0 in (noise_in_layers, of_layers))
    for s in arrangements(codewords):
        for n0 in arrangements(noise):
            assert_bytes(gpu.result_of(softqam.demodulate(s, noise_var=n0, layers=3, **options)), expected)
        got = softqam.demodulate(s, noise_var=gpu.to_gpu(of_layers), layers=3, **options)
        assert_bytes(gpu.result_of(got), with_noise_of_layers)


def test_out_with_an_offset(rng, gpu, only_in_c):
    symbols, whole = make_symbols(rng, 20), gpu.to_gpu(np.full(400, 99, np.int8))
    out = gpu.view(whole, lambda a: a[80:240])
    assert softqam.demodulate(gpu.to_gpu(symbols), noise_var=0.1, out=out) is out
    got = gpu.result_of(whole)
    assert_bytes(got[80:240], softqam.demodulate(symbols, noise_var=0.1))
    assert (got[:80] == 99).all() and (got[240:] == 99).all()


@of_array
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


@of_array
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
    again = fake_gpu.view(room, lambda host: host[:, 16:216])
    softqam.demodulate(symbols, "64qam", noise, soft_buffers=expected, combine=True, **options)
    assert softqam.demodulate(to_gpu(symbols), "64qam", to_gpu(noise), soft_buffers=again, combine=True, **options) is again
    assert_bytes(result_of(again), expected)
    assert not room.host[:, :16].any() and not room.host[:, 216:].any()


@of_array
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


@of_array
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


@of_array
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


@of_array
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


def wrong_calls(rng, gpu):
    """Arguments, and what the message has."""
    good, noise, memory = gpu.to_gpu(make_symbols(rng, 12).reshape(4, 3)), gpu.empty((4, 3), "f4"), gpu.empty((8, 24), "i1")
    for dtype in ("c16", "f8", "i4", "u1", "i8"):
        yield {"symbols": gpu.empty((3, 2), dtype)}, r"symbols is .* of shape \(3, 2\)"
    for dtype, shape in (("f4", (3,)), ("i1", (4, 3)), ("i2", ()), ("c8", ())):
        yield {"symbols": gpu.empty(shape, dtype)}, "symbols is"
    yield {"symbols": gpu.expand(gpu.view(good, lambda a: a[:, :1]), (4, 3))}, "symbols is complex64 .*contiguous"
    floats = ("noise_var", "gain")
    for name, shape in itertools.product(floats, ((3, 3), (2, 4, 3), (5,))):
        yield {name: gpu.empty(shape, "f4")}, f"{name} is float32.*broadcast"
    for name, dtype in itertools.product(floats, ("f8", "f2", "i4", "c8")):
        yield {name: gpu.empty((4, 3), dtype)}, f"{name} is"
    for thing in (np.ones((4, 3), np.float32), [1, 2], "x", object(), "0.1", b"0.1", True, np.True_, np.ma.masked,
                  np.ma.masked_array(np.ones(3), mask=True)):  # fmt: skip
        yield from (({name: thing}, f"{name} is") for name in floats)
    for thing in (np.zeros((4, 24), np.int8), "x", object(), np.zeros(3)):
        yield {"out": thing}, "out is"
    for shape, dtype in (((4, 24), "u1"), ((4, 23), "i1"), ((96,), "i1"), ((), "i1")):
        yield {"out": gpu.empty(shape, dtype)}, "out is u?int8 of shape"
    for output, dtype in itertools.permutations(reference.LLRS, 2):
        yield {"output": output, "out": gpu.empty((4, 24), reference.DTYPES[dtype])}, "out is .*: this output is"
    yield {"out": gpu.view(memory, lambda a: a[::2])}, "out is int8 .*contiguous"
    yield {"symbols": good, "out": gpu.view(good, lambda a: a.view(gpu.int8))}, "out overlaps symbols"
    rows = gpu.empty((8, 3), "f4")
    for name in floats:
        yield {name: gpu.view(rows, lambda a: a[4:]), "out": gpu.view(rows, lambda a: a.view(gpu.int8).reshape(4, 24))}, f"out overlaps {name}"
    for name in ("layers", "planes", "first_symbol", "c_init"):
        for value in ("x", -1, 1.5, 2**70):
            yield {name: value}, name
    yield {"layers": 2}, "symbols is complex64"
    codeword = softqam.Codeword(24, "qpsk", 1, 2, 200)
    for wrong, words in [
        ([gpu.empty(200, "i1")] * 2, "soft_buffers is a list: on a GPU it takes one array"),
        (gpu.empty((2, 201), "i1"), r"soft_buffers is .*\(2, 200\)"),
        (gpu.empty((2, 200), "i2"), "this output is int8"),
    ]:
        if gpu.Array is Array:
            yield {"symbols": gpu.empty(12, "c8"), "noise_var": 0.1, "modulation": "qpsk", "codeword": codeword, "soft_buffers": wrong}, words
    yield {"noise_var": None}, "noise_var is missing"
    yield {"output": "u8"}, "noise_var"
    if gpu.Array is Array:  # PyTorch has no such strides, and here one GPU
        yield {"symbols": fake_gpu.view(good, lambda host: host[:, ::-1])}, "contiguous"
        yield {"noise_var": fake_gpu.view(noise, lambda host: host[:, ::-1])}, "noise_var is.*contiguous"
        yield {"symbols": empty((4, 3), "c8", 1), "noise_var": noise}, "noise_var is float32.*GPU 0"
        yield {"gain": empty((4, 3), "f4", 1)}, "gain is float32.*GPU 1"
        yield {"gain": fake_gpu.view(noise, lambda host: host[:, ::-1])}, "gain is.*strides"
        yield {"out": empty((4, 24), "i1", 1)}, "out is.*GPU 1"
    else:
        yield {"noise_var": gpu.torch.ones(3)}, "noise_var is .*host memory"
        yield {"out": gpu.torch.zeros((4, 24), dtype=gpu.int8)}, "out is"


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
    # What was never taken out of its capsule.
    fake_gpu.exports.clear()


@of_array
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


@of_array
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


@of_array
def test_numbers_are_the_nearest_that_float32_has(rng):
    values = make_symbols(rng, 20)
    for number in (1e-300, 1e300, 3, -1.0, float("inf"), np.float64(0.1), np.float32(0.1)):
        got = softqam.demodulate(to_gpu(values), noise_var=number)
        assert_bytes(result_of(got), softqam.demodulate(values, noise_var=float(number)))
    with pytest.raises(ValueError, match="noise_var"):
        softqam.demodulate(to_gpu(values), noise_var=10**400)


@of_array
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


@of_array
def test_versions_of_the_exchange_api():
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
    bad = [table(0, 9), table(2, 0), table(3, 0, table(2, 0)), table(2, 0, table(0, 9)),
           table(1, 3, describe=fake_gpu.DescribeArray()), table(1, 3, current_stream=fake_gpu.CurrentStream())]  # fmt: skip
    for capsule in (None, 0, 1, "text", table(1, 3).capsule(b"dltensor"), *(t.capsule() for t in bad)):
        with pytest.raises(TypeError, match="exchange API"):
            library_of(capsule)


class Refused(Exception):
    """The library's own error."""


@of_array
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
    for function in ("full", "empty"):
        monkeypatch.setattr(Library, function, raises)
        if Array in _gpu.in_c:
            _gpu.describe_in_c(Library())
        noise = 0.1 if function == "full" else to_gpu(np.ones(1, np.float32))
        with pytest.raises(Refused):
            softqam.demodulate(to_gpu(np.ones(7, np.complex64)), noise_var=noise)


def test_no_reference_is_kept(rng, gpu):
    symbols, noise, out = gpu.to_gpu(make_symbols(rng, 1)), gpu.to_gpu(np.ones(1, np.float32)), gpu.empty((8,), np.int8)
    shared = (symbols, noise, out, gpu.Array, None, np.int8)
    for arguments in ({"out": out}, {}, {"out": gpu.empty((9,), np.int8)}, {"out": symbols}):
        for n in (10, 1000):
            before = [sys.getrefcount(thing) for thing in shared]
            for _ in range(n):
                with contextlib.suppress(TypeError, ValueError):
                    softqam.demodulate(symbols, noise_var=noise, **arguments)
            synchronize()
            gc.collect()
            after = [sys.getrefcount(thing) for thing in shared]
        assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)


@of_torch
def test_what_dlpack_cannot_say(rng, gpu):
    """C does not take it: a call goes the other way, where PyTorch refuses it in its own words."""
    tensor = lambda other: gpu.view(other, lambda same: same)
    symbols, noise, out = gpu.to_gpu(make_symbols(rng, 4)), gpu.to_gpu(np.ones(4, np.float32)), gpu.to_gpu(np.zeros(32, np.float32))
    negative = tensor(tensor(gpu.to_gpu(np.zeros(32, np.complex64)).conj()).imag)
    assert negative.is_neg()
    demodulator = softqam.Demodulator(output="f32")
    library = _gpu.in_c[gpu.Array]

    def in_c(symbols=symbols, noise_var=noise, gain=None, out=out):
        return demodulator._core.device_of_library(library, symbols, noise_var, gain, (None, 0, None, None, None, False), out)

    assert in_c() is out
    for wrong, words in [
        ({"symbols": tensor(symbols.conj())}, "conjugate"),
        ({"symbols": tensor(symbols.clone().requires_grad_())}, "gradient"),
        ({"noise_var": tensor(noise.clone().requires_grad_())}, "gradient"),
        ({"noise_var": tensor(negative[:4])}, "negative"),
        ({"out": tensor(out.clone().requires_grad_())}, None),
        ({"out": negative}, None),
        ({"symbols": symbols.to_sparse()}, None),
        ({"noise_var": noise.to_sparse()}, None),
        ({"gain": tensor(noise.clone().requires_grad_())}, "gradient"),
        ({"gain": 0.5}, None),
        ({"noise_var": gpu.torch.nn.Parameter(noise.as_subclass(gpu.torch.Tensor))}, None),
    ]:
        assert in_c(**wrong) is None
        if words:
            with pytest.raises((BufferError, ValueError), match=words):
                demodulator(**{"symbols": symbols, "noise_var": noise, "out": out, **wrong})
    conjugate = gpu.to_gpu(symbols.conj().resolve_conj().numpy())
    assert in_c(conjugate) is out
    assert_bytes(gpu.result_of(out), softqam.demodulate(symbols.numpy().conj(), noise_var=noise.numpy(), output="f32"))


@of_torch
def test_tensors_in_host_memory(rng, gpu):
    """Those come back as NumPy's, though C describes their type too."""
    values, noise = make_symbols(rng, 30), make_noise(rng, 30)
    expected = softqam.demodulate(values, noise_var=noise)
    got = softqam.demodulate(gpu.torch.from_numpy(values), noise_var=gpu.torch.from_numpy(noise))
    assert type(got) is np.ndarray
    assert_bytes(got, expected)
    with pytest.raises(TypeError, match="symbols is Tensor"):
        softqam.demodulate(gpu.torch.from_numpy(values).conj(), noise_var=0.1)
    with pytest.raises(TypeError, match="symbols is Tensor"):
        softqam.demodulate(gpu.torch.from_numpy(values).to_sparse(), noise_var=0.1)
