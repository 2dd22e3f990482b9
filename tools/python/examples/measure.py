#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Python costs: 256QAM, complex64 to int8, a noise variance for each symbol, measured in turns after the bytes were
compared.

    measure.py LIBSOFTQAM     beside the C library, such as build/release/libsoftqam.so: NumPy, one thread
    measure.py                beside an empty stream: PyTorch's tensors on a GPU
"""
import ctypes
import statistics
import sys
import time

import numpy as np

import softqam


def c_call(path):
    """softqam_demodulate() on one CPU thread, from C: a function of pointers and a count."""
    library, context, demodulator = ctypes.CDLL(path), ctypes.c_void_p(), ctypes.c_void_p()
    settings, config = ctypes.create_string_buffer(256), ctypes.create_string_buffer(256)
    library.softqam_error_message.restype = ctypes.c_char_p

    def check(status):
        if status != 0:
            sys.exit(f"measure.py: {library.softqam_error_message().decode()}")

    library.softqam_context_config_init(settings)
    ctypes.c_uint.from_buffer(settings, 4).value = 1  # n_threads
    check(library.softqam_context_create(ctypes.byref(context), settings))
    library.softqam_demodulator_config_init(config)
    ctypes.c_void_p.from_buffer(config).value = context.value
    check(library.softqam_demodulator_create(ctypes.byref(demodulator), config))
    library.softqam_demodulate.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t, ctypes.c_void_p]
    return lambda *arguments: check(library.softqam_demodulate(demodulator, *arguments))


def measure(n, functions, n_calls, n_rounds, wait=lambda: None):
    """Prints the median of each, in turns; of n_calls, and the wait for all of them."""
    times = {name: [] for name in functions}
    for _ in range(n_rounds):
        for name, function in functions.items():
            wait()
            start = time.perf_counter()
            for _ in range(n_calls):
                function()
            wait()
            times[name].append((time.perf_counter() - start) / n_calls)
    print(f"{n} symbols, {n_calls} calls")
    for name, taken in times.items():
        seconds = statistics.median(taken)
        print(f"  {name:24} {seconds * 1e6:9.2f} us {n / seconds / 1e6:8.0f} Msym/s")


def functions_of(demodulator, symbols, noise, out):
    return {
        "nothing": lambda: None,
        "Demodulator, out": lambda: demodulator(symbols, noise, out=out),
        "Demodulator": lambda: demodulator(symbols, noise),
        "a number as noise, out": lambda: demodulator(symbols, 0.001, out=out),
        "demodulate(), out": lambda: softqam.demodulate(symbols, "256qam", noise, out=out),
    }


def measure_host(path):
    call, demodulator = c_call(path), softqam.Demodulator(threads=1)
    for n, n_calls, n_rounds in ((100, 20000, 15), (1 << 20, 1, 201)):
        symbols = np.random.default_rng(1).normal(0, 0.7, (n, 2)).astype(np.float32).view(np.complex64)[:, 0]
        noise, out, of_c = np.full(n, 0.001, np.float32), np.empty(8 * n, np.int8), np.empty(8 * n, np.int8)
        arguments = symbols.ctypes.data, noise.ctypes.data, n, of_c.ctypes.data
        call(*arguments)
        assert np.array_equal(demodulator(symbols, noise, out=out), of_c)
        functions = functions_of(demodulator, symbols, noise, out)
        if n > 100:
            functions.pop("demodulate(), out")  # on all threads
        measure(n, {"C, by ctypes": lambda: call(*arguments), **functions}, n_calls, n_rounds)


def measure_gpu():
    import torch

    demodulator = softqam.Demodulator()
    for n in (45864, 1 << 20):
        symbols = torch.randn(n, dtype=torch.complex64, device="cuda")
        noise = torch.full((n,), 0.001, device="cuda")
        out = torch.empty(8 * n, dtype=torch.int8, device="cuda")
        functions = functions_of(demodulator, symbols, noise, out)
        functions["Demodulator, out"]()
        assert torch.equal(out.cpu(), demodulator(symbols.cpu(), noise.cpu()))
        for n_calls, n_rounds in ((1000, 25), (1, 1000)):
            measure(n, functions, n_calls, n_rounds, torch.cuda.synchronize)


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    measure_host(sys.argv[1]) if len(sys.argv) == 2 else measure_gpu()
