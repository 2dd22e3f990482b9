# SPDX-License-Identifier: MIT
"""TBDemapper, from equalised symbols to code blocks; TBDecoder and PUSCHReceiver, which go with it. PUSCHReceiver also demaps two streams
jointly to code blocks."""
# mypy: ignore-errors
import functools
from typing import Any, Optional, Sequence, Tuple

import numpy as np
import torch
from sionna.phy import Block, nr
from sionna.phy.fec.ldpc import LDPCBPDecoder
from sionna.phy.mimo import lmmse_equalizer
from sionna.phy.ofdm import OFDMEqualizer
from torch.autograd import forward_ad

import softqam
from softqam.sionna._demapper import MODULATIONS, Demapper, demodulator, plain, plain_noise
from softqam.sionna._detector import MaximumLikelihoodDetector, matched_filter

# llr_max of Sionna's decoder: the magnitude of a bit that is certain.
_FILLER = -20.0


@functools.lru_cache(maxsize=None)
def _codeword(bits: int, n_layers: int, n_bits: int, layout: Tuple[int, ...]) -> softqam.Codeword:
    """Returns a codeword; layout is n_code_blocks, n_cb, k0, first_filler, n_fillers."""
    return softqam.Codeword(n_bits, MODULATIONS[bits], n_layers, *layout, filler_value=_FILLER)


def _new_buffers(symbols: torch.Tensor, shape: Tuple[int, int], earlier: Optional[torch.Tensor]) -> torch.Tensor:
    """Returns buffers for codewords of symbols, zeros or a copy of `earlier`."""
    if earlier is not None:
        return earlier.detach().clone()
    return symbols.new_zeros((*symbols.shape[:-2], *shape), dtype=torch.float32)


@torch.library.custom_op("softqam::demap_codeword", mutates_args=())
def _demap_codeword(symbols: torch.Tensor, noise_var: torch.Tensor, bits: int, c_init: Optional[Sequence[int]], layout: Sequence[int],
                    n_in_front: int, earlier: Optional[torch.Tensor]) -> torch.Tensor:  # fmt: skip
    """Demaps [..., layer, symbol] to [..., code block, n_in_front zeros and n_cb LLRs], added to `earlier` if that is given."""
    n_layers, n_symbols = symbols.shape[-2:]
    codeword = _codeword(bits, n_layers, n_layers * n_symbols * bits, tuple(layout))
    buffers = _new_buffers(symbols, (codeword.n_code_blocks, n_in_front + codeword.n_cb), earlier)
    y, no = plain(symbols), plain_noise(noise_var)
    if n_layers == 1:  # softqam takes no axis of layers then
        y, no = y[..., 0, :], no[..., 0, :] if no.ndim > 1 else no
    c_init = c_init[0] if c_init and len(c_init) == 1 else c_init
    demodulator(bits)(y, no, c_init=c_init, codeword=codeword, soft_buffers=buffers[..., n_in_front:], combine=earlier is not None)
    return buffers


@_demap_codeword.register_fake
def _(symbols, noise_var, bits, c_init, layout, n_in_front, earlier):
    return symbols.new_empty((*symbols.shape[:-2], layout[0], n_in_front + layout[1]), dtype=torch.float32)


@torch.library.custom_op("softqam::demap_codewords_jointly", mutates_args=())
def _demap_codewords_jointly(z: torch.Tensor, gram: torch.Tensor, bits: int, c_init: Optional[Sequence[int]], n_users: int,
                             n_code_blocks: int, n_cb: int) -> torch.Tensor:  # fmt: skip
    """Demaps z [..., n, 2] and gram [..., n, 2, 2], of noise variance 1, to [..., user, code block, n_cb LLRs]. The two layers are one user's
    or two users'."""
    n_layers = 2 // n_users
    codeword = _codeword(bits, n_layers, n_layers * z.shape[-2] * bits, (n_code_blocks, n_cb, 0, 0, 0))
    buffers = _new_buffers(z, (n_users, n_code_blocks, n_cb), None)
    symbols, matrices = plain(z), plain(gram)
    for user in range(n_users):
        demodulator(bits).joint(symbols, matrices, 1.0, layer=user if n_users == 2 else None, c_init=c_init[user] if c_init else None,
                                codeword=codeword, soft_buffers=buffers[..., user, :, :])  # fmt: skip
    return buffers


