#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-receiver, which checks itself: here, that it does, and that what it prints adds up.

    test_receiver.py --receiver PATH --backend cpu|cuda|device

Without a usable CUDA device the last two are a skip, 77, or a failure when SOFTQAM_REQUIRE_GPU=1.
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
    bars = [int(n) for n in re.findall(r"^ +(?:\d+ to +\d+ us|more than it) .* (\d+)$", done.stdout, re.M)]
    check(sum(bars) == n_met + n_late, "the histogram does not add up", done)
    return float(re.search(r"^bit error rate +(\S+),", done.stdout, re.M).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--receiver", required=True)
    parser.add_argument("--backend", choices=["cpu", "cuda", "device"], required=True)
    arguments = parser.parse_args()
    rates = [check_run(arguments.receiver, arguments.backend, snr_db, 100) for snr_db in (15, 28, 45)]
    if not rates[0] > rates[1] > rates[2]:
        sys.exit(f"FAILED: bit error rates at 15, 28 and 45 dB: {rates}")
    for wrong in (["--backend", "abacus"], ["--slots", "0"], ["--snr-db", "loud"], ["extra"]):
        done = run(arguments.receiver, *wrong)
        check(done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, f"{wrong}", done)
    # Where processors are busy slots may be missed, which --require is to say.
    done = run(arguments.receiver, "--backend", arguments.backend, "--slots", "50", "--different", "1", "--require", "1")
    counts = re.search(r"^slots met +(\d+) of 50,", done.stdout, re.M)
    check(counts and (int(counts.group(1)) == 50) == (done.returncode == 0), "--require 1", done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
