# SPDX-License-Identifier: MIT
"""Wrong calls by the thousand: each raises, says what is wrong, and writes nothing."""
import array
import itertools

import numpy as np
import pytest
import reference
from symbols import Refused, make_symbols, refuse

import softqam

ERRORS = (TypeError, ValueError)
BAD_DTYPES = ["?", "u1", "u2", "u4", "u8", "i4", "i8", "f8", "g", "G", "S4", "U3", "O", "V8", "M8[s]", "m8[s]", ">f8"]
ALL_DTYPES = [*BAD_DTYPES, "i1", "i2", "f2", "f4", "c8", "c16", ">i2", ">f4", ">c8"]
SHAPES = [(), (1,), (3,), (4, 3), (2, 4, 3), (0,), (4, 0), (1, 1), (2, 2, 2, 2)]
# Wrong everywhere: what Python writes of them is long, of several lines, or nothing.
BULKY = ["x" * 5000, list(range(5000)), np.eye(3), 10**400, 10**5000, -(10**5000)]
OBJECTS = [None, True, "text", b"bytes", bytearray(16), object(), {}, {1.0}, lambda: 0, type, 1.5, [[1], [2, 3]], ..., np.ndarray]


FLOATS = ("noise_var", "gain")


class Refusing:
    """Whoever looks at it gets an error."""

    __getattr__ = __array__ = __index__ = __float__ = refuse


class RefusingBuffer(bytearray):
    __class__ = property(refuse)


class BufferOfNothing(array.array):
    dtype = "\ud800"  # which is no character


BUFFERS = [RefusingBuffer(8), BufferOfNothing("q", [1])]


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
    yield from ({"symbols": thing} for thing in [*OBJECTS, *BUFFERS, Refusing(), *map(OnAnotherDevice, range(1, 20))])
    yield {"symbols": np.zeros(4, [("i", "f4"), ("q", "f4")])}
    yield {"symbols": memoryview(b"abcd")}


def wrong_floats():
    for dtype, shape in itertools.product(ALL_DTYPES, [*SHAPES, (4,), (5, 1), (4, 3, 1), (3, 3)]):
        fits = len(shape) <= 2 and all(a in (1, b) for a, b in zip(reversed(shape), (3, 4)))
        is_integer = shape == () and np.dtype(dtype).kind in "iu"
        if not is_integer and not (fits and dtype in ("f2", "f4", "f8", "g", ">f4", ">f8")):
            yield from ({name: zeros(shape, dtype)} for name in FLOATS)
    things = [*(o for o in OBJECTS if o != 1.5), *BUFFERS, Refusing(), 1j, 10**400, *map(OnAnotherDevice, range(1, 20))]
    yield from ({name: thing} for name in FLOATS for thing in things if name != "gain" or thing is not None)
    yield {"output": "u8", "noise_var": None, "gain": 1.0}


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
    yield from ({"out": thing} for thing in [*OBJECTS[1:], BUFFERS[1], Refusing(), OnAnotherDevice(2), bytearray(96)])


def wrong_numbers():
    things = [True, 1.5, "1", b"1", object(), [1], (), 1j, Refusing(), float("nan"), -1, 2**64, 2**70, -(2**70)]
    for name in ("first_symbol", "layers", "planes"):
        yield from ({name: thing} for thing in [*things, np.zeros(2, int), np.float32(1), 2**63])
    yield from ({"layers": n} for n in (0, 3, 1, 2, 5, 100))
    yield from ({"planes": n} for n in (0, np.int64(0)))
    # One in a list is one for all codewords.
    things.remove([1])
    yield from ({"c_init": thing} for thing in [*things, 2**31, np.uint32(2**31), np.zeros(3, int), np.zeros((4, 3), int)])
    yield from ({"c_init": np.zeros(4, dtype)} for dtype in ALL_DTYPES if np.dtype(dtype).kind not in "iu")
    yield from ({"c_init": np.full(4, value)} for value in (-1, 2**31, 2**40))
    yield from ({"stream": thing} for thing in (0, 1, "s", object()))
    yield from ({"first_symbol": None}, {"c_init": [[1], [2, 3]]})


