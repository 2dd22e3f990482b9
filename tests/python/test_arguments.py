# SPDX-License-Identifier: MIT
"""Settings, names, numbers, kinds of arrays and outputs; calls from several threads. Arrays of every layout are in test_layouts.py."""
import copy
import inspect
import pickle
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from symbols import OUTPUTS, assert_bytes, make_symbols

import softqam
from softqam import _names

HEADER = (Path(__file__).parents[2] / "include/softqam/softqam.h").read_text(encoding="utf-8")


@pytest.mark.parametrize("prefix", ["BACKEND", "MODULATION", "OUTPUT", "NOISE_FORM"])
def test_numbers_are_those_of_the_header(prefix):
    values = re.findall(rf"^ +SOFTQAM_{prefix}_(\w+) = (\d+)", HEADER, re.M)
    of_header = {name.lower().replace("_", "-"): int(value) for name, value in values if name != "DEFAULT"}
    of_package = {name: value for name, value in getattr(_names, f"{prefix}S").items() if name not in ("auto", "hard")}
    assert of_header and of_package == of_header


def test_names():
    assert set(softqam.__all__) <= set(dir(softqam))
    numbers = re.findall(r"^#define SOFTQAM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", HEADER, re.M)
    assert softqam.__version__ == ".".join(numbers)
    one = softqam.Demodulator("256QAM", output="F32", threads=2)
    assert (one.modulation, one.output, one.bits_per_symbol, one.backend) == ("256qam", "f32", 8, "cpu")
    assert "2 threads" in one.backend_detail and "256qam" in repr(one) and softqam.Demodulator("pi/2-BPSK").modulation == "pi2-bpsk"


@pytest.mark.parametrize("function", [softqam.demodulate, softqam.Demodulator, softqam.Demodulator.__call__, softqam.nrSymbolDemodulate,
                                      softqam.ldpc_codeword, softqam.modulate, softqam.rate_recover])  # fmt: skip
def test_help_has_every_argument(function):
    for name in inspect.signature(function).parameters:
        assert name == "self" or re.search(rf"^    [\w, ]*\b{name}\b", function.__doc__, re.M), name


SETTINGS = {"modulation": "64QAM", "output": "S16", "sign": 1, "llr_scale": 20, "llr_limit": 1000, "input_scale": 1.5,
            "noise_form": "inverse", "threads": 2}  # fmt: skip


class Named(softqam.Demodulator):
    """A class that a user derives."""

    def __init__(self, name):
        super().__init__(**SETTINGS)
        self.names = [name]


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies(rng, copy_of):
    symbols = make_symbols(rng, 60)
    for one in (softqam.Demodulator(), softqam.Demodulator(output="hard"), Named("a")):
        other = copy_of({"model": one})["model"]
        assert repr(other) == repr(one) and other.backend_detail == one.backend_detail
        assert_bytes(other(symbols, 0.3), one(symbols, 0.3))
    assert other.names == ["a"]


def test_settings_can_be_read_and_not_set():
    for one, expected in [
        (softqam.Demodulator("qpsk", output="s16"), ("qpsk", "s16", 0, 64, 32767, 2)),
        (softqam.Demodulator("bpsk", output="f32"), ("bpsk", "f32", 0, None, None, 1)),
        (Named("a"), ("64qam", "s16", 1, 20, 1000, 6)),
    ]:
        names = ("modulation", "output", "sign", "llr_scale", "llr_limit", "bits_per_symbol")
        assert tuple(getattr(one, name) for name in names) == expected
        for name in (*names, "backend", *([] if isinstance(one, Named) else ["input_scale", "lr_scale"])):
            with pytest.raises(AttributeError, match=name):
                setattr(one, name, 1)
            with pytest.raises(AttributeError, match=name):
                delattr(one, name)


