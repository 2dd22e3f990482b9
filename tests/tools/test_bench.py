#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-bench, driven as a process: short runs of every section, its tables and JSON, and wrong commands.

    test_bench.py PROGRAM cpu|cuda

Without a usable CUDA device the second is a skip, 77, or a failure when SOFTQAM_REQUIRE_GPU=1.
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
INPUTS = ["cf32", "cs16", "cs8", "cf16"]
# The mean SNRs where each modulation works, in dB.
MEANS = {"BPSK": range(-5, 16, 10), "pi/2-BPSK": range(-5, 16, 10), "QPSK": range(-5, 26, 10), "16QAM": range(5, 36, 10),
         "64QAM": range(15, 46, 10), "256QAM": range(15, 46, 10), "1024QAM": range(25, 46, 10)}  # fmt: skip
LAYOUTS = ["2 layers", "3 layers", "4 layers", "1 of 2 layers", "1 of 4 layers", "1 of 8 layers", "2 of 4 layers", "2 of 8 layers",
           "4 of 6 layers", "4 of 8 layers", "2 of 11 layers"]  # fmt: skip
LAYERS = [f"{layout} interleaved" for layout in LAYOUTS] + ["4 layers apart"]
CODEWORDS = [f"{m} to {o}, {n}" for m, o in (("256QAM", "s8"), ("64QAM", "s8"), ("QPSK", "s8"), ("256QAM", "f16")) for n in ("1 layer", "4 layers")]
ERASURES = [f"{m}, {e}" for m in MODULATIONS for e in ("one of 61 with infinite N0", "one of 61 NaN", "all NaN")]
# Columns that are another measurement's time over that in a column (1), or the other way about (-1).
TIMES_OVER = {"by symbol": ("us", 1), "over planes": ("us", -1), "added by symbol": ("added us", 1), "added over planes": ("added us", -1)}
SHARES_TOO = ("of 25 dB", "of pinned")
SLOT, ELEMENTS = 45864, 3276
CUDA = ("--samples", "1", "--device-symbols", "92160", "--largest", "4096", "--symbols", "65536")


def run(*arguments):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=600)


def check(good, what):
    if not good:
        sys.exit(f"FAILED: {what}")


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def run_to_json(folder, *arguments):
    """The report, whose measurements and tables agree, and what was printed."""
    path = os.path.join(folder, "bench.json")
    done = run("--backend", BACKEND, "--quick", *arguments, "--json", path)
    if BACKEND == "cuda" and "cuda: not measured" in done.stderr and os.environ.get("SOFTQAM_REQUIRE_GPU") != "1":
        print(f"skipped: {done.stderr}", end="")
        sys.exit(SKIPPED)
    check(done.returncode == 0 and not done.stderr, f"exit code {done.returncode}: {done.stderr}")
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    check_measurements(report["measurements"], report["measurements"][0]["samples"])
    check_figures(report)
    lines = sum(len(t["rows"]) + 2 for t in report["tables"])
    check(len(done.stdout.splitlines()) == lines, "the tables have other lines than the JSON")
    return report, done.stdout


def rows_of(report, title):
    """The rows of the only table whose title has these words, by what they are."""
    found = [t for t in report["tables"] if title in t["title"]]
    check(len(found) == 1, f"{len(found)} tables of '{title}', not 1: {[t['title'] for t in report['tables']]}")
    return {row["what"]: row for row in found[0]["rows"]}


def check_measurements(measurements, n_samples):
    names = [m["what"] for m in measurements]
    for m in measurements:
        quantiles = [m[name] for name in ("p10_s", "median_s", "p90_s", "p99_s")]
        check(m["samples"] in (n_samples, 1000) and quantiles == sorted(quantiles) and quantiles[0] > 0, f"quantiles of {m['what']}")
        check("limit" not in m or m["limit"] in names and m["share_of_limit"] > 0, f"limit of {m['what']}")
        if "limit" in m and "copy of" in m["limit"]:
            limits = [l for l in measurements if l["what"] == m["limit"] and l["symbols"] == m["symbols"]]
            check(any(l["bytes"] == m["bytes"] for l in limits), f"{m['what']} moves other bytes than its limit")
            check(any(near(l["median_s"] / m["median_s"], m["share_of_limit"]) for l in limits), f"share of {m['what']}")


