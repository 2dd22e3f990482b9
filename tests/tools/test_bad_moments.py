#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that change while they are read, FIFOs whose other end is missing or leaves, signals, and a limit on the size of
files. Called as bad_input_harness.py says.
"""
import os
import resource
import signal
import subprocess
import time

import bad_input_harness
from signal_environment import SIGNAL_ENVIRONMENT
from bad_input_harness import DEMOD, GEN, TIMEOUT, BadInputTest


class BadMoments(BadInputTest):
    def test_limit_on_the_size_of_files(self):
        """As `ulimit -f` sets it: the system's answer would be to kill."""

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))

        self.row(DEMOD, ["--backend", "cpu", "x.cf32", "x.u8"], 1, "x.u8: File too large", preexec_fn=limit)
        self.row(DEMOD, ["--backend", "cpu", "x.cf32", "y.u8"], 1, "y.u8: File too large", preexec_fn=limit)
        self.row(GEN, ["-o", "cf32", "x.u8"], 1, "x.u8: File too large", preexec_fn=limit)
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
            BadInputTest.n_rows += 1
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

    def has_unnamed_file(self, process):
        """Whether a process has made the file that will take the name of OUTPUT."""
        for fd in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                if os.readlink(f"/proc/{process.pid}/fd/{fd}").startswith(os.path.realpath(self.directory) + "/#"):
                    return True
            except OSError:
                pass
        return False

    SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1, signal.SIGALRM,
               signal.SIGSEGV, signal.SIGKILL)  # fmt: skip

    @staticmethod
    def default_signals():
        for number in set(BadMoments.SIGNALS) - {signal.SIGKILL}:
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def test_signals_leave_nothing(self):
        for number in self.SIGNALS:
            BadInputTest.n_rows += 1
            before = self.snapshot()
            with subprocess.Popen(
                [DEMOD, "--backend", "cpu", "-", "x.u8"],
                cwd=self.directory, stdin=subprocess.PIPE, preexec_fn=self.default_signals, env=SIGNAL_ENVIRONMENT,
            ) as process:  # fmt: skip
                self.wait_for(lambda: len(self.snapshot()) > len(before) or self.has_unnamed_file(process))
                process.send_signal(number)
                self.assertEqual(process.wait(TIMEOUT), -number)
            self.assertEqual(self.snapshot(), before)

    def test_fifo_without_the_other_end(self):
        """It waits, as every program does, can be ended, and leaves nothing."""
        os.mkfifo(self.path("f"))
        for program, arguments in sum(self.commands("f"), []):
            BadInputTest.n_rows += 1
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
            BadInputTest.n_rows += 1
            with subprocess.Popen([DEMOD, "f", "y.u8"], cwd=self.directory, stderr=subprocess.PIPE) as process:
                with open(self.path("f"), "wb") as writer:
                    writer.write(data)
                self.assertEqual(process.wait(TIMEOUT), code)
                self.assertEqual(process.stderr.read().decode(), f"softqam-demod: {message}\n" if code else "")
            self.assertEqual(os.path.exists(self.path("y.u8")), code == 0)
            if code == 0:
                os.remove(self.path("y.u8"))


if __name__ == "__main__":
    bad_input_harness.main()
