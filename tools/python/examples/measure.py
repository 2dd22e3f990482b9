#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call from Python costs: 256QAM, complex64 to int8, a noise variance for each symbol; medians, measured in turns.

    measure.py        NumPy, one thread
    measure.py gpu    PyTorch's tensors on a GPU: the time that a call takes its thread, and with the GPU's
"""
import statistics
import sys
import time

import numpy as np

import softqam


def measure(symbols, noise, out, n_calls, n_rounds, wait=lambda: None):
    """Prints the median of each way to call, of n_calls and the wait for all of them."""
    demodulator = softqam.Demodulator(threads=1)
    functions = {
        "Demodulator, out": lambda: demodulator(symbols, noise, out=out),
        "Demodulator": lambda: demodulator(symbols, noise),
        "a number as noise, out": lambda: demodulator(symbols, 0.001, out=out),
        "demodulate(), out": lambda: softqam.demodulate(symbols, "256qam", noise, out=out),
    }
    times = {name: [] for name in functions}
    for _ in range(n_rounds):
        for name, function in functions.items():
            wait()
            start = time.perf_counter()
            for _ in range(n_calls):
                function()
            wait()
            times[name].append((time.perf_counter() - start) / n_calls)
    print(f"{len(symbols)} symbols, {n_calls} calls")
    for name, taken in times.items():
        seconds = statistics.median(taken)
        print(f"  {name:24} {seconds * 1e6:9.2f} us {len(symbols) / seconds / 1e6:8.0f} Msym/s")


def main():
    if sys.argv[1:] == ["gpu"]:
        import torch

        for n in (45864, 1 << 20):
            symbols, noise = torch.randn(n, dtype=torch.complex64, device="cuda"), torch.full((n,), 0.001, device="cuda")
            out = torch.empty(8 * n, dtype=torch.int8, device="cuda")
            for n_calls, n_rounds in ((1000, 25), (1, 1000)):
                measure(symbols, noise, out, n_calls, n_rounds, torch.cuda.synchronize)
        return
    for n, n_calls, n_rounds in ((100, 20000, 15), (1 << 20, 1, 201)):
        symbols = (np.random.default_rng(1).normal(0, 0.7, (n, 2)) @ [1, 1j]).astype(np.complex64)
        measure(symbols, np.full(n, 0.001, np.float32), np.empty(8 * n, np.int8), n_calls, n_rounds)


if __name__ == "__main__":
    main()
