#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages and bash completion: that they say what --help does, all of it, and what the programs take."""

import os
import re
import shutil
import subprocess
import sys

from mpi_environment import MPI_ENVIRONMENT
from output_formats import LLR_FORMATS, OUTPUT_FORMATS
from tools_harness import ToolTest, main, tool

PROGRAMS = [name for name in ("softqam-demod", "softqam-demod-mpi", "softqam-gen", "softqam-bench", "softqam-plot")
            if os.path.exists(tool(name))]  # fmt: skip
# A program that works without operands, with as little work as may be: the GPU's part of a section of the CPU's.
NOTHING_TO_DO = {"softqam-bench": ["--largest", "1", "--backend", "cuda", "--section", "threads"]}
ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT}
LONG_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")

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

    def listed(self, program):
        """The options that --help lists."""
        lines = [line.strip().split("  ")[0] for line in self.help(program).splitlines() if re.match(r" {2,6}-", line)]
        return {option for line in lines for option in LONG_OPTION.findall(line)}

    def compiled(self, program):
        """Strings in the program's text that are like the names of options."""
        self.ok(self.run_tool("objcopy", "-O", "binary", "-j", ".rodata", tool(program), self.path("text")))
        return {"--" + word.decode() for word in re.findall(rb"\0([a-z]{2,}(?:-[a-z]+)*)\0", self.read("text"))}


class Help(Documents):
    def test_every_option_is_listed(self):
        """No option without its line in --help. (argparse sees to that in softqam-plot.)"""
        for program in set(PROGRAMS) - {"softqam-plot"}:
            exact, listed = set(), self.listed(program)
            for option in self.compiled(program) - listed:
                # An abbreviation of one that is listed is not another.
                if any(known.startswith(option) for known in listed):
                    continue
                if "no such option" not in self.run_tool(tool(program), option, env=ENVIRONMENT).err:
                    exact.add(option)
            self.assertEqual(exact, set(), program)


class ManPages(Documents):
    def setUp(self):
        super().setUp()
        if not shutil.which("help2man"):
            self.skipTest("help2man is not installed")
        if not shutil.which("man"):
            self.skipTest("man is not installed")

    def text(self, program):
        """The page as man shows it; a warning fails."""
        page = os.path.join(tool("man"), program + ".1")
        environment = dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="200", MAN_KEEP_FORMATTING="", MANROFFOPT="-c -rHY=0")
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""), program)
        return re.sub(".\b", "", done.stdout.decode()).replace("\u2010", "-").replace("\u2212", "-")

    def test_pages(self):
        for program in PROGRAMS:
            text = self.text(program)
            self.assertIn(f"{program.upper()}(1)", text)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
                self.assertRegex(text, rf"(?m)^{section}$", program)
            self.assertRegex(text, rf"(?m)^ +{program} +- \w", program)

    def test_nothing_is_missing(self):
        """Every word of --help, in its order, but for the layout."""
        for program in PROGRAMS:
            page = self.text(program)
            place, words = page.index("DESCRIPTION"), self.help(program).split("\n", 2)[2].split()
            for word in words:
                found = page.find(word, place)
                if found < 0 and re.fullmatch(r"[\w ]+:?", word):  # a section's name, which is in capitals
                    found = page.find(word.rstrip(":").upper(), place)
                self.assertGreaterEqual(found, 0, f"{program}: {word!r} after {page[place - 60 : place]!r}")
                place = found


