# SPDX-License-Identifier: MIT
"""Arrays of CuPy and PyTorch. Those on a GPU are demodulated where they lie, by DLPack, on a stream of the caller's; those
in host memory by NumPy's views of them.

On a GPU the output is allocated by CuPy or PyTorch, so their allocators know on which stream it is used. Nothing is copied and
nothing is waited for.
"""
from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import operator
import sys
from typing import Any, Callable, ContextManager

import numpy as np

from softqam import _arrays, _core, _names

_CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged
_NO_SYNCHRONISATION = -1  # a stream of DLPack's
_LEGACY_STREAM = 1  # DLPack's number for CUDA's stream 0
_NOTHING: ContextManager[Any] = contextlib.nullcontext()


# c_init, first_symbol, layers, planes, codeword, combine, and None or a tuple: scrambling_offset; input_scale or 0; None or, for a
# joint call (`symbols` is z, `gain` the Gram matrix), the wanted layer (-1: both) and the number of its partner's modulation; the
# address of the statistics or 0.
Options = tuple[Any, Any, Any, Any, Any, Any, Any]


class _Torch:
    """Wraps the functions of PyTorch that a call needs."""

    def __init__(self) -> None:
        self.module = sys.modules["torch"]
        self.array_type = self.module.Tensor
        # The public functions first check that CUDA is there, which takes 3 us. A tensor on a GPU shows that it is.
        inner, cuda = self.module._C, self.module.cuda
        self.current_device: Callable[[], int] = getattr(inner, "_cuda_getDevice", cuda.current_device)
        self.raw_stream: Callable[[int], int] = getattr(inner, "_cuda_getCurrentRawStream", lambda of: cuda.current_stream(of).cuda_stream)
        self.strided, self.of_host = self.module.strided, self.module.from_numpy
        self.empty_of = functools.lru_cache(maxsize=None)(self._empty_of)
        describe_in_c(self)

    def device_of(self, array: Any) -> int | None:
        return array.get_device() if array.is_cuda else None

    def is_plain(self, array: Any) -> bool:
        """Returns whether an array is in host memory or on a GPU, and DLPack can describe it completely."""
        if not (array.is_cpu or array.is_cuda) or array.layout is not self.strided:
            return False
        return not (array.requires_grad or array.is_conj() or array.is_neg())

    def resolved(self, array: Any) -> Any:
        """Returns the tensor without the conjugate and negative bits, which neither DLPack nor NumPy knows."""
        return array.resolve_conj().resolve_neg()

    def capsule(self, array: Any) -> Any:
        """Returns DLPack's capsule, on the current stream. __dlpack__() is slow, but raises for what it refuses."""
        if not self.is_plain(array):
            return array.__dlpack__(stream=_NO_SYNCHRONISATION)
        return self.module.utils.dlpack.to_dlpack(array)

    def on_device(self, device: int) -> ContextManager[Any]:
        """Makes a GPU the current one: PyTorch exports only arrays of that."""
        return _NOTHING if self.current_device() == device else self.module.cuda.device(device)

    def current_stream(self, device: int) -> int:
        return self.raw_stream(device)

    def _empty_of(self, dtype: str, device: int) -> Callable[[tuple[int, ...]], Any]:
        where = self.module.device("cuda", device)
        return functools.partial(self.module.empty, dtype=getattr(self.module, dtype), device=where)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        return self.empty_of(dtype, device)(shape)

    def full(self, shape: tuple[int, ...], value: float, dtype: str, device: int) -> Any:
        return self.empty(shape, dtype, device).fill_(value)

    def host_view(self, array: Any) -> Any:
        """Returns NumPy's view of an array in host memory; raises if there is none."""
        if array.dtype is self.module.complex32:
            array = self.module.view_as_real(array)
        return array.numpy()

    def is_capturing(self) -> bool:
        return bool(self.module.cuda.is_current_stream_capturing())

    def passed(self, stream: int, device: int) -> Callable[[], bool]:
        """Returns a function that returns whether the stream has finished what is enqueued now."""
        event = self.module.cuda.Event()
        event.record(self.module.cuda.ExternalStream(stream, device))
        return lambda: bool(event.query())