def check_figures(report):
    """Rates, times and shares in the tables are those of measurements."""
    measurements = report["measurements"]
    figures = {
        "Msym/s": [1e-6 * m["symbols"] / m["median_s"] for m in measurements],
        "Gsym/s": [1e-9 * m["symbols"] / m["median_s"] for m in measurements],
        "ns": [1e9 * m["median_s"] for m in measurements],
        "us": [1e6 * m["median_s"] for m in measurements],
        "share": [m["share_of_limit"] for m in measurements if "limit" in m],
    }
    figures["ratio"] = [1 / share for share in figures["share"]]
    figures = {kind: sorted(values) for kind, values in figures.items()}
    for table in report["tables"]:
        if not any(word in table["title"] for word in ("share of", "time over", "launch to synch", "in a call", "host to host")):
            continue
        for row in table["rows"]:
            check(row["spread"] >= 0 and list(row)[-1] == "spread", f"{table['title']}: {row}")
            for column, value in row.items():
                kind = column.split()[-1]
                if kind not in figures:
                    kind = "ratio" if "time over" in table["title"] or column == "ratio to one" else "share"
                if column in SHARES_TOO:  # of another measurement than the one that the JSON names
                    rate = "Gsym/s" if "Gsym/s" in row else "Msym/s"
                    check(any(near(row[rate] / value, v) for v in figures[rate]), f"{table['title']}: {column} of {row}")
                elif column in TIMES_OVER:
                    of, power = TIMES_OVER[column]
                    check(any(near(row[of] * value**power, v) for v in figures["us"]), f"{table['title']}: {column} of {row}")
                elif column not in ("what", "spread", "ns a segment", "adds us", "added: adds us", "descriptor on device us", "p99 us"):
                    check(any(near(value, v) for v in figures[kind]), f"{table['title']}: nothing was measured as {column} of {row}")


