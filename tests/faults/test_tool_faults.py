#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every call that a tool makes of the system, and of CUDA, fails once, in turn.

    test_tool_faults.py FOLDER [TEST...]

FOLDER has the programs linked with fault.c, which the environment tells what is to fail. Whatever that is, the tool
ends: either it has done its work, or its exit status is 1 and one line on standard error says why; no file is left but
the older one of OUTPUT's name; memory, threads and descriptors are given back. Interrupted and partial reads and writes
are no failures.
"""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, "tools"))
from environments import MPI_ENVIRONMENT

FOLDER = os.path.abspath(sys.argv.pop(1))
DEMOD, GEN, MPI = (os.path.join(FOLDER, name) for name in ("softqam-demod", "softqam-gen", "softqam-demod-mpi"))
MPIRUN = shutil.which("mpirun")
STRIDE = int(os.environ.get("SOFTQAM_TEST_STRIDE", "1"))  # for commands with many calls
TIMEOUT = 60
OLD = b"what was there before"
ALL_KINDS = ("error", "interrupt", "short")
REPORT = re.compile(r"failed (\w+), blocks (-?\d+), threads (-?\d+), descriptors (-?\d+)\n")


class Outcome:
    """Holds what a run among these files, and no others, left behind: exit status, standard output and error, files, and the line
    of fault.c. A file's content is bytes, or the name that it is a link to."""

    # One for all runs: in a new one each fsync() takes long.
    directory = tempfile.TemporaryDirectory()
    work, report_path = pathlib.Path(directory.name, "work"), pathlib.Path(directory.name, "report")
    work.mkdir()

    def __init__(self, program, arguments, files, stdin=b"", at=0, kind="error"):
        for path in (*self.work.iterdir(), self.report_path):
            path.unlink(missing_ok=True)
        for name, content in files.items():
            (self.work / name).symlink_to(content) if isinstance(content, str) else (self.work / name).write_bytes(content)
        environment = {
            "SOFTQAM_FAULT_AT": str(at), "SOFTQAM_FAULT_KIND": kind, "SOFTQAM_FAULT_REPORT": str(self.report_path),
            # mpirun has nothing to wait for when a rank has failed: the others have come to their end.
            "OMPI_MCA_odls_base_sigkill_timeout": "0",
        }  # fmt: skip
        result = subprocess.run([program, *arguments], cwd=self.work, input=stdin, capture_output=True, timeout=TIMEOUT,
                                env={**os.environ, **MPI_ENVIRONMENT, **environment})  # fmt: skip
        self.code, self.out, self.err = result.returncode, result.stdout, result.stderr.decode()
        self.files = {path.name: path.read_bytes() for path in self.work.iterdir()}
        self.report = self.report_path.read_text(encoding="utf-8")
        self.failed, *self.left = REPORT.fullmatch(self.report).groups()


def content(of):
    """Returns the content of a file: a name of softqam-gen's output with a number of symbols, or as it is."""
    return Outcome(GEN, ["-q", "--symbols", str(of[1]), "--snr-db", "25", of[0]], {}).files[of[0]] if isinstance(of, tuple) else of


class FaultTest(unittest.TestCase):
    def outcomes(self, program, arguments, files, stdin, kind, step=1):
        """Yields the outcomes of runs in which one call in `step` fails after the other, and of the one in which none is left."""
        for at in itertools.count(1, step):
            outcome = Outcome(program, arguments, files, stdin, at, kind)
            yield outcome
            if outcome.failed == "none":
                return

    def fail_every_call(self, program, *arguments, files=None, stdin=b"", kinds=ALL_KINDS, step=1, before=None, look=None):
        """All the calls of a command, or one in `step`, fail one after the other; `files` are written before each. `look` is
        given what came of each. Returns the functions that failed, each with an exit status."""
        files, stdin = {name: content(of) for name, of in (files or {}).items()}, content(stdin)
        name, before = os.path.basename(before or program), Outcome(before or program, ["--version"], files)
        good = Outcome(program, arguments, files, stdin)
        self.assertEqual(good.code, 0, good.err)
        functions = []
        for kind in kinds:
            for outcome in self.outcomes(program, arguments, files, stdin, kind, step):
                if look:
                    look(outcome)
                self.assertEqual(outcome.left, ["0", "0", "0"], outcome.report)
                if outcome.code == 0:
                    self.assertEqual((outcome.files, outcome.out), (good.files, good.out), outcome.report)
                else:
                    self.assertEqual((outcome.code, kind in ("error", "lasting")), (1, True), outcome.report + outcome.err)
                    self.assertRegex(outcome.err, rf"\A{name}: [^\n]+\n\Z", outcome.report)
                    self.assertEqual(outcome.files, before.files, outcome.report)
                functions.append((outcome.failed, outcome.code))
        print(f"{len(functions) - len(kinds)} points: {name} {' '.join(arguments)}", flush=True)
        self.assertTrue("error" not in kinds or len(functions) > len(kinds))
        return set(functions)


