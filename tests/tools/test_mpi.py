#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod-mpi: the bytes and reports of softqam-demod for any number of ranks on one machine; failures of one rank or
all.

Without softqam-demod-mpi or mpirun the exit status is 77.
"""

import os
import re
import shlex
import shutil
import signal
import stat
import sys

from tools_harness import (
    BACKEND, BLOCK_SYMBOLS, DEMOD_MPI, ENVIRONMENT, QUICK, SKIPPED, TIMEOUT, ToolTest, default_signals, main, pack, thorough,
)  # fmt: skip

MPIRUN = shutil.which("mpirun")
PROGRAM = "softqam-demod-mpi"
# Commands of softqam-gen and, for 1 and more ranks, of both demodulators: whole files in each format, with each kind of noise; a scale
# that is estimated from the symbols; parts; where a rank begins in a codeword, and between code blocks, however many there are; a
# recording, also without mpirun, which 0 ranks stand for.
CODEWORD = ["--c-init", "0x1357"]
COMMANDS = [
    ((5,), ["x.cs8", "--symbols", str(4 * BLOCK_SYMBOLS + 3)], ["-q"]),
    ((2,), ["x.cf32", "--symbols", "10007"], ["-o", "f32", "--noise-file", "n.f32", "--input-scale", "1/2"]),  # with a warning
    ((4,), ["x.cs16", "--symbols", "10007"], ["-o", "s16", "--noise-var", "auto", "--llr-limit", "2000", "--sign", "1", "--input-scale", "auto"]),
    ((3, 0), ["r.sigmf-meta", "-m", "qpsk", "--c-init", "5", "-o", "cs16", "--symbols", "5003"],
     ["-o", "hard", "--skip", "2", "--count", "6000"]),
    ((7,), ["x.cf32", "--symbols", "5"], []),
    *((ranks, ["x.cf32", "-m", name, *CODEWORD, "--symbols", str(n), "--bits", "sent"],
       ["-m", name, *CODEWORD, "-o", "s8", "--snr-db", "20", "-q", "--verify", "--compare", "sent", *more])
      for ranks, name, n, more in (((2,), "pi2-bpsk", 2 * BLOCK_SYMBOLS + 3, ["--skip", "1"]), ((5,), "64qam", 1001, ["--planes", "7"]),
                                   ((2,), "64qam", 1001, ["--planes", "20000"]))),
]  # fmt: skip


class MpiTest(ToolTest):
    uses_backend = True

    def command(self, n_ranks, *arguments, program=DEMOD_MPI):
        start = [MPIRUN, "-n", str(n_ranks), "--oversubscribe"] if n_ranks else []
        return [*start, program, "--backend", BACKEND, *arguments]

    def mpirun(self, n_ranks, *arguments, program=DEMOD_MPI, **options):
        return self.run_tool(*self.command(n_ranks, *arguments, program=program), env=ENVIRONMENT, stdin=None, **options)

    def says(self, result):
        """The lines of our program among mpirun's."""
        return [line for line in result.err.splitlines() if line.startswith(PROGRAM)]

    def one_says(self, *arguments):
        """Returns what softqam-demod says, as if it were our program."""
        return self.ok(self.demod(*arguments)).err.replace("softqam-demod:", PROGRAM + ":").splitlines()

    def rank_script(self, line):
        """A program that starts ours, differently for some of the ranks."""
        self.write("start", f'#!/bin/sh\n{line}\nexec {shlex.quote(DEMOD_MPI)} "$@"\n'.encode())
        os.chmod(self.path("start"), stat.S_IRWXU)
        return self.path("start")


