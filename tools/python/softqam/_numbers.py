# SPDX-License-Identifier: MIT
"""Numbers among a function's arguments."""
from __future__ import annotations

import math
import numbers


def shown(value: object) -> str:
    """A value for a message: on one line, of a length that can be read."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no more than some thousand digits
        text = f"{type(value).__name__} of too many digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


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
