# SPDX-License-Identifier: MIT
"""fake_gpu.py's functions for CuPy and PyTorch on a real GPU, and streams. Skips without one."""
import numpy as np
import pytest

import softqam
from softqam import _gpu


class Torch:
    """By capsules, as one before 2.10."""

    has_negative_strides, makes_capsules = False, True

    def __init__(self, monkeypatch):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")
        self.Array, self.int8 = self.torch.Tensor, self.torch.int8
        _gpu._library_of_type(self.Array)
        monkeypatch.setattr(_gpu, "in_c", {})

    def to_gpu(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array).reshape(np.shape(array))).cuda()

    def result_of(self, array):
        return array.cpu().numpy()

    def expand(self, array, shape):
        return array.expand(shape)

    def empty(self, shape, dtype):
        return self.to_gpu(np.empty(shape, dtype))

    def view(self, array, function):
        return function(array)

    def stream(self):
        return self.torch.cuda.Stream()

    def use(self, stream):
        return self.torch.cuda.stream(stream)

    def keep_busy(self):
        self.torch.cuda._sleep(200_000_000)

    def synchronize(self):
        self.torch.cuda.synchronize()


class TorchInC(Torch):
    """By the C exchange API."""

    def __init__(self, monkeypatch):
        with monkeypatch.context() as unchanged:
            super().__init__(unchanged)
        if not hasattr(self.Array, "__dlpack_c_exchange_api__"):
            pytest.skip(f"PyTorch {self.torch.__version__} has no C exchange API, which 2.10 has")
        assert self.Array in _gpu.in_c


class CuPy(Torch):
    has_negative_strides, int8 = True, np.int8

    def __init__(self, monkeypatch):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy finds no GPU")
        self.Array = self.cupy.ndarray
        self.spin = self.cupy.RawKernel(
            'extern "C" __global__ void spin() { long long end = clock64() + 200000000; while (clock64() < end); }', "spin"
        )

    def to_gpu(self, array):
        return self.cupy.asarray(array)

    def result_of(self, array):
        return self.cupy.asnumpy(array)

    def expand(self, array, shape):
        return self.cupy.broadcast_to(array, shape)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def use(self, stream):
        return stream

    def keep_busy(self):
        self.spin((1,), (1,), ())

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()


KINDS = [TorchInC, Torch, CuPy]


@pytest.fixture(params=KINDS)
def gpu(request, monkeypatch):
    if not softqam.built_with_cuda:
        pytest.skip("softqam was built without CUDA")
    return request.param(monkeypatch)
