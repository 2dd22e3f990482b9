# SPDX-License-Identifier: MIT
"""An array library on the fake CUDA runtime that a softqam for tests is linked with (tests/faults/fake_cuda.h): memory
that the runtime knows, and streams that do nothing before something waits for them."""
from __future__ import annotations

import contextlib
import ctypes
import gc
import operator
import sys
import weakref

import numpy as np
import pytest

import softqam._core
from softqam import _gpu

# The runtime is in the extension.
cuda = ctypes.CDLL(softqam._core.__file__)
hosts: list[weakref.ref] = []  # NumPy's views of all arrays


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("dtype", ctypes.c_uint32), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]  # fmt: skip


new_capsule, pointer_of = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


# int function(void *object, DLTensor *tensor) and int function(device_type, device_id, void **stream), with the GIL held
DescribeArray = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class ExchangeAPI(ctypes.Structure):
    """DLPackExchangeAPI."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
                ("not_called", ctypes.c_void_p * 3), ("describe", DescribeArray), ("current_stream", CurrentStream)]  # fmt: skip

    def capsule(self, name=b"dlpack_exchange_api"):
        return new_capsule(ctypes.addressof(self), name, None)


def check(error):
    assert error == 0, f"CUDA error {error}"


class Memory:
    def __init__(self, nbytes, device):
        self.pointer = ctypes.c_void_p()
        check(cuda.cudaSetDevice(device))
        check(cuda.cudaMalloc(ctypes.byref(self.pointer), ctypes.c_size_t(max(nbytes, 1))))
        check(cuda.cudaSetDevice(0))

    def __del__(self):
        check(cuda.cudaFree(self.pointer))


class Foreign:
    """A NumPy view of fake device memory, which NumPy itself does not get to see; of a library that softqam does not know."""

    __module__ = "foreign"

    def __init__(self, host, memory, device):
        self.host, self.memory, self.device = host, memory, device
        self.streams = []  # what __dlpack__() was called with
        hosts.append(weakref.ref(host))

    @property
    def shape(self):
        return self.host.shape

    def __dlpack_device__(self):
        return 2, self.device

    def capsule(self):
        """NumPy's, but on a GPU, beginning at an offset, and without strides where it is contiguous; and its DLTensor."""
        capsule = self.host.__dlpack__()
        tensor = DLTensor.from_address(pointer_of(capsule, b"dltensor"))
        tensor.data, tensor.byte_offset, tensor.device_type, tensor.device_id = tensor.data - 8, 8, 2, self.device
        if self.host.flags.c_contiguous:
            tensor.strides = None
        return capsule, tensor

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.capsule()[0]


class Array(Foreign):
    """An array of a library that softqam knows."""

    plain = True


@DescribeArray
def describe(array, tensor):
    array.keep, tensor[0] = array.capsule()
    return 0


@CurrentStream
def current_stream(device_type, device, stream):
    assert device_type == 2
    stream[0] = Library.current
    return 0


api = ExchangeAPI(1, 3, describe=describe, current_stream=current_stream)
Array.__dlpack_c_exchange_api__ = api.capsule()


def empty(shape, dtype, device=0, kind=Array):
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = Memory(nbytes, device)
    return kind(np.ndarray(shape, dtype, (ctypes.c_char * nbytes).from_address(memory.pointer.value)), memory, device)


def to_gpu(array, device=0, kind=Array):
    array = np.asarray(array)
    result = empty(array.shape, array.dtype, device, kind)
    result.host[...] = array
    return result


def view(array, function):
    return type(array)(function(array.host), array.memory, array.device)


def expand(array, shape):
    return view(array, lambda host: np.lib.stride_tricks.as_strided(host, shape, np.broadcast_to(host, shape).strides))


def result_of(array):
    synchronize()
    return array.host.copy()


int8, has_negative_strides = np.int8, True


class Stream:
    every: list[Stream] = []

    def __init__(self):
        Stream.every.append(self)
        self.handle = ctypes.c_void_p()
        check(cuda.cudaStreamCreateWithFlags(ctypes.byref(self.handle), 0))
        self.ptr = self.handle.value


def synchronize():
    """All streams, and that of number 0 of the current device."""
    for handle in (None, *(stream.handle for stream in Stream.every)):
        check(cuda.cudaStreamSynchronize(handle))


class Library:
    """A library with all that softqam._gpu needs."""

    current = 0
    capturing = False
    has_passed = False
    numbers = 0

    array_type = Array
    is_plain, device_of = operator.attrgetter("plain"), operator.attrgetter("device")
    capsule = operator.methodcaller("__dlpack__", stream=-1)
    empty = staticmethod(empty)

    def resolved(self, array):
        return array

    def on_device(self, device):
        return contextlib.nullcontext()

    def current_stream(self, device):
        return Library.current

    def full(self, shape, value, dtype, device):
        Library.numbers += 1
        return to_gpu(np.full(shape, value, dtype), device)

    def is_capturing(self):
        return Library.capturing

    def passed(self, stream, device):
        return lambda: Library.has_passed


# The ways in which a library describes its arrays.
KINDS = ["capsules", "exchange API"]


@pytest.fixture(autouse=True, params=KINDS)
def gpu(request, monkeypatch):
    """The module with such arrays."""
    monkeypatch.setitem(_gpu.LIBRARIES, "fake_gpu", Library)
    monkeypatch.setattr(Library, "current", Stream().ptr)
    monkeypatch.setattr(_gpu, "in_c", {})
    library = _gpu._library_named("fake_gpu")
    if request.param == "exchange API":
        _gpu.describe_in_c(library)
    yield sys.modules[__name__]
    _gpu._in_flight.clear()
    for function in (_gpu._library_named, _gpu._library_of_type, _gpu._kept_number):
        function.cache_clear()
    gc.collect()
    assert all(host() is None for host in hosts), "a capsule was not given back"
    hosts.clear()
