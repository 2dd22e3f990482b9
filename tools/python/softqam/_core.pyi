# SPDX-License-Identifier: MIT
"""The extension module: core/module.cpp. Numbers in place of names, 0 for defaults."""
from typing import Any, Callable

import numpy as np

version: str
built_with_cuda: bool

def bits_per_symbol(modulation: int, /) -> int: ...
def gold_sequence(c_init: int, first: int, n: int, bits: np.ndarray, /) -> None: ...

class Context:
    def __init__(self, backend: int, n_threads: int, device: int, /) -> None: ...

class Codeword:
    def __init__(self, bits_per_symbol: int, layers: int, filler_value: float | None, numbers: list[int], /) -> None: ...
    def block(self, r: int, /) -> tuple[int, int]: ...

def ldpc_codeword(
    n_bits: int, tb_size: int, base_graph: int, code_rate: float, rv: int, bits_per_symbol: int, layers: int, tbs_lbrm: int, n_ref: int, /
) -> tuple[tuple[int, int, int, int, int], tuple[int, int, int, int, int, int, int, int, int, int]]: ...  # fmt: skip

class ArrayLibrary:
    def __init__(self, array_type: type, is_plain: Callable[[Any], bool], of_host: Callable[[np.ndarray], Any],
                 empty: Callable[[tuple[int, ...], str, int], Any], number: Callable[[float, int, int], Any], /) -> None: ...  # fmt: skip

class Demodulator:
    def __init__(self, where: Context | None, modulation: int, output: int, sign: int, llr_scale: float, llr_limit: int,
                 input_scale: float, noise_form: int, noise_floor: float, dtype: np.dtype[Any], certain_zero: float, /) -> None: ...  # fmt: skip
    # options: softqam._gpu.Options
    def host(self, symbols: Any, noise_var: Any, gain: Any, options: tuple[Any, ...], out: Any, /) -> Any: ...
    def device(self, symbols: Any, noise_var: Any, gain: Any, options: tuple[Any, ...],
               make_out: Callable[[tuple[int, ...]], Any], stream: int, /) -> None: ...  # fmt: skip
    def of_library(self, library: ArrayLibrary, symbols: Any, noise_var: Any, gain: Any, options: tuple[Any, ...],
                          out: Any, /) -> Any: ...  # fmt: skip
    def noise_value(self, number: float, name: str, /) -> float: ...
    @property
    def backend(self) -> str: ...
    @property
    def backend_detail(self) -> str: ...
