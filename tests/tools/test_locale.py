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


def make_locale(folder):
    """False where it cannot be made."""
    if not shutil.which("localedef"):
        return False
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, LOCALE)]
    return subprocess.run(command, capture_output=True).returncode == 0


def fail(what, *done):
    sys.exit("\n".join([f"FAILED: {what}"] + [f"exit status {d.returncode}\n{d.stdout}{d.stderr}" for d in done]))


def run(environment, *command):
    return subprocess.run(command, text=True, capture_output=True, timeout=120, env=environment)


def check_same(tools, work, locales):
    """Each command in both locales: its outputs, and what it says but for times."""
    commands = [
        ["softqam-gen", "--symbols", "3000", "--snr-db", "27.5", "--output-scale", "0.00012", "x.cs16"],
        ["softqam-demod", "-q", "--snr-db", "27.5", "--input-scale", "0.00012", "--llr-scale", "5.5", "x.cs16", "x.s8"],
        ["softqam-demod", "-q", "--noise-var", "auto", "--input-scale", "0.00012", "x.cs16", "x.f32"],
    ]
    for command in commands:
        contents = []
        for environment in locales:
            done = run(environment, os.path.join(tools, command[0]), *command[1:-1], os.path.join(work, command[-1]))
            if done.returncode != 0:
                fail(" ".join(command), done)
            with open(os.path.join(work, command[-1]), "rb") as file:
                contents.append((file.read(), done.stdout, done.stderr))
        if contents[0] != contents[1]:
            fail(f"{' '.join(command)}: not the same in both locales")


def check_stats(tools, work, comma):
    """Numbers are printed with a point, and read with one only."""
    demod, capture = os.path.join(tools, "softqam-demod"), os.path.join(work, "x.cs16")
    done = run(comma, demod, "--stats", "--snr-db", "27.5", "--input-scale", "0.00012", capture, os.path.join(work, "x.s8"))
    if done.returncode != 0 or "." not in done.stderr or any(f"{d}," in done.stderr.replace(", ", "; ") for d in range(10)):
        fail("--stats", done)
    done = run(comma, demod, "--snr-db", "27,5", capture, os.path.join(work, "x.s8"))
    if done.returncode != 2:
        fail("a comma was taken for a decimal point", done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", required=True)
    parser.add_argument("--tools", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="softqam-locale-") as work:
        if not make_locale(work):
            print("skipped: no localedef, or no source of de_DE (Debian: locales)")
            return SKIPPED
        plain = {**os.environ, "LC_ALL": "C"}
        comma = {**os.environ, "LC_ALL": LOCALE, "LOCPATH": work}
        os.chdir(work)
        done = run(comma, arguments.environment, "test_locale")
        if done.returncode != 0 or "SKIPPED" in done.stdout + done.stderr:
            fail("the library", done)
        check_same(arguments.tools, work, [plain, comma])
        check_stats(arguments.tools, work, comma)
    return 0


if __name__ == "__main__":
    sys.exit(main())
