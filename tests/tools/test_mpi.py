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

from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEMOD_MPI, ENVIRONMENT, QUICK, SKIPPED, TIMEOUT, Result, ToolTest, default_signals, limit_file_size, main,
    pack, thorough,
)  # fmt: skip

MPIRUN = shutil.which("mpirun")
PROGRAM = "softqam-demod-mpi"


class MpiTest(ToolTest):
    uses_backend = True

    def command(self, n_ranks, *arguments, program=DEMOD_MPI):
        return [MPIRUN, "-n", str(n_ranks), "--oversubscribe", program, "--backend", BACKEND, *arguments]

    def mpirun(self, n_ranks, *arguments, program=DEMOD_MPI, **options):
        return self.run_tool(*self.command(n_ranks, *arguments, program=program), env=ENVIRONMENT, stdin=None, **options)

    def says(self, result):
        """The lines of our program among mpirun's."""
        return [line for line in result.err.splitlines() if line.startswith(PROGRAM)]

    def one_says(self, *arguments):
        """What softqam-demod says, as if it were our program."""
        return self.ok(self.demod(*arguments)).err.replace("softqam-demod:", PROGRAM + ":").splitlines()

    def rank_script(self, line):
        """A program that starts ours, differently for some of the ranks."""
        self.write("start", f'#!/bin/sh\n{line}\nexec {DEMOD_MPI} "$@"\n'.encode())
        os.chmod(self.path("start"), stat.S_IRWXU)
        return self.path("start")

    def record(self, name, data, datatype):
        meta = {"global": {"core:datatype": datatype, "core:version": "1.0.0"}, "captures": [], "annotations": []}
        self.write(name + ".sigmf-data", data)
        self.write(name + ".sigmf-meta", json.dumps(meta).encode())


