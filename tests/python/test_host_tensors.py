# SPDX-License-Identifier: MIT
"""PyTorch's tensors in host memory: read where they lie, and a tensor comes back. Python's without PyTorch skips all but the last."""
import subprocess
import sys

import numpy as np
import pytest
from calls import Call, arrangement
from symbols import DTYPES, assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_come_back(rng, torch, dtype):
    symbols, noise, gains = make_symbols(rng, 60, dtype), make_noise(rng, 60), make_gain(rng, 60)
    tensor = torch.from_numpy
    expected, with_gains = (softqam.demodulate(symbols, noise_var=noise, gain=gain, output="f16") for gain in (None, gains))
    for n0, gain, wanted in ((noise, None, expected), (tensor(noise.astype(float)), tensor(gains), with_gains)):
        got = softqam.demodulate(tensor(symbols), noise_var=n0, gain=gain, output="f16")
        assert type(got) is torch.Tensor
        assert_bytes(got.numpy(), wanted)
    got = softqam.demodulate(symbols, noise_var=tensor(noise), output="f16")
    assert type(got) is np.ndarray
    assert_bytes(got, expected)
    if dtype == "complex64":
        for kind in ("soft", "hard"):
            got = softqam.nrSymbolDemodulate(tensor(symbols), "16QAM", 0.1, kind)
            assert type(got) is torch.Tensor
            assert_bytes(got.numpy(), softqam.nrSymbolDemodulate(symbols, "16QAM", 0.1, kind))


@pytest.mark.parametrize("seed", range(100))
def test_any_layout(torch, monkeypatch, seed):
    """The core itself reads tensors of any strides, if PyTorch describes them in C and there are no soft buffers."""
    rng = np.random.default_rng(seed)
    call, tensors = Call(rng), []
    for array in (call.symbols, call.noise, call.gain):
        memory, view = (None, None) if array is None else arrangement(rng, array, backwards=False)
        tensors.append(None if array is None else view(torch.from_numpy(memory)))
    expected = call.expected()
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__") and "codeword" not in call.options:
        assert _gpu.device_of(tensors[0]) is None
        monkeypatch.delattr(_gpu, "demodulate_on_host")
    assert_bytes(call(*tensors).numpy(), expected)


def test_outputs(rng, torch):
    """`out`, soft buffers of the caller, and a list of them."""
    symbols, noise, tensor = make_symbols(rng, 60), make_noise(rng, 60), torch.from_numpy
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


def test_what_has_no_view(rng, torch):
    arguments = {"symbols": torch.zeros(20, dtype=torch.complex64), "noise_var": torch.ones(20), "gain": torch.ones(20), "out": torch.zeros(160)}
    for name in arguments:
        wrong = {**arguments, name: arguments[name].clone().requires_grad_()}
        with pytest.raises(TypeError, match=f"^{name} is .*grad"):
            softqam.demodulate(wrong.pop("symbols"), output="f32", **wrong)
    for wrong in (torch.zeros(4, 2, dtype=torch.bfloat16), torch.eye(4).to_sparse(), torch.zeros(4, 2, device="meta")):
        with pytest.raises(TypeError, match="symbols is Tensor"):
            softqam.demodulate(wrong, noise_var=0.1)
    for wrong in (torch.ones(20, device="meta"), torch.ones(20).to_sparse()):
        with pytest.raises(TypeError, match="noise_var is Tensor"):
            softqam.demodulate(arguments["symbols"], noise_var=wrong)
    with pytest.raises(TypeError, match="noise_var is Tensor.* storage"):
        torch.func.vmap(lambda noise: softqam.demodulate(arguments["symbols"], noise_var=noise))(torch.ones(3, 20))
    with pytest.raises(TypeError, match="^sym is torch.float32 .*: it takes complex numbers$"):
        softqam.nrSymbolDemodulate(torch.zeros(4, 2), "QPSK")
    with pytest.raises(TypeError, match="out is Tensor"):
        softqam.demodulate(arguments["symbols"], noise_var=0.1, output="f32", out=torch.zeros(160, dtype=torch.complex64).conj().imag)


def test_tensors_that_numpy_has_not(rng, torch):
    """Complex halves are taken, and tensors with the conjugate or the negative bit."""
    pairs, values = make_symbols(rng, 20, "float16"), make_symbols(rng, 20)
    complex32 = torch.view_as_complex(torch.from_numpy(pairs))
    assert_bytes(softqam.demodulate(complex32, noise_var=0.1).numpy(), softqam.demodulate(pairs, noise_var=0.1))
    conjugate, noise = torch.from_numpy(values).conj(), torch.from_numpy(values[::-1].copy()).conj().imag
    assert conjugate.is_conj() and noise.is_neg()
    expected = softqam.demodulate(values.conj(), noise_var=-values[::-1].imag, gain=-values[::-1].imag)
    assert_bytes(softqam.demodulate(conjugate, noise_var=noise, gain=noise).numpy(), expected)


def test_import_loads_no_library():
    """Neither an array library nor a GPU's driver."""
    program = """
import sys, softqam
assert not {"torch", "cupy"} & set(sys.modules)
assert "libcuda" not in open("/proc/self/maps").read()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
