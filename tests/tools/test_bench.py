#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-bench, driven as a process: short runs of every section, its tables and JSON, every modulation, and wrong
commands.

    test_bench.py PROGRAM cpu|cuda

Without a usable CUDA device the second is a skip, 77, or a failure when SOFTQAM_REQUIRE_GPU=1. What is tested needs no
GPU but the fake one of tests/tools/fake_tools_cuda.c.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

from output_formats import LLR_FORMATS

BENCH, BACKEND = sys.argv[1:]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SKIPPED = 77
MODULATIONS = ["BPSK", "pi/2-BPSK", "QPSK", "16QAM", "64QAM", "256QAM", "1024QAM"]
SLOW = ["0 dB", "zeros", "subnormals", "smallest normals", "boundaries", "2.5 to 8", "1e30", "infinities", "NaN, all",
        "NaN, 1/61", "28 dB, N0 subnormal", "28 dB, N0 infinite", "28 dB, N0 zero"]  # fmt: skip
SLOT = 45864
CUDA = ("--samples", "1", "--device-symbols", "92160", "--largest", "4096", "--symbols", "65536")


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
    done = run("--backend", BACKEND, "--quick", *arguments, "--json", path)
    if BACKEND == "cuda" and "cuda: not measured" in done.stderr and os.environ.get("SOFTQAM_REQUIRE_GPU") != "1":
        print(f"skipped: {done.stderr}", end="")
        sys.exit(SKIPPED)
    lines = [line for line in done.stderr.splitlines() if "not by this version" not in line]
    check(done.returncode == 0 and not lines, f"exit code {done.returncode}: {done.stderr}")
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