class SameBytes(MpiTest):
    """As softqam-demod's."""

    def test_ranks(self):
        """One to seven, more than there are symbols, more than one round and not as many for all; and without mpirun."""
        self.make("x.cs8", "--symbols", str(3 * (2 * BLOCK_SYMBOLS + 1) - 1), "--snr-db", "20")
        data, scale = self.read("x.cs8"), ["--input-scale", "1/64"]
        expected = self.soft_bits(*scale, "x.cs8")
        for n, ranks in ((len(data) // 2, (3,)), (100003, (1, 4) if QUICK else range(1, 8)), (0, (7,)), (1, (7,)), (5, (7,))):
            self.write("x.cs8", data[: 2 * n])
            for n_ranks in ranks:
                self.assertEqual(self.ok(self.mpirun(n_ranks, *scale, "x.cs8", "y.u8")).err, "")
                self.assertEqual(self.read("y.u8"), expected[: 8 * n], (n, n_ranks))
        self.ok(self.run_tool(DEMOD_MPI, "--backend", BACKEND, *scale, "x.cs8", "z.u8", env=ENVIRONMENT, stdin=None))
        self.assertEqual((self.read("z.u8"), self.files()), (expected[: 8 * 5], ["x.cs8", "y.u8", "z.u8"]))

    def test_parts_and_scales(self):
        """A scale is told from the symbols that one process tells it from; a warning comes once."""
        self.make("x.cs8", "--symbols", "5003", "--snr-db", "20")
        self.write("x.cu8", bytes(byte ^ 0x80 for byte in self.read("x.cs8")))
        arguments = ["--skip", "2", "--count", "5000", "--input-scale"]
        one = self.one_says(*arguments, "auto", "x.cu8", "y.u8")
        self.assertEqual(self.says(self.ok(self.mpirun(3, *arguments, "auto", "x.cu8", "z.u8"))), one)
        self.assertEqual(self.read("z.u8"), self.read("y.u8"))
        (warning,) = self.says(self.ok(self.mpirun(3, *arguments, "1", "x.cu8", "z.u8")))
        self.assertIn("warning: mean symbol energy", warning)

    def test_formats_and_noise(self):
        self.make("x.cf32", "--symbols", "10007", "--snr-db", "20")
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(10007)]))
        for ranks, format_, noise in (
            (2, "f32", ["--noise-file", "n.f32"]), (3, "s8", ["-q", "--noise-var", "auto"]),
            (5, "f16", ["--snr-db", "20", "--sign", "1"]), (4, "s16", ["--snr-db", "20", "--llr-limit", "2000"]),
        ):  # fmt: skip
            arguments = ["-o", format_, *noise, "x.cf32"]
            self.ok(self.mpirun(ranks, *arguments, "y"))
            self.assertEqual(self.read("y"), self.soft_bits(*arguments), noise)

    def test_modulations(self):
        """Each rank knows where in the codeword it begins; more than one block for some. Ranks begin and end between code
        blocks, however many there are."""
        for name, n in (("pi2-bpsk", 10007), ("64qam", 1001), ("1024qam", 2), ("pi2-bpsk", 2 * BLOCK_SYMBOLS + 3)):
            self.make("x.cf32", "-m", name, "--c-init", "0x1357", "--symbols", str(n), "--snr-db", "40", "--bits", "sent")
            for planes in ([], ["--planes", "7"], ["--planes", "600"], ["--planes", "20000"]) if name == "64qam" else ([],):
                arguments = ["-m", name, "--c-init", "0x1357", "--skip", "0" if planes else "1", *planes, "-q", "--verify", "--compare", "sent",
                             "-o", "s8", "--snr-db", "40", "x.cf32"]  # fmt: skip
                expected = self.one_says(*arguments, "y")
                for ranks in (2,) if QUICK else (2, 5):
                    self.assertEqual(self.says(self.ok(self.mpirun(ranks, *arguments, "z"))), expected)
                    self.assertEqual(self.read("z"), self.read("y"), (name, ranks, planes))

    def test_reports(self):
        """One report, of all ranks."""
        self.make("x.cf32", "-m", "pi2-bpsk", "--symbols", "100001", "--snr-db", "25")
        arguments = ["-m", "pi2-bpsk", "--skip", "1", "--verify", "--stats", "-o", "s8", "--noise-var", "auto", "x.cf32"]
        one, result = self.one_says(*arguments, "y"), self.ok(self.mpirun(3, *arguments, "y"))
        rates = re.compile("^  (library|overall|backend)")
        several = [line for line in result.err.splitlines() if not rates.match(line)]
        self.assertEqual(several, [line for line in one if not rates.match(line)])
        lines = self.says(self.ok(self.mpirun(3, "-q", "--progress", "always", "x.cf32", "y.u8")))
        for line in lines:
            self.assertRegex(line, r"^softqam-demod-mpi: \d+\.\d % of 33333 symbols done, \S+ Msym/s, \d+ s left$")
        self.assertIn("100.0 %", lines[-1])
        for option, start in (("--help", "Usage: softqam-demod-mpi "), ("--version", "softqam-demod-mpi ")):
            result = self.ok(self.run_tool(DEMOD_MPI, option))
            self.assertEqual((result.out.decode().startswith(start), result.err), (True, ""))

    def test_sigmf(self):
        data = self.read(self.make("x.cs16", "--symbols", "5003", "--snr-db", "20"))
        self.record("r", data, "ci16_le")
        self.ok(self.mpirun(3, "r", "several"))
        self.assertEqual(self.read("several"), self.soft_bits("x.cs16"))


