# SPDX-License-Identifier: MIT
"""Converts, by NumPy, arguments that the core does not read: other dtypes and byte orders, lists. The core calls these functions.
Each returns a C-contiguous array of the native byte order, or raises. Masked arrays are refused."""
from __future__ import annotations

from typing import Any

import numpy as np

SYMBOL_DTYPES = [np.dtype(kind) for kind in (np.complex64, np.float32, np.float16, np.int16, np.int8)]


def describe(name: str, array: np.ndarray) -> str:
    return f"{name} is {array.dtype} of shape {array.shape}"


def refuse_masked(name: str, argument: Any) -> None:
    """Raises for a masked array: the core would read its memory without its mask."""
    if isinstance(argument, np.ma.MaskedArray):
        advice = "filled(numpy.nan) makes erasures of what is masked" if argument.dtype.kind in "fc" else "give plain values"
        raise TypeError(f"{name} is a masked array: {advice}")
    for item in argument if isinstance(argument, (list, tuple)) else ():
        if isinstance(item, (list, tuple, np.ma.MaskedArray)):
            refuse_masked(name, item)


def as_array(name: str, argument: Any) -> np.ndarray:
    refuse_masked(name, argument)
    try:
        if hasattr(argument, "__dlpack__") and not hasattr(argument, "__array__"):
            return np.from_dlpack(argument)
        return np.asarray(argument)
    except Exception as error:
        why = " ".join(str(error).split())
        raise TypeError(f"{name} is {type(argument).__name__}, of which NumPy makes no array: {why}") from error


def usual_symbols(argument: Any, name: str) -> np.ndarray:
    """Returns symbols as complex64, or as pairs: also the two fields of a structure, I first unless their names say Q."""
    array = as_array(name, argument)
    fields = array.dtype.names or ()
    if len(fields) == 2 and array[fields[0]].dtype == array[fields[1]].dtype:
        fields = fields[::-1] if fields[0].lower().startswith(("q", "im")) else fields
        array = np.stack([array[field] for field in fields], -1)
    native = array.dtype.newbyteorder("=")
    if native == np.complex128:
        native = np.dtype(np.complex64)
    if native not in SYMBOL_DTYPES:
        raise TypeError(
            f"{describe(name, array)}: it takes complex64 or complex128, or float32, float16, int16 or int8 with a "
            "last axis of 2, I and Q"
        )
    with np.errstate(all="ignore"):
        return np.array(array, dtype=native, order="C")


def usual_floats(argument: Any, name: str) -> np.ndarray:
    """Returns noise variances or gains as float32; or as float64, of which the core makes that."""
    array = as_array(name, argument)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{describe(name, array)}: it takes numbers that are not complex")
    is_float32 = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    with np.errstate(all="ignore"):
        return np.array(array, dtype=np.float32 if is_float32 else np.float64, order="C")


def usual_c_init(argument: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Returns c_init as uint32, one for each codeword."""
    array = as_array("c_init", argument)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{describe('c_init', array)}: it takes integers")
    if array.size and not (array.min() >= 0 and array.max() < 2**31):
        raise ValueError(f"{describe('c_init', array)}: a value is not between 0 and 2^31 - 1")
    try:
        return np.array(np.broadcast_to(array, shape), dtype=np.uint32, order="C")
    except ValueError:
        raise ValueError(f"{describe('c_init', array)}: it does not broadcast to the codewords, {shape}") from None


def scale_of(symbols: Any, noise_var: Any, is_inverse: bool) -> float:
    """Returns the factor that gives the symbols the mean energy 1 + N0, with the mean of the valid noise variances. Outliers of more
    than 16 times the median energy do not count: a constellation with noise has hardly any."""
    array = usual_symbols(symbols, "symbols")
    pairs = array.view(np.float32).reshape(-1, 2) if array.dtype.kind == "c" else array.reshape(-1, 2)
    with np.errstate(all="ignore"):
        energy = np.square(pairs.astype(np.float64)).sum(-1)
        energy = energy[(energy > 0) & (energy < np.inf)]
        noise = usual_floats(noise_var, "noise_var").astype(np.float64) if noise_var is not None else np.zeros(1)
        noise = 1 / noise if is_inverse else noise
    noise = noise[(noise > 0) & (noise < np.inf)]
    if energy.size == 0:
        raise ValueError('input_scale is "auto", and symbols has no energy')
    below, above = (energy.size - 1) // 2, energy.size // 2
    middle = np.partition(energy, (below, above))
    median = (middle[below] + middle[above]) / 2  # np.median(), which takes 10 us
    mean = energy[energy <= 16 * median].mean()
    return float(np.sqrt((1 + (noise.mean() if noise.size else 0)) / mean))


def bits_of(llrs: Any, sign: int) -> Any:
    """Returns the bits that LLRs stand for, int8; an LLR of 0 gives 0."""
    bits = llrs > 0 if sign else llrs < 0
    return bits.astype(np.int8) if hasattr(bits, "astype") else bits.char()  # PyTorch's int8
