#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/bench/markdown.py: the tables that it makes of a small report, in their places of a page and nowhere else; and
reports that lack what the page wants, which change nothing.

    test_bench_markdown.py
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench", "markdown.py")
REPORT = {
    "softqam": "1.2.3",
    "cpu": "Some CPU",
    "measurements": [],
    "tables": [
        {"title": "cpu: a slot, 45864 symbols", "rows": [{"what": "QPSK", "Msym/s": 4321.4, "share": 0.5549, "goal": None},
                                                         {"what": "64QAM", "Msym/s": 99.94, "share": None, "goal": None}]},
        {"title": "cuda: formats", "rows": [{"what": "cf32 to u8", "us": 1.766, "share": 0.914},
                                            {"what": "cf32 to s8, one N0", "us": 12.34, "share": None},
                                            {"what": "cf16 to u8", "us": 100, "share": 1}]},
    ],
}  # fmt: skip
PAGE = "before\n<!-- bench: {} -->\nold\n<!-- end -->\nafter\n"


class Markdown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page, self.report = os.path.join(folder.name, "page.md"), os.path.join(folder.name, "run.json")
        with open(self.report, "w") as file:
            json.dump(REPORT, file)

    def convert(self, page, status=0, **options):
        """The page afterwards, and what was said."""
        with open(self.page, "w") as file:
            file.write(page)
        os.chmod(self.page, 0o640)
        done = subprocess.run([sys.executable, SCRIPT, self.report, self.page], capture_output=True, text=True, timeout=60, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.page))), ["page.md", "run.json"])
        self.assertEqual(os.stat(self.page).st_mode & 0o777, 0o640)
        with open(self.page) as file:
            return file.read(), done.stderr

    def makes(self, block, table):
        self.assertEqual(self.convert(PAGE.format(block))[0], PAGE.format(block).replace("old\n", table))

    def refuses(self, page, why, **options):
        self.assertEqual(self.convert(page, 1, **options), (page, f"markdown.py: {why}\n"))

    def test_tables(self):
        self.makes("machine", "| | |\n| --- | --- |\n| softqam | 1.2.3 |\n| cpu | Some CPU |\n")
        self.makes("machine [cpu, compiler]", "| | |\n| --- | --- |\n| cpu | Some CPU |\n")
        self.makes("cpu: a slot", "| | Msym/s | share |\n| --- | ---: | ---: |\n| QPSK | 4,321 | 0.55 |\n| 64QAM | 99.9 | |\n")
        self.makes("cpu: a slot [share]", "| | share |\n| --- | ---: |\n| QPSK | 0.55 |\n| 64QAM | |\n")

    def test_rows(self):
        self.makes("cpu: a slot {64} [Msym/s]", "| | Msym/s |\n| --- | ---: |\n| 64QAM | 99.9 |\n")
        self.makes("cuda: formats {u8$} [us]", "| | us |\n| --- | ---: |\n| cf32 to u8 | 1.77 |\n| cf16 to u8 | 100 |\n")
        self.refuses(PAGE.format("cpu: a slot {^4QAM}"), "no row of 'cpu: a slot' has '^4QAM'")

    def test_several_blocks(self):
        block = PAGE.format("machine")
        self.assertEqual(self.convert(block + "<!-- end -->\n" + block)[0].count("| cpu | Some CPU |"), 2)

    def test_what_is_not_there(self):
        self.refuses(PAGE.format("machine") + PAGE.format("cuda: slots"), "0 tables begin with 'cuda: slots'")
        self.refuses(PAGE.format("c"), "2 tables begin with 'c'")
        self.refuses(PAGE.format("cuda: formats [ms]"), "'cuda: formats' has the columns us, share")
        self.refuses("no block\n", f"no '<!-- bench: ... -->' or '<!-- end -->' in {self.page}")
        self.refuses("<!-- bench: machine -->\n" + PAGE.format("machine"), f"a table lacks '<!-- bench: ... -->' or '<!-- end -->' in {self.page}")
        self.refuses(PAGE.format("cuda: formats {(}"), f"{self.report} or {self.page}: missing ), unterminated subpattern at position 0")

    def test_files_that_fail(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))  # a full disk
        self.refuses(PAGE.format("machine"), f"{self.page}: File too large", preexec_fn=limit)
        with open(self.report, "w") as file:
            file.write("{")
        self.assertIn(f"markdown.py: {self.report} or ", self.convert(PAGE.format("machine"), 1)[1])
        os.unlink(self.report)
        os.mkdir(self.report)
        self.refuses(PAGE.format("machine"), f"{self.report}: Is a directory")


if __name__ == "__main__":
    unittest.main()