class Failures(MpiTest):
    """One clear message, and no output file left."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "1000", "--snr-db", "20")
        self.write("y.u8", b"old")

    def fails_once(self, n_ranks, arguments, code, message, **options):
        before = self.snapshot()
        result = self.mpirun(n_ranks, *arguments, **options)
        self.assertEqual((self.says(result), result.code), ([f"{PROGRAM}: {message}"], code), result.err)
        self.assertEqual(self.snapshot(), before)

    def test_all_ranks(self):
        """Also files that would be lost, as of softqam-demod."""
        os.symlink("x.cf32", self.path("link"))
        self.record("r", self.read("x.cf32"), "cf32_le")
        no_file = "not a regular file, so ranks cannot write at their offsets in it"
        for arguments, code, message in (
            (["none", "y.u8"], 1, "none: No such file or directory"),
            (["x.cf32", "none/y.u8"], 1, "none/y.u8: No such file or directory"),
            (["x.cf32", "."], 1, ".: Is a directory"),
            (["x.cf32", "/dev/null"], 1, f"/dev/null: {no_file}"),
            (["-i", "cf32", "/dev/zero", "y.u8"], 1, "/dev/zero: not a regular file, so no part of it can be chosen"),
            (["-o", "s8", "--noise-file", "x.cf32", "x.cf32", "y.u8"], 1, "x.cf32: too many noise variances for the symbols of x.cf32"),
            (["--shard", "1/2", "x.cf32", "y.u8"], 2, "--shard: not for an MPI job, whose ranks are the parts"),
            (["x.cf32"], 2, "needs 2 operands (INPUT and OUTPUT), but got 1; --help explains"),
            (["x.cf32", "link"], 2, "link: is INPUT as well; give OUTPUT another name"),
            (["-o", "u8", "r.sigmf-meta", "r.sigmf-data"], 2, "r.sigmf-data: is INPUT as well; give OUTPUT another name"),
        ):  # fmt: skip
            self.fails_once(2 if QUICK else 3, arguments, code, message)
        # Nor is a device there that is named.
        arguments = ["--backend", "auto", "--device", "4095", "x.cf32", "y.u8"]
        cause = self.demod(*arguments).err.removeprefix("softqam-demod: ").rstrip("\n")
        self.assertIn("CUDA", cause)
        self.fails_once(2, arguments, 1, cause)

    def test_full_disk(self):
        """Its cause is told, as MPI does not; a limit stands for it."""
        self.make("x.cf32", "--symbols", "30000")
        self.refuses(DEMOD_MPI, ["x.cf32", "y.u8"], 1, "y.u8: File too large", env=ENVIRONMENT, **limit_file_size(100000))

    def test_one_rank_at_the_start(self):
        for line, message in (
            ("[ $OMPI_COMM_WORLD_RANK = 2 ] && cd /", "x.cf32: No such file or directory"),
            ("[ $OMPI_COMM_WORLD_RANK = 1 ] && cd d", "x.cf32: is not the same file for all ranks"),
        ):
            os.makedirs(self.path("d"), exist_ok=True)
            self.write("d/x.cf32", bytes(80))
            self.fails_once(4, ["x.cf32", "y.u8"], 1, message, program=self.rank_script(line))
        # The names are those of rank 0's folder once it has opened them.
        self.ok(self.mpirun(3, self.path("x.cf32"), "y.u8", program=self.rank_script("[ $OMPI_COMM_WORLD_RANK = 0 ] || cd /")))
        self.assertEqual(self.read("y.u8"), self.soft_bits("x.cf32"))

    def start_long(self, n_ranks=4):
        """A job that has begun to write and is far from its end."""
        with open(self.path("long.cs8"), "wb") as file:
            file.truncate(2 * 800000000)
        self.before = self.files()
        process = self.start(*self.command(n_ranks, "long.cs8", "y.u8"), env=ENVIRONMENT, stdin=None, preexec_fn=default_signals)
        self.wait_for_temporary(1)
        temporary = self.path(next(f for f in self.files() if f.startswith(".softqam-")))
        self.wait_for(lambda: os.path.getsize(temporary) > 0)
        return process

    def ended(self, process):
        err = process.stderr.read()
        result = Result(process.wait(TIMEOUT), b"", err)
        self.assertNotEqual(result.code, 0)
        self.assertEqual((self.files(), self.read("y.u8")), (self.before, b"old"))
        return result

    def test_one_rank_amid_work(self):
        """The last rank finds its part cut off."""
        process = self.start_long()
        os.truncate(self.path("long.cs8"), 2 * 600000010)
        result = self.ended(process)
        (said,) = self.says(result)
        self.assertRegex(said, r"^softqam-demod-mpi: long\.cs8: became shorter while it was read$")
        self.assertEqual(result.code, 1)

    def rank_process(self, rank):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    is_rank = f"OMPI_COMM_WORLD_RANK={rank}".encode() in file.read().split(b"\0")
                if is_rank and os.readlink(f"/proc/{pid}/cwd") == self.directory:
                    return int(pid)
            except OSError:
                pass
        return self.fail(f"no process of rank {rank}")

    @thorough
    def test_signals(self):
        """To mpirun, or to a rank, also the one that made the temporary file: the others remove it."""
        for number, rank in ((signal.SIGINT, None), (signal.SIGTERM, None), (signal.SIGKILL, 0), (signal.SIGKILL, 2)):
            process = self.start_long()
            os.kill(process.pid if rank is None else self.rank_process(rank), number)
            self.ended(process)


def start():
    if not os.path.exists(DEMOD_MPI) or not MPIRUN:
        print("skipped: no", "mpirun" if os.path.exists(DEMOD_MPI) else "softqam-demod-mpi")
        return SKIPPED
    return main()


if __name__ == "__main__":
    sys.exit(start())
