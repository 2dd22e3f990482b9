#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipes, FIFOs, devices; OUTPUT appears complete or not at all."""
import os
import resource
import signal
import sys
import threading
import time

from signal_environment import SIGNAL_ENVIRONMENT
from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEADLY_SIGNALS, DEMOD, GEN, TIMEOUT, ToolTest, default_signals, main,
)  # fmt: skip


class Streams(ToolTest):
    """Pipes, FIFOs and what is not a regular file."""

    uses_backend = True

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "3000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")

    def test_dribbled_pipe(self):
        process = self.start(DEMOD, "--backend", BACKEND, "-", "y.u8", bufsize=0)
        place = 0
        for i in range(60):
            n = (1, 3, 7, 64, 1001)[i % 5]
            process.stdin.write(self.data[place : place + n])
            place += n
            time.sleep(0.002)
        self.assertNotIn("y.u8", self.files())
        process.stdin.write(self.data[place:])
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(self.read("y.u8"), self.expected)

    def test_pipes_on_both_sides(self):
        self.assertEqual(self.soft_bits("-", data=self.data), self.expected)

    def test_fifos(self):
        os.mkfifo(self.path("in"))
        os.mkfifo(self.path("out"))
        process = self.start(DEMOD, "--backend", BACKEND, "in", "out")
        received = []
        reader = threading.Thread(target=lambda: received.append(self.read("out")))
        reader.start()
        self.write("in", self.data)
        self.assertEqual(process.wait(TIMEOUT), 0)
        reader.join(TIMEOUT)
        self.assertEqual(received, [self.expected])
        self.assertEqual(self.files(), ["in", "out", "x.cf32"])

    def test_stdin_from_the_middle_of_a_file(self):
        with open(self.path("x.cf32"), "rb") as file:
            file.seek(8 * 1000)
            file.flush()
            os.lseek(file.fileno(), 8 * 1000, os.SEEK_SET)
            self.assertEqual(self.soft_bits("-", stdin=file), self.expected[8 * 1000 :])

    def test_dev_null(self):
        self.ok(self.demod("x.cf32", "/dev/null"))
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))
        self.assertEqual(self.soft_bits("/dev/null"), b"")

    def test_dev_full(self):
        self.fails(self.demod("x.cf32", "/dev/full"), 1, "/dev/full: No space left on device")
        with open("/dev/full", "wb") as full:
            result = self.demod("x.cf32", "-", stdout=full)
            self.fails(result, 1, "standard output: No space left on device")
        self.fails(self.gen("/dev/full"), 1, "/dev/full: No space left on device", "softqam-gen")
        self.fails(
            self.gen("--bits", "/dev/full", "y.cf32"), 1, "/dev/full: No space left on device", "softqam-gen"
        )
        self.fails(
            self.gen("--bits", "y.bits", "/dev/full"), 1, "/dev/full: No space left on device", "softqam-gen"
        )
        self.assertEqual(self.files(), ["x.cf32"])

    def test_closed_standard_streams(self):
        """A file that takes the descriptor of a closed stream must not be written or read in its place."""
        result = self.demod("x.cf32", "-", stdout=None, preexec_fn=lambda: os.close(1))
        self.fails(result, 1, "standard output: Bad file descriptor")
        result = self.demod("-", "y.u8", stdin=None, preexec_fn=lambda: os.close(0))
        self.fails(result, 1, "standard input: Bad file descriptor")
        self.assertEqual(self.files(), ["x.cf32"])
        # The output would be the first to get descriptor 2, and messages with it.
        progress = ["--progress", "always"]
        result = self.demod(*progress, "-", "y.u8", data=self.data, stderr=None, preexec_fn=lambda: os.close(2))
        self.assertEqual((result.code, result.out), (0, b""))
        self.assertEqual(self.read("y.u8"), self.expected)
        result = self.demod(
            "x.cf32", "z.u8", stdin=None, stdout=None, stderr=None, preexec_fn=lambda: os.closerange(0, 3)
        )
        self.assertEqual(result.code, 0)
        self.assertEqual(self.read("z.u8"), self.expected)


