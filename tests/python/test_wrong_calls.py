# SPDX-License-Identifier: MIT
"""Wrong calls by the thousand: each raises, says what is wrong, and writes nothing."""
import itertools

import numpy as np
import pytest
import reference
from symbols import make_symbols

import softqam

ERRORS = (TypeError, ValueError)
BAD_DTYPES = ["?", "u1", "u2", "u4", "u8", "i4", "i8", "f8", "g", "G", "S4", "U3", "O", "V8", "M8[s]", "m8[s]", ">f8"]
ALL_DTYPES = [*BAD_DTYPES, "i1", "i2", "f2", "f4", "c8", "c16", ">i2", ">f4", ">c8"]
SHAPES = [(), (1,), (3,), (4, 3), (2, 4, 3), (0,), (4, 0), (1, 1), (2, 2, 2, 2)]
OBJECTS = [None, True, "text", b"bytes", bytearray(16), object(), {}, {1.0}, lambda: 0, type, 1.5, [[1], [2, 3]], ...]


class Refused(Exception):
    """An argument's own error."""


class Refusing:
    """Whoever looks at it gets an error."""

    def __getattr__(self, name):
        raise Refused

    def __array__(self, *arguments, **options):
        raise Refused

    def __index__(self):
        raise Refused

    def __float__(self):
        raise Refused


