#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library and the tools in a locale whose decimal point is a comma: the same bytes, and numbers with a point. The library's
part is TEST_ENVIRONMENT, the program test_environment.

The locale is made here with localedef, so that none needs to be installed; without it or its sources (Debian: locales)
this is a skip.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from tools_harness import DEMOD, GEN, SKIPPED, ToolTest, main

LOCALE = "de_DE.UTF-8"
FOLDER = tempfile.TemporaryDirectory(prefix="softqam-locale-")
POINT, COMMA = ({**os.environ, "LOCPATH": FOLDER.name, "LC_ALL": name} for name in ("C", LOCALE))
SCALED = ["--snr-db", "27.5", "--input-scale", "0.00012", "x.cs16", "x.s8"]


class Locale(ToolTest):
    def test_library(self):
        result = self.ok(self.run_tool(os.environ["TEST_ENVIRONMENT"], "test_locale", env=COMMA))
        self.assertNotIn("SKIPPED", result.out.decode() + result.err)

    def test_tools(self):
        """Each command in both locales: its output, and what it says. Numbers are printed with a point, and read with one only."""
        for command in (
            [GEN, "--symbols", "3000", "--snr-db", "27.5", "--output-scale", "0.00012", "x.cs16"],
            [DEMOD, "-q", "--llr-scale", "5.5", *SCALED], [DEMOD, "-q", "--noise-var", "auto", "--input-scale", "0.00012", "x.cs16", "x.f32"],
        ):  # fmt: skip
            results = [(self.ok(self.run_tool(*command, env=env)), self.read(command[-1])) for env in (POINT, COMMA)]
            self.assertEqual(*((result.out, result.err, data) for result, data in results), command)
        shown = self.ok(self.run_tool(DEMOD, "--stats", *SCALED, env=COMMA)).err
        self.assertIn(".", shown)
        self.assertNotRegex(shown, r"\d,(?! )")
        self.assertRegex(self.ok(self.run_tool(DEMOD, "--stats=json", *SCALED, env=COMMA)).err, r'"snr_db": ?27\.5')
        self.assertEqual(self.run_tool(DEMOD, "--snr-db", "27,5", "x.cs16", "x.s8", env=COMMA).code, 2)


def start():
    make = ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(FOLDER.name, LOCALE)]
    if not shutil.which("localedef") or subprocess.run(make, capture_output=True).returncode != 0:
        print("skipped: no localedef, or no source of de_DE (Debian: locales)")
        return SKIPPED
    return main()


if __name__ == "__main__":
    sys.exit(start())
