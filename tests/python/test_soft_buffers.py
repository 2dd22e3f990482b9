# SPDX-License-Identifier: MIT
"""Codewords in soft buffers: fields, layouts, lists, parts; their values by NumPy."""
import copy
import dataclasses
import pickle

import numpy as np
import pytest
from symbols import LLRS, MODULATIONS, assert_bytes, make_noise, make_symbols

import softqam

BLOCKS = softqam.Codeword(400, "16qam", 1, 5, 120, 7, 110, 10, n_cbg=5, cbgti=0b10111)  # block 3 is not transmitted


def make_codeword(rng, codeword=BLOCKS):
    """The symbols in layers, and their noise variances."""
    n = codeword.n_bits // MODULATIONS[codeword.modulation]
    arrays = make_symbols(rng, n), make_noise(rng, n)
    return arrays if codeword.layers == 1 else tuple(array.reshape(-1, codeword.layers).T for array in arrays)


@pytest.mark.parametrize("output", LLRS)
def test_rate_recovery(rng, output):
    """rate_recover() of the LLRs, which NumPy computes, gives the same buffers: new ones, others', and added to. tests/llr compares the
    library with reference/rate_recovery.h, so that this proves the reference too."""
    for k in range(70):
        modulation, n_code_blocks, n_cbg = list(MODULATIONS)[k % 7], int(rng.integers(1, 10)), int(rng.integers(1, 10))
        layers, n_cb = 1 if modulation == "pi2-bpsk" else 1 + k % 4, int(rng.integers(1, rng.choice([20, 300])))
        n, n_fillers = int(rng.integers(n_code_blocks, 300 if n_cb > 20 else 20)) * layers, int(rng.integers(n_cb))
        codeword = softqam.Codeword(MODULATIONS[modulation] * n, modulation, layers, n_code_blocks, n_cb, int(rng.integers(n_cb)),
                                    n_fillers and int(rng.integers(n_cb - n_fillers + 1)), n_fillers, n_cbg=n_cbg,
                                    cbgti=int(rng.integers(1, 2 ** min(n_cbg, n_code_blocks))), n_fill=int(rng.choice([0, 15, 350])))  # fmt: skip
        symbols, noise = make_codeword(rng, codeword)
        limit = None if output == "f32" or k % 2 else 60
        options = {"output": output, "c_init": 9, "llr_limit": limit}
        llrs = softqam.demodulate(symbols.T.reshape(-1), modulation, noise.T.reshape(-1), **options)
        before = rng.integers(-90, 90, (n_code_blocks, max(n_cb, codeword.n_fill))).astype(llrs.dtype)
        before[rng.random(before.shape) < 0.1] = -0.0
        before[rng.random(before.shape) < 0.05] = np.nan if output[0] == "f" else -90
        for buffers, combine in ((None, False), (before, False), (before, True)):
            given = None if buffers is None else buffers.copy()
            got = softqam.demodulate(symbols, modulation, noise, codeword=codeword, soft_buffers=given, combine=combine, **options)
            given_too = None if buffers is None else buffers.copy()
            assert_bytes(got, softqam.rate_recover(llrs, codeword, soft_buffers=given_too, combine=combine, llr_limit=limit))
            assert given is None or got is given


def test_code_blocks():
    """By hand: seven in groups of 3, 2 and 2, of which one is not transmitted, share 13 elements of 8 bits; each of two is a group."""
    for codeword, blocks in ((softqam.Codeword(104, "16qam", 2, 7, 50, n_cbg=3, cbgti=0b101), [16, 16, 24, 0, 0, 24, 24]),
                             (softqam.Codeword(16, "16qam", 2, 2, 50, n_cbg=4, cbgti=0b10), [0, 16])):  # fmt: skip
        assert [codeword.block(r) for r in range(len(blocks))] == [(sum(blocks[:r]), n_bits) for r, n_bits in enumerate(blocks)]


def test_limited_buffer():
    """By N_ref, whose numbers vectors.llr.checker proves, or by TBS_LBRM."""
    limited = softqam.ldpc_codeword(8000, 20496, base_graph=1, n_ref=10000, rv=1)
    assert limited.n_cb == 10000 and softqam.ldpc_codeword(8000, 20496, base_graph=1, tbs_lbrm=20000, rv=1) == limited
    with pytest.raises(ValueError, match="^n_ref is 7039: .* is too small for code blocks of 7040 bits$"):
        softqam.ldpc_codeword(8000, 20496, base_graph=1, n_ref=7039)


def test_fillers(rng):
    codeword = softqam.Codeword(16, "256qam", 1, 1, 20, 0, 18, 2)
    symbols = make_symbols(rng, 2)
    for options, filler in [({}, 127), ({"llr_limit": 90}, 90), ({"sign": 1}, -127), ({"output": "s16"}, 32767),
                            ({"output": "f16", "sign": 1}, -1000), ({"output": "f32"}, 1000)]:  # fmt: skip
        got = softqam.demodulate(symbols, "256qam", 0.1, codeword=codeword, **options)
        assert got[0, 18:].tolist() == [filler, filler]
        other = dataclasses.replace(codeword, filler_value=-3)
        assert softqam.demodulate(symbols, "256qam", 0.1, codeword=other, **options)[0, 18:].tolist() == [-3, -3]


