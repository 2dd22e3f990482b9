#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-bench, driven as a process: a short run of every section of the CPU's, its JSON, and wrong commands."""
import json
import os
import subprocess
import sys
import tempfile

BENCH = sys.argv[1]


def run(*arguments):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=600)


def check(good, what):
    if not good:
        sys.exit(f"FAILED: {what}")


def check_run(folder):
    path = os.path.join(folder, "bench.json")
    done = run("--backend", "cpu", "--quick", "--symbols", "65536", "--largest", "4096", "--samples", "3", "--json", path)
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    for fact in "softqam", "commit", "cpu", "kernel", "compiler", "cpu_loop":
        check(report.get(fact), f"no {fact} in the JSON")
    measurements = report["measurements"]
    names = [m["what"] for m in measurements]
    for part in ("memcpy", "read 8 write 8", "read 12 write 8", "u8, generic", "u8, portable", "s8, N0 a symbol", "zeros",
                 "NaN", "cs16 to s8", "cf32 to f16"):
        check(any(part in name for name in names), f"no measurement of {part}")
    check({1, 100, 45864, 65536} <= {m["symbols"] for m in measurements}, "sizes are missing")
    for m in measurements:
        samples = m["sorted_samples_s"]
        check(len(samples) == 3 and samples == sorted(samples) and samples[0] > 0, f"samples of {m['what']}")
        check(m["median_s"] == samples[1], f"median of {m['what']}")
        check("limit" not in m or m["limit"] in names and m["share_of_limit"] > 0, f"limit of {m['what']}")
    costs = report["costs"]
    check(costs and all(c["what"] for c in costs), "no costs of objects")
    check(len(done.stdout.splitlines()) == len(measurements) + 1 + len(costs) + 2, "the tables have other lines than the JSON")


def check_sections(folder):
    path = os.path.join(folder, "section.json")
    done = run("--backend", "cpu", "--quick", "--samples", "1", "--section", "overhead", "--json", path)
    check(done.returncode == 0, done.stderr)
    with open(path, encoding="utf-8") as file:
        check(len(json.load(file)["measurements"]) == 3, "a section alone is not alone")


def check_mistakes(folder):
    for wrong in (["--section", "sizes,nothing"], ["--section", ""], ["--section", "sizes,"], ["--samples", "0"],
                  ["--backend", "gpu"], ["operand"], ["--largest", "x"]):
        done = run(*wrong)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{wrong}: {done.returncode} {done.stderr}")
    done = run("--backend", "cpu", "--quick", "--samples", "1", "--section", "overhead", "--json", folder)
    check(done.returncode == 1 and folder in done.stderr, "a JSON file that cannot be written")


with tempfile.TemporaryDirectory() as temporary:
    check_run(temporary)
    check_sections(temporary)
    check_mistakes(temporary)
print("all good")
