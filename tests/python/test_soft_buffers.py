# SPDX-License-Identifier: MIT
"""Codewords in soft buffers: what reference/ makes, by 3GPP TS 38.212 clauses 5.4.2.1 and 5.4.2.2, of the LLRs that the
package gives in symbol order."""
import copy
import ctypes
import dataclasses
import pickle

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam

BITS = reference.MODULATIONS
LIMITS = {"s8": 127, "s16": 32767, "f16": 65504.0, "f32": float(np.finfo(np.float32).max)}
FILLERS = {"s8": 127, "s16": 32767, "f16": 1000.0, "f32": 1000.0}


def lengths(codeword):
    """E_r of all code blocks."""
    n = codeword.n_code_blocks
    sent, found = (ctypes.c_bool * n)(), (ctypes.c_size_t * n)()
    size = ctypes.c_size_t
    reference.library().rate_recovery_transmitted(size(n), size(codeword.n_cbg), ctypes.c_uint32(codeword.cbgti), sent)
    reference.library().rate_recovery_lengths(size(codeword.n_bits), size(codeword.layers), size(BITS[codeword.modulation]), size(n),
                                              sent, found)  # fmt: skip
    return list(found)


def fill(buffers, llrs, codeword, combine, output, limit=None):
    """The LLRs of the whole codeword, in symbol order, into buffers, where None drops a code block."""
    values = reference.SoftValues(list(LIMITS).index(output), LIMITS[output] if limit is None else limit)
    circular = reference.CircularBuffer(codeword.n_cb, codeword.k0, codeword.first_filler, codeword.n_fillers)
    first = 0
    for buffer, n in zip(buffers, lengths(codeword)):
        block = np.ascontiguousarray(llrs[first : first + n])
        first += n
        if buffer is not None:
            reference.library().soft_buffer_update(
                ctypes.byref(values), ctypes.byref(circular), ctypes.c_size_t(n), ctypes.c_size_t(BITS[codeword.modulation]),
                ctypes.c_void_p(block.ctypes.data), not combine, ctypes.c_double(FILLERS[output]), ctypes.c_void_p(buffer.ctypes.data),
            )  # fmt: skip
    return buffers


def random_buffers(rng):
    """Small ones: what all transmissions of a transport block have in common."""
    n_cb = int(rng.integers(8, 120))
    first_filler = int(rng.integers(0, n_cb))
    n_fillers = int(rng.integers(0, min(n_cb - first_filler, n_cb - 1) + 1)) if rng.random() < 0.7 else 0
    return {"n_code_blocks": int(rng.integers(1, 6)), "n_cb": n_cb, "first_filler": first_filler, "n_fillers": n_fillers}


def random_codeword(rng, modulation, layers, buffers):
    """Often with repetition, sometimes not of all code blocks."""
    n_blocks, n_cb, step = buffers["n_code_blocks"], buffers["n_cb"], layers * BITS[modulation]
    n_bits = step * max(1, int(rng.uniform(0.1, 2.5) * n_cb * n_blocks / step))
    n_cbg = int(rng.integers(1, 9)) if rng.random() < 0.4 else 0
    cbgti = int(rng.integers(1, 2 ** min(n_cbg, n_blocks))) if n_cbg else 0
    return softqam.Codeword(n_bits, modulation, layers, k0=int(rng.integers(n_cb)), n_cbg=n_cbg, cbgti=cbgti, **buffers)


def make_codeword(rng, codeword):
    n = codeword.n_bits // BITS[codeword.modulation]
    return make_symbols(rng, n), make_noise(rng, n)


def in_layers(array, layers):
    return array.reshape(-1, layers).T if layers > 1 else array


@pytest.mark.parametrize("output", reference.LLRS)
@pytest.mark.parametrize("modulation", list(BITS))
def test_transmissions(rng, modulation, output):
    """New data and two retransmissions, each of its own modulation and layers; these with gains."""
    for _ in range(12):
        buffers = random_buffers(rng)
        expected, got = np.zeros((buffers["n_code_blocks"], buffers["n_cb"]), reference.DTYPES[output]), None
        for name in (modulation, *map(str, rng.choice(list(BITS), 2))):
            is_first = got is None
            layers = 1 if name == "pi2-bpsk" else int(rng.integers(1, 5))
            codeword = random_codeword(rng, name, layers, buffers)
            n_of_blocks = lengths(codeword)
            first_of_blocks = np.cumsum([0, *n_of_blocks[:-1]]).tolist()
            assert [codeword.block(r) for r in range(codeword.n_code_blocks)] == list(zip(first_of_blocks, n_of_blocks))
            symbols, noise = make_codeword(rng, codeword)
            gain = None if is_first else make_gain(rng, len(noise))
            options = {"output": output, "c_init": int(rng.integers(2**31)), "llr_scale": None if output[0] == "f" else 2.0}
            result = softqam.demodulate(
                in_layers(symbols, layers), name, in_layers(noise, layers), gain=None if is_first else in_layers(gain, layers),
                codeword=codeword, soft_buffers=got, combine=not is_first, **options,
            )  # fmt: skip
            assert is_first or result is got
            got = result
            fill(expected, reference.llrs(symbols, name, noise, gain=gain, **options), codeword, not is_first, output)
            assert_bytes(got, expected)