class SameBytes(MpiTest):
    """The bytes are softqam-demod's."""

    def test_commands(self):
        self.write("n.f32", pack("f", [0.001 * (1 + i % 97) for i in range(10007)]))
        for ranks, generated, arguments in COMMANDS[::2] if QUICK else COMMANDS:
            self.make(*generated[:1], "--snr-db", "20", *generated[1:])
            expected = self.one_says(*arguments, generated[0], "y")
            for n_ranks in ranks[:1] if QUICK else ranks:
                said = self.says(self.ok(self.mpirun(n_ranks, *arguments, generated[0], "z")))
                without = lambda lines: [re.sub(r"about 1/\S+", "", line) for line in lines]  # rank 0's symbols say it
                self.assertEqual((without(said), self.read("z")), (without(expected), self.read("y")), (n_ranks, arguments))

    def test_reports(self):
        """One report, of all ranks."""
        self.make("x.cf32", "-m", "pi2-bpsk", "--symbols", "100001", "--snr-db", "25")
        arguments = ["-m", "pi2-bpsk", "--skip", "1", "--verify", "--stats", "-o", "s8", "--noise-var", "auto", "x.cf32"]
        one, result = self.one_says(*arguments, "y"), self.ok(self.mpirun(3, *arguments, "y"))
        rates = re.compile("^  (library|overall|backend)")
        several = [line for line in result.err.splitlines() if not rates.match(line)]
        self.assertEqual(several, [line for line in one if not rates.match(line)])


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
        """Also files that would be lost, as of softqam-demod; nor is a device there that is named."""
        os.symlink("x.cf32", self.path("link"))
        self.make("r.sigmf-meta", "--symbols", "1000")
        no_file = "not a regular file, so ranks cannot write at their offsets in it"
        no_device = ["--backend", "auto", "--device", "4095", "x.cf32", "y.u8"]
        cause = self.demod(*no_device).err.removeprefix("softqam-demod: ").rstrip("\n")
        self.assertIn("CUDA", cause)
        for arguments, code, message in (
            (["none", "y.u8"], 1, "none: No such file or directory"),
            (["x.cf32", "none/y.u8"], 1, "none/y.u8: No such file or directory"),
            (["x.cf32", "/dev/null"], 1, f"/dev/null: {no_file}"),
            (["-i", "cf32", "/dev/zero", "y.u8"], 1, "/dev/zero: not a regular file, so no part of it can be chosen"),
            (["-o", "s8", "--noise-file", "x.cf32", "x.cf32", "y.u8"], 1, "x.cf32: too many noise variances for the symbols of x.cf32"),
            (["--shard", "1/2", "x.cf32", "y.u8"], 2, "--shard: not for an MPI job, whose ranks are the parts"),
            (["x.cf32", "link"], 2, "link: is INPUT as well; give OUTPUT another name"),
            (["-o", "u8", "r.sigmf-meta", "r.sigmf-data"], 2, "r.sigmf-data: is INPUT's; give OUTPUT another name"),
            (no_device, 1, cause),
        ):  # fmt: skip
            self.fails_once(2, arguments, code, message)

    def test_one_rank_at_the_start(self):
        os.makedirs(self.path("d"))
        self.write("d/x.cf32", bytes(80))
        for line, message in (
            ("[ $OMPI_COMM_WORLD_RANK = 2 ] && cd /", "x.cf32: No such file or directory"),
            ("[ $OMPI_COMM_WORLD_RANK = 1 ] && cd d", "x.cf32: is not the same file for all ranks"),
        ):
            self.fails_once(4, ["x.cf32", "y.u8"], 1, message, program=self.rank_script(line))
        # The names are those of rank 0's folder once it has opened them.
        self.ok(self.mpirun(3, self.path("x.cf32"), "y.u8", program=self.rank_script("[ $OMPI_COMM_WORLD_RANK = 0 ] || cd /")))
        self.assertEqual(self.read("y.u8"), self.soft_bits("x.cf32"))

    def start_long(self):
        """A job that has begun to write and is far from its end; pids/ has the process of each rank. It writes little, or a
        rank might wait for a slow disk, deaf, for longer than the second that Open MPI gives it after SIGTERM."""
        with open(self.path("long.cs8"), "wb") as file:
            file.truncate(2 * 200000000)
        os.makedirs(self.path("pids"), exist_ok=True)
        program = self.rank_script("echo $$ >pids/$OMPI_COMM_WORLD_RANK")
        self.before = self.files()
        command = self.command(4, "-o", "bits", "long.cs8", "y.u8", program=program)
        process = self.start(*command, env=ENVIRONMENT, stdin=None, preexec_fn=default_signals)
        self.wait_for_temporary(1)
        temporary = self.path(next(f for f in self.files() if f.startswith(".softqam-")))
        self.wait_for(lambda: os.path.getsize(temporary) > 0)
        return process

    def ended(self, process):
        """The exit status and what was said, when nothing has been left."""
        err = process.stderr.read().decode()
        self.assertNotEqual(process.wait(TIMEOUT), 0)
        self.assertEqual((self.files(), self.read("y.u8")), (self.before, b"old"))
        return process.returncode, err

    @thorough
    def test_amid_work(self):
        """The last rank finds its part cut off; signals to mpirun, or to the rank that made the temporary file, which others remove."""
        process = self.start_long()
        os.truncate(self.path("long.cs8"), 2 * 150000010)
        code, err = self.ended(process)
        self.assertEqual((len(re.findall(r"^softqam-demod-mpi: long\.cs8: became shorter while it was read$", err, re.M)), code), (1, 1), err)
        for number, rank in ((signal.SIGTERM, None), (signal.SIGKILL, 0)):
            process = self.start_long()
            os.kill(process.pid if rank is None else int(self.read(f"pids/{rank}")), number)
            self.ended(process)


if not os.path.exists(DEMOD_MPI) or not MPIRUN:
    print("skipped: no", "mpirun" if os.path.exists(DEMOD_MPI) else "softqam-demod-mpi")
    sys.exit(SKIPPED)
main()
