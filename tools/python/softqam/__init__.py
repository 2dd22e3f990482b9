# SPDX-License-Identifier: MIT
"""softqam: the soft demapper of a 5G NR receiver. Equalised symbols in, LLRs or soft bits out.

    import softqam
    llrs = softqam.demodulate(symbols, "256qam", noise_var)      # [..., n] complex64 -> [..., 8 n] int8

A positive LLR, or a byte above the midpoint, means bit 0, unless sign=1 says otherwise. The noise variance N0 is that of
the complex noise, E|n|^2, for symbols of unit mean energy.
"""
from softqam._codeword import Codeword, Ldpc, LdpcCodeword, ldpc_codeword
from softqam._core import built_with_cuda
from softqam._core import version as __version__
from softqam._demodulator import Demodulator, demodulate, demodulate_joint, gold_sequence
from softqam._matlab import nrSymbolDemodulate
from softqam._names import Modulation, Output
from softqam._statistics import Statistics
from softqam._transmitter import modulate, rate_recover

__all__ = ["Codeword", "Demodulator", "Ldpc", "LdpcCodeword", "Modulation", "Output", "__version__", "built_with_cuda", "demodulate",
           "demodulate_joint", "gold_sequence", "ldpc_codeword", "modulate", "nrSymbolDemodulate", "rate_recover", "Statistics"]  # fmt: skip
