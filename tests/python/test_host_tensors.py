# SPDX-License-Identifier: MIT
"""Arrays of PyTorch in host memory: read where they lie, and a tensor comes back. A stand-in for PyTorch is tested as well,
since that is not always there."""
import operator
import subprocess
import sys

import numpy as np
import pytest
from symbols import DTYPES, assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu


class StandIn:
    """What the package uses of a tensor, and that nobody makes an array of it in another way."""

    requires_grad = False

    def __init__(self, array):
        self.array = array

    @property
    def shape(self):
        return self.array.shape

    def __lt__(self, value):
        return StandIn(self.array < value)

    def char(self):
        return StandIn(self.array.view(np.int8))

    def __array__(self, *arguments, **options):
        raise AssertionError("converted by NumPy")

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError("it requires a gradient")
        return self.array


class Library:
    array_type = of_host = StandIn
    host_view = operator.methodcaller("numpy")

    def device_of(self, array):
        return None


@pytest.fixture(params=["stand-in", "torch"])
def tensor(request, monkeypatch):
    """Makes a tensor in an array's memory."""
    if request.param == "stand-in":
        monkeypatch.setitem(_gpu.LIBRARIES, __name__.partition(".")[0], Library)
        _gpu._library_of_type.cache_clear()
        return StandIn
    return pytest.importorskip("torch").from_numpy


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_come_back(rng, tensor, dtype):
    symbols, noise = make_symbols(rng, 60, dtype), make_noise(rng, 60)
    gains = make_gain(rng, 60)
    expected, with_gains = (softqam.demodulate(symbols, noise_var=noise, gain=gain, output="f16") for gain in (None, gains))
    for n0, gain, wanted in ((noise, None, expected), (tensor(noise.astype(float)), tensor(gains), with_gains)):
        got = softqam.demodulate(tensor(symbols), noise_var=n0, gain=gain, output="f16")
        assert type(got) is type(tensor(symbols))
        assert_bytes(got.numpy(), wanted)
    got = softqam.demodulate(symbols, noise_var=tensor(noise), output="f16")
    assert type(got) is np.ndarray
    assert_bytes(got, expected)
    if dtype == "complex64":
        for kind in ("soft", "hard"):
            got = softqam.nrSymbolDemodulate(tensor(symbols), "16QAM", 0.1, kind)
            assert type(got) is type(tensor(symbols))
            assert_bytes(got.numpy(), softqam.nrSymbolDemodulate(symbols, "16QAM", 0.1, kind))


def test_outputs(rng, tensor):
    """`out`, soft buffers of the caller, and a list of them."""
    symbols, noise = make_symbols(rng, 60), make_noise(rng, 60)
    for s, make_out in ((symbols, tensor), (tensor(symbols), tensor), (tensor(symbols), np.asarray)):
        memory = np.zeros(480, np.int8)
        out = make_out(memory)
        assert softqam.demodulate(s, noise_var=tensor(noise), out=out) is out
        assert_bytes(memory, softqam.demodulate(symbols, noise_var=noise))
    codeword = softqam.Codeword(120, "qpsk", 1, 3, 90, 80, 30, 10)
    expected = softqam.demodulate(symbols, "qpsk", 0.2, codeword=codeword)
    got = softqam.demodulate(tensor(symbols), "qpsk", 0.2, codeword=codeword)
    assert_bytes(got.numpy(), expected)
    assert softqam.demodulate(tensor(symbols), "qpsk", 0.2, codeword=codeword, soft_buffers=got, combine=True) is got
    memory = np.zeros((2, 90), np.int8)
    softqam.demodulate(tensor(symbols), "qpsk", 0.2, codeword=codeword, soft_buffers=[tensor(memory[0]), None, tensor(memory[1])])
    assert_bytes(memory, expected[::2])


def test_what_has_no_view(rng, tensor):
    for name, array in {"symbols": np.zeros(20, np.complex64), "noise_var": np.ones(20), "gain": np.ones(20), "out": np.zeros(160, np.float32)}.items():
        wrong = tensor(array)
        wrong.requires_grad = True
        arguments = {"symbols": tensor(make_symbols(rng, 20)), "noise_var": 0.1, "output": "f32", name: wrong}
        with pytest.raises(TypeError, match=f"^{name} is .*(?s:gradient|grad)"):
            softqam.demodulate(arguments.pop("symbols"), **arguments)


def test_types_of_torch_that_numpy_has_not(rng):
    torch = pytest.importorskip("torch")
    pairs = make_symbols(rng, 20, "float16")
    complex32 = torch.view_as_complex(torch.from_numpy(pairs))
    assert_bytes(softqam.demodulate(complex32, noise_var=0.1).numpy(), softqam.demodulate(pairs, noise_var=0.1))
    for wrong in (torch.zeros(4, 2, dtype=torch.bfloat16), torch.zeros(4, dtype=torch.complex64).conj(), torch.eye(4).to_sparse()):
        with pytest.raises(TypeError, match="symbols is Tensor"):
            softqam.demodulate(wrong, noise_var=0.1)


def test_import_loads_no_library():
    """Neither an array library nor a GPU's driver."""
    program = """
import sys, softqam
assert not {"torch", "cupy"} & set(sys.modules)
assert "libcuda" not in open("/proc/self/maps").read()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
