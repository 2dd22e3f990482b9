# SPDX-License-Identifier: MIT
"""The panels, drawn by matplotlib."""
from __future__ import annotations

import math
import numbers
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import AsinhLocator, FixedLocator, MaxNLocator

from .command import HEADER, PANELS, choice, grid, panel_list, picture_size
from .failure import Failure
from .formats import SOFT_FORMATS
from .geometry import Reals, levels_of, points_of, squared_errors, turned_back
from .measure import complaint as complaint_of
from .measure import evm_percent, noise_var_of
from .modulation import MODULATIONS, Modulation, shown
from .sample import Sample, runs_of, sample_of_arrays
from .text import grouped, printable, shortened

DPI = 96  # at which an SVG's points are pixels
INK, GREY, WARNING_COLOUR, POINT_COLOUR = "#222222", "#777777", "#b3261e", "#e8890c"
BIT_COLOURS = ("#0b62a8", "#c4520e", "#1b8a5a", "#7a4fa3", "#8a6d1a")
DENSITY_COLOURS = LinearSegmentedColormap.from_list("density", ["#dde6f0", "#8fb3d9", "#2f6db0", "#08264d"])
DENSITY_CELLS = 240  # along an axis, at most about
HISTOGRAM_BINS = 128
LABELS = {"u8": "soft bit (u8)", "s8": "LLR (s8)", "s16": "LLR (s16)", "f16": "LLR, nats", "f32": "LLR, nats"}
BYTES = {"u8": (0, 127, 255), "s8": (-127, 0, 127)}  # formats whose whole range is drawn
LARGEST_SNR_DB = 80  # of which a number is said


class Picture:
    """What the panels are drawn of."""

    def __init__(self, sample: Sample, modulation: Modulation, soft_format: str, sign: int, axis: str) -> None:
        self.sample, self.modulation, self.soft_format, self.sign, self.axis = sample, modulation, soft_format, sign, axis
        self.unit = f"in units of 1/\u221a{modulation.energy}"
        self.known = np.isfinite(sample.symbols)
        with np.errstate(over="ignore", invalid="ignore"):
            self.errors = squared_errors(modulation, sample.symbols, sample.positions)
        self.evm = evm_percent(self.errors, modulation.energy)
        self.limit = self.axis_limit()

    def axis_limit(self) -> float:
        """An even number of level units that has nearly all symbols in it, and all points."""
        known = self.sample.symbols[self.known]
        outer = np.sort(np.maximum(np.abs(known.real), np.abs(known.imag)))
        reach = float(outer[int(0.999 * len(outer))]) if len(outer) else 0
        return float(max(self.modulation.outer + 3, 2 * math.ceil(reach / 2)))

    def facts(self, formats: str, is_sound: bool) -> str:
        n, n_drawn, n_erased = self.sample.n_symbols, len(self.known), int(np.sum(~self.known))
        drawn = f", {grouped(n_drawn)} drawn" if n_drawn < n else ""
        facts = [shown(self.modulation.name), f"{grouped(n)} symbol{'' if n == 1 else 's'}{drawn}"]
        if n_erased:
            facts.append(f"{grouped(n_erased)} erased")
        if self.evm is not None:
            facts.append(f"EVM {self.evm:.2f} %")
            mean_error = (self.evm / 100) ** 2 * self.modulation.energy
            if is_sound and mean_error < math.inf:
                snr_db = -10 * math.log10(noise_var_of(mean_error, self.modulation))
                facts.append(f"SNR {snr_db:.1f} dB" if snr_db < LARGEST_SNR_DB else f"SNR above {LARGEST_SNR_DB} dB")
        return " \u00b7 ".join([*facts, *filter(None, [formats])])

    def projection(self) -> tuple[str, Reals]:
        """What the soft bits that are drawn depend on: its name, its values in level units."""
        symbols = self.sample.symbols
        if self.modulation.n_bits == 1:
            straight = turned_back(self.modulation, symbols, self.sample.positions)
            turned = ", odd symbols turned back" if self.modulation.rotates else ""
            return f"(I + Q)/2{turned}, {self.unit}", (straight.real + straight.imag) / 2
        return f"{self.axis.upper()}, {self.unit}", symbols.real if self.axis == "i" else symbols.imag

    def meaning(self) -> str:
        return f"{LABELS[self.soft_format]}; above the midpoint: bit {self.sign}"