def test_list_of_buffers(rng):
    """A pool's, and code blocks that are dropped, or not transmitted: these stay as they are."""
    symbols, noise = make_codeword(rng)
    for combine in (False, True):
        for drop in (set(), {0}, {1, 3}, {0, 1, 2, 3, 4}):
            pool, order = rng.integers(-127, 128, (9, 130)).astype(np.int8), rng.permutation(9)[:5]
            whole, expected = pool[order, 3:123].copy(), pool.copy()
            softqam.demodulate(symbols, "16qam", noise, codeword=BLOCKS, soft_buffers=whole, combine=combine)
            for r in set(range(5)) - drop:
                expected[order[r], 3:123] = whole[r]
            got = [None if r in drop else pool[order[r], 3:123] for r in range(5)]
            assert softqam.demodulate(symbols, "16qam", noise, codeword=BLOCKS, soft_buffers=got, combine=combine) is got
            assert_bytes(pool, expected)
            softqam.demodulate(symbols, "16qam", noise, codeword=BLOCKS, soft_buffers=tuple(got), combine=combine)


def test_list_of_buffers_in_parts(rng):
    """So many symbols, with noise variances that are converted, that the library gets them part by part."""
    codeword = softqam.Codeword(4 * 70_000, "16qam", 1, 2, 150_000)
    symbols, noise = make_codeword(rng, codeword)
    got = [np.zeros(150_000, np.int8) for _ in range(2)]
    softqam.demodulate(symbols, "16qam", noise.astype(np.float64), codeword=codeword, soft_buffers=got)
    assert_bytes(np.stack(got), softqam.demodulate(symbols, "16qam", noise, codeword=codeword))


def test_nothing():
    codeword = softqam.Codeword(80, "qpsk", 2, 1, 50)
    buffers = np.full((1, 50), 4, np.int8)
    assert softqam.demodulate(np.zeros((2, 0), np.complex64), "qpsk", 0.1, codeword=codeword, soft_buffers=buffers) is buffers
    assert np.all(buffers == 4)
    assert softqam.demodulate(np.zeros((0, 2, 20), np.complex64), "qpsk", 0.1, codeword=codeword).shape == (0, 1, 50)


def test_codeword_is_a_value():
    codeword = softqam.ldpc_codeword(800, 500, "16qam", code_rate=0.5, rv=3, n_cbg=1, cbgti=1, filler_value=100)
    for other in (pickle.loads(pickle.dumps(codeword)), copy.deepcopy(codeword), dataclasses.replace(codeword)):
        assert other == codeword and hash(other) == hash(codeword) and other.block(0) == (0, 800)
    with pytest.raises(dataclasses.FrozenInstanceError):
        codeword.k0 = 3
    assert eval(repr(codeword), vars(softqam)) == codeword


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
        ({"symbols": np.ones(40, np.complex64)}, ValueError, r"symbols is complex64 of shape \(40,\): with layers"),
        ({"symbols": np.ones((2, 21), np.complex64)}, ValueError, r"symbols is .*first_symbol 0.*the codeword's 40 symbols"),
        ({"first_symbol": 1, "symbols": SYMBOLS[:, 1:]}, ValueError, "layers is 2, and first_symbol is no multiple"),
        ({"soft_buffers": np.zeros((2, 31), np.int8)}, ValueError, r"soft_buffers is .*must have shape \(2, 30\)"),
        ({"soft_buffers": np.zeros((2, 60), np.int8)[:, ::2]}, ValueError, "soft_buffers is .*side by side"),
        ({"soft_buffers": np.zeros((2, 30), np.int8)[::-1]}, ValueError, "soft_buffers is .*in C order"),
        ({"soft_buffers": np.lib.stride_tricks.as_strided(MEMORY, (2, 30), (29, 1))}, ValueError, "soft_buffers is .*C order"),
        ({"soft_buffers": READ_ONLY}, ValueError, "soft_buffers is .*read-only"),
        ({"soft_buffers": np.ma.zeros((2, 30), np.int8)}, TypeError, "soft_buffers is no plain NumPy array"),
        ({"soft_buffers": [MEMORY[:30]]}, ValueError, "soft_buffers has 1 arrays, for 2 code blocks"),
        ({"soft_buffers": [MEMORY[:30], MEMORY[29:59]]}, ValueError, "two arrays of soft_buffers overlap"),
        ({"soft_buffers": [MEMORY[:30], 7]}, TypeError, r"soft_buffers\[1\] is no plain NumPy array"),
        ({"soft_buffers": [None, MEMORY[:31]]}, ValueError, r"soft_buffers\[1\] is int8 of shape \(31,\).*\(30,\)"),
        ({"soft_buffers": [None, MEMORY[:60:2]]}, ValueError, r"soft_buffers\[1\] is .*side by side"),
        ({"soft_buffers": [None, np.zeros(30, np.uint8)]}, TypeError, r"soft_buffers\[1\] is uint8 .*output is int8"),
        ({"symbols": SYMBOLS[None], "soft_buffers": [None, None]}, ValueError, "soft_buffers is a list, .*symbols has several"),
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
    """An output that shares one byte with an input is refused."""
    memory = np.zeros(4000, np.uint8)
    inputs = {"symbols": memory[:320].view(np.complex64).reshape(2, 20), "noise_var": memory[400:480].view(np.float32), "gain": memory[500:580].view(np.float32)}
    for first, name in ((0, "symbols"), (319, "symbols"), (399, "noise_var"), (479, "noise_var"), (499, "gain"), (579, "gain")):
        buffers = memory[first : first + 60].view(np.int8).reshape(2, 30)
        for given in (buffers, list(buffers)):
            with pytest.raises(ValueError, match=rf"^soft_buffers(\[\d\])? overlaps {name}"):
                softqam.demodulate(modulation="qpsk", codeword=CODEWORD, soft_buffers=given, **inputs)
        with pytest.raises(ValueError, match=f"^out overlaps {name}"):
            softqam.demodulate(modulation="qpsk", layers=2, out=memory[first : first + 80].view(np.int8), **inputs)
    softqam.demodulate(modulation="qpsk", layers=2, out=memory[320:400].view(np.int8), **inputs)
    assert not np.any(memory)
