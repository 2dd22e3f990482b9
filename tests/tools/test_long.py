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


class LongTest(ToolTest):
    def start_cs8(self, *arguments, **options):
        return self.start(DEMOD, "--backend", BACKEND, "-i", "cs8", *arguments, bufsize=0, **options)


class Pipeline(LongTest):
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
        process = self.start_cs8("--chunk", "1000", "--streams", "3", "-", "-")
        n = self.accepted(process.stdin, block)
        self.assertGreaterEqual(n, 3 * block)
        self.assertLessEqual(n, (SLOTS + 1) * block + (1 << 20))
        process.stdin.close()
        self.assertEqual((len(process.stdout.read()), process.wait(TIMEOUT)), (4 * n, 0))

    def test_failure_while_the_input_is_idle(self):
        """The thread that waits for input does not keep the tool: the reader leaves, or the disk is full."""
        full = b"softqam-demod: /dev/full: No space left on device\n"
        for output, code, message, n_more in (("-", -signal.SIGPIPE, b"", 2), ("/dev/full", 1, full, 2), ("/dev/full", 1, full, 0)):
            process = self.start_cs8("-", output, preexec_fn=default_signals)
            process.stdout.close()
            process.stdin.write(bytes(2 * BLOCK_SYMBOLS + n_more))
            self.assertEqual((process.stderr.read(), process.wait(TIMEOUT)), (message, code))

    def test_what_came_before_a_failure(self):
        """In a pipe all whole symbols come out before the tool fails for the rest."""
        n = 3 * BLOCK_SYMBOLS + 1000
        result = self.demod("-i", "cs16", "-", "-", data=bytes(4 * n + 3))
        self.fails(result, 1, "standard input: not a whole number of symbols: 3 bytes left over (a symbol has 4)")
        self.assertEqual(len(result.out), 8 * n)


class Ends(LongTest):
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

    def test_interrupt_on_a_terminal(self):
        """The progress line goes, the unfinished file goes, an older one stays."""
        self.write("x.u8", b"old")
        master, slave = open_terminal()
        process = self.start_cs8("-", "x.u8", stderr=slave, preexec_fn=default_signals)
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


