# SPDX-License-Identifier: MIT
"""What arguments and results are, for type checkers."""
from __future__ import annotations

from typing import Literal, Protocol, TypeVar

Modulation = Literal["bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"]
Output = Literal["s8", "s16", "f16", "f32", "u8"]
NoiseForm = Literal["n0", "inverse"]
Backend = Literal["cpu", "cuda", "auto"]


class Tensor(Protocol):
    """An array of PyTorch, which is not always there."""

    def data_ptr(self) -> int: ...


TensorT = TypeVar("TensorT", bound=Tensor)
ArrayT = TypeVar("ArrayT")
