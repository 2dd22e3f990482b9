#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages: that they say what --help does, all of it."""

import os
import re
import shutil
import subprocess

from tools_harness import ToolTest, main, tool

PROGRAMS = [name for name in ("softqam-demod", "softqam-demod-mpi", "softqam-gen", "softqam-bench")
            if os.path.exists(tool(name))]  # fmt: skip


class ManPages(ToolTest):
    def text(self, program):
        """The page as man shows it; a warning fails."""
        page = os.path.join(tool("man"), program + ".1")
        environment = dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="200", MAN_KEEP_FORMATTING="", MANROFFOPT="-c -rHY=0")
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""), program)
        return re.sub(".\b", "", done.stdout.decode()).replace("\u2010", "-").replace("\u2212", "-")

    def test_nothing_is_missing(self):
        """Every word of --help, in its order, but for the layout."""
        if not shutil.which("help2man") or not shutil.which("man"):
            self.skipTest("help2man or man is not installed")
        for program in PROGRAMS:
            page = self.text(program)
            for section in (rf"{program.upper()}\(1\).*", "NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO", *["OPTIONS"] * (program != "softqam-bench"), rf" +{program} +- \w.*"):
                self.assertRegex(page, rf"(?m)^{section}$", program)
            text = self.ok(self.run_tool(tool(program), "--help")).out.decode().split("\n", 2)[2]
            for part in re.split("\n(?=Examples:|Options:)", text):  # man has the examples last
                heading, _, words = part.partition(":") if part[:8] in ("Examples", "Options:") else ("DESCRIPTION", "", part)
                at = page.index(f"\n{heading.upper()}\n")
                for word in words.split():
                    found = page.find(word, at)
                    if found < 0 and re.fullmatch(r"[\w ]+:?", word):  # a section's name, which is in capitals
                        found = page.find(word.rstrip(":").upper(), at)
                    self.assertGreaterEqual(found, 0, f"{program}: {word!r} after {page[at - 60 : at]!r}")
                    at = found


main()
