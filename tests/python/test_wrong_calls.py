# SPDX-License-Identifier: MIT
"""Wrong calls by the thousand: each raises, names the argument, and writes nothing. What the library refuses is proved in
tests/api: here, that its message arrives, with Python's names."""
import itertools

import numpy as np
import pytest
from symbols import LLRS, OUTPUTS, Refused, refuse

import softqam

ERRORS = (TypeError, ValueError)
BAD_DTYPES = ["?", "u1", "u4", "i4", "i8", "f8", "g", "G", "S4", "U3", "O", "V8", "M8[s]", ">f8"]
ALL_DTYPES = [*BAD_DTYPES, "i1", "i2", "f2", "f4", "c8", "c16", ">i2", ">f4", ">c8"]
SHAPES = [(), (1,), (3,), (4, 3), (2, 4, 3), (0,), (4, 0), (1, 1), (2, 2, 2, 2)]
# Wrong everywhere: what Python writes of them is long, of several lines, or nothing.
BULKY = ["x" * 5000, list(range(5000)), np.eye(3), 10**5000, -(10**5000)]
OBJECTS = [True, "text", b"bytes", bytearray(16), object(), {}, {1.0}, lambda: 0, type, [[1], [2, 3]], ..., np.ndarray]
FLOATS = ("noise_var", "gain")


class Refusing:
    """Whoever looks at it gets an error."""

    __getattr__ = __array__ = __index__ = __float__ = refuse


