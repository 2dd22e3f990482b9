# SPDX-License-Identifier: MIT
"""Soft buffers, through the C library, against rate recovery by others: py3gpp's nrRateRecoverLDPC() of the LLRs that the
package gives in symbol order. A skip without py3gpp. SOFTQAM_LIBRARY is the shared library."""
import ctypes
import os

import numpy as np
import pytest
from symbols import make_noise, make_symbols

import softqam

py3gpp = pytest.importorskip("py3gpp", reason="no py3gpp")

MODULATIONS = {  # bits, softqam_modulation, the package's name, py3gpp's
    1: (1, "bpsk", "BPSK"),
    2: (3, "qpsk", "QPSK"),
    4: (4, "16qam", "16QAM"),
    6: (5, "64qam", "64QAM"),
    8: (6, "256qam", "256QAM"),
}
OUTPUT_F32 = 3
FLT_MAX = np.finfo(np.float32).max


class Layer(ctypes.Structure):
    _fields_ = [
        ("symbols", ctypes.c_void_p),
        ("symbols_q", ctypes.c_void_p),
        ("noise_var", ctypes.c_void_p),
        ("gain", ctypes.c_void_p),
        ("reserved", ctypes.c_uint64 * 2),
    ]


class Codeword(ctypes.Structure):
    _fields_ = [
        ("n_bits", ctypes.c_uint64),
        ("buffers", ctypes.c_void_p),
        ("block_stride", ctypes.c_uint64),
        ("block_buffers", ctypes.c_void_p),
        ("n_code_blocks", ctypes.c_uint32),
        ("n_cbg", ctypes.c_uint32),
        ("cbgti", ctypes.c_uint32),
        ("deinterleave", ctypes.c_uint32),
        ("n_cb", ctypes.c_uint32),
        ("k0", ctypes.c_uint32),
        ("first_filler", ctypes.c_uint32),
        ("n_fillers", ctypes.c_uint32),
        ("filler_value", ctypes.c_float),
        ("combine", ctypes.c_uint32),
        ("reserved", ctypes.c_uint64 * 4),
    ]


class Segment(ctypes.Structure):
    _fields_ = [
        ("n_symbols", ctypes.c_size_t),
        ("first_symbol", ctypes.c_uint64),
        ("scrambling_offset", ctypes.c_uint64),
        ("out", ctypes.c_void_p),
        ("plane_stride", ctypes.c_size_t),
        ("symbol_stride", ctypes.c_size_t),
        ("noise_stride", ctypes.c_size_t),
        ("layers", Layer * 4),
        ("n_layers", ctypes.c_uint),
        ("modulation", ctypes.c_int),
        ("noise_form", ctypes.c_int),
        ("input_scale", ctypes.c_float),
        ("llr_scale", ctypes.c_float),
        ("descramble", ctypes.c_uint),
        ("c_init", ctypes.c_uint32),
        ("reserved_word", ctypes.c_uint32),
        ("codeword", Codeword),
        ("reserved", ctypes.c_uint64 * 8),
    ]


class Config(ctypes.Structure):
    _fields_ = [
        ("context", ctypes.c_void_p),
        ("modulation", ctypes.c_int),
        ("input_format", ctypes.c_int),
        ("output_format", ctypes.c_int),
        ("sign", ctypes.c_int),
        ("noise", ctypes.c_int),
        ("noise_form", ctypes.c_int),
        ("input_scale", ctypes.c_float),
        ("llr_scale", ctypes.c_float),
        ("llr_limit", ctypes.c_int),
        ("reserved_word", ctypes.c_uint32),
        ("reserved", ctypes.c_uint64 * 8),
    ]


@pytest.fixture(scope="module")
def demodulate_segment():
    """Demodulates a segment to f32; a skip where the library fills no soft buffers."""
    path = os.environ.get("SOFTQAM_LIBRARY")
    if not path:
        pytest.skip("SOFTQAM_LIBRARY is not set")
    library = ctypes.CDLL(path)
    library.softqam_error_message.restype = ctypes.c_char_p
    demodulator = ctypes.c_void_p()
    config = Config(output_format=OUTPUT_F32)
    assert library.softqam_demodulator_create(ctypes.byref(demodulator), ctypes.byref(config)) == 0

    def call(segment):
        if library.softqam_demodulate_segments(demodulator, ctypes.byref(segment), ctypes.c_size_t(1)) != 0:
            message = library.softqam_error_message().decode()
            assert "this version" in message, message
            pytest.skip(message)

    yield call
    library.softqam_demodulator_destroy(demodulator)


def k0_of(base_graph, rv, lifting_size):
    """Table 5.4.2.1-2 with a full buffer."""
    return {1: (0, 17, 33, 56), 2: (0, 13, 25, 43)}[base_graph][rv] * lifting_size


def soft_buffers(call, symbols, noise, layers, modulation, c_init, info, rv):
    buffers = np.full((info["C"], info["N"]), np.nan, np.float32)
    first_filler = info["K"] - 2 * info["Zc"] - info["F"]
    segment = Segment(
        n_symbols=symbols.size,
        symbol_stride=layers,
        noise_stride=layers,
        n_layers=layers,
        modulation=modulation,
        descramble=1,
        c_init=c_init,
    )
    for k in range(layers):
        segment.layers[k] = Layer(symbols=symbols.ctypes.data + 8 * k, noise_var=noise.ctypes.data + 4 * k)
    bits = next(n for n, row in MODULATIONS.items() if row[0] == modulation)
    segment.codeword = Codeword(
        n_bits=symbols.size * bits,
        buffers=buffers.ctypes.data,
        block_stride=info["N"],
        n_code_blocks=info["C"],
        deinterleave=1,
        n_cb=info["N"],
        k0=k0_of(info["BGN"], rv, info["Zc"]),
        first_filler=first_filler,
        n_fillers=info["F"],
        filler_value=FLT_MAX,
    )
    call(segment)
    return buffers


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("bits", MODULATIONS)
@pytest.mark.parametrize("rv", [0, 1, 2, 3])
@pytest.mark.parametrize("tbs, rate", [(100, 0.4), (3000, 0.5), (3824, 0.8), (20000, 0.7), (20000, 0.2)])
def test_py3gpp(rng, demodulate_segment, tbs, rate, rv, bits, layers):
    number, name, theirs = MODULATIONS[bits]
    info = py3gpp.nrDLSCHInfo(tbs, rate)
    info = {key: int(value) for key, value in info.items() if key != "CRC"}
    for repetition in (0.4, 0.9, 1.7):
        step = bits * layers
        bits_of_block = int(info["N"] * repetition) // step * step
        n = (bits_of_block * info["C"] + step * int(rng.integers(info["C"]))) // bits
        symbols, noise = make_symbols(rng, n), make_noise(rng, n)
        if repetition > 1:  # sums of what may overflow depend on their order
            symbols = (rng.normal(0, 0.7, n) + 1j * rng.normal(0, 0.7, n)).astype(np.complex64)
            noise = (10 ** rng.uniform(-4, 1, n)).astype(np.float32)
        c_init = int(rng.integers(2**31))
        got = soft_buffers(demodulate_segment, symbols, noise, layers, number, c_init, info, rv)
        llrs = np.asarray(softqam.demodulate(symbols, name, noise, output="f32", c_init=c_init)).reshape(-1)
        expected = py3gpp.nrRateRecoverLDPC(llrs.astype(np.float64), tbs, rate, rv, theirs, layers).T
        expected = np.clip(expected, -FLT_MAX, FLT_MAX)
        if repetition < 1:
            np.testing.assert_array_equal(got, expected.astype(np.float32))
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(llrs).max())
