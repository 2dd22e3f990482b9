# SPDX-License-Identifier: MIT
"""On a GPU, with whatever array library there is: the caller's stream, without waiting; CUDA graphs; conjugated tensors; two layers
jointly. All other bytes are in test_gpu.py."""
import contextlib
import time

import numpy as np
import pytest
from real_gpu import KINDS, gpu  # noqa: F401
from symbols import assert_bytes, make_noise, make_symbols

import softqam


@pytest.mark.parametrize("how", ["current", "explicit", "from the default stream"])
def test_order_and_asynchrony(gpu, rng, how):
    """The order of the stream counts, before and after, and the call does not wait for it."""
    values = make_symbols(rng, 100000)
    expected = softqam.demodulate(values, noise_var=0.1)
    ready, symbols, out = gpu.to_gpu(values), gpu.to_gpu(np.zeros_like(values)), gpu.to_gpu(np.zeros_like(expected))
    noise, stream = gpu.to_gpu(np.float32(0.1).reshape(1)), gpu.stream()
    softqam.demodulate(symbols, noise_var=noise, out=out)
    gpu.synchronize()
    start = time.perf_counter()
    with contextlib.nullcontext() if how == "from the default stream" else gpu.use(stream):
        gpu.keep_busy()
        symbols[...] = ready
    with gpu.use(stream) if how == "current" else contextlib.nullcontext():
        softqam.demodulate(symbols, noise_var=noise, out=out, stream=None if how == "current" else stream)
    enqueued = time.perf_counter() - start
    gpu.synchronize()
    assert enqueued < (time.perf_counter() - start) / 2
    assert_bytes(gpu.result_of(out), expected)


def test_streams(gpu, rng):
    """A stream's object and its number are one; another thing is none."""
    values, stream = make_symbols(rng, 100), gpu.stream()
    number = stream.cuda_stream if hasattr(stream, "cuda_stream") else stream.ptr
    for given in (stream, number, 0):
        got = softqam.demodulate(gpu.to_gpu(values), noise_var=0.1, stream=given)
        gpu.synchronize()
        assert_bytes(gpu.result_of(got), softqam.demodulate(values, noise_var=0.1))
    for wrong in ("stream", 1.5, object()):
        with pytest.raises(TypeError, match="stream"):
            softqam.demodulate(gpu.to_gpu(values), noise_var=0.1, stream=wrong)


def test_arrays_that_are_dropped(gpu, rng):
    """Memory that Python has given up is not used again before the kernel has read and written it."""
    values = [make_symbols(rng, 50000) for _ in range(4)]
    expected = [softqam.demodulate(v, noise_var=0.1) for v in values]
    ready, stream = [gpu.to_gpu(v) for v in values], gpu.stream()
    for number in (None, stream):
        gpu.synchronize()
        gpu.keep_busy()
        results = [softqam.demodulate(r + 0, noise_var=0.1, stream=number) for r in ready * 5]
        gpu.synchronize()
        for k, result in enumerate(results):
            assert_bytes(gpu.result_of(result), expected[k % 4])


@pytest.mark.parametrize("gpu", KINDS[:2], indirect=True)
def test_graph(gpu, rng):
    values = make_symbols(rng, 45864)
    symbols, out = gpu.to_gpu(np.zeros_like(values)), gpu.to_gpu(np.zeros(8 * 45864, np.int8))
    softqam.demodulate(symbols, noise_var=0.1, out=out)
    graph = gpu.torch.cuda.CUDAGraph()
    with gpu.torch.cuda.graph(graph):
        softqam.demodulate(symbols, noise_var=0.1, out=out)
    symbols[...] = gpu.to_gpu(values)
    graph.replay()
    gpu.synchronize()
    assert_bytes(gpu.result_of(out), softqam.demodulate(values, noise_var=0.1))


@pytest.mark.parametrize("gpu", KINDS[:2], indirect=True)
def test_what_dlpack_cannot_say(gpu, rng):
    """Conjugates are resolved; gradients would be lost."""
    values = make_symbols(rng, 400)
    symbols, out = gpu.to_gpu(values), gpu.to_gpu(np.zeros(3200, np.float32))
    demodulator = softqam.Demodulator(output="f32")
    noise = symbols.conj().imag
    assert symbols.conj().is_conj() and noise.is_neg()
    got = gpu.result_of(demodulator(symbols.conj(), noise))
    assert_bytes(got, demodulator(values.conj(), -values.imag))
    for wrong in ({"symbols": symbols.clone().requires_grad_()}, {"out": out.clone().requires_grad_()}, {"symbols": symbols.to_sparse()}):
        with pytest.raises((BufferError, TypeError, ValueError), match="gradient|layout|sparse"):
            demodulator(**{"symbols": symbols, "noise_var": 0.1, "out": out, **wrong})


def test_joint(rng, gpu):
    """Two layers jointly, with codewords, views whose strides the library takes, one layer beside its partner."""
    z = make_symbols(rng, 240)[40:].reshape(2, 50, 2)
    gram = (rng.normal(0, 1, (2, 50, 3, 2, 2)) @ [1, 1j]).astype(np.complex64)
    gram = np.einsum("...ae,...af->...ef", gram.conj(), gram)
    noise = np.abs(make_noise(rng, 120)[20:]).reshape(2, 50)
    codeword = softqam.Codeword(400, "16qam", 2, 2, 150)
    on_gpu, floats = [gpu.view(gpu.to_gpu(np.repeat(array, 2, 1)), lambda a: a[:, ::2]) for array in (z, gram)], gpu.to_gpu(noise)
    for options in ({}, {"c_init": 4}, {"layer": 1, "partner_modulation": "qpsk"}, {"codeword": codeword}):
        for n0, of_gpu in ((noise, floats), (0.1, 0.1)):
            got = softqam.demodulate_joint(*on_gpu, of_gpu, "16qam", output="s16", **options)
            assert type(got) is gpu.Array
            assert_bytes(gpu.result_of(got), softqam.demodulate_joint(z, gram, n0, "16qam", output="s16", **options))
