# SPDX-License-Identifier: MIT
"""nrSymbolDemodulate(), with the signature of MATLAB's 5G Toolbox and of py3gpp."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from softqam import _arrays, _names
from softqam._demodulator import demodulate
from softqam._names import TensorT, shown

if TYPE_CHECKING:
    import numpy.typing as npt


def _is_column(array: Any) -> bool:
    shape = getattr(array, "shape", None)
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 1


def _variances(nVar: Any) -> Any:
    """Returns variances as an array, and refuses negative ones."""
    variances = _arrays.as_array("nVar", nVar)
    if variances.dtype.kind not in "iuf":
        raise TypeError(f"{_arrays.describe('nVar', variances)}, neither a number nor an array of numbers")
    if np.any(variances < 0):
        raise ValueError(f"nVar is {shown(nVar)}: a variance is not negative")
    return variances


@overload
def nrSymbolDemodulate(sym: TensorT, mod: str, nVar: Any = 1e-10, DecisionType: str = "soft") -> TensorT: ...


@overload
def nrSymbolDemodulate(sym: npt.ArrayLike, mod: str, nVar: Any = 1e-10, DecisionType: Literal["soft"] = "soft") -> npt.NDArray[np.float32]: ...


@overload
def nrSymbolDemodulate(sym: npt.ArrayLike, mod: str, nVar: Any = 1e-10, DecisionType: str = "soft") -> npt.NDArray[Any]: ...


def nrSymbolDemodulate(sym: Any, mod: str, nVar: Any = 1e-10, DecisionType: str = "soft") -> Any:
    """Returns the LLRs, or bits, of symbols, as MATLAB's and py3gpp's function of this name does: exact max-log.

    sym           a column [n, 1], as MATLAB has it, or [..., n]: complex, unit mean energy.
    mod           "BPSK", "pi/2-BPSK", "QPSK", "16QAM", "64QAM", "256QAM" or "1024QAM".
    nVar          variance of the complex noise, not negative; less than 1e-10 counts as 1e-10. Also an array that
                  broadcasts to sym. Hard decisions do not need it.
    DecisionType  "soft": float32 LLRs in nats, positive for bit 0; "hard": int8 bits. In upper or lower case.

    Returns a column [n * bits per symbol, 1] for a column, [..., n * bits per symbol] for other shapes.
    """
    if not isinstance(DecisionType, str) or DecisionType.lower() not in ("soft", "hard"):
        raise ValueError(f"DecisionType is {shown(DecisionType)}, not 'soft' or 'hard'")
    modulation: Any = _names.modulation(mod, "mod")
    is_hard = DecisionType.lower() == "hard"
    noise_var: Any = 1.0 if is_hard else _variances(nVar)
    sym = _arrays.as_array("sym", sym) if isinstance(sym, (list, tuple)) else sym
    is_complex = sym.is_complex() if hasattr(sym, "is_complex") else getattr(getattr(sym, "dtype", None), "kind", "c") == "c"
    if not is_complex:  # not I and Q
        raise TypeError(f"{_arrays.describe('sym', sym)}: it takes complex numbers")
    is_column = _is_column(sym)
    if is_column:
        sym = sym.reshape(-1)
        noise_var = noise_var.reshape(-1) if _is_column(noise_var) else noise_var
    try:
        result: Any = demodulate(sym, modulation, noise_var, output="hard" if is_hard else "f32", noise_floor=1e-10)
    except (TypeError, ValueError) as error:
        error.args = (str(error).replace("symbols is", "sym is").replace("noise_var is", "nVar is"),)
        raise
    return result.reshape(-1, 1) if is_column else result
