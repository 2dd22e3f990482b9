#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is wrong with a command, a file or its name, by the hundred, as tables: nothing of the input is taken for a
format, a command or a line end. Called as bad_input_harness.py says.
"""
import os
import socket
import subprocess

import bad_input_harness
from bad_input_harness import DEMOD, GEN, OLD, QUICK, BadInputTest
from output_formats import LLR_STEPS, OUTPUT_FORMATS

SYMBOL_NBYTES = {"cf32": 8, "cs16": 4, "cs8": 2, "cf16": 4, "cu8": 2, "cs32": 8, "cf64": 16}

SYMBOL_SUFFIXES = [".cf32", ".fc32", ".cfile", ".cs16", ".sc16", ".ci16", ".cs8", ".sc8", ".ci8", ".cf16"]
INPUT_SUFFIXES = [*SYMBOL_SUFFIXES, ".cu8", ".cs32", ".ci32", ".cf64"]
SOFT_BIT_SUFFIXES = ["." + name for name in OUTPUT_FORMATS]

# Formats of others, and what only looks like one of ours.
UNKNOWN_SUFFIXES = [".cu16", ".cs64", ".ri8", ".wav", ".s32", ".f64", ".sc16q11", ".bin", ".dat", ".raw", ".iq",
                    ".u80", ".cf32~", ".u8 ", ".cf32\n", ".1", ".%s", ".SIGMF-DATA", ".\u00e4"]  # fmt: skip

# Text that would do harm where it was taken for something else than text, and how a message shows it.
HOSTILE = [
    ("%s%n%d%999999999c", "%s%n%d%999999999c"),
    ("%", "%"),
    ("$(touch pwned)", "$(touch pwned)"),
    ("`touch pwned`;touch pwned|touch pwned&", "`touch pwned`;touch pwned|touch pwned&"),
    ("'\"\\", "'\"\\"),
    ("a\nsoftqam-demod: all is well", "a\\nsoftqam-demod: all is well"),
    ("a\rb\tc\x07\x1b[2J\x7f", "a\\x0db\\x09c\\x07\\x1b[2J\\x7f"),
    ("../../../../etc/passwd\n", "../../../../etc/passwd\\n"),
    ("\u202e\u00e4\U0001f4a5", "\u202e\u00e4\U0001f4a5"),
    (b"\xff\xfe\x80".decode("utf-8", "surrogateescape"), b"\xff\xfe\x80".decode("utf-8", "surrogateescape")),
    ("-", None),  # a value like any other, but for paths
    ("--", None),
    ("0x10", None),
    ("1e999", None),
    ("99999999999999999999999999999999999999999", None),
    ("", None),
]

CHOICES = {
    "--backend": "cpu, cuda, auto",
    "--progress": "auto, always, never",
    "--input-format": "cf32, cs16, cs8, cf16, cu8, cs32, cf64",
    "--partial": "error, ignore",
    "--output-format": ", ".join(OUTPUT_FORMATS),
    "--sign": "0, 1",
    "--modulation": "bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam",
}
COUNTS = {
    "--threads": (1, 1024),
    "--streams": (1, 64),
    "--chunk": (1, 1 << 28),
    **{f"--llr-limit {name}": (1, limit) for name, (_, _, limit) in LLR_STEPS.items()},
    "--planes": (1, 1 << 22),
}
MAX_SYMBOLS = ((1 << 63) - 1) // 10  # of softqam-gen
REALS = {
    "--snr-db": "number from -200 to 200",
    **{f"--llr-scale {name}": f"number or fraction from 0.0009765625 to {top}" for name, (_, top, _) in LLR_STEPS.items()},
}


def option_and_output(key):
    """Of an option that is of a format, or of any."""
    option, _, format_ = key.partition(" ")
    return option, "x." + (format_ or "u8")


def not_one_of(option, shown, names):
    return f"{option}: '{shown}' is not one of {names}"


def not_a_count(option, shown, ends):
    return f"{option}: '{shown}' is not a whole number from {ends[0]} to {ends[1]}"


class BadInput(BadInputTest):
    # Options.

    def test_hostile_values(self):
        for value, shown in HOSTILE:
            shown = value if shown is None else shown
            for option, names in CHOICES.items():
                self.row(DEMOD, [option, value, "x.cf32", "x.u8"], 2, not_one_of(option, shown, names))
            for key, ends in COUNTS.items():
                option, output = option_and_output(key)
                self.row(DEMOD, [option, value, "x.cf32", output], 2, not_a_count(option, shown, ends))
            for key, ends in REALS.items():
                option, output = option_and_output(key)
                self.row(DEMOD, [option, value, "x.cf32", output], 2, f"{option}: '{shown}' is not a {ends}")
            if value != "0x10":  # which is 16
                c_init = f"--c-init: '{shown}' is not a whole number from 0 to 2147483647, decimal or 0x.."
                self.row(DEMOD, ["--c-init", value, "x.cf32", "x.s8"], 2, c_init)
                self.row(GEN, ["--c-init", value, "x.u8"], 2, c_init)
            ratio = f"'{shown}' is not a positive number or fraction (such as"
            scales = {"--input-scale": f"{ratio} 0.25 or 1/32768) nor 'auto'", "--output-scale": f"{ratio} 0.25 or 1/32768)"}
            for option, cause in scales.items():
                if value in ("1e999", 41 * "9"):
                    cause = f"'{shown}' is outside the range of a 32-bit float, 1.175494e-38 to 3.402823e+38"
                program, arguments = (DEMOD, ["x.cf32", "x.u8"]) if option == "--input-scale" else (GEN, ["x.u8"])
                self.row(program, [option, value, *arguments], 2, f"{option}: {cause}")
            for option, top in (("--symbols", MAX_SYMBOLS), ("--seed", (1 << 64) - 1)):
                self.row(GEN, [option, value, "x.u8"], 2, not_a_count(option, shown, (0, top)))

    def test_counts_at_the_ends(self):
        """One too many and one too few, and what wraps to something that would do."""
        for key, (low, high) in COUNTS.items():
            option, output = option_and_output(key)
            for n in (low - 1, high + 1, (1 << 32) + low, (1 << 64) + low, (1 << 64) - 1, -low):
                self.row(DEMOD, [option, str(n), "x.cf32", output], 2, not_a_count(option, n, (low, high)))
        for option, high in (("--symbols", MAX_SYMBOLS), ("--seed", (1 << 64) - 1)):
            for n in (-1, high + 1, (1 << 64) + 1, 10 * high):
                self.row(GEN, [option, str(n), "x.u8"], 2, not_a_count(option, n, (0, high)))

    def test_hostile_options(self):
        for value, shown in HOSTILE[:10]:
            self.row(DEMOD, ["--" + value, "x.cf32", "x.u8"], 2, f"--{shown}: no such option; --help lists them")
            text = f"--verify: takes no value, but '--verify={shown}' gives it one"
            self.row(DEMOD, ["--verify=" + value, "x.cf32", "x.u8"], 2, text)
            self.row(DEMOD, [value], 2, "needs 2 operands (INPUT and OUTPUT), but got 1; --help explains")
            self.row(GEN, 3 * [value], 2, "needs 1 operand (OUTPUT), but got 3; --help explains")
        for letter, shown in (("%", "%"), ("\n", "\\n"), ("\x1b", "\\x1b"), ("x", "x")):
            self.row(DEMOD, ["-" + letter, "x.cf32", "x.u8"], 2, f"-{shown}: no such option; --help lists them")

    def test_long_values(self):
        """A line has an end, whatever it is about."""
        for value in (100000 * "9", 60000 * "%s", 100000 * "\n"):
            for arguments in (["--threads", value, "x.cf32", "x.u8"], ["--" + value], [value, "x.u8"], ["x.cf32", value]):
                BadInputTest.n_rows += 1
                result = subprocess.run([DEMOD, *arguments], cwd=self.directory, capture_output=True, check=False)
                self.assertIn(result.returncode, (1, 2))
                self.assertRegex(result.stderr, rb"\Asoftqam-demod: [^\n]+\n\Z")
                self.assertEqual(sorted(os.listdir(self.directory)), ["x.cf32", "x.u8"])

    # Files that are not what they should be.

    def test_symbols_that_are_not_whole(self):
        for name, size in SYMBOL_NBYTES.items():
            for left in range(1, size):
                cause = f"not a whole number of symbols: {left} byte{'s' * (left > 1)} left over (a symbol has {size})"
                data = bytes(7 * size + left)
                self.put("y." + name, data)
                self.row(DEMOD, ["y." + name, "x.u8"], 1, f"y.{name}: {cause}")
                self.row(DEMOD, ["-i", name, "-", "x.u8"], 1, f"standard input: {cause}", data=data)

    def test_noise_that_is_not_whole_or_does_not_fit(self):
        command = ["--noise-file", "n0", "x.cf32", "x.s8"]
        for n in (0, 1, 9, 11, 1000):
            self.put("n0", bytes(4 * n))
            cause = f"n0: has {n} noise variance{'s' * (n != 1)}, but x.cf32 has 10 symbols"
            self.row(DEMOD, command, 1, cause)
        for left in (1, 2, 3):
            self.put("n0", bytes(40 + left))
            cause = f"not a whole number of noise variances: {left} byte{'s' * (left > 1)} left over (a noise variance has 4)"
            self.row(DEMOD, command, 1, f"n0: {cause}")
        for n, cause in ((5, "ends after 5 noise variances, but x.cf32 has more symbols"),
                         (0, "ends after 0 noise variances, but x.cf32 has more symbols"),
                         (11, "goes on after 10 noise variances, but x.cf32 has no more symbols")):  # fmt: skip
            self.row(
                DEMOD, ["--noise-file", "-", "x.cf32", "x.s8"], 1, f"standard input: {cause}", data=bytes(4 * n)
            )

    def test_bits_that_do_not_fit(self):
        """Of --compare: 10 symbols of zeros, so 80 bits."""
        command = ["--compare", "sent", "x.cf32", "x.u8"]
        for n in (0, 1, 79, 81, 800):
            self.put("sent", bytes(n))
            self.row(DEMOD, command, 1, f"sent: has {n} bits, but x.cf32 has 10 symbols of 8")
        for n, cause in ((79, "ends after 79 bits, but there are more symbols"),
                         (0, "ends after 0 bits, but there are more symbols"),
                         (81, "goes on after 80 bits, but there are no more symbols")):  # fmt: skip
            arguments = ["--compare", "-", "x.cf32", "x.u8"]
            self.row(DEMOD, arguments, 1, f"standard input: {cause}", data=bytes(n))
        self.put("sent", bytes(79) + b"2")
        self.row(DEMOD, command, 1, "sent: not bits: a byte is neither 0 nor 1")
        self.row(DEMOD, ["--compare", "none", "x.cf32", "x.u8"], 1, "none: No such file or directory")
        self.row(DEMOD, ["-o", "hard", "--compare", "sent", "x.cf32", "sent"], 2,
                 "sent: is --compare's as well; give OUTPUT another name")  # fmt: skip
        self.row(DEMOD, ["--shard", "1/2", "--compare", "-", "x.cf32", "x.u8"], 1,
                 "standard input: not a regular file, so no part of it can be chosen")  # fmt: skip

    # Names.

    def test_names_of_what_is_not_there(self):
        readers, writers = self.commands("none/x")
        for program, arguments in readers + writers:
            self.row(program, arguments, 1, "none/x: No such file or directory")
        for name in ("missing", "x\n", "X.CF32", "x ", "x.", ".x", "..x", "x.y/z"):
            for program, arguments in self.commands(name)[0]:
                self.row(program, arguments, 1, name.replace("\n", "\\n") + ": No such file or directory")
        for program, arguments in sum(self.commands(""), []):
            self.row(program, arguments, 1, "'': No such file or directory")

    def test_names_of_what_is_no_file(self):
        os.mkdir(self.path("d"))
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(self.path("s"))
            os.symlink("loop", self.path("loop"))
            os.symlink("nowhere", self.path("dangling"))
            causes = {
                "d": ("Is a directory", "Is a directory"),
                "d/": ("Is a directory", "Is a directory"),
                ".": ("Is a directory", "Is a directory"),
                "/": ("Is a directory", "Is a directory"),
                "d/../..": ("Is a directory", "Is a directory"),
                "x.cf32/": ("Not a directory", "Not a directory"),
                "x.cf32/y": ("Not a directory", "Not a directory"),
                "s": ("No such device or address", "No such device or address"),
                "loop": ("Too many levels of symbolic links", "Too many levels of symbolic links"),
                "dangling": ("No such file or directory", None),
                256 * "y": ("File name too long", "File name too long"),
                "/dev/full": (None, "No space left on device"),
            }
            for name, (read, written) in causes.items():
                for cause, commands in zip((read, written), self.commands(name)):
                    for program, arguments in commands if cause else []:
                        self.row(program, arguments, 1, f"{name}: {cause}")

    def test_paths_longer_than_any(self):
        name = 5000 * "y/"
        for program, arguments in sum(self.commands(name), []):
            self.row(program, arguments, 1, f"{name[:4096]}...: File name too long")

    def test_hostile_names(self):
        for name, shown in HOSTILE[:10]:
            if name.endswith("passwd\n"):
                continue
            for program, arguments in self.commands(name)[0]:
                self.row(program, arguments, 1, f"{shown}: No such file or directory")
            name, shown = f"none/{name}/y", f"none/{shown}/y"
            for program, arguments in self.commands(name)[1]:
                self.row(program, arguments, 1, f"{shown}: No such file or directory")

    def test_hostile_names_that_are_there(self):
        """They are names like any other: read, written, and shown in one line."""
        for name, shown in HOSTILE[:10]:
            if "/" in name:
                continue
            BadInputTest.n_rows += 1
            self.put(name, bytes(80))
            result = subprocess.run(
                [DEMOD, "--backend", "cpu", "--verify", os.fsencode("./" + name), os.fsencode("./" + name + ".u8")],
                cwd=self.directory, capture_output=True, check=False,
            )  # fmt: skip
            self.assertEqual((result.returncode, result.stderr.count(b"\n")), (0, 1), result.stderr)
            self.assertEqual(os.path.getsize(self.path(name + ".u8")), 80)
            self.put(name, bytes(81))
            cause = "not a whole number of symbols: 1 byte left over (a symbol has 8)"
            self.row(DEMOD, ["./" + name, "x.u8"], 1, f"./{shown}: {cause}")
        self.assertFalse(os.path.exists(self.path("pwned")))

    # Files that would be lost.

    def test_suffixes_of_the_other_operand(self):
        """As swapped operands have them. What would be read need not be there: the name alone is wrong."""
        for suffix in INPUT_SUFFIXES:
            for shown in (suffix, suffix.upper()):
                name = "y" + shown
                message = f"{name}: suffix {suffix} means symbols, not soft bits or LLRs; --output-format overrides it"
                self.row(DEMOD, ["x.cf32", name], 2, message)
                self.put(name, OLD)
                self.row(DEMOD, ["x.cf32", name], 2, message)
                self.row(DEMOD, ["-i", "cf32", "x.u8", name], 2, message)
                self.row(DEMOD, ["--sigmf", "x.cf32", name], 2, message)
                self.row(DEMOD, ["-", name], 2, message)
        for suffix in SOFT_BIT_SUFFIXES:
            for shown in (suffix, suffix.upper()):
                name = "z" + shown
                cause = f"suffix {suffix} means soft bits or LLRs, not symbols"
                for program, arguments, option in ((DEMOD, [name, "y"], "input"), (GEN, [name], "output")):
                    message = f"{name}: {cause}; --{option}-format overrides it"
                    self.row(program, arguments, 2, message)
                    self.put(name, OLD)
                    self.row(program, arguments, 2, message)
                self.row(DEMOD, [name, "x.cf32"], 2, f"{name}: {cause}; --input-format overrides it")

    def test_unknown_suffixes(self):
        """Whether the file is there or not; the format would be a guess."""
        symbols = "cf32, cs16, cs8, cf16"  # which softqam-gen writes
        inputs, soft_bits = CHOICES["--input-format"], CHOICES["--output-format"]
        for suffix in UNKNOWN_SUFFIXES:
            for stem in ("y", "none/y", "y.cf32", "y.u8", ".y", "none/../y")[: 1 if QUICK else 6]:
                name, cause = stem + suffix, f"suffix {suffix} is unknown; --"
                name_shown, cause = name.replace("\n", "\\n"), cause.replace("\n", "\\n")
                message = f"{name_shown}: {cause}input-format names the format: {inputs}"
                self.row(DEMOD, [name, "x.u8"], 2, message)
                self.row(DEMOD, ["-o", "u8", name, "-"], 2, message)
                message = f"{name_shown}: {cause}output-format names the format: {soft_bits}"
                self.row(DEMOD, ["x.cf32", name], 2, message)
                self.row(DEMOD, ["-i", "cf32", "-", name], 2, message)
                message = f"{name_shown}: {cause}output-format names the format: {symbols}"
                self.row(GEN, ["--symbols", "1", name], 2, message)
            for name in ("y" + suffix, "y" + suffix.upper()):
                self.put(name, OLD)
                for program, arguments in ((DEMOD, [name, "x.u8"]), (DEMOD, ["x.cf32", name]), (GEN, [name])):
                    self.refused(program, arguments)
        for suffix in (".sigmf-collection", ".sigmf"):
            message = f"y{suffix}: not the name of a recording; OUTPUT.sigmf-meta is"
            self.row(GEN, ["y" + suffix], 2, message)
            self.row(DEMOD, ["x.cf32", "y" + suffix], 2, message)
        cause = "--output-format: cf16 has no datatype in SigMF; choose another"
        self.row(GEN, ["-o", "cf16", "y.sigmf-meta"], 2, cause)
        for name, bits in (("y.sigmf-meta", "y.sigmf-data"), ("y.sigmf-data", "./y.sigmf-meta")):
            self.row(GEN, ["--bits", bits, name], 2, f"--bits: '{bits}' is OUTPUT as well")

    def refused(self, program, arguments):
        """Whatever the message is."""
        BadInputTest.n_rows += 1
        before = self.snapshot()
        result = subprocess.run(
            [program, *arguments], cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        self.assertEqual((result.returncode, result.stdout, result.stderr.count(b"\n")), (2, b"", 1), result.stderr)
        self.assertEqual(self.snapshot(), before)

    def other_names(self, name):
        """Of a file of the directory, which gets them."""
        os.makedirs(self.path("d"), exist_ok=True)
        for link, target in (("linked", "."), ("d/up", "../" + name), ("symlink", name), ("twice", "d/up")):
            if os.path.lexists(self.path(link)):
                os.remove(self.path(link))
            os.symlink(target, self.path(link))
        if os.path.exists(self.path("hard")):
            os.remove(self.path("hard"))
        os.link(self.path(name), self.path("hard"))
        return [name, "./" + name, ".//" + name, "d/../" + name, self.path(name), "linked/" + name, "d/up", "symlink",
                "twice", "hard", f"/proc/self/cwd/{name}"]  # fmt: skip

    def test_outputs_that_are_read(self):
        """Whatever the options, and however many symbols and noise variances there are."""
        self.put("cap.cf32", bytes(range(80)))
        self.put("n0", bytes(40))
        formats, noise = ["-i", "cf32", "-o", "u8"], ["-o", "s8", "--noise-file", "n0"]
        for name in self.other_names("cap.cf32"):
            cause = f"{name}: is INPUT as well; give OUTPUT another name"
            self.row(DEMOD, [*formats, "cap.cf32", name], 2, cause)
            cause = "cap.cf32: is INPUT as well; give OUTPUT another name"
            self.row(DEMOD, [*formats, "--no-sigmf", name, "cap.cf32"], 2, cause)
        for options in (["--shard", "1/2"], ["--verify", "--stats"], ["-q", "--backend", "cpu"]):
            self.row(DEMOD, [*formats, *options, "cap.cf32", "cap.cf32"], 2, cause)
        for name in self.other_names("n0"):
            self.row(DEMOD, [*noise, "x.cf32", name], 2, f"{name}: is --noise-file as well; give OUTPUT another name")
        self.put("cap.u8", bytes(81))
        cause = "cap.u8: is INPUT as well; give OUTPUT another name"
        self.row(DEMOD, ["-i", "cf32", "cap.u8", "cap.u8"], 2, cause)
        self.put("n0", bytes(41))
        self.row(DEMOD, [*noise, "x.cf32", "n0"], 2, "n0: is --noise-file as well; give OUTPUT another name")

    def test_outputs_that_are_read_by_descriptors(self):
        self.put("cap", bytes(range(80)))
        for option in ("-", "/dev/stdin", "/dev/fd/0"):
            cause = "cap: is INPUT as well; give OUTPUT another name"
            self.row_with_streams([option, "cap"], cause, stdin="cap")
            cause = "cap: is --noise-file as well; give OUTPUT another name"
            self.row_with_streams(["-o", "s8", "--noise-file", option, "x.cf32", "cap"], cause, stdin="cap")
        for option, shown in (("-", "standard output"), ("/dev/stdout", "/dev/stdout"), ("/dev/fd/1", "/dev/fd/1")):
            cause = f"{shown}: is INPUT as well; give OUTPUT another name"
            self.row_with_streams(["cap", option], cause, stdout="cap")
            self.row_with_streams(["-", option], cause, stdin="cap", stdout="cap")

    def row_with_streams(self, arguments, message, stdin=os.devnull, stdout=os.devnull):
        """One row of softqam-demod whose standard streams are files."""
        BadInputTest.n_rows += 1
        before = self.snapshot()
        with open(self.path(stdin), "rb") as source, open(self.path(stdout), "ab") as sink, self.subTest(
            arguments=arguments
        ):
            result = subprocess.run(
                [DEMOD, *arguments], cwd=self.directory, stdin=source, stdout=sink, stderr=subprocess.PIPE, check=False
            )
            self.assertEqual((result.stderr.decode(), result.returncode), (f"softqam-demod: {message}\n", 2))
            self.assertEqual(self.snapshot(), before)

    def test_two_outputs_that_are_one(self):
        self.put("y", OLD)
        for name in self.other_names("y"):
            self.row(GEN, ["--bits", "y", name], 2, "--bits: 'y' is OUTPUT as well")
            self.row(GEN, ["--bits", name, "y"], 2, f"--bits: '{name}' is OUTPUT as well")
        os.symlink("new", self.path("dangling"))
        for bits, output in (("new", "dangling"), ("dangling", "linked/new"), ("d/../new", "./new"), ("-", "/dev/stdout")):
            self.row(GEN, ["--bits", bits, output], 2, f"--bits: '{bits}' is OUTPUT as well")
        for meta, data in (("o.sigmf-data", "new"), ("new", "new")):
            for link, target in (("o.sigmf-meta", meta), ("o.sigmf-data", data)):
                os.symlink(target, self.path(link))
            cause = "o.sigmf-meta: is o.sigmf-data as well; give OUTPUT another name"
            self.row(DEMOD, ["--sigmf", "x.cf32", "o"], 2, cause)
            os.remove(self.path("o.sigmf-meta"))
            os.remove(self.path("o.sigmf-data"))

    def as_nobody(self):
        """Options of a process for whom permissions count."""
        if os.geteuid() != 0:
            return {}
        os.chmod(self.temporary.name, 0o755)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            subprocess.run([DEMOD, "-V"], check=True, capture_output=True, **options)
        except (PermissionError, subprocess.CalledProcessError):
            self.skipTest("permissions do not bind root, and nobody else can run the tools")
        return options

    def test_permissions(self):
        nobody = self.as_nobody()
        os.chmod(self.directory, 0o777)
        os.mkdir(self.path("closed"))
        self.put("closed/x", bytes(80))
        self.put("locked", bytes(80))
        os.chmod(self.path("closed"), 0)
        os.chmod(self.path("locked"), 0)
        for name in ("closed/x", "locked"):
            for program, arguments in sum(self.commands(name), []):
                self.row(program, arguments, 1, f"{name}: Permission denied", **nobody)


if __name__ == "__main__":
    bad_input_harness.main()
