# SPDX-License-Identifier: MIT
"""Settings, names, numbers and outputs; calls from several threads. Arrays of every layout are in test_layouts.py."""
import copy
import pickle
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_symbols

import softqam
from softqam import _names

HEADER = (Path(__file__).parents[2] / "include/softqam/softqam.h").read_text(encoding="utf-8")


@pytest.mark.parametrize("prefix", ["BACKEND", "MODULATION", "OUTPUT", "NOISE_FORM"])
def test_numbers_are_those_of_the_header(prefix):
    values = re.findall(rf"^ +SOFTQAM_{prefix}_(\w+) = (\d+)", HEADER, re.M)
    of_header = {name.lower().replace("_", "-"): int(value) for name, value in values if name != "DEFAULT"}
    of_package = {name: value for name, value in getattr(_names, f"{prefix}S").items() if name != "auto"}
    assert of_header and of_package == of_header


def test_names():
    assert set(softqam.__all__) <= set(dir(softqam))
    numbers = re.findall(r"^#define SOFTQAM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", HEADER, re.M)
    assert softqam.__version__ == ".".join(numbers)
    one = softqam.Demodulator("256QAM", output="F32", threads=2)
    assert (one.modulation, one.output, one.bits_per_symbol, one.backend) == ("256qam", "f32", 8, "cpu")
    assert "2 threads" in one.backend_detail and "256qam" in repr(one)


SETTINGS = {"modulation": "64QAM", "output": "S16", "sign": 1, "llr_scale": 20, "llr_limit": 1000, "input_scale": 1.5,
            "noise_form": "inverse", "threads": 2}  # fmt: skip


class Named(softqam.Demodulator):
    """What a user makes of it."""

    def __init__(self, name):
        super().__init__(**SETTINGS)
        self.names = [name]


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies(rng, copy_of):
    symbols = make_symbols(rng, 60)
    for one in (softqam.Demodulator(), softqam.Demodulator(**SETTINGS), Named("a")):
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
    assert_bytes(auto(symbols, 0.1), reference.llrs(symbols, "256qam", 0.1))


# Positive and finite is valid, however small or large.
NUMBERS = [
    (0.25, [0.25, [0.25], np.full(50, 0.25), *(kind(0.25) for kind in (np.float32, np.float64, np.float16, np.longdouble, np.array))]),
    (2, [2, np.int64(2), np.uint8(2), np.array(2)]),
    *((same, [number, np.full(50, number)]) for number, same in ((1e-300, 1e-31), (1e300, 2.0**41), (-1e-300, 0))),
]  # fmt: skip


@pytest.mark.parametrize("same, numbers", NUMBERS)
def test_numbers_as_noise_and_gain(rng, same, numbers):
    """One value, of whatever type, is the nearest of binary32."""
    symbols = make_symbols(rng, 50)
    expected, with_gain = (reference.llrs(symbols, "256qam", n0, gain=gain, output="f32") for n0, gain in ((same, None), (0.1, same)))
    for number in numbers:
        assert_bytes(softqam.demodulate(symbols, noise_var=number, output="f32"), expected)
        assert_bytes(softqam.demodulate(symbols, noise_var=0.1, gain=number, output="f32"), with_gain)


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
    for wrong in ({"symbols": np.ma.ones((20, 2), np.int16).view()}, {"noise_var": np.ma.masked}, {"symbols": [symbols, np.ma.array(symbols)]}):
        with pytest.raises(TypeError, match="is a masked array"):
            softqam.demodulate(**{"symbols": symbols, "noise_var": 0.1, **wrong})


def test_conversions_raise_no_floating_point_error():
    """Whatever NumPy is told to do about overflow, underflow and NaN."""
    with np.errstate(all="raise"):
        softqam.demodulate(np.array([1e-50 + 1e300j, complex(np.nan, 1e-310)]), noise_var=np.array([1e-300, np.nan]))


@pytest.mark.parametrize("output", reference.DTYPES)
def test_out_and_empty(rng, output):
    symbols = make_symbols(rng, 60).reshape(3, 20)
    noise = None if output == "u8" else 0.1
    expected = softqam.demodulate(symbols, noise_var=noise, output=output)
    assert expected.dtype == reference.DTYPES[output] and expected.flags.c_contiguous and expected.flags.owndata
    around = np.full((5, 160), 7, reference.DTYPES[output])
    out = around[1:4]
    assert softqam.demodulate(symbols, noise_var=noise, output=output, out=out) is out
    assert_bytes(out, expected)
    assert (around[0] == 7).all() and (around[4] == 7).all()
    for shape in ((0,), (3, 0), (0, 4), (2, 0, 3)):
        for empty in (np.zeros(shape, np.complex64), np.zeros((*shape, 2), np.int16)):
            got = softqam.demodulate(empty, noise_var=noise, output=output)
            assert got.shape == (*shape[:-1], 8 * shape[-1]) and got.dtype == reference.DTYPES[output]
            assert softqam.demodulate(empty, noise_var=noise, output=output, out=got) is got


def runs_beside(call):
    """Whether another thread goes on while a call is under way: the interpreter itself switches to none meanwhile."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    counter = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    counter.start()
    try:
        before = counted[0]
        for _ in range(20):
            call()
            if counted[0] > before:
                break
        return counted[0] > before
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        counter.join()


def test_daemon_threads_at_exit():
    """The interpreter ends while they are in calls."""
    program = """
import threading, time
import numpy as np, softqam
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


def test_gil_is_released(rng):
    demodulator = softqam.Demodulator(backend="cpu", threads=1)
    symbols = np.resize(make_symbols(rng, 1000), 1 << 22)
    out = demodulator(symbols, 0.01)
    assert not runs_beside(lambda: sum(range(1 << 18)))
    assert runs_beside(lambda: demodulator(symbols, 0.01, out=out))
    bits = np.empty(1 << 25, np.uint8)
    assert runs_beside(lambda: softqam._core.gold_sequence(1, 0, 1 << 28, bits))  # NumPy, which comes after, releases it too