def check_page(report, page, *replace):
    """The tables that a page wants are among those of the run, whose sizes are others."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("run.json", "page.md")]
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read().replace(*replace)
        for name, content in zip(names, (json.dumps(report), text)):
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/bench/markdown.py"), *names], capture_output=True, text=True)
        check(done.returncode == 0, f"{page}: {done.stderr}")


def check_variants(report, modulation, n_large):
    """Shares in the table are those of the measurements; every format and kind of noise has a row."""
    for n in SLOT, n_large:
        rows = rows_of(report, f"cpu: {modulation}, {n} symbols", beginning=True)
        llrs = [f"{o}, {noise}" for o in LLR_FORMATS for noise in ("N0 a symbol", "1/N0 a symbol", "one N0")]
        check(list(rows) == ["u8"] * (modulation == "256QAM") + llrs, f"rows of {modulation}: {list(rows)}")
        for what, row in rows.items():
            variant = next(iter(row)).split()[0]
            name = f"cpu: {'' if what == 'u8' else modulation + ' '}{what}, {variant}, 1 thread"
            found = [m for m in report["measurements"] if m["what"] == name and m["symbols"] == n and " write " in m.get("limit", "")]
            check(any(near(row[f"{variant} share"], m["share_of_limit"])
                      and near(row[f"{variant} Msym/s"], 1e-6 * n / m["median_s"]) for m in found), f"{name}: {row}")


def check_run(folder):
    report, out = run_to_json(folder, "--symbols", "65536", "--largest", "4096", "--samples", "3")
    if report["cpu_loop"].startswith("avx512"):
        check_page(report, "src/PERFORMANCE.md", "16777216 symbols", "65536 symbols")
    for fact in "softqam", "commit", "cpu", "kernel", "compiler", "cpu_loop":
        check(report.get(fact), f"no {fact} in the JSON")
    measurements, tables = report["measurements"], report["tables"]
    names = [m["what"] for m in measurements]
    for part in ("memcpy", "read 8 write 8", "read 12 write 8", "read 12 write 16", "u8, generic", "u8, portable",
                 "s8, N0 a symbol", "s16, N0 a symbol", "zeros",
                 "NaN", "cs16 to s8", "cf32 to s16", "cf32 to f16", "read 12 write 32", "read 8 write 1,"):
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
            check(near(row["GLLR/s"] * 1000 / row["Msym/s"], bits), f"{row}")
            found = [m for m in report["measurements"] if near(m.get("share_of_limit", 0), row["share"])]
            check(any(near(row["Msym/s"], 1e-6 * m["symbols"] / m["median_s"]) for m in found), f"no measurement of {row}")
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
            check(all(row[f] > 0 for f in LLR_FORMATS) and row["goal"] == 0.5, f"{row}")
            check((row["u8"] is None) == has_noise and row["goal of u8"] == goal, f"{row}")
            m = next(m for m in report["measurements"] if m["what"].startswith(f"cpu: 256QAM s8, {row['what']}, ")
                     and near(m.get("share_of_limit", 0), row["s8"]))
            check(", 28 dB, " in m["limit"], f"{m['what']} relative to {m['limit']}")


def check_calls(folder):
    report, _ = run_to_json(folder, "--samples", "1", "--section", "calls")
    for output in "u8", *LLR_FORMATS:
        rows = rows_of(report, f"256QAM to {output}, a call")
        goals = {"1 symbol": 100, "10 symbols": None, "100 symbols": 150, "1000 symbols": None,
                 "each of 64 segments of 64 symbols in a call": 30}  # fmt: skip
        check({what: row["goal"] for what, row in rows.items()} == goals, f"calls to {output}: {rows}")
        check(all(row["ns"] > row["ns beyond"] for row in rows.values()), f"calls to {output}: {rows}")
        name = f"cpu: 256QAM {output}".replace("256QAM u8", "u8")
        medians = {m["symbols"]: 1e9 * m["median_s"] for m in report["measurements"] if m["what"].startswith(name + ",")}
        beyond = medians[100] - 100 * medians[SLOT] / SLOT
        check(abs(rows["100 symbols"]["ns beyond"] - beyond) < 1e-6, f"calls to {output}: {beyond}, {rows}")
    check(len(report["measurements"]) == (1 + len(LLR_FORMATS)) * 7, "a section alone is not alone")


def check_cuda_formats(folder, section, modulation="256QAM", option="256qam"):
    """Every format of a modulation beside what moves its bytes."""
    report, _ = run_to_json(folder, *CUDA, "-m", option, "--section", section)
    if f"cuda: {modulation}" in report["notes"]:
        return
    rows = rows_of(report, f"cuda: {modulation}" + (" on the device" if section == "device" else ", a slot in a graph"))
    outputs = ["u8"] * (modulation == "256QAM") + [f"{o}, {n}" for o in LLR_FORMATS for n in ("one N0", "N0 a symbol")]
    check(list(rows) == [f"{modulation} {i} to {o}" for i in ("cf32", "cf16") for o in outputs], f"{section}: {list(rows)}")
    for what, row in rows.items():
        check(near(row["share"], row["moving bytes us"] / row["us"]) and row["goal"] in (0.85, 0.95), f"{what}: {row}")
        measured = [m for m in report["measurements"] if m["what"] == f"cuda: {what}" and near(1e6 * m["median_s"], row["us"])]
        check(len(measured) == 1 and "copy kernel" in measured[0]["limit"], f"{section}, {what}: {measured}")


def check_cuda_modulations(folder):
    report, _ = run_to_json(folder, *CUDA, "--section", "modulations,graph,segments,host,choice")
    check_page(report, "cuda/PERFORMANCE.md", "268435456 symbols", "92160 symbols")
    check_measurements(report["measurements"], 1)
    there = [m for m in MODULATIONS if f"cuda: {m}" not in report["notes"]]
    expected = [f"{m} {i} to {o}, N0 a symbol" for m in there for i in ("cf32", "cf16") for o in LLR_FORMATS]
    check("256QAM" in there and all("not by this version" in text for text in report["notes"].values()), f"{report['notes']}")
    for title in "every modulation on the device, 92160 symbols", "every modulation, a slot in a graph":
        rows = rows_of(report, title)
        check(list(rows) == expected, f"{title}: {list(rows)}")
        for what, row in rows.items():
            bits = dict(zip(MODULATIONS, (1, 1, 2, 4, 6, 8, 10)))[what.split()[0]]
            check(near(row["GLLR/s"], bits * row["Gsym/s"]), f"{what}: {row}")


def check_cuda_slow(folder):
    report, _ = run_to_json(folder, *CUDA, "--section", "slow")
    rows = rows_of(report, "cuda: 256QAM, rate relative to 28 dB")
    check(list(rows) == SLOW, f"slow inputs: {list(rows)}")
    check(all(row[f] > 0 for row in rows.values() for f in LLR_FORMATS), f"slow inputs: {rows}")
    check(len(report["measurements"]) == 11 + 14 * len(LLR_FORMATS), "measurements of slow inputs are missing")


def check_cuda_calls(folder):
    report, _ = run_to_json(folder, *CUDA, "--section", "calls,chain")
    rows = rows_of(report, "cuda: a call, launch to synchronise")
    check(len(rows) == 9 and rows["cuda: empty kernel"]["us beyond"] == 0, f"calls: {rows}")
    for row in rows.values():
        check(near(row["us beyond"] + rows["cuda: empty kernel"]["us"], row["us"]), f"calls: {rows}")
    rows = rows_of(report, "cuda: 256QAM, a slot in a chain")
    check(list(rows) == [f"256QAM {i} to {o}, N0 a symbol" for i in ("cf32", "cf16") for o in LLR_FORMATS],
          f"chains: {list(rows)}")  # fmt: skip
    us = {m["what"]: 1e6 * m["median_s"] for m in report["measurements"]}
    for what, row in rows.items():
        chain = f"cuda: chain, {what.split(',')[0]}: "
        check(near(row["adds us"] + us[chain + "nothing"], us[chain + "softqam"]), f"{what}: {row}")
        copies = [us[chain + f"copy, {shape} tiles"] for shape in ("long", "short")]
        check(near(row["copy adds us"] + us[chain + "nothing"], min(copies)), f"{what}: {row}")


def check_cuda_all(folder):
    """Facts and notes are said once, however many modulations there are."""
    path = os.path.join(folder, "all.json")
    done = run("--backend", BACKEND, "--quick", *CUDA, "-m", "all", "--section", "calls", "--json", path)
    check(done.returncode == 0, done.stderr)
    with open(path, encoding="utf-8") as file:
        names = [name for name, _ in json.load(file, object_pairs_hook=list)]
    check(len(names) == len(set(names)) and "cuda_device" in names, f"-m all: {names}")
    check(len(done.stderr.splitlines()) == len(set(done.stderr.splitlines())), f"-m all: {done.stderr}")


def check_cuda_segments(folder):
    report, _ = run_to_json(folder, *CUDA, "--section", "segments")
    rows = rows_of(report, "cuda: 256QAM cf32 to s8, a slot as segments")
    mixed = "cuda: mixed modulations" not in report["notes"]
    expected = {"1 segment": None, "20 codewords": "1 segment", "150 code blocks": "1 segment"}
    if mixed:
        one = "7 segments, 1 of each modulation"
        expected |= {one: None, "20 codewords, modulations in turns": one, "7 launches, 1 of each modulation": one}
    expected |= {"1 segment, descrambled": "1 segment", "150 code blocks, descrambled": "150 code blocks"}
    expected |= {what: "1 segment" for what in ("1 segment, bit planes", "1 segment, 4 layers, bit planes",
                                                "the same, descrambled", "1 codeword of 150 code blocks, descrambled",
                                                "the same, descriptor in device memory",
                                                "1 segment, descriptor in device memory")}  # fmt: skip
    for what in "20 codewords", "150 code blocks":
        expected[f"{what}, descriptors in device memory"] = what
    check(list(rows) == list(expected), f"segments: {list(rows)}")
    for what, other in expected.items():
        share = other and rows[other]["us"] / rows[what]["us"]
        check(rows[what]["share"] is None if other is None else near(rows[what]["share"], share), f"{what}: {rows[what]}")


def check_cuda_host(folder):
    """The tables have what was measured. The fake runtime has as many devices as it is told."""
    os.environ["FAKE_CUDA_DEVICES"] = "2"
    report, _ = run_to_json(folder, *CUDA, "--samples", "3", "--section", "host,choice,devices")
    del os.environ["FAKE_CUDA_DEVICES"]
    measured = {(m["what"], m["symbols"]): m for m in report["measurements"]}
    rate = lambda what, n=65536: 1e-9 * n / measured[what, n]["median_s"]
    for what, row in rows_of(report, "cuda: a slot host to host").items():
        m = measured[f"cuda: one slot host to host, {what}", SLOT]
        expected = 1e6 * m["median_s"], 1e6 * m["sorted_samples_s"][990]
        check(near(row["us"], expected[0]) and near(row["p99 us"], expected[1]), f"{what}: {row}, not {expected}")
    rows = rows_of(report, "cuda: host to host, cf32 to u8, 65536 symbols")
    check(list(rows)[:2] == ["pinned", "pageable, 1 thread"] and len(rows) == 6, f"host to host: {list(rows)}")
    for what, row in rows.items():
        name = f"cuda: host to host, {what}"
        share = row["of the copies" if what == "pinned" else "of pinned"]
        check(near(row["Gsym/s"], rate(name)) and near(share, measured[name, 65536]["share_of_limit"]), f"{what}: {row}")
    rows = rows_of(report, "CPU and CUDA, cf32 to u8")
    check(len(rows) == 9, f"sizes: {list(rows)}")
    for what, row in rows.items():
        for column, value in row.items():
            memory, backend = column.split(": ")
            check(near(1e-3 * value, rate(f"curve: {backend.lower()}, {memory}", int(what.split()[0]))), f"{what}: {row}")
    if report["cuda_device"].startswith("no GPU"):
        check(list(rows_of(report, "cuda: several GPUs")) == ["1 GPU", "2 GPUs"], "a row for each number of GPUs")


def check_cuda(folder):
    check_cuda_modulations(folder)
    check_cuda_formats(folder, "device")
    check_cuda_formats(folder, "graph")
    check_cuda_formats(folder, "device", "64QAM", "64qam")
    check_cuda_slow(folder)
    check_cuda_calls(folder)
    check_cuda_segments(folder)
    check_cuda_host(folder)
    check_cuda_all(folder)


def check_mistakes():
    for wrong in (["--section", "sizes,nothing"], ["--section", ""], ["--section", "sizes,"], ["--samples", "0"],
                  ["--backend", "gpu"], ["operand"], ["--largest", "x"], ["-m", "8psk"], ["--modulation", ""]):
        done = run(*wrong)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{wrong}: {done.returncode} {done.stderr}")
    for wrong, message in (
        (["operand"], "takes no operands, but got 1; --help explains"),
        (["--json", "-"], "--json: '-' is where the tables go; give it a file"),
        (["--backend", "cpu", "--section", "graph"], "--section: none of them is measured with --backend cpu"),
        (["--backend", "cuda", "--section", "sizes"], "--section: none of them is measured with --backend cuda"),
    ):
        done = run(*wrong)
        check((done.returncode, done.stdout, done.stderr) == (2, "", f"softqam-bench: {message}\n"), f"{wrong}: {done}")


def check_outputs(folder):
    """A report that cannot be written is found before anything is measured, or leaves the older one as it is."""
    quick = "--backend", "cpu", "--quick", "--samples", "1", "--section", "calls"
    for path, cause in (folder, "Is a directory"), (f"{folder}/none/x", "No such file or directory"):
        done = run("--json", path)
        check((done.returncode, done.stdout, done.stderr) == (1, "", f"softqam-bench: {path}: {cause}\n"), f"{path}: {done}")
    path = os.path.join(folder, "old.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("old")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # a disk that is full half way
    done = subprocess.run([BENCH, *quick, "--json", path], capture_output=True, text=True, timeout=600, preexec_fn=limit)
    check((done.returncode, done.stderr) == (1, f"softqam-bench: {path}: File too large\n"), f"{done}")
    with open(path, encoding="utf-8") as file:
        check(file.read() == "old", "an older report is lost")
    check([name for name in os.listdir(folder) if name.startswith(".")] == [], "a part of a report is left")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([BENCH, *quick], stdout=full, stderr=subprocess.PIPE, text=True, timeout=600)
    check((done.returncode, done.stderr) == (1, "softqam-bench: standard output: No space left on device\n"), f"{done}")
    if "not measured" in (done := run("--backend", "cuda", "--quick", "--section", "calls")).stderr:
        check(done.returncode == 1 and done.stderr.count("\n") == 1, f"nothing measured: {done}")


with tempfile.TemporaryDirectory() as temporary:
    if BACKEND == "cuda":
        check_cuda(temporary)
    else:
        check_run(temporary)
        check_modulations(temporary)
        check_slow(temporary)
        check_calls(temporary)
        check_mistakes()
        check_outputs(temporary)
print("all good")
