#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/bench/markdown.py: the tables that it makes of a small report, in their places of a page and nowhere else; and
reports that lack what the page wants, which change nothing.

    test_bench_markdown.py
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench", "markdown.py")
REPORT = {
    "softqam": "1.2.3",
    "cpu": "Some CPU",
    "measurements": [],
    "tables": [
        {"title": "cpu: a slot, 45864 symbols", "rows": [{"what": "QPSK", "Msym/s": 4321.4, "share": 0.5549}, {"what": "64QAM", "Msym/s": 99.94, "share": 2}]},
        {"title": "cuda: formats", "rows": [{"what": "cf32 to u8", "us": 1.766}, {"what": "cf32 to s8", "us": 12.34}, {"what": "cf16 to u8", "us": 100}]},
    ],
}  # fmt: skip
PAGE = "before\n<!-- bench: {} -->\nold\n<!-- end -->\nafter\n"
MACHINE = PAGE.format("machine")
TABLES = {
    "machine": "| | |\n| --- | --- |\n| softqam | 1.2.3 |\n| cpu | Some CPU |\n",
    "machine [cpu, compiler]": "| | |\n| --- | --- |\n| cpu | Some CPU |\n",
    "cpu: a slot": "| | Msym/s | share |\n| --- | ---: | ---: |\n| QPSK | 4,321 | 0.55 |\n| 64QAM | 99.9 | 2.00 |\n",
    "cpu: a slot {64} [share]": "| | share |\n| --- | ---: |\n| 64QAM | 2.00 |\n",
    "cuda: formats {u8$} [us]": "| | us |\n| --- | ---: |\n| cf32 to u8 | 1.77 |\n| cf16 to u8 | 100 |\n",
}
REFUSED = {  # pages, and why
    PAGE.format("cpu: a slot {^4QAM}"): "no row of 'cpu: a slot' has '^4QAM'",
    PAGE.format("c"): "2 tables begin with 'c'",
    PAGE.format("cuda: formats [ms]"): "'cuda: formats' has the columns us",
    "<!-- bench: machine -->\n" + MACHINE: "a table lacks '<!-- bench: ... -->' or '<!-- end -->' in page.md",
    PAGE.format("cuda: formats {(}"): "run.json or page.md: missing ), unterminated subpattern at position 0",
}


def convert(page, wanted, error="", **options):
    """The page must then be as wanted, with the mode that it had, and nothing else left in the folder."""
    file = pathlib.Path("page.md")
    file.write_text(page)
    file.chmod(0o640)
    done = subprocess.run([sys.executable, SCRIPT, "run.json", "page.md"], capture_output=True, text=True, timeout=60, **options)
    found = (file.read_text(), done.stderr, done.returncode, sorted(os.listdir()), file.stat().st_mode & 0o777)
    if found != (wanted, error and f"markdown.py: {error}\n", 1 if error else 0, ["page.md", "run.json"], 0o640):
        sys.exit(f"FAILED: {page}\n{found}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    report = pathlib.Path("run.json")
    report.write_text(json.dumps(REPORT))
    for block, table in TABLES.items():
        convert(PAGE.format(block), PAGE.format(block).replace("old\n", table))
    for refused, why in REFUSED.items():
        convert(refused, refused, why)
    full_disk = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    convert(MACHINE, MACHINE, "run.json or page.md: [Errno 27] File too large", preexec_fn=full_disk)
    report.write_text("{")
    convert(MACHINE, MACHINE, "run.json or page.md: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)")
    os.chdir("/")
print("all good")
