# SPDX-License-Identifier: MIT
"""Pictures of symbols and their soft bits or LLRs, drawn by matplotlib: figure() of arrays, softqam-plot of files.

From arrays to a picture: panels.py draws, by what measure.py finds out about the symbols. From files to arrays: command.py
has the options and is softqam-plot, files.py knows formats and metadata, sample.py takes a sample, or makes one. The archive
in the project's build has just this folder: nothing but the example needs the rest of the package.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure"]


def figure(symbols: Any, soft: Any, modulation: str = "256qam", **options: Any) -> Figure:
    """A matplotlib Figure of symbols, [n] complex, and what they were demodulated to, [n * bits] of a demodulator's dtype.

    The options: sign (0), axis ("i"), panels (all), title (""), size in pixels, input_scale (1), positions of the
    symbols in the codeword (0, 1, ..), which pi/2-BPSK needs to know.
    """
    from .panels import figure_of_arrays  # matplotlib takes a while

    return figure_of_arrays(symbols, soft, modulation, **options)
