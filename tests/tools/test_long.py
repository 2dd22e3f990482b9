#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod on long work: what overlaps, what ends it early, files that are huge or change while they are read.

With SOFTQAM_TEST_LONG=1 also what takes minutes.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEMOD, GEN, TIMEOUT, ToolTest, default_signals, main, open_terminal, pack, rest_of_terminal,
)  # fmt: skip

LONG = os.environ.get("SOFTQAM_TEST_LONG") == "1"
SLOTS = 4  # blocks in flight


def wait_until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


def has_open(process, path):
    """Whether a process has a file open."""
    directory = f"/proc/{process.pid}/fd"
    try:
        return any(
            os.path.realpath(os.path.join(directory, fd)) == os.path.realpath(path) for fd in os.listdir(directory)
        )
    except OSError:
        return False


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
        process = self.start(
            DEMOD, "--backend", BACKEND, "--chunk", "1000", "--streams", "3", "-i", "cs8", "-", "-", bufsize=0
        )
        n = self.accepted(process.stdin, block)
        self.assertGreaterEqual(n, 3 * block)
        self.assertLessEqual(n, (SLOTS + 1) * block + (1 << 20))
        process.stdin.close()
        self.assertEqual(len(process.stdout.read()), 4 * n)
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_reader_leaves_while_the_input_is_idle(self):
        """The thread that waits for input does not keep the tool."""
        process = self.start(DEMOD, "--backend", BACKEND, "-i", "cs8", "-", "-", bufsize=0, preexec_fn=default_signals)
        process.stdout.close()
        process.stdin.write(bytes(2 * BLOCK_SYMBOLS + 2))
        self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.wait(TIMEOUT), -signal.SIGPIPE)

    def test_failure_while_the_input_is_idle(self):
        process = self.start(DEMOD, "--backend", BACKEND, "-i", "cs8", "-", "/dev/full", bufsize=0)
        process.stdin.write(bytes(2 * BLOCK_SYMBOLS + 2))
        self.assertEqual(process.stderr.read(), b"softqam-demod: /dev/full: No space left on device\n")
        self.assertEqual(process.wait(TIMEOUT), 1)

    def test_what_came_before_a_failure(self):
        """In a pipe all whole symbols come out before the tool fails for the rest."""
        n = 3 * BLOCK_SYMBOLS + 1000
        result = self.demod("-i", "cs16", "-", "-", data=bytes(4 * n + 3))
        message = "standard input: not a whole number of symbols: 3 bytes left over (a symbol has 4)"
        self.fails(result, 1, message)
        self.assertEqual(len(result.out), 8 * n)


class Ends(ToolTest):
    """What stops the tool early."""

    def test_reader_leaves(self):
        """As with every filter: no message, and the end by SIGPIPE, which a shell shows as 141."""
        self.make("x.cs8", "--symbols", "1000000")
        for program, arguments in ((DEMOD, ["--backend", BACKEND, "x.cs8", "-"]), (GEN, ["-"])):
            process = self.start(program, *arguments)
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(TIMEOUT), -signal.SIGPIPE)
        self.assertEqual(self.files(), ["x.cs8"])

    def test_reader_leaves_and_sigpipe_is_ignored(self):
        """Who ignores SIGPIPE gets a message and an exit status in its place."""
        self.make("x.cs8", "--symbols", "1000000")
        ignore = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        for program, arguments in ((DEMOD, ["--backend", BACKEND, "x.cs8", "-"]), (GEN, ["-"])):
            process = self.start(program, *arguments, preexec_fn=ignore, restore_signals=False)
            process.stdout.read(10)
            process.stdout.close()
            name = os.path.basename(program)
            self.assertEqual(process.stderr.read().decode(), f"{name}: standard output: Broken pipe\n")
            self.assertEqual(process.wait(TIMEOUT), 1)

    def test_reader_leaves_and_the_other_file_goes(self):
        self.write("old", b"old")
        process = self.start(GEN, "--symbols", "100000000", "--bits", "old", "-")
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(TIMEOUT), -signal.SIGPIPE)
        self.assertEqual((self.files(), self.read("old")), (["old"], b"old"))

    def test_interrupt_on_a_terminal(self):
        """The progress line goes, the unfinished file goes, an older one stays."""
        self.write("x.u8", b"old")
        master, slave = open_terminal()
        process = self.start(
            DEMOD, "--backend", BACKEND, "-i", "cs8", "-", "x.u8", bufsize=0, stderr=slave, preexec_fn=default_signals
        )
        os.close(slave)
        process.stdin.write(bytes(4 * BLOCK_SYMBOLS))
        shown = b""
        while b"symbols done" not in shown:
            shown += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT), -signal.SIGINT)
        shown += rest_of_terminal(master)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)
        self.assertEqual((self.files(), self.read("x.u8")), (["x.u8"], b"old"))

    def test_no_progress_in_a_pipe(self):
        self.make("x.cs8", "--symbols", "3000000")
        self.assertEqual(self.ok(self.demod("--input-scale", "1/64", "x.cs8", "x.u8")).err, "")


