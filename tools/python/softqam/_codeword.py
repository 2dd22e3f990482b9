# SPDX-License-Identifier: MIT
"""Codeword and ldpc_codeword(): where the LLRs of a codeword lie in an LDPC decoder's soft buffers."""
from __future__ import annotations

import dataclasses
from typing import Any

from softqam import _core, _names
from softqam._names import Modulation, integer, real, shown

_MOST = 2**32 - 1
# The fields have the core's order.
_LIMITS = {"n_bits": (0, _MOST), "n_code_blocks": (1, 65535), "n_cb": (1, _MOST), "k0": (0, _MOST), "first_filler": (0, _MOST),
           "n_fillers": (0, _MOST), "n_cbg": (0, 32), "cbgti": (0, _MOST), "n_fill": (0, _MOST)}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Ldpc:
    """Holds what an LDPC decoder needs besides soft buffers: the code blocks of a transport block, all of the same size.
    Clauses are those of 3GPP TS 38.212.

    base_graph     1 or 2.
    tb_crc_bits    L of the transport block: 24 or 16 (clause 6.2.1).
    n_code_blocks  C (clause 5.2.2).
    cb_crc_bits    L of each code block: 24 or 0 (clause 5.2.2).
    lifting_size   Zc (clause 5.2.2).
    lifting_set    i_LS, 0 to 7 (table 5.3.2-1).
    k_prime        K': bits of a code block with its CRC, without fillers (clause 5.2.2).
    k              K: bits into the encoder (clause 5.2.2).
    n_fillers      F = K - K'.
    n              N: bits out of the encoder, without the first 2 Zc (clause 5.3.2).
    """

    base_graph: int
    tb_crc_bits: int
    n_code_blocks: int
    cb_crc_bits: int
    lifting_size: int
    lifting_set: int
    k_prime: int
    k: int
    n_fillers: int
    n: int


@dataclasses.dataclass(frozen=True)
class Codeword:
    """A transmission of a transport block: which position of which soft buffer each of its LLRs belongs to.
    ldpc_codeword() makes one from a grant. Pass it as `codeword` to demodulate().

    n_bits         G: bits of this transmission, a multiple of layers * bits per symbol.
    modulation     of this transmission, such as "256qam".
    layers         N_L: 1 to 4.
    n_code_blocks  C: code blocks of the transport block, those not transmitted included.
    n_cb           N_cb: values of a soft buffer (3GPP TS 38.212 clause 5.4.2.1), without the 2 Zc bits that are never
                   sent.
    k0             where the redundancy version begins (table 5.4.2.1-2).
    first_filler   position of the first filler, K' - 2 Zc.
    n_fillers      fillers within n_cb.
    filler_value   the value of fillers in new data. None is a certain 0: llr_limit with "s8" and "s16", 1000 with "f16"
                   and "f32", negative with sign=1.
    n_cbg          0: all code blocks are transmitted; else 1 to 32 code block groups, of which cbgti says which are.
    cbgti          bit m, counted from the lowest: group m is transmitted (3GPP TS 38.214 clauses 5.1.7.1 and 6.1.5.1); the
                   CBGTI field of DCI has group 0 in its highest bit.
    ldpc           what ldpc_codeword() found besides, for the decoder; None without it.
    n_fill         new data defines the first n_fill values, with zeros from n_cb on: more than n_cb if soft buffers are longer,
                   since an earlier transport block had more; less if a decoder reads less. 0 is n_cb. Soft buffers have
                   max(n_cb, n_fill) values, so a retransmission repeats n_fill, or takes buffers[..., :n_cb].

    A Codeword cannot be changed: dataclasses.replace() makes another one. It can be compared, copied and pickled.

    Raises ValueError if fields contradict each other.
    """

    n_bits: int
    modulation: Modulation
    layers: int
    n_code_blocks: int
    n_cb: int
    k0: int = 0
    first_filler: int = 0
    n_fillers: int = 0
    filler_value: float | None = None
    n_cbg: int = 0
    cbgti: int = 0
    ldpc: Ldpc | None = None
    n_fill: int = 0

    def __post_init__(self) -> None:
        bits, layers = _names.bits_per_symbol(self.modulation), _layers(self.layers, self.modulation)
        numbers = [integer(name, getattr(self, name), *limits) for name, limits in _LIMITS.items()]
        filler_value = None if self.filler_value is None else real("filler_value", self.filler_value)
        core = _core.Codeword(bits, layers, filler_value, numbers)
        object.__setattr__(self, "_core", core)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def block(self, r: int) -> tuple[int, int]:
        """Returns the first bit of code block r in the codeword, and how many it has: E_r (3GPP TS 38.212 clause 5.4.2.1), 0 if
        it is not transmitted. It is complete once the symbols up to (first + E_r) / bits per symbol are demodulated."""
        first, n_bits = core_of(self).block(integer("r", r, 0, self.n_code_blocks - 1))
        return first, n_bits


@dataclasses.dataclass(frozen=True)
class LdpcCodeword(Codeword):
    """The Codeword of a grant, which ldpc_codeword() makes."""

    ldpc: Ldpc = dataclasses.field(kw_only=True)


def core_of(codeword: Codeword) -> _core.Codeword:
    """Returns the extension module's codeword."""
    core: _core.Codeword = codeword.__dict__["_core"]
    return core


