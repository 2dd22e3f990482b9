#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod-mpi: the bytes of softqam-demod for any number of ranks on one machine; failures of one rank or all.

Without softqam-demod-mpi or mpirun the exit status is 77.
"""

import json
import os
import re
import shutil
import signal
import stat
import sys
import time

from mpi_environment import MPI_ENVIRONMENT
from output_formats import OUTPUT_FORMATS
from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEMOD_MPI, SKIPPED, TIMEOUT, Result, ToolTest, default_signals, main, pack,
)  # fmt: skip

MPIRUN = shutil.which("mpirun")
PROGRAM = "softqam-demod-mpi"

ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT}


class MpiTest(ToolTest):
    uses_backend = True

    def mpirun(self, n_ranks, *arguments, program=DEMOD_MPI, **options):
        command = [MPIRUN, "-n", str(n_ranks), "--oversubscribe", program, "--backend", BACKEND, *arguments]
        return self.run_tool(*command, env=ENVIRONMENT, stdin=None, **options)

    def says(self, result):
        """The lines of our program among mpirun's."""
        return [line for line in result.err.splitlines() if line.startswith(PROGRAM)]

    def fails_once(self, result, code, message):
        self.assertEqual(self.says(result), [f"{PROGRAM}: {message}"], result.err)
        self.assertEqual(result.code, code)

    def rank_script(self, *lines):
        """A program that starts ours, differently for some of the ranks."""
        self.write("start", "\n".join(["#!/bin/sh", *lines, f'exec {DEMOD_MPI} "$@"', ""]).encode())
        os.chmod(self.path("start"), stat.S_IRWXU)
        return self.path("start")


