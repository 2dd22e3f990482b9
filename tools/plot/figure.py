# SPDX-License-Identifier: MIT
"""The panels, as commands of gnuplot."""

import math

from counts import axis_limit, bit_points, density, density_grid, nice_ceiling
from gnuplot import FONT
from layout import HEADER, grid
from sample import evm_of_blocks, evm_percent
from soft_axis import HISTOGRAM_BINS, SoftAxis
from text import grouped, number, printable, quoted, shortened, superscript

INK, GREY, FAINT = "#222222", "#777777", "#e4e4e4"
BIT_COLOURS = ("#0b62a8", "#c4520e", "#1b8a5a", "#7a4fa3", "#8a6d1a")
DENSITY_COLOURS = "0 '#dde6f0', 0.35 '#8fb3d9', 0.7 '#2f6db0', 1 '#08264d'"
POINT_COLOUR = "#e8890c"
LEFT, RIGHT, BOTTOM, TOP = 90, 74, 60, 38  # of a panel's plot in its cell, for titles and ticks
FOR_COLOUR_BOX = 20  # less at the left, more at the right
UNITS_OF_TIME = ((10**9, ", billions"), (10**6, ", millions"), (10**3, ", thousands"), (1, ""))


class Figure:
    """The commands of gnuplot for a picture, and where the panel at work is in it, in pixels from below."""

    def __init__(self, options, sample):
        self.options, self.sample = options, sample
        self.modulation = options.modulation
        self.unit = f"in units of 1/\u221a{self.modulation.energy}"
        self.limit = axis_limit(sample, self.modulation)
        self.axis = SoftAxis(options.soft_format, sample.soft)
        self.width, self.height = options.size
        self.columns, self.rows = grid(len(options.panels))
        self.font_size = 11 if self.width / self.columns < 560 else 12
        self.left = self.right = self.bottom = self.top = self.cells = 0
        self.cell_left = self.cell_bottom = self.cell_top = 0
        self.lines = []

    def script(self):
        self.begin()
        self.header()
        for index, name in enumerate(self.options.panels):
            self.place(name, index)
            getattr(self, name)()
        self.add("unset multiplot", "")
        return "\n".join(self.lines)

    def begin(self):
        terminal = {"png": "pngcairo truecolor", "svg": "svg standalone"}[self.options.kind]
        size = f"size {self.width},{self.height}"
        self.add(
            "set encoding utf8",
            f"set terminal {terminal} noenhanced background '#ffffff' {size} {self.font()}",
            "set multiplot",
            f"set border 3 linecolor rgb '{GREY}' linewidth 1",
            "set key off",
        )

    def header(self):
        title = shortened(printable(self.options.title), self.width // 13)
        facts = " \u00b7 ".join(self.facts())
        self.text(title, self.width / 2, self.height - 24, self.font(3, bold=True))
        self.text(facts, self.width / 2, self.height - 48, self.font(), GREY)

    def facts(self):
        sample = self.sample
        n, n_drawn, n_erased = sample.n_symbols, len(sample.i), sum(sample.erased)
        evm = evm_percent(sample.errors, self.modulation.energy)
        drawn = f", {grouped(n_drawn)} drawn" if n_drawn < n else ""
        yield f"{grouped(n)} symbol{'' if n == 1 else 's'}{drawn}"
        if n_erased:
            yield f"{grouped(n_erased)} erased"
        if evm is not None:
            yield f"EVM {evm:.2f} %"
        yield f"{self.options.input_format} \u2192 {self.options.soft_format}"

    # What the panels are written in

    def add(self, *lines):
        self.lines += lines

    def data(self, name, rows):
        """A named block of rows of numbers."""
        self.add(f"${name} << EOD", *(list(rows) or ["NaN NaN NaN"]), "EOD")

    def font(self, larger=0, bold=False):
        return f'font "{FONT}{":Bold" if bold else ""},{self.font_size + larger}"'

    def screen(self, x, y):
        return f"screen {x / self.width:.5f}, screen {y / self.height:.5f}"

    def text(self, text, x, y, font, colour=INK, how="center"):
        self.add(f"set label {quoted(text)} at {self.screen(x, y)} {how} {font} textcolor rgb '{colour}'")

    def line(self, start, end, style):
        """Behind the data, in its coordinates."""
        places = " to ".join(f"{x:.9g},{y:.9g}" for x, y in (start, end))
        self.add(f"set arrow from {places} nohead back {style}")

    def ticks(self, axis, places="autofreq", scale=0.6):
        style = f"nomirror out scale {scale} {self.font(-1)} textcolor rgb '{INK}'"
        self.add(f"set {axis}tics {style} {places}")

    def level_ticks(self, axis):
        """At the levels, some of them named."""
        outer = self.modulation.outer
        step = 2 if self.limit <= 12 else 6 if self.limit <= 24 else 2 * outer
        levels = [(number(v) if v % step == outer % step else "", v) for v in self.modulation.levels]
        self.ticks(axis, places_of(levels) if self.limit <= 60 else "autofreq")

    def ranges(self, x_low, x_high, y_low, y_high):
        self.add(f"set xrange [{x_low:.9g}:{x_high:.9g}]", f"set yrange [{y_low:.9g}:{y_high:.9g}]")

    def place(self, name, index):
        """Gives the plot of a panel its room in its cell."""
        cell_width, cell_height = self.width / self.columns, (self.height - HEADER) / self.rows
        self.cell_top = self.height - HEADER - index // 2 * cell_height
        self.cell_bottom = self.cell_top - cell_height
        self.cell_left = index % 2 * cell_width
        left, top = self.cell_left + LEFT, self.cell_top - TOP
        width, height = cell_width - LEFT - RIGHT, cell_height - BOTTOM - TOP
        if name == "constellation":
            self.cells, pixels = density_grid(self.limit, math.floor(min(width, height)), len(self.sample.i))
            side = self.cells * pixels
            left += (width - side) // 2 - FOR_COLOUR_BOX
            top -= (height - side) // 2
            width = height = side
        self.left, self.right, self.bottom, self.top = left, left + width, top - height, top
        across = f"set lmargin at screen {left / self.width:.5f}; set rmargin at screen {self.right / self.width:.5f}"
        along = f"set bmargin at screen {self.bottom / self.height:.5f}; set tmargin at screen {top / self.height:.5f}"
        self.add(across, along)

    def titles(self, title, x, y):
        """By hand, so that all panels have them in the same places."""
        across, along = (self.left + self.right) / 2, (self.bottom + self.top) / 2
        self.text(title, across, self.cell_top - 20, self.font(bold=True))
        self.text(x, across, self.cell_bottom + 16, self.font())
        self.text(y, self.cell_left + 12, along, self.font(), how="center rotate by 90")

    def plot(self, *parts):
        self.add("plot " + ", ".join(parts), "unset label; unset arrow; unset colorbox")

    # The panels

    def constellation(self):
        limit = float(self.limit)
        cells = self.cells
        counts = density(self.sample, self.limit, cells)
        self.data("density", (density_row(counts, cells, y) for y in range(cells)))
        self.data("points", (f"{x} {y}" for x, y in self.modulation.points()))
        self.level_ticks("x")
        self.level_ticks("y")
        self.titles("Constellation", f"I, {self.unit}", f"Q, {self.unit}")
        self.ranges(-limit, limit, -limit, limit)
        self.colour_box(max(counts.values(), default=1))
        self.text("\u25cf ideal points", self.right + 10, self.bottom - 17, self.font(-1), POINT_COLOUR, "left")
        i, q = (f"((${axis} + 0.5) * {2 * limit / cells:.9g} - {limit:.9g})" for axis in (1, 2))
        self.plot(
            f"$density matrix using {i}:{q}:3 with image",
            f"$points with points pointtype 7 pointsize 0.25 linecolor rgb '{POINT_COLOUR}'",
        )

    def colour_box(self, most):
        """The scale of the colours, at the right."""
        top = max(math.log10(most), 0.31)
        labels = [(grouped(step * 10**k), k + math.log10(step)) for k in range(int(top) + 1) for step in (1, 2, 5)]
        left, height = self.right + 16, self.top - self.bottom
        self.ticks("cb", places_of((label, place) for label, place in labels if place <= top), scale=0.3)
        self.add(
            f"set palette maxcolors 64 defined ({DENSITY_COLOURS})",
            f"set cbrange [0:{top:.6g}]",
            f"set colorbox user noborder origin {self.screen(left, self.bottom)} size {self.screen(12, height)}",
        )
        self.text("symbols in a cell", left + 54, self.bottom + height / 2, self.font(), how="center rotate by 90")

    def bits(self):
        """A lane for each bit of the axis, the first at the top."""
        marks, parts = [], []
        name = self.options.axis.upper()
        lanes = self.modulation.bits_of_axis(self.options.axis)
        for lane, k in enumerate(lanes):
            low, high, marked = self.axis.lane(self.sample.soft[k])
            base, factor = len(lanes) - 0.9 - lane, 0.8 / (high - low)
            points = bit_points(self.sample, k, self.options.axis, self.limit, low, high)
            self.data(f"bit{k}", (f"{i:.5g} {base + (value - low) * factor:.5g}" for i, value in points))
            marks += [(number(v), base + (v - low) * factor) for v in marked]
            self.lane(lane, len(lanes), f"b{k}", base + (self.axis.middle - low) * factor)
            parts.append(f"$bit{k} with points pointtype 7 pointsize 0.22 linecolor rgb '{BIT_COLOURS[lane]}'")
        self.level_ticks("x")
        self.ticks("y", places_of(marks))
        self.ranges(-self.limit, self.limit, 0, len(lanes))
        self.titles(f"Soft bits of the {name} axis", f"{name}, {self.unit}", self.meaning())
        self.plot(*parts)

    def meaning(self):
        return f"{self.axis.label}; above the midpoint: bit {self.options.sign}"

    def lane(self, lane, n_lanes, name, middle):
        """The midpoint, the border to the lane below, and what is written at the right."""
        self.line((-self.limit, middle), (self.limit, middle), f"dashtype 2 linecolor rgb '{GREY}'")
        border = n_lanes - 1 - lane
        if border > 0:
            self.line((-self.limit, border), (self.limit, border), f"linecolor rgb '{FAINT}'")
        height, left = (self.top - self.bottom) / n_lanes, self.right + 8
        y = self.top - (lane + 0.5) * height
        self.text(name, left, y, self.font(1, bold=True), BIT_COLOURS[lane], "left")
        self.text(f"bit {self.options.sign}", left, y + 0.32 * height, self.font(-2), GREY, "left")
        self.text(f"bit {1 - self.options.sign}", left, y - 0.32 * height, self.font(-2), GREY, "left")

    def histograms(self):
        """A row for each bit, the first at the top, its height the logarithm of the share."""
        axis, decades = self.axis, max(1, math.ceil(math.log10(len(self.sample.i))))
        parts, marks, n_bits = [], [], self.modulation.n_bits
        for k, values in enumerate(self.sample.soft):
            base, style = n_bits - 1 - k, f"solid {0.85 - k % 2 * 0.4:.2f} noborder linecolor rgb '{BIT_COLOURS[k // 2]}'"
            heights = (0.86 * (1 + math.log10(share) / decades) if share else 0 for share in axis.histogram(values))
            self.data(f"histogram{k}", histogram_outline(axis, base, heights))
            self.line((axis.low, base), (axis.high, base), f"linecolor rgb '{FAINT}'")
            marks.append((f"b{k}", base + 0.4))
            parts.append(f"$histogram{k} using 1:2:3 with filledcurves fillstyle {style}")
        self.line((axis.middle_position, 0), (axis.middle_position, n_bits), f"dashtype 2 linecolor rgb '{GREY}'")
        self.ticks("x", places_of(axis.ticks))
        self.ticks("y", places_of(marks), scale=0)
        self.ranges(axis.low, axis.high, 0, n_bits)
        y_title = f"share of symbols, 10{superscript(-decades)} to 1 in each row"
        self.titles("Histograms", self.meaning(), y_title)
        self.plot(*parts)

    def evm(self):
        blocks, n = evm_of_blocks(self.sample, self.modulation.energy), self.sample.n_symbols
        unit, name = next(unit for unit in UNITS_OF_TIME if n >= 5 * unit[0] or unit[0] == 1)
        overall = evm_percent(self.sample.errors, self.modulation.energy) or 0
        self.data("evm", (f"{x / unit:.9g} {y:.6g}" for x, y in blocks))
        self.line((0, overall), (n / unit, overall), f"dashtype 2 linecolor rgb '{GREY}'")
        self.ticks("x")
        self.ticks("y")
        self.ranges(0, n / unit, 0, nice_ceiling(1.1 * max((y for _, y in blocks), default=1)))
        self.titles("EVM over time", "symbol" + name, "EVM against the nearest point, %")
        self.plot(f"$evm with linespoints pointtype 7 pointsize 0.3 linewidth 1 linecolor rgb '{BIT_COLOURS[0]}'")


def places_of(places):
    """(label, position) as gnuplot takes a list of ticks; it takes labels as formats, in which % is special."""
    return "(" + ", ".join(f"{quoted(label.replace('%', '%%'))} {place:.9g}" for label, place in places) + ")"


def density_row(counts, cells, y):
    return " ".join(f"{math.log10(counts[x, y]):.4g}" if (x, y) in counts else "NaN" for x in range(cells))


def histogram_outline(axis, base, heights):
    """The two ends of the top of each bin, over the base."""
    step = (axis.high - axis.low) / HISTOGRAM_BINS
    for n, height in enumerate(heights):
        for x in (axis.low + n * step, axis.low + (n + 1) * step):
            yield f"{x:.6g} {base} {base + height:.5g}"
