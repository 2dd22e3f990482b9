# SPDX-License-Identifier: MIT
"""The bytes are those of softqam-demod, for every modulation and every format of both sides."""
import os
import subprocess

import numpy as np
import pytest
from symbols import MODULATIONS, OUTPUTS, assert_bytes, make_symbols

import softqam

INPUTS = {"cf32": "complex64", "cf16": "float16", "cs16": "int16", "cs8": "int8"}
CALLS = [(modulation, name, output) for modulation in MODULATIONS for name in INPUTS for output in OUTPUTS if output != "u8" or modulation == "256qam"]


def run_demod(folder, symbols, modulation, input_format, output, *options):
    """Without preloaded libraries, which are for the interpreter."""
    names = [str(folder / f"symbols.{input_format}"), str(folder / f"llrs.{output}")]
    symbols.tofile(names[0])
    noise = [] if output == "u8" else ["--noise-var", "0.02"]
    done = subprocess.run([os.path.join(os.environ["SOFTQAM_TOOLS"], "softqam-demod"), "-q", "-m", modulation, *noise, *options, *names],
                          capture_output=True, text=True, check=False, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return np.fromfile(names[1], OUTPUTS[output])


@pytest.mark.parametrize("modulation, input_format, output", CALLS)
def test_bytes_are_those_of_softqam_demod(rng, tmp_path, modulation, input_format, output):
    symbols, noise = make_symbols(rng, 2000, INPUTS[input_format]), None if output == "u8" else 0.02
    for scale, options in ((None, []), (0.003, ["--input-scale", "0.003"])):
        got = softqam.demodulate(symbols, modulation, noise, output=output, input_scale=scale)
        assert_bytes(got, run_demod(tmp_path, symbols, modulation, input_format, output, *options))