@_demap_codewords_jointly.register_fake
def _(z, gram, bits, c_init, n_users, n_code_blocks, n_cb):
    return z.new_empty((*z.shape[:-2], n_users, n_code_blocks, n_cb), dtype=torch.float32)


class TBDemapper(Block):
    """Demapper ("maxlog"), LayerDemapper, Descrambler and rate recovery of a transport block, in one pass of softqam: from
    equalised symbols to the input of Sionna's LDPC decoder, which TBDecoder decodes.

        >>> demapper, decoder = TBDemapper(encoder), TBDecoder(encoder)
        >>> x_hat, no_eff = equalizer(y, h_hat, err_var, no)
        >>> b_hat, is_valid = decoder(demapper(x_hat, no_eff))

    encoder        Sionna's TBEncoder, of QPSK to 1024QAM and 1 to 4 layers.
    harq_mode      True: whole soft buffers, to which retransmissions are added.
    device         as Sionna's blocks have it; the precision is "single".

    y              [..., num_layers, n_symbols] or [..., num_tx, num_layers, n_symbols], complex: equalised symbols, layers as
                   LayerMapper has them.
    no             broadcasts to y: noise variance after the equaliser.
    rv             redundancy version of this transmission, with harq_mode.
    soft_buffers   what earlier transmissions gave, with harq_mode. They are not changed.

    Returns LLRs, positive for bit 1, float32:
    [..., num_cbs, ldpc_encoder.n], what LDPC5GDecoder takes: 0 at the end of code blocks that are shorter than others;
    with harq_mode [..., num_cbs, ldpc_encoder.n_ldpc], what LDPCBPDecoder takes for ldpc_encoder.pcm: 2 Z zeros and the
    circular buffer, with fillers of -20 and 0 where nothing was sent.

    There is no derivative: asking for one raises RuntimeError. Symbols and noise variances that are not finite give LLRs of 0.
    """

    def __init__(self, encoder: nr.TBEncoder, harq_mode: bool = False, device: Optional[str] = None) -> None:
        super().__init__(precision="single", device=device)
        if not isinstance(encoder, nr.TBEncoder):
            raise TypeError(f"encoder is {type(encoder).__name__}, not Sionna's TBEncoder")
        if encoder._num_bits_per_symbol not in MODULATIONS:
            raise ValueError(f"encoder has {encoder._num_bits_per_symbol} bits a symbol: softqam knows {list(MODULATIONS)}")
        self._encoder = encoder
        self._bits = encoder._num_bits_per_symbol
        self._c_init = None if encoder.scrambler is None else encoder.scrambler._c_init
        self._harq_mode = harq_mode

    def _check_shape(self, shape: Tuple[int, ...]) -> None:
        encoder = self._encoder
        expected = (encoder._num_layers, encoder.n // encoder._num_layers // self._bits)
        if encoder.num_tx > 1:
            expected = (encoder.num_tx, *expected)
        if tuple(shape[-len(expected) :]) != expected:
            raise ValueError(f"y has the shape {tuple(shape)}, not [..., {', '.join(map(str, expected))}] as the encoder")

    def call(self, y: torch.Tensor, no: torch.Tensor, rv: int = 0, soft_buffers: Optional[torch.Tensor] = None) -> torch.Tensor:
        self._check_shape(y.shape)
        if forward_ad._current_level >= 0:  # PyTorch itself refuses backward()
            raise RuntimeError("TBDemapper has no derivative, which forward mode asks for")
        ldpc = self._encoder.ldpc_encoder
        n_in_front, layout = 0, (ldpc.n, 0, 0, 0)
        if self._harq_mode:
            if rv not in range(4):
                raise ValueError(f"rv is {rv}, not 0 to 3")
            n_in_front = 2 * ldpc.z
            layout = (ldpc.n_cb, ldpc.rv_starts[rv], ldpc.k - n_in_front, ldpc.k_filler)
        elif rv or soft_buffers is not None:
            raise ValueError("rv and soft_buffers take harq_mode=True")
        layout = (self._encoder.num_cbs, *layout)
        return _demap_codeword(y, no, self._bits, self._c_init, layout, n_in_front, soft_buffers)


class TBDecoder(nr.TBDecoder):
    """The part of Sionna's TBDecoder that follows TBDemapper: LDPC decoding, CRCs and all else after rate recovery.

    Its arguments are Sionna's. With harq_mode, the argument of TBDemapper, it decodes whole soft buffers.

    llr     [..., num_cbs, n] from TBDemapper.

    Returns the bits [..., target_tb_size], and whether the CRC holds [...], as Sionna's does.
    """

    def __init__(self, encoder: nr.TBEncoder, num_bp_iter: int = 20, cn_update: Any = "boxplus-phi", vn_update: Any = "sum",
                 precision: Optional[str] = None, device: Optional[str] = None, *, harq_mode: bool = False, **kwargs: Any) -> None:  # fmt: skip
        options = {"precision": precision, "device": device, **kwargs}
        super().__init__(encoder, num_bp_iter, cn_update, vn_update, **options)
        ldpc = encoder.ldpc_encoder
        self._llrs_shape = (encoder.num_cbs, ldpc.n_ldpc if harq_mode else ldpc.n)
        if harq_mode:
            settings = {"cn_update": cn_update, "vn_update": vn_update, "num_iter": num_bp_iter}
            self._decoder = LDPCBPDecoder(ldpc.pcm, **settings, **options)

    def build(self, shape: Tuple[int, ...]) -> None:
        if tuple(shape[-2:]) != self._llrs_shape:
            expected = ", ".join(map(str, self._llrs_shape))
            raise ValueError(f"llr has the shape {tuple(shape)}, not [..., {expected}] as the encoder")

    def call(self, llr: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        encoder = self._tb_encoder
        bits = self._decoder(llr)[..., : encoder.ldpc_encoder.k]
        if self._cb_crc_decoder is not None:
            bits, _ = self._cb_crc_decoder(bits)
        bits, is_valid = self._tb_crc_decoder(bits.flatten(-2))
        bits = torch.nn.functional.pad(bits, (0, -encoder.k_padding))  # removes the encoder's padding
        return bits.to(self.dtype), is_valid.squeeze(-1)


class _Detector(Block):
    """An equaliser and the demapper of its symbols, in place of a MIMO detector."""

    def __init__(self, equalizer: OFDMEqualizer, demapper: Block, **options: Any) -> None:
        super().__init__(**options)
        self._equalizer = equalizer
        self._demapper = demapper

    def call(self, y: torch.Tensor, h_hat: torch.Tensor, err_var: torch.Tensor, no: torch.Tensor) -> torch.Tensor:
        return self._demapper(*self._equalizer(y, h_hat, err_var, no))


def _filter_pair(y: torch.Tensor, h: torch.Tensor, s: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """Serves OFDMEqualizer as an equaliser. In its batch the streams' cross gains follow the matched filters' outputs; the noise variances
    are gains."""
    z, gram = matched_filter(y, h, s)
    cross = torch.stack((gram[..., 0, 1], gram[..., 1, 0]), -1)
    gains = gram.diagonal(dim1=-2, dim2=-1).real
    return torch.cat((z, cross)), torch.cat((gains, gains))


def _is_pair(detector: Any, encoder: nr.TBEncoder) -> bool:
    """Returns whether _JointDetector can replace the detector: it demaps the encoder's two streams by softqam, on the same elements."""
    return (
        isinstance(detector, MaximumLikelihoodDetector)
        and detector.is_joint
        and detector.bits == encoder._num_bits_per_symbol
        and (detector._stream_management.num_rx, encoder.num_tx * encoder._num_layers) == (1, 2)
        and bool((detector._data_ind == detector._data_ind[:1, :1]).all())
    )


class _JointDetector(Block):
    """Matched filters and the joint demapper of two streams to code blocks' LLRs, in place of a MIMO detector."""

    def __init__(self, detector: MaximumLikelihoodDetector, encoder: nr.TBEncoder, **options: Any) -> None:
        super().__init__(**options)
        self._filter = OFDMEqualizer(_filter_pair, detector._resource_grid, detector._stream_management, **options)
        self._encoder = encoder
        self._c_init = None if encoder.scrambler is None else [int(c) for c in np.ravel(encoder.scrambler._c_init)]

    def call(self, y: torch.Tensor, h_hat: torch.Tensor, err_var: torch.Tensor, no: torch.Tensor) -> torch.Tensor:
        both, gains = (streams.flatten(1, 2).mT for streams in self._filter(y, h_hat, err_var, no))
        z, cross = both.chunk(2)  # [batch, element, stream]
        gain = gains.chunk(2)[0].to(z.dtype)
        gram = torch.stack((gain[..., 0], cross[..., 0], cross[..., 1], gain[..., 1]), -1).unflatten(-1, (2, 2))
        encoder = self._encoder
        bits, n_users, n_blocks = encoder._num_bits_per_symbol, encoder.num_tx, encoder.num_cbs
        return _demap_codewords_jointly(z.contiguous(), gram, bits, self._c_init, n_users, n_blocks, encoder.ldpc_encoder.n)


class PUSCHReceiver(nr.PUSCHReceiver):
    """Sionna's PUSCHReceiver, with softqam between equaliser and LDPC decoder.

        >>> receiver = PUSCHReceiver(transmitter)       # was: sionna.phy.nr.PUSCHReceiver(transmitter)
        >>> b_hat = receiver(y, no)

    The arguments are Sionna's; two of them take more, and decide what softqam does:

    mimo_detector  None, for LMMSE, or one of Sionna's equalisers, such as ZFEqualizer: softqam demaps, in one pass if tb_decoder
                   allows it. softqam.sionna.MaximumLikelihoodDetector, of two streams at one receiver: likewise, from the matched
                   filters' outputs. Any other detector gives LLRs, which go Sionna's own way.
    tb_decoder     None or softqam.sionna.TBDecoder: from equalised symbols to the code blocks' LLRs in one pass. Sionna's
                   TBDecoder: softqam's Demapper, then Sionna's LayerDemapper and that decoder.
    """

    def __init__(self, pusch_transmitter, channel_estimator=None, mimo_detector=None, tb_decoder=None, return_tb_crc_status: bool = False,
                 stream_management=None, input_domain: str = "freq", l_min: Optional[int] = None, precision: Optional[str] = None,
                 device: Optional[str] = None, **kwargs):  # fmt: skip
        if "equalizer" in kwargs:
            raise TypeError("equalizer is no argument: mimo_detector takes equalisers")
        super().__init__(pusch_transmitter, channel_estimator, mimo_detector, tb_decoder, return_tb_crc_status, stream_management,
                         input_domain, l_min, precision, device, **kwargs)  # fmt: skip
        settings = {"precision": self.precision, "device": self.device}
        is_one_pass = tb_decoder is None or isinstance(tb_decoder, TBDecoder)
        if mimo_detector is None:  # Sionna's LMMSEEqualizer, which cannot be pickled
            lmmse = functools.partial(lmmse_equalizer, precision=self.precision)
            mimo_detector = OFDMEqualizer(lmmse, self.resource_grid, self._stream_management, **settings)
        encoder = pusch_transmitter._tb_encoder
        is_joint = is_one_pass and _is_pair(mimo_detector, encoder)
        if not is_joint and not isinstance(mimo_detector, OFDMEqualizer):
            if isinstance(tb_decoder, TBDecoder):
                wanted = "an equaliser or softqam's detector of two such streams"
                raise TypeError(f"tb_decoder is softqam's: mimo_detector must be {wanted}, not {type(mimo_detector).__name__}")
            return
        if is_one_pass:
            self._layer_demapper = torch.nn.Identity()
            self._tb_decoder = TBDecoder(encoder, **settings) if tb_decoder is None else tb_decoder
            demapper = TBDemapper(encoder, device=self.device)
        else:
            demapper = Demapper("maxlog", "qam", pusch_transmitter._num_bits_per_symbol, **settings)
        detector = _JointDetector if is_joint else _Detector
        self._mimo_detector = detector(mimo_detector, encoder if is_joint else demapper, **settings)
