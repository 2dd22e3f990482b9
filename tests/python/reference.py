# SPDX-License-Identifier: MIT
"""LLRs as the project's arithmetic is specified, reference/contract.h: a shared library that SOFTQAM_REFERENCE names."""
from __future__ import annotations

import ctypes
import functools
import os

import numpy as np

F32 = np.float32
MODULATIONS = {"bpsk": 1, "pi2-bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
# The outputs' types, and of those in steps the default scale and limit.
DTYPES = {"s8": np.int8, "s16": np.int16, "f16": np.float16, "f32": F32, "u8": np.uint8}
STEPS = {"s8": (6, 127), "s16": (64, 32767)}
LLRS = [name for name in DTYPES if name != "u8"]


class Noise(ctypes.Structure):
    """nr_noise."""

    _fields_ = [("value", ctypes.c_float), ("is_inverse", ctypes.c_bool), ("has_gain", ctypes.c_bool), ("gain", ctypes.c_float)]


@functools.lru_cache(maxsize=None)
def library():
    return ctypes.CDLL(os.environ["SOFTQAM_REFERENCE"])


def constellation(modulation):
    return ctypes.byref(ctypes.c_char.in_dll(library(), "nr_" + modulation.replace("pi2-", "pi_2_")))


def components(symbols, input_scale):
    """[n, 2] of binary32, of complex64 [n], or of pairs [n, 2]."""
    symbols = np.asarray(symbols)
    pairs = np.stack([symbols.real, symbols.imag], -1) if np.iscomplexobj(symbols) else symbols
    scale = input_scale or {"int16": 2.0**-13, "int8": 2.0**-6}.get(pairs.dtype.name, 1.0)
    return np.ascontiguousarray(pairs.astype(F32) * F32(scale))


def points(modulation):
    """The constellation's points in the order of their bits; of pi/2-BPSK at even positions."""
    point = (ctypes.c_double * 2)()
    values = []
    for bits in range(2 ** MODULATIONS[modulation]):
        library().nr_point(constellation(modulation), bits, ctypes.c_uint64(0), point)
        values.append(complex(*point))
    return np.array(values)


def gold(c_init, n):
    """c(0) .. c(n - 1) of 3GPP TS 38.211 clause 5.2.1."""
    x1, x2 = [1] + 30 * [0], [c_init >> k & 1 for k in range(31)]
    for k in range(n + 1600 - 31):
        x1.append(x1[k + 3] ^ x1[k])
        x2.append(x2[k + 3] ^ x2[k + 2] ^ x2[k + 1] ^ x2[k])
    return np.array([x1[k] ^ x2[k] for k in range(1600, 1600 + n)])


def llrs(symbols, modulation, noise_var, *, output="s8", sign=0, llr_scale=None, llr_limit=None, input_scale=None,
         noise_form="n0", gain=None, c_init=None, first_symbol=0, planes=None):
    """LLRs of one codeword's symbols, [n] complex64 or [n, 2]; noise_var and gain are a number or [n]."""
    pairs = components(symbols, input_scale)
    n, bits = len(pairs), MODULATIONS[modulation]
    noise, gains = (np.broadcast_to(np.asarray(floats, F32), (n,)) for floats in (noise_var, 1 if gain is None else gain))
    flips = np.full((n, bits), sign)
    if c_init is not None:
        flips ^= gold(c_init, (first_symbol + n) * bits)[first_symbol * bits :].reshape(n, bits)
    flips = flips @ (1 << np.arange(bits))
    values = np.empty((n, bits), DTYPES[output])
    settings = []
    if output in STEPS:
        scale, limit = llr_scale or STEPS[output][0], llr_limit or STEPS[output][1]
        settings = [ctypes.c_float(scale), ctypes.c_int(limit)]
    function, of, is_inverse = getattr(library(), "contract_" + output), constellation(modulation), noise_form == "inverse"
    for k in range(n):
        function(of, ctypes.c_void_p(pairs.ctypes.data + 8 * k), Noise(noise[k], is_inverse, gain is not None, gains[k]),
                 ctypes.c_uint64(first_symbol + k), ctypes.c_uint32(int(flips[k])), *settings,
                 ctypes.c_void_p(values.ctypes.data + k * bits * values.itemsize))  # fmt: skip
    if planes is None:
        return values.reshape(-1)
    return np.concatenate([values[k : k + planes].T.reshape(-1) for k in range(0, n, planes)])