class OnAnotherDevice:
    """Says that it is on a GPU of some kind, and has nothing."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        raise BufferError("nothing to export")


NO_ARRAYS = [*OBJECTS, Refusing(), *map(OnAnotherDevice, range(1, 20))]


def wrong_arrays():
    for dtype, shape in itertools.product(BAD_DTYPES, [*SHAPES, (3, 2), (2, 3, 2)]):
        yield {"symbols": np.zeros(shape, dtype)}
    for dtype, shape in itertools.product(["f4", "f2", "i2", "i1", ">f4"], [(), (3,), (3, 1), (4, 3), (2, 0), (2, 2, 4)]):
        yield {"symbols": np.zeros(shape, dtype)}
    for thing in (*NO_ARRAYS, None, 1.5, np.zeros((), "c8"), np.zeros(4, [("i", "f4"), ("q", "f2")]), np.zeros(4, "f4,f4,f4"), memoryview(b"abcd")):
        yield {"symbols": thing}
    for dtype, shape in itertools.product(ALL_DTYPES, [*SHAPES, (4,), (5, 1), (4, 3, 1), (3, 3)]):
        fits = len(shape) <= 2 and all(a in (1, b) for a, b in zip(reversed(shape), (3, 4)))
        if not fits or np.dtype(dtype).kind not in "fiu" or shape == ():
            yield from ({name: np.zeros(shape, dtype)} for name in FLOATS)
    yield from ({name: thing} for name in FLOATS for thing in (*NO_ARRAYS, 1j, 10**400))
    yield from ({"noise_var": None}, {"output": "u8", "noise_var": None, "gain": 1.0}, {"output": "u8"}, {"output": "hard", "out": np.zeros((4, 24), "i1")})


def wrong_out():
    for output, dtype, shape in itertools.product(LLRS, ALL_DTYPES, [(4, 24), (4, 23), (96,), (2, 4, 24), (4, 3), ()]):
        if (shape, np.dtype(dtype)) != ((4, 24), np.dtype(OUTPUTS[output])):
            yield {"output": output, "out": np.zeros(shape, dtype)}
    right, read_only = np.zeros((8, 48), np.int8), np.zeros((4, 24), np.int8)
    read_only.flags.writeable = False
    for view in (right[::2, :24], right[:4, ::2], right[3::-1, :24], np.zeros((24, 4), np.int8).T, right[:4, :24], read_only,
                 np.broadcast_to(np.int8(0), (4, 24))):  # fmt: skip
        yield {"out": view}
    yield from ({"out": thing} for thing in [*OBJECTS, Refusing(), OnAnotherDevice(2), bytearray(96), 1.5])


def wrong_numbers():
    things = [True, 1.5, "1", b"1", object(), (), 1j, Refusing(), float("nan"), -1, 2**64, 2**70, -(2**70)]
    for name in ("first_symbol", "layers", "planes", "scrambling_offset"):
        yield from ({name: thing} for thing in [*things, [1], np.zeros(2, int), np.float32(1), 2**63])
    yield from ({name: 2**59} for name in ("first_symbol", "scrambling_offset"))
    yield from ({"layers": n} for n in (0, 3, 1, 2, 5, 100))
    yield from ({"planes": n} for n in (0, np.int64(0)))
    yield from ({"c_init": thing} for thing in [*things, 2**31, np.uint32(2**31), np.zeros(3, int), np.zeros((4, 3), int), [[1], [2, 3]]])
    yield from ({"c_init": np.zeros(4, dtype)} for dtype in ALL_DTYPES if np.dtype(dtype).kind not in "iu")
    yield from ({"c_init": np.full(4, value)} for value in (-1, 2**31, 2**40))
    yield from ({"stream": thing} for thing in (0, 1, "s", object()))
    yield {"unknown": 1}


def describe(wrong):
    return ", ".join(f"{name}={value!r:.60}" for name, value in wrong.items())


def test_wrong_calls():
    accepted, unhelpful = [], []
    for wrong in (*wrong_arrays(), *wrong_out(), *wrong_numbers()):
        arguments = {"symbols": np.ones((4, 3), np.complex64), "noise_var": 0.1, **wrong}
        before = wrong["out"].tobytes() if isinstance(wrong.get("out"), np.ndarray) else None
        try:
            softqam.demodulate(arguments.pop("symbols"), **arguments)
            accepted.append(describe(wrong))
        except Refused:
            pass
        except ERRORS as error:
            if not any(name in str(error) for name in wrong):
                unhelpful.append(f"{describe(wrong)}: {type(error).__name__} {error}")
        assert before is None or wrong["out"].tobytes() == before
    assert not accepted, "\n".join(accepted)
    assert not unhelpful, "\n".join(unhelpful)


@pytest.mark.parametrize("more", [(None,), (0.5,), (None, "f32")])
def test_arguments_by_position(more):
    """They take their names after noise_var, even if they have their defaults."""
    symbols = np.ones(3, np.complex64)
    for call in (softqam.Demodulator("qpsk"), lambda *arguments: softqam.demodulate(arguments[0], "qpsk", *arguments[1:])):
        with pytest.raises(TypeError, match="noise_var is followed by .*, which takes its name"):
            call(symbols, 0.1, *more)


MOST = 2**32 - 1
FIELDS = {"n_bits": 80, "modulation": "qpsk", "layers": 2, "n_code_blocks": 2, "n_cb": 30}
GRANT = {"n_bits": 800, "tb_size": 500, "modulation": "16qam", "base_graph": 1}
NAMES = ["", "512qam", "256qam ", "QAM256", "s32", "N0 ", "gpu", 6, b"256qam", ["256qam"], {}, float("nan"), np.int8]
NO_REALS = ["6", [6], 1j, True, np.True_, np.array([6.0]), float("nan"), float("inf"), 10**400]
MASKED = np.ma.ones(4, np.complex64)
JOINT = {"z": np.ones((4, 2), np.complex64), "gram": np.ones((4, 2, 2), np.complex64), "noise_var": 0.1}
# Each function with arguments that would do, and wrong values of others. A pair is the range of an integer.
FUNCTIONS = [
    (softqam.Demodulator, {}, {
        "modulation": NAMES, "output": NAMES, "noise_form": NAMES, "backend": NAMES, "sign": (0, 1), "threads": (0, 1024),
        "llr_scale": [*NO_REALS, 0, -0.0, -1, 2.0**-11, 2.0**21, 1e-300, 1e300], "input_scale": [*NO_REALS, 0, -1, 1e-50, 1e50],
        "llr_limit": (1, 127), "noise_floor": [*NO_REALS, 0, -1, 1e13], "device": [-1, "0", 1.5, True, 2**31, 0, np.int64(3)],
    }),
    (softqam.Demodulator, {"output": "s16"}, {"llr_limit": (1, 32767), "llr_scale": [2.0**-11, np.nextafter(np.float32(2.0**14), np.float32(1e6))]}),
    (softqam.Demodulator, {"output": "f16"}, {"llr_limit": [*NO_REALS, 0, -1, 2049, 65505, 1.5], "llr_scale": [2]}),
    (softqam.Demodulator, {"output": "f32"}, {"llr_limit": [1], "llr_scale": [2]}),
    (softqam.nrSymbolDemodulate, {"sym": np.zeros(4, np.complex64), "mod": "QPSK"}, {
        "sym": [None, "x", 1j, np.zeros((3, 2), np.float32), np.zeros((2, 1), np.int8), np.zeros(4, np.clongdouble), [[1j], [1j, 2]], MASKED, [MASKED]],
        "mod": ["8PSK", "QAM", "", None, 16, "pi/4-QPSK"],
        "nVar": [-1, -1e-300, np.float32(-0.1), [0.1] * 3 + [-0.1], float("-inf"), "0.1", 1j, None, [[1], [2, 3]], {}, 10**400, np.ma.masked, object(),
                 np.datetime64("2020"), np.array(["0.1"]), True, np.ones(4, bool), np.ones(3), np.ones((4, 1)), MASKED.real, [MASKED.real]],
        "DecisionType": ["hardd", "", None, 1, b"hard", "soft ", ["hard"], True],
    }),
    (softqam.gold_sequence, {"c_init": 1, "n": 8}, {"c_init": (0, 2**31 - 1), "n": (0, 2**60), "first": (0, 2**64 - 1)}),
    (softqam.gold_sequence, {"n": 2**60}, {"c_init": (0, 2**31 - 1)}),  # more than memory can hold
    (softqam.ldpc_codeword, GRANT, {
        "n_bits": (1, MOST), "tb_size": (1, MOST), "modulation": NAMES, "base_graph": (1, 2), "rv": (0, 3), "layers": (1, 4), "tbs_lbrm": (1, MOST),
        "n_ref": (1, MOST), "filler_value": [*NO_REALS, 1e39], "n_cbg": (0, 32), "cbgti": (0, MOST),
    }),
    (softqam.Codeword, FIELDS, {
        "n_bits": (0, MOST), "modulation": NAMES, "layers": (1, 4), "n_code_blocks": (1, 65535), "n_cb": (1, MOST), "k0": (0, 29),
        "first_filler": (0, MOST), "n_fillers": (0, 29), "filler_value": [float("-inf")], "n_cbg": (0, 32), "cbgti": (0, 0), "n_fill": (0, MOST),
    }),
    (softqam.modulate, {"bits": [0, 1]}, {
        "bits": [None, 1, "01", [0.0, 1.0], [0, 2], [0, -1], [1j], [[0], [1, 0]], np.ma.ones(8, int)], "modulation": NAMES, "first_symbol": (0, 2**64 - 1),
    }),
    (softqam.rate_recover, {"llrs": np.zeros(80, np.int8), "codeword": softqam.Codeword(**FIELDS)}, {
        "llrs": [None, [0] * 80, np.zeros(80), np.zeros(79, np.int8), np.zeros((80, 1), np.int8), np.ma.zeros(80, np.int8)],
        "codeword": [None, 80, GRANT], "soft_buffers": [[], np.zeros((2, 30)), np.zeros((2, 29), np.int8), np.zeros(60, np.int8)],
        "combine": [1, None, "no"], "llr_limit": (1, 127),
    }),
    (softqam.demodulate_joint, JOINT, {
        "z": [None, "z", np.ones(2, np.complex64), np.ones((4, 2)), np.ones((4, 2, 2), np.int16), np.ones((4, 3), np.complex64), MASKED],
        "gram": [None, "G", np.eye(2), np.eye(2, dtype=np.float32), np.ones((4, 2), np.complex64), np.ones((3, 2, 2), np.complex64), np.ones((4, 2, 2, 2), np.float32), MASKED],
        "modulation": [*NAMES, "bpsk"], "layer": (0, 1), "partner_modulation": [*NAMES, "bpsk", "qpsk"], "output": [*NAMES, "u8", "hard"],
        "noise_var": [None, -1, 0, np.ones(3), 1j, MASKED.real], "noise_floor": [[1], -1],
    }),
    (softqam.Statistics().mutual_information, {}, {"bits_per_symbol": (1, 10)}),
]  # fmt: skip


@pytest.mark.parametrize("function, right, wrong", FUNCTIONS)
def test_other_functions(function, right, wrong):
    """One line that names the argument."""
    for name, values in wrong.items():
        if isinstance(values, tuple):
            values = [values[0] - 1, values[1] + 1, 2**70, float(values[0]), str(values[0]), [values[0]], True, np.float32(3)]
        for value in [*values, *BULKY]:
            with pytest.raises(ERRORS, match=rf"\A(?!.*grant\.)(codeword's )?{name} .{{,250}}\Z"):
                function(**{**right, name: value})
                pytest.fail(f"accepted: {name}={value!r:.60}")


@pytest.mark.parametrize("function, right, wrong, words", [
    (softqam.ldpc_codeword, GRANT, {"layers": 3}, "n_bits is 800, not a multiple of 3 layers"),
    (softqam.ldpc_codeword, GRANT, {"code_rate": 0.5}, "base_graph is 1 and code_rate is 0.5"),
    (softqam.ldpc_codeword, GRANT, {"base_graph": None, "code_rate": 682.5}, "code_rate is 682.5, not between 0 and 1: the MCS tables"),
    (softqam.ldpc_codeword, GRANT, {"tbs_lbrm": 1000, "n_ref": 1000}, "tbs_lbrm and n_ref are given"),
    (softqam.ldpc_codeword, GRANT, {"modulation": "pi2-bpsk", "layers": 2}, "layers is 2: pi/2-BPSK has one layer"),
    (softqam.Codeword, FIELDS, {"first_filler": 31}, "0 fillers from 31 on are not all within n_cb"),
    (softqam.Codeword(**FIELDS).block, {}, {"r": 2}, "r is 2"),
    (softqam.rate_recover, {"llrs": np.zeros(80, np.int8), "codeword": softqam.Codeword(**FIELDS)}, {"combine": True}, "soft_buffers is missing: combine"),
    (softqam.demodulate_joint, JOINT, {"gram": np.eye(2)}, r"gram is float64 of shape \(2, 2\): it takes complex64 or complex128"),
    (softqam.demodulate_joint, JOINT, {"z": np.ones((4, 3), complex)}, r"z is complex64 of shape \(4, 3\): it takes \[..., n, 2\]"),
    (softqam.demodulate_joint, JOINT, {"gram": np.ones((3, 2, 2), complex)}, r"gram is complex64 of shape \(3, 2, 2\).*\[..., n, 2, 2\]"),
    (softqam.demodulate_joint, JOINT, {"noise_var": np.ones((4, 2))}, r"noise_var is float64 of shape \(4, 2\): it does not broadcast to the symbols, \(4,\)"),
    (softqam.demodulate_joint, JOINT, {"partner_modulation": "qpsk"}, "partner_modulation is qpsk: .*wanted layer"),
    (softqam.demodulate_joint, JOINT, {"planes": 3}, ".*planes is no multiple"), (softqam.demodulate_joint, JOINT, {"first_symbol": 1}, ".*first_symbol is no multiple"),
    *((softqam.demodulate_joint, JOINT, {"codeword": softqam.Codeword(32, "256qam", n, 1, 60), "layer": layer}, f"layers is {3 - n}, the codeword's are {n}")
      for n, layer in ((1, None), (2, 0))),
    (softqam.demodulate_joint, JOINT, {"out": np.zeros(63, np.int8)}, r"out is int8 .*\(64,\)"), (softqam.demodulate_joint, JOINT, {"stream": 1}, "stream is given"),
])  # fmt: skip
def test_wrong_codewords(function, right, wrong, words):
    with pytest.raises(ERRORS, match=rf"\A{words}.{{,200}}\Z"):
        function(**{**right, **wrong})


# Parts of messages besides the argument's name.
MESSAGES = [
    (r"noise_var is float64 of shape \(2, 3\).*\(4, 3\)", {"noise_var": np.zeros((2, 3))}),
    (r"gain is complex128 of shape \(3,\).*not complex", {"gain": np.zeros(3, complex)}),
    ('gain is given, which output "u8"', {"output": "u8", "noise_var": None, "gain": 1.0}), ("noise_var is missing", {"noise_var": None}),
    (r"out is uint8 of shape \(4, 24\): this output is int8", {"out": np.zeros((4, 24), np.uint8)}),
    (r"out is int8 of shape \(4, 3\).*\(4, 24\)", {"out": np.zeros((4, 3), np.int8)}),
    ("layers is 3.*pi/2-BPSK", {"modulation": "pi2-bpsk", "layers": 3, "symbols": np.zeros((3, 4), np.complex64)}),
    ("layers is 4.*first_symbol", {"first_symbol": 3, "layers": 4}), ("layers is 4.*planes", {"planes": 3, "layers": 4}),
    (r"llr_scale is 32768, not 2\^-10 to 2\^14", {"output": "s16", "llr_scale": 2.0**15}),
    ("modulation", {"modulation": "qpsk", "output": "u8", "noise_var": None}),
    *(("output", {"output": "u8", "noise_var": None, **wrong}) for wrong in ({"planes": 2}, {"c_init": 2}, {"layers": 4})),
]


@pytest.mark.parametrize("words, wrong", MESSAGES)
def test_messages(words, wrong):
    """One line, and no field of the C structures, which Python has not."""
    arguments = {"symbols": np.zeros((4, 3), np.complex64), "noise_var": 0.1, **wrong}
    with pytest.raises(ERRORS, match=rf"\A(?!.*(config\.|segment\.|_stride|n_)).*{words}.*\Z"):
        softqam.demodulate(arguments.pop("symbols"), **arguments)


@pytest.mark.skipif(softqam.built_with_cuda, reason="built with CUDA")
def test_no_cuda():
    with pytest.raises(RuntimeError, match="CUDA"):
        softqam.Demodulator(backend="cuda")
