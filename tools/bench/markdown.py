#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of softqam-bench's JSON into a page, so that its figures are those of one run.

    softqam-bench --json run.json
    markdown.py run.json PAGE.md

What stands in PAGE.md between these two lines becomes the table whose title begins with TITLE, or only the COLUMNs of
it, and the rows in whose names the regular expression ROWS is found:

    <!-- bench: TITLE {ROWS} [COLUMN, COLUMN] -->
    <!-- end -->

TITLE "machine" is what the run says of the machine and the build. Where the run lacks a table or a column, nothing is
written and the exit status is 1.
"""
import json
import re
import sys

BLOCK = re.compile(r"(<!-- bench: ([^\n]+?)(?: \{([^\n]+)\})?(?: \[([^\n]+)\])? -->\n)(?:(?!<!-- bench:).)*?(<!-- end -->)", re.S)


def figure(value):
    """Three digits that count, and thousands in full."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(report, title, wanted_rows, chosen):
    columns = chosen and chosen.split(", ")
    if title == "machine":
        rows = [["", ""], *([name, text] for name, text in report.items() if name in (columns or [name]) and isinstance(text, str))]
    else:
        found = [t["rows"] for t in report["tables"] if t["title"].startswith(title)]
        if len(found) != 1:
            sys.exit(f"markdown.py: {len(found)} tables begin with '{title}'")
        known = [row for row in found[0] if re.search(wanted_rows or "", row["what"])]
        if not known:
            sys.exit(f"markdown.py: no row of '{title}' has '{wanted_rows}'")
        there = [name for name in known[0] if name != "what"]
        columns = columns or there
        if not set(columns) <= set(there):
            sys.exit(f"markdown.py: '{title}' has the columns {', '.join(there)}")
        rows = [["", *columns], *([row["what"], *(figure(row[name]) for name in columns)] for row in known)]
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) + "\n" for row in rows]
    return "".join([lines[0], "|---|" + ("---|" if title == "machine" else "---:|" * (len(rows[0]) - 1)) + "\n", *lines[1:]])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        page = file.read()
    text, n = BLOCK.subn(lambda m: m[1] + table(report, m[2], m[3], m[4]) + m[5], page)
    if n == 0 or n < page.count("<!-- bench:"):
        sys.exit(f"markdown.py: {'a table lacks' if n else 'no'} '<!-- bench: ... -->' or '<!-- end -->' in {sys.argv[2]}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, re.error) as error:
        sys.exit(f"markdown.py: {' or '.join(sys.argv[1:])}: {error}")
