#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipes, FIFOs, devices, descriptors; OUTPUT appears complete or not at all; what it replaces is kept; signals; on long
work, what overlaps and what ends it early; files that are huge or change while they are read.
"""
import contextlib
import os
import pathlib
import signal
import struct
import threading
import time

from environments import SIGNAL_ENVIRONMENT
from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, BOTH_DEMODS, DEADLY_SIGNALS, DEMOD, ENVIRONMENT, GEN, TIMEOUT, CaptureTest, ToolTest, default_signals,
    limit_file_size, main, pack,
)  # fmt: skip

SLOTS = 4  # blocks in flight


class Streams(CaptureTest):
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

    def test_devices(self):
        """Nothing is lost where one device is read and written."""
        self.ok(self.demod("x.cf32", "/dev/null"))
        self.assertEqual(self.soft_bits("/dev/null"), b"")
        self.ok(self.gen("--symbols", "10", "--bits", "/dev/null", "/dev/null"))
        with open("/dev/null", "r+b") as null:
            self.ok(self.demod("-", "-", stdin=null, stdout=null))
        self.assertFalse(os.path.isfile("/dev/null"))
        with open("/dev/full", "wb") as full:
            self.fails(self.demod("x.cf32", "-", stdout=full), 1, "standard output: No space left on device")

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


class Descriptors(CaptureTest):
    """/dev/stdin and its like are the descriptor, with its position."""

    def test_input(self):
        for name in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
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


class Outputs(CaptureTest):
    """OUTPUT appears complete or not at all."""

    def setUp(self):
        super().setUp()
        self.write("x.u8", b"old")

    def test_names(self):
        """The longest; dots that make no suffix; with the format named, suffixes of the other operand and unknown ones."""
        os.mkdir(self.path("d.cu8"))
        plain = ["y.", "..cs16", "d.cu8/y"]
        for name in (*plain, 252 * "y" + ".u8", "y.CS16", "y.wav"):
            self.ok(self.demod(*([] if name in plain else ["-o", "u8"]), "x.cf32", name))
            self.assertEqual(self.read(name), self.expected)
            self.ok(self.gen(*([] if name in plain else ["-o", "cf32"]), "--symbols", "3000", "--snr-db", "20", name))
            self.assertEqual(self.read(name), self.data)

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

    def test_replaced_at_once(self):
        """Who has the old file open keeps the old bytes: it is a new file that takes the name. The umask counts for new ones."""
        with open(self.path("x.u8"), "rb") as old:
            self.ok(self.demod("x.cf32", "x.u8"))
            self.assertEqual(old.read(), b"old")
        self.assertEqual((self.read("x.u8"), self.files()), (self.expected, ["x.cf32", "x.u8"]))
        self.ok(self.demod("x.cf32", "y.u8", umask=0o027))
        self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, 0o640)

    def test_symlinks(self):
        os.mkdir(self.path("d"))
        for link, target, file in (("d/link2", "real", "d/real"), ("link1", "d/link2", "d/real"),
                                   ("to-absolute", self.path("d/absolute"), "d/absolute"), ("null", "/dev/null", "/dev/null")):  # fmt: skip
            os.symlink(target, self.path(link))
            self.write(file, b"old")
            self.ok(self.demod("x.cf32", link))
            self.assertEqual(self.read(file), self.expected * (file != "/dev/null"))
            self.assertTrue(os.path.islink(self.path(link)))
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["absolute", "link2", "real"])


class Replaced(CaptureTest):
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
        nobody = self.as_nobody() or self.skipTest("needs root")
        os.chmod(self.directory, 0o777)
        os.chmod(self.path("x.cf32"), 0o644)
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


class Signals(CaptureTest):
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

    def test_ignored(self):
        """nohup softqam-demod ..."""
        process = self.start_demod("-", "y.u8", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_temporary(1)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(self.data)
        process.stdin.close()
        self.assertEqual((process.wait(TIMEOUT), self.read("y.u8")), (0, self.expected))


class Pipeline(ToolTest):
    """Reading, demodulating and writing overlap, in bounded memory."""

    uses_backend = True

    def accepted(self, stream, block):
        """Bytes that the tool takes while nobody reads its output; it must go beyond a block without waiting."""
        os.set_blocking(stream.fileno(), False)
        n, idle_since, deadline = 0, time.monotonic(), time.monotonic() + 60
        while time.monotonic() < deadline and (n < 2 * block or time.monotonic() - idle_since < 1):
            try:
                n += os.write(stream.fileno(), bytes(65536))
                idle_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        return n

    def test_reading_goes_on_while_writing_waits(self):
        block = 2 * BLOCK_SYMBOLS
        process = self.start_demod("-i", "cs8", "--chunk", "1000", "--streams", "3", "-", "-")
        n = self.accepted(process.stdin, block)
        self.assertGreaterEqual(n, 3 * block)
        self.assertLessEqual(n, (SLOTS + 1) * block + (1 << 20))
        process.stdin.close()
        self.assertEqual((len(process.stdout.read()), process.wait(TIMEOUT)), (4 * n, 0))

    def test_failure_while_the_input_is_idle(self):
        """The thread that waits for input does not keep the tool: the reader leaves, or the disk is full."""
        full = b"softqam-demod: /dev/full: No space left on device\n"
        for output, code, message, n_more in (("-", -signal.SIGPIPE, b"", 2), ("/dev/full", 1, full, 2), ("/dev/full", 1, full, 0)):
            process = self.start_demod("-i", "cs8", "-", output, preexec_fn=default_signals)
            process.stdout.close()
            process.stdin.write(bytes(2 * BLOCK_SYMBOLS + n_more))
            self.assertEqual((process.stderr.read(), process.wait(TIMEOUT)), (message, code))

    def test_failure_while_blocks_wait(self):
        """Nor do blocks that are read and that nobody demodulates any more: more input is not waited for because of them."""
        self.write("sent", bytes(8 * BLOCK_SYMBOLS - 1) + b"\2")
        process = self.start_demod("-i", "cs8", "--noise-var", "1", "-o", "s8", "--verify", "--compare", "sent", "-", "y")
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(bytes(7 * BLOCK_SYMBOLS))
        message = b"softqam-demod: sent: not bits: a byte is neither 0 nor 1\n"
        self.assertEqual((process.stderr.read(), process.wait(TIMEOUT)), (message, 1))


class Ends(ToolTest):
    """What stops the tool early."""

    def test_reader_leaves(self):
        """As with every filter: no message, and the end by SIGPIPE, which a shell shows as 141; who ignores SIGPIPE gets a
        message and an exit status in its place. Other files go."""
        self.make("x.cs8", "--symbols", "1000000")
        self.write("old", b"old")
        ignore = {"preexec_fn": lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN), "restore_signals": False}
        for program, *arguments in ((DEMOD, "--backend", BACKEND, "x.cs8", "-"), (GEN, "-"), (GEN, "--symbols", "100M", "--bits", "old", "-")):
            for options, code in (({}, -signal.SIGPIPE), (ignore, 1)):
                process = self.start(program, *arguments, **options)
                process.stdout.read(10)
                process.stdout.close()
                message = f"{os.path.basename(program)}: standard output: Broken pipe\n" * (code == 1)
                self.assertEqual((process.stderr.read().decode(), process.wait(TIMEOUT)), (message, code))
                self.assertEqual((self.files(), self.read("old")), (["old", "x.cs8"], b"old"))


class ChangingFiles(CaptureTest):
    """Files that grow or shrink between their opening and their end."""

    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("out"))

    def demod_while(self, change, *arguments, name="x.cf32"):
        """Opening a FIFO to write waits for somebody who reads: until then the input is open, and nothing is read."""
        process = self.start_demod(*arguments, "x.cf32", "out")
        descriptors = pathlib.Path(f"/proc/{process.pid}/fd")
        self.wait_for(lambda: os.path.realpath(self.path(name)) in map(os.path.realpath, descriptors.iterdir()))
        time.sleep(0.05)
        change()
        return self.read("out"), process.stderr.read().decode().replace("softqam-demod: ", ""), process.wait(TIMEOUT)

    def append(self, data):
        with open(self.path("x.cf32"), "ab") as file:
            file.write(data)

    def test_growing(self):
        """What was there at first counts."""
        for data, arguments, out in ((self.data[: 8 * 500], [], self.expected), (b"123", [], self.expected),
                                     (self.data, ["--shard", "2/2"], self.expected[8 * 1500 :])):  # fmt: skip
            self.write("x.cf32", self.data)
            self.assertEqual(self.demod_while(lambda: self.append(data), *arguments), (out, "", 0))

    def test_shrinking(self):
        """Symbols and noise variances."""
        self.write("n0", bytes(12000))
        noise = ["--noise-file", "n0", "-o", "s8"]
        for name, n, arguments in (("x.cf32", 5600, []), ("x.cf32", 5605, []), ("x.cf32", 0, []), ("n0", 12, noise)):
            self.write("x.cf32", self.data)
            before = self.files()
            out, err, code = self.demod_while(lambda: os.truncate(self.path(name), n), *arguments, name=name)
            self.assertEqual((err, code, self.files()), (f"{name}: became shorter while it was read\n", 1, before))
            if name == "x.cf32":
                self.assertEqual(out, self.expected[: n // 8 * 8])


class Huge(ToolTest):
    """More than 2^32 symbols."""

    uses_backend = True

    def make_sparse(self, name, n, end):
        """A file of n bytes, zeros but for the last ones."""
        with open(self.path(name), "wb") as file:
            file.seek(n - len(end))
            file.write(end)

    def test_end_of_a_sparse_file(self):
        """The last shard of 8192, with noise variances that keep step with the symbols too."""
        tail = self.ok(self.gen("-q", "--symbols", "1000", "-o", "cs8", "--snr-db", "20", "-")).out
        n, last = (1 << 33) + 5, ["--shard", "8192/8192", "x.cs8"]
        self.make_sparse("x.cs8", 2 * n, tail)
        n_out, zero = n - n * 8191 // 8192, self.soft_bits("-i", "cs8", "-", data=bytes(2))
        self.assertEqual(self.soft_bits(*last), zero * (n_out - 1000) + self.soft_bits("-i", "cs8", "-", data=tail))
        noise = pack("f", [0.001 * (1 + i % 83) for i in range(1000)])
        self.make_sparse("n.f32", 4 * n, noise)
        arguments = ["-i", "cs8", "-o", "s8", "--noise-file"]
        expected = self.soft_bits(*arguments, self.write("n", noise), "-", data=tail)
        self.assertEqual(self.soft_bits(*arguments, "n.f32", *last), bytes(8 * (n_out - 1000)) + expected)


main()
