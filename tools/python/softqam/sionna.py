# SPDX-License-Identifier: MIT
"""Demapper, in the place of Sionna's own: `from softqam.sionna import Demapper`. Needs Sionna 2, which is on PyTorch."""
# mypy: ignore-errors
import functools
import math
from typing import Any, Optional, Tuple

import numpy as np
import torch
from sionna.phy import mapping

import softqam

__all__ = ["Demapper"]

# Noise variances below count as this one, as Sionna has it: no noise is none that erases.
_MIN_NOISE_VAR = float(np.finfo(np.float32).tiny)
_MODULATIONS = {2: "qpsk", 4: "16qam", 6: "64qam", 8: "256qam", 10: "1024qam"}


@functools.lru_cache(maxsize=None)
def _demodulator(bits: int) -> softqam.Demodulator:
    """LLRs in nats, positive for bit 1: Sionna's."""
    return softqam.Demodulator(_MODULATIONS[bits], output="f32", sign=1)


@torch.library.custom_op("softqam::demap_qam", mutates_args=())
def _demap_qam(symbols: torch.Tensor, noise_var: torch.Tensor, bits: int) -> torch.Tensor:
    """[..., n] complex64 and float32 that broadcasts to it: [..., n * bits] float32."""
    noise_var = noise_var.detach()
    # Not by PyTorch on the CPU, whose threads wait for each other.
    limited = noise_var.clamp_min(_MIN_NOISE_VAR) if noise_var.is_cuda else np.maximum(noise_var.numpy(), np.float32(_MIN_NOISE_VAR))
    llrs: torch.Tensor = _demodulator(bits)(symbols.detach().resolve_conj(), limited)
    return llrs


@_demap_qam.register_fake
def _(symbols: torch.Tensor, noise_var: torch.Tensor, bits: int) -> torch.Tensor:
    return symbols.new_empty((*symbols.shape[:-1], symbols.shape[-1] * bits), dtype=torch.float32)


def _levels(n_bits: int) -> Tuple[np.ndarray, float]:
    """Coordinates of an axis by their bits, read as a number, and the distance between neighbours (38.211 clause 5.1)."""
    levels = np.array([1.0, -1.0])
    for bit in range(1, n_bits):
        levels = np.concatenate([2**bit - levels, levels - 2**bit])
    unit = 1 / math.sqrt(2 * np.mean(levels**2))
    return levels * unit, 2 * unit


def _slopes(n_bits: int) -> Tuple[np.ndarray, float]:
    """N0 times the derivative of each bit's LLR, [interval, bit], and the length of an interval. Max-log is linear between
    the midpoints of neighbouring levels: the slope is twice the nearest level with bit 1, less the nearest with bit 0."""
    levels, spacing = _levels(n_bits)
    middles = (np.arange(len(levels)) - len(levels) / 2 + 0.5) * spacing
    distances = np.abs(middles[:, None] - levels)
    labels = np.arange(len(levels))
    slopes = []
    for k in reversed(range(n_bits)):
        zero, one = (np.where(labels >> k & 1 == bit, distances, np.inf).argmin(axis=1) for bit in (0, 1))
        slopes.append(2 * (levels[one] - levels[zero]))
    return np.stack(slopes, axis=1), spacing


def _keep_for_gradient(ctx: Any, inputs: Tuple[torch.Tensor, torch.Tensor, int], output: torch.Tensor) -> None:
    symbols, noise_var, ctx.bits = inputs
    ctx.save_for_backward(symbols, noise_var, output)


def _gradient(ctx: Any, gradient: torch.Tensor) -> Tuple[Optional[torch.Tensor], Optional[torch.Tensor], None]:
    symbols, noise_var, llrs = ctx.saved_tensors
    limited = noise_var.clamp_min(_MIN_NOISE_VAR)
    of_symbols = of_noise_var = None
    if ctx.needs_input_grad[0]:
        n_bits = ctx.bits // 2
        table, spacing = _slopes(n_bits)
        by_interval = torch.as_tensor(table, dtype=torch.float32, device=symbols.device)
        components = torch.view_as_real(symbols.resolve_conj())
        is_finite = components.isfinite().all(-1, keepdim=True)
        interval = torch.floor(torch.where(is_finite, components, 0.0) / spacing) + 2 ** (n_bits - 1)
        slope = by_interval[interval.clamp(0, 2**n_bits - 1).long()]
        of_axes = gradient.reshape(*symbols.shape, n_bits, 2).transpose(-1, -2)
        of_components = (of_axes * slope).sum(-1) * is_finite / limited.unsqueeze(-1)
        of_symbols = torch.view_as_complex(of_components.contiguous())
    if ctx.needs_input_grad[1]:
        products = (gradient * llrs).reshape(*symbols.shape, ctx.bits)
        slopes = (-products.sum(-1) / limited).sum_to_size(noise_var.shape)
        of_noise_var = torch.where(noise_var >= _MIN_NOISE_VAR, slopes, 0.0)
    return of_symbols, of_noise_var, None


_demap_qam.register_autograd(_gradient, setup_context=_keep_for_gradient)


class Demapper(mapping.Demapper):
    """Sionna's Demapper, with its arguments, call, sign and units; max-log LLRs of QAM by softqam.

        >>> demapper = Demapper("maxlog", "qam", 8)
        >>> llrs = demapper(y, no)                      # [..., n] to [..., 8 n]

    Sionna's own code answers calls for all else: "app", `hard_out`, a prior, "pam" and custom constellations, more than 10
    bits a symbol, double precision, and tensors on a GPU where softqam was built without CUDA.

    Symbols and noise variances that are not finite give LLRs of 0 where Sionna's are NaN; no LLR is infinite.
    """

    def __init__(self, demapping_method: str, *arguments: Any, hard_out: bool = False, **options: Any) -> None:
        super().__init__(demapping_method, *arguments, hard_out=hard_out, **options)
        bits = self.constellation.num_bits_per_symbol
        is_supported = (
            demapping_method == "maxlog"
            and not hard_out
            and self.constellation.constellation_type == "qam"
            and bits in _MODULATIONS
            and self.precision == "single"
            and (torch.device(self.device).type == "cpu" or softqam.built_with_cuda)
        )
        self._bits = bits if is_supported else 0

    def call(self, y: torch.Tensor, no: torch.Tensor, prior: Optional[torch.Tensor] = None) -> torch.Tensor:
        if prior is not None or not self._bits:
            return super().call(y, no, prior)
        return _demap_qam(y, no, self._bits)
