#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what Python costs beside the C library, in one process, in turns, after checking that the bytes are equal.

    measure.py LIBSOFTQAM     the shared library, such as build/release/libsoftqam.so

256QAM, complex64 to int8, a noise variance for each symbol, one thread. With 100 symbols: microseconds a call. With 2^20:
the share of the C call's speed, in the caller's output and with a new one each time.
"""
import ctypes
import statistics
import sys
import time

import numpy as np

import softqam


class Config(ctypes.Structure):
    """softqam_demodulator_config."""

    _fields_ = [
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_int) for name in ("modulation", "input", "output", "sign", "noise", "noise_form")),
        *((name, ctypes.c_float) for name in ("input_scale", "llr_scale")),
        ("llr_limit", ctypes.c_int),
        ("reserved", ctypes.c_uint32 * 17),
    ]


class ContextConfig(ctypes.Structure):
    """The beginning of softqam_context_config, and room for the rest."""

    _fields_ = [("backend", ctypes.c_int), ("n_threads", ctypes.c_uint), ("rest", ctypes.c_char * 120)]


def check(status, library):
    if status != 0:
        library.softqam_error_message.restype = ctypes.c_char_p
        sys.exit(f"measure.py: {library.softqam_error_message().decode()}")


def c_call(path):
    """softqam_demodulate() on one CPU thread, from C: a function of pointers and a count."""
    library = ctypes.CDLL(path)
    settings = ContextConfig()
    library.softqam_context_config_init(ctypes.byref(settings))
    settings.n_threads = 1
    context, demodulator = ctypes.c_void_p(), ctypes.c_void_p()
    check(library.softqam_context_create(ctypes.byref(context), ctypes.byref(settings)), library)
    config = Config()
    library.softqam_demodulator_config_init(ctypes.byref(config))
    config.context = context.value
    check(library.softqam_demodulator_create(ctypes.byref(demodulator), ctypes.byref(config)), library)
    library.softqam_demodulate.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t, ctypes.c_void_p]

    def call(symbols, noise, out):
        arguments = (demodulator, symbols.ctypes.data, noise.ctypes.data, symbols.size, out.ctypes.data)
        return lambda: check(library.softqam_demodulate(*arguments), library)

    return call


def seconds(functions, n_calls, n_rounds):
    """Medians of all, measured in turns."""
    times = [[] for _ in functions]
    for _ in range(n_rounds):
        for function, taken in zip(functions, times):
            start = time.perf_counter()
            for _ in range(n_calls):
                function()
            taken.append((time.perf_counter() - start) / n_calls)
    return [statistics.median(taken) for taken in times]


def make_arrays(n):
    rng = np.random.default_rng(1)
    symbols = (rng.normal(0, 0.7, (n, 2))).astype(np.float32).view(np.complex64)[:, 0]
    return symbols, np.full(n, 0.001, np.float32), np.empty(8 * n, np.int8)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    in_c = c_call(sys.argv[1])
    demodulator = softqam.Demodulator(threads=1)
    for n, n_calls, n_rounds in ((100, 20000, 15), (1 << 20, 1, 201)):
        symbols, noise, out = make_arrays(n)
        of_c = np.empty_like(out)
        in_c(symbols, noise, of_c)()
        functions = [
            in_c(symbols, noise, of_c),
            lambda: demodulator(symbols, noise, out=out),
            lambda: demodulator(symbols, noise),
            lambda: softqam.demodulate(symbols, "256qam", noise, out=out),
        ]
        if n > 100:
            functions.pop()  # on all threads
        assert np.array_equal(demodulator(symbols, noise, out=out), of_c)
        nothing = seconds([lambda: None], n_calls, n_rounds)[0]
        print(f"{n} symbols ({nothing * 1e6:.2f} us of each is the measurement's)")
        times = seconds(functions, n_calls, n_rounds)
        for name, taken in zip(["C, by ctypes", "Demodulator, out", "Demodulator", "demodulate(), out"], times):
            print(f"  {name:18} {taken * 1e6:9.2f} us {n / taken / 1e6:8.0f} Msym/s {times[0] / taken:6.2f}")


if __name__ == "__main__":
    main()