def test_limited_buffer():
    full = softqam.ldpc_codeword(8000, 20496, base_graph=1)
    assert full.n_cb == full.ldpc.n == 66 * full.ldpc.lifting_size
    limited = softqam.ldpc_codeword(8000, 20496, base_graph=1, n_ref=10000, rv=1)
    assert limited.n_cb == 10000 and limited.k0 == 17 * 10000 // full.ldpc.n * full.ldpc.lifting_size
    assert softqam.ldpc_codeword(8000, 20496, base_graph=1, tbs_lbrm=20000, rv=1) == limited
    short = softqam.ldpc_codeword(8000, 20496, base_graph=1, n_ref=full.first_filler + 5)
    assert short.n_fillers == 5 and short.ldpc == full.ldpc
    assert softqam.ldpc_codeword(8000, 20496, base_graph=1, n_ref=100).n_fillers == 0


@pytest.mark.parametrize("output", ["s8", "f16"])
def test_limit(rng, output):
    """What is beyond llr_limit stays, and sums end there."""
    codeword = softqam.Codeword(800, "256qam", 1, 1, 100, filler_value=120)
    symbols, noise = make_codeword(rng, codeword)
    got = np.asarray(rng.integers(-127, 128, (1, 100)), reference.DTYPES[output])
    expected = got.copy()
    options = {"output": output, "llr_limit": 90}
    softqam.demodulate(symbols, "256qam", noise, codeword=codeword, soft_buffers=got, combine=True, **options)
    llrs = softqam.demodulate(symbols, "256qam", noise, **options)
    assert_bytes(got, fill(expected, llrs, codeword, True, output, limit=90))
    assert np.abs(got).max() > 90


def test_fillers(rng):
    codeword = softqam.Codeword(16, "256qam", 1, 1, 20, 0, 18, 2)
    symbols = make_symbols(rng, 2)
    for options, filler in [({}, 127), ({"llr_limit": 90}, 90), ({"sign": 1}, -127), ({"output": "s16"}, 32767),
                            ({"output": "f16", "sign": 1}, -1000), ({"output": "f32"}, 1000)]:  # fmt: skip
        got = softqam.demodulate(symbols, "256qam", 0.1, codeword=codeword, **options)
        assert got[0, 18:].tolist() == [filler, filler]
        other = dataclasses.replace(codeword, filler_value=-3)
        assert softqam.demodulate(symbols, "256qam", 0.1, codeword=other, **options)[0, 18:].tolist() == [-3, -3]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_cuts(rng, layers):
    """Symbol by symbol of OFDM, of any lengths."""
    for _ in range(20):
        codeword = random_codeword(rng, "64qam", layers, random_buffers(rng))
        symbols, noise = make_codeword(rng, codeword)
        symbols, noise = in_layers(symbols, layers), in_layers(noise, layers)
        whole = softqam.demodulate(symbols, "64qam", noise, c_init=3, codeword=codeword)
        pieces, at = np.full_like(whole, 99), 0
        while at < symbols.shape[-1]:
            end = at + int(rng.integers(1, 40))
            softqam.demodulate(symbols[..., at:end], "64qam", noise[..., at:end], c_init=3, codeword=codeword,
                               first_symbol=at * layers, soft_buffers=pieces)  # fmt: skip
            at = end
        missing = np.array(lengths(codeword)) == 0
        whole[missing] = 99
        assert_bytes(pieces, whole)


def test_batch(rng):
    """Codewords along the batch's axes, each with its own c_init and soft buffers."""
    codeword = softqam.Codeword(480, "qpsk", 2, 3, 90, 80, 30, 10)
    symbols = make_symbols(rng, 2 * 3 * 240).reshape(2, 3, 120, 2).swapaxes(-1, -2)
    c_init = np.arange(6).reshape(2, 3)
    room = np.full((3, 5, 4, 100), 55, np.int8)
    buffers = room[::2, 1:4, :3, 10:]
    got = softqam.demodulate(symbols, "qpsk", 0.2, c_init=c_init, codeword=codeword, soft_buffers=buffers)
    assert got is buffers
    fresh = softqam.demodulate(symbols, "qpsk", 0.2, c_init=c_init, codeword=codeword)
    assert_bytes(got, fresh)
    for i, j in np.ndindex(2, 3):
        one = softqam.demodulate(symbols[i, j], "qpsk", 0.2, c_init=int(c_init[i, j]), codeword=codeword)
        assert_bytes(got[i, j], one)
    plain = softqam.demodulate(symbols, "qpsk", 0.2, codeword=codeword)
    assert_bytes(plain[1, 2], softqam.demodulate(symbols[1, 2], "qpsk", 0.2, codeword=codeword))
    assert np.count_nonzero(room == 55) >= room.size - buffers.size


