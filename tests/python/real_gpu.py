# SPDX-License-Identifier: MIT
"""CuPy and PyTorch as the tests use them: their arrays on a GPU, and streams. Skips without one."""
import numpy as np
import pytest

import softqam
from softqam import _gpu


class Torch:
    """By capsules, as one before 2.10."""

    has_negative_strides, is_described_in_c = False, False

    def __init__(self, monkeypatch):
        self.torch = torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")
        self.Array, self.int8, self.expand = torch.Tensor, torch.int8, torch.Tensor.expand
        self.stream, self.use, self.synchronize = torch.cuda.Stream, torch.cuda.stream, torch.cuda.synchronize
        self.keep_busy = lambda: torch.cuda._sleep(200_000_000)
        _gpu._library_of_type(self.Array)
        if not self.is_described_in_c:
            monkeypatch.setattr(_gpu, "in_c", {})
        elif not hasattr(self.Array, "__dlpack_c_exchange_api__"):
            pytest.skip(f"PyTorch {torch.__version__} has no C exchange API, which 2.10 has")
        assert (self.Array in _gpu.in_c) == self.is_described_in_c

    def to_gpu(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array).reshape(np.shape(array))).cuda()

    def result_of(self, array):
        return array.cpu().numpy()

    def empty(self, shape, dtype):
        return self.to_gpu(np.empty(shape, dtype))

    def view(self, array, function):
        return function(array)


class TorchInC(Torch):
    is_described_in_c = True


class CuPy(Torch):
    has_negative_strides, int8 = True, np.int8

    def __init__(self, monkeypatch):
        cupy = pytest.importorskip("cupy")
        if cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy finds no GPU")
        self.Array, self.to_gpu, self.result_of, self.expand = cupy.ndarray, cupy.asarray, cupy.asnumpy, cupy.broadcast_to
        self.stream, self.use = lambda: cupy.cuda.Stream(non_blocking=True), lambda stream: stream
        self.synchronize = lambda: cupy.cuda.Device().synchronize()
        spin = cupy.RawKernel(
            'extern "C" __global__ void spin() { long long end = clock64() + 200000000; while (clock64() < end); }', "spin"
        )
        self.keep_busy = lambda: spin((1,), (1,), ())


KINDS = [TorchInC, Torch, CuPy]


@pytest.fixture(params=KINDS)
def gpu(request, monkeypatch):
    if not softqam.built_with_cuda:
        pytest.skip("softqam was built without CUDA")
    return request.param(monkeypatch)
