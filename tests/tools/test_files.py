#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipes, FIFOs, devices, descriptors; OUTPUT appears complete or not at all; signals; on long
work, what overlaps and what ends it early; files that are huge or change while they are read.
"""
import contextlib
import os
import pathlib
import signal
import threading
import time
import types

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
        """Nothing is lost if one device is read and written."""
        self.ok(self.demod("x.cf32", "/dev/null"))
        self.assertEqual(self.soft_bits("/dev/null"), b"")
        self.ok(self.gen("--symbols", "10", "--bits", "/dev/null", "/dev/null"))
        with open("/dev/null", "r+b") as null:
            self.ok(self.demod("-", "-", stdin=null, stdout=null))
        self.assertFalse(os.path.isfile("/dev/null"))
        with open("/dev/full", "wb") as full:
            self.fails(self.demod("x.cf32", "-", stdout=full), 1, "standard output: No space left on device")

    def test_non_blocking_streams(self):
        """Another program that shares a pipe may have made it non-blocking. The tool waits, also before it knows the noise."""
        data = 100 * self.data
        arguments = ["-q", "--noise-var", "auto", "-o", "s8", "-"]
        expected = self.soft_bits(*arguments, data=data)
        (read_end, to_tool), (from_tool, write_end) = os.pipe(), os.pipe()
        for end in (read_end, write_end):
            os.set_blocking(end, False)
        process = self.start_demod(*arguments, "-", stdin=read_end, stdout=write_end)
        os.close(read_end)
        os.close(write_end)
        time.sleep(0.05)  # nothing to read

        def send():
            with open(to_tool, "wb") as stream:
                stream.write(data)

        writer = threading.Thread(target=send)
        writer.start()
        time.sleep(0.05)  # nobody reads
        with open(from_tool, "rb") as stream:
            self.assertEqual(stream.read(), expected)
        writer.join(TIMEOUT)
        self.assertEqual((process.stderr.read(), process.wait(TIMEOUT)), (b"", 0))

    def test_closed_standard_streams(self):
        """A file that takes the descriptor of a closed stream must not be written or read in its place."""
        result = self.demod("x.cf32", "-", stdout=None, preexec_fn=lambda: os.close(1))
        self.fails(result, 1, "standard output: Bad file descriptor")
        # The output would be the first to get descriptor 2, and messages with it.
        result = self.demod("--progress", "always", "x.cf32", "y.u8", stdin=None, stdout=None, stderr=None, preexec_fn=lambda: os.closerange(0, 3))
        self.assertEqual((result.code, self.read("y.u8")), (0, self.expected))


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


class Outputs(CaptureTest):
    """OUTPUT appears complete or not at all."""

    def setUp(self):
        super().setUp()
        self.write("x.u8", b"old")

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
        for program, *arguments in ((DEMOD, "x.cf32", "x.u8"), (GEN, "--bits", "x.u8", "z.cf32"), (BOTH_DEMODS[-1], "x.cf32", "x.u8")):
            self.refuses(program, ["-n", *arguments], 1, "x.u8: is there already, and --no-clobber keeps it", env=ENVIRONMENT)
        process = self.start_demod("-n", "-", "z.u8")
        process.stdin.write(self.data)
        self.wait_for_temporary(1)
        self.write("z.u8", b"other")
        process.stdin.close()
        self.assertEqual((process.wait(TIMEOUT), self.read("z.u8")), (1, b"other"))
        self.assertEqual((process.stderr.read(), self.files()), (b"softqam-demod: z.u8: File exists\n", ["x.cf32", "x.u8", "z.u8"]))
        self.ok(self.demod("-n", "x.cf32", "/dev/null"))

    def test_replaced_at_once(self):
        """A process that has the old file open keeps the old bytes: a new file takes the name. The umask counts for new ones."""
        with open(self.path("x.u8"), "rb") as old:
            self.ok(self.demod("x.cf32", "x.u8"))
            self.assertEqual(old.read(), b"old")
        self.assertEqual((self.read("x.u8"), self.files()), (self.expected, ["x.cf32", "x.u8"]))
        self.ok(self.demod("x.cf32", "y.u8", umask=0o027))
        self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o7777, 0o640)

    def test_symlinks(self):
        os.mkdir(self.path("d"))
        for link, target, file in (("d/link2", "real", "d/real"), ("link1", "d/link2", "d/real"), ("null", "/dev/null", "/dev/null")):
            os.symlink(target, self.path(link))
            self.write(file, b"old")
            self.ok(self.demod("x.cf32", link))
            self.assertEqual((self.read(file), os.path.islink(self.path(link))), (self.expected * (file != "/dev/null"), True))

    def test_access(self):
        """A file that replaces another has its mode and owner."""
        owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
        for mode, command in ((0o604, [DEMOD, "x.cf32"]), (0o640, [BOTH_DEMODS[-1], "x.cf32"]), (0o755, [GEN, "-q", "--symbols", "9"])):
            self.write("old", b"old")
            os.chmod(self.path("old"), mode)
            os.chown(self.path("old"), *owner)
            self.ok(self.run_tool(*command, "old", env=ENVIRONMENT, umask=0o077))
            status = os.stat(self.path("old"))
            self.assertEqual((status.st_mode & 0o7777, status.st_uid, status.st_gid), (mode, *owner))


class Signals(CaptureTest):
    def test_leave_nothing(self):
        """Whatever the signal that can be caught. SIGKILL leaves a temporary file, but the older one is whole."""
        self.write("x.u8", b"old")
        before = self.snapshot()
        for number in (*DEADLY_SIGNALS, signal.SIGKILL):
            process = self.start_demod("-", "x.u8", preexec_fn=default_signals, env=SIGNAL_ENVIRONMENT)
            process.stdin.write(bytes(8 * 1000))
            self.wait_for_temporary(1)
            process.send_signal(number)
            self.assertEqual(process.wait(TIMEOUT), -number)
            if number == signal.SIGKILL:
                (temporary,) = set(self.files()) - {"x.cf32", "x.u8"}
                self.assertRegex(temporary, r"^\.softqam-\d+-0\.tmp$")
                os.remove(self.path(temporary))
            self.assertEqual(self.snapshot(), before)

    def test_first_process_of_a_container(self):
        """It is not ended by a signal's default action, so it ends itself."""
        process = self.start("unshare", *["--map-root-user"] * (os.geteuid() != 0), "--pid", "--fork", DEMOD, "--backend", BACKEND, "-", "y.u8",
                             env=SIGNAL_ENVIRONMENT)  # fmt: skip
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        self.wait_for(lambda: process.poll() is not None or any(f.startswith(".softqam-") for f in self.files()))
        if process.returncode is not None or not children.exists():
            self.skipTest("no namespace of processes, or no list of children")
        os.kill(int(children.read_text(encoding="ascii")), signal.SIGTERM)
        self.assertEqual((process.wait(TIMEOUT), process.stderr.read(), self.files()), (128 + signal.SIGTERM, b"", ["x.cf32"]))