def check_page(report, page):
    """The tables that a page wants are among those of the run, whose sizes are others."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("run.json", "page.md")]
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read()
        for name, content in zip(names, (json.dumps(report), text)):
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/bench/markdown.py"), *names], capture_output=True, text=True)
        check(done.returncode == 0, f"{page}: {done.stderr}")


def check_rows(report, title, expected):
    rows = rows_of(report, title)
    check(list(rows) == expected, f"{title}: {list(rows)}, not {expected}")
    return rows


def check_receiver(folder):
    """The default run: what receivers have."""
    report, _ = run_to_json(folder)
    for fact in "softqam", "commit", "cpu", "kernel", "compiler", "cpu_loop":
        check(report.get(fact), f"no {fact} in the JSON")
    variant = report["cpu_loop"].split(",")[0]
    fading = [row for m in MODULATIONS for row in [f"{m}, fading, mean {db} dB" for db in MEANS[m]] + [f"{m}, one N0, 28 dB"]]
    check_rows(report, f"cpu: {variant}, a slot of cf32", fading)
    check_rows(report, f"cpu: {variant}, 256QAM, layers of an OFDM symbol", LAYERS)
    check_rows(report, f"cpu: {variant}, one layer of a slot", MODULATIONS)
    check_rows(report, f"cpu: {variant}, a slot with erasures", ERASURES)
    sizes = ["12 elements", "48 elements", "100 elements", f"{ELEMENTS} elements", f"{ELEMENTS} elements of 2 layers",
             f"{ELEMENTS} elements of 4 layers"]  # fmt: skip
    rows = check_rows(report, "a call to s8, share", [f"{m}, {s}{d}" for m in ("QPSK", "256QAM") for d in ("", ", descrambled") for s in sizes])
    short = [row for what, row in rows.items() if str(ELEMENTS) not in what]
    check(all(row["cold ns"] > row["ns"] for row in short), f"cold calls are faster than hot ones: {short}")
    check_rows(report, "64 segments of 48 symbols", ["symbol order", "descrambled", "planes", "both"])
    check_rows(report, f"cpu: {variant}, a slot to soft buffers", CODEWORDS)
    names = [m["what"] for m in report["measurements"]]
    for part in ("copy of 256QAM cf32 to s8, N0 a symbol, fading 30 dB, descrambled, soft buffers, combined", "4 of 4 layers, descrambled, soft buffers,",
                 "14 segments, descrambled, soft buffers, combined, a call each", "fading -5 dB", ", 28 dB,", "1/N0 a symbol",
                 "2 of 8 layers, descrambled, planes", "4 of 8 layers, descrambled, codewords", "descrambled, elsewhere",
                 "descrambled, next", "elsewhere, cold", "one of 61 erased", "one of 61 NaN", "all NaN"):  # fmt: skip
        check(any(part in name for name in names), f"no measurement of {part}")
    calls = [m for m in report["measurements"] if "4 of 4 layers, descrambled, elsewhere" in m["what"]]
    check({m["symbols"] for m in calls} == {4 * ELEMENTS}, "an OFDM symbol of four layers is not a call")
    return report


def check_others(folder):
    report, _ = run_to_json(folder, "--samples", "3", "--symbols", "65536", "--section", "formats")
    variant = report["cpu_loop"].split(",")[0]
    inputs = [f"{i}, {SLOT} symbols" for i in INPUTS] + ["cf32, 65536 symbols"]
    rows = check_rows(report, f"cpu: {variant}, 256QAM, every format", inputs)
    check(all({"s8 of one N0", *LLR_FORMATS} <= set(row) for row in rows.values()), f"formats: {rows}")
    return report


def check_modulations(folder):
    """A modulation changes the tables that are of one."""
    report, _ = run_to_json(folder, "--samples", "1", "--symbols", "65536", "-m", "pi2-bpsk", "--section", "formats")
    check(all("pi/2-BPSK" in m["what"] for m in report["measurements"]), "-m pi2-bpsk measures others")
    report, _ = run_to_json(folder, "--samples", "1", "-m", "pi2-bpsk", "--section", "layers")
    layers = next(t for t in report["tables"] if "pi/2-BPSK, layers" in t["title"])
    check([row["what"] for row in layers["rows"]] == [row for row in LAYERS if row.startswith("1 of")], f"{layers}")


def check_cuda_receiver(folder):
    report, _ = run_to_json(folder, *CUDA)
    ranges = ["25 dB", "28 to 33 dB", "35 to 40 dB", "20 to 40 dB"]
    rows = rows_of(report, "cuda: one launch to s8")
    expected = [f"{m} {i}, {r}" for m in MODULATIONS for i in ("cf32", "cf16") for r in ranges]
    check([row for row in rows if "fading" not in row] == expected, f"ranges of N0: {list(rows)}")
    check(len(rows) == len(expected) * 5 // 4, f"no row of a fading channel: {list(rows)}")
    check_rows(report, "cuda: a slot in a graph, data from memory", [f"{m} {i}" for m in MODULATIONS for i in ("cf32", "cf16")])
    check_rows(report, "cuda: 256QAM, layers of a slot in a graph", LAYERS)
    check_rows(report, "cuda: one layer of a slot in a graph", MODULATIONS)
    check_rows(report, "cuda: a slot in a graph with erasures", ERASURES)
    rows = rows_of(report, "launch to synchronisation")
    check(all(near(row["adds us"] + row["empty us"], row["us"]) for row in rows.values()), f"calls: {rows}")
    check_rows(report, "cuda: a slot to soft buffers in a graph", CODEWORDS)
    check_rows(report, "cuda: a slot to soft buffers in a call", CODEWORDS)
    names = [m["what"] for m in report["measurements"]]
    for part in ("combined, graph", "soft buffers, call"):
        check(any(part in name for name in names), f"no measurement of {part}")
    check_chain(report)
    return report


def check_chain(report):
    rows = rows_of(report, "between two kernels")
    expected = [f"four slots, 4 layers, codewords, {i}, s8" for i in ("cf32", "cf16")]
    expected += [f"{n}, {i}, {o}" for n in ("slot", "four slots") for i in ("cf32", "cf16") for o in LLR_FORMATS]
    check(sorted(rows) == sorted(expected), f"chains: {list(rows)}")
    us = {}
    for m in report["measurements"]:
        us.setdefault(m["what"], []).append(1e6 * m["median_s"])
    alone, works, copies = (sum((v for k, v in us.items() if k.startswith(f"cuda: {word}") and ", chain" in k), []) for word in ("nothing but", "256QAM", "copy of"))
    adds = lambda value, kernels: any(near(value + empty, work) for empty in alone for work in kernels)
    for what, row in rows.items():
        for overlap in "", "overlap: ":
            check(adds(row[overlap + "adds us"], works), f"{what}: {row}")
            check(adds(row[overlap + "copy" if overlap else "copy adds"], copies), f"{what}: {row}")
            copy = row["overlap: copy"] if overlap else row["copy adds"]
            check(near(row[overlap + "share"] * row[overlap + "adds us"], copy), f"{what}: {row}")


def check_cuda_others(folder):
    """The tables have what was measured."""
    # More symbols than differ from each other: a launch whose end is looked at too.
    report, _ = run_to_json(folder, *CUDA, "--samples", "3", "--device-symbols", "950000",
                            "--section", "formats,host,choice")  # fmt: skip
    check_rows(report, "every format, a slot in a graph", INPUTS)
    check_cuda_host(report)
    return report


def check_cuda_host(report):
    rows = check_rows(report, "cuda: a slot of 256QAM host to host", ["pinned", "pageable"])
    for what, row in rows.items():
        m = next(m for m in report["measurements"] if near(1e6 * m["median_s"], row["us"]))
        check(f", {what}, " in m["what"] and m["symbols"] == SLOT and m["samples"] == 1000, f"{what}: {m['what']}")
        check(near(row["p99 us"], 1e6 * m["p99_s"]), f"{what}: {row}")
    check_rows(report, "cuda: 256QAM host to host", ["pinned"] + [f"pageable, {n} thread{'s' if n > 1 else ''}" for n in (1, 2, 4, 8, 16)])
    rows = check_rows(report, "cuda: CPU and CUDA", [f"{4**k} symbol{'s' if k else ''}" for k in range(9)])
    for what, row in rows.items():
        for column in list(row)[1:-1]:
            memory, backend = column.split(": ")
            found = [m for m in report["measurements"] if near(1e-6 * m["symbols"] / m["median_s"], row[column])]
            check(any(m["what"].startswith(backend.lower()) and f", {memory}, " in m["what"] for m in found), f"{what}: {row}")


def check_pages(*reports):
    """What a page wants is in these runs together."""
    together = dict(reports[0], tables=sum((r["tables"] for r in reports), []))
    if BACKEND == "cuda":
        check_page(together, "cuda/PERFORMANCE.md")
    elif together["cpu_loop"].startswith("avx512"):
        check_page(together, "src/PERFORMANCE.md")


def check_mistakes():
    for wrong in (["--section", "calls,nothing"], ["--section", ""], ["--section", "calls,"], ["--samples", "0"],
                  ["--backend", "gpu"], ["operand"], ["--largest", "x"], ["-m", "8psk"], ["--modulation", ""]):
        done = run(*wrong)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{wrong}: {done.returncode} {done.stderr}")
    for wrong, message in (
        (["operand"], "takes no operands, but got 1; --help explains"),
        (["--json", "-"], "--json: '-' is where the tables go; give it a file"),
        (["--backend", "cpu", "--section", "chain"], "--section: none of them is measured with --backend cpu"),
    ):
        done = run(*wrong)
        check((done.returncode, done.stdout, done.stderr) == (2, "", f"softqam-bench: {message}\n"), f"{wrong}: {done}")


def check_outputs(folder):
    """A report that cannot be written is found before anything is measured, or leaves the older one as it is."""
    quick = "--backend", "cpu", "--quick", "--samples", "1", "--section", "layers"
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
    if "not measured" in (done := run("--backend", "cuda", "--quick", "--section", "calls", "--json", path)).stderr:
        check(done.returncode == 1 and done.stderr.count("\n") == 1, f"nothing measured: {done}")
        with open(path, encoding="utf-8") as file:
            check(file.read() == "old", "an older report is lost to one without figures")


with tempfile.TemporaryDirectory() as temporary:
    if BACKEND == "cuda":
        check_pages(check_cuda_receiver(temporary), check_cuda_others(temporary))
    else:
        check_pages(check_receiver(temporary), check_others(temporary))
        check_modulations(temporary)
        check_mistakes()
        check_outputs(temporary)
print("all good")
