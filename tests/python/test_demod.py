# SPDX-License-Identifier: MIT
"""The bytes are those of softqam-demod, for every modulation and every format of both sides."""
import os
import subprocess

import numpy as np
import pytest
from symbols import MODULATIONS, OUTPUTS, assert_bytes, make_symbols

import softqam

INPUTS = {"cf32": "complex64", "cf16": "float16", "cs16": "int16", "cs8": "int8"}


def run_tool(name, *arguments):
    # Preloaded libraries are for the interpreter.
    result = subprocess.run([os.path.join(os.environ["SOFTQAM_TOOLS"], name), *arguments], capture_output=True, text=True, check=False,
                            env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
    assert result.returncode == 0, result.stderr


def run_demod(folder, symbols, modulation, input_format, output, *options):
    names = [str(folder / f"symbols.{input_format}"), str(folder / f"llrs.{output}")]
    symbols.tofile(names[0])
    noise = [] if output == "u8" else ["--noise-var", "0.02"]
    run_tool("softqam-demod", "-q", "-m", modulation, *noise, *options, *names)
    return np.fromfile(names[1], OUTPUTS[output])


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("input_format", INPUTS)
@pytest.mark.parametrize("modulation", MODULATIONS)
def test_bytes_are_those_of_softqam_demod(rng, tmp_path, modulation, input_format, output):
    if output == "u8" and modulation != "256qam":
        with pytest.raises(ValueError, match="u8"):
            softqam.demodulate(np.zeros(1, np.complex64), modulation, output="u8")
        return
    symbols = make_symbols(rng, 2000, INPUTS[input_format])
    noise = None if output == "u8" else 0.02
    got = softqam.demodulate(symbols, modulation, noise, output=output)
    assert_bytes(got, run_demod(tmp_path, symbols, modulation, input_format, output))
    scaled = softqam.demodulate(symbols, modulation, noise, output=output, input_scale=0.003)
    assert_bytes(scaled, run_demod(tmp_path, symbols, modulation, input_format, output, "--input-scale", "0.003"))