def test_auto(rng):
    """It is the GPU if there is one, and the bytes are the same. A GPU that is not there leaves the CPU."""
    auto, absent = softqam.Demodulator(backend="auto"), softqam.Demodulator(backend="auto", device=4095)
    assert auto.backend in ("cpu", "cuda") and absent.backend == "cpu"
    symbols = make_symbols(rng, 1000)
    assert_bytes(auto(symbols, 0.1), absent(symbols, 0.1))


class OnlyDLPack:
    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


# Arguments that stand for 0.25, and for 2.
NUMBERS = [0.25, [0.25], np.full(50, 0.25), *(kind(0.25) for kind in (np.float32, np.float64, np.float16, np.longdouble, np.array))]
INTEGERS = [2, np.int64(2), np.uint8(2), np.array(2), np.full(50, 2), np.full(50, 2, np.uint8), [2], OnlyDLPack(np.full(50, 2, np.float32))]


def test_numbers_as_noise_and_gain(rng):
    """One value, of whatever type, is the nearest of binary32; positive and finite ones stay so."""
    symbols = make_symbols(rng, 50)
    tiny, largest = np.full(50, np.float32(2.0**-149)), np.full(50, np.finfo(np.float32).max)
    for expected, numbers in ((np.full(50, 0.25, np.float32), NUMBERS), (np.full(50, 2, np.float32), INTEGERS), (tiny, [1e-300]), (largest, [1e300])):
        for name, other in (("noise_var", {}), ("gain", {"noise_var": 0.1})):
            wanted = softqam.demodulate(symbols, output="f32", **other, **{name: expected})
            for number in numbers:
                assert_bytes(softqam.demodulate(symbols, output="f32", **other, **{name: number}), wanted)


@pytest.mark.parametrize("name", ["noise_var", "gain"])
@pytest.mark.parametrize("number", [0, -1.0, float("nan"), float("inf"), -1e-300, np.float32(0), np.array(-0.5), np.int64(0)])
def test_one_value_that_would_erase_everything(name, number):
    """An array of such values makes erasures."""
    arguments = {"noise_var": 0.1, "output": "f32", name: number}
    with pytest.raises(ValueError, match=f"^{name} is .*: one value for all symbols must be positive and finite$"):
        softqam.demodulate(np.ones(3, np.complex64), **arguments)
    assert not softqam.demodulate(np.ones(3, np.complex64), **{**arguments, name: np.full(3, number)}).any()


def test_symbols_of_other_kinds(rng):
    pairs = make_symbols(rng, 30, "int16")
    expected = softqam.demodulate(pairs, noise_var=0.1)
    for order in "<>":
        fields = pairs.astype(f"{order}i2").view([("i", f"{order}i2"), ("q", f"{order}i2")])[:, 0]
        assert_bytes(softqam.demodulate(fields, noise_var=0.1), expected)
        for q_first in (("Q", "I"), ("imag", "real")):
            fields = pairs[:, ::-1].astype(f"{order}i2").view([(name, f"{order}i2") for name in q_first])[:, 0]
            assert_bytes(softqam.demodulate(fields, noise_var=0.1), expected)
    assert_bytes(softqam.demodulate(OnlyDLPack(pairs), noise_var=0.1), expected)


def test_columns(rng):
    """[n, 1] is n codewords of a symbol each: refused if a codeword's order matters, unless each has its own c_init."""
    column = make_symbols(rng, 40)[20:, None]
    of_column, codeword = f"symbols is complex64 of shape \\({len(column)}, 1\\).*reshape", softqam.Codeword(40, "qpsk", 1, 1, 60)
    for options in ({"c_init": 3}, {"planes": 20}, {"modulation": "pi2-bpsk"}, {"codeword": codeword}):
        with pytest.raises(ValueError, match=of_column):
            softqam.demodulate(column, **{"modulation": "qpsk", "noise_var": 0.1, **options})
    assert_bytes(softqam.demodulate(column, "qpsk", 0.1).reshape(-1), softqam.demodulate(column.reshape(-1), "qpsk", 0.1))
    assert softqam.demodulate(column, "qpsk", 0.1, c_init=np.arange(20)).shape == (20, 2)