class _CuPy:
    """Wraps the functions of CuPy that a call needs."""

    def __init__(self) -> None:
        self.module = sys.modules["cupy"]
        self.array_type = self.module.ndarray

    def resolved(self, array: Any) -> Any:
        return array

    def device_of(self, array: Any) -> int | None:
        return int(array.device.id)

    def capsule(self, array: Any) -> Any:
        return array.__dlpack__(stream=_NO_SYNCHRONISATION)

    def on_device(self, device: int) -> ContextManager[Any]:
        same = self.module.cuda.runtime.getDevice() == device
        return _NOTHING if same else self.module.cuda.Device(device)

    def current_stream(self, device: int) -> int:
        return int(self.module.cuda.get_current_stream(device).ptr)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        return self.module.empty(shape, dtype=dtype)

    def full(self, shape: tuple[int, ...], value: float, dtype: str, device: int) -> Any:
        """Writes the value's bits as an integer: CuPy compiles its kernels with -ftz, which would flush a subnormal noise variance to 0."""
        bits = np.array(value, dtype).view(f"u{np.dtype(dtype).itemsize}")
        return self.module.full(shape, int(bits), dtype=bits.dtype).view(dtype)

    def is_capturing(self) -> bool:
        return bool(self.module.cuda.get_current_stream().is_capturing())

    def passed(self, stream: int, device: int) -> Callable[[], bool]:
        event = self.module.cuda.Event(disable_timing=True)
        event.record(self.module.cuda.ExternalStream(stream, device))
        return lambda: bool(event.done)


# The types of arrays that the core reads by itself, which is several times as fast as demodulate() below: PyTorch's, from 2.10 on.
in_c: dict[type, _core.ArrayLibrary] = {}
# They refer to functions of this module, but the garbage collector does not see that.
atexit.register(in_c.clear)


def describe_in_c(library: Any) -> None:
    """Enters a library in in_c, if it has DLPack's C exchange API."""

    def number(value: float, device: int, stream: int) -> Any:
        with library.on_device(device):
            return _number(library, value, device, stream)

    with contextlib.suppress(TypeError):
        in_c[library.array_type] = _core.ArrayLibrary(library.array_type, library.is_plain, library.of_host, library.empty, number)


# The keys are names of the modules that define the arrays' types.
LIBRARIES: dict[str, Callable[[], Any]] = {"torch": _Torch, "cupy": _CuPy}


@functools.lru_cache(maxsize=None)
def _library_named(name: str) -> Any:
    return LIBRARIES[name]()


def _find_library(kind: type) -> Any:
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        if name in LIBRARIES and issubclass(kind, _library_named(name).array_type):
            return _library_named(name)
    return None


_library_of_type: Callable[[type], Any] = functools.lru_cache(maxsize=256)(_find_library)


def device_of(array: Any) -> int | None:
    """Returns the number of the GPU that an array is on; None for all else."""
    library = _library_of_type(type(array))
    if library is not None:
        on: int | None = library.device_of(array)
        return on
    if isinstance(array, type) or not hasattr(array, "__dlpack_device__"):
        return None
    kind, number = array.__dlpack_device__()
    return int(number) if int(kind) in _CUDA_DEVICES else None


def _host_view(name: str, argument: Any, is_input: bool = False) -> Any:
    """Returns NumPy's view of a library's array in host memory, or of a copy of an input that has none; all else as it is."""
    library = _library_of_type(type(argument))
    if library is None:
        return argument
    if library.device_of(argument) is not None:
        raise TypeError(f"{name} is {type(argument).__name__} on a GPU, the symbols are in host memory")
    try:
        try:
            return library.host_view(argument)
        except RuntimeError:
            if not is_input:
                raise
            return library.host_view(library.resolved(argument))
    except Exception as error:
        raise TypeError(f"{name} is {type(argument).__name__}, of which NumPy makes no array: {error}") from error