class Descriptors(ToolTest):
    """/dev/stdin and its like are the descriptor, where it stands."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "3000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")

    def test_input(self):
        for name in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            self.assertEqual(self.soft_bits(name, data=self.data), self.expected)
            with open(self.path("x.cf32"), "rb") as file:
                os.lseek(file.fileno(), 8 * 1000, os.SEEK_SET)
                self.assertEqual(self.soft_bits(name, stdin=file), self.expected[8 * 1000 :])
        with open(self.path("x.cf32"), "rb") as file:
            fd = file.fileno()
            os.lseek(fd, 8 * 2000, os.SEEK_SET)
            self.assertEqual(self.soft_bits(f"/dev/fd/{fd}", pass_fds=[fd]), self.expected[8 * 2000 :])
        self.fails(self.demod("/dev/fd/77", "y.u8"), 1, "/dev/fd/77: Bad file descriptor")
        self.fails(self.demod("/dev/fd/", "y.u8"), 1, "/dev/fd/: Is a directory")

    def test_output(self):
        """What a shell has appended to is still there."""
        for name in ("/dev/stdout", "/dev/fd/1", "-"):
            self.write("y", b"old")
            with open(self.path("y"), "ab") as file:
                self.ok(self.demod("x.cf32", name, stdout=file))
            self.assertEqual(self.read("y"), b"old" + self.expected)
        self.assertEqual(self.files(), ["x.cf32", "y"])

    def test_output_over_the_input(self):
        """It would go on for ever, or overwrite what is still to be read."""
        for mode in ("ab", "r+b"):
            with open(self.path("x.cf32"), mode) as file:
                result = self.demod("x.cf32", "-", stdout=file)
            self.fails(result, 2, "standard output: is INPUT as well; give OUTPUT another name")
            self.assertEqual(self.read("x.cf32"), self.data)

    def test_noise_and_symbols_from_one_descriptor(self):
        self.fails(
            self.demod("--noise-file", "/dev/stdin", "-", "y.s8", data=self.data), 2,
            "--noise-file: '/dev/stdin' is INPUT as well",
        )  # fmt: skip


class ChangingFiles(ToolTest):
    """Files that grow or shrink between their opening and their end."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "2000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")
        os.mkfifo(self.path("out"))

    def demod_while(self, change, *arguments):
        """Opening a FIFO to write waits for somebody who reads: until then INPUT is open, and nothing is read."""
        process = self.start(DEMOD, "--backend", BACKEND, *arguments, "x.cf32", "out")
        wait_until(lambda: has_open(process, self.path("x.cf32")), "INPUT is not opened")
        time.sleep(0.05)
        change()
        out = self.read("out")
        return out, process.stderr.read().decode(), process.wait(TIMEOUT)

    def append(self, data):
        with open(self.path("x.cf32"), "ab") as file:
            file.write(data)

    def test_growing(self):
        """What is there at the end counts; the tool says so."""
        message = "softqam-demod: x.cf32: grew while it was read: 500 symbols of the output are of what came later\n"
        result = self.demod_while(lambda: self.append(self.data[: 8 * 500]))
        self.assertEqual(result, (self.expected + self.expected[: 8 * 500], message, 0))
        result = self.demod_while(lambda: self.append(self.data[: 8 * 500]), "-q")
        self.assertEqual(result[1:], ("", 0))

    def test_growing_by_a_part(self):
        out, err, code = self.demod_while(lambda: self.append(b"123"))
        message = "softqam-demod: x.cf32: not a whole number of symbols: 3 bytes left over (a symbol has 8)\n"
        self.assertEqual((out, err, code), (self.expected, message, 1))

    def test_growing_leaves_a_shard_alone(self):
        out, err, code = self.demod_while(lambda: self.append(self.data), "--shard", "2/2")
        self.assertEqual((out, err, code), (self.expected[8 * 1000 :], "", 0))

    def test_progress_of_a_growing_file(self):
        lines = self.demod_while(lambda: self.append(self.data), "-q", "--progress", "always")[1].splitlines()
        for line in lines:  # not of more than 100 %
            self.assertRegex(line, r"^softqam-demod: \d+ symbols done, \S+ Msym/s$")

    def test_shrinking(self):
        out, err, code = self.demod_while(lambda: os.truncate(self.path("x.cf32"), 8 * 700))
        message = "softqam-demod: x.cf32: became shorter while it was read: 5600 bytes, but there were 16000\n"
        self.assertEqual((out, err, code), (self.expected[: 8 * 700], message, 1))
        self.assertEqual(self.files(), ["out", "x.cf32"])


