#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages and completion for bash: that they say what --help does, all of it, and what the programs take."""

import os
import re
import shutil
import subprocess

from output_formats import LLR_FORMATS, OUTPUT_FORMATS
from tools_harness import ENVIRONMENT, INPUT_FORMATS, MODULATIONS, ToolTest, main, tool

PROGRAMS = [name for name in ("softqam-demod", "softqam-demod-mpi", "softqam-gen", "softqam-bench")
            if os.path.exists(tool(name))]  # fmt: skip
# A program that works without operands, with as little work as may be: the GPU's part of a section of the CPU's.
NOTHING_TO_DO = {"softqam-bench": ["--backend", "cpu", "--section", "chain"]}

# What the completion of a command line gives, whose last word is at the cursor. The words are those that bash makes.
COMPLETE = """
source "$1"; shift
program=$1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
_${program//-/_} "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Documents(ToolTest):
    def help(self, program):
        return self.ok(self.run_tool(tool(program), "--help")).out.decode()


class ManPages(Documents):
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
            for section in (rf"{program.upper()}\(1\).*", "NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO", rf" +{program} +- \w.*"):
                self.assertRegex(page, rf"(?m)^{section}$", program)
            at = page.index("DESCRIPTION")
            for word in self.help(program).split("\n", 2)[2].split():
                found = page.find(word, at)
                if found < 0 and re.fullmatch(r"[\w ]+:?", word):  # a section's name, which is in capitals
                    found = page.find(word.rstrip(":").upper(), at)
                self.assertGreaterEqual(found, 0, f"{program}: {word!r} after {page[at - 60 : at]!r}")
                at = found


class Completion(Documents):
    def complete(self, *words):
        script = os.path.join(tool("completions"), words[0])
        result = self.ok(self.run_tool("bash", "-c", COMPLETE, "bash", script, *words))
        self.assertEqual(result.err.replace("bash: compopt: not currently executing completion function\n", ""), "")
        return result.out.decode().split("\n")[:-1] if result.out.strip() else []

    def test_options(self):
        """Just those that --help lists, and the program takes them; bash takes the script."""
        for program in PROGRAMS:
            offered = set(self.complete(program, "--"))
            listed = re.findall(r"^ {2,6}(-.*?)(?:  |$)", self.help(program), re.M)
            self.assertEqual(offered, set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(listed))), program)
            self.assertTrue({"--help", "--version"} <= offered)
            for option in offered:
                error = self.run_tool(tool(program), *NOTHING_TO_DO.get(program, []), option, env=ENVIRONMENT).err
                self.assertNotRegex(error, "no such option|could be more than one", f"{program} {option}")
            script = os.path.join(tool("completions"), program)
            result = self.ok(self.run_tool("bash", "-c", 'source "$1"; complete -p "$2"', "bash", script, program))
            self.assertIn(program, result.out.decode())
        self.assertEqual(self.complete("softqam-demod", "--ver"), ["--verify", "--version"])
        self.assertEqual(self.complete("softqam-demod", "x", "y", "--llr-s"), ["--llr-scale"])

    def test_values(self):
        formats = INPUT_FORMATS.split(", ")
        for line, expected in (
            ("softqam-demod -i ", formats), ("softqam-demod --input-format c", formats), ("softqam-demod --input-format = cs", formats[1:3] + ["cs32"]),
            ("softqam-gen -o cf", ["cf32", "cf16"]), ("softqam-demod --output-format =", OUTPUT_FORMATS), ("softqam-demod -m ", list(MODULATIONS)),
            ("softqam-demod --backend ", ["cpu", "cuda", "auto"]), ("softqam-demod --sign ", ["0", "1"]), ("softqam-demod --c-init ", ["none"]),
            ("softqam-demod --progress a", ["auto", "always"]), ("softqam-demod --noise-var ", ["auto"]), ("softqam-demod --input-scale ", ["auto"]),
            ("softqam-demod --stats =", ["json"]), ("softqam-demod --threads ", []),
            ("softqam-demod --shard ", []),
            ("softqam-bench --backend ", ["all", "cpu", "cuda"]), ("softqam-bench --section c", ["calls", "chain"]),
        ):  # fmt: skip
            if line.split()[0] in PROGRAMS:
                self.assertEqual(self.complete(*line.split(" ")), expected, line)
        # The program agrees with every value that is offered.
        self.make("x.cf32", "--symbols", "10")
        for option in ("--input-format", "--output-format", "--sign", "--progress"):
            for value in self.complete("softqam-demod", option, ""):
                noise = ["--snr-db", "9"] if value in LLR_FORMATS else []
                self.ok(self.demod("-q", option, value, *noise, "x.cf32", "y"))

    def test_files(self):
        for name in ("a b.cf32", "x1", "x2", "-x"):
            self.write(name, b"")
        self.assertEqual(sorted(self.complete("softqam-demod", "")), ["-x", "a b.cf32", "x1", "x2"])
        for line in ("softqam-demod -q x", "softqam-demod --noise-file = x", "softqam-demod -- x"):
            self.assertEqual(sorted(self.complete(*line.split())), ["x1", "x2"], line)


main()