class OnAnotherDevice:
    """Says that it is on a GPU of some kind, and has nothing."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        raise BufferError("nothing to export")


def zeros(shape, dtype):
    return np.zeros(shape, dtype)


def wrong_symbols():
    for dtype, shape in itertools.product(BAD_DTYPES, [*SHAPES, (3, 2), (2, 3, 2)]):
        yield {"symbols": zeros(shape, dtype)}
    for dtype, shape in itertools.product(["f4", "f2", "i2", "i1", ">f4"], [(), (2,), (3,), (3, 1), (4, 3), (2, 0)]):
        yield {"symbols": zeros(shape, dtype)} if shape != (2,) else {"symbols": zeros((2, 2, 4), dtype)}
    yield from ({"symbols": zeros((), dtype)} for dtype in ("c8", "c16", ">c8"))
    yield from ({"symbols": thing} for thing in [*OBJECTS, Refusing(), *map(OnAnotherDevice, range(1, 20))])
    yield {"symbols": np.zeros(4, [("i", "f4"), ("q", "f4")])}
    yield {"symbols": memoryview(b"abcd")}


def wrong_noise():
    for dtype, shape in itertools.product(ALL_DTYPES, [*SHAPES, (4,), (5, 1), (4, 3, 1), (3, 3)]):
        fits = len(shape) <= 2 and all(a in (1, b) for a, b in zip(reversed(shape), (3, 4)))
        is_integer = shape == () and np.dtype(dtype).kind in "iu"
        if not is_integer and not (fits and dtype in ("f2", "f4", "f8", "g", ">f4", ">f8")):
            yield {"noise_var": zeros(shape, dtype)}
    yield from ({"noise_var": thing} for thing in [*(o for o in OBJECTS if o != 1.5), Refusing(), 1j, 10**400])
    yield from ({"noise_var": OnAnotherDevice(kind)} for kind in range(1, 20))


def wrong_out():
    for output, dtype, shape in itertools.product(reference.LLRS, ALL_DTYPES, [(4, 24), (4, 23), (96,), (2, 4, 24), (4, 3), ()]):
        if (shape, np.dtype(dtype)) != ((4, 24), np.dtype(reference.DTYPES[output])):
            yield {"output": output, "out": zeros(shape, dtype)}
    right = np.zeros((8, 48), np.int8)
    for view in (right[::2, :24], right[:4, ::2], right[3::-1, :24], np.zeros((24, 4), np.int8).T, right[:4, :24]):
        yield {"out": view}
    read_only = np.zeros((4, 24), np.int8)
    read_only.flags.writeable = False
    yield {"out": read_only}
    yield {"out": np.broadcast_to(np.int8(0), (4, 24))}
    yield from ({"out": thing} for thing in [*OBJECTS[1:], Refusing(), OnAnotherDevice(2), bytearray(96)])


def wrong_numbers():
    things = [True, 1.5, "1", b"1", object(), [1], (), 1j, Refusing(), float("nan"), -1, 2**64, 2**70, -(2**70)]
    for name in ("first_symbol", "layers", "planes"):
        yield from ({name: thing} for thing in [*things, np.zeros(2, int), np.float32(1), 2**63])
    yield from ({"layers": n} for n in (0, 3, 1, 2, 5, 100))
    yield from ({"planes": n} for n in (0, np.int64(0)))
    yield from ({"first_symbol": None} for _ in range(1))
    # One in a list is one for all codewords.
    things.remove([1])
    yield from ({"c_init": thing} for thing in [*things, 2**31, np.uint32(2**31), np.zeros(3, int), np.zeros((4, 3), int)])
    yield from ({"c_init": np.zeros(4, dtype)} for dtype in ALL_DTYPES if np.dtype(dtype).kind not in "iu")
    yield from ({"c_init": np.full(4, value)} for value in (-1, 2**31, 2**40))
    yield from ({"stream": thing} for thing in (0, 1, "s", object()))
    yield {"c_init": [[1], [2, 3]]}


def wrong_settings():
    for name, values in {
        "modulation": ["", "512qam", "256", "QAM256", "256qam ", None, 6, b"256qam", ["256qam"], {}, 1.5],
        "output": ["", "s32", "u16", "int8", "int16", "s15", "s16 ", None, 1, ["s8"], np.int8],
        "sign": [-1, 2, 1.5, "0", None, [0]],
        "llr_scale": [0, -1, float("nan"), float("inf"), 2.0**-11, 2.0**21, "6", [6], 1j, 1e-300, 1e300, 10**400, True],
        "llr_limit": [0, -1, 128, 1000, 32767, 1.5, "127", [1], 2**40],
        "input_scale": [0, -1, float("nan"), float("inf"), "1", [1], 1j, 1e-300, 1e300],
        "noise_form": ["", "N", "1/n0", None, 1, ["n0"]],
    }.items():
        yield from ({name: value} for value in values)
    yield from ({"output": "f32", "llr_scale": 6.0}, {"output": "f32", "llr_limit": 10}, {"output": "u8"})
    yield from ({"output": "f16", "llr_limit": limit} for limit in (0, -1, 2049, 65505, 65535, 65536, 1.5))
    yield {"output": "u8", "noise_var": None, "llr_scale": 2.0}
    for scale in (0, 2.0**-11, np.nextafter(np.float32(2.0**14), np.float32(1e6)), 2.0**20, float("nan")):
        yield {"output": "s16", "llr_scale": scale}
    yield from ({"output": "s16", "llr_limit": limit} for limit in (0, -1, 32768, 65535, 65536 + 1, 2**31, 2**40, 1.5))
    yield {"unknown": 1}


GOOD = {"modulation": "256qam", "noise_var": 0.1}


def call(wrong):
    arguments = {**GOOD, "symbols": np.ones((4, 3), np.complex64), **wrong}
    return softqam.demodulate(arguments.pop("symbols"), **arguments)


def describe(wrong):
    return ", ".join(f"{name}={value!r:.60}" for name, value in wrong.items())


def test_wrong_calls():
    wrong_calls = [*wrong_symbols(), *wrong_noise(), *wrong_out(), *wrong_numbers(), *wrong_settings()]
    accepted, unhelpful = [], []
    for wrong in wrong_calls:
        before = wrong["out"].tobytes() if isinstance(wrong.get("out"), np.ndarray) else None
        try:
            call(wrong)
            accepted.append(describe(wrong))
        except Refused:
            pass
        except ERRORS as error:
            if not any(name in str(error) for name in (*wrong, "settings")):
                unhelpful.append(f"{describe(wrong)}: {type(error).__name__} {error}")
        if before is not None:
            assert wrong["out"].tobytes() == before
    assert not accepted, "\n".join(accepted)
    assert not unhelpful, "\n".join(unhelpful)
    assert len(wrong_calls) >= 1000
    call({})


NAN, INF = float("nan"), float("inf")
WRONG_SETTINGS = {
    "modulation": ["16-qam", "16 qam", "QAM16", "qpsk ", "pi/2-bpsk", "8psk", "1024QAM\n", ("qpsk",), NAN],
    "output": ["S 8", "bits", "hard", "f64", np.float32, [], b"s8"],
    "sign": [True, 1.0, None, "1", np.True_],
    "llr_scale": ["6", True, 1j, np.array([6.0]), np.float64("nan"), np.True_, -0.0],
    "llr_limit": [1.0, True, "3", 2**31, 2**70, np.float32(3), np.True_],
    "input_scale": [NAN, INF, True, 1j, 1e-50, 1e50, np.array([1.0])],
    "noise_form": ["N0 ", "1/n0", "snr", 0.5, ["n0"]],
    "backend": ["gpu", "", None, 0, "Cuda ", "CPU,"],
    "threads": [-1, 1025, 1.0, "2", True, None, 2**40],
    "device": [-1, "0", 1.5, True, 2**31, 0, np.int64(3)],
}
WRONG_OF_MATLAB = {
    "mod": ["8PSK", "QAM", "", None, 16, "pi/4-QPSK", "512QAM"],
    "nVar": [-1, -1e-12, "x", 1j, None, [[1], [2, 3]], np.ma.masked, object(), np.datetime64("2020"), np.array(["a"]), [None]],
    "DecisionType": ["hardd", "", None, 1, b"hard", "soft ", ["hard"], True],
}
WRONG_OF_GOLD = {
    "c_init": [-1, 2**31, 1.0, "1", True, None, [1]],
    "n": [-1, 1.5, 2**61, None, "8", True],
    "first": [-1, 2**64, 1.0, "0", None, True],
}


@pytest.mark.parametrize(
    "function, right, wrong",
    [
        (softqam.Demodulator, {}, WRONG_SETTINGS),
        (softqam.nrSymbolDemodulate, {"sym": np.zeros(4, np.complex64), "mod": "QPSK"}, WRONG_OF_MATLAB),
        (softqam.gold_sequence, {"c_init": 1, "n": 8}, WRONG_OF_GOLD),
    ],
)
def test_other_functions(function, right, wrong):
    """One line that names the argument."""
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        with pytest.raises(ERRORS, match=rf"\A{name} .*\Z"):
            function(**{**right, name: value})
            pytest.fail(f"accepted: {name}={value!r}")


def test_overlaps(rng):
    memory = np.zeros(4096, np.uint8)
    symbols = memory[:800].view(np.complex64)
    symbols[:] = make_symbols(rng, 100)
    noise = memory[1000:1400].view(np.float32)
    noise[:] = 0.1
    for first in (0, 1, 799, 400, 1399 - 800):
        out = memory[first : first + 800].view(np.int8)
        with pytest.raises(ValueError, match="out overlaps"):
            softqam.demodulate(symbols, noise_var=noise, out=out)
    for first in (1400, 2000):
        softqam.demodulate(symbols, noise_var=noise, out=memory[first : first + 800].view(np.int8))


def test_messages():
    symbols = np.zeros((4, 3), np.complex64)
    for arguments, error, words in [
        ({"noise_var": np.zeros((2, 3), np.float32)}, ValueError, r"noise_var is float32 of shape \(2, 3\).*\(4, 3\)"),
        ({"noise_var": np.zeros((2, 3))}, ValueError, r"noise_var is float64 of shape \(2, 3\).*\(4, 3\)"),
        ({"layers": 5}, ValueError, "layers is not between 1 and 4"),
        ({"noise_var": np.zeros(3, int)}, TypeError, r"noise_var is int64 of shape \(3,\).*float32"),
        ({"out": np.zeros((4, 24), np.uint8)}, TypeError, r"out is uint8 of shape \(4, 24\): this output is int8"),
        ({"out": np.zeros((4, 3), np.int8)}, ValueError, r"out is int8 of shape \(4, 3\).*\(4, 24\)"),
        ({"output": "s16", "out": np.zeros((4, 24), np.int8)}, TypeError, "out is int8 .*: this output is int16"),
        ({"output": "s16", "out": np.zeros((4, 24), np.float16)}, TypeError, "out is float16 .*: this output is int16"),
        ({"output": "f16", "out": np.zeros((4, 24), np.int16)}, TypeError, "out is int16 .*: this output is float16"),
        ({"out": np.zeros((4, 24), np.int16)}, TypeError, "out is int16 .*: this output is int8"),
        ({"llr_limit": 128}, ValueError, "llr_limit is 128, not 1 to 127"),
        ({"output": "s16", "llr_limit": 32768}, ValueError, "llr_limit is 32768, not 1 to 32767"),
        ({"output": "s16", "llr_scale": 2.0**15}, ValueError, r"llr_scale is 32768, not 2\^-10 to 2\^14"),
        ({"noise_var": None}, TypeError, "noise_var is missing"),
        ({"llr_scale": np.array(6.0)}, TypeError, "llr_scale is"),
    ]:
        with pytest.raises(error, match=words):
            softqam.demodulate(symbols, **{"noise_var": 0.1, **arguments})
    with pytest.raises(TypeError, match=r"symbols is int32 of shape \(3, 2\)"):
        softqam.demodulate(np.zeros((3, 2), np.int32), noise_var=0.1)


IN_TWO_LAYERS = {"symbols": np.zeros((4, 2, 30), np.complex64), "layers": 2}


@pytest.mark.parametrize(
    "names, wrong",
    [
        ("modulation", {"modulation": "qpsk", "output": "u8"}),
        ("output", {"output": "u8", "planes": 2}),
        ("output", {"output": "u8", "c_init": 2}),
        ("output", {"output": "u8", **IN_TWO_LAYERS}),
        ("llr_scale", {"output": "f32", "llr_scale": 2}),
        ("llr_limit", {"output": "f32", "llr_limit": 2}),
        ("llr_limit", {"output": "f16", "llr_limit": 65505}),
        ("llr_scale", {"output": "s16", "llr_scale": 2.0**20}),
        ("layers", {"modulation": "pi2-bpsk", **IN_TWO_LAYERS}),
        ("layers first_symbol", {"first_symbol": 3, **IN_TWO_LAYERS}),
        ("layers planes", {"planes": 3, **IN_TWO_LAYERS}),
        ("symbols layers", {"layers": 3}),
    ],
)
@pytest.mark.parametrize("interleaved", [False, True])
def test_errors_name_arguments_of_python(names, wrong, interleaved):
    """No field of the C structures, which Python has not; however the layers lie."""
    arguments = {"symbols": np.zeros((4, 3), np.complex64), "noise_var": None if wrong.get("output") == "u8" else 0.1, **wrong}
    symbols = arguments.pop("symbols")
    with pytest.raises(ValueError, match=r"^(?!.*(config\.|segment\.|_stride|n_))") as caught:
        softqam.demodulate(np.asfortranarray(symbols) if interleaved else symbols, **arguments)
    assert all(name in str(caught.value) for name in names.split()) and "\n" not in str(caught.value)


def test_backends_that_are_not_there():
    with pytest.raises(ValueError, match="backend"):
        softqam.Demodulator(backend="gpu")
    with pytest.raises(ValueError, match="threads"):
        softqam.Demodulator(backend="cpu", threads=2000)
    if not softqam.built_with_cuda:
        with pytest.raises(RuntimeError, match="CUDA"):
            softqam.Demodulator(backend="cuda")