def test_masked_arrays_are_refused(rng):
    """Their mask is not in their memory. What replaces it is said."""
    symbols = make_symbols(rng, 20)
    arguments = {"symbols": symbols, "noise_var": np.ones(20), "gain": np.ones(20), "out": np.zeros(160, np.int8), "c_init": np.array(3)}
    for name, value in arguments.items():
        words = "plain" if name in ("out", "c_init") else "filled"
        for mask in (False, True):
            wrong = {**arguments, name: np.ma.masked_array(value, mask=mask)}
            with pytest.raises(TypeError, match=f"{name} is .*{words}"):
                softqam.demodulate(wrong.pop("symbols"), **wrong)
    for wrong in ({"symbols": np.ma.ones((20, 2), np.int16).view()}, {"noise_var": np.ma.masked}, {"symbols": [symbols, np.ma.array(symbols)]},
                  {"symbols": [[np.ma.array(symbols)]]}):  # fmt: skip
        with pytest.raises(TypeError, match="is a masked array"):
            softqam.demodulate(**{"symbols": symbols, "noise_var": 0.1, **wrong})


@pytest.mark.parametrize("output", OUTPUTS)
def test_out_and_empty(rng, output):
    symbols = make_symbols(rng, 60).reshape(3, 20)
    noise = None if output == "u8" else 0.1
    expected = softqam.demodulate(symbols, noise_var=noise, output=output)
    assert expected.dtype == OUTPUTS[output] and expected.flags.c_contiguous and expected.flags.owndata
    around = np.full((5, 160), 7, OUTPUTS[output])
    out = around[1:4]
    assert softqam.demodulate(symbols, noise_var=noise, output=output, out=out) is out
    assert_bytes(out, expected)
    assert (around[0] == 7).all() and (around[4] == 7).all()
    for shape in ((0,), (3, 0), (0, 4), (2, 0, 3)):
        for empty in (np.zeros(shape, np.complex64), np.zeros((*shape, 2), np.int16)):
            got = softqam.demodulate(empty, noise_var=noise, output=output)
            assert got.shape == (*shape[:-1], 8 * shape[-1]) and got.dtype == OUTPUTS[output]
            assert softqam.demodulate(empty, noise_var=noise, output=output, out=got) is got


def test_daemon_threads_at_exit():
    """The interpreter ends while they are in calls. NumPy is told to raise what conversions may overflow."""
    program = """
import threading, time
import numpy as np, softqam
np.seterr(all="raise")
softqam.demodulate(np.array([1e-50 + 1e300j, complex(np.nan, 1e-310)]), noise_var=np.array([1e-300, np.nan]))
symbols = np.ones(1 << 17, np.complex64)
def work(call):
    while True:
        call()
for call in (lambda: softqam.demodulate(symbols, "256qam", 0.1), lambda: softqam.demodulate(symbols[::-1], "256qam", 0.1),
             lambda: softqam.gold_sequence(1, 1 << 22)):
    for _ in range(2):
        threading.Thread(target=work, args=[call], daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def runs_beside(call):
    """Returns whether another thread goes on while a call is under way: the interpreter itself switches to none meanwhile."""
    counted, stop, interval = [0], threading.Event(), sys.getswitchinterval()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    counter = threading.Thread(target=count)
    sys.setswitchinterval(1000)
    counter.start()
    try:
        before = counted[0]
        return any(call() is not None and counted[0] > before for _ in range(20))
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        counter.join()


def test_gil_is_released(rng):
    demodulator = softqam.Demodulator(backend="cpu", threads=1)
    symbols = np.resize(make_symbols(rng, 1000), 1 << 22)
    out, bits = demodulator(symbols, 0.01), np.empty(1 << 25, np.uint8)
    assert not runs_beside(lambda: sum(range(1 << 18)))
    assert runs_beside(lambda: demodulator(symbols, 0.01, out=out))
    assert runs_beside(lambda: softqam._core.gold_sequence(1, 0, 1 << 28, bits) or bits)  # NumPy, which comes after, releases it too
