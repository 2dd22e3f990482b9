#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what Python costs beside the kernel, with PyTorch arrays on a GPU: 256QAM, complex64 to int8, a noise variance
for each symbol.

For a slot and for 2^20 symbols, in microseconds: the kernel (100 calls in a CUDA graph), a call among many, and one call
with the wait for it beside an empty stream's. A call among many also with a new output, with one noise variance as a
number, by demodulate(), and by DLPack's capsules, as all calls with stream= go and all of PyTorch before 2.10. Then what the profiler sees of 10 calls on the GPU: nothing but kernels.
"""
import statistics
import sys
import time

import torch

import softqam


def median_us(function, n_calls, n_rounds=25):
    """Of one of n_calls, with the wait for all of them."""
    taken = []
    for _ in range(n_rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(n_calls):
            function()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - start) / n_calls)
    return statistics.median(taken) * 1e6


def graph_of(function, n_calls):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n_calls):
            function()
    return graph


def main():
    if not torch.cuda.is_available():
        sys.exit("measure_gpu.py: PyTorch has no GPU")
    demodulator = softqam.Demodulator()
    print(torch.cuda.get_device_name())
    for n in (45864, 1 << 20):
        symbols = torch.randn(n, dtype=torch.complex64, device="cuda")
        noise = torch.full((n,), 0.001, device="cuda")
        out = torch.empty(8 * n, dtype=torch.int8, device="cuda")
        call = lambda: demodulator(symbols, noise, out=out)
        call()
        assert torch.equal(out.cpu(), torch.from_numpy(demodulator(symbols.cpu().numpy(), noise.cpu().numpy())))
        kernel = median_us(graph_of(call, 100).replay, 10) / 100
        empty = median_us(lambda: None, 1)
        print(f"{n} symbols: kernel {kernel:.2f} us, a call among 1000 {median_us(call, 1000):.2f} us, "
              f"one call and its wait {median_us(call, 1, 1000):.2f} us (wait alone {empty:.2f} us)")
        stream = torch.cuda.current_stream()
        for name, other in {
            "a new output": lambda: demodulator(symbols, noise),
            "a number": lambda: demodulator(symbols, 0.001, out=out),
            "demodulate()": lambda: softqam.demodulate(symbols, "256qam", noise, out=out),
            "capsules": lambda: demodulator(symbols, noise, out=out, stream=stream),
        }.items():
            print(f"  {name}: {median_us(other, 1000):.2f} us")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(10):
            call()
        torch.cuda.synchronize()
    of_gpu = torch.autograd.DeviceType.CUDA
    seen = {event.key: event.count for event in profile.key_averages() if event.device_type == of_gpu}
    print("the profiler saw", ", ".join(f"{count} x {name.split('(')[0][:60]}" for name, count in seen.items()))
    if any("mem" in name.lower() for name in seen):
        sys.exit("measure_gpu.py: something was copied")


if __name__ == "__main__":
    main()
