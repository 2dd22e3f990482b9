#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-receiver, which checks itself: here, that it does, and that what it prints adds up.

    test_receiver.py --receiver PATH --backend cpu|cuda|device [--quick]

Without a usable CUDA device the last two are a skip, 77, or a failure when SOFTQAM_REQUIRE_GPU=1. --quick is for sanitizers
and fake devices: fewer slots, the usual one and the one of the most codewords.
"""
import argparse
import os
import re
import subprocess
import sys

SLOT_SYMBOLS, SLOTS = 183456, 3 if "--quick" in sys.argv else 8
# Bits of a symbol, SNR, codewords.
RUNS = {"256qam": (8, 28, 1), "16qam": (4, 8, 64), "bpsk": (1, 3, 1), "qpsk": (2, 8, 3), "64qam": (6, 15, 5), "1024qam": (10, 45, 2)}
PRINTED = re.compile(
    r".*\n"
    r"(?P<name>\S+) +(?P<codewords>\d+) codewords?, (?P<symbols>\d+) symbols, (?P<blocks>\d+) code blocks, (?P<llrs>\d+) LLRs, every 0.5 ms\n"
    r"(?:layers 0 and 1 by LMMSE, each alone\n"
    r"bit error rate +(?P<lmmse_rate>\S+), \S+ by the LLRs, (?P<lmmse_after>\S+) with the second transmission\n"
    r"mutual information per information bit (?P<lmmse_known>\S+), (?P<lmmse_known_again>\S+) with the second transmission\n"
    r"layers 0 and 1 jointly\n)?"
    r"bit error rate +(?P<rate>\S+), (?P<promised>\S+) by the LLRs, (?P<after>\S+) with the second transmission\n"
    r"mutual information per information bit (?P<known>\S+), (?P<known_again>\S+) with the second transmission\n"
    r"counted +softqam_\S*segments\(\) of (?P<segments>\d+) segments?\b.*\n"
    r"slots met +(?P<met>\d+) of (?P<all>\d+), .*; (?P<late>\d+) late, (?P<dropped>\d+) dropped\n"
    r"us .*\nthe call .*\nfrom the slot's arrival .*\n"
)


def run(*arguments, **options):
    return subprocess.run(arguments, text=True, stderr=subprocess.PIPE, timeout=200, **{"stdout": subprocess.PIPE, **options})


def check(condition, what, done):
    if not condition:
        sys.exit(f"FAILED: {what}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")


def check_run(receiver, backend, modulation, bits, snr_db, n_codewords, coupled=()):
    """Returns the figures."""
    settings = {"--backend": backend, "-m": modulation, "--snr-db": snr_db, "--codewords": n_codewords, "--slots": SLOTS}
    done = run(receiver, *(str(text) for setting in settings.items() for text in setting), *coupled)
    if backend != "cpu" and re.search("no usable CUDA device|no CUDA", done.stderr):
        if os.environ.get("SOFTQAM_REQUIRE_GPU") == "1":
            sys.exit(f"FAILED: a GPU is required, and {done.stderr}")
        print(f"skipped: {done.stderr}", end="")
        sys.exit(77)
    check(done.returncode == 0 and not done.stderr, f"a run of {modulation}", done)
    print(done.stdout, flush=True)
    match = PRINTED.fullmatch(done.stdout)
    check(match, "what is printed", done)
    found = {key: float(value) for key, value in match.groupdict().items() if value and key != "name"}
    check(match["name"].lower() == modulation and found["symbols"] == SLOT_SYMBOLS and found["llrs"] == bits * SLOT_SYMBOLS, "the slot", done)
    check(found["met"] + found["late"] == SLOTS and found["codewords"] == found["segments"] == n_codewords, "slots and codewords do not add up", done)
    # The second transmission mends many errors, but brings LLRs of its own.
    check(0 < found["after"] <= 0.75 * found["rate"], "the bit error rate", done)
    return found


def check_coupled(receiver, backend):
    """Demapped jointly, layers of correlated channels have little more than half of the errors that they have after an LMMSE equaliser."""
    found = check_run(receiver, backend, "16qam", 4, 18, 3, ("--coupled", "0.7"))
    better = found["rate"] < 0.65 * found["lmmse_rate"] and found["after"] < 0.65 * found["lmmse_after"]
    better = better and found["known"] > found["lmmse_known"] + 0.03 and found["known_again"] > found["lmmse_known_again"] + 0.02
    if not better:
        sys.exit(f"FAILED: joint demapping is no better than LMMSE: {found}")



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--receiver", required=True)
    parser.add_argument("--backend", choices=["cpu", "cuda", "device"], required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    for modulation in list(RUNS)[: 2 if arguments.quick else None]:
        check_run(arguments.receiver, arguments.backend, modulation, *RUNS[modulation])
    if arguments.backend == "cpu" or not arguments.quick:  # fake devices have no kernels for pairs of layers
        check_coupled(arguments.receiver, arguments.backend)
    for wrong in (["--backend", "abacus"], ["--slots", "0"], ["--snr-db", "loud"], ["--snr-db", "61"], ["extra"], ["-m", "8psk"], ["-m", ""],
                  ["--codewords", "0"], ["--codewords", "65"], ["--coupled", "1"], ["--coupled", "-0.1"]):  # fmt: skip
        done = run(arguments.receiver, *wrong)
        check(done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, f"{wrong}", done)
    for refused in (["-m", "pi2-bpsk"], ["-m", "bpsk", "--coupled", "0"]):  # the former has one layer
        done = run(arguments.receiver, *refused)
        check(done.returncode == 1 and done.stderr.count("\n") == 1, f"{refused}, which the library refuses", done)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(arguments.receiver, "--backend", arguments.backend, "--slots", "1", stdout=full)
    check(done.returncode == 1 and done.stderr.endswith(": standard output: No space left on device\n"), "a full disk", done)


if __name__ == "__main__":
    main()
