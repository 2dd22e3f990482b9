#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipes, FIFOs, devices, descriptors; OUTPUT appears complete or not at all; what it replaces is kept; signals."""
import os
import signal
import struct
import sys
import threading
import time

from environments import SIGNAL_ENVIRONMENT
from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, BOTH_DEMODS, DEADLY_SIGNALS, DEMOD, ENVIRONMENT, GEN, TIMEOUT, ToolTest, default_signals, limit_file_size, main,
)  # fmt: skip


class FileTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "3000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")

    def start_demod(self, *arguments, **options):
        return self.start(DEMOD, "--backend", BACKEND, *arguments, bufsize=0, **options)


class Streams(FileTest):
    """Pipes, FIFOs and what is not a regular file."""

    uses_backend = True

    def test_fifos(self):
        os.mkfifo(self.path("in"))
        os.mkfifo(self.path("out"))
        process = self.start_demod("in", "out")
        received = []
        reader = threading.Thread(target=lambda: received.append(self.read("out")))
        reader.start()
        self.write("in", self.data)
        self.assertEqual(process.wait(TIMEOUT), 0)
        reader.join(TIMEOUT)
        self.assertEqual((received, self.files()), ([self.expected], ["in", "out", "x.cf32"]))

    def test_fifo_without_the_other_end(self):
        """It waits, as every program does, can be ended, and leaves nothing."""
        os.mkfifo(self.path("f"))
        for program, *arguments in ((DEMOD, "f", "y.u8"), (DEMOD, "--noise-file", "f", "x.cf32", "y.s8"), (DEMOD, "x.cf32", "f"),
                                    (GEN, "f"), (GEN, "--bits", "f", "y.cf32")):  # fmt: skip
            process = self.start(program, *arguments, preexec_fn=default_signals)
            time.sleep(0.2)
            self.assertIsNone(process.poll())
            process.terminate()
            self.assertEqual((process.wait(TIMEOUT), process.stderr.read(), self.files()), (-signal.SIGTERM, b"", ["f", "x.cf32"]))

    def test_devices(self):
        """Nothing is lost where one device is read and written."""
        self.ok(self.demod("x.cf32", "/dev/null"))
        self.assertFalse(os.path.isfile("/dev/null"))
        self.assertEqual(self.soft_bits("/dev/null"), b"")
        self.assertEqual(self.soft_bits("-"), b"")
        self.ok(self.demod("/dev/null", "/dev/null"))
        self.ok(self.gen("--symbols", "10", "--bits", "/dev/null", "/dev/null"))
        with open("/dev/null", "r+b") as null:
            self.ok(self.demod("-", "-", stdin=null, stdout=null))
        with open("/dev/full", "wb") as full:
            self.fails(self.demod("x.cf32", "-", stdout=full), 1, "standard output: No space left on device")
        self.refuses(GEN, ["--bits", "y.bits", "/dev/full"], 1, "/dev/full: No space left on device")

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
        self.assertEqual((result.code, result.out, self.read("y.u8")), (0, b"", self.expected))
        result = self.demod("x.cf32", "z.u8", stdin=None, stdout=None, stderr=None, preexec_fn=lambda: os.closerange(0, 3))
        self.assertEqual((result.code, self.read("z.u8")), (0, self.expected))


class Descriptors(FileTest):
    """/dev/stdin and its like are the descriptor, with its position."""

    def test_input(self):
        for name in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            self.assertEqual(self.soft_bits(name, data=self.data), self.expected)
            with open(self.path("x.cf32"), "rb") as file:
                os.lseek(file.fileno(), 8 * 1000, os.SEEK_SET)
                self.assertEqual(self.soft_bits(name, stdin=file), self.expected[8 * 1000 :])
        with open(self.path("x.cf32"), "rb") as file:
            fd = file.fileno()
            os.lseek(fd, 8 * 2000, os.SEEK_SET)
            self.assertEqual(self.soft_bits(f"/dev/fd/{fd}", pass_fds=[fd]), self.expected[8 * 2000 :])

    def test_output(self):
        """What a shell has appended to is still there."""
        for name in ("/dev/stdout", "/dev/fd/1", "-"):
            self.write("y", b"old")
            with open(self.path("y"), "ab") as file:
                self.ok(self.demod("x.cf32", name, stdout=file))
            self.assertEqual((self.read("y"), self.files()), (b"old" + self.expected, ["x.cf32", "y"]))


