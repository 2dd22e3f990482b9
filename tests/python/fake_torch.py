# SPDX-License-Identifier: MIT
"""fake_gpu.py's functions for PyTorch: tensors of the CPU, in memory that the fake CUDA runtime knows, whose type says that
they are on GPU 0. C describes them by PyTorch's own exchange API. A skip without PyTorch 2.10."""
import fake_gpu
import numpy as np
import pytest

from softqam import _gpu

torch = pytest.importorskip("torch")
if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    pytest.skip(f"PyTorch {torch.__version__} has no C exchange API, which 2.10 has", allow_module_level=True)

of_torch = fake_gpu.ExchangeAPI.from_address(fake_gpu.pointer_of(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))


@fake_gpu.DescribeArray
def describe(array, tensor):
    result = of_torch.describe(array, tensor)
    assert tensor[0].device_type == 1
    tensor[0].device_type = 2
    return result


api = fake_gpu.ExchangeAPI(of_torch.major, of_torch.minor, describe=describe, current_stream=fake_gpu.current_stream)


class Array(torch.Tensor):
    is_cuda = True
    __torch_function__ = torch._C._disabled_torch_function_impl
    __dlpack_c_exchange_api__ = api.capsule()

    def get_device(self):
        return 0


def to_gpu(array):
    array = np.asarray(array)
    memory = fake_gpu.to_gpu(array)
    tensor = torch.from_numpy(memory.host).as_subclass(Array)
    tensor.memory = memory
    return tensor


def empty(shape, dtype):
    return to_gpu(np.empty(shape, dtype))


def view(array, function):
    result = function(array).as_subclass(Array)
    result.memory = getattr(array, "memory", None)
    return result


def expand(array, shape):
    return view(array, lambda tensor: tensor.expand(shape))


def result_of(array):
    fake_gpu.synchronize()
    return array.numpy().copy()


int8, has_negative_strides, makes_capsules = torch.int8, False, False


class Library(_gpu._Torch):
    """PyTorch's, but for what asks its CUDA."""

    def __init__(self):
        super().__init__()
        self.array_type = Array
        self.current_device, self.raw_stream = lambda: 0, lambda device: fake_gpu.Library.current
        self.is_capturing = lambda: False
        self.empty_of = lambda dtype, device: lambda shape: empty(shape, dtype)
        _gpu.describe_in_c(self)