class Huge(ToolTest):
    """More than 2^32 symbols."""

    uses_backend = True

    def make_sparse(self, n_symbols):
        """So many of cs8, zeros but for the last ones."""
        self.n = n_symbols
        with open(self.path("x.cs8"), "wb") as file:
            file.truncate(2 * n_symbols)
            file.seek(2 * n_symbols - len(self.tail))
            file.write(self.tail)

    def setUp(self):
        super().setUp()
        self.tail = self.ok(self.gen("-q", "--symbols", "1000", "-o", "cs8", "--snr-db", "20", "-")).out
        self.expected = self.soft_bits("-i", "cs8", "-", data=self.tail)

    def test_end_of_a_sparse_file(self):
        shards = 8192
        self.make_sparse((1 << 33) + 5)
        out = self.soft_bits("--shard", f"{shards}/{shards}", "x.cs8")
        self.assertEqual(len(out), 8 * (self.n - self.n * (shards - 1) // shards))
        self.assertEqual(out[-len(self.expected) :], self.expected)
        zero = self.soft_bits("-i", "cs8", "-", data=bytes(2))
        self.assertEqual(out[: -len(self.expected)], zero * (len(out) // 8 - 1000))

    def test_verify_counts_beyond_32_bits(self):
        """The first 16 Mi symbols would be checked one and all; these are as many after 2^32, and are not."""
        self.make_sparse((1 << 32) + (1 << 20))
        result = self.ok(self.demod("--verify", "--shard", "4097/4097", "x.cs8", "y.u8"))
        self.assertIn("verify: sample of 4096 of 1048576 symbols checked", result.err)

    @unittest.skipUnless(LONG, "SOFTQAM_TEST_LONG=1 is not set")
    def test_all_of_a_sparse_file(self):
        """8 GiB in, 32 GiB out, into a pipe that keeps the end."""
        self.make_sparse((1 << 32) + 5)
        process = self.start(DEMOD, "--backend", BACKEND, "x.cs8", "-", "--progress", "always")
        count = subprocess.Popen(["tail", "-c", str(len(self.expected))], stdin=process.stdout, stdout=subprocess.PIPE)
        process.stdout.close()
        process.stdout = None
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stderr.read().decode().splitlines()))
        reader.start()
        self.assertEqual(count.stdout.read(), self.expected)
        count.stdout.close()
        self.assertEqual((count.wait(), process.wait(TIMEOUT)), (0, 0))
        reader.join()
        self.assertIn(f"100.0 % of {self.n} symbols done", lines[-1])
        print(lines[-1])

    def test_noise_of_a_sparse_file(self):
        """The noise variances keep step with the symbols."""
        self.make_sparse((1 << 33) + 5)
        noise = pack("f", [0.001 * (1 + i % 83) for i in range(1000)])
        with open(self.path("n.f32"), "wb") as file:
            file.truncate(4 * self.n)
            file.seek(4 * (self.n - 1000))
            file.write(noise)
        arguments = ["-i", "cs8", "-o", "s8", "--noise-file"]
        expected = self.soft_bits(*arguments, self.write("n", noise), "-", data=self.tail)
        out = self.soft_bits(*arguments, "n.f32", "--shard", "8192/8192", "x.cs8")
        self.assertEqual(out[-8000:], expected)
        self.assertEqual(out[:-8000].count(0), len(out) - 8000)


class Shards(ToolTest):
    """The parts of --shard, one after the other, are the whole."""

    uses_backend = True

    def joined(self, n_shards, *arguments):
        return b"".join(self.soft_bits("--shard", f"{k}/{n_shards}", *arguments) for k in range(1, n_shards + 1))

    def test_lengths(self):
        self.make("x.cs16", "--symbols", "1009", "--snr-db", "20")
        data, expected = self.read("x.cs16"), self.soft_bits("x.cs16")
        for n in (0, 1, 2, 6, 1009):
            self.write("y.cs16", data[: 4 * n])
            for n_shards in (1, 2, 3, 7):
                self.assertEqual(self.joined(n_shards, "y.cs16"), expected[: 8 * n], (n, n_shards))

    def test_blocks(self):
        self.make("x.cs8", "--symbols", str(3 * BLOCK_SYMBOLS + 77), "--snr-db", "20")
        self.assertEqual(self.joined(2, "x.cs8"), self.soft_bits("x.cs8"))

    def test_sizes(self):
        """They differ by one symbol at most, also where there are many."""
        self.make("x.cs8", "--symbols", "1009")
        sizes = {len(self.soft_bits("--shard", f"{k}/100", "x.cs8")) for k in (1, 2, 50, 91, 99, 100)}
        self.assertEqual(sizes, {80, 88})
        self.assertEqual(len(self.soft_bits("--shard", "1000000/1000000", "x.cs8")), 8)

    def test_noise(self):
        """Each symbol keeps its own noise variance; an estimate is that of the whole."""
        n = 5003
        self.make("x.cf32", "--symbols", str(n), "--snr-db", "20")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(n)]))
        for noise in (["--noise-file", "n.f32"], ["--noise-var", "auto", "-q"], ["--snr-db", "20"]):
            arguments = ["-o", "s8", *noise, "x.cf32"]
            self.assertEqual(self.joined(4, *arguments), self.soft_bits(*arguments), noise)

    def test_verify_and_stats(self):
        self.make("x.cf32", "--symbols", "1000", "--snr-db", "20")
        result = self.ok(self.demod("--shard", "2/3", "--verify", "--stats", "x.cf32", "y.u8"))
        self.assertIn("verify: all 333 symbols checked", result.err)
        self.assertRegex(result.err, r"\n  symbols    333\n")

    def test_what_has_no_parts(self):
        data = self.read(self.make("x.cf32", "--symbols", "1000"))
        message = "not a regular file, so no part of it can be chosen"
        self.fails(self.demod("--shard", "1/2", "-", "y.u8", data=data), 1, "standard input: " + message)
        os.mkfifo(self.path("n"))
        writer = threading.Thread(target=self.write, args=("n", bytes(4000)))
        writer.start()
        self.fails(self.demod("--shard", "1/2", "--noise-file", "n", "x.cf32", "y.s8"), 1, "n: " + message)
        writer.join(TIMEOUT)
        with open(self.path("x.cf32"), "rb") as file:
            self.assertEqual(self.soft_bits("--shard", "2/2", "-", stdin=file), self.soft_bits("x.cf32")[4000:])

    def test_wrong_commands(self):
        self.make("x.cf32", "--symbols", "10")
        for text in (
            "0/2",
            "3/2",
            "1",
            "1/",
            "/2",
            "1/2/3",
            "-1/2",
            "1/0",
            "a/b",
            "",
            " 1/2",
            "1/1000001",
            "1/ 2",
            "+1/2",
        ):
            message = f"--shard: '{text}' is not K/N with whole numbers K from 1 to N and N up to 1000000"
            self.fails(self.demod("--shard", text, "x.cf32", "y.u8"), 2, message)


if __name__ == "__main__":
    sys.exit(main())