class Pipeline(ToolTest):
    """Reading, demodulating and writing overlap, in bounded memory."""

    uses_backend = True

    def accepted(self, stream, block):
        """Bytes that the tool takes if nothing reads its output; it must go beyond a block without waiting."""
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
        """A run that has failed does not wait for more input, even if blocks are left that were read and will not be demodulated."""
        self.write("sent", bytes(8 * BLOCK_SYMBOLS - 1) + b"\2")
        process = self.start_demod("-i", "cs8", "--noise-var", "1", "-o", "s8", "--verify", "--compare", "sent", "-", "y")
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(bytes(7 * BLOCK_SYMBOLS))
        message = b"softqam-demod: sent: not bits: a byte is neither 0 nor 1\n"
        self.assertEqual((process.stderr.read(), process.wait(TIMEOUT)), (message, 1))


class Ends(ToolTest):
    """Signals and readers that stop the tool early."""

    def test_reader_leaves(self):
        """Like every filter, the tool ends with no message and the end by SIGPIPE; who ignores SIGPIPE gets a message. Other files go."""
        self.make("x.cs8", "--symbols", "1000000")
        self.write("old", b"old")
        ignore = {"preexec_fn": lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN), "restore_signals": False}
        for program, *arguments in ((DEMOD, "--backend", BACKEND, "x.cs8", "-"), (GEN, "--symbols", "100M", "--bits", "old", "-")):
            for options, code in (({}, -signal.SIGPIPE), (ignore, 1)):
                process = self.start(program, *arguments, **options)
                process.stdout.read(10)
                process.stdout.close()
                message = f"{os.path.basename(program)}: standard output: Broken pipe\n" * (code == 1)
                self.assertEqual((process.stderr.read().decode(), process.wait(TIMEOUT)), (message, code))
                self.assertEqual((self.files(), self.read("old")), (["old", "x.cs8"], b"old"))


class ChangingFiles(CaptureTest):
    def test_shrinking(self):
        """Symbols and noise variances: what was there at first counts."""
        os.mkfifo(self.path("out"))
        self.write("n0", bytes(12000))
        for name, n, arguments in (("x.cf32", 5605, []), ("x.cf32", 0, []), ("n0", 12, ["--noise-file", "n0", "-o", "s8"])):
            self.write("x.cf32", self.data)
            before = self.files()
            process = self.start_demod(*arguments, "x.cf32", "out")
            # Opening a FIFO to write waits for somebody who reads: until then the input is open, and nothing is read.
            self.wait_for(lambda: os.path.realpath(self.path(name)) in map(os.path.realpath, pathlib.Path(f"/proc/{process.pid}/fd").iterdir()))
            time.sleep(0.05)
            os.truncate(self.path(name), n)
            out = self.read("out")
            self.fails(types.SimpleNamespace(err=process.stderr.read().decode(), code=process.wait(TIMEOUT)), 1, f"{name}: became shorter while it was read")
            self.assertEqual((self.files(), out), (before, self.expected[: n // 8 * 8] if name == "x.cf32" else out))


class Huge(ToolTest):
    """More than 2^32 symbols."""

    uses_backend = True

    def test_end_of_a_sparse_file(self):
        """The last shard of 8192, zeros but for the last symbols, with noise variances that keep step."""
        tail, n = self.ok(self.gen("-q", "--symbols", "1000", "-o", "cs8", "--snr-db", "20", "-")).out, (1 << 33) + 5
        noise = pack("f", [0.001 * (1 + i % 83) for i in range(1000)])
        for name, nbytes, end in (("x.cs8", 2 * n, tail), ("n.f32", 4 * n, noise)):
            with open(self.path(name), "wb") as file:
                file.seek(nbytes - len(end))
                file.write(end)
        arguments = ["-i", "cs8", "-o", "s8", "--noise-file"]
        expected = self.soft_bits(*arguments, self.write("n", noise), "-", data=tail)
        self.assertEqual(self.soft_bits(*arguments, "n.f32", "--shard", "8192/8192", "x.cs8"), bytes(8 * (n - n * 8191 // 8192 - 1000)) + expected)


main()
