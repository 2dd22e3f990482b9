# SPDX-License-Identifier: MIT
"""What the tests of softqam-plot share: its modules, and what its figures hold.

The tests are called as tools_harness.py says. Without matplotlib the exit status is 77.
"""
import importlib
import os
import runpy
import sys
import tempfile
import traceback

import tools_harness
from tools_harness import PLOT, ROOT


def load(name):
    """A module of softqam-plot, without the rest of the package, as in its archive."""
    folder = os.path.join(ROOT, "tools", "python", "softqam")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("plot." + name)


class Drawn:
    """What a figure holds, by what it means."""

    def __init__(self, figure, complaint=None):
        self.figure, self.complaint = figure, complaint
        (body,) = figure.subfigs
        title, *complaints = figure.texts
        self.header = [text.get_text() for text in (title, *body.texts, *complaints)]
        # matplotlib lists them row by row, or, before 3.7, column by column.
        self.cells = sorted((cell for cell in body.subfigs if cell.axes), key=lambda cell: (-round(cell.bbox.y0), round(cell.bbox.x0)))
        self.titles = [cell.axes[0].get_title() for cell in self.cells]

    def panel(self, start):
        """The axes of the panel whose title starts so."""
        (cell,) = [cell for cell, title in zip(self.cells, self.titles) if title.startswith(start)]
        return cell.axes

    def lanes(self):
        """Of the panel of bits: name, positions and soft bits of each lane."""
        return [(next(t.get_text() for t in lane.texts if t.get_text()[0] == "b" and t.get_weight() == "bold"),
                 *lane.lines[0].get_data()) for lane in self.panel("Soft bits")]  # fmt: skip

    def histograms(self):
        """Shares and edges of each bit, by its name."""
        (axes,) = self.panel("Histograms")
        return {patch.get_label(): patch.get_data()[:2] for patch in axes.patches}

    def evm(self):
        (axes,) = self.panel("EVM")
        return axes.lines[0].get_data()


class PlotTest(tools_harness.ToolTest):
    def run_tool(self, *command, **options):
        """softqam-plot runs in a child of this process, which has matplotlib already; where a process of its own is asked for by
        any option, as one."""
        if command[0] != PLOT:
            return super().run_tool(*command, **options)
        if options:
            return super().run_tool(sys.executable, *command, **options)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                self.become(command, out, err)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            for file in (out, err):
                file.seek(0)
            return tools_harness.Result(code, out.read(), err.read())

    def become(self, command, out, err):
        """The archive softqam-plot, with this process's modules but for those that are in it."""
        os.chdir(self.directory)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.argv = list(command)
        try:
            runpy.run_path(PLOT, run_name="__main__")
        except SystemExit as end:
            os._exit(end.code or 0)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        os._exit(99)

    def plot(self, *arguments, **options):
        return self.run_tool(PLOT, *arguments, **options)

    def make_pair(self, n=2000, snr_db="30"):
        self.make("x.cf32", "--symbols", str(n), "--snr-db", snr_db)
        self.ok(self.demod("x.cf32", "x.u8"))
        return "x.cf32", "x.u8"

    def make_llrs(self, name, n, snr_db="200", given="30", format_="s8"):
        """Symbols of a modulation and their LLRs, and the command that draws them."""
        self.make("x.cf32", "-m", name, "--symbols", str(n), "--snr-db", str(snr_db))
        self.ok(self.demod("-q", "-m", name, "-o", format_, "--snr-db", str(given), "x.cf32", "x." + format_))
        return "-m", name, "x.cf32", "x." + format_

    def draw(self, *arguments):
        """The figure of a command, made in this process."""
        before = os.getcwd()
        os.chdir(self.directory)
        try:
            command = load("command")
            return Drawn(*command.drawing(command.parse(command.read([*arguments, "-o", "out.svg"]))))
        finally:
            os.chdir(before)

    def encoded(self, drawn, kind):
        return load("command").encoded(drawn.figure, kind)


def main():
    """Runs the tests of the file that was started, where there is matplotlib."""
    try:
        import matplotlib.backends.backend_agg  # noqa: F401
        import matplotlib.figure  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return tools_harness.SKIPPED
    return tools_harness.main()
