# SPDX-License-Identifier: MIT
"""What the tests of softqam-plot share: its modules, and its pictures, read again.

The tests are called as tools_harness.py says. Without gnuplot the exit status is 77.
"""
import importlib
import os
import re
import shutil
import sys
import types
import xml.etree.ElementTree

import tools_harness
from tools_harness import PLOT

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LEVELS = range(-15, 16, 2)
BIT_COLOURS = ["#0b62a8", "#c4520e", "#1b8a5a", "#7a4fa3"]
SVG = "{http://www.w3.org/2000/svg}"


def load():
    """The functions of softqam-plot's modules."""
    sys.path.insert(0, os.path.join(ROOT, "tools", "plot"))
    names = ("command", "counts", "modulation", "palette", "sample", "soft_axis", "text")
    return types.SimpleNamespace(**{k: v for name in names for k, v in vars(importlib.import_module(name)).items()})


class Svg:
    """A picture that gnuplot wrote, by its texts and marks."""

    def __init__(self, data):
        self.root = xml.etree.ElementTree.fromstring(data)
        self.size = self.root.get("width"), self.root.get("height")
        self.texts = [" ".join("".join(text.itertext()).split()) for text in self.root.iter(SVG + "text")]

    def exact_texts(self):
        return ["".join(text.itertext()) for text in self.root.iter(SVG + "text")]

    def marks(self, colour):
        """Where there are dots of a colour."""
        wanted, places = [int(colour[k : k + 2], 16) for k in (1, 3, 5)], []
        for use in self.root.iter(SVG + "use"):
            if [int(n) for n in re.findall(r"\d+", use.get("color", ""))] == wanted:
                places.append(tuple(float(v) for v in re.findall(r"[-\d.]+", use.get("transform"))[:2]))
        return places


class PlotTest(tools_harness.ToolTest):
    """Each test has a directory of its own as its working directory."""

    def plot(self, *arguments, **options):
        return self.run_tool(sys.executable, PLOT, *arguments, **options)

    def make_pair(self, name="x", n=2000, snr_db="30", *arguments):
        self.make(name + ".cf32", "--symbols", str(n), "--snr-db", snr_db, *arguments)
        self.ok(self.demod(name + ".cf32", name + ".u8"))
        return name + ".cf32", name + ".u8"

    def svg(self, *arguments):
        result = self.ok(self.plot(*arguments, "-o", "out.svg"))
        self.assertEqual((result.out, result.err), (b"", ""))
        return Svg(self.read("out.svg"))

    def fails(self, result, code, message, program="softqam-plot"):
        super().fails(result, code, message, program)


def main():
    """Runs the tests of the file that was started, where there is gnuplot."""
    if not shutil.which("gnuplot"):
        print("skipped: gnuplot is not installed (Debian has it in the package gnuplot-nox)")
        return tools_harness.SKIPPED
    return tools_harness.main()
