# SPDX-License-Identifier: MIT
"""On a real GPU, with whatever array library there is: the caller's stream, without waiting; CUDA graphs; more than one GPU; tensors
that DLPack cannot describe. The bytes are in test_gpu.py."""
import contextlib
import time

import numpy as np
import pytest
from real_gpu import KINDS, gpu  # noqa: F401
from symbols import assert_bytes, make_noise, make_symbols

import softqam
from softqam import _gpu


@pytest.mark.parametrize("how", ["current", "explicit", "from the default stream"])
def test_order_and_asynchrony(gpu, rng, how):
    """What the stream does before and after counts, and the call does not wait for it."""
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


@pytest.mark.parametrize("gpu", KINDS[:1], indirect=True)
def test_streams_and_devices_in_c(gpu, rng, monkeypatch):
    """What goes by the C exchange API alone."""
    monkeypatch.delattr(_gpu, "demodulate")
    torch = gpu.torch
    values, noise = make_symbols(rng, 6000).reshape(20, 300), make_noise(rng, 6000).reshape(20, 300)
    for device in range(torch.cuda.device_count()):
        symbols, n0 = torch.from_numpy(values).cuda(device), torch.from_numpy(noise).cuda(device)
        out = torch.empty((20, 2400), dtype=torch.int8, device=symbols.device)
        for arguments in ({}, {"noise_var": 0.1}, {"first_symbol": 3, "c_init": list(range(20))}):
            expected = softqam.demodulate(values, **{"noise_var": noise, **arguments})
            for stream in (torch.cuda.current_stream(device), torch.cuda.Stream(device)):
                with torch.cuda.stream(stream), torch.cuda.device(0):
                    got = softqam.demodulate(symbols, **{"noise_var": n0, **arguments})
                    assert softqam.demodulate(symbols, **{"noise_var": n0, **arguments}, out=out) is out
                assert got.device == symbols.device and torch.cuda.current_device() == 0
                stream.synchronize()
                assert_bytes(got.cpu().numpy(), expected)
                assert_bytes(out.cpu().numpy(), expected)


@pytest.mark.parametrize("gpu", KINDS[:1], indirect=True)
def test_what_dlpack_cannot_say(gpu, rng):
    """C does not take it: a call goes the other way, where PyTorch refuses it in its own words."""
    library, demodulator = _gpu.in_c[gpu.Array], softqam.Demodulator(output="f32")
    values, n0 = make_symbols(rng, 4), np.ones(4, np.float32)
    symbols, noise, out = map(gpu.to_gpu, (values, n0, np.zeros(32, np.float32)))
    negative = gpu.to_gpu(np.zeros(32, np.complex64)).conj().imag
    assert negative.is_neg()

    def in_c(symbols=symbols, noise_var=noise, gain=None, out=out):
        return demodulator._core.device_of_library(library, symbols, noise_var, gain, (None, 0, None, None, None, False), out)

    assert in_c() is out
    for wrong, words in [
        ({"symbols": symbols.conj()}, None),
        ({"symbols": symbols.clone().requires_grad_()}, "gradient"),
        ({"noise_var": noise.clone().requires_grad_()}, "gradient"),
        ({"noise_var": negative[:4]}, None),
        ({"out": out.clone().requires_grad_()}, "gradient"),
        ({"symbols": symbols.to_sparse()}, "layout|sparse"),
        ({"gain": 0.5}, None),
        ({"noise_var": gpu.torch.nn.Parameter(noise, requires_grad=False)}, None),
    ]:
        assert in_c(**wrong) is None
        if words:
            with pytest.raises((BufferError, TypeError, ValueError), match=words):
                demodulator(**{"symbols": symbols, "noise_var": noise, "out": out, **wrong})
    assert in_c(symbols.conj().resolve_conj()) is out
    assert_bytes(gpu.result_of(out), softqam.demodulate(values.conj(), noise_var=n0, output="f32"))