class Files(ToolTest):
    """OUTPUT appears complete or not at all."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "300", "--snr-db", "20")
        self.expected = self.soft_bits("x.cf32")

    def unchanged(self, result, code, message, program="softqam-demod"):
        """The tool failed, x.u8 is as it was, and nothing else is there."""
        self.fails(result, code, message, program)
        self.assertEqual(self.files(), ["x.cf32", "x.u8"])
        self.assertEqual(self.read("x.u8"), b"old")

    def test_empty_input(self):
        self.write("empty", b"")
        self.ok(self.demod("empty", "empty.u8"))
        self.assertEqual(self.read("empty.u8"), b"")
        self.assertEqual(self.ok(self.demod("-", "-")).out, b"")

    def test_truncated_input(self):
        text = "not a whole number of symbols: {} left over (a symbol has {})"
        for name, size, n in (("x.cf32", 8, 1), ("x.cf32", 8, 7), ("x.cs16", 4, 3), ("x.cs8", 2, 1)):
            for whole in (0, 1, 1000):
                self.write(name, bytes(whole * size + n))
                left = f"{n} byte{'' if n == 1 else 's'}"
                self.fails(self.demod(name, "y.u8"), 1, f"{name}: " + text.format(left, size))
                result = self.demod("-i", name[2:], "-", "y.u8", data=bytes(whole * size + n))
                self.fails(result, 1, "standard input: " + text.format(left, size))
                self.assertNotIn("y.u8", self.files())
                self.assertFalse([f for f in self.files() if f.startswith(".")])

    def test_truncated_after_blocks(self):
        data = bytes(8 * BLOCK_SYMBOLS + 5)
        self.write("x.u8", b"old")
        self.unchanged(
            self.demod("-", "x.u8", data=data), 1,
            "standard input: not a whole number of symbols: 5 bytes left over (a symbol has 8)",
        )  # fmt: skip

    def test_missing_input(self):
        self.write("x.u8", b"old")
        self.unchanged(self.demod("missing.cf32", "x.u8"), 1, "missing.cf32: No such file or directory")
        self.unchanged(self.demod("", "x.u8"), 1, "'': No such file or directory")
        self.unchanged(self.demod("x.cf32/y", "x.u8"), 1, "x.cf32/y: Not a directory")

    def test_directory(self):
        self.fails(self.demod(".", "y.u8"), 1, ".: Is a directory")
        self.fails(self.demod("x.cf32", "."), 1, ".: Is a directory")
        self.fails(self.gen("."), 1, ".: Is a directory", "softqam-gen")
        self.assertEqual(self.files(), ["x.cf32"])

    def test_output_that_cannot_be(self):
        self.fails(self.demod("x.cf32", "none/y.u8"), 1, "none/y.u8: No such file or directory")
        self.fails(self.demod("x.cf32", "none/"), 1, "none/: No such file or directory")
        self.fails(self.demod("x.cf32", ""), 1, "'': No such file or directory")
        self.fails(self.demod("x.cf32", "x.cf32/y.u8"), 1, "x.cf32/y.u8: Not a directory")
        too_long = 256 * "y"
        self.fails(self.demod("x.cf32", too_long), 1, too_long + ": File name too long")
        self.assertEqual(self.files(), ["x.cf32"])

    def test_longest_name(self):
        name = 252 * "y" + ".u8"
        self.ok(self.demod("x.cf32", name))
        self.assertEqual(self.read(name), self.expected)

    def test_control_characters_in_names(self):
        self.fails(self.demod("a\nb\x1b[1m\x7f", "y.u8"), 1, "a\\nb\\x1b[1m\\x7f: No such file or directory")
        self.fails(self.demod("\u00fc\u20ac", "y.u8"), 1, "\u00fc\u20ac: No such file or directory")

    def as_nobody(self):
        """Options of a process for whom permissions count."""
        if os.geteuid() != 0:
            return {}
        os.chmod(self.directory, 0o755)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            self.assertEqual(self.run_tool(DEMOD, "-V", **options).code, 0)
        except (PermissionError, AssertionError):
            self.skipTest("permissions do not bind root, and nobody else can run the tools")
        return options

    def test_permissions(self):
        nobody = self.as_nobody()
        self.write("locked.cf32", b"")
        os.chmod(self.path("locked.cf32"), 0)
        self.fails(self.demod("locked.cf32", "y.u8", **nobody), 1, "locked.cf32: Permission denied")
        os.mkdir(self.path("closed"))
        os.chmod(self.path("closed"), 0o555)
        self.fails(self.demod("x.cf32", "closed/y.u8", **nobody), 1, "closed/y.u8: no file can be made in its folder: Permission denied")
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        self.write("open/y.u8", b"old")
        os.chmod(self.path("open/y.u8"), 0o444)
        # The directory would allow it to be replaced, but its owner did not.
        self.fails(self.demod("x.cf32", "open/y.u8", **nobody), 1, "open/y.u8: Permission denied")
        self.assertEqual(self.read("open/y.u8"), b"old")
        self.assertEqual(os.listdir(self.path("open")), ["y.u8"])

    def test_mode(self):
        for mask, mode in ((0o022, 0o644), (0o027, 0o640), (0, 0o666)):
            self.ok(self.demod("x.cf32", "y.u8", umask=mask))
            self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, mode)
            os.unlink(self.path("y.u8"))
        for mode in (0o600, 0o664, 0o755):
            self.write("y.u8", b"old")
            os.chmod(self.path("y.u8"), mode)
            self.ok(self.demod("x.cf32", "y.u8", umask=0o077))
            self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, mode)
            self.assertEqual(self.read("y.u8"), self.expected)

    def test_replaced_at_once(self):
        """Who has the old file open keeps the old bytes: it is a new file that takes the name."""
        self.write("y.u8", b"old")
        with open(self.path("y.u8"), "rb") as old:
            self.ok(self.demod("x.cf32", "y.u8"))
            self.assertEqual(old.read(), b"old")
        self.assertEqual(self.read("y.u8"), self.expected)
        self.assertEqual(self.files(), ["x.cf32", "y.u8"])

    def test_symlinks(self):
        os.mkdir(self.path("d"))
        self.write("d/real", b"old")
        os.symlink("d/link2", self.path("link1"))
        os.symlink("real", self.path("d/link2"))
        os.symlink("d/fresh", self.path("dangling"))
        os.symlink(self.path("d/absolute"), self.path("to-absolute"))
        for link, target in (("link1", "d/real"), ("dangling", "d/fresh"), ("to-absolute", "d/absolute")):
            self.ok(self.demod("x.cf32", link))
            self.assertEqual(self.read(target), self.expected)
            self.assertTrue(os.path.islink(self.path(link)))
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["absolute", "fresh", "link2", "real"])
        os.symlink("loop", self.path("loop"))
        self.fails(self.demod("x.cf32", "loop"), 1, "loop: Too many levels of symbolic links")
        os.symlink("/dev/null", self.path("null"))
        self.ok(self.demod("x.cf32", "null"))
        self.assertTrue(os.path.islink(self.path("null")))

    def test_suffix_of_the_other_operand(self):
        """With the format named it is a name like any other."""
        for name in ("y.cf32", "y.CS16"):
            self.ok(self.demod("-o", "u8", "x.cf32", name))
            self.assertEqual(self.read(name), self.expected)
        for name in ("z.u8", "z.S16", "z.F32"):
            self.write(name, self.read("x.cf32"))
            self.assertEqual(self.soft_bits("-i", "cf32", name), self.expected)
            self.ok(self.gen("-o", "cf32", "--symbols", "300", "--snr-db", "20", name))
            self.assertEqual(self.read(name), self.read("x.cf32"))

    def test_unknown_suffix(self):
        """The same, and none is a name whose dots are elsewhere."""
        data = self.read("x.cf32")
        os.mkdir(self.path("d.cu8"))
        for name in ("y.cu8", "y.wav", "y.", ".y", "..y", ".s8", "..cs16", "d.cu8/y", "y.sigmf-data"):
            self.write(name, data)
            self.assertEqual(self.soft_bits("-i", "cf32", name), self.expected)
            self.ok(self.demod("-o", "u8", "x.cf32", name))
            self.assertEqual(self.read(name), self.expected)
            self.ok(self.gen("-o", "cf32", "--symbols", "300", "--snr-db", "20", name))
            self.assertEqual(self.read(name), data)
            if name not in ("y.cu8", "y.wav", "y.sigmf-data"):
                self.assertEqual(self.soft_bits(name), self.expected)
                self.ok(self.gen("--symbols", "300", "--snr-db", "20", name))
                self.assertEqual(self.read(name), data)
                self.ok(self.demod("x.cf32", name))
                self.assertEqual(self.read(name), self.expected)

    def test_input_and_output_are_one_device(self):
        """Nothing is lost there."""
        self.ok(self.demod("/dev/null", "/dev/null"))
        self.ok(self.gen("--symbols", "10", "--bits", "/dev/null", "/dev/null"))
        with open("/dev/null", "r+b") as null:
            self.ok(self.demod("-", "-", stdin=null, stdout=null))

    def test_bits_and_output_are_one(self):
        os.mkdir(self.path("d"))
        for bits, output in (("y", "y"), ("./y", "y"), ("d/../y", "y"), ("x.cf32", "x.cf32"), ("-", "-")):
            result = self.gen("--symbols", "10", "--bits", bits, output)
            self.fails(result, 2, f"--bits: '{bits}' is OUTPUT as well", "softqam-gen")
        self.assertEqual(self.files(), ["d", "x.cf32"])
        self.ok(self.gen("--symbols", "10", "--bits", "d/y", "y"))

    def test_neither_file_without_the_other(self):
        self.write("x.u8", b"old")
        self.unchanged(
            self.gen("-o", "cf32", "--bits", "none/b", "x.u8"), 1, "none/b: No such file or directory", "softqam-gen"
        )
        self.unchanged(
            self.gen("--bits", "x.u8", "none/b"), 1, "none/b: No such file or directory", "softqam-gen"
        )
        self.unchanged(self.gen("--bits", "x.u8", "/dev/full"), 1, "/dev/full: No space left on device", "softqam-gen")

    def test_second_file_cannot_take_its_name(self):
        """The first one is taken back, unless it has replaced another."""
        for output in ("y", "x.cf32"):
            process = self.start(GEN, "-q", "--symbols", "5000000", "--bits", "b", "-o", "cs8", output)
            self.wait_for_temporary(2, process)
            os.mkdir(self.path("b"))
            self.assertEqual(process.stderr.read(), b"softqam-gen: b: Is a directory\n")
            self.assertEqual(process.wait(TIMEOUT), 1)
            os.rmdir(self.path("b"))
            self.assertEqual(self.files(), ["x.cf32"])

    def test_full_file_system(self):
        """A limit on the size of files stands for a disk that fills up half way."""
        self.make("x.cf32", "--symbols", "300000")
        self.write("x.u8", b"old")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        self.unchanged(self.demod("x.cf32", "x.u8", preexec_fn=limit), 1, "x.u8: File too large")

    def test_signals(self):
        self.write("x.u8", b"old")
        for number in DEADLY_SIGNALS:
            process = self.start(
                DEMOD, "-", "x.u8", bufsize=0, preexec_fn=default_signals, env=SIGNAL_ENVIRONMENT
            )
            process.stdin.write(bytes(8 * 1000))
            self.wait_for_temporary(1, process)
            process.send_signal(number)
            self.assertEqual(process.wait(TIMEOUT), -number)
            self.assertEqual(self.files(), ["x.cf32", "x.u8"])
            self.assertEqual(self.read("x.u8"), b"old")

    def test_signals_amid_work(self):
        self.write("x.u8", b"old")
        for delay in (0, 0.01, 0.1):
            process = self.start(
                GEN, "--symbols", "1000000000000", "-o", "cf32", "--bits", "b", "x.u8", preexec_fn=default_signals
            )
            self.wait_for_temporary(2, process)
            time.sleep(delay)
            process.terminate()
            self.assertEqual(process.wait(TIMEOUT), -signal.SIGTERM)
            self.assertEqual(self.files(), ["x.cf32", "x.u8"])
            self.assertEqual(self.read("x.u8"), b"old")

    def test_ignored_signal(self):
        """nohup softqam-demod ..."""
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.start(DEMOD, "-", "y.u8", bufsize=0, preexec_fn=ignore)
        self.wait_for_temporary(1, process)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(self.read("x.cf32"))
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(self.read("y.u8"), self.expected)


if __name__ == "__main__":
    sys.exit(main())