class SameBytes(MpiTest):
    """As softqam-demod's."""

    def test_ranks(self):
        self.make("x.cs16", "--symbols", "100003", "--snr-db", "20")
        scale = ["--input-scale", "1/8192"]
        expected = self.soft_bits(*scale, "x.cs16")
        for n_ranks in range(1, 8):
            self.assertEqual(self.ok(self.mpirun(n_ranks, *scale, "x.cs16", "y.u8")).err, "")
            self.assertEqual(self.read("y.u8"), expected, n_ranks)
        self.assertEqual(self.files(), ["x.cs16", "y.u8"])

    def test_parts_scales_and_formats(self):
        """A scale is told from the symbols that one process tells it from; a warning comes once."""
        self.make("x.cs8", "--symbols", "5003", "--snr-db", "20")
        self.write("x.cu8", bytes(byte ^ 0x80 for byte in self.read("x.cs8")) + b"1")
        arguments = ["--partial", "ignore", "--skip", "2", "--count", "5000", "--input-scale"]
        one = self.ok(self.demod(*arguments, "auto", "x.cu8", "y.u8"))
        several = self.ok(self.mpirun(3, *arguments, "auto", "x.cu8", "z.u8"))
        self.assertEqual(self.read("z.u8"), self.read("y.u8"))
        self.assertEqual(self.says(several), [one.err.replace("softqam-demod:", PROGRAM + ":").rstrip("\n")])
        (warning,) = self.says(self.ok(self.mpirun(3, *arguments, "1", "x.cu8", "z.u8")))
        self.assertIn("warning: mean symbol energy", warning)

    def test_ranks_with_nothing_to_do(self):
        self.make("x.cf32", "--symbols", "5", "--snr-db", "20")
        data, expected = self.read("x.cf32"), self.soft_bits("x.cf32")
        for n in (0, 1, 5):
            self.write("y.cf32", data[: 8 * n])
            self.ok(self.mpirun(7, "y.cf32", "y.u8"))
            self.assertEqual(self.read("y.u8"), expected[: 8 * n], n)

    def test_blocks(self):
        """More than one round, and not as many for all."""
        n = 3 * (2 * BLOCK_SYMBOLS + 1) - 1
        self.make("x.cs8", "--symbols", str(n), "--snr-db", "20")
        self.ok(self.mpirun(3, "x.cs8", "y.u8"))
        self.assertEqual(self.read("y.u8"), self.soft_bits("x.cs8"))

    def test_formats_and_noise(self):
        n = 10007
        self.make("x.cf32", "--symbols", str(n), "--snr-db", "20")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(n)]))
        for ranks, format_, noise in (
            (2, "f32", ["--noise-file", "n.f32"]), (3, "s8", ["-q", "--noise-var", "auto"]),
            (5, "f16", ["--snr-db", "20", "--sign", "1"]), (4, "s16", ["--snr-db", "20", "--llr-limit", "2000"]),
        ):  # fmt: skip
            arguments = ["-o", format_, *noise, "x.cf32"]
            self.ok(self.mpirun(ranks, *arguments, "y"))
            self.assertEqual(self.read("y"), self.soft_bits(*arguments), noise)

    def test_modulations(self):
        """Each rank knows where in the codeword it begins; more than one block for some."""
        for name, n in (("pi2-bpsk", 10007), ("64qam", 1001), ("1024qam", 2), ("pi2-bpsk", 2 * BLOCK_SYMBOLS + 3)):
            options = ["-m", name, "--c-init", "0x1357", "--skip", "1"]
            self.make("x.cf32", *options[:4], "--symbols", str(n), "--snr-db", "40", "--bits", "sent")
            arguments = [*options, "-q", "--verify", "--compare", "sent", "-o", "s8", "--snr-db", "40", "x.cf32"]
            expected = self.ok(self.demod(*arguments, "y")).err.replace("softqam-demod:", PROGRAM + ":").splitlines()
            for ranks in (1, 2, 5):
                self.assertEqual(self.says(self.ok(self.mpirun(ranks, *arguments, "z"))), expected)
                self.assertEqual(self.read("z"), self.read("y"), (name, ranks))
        stats = ["--stats=json", "-o", "s8", "--noise-var", "auto", "-m", "pi2-bpsk", "--skip", "1", "-q", "x.cf32"]
        one, several = (json.loads(self.ok(result).err.splitlines()[0]) for result in
                        (self.demod(*stats, "y"), self.mpirun(3, *stats, "z")))  # fmt: skip
        for key in ("symbols", "n0", "erased", "saturated_share"):
            self.assertEqual(one[key], several[key])
        self.assertAlmostEqual(one["evm"], several["evm"], places=6)

    def test_planes(self):
        """Ranks begin and end between code blocks, however many there are."""
        self.make("x.cf32", "-m", "64qam", "--symbols", "10007", "--snr-db", "20")
        for block_symbols in (7, 1000, 6000, 20000):
            arguments = ["-m", "64qam", "-q", "-o", "f16", "--snr-db", "20", "--planes", str(block_symbols), "x.cf32"]
            expected = self.soft_bits(*arguments)
            for ranks in (1, 3):
                self.ok(self.mpirun(ranks, *arguments, "--verify", "y"))
                self.assertEqual(self.read("y"), expected, (block_symbols, ranks))

    def test_reports(self):
        """One report, of all ranks."""
        self.make("x.cf32", "--symbols", "100001", "--snr-db", "25")
        arguments = ["--verify", "--stats", "-o", "s8", "--noise-var", "auto", "x.cf32"]
        one = self.ok(self.demod(*arguments, "y")).err.replace("softqam-demod:", PROGRAM + ":").splitlines()
        result = self.ok(self.mpirun(3, *arguments, "y"))
        rates = re.compile("^  (library|overall|backend)")
        several = [line for line in result.err.splitlines() if not rates.match(line)]
        self.assertEqual(several, [line for line in one if not rates.match(line)] + ["  ranks      3"])
        result = self.ok(self.mpirun(3, "-q", "--progress", "always", "x.cf32", "y.u8"))
        for line in self.says(result):
            self.assertRegex(line, r"^softqam-demod-mpi: \d+\.\d % of 100001 symbols done, \S+ Msym/s, \d+ s left$")
        self.assertIn("100.0 %", self.says(result)[-1])

    def test_sigmf(self):
        """A recording as of softqam-demod --no-hash, but for the name of the tool."""
        data = self.read(self.make("x.cs16", "--symbols", "5003", "--snr-db", "20"))
        self.write("r.sigmf-data", b"".join(data[i : i + 2][::-1] for i in range(0, len(data), 2)))
        meta = {"global": {"core:datatype": "ci16_be", "core:version": "1.0.0"}, "captures": [], "annotations": []}
        self.write("r.sigmf-meta", json.dumps(meta).encode())
        self.ok(self.demod("--no-hash", "r", "one"))
        self.ok(self.mpirun(3, "r", "several"))
        self.assertEqual(self.read("several.sigmf-data"), self.soft_bits("x.cs16"))
        text = self.read("one.sigmf-meta").replace(b"softqam-demod", PROGRAM.encode())
        self.assertEqual(self.read("several.sigmf-meta"), text)
        self.assertEqual(len(self.files()), 7)

    def test_mode_and_replacement(self):
        self.make("x.cf32", "--symbols", "100")
        self.write("y.u8", b"old and longer" * 1000)
        os.chmod(self.path("y.u8"), 0o640)
        self.ok(self.mpirun(2, "x.cf32", "y.u8"))
        self.assertEqual(self.read("y.u8"), self.soft_bits("x.cf32"))
        self.assertEqual(os.stat(self.path("y.u8")).st_mode & 0o777, 0o640)

    def test_without_mpirun(self):
        self.make("x.cf32", "--symbols", "100")
        self.ok(self.run_tool(DEMOD_MPI, "--backend", BACKEND, "x.cf32", "y.u8", env=ENVIRONMENT, stdin=None))
        self.assertEqual(self.read("y.u8"), self.soft_bits("x.cf32"))