NAN, INF = float("nan"), float("inf")
WRONG_SETTINGS = {
    "modulation": ["", "512qam", "256", "QAM256", "256qam ", None, 6, b"256qam", ["256qam"], {}, "16-qam", "16 qam", "pi/2-bpsk", "8psk",
                   "1024QAM\n", ("qpsk",), NAN],
    "output": ["", "s32", "u16", "int8", "int16", "s15", "s16 ", None, 1, ["s8"], np.int8, "S 8", "bits", "hard", "f64", np.float32, b"s8"],
    "sign": [-1, 2, 1.5, 1.0, "0", None, [0], True, np.True_],
    "llr_scale": [0, -0.0, -1, NAN, INF, 2.0**-11, 2.0**21, "6", [6], 1j, 1e-300, 1e300, 10**400, True, np.array([6.0]), np.array(6.0),
                  np.float64("nan"), np.True_],
    "llr_limit": [0, -1, 128, 1000, 32767, 1.5, 1.0, "127", [1], 2**31, 2**40, 2**70, True, np.float32(3), np.True_],
    "input_scale": [0, -1, NAN, INF, "1", [1], 1j, 1e-300, 1e300, 1e-50, 1e50, True, np.array([1.0])],
    "noise_form": ["", "N", "1/n0", "N0 ", "snr", None, 1, 0.5, ["n0"]],
}  # fmt: skip
WRONG_BACKENDS = {
    "backend": ["gpu", "", None, 0, "Cuda ", "CPU,"],
    "threads": [-1, 1025, 1.0, "2", True, None, 2**40],
    "device": [-1, "0", 1.5, True, 2**31, 0, np.int64(3)],
}


def wrong_settings():
    yield from ({name: value} for name, values in WRONG_SETTINGS.items() for value in values)
    yield from ({"output": "f16", "llr_limit": limit} for limit in (0, -1, 2049, 65505, 65535, 65536, 1.5))
    too_large = np.nextafter(np.float32(2.0**14), np.float32(1e6))
    yield from ({"output": "s16", "llr_scale": scale} for scale in (0, 2.0**-11, too_large, 2.0**20, NAN))
    yield from ({"output": "s16", "llr_limit": limit} for limit in (0, -1, 32768, 65535, 65536 + 1, 2**31, 2**40, 1.5))
    yield from ({"output": "u8"}, {"output": "u8", "noise_var": None, "llr_scale": 2.0}, {"unknown": 1})


def call(wrong):
    arguments = {"symbols": np.ones((4, 3), np.complex64), "noise_var": 0.1, **wrong}
    return softqam.demodulate(arguments.pop("symbols"), **arguments)


def describe(wrong):
    return ", ".join(f"{name}={value!r:.60}" for name, value in wrong.items())


def test_wrong_calls():
    wrong_calls = [*wrong_symbols(), *wrong_floats(), *wrong_out(), *wrong_numbers(), *wrong_settings()]
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


MASKED = np.ma.ones(4, np.complex64)
WRONG_OF_MATLAB = {
    "sym": [None, "x", 1j, np.zeros((3, 2), np.float32), np.zeros((2, 1), np.int8), np.zeros(4, np.clongdouble), [[1j], [1j, 2]],
            np.ndarray, MASKED, [MASKED]],
    "mod": ["8PSK", "QAM", "", None, 16, "pi/4-QPSK", "512QAM"],
    "nVar": [-1, -1e-12, -1e-300, np.int64(-1), np.float32(-0.1), [0.1] * 3 + [-0.1], -INF, "0.1", 1j, None, [[1], [2, 3]], {}, 10**400,
             np.ma.masked, object(), np.datetime64("2020"), np.array(["0.1"]), [None],
             True, np.True_, np.ones(4, bool), np.ones(3), np.ones((4, 1)), MASKED.real, [MASKED.real]],
    "DecisionType": ["hardd", "", None, 1, b"hard", "soft ", ["hard"], True],
}  # fmt: skip
WRONG_OF_GOLD = {
    "c_init": [-1, 2**31, 1.0, "1", True, None, [1]],
    "n": [-1, 1.5, 2**61, None, "8", True],
    "first": [-1, 2**64, 1.0, "0", None, True],
}

