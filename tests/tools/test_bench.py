#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-bench, driven as a process: short runs of every section, its tables and JSON, and wrong commands.

    test_bench.py PROGRAM cpu|cuda

Without a usable CUDA device the second is a skip, 77, or a failure when SOFTQAM_REQUIRE_GPU=1.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BENCH, BACKEND = sys.argv[1:]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SKIPPED = 77
SECTIONS = {  # the beginnings of their tables' titles, in order
    "cpu": {"fading": ["a slot of cf32"], "layers": ["256QAM, layers of an OFDM symbol"], "calls": ["a call to s8"], "buffers": ["a slot to soft buffers"],
            "joint": ["39312 elements of two layers"], "formats": ["256QAM, every format"]},
    "cuda": {"fading": ["one launch", "a slot in a graph"], "layers": ["256QAM, layers of a slot"], "calls": ["256QAM, a call to s8"],
             "buffers": ["a slot to soft buffers in a graph", "a slot to soft buffers in a call"],
             "joint": ["39312 elements of two layers"], "host": ["CPU and CUDA"]},
}[BACKEND]  # fmt: skip


def run(*arguments, **options):
    options = {"capture_output": True, **options}
    return subprocess.run([BENCH, *arguments], text=True, timeout=600, **options)


def check(good, what):
    if not good:
        sys.exit(f"FAILED: {what}")


def run_to_json(folder, *arguments):
    """The report, in which tables and measurements agree, and which is what was printed."""
    path = os.path.join(folder, "bench.json")
    done = run("--backend", BACKEND, "--largest", "300000", "--samples", "3", *arguments, "--json", path)
    if BACKEND == "cuda" and "cuda: not measured" in done.stderr and os.environ.get("SOFTQAM_REQUIRE_GPU") != "1":
        print(f"skipped: {done.stderr}", end="")
        sys.exit(SKIPPED)
    check(done.returncode == 0 and not done.stderr, f"exit code {done.returncode}: {done.stderr}")
    report = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    printed = [line for line in done.stdout.splitlines() if line]
    shown = [text for t in report["tables"] for text in (t["title"], *(row["what"] for row in t["rows"]))]
    check(len(printed) == len(shown) and all(map(str.startswith, printed, shown)), f"printed: {printed}\nJSON: {shown}")
    return report


def check_tables(folder):
    """All sections, which have the tables that a page wants."""
    report = run_to_json(folder, "--section", "all")
    variants = sorted({t["title"].split(", ")[0] for t in report["tables"]}) if BACKEND == "cpu" else ["cuda"]
    for variant in variants:
        titles = [t["title"] for t in report["tables"] if t["title"].startswith(variant)]
        start = f"{variant}, " if BACKEND == "cpu" else "cuda: "
        wanted = [start + title for titles in SECTIONS.values() for title in titles]
        check(len(titles) == len(wanted) and all(map(str.startswith, titles, wanted)), f"tables: {titles}, not {wanted}")
    if BACKEND == "cuda" or "cpu: avx512" in variants:
        page = shutil.copy(os.path.join(ROOT, "cuda" if BACKEND == "cuda" else "src", "PERFORMANCE.md"), folder)
        command = [sys.executable, os.path.join(ROOT, "tools/bench/markdown.py"), os.path.join(folder, "bench.json"), page]
        subprocess.run(command, check=True)
    check(len(run_to_json(folder, "--section", "layers")["tables"]) == len(variants) * len(SECTIONS["layers"]), "one section alone")


def check_mistakes():
    for wrong, message in (
        *((["--section", text], "--section: ") for text in ("calls,nothing", "", "calls,")), (["--samples", "0"], "--samples: "),
        (["--backend", "gpu"], "--backend: "), (["operand"], ""), (["--largest", "x"], "--largest: "),
        (["--json", "-"], "--json: '-' is where the tables go; give it a file\n"),
        (["--backend", "cpu", "--section", "host"], "--section: none of them is measured with --backend cpu\n"),
    ):  # fmt: skip
        done = run(*wrong)
        check((done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), f"{wrong}: {done}")
        check(done.stderr.startswith("softqam-bench: " + message), f"{wrong}: {done}")


with tempfile.TemporaryDirectory() as temporary:
    check_tables(temporary)
    if BACKEND == "cpu":
        check_mistakes()
print("all good")
