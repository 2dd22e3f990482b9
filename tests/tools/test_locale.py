#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library and the tools in a locale whose decimal point is a comma: the same bytes, and numbers with a point.

    test_locale.py --environment TEST_PROGRAM --tools FOLDER

The locale is made here with localedef, so that none needs to be installed; without it or its sources (Debian: locales)
this is a skip.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LOCALE = "de_DE.UTF-8"
SCALED = ["--snr-db", "27.5", "--input-scale", "0.00012"]


def check(right, what, *done):
    if not right:
        sys.exit("\n".join([f"FAILED: {what}"] + [f"exit status {d.returncode}\n{d.stdout}{d.stderr}" for d in done]))


def run(environment, *command):
    return subprocess.run(command, text=True, capture_output=True, timeout=120, env=environment)


def check_tools(tools, locales):
    """Each command in both locales: its output, and what it says. Numbers are printed with a point, and read with one only."""
    demod = os.path.join(tools, "softqam-demod")
    for command in (
        [os.path.join(tools, "softqam-gen"), "--symbols", "3000", "--snr-db", "27.5", "--output-scale", "0.00012", "x.cs16"],
        [demod, "-q", *SCALED, "--llr-scale", "5.5", "x.cs16", "x.s8"],
        [demod, "-q", "--noise-var", "auto", "--input-scale", "0.00012", "x.cs16", "x.f32"],
    ):
        contents = []
        for environment in locales:
            done = run(environment, *command)
            check(done.returncode == 0, " ".join(command), done)
            with open(command[-1], "rb") as file:
                contents.append((file.read(), done.stdout, done.stderr))
        check(contents[0] == contents[1], f"{' '.join(command)}: not the same in both locales")
    done = run(locales[1], demod, "--stats", *SCALED, "x.cs16", "x.s8")
    commas = any(f"{d}," in done.stderr.replace(", ", "; ") for d in range(10))
    check(done.returncode == 0 and "." in done.stderr and not commas, "--stats", done)
    done = run(locales[1], demod, "--stats=json", *SCALED, "x.cs16", "x.s8")
    check('"snr_db": 27.5' in done.stderr or '"snr_db":27.5' in done.stderr, "--stats=json", done)
    done = run(locales[1], demod, "--snr-db", "27,5", "x.cs16", "x.s8")
    check(done.returncode == 2, "a comma was taken for a decimal point", done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", required=True)
    parser.add_argument("--tools", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="softqam-locale-") as work:
        make = ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(work, LOCALE)]
        if not shutil.which("localedef") or subprocess.run(make, capture_output=True).returncode != 0:
            print("skipped: no localedef, or no source of de_DE (Debian: locales)")
            return SKIPPED
        comma = {**os.environ, "LC_ALL": LOCALE, "LOCPATH": work}
        os.chdir(work)
        done = run(comma, arguments.environment, "test_locale")
        check(done.returncode == 0 and "SKIPPED" not in done.stdout + done.stderr, "the library", done)
        check_tools(arguments.tools, [{**os.environ, "LC_ALL": "C"}, comma])
    return 0


if __name__ == "__main__":
    sys.exit(main())