def largest(values: npt.NDArray[Any]) -> float:
    """The largest magnitude of those that are finite, and not too small for an axis."""
    magnitudes = np.abs(values.astype(np.float64))
    return max(float(np.max(magnitudes, initial=0, where=np.isfinite(magnitudes))), 1e-30)


def level_ticks(axis: Axis, picture: Picture) -> None:
    """At the levels, some of them named."""
    modulation, limit = picture.modulation, picture.limit
    if limit > 60:
        axis.set_major_locator(MaxNLocator(7))
        return
    levels, outer = levels_of(modulation), modulation.outer
    named = levels[np.abs(levels) % 8 == 7] if outer == 31 else levels[levels % 6 == outer % 6] if outer == 15 else levels
    axis.set_major_locator(FixedLocator(named.tolist()))
    axis.set_minor_locator(FixedLocator(levels.tolist()))


def density(picture: Picture) -> tuple[Reals, float]:
    """How many symbols are in each cell, [column, row], of cells in the middle of which are all levels if possible; the limit."""
    limit, known = picture.limit, picture.sample.symbols[picture.known]
    wanted = min(DENSITY_CELLS, 0.9 * math.sqrt(len(picture.known)))
    cells = int(limit) * (round(wanted / limit / 2 - 0.5) * 2 + 1) if limit <= wanted else max(9, int(wanted))
    edges = np.linspace(-limit, limit, cells + 1)
    return np.histogram2d(known.real, known.imag, (edges, edges))[0], limit


def draw_constellation(panel: FigureBase, picture: Picture) -> None:
    axes = panel.subplots()
    counts, limit = density(picture)
    norm = LogNorm(1, max(2, float(np.max(counts))))
    image = axes.imshow(np.ma.masked_equal(counts.T, 0), origin="lower", extent=(-limit, limit, -limit, limit), cmap=DENSITY_COLOURS,
                        norm=norm, interpolation="nearest")  # fmt: skip
    panel.colorbar(image, ax=axes, label="symbols in a cell", shrink=0.9)
    points = points_of(picture.modulation)
    axes.plot(points.real, points.imag, ".", color=POINT_COLOUR, markersize=3, label="ideal points", linestyle="")
    axes.legend(loc="upper right", fontsize="small", handletextpad=0.1)
    for axis in (axes.xaxis, axes.yaxis):
        level_ticks(axis, picture)
    axes.set(title="Constellation", xlabel=f"I, {picture.unit}", ylabel=f"Q, {picture.unit}")


def draw_bits(panel: FigureBase, picture: Picture) -> None:
    """A lane for each bit of the axis, the first at the top."""
    name, position = picture.projection()
    bits = picture.modulation.bits_of_axis(picture.axis)
    lanes: list[Axes] = list(panel.subplots(len(bits), 1, sharex=True, squeeze=False, gridspec_kw={"hspace": 0})[:, 0])
    for lane, k, colour in zip(lanes, bits, BIT_COLOURS):
        values = picture.sample.soft[:, k].astype(np.float64)
        lane.plot(position, values, ",", color=colour, rasterized=True, linestyle="")
        limit = largest(values)
        low, middle, high = BYTES.get(picture.soft_format, (-limit, 0, limit))
        lane.axhline(middle, color=GREY, linewidth=0.8, dashes=(4, 4))
        lane.set(xlim=(-picture.limit, picture.limit), ylim=(low - 0.12 * (high - low), high + 0.12 * (high - low)))
        lane.yaxis.set_major_locator(FixedLocator([low, middle, high]) if picture.soft_format in BYTES else MaxNLocator(3, symmetric=True))
        level_ticks(lane.xaxis, picture)
        lane.text(1.02, 0.5, f"b{k}", transform=lane.transAxes, color=colour, weight="bold", va="center")
        for height, bit in ((0.88, picture.sign), (0.12, 1 - picture.sign)):
            lane.text(1.02, height, f"bit {bit}", transform=lane.transAxes, color=GREY, fontsize="x-small", va="center")
    title = "Soft bits of the diagonal" if picture.modulation.n_bits == 1 else f"Soft bits of the {picture.axis.upper()} axis"
    lanes[0].set_title(title)
    lanes[-1].set_xlabel(name)
    panel.supylabel(picture.meaning(), fontsize="medium")


