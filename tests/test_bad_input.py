#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is wrong with a command, a file or its name, by the hundred, as tables: each row with the exit status and the one
line that must come. Whatever the row, standard output stays empty, no file appears or changes, and nothing of the input
is taken for a format, a command or a line end.

    test_bad_input.py --demod PATH --gen PATH [TEST...]
"""
import argparse
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

DEMOD = GEN = ""
TIMEOUT = 60
SYMBOL_NBYTES = {"cf32": 8, "cs16": 4, "cs8": 2, "cf16": 4}
OLD = b"what was there before"

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
    "--backend": "auto, cpu, cuda",
    "--progress": "auto, always, never",
    "--input-format": "cf32, cs16, cs8, cf16",
    "--output-format": "u8, s8, f16, f32",
    "--sign": "0, 1",
}
COUNTS = {
    "--threads": (1, 1024),
    "--streams": (1, 64),
    "--chunk": (1, 1 << 28),
    "--llr-limit": (1, 127),
}
REALS = {"--snr-db": "-200 to 200", "--llr-scale": "0.0009765625 to 1048576"}


def not_one_of(option, shown, names):
    return f"{option}: '{shown}' is not one of {names}"


def not_a_count(option, shown, ends):
    return f"{option}: '{shown}' is not a whole number from {ends[0]} to {ends[1]}"


class BadInput(unittest.TestCase):
    n_rows = 0

    @classmethod
    def tearDownClass(cls):
        print(f"{BadInput.n_rows} rows so far", flush=True)

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.directory = os.path.join(self.temporary.name, "work")
        os.mkdir(self.directory)
        self.put("x.cf32", bytes(80))
        self.put("x.u8", OLD)

    def path(self, name):
        return os.path.join(self.directory, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def snapshot(self):
        """Every name below the directory, with what is behind it."""
        found = {}
        for directory, directories, files in os.walk(self.directory):
            for name in directories + files:
                path = os.path.join(directory, name)
                content = None
                if os.path.isfile(path) and os.access(path, os.R_OK):
                    with open(path, "rb") as file:
                        content = file.read()
                found[path] = content
        return found

    def row(self, program, arguments, code, message, data=b"", **options):
        """One row: the message without the program's name before it."""
        BadInput.n_rows += 1
        before = self.snapshot()
        with self.subTest(program=os.path.basename(program), arguments=[a[:60] for a in arguments]):
            result = subprocess.run(
                [os.fsencode(argument) for argument in [program, *arguments]],
                cwd=self.directory,
                input=data,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
                **options,
            )
            expected = os.fsencode(f"{os.path.basename(program)}: {message}\n")
            self.assertEqual((result.stderr, result.returncode, result.stdout), (expected, code, b""))
            self.assertEqual(self.snapshot(), before)

    # Options.

    def test_hostile_values(self):
        for value, shown in HOSTILE:
            shown = value if shown is None else shown
            for option, names in CHOICES.items():
                self.row(DEMOD, [option, value, "x.cf32", "x.u8"], 2, not_one_of(option, shown, names))
            for option, ends in COUNTS.items():
                self.row(DEMOD, [option, value, "x.cf32", "x.u8"], 2, not_a_count(option, shown, ends))
            for option, ends in REALS.items():
                message = f"{option}: '{shown}' is not a number from {ends}"
                self.row(DEMOD, [option, value, "x.cf32", "x.u8"], 2, message)
            ratio = f"'{shown}' is not a positive number or fraction (such as 0.25 or 1/32768)"
            self.row(DEMOD, ["--input-scale", value, "x.cf32", "x.u8"], 2, f"--input-scale: {ratio}")
            self.row(GEN, ["--output-scale", value, "x.u8"], 2, f"--output-scale: {ratio}")
            for option, top in (("--symbols", (1 << 60) - 1), ("--seed", (1 << 64) - 1)):
                self.row(GEN, [option, value, "x.u8"], 2, not_a_count(option, shown, (0, top)))

    def test_counts_at_the_ends(self):
        """One too many and one too few, and what wraps to something that would do."""
        for option, (low, high) in COUNTS.items():
            for n in (low - 1, high + 1, (1 << 32) + low, (1 << 64) + low, (1 << 64) - 1, -low):
                self.row(DEMOD, [option, str(n), "x.cf32", "x.u8"], 2, not_a_count(option, n, (low, high)))
        for option, high in (("--symbols", (1 << 60) - 1), ("--seed", (1 << 64) - 1)):
            for n in (-1, high + 1, (1 << 64) + 1, 10 * high):
                self.row(GEN, [option, str(n), "x.u8"], 2, not_a_count(option, n, (0, high)))

    def test_hostile_options(self):
        for value, shown in HOSTILE[:10]:
            self.row(DEMOD, ["--" + value, "x.cf32", "x.u8"], 2, f"--{shown}: no such option; --help lists them")
            text = f"--verify: takes no value, but '--verify={shown}' gives it one"
            self.row(DEMOD, ["--verify=" + value, "x.cf32", "x.u8"], 2, text)
            self.row(DEMOD, [value], 2, "needs 2 operands (INPUT and OUTPUT), but got 1; --help explains")
            self.row(GEN, 3 * [value], 2, "needs 1 operand (OUTPUT), but got 3; --help explains")
        for letter, shown in (("%", "%"), ("\n", "\\n"), ("\x1b", "\\x1b"), ("n", "n")):
            self.row(DEMOD, ["-" + letter, "x.cf32", "x.u8"], 2, f"-{shown}: no such option; --help lists them")

    def test_long_values(self):
        """A line has an end, whatever it is about."""
        for value in (100000 * "9", 60000 * "%s", 100000 * "\n"):
            for arguments in (["--threads", value, "x.cf32", "x.u8"], ["--" + value], [value, "x.u8"], ["x.cf32", value]):
                BadInput.n_rows += 1
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

    # Names.

    def commands(self, name):
        """A name in each place where a file is read, then in each where one is written."""
        readers = [
            (DEMOD, [name, "x.u8"]),
            (DEMOD, ["--noise-file", name, "x.cf32", "x.s8"]),
        ]
        writers = [
            (DEMOD, ["x.cf32", name]),
            (GEN, ["-q", "--symbols", "1", name]),
            (GEN, ["-q", "--symbols", "1", "--bits", name, "y.cf32"]),
        ]
        return readers, writers

    def test_names_of_what_is_not_there(self):
        readers, writers = self.commands("none/x")
        for program, arguments in readers + writers:
            self.row(program, arguments, 1, "none/x: No such file or directory")
        for name in ("missing", "x.cf32\n", "X.CF32", "x.cf32 "):
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
            BadInput.n_rows += 1
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

    # Recordings: x.sigmf-data with metadata.

    def put_recording(self, captures=(), **members):
        """The members have __ for a colon in their names."""
        members = {"core__datatype": "cf32_le", **members}
        document = {"global": {k.replace("__", ":"): v for k, v in members.items()}, "captures": list(captures)}
        text = json.dumps(document, ensure_ascii=False)
        self.put("x.sigmf-meta", text.encode("utf-8", "surrogateescape"))
        self.put("x.sigmf-data", bytes(80))

    def recording_row(self, code, message):
        for name in ("x.sigmf-meta", "x.sigmf-data"):
            self.row(DEMOD, [name, "x.u8"], code, message)

    def test_hostile_metadata(self):
        names = "cf32_le, cf32_be, ci16_le, ci16_be, ci8"
        for value, shown in HOSTILE[:10]:
            self.put_recording(core__datatype=value)
            self.recording_row(1, f"x.sigmf-meta: core:datatype: '{shown}' is not one of {names}")
            self.put_recording(core__dataset=value)
            cause = f"{shown}: No such file or directory"
            elsewhere = "x.sigmf-meta: core:dataset: not the name of a file beside it"
            self.recording_row(1, elsewhere if "/" in value else cause)
            self.put_recording(core__sha512=value)
            self.recording_row(1, "x.sigmf-meta: core:sha512: not a string of 128 digits")
        for value in ("", ".", ".."):
            self.put_recording(core__dataset=value)
            message = ": Is a directory" if value else "x.sigmf-meta: core:dataset: not the name of a file beside it"
            self.recording_row(1, value + message)
        self.put_recording(core__dataset=5000 * "y")
        self.recording_row(1, "x.sigmf-meta: core:dataset: not the name of a file beside it")
        self.assertFalse(os.path.exists(self.path("pwned")))

    def test_metadata_with_counts_at_the_ends(self):
        """What no file holds, and what no count is; sums and products of them have no room to overflow."""
        top = 1 << 53
        for n in (-1, 0.5, top + 2, 1 << 63, 1 << 64, 10**400, "1", None, True, [], {}):
            for name in ("core__trailing_bytes", "core__num_channels"):
                self.put_recording(**{name: n})
                self.recording_row(1, f"x.sigmf-meta: {name.replace('__', ':')}: not a whole number")
            self.put_recording([{"core:header_bytes": n}])
            self.recording_row(1, "x.sigmf-meta: core:header_bytes: not a whole number")
        for header, trailer in ((81, 0), (0, 81), (41, 40), (top, 0), (0, top), (top, top)):
            self.put_recording([{"core:header_bytes": header}], core__trailing_bytes=trailer)
            cause = f"shorter than the {header + trailer} bytes around the samples that x.sigmf-meta tells of"
            self.recording_row(1, f"x.sigmf-data: {cause}")
        for scale in (0, -1, 10**400, 1e39, 1e-39, "1", None, True):
            self.put_recording(softqam__input_scale=scale)
            self.recording_row(1, "x.sigmf-meta: softqam:input_scale: not a positive number")

    def test_metadata_that_are_none(self):
        self.put_recording()
        for text, cause in (
            (b"", "line 1: not JSON"), (b"\n\n{", "line 3: not JSON"), (b"\0", "line 1: not JSON"),
            (b'{"global":{}}x', "line 1: not JSON"), (b'{"global":{"a":"\xff\\x"}}', "line 1: not JSON"),
            (5000 * b"[", "line 1: not JSON"), (500 * b"[" + 500 * b"]", "not SigMF: there is no object 'global'"),
            (b"7", "not SigMF: there is no object 'global'"), (b'"global"', "not SigMF: there is no object 'global'"),
            (b'{"Global":{"core:datatype":"ci8"}}', "not SigMF: there is no object 'global'"),
            (b'{"global":{"CORE:datatype":"ci8"}}', "core:datatype: missing"),
            (os.urandom(5000) + b"\n]", None),
        ):  # fmt: skip
            self.put("x.sigmf-meta", text)
            if cause:
                self.recording_row(1, f"x.sigmf-meta: {cause}")
            else:
                result = subprocess.run([DEMOD, "x", "x.u8"], cwd=self.directory, capture_output=True, check=False)
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, rb"\Asoftqam-demod: x.sigmf-meta: [^\n]+\n\Z")
        with open(self.path("x.sigmf-meta"), "wb") as file:
            file.truncate((1 << 30) + 1)
        message = "softqam-demod: x.sigmf-meta: not a file of metadata: over 1 GiB\n"
        result = subprocess.run([DEMOD, "x", "x.u8"], cwd=self.directory, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stderr.decode()), (1, message))

    def test_recordings_of_what_is_no_file(self):
        self.put_recording()
        os.remove(self.path("x.sigmf-meta"))
        os.mkdir(self.path("x.sigmf-meta"))
        self.recording_row(1, "x.sigmf-meta: not a file of metadata: no regular file")
        os.rmdir(self.path("x.sigmf-meta"))
        self.put_recording()
        os.remove(self.path("x.sigmf-data"))
        self.recording_row(1, "x.sigmf-data: No such file or directory")
        os.mkdir(self.path("x.sigmf-data"))
        self.recording_row(1, "x.sigmf-data: Is a directory")
        os.rmdir(self.path("x.sigmf-data"))
        self.put_recording()
        os.mkdir(self.path("y.sigmf-meta"))
        self.row(DEMOD, ["x", "y"], 1, "y.sigmf-meta: Is a directory")
        os.mkdir(self.path("z.sigmf-data"))
        self.row(DEMOD, ["x", "z"], 1, "z.sigmf-data: Is a directory")

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

    # Files that change, and the system's limits.

    def test_limit_on_the_size_of_files(self):
        """As `ulimit -f` sets it: the system's answer would be to kill."""

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))

        self.row(DEMOD, ["--backend", "cpu", "x.cf32", "x.u8"], 1, "x.u8: File too large", preexec_fn=limit)
        self.row(DEMOD, ["--backend", "cpu", "x.cf32", "y.u8"], 1, "y.u8: File too large", preexec_fn=limit)
        self.row(GEN, ["x.u8"], 1, "x.u8: File too large", preexec_fn=limit)
        self.row(GEN, ["--bits", "x.u8", "y.cf32"], 1, "y.cf32: File too large", preexec_fn=limit)

    def has_open(self, process, name):
        """Whether a process has a file of the directory open."""
        for fd in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                if os.readlink(f"/proc/{process.pid}/fd/{fd}") == os.path.realpath(self.path(name)):
                    return True
            except OSError:
                pass
        return False

    def test_files_that_are_truncated_while_they_are_read(self):
        """Until somebody reads the FIFO, which is opened after the files, nothing of them is read."""
        os.mkfifo(self.path("out"))
        shrunk = "became shorter while it was read: {} bytes, but there were {}"
        self.put("n0", bytes(40))
        for name, n, arguments, message in (
            ("x.cf32", 24, ["x.cf32"], "x.cf32: " + shrunk.format(24, 80)),
            ("x.cf32", 29, ["x.cf32"], "x.cf32: " + shrunk.format(29, 80)),
            ("x.cf32", 0, ["x.cf32"], "x.cf32: " + shrunk.format(0, 80)),
            ("x.cf32", 24, ["--noise-var", "0.1", "-o", "s8", "x.cf32"], "x.cf32: " + shrunk.format(24, 80)),
            ("n0", 12, ["--noise-file", "n0", "-o", "s8", "x.cf32"], "n0: " + shrunk.format(12, 40)),
            ("x.sigmf-data", 24, ["x.sigmf-meta"], "x.sigmf-data: " + shrunk.format(24, 80)),
            ("x.sigmf-data", 24, ["y.sigmf-meta"], "x.sigmf-data: " + shrunk.format(16, 64)),
        ):
            BadInput.n_rows += 1
            self.put_recording([{"core:header_bytes": 8}], core__trailing_bytes=8, core__dataset="x.sigmf-data")
            os.rename(self.path("x.sigmf-meta"), self.path("y.sigmf-meta"))
            self.put_recording()
            self.put("x.cf32", bytes(80))
            with self.subTest(name=name, n=n, arguments=arguments), subprocess.Popen(
                [DEMOD, "--backend", "cpu", *arguments, "out"], cwd=self.directory, stderr=subprocess.PIPE
            ) as process:
                self.wait_for(lambda: self.has_open(process, name))
                time.sleep(0.05)
                os.truncate(self.path(name), n)
                with open(self.path("out"), "rb") as out:
                    out.read()
                self.assertEqual(process.wait(TIMEOUT), 1)
                self.assertEqual(process.stderr.read().decode(), f"softqam-demod: {message}\n")

    def wait_for(self, condition):
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)

    @staticmethod
    def default_signals():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def test_signals_leave_nothing(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU):
            BadInput.n_rows += 1
            before = self.snapshot()
            with subprocess.Popen(
                [DEMOD, "--backend", "cpu", "-", "x.u8"],
                cwd=self.directory, stdin=subprocess.PIPE, preexec_fn=self.default_signals,
            ) as process:  # fmt: skip
                self.wait_for(lambda: len(self.snapshot()) > len(before))
                process.send_signal(number)
                self.assertEqual(process.wait(TIMEOUT), -number)
            self.assertEqual(self.snapshot(), before)

    def test_fifo_without_the_other_end(self):
        """It waits, as every program does, can be ended, and leaves nothing."""
        os.mkfifo(self.path("f"))
        for program, arguments in sum(self.commands("f"), []):
            BadInput.n_rows += 1
            before = self.snapshot()
            with subprocess.Popen(
                [program, *arguments], cwd=self.directory, preexec_fn=self.default_signals, stderr=subprocess.PIPE
            ) as process:
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(0.3)
                process.terminate()
                self.assertEqual(process.wait(TIMEOUT), -signal.SIGTERM)
                self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(self.snapshot(), before)

    def test_fifo_whose_writer_leaves(self):
        """Nothing, or half a symbol, came."""
        os.mkfifo(self.path("f"))
        cause = "f: not a whole number of symbols: 3 bytes left over (a symbol has 8)"
        for data, code, message in ((b"", 0, ""), (bytes(83), 1, cause)):
            BadInput.n_rows += 1
            with subprocess.Popen([DEMOD, "f", "y.u8"], cwd=self.directory, stderr=subprocess.PIPE) as process:
                with open(self.path("f"), "wb") as writer:
                    writer.write(data)
                self.assertEqual(process.wait(TIMEOUT), code)
                self.assertEqual(process.stderr.read().decode(), f"softqam-demod: {message}\n" if code else "")
            self.assertEqual(os.path.exists(self.path("y.u8")), code == 0)
            if code == 0:
                os.remove(self.path("y.u8"))


def main():
    global DEMOD, GEN
    parser = argparse.ArgumentParser()
    parser.add_argument("--demod", required=True)
    parser.add_argument("--gen", required=True)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    DEMOD, GEN = os.path.abspath(arguments.demod), os.path.abspath(arguments.gen)
    unittest.main(argv=[sys.argv[0], *arguments.tests], verbosity=2)


if __name__ == "__main__":
    main()
