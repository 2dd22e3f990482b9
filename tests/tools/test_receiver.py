#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-receiver, which checks itself: here, that it does, and that what it prints adds up.

    test_receiver.py --receiver PATH --backend cpu|cuda|device [--quick]

Without a usable CUDA device the last two are a skip, 77, or a failure when SOFTQAM_REQUIRE_GPU=1. --quick is for sanitizers:
the usual slot, one of all modulations, and the most codewords.
"""
import argparse
import os
import re
import subprocess
import sys

SKIPPED = 77


def run(*arguments):
    return subprocess.run(arguments, text=True, capture_output=True, timeout=200)


def check(condition, what, done):
    if not condition:
        sys.exit(f"FAILED: {what}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")


AGAIN = re.compile(r"^mutual information per information bit (\S+), (\S+) with the second transmission\n"
                   r"bit error rate where added +(\S+), (\S+) with the second transmission$", re.M)  # fmt: skip


def check_again(done, n):
    """The second transmission makes more known, by as much as it sends, and mends all but a few errors, of each of n modulations."""
    found = [tuple(map(float, numbers)) for numbers in AGAIN.findall(done.stdout)]
    check(len(found) == n, f"{len(found)} modulations have soft buffers, not {n}", done)
    for known, known_again, rate, rate_again in found:
        check(0.2 < known < 1.1 and 1.2 * known < known_again < 1.6, f"bits known: {known}, {known_again}", done)
        check(rate_again <= 0.6 * rate, f"errors where added: {rate}, {rate_again}", done)


def check_run(receiver, backend, snr_db, n_slots):
    done = run(receiver, "--backend", backend, "--snr-db", str(snr_db), "--slots", str(n_slots), "--different", "2")
    if backend != "cpu" and re.search("no usable CUDA device|no CUDA", done.stderr):
        if os.environ.get("SOFTQAM_REQUIRE_GPU") == "1":
            sys.exit(f"FAILED: a GPU is required, and {done.stderr}")
        print(f"skipped: {done.stderr}", end="")
        sys.exit(SKIPPED)
    check(done.returncode == 0 and not done.stderr, f"a run at {snr_db} dB", done)
    print(done.stdout, flush=True)
    counts = re.search(r"^slots met +(\d+) of (\d+), .*; (\d+) late, (\d+) dropped$", done.stdout, re.M)
    check(counts, "no counts", done)
    n_met, n_all, n_late, n_dropped = map(int, counts.groups())
    check(n_all == n_slots and n_met + n_late + n_dropped == n_all, "the slots do not add up", done)
    check_again(done, 1)
    return float(re.search(r"^bit error rate +(\S+),", done.stdout, re.M).group(1))


MODULATIONS = {"bpsk": ("BPSK", 1), "pi2-bpsk": ("pi/2-BPSK", 1), "qpsk": ("QPSK", 2), "16qam": ("16QAM", 4),
               "64qam": ("64QAM", 6), "256qam": ("256QAM", 8), "1024qam": ("1024QAM", 10)}  # fmt: skip
SLOT_SYMBOLS = 183456
CODEWORDS = re.compile(r"^(\S+) +(\d+) codewords?, (\d+) symbols, (\d+) LLRs a slot\n"
                       r"bit error rate +(\S+), (\S+) expected", re.M)  # fmt: skip


def check_mixed(receiver, backend, snr_db, options, n_layers, expected):
    """Codewords of mixed modulations, of n_layers each; `expected` says how many of each modulation."""
    done = run(receiver, "--backend", backend, "--snr-db", str(snr_db), "--slots", "20", "--different", "2", *options)
    if backend != "cpu" and "in this version CUDA" in done.stderr:
        check(done.returncode == 1 and done.stderr.count("\n") == 1, "what CUDA refuses", done)
        return
    check(done.returncode == 0 and not done.stderr, f"a run with {options}", done)
    found = {name: list(map(float, numbers)) for name, *numbers in CODEWORDS.findall(done.stdout)}
    check({name: n for name, (n, *_) in found.items()} == {MODULATIONS[m][0]: n for m, n in expected.items()},
          f"codewords of {options}: {found}", done)  # fmt: skip
    check(sum(n_symbols for _, n_symbols, *_ in found.values()) == SLOT_SYMBOLS, f"symbols of {options}: {found}", done)
    for name, bits in MODULATIONS.values():
        if name in found:
            _, n_symbols, n_llrs, rate, theory = found[name]
            check(n_llrs == bits * n_symbols and (rate > 0) == (theory > 1e-5), f"{name}: {found[name]}", done)
    check_again(done, len(expected))
    check_shape(done, n_layers, sum(expected.values()), sum(n_llrs for _, _, n_llrs, *_ in found.values()))


def check_shape(done, n_layers, n_codewords, n_llrs):
    """Code blocks have at most 8424 bits of a code rate of 948/1024; each codeword is one segment."""
    shape = re.search(r"^ +(\d+) codewords? of (\d) layers?, (\d+) code blocks, (\d+) LLRs$", done.stdout, re.M)
    check(shape, "no shape of the slot", done)
    n_code_blocks = int(shape.group(3))
    check((n_codewords, n_layers, n_llrs) == tuple(int(shape.group(k)) for k in (1, 2, 4)), "the slot's shape", done)
    fewest = n_llrs * 948 / 1024 / 8424
    check(fewest - n_codewords <= n_code_blocks <= fewest + n_codewords, f"{n_code_blocks} code blocks", done)
    counted = re.search(r"^counted +softqam_\S*segments\(\) of (\d+) segments?\b", done.stdout, re.M)
    check(counted and int(counted.group(1)) == n_codewords, "segments", done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--receiver", required=True)
    parser.add_argument("--backend", choices=["cpu", "cuda", "device"], required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.quick:
        check_run(arguments.receiver, arguments.backend, 28, 20)
    else:
        rates = [check_run(arguments.receiver, arguments.backend, snr_db, 100) for snr_db in (15, 28, 45)]
        if not rates[0] > rates[1] > rates[2]:
            sys.exit(f"FAILED: bit error rates at 15, 28 and 45 dB: {rates}")
    mixes = (
        (["-m", ",".join(MODULATIONS)], 1, {m: 1 + (m == "bpsk") for m in MODULATIONS}),
        (["-m", "16qam", "--codewords", "64", "--layers", "1"], 1, {"16qam": 256}),
        (["-m", "64qam"], 4, {"64qam": 1}),
        (["-m", "64qam", "--layers", "1"], 1, {"64qam": 4}),
        (["-m", "qpsk,64qam,256qam"], 4, {"qpsk": 1, "64qam": 1, "256qam": 1}),
        (["-m", "qpsk,64qam,256qam", "--layers", "1"], 1, {"qpsk": 2, "64qam": 1, "256qam": 1}),
        (["-m", "bpsk,16qam", "--layers", "2", "--codewords", "3"], 2, {"bpsk": 3, "16qam": 3}),
        (["--modulation", "1024qam,pi2-bpsk", "--codewords", "5"], 1, {"1024qam": 10, "pi2-bpsk": 10}),
        (["-m", "1024qam", "--codewords", "64"], 4, {"1024qam": 64}),
    )
    for mix in mixes[: 2 if arguments.quick else len(mixes)]:
        check_mixed(arguments.receiver, arguments.backend, 8, *mix)
    for wrong in (["--backend", "abacus"], ["--slots", "0"], ["--snr-db", "loud"], ["extra"], ["-m", "8psk"],
                  ["-m", ""], ["-m", "qpsk,"], ["--modulation", ",".join(["qpsk"] * 17)], ["--codewords", "0"],
                  ["--codewords", "65"], ["-m", "bpsk,qpsk,16qam,64qam,256qam", "--codewords", "1"],
                  ["-m", "bpsk,qpsk", "--codewords", "1"], ["--layers", "0"], ["--layers", "3"], ["--layers", "5"],
                  ["-m", "qpsk,pi2-bpsk", "--layers", "2"]):
        done = run(arguments.receiver, *wrong)
        check(done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, f"{wrong}", done)
    done = run(arguments.receiver, "-m", "bpsk,qpsk", "--codewords", "1")
    check(done.stderr == "softqam-receiver: --codewords: 1 codeword for 2 modulations: too few\n", "--codewords 1", done)
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [arguments.receiver, "--backend", arguments.backend, "--slots", "20", "--different", "1"]
        done = subprocess.run(command, text=True, stdout=full, stderr=subprocess.PIPE, timeout=200)
    check(done.returncode == 1 and done.stderr.endswith(": standard output: No space left on device\n"), "a full disk", done)
    # Where processors are busy slots may be missed, which --require is to say.
    done = run(arguments.receiver, "--backend", arguments.backend, "--slots", "50", "--different", "1", "--require", "1")
    counts = re.search(r"^slots met +(\d+) of 50,", done.stdout, re.M)
    check(counts and (int(counts.group(1)) == 50) == (done.returncode == 0), "--require 1", done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
