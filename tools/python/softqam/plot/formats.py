# SPDX-License-Identifier: MIT
"""The formats of symbols and of soft bits."""
from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """NumPy's type of a value, the suffixes of files, the scale of symbols, and the value of no current."""

    dtype: str
    suffixes: tuple[str, ...]
    scale: float = 1
    zero: int = 0


INPUT_FORMATS = {
    "cf32": Format("f4", (".cf32", ".fc32", ".cfile")),
    "cs16": Format("i2", (".cs16", ".sc16", ".ci16"), 1 / 32768),
    "cs8": Format("i1", (".cs8", ".sc8", ".ci8"), 1 / 128),
    "cf16": Format("f2", (".cf16",)),
    "cu8": Format("u1", (".cu8",), 1 / 128, 128),
    "cs32": Format("i4", (".cs32", ".ci32"), 1 / 2**31),
    "cf64": Format("f8", (".cf64",)),
}
SOFT_FORMATS = {
    "u8": Format("u1", (".u8",)),
    "s8": Format("i1", (".s8",)),
    "s16": Format("i2", (".s16",)),
    "f16": Format("f2", (".f16",)),
    "f32": Format("f4", (".f32",)),
}
