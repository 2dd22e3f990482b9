# SPDX-License-Identifier: MIT
"""On a GPU, with whatever array library there is: the bytes of host memory, on the caller's stream, without waiting."""
import time

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")

    def to_gpu(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array)).cuda()

    def to_host(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.torch.cuda.Stream()

    def use(self, stream):
        return self.torch.cuda.stream(stream)

    def keep_busy(self):
        self.torch.cuda._sleep(200_000_000)

    def fill(self, array, values):
        array.copy_(values)

    def synchronize(self):
        self.torch.cuda.synchronize()


class CuPy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy finds no GPU")
        self.spin = self.cupy.RawKernel(
            'extern "C" __global__ void spin() { long long end = clock64() + 200000000; while (clock64() < end); }', "spin"
        )

    def to_gpu(self, array):
        return self.cupy.asarray(array)

    def to_host(self, array):
        return self.cupy.asnumpy(array)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def use(self, stream):
        return stream

    def keep_busy(self):
        self.spin((1,), (1,), ())

    def fill(self, array, values):
        array[...] = values

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()


class TorchInC(Torch):
    """By the C exchange API."""

    def __init__(self):
        super().__init__()
        if not hasattr(self.torch.Tensor, "__dlpack_c_exchange_api__"):
            pytest.skip(f"PyTorch {self.torch.__version__} has no C exchange API, which 2.10 has")
        _gpu._library_of_type(self.torch.Tensor)
        assert self.torch.Tensor in _gpu.in_c


@pytest.fixture(autouse=True)
def built_with_cuda():
    if not softqam.built_with_cuda:
        pytest.skip("softqam was built without CUDA")


@pytest.fixture(params=[TorchInC, Torch, CuPy])
def gpu(request, monkeypatch):
    library = request.param()
    if request.param is Torch:  # as one before 2.10
        _gpu._library_of_type(library.torch.Tensor)
        monkeypatch.setattr(_gpu, "in_c", {})
    return library


@pytest.fixture
def torch_in_c(monkeypatch):
    """PyTorch; fails where a call goes another way."""
    monkeypatch.delattr(_gpu, "demodulate")
    return TorchInC()


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("output", reference.DTYPES)
def test_bytes_are_those_of_host_memory(gpu, rng, dtype, output):
    symbols = make_symbols(rng, 60000, dtype)
    symbols = symbols.reshape(3, 20000, *symbols.shape[1:])
    noises = [None] if output == "u8" else [0.1, make_noise(rng, 60000).reshape(3, 20000), np.full((3, 1), 0.1, np.float32)]
    for noise in noises:
        on_gpu = gpu.to_gpu(noise) if isinstance(noise, np.ndarray) else noise
        got = softqam.demodulate(gpu.to_gpu(symbols), noise_var=on_gpu, output=output)
        assert type(got) is type(gpu.to_gpu(symbols))
        assert_bytes(gpu.to_host(got), softqam.demodulate(symbols, noise_var=noise, output=output))


def test_gains(gpu, rng):
    symbols, noise, gains = make_symbols(rng, 60000), make_noise(rng, 60000), make_gain(rng, 60000)
    for n0, gain in ((noise, gains), (0.1, gains), (noise, 0.3), (0.1, 0.3)):
        on_gpu = [gpu.to_gpu(floats) if isinstance(floats, np.ndarray) else floats for floats in (n0, gain)]
        got = softqam.demodulate(gpu.to_gpu(symbols), noise_var=on_gpu[0], gain=on_gpu[1])
        assert_bytes(gpu.to_host(got), softqam.demodulate(symbols, noise_var=n0, gain=gain))


def test_soft_buffers(gpu, rng):
    codeword = softqam.ldpc_codeword(6 * 2 * 3000, 20496, "64qam", base_graph=1, layers=2)
    symbols, noise = make_symbols(rng, 6000).reshape(2, 3000), make_noise(rng, 6000).reshape(2, 3000)
    expected = softqam.demodulate(symbols, "64qam", noise, c_init=3, codeword=codeword)
    on_gpu = gpu.to_gpu(symbols), "64qam", gpu.to_gpu(noise)
    got = softqam.demodulate(*on_gpu, c_init=3, codeword=codeword)
    assert_bytes(gpu.to_host(got), expected)
    softqam.demodulate(symbols, "64qam", noise, c_init=4, codeword=codeword, soft_buffers=expected, combine=True)
    assert softqam.demodulate(*on_gpu, c_init=4, codeword=codeword, soft_buffers=got, combine=True) is got
    assert_bytes(gpu.to_host(got), expected)


def test_views(gpu, rng):
    symbols = make_symbols(rng, 60000).reshape(200, 300)
    for view in ((slice(None, None, 3), slice(0, None, 2)), (slice(5, 9), slice(10, 210, 10))):
        got = softqam.demodulate(gpu.to_gpu(symbols)[view], noise_var=0.1)
        assert_bytes(gpu.to_host(got), softqam.demodulate(symbols[view], noise_var=0.1))


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
    with gpu.use(stream):
        if how != "from the default stream":
            gpu.keep_busy()
            gpu.fill(symbols, ready)
    if how == "from the default stream":
        gpu.keep_busy()
        gpu.fill(symbols, ready)
    if how == "current":
        with gpu.use(stream):
            softqam.demodulate(symbols, noise_var=noise, out=out)
    else:
        softqam.demodulate(symbols, noise_var=noise, out=out, stream=stream)
    enqueued = time.perf_counter() - start
    gpu.synchronize()
    assert enqueued < (time.perf_counter() - start) / 2
    assert_bytes(gpu.to_host(out), expected)


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
            assert_bytes(gpu.to_host(result), expected[k % 4])


def test_graph_of_torch(gpu, rng):
    if not isinstance(gpu, Torch):
        pytest.skip("not PyTorch")
    values = make_symbols(rng, 45864)
    symbols, out = gpu.to_gpu(np.zeros_like(values)), gpu.to_gpu(np.zeros(8 * 45864, np.int8))
    softqam.demodulate(symbols, noise_var=0.1, out=out)
    graph = gpu.torch.cuda.CUDAGraph()
    with gpu.torch.cuda.graph(graph):
        softqam.demodulate(symbols, noise_var=0.1, out=out)
    gpu.fill(symbols, gpu.to_gpu(values))
    graph.replay()
    gpu.synchronize()
    assert_bytes(gpu.to_host(out), softqam.demodulate(values, noise_var=0.1))


def test_all_calls_of_torch_are_in_c(torch_in_c, rng):
    """Bytes, streams and devices of what goes by the C exchange API alone."""
    torch = torch_in_c.torch
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
        for view in (symbols[:, ::3], symbols.T, symbols[2:5, 7:9], symbols[0:0], symbols[0, 0].expand(1)):
            assert_bytes(softqam.demodulate(view, noise_var=0.1).cpu().numpy(),
                         softqam.demodulate(view.cpu().numpy(), noise_var=0.1))  # fmt: skip


def test_tensors_that_torch_refuses(rng):
    gpu = Torch()
    symbols = gpu.to_gpu(make_symbols(rng, 100))
    for wrong, words in [
        ({"symbols": symbols.conj()}, "conjugate"),
        ({"symbols": symbols.clone().requires_grad_()}, "gradient"),
        ({"symbols": symbols.to_sparse()}, "layout|sparse"),
        ({"noise_var": gpu.torch.ones(100, device="cuda", requires_grad=True)}, "gradient"),
        ({"noise_var": symbols.conj().imag}, "negative"),
        ({"out": gpu.torch.zeros(800, device="cuda").requires_grad_(), "output": "f32"}, "gradient"),
    ]:
        arguments = {"symbols": symbols, "noise_var": 0.1, **wrong}
        with pytest.raises((TypeError, ValueError, BufferError), match=words):
            softqam.demodulate(arguments.pop("symbols"), **arguments)
    plain = softqam.demodulate(symbols.conj().resolve_conj(), noise_var=gpu.torch.tensor(0.1))
    assert_bytes(gpu.to_host(plain), softqam.demodulate(symbols.cpu().numpy().conj(), noise_var=float(np.float32(0.1))))


def test_symbols_of_jax(rng):
    gpu, jax = Torch(), pytest.importorskip("jax")
    values = make_symbols(rng, 10000)
    symbols = jax.device_put(values)
    if symbols.__dlpack_device__()[0] != 2:
        pytest.skip("JAX finds no GPU")
    out = gpu.to_gpu(np.zeros(80000, np.int8))
    softqam.demodulate(symbols, noise_var=0.1, out=out)
    assert_bytes(gpu.to_host(out), softqam.demodulate(values, noise_var=0.1))