class Outputs(FileTest):
    """OUTPUT appears complete or not at all."""

    def setUp(self):
        super().setUp()
        self.write("x.u8", b"old")

    def test_names(self):
        """The longest; dots that make no suffix; with the format named, suffixes of the other operand and unknown ones."""
        os.mkdir(self.path("d.cu8"))
        plain = [252 * "y" + ".u8", "y.", ".y", "..y", ".s8", "..cs16", "d.cu8/y"]
        for name in (*plain, "y.cf32", "y.CS16", "z.u8", "z.F32", "y.cu8", "y.wav", "y.sigmf-data"):
            for options in ([], ["-o", "u8"]) if name in plain else (["-o", "u8"],):
                self.ok(self.demod(*options, "x.cf32", name))
                self.assertEqual(self.read(name), self.expected)
            for options in ([], ["-o", "cf32"]) if name in plain[1:] else (["-o", "cf32"],):
                self.ok(self.gen(*options, "--symbols", "3000", "--snr-db", "20", name))
                if name != "y.sigmf-data":
                    self.assertEqual(self.read(name), self.data)
                self.assertEqual(self.soft_bits("-i", "cf32", name), self.expected)
            if name in plain[1:]:
                self.assertEqual(self.soft_bits(name), self.expected)

    def test_failures(self):
        """Before anything is written, after blocks, at a limit, where another output cannot be made or has another name."""
        half = bytes(8 * BLOCK_SYMBOLS + 5)
        whole = "standard input: not a whole number of symbols: 5 bytes left over (a symbol has 8)"
        self.refuses(DEMOD, ["-", "x.u8"], 1, whole, data=half)
        limit = limit_file_size(20000)
        for program, arguments, message in (
            (DEMOD, ["x.cf32", "x.u8"], "x.u8: File too large"), (DEMOD, ["x.cf32", "y.u8"], "y.u8: File too large"),
            (GEN, ["-o", "cf32", "x.u8"], "x.u8: File too large"), (GEN, ["--bits", "x.u8", "y.cf32"], "y.cf32: File too large"),
        ):  # fmt: skip
            self.refuses(program, arguments, 1, message, **limit)
        for arguments in (["-o", "cf32", "--bits", "none/b", "x.u8"], ["--bits", "x.u8", "none/b"]):
            self.refuses(GEN, arguments, 1, "none/b: No such file or directory")

    def test_second_file_cannot_take_its_name(self):
        """The first one is taken back, unless it has replaced another."""
        for output in ("y", "x.cf32"):
            process = self.start(GEN, "-q", "--symbols", "5000000", "--bits", "b", "-o", "cs8", output)
            self.wait_for_temporary(2)
            os.mkdir(self.path("b"))
            self.assertEqual(process.stderr.read(), b"softqam-gen: b: Is a directory\n")
            self.assertEqual(process.wait(TIMEOUT), 1)
            os.rmdir(self.path("b"))
            self.assertEqual(self.files(), ["x.cf32", "x.u8"])

    def test_no_clobber(self):
        """Nothing that is there is replaced, not even what comes while the tool runs."""
        for option in ("-n", "--no-clobber"):
            for program, *arguments in ((DEMOD, "x.cf32", "x.u8"), (GEN, "-o", "cf32", "x.u8"), (GEN, "--bits", "x.u8", "z.cf32"),
                                        (BOTH_DEMODS[-1], "x.cf32", "x.u8")):  # fmt: skip
                message = "x.u8: is there already, and --no-clobber keeps it"
                self.refuses(program, [option, *arguments], 1, message, env=ENVIRONMENT)
        process = self.start_demod("-n", "-", "z.u8")
        process.stdin.write(self.data)
        self.wait_for_temporary(1)
        self.write("z.u8", b"other")
        process.stdin.close()
        self.assertEqual((process.wait(TIMEOUT), self.read("z.u8")), (1, b"other"))
        self.assertEqual(process.stderr.read(), b"softqam-demod: z.u8: File exists\n")
        self.assertEqual(self.files(), ["x.cf32", "x.u8", "z.u8"])
        for output in ("new.u8", "/dev/null"):
            self.ok(self.demod("-n", "x.cf32", output))
        self.assertEqual(self.read("new.u8"), self.expected)

    def test_mode(self):
        for mask, mode in ((0o022, 0o644), (0o027, 0o640), (0, 0o666)):
            self.ok(self.demod("x.cf32", "y.u8", umask=mask))
            self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, mode)
            os.unlink(self.path("y.u8"))

    def test_replaced_at_once(self):
        """Who has the old file open keeps the old bytes: it is a new file that takes the name."""
        with open(self.path("x.u8"), "rb") as old:
            self.ok(self.demod("x.cf32", "x.u8"))
            self.assertEqual(old.read(), b"old")
        self.assertEqual((self.read("x.u8"), self.files()), (self.expected, ["x.cf32", "x.u8"]))

    def test_symlinks(self):
        os.mkdir(self.path("d"))
        self.write("d/real", b"old")
        self.write("d/absolute", b"old")
        for link, target in (("link1", "d/link2"), ("d/link2", "real"), ("to-absolute", self.path("d/absolute")),
                             ("null", "/dev/null")):  # fmt: skip
            os.symlink(target, self.path(link))
        for link, target in (("link1", "d/real"), ("to-absolute", "d/absolute"), ("null", None)):
            self.ok(self.demod("x.cf32", link))
            self.assertEqual(target and self.read(target), target and self.expected)
            self.assertTrue(os.path.islink(self.path(link)))
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["absolute", "link2", "real"])