META = {"global": {"core:datatype": "ci16_le", "core:version": "1.0.0"}, "captures": [{"core:sample_start": 0}, {"core:sample_start": 10}]}
RECORDING = {"x.sigmf-meta": json.dumps(META).encode(), "x.sigmf-data": ("x.cs16", 100)}
SYMBOLS, FEW = ("x.cf32", 1000), ("x.cf32", 10)
PIPE_OPTIONS = "--threads 1 --skip 10 --count 500 -q --input-scale auto --noise-var auto -o s8"
# Commands of softqam-demod on the CPU and of softqam-gen. A file that is new is taken back if the second one cannot take its name;
# an older one is gone by then.
DEMOD_COMMANDS = [
    ("x.cf32 x.u8", {"x.cf32": SYMBOLS}, {}),
    ("-q --threads 3 x.cs16 x.u8", {"x.cs16": ("x.cs16", 300000)}, {}),
    ("--threads 1 -q x.cf32 x.u8", {"x.cf32": FEW, "x.u8": OLD}, {}),
    ("--threads 1 -q x.cf32 x.u8", {"x.cf32": FEW, "target": OLD, "x.u8": "target"}, {}),  # a link
    ("-q --noise-file n0 x.cf32 x.s8", {"x.cf32": SYMBOLS, "n0": b"\0\0\0\x3f" * 1000}, {}),
    ("--noise-var auto --stats --progress never x.cf32 x.f16", {"x.cf32": SYMBOLS}, {}),
    ("--threads 1 -q --compare sent x.cf32 x.bits", {"x.cf32": SYMBOLS, "sent": bytes(8000)}, {}),
    ("--verify -q x.cf32 x.u8", {"x.cf32": SYMBOLS}, {}),
    ("--threads 1 -q x y", {**RECORDING, "y": OLD}, {"step": STRIDE}),
    (PIPE_OPTIONS + " - y", {}, {"stdin": SYMBOLS}),  # parts and estimates, which are read ahead
    ("- -", {}, {"stdin": SYMBOLS, "kinds": ("interrupt", "short")}),
    ("--help", {}, {"kinds": ("error",)}),
]
GEN_COMMANDS = [
    ("-q --symbols 1000 --snr-db 20 --bits x.bits x.cs8", {}, {}),
    ("-q --symbols 10 --bits x.hard x.sigmf-meta", {}, {"kinds": ("error", "short")}),
    ("-q --symbols 1100000 x.cs8", {}, {"kinds": ("error",)}),
    ("-q --symbols 10 x.cf32", {"x.cf32": OLD}, {}),
    ("-q --symbols 10 --bits x.bits x.cf32", {"x.bits": OLD}, {}),
    ("--version", {}, {"kinds": ("error",)}),
]