GRANT = {"n_bits": 800, "tb_size": 500, "modulation": "16qam", "base_graph": 1}
WRONG_GRANTS = {
    "n_bits": [0, -1, 2**32, 801, 1.5, "800", None, True],
    "tb_size": [0, -1, 2**32, 1.5, None, 2**32 - 1, 8424 * 2 + 1],
    "modulation": ["512qam", "", None, 6],
    "base_graph": [0, 3, 1.5, "1", True, None],
    "rv": [-1, 4, 1.0, None],
    "layers": [0, 5, 1.5, None],
    "tbs_lbrm": [0, -1, 2**32, 1.5],
    "n_ref": [0, -1, 2**32, "1"],
    "filler_value": ["127", 1j, True, float("nan"), 1e39],
    "n_cbg": [-1, 33, None],
    "cbgti": [-1, 1, 2**32, 1.0],
}
FIELDS = {"n_bits": 80, "modulation": "qpsk", "layers": 2, "n_code_blocks": 2, "n_cb": 30}
WRONG_FIELDS = {
    "n_bits": [-1, 2**32, 81, 1.0],
    "modulation": ["QAM", None],
    "layers": [0, 5],
    "n_code_blocks": [0, 65536, 1.5],
    "n_cb": [0, -1, 2**32],
    "k0": [30, -1, 2**32 - 1],
    "first_filler": [-1, 2**32],
    "n_fillers": [30, -1, 2**32],
    "filler_value": [float("-inf")],
    "n_cbg": [33, -1],
    "cbgti": [1, 2**31],
}


@pytest.mark.parametrize("function, right, wrong", [
    (softqam.Demodulator, {}, {**WRONG_SETTINGS, **WRONG_BACKENDS}),
    (softqam.nrSymbolDemodulate, {"sym": np.zeros(4, np.complex64), "mod": "QPSK"}, WRONG_OF_MATLAB),
    (softqam.gold_sequence, {"c_init": 1, "n": 8}, WRONG_OF_GOLD),
    (softqam.gold_sequence, {"c_init": 1, "first": 0, "n": 2**60}, WRONG_OF_GOLD),  # more than memory can hold
    (softqam.ldpc_codeword, GRANT, WRONG_GRANTS),
    (softqam.Codeword, FIELDS, WRONG_FIELDS),
])  # fmt: skip
def test_other_functions(function, right, wrong):
    """One line that names the argument."""
    for name, value in ((name, value) for name, values in wrong.items() for value in [*values, *BULKY]):
        with pytest.raises(ERRORS, match=rf"\A(?!.*grant\.)(codeword's )?{name} .{{,250}}\Z"):
            function(**{**right, name: value})
            pytest.fail(f"accepted: {name}={value!r:.60}")


@pytest.mark.parametrize("function, right, wrong, words", [
    *((softqam.ldpc_codeword, GRANT, wrong, words) for wrong, words in (
        ({"layers": 3}, "n_bits is 800, not a multiple of 3 layers"),
        ({"code_rate": 0.5}, "base_graph is 1 and code_rate is 0.5"),
        ({"base_graph": None, "code_rate": 0}, "code_rate is 0, not between 0 and 1"),
        ({"base_graph": None, "code_rate": 682.5}, "code_rate is 682.5, not between 0 and 1: the MCS tables"),
        ({"base_graph": None, "code_rate": float("nan")}, "code_rate is nan"),
        ({"base_graph": None, "code_rate": "0.5"}, "code_rate is '0.5'"),
        ({"tbs_lbrm": 1000, "n_ref": 1000}, "tbs_lbrm and n_ref are given"),
        ({"modulation": "pi2-bpsk", "layers": 2}, "layers is 2: pi/2-BPSK has one layer"),
        ({"n_cbg": 1, "cbgti": 0}, "codeword's n_bits is 800, but no code block is transmitted"),
    )),
    (softqam.Codeword, FIELDS, {"layers": 3}, "codeword's n_bits is 80, not a multiple of 3 layers"),
    (softqam.Codeword, FIELDS, {"first_filler": 31}, "0 fillers from 31 on are not all within n_cb"),
    (softqam.Codeword, FIELDS, {"n_fillers": 31}, "31 fillers from 0 on are not all within n_cb"),
    (softqam.Codeword(**FIELDS).block, {}, {"r": 2}, "r is 2"),
])  # fmt: skip
def test_wrong_codewords(function, right, wrong, words):
    with pytest.raises(ERRORS, match=rf"\A{words}.{{,200}}\Z"):
        function(**{**right, **wrong})


def test_overlaps(rng):
    memory = np.zeros(4096, np.uint8)
    symbols = memory[:800].view(np.complex64)
    symbols[:] = make_symbols(rng, 100)
    floats = memory[1000:1400].view(np.float32)
    floats[:] = 0.1
    for of_call in ({"noise_var": floats}, {"noise_var": 0.1, "gain": floats}):
        for first in (0, 1, 799, 400, 1399 - 800, 1000, 1399):
            out = memory[first : first + 800].view(np.int8)
            with pytest.raises(ValueError, match=f"out overlaps {'symbols' if first < 800 else list(of_call)[-1]}"):
                softqam.demodulate(symbols, out=out, **of_call)
        for first in (1400, 2000):
            softqam.demodulate(symbols, out=memory[first : first + 800].view(np.int8), **of_call)