class Completion(Documents):
    def complete(self, *words):
        script = os.path.join(tool("completions"), words[0])
        result = self.ok(self.run_tool("bash", "-c", COMPLETE, "bash", script, *words))
        self.assertEqual(result.err.replace("bash: compopt: not currently executing completion function\n", ""), "")
        return result.out.decode().split("\n")[:-1] if result.out.strip() else []

    def test_options(self):
        """Just those that --help lists, and the program takes them."""
        for program in PROGRAMS:
            offered = set(self.complete(program, "--"))
            self.assertEqual(offered, self.listed(program), program)
            self.assertTrue({"--help", "--version"} <= offered)
            for option in offered:
                error = self.run_tool(tool(program), *NOTHING_TO_DO.get(program, []), option, data=b"", env=ENVIRONMENT).err
                self.assertNotIn("no such option", error, f"{program} {option}")
                self.assertNotIn("could be more than one", error, f"{program} {option}")
        self.assertEqual(self.complete("softqam-demod", "--ver"), ["--verify", "--version"])
        self.assertEqual(self.complete("softqam-demod", "x", "y", "--llr-s"), ["--llr-scale"])

    def test_values(self):
        formats = ["cf32", "cs16", "cs8", "cf16", "cu8", "cs32", "cf64"]
        for words, expected in (
            (["softqam-demod", "-i", ""], formats), (["softqam-demod", "--input-format", "c"], formats),
            (["softqam-demod", "--input-format", "=", "cs"], ["cs16", "cs8", "cs32"]),
            (["softqam-gen", "-o", "cf"], ["cf32", "cf16"]),
            (["softqam-demod", "--output-format", "="], OUTPUT_FORMATS),
            (["softqam-demod", "--backend", ""], ["cpu", "cuda", "auto"]), (["softqam-demod", "--sign", ""], ["0", "1"]),
            (["softqam-demod", "--progress", "a"], ["auto", "always"]), (["softqam-demod", "--noise-var", ""], ["auto"]), (["softqam-demod", "--c-init", ""], ["none"]),
            (["softqam-demod", "--input-scale", ""], ["auto"]), (["softqam-demod", "--stats", "="], ["json"]), (["softqam-demod", "--partial", ""], ["error", "ignore"]),
            (["softqam-demod", "--threads", ""], []), (["softqam-demod", "--shard", ""], []),
            (["softqam-plot", "--panels", "c"], ["constellation"]), (["softqam-plot", "-s", "f"], ["f16", "f32"]),
            (["softqam-bench", "--backend", ""], ["all", "cpu", "cuda"]),
            (["softqam-bench", "-m", "a"], ["all"]), (["softqam-bench", "--modulation", "6"], ["64qam"]),
        ):  # fmt: skip
            if words[0] in PROGRAMS:
                self.assertEqual(self.complete(*words), expected, words)

    def test_values_are_taken(self):
        """The program agrees with every value that is offered."""
        self.make("x.cf32", "--symbols", "10")
        for option in ("--input-format", "--output-format", "--sign", "--partial", "--progress"):
            for value in self.complete("softqam-demod", option, ""):
                noise = ["--snr-db", "9"] if value in LLR_FORMATS else []
                self.ok(self.demod("-q", option, value, *noise, "x.cf32", "y"))

    def test_files(self):
        self.write("a b.cf32", b"")
        self.write("x1", b"")
        self.write("x2", b"")
        self.write("-x", b"")
        self.assertEqual(sorted(self.complete("softqam-demod", "")), ["-x", "a b.cf32", "x1", "x2"])
        for words in (["-q", "x"], ["--noise-file", "x"], ["--noise-file", "=", "x"], ["--", "x"], ["--sigmf", "x"]):
            self.assertEqual(sorted(self.complete("softqam-demod", *words)), ["x1", "x2"], words)
        self.assertEqual(self.complete("softqam-demod", "--", "-"), ["-x"])
        self.assertEqual(sorted(self.complete("softqam-plot", "-o", "x")), ["x1", "x2"])
        self.assertEqual(sorted(self.complete("softqam-gen", "--bits", "x")), ["x1", "x2"])

    def in_other_shells(self, program):
        """What zsh's and fish's completion name, by shell."""
        for shell, name in (("zsh", "zsh/_" + program), ("fish", f"fish/{program}.fish")):
            with open(os.path.join(tool("completions"), name), encoding="utf-8") as file:
                yield shell, file.name, file.read()

    def test_zsh_and_fish(self):
        """The same options and values, and the shells take them, where they are installed."""
        for program in PROGRAMS:
            for shell, path, text in self.in_other_shells(program):
                pattern = r"(--[a-z][a-z-]*)[=\[]" if shell == "zsh" else r" -l ([a-z][a-z-]*)"
                options = {"--" + name.lstrip("-") for name in re.findall(pattern, text)}
                self.assertTrue(self.listed(program) <= options, (program, shell, self.listed(program) - options))
                if shutil.which(shell):
                    result = self.ok(self.run_tool(shell, "-n", path))
                    self.assertEqual(result.err, "")
            if shutil.which("fish"):
                result = self.ok(self.run_tool("fish", "-N", "-c", f'source {path}; complete -C"{program} --ver"'))
                self.assertIn("--version\tthe version", result.out.decode())
        if shutil.which("fish"):
            result = self.ok(self.run_tool("fish", "-N", "-c", f'source {tool("completions")}/fish/softqam-gen.fish; complete -C"softqam-gen -m "'))
            self.assertEqual(sorted(line.split("\t")[0] for line in result.out.decode().splitlines()), ["1024qam", "16qam", "256qam", "64qam", "bpsk", "pi2-bpsk", "qpsk"])

    def test_bash_takes_it(self):
        """In a shell, by bash's own way."""
        for program in PROGRAMS:
            script = os.path.join(tool("completions"), program)
            result = self.ok(self.run_tool("bash", "-c", 'source "$1"; complete -p "$2"', "bash", script, program))
            self.assertIn(program, result.out.decode())


if __name__ == "__main__":
    sys.exit(main())
