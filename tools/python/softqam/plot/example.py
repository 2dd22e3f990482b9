# SPDX-License-Identifier: MIT
"""Symbols of its own with noise, demodulated by the package: a picture for those who have no files yet."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .command import Options
from .failure import Failure
from .geometry import points_of
from .modulation import Modulation, shown
from .sample import Sample, runs_of, sample_of_arrays

N_SYMBOLS = 20000


def default_snr_db(modulation: Modulation) -> float:
    """At which some bits in a thousand are wrong."""
    return 4 + 3 * modulation.n_bits


def sample_of_example(options: Options) -> tuple[Sample, str]:
    """And a title."""
    try:
        import softqam
    except ImportError as error:
        raise Failure("--example", f"needs the Python package softqam ({error})") from None
    modulation, n = options.modulation, N_SYMBOLS
    snr_db = default_snr_db(modulation) if options.snr_db is None else options.snr_db
    n0 = 10 ** (-snr_db / 10)
    rng = np.random.default_rng(1)
    points = points_of(modulation) if modulation.n_bits > 1 else np.array([1 + 1j, -1 - 1j])
    sent = rng.choice(points, n) / math.sqrt(modulation.energy)
    if modulation.rotates:
        sent[1::2] = sent[1::2] * 1j
    received = (sent + rng.normal(0, math.sqrt(n0 / 2), (n, 2)) @ [1, 1j]).astype(np.complex64)
    if options.soft_format == "u8" and modulation.name != "256qam":
        raise Failure("--soft-format", f"u8 is for 256qam, not {modulation.name}", 2)
    noise_var = None if options.soft_format == "u8" else n0
    name: Any = modulation.name
    settings: Any = {"output": options.soft_format, "sign": options.sign}
    bits = softqam.Demodulator(name, output="f32")(sent.astype(np.complex64), 1e-3) < 0
    soft = softqam.Demodulator(name, **settings)(received, noise_var)
    middle = 127 if options.soft_format == "u8" else 0
    wrong = np.mean(((soft > middle) == bool(options.sign)) != bits)
    title = options.title or f"{shown(modulation.name)} at {snr_db:g} dB, bit error rate {wrong:.2g}"
    components = np.stack([received.real, received.imag], axis=-1)
    scale = math.sqrt(modulation.energy)
    return sample_of_arrays(components, soft.reshape(n, -1), scale, runs_of(n, n), n), title
