# SPDX-License-Identifier: MIT
"""The names of modulations, formats and backends, and the library's numbers for them."""
from __future__ import annotations

from typing import Mapping

from softqam._numbers import shown

# What softqam.h has.
MODULATIONS = {"bpsk": 1, "pi2-bpsk": 2, "qpsk": 3, "16qam": 4, "64qam": 5, "256qam": 6, "1024qam": 7}
OUTPUTS = {"s8": 0, "s16": 1, "f16": 2, "f32": 3, "u8": 4}
NOISE_FORMS = {"n0": 1, "inverse": 2}
BACKENDS = {"cpu": 0, "cuda": 1, "auto": 2}

# Defaults of the outputs that are numbers of steps; for f16 the limit of sums in soft buffers.
LLR_SCALES = {"s8": 6.0, "s16": 64.0}
LLR_LIMITS = {"s8": 127, "s16": 32767, "f16": 65504}

# NumPy's names of the outputs' types.
OUTPUT_DTYPES = {"s8": "int8", "s16": "int16", "f16": "float16", "f32": "float32", "u8": "uint8"}


def number(names: Mapping[str, int], argument: str, name: str) -> int:
    """The library's number for a name."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} is {shown(name)}: it takes one of {', '.join(names)}")
    try:
        return names[name.lower()]
    except KeyError:
        raise ValueError(f"{argument} is {shown(name)}: it takes one of {', '.join(names)}") from None
