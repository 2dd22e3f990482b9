# SPDX-License-Identifier: MIT
"""Integers among a function's arguments."""
from __future__ import annotations

import numbers


def integer(name: str, value: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}, no integer")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}, not between {least} and {most}")
    return int(value)