def histogram_edges(picture: Picture) -> tuple[Reals, float | None]:
    """The ends of bins; of a wide format evenly spaced by the inverse hyperbolic sine, linear up to about the second."""
    if picture.soft_format in BYTES:
        low = 0 if picture.soft_format == "u8" else -128
        return np.linspace(low, low + 256, HISTOGRAM_BINS + 1) - 0.5, None
    limit = largest(picture.sample.soft)
    unit = limit / 1000
    edges: Reals = unit * np.sinh(np.linspace(-1, 1, HISTOGRAM_BINS + 1) * math.asinh(limit / unit))
    edges[0], edges[-1] = -limit, limit
    return edges, unit


def draw_histograms(panel: FigureBase, picture: Picture) -> None:
    """A curve for each bit, over its bins the share of the symbols."""
    axes, n = panel.subplots(), len(picture.known)
    edges, unit = histogram_edges(picture)
    for k in range(picture.modulation.n_bits):
        values = picture.sample.soft[:, k].astype(np.float64)
        shares = np.histogram(values[np.isfinite(values)], edges)[0] / n
        axes.stairs(shares, edges, color=BIT_COLOURS[k // 2], linestyle="--" if k % 2 else "-", label=f"b{k}", linewidth=1.2)
    if unit is None:
        axes.xaxis.set_major_locator(FixedLocator([0, 64, 127, 192, 255] if picture.soft_format == "u8" else [-127, -64, 0, 64, 127]))
    else:
        axes.set_xscale("asinh", linear_width=unit)
        axes.xaxis.set_major_locator(AsinhLocator(unit, numticks=9))
    axes.axvline(127 if picture.soft_format == "u8" else 0, color=GREY, linewidth=0.8, dashes=(4, 4))
    axes.set_yscale("log")
    axes.set_ylim(0.5 / n, 1)
    axes.set_xlim(edges[0], edges[-1])
    axes.grid(axis="y", color="#e4e4e4")
    axes.legend(loc="upper center", ncols=min(5, picture.modulation.n_bits), fontsize="small", handlelength=1.6)
    axes.set(title="Histograms", xlabel=picture.meaning(), ylabel="share of the symbols")


def evm_of_runs(picture: Picture) -> tuple[list[float], list[float]]:
    """Middle symbol and EVM of every run that has one."""
    middles, evms, place = [], [], 0
    for first, n in picture.sample.runs:
        evm = evm_percent(picture.errors[place : place + n], picture.modulation.energy)
        place += n
        if evm is not None:
            middles.append(first + n / 2)
            evms.append(evm)
    return middles, evms


def draw_evm(panel: FigureBase, picture: Picture) -> None:
    axes = panel.subplots()
    middles, evms = evm_of_runs(picture)
    axes.plot(middles, evms, ".-", color=BIT_COLOURS[0], linewidth=0.8, markersize=4)
    if picture.evm is not None:
        axes.axhline(picture.evm, color=GREY, linewidth=0.8, dashes=(4, 4))
    axes.set(title="EVM over time", xlabel="symbol", ylabel="EVM against the nearest point, %", xlim=(0, picture.sample.n_symbols))
    axes.set_ylim(0, 1.1 * max(evms, default=0) or 1)


DRAWN = {"constellation": draw_constellation, "bits": draw_bits, "histograms": draw_histograms, "evm": draw_evm}


def draw(sample: Sample, modulation: Modulation, soft_format: str, *, sign: int = 0, axis: str = "i", panels: Sequence[str] = PANELS,
         title: str = "", size: tuple[int, int] | None = None, formats: str = "", complaint: str | None = None) -> Figure:  # fmt: skip
    """The figure of a sample: a header, and the panels in two columns."""
    columns, rows = grid(len(panels))
    width, height = size or picture_size("size", None, len(panels))
    picture = Picture(sample, modulation, soft_format, sign, axis)
    # A hair more than the pixels, which are cut off.
    figure = Figure(figsize=((width + 0.01) / DPI, (height + 0.01) / DPI), dpi=DPI, facecolor="white", layout=ConstrainedLayoutEngine(w_pad=0.08))
    header_height = HEADER + (18 if complaint else 0)
    header, body = figure.subfigures(2, 1, squeeze=False, height_ratios=[header_height, height - header_height])[:, 0]
    texts = [(shortened(printable(title), width // 13), 15, INK, "bold"), (picture.facts(formats, not complaint), 10, GREY, "normal")]
    if complaint:
        texts.append((f"The symbols {complaint}", 10, WARNING_COLOUR, "bold"))
    for (words, points, colour, weight), pixels in zip(texts, (24, 48, 68)):
        header.text(0.5, 1 - pixels / header_height, words, ha="center", va="center", fontsize=points, color=colour, weight=weight,
                    parse_math=False)  # fmt: skip
    cells = body.subfigures(rows, columns, squeeze=False)
    for index, name in enumerate(panels):
        DRAWN[name](cells[index // columns][index % columns], picture)
    return figure


def array_of(argument: str, value: Any, kinds: str) -> npt.NDArray[Any]:
    """A plain array, flat, of one of NumPy's kinds of numbers."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{argument} is a masked array: filled(numpy.nan) makes erasures of masked symbols")
    array = np.asarray(value).reshape(-1)
    if array.dtype.kind not in kinds:
        raise TypeError(f"{argument} has dtype {array.dtype}")
    return array


def check_choices(modulation: str, panels: Sequence[str], axis: str, sign: int, title: str, size: Any) -> None:
    """As the options of the same names."""
    for argument, value in (("modulation", modulation), ("axis", axis), ("title", title)):
        if not isinstance(value, str):
            raise TypeError(f"{argument} is {value!r}: it takes a string")
    if not isinstance(panels, (list, tuple)) or not panels or not all(isinstance(name, str) for name in panels):
        raise TypeError(f"panels is {panels!r}: it takes a list of {', '.join(PANELS)}")
    if size is not None and not (isinstance(size, (list, tuple)) and len(size) == 2 and all(isinstance(n, int) for n in size)):
        raise TypeError(f"size is {size!r}: it takes a width and a height in pixels")
    try:
        choice("modulation", modulation, MODULATIONS)
        choice("axis", axis, ("i", "q"))
        choice("sign", str(sign), ("0", "1"))
        panel_list("panels", ",".join(panels))
        picture_size("size", f"{size[0]}x{size[1]}" if size else None, len(panels))
    except Failure as failure:
        raise ValueError(str(failure)) from None


def figure_of_arrays(symbols: Any, soft: Any, modulation: str = "256qam", *, sign: int = 0, axis: str = "i",
                     panels: Sequence[str] = PANELS, title: str = "", size: tuple[int, int] | None = None, input_scale: float = 1,
                     positions: Any = None) -> Figure:  # fmt: skip
    """softqam.plot.figure()."""
    check_choices(modulation, panels, axis, sign, title, size)
    if not isinstance(input_scale, numbers.Real) or not 0 < input_scale < 2.0**128:
        raise ValueError(f"input_scale is {input_scale!r:.60}: it takes a positive number")
    input_scale = float(input_scale)
    known, symbols, soft = MODULATIONS[modulation.lower()], array_of("symbols", symbols, "cfiu"), array_of("soft", soft, "fiu")
    soft_format = next((name for name, format_ in SOFT_FORMATS.items() if soft.dtype == np.dtype(format_.dtype)), None)
    if soft_format is None:
        raise TypeError(f"soft has dtype {soft.dtype}: not that of soft bits or LLRs")
    n = len(symbols)
    if not n or len(soft) != n * known.n_bits:
        raise ValueError(f"soft has {len(soft)} values: {n} symbols of {known.name} have {n * known.n_bits}")
    runs = runs_of(n, n)
    components = np.stack([symbols.real, symbols.imag], axis=-1)
    sample = sample_of_arrays(components, soft.reshape(n, -1), input_scale * math.sqrt(known.energy), runs, n)
    if positions is not None:
        places = array_of("positions", positions, "iu").astype(np.int64)
        if len(places) != n:
            raise ValueError(f"positions has {len(places)} values: there are {n} symbols")
        sample = sample._replace(positions=places)
    complaint = complaint_of(sample.symbols, sample.positions, known, input_scale)
    return draw(sample, known, soft_format, sign=sign, axis=axis.lower(), panels=[name.lower() for name in panels], title=title,
                size=size, complaint=complaint)  # fmt: skip