def _resolved(array: Any) -> Any:
    library = _library_of_type(type(array))
    return array if library is None else library.resolved(array)


def joint_on_host(z: Any, gram: Any, noise_var: Any) -> tuple[Any, Any, Any]:
    """Returns the three arguments of a joint call as the core takes them: contiguous, `gram` of the shape of z."""
    symbols = _arrays.usual_symbols(_host_view("z", z, is_input=True), "z")
    matrices = _arrays.as_array("gram", _host_view("gram", gram, is_input=True))
    if matrices.dtype.kind != "c":
        raise TypeError(f"{_arrays.describe('gram', matrices)}: it takes complex64 or complex128")
    matrices = _arrays.usual_symbols(matrices, "gram")
    if np.iscomplexobj(symbols) and symbols.ndim > 1:
        with contextlib.suppress(ValueError):  # the core says what is wrong
            matrices = np.ascontiguousarray(np.broadcast_to(matrices, (*symbols.shape[:-1], 2, 2)))
    if noise_var is not None and not isinstance(noise_var, (int, float)):
        noise_var = _host_view("noise_var", noise_var, is_input=True)
    return symbols, matrices, noise_var


def scale_of(symbols: Any, noise_var: Any, gain: Any, is_inverse: bool) -> float:
    """Returns the input_scale that "auto" stands for."""
    for name, wrong in (("symbols on a GPU", device_of(symbols) is not None), ("gain", gain is not None)):
        if wrong:
            raise ValueError(f'input_scale is "auto", which {name} does not take')
    return _arrays.scale_of(_host_view("symbols", symbols, is_input=True), _host_view("noise_var", noise_var, is_input=True), is_inverse)


def demodulate_on_host(core: _core.Demodulator, symbols: Any, noise_var: Any, gain: Any, options: Options, out: Any) -> Any:
    """Does Demodulator.__call__() for symbols in host memory, and returns an array of the library that `symbols` is of."""
    if options[4] is None:
        view = _host_view("out", out)
    elif isinstance(out, (list, tuple)):
        view = [_host_view(f"soft_buffers[{r}]", array) for r, array in enumerate(out)]
    else:
        view = _host_view("soft_buffers", out)
    floats = _host_view("noise_var", noise_var, is_input=True), _host_view("gain", gain, is_input=True)
    result = core.host(_host_view("symbols", symbols, is_input=True), *floats, options, view)
    return out if out is not None else as_of(symbols, result)


def as_of(array: Any, result: Any) -> Any:
    """Returns a result in host memory as an array of the library that `array` is of."""
    library = _library_of_type(type(array))
    return result if library is None else library.of_host(result)


def _stream_number(stream: Any) -> int:
    """Returns the cudaStream_t of a number or of a library's stream."""
    if hasattr(stream, "__cuda_stream__"):
        return operator.index(stream.__cuda_stream__()[1])
    try:
        return operator.index(getattr(stream, "cuda_stream", getattr(stream, "ptr", stream)))
    except TypeError:
        raise TypeError(f"stream is {type(stream).__name__}, neither a number nor a stream of CuPy or PyTorch") from None


@functools.lru_cache(maxsize=64)
def _kept_number(library: Any, value: float, device: int, stream: int) -> Any:
    """Returns an array on the GPU that holds a number, written on this stream and kept for further calls on it."""
    return library.full((), value, "float32", device)


def _number(library: Any, value: float, device: int, stream: int) -> Any:
    """Returns an array on the GPU that holds a number, for the library's current stream. A captured graph gets one of its own."""
    new = _kept_number.__wrapped__ if library.is_capturing() else _kept_number
    return new(library, value, device, stream)


