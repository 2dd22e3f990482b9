# SPDX-License-Identifier: MIT
"""Arguments that are names or numbers: their types, the library's numbers for names, and what is wrong with others."""
from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, Literal, Mapping, Protocol, TypedDict, TypeVar, get_args

import numpy as np

from softqam import _core

if TYPE_CHECKING:
    import numpy.typing as npt

    from softqam._statistics import Statistics

# Upper and lower case do not matter at run time; type checkers know these spellings.
Modulation = Literal["bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam",
                     "BPSK", "pi/2-BPSK", "QPSK", "16QAM", "64QAM", "256QAM", "1024QAM"]  # fmt: skip
Output = Literal["s8", "s16", "f16", "f32", "u8", "hard"]
NoiseForm = Literal["n0", "inverse"]
Backend = Literal["cpu", "cuda", "auto"]

# The numbers are those of softqam.h.
MODULATIONS = {name: value for value, name in enumerate(get_args(Modulation)[:7], 1)}
OUTPUTS = {name: value for value, name in enumerate(get_args(Output)[:5])}
OUTPUTS["hard"] = OUTPUTS["f32"]  # whose signs are the bits
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
ScalarT = TypeVar("ScalarT", bound=np.generic)


class Settings(TypedDict, total=False):
    """Settings of a Demodulator and of demodulate(), except the output."""

    sign: Literal[0, 1]
    llr_scale: float | None
    llr_limit: int | None
    input_scale: float | Literal["auto"] | None
    noise_form: NoiseForm
    noise_floor: float | None


class Place(TypedDict, total=False):
    """Settings of a Demodulator that say what works on arrays in host memory."""

    backend: Backend
    threads: int
    device: int | None


class Call(TypedDict, total=False):
    """Arguments of a call, except those that say where the LLRs go."""

    gain: Any
    c_init: npt.ArrayLike | None
    first_symbol: int
    scrambling_offset: int
    layers: int | None
    statistics: Statistics | None
    stream: Any


class NewCall(Call, total=False):
    """Arguments of a call that makes the array that it returns."""

    planes: int | None
    codeword: Any
    soft_buffers: None
    combine: bool
    out: None


class SettingsAndPlace(Settings, Place):
    pass


class SettingsAndCall(Settings, Call):
    pass


class SettingsAndNewCall(Settings, NewCall):
    pass


def shown(value: object) -> str:
    """Returns a value for a message: on one line, of a length that can be read."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no more than some thousand digits
        text = f"{type(value).__name__} of too many digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def number(names: Mapping[str, int], argument: str, name: str) -> int:
    """Returns the library's number for a name."""
    wrong = f"{argument} is {shown(name)}: it takes one of {', '.join(names)}"
    if not isinstance(name, str):
        raise TypeError(wrong)
    if name.lower() not in names:
        raise ValueError(wrong)
    return names[name.lower()]


def modulation(name: str, argument: str = "modulation") -> str:
    """Returns the name in lower case, of which MODULATIONS has the number."""
    usual = name.lower().replace("pi/2", "pi2") if isinstance(name, str) else ""
    if usual not in MODULATIONS:
        number(MODULATIONS, argument, name)
    return usual


def bits_per_symbol(name: str) -> int:
    return _core.bits_per_symbol(MODULATIONS[modulation(name)])


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
