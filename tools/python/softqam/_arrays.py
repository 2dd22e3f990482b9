# SPDX-License-Identifier: MIT
"""What NumPy makes of arguments that the core does not read: other dtypes and byte orders, lists.
The core calls these; each gives a C-contiguous array of the native byte order, or raises. Masked arrays are refused."""
from __future__ import annotations

from typing import Any

import numpy as np

SYMBOL_DTYPES = ("complex64", "float32", "float16", "int16", "int8")


def describe(name: str, array: np.ndarray) -> str:
    return f"{name} is {array.dtype} of shape {array.shape}"


def refuse_masked(name: str, argument: Any) -> None:
    """What reads a masked array's memory does not see its mask."""
    for array in (argument, *argument) if isinstance(argument, (list, tuple)) else (argument,):
        if isinstance(array, np.ma.MaskedArray):
            advice = "filled(numpy.nan) makes erasures of what is masked" if array.dtype.kind in "fc" else "give plain values"
            raise TypeError(f"{name} is a masked array: {advice}")


def as_array(name: str, argument: Any) -> np.ndarray:
    refuse_masked(name, argument)
    try:
        return np.asarray(argument)
    except Exception as error:
        why = " ".join(str(error).split())
        raise TypeError(f"{name} is {type(argument).__name__}, of which NumPy makes no array: {why}") from error


def usual_symbols(argument: Any, name: str) -> np.ndarray:
    """complex64, or what comes in pairs."""
    array = as_array(name, argument)
    native = array.dtype.newbyteorder("=")
    if native == np.complex128:
        native = np.dtype(np.complex64)
    if native.name not in SYMBOL_DTYPES:
        raise TypeError(
            f"{describe(name, array)}: it takes complex64 or complex128, or float32, float16, int16 or int8 with a "
            "last axis of 2, I and Q"
        )
    with np.errstate(all="ignore"):
        return np.array(array, dtype=native, order="C")


def usual_floats(argument: Any, name: str) -> np.ndarray:
    """Noise variances or gains: float32; or float64, of which the core makes that. One integer is a number as well as Python's."""
    array = as_array(name, argument)
    if array.ndim == 0 and array.dtype.kind in "iu":
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        raise TypeError(f"{describe(name, array)}: it takes float32, float64 or float16")
    with np.errstate(all="ignore"):
        return np.array(array, dtype=np.float64 if array.dtype.itemsize > 4 else np.float32, order="C")


def usual_c_init(argument: Any, shape: tuple[int, ...]) -> np.ndarray:
    """uint32, one for each codeword."""
    array = as_array("c_init", argument)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{describe('c_init', array)}: it takes integers")
    if array.size and not (array.min() >= 0 and array.max() < 2**31):
        raise ValueError(f"{describe('c_init', array)}: a value is not between 0 and 2^31 - 1")
    try:
        return np.array(np.broadcast_to(array, shape), dtype=np.uint32, order="C")
    except ValueError:
        raise ValueError(f"{describe('c_init', array)}: it does not broadcast to the codewords, {shape}") from None
