# SPDX-License-Identifier: MIT
"""Arguments that are names or numbers: their types, the library's numbers for names, and what is wrong with others."""
from __future__ import annotations

import math
import numbers
from typing import Literal, Mapping, Protocol, TypeVar, get_args

Modulation = Literal["bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"]
Output = Literal["s8", "s16", "f16", "f32", "u8"]
NoiseForm = Literal["n0", "inverse"]
Backend = Literal["cpu", "cuda", "auto"]

# As softqam.h numbers them.
MODULATIONS = {name: value for value, name in enumerate(get_args(Modulation), 1)}
OUTPUTS = {name: value for value, name in enumerate(get_args(Output))}
NOISE_FORMS = {name: value for value, name in enumerate(get_args(NoiseForm), 1)}
BACKENDS = {name: value for value, name in enumerate(get_args(Backend))}

# Defaults of the outputs that are numbers of steps; for f16 the limit of sums in soft buffers.
LLR_SCALES = {"s8": 6.0, "s16": 64.0}
LLR_LIMITS = {"s8": 127, "s16": 32767, "f16": 65504}

# NumPy's names of the outputs' types.
OUTPUT_DTYPES = {"s8": "int8", "s16": "int16", "f16": "float16", "f32": "float32", "u8": "uint8"}


class Tensor(Protocol):
    """An array of PyTorch, which is not always there."""

    def data_ptr(self) -> int: ...


TensorT = TypeVar("TensorT", bound=Tensor)
ArrayT = TypeVar("ArrayT")


def shown(value: object) -> str:
    """A value for a message: on one line, of a length that can be read."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no more than some thousand digits
        text = f"{type(value).__name__} of too many digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def number(names: Mapping[str, int], argument: str, name: str) -> int:
    """The library's number for a name."""
    wrong = f"{argument} is {shown(name)}: it takes one of {', '.join(names)}"
    if not isinstance(name, str):
        raise TypeError(wrong)
    if name.lower() not in names:
        raise ValueError(wrong)
    return names[name.lower()]


def integer(name: str, value: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {shown(value)}, no integer")
    if not least <= value <= most:
        raise ValueError(f"{name} is {shown(int(value))}, not between {least} and {most}")
    return int(value)


def real(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {shown(value)}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) < 2.0**128:
        raise ValueError(f"{name} is {shown(value)}, not finite in binary32")
    return number