class Failures(MpiTest):
    """One clear message, and no output file left."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "1000", "--snr-db", "20")
        self.write("y.u8", b"old")
        self.before = self.files()

    def unchanged(self, result, code, message):
        self.fails_once(result, code, message)
        self.assertEqual((self.files(), self.read("y.u8")), (self.before, b"old"))

    def test_all_ranks(self):
        os.mkfifo(self.path("fifo"))
        self.before = self.files()
        for arguments, code, message in (
            (["none", "y.u8"], 1, "none: No such file or directory"),
            (["x.cf32", "none/y.u8"], 1, "none/y.u8: No such file or directory"),
            (["x.cf32", "."], 1, ".: Is a directory"),
            (["x.cf32", "/dev/null"], 1, "/dev/null: not a regular file, so ranks cannot write to their places in it"),
            (["x.cf32", "-"], 1, "standard output: not a regular file, so ranks cannot write to their places in it"),
            (["x.cf32", "fifo"], 1, "fifo: not a regular file, so ranks cannot write to their places in it"),
            (["-i", "cf32", "/dev/zero", "y.u8"], 1, "/dev/zero: not a regular file, so no part of it can be chosen"),
            (["--shard", "1/2", "x.cf32", "y.u8"], 2, "--shard: no such option; --help lists them"),
            (["x.cf32"], 2, "needs 2 operands (INPUT and OUTPUT), but got 1; --help explains"),
            (["--threads", "0", "x.cf32", "y.u8"], 2, "--threads: '0' is not a whole number from 1 to 1024"),
            (["-o", "s8", "--noise-file", "x.cf32", "x.cf32", "y.u8"], 1,
             "x.cf32: has 2000 noise variances, but x.cf32 has 1000 symbols"),
        ):  # fmt: skip
            self.unchanged(self.mpirun(3, *arguments), code, message)

    def test_device_that_is_not_there(self):
        """Nor is it with softqam-demod, where one is named."""
        arguments = ["--backend", "auto", "--device", "4095", "x.cf32", "y.u8"]
        cause = self.demod(*arguments).err.replace("softqam-demod: ", "", 1).rstrip("\n")
        self.assertIn("CUDA", cause)
        self.unchanged(self.mpirun(2, *arguments), 1, cause)

    def test_files_that_would_be_lost(self):
        """As of softqam-demod, with one message."""
        self.write("n0", bytes(4000))
        os.symlink("x.cf32", self.path("link"))
        meta = {"global": {"core:datatype": "cf32_le", "core:version": "1.0.0"}, "captures": [], "annotations": []}
        self.write("r.sigmf-meta", json.dumps(meta).encode())
        self.write("r.sigmf-data", self.read("x.cf32"))
        self.before = self.files()
        contents = {name: self.read(name) for name in self.before}
        for arguments, cause in (
            (["y.u8", "x.cf32"], "y.u8: suffix .u8 means soft bits or LLRs, not symbols; --input-format overrides it"),
            (["r", "x.cf32"], "x.cf32: suffix .cf32 means symbols, not soft bits or LLRs; --output-format overrides it"),
            (["y.wav", "y"],
             "y.wav: suffix .wav is unknown; --input-format names the format: cf32, cs16, cs8, cf16, cu8, cs32, cf64"),
            (["x.cf32", "y.s32"], "y.s32: suffix .s32 is unknown; --output-format names the format: " + ", ".join(OUTPUT_FORMATS)),
            (["-i", "cs16", "r.sigmf-meta", "y"],
             "r.sigmf-meta: metadata of SigMF, not samples; give the .sigmf-data, or drop --input-format"),
            (["-o", "u8", "x.cf32", "./x.cf32"], "./x.cf32: is INPUT as well; give OUTPUT another name"),
            (["x.cf32", "link"], "link: is INPUT as well; give OUTPUT another name"),
            (["-o", "s8", "--noise-file", "n0", "x.cf32", "n0"], "n0: is --noise-file as well; give OUTPUT another name"),
            (["r.sigmf-meta", "r"], "r.sigmf-data: is INPUT's; give OUTPUT another name"),
        ):  # fmt: skip
            self.unchanged(self.mpirun(2, *arguments), 2, cause)
            self.assertEqual({name: self.read(name) for name in self.before}, contents)

    def test_ranks_in_other_folders(self):
        """The names are those of rank 0's folder once it has opened them."""
        script = self.rank_script("[ $OMPI_COMM_WORLD_RANK = 0 ] || cd /")
        self.ok(self.mpirun(3, self.path("x.cf32"), "y.u8", program=script))
        self.assertEqual(self.read("y.u8"), self.soft_bits("x.cf32"))

    def test_one_rank_at_the_start(self):
        for lines, message in (
            (['[ $OMPI_COMM_WORLD_RANK = 2 ] && cd /'], "x.cf32: No such file or directory"),
            (['[ $OMPI_COMM_WORLD_RANK = 1 ] && { mkdir d; cd d; head -c 80 ../x.cf32 >x.cf32; }'],
             "x.cf32: is not the same file for all ranks: one has 10 symbols, one 1000"),
        ):  # fmt: skip
            script = self.rank_script(*lines)
            result = self.mpirun(4, "x.cf32", "y.u8", program=script)
            shutil.rmtree(self.path("d"), ignore_errors=True)
            os.unlink(script)
            self.unchanged(result, 1, message)

    def start_long(self, n_ranks=4):
        """A job that has begun to write and is far from its end."""
        with open(self.path("long.cs8"), "wb") as file:
            file.truncate(2 * 800000000)
        self.before = self.files()
        command = [MPIRUN, "-n", str(n_ranks), "--oversubscribe", DEMOD_MPI, "--backend", BACKEND, "long.cs8", "y.u8"]
        process = self.start(*command, env=ENVIRONMENT, stdin=None, preexec_fn=default_signals)
        self.wait_for_temporary(1)
        temporary = self.path(next(f for f in self.files() if f.startswith(".softqam-")))
        deadline = time.monotonic() + 60
        while os.path.getsize(temporary) == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    def ended(self, process):
        err = process.stderr.read()
        return Result(process.wait(TIMEOUT), b"", err)

    def test_one_rank_amid_work(self):
        """The last rank finds its share cut off."""
        process = self.start_long()
        os.truncate(self.path("long.cs8"), 2 * 600000010)
        result = self.ended(process)
        said = self.says(result)
        self.assertEqual(len(said), 1, result.err)
        self.assertRegex(said[0], r"^softqam-demod-mpi: long\.cs8: became shorter while it was read: \d+ bytes, but there "
                                  r"were 400000000$")  # fmt: skip
        self.assertEqual(result.code, 1)
        self.assertEqual((self.files(), self.read("y.u8")), (self.before, b"old"))

    def rank_process(self, rank):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
                if (
                    os.readlink(f"/proc/{pid}/cwd") == self.directory
                    and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment
                ):
                    return int(pid)
            except OSError:
                pass
        return self.fail(f"no process of rank {rank}")

    def test_a_rank_is_killed(self):
        """Also the one that made the temporary file: the others remove it."""
        for rank in (0, 2):
            process = self.start_long()
            os.kill(self.rank_process(rank), signal.SIGKILL)
            self.assertNotEqual(self.ended(process).code, 0)
            self.assertEqual((self.files(), self.read("y.u8")), (self.before, b"old"))

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start_long()
            process.send_signal(number)
            self.assertNotEqual(self.ended(process).code, 0)
            self.assertEqual((self.files(), self.read("y.u8")), (self.before, b"old"))

    def test_help_and_version_once(self):
        for option, start in (("--help", "Usage: softqam-demod-mpi "), ("--version", "softqam-demod-mpi ")):
            result = self.ok(self.mpirun(3, option))
            self.assertEqual(result.out.decode().count(start), 1)
            self.assertEqual(result.err, "")
        for word in ("--shard", "--no-hash", "SIGPIPE"):
            self.assertNotIn(word, self.mpirun(1, "--help").out.decode())


def start():
    if not os.path.exists(DEMOD_MPI) or not MPIRUN:
        print("skipped: no", "mpirun" if os.path.exists(DEMOD_MPI) else "softqam-demod-mpi")
        return SKIPPED
    return main()


if __name__ == "__main__":
    sys.exit(start())
