# SPDX-License-Identifier: MIT
"""The LLRs are the specified ones, to the last bit, for every modulation, format and setting."""
import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_noise, make_symbols

import softqam

N = 1531
FORMATS = ["complex64", "float32", "float16", "int16", "int8"]


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_modulations(rng, supported, modulation, output):
    symbols, noise = make_symbols(rng, N), make_noise(rng, N)
    for of_call in (noise, 0.01):
        got = supported(softqam.demodulate, symbols, modulation, of_call, output=output)
        assert_bytes(got, reference.llrs(symbols, modulation, of_call, output=output))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("modulation", ["qpsk", "256qam"])
def test_input_formats(rng, supported, dtype, modulation):
    symbols = make_symbols(rng, N, dtype)
    for scale in (None, 0.37 if not dtype.startswith("int") else 0.0021):
        got = supported(softqam.demodulate, symbols, modulation, 0.02, output="f32", input_scale=scale)
        assert_bytes(got, reference.llrs(symbols, modulation, 0.02, output="f32", input_scale=scale))


@pytest.mark.parametrize(
    "settings",
    [
        {"sign": 1},
        {"sign": 1, "output": "f32"},
        {"llr_scale": 2.5},
        {"llr_limit": 31},
        {"llr_scale": 1, "llr_limit": 15, "sign": 1},
        {"noise_form": "inverse"},
        {"noise_form": "inverse", "output": "f16"},
        {"noise_form": "inverse", "output": "s16"},
        {"output": "s16", "sign": 1},
        {"output": "s16", "llr_limit": 127},
        {"output": "s16", "llr_limit": 1},
        {"output": "s16", "llr_scale": 6, "llr_limit": 127},
        {"output": "s16", "llr_scale": 300.5, "llr_limit": 20000, "sign": 1},
        {"output": "s8", "llr_scale": 2.0**-10},
        {"output": "s8", "llr_scale": 2.0**20},
        {"output": "s16", "llr_scale": 2.0**-10},
        {"output": "s16", "llr_scale": 2.0**14},
        *({"output": output, "llr_limit": limit} for output, (_, limit) in reference.STEPS.items()),
    ],
)
@pytest.mark.parametrize("modulation", ["16qam", "256qam"])
def test_settings(rng, supported, modulation, settings):
    symbols, noise = make_symbols(rng, N), make_noise(rng, N, settings.get("noise_form", "n0"))
    got = supported(softqam.demodulate, symbols, modulation, noise, **settings)
    assert_bytes(got, reference.llrs(symbols, modulation, noise, **settings))


@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_matlab_signature(rng, supported, modulation):
    symbols = make_symbols(rng, 200)[20:]
    name, ours = modulation.upper().replace("PI2", "pi/2"), modulation
    soft = supported(softqam.nrSymbolDemodulate, symbols, name, 0.1)
    assert_bytes(soft, reference.llrs(symbols, ours, 0.1, output="f32"))
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name, DecisionType="hard"), (soft < 0).astype(np.int8))
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name, 0), reference.llrs(symbols, ours, 1e-10, output="f32"))
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name, np.nan, "hard"), (soft < 0).astype(np.int8))
    assert_bytes(softqam.nrSymbolDemodulate(symbols, name.swapcase(), 0.1), soft)
    with pytest.raises(ValueError, match="mod is"):
        softqam.nrSymbolDemodulate(symbols, "8PSK", 0.1)
    with pytest.raises(ValueError, match="DecisionType"):
        softqam.nrSymbolDemodulate(symbols, "256QAM", 0.1, "firm")
