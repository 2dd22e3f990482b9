# SPDX-License-Identifier: MIT
"""LLRs as the project's arithmetic is specified, slowly, in NumPy: every rounding once, in the order of src/README.md.
Written from the constellations' formulas, not from the library's tables."""
from __future__ import annotations

import numpy as np

F32 = np.float32
MODULATIONS = {"bpsk": 1, "pi2-bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "256qam": 8, "1024qam": 10}
ENERGY = {2: 2, 4: 10, 6: 42, 8: 170, 10: 682}
ROUNDING = F32(12582912)
# The outputs' types, and of those in steps the default scale and limit.
DTYPES = {"s8": np.int8, "s16": np.int16, "f16": np.float16, "f32": F32, "u8": np.uint8}
STEPS = {"s8": (6, 127), "s16": (64, 32767)}
LLRS = [name for name in DTYPES if name != "u8"]


def fma(a, b, c):
    """a * b + c of binary32, rounded once: the sum in binary64 rounded to odd, then to binary32."""
    product = a.astype(np.float64) * b.astype(np.float64)
    c = np.broadcast_to(np.float64(c), product.shape)
    with np.errstate(invalid="ignore"):
        total = product + c
        back = total - product
        error = (product - (total - back)) + (c - back)
        even = total.view(np.int64) % 2 == 0
        total = np.where((error != 0) & np.isfinite(error) & even, np.nextafter(total, np.copysign(np.inf, error)), total)
    return total.astype(F32)


def level(bits):
    """One axis's level of its bits, in units of 1/sqrt(E): 3GPP TS 38.211 clause 5.1."""
    value = 1 - 2 * bits[-1]
    for k in range(2, len(bits) + 1):
        value = (1 - 2 * bits[-k]) * (2 ** (k - 1) - value)
    return value


def table(m, energy):
    """Slopes and intercepts of |v| for each row and bit."""
    words = [[w >> (m - 1 - k) & 1 for k in range(m)] for w in range(2**m)]
    levels = [level(w) for w in words]
    slope, intercept = np.empty((2, 2 ** (m - 1), m), F32)
    for row in range(2 ** (m - 1)):
        for k in range(m):
            near = [min((l for l, w in zip(levels, words) if w[k] == b), key=lambda l: abs(2 * row + 1 - l)) for b in (0, 1)]
            slope[row, k] = 2 * (near[0] - near[1]) / np.sqrt(np.float64(energy))
            intercept[row, k] = (near[1] ** 2 - near[0] ** 2) / np.float64(energy)
    return slope, intercept


def axis_metrics(v, m, energy):
    slope, intercept = table(m, energy)
    magnitude = np.where(np.abs(v) < F32(2.0**-63), F32(0), np.abs(v))
    scaled = magnitude * F32(np.sqrt(np.float64(energy)) / 2)
    row = np.minimum(scaled, F32(len(slope) - 1)).astype(int)
    metrics = fma(slope[row], np.repeat(magnitude[:, None], m, 1), intercept[row])
    metrics[:, 0] = np.copysign(metrics[:, 0], v)
    return metrics


def metrics_of(i, q, modulation, first_symbol):
    """[n, Qm]: the squared distances' difference of each bit."""
    bits = MODULATIONS[modulation]
    if bits == 1:
        if modulation == "pi2-bpsk":
            odd = (first_symbol + np.arange(len(i))) % 2 == 1
            i, q = np.where(odd, q, i), np.where(odd, -i, q)
        tiny = F32(2.0**-63)
        i, q = (np.where(np.abs(v) < tiny, np.copysign(F32(0), v), v) for v in (i, q))
        return ((i + q) * F32(2 * np.sqrt(np.float64(2))))[:, None]
    metrics = np.empty((len(i), bits), F32)
    metrics[:, 0::2] = axis_metrics(i, bits // 2, ENERGY[bits])
    metrics[:, 1::2] = axis_metrics(q, bits // 2, ENERGY[bits])
    return metrics


def components(symbols, input_scale):
    """I and Q of complex64 [n], or of pairs [n, 2]."""
    symbols = np.asarray(symbols)
    pairs = np.stack([symbols.real, symbols.imag], -1) if np.iscomplexobj(symbols) else symbols
    scale = input_scale or {"int16": 2.0**-15, "int8": 2.0**-7}.get(pairs.dtype.name, 1.0)
    pairs = pairs.astype(F32) * F32(scale)
    return pairs[:, 0], pairs[:, 1]


def points(modulation):
    """The constellation's points and their bits, of unit mean energy; of pi/2-BPSK at even positions."""
    bits = MODULATIONS[modulation]
    words = np.array([[w >> (bits - 1 - k) & 1 for k in range(bits)] for w in range(2**bits)])
    if bits == 1:
        return (1 - 2 * words[:, 0]) * (1 + 1j) / np.sqrt(2), words
    on_axes = [[level(w[k::2]) for w in words] for k in (0, 1)]
    return (np.array(on_axes[0]) + 1j * np.array(on_axes[1])) / np.sqrt(ENERGY[bits]), words


def weights(noise, noise_form, scale):
    """scale / N0 for each symbol; NaN where the noise is not valid."""
    low, high = (2.0**-100, 2.0**40) if noise_form == "n0" else (2.0**-40, 2.0**100)
    limited = np.clip(noise, F32(low), F32(high))
    weight = F32(scale) / limited if noise_form == "n0" else F32(scale) * limited
    return np.where(np.isfinite(noise) & (noise > 0), weight, F32(np.nan)).astype(F32)


def quantise(t, w, limit):
    whole = fma(t, w, ROUNDING) - ROUNDING
    beyond = np.abs(t * w) >= F32(limit + 1)
    return np.clip(np.where(beyond, np.copysign(F32(limit), t * w), whole), -limit, limit)


def gold(c_init, n):
    """c(0) .. c(n - 1) of 3GPP TS 38.211 clause 5.2.1."""
    x1, x2 = [1] + 30 * [0], [c_init >> k & 1 for k in range(31)]
    for k in range(n + 1600 - 31):
        x1.append(x1[k + 3] ^ x1[k])
        x2.append(x2[k + 3] ^ x2[k + 2] ^ x2[k + 1] ^ x2[k])
    return np.array([x1[k] ^ x2[k] for k in range(1600, 1600 + n)])


def llrs(symbols, modulation, noise_var, *, output="s8", sign=0, llr_scale=None, llr_limit=None, input_scale=None,
         noise_form="n0", c_init=None, first_symbol=0, planes=None):
    """LLRs of one codeword's symbols, [n] complex64 or [n, 2]; noise_var is a number or [n]."""
    default_scale, default_limit = STEPS.get(output, (1, None))
    scale, limit = llr_scale or default_scale, llr_limit or default_limit
    i, q = components(symbols, input_scale)
    n, bits = len(i), MODULATIONS[modulation]
    noise = np.broadcast_to(np.asarray(noise_var, F32), (n,))
    w = weights(noise, noise_form, scale)
    w = np.repeat(w[:, None], bits, 1) * F32(-1 if sign else 1)
    if c_init is not None:
        sequence = gold(c_init, (first_symbol + n) * bits)[first_symbol * bits :]
        w = w * np.where(sequence.reshape(n, bits), F32(-1), F32(1))
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(i) & np.isfinite(q)
        t = metrics_of(np.where(finite, i, F32(0)), np.where(finite, q, F32(0)), modulation, first_symbol)
        if output in STEPS:
            values = quantise(t, w, limit)
        else:
            largest = {"f16": F32(65504), "f32": np.finfo(F32).max}[output]
            values = np.clip(t * w, -largest, largest)
        values = values.astype(DTYPES[output])
    values[~(finite & np.isfinite(w[:, 0]))] = 0
    if planes is None:
        return values.reshape(-1)
    return np.concatenate([values[k : k + planes].T.reshape(-1) for k in range(0, n, planes)])
