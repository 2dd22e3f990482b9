#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of softqam-bench's JSON into a page, so that its figures are those of one run.

    softqam-bench --json run.json
    markdown.py run.json PAGE.md

What stands in PAGE.md between these two lines becomes the table whose title begins with TITLE, or only the COLUMNs of
it, and the rows in whose names the regular expression ROWS is found:

    <!-- bench: TITLE {ROWS} [COLUMN, COLUMN] -->
    <!-- end -->

TITLE "machine" is what the run says of the machine and the build. Columns without a figure are left out. Where the run
lacks a table or a column, nothing is written and the exit status is 1.
"""
import contextlib
import json
import os
import re
import shutil
import sys

BLOCK = re.compile(r"(<!-- bench: ([^\n]+?)(?: \{([^\n]+)\})?(?: \[([^\n]+)\])? -->\n)(?:(?!<!-- bench:).)*?(<!-- end -->)", re.S)


def figure(value):
    """Three digits that count, and thousands in full."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def lines_of(header, rows, numbers):
    align = ["---"] + ["---:" if numbers else "---"] * (len(header) - 1)
    return "".join("|" + "".join(f" {cell} |" if cell else " |" for cell in row) + "\n" for row in [header, align, *rows])


def table(report, title, wanted_rows, chosen):
    if title == "machine":
        wanted = chosen.split(", ") if chosen else list(report)
        facts = [[name, text] for name, text in report.items() if isinstance(text, str) and name in wanted]
        return lines_of(["", ""], facts, False)
    found = [t for t in report["tables"] if t["title"].startswith(title)]
    if len(found) != 1:
        sys.exit(f"markdown.py: {len(found)} tables begin with '{title}'")
    rows = [row for row in found[0]["rows"] if re.search(wanted_rows or "", row["what"])]
    if not rows:
        sys.exit(f"markdown.py: no row of '{title}' has '{wanted_rows}'")
    there = [name for name in rows[0] if name != "what"]
    columns = chosen.split(", ") if chosen else [name for name in there if any(row[name] is not None for row in rows)]
    if not set(columns) <= set(there):
        sys.exit(f"markdown.py: '{title}' has the columns {', '.join(there)}")
    return lines_of(["", *columns], [[row["what"], *(figure(row[name]) for name in columns)] for row in rows], True)


def write(path, text):
    """All of the page or nothing."""
    try:
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        shutil.copymode(path, path + ".new")
        os.replace(path + ".new", path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ".new")


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        page = file.read()
    text, n = BLOCK.subn(lambda m: m[1] + table(report, m[2], m[3], m[4]) + m[5], page)
    if n == 0 or n < page.count("<!-- bench:"):
        sys.exit(f"markdown.py: {'a table lacks' if n else 'no'} '<!-- bench: ... -->' or '<!-- end -->' in {sys.argv[2]}")
    write(sys.argv[2], text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"markdown.py: {error.filename or sys.argv[2]}: {error.strerror}")
    except (ValueError, re.error) as error:
        sys.exit(f"markdown.py: {' or '.join(sys.argv[1:])}: {error}")
