#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-bench, driven as a process: a short run of every section of the CPU's, its tables and JSON, every
modulation, and wrong commands."""
import json
import os
import subprocess
import sys
import tempfile

BENCH = sys.argv[1]
MODULATIONS = ["BPSK", "pi/2-BPSK", "QPSK", "16QAM", "64QAM", "256QAM", "1024QAM"]
SLOW = ["0 dB", "zeros", "subnormals", "smallest normals", "boundaries", "2.5 to 8", "1e30", "infinities", "NaN, all",
        "NaN, 1/61", "28 dB, N0 subnormal", "28 dB, N0 infinite", "28 dB, N0 zero"]  # fmt: skip
SLOT = 45864


def run(*arguments):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=600)


def check(good, what):
    if not good:
        sys.exit(f"FAILED: {what}")


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def run_to_json(folder, *arguments):
    """The report, and what was printed."""
    path = os.path.join(folder, "bench.json")
    done = run("--backend", "cpu", "--quick", *arguments, "--json", path)
    check(done.returncode == 0 and not done.stderr, f"exit code {done.returncode}: {done.stderr}")
    with open(path, encoding="utf-8") as file:
        return json.load(file), done.stdout


def rows_of(report, title, beginning=False):
    """The rows of the only table whose title has, or begins with, these words, by what they are."""
    found = [t for t in report["tables"] if (t["title"].startswith(title) if beginning else title in t["title"])]
    check(len(found) == 1, f"{len(found)} tables of '{title}', not 1")
    return {row.pop("what"): row for row in found[0]["rows"]}


def check_measurements(measurements, n_samples):
    names = [m["what"] for m in measurements]
    for m in measurements:
        samples = m["sorted_samples_s"]
        check(len(samples) == n_samples and samples == sorted(samples) and samples[0] > 0, f"samples of {m['what']}")
        check(m["median_s"] == samples[n_samples // 2], f"median of {m['what']}")
        check("limit" not in m or m["limit"] in names and m["share_of_limit"] > 0, f"limit of {m['what']}")
        if "limit" in m and " write " in m["limit"] and " write " not in m["what"]:
            limit = next(l for l in measurements if l["what"] == m["limit"] and l["symbols"] == m["symbols"])
            check(m["bytes"] == limit["bytes"], f"{m['what']} moves other bytes than its limit")


def check_variants(report, modulation, n_large):
    """Shares in the table are those of the measurements; every format and kind of noise has a row."""
    for n in SLOT, n_large:
        rows = rows_of(report, f"cpu: {modulation}, {n} symbols", beginning=True)
        llrs = [f"{o}, {noise}" for o in ("s8", "f16", "f32") for noise in ("N0 a symbol", "1/N0 a symbol", "one N0")]
        check(list(rows) == ["u8"] * (modulation == "256QAM") + llrs, f"rows of {modulation}: {list(rows)}")
        for what, row in rows.items():
            variant = next(iter(row)).split()[0]
            name = f"cpu: {'' if what == 'u8' else modulation + ' '}{what}, {variant}, 1 thread"
            found = [m for m in report["measurements"] if m["what"] == name and m["symbols"] == n and "limit" in m]
            check(any(near(row[f"{variant} share"], m["share_of_limit"])
                      and near(row[f"{variant} Msym/s"], 1e-6 * n / m["median_s"]) for m in found), f"{name}: {row}")


def check_run(folder):
    report, out = run_to_json(folder, "--symbols", "65536", "--largest", "4096", "--samples", "3")
    for fact in "softqam", "commit", "cpu", "kernel", "compiler", "cpu_loop":
        check(report.get(fact), f"no {fact} in the JSON")
    measurements, tables = report["measurements"], report["tables"]
    names = [m["what"] for m in measurements]
    for part in ("memcpy", "read 8 write 8", "read 12 write 8", "u8, generic", "u8, portable", "s8, N0 a symbol", "zeros",
                 "NaN", "cs16 to s8", "cf32 to f16", "read 12 write 32", "read 8 write 1,"):
        check(any(part in name for name in names), f"no measurement of {part}")
    check({1, 100, SLOT, 65536} <= {m["symbols"] for m in measurements}, "sizes are missing")
    check_measurements(measurements, 3)
    check_variants(report, "256QAM", 65536)
    check("a first call" in list(rows_of(report, "time of the step"))[-1], "no costs of objects")
    lines = len(measurements) + 1 + sum(len(t["rows"]) + 2 for t in tables)
    check(len(out.splitlines()) == lines, "the tables have other lines than the JSON")


def check_modulations(folder):
    report, _ = run_to_json(folder, "--samples", "1", "--section", "modulations")
    for table in report["tables"]:
        check([row["what"] for row in table["rows"]] == MODULATIONS, f"modulations of {table['title']}")
        for row in table["rows"]:
            bits = dict(zip(MODULATIONS, (1, 1, 2, 4, 6, 8, 10)))[row["what"]]
            check(near(row["GLLR/s"] * 1000 / row["Msym/s"], bits) and 0 < row["share"] < 10, f"{row}")
    check(report["tables"] and len(report["measurements"]) == len(report["tables"]) * 7 * 5, "measurements are missing")
    report, _ = run_to_json(folder, "--samples", "1", "--symbols", "65536", "-m", "64qam", "--section", "variants,formats")
    check_measurements(report["measurements"], 1)
    check_variants(report, "64QAM", 65536)
    check(any("64QAM cs16 to f16" in m["what"] for m in report["measurements"]), "formats of 64QAM")
    check(not any("256QAM" in m["what"] or "u8" in m["what"] for m in report["measurements"]), "-m 64qam measures 256QAM")
    # Of all only the sections that depend on the modulation come again.
    report, _ = run_to_json(folder, "--samples", "1", "-m", "all", "--section", "calls,objects")
    titles = [t["title"] for t in report["tables"]]
    check([t for t in titles if "to s8" in t] == [f"cpu: {m} to s8, a call beyond its share of a slot" for m in MODULATIONS]
          and [t for t in titles if "u8" in t] == ["cpu: 256QAM to u8, a call beyond its share of a slot"], f"-m all: {titles}")
    check(sum("time of the step" in t for t in titles) == 1, f"-m all repeats objects: {titles}")


def check_slow(folder):
    report, _ = run_to_json(folder, "--samples", "1", "--section", "slow")
    check(report["tables"], "no tables of slow inputs")
    for table in report["tables"]:
        check([row["what"] for row in table["rows"]] == SLOW, f"inputs of {table['title']}")
        for row in table["rows"]:
            has_noise = row["what"].startswith("28 dB")
            goal = 0.35 if row["what"] in ("zeros", "NaN, all", "NaN, 1/61") else None
            check(all(row[f] > 0 for f in ("s8", "f16", "f32")) and row["goal"] == 0.5, f"{row}")
            check((row["u8"] is None) == has_noise and row["goal of u8"] == goal, f"{row}")
            m = next(m for m in report["measurements"] if m["what"].startswith(f"cpu: 256QAM s8, {row['what']}, ")
                     and near(m.get("share_of_limit", 0), row["s8"]))
            check(", 28 dB, " in m["limit"], f"{m['what']} relative to {m['limit']}")


def check_calls(folder):
    report, _ = run_to_json(folder, "--samples", "1", "--section", "calls")
    for output in "u8", "s8", "f16", "f32":
        rows = rows_of(report, f"256QAM to {output}, a call")
        goals = {"1 symbol": 100, "10 symbols": None, "100 symbols": 150, "1000 symbols": None,
                 "each of 64 segments of 64 symbols in a call": 30}  # fmt: skip
        check({what: row["goal"] for what, row in rows.items()} == goals, f"calls to {output}: {rows}")
        check(all(row["ns"] > row["ns beyond"] for row in rows.values()), f"calls to {output}: {rows}")
        name = f"cpu: 256QAM {output}".replace("256QAM u8", "u8")
        medians = {m["symbols"]: 1e9 * m["median_s"] for m in report["measurements"] if m["what"].startswith(name + ",")}
        beyond = medians[100] - 100 * medians[SLOT] / SLOT
        check(abs(rows["100 symbols"]["ns beyond"] - beyond) < 1e-6, f"calls to {output}: {beyond}, {rows}")
    check(len(report["measurements"]) == 4 * 7, "a section alone is not alone")


def check_mistakes(folder):
    for wrong in (["--section", "sizes,nothing"], ["--section", ""], ["--section", "sizes,"], ["--samples", "0"],
                  ["--backend", "gpu"], ["operand"], ["--largest", "x"], ["-m", "8psk"], ["--modulation", ""]):
        done = run(*wrong)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{wrong}: {done.returncode} {done.stderr}")
    done = run("--backend", "cpu", "--quick", "--samples", "1", "--section", "calls", "--json", folder)
    check(done.returncode == 1 and folder in done.stderr, "a JSON file that cannot be written")


with tempfile.TemporaryDirectory() as temporary:
    check_run(temporary)
    check_modulations(temporary)
    check_slow(temporary)
    check_calls(temporary)
    check_mistakes(temporary)
print("all good")
