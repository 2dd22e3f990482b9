# SPDX-License-Identifier: MIT
"""Arrays on a GPU: the bytes of host memory in any layout, what is refused, and that nothing is kept; the caller's stream, without
waiting; CUDA graphs; two layers jointly. With whatever array library there is."""
import contextlib
import gc
import itertools
import re
import sys
import time

import numpy as np
import pytest
from calls import Call, arrangement
from real_gpu import KINDS, gpu  # noqa: F401
from symbols import OUTPUTS, assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu


@pytest.fixture
def only_in_c(gpu, monkeypatch):
    """Fails if a call of described arrays goes another way."""
    if gpu.Array in _gpu.in_c:
        monkeypatch.delattr(_gpu, "demodulate")


@pytest.mark.parametrize("dtype, output", [*itertools.product(["complex64", "int8"], OUTPUTS), ("float32", "s8"), ("float16", "f16"),
                                           ("int16", "s16")])  # fmt: skip
def test_bytes_are_those_of_host_memory(rng, gpu, only_in_c, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    arrays, numbers = [make_noise(rng, 600).reshape(3, 200), np.full((3, 1), 0.1, np.float32)], [0.1, 1e-300, 1e300, 3]
    for noise in [None] if output == "u8" else [*arrays, *numbers, np.float64(0.1)]:
        expected = softqam.demodulate(symbols, noise_var=noise, output=output)
        on_gpu = gpu.to_gpu(noise) if isinstance(noise, np.ndarray) else noise
        got = softqam.demodulate(gpu.to_gpu(symbols), noise_var=on_gpu, output=output)
        assert type(got) is gpu.Array and got.shape == expected.shape
        assert_bytes(gpu.result_of(got), expected)


def test_random_calls(gpu):
    """Any layout whose strides the library takes, the same for noise and gains; others are refused."""
    n_refused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        call, arrays = Call(rng), []
        for k, array in enumerate((call.symbols, call.noise, call.gain)):
            memory, view = (None, None) if array is None else arrangement(np.random.default_rng(seed + (k > 0)), array, False, array is call.symbols)
            arrays.append(None if array is None else gpu.view(gpu.to_gpu(memory), view))
        try:
            got = call(*arrays)
        except ValueError as error:
            assert re.search("^(symbols|noise_var|gain) is .*(strides|contiguous)", str(error)), error
            n_refused += 1
        else:
            assert_bytes(gpu.result_of(got), call.expected())
    assert n_refused < 100


def test_numbers_and_what_has_no_axes(rng, gpu):
    """One noise variance or gain beside one or many of the other."""
    symbols, noise, gains = (make(rng, 600).reshape(20, 30) for make in (make_symbols, make_noise, make_gain))
    on_gpu, one = gpu.to_gpu(symbols), gpu.view(gpu.to_gpu(noise), lambda a: a[0, 0:1].reshape(()))
    for n0, gain in ((noise, 0.5), (0.1, gains), (0.1, 0.5), (0.1, gains[0]), (0.1, np.float64(2)), (noise[:, :1], gains[:, :1])):
        floats = (gpu.to_gpu(floats) if isinstance(floats, np.ndarray) else floats for floats in (n0, gain))
        got = softqam.demodulate(on_gpu, noise_var=next(floats), gain=next(floats))
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=n0, gain=gain))
    for n0 in (one, gpu.expand(one, (20, 30))):
        got = softqam.demodulate(on_gpu, noise_var=n0)
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=float(noise[0, 0])))
    with pytest.raises(ValueError, match="^gain is float32 of shape .*contiguous"):
        softqam.demodulate(on_gpu, noise_var=gpu.to_gpu(noise[0]), gain=gpu.to_gpu(gains[:, :1]))


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
    yield {"symbols": gpu.empty((4, 1), "c8"), "c_init": 3}, "symbols is complex64 .*reshape"
    yield {"noise_var": -1.0}, "noise_var is -1.0: one value"
    yield {"input_scale": "auto"}, "symbols on a GPU"
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


def test_wrong_joint_calls(gpu):
    z, gram = gpu.empty((2, 5, 2), "c8"), gpu.empty((2, 5, 2, 2), "c8")
    for wrong in (np.zeros((2, 5, 2, 2), np.complex64), gpu.view(gram, lambda a: a[:, :1]), gpu.empty((2, 5, 2), "f4")):
        with pytest.raises((TypeError, ValueError), match="^gram is"):
            softqam.demodulate_joint(z, wrong, 0.1, "16qam")


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
