# SPDX-License-Identifier: MIT
"""Demapper, in place of Sionna's own."""
# mypy: ignore-errors
import functools
import inspect
import math
from typing import Any, List, Optional, Tuple

import numpy as np
import torch
from sionna.phy import mapping
from sionna.phy.config import Precision
from torch._C._functorch import TransformType, get_interpreter_stack
from torch.autograd import forward_ad

import softqam

# The least noise variance, as in Sionna: smaller ones, even 0, count as this one instead of making erasures.
_MIN_NOISE_VAR = float(np.finfo(np.float32).tiny)
MODULATIONS = {2: "qpsk", 4: "16qam", 6: "64qam", 8: "256qam", 10: "1024qam"}


@functools.lru_cache(maxsize=None)
def demodulator(bits: int) -> softqam.Demodulator:
    """Returns a Demodulator as Sionna needs it: LLRs in nats, positive for bit 1, Sionna's least noise variance."""
    return softqam.Demodulator(MODULATIONS[bits], output="f32", sign=1, noise_floor=_MIN_NOISE_VAR)


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor as softqam takes it: without gradient."""
    return tensor.detach() if tensor.requires_grad else tensor


def plain_noise(noise_var: torch.Tensor) -> torch.Tensor:
    """Returns noise variances as softqam takes them. One for all symbols has an axis, so that NaN makes erasures instead of an error."""
    return plain(noise_var if noise_var.ndim else noise_var.view(1))


# Not torch.library.custom_op(), whose wrappers take as long as demapping a slot.
_NAME = "softqam::demap_qam"
torch.library.define(_NAME, "(Tensor symbols, Tensor noise_var, int bits) -> Tensor", tags=torch.Tag.pt2_compliant_tag)
_demap_qam = torch.ops.softqam.demap_qam.default


@torch.library.impl(_NAME, ("cpu", "cuda"))
def _(symbols: torch.Tensor, noise_var: torch.Tensor, bits: int) -> torch.Tensor:
    """Demaps symbols [..., n] complex64, with noise_var float32 that broadcasts to that, to [..., n * bits] float32."""
    return demodulator(bits)(plain(symbols), plain_noise(noise_var))


@torch.library.register_fake(_NAME)
def _(symbols: torch.Tensor, noise_var: torch.Tensor, bits: int) -> torch.Tensor:
    return symbols.new_empty((*symbols.shape[:-1], symbols.shape[-1] * bits), dtype=torch.float32)


def _slopes(n_bits: int) -> Tuple[List[List[float]], float]:
    """Returns N0 times the derivative of the LLRs of an axis, [interval, bit], and the length of an interval. Max-log is linear between
    the midpoints of neighbouring levels (38.211 clause 5.1), so softqam's LLRs there give the slopes, which are even multiples of the length."""
    spacing = math.sqrt(6 / (4**n_bits - 1))
    middles = np.arange(-(2 ** (n_bits - 1)), 2 ** (n_bits - 1) + 1) * spacing
    llrs = demodulator(2 * n_bits)(middles * (1 + 1j), 1.0).reshape(-1, n_bits, 2)[..., 0]
    slopes = 2 * spacing * np.rint(np.diff(llrs, axis=0) / (2 * spacing**2))
    return slopes.tolist(), spacing


# The keys are bits of an axis. The values are lists: torch.compile() cannot trace a backward that reads a global tensor.
_SLOPES = {n_bits: _slopes(n_bits) for n_bits in range(1, 6)}


