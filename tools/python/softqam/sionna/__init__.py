# SPDX-License-Identifier: MIT
"""softqam inside Sionna 2, which is on PyTorch: `from softqam.sionna import Demapper`."""
# mypy: ignore-errors
from softqam.sionna._demapper import Demapper

__all__ = ["Demapper"]