class Replaced(FileTest):
    """What replaces a file has its mode, and its owner where that is allowed; nobody gains access by it."""

    # user rw, user 1234 rw, group nothing, mask rw, others nothing
    NO_ID = 0xFFFFFFFF
    ACL = struct.pack("<I" + 5 * "HHI", 2, 1, 6, NO_ID, 2, 6, 1234, 4, 0, NO_ID, 16, 6, NO_ID, 32, 0, NO_ID)

    def replaced(self, program, arguments, mode, owner=None, **options):
        self.write("old", b"old")
        path = self.path("old")
        os.chmod(path, mode)
        if owner:
            os.chown(path, *owner)
        self.ok(self.run_tool(program, *arguments, "old", env=ENVIRONMENT, umask=0o077, **options))
        self.assertNotEqual(self.read("old"), b"old")
        status = os.stat(path)
        os.remove(path)
        return status

    def test_kept(self):
        owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
        for program, *arguments in *((program, "x.cf32") for program in BOTH_DEMODS), (GEN, "-q", "--symbols", "9"):
            for mode in (0o604, 0o640, 0o755):
                with self.subTest(program=program, mode=mode):
                    status = self.replaced(program, arguments, mode, owner)
                    self.assertEqual((status.st_mode & 0o7777, status.st_uid, status.st_gid), (mode, *owner))

    def test_a_group_that_cannot_be_kept(self):
        """Another one gets what others have."""
        if os.geteuid() != 0:
            self.skipTest("needs root")
        os.chmod(self.directory, 0o777)
        os.chmod(self.path("x.cf32"), 0o644)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        for mode, expected in ((0o662, 0o622), (0o676, 0o666), (0o602, 0o622)):
            status = self.replaced(DEMOD, ["x.cf32"], mode, (0, 0), **nobody)
            self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o777), (65534, 65534, expected))

    def test_lists(self):
        """An access control list goes, and the group gets none of its mask; nor does a folder's default list count."""
        self.write("old", b"old")
        try:
            os.setxattr(self.path("old"), "system.posix_acl_access", self.ACL)
            os.setxattr(self.directory, "system.posix_acl_default", self.ACL)
        except OSError:
            self.skipTest("no lists on this file system")
        self.ok(self.demod("x.cf32", "old"))
        self.assertEqual((os.listxattr(self.path("old")), os.stat(self.path("old")).st_mode & 0o777), ([], 0o600))


class Signals(FileTest):
    def setUp(self):
        super().setUp()
        self.write("x.u8", b"old")
        self.before = self.snapshot()

    def ended(self, process, number):
        process.send_signal(number)
        self.assertEqual((process.wait(TIMEOUT), self.snapshot()), (-number, self.before))

    def test_leave_nothing(self):
        """Whatever the signal that can be caught. SIGKILL leaves a temporary file, but the older one is whole."""
        for number in (*DEADLY_SIGNALS, signal.SIGKILL):
            process = self.start_demod("-", "x.u8", preexec_fn=default_signals, env=SIGNAL_ENVIRONMENT)
            process.stdin.write(bytes(8 * 1000))
            self.wait_for_temporary(1)
            if number == signal.SIGKILL:
                process.kill()
                process.wait(TIMEOUT)
                (temporary,) = set(self.files()) - {"x.cf32", "x.u8"}
                self.assertRegex(temporary, r"^\.softqam-\d+-0\.tmp$")
                os.remove(self.path(temporary))
            self.ended(process, number)

    def test_amid_work(self):
        for delay in (0, 0.01, 0.1):
            process = self.start(GEN, "--symbols", "1T", "-o", "cf32", "--bits", "b", "x.u8", preexec_fn=default_signals)
            self.wait_for_temporary(2)
            time.sleep(delay)
            self.ended(process, signal.SIGTERM)

    def test_ignored(self):
        """nohup softqam-demod ..."""
        process = self.start_demod("-", "y.u8", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_temporary(1)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(self.data)
        process.stdin.close()
        self.assertEqual((process.wait(TIMEOUT), self.read("y.u8")), (0, self.expected))


if __name__ == "__main__":
    sys.exit(main())
