# SPDX-License-Identifier: MIT
"""PyTorch's tensors by DLPack's C exchange API, without a GPU: tensors of the CPU, in memory that the fake CUDA runtime
knows, whose type says that they are on GPU 0. SOFTQAM_FAKE_CUDA says that the package is linked with that runtime."""
import ctypes
import gc
import os
import sys

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_noise, make_symbols

import softqam
from softqam import _gpu

if "SOFTQAM_FAKE_CUDA" not in os.environ:
    pytest.skip("not with the fake CUDA runtime", allow_module_level=True)
torch = pytest.importorskip("torch")
if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    pytest.skip(f"PyTorch {torch.__version__} has no C exchange API, which 2.10 has", allow_module_level=True)
import fake_gpu
from fake_gpu import Stream, synchronize

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
of_torch = fake_gpu.ExchangeAPI.from_address(
    pointer_of(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
)


@fake_gpu.DescribeArray
def describe(array, tensor):
    result = of_torch.describe(array, tensor)
    assert tensor[0].device_type == 1
    tensor[0].device_type = 2
    return result


api = fake_gpu.ExchangeAPI(
    of_torch.major, of_torch.minor, None, (ctypes.c_void_p * 3)(), describe, fake_gpu.current_stream
)


class OnGpu(torch.Tensor):
    is_cuda = True
    __torch_function__ = torch._C._disabled_torch_function_impl
    __dlpack_c_exchange_api__ = api.capsule()


def to_gpu(array):
    array = np.asarray(array)
    memory = fake_gpu.to_gpu(array)
    tensor = torch.from_numpy(memory.host).as_subclass(OnGpu)
    tensor.memory = memory
    return tensor


class Library(_gpu._Torch):
    """PyTorch's, but for what asks its CUDA."""

    def __init__(self):
        super().__init__()
        self.array_type = OnGpu
        _gpu.describe_in_c(self)

    def device_of(self, array):
        return 0 if isinstance(array, OnGpu) else None

    def on_device(self, device):
        return _gpu._NOTHING

    def current_stream(self, device):
        return fake_gpu.Library.current

    def empty(self, shape, dtype, device):
        return to_gpu(np.empty(shape, dtype))

    def number(self, value, device):
        return to_gpu(np.full((), value, np.float32))

    def is_capturing(self):
        return False


@pytest.fixture(autouse=True)
def library(monkeypatch):
    monkeypatch.setattr(_gpu, "in_c", {})
    monkeypatch.setitem(_gpu.LIBRARIES, "torch", Library)
    monkeypatch.setattr(fake_gpu.Library, "current", Stream().ptr)
    _gpu._library_named.cache_clear()
    _gpu._library_of_type.cache_clear()
    _gpu._library_named("torch")
    assert OnGpu in _gpu.in_c and torch.Tensor in _gpu.in_c
    yield
    _gpu._library_named.cache_clear()
    _gpu._library_of_type.cache_clear()


@pytest.fixture
def only_in_c(monkeypatch):
    """Fails where a call goes another way."""
    monkeypatch.delattr(_gpu, "demodulate")
    monkeypatch.delattr(_gpu._Torch, "capsule")


def on_gpu(view):
    return view.as_subclass(OnGpu)


def result_of(array):
    synchronize()
    return array.numpy().copy()


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("output", reference.DTYPES)
def test_bytes_are_those_of_host_memory(rng, only_in_c, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    for noise in [None] if output == "u8" else [make_noise(rng, 600).reshape(3, 200), np.full((3, 1), 0.1, np.float32), 0.1]:
        expected = softqam.demodulate(symbols, noise_var=noise, output=output)
        on_device = to_gpu(noise) if isinstance(noise, np.ndarray) else noise
        got = softqam.demodulate(to_gpu(symbols), noise_var=on_device, output=output)
        assert type(got) is OnGpu and got.shape == expected.shape
        assert_bytes(result_of(got), expected)


def test_views(rng, only_in_c):
    symbols, noise = make_symbols(rng, 600).reshape(20, 30), make_noise(rng, 600).reshape(20, 30)
    of_symbols, of_noise = to_gpu(symbols), to_gpu(noise)
    for view in (
        lambda a: a[::3, 1::2],
        lambda a: a[5:9],
        lambda a: a[:, 7],
        lambda a: a[3, 4:5],
        lambda a: a[0:0],
        lambda a: a[:, 0:0],
        lambda a: a.T,
        lambda a: a[2].reshape(5, 6)[:, None],
    ):
        expected = softqam.demodulate(view(symbols), noise_var=view(noise))
        got = softqam.demodulate(on_gpu(view(of_symbols)), noise_var=on_gpu(view(of_noise)))
        assert_bytes(result_of(got), expected)
    expanded = on_gpu(of_noise[0, 0].expand(20, 30))
    for n0 in (expanded, on_gpu(of_noise[0, 0])):
        got = softqam.demodulate(of_symbols, noise_var=n0)
        assert_bytes(result_of(got), softqam.demodulate(symbols, noise_var=float(noise[0, 0])))
    planes = to_gpu(np.stack([symbols.real, symbols.imag]))
    got = softqam.demodulate(on_gpu(planes.movedim(0, -1)), noise_var=of_noise)
    assert_bytes(result_of(got), softqam.demodulate(symbols, noise_var=noise))


def test_out_with_an_offset(rng, only_in_c):
    symbols = make_symbols(rng, 20)
    whole = to_gpu(np.full(400, 99, np.int8))
    out = on_gpu(whole[80:240])
    assert softqam.demodulate(to_gpu(symbols), noise_var=0.1, out=out) is out
    got = result_of(whole)
    assert_bytes(got[80:240], softqam.demodulate(symbols, noise_var=0.1))
    assert (got[:80] == 99).all() and (got[240:] == 99).all()


def test_all_arguments(rng, only_in_c):
    symbols, noise = make_symbols(rng, 600).reshape(3, 2, 100), make_noise(rng, 600).reshape(3, 2, 100)
    arguments = {"c_init": [1, 2, 3], "first_symbol": 6, "layers": 2, "planes": 50}
    got = softqam.demodulate(to_gpu(symbols), noise_var=to_gpu(noise), **arguments)
    assert_bytes(result_of(got), softqam.demodulate(symbols, noise_var=noise, **arguments))


def test_what_dlpack_cannot_say(rng):
    """C does not take it: a call goes the other way, where PyTorch refuses it in its own words."""
    symbols, noise, out = to_gpu(make_symbols(rng, 4)), to_gpu(np.ones(4, np.float32)), to_gpu(np.zeros(32, np.float32))
    negative = on_gpu(on_gpu(to_gpu(np.zeros(32, np.complex64)).conj()).imag)
    assert negative.is_neg()
    demodulator = softqam.Demodulator(output="f32")
    library = _gpu.in_c[OnGpu]

    def in_c(symbols=symbols, noise_var=noise, out=out):
        return demodulator._core.device_of_library(library, symbols, noise_var, (None, 0, None, None, None, False), out)

    assert in_c() is out
    for wrong, words in [
        ({"symbols": on_gpu(symbols.conj())}, "conjugate"),
        ({"symbols": on_gpu(symbols.clone().requires_grad_())}, "gradient"),
        ({"noise_var": on_gpu(noise.clone().requires_grad_())}, "gradient"),
        ({"noise_var": on_gpu(negative[:4])}, "negative"),
        ({"out": on_gpu(out.clone().requires_grad_())}, None),
        ({"out": negative}, None),
        ({"symbols": symbols.to_sparse()}, None),
        ({"noise_var": noise.to_sparse()}, None),
        ({"noise_var": torch.nn.Parameter(noise.as_subclass(torch.Tensor))}, None),
    ]:
        assert in_c(**wrong) is None
        if words:
            with pytest.raises((BufferError, ValueError), match=words):
                demodulator(**{"symbols": symbols, "noise_var": noise, "out": out, **wrong})
    conjugate = to_gpu(symbols.conj().resolve_conj().numpy())
    assert in_c(conjugate) is out
    assert_bytes(result_of(out), softqam.demodulate(symbols.numpy().conj(), noise_var=noise.numpy(), output="f32"))


def test_wrong_calls_name_the_argument(rng):
    symbols = to_gpu(make_symbols(rng, 12).reshape(4, 3))
    for wrong, words in [
        ({"symbols": to_gpu(np.zeros((4, 3)))}, r"symbols is dtype 2 .* of shape \(4, 3\)"),
        ({"symbols": to_gpu(np.zeros((4, 3), np.int16))}, r"symbols is int16 of shape \(4, 3\)"),
        ({"symbols": on_gpu(symbols[0].expand(4, 3)[:, :1].expand(4, 3))}, r"symbols is complex64 .*contiguous"),
        ({"noise_var": to_gpu(np.ones((3, 3), np.float32))}, r"noise_var is float32 of shape \(3, 3\)"),
        ({"noise_var": to_gpu(np.ones(3))}, r"noise_var is dtype 2"),
        ({"noise_var": torch.ones(3)}, "noise_var is .*host memory"),
        ({"noise_var": None}, "noise_var is missing"),
        ({"out": to_gpu(np.zeros((4, 24), np.uint8))}, r"out is uint8 of shape \(4, 24\)"),
        ({"out": to_gpu(np.zeros((4, 24), np.int16))}, "out is int16 .*: this output is int8"),
        ({"output": "s16", "out": to_gpu(np.zeros((4, 24), np.float16))}, "out is float16 .*: this output is int16"),
        ({"output": "f16", "out": to_gpu(np.zeros((4, 24), np.int16))}, "out is int16 .*: this output is float16"),
        ({"out": to_gpu(np.zeros((4, 23), np.int8))}, r"out is int8 of shape \(4, 23\)"),
        ({"out": on_gpu(to_gpu(np.zeros((8, 24), np.int8))[::2])}, "out is int8 .*contiguous"),
        ({"out": torch.zeros((4, 24), dtype=torch.int8)}, "out is"),
        ({"out": on_gpu(symbols.view(torch.int8))}, "out overlaps symbols"),
        ({"c_init": -1}, "c_init"),
        ({"layers": 2}, "symbols is complex64"),
    ]:
        arguments = {"symbols": symbols, "noise_var": 0.1, **wrong}
        with pytest.raises((TypeError, ValueError), match=words):
            softqam.demodulate(arguments.pop("symbols"), **arguments)


def test_tensors_in_host_memory(rng):
    """Those come back as NumPy's, though C describes their type too."""
    values, noise = make_symbols(rng, 30), make_noise(rng, 30)
    expected = softqam.demodulate(values, noise_var=noise)
    got = softqam.demodulate(torch.from_numpy(values), noise_var=torch.from_numpy(noise))
    assert type(got) is np.ndarray
    assert_bytes(got, expected)
    with pytest.raises(TypeError, match="symbols is Tensor"):
        softqam.demodulate(torch.from_numpy(values).conj(), noise_var=0.1)
    with pytest.raises(TypeError, match="symbols is Tensor"):
        softqam.demodulate(torch.from_numpy(values).to_sparse(), noise_var=0.1)


def test_no_reference_is_kept(rng):
    symbols, noise, out = to_gpu(make_symbols(rng, 1)), to_gpu(np.ones(1, np.float32)), to_gpu(np.zeros(8, np.int8))
    for arguments in ({"out": out}, {}, {"out": symbols}):
        gc.collect()
        before = [sys.getrefcount(thing) for thing in (symbols, noise, out, OnGpu, None)]
        for k in range(5000):
            try:
                softqam.demodulate(symbols, noise_var=noise, **arguments)
            except TypeError:
                assert arguments.get("out") is symbols
            if k % 500 == 0:
                synchronize()
        synchronize()
        gc.collect()
        after = [sys.getrefcount(thing) for thing in (symbols, noise, out, OnGpu, None)]
        assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)
