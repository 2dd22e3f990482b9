#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod on long work: what overlaps, what ends it early, files that are huge or change while they are read.
"""

import os
import signal
import sys
import time

from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEMOD, GEN, TIMEOUT, ToolTest, default_signals, main, open_terminal, pack, rest_of_terminal,
)  # fmt: skip

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
        for output, code, message in (("-", -signal.SIGPIPE, b""), ("/dev/full", 1, full)):
            process = self.start_cs8("-", output, preexec_fn=default_signals)
            process.stdout.close()
            process.stdin.write(bytes(2 * BLOCK_SYMBOLS + 2))
            self.assertEqual((process.stderr.read(), process.wait(TIMEOUT)), (message, code))


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
        """What is there at the end counts, and the tool says so; not of a part of a symbol, nor in a shard."""
        grown = self.expected + self.expected[: 8 * 500]
        for data, arguments, out, message, code in (
            (self.data[: 8 * 500], [], grown, "x.cf32: grew while it was read: 500 symbols of the output are of what came later\n", 0),
            (self.data[: 8 * 500], ["-q"], grown, "", 0),
            (b"123", [], self.expected, "x.cf32: not a whole number of symbols: 3 bytes left over (a symbol has 8)\n", 1),
            (self.data, ["--shard", "2/2"], self.expected[8 * 1000 :], "", 0),
        ):
            self.write("x.cf32", self.data)
            self.assertEqual(self.demod_while(lambda: self.append(data), *arguments), (out, message, code))
        self.write("x.cf32", self.data)
        for line in self.demod_while(lambda: self.append(self.data), "-q", "--progress", "always")[1].splitlines():
            self.assertRegex(line, r"^\d+ symbols done, \S+ Msym/s$")  # not of more than 100 %

    def test_shrinking(self):
        """Symbols and noise variances."""
        self.write("n0", bytes(8000))
        shrunk = "{}: became shorter while it was read: {} bytes, but there were {}\n"
        noise = ["--noise-file", "n0", "-o", "s8"]
        for name, n, arguments, input_, left, n_before in (
            ("x.cf32", 5600, [], "x.cf32", 5600, 16000), ("x.cf32", 5605, [], "x.cf32", 5605, 16000), ("x.cf32", 0, [], "x.cf32", 0, 16000),
            ("n0", 12, noise, "x.cf32", 12, 8000),
        ):  # fmt: skip
            self.write("x.cf32", self.data)
            before = self.files()
            out, err, code = self.demod_while(lambda: os.truncate(self.path(name), n), *arguments, name=name, input_=input_)
            self.assertEqual((err, code, self.files()), (shrunk.format(name, left, n_before), 1, before))
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


class Shards(ToolTest):
    """The parts of --shard, one after the other, are the whole."""

    uses_backend = True

    def joined(self, n_shards, *arguments):
        return b"".join(self.soft_bits("--shard", f"{k}/{n_shards}", *arguments) for k in range(1, n_shards + 1))

    def test_lengths(self):
        """Few symbols and more than a block; sizes differ by one symbol at most, also where there are many."""
        self.make("x.cs16", "--symbols", "1009", "--snr-db", "20")
        data, expected = self.read("x.cs16"), self.soft_bits("x.cs16")
        for n in (0, 1, 6, 1009):
            self.write("y.cs16", data[: 4 * n])
            for n_shards in (1, 2, 7):
                self.assertEqual(self.joined(n_shards, "y.cs16"), expected[: 8 * n], (n, n_shards))
        sizes = {len(self.soft_bits("--shard", f"{k}/100", "x.cs16")) for k in (1, 2, 50, 91, 99, 100)}
        self.assertEqual((sizes, len(self.soft_bits("--shard", "1000000/1000000", "x.cs16"))), ({80, 88}, 8))
        self.make("x.cs8", "--symbols", str(3 * BLOCK_SYMBOLS + 77), "--snr-db", "20")
        self.assertEqual(self.joined(2, "x.cs8"), self.soft_bits("x.cs8"))

    def test_reports(self):
        """Of the part."""
        self.make("x.cf32", "--symbols", "5003", "--snr-db", "20")
        result = self.ok(self.demod("--shard", "2/3", "--verify", "--stats", "x.cf32", "y.u8"))
        self.assertRegex(result.err, r"verify: all 1668 symbols checked[^\n]*\n  symbols    1668\n")


if __name__ == "__main__":
    sys.exit(main())
