# SPDX-License-Identifier: MIT
"""modulate(), the mapper of 3GPP TS 38.211 clause 5.1, and rate_recover(), which makes soft buffers of existing LLRs."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from softqam import _arrays, _names
from softqam._codeword import Codeword, check_call
from softqam._names import Modulation, integer

if TYPE_CHECKING:
    import numpy.typing as npt


@functools.lru_cache(maxsize=None)
def _points(n_bits: int) -> Any:
    """Returns the points by their labels as numbers, with b0 as the highest bit."""
    signs = 1 - 2 * (np.arange(2**n_bits) >> np.arange(n_bits)[::-1, None] & 1)
    if n_bits == 1:
        return signs[0] * (1 + 1j) / np.sqrt(2)
    levels = [0, 0]
    for k in reversed(range(n_bits)):  # 1; then 2 - 1 and 2 + 1, 4 - .., by the sign of the next bit
        levels[k % 2] = signs[k] * (2 ** ((n_bits - 1 - k) // 2) - levels[k % 2])
    return (levels[0] + 1j * levels[1]) * np.sqrt(1.5 / (2**n_bits - 1))


def modulate(bits: npt.ArrayLike, modulation: Modulation = "256qam", *, first_symbol: int = 0) -> npt.NDArray[np.complex64]:
    """Maps bits to symbols of unit mean energy: [..., n * bits per symbol] to [..., n] complex64.

    bits          0 and 1, integers or bool, b0 of the first symbol first.
    modulation    as demodulate() has it.
    first_symbol  position of the first symbol in its codeword: pi/2-BPSK turns the odd ones by 90 degrees.

        >>> symbols = softqam.modulate(rng.integers(0, 2, 8000), "256qam")
    """
    name, array = _names.modulation(modulation), _arrays.as_array("bits", bits)
    n_bits, first = _names.bits_per_symbol(name), integer("first_symbol", first_symbol, 0, 2**64 - 1)
    if array.size and (array.dtype.kind not in "iub" or not (array.min() >= 0 and array.max() <= 1)):
        raise ValueError(f"{_arrays.describe('bits', array)}: it takes integers, 0 and 1")
    if array.ndim == 0 or array.shape[-1] % n_bits:
        raise ValueError(f"{_arrays.describe('bits', array)}: its last axis is not {n_bits} bits for each symbol")
    of_symbols = array.reshape(*array.shape[:-1], array.shape[-1] // n_bits, n_bits).astype(np.int64, copy=False)
    numbers = of_symbols @ (1 << np.arange(n_bits)[::-1])
    points = _points(n_bits)
    if name == "pi2-bpsk":
        points, numbers = np.concatenate((points, 1j * points)), numbers + 2 * ((np.arange(numbers.shape[-1]) + first % 2) % 2)
    return np.asarray(points[numbers], np.complex64)


def _add(buffer: Any, where: np.ndarray, added: np.ndarray, limit: Any) -> None:
    """Adds values at different positions, limited; with limit None stores them."""
    if limit is None:
        buffer[where] = added
        return
    before = buffer[where].astype(np.float64)
    with np.errstate(all="ignore"):
        sums = np.clip(before + added, -limit, limit).astype(buffer.dtype)
        is_kept = ~(np.abs(before) <= limit) | (added == 0)  # beyond the limit, or NaN; and 0 changes no value, not even -0
    buffer[where] = np.where(is_kept, buffer[where], sums)


def rate_recover(llrs: npt.ArrayLike, codeword: Codeword, *, soft_buffers: Any = None, combine: bool = False,
                 llr_limit: int | None = None) -> npt.NDArray[Any]:  # fmt: skip
    """Makes an LDPC decoder's soft buffers of existing LLRs, as MATLAB's nrRateRecoverLDPC() does, with HARQ combining.

    llrs          [n_bits], descrambled, b0 of the codeword's first symbol first: what demodulate() gives without a codeword.
                  int8, int16, float16 or float32.
    codeword, soft_buffers, combine
                  as demodulate() has them; soft_buffers is one array. The certain 0 of a filler_value of None is positive.
    llr_limit     of sums: None is 127 for int8, 32767 for int16 and the largest finite value.

    Returns soft_buffers, or new ones, [n_code_blocks, max(n_cb, n_fill)] of the dtype of llrs. The values are those that
    demodulate() gives with the codeword, which is much faster: prefer it if there are symbols.
    """
    check_call(codeword, soft_buffers, combine)
    values = _arrays.as_array("llrs", llrs)
    output = {"int8": "s8", "int16": "s16", "float16": "f16", "float32": "f32"}.get(values.dtype.name)
    if output is None or values.shape != (codeword.n_bits,):
        raise ValueError(f"{_arrays.describe('llrs', values)}: it takes int8, int16, float16 or float32 of shape ({codeword.n_bits},)")
    limit = _names.LLR_LIMITS.get(output, np.finfo(np.float32).max)
    limit = limit if llr_limit is None else integer("llr_limit", llr_limit, 1, int(limit))
    shape = codeword.n_code_blocks, max(codeword.n_cb, codeword.n_fill)
    buffers = np.zeros(shape, values.dtype) if soft_buffers is None else soft_buffers
    if not isinstance(buffers, np.ndarray) or buffers.shape != shape or buffers.dtype != values.dtype:
        raise ValueError(f"{_arrays.describe('soft_buffers', np.asarray(buffers))}: it must be {values.dtype} of shape {shape}")
    fillers = slice(codeword.first_filler, codeword.first_filler + codeword.n_fillers)
    is_filler = np.zeros(codeword.n_cb, bool)
    is_filler[fillers] = True
    positions = np.flatnonzero(~is_filler)
    start = int(np.searchsorted(positions, codeword.k0))
    positions = np.concatenate((positions[start:], positions[:start]))
    certain_zero = limit if output in _names.LLR_SCALES else 1000
    filler_value = certain_zero if codeword.filler_value is None else codeword.filler_value
    for r, buffer in enumerate(buffers):
        first, n_bits = codeword.block(r)
        if n_bits == 0:
            continue
        if not combine:
            filled = buffer[: codeword.n_fill or codeword.n_cb]
            filled[:] = 0
            filled[fillers] = filler_value
        of_block = values[first : first + n_bits].reshape(-1, _names.bits_per_symbol(codeword.modulation))
        where = positions[np.arange(n_bits) % len(positions)].reshape(of_block.shape[::-1]).T.reshape(-1)
        added = of_block.reshape(-1)
        if n_bits <= len(positions):
            _add(buffer, where, added, limit if combine else None)
            continue
        if not combine:
            buffer[positions] = 0  # repeated LLRs are added to it
        # LLRs at one position are added in the order of symbols, as by demodulate(), because the order matters if a sum is limited.
        order = np.argsort(where, kind="stable")
        rank = np.arange(n_bits) - np.searchsorted(where[order], where[order])
        for k in range(-(-n_bits // len(positions))):
            chosen = order[rank == k]
            _add(buffer, where[chosen], added[chosen], limit)
    return buffers
