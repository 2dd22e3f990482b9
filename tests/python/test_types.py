# SPDX-License-Identifier: MIT
"""The package is typed as py.typed says: by mypy --strict, against what is there at run time, and for those who call it."""
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import softqam
from softqam import _names

pytest.importorskip("mypy")
pytest.importorskip("matplotlib")  # whose types softqam.plot has
FOLDER = Path(softqam.__file__).parent.parent

# Differences that stubtest cannot know of: classes and functions of nanobind are types of its own, those of lru_cache have no signature,
# a Literal with more than one value is no Union, and Unpack has names. softqam.sionna needs Sionna to be imported.
ALLOWED = r"""
softqam\.sionna(\..*)?
softqam\._core\.(ArrayLibrary|Codeword|Context|Demodulator|bits_per_symbol|gold_sequence|ldpc_codeword|noise_value)
softqam\._demodulator\._(cached|context)
softqam\._gpu\.(_kept_number|_library_named)
softqam\._transmitter\._points
softqam(\._codeword)?\.LdpcCodeword\.ldpc
softqam(\._names)?\.(Backend|Modulation|NoiseForm|Output)
softqam(\._demodulator)?\.(demodulate|Demodulator\.__(init|call)__)
"""

PROGRAM = """
from typing import Any
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type
import softqam


class Tensor:
    def data_ptr(self) -> int:
        return 0

symbols = np.zeros(3, np.complex64)
assert_type(softqam.demodulate(symbols, "16QAM", 0.1), npt.NDArray[np.int8])
assert_type(softqam.demodulate([1j, 2j], "pi/2-BPSK", np.float32(0.1), output="f32", sign=1), npt.NDArray[np.float32])
assert_type(softqam.demodulate(symbols, output="hard"), npt.NDArray[np.int8])
assert_type(softqam.demodulate(Tensor(), "256qam", Tensor()), Tensor)
assert_type(softqam.demodulate(symbols, noise_var=1, gain=np.ones(3), out=Tensor()), Tensor)
demodulator = softqam.Demodulator("16qam", backend="cpu")
assert_type(demodulator(symbols, np.ones(3), c_init=[1, 2]), npt.NDArray[np.int8])
assert_type(softqam.Demodulator("QPSK", output="s16", input_scale="auto")(symbols, 1), npt.NDArray[np.int16])
assert_type(demodulator(Tensor(), 0.1), Tensor)
out: npt.NDArray[np.int8] = np.zeros(12, np.int8)
assert_type(demodulator(Tensor(), 0.1, out=out), npt.NDArray[np.int8])
assert_type(demodulator.llr_scale, float | None)
assert_type(softqam.nrSymbolDemodulate(symbols, "QPSK"), npt.NDArray[np.float32])
assert_type(softqam.nrSymbolDemodulate(Tensor(), "QPSK", 0.1, "hard"), Tensor)
codeword = softqam.ldpc_codeword(800, 500, "qpsk", code_rate=0.5)
assert_type(codeword.block(0), tuple[int, int])
assert_type(codeword.ldpc.base_graph, int)
assert_type(softqam.demodulate(symbols, "qpsk", 0.1, codeword=codeword), npt.NDArray[np.int8])
pool: list[npt.NDArray[np.int8] | None] = [out, None]
assert_type(softqam.demodulate(symbols, codeword=codeword, soft_buffers=pool), list[npt.NDArray[np.int8] | None])
modulation: softqam.Modulation = "1024qam"
output: softqam.Output = "u8"
softqam.Demodulator(modulation, output=output)
softqam.demodulate(symbols, "512qam", 0.1)  # type: ignore[call-overload]
softqam.demodulate(symbols, noise_var=0.1, output="s32")  # type: ignore[call-overload]
softqam.Demodulator("256Qam")  # type: ignore[call-overload]
softqam.Demodulator(sign=2)  # type: ignore[call-overload]
demodulator.llr_scale = 3  # type: ignore[misc]
demodulator(symbols, 0.1, layer=2)  # type: ignore[call-overload]
demodulator(symbols, 0.1, soft_buffers=out)  # type: ignore[call-overload]
demodulator(symbols, 0.1, codeword=codeword, soft_buffers=out, out=out)  # type: ignore[call-overload]
softqam.ldpc_codeword(800, 500, "512qam", base_graph=1)  # type: ignore[arg-type]
codeword.k0 = 1  # type: ignore[misc]
"""


def test_names_of_arguments():
    """The overloads have the functions' arguments."""
    function, make, call = softqam.demodulate, softqam.Demodulator.__init__, softqam.Demodulator.__call__
    for of, names in ((function, _names.SettingsAndNewCall), (make, _names.SettingsAndPlace), (call, _names.NewCall)):
        own = {"self", "symbols", "modulation", "noise_var", "output"}
        assert set(inspect.signature(of).parameters) - own == names.__optional_keys__


def run(tmp_path, *arguments):
    """Preloaded libraries are for extensions with sanitizers, of which mypy has none."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False,
                          env={**environment, "MYPY_CACHE_DIR": str(tmp_path.parent / "mypy")})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_package_and_calls(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    run(tmp_path, "mypy", "--strict", "softqam", str(tmp_path / "program.py"))


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="stubtest imports the extension, which has a sanitizer in it")
def test_run_time(tmp_path):
    (tmp_path / "allowed").write_text(ALLOWED, encoding="utf-8")
    run(tmp_path, "mypy.stubtest", "softqam", "--allowlist", str(tmp_path / "allowed"), "--ignore-unused-allowlist")