class _DemapQam(torch.autograd.Function):
    """Adds the gradient to the operator. Registered with the operator, it would cost every call 9 us."""

    @staticmethod
    def forward(symbols: torch.Tensor, noise_var: torch.Tensor, bits: int) -> torch.Tensor:
        return _demap_qam(symbols, noise_var, bits)

    forward.__signature__ = inspect.signature(forward)  # else apply() makes it in every call, in 15 us

    @staticmethod
    def setup_context(ctx: Any, inputs: Tuple[torch.Tensor, torch.Tensor, int], output: torch.Tensor) -> None:
        symbols, noise_var, ctx.bits = inputs
        ctx.save_for_backward(symbols, noise_var)  # not the output, which callers may change in place

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Tuple[Optional[torch.Tensor], Optional[torch.Tensor], None]:
        symbols, noise_var = ctx.saved_tensors
        limited = noise_var.clamp_min(_MIN_NOISE_VAR)
        of_symbols = of_noise_var = None
        if ctx.needs_input_grad[0]:
            of_symbols = _gradient_of_symbols(gradient, symbols, limited, ctx.bits // 2)
        if ctx.needs_input_grad[1]:
            demap = _DemapQam.apply if torch.is_grad_enabled() else _demap_qam
            llrs = demap(symbols, noise_var, ctx.bits)
            products = (gradient * llrs).reshape(*symbols.shape, ctx.bits)
            slopes = (-products.sum(-1) / limited).sum_to_size(noise_var.shape)
            of_noise_var = torch.where(noise_var >= _MIN_NOISE_VAR, slopes, 0.0)
        return of_symbols, of_noise_var, None

    @staticmethod
    def vmap(*arguments: Any) -> None:
        """Exists because jacrev() requires it, though its vmap only batches gradients. Sionna's own code handles all other batching."""
        raise NotImplementedError


def _gradient_of_symbols(gradient: torch.Tensor, symbols: torch.Tensor, noise_var: torch.Tensor, n_bits: int) -> torch.Tensor:
    slopes, spacing = _SLOPES[n_bits]
    components = torch.view_as_real(symbols.resolve_conj())
    is_finite = components.isfinite().all(-1, keepdim=True)
    interval = torch.floor(torch.where(is_finite, components, 0.0) / spacing) + 2 ** (n_bits - 1)
    slope = torch.tensor(slopes, dtype=torch.float32, device=symbols.device)[interval.clamp(0, 2**n_bits - 1).long()]
    of_axes = gradient.reshape(*symbols.shape, n_bits, 2).transpose(-1, -2)
    of_components = (of_axes * slope).sum(-1) * is_finite / noise_var.unsqueeze(-1)
    return torch.view_as_complex(of_components.contiguous())


def _is_transformed() -> bool:
    """Returns whether a forward-mode derivative is computed, which the operator would ignore, or a transform of torch.func other than
    grad() and vjp() is active, in which it cannot be called."""
    if not torch._C._are_functorch_transforms_active():
        return forward_ad._current_level >= 0
    return torch.compiler.is_compiling() or any(level.key() != TransformType.Grad for level in get_interpreter_stack())


class Demapper(mapping.Demapper):
    """Sionna's Demapper, with its arguments, call, sign and units; max-log LLRs of QAM by softqam.

        >>> demapper = Demapper("maxlog", "qam", 8)
        >>> llrs = demapper(y, no)                      # [..., n] to [..., 8 n]

    Sionna's own code handles all else: "app", `hard_out`, a prior, "pam" and custom constellations, more than 10
    bits a symbol, double precision, tensors on a GPU if softqam was built without CUDA, and calls under
    torch.autograd.forward_ad, torch.func.jvp, jacfwd and vmap.

    Symbols and noise variances that are not finite give LLRs of 0 where Sionna's are NaN; no LLR is infinite.
    """

    def __init__(self, demapping_method: str, constellation_type: Optional[str] = None, num_bits_per_symbol: Optional[int] = None,
                 constellation: Optional[mapping.Constellation] = None, hard_out: bool = False,
                 precision: Optional[Precision] = None, device: Optional[str] = None, **kwargs: Any) -> None:  # fmt: skip
        super().__init__(demapping_method, constellation_type, num_bits_per_symbol, constellation, hard_out, precision, device, **kwargs)
        bits = self.constellation.num_bits_per_symbol
        is_supported = (
            demapping_method == "maxlog"
            and not hard_out
            and self.constellation.constellation_type == "qam"
            and bits in MODULATIONS
            and self.precision == "single"
            and (torch.device(self.device).type == "cpu" or softqam.built_with_cuda)
        )
        self._bits = bits if is_supported else 0
        self._takes = torch.complex64, torch.float32, torch.device(self.device)
        self._built = True  # build() has nothing to do with an input's shape

    def __call__(self, y: Any, no: Any, prior: Any = None) -> torch.Tensor:
        """Skips Block's conversion of the arguments if there is nothing to convert but a number, for which Block takes 25 us."""
        if isinstance(no, float) and self._bits and not torch.compiler.is_compiling():
            no = torch.full((1,), no, dtype=torch.float32, device=self._takes[2])
        if prior is None and isinstance(y, torch.Tensor) and isinstance(no, torch.Tensor):
            if (y.dtype, no.dtype, y.device) == self._takes and no.device == y.device:
                return torch.nn.Module.__call__(self, y, no)
        return super().__call__(y, no, prior)

    def call(self, y: torch.Tensor, no: torch.Tensor, prior: Optional[torch.Tensor] = None) -> torch.Tensor:
        if prior is not None or not self._bits or not y.is_complex() or _is_transformed():
            return super().call(y, no, prior)
        if torch.is_grad_enabled() and (y.requires_grad or no.requires_grad):
            return _DemapQam.apply(y, no, self._bits)
        return _demap_qam(y, no, self._bits)