def test_list_of_buffers(rng):
    """A pool's, and code blocks that are dropped, or not transmitted: these stay as they are."""
    for combine in (False, True):
        for drop in (set(), {0}, {1, 3}, {0, 1, 2, 3, 4}):
            codeword = softqam.Codeword(1000, "16qam", 1, 5, 120, 7, 110, 10, n_cbg=5, cbgti=0b10111)
            symbols, noise = make_codeword(rng, codeword)
            pool = rng.integers(-127, 128, (9, 130)).astype(np.int8)
            expected = pool.copy()
            order = rng.permutation(9)[:5]
            got, wanted = ([None if r in drop else memory[order[r], 3:123] for r in range(5)] for memory in (pool, expected))
            result = softqam.demodulate(symbols, "16qam", noise, codeword=codeword, soft_buffers=got, combine=combine)
            assert result is got
            fill(wanted, softqam.demodulate(symbols, "16qam", noise), codeword, combine, "s8")
            assert_bytes(pool, expected)
            softqam.demodulate(symbols, "16qam", noise, codeword=codeword, soft_buffers=tuple(got), combine=combine)


def test_demodulator_and_nothing(rng):
    codeword = softqam.Codeword(80, "qpsk", 2, 1, 50)
    demodulator = softqam.Demodulator("QPSK", output="s16", threads=1)
    symbols = make_symbols(rng, 40).reshape(2, 20)
    got = demodulator(symbols, 0.1, codeword=codeword)
    assert_bytes(got, softqam.demodulate(symbols, "qpsk", 0.1, output="s16", codeword=codeword))
    buffers = np.full((1, 50), 4, np.int16)
    assert demodulator(symbols[:, :0], 0.1, codeword=codeword, soft_buffers=buffers) is buffers
    assert np.all(buffers == 4)
    assert demodulator(np.zeros((0, 2, 20), np.complex64), 0.1, codeword=codeword).shape == (0, 1, 50)


def test_codeword_is_a_value():
    codeword = softqam.ldpc_codeword(800, 500, "16qam", code_rate=0.5, rv=3, n_cbg=1, cbgti=1, filler_value=100)
    for other in (pickle.loads(pickle.dumps(codeword)), copy.deepcopy(codeword), dataclasses.replace(codeword)):
        assert other == codeword and hash(other) == hash(codeword) and other.block(0) == (0, 800)
    with pytest.raises(dataclasses.FrozenInstanceError):
        codeword.k0 = 3
    assert eval(repr(codeword), {"Codeword": softqam.Codeword, "Ldpc": softqam.Ldpc}) == codeword


