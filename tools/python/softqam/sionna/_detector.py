# SPDX-License-Identifier: MIT
"""MaximumLikelihoodDetector, in place of Sionna's own: two streams jointly."""
# mypy: ignore-errors
from typing import Any, Optional, Tuple

import torch
from sionna.phy import mapping, mimo, ofdm
from sionna.phy.config import Precision
from torch.autograd import forward_ad

import softqam
from softqam.sionna._demapper import MODULATIONS, demodulator, plain


@torch.library.custom_op("softqam::demap_jointly", mutates_args=())
def _demap_jointly(z: torch.Tensor, gram: torch.Tensor, bits: int) -> torch.Tensor:
    """Demaps z [..., 2] and gram [..., 2, 2], complex64 of noise variance 1, to [..., 2, bits] float32."""
    symbols, matrices = plain(z).reshape(-1, 2), plain(gram).reshape(-1, 2, 2)
    return demodulator(bits).joint(symbols, matrices, 1.0).reshape(*z.shape, bits)


@_demap_jointly.register_fake
def _(z: torch.Tensor, gram: torch.Tensor, bits: int) -> torch.Tensor:
    return z.new_empty((*z.shape, bits), dtype=torch.float32)


def matched_filter(y: torch.Tensor, h: torch.Tensor, s: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """Returns z and the Gram matrix for joint demapping, whitened to noise variance 1 as by Sionna's detectors. Has no derivative."""
    if forward_ad._current_level >= 0:  # PyTorch itself refuses backward()
        raise RuntimeError("MaximumLikelihoodDetector has no derivative, which forward mode asks for")
    y, h = mimo.whiten_channel(y, h, s, return_s=False)
    return (h.mH @ y.unsqueeze(-1)).squeeze(-1), h.mH @ h


class _Joint(torch.nn.Module):
    """Demaps two streams jointly."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self._bits = bits

    def forward(self, y: torch.Tensor, h: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return _demap_jointly(*matched_filter(y, h, s), self._bits)


class MaximumLikelihoodDetector(ofdm.OFDMDetector):
    """Sionna's ofdm.MaximumLikelihoodDetector, with its arguments, call, sign and units; max-log LLRs of two streams by softqam, exact
    and without a derivative.

        >>> detector = MaximumLikelihoodDetector("bit", "maxlog", resource_grid, stream_management, "qam", 6)
        >>> receiver = PUSCHReceiver(transmitter, mimo_detector=detector)

    Sionna's own code handles all else: "app", symbols, `hard_out`, any other number of streams, "pam" and custom constellations,
    more than 10 bits a symbol, double precision, and tensors on a GPU if softqam was built without CUDA.
    """

    def __init__(self, output: str, demapping_method: str, resource_grid: ofdm.ResourceGrid, stream_management: mimo.StreamManagement,
                 constellation_type: Optional[str] = None, num_bits_per_symbol: Optional[int] = None,
                 constellation: Optional[mapping.Constellation] = None, hard_out: bool = False,
                 precision: Optional[Precision] = None, device: Optional[str] = None, **kwargs) -> None:  # fmt: skip
        n_streams = stream_management.num_streams_per_rx
        settings = {"precision": precision, "device": device}
        known = mapping.Constellation.check_or_create(constellation_type=constellation_type, num_bits_per_symbol=num_bits_per_symbol,
                                                      constellation=constellation, **settings)  # fmt: skip
        bits = known.num_bits_per_symbol
        is_supported = (
            (output, demapping_method, n_streams, hard_out) == ("bit", "maxlog", 2, False)
            and known.constellation_type == "qam"
            and bits in MODULATIONS
            and known.precision == "single"
            and (torch.device(known.device).type == "cpu" or softqam.built_with_cuda)
        )
        if is_supported:
            detector = _Joint(bits)
        else:
            detector = mimo.MaximumLikelihoodDetector(output, demapping_method, n_streams, constellation=known, hard_out=hard_out,
                                                      constellation_type=known.constellation_type, **settings, **kwargs)  # fmt: skip
        super().__init__(detector, output, resource_grid, stream_management, **settings, **kwargs)
        self.is_joint, self.bits = is_supported, bits
