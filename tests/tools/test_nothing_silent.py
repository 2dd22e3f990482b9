#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That nothing goes wrong quietly: reports that nobody gets, symbols that are not what the command takes them for,
metadata that say two things at once, files that are replaced.
"""
import os
import sys

from mpi_environment import MPI_ENVIRONMENT
from tools_harness import DEMOD, DEMOD_MPI, GEN, ToolTest, main

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


if __name__ == "__main__":
    sys.exit(main())