CODEWORD = softqam.Codeword(80, "qpsk", 2, 2, 30)
SYMBOLS = np.ones((2, 20), np.complex64)
READ_ONLY = np.zeros((2, 30), np.int8)
READ_ONLY.flags.writeable = False
MEMORY = np.zeros(200, np.int8)


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        ({"codeword": None}, ValueError, "soft_buffers is given, which takes a codeword"),
        ({"codeword": None, "soft_buffers": None, "combine": True}, ValueError, "combine is given, which takes a codeword"),
        ({"codeword": {}}, TypeError, "codeword is dict: it takes what softqam.ldpc_codeword"),
        ({"combine": 1}, TypeError, "combine is 1, not True or False"),
        ({"combine": True, "soft_buffers": None}, ValueError, "soft_buffers is missing"),
        ({"planes": 4}, ValueError, "planes is given"),
        ({"out": np.zeros(80, np.int8)}, ValueError, "out is given"),
        ({"modulation": "16qam"}, ValueError, "codeword is one of qpsk, the modulation is 16qam"),
        ({"output": "s16"}, TypeError, r"soft_buffers is int8 of shape \(2, 30\): this output is int16"),
        ({"output": "u8", "modulation": "256qam", "noise_var": None, "codeword": softqam.Codeword(80, "256qam", 2, 2, 30)},
         ValueError, "output is \"u8\".*codeword"),
        ({"layers": 1}, ValueError, "layers is 1, the codeword's are 2"),
        ({"layers": 3}, ValueError, "layers is 3, the codeword's are 2"),
        ({"symbols": np.ones(40, np.complex64)}, ValueError, r"symbols is complex64 of shape \(40,\): with layers"),
        ({"symbols": np.ones((3, 20), np.complex64)}, ValueError, r"symbols is .*axis -2 .* 2 layers"),
        ({"symbols": np.ones((2, 21), np.complex64)}, ValueError, r"symbols is .*first_symbol 0.*the codeword's 40 symbols"),
        ({"first_symbol": 2}, ValueError, r"symbols is .*first_symbol 2 .*the codeword's 40 symbols"),
        ({"first_symbol": 2**50}, ValueError, r"symbols is .*the codeword's 40 symbols"),
        ({"first_symbol": 1, "symbols": SYMBOLS[:, 1:]}, ValueError, "layers is 2, and first_symbol is no multiple"),
        ({"soft_buffers": np.zeros((2, 31), np.int8)}, ValueError, r"soft_buffers is .*must have shape \(2, 30\)"),
        ({"soft_buffers": np.zeros((1, 2, 30), np.int8)}, ValueError, r"soft_buffers is .*must have shape \(2, 30\)"),
        ({"soft_buffers": np.zeros(60, np.int8)}, ValueError, r"soft_buffers is .*must have shape \(2, 30\)"),
        ({"soft_buffers": np.zeros((2, 60), np.int8)[:, ::2]}, ValueError, "soft_buffers is .*side by side"),
        ({"soft_buffers": np.zeros((30, 2), np.int8).T}, ValueError, "soft_buffers is .*side by side"),
        ({"soft_buffers": np.zeros((2, 30), np.int8)[::-1]}, ValueError, "soft_buffers is .*in C order"),
        ({"soft_buffers": np.lib.stride_tricks.as_strided(MEMORY, (2, 30), (29, 1))}, ValueError, "soft_buffers is .*C order"),
        ({"soft_buffers": np.broadcast_to(MEMORY[:30], (2, 30))}, ValueError, "soft_buffers is .*read-only"),
        ({"soft_buffers": READ_ONLY}, ValueError, "soft_buffers is .*read-only"),
        ({"soft_buffers": np.ma.zeros((2, 30), np.int8)}, TypeError, "soft_buffers is no plain NumPy array"),
        ({"soft_buffers": "text"}, TypeError, "soft_buffers is no plain NumPy array"),
        ({"soft_buffers": [MEMORY[:30]]}, ValueError, "soft_buffers has 1 arrays, for 2 code blocks"),
        ({"soft_buffers": [MEMORY[:30], MEMORY[29:59]]}, ValueError, "two arrays of soft_buffers overlap"),
        ({"soft_buffers": [MEMORY[:30], 7]}, TypeError, r"soft_buffers\[1\] is no plain NumPy array"),
        ({"soft_buffers": [None, MEMORY[:31]]}, ValueError, r"soft_buffers\[1\] is int8 of shape \(31,\).*\(30,\)"),
        ({"soft_buffers": [None, MEMORY[:60:2]]}, ValueError, r"soft_buffers\[1\] is .*side by side"),
        ({"soft_buffers": [None, READ_ONLY[0]]}, ValueError, r"soft_buffers\[1\] is .*read-only"),
        ({"soft_buffers": [None, np.zeros(30, np.uint8)]}, TypeError, r"soft_buffers\[1\] is uint8 .*output is int8"),
        ({"symbols": SYMBOLS[None], "soft_buffers": [None, None]}, ValueError, "soft_buffers is a list, .*symbols has several"),
        ({"codeword": dataclasses.replace(CODEWORD, filler_value=0.5)}, ValueError, "codeword's filler_value is 0.5"),
        ({"codeword": dataclasses.replace(CODEWORD, filler_value=128)}, ValueError, "codeword's filler_value is 128"),
    ],
)  # fmt: skip
def test_wrong_calls(wrong, error, words):
    arguments = {"symbols": SYMBOLS, "modulation": "qpsk", "noise_var": 0.1, "codeword": CODEWORD,
                 "soft_buffers": np.zeros((2, 30), np.int8), **wrong}  # fmt: skip
    with pytest.raises(error, match=f"^{words}") as caught:
        softqam.demodulate(arguments.pop("symbols"), **arguments)
    assert "\n" not in str(caught.value)
    written = arguments["soft_buffers"] if isinstance(arguments["soft_buffers"], list) else [arguments["soft_buffers"]]
    assert not any(np.any(array) for array in written if isinstance(array, np.ndarray))


def test_overlaps():
    memory = np.zeros(4000, np.uint8)
    symbols = memory[:320].view(np.complex64).reshape(2, 20)
    noise = memory[400:480].view(np.float32)
    for first in (0, 319, 399, 479):
        buffers = memory[first : first + 60].view(np.int8).reshape(2, 30)
        for given in (buffers, list(buffers)):
            with pytest.raises(ValueError, match=r"^soft_buffers(\[\d\])? overlaps (symbols|noise_var)"):
                softqam.demodulate(symbols, "qpsk", noise, codeword=CODEWORD, soft_buffers=given)
    assert not np.any(memory)
