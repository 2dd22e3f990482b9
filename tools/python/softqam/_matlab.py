# SPDX-License-Identifier: MIT
"""nrSymbolDemodulate(), with the signature of MATLAB's 5G Toolbox and of py3gpp."""
from __future__ import annotations

from typing import Any

import numpy as np

from softqam import _names
from softqam._demodulator import demodulate


def nrSymbolDemodulate(sym: Any, mod: str, nVar: Any = 1e-10, DecisionType: str = "soft") -> np.ndarray:
    """LLRs, or bits, of symbols, as MATLAB's and py3gpp's function of this name: exact max-log.

    sym           [..., n] complex, unit mean energy.
    mod           "BPSK", "pi/2-BPSK", "QPSK", "16QAM", "64QAM", "256QAM" or "1024QAM".
    nVar          variance of the complex noise, at least 1e-10; also an array that broadcasts to [..., n]. Hard
                  decisions do without it.
    DecisionType  "soft": float32 LLRs in nats, positive for bit 0; "hard": int8 bits.

    Returns [..., n * bits per symbol].
    """
    if DecisionType not in ("soft", "hard"):
        raise ValueError(f"DecisionType is {DecisionType!r}, not 'soft' or 'hard'")
    modulation = mod.lower().replace("pi/2", "pi2") if isinstance(mod, str) else mod
    _names.number(_names.MODULATIONS, "mod", modulation)
    if DecisionType == "hard":
        bits = demodulate(sym, modulation, 1.0, output="f32") < 0
        return bits.astype(np.int8) if hasattr(bits, "astype") else bits.char()  # PyTorch's int8
    try:
        noise_var = np.maximum(nVar, 1e-10, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"nVar is {nVar!r:.60}, neither a number nor an array of numbers") from None
    return demodulate(sym, modulation, noise_var, output="f32")