class ChangingFiles(ToolTest):
    """Files that grow or shrink between their opening and their end."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "2000", "--snr-db", "20")
        self.data = self.read("x.cf32")
        self.expected = self.soft_bits("x.cf32")
        os.mkfifo(self.path("out"))

    def demod_while(self, change, *arguments, name="x.cf32", input_="x.cf32"):
        """Opening a FIFO to write waits for somebody who reads: until then the input is open, and nothing is read."""
        process = self.start(DEMOD, "--backend", BACKEND, *arguments, input_, "out")
        self.wait_for(lambda: self.has_open(process, name))
        time.sleep(0.05)
        change()
        return self.read("out"), process.stderr.read().decode().replace("softqam-demod: ", ""), process.wait(TIMEOUT)

    def append(self, data):
        with open(self.path("x.cf32"), "ab") as file:
            file.write(data)

    def test_growing(self):
        """What was there at first counts."""
        for data, arguments, out in ((self.data[: 8 * 500], [], self.expected), (b"123", [], self.expected),
                                     (self.data, ["--shard", "2/2"], self.expected[8 * 1000 :])):  # fmt: skip
            self.write("x.cf32", self.data)
            self.assertEqual(self.demod_while(lambda: self.append(data), *arguments), (out, "", 0))

    def test_shrinking(self):
        """Symbols and noise variances."""
        self.write("n0", bytes(8000))
        noise = ["--noise-file", "n0", "-o", "s8"]
        for name, n, arguments, input_ in (("x.cf32", 5600, [], "x.cf32"), ("x.cf32", 5605, [], "x.cf32"), ("x.cf32", 0, [], "x.cf32"),
                                           ("n0", 12, noise, "x.cf32")):  # fmt: skip
            self.write("x.cf32", self.data)
            before = self.files()
            out, err, code = self.demod_while(lambda: os.truncate(self.path(name), n), *arguments, name=name, input_=input_)
            self.assertEqual((err, code, self.files()), (f"{name}: became shorter while it was read\n", 1, before))
            if input_ == name:
                self.assertEqual(out, self.expected[: n // 8 * 8])


class Huge(ToolTest):
    """More than 2^32 symbols."""

    uses_backend = True

    def make_sparse(self, name, n, end):
        """A file of n bytes, zeros but for the last ones."""
        with open(self.path(name), "wb") as file:
            file.truncate(n)
            file.seek(n - len(end))
            file.write(end)

    def setUp(self):
        super().setUp()
        self.tail = self.ok(self.gen("-q", "--symbols", "1000", "-o", "cs8", "--snr-db", "20", "-")).out
        self.expected = self.soft_bits("-i", "cs8", "-", data=self.tail)

    def test_end_of_a_sparse_file(self):
        """The last shard of 8192, with noise variances that keep step with the symbols too."""
        n, last = (1 << 33) + 5, ["--shard", "8192/8192", "x.cs8"]
        self.make_sparse("x.cs8", 2 * n, self.tail)
        out = self.soft_bits(*last)
        self.assertEqual(len(out), 8 * (n - n * 8191 // 8192))
        self.assertEqual(out, self.soft_bits("-i", "cs8", "-", data=bytes(2)) * (len(out) // 8 - 1000) + self.expected)
        noise = pack("f", [0.001 * (1 + i % 83) for i in range(1000)])
        self.make_sparse("n.f32", 4 * n, noise)
        arguments = ["-i", "cs8", "-o", "s8", "--noise-file"]
        expected = self.soft_bits(*arguments, self.write("n", noise), "-", data=self.tail)
        self.assertEqual(self.soft_bits(*arguments, "n.f32", *last), bytes(len(out) - 8000) + expected)

    def test_verify_counts_beyond_32_bits(self):
        """The first 16 Mi symbols would be checked one and all; these are as many after 2^32, and are not."""
        self.make_sparse("x.cs8", (1 << 33) + (1 << 21), self.tail)
        result = self.ok(self.demod("--verify", "--shard", "4097/4097", "x.cs8", "y.u8"))
        self.assertIn("verify: 4096 of 1048576 symbols checked", result.err)

    @unittest.skipUnless(LONG, "SOFTQAM_TEST_LONG=1 is not set")
    def test_all_of_a_sparse_file(self):
        """8 GiB in, 32 GiB out, into a pipe that keeps the end."""
        n = (1 << 32) + 5
        self.make_sparse("x.cs8", 2 * n, self.tail)
        process = self.start(DEMOD, "--backend", BACKEND, "x.cs8", "-", "--progress", "always")
        count = subprocess.Popen(["tail", "-c", str(len(self.expected))], stdin=process.stdout, stdout=subprocess.PIPE)
        process.stdout.close()
        process.stdout = None
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stderr.read().decode().splitlines()))
        reader.start()
        self.assertEqual(count.communicate()[0], self.expected)
        self.assertEqual((count.wait(), process.wait(TIMEOUT)), (0, 0))
        reader.join()
        self.assertIn(f"100.0 % of {n} symbols done", lines[-1])
        print(lines[-1])


class Shards(ToolTest):
    """The parts of --shard, one after the other, are the whole."""

    uses_backend = True

    def joined(self, n_shards, *arguments):
        return b"".join(self.soft_bits("--shard", f"{k}/{n_shards}", *arguments) for k in range(1, n_shards + 1))

    def test_lengths(self):
        """Few symbols and more than a block; sizes differ by one symbol at most, also where there are many."""
        self.make("x.cs16", "--symbols", "1009", "--snr-db", "20")
        data, expected = self.read("x.cs16"), self.soft_bits("x.cs16")
        for n in (0, 1, 2, 6, 1009):
            self.write("y.cs16", data[: 4 * n])
            for n_shards in (1, 2, 3, 7):
                self.assertEqual(self.joined(n_shards, "y.cs16"), expected[: 8 * n], (n, n_shards))
        sizes = {len(self.soft_bits("--shard", f"{k}/100", "x.cs16")) for k in (1, 2, 50, 91, 99, 100)}
        self.assertEqual((sizes, len(self.soft_bits("--shard", "1000000/1000000", "x.cs16"))), ({80, 88}, 8))
        with open(self.path("x.cs16"), "rb") as file:
            self.assertEqual(self.soft_bits("-i", "cs16", "--shard", "2/2", "-", stdin=file), expected[8 * 504 :])
        self.make("x.cs8", "--symbols", str(3 * BLOCK_SYMBOLS + 77), "--snr-db", "20")
        self.assertEqual(self.joined(2, "x.cs8"), self.soft_bits("x.cs8"))

    def test_noise_and_reports(self):
        """Each symbol keeps its own noise variance; an estimate is that of the whole; reports are of the part."""
        n = 5003
        self.make("x.cf32", "--symbols", str(n), "--snr-db", "20")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(n)]))
        for noise in (["--noise-file", "n.f32"], ["--noise-var", "auto", "-q"], ["--snr-db", "20"]):
            arguments = ["-o", "s8", *noise, "x.cf32"]
            self.assertEqual(self.joined(4, *arguments), self.soft_bits(*arguments), noise)
        result = self.ok(self.demod("--shard", "2/3", "--verify", "--stats", "x.cf32", "y.u8"))
        self.assertRegex(result.err, r"verify: 1668 of 1668 symbols checked[^\n]*\n(  .*\n)*  symbols +1668\n")


if __name__ == "__main__":
    sys.exit(main())
