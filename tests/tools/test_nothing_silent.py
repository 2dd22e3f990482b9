#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That nothing goes wrong quietly: reports that nobody gets, symbols that are not what the command takes them for,
metadata that say two things at once, files that are replaced.
"""
import os
import sys

from mpi_environment import MPI_ENVIRONMENT
from tools_harness import DEMOD, DEMOD_MPI, GEN, MODULATIONS, ToolTest, main, pack

ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT}


class Reports(ToolTest):
    """C1: a report that could not be written is a failure, and OUTPUT is there all the same."""

    def lost(self, program, *arguments):
        """The exit status with standard error on a full disk, and closed."""
        with open("/dev/full", "wb") as full:
            on_full = self.run_tool(program, *arguments, stderr=full, env=ENVIRONMENT).code
        closed = self.run_tool(program, *arguments, stderr=None, preexec_fn=lambda: os.close(2), env=ENVIRONMENT).code
        return on_full, closed

    def test_lost(self):
        self.make("x.cf32", "--symbols", "2000", "--bits", "sent")
        for program in filter(os.path.exists, (DEMOD, DEMOD_MPI)):
            for report in (["--stats"], ["--stats=json"], ["--compare", "sent"], ["--verify"], ["--input-scale", "1/2"]):
                with self.subTest(program=program, report=report):
                    self.assertEqual(self.lost(program, *report, "x.cf32", "y.u8"), (1, 1))
                    self.assertEqual(len(self.read("y.u8")), 16000)
        self.assertEqual(self.lost(GEN, "--symbols", "9", "z.cs8"), (1, 1))

    def test_nothing_to_say(self):
        self.make("x.cf32", "--symbols", "2000")
        for arguments in (["x.cf32", "y.u8"], ["-q", "--input-scale", "1/2", "x.cf32", "y.u8"],
                          ["--progress", "always", "x.cf32", "y.u8"]):  # fmt: skip
            self.assertEqual(self.lost(DEMOD, *arguments), (0, 0), arguments)


class Constellation(ToolTest):
    """C2: a recording's own modulation and c_init count; a warning says what else symbols look like, and what mends it."""

    LOOKS = r"x\.{}: warning: its first \d+ symbols look like {} (at {}\.\d dB|without noise)(?: of another scale)?, not {}; use {}"

    def says(self, *arguments):
        return self.ok(self.demod(*arguments)).err.replace("softqam-demod: ", "").splitlines()

    def test_recording(self):
        for name in MODULATIONS:
            with self.subTest(modulation=name):
                self.make("x.sigmf-meta", "-m", name, "--c-init", "77", "--symbols", "5000", "--bits", "sent")
                self.assertEqual(self.says("--compare", "sent", "x.sigmf-meta", "y.hard"),
                                 [f"sent: 0 of {5000 * MODULATIONS[name][0]} bits are wrong, bit error rate 0"])  # fmt: skip
        (error,) = self.demod("x", "y.u8").err.splitlines()
        self.assertIn("x.sigmf-meta: 1024qam has no soft bits u8", error)

    def test_recording_that_is_contradicted(self):
        self.make("x.sigmf-meta", "-m", "qpsk", "--c-init", "77", "--symbols", "5000")
        self.assertEqual(self.says("-m", "QPSK", "--c-init", "77", "x", "y.hard"), [])
        first, second = self.says("-m", "16qam", "--c-init", "none", "x", "y.hard")[:2]
        self.assertEqual(first, "x.sigmf-meta: warning: says QPSK, but --modulation 16qam")
        self.assertEqual(second, "x.sigmf-meta: warning: says c_init 77, but --c-init none")
        warnings = self.says("--c-init", "78", "x", "y.hard")
        self.assertEqual(warnings, ["x.sigmf-meta: warning: says c_init 77, but --c-init 78"])
        self.make("x.sigmf-meta", "--c-init", "77", "--symbols", "5000")
        self.fails(self.demod("x", "z.u8"), 2, "x.sigmf-meta: what is descrambled has no soft bits u8; choose LLRs, hard "
                                               "or bits with --output-format")  # fmt: skip

    def test_plain(self):
        """Each of 256QAM read as QPSK, QPSK as 256QAM and so on, at the right scale and at others."""
        for name, snr_db in (("bpsk", 12), ("pi2-bpsk", 12), ("qpsk", 9), ("16qam", 18), ("64qam", 24), ("256qam", 30),
                             ("1024qam", 36)):  # fmt: skip
            self.make("x.cs16", "-m", name, "--symbols", "9000", "--snr-db", str(snr_db))
            for other in MODULATIONS:
                for scale, mends in (("1/8192", ""), ("1/3000", " --input-scale auto")):
                    with self.subTest(modulation=name, other=other, scale=scale):
                        warnings = self.says("-m", other, "--input-scale", scale, "x.cs16", "y.hard")
                        if name == other:
                            self.assertEqual(len(warnings), bool(mends))
                            continue
                        (warning,) = warnings
                        shown = {n: n.upper().replace("PI2", "pi/2") for n in MODULATIONS}
                        self.assertRegex(warning, "^" + self.LOOKS.format("cs16", shown[name], f"({snr_db - 1}|{snr_db})",
                                                                          shown[other], f"--modulation {name}{mends}") + "$")  # fmt: skip
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "16")
        self.assertEqual(self.says("-m", "qpsk", "x.cf32", "y.hard"),
                         ["x.cf32: warning: its first 8192 symbols do not look like QPSK, but have more points; "
                          "--modulation tells which"])  # fmt: skip
        self.assertEqual(self.says("x.cf32", "y.hard"), [])

    def test_noise_of_a_slot(self):
        """Noise variances that vary by 20 dB are no other modulation."""
        for name in MODULATIONS:
            self.make("x.cf32", "-m", name, "--symbols", "9000", "--snr-db", "40")
            parts, variances = [], []
            for snr_db in (20, 25, 30, 35, 40):
                self.make("part.cf32", "-m", name, "--symbols", "2000", "--snr-db", str(snr_db), "--seed", str(snr_db))
                parts.append(self.read("part.cf32"))
                variances += 2000 * [10 ** (-snr_db / 10)]
            self.write("x.cf32", b"".join(part[16 * k : 16 * k + 16] for k in range(1000) for part in parts))
            self.write("n0", pack("f", [variances[2000 * j + 2 * k] for k in range(1000) for j in range(5) for _ in range(2)]))
            self.assertEqual(self.says("-m", name, "--noise-file", "n0", "x.cf32", "y.s8"), [], name)
            self.assertEqual(self.says("-m", name, "x.cf32", "y.hard"), [], name)

    def test_strict(self):
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "30")
        self.write("y.s8", b"old")
        for program in filter(os.path.exists, (DEMOD, DEMOD_MPI)):
            for arguments in (["-m", "qpsk"], ["--input-scale", "1/2"], ["--snr-db", "20"], ["--count", "9001"], ["-q", "-m", "qpsk"]):
                with self.subTest(program=program, arguments=arguments):
                    noise = [] if "--snr-db" in arguments else ["--snr-db", "30"]
                    command = [program, *noise, *arguments, "x.cf32", "y.s8", "--strict"]
                    result = self.run_tool(*command, env=ENVIRONMENT)
                    self.assertEqual((result.code, self.files(), self.read("y.s8")), (1, ["x.cf32", "y.s8"], b"old"))
                    self.assertRegex(result.err, r"\A[^\n]*: warning: [^\n]*\n\Z")
            self.ok(self.run_tool(program, "--strict", "--snr-db", "30", "x.cf32", "z.s8", env=ENVIRONMENT))
            os.remove(self.path("z.s8"))

    def test_count_beyond_the_end(self):
        self.make("x.cf32", "--symbols", "100")
        for where in ("x.cf32", "-"):
            name = "standard input" if where == "-" else where
            result = self.ok(self.demod("--skip", "60", "--count", "41", where, "y.u8", data=self.read("x.cf32")))
            self.assertEqual(result.err, f"softqam-demod: {name}: warning: only 40 symbols after --skip, fewer than --count 41\n")
            self.assertEqual(self.ok(self.demod("--count", "100", where, "y.u8", data=self.read("x.cf32"))).err, "")


if __name__ == "__main__":
    sys.exit(main())