class ToolFaults(FaultTest):
    def test_commands(self):
        for program, start, commands in ((DEMOD, ["--backend", "cpu"], DEMOD_COMMANDS), (GEN, [], GEN_COMMANDS)):
            for command, files, options in commands:
                with self.subTest(command):
                    self.fail_every_call(program, *start, *command.split(), files=files, **options)

    def test_sync(self):
        command, options = "--backend cpu --threads 1 -q x.cf32 x.u8".split(), {"files": {"x.cf32": FEW, "x.u8": OLD}, "kinds": ("error",)}
        self.assertIn(("fsync", 1), self.fail_every_call(DEMOD, *command, **options))

    def test_no_clobber(self):
        """renameat2() fails as on a file system without RENAME_NOREPLACE."""
        command = "--backend cpu --threads 1 -q -n x.cf32 x.u8".split()
        self.assertIn(("renameat2", 0), self.fail_every_call(DEMOD, *command, files={"x.cf32": FEW}, kinds=("error",)))

    def test_pipes(self):
        """Bytes that have left by standard output cannot be taken back, so that only how the tool ends is looked at."""
        for outcome in self.outcomes(DEMOD, ["--backend", "cpu", "-", "-"], {}, content(SYMBOLS), "error"):
            self.assertEqual(outcome.left[:2], ["0", "0"], outcome.report)
            self.assertIn(outcome.code, (0, 1))
            self.assertEqual(outcome.err.count("\n"), outcome.code, outcome.report + outcome.err)


class CudaFaults(FaultTest):
    """Calls of a CUDA that fake_cuda.cpp stands for, too."""

    WARNING = r"\Asoftqam-demod: warning: the CPU demodulates: [^\n]+\n\Z"

    def fail_calls(self, backend, **options):
        """The input is demodulated in ten chunks. With fewer symbols auto would not choose CUDA."""
        command = f"--backend {backend} --threads 2 --streams 2 --chunk 7000 x.cf32 x.u8".split()
        files = {"x.cf32": ("x.cf32", 70000)}
        self.fail_every_call(DEMOD, *command, files=files, kinds=("error", "lasting"), step=STRIDE, **options)

    def test_cuda(self):
        self.fail_calls("cuda")

    def test_auto(self):
        """A failure before the first symbol leaves the CPU, with a warning if there is a GPU; what fails later is a failure."""
        ends = set()

        def look(outcome):
            if outcome.failed.startswith("cuda"):
                ends.add((outcome.code, bool(outcome.err)))
            if outcome.code == 0 and outcome.err:
                self.assertRegex(outcome.err, self.WARNING)

        self.fail_calls("auto", look=look)
        self.assertEqual(ends, {(0, False), (0, True), (1, True)})

    def test_choice(self):
        """auto chooses CUDA for many symbols of a file or a device that is named, else the CPU."""
        for n_symbols, options, source, backend in ((65536, [], "x.cf32", "cuda"), (65535, [], "x.cf32", "cpu"), (70000, ["--count", "9"], "x.cf32", "cpu"),
                                                    (65536, [], "-", "cpu"), (9, ["--device", "0"], "x.cf32", "cuda")):  # fmt: skip
            data = content(("x.cf32", n_symbols))
            files, stdin = ({}, data) if source == "-" else ({source: data}, b"")
            said = Outcome(DEMOD, ["--stats", *options, source, "x.u8"], files, stdin).err
            self.assertRegex(said, rf"\n  backend +{backend}\n")


@unittest.skipUnless(MPIRUN, "no mpirun")
class MpiFaults(FaultTest):
    """Ranks of softqam-demod-mpi."""

    @staticmethod
    def look(outcome):
        """Keeps our message among mpirun's, and ignores descriptors, which are MPI's business."""
        outcome.left[2] = "0"
        outcome.err = "".join(line for line in outcome.err.splitlines(keepends=True) if line.startswith("softqam-demod-mpi"))

    def fail_calls_of_a_rank(self, n_ranks, rank, **options):
        """mpirun kills all when one of them ends with a failure: that is to be this rank, when it has reported."""
        only = f'[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && exec "$@"; unset SOFTQAM_FAULT_AT; "$@"; exit 0'
        command = [MPI, *"--backend cpu -q --threads 2 --noise-file n0 x.cf32 x.s8".split()]
        files = {"x.cf32": SYMBOLS, "n0": b"\0\0\0\x3f" * 1000, "x.s8": OLD}
        self.fail_every_call(MPIRUN, "-n", str(n_ranks), "--oversubscribe", "sh", "-c", only, "sh", *command, files=files, before=MPI,
                             look=self.look, **options)  # fmt: skip

    def test_mpi(self):
        self.fail_calls_of_a_rank(1, 0)
        for rank in (0, 1):
            self.fail_calls_of_a_rank(2, rank, kinds=("error",), step=3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
