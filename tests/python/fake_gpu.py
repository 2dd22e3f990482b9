# SPDX-License-Identifier: MIT
"""An array library on the fake CUDA runtime that a softqam for tests is linked with (tests/faults/fake_cuda.h): memory
that the runtime knows, streams that do nothing before something waits for them, and DLPack capsules that are counted."""
from __future__ import annotations

import contextlib
import ctypes

import numpy as np

import softqam._core

# The runtime is in the extension.
cuda = ctypes.CDLL(softqam._core.__file__)
exports: dict[int, tuple] = {}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5}


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


@Deleter
def forget(address):
    del exports[address]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


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


class Array:
    """A NumPy view of fake device memory, which NumPy itself does not get to see."""

    plain = True

    def __init__(self, host, memory, device):
        self.host, self.memory, self.device = host, memory, device
        self.streams = []  # what __dlpack__() was called with

    @property
    def shape(self):
        return self.host.shape

    def __dlpack_device__(self):
        return 2, self.device

    def tensor(self):
        """Its DLTensor: it begins at an offset, and has no strides where it is contiguous."""
        n = self.host.ndim
        shape = (ctypes.c_int64 * n)(*self.host.shape)
        strides = (ctypes.c_int64 * n)(*(s // self.host.itemsize for s in self.host.strides))
        dtype = self.host.dtype
        self.keep = shape, strides
        return DLTensor(self.host.ctypes.data - 8, 2, self.device, n, CODES[dtype.kind], 8 * dtype.itemsize, 1, shape,
                        None if self.host.flags.c_contiguous else strides, 8)  # fmt: skip

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        managed = DLManagedTensor(self.tensor(), None, forget)
        address = ctypes.addressof(managed)
        exports[address] = (managed, self.keep, self)
        return new_capsule(address, b"dltensor", None)


@DescribeArray
def describe(array, tensor):
    tensor[0] = array.tensor()
    return 0


@CurrentStream
def current_stream(device_type, device, stream):
    assert device_type == 2
    stream[0] = Library.current
    return 0


api = ExchangeAPI(1, 3, None, (ctypes.c_void_p * 3)(), describe, current_stream)
Array.__dlpack_c_exchange_api__ = api.capsule()


class Foreign:
    """The same of a library that softqam does not know."""

    def __init__(self, *arguments):
        self.array = Array(*arguments)

    def __getattr__(self, name):
        return getattr(self.array, name)


Foreign.__module__ = "foreign"


def empty(shape, dtype, device=0, kind=Array):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    memory = Memory(count * dtype.itemsize, device)
    buffer = (ctypes.c_char * (count * dtype.itemsize)).from_address(memory.pointer.value)
    return kind(np.frombuffer(buffer, dtype, count).reshape(shape), memory, device)


def to_gpu(array, device=0, kind=Array):
    array = np.asarray(array)
    result = empty(array.shape, array.dtype, device, kind)
    result.host[...] = array
    return result


def view(array, function):
    return type(array)(function(array.host), array.memory, array.device)


def expand(array, shape):
    return view(array, lambda host: np.broadcast_to(host, shape))


def result_of(array):
    synchronize()
    return array.host.copy()


int8 = np.int8


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
    """What softqam._gpu needs of a library."""

    current = 0
    capturing = False
    has_passed = False
    numbers = 0

    array_type = Array

    def is_plain(self, array):
        return array.plain

    def device_of(self, array):
        return array.device

    def capsule(self, array):
        return array.__dlpack__(stream=-1)

    def on_device(self, device):
        return contextlib.nullcontext()

    def current_stream(self, device):
        return Library.current

    def empty(self, shape, dtype, device):
        return empty(shape, dtype, device)

    def full(self, shape, value, dtype, device):
        Library.numbers += 1
        return to_gpu(np.full(shape, value, dtype), device)

    def is_capturing(self):
        return Library.capturing

    def passed(self, stream, device):
        return lambda: Library.has_passed