IN_TWO_LAYERS = {"symbols": np.zeros((4, 2, 30), np.complex64), "layers": 2}
# The error, its words, the argument.
MESSAGES = [
    *((ValueError, rf"{name} is float32 of shape \(2, 3\).*\(4, 3\)", {name: np.zeros((2, 3), np.float32)}) for name in FLOATS),
    *((ValueError, rf"{name} is float64 of shape \(2, 3\).*\(4, 3\)", {name: np.zeros((2, 3))}) for name in FLOATS),
    *((TypeError, rf"{name} is int64 of shape \(3,\).*float32", {name: np.zeros(3, int)}) for name in FLOATS),
    *((TypeError, f"{name} is bool", {name: true}) for name in FLOATS for true in (np.True_, np.array(True))),
    (ValueError, 'gain is given, which output "u8"', {"output": "u8", "noise_var": None, "gain": 1.0}),
    (TypeError, "noise_var is missing", {"noise_var": None}),
    (TypeError, r"symbols is int32 of shape \(3, 2\)", {"symbols": np.zeros((3, 2), np.int32)}),
    (TypeError, r"out is uint8 of shape \(4, 24\): this output is int8", {"out": np.zeros((4, 24), np.uint8)}),
    (ValueError, r"out is int8 of shape \(4, 3\).*\(4, 24\)", {"out": np.zeros((4, 3), np.int8)}),
    (TypeError, "out is int8 .*: this output is int16", {"output": "s16", "out": np.zeros((4, 24), np.int8)}),
    (TypeError, "out is float16 .*: this output is int16", {"output": "s16", "out": np.zeros((4, 24), np.float16)}),
    (TypeError, "out is int16 .*: this output is float16", {"output": "f16", "out": np.zeros((4, 24), np.int16)}),
    (TypeError, "out is int16 .*: this output is int8", {"out": np.zeros((4, 24), np.int16)}),
    (ValueError, "layers is not between 1 and 4", {"layers": 5}),
    (ValueError, "symbols is .* layers", {"layers": 3}),
    (ValueError, "layers is 2.*pi/2-BPSK", {"modulation": "pi2-bpsk", **IN_TWO_LAYERS}),
    (ValueError, "layers is 2.*first_symbol", {"first_symbol": 3, **IN_TWO_LAYERS}),
    (ValueError, "layers is 2.*planes", {"planes": 3, **IN_TWO_LAYERS}),
    (ValueError, "llr_limit is 128, not 1 to 127", {"llr_limit": 128}),
    (ValueError, "llr_limit is 32768, not 1 to 32767", {"output": "s16", "llr_limit": 32768}),
    (ValueError, r"llr_scale is 32768, not 2\^-10 to 2\^14", {"output": "s16", "llr_scale": 2.0**15}),
    (TypeError, "llr_scale is", {"llr_scale": np.array(6.0)}),
    (ValueError, "llr_scale", {"output": "f32", "llr_scale": 2}),
    (ValueError, "llr_limit", {"output": "f32", "llr_limit": 2}),
    (ValueError, "llr_limit", {"output": "f16", "llr_limit": 65505}),
    (ValueError, "modulation", {"modulation": "qpsk", "output": "u8", "noise_var": None}),
    *((ValueError, "output", {"output": "u8", "noise_var": None, **wrong}) for wrong in ({"planes": 2}, {"c_init": 2}, IN_TWO_LAYERS)),
]  # fmt: skip


@pytest.mark.parametrize("error, words, wrong", MESSAGES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_messages(error, words, wrong, interleaved):
    """One line, and no field of the C structures, which Python has not; however the layers lie."""
    arguments = {"symbols": np.zeros((4, 3), np.complex64), "noise_var": 0.1, **wrong}
    symbols = arguments.pop("symbols")
    with pytest.raises(error, match=rf"\A(?!.*(config\.|segment\.|_stride|n_)).*{words}.*\Z"):
        softqam.demodulate(np.asfortranarray(symbols) if interleaved else symbols, **arguments)


@pytest.mark.skipif(softqam.built_with_cuda, reason="built with CUDA")
def test_no_cuda():
    with pytest.raises(RuntimeError, match="CUDA"):
        softqam.Demodulator(backend="cuda")