def _layers(layers: int, modulation: str) -> int:
    number = integer("layers", layers, 1, 4)
    if number > 1 and _names.modulation(modulation) == "pi2-bpsk":
        raise ValueError(f"layers is {number}: pi/2-BPSK has one layer")
    return number


def _code_rate(code_rate: float | None, base_graph: int | None) -> float:
    """Returns the code rate; 0 if it is not given."""
    if (code_rate is None) == (base_graph is None):
        raise ValueError(f"base_graph is {shown(base_graph)} and code_rate is {shown(code_rate)}: give one of them")
    if code_rate is None:
        return 0.0
    rate = real("code_rate", code_rate)
    if not 0 < rate < 1:
        raise ValueError(f"code_rate is {shown(code_rate)}, not between 0 and 1: the MCS tables have 1024 times as much")
    return rate * 1024


def ldpc_codeword(n_bits: int, tb_size: int, modulation: Modulation = "256qam", *, base_graph: int | None = None,
                  code_rate: float | None = None, rv: int = 0, layers: int = 1, tbs_lbrm: int | None = None, n_ref: int | None = None,
                  filler_value: float | None = None, n_cbg: int = 0, cbgti: int = 0, n_fill: int = 0) -> LdpcCodeword:  # fmt: skip
    """Makes the codeword of a grant: code blocks and rate matching of DL-SCH and UL-SCH, by 3GPP TS 38.212.

    n_bits        G: bits of this transmission, a multiple of layers * bits per symbol. On PUSCH without those of UCI, but
                  with those that HARQ-ACK of 1 or 2 bits punctures.
    tb_size       A: bits of the transport block, without CRC; MATLAB's and py3gpp's trblklen.
    modulation    of this transmission.
    base_graph    1 or 2; or, in its place,
    code_rate     R of the first transmission, such as 682.5 / 1024, which chooses the base graph with tb_size.
    rv            redundancy version of this transmission, 0 to 3.
    layers        N_L of this transmission, 1 to 4.
    tbs_lbrm      TBS_LBRM, in bits: the buffer is limited; or, in its place,
    n_ref         N_ref, in bits; MATLAB's Nref. None: the buffer is not limited.
    filler_value, n_cbg, cbgti, n_fill
                  as Codeword has them.

    A retransmission has its own n_bits, modulation, rv, layers, n_cbg and cbgti; tb_size, base graph (codeword.ldpc has
    it) and limit are those of the first transmission.

        >>> codeword = softqam.ldpc_codeword(n_bits, tb_size, "64qam", code_rate=682.5 / 1024, layers=2)
        >>> buffers = softqam.demodulate(symbols, "64qam", noise_var, c_init=c_init, codeword=codeword)
        >>> again = softqam.ldpc_codeword(n_bits, tb_size, "64qam", base_graph=codeword.ldpc.base_graph, rv=2, layers=2)
        >>> softqam.demodulate(resent, "64qam", noise_var, c_init=c_init, codeword=again, soft_buffers=buffers, combine=True)

    TypeError and ValueError name the argument.
    """
    number_of_bits = integer("n_bits", n_bits, 1, _MOST)
    n_layers = _layers(layers, modulation) if isinstance(modulation, str) else 1
    if tbs_lbrm is not None and n_ref is not None:
        raise ValueError("tbs_lbrm and n_ref are given: give one of them")
    buffer, ldpc = _core.ldpc_codeword(
        number_of_bits,
        integer("tb_size", tb_size, 1, _MOST),
        0 if base_graph is None else integer("base_graph", base_graph, 1, 2),
        _code_rate(code_rate, base_graph),
        integer("rv", rv, 0, 3),
        _names.bits_per_symbol(modulation),
        n_layers,
        0 if tbs_lbrm is None else integer("tbs_lbrm", tbs_lbrm, 1, _MOST),
        0 if n_ref is None else integer("n_ref", n_ref, 1, _MOST),
    )
    return LdpcCodeword(number_of_bits, modulation, n_layers, *buffer, filler_value, n_cbg, cbgti, n_fill, ldpc=Ldpc(*ldpc))


def check_call(codeword: Any, soft_buffers: Any, combine: Any, modulation: str | None = None, planes: Any = None, out: Any = None) -> _core.Codeword:
    """Returns the core's codeword, of a call that has one of the arguments; without a modulation that of the codeword is right."""
    if not isinstance(codeword, Codeword):
        if codeword is None and modulation:
            raise ValueError(f"{'combine' if soft_buffers is None else 'soft_buffers'} is given, which takes a codeword")
        raise TypeError(f"codeword is {type(codeword).__name__}: it takes what softqam.ldpc_codeword() makes")
    if not isinstance(combine, bool):
        raise TypeError(f"combine is {shown(combine)}, not True or False")
    if combine and soft_buffers is None:
        raise ValueError("soft_buffers is missing: combine adds to them")
    for name, value in (("planes", planes), ("out", out)):
        if value is not None:
            raise ValueError(f"{name} is given, which codeword does not take: the LLRs go to soft_buffers")
    if modulation and _names.modulation(codeword.modulation) != modulation:
        raise ValueError(f"codeword is one of {_names.modulation(codeword.modulation)}, the modulation is {modulation}")
    return core_of(codeword)