def _floats(core: _core.Demodulator, name: str, argument: Any, other: Any, library: Any, device: int, stream: int, current: int) -> Any:
    """Returns noise variances or gains on the GPU. One gain beside an array of noise variances is repeated, because the library takes a
    gain_stride of 0 as noise_stride."""
    if argument is None or device_of(argument) is not None:
        return argument
    _arrays.refuse_masked(name, argument)
    if hasattr(argument, "__dlpack_device__") and getattr(argument, "shape", ()) != ():
        return argument
    try:
        if isinstance(argument, (str, bytes, bool, np.bool_)):
            raise TypeError
        number = float(argument)
    except OverflowError:
        raise ValueError(f"{name} is an integer larger than any float") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {type(argument).__name__}, neither a number nor an array on a GPU") from None
    value = core.noise_value(number, name)
    shape = () if device_of(other) is None else tuple(other.shape)
    if shape or stream != current:
        return library.full(shape, value, "float32", device)
    return _number(library, value, device, stream)


# Arrays in use on a stream that their own library does not know of: (a function that returns whether that has ended, the arrays).
_in_flight: collections.deque[tuple[Callable[[], bool], tuple[Any, ...]]] = collections.deque()


def _keep_while_in_use(passed: Callable[[], bool], arrays: tuple[Any, ...]) -> None:
    for _ in range(len(_in_flight)):
        entry = _in_flight.popleft()
        if not entry[0]():
            _in_flight.append(entry)
    _in_flight.append((passed, arrays))


def _capsule(array: Any, name: str, library: Any, stream: int, current: int) -> Any:
    """Returns the array's DLPack capsule, and makes `stream` wait for the work of the array's library on it."""
    if device_of(array) is None:
        raise TypeError(f"{name} is {type(array).__name__} in host memory, the symbols are on a GPU")
    if _library_of_type(type(array)) is library and stream == current:
        return library.capsule(array)
    return array.__dlpack__(stream=stream or _LEGACY_STREAM)


def demodulate(core: _core.Demodulator, output: str, symbols: Any, noise_var: Any, gain: Any, options: Options, out: Any,
               stream: Any) -> Any:  # fmt: skip
    """Does Demodulator.__call__() for symbols on a GPU. With a codeword, `out` are its soft buffers."""
    if isinstance(out, (list, tuple)):
        raise TypeError("soft_buffers is a list: on a GPU it takes one array")
    library = _library_of_type(type(symbols if out is None else out))
    if library is None:
        name, array = ("symbols", symbols) if out is None else ("out", out)
        of = type(array).__module__.partition(".")[0]
        raise TypeError(f"{name} is an array of {of} on a GPU: give out=, an array of CuPy or PyTorch there")
    device = device_of(symbols)
    assert device is not None
    buffers = "out" if options[4] is None else "soft_buffers"
    with library.on_device(device):
        symbols, noise_var, gain = map(_resolved, (symbols, noise_var, gain))
        current = library.current_stream(device)
        number = current if stream is None else _stream_number(stream)
        where = library, device, number, current
        noise = _floats(core, "noise_var", noise_var, None, *where)
        is_joint = options[6] is not None and options[6][2] is not None
        of_symbols, of_gains = ("z", "gram") if is_joint else ("symbols", "gain")
        gains = _floats(core, of_gains, gain, noise_var, *where)

        def make_out(shape: tuple[int, ...]) -> Any:
            nonlocal out
            if out is None:
                dtype = _names.OUTPUT_DTYPES.get(output, "float32")  # "hard" takes signs
                # Values that no code block's LLRs reach are 0.
                out = library.empty(shape, dtype, device) if options[4] is None else library.full(shape, 0, dtype, device)
            return _capsule(out, buffers, library, number, current)

        named = {of_symbols: symbols, "noise_var": noise, of_gains: gains}
        z, n0, g = (None if array is None else _capsule(array, name, library, number, current) for name, array in named.items())
        core.device(z, n0, g, options, make_out, number)
        foreign = any(array is not None and _library_of_type(type(array)) is not library for array in named.values())
        if (foreign or number != current) and not library.is_capturing():
            _keep_while_in_use(library.passed(number, device), (*named.values(), out))
    return out
