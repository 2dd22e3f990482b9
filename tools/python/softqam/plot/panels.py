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
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from .command import PANELS, choice, grid, panel_list, picture_size
from .files import MODULATIONS, SOFT_FORMATS, Failure, Modulation
from .measure import Reals, complaint_of, evm_percent, levels_of, noise_var_of, points_of, squared_errors, turned_back
from .sample import Sample, grouped, sample_of_arrays

DPI = 96  # at which an SVG's points are pixels
GREY, WARNING_COLOUR, POINT_COLOUR = "#777777", "#b3261e", "#e8890c"
BIT_COLOURS = ("#0b62a8", "#c4520e", "#1b8a5a", "#7a4fa3", "#8a6d1a")
DENSITY_COLOURS = LinearSegmentedColormap.from_list("density", ["#dde6f0", "#8fb3d9", "#2f6db0", "#08264d"])
DENSITY_CELLS = 240  # along an axis, at most about
HISTOGRAM_BINS = 128
LABELS = {"u8": "soft bit (u8)", "s8": "LLR (s8)", "s16": "LLR (s16)", "f16": "LLR, nats", "f32": "LLR, nats"}
# Of formats whose whole range is drawn: the ticks, and the lowest value.
BYTES = {"u8": ([0, 64, 127, 192, 255], 0), "s8": ([-127, -64, 0, 64, 127], -128)}
LARGEST_SNR_DB = 80  # of which a number is said
DASHED: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "dashes": (4, 4)}


class Picture:
    """What the panels are drawn of. `scale` is the input scale that the symbols have had."""

    def __init__(self, sample: Sample, modulation: Modulation, soft_format: str, sign: int, axis: str, scale: float) -> None:
        self.sample, self.modulation, self.soft_format, self.sign, self.axis = sample, modulation, soft_format, sign, axis
        self.unit = f"in units of 1/\u221a{modulation.energy}"
        self.known = sample.symbols[np.isfinite(sample.symbols)]
        with np.errstate(over="ignore", invalid="ignore"):
            self.errors = squared_errors(modulation, sample.symbols, sample.positions)
        self.evm = evm_percent(self.errors, modulation.energy)
        self.complaint = complaint_of(sample.symbols, sample.positions, modulation, scale)
        # An even number of level units that has nearly all symbols in it, and all points.
        outer = np.maximum(np.abs(self.known.real), np.abs(self.known.imag))
        reach = float(np.quantile(outer, 0.999, method="higher")) if len(outer) else 0
        self.limit = float(max(modulation.outer + 3, 2 * math.ceil(reach / 2)))
        self.meaning = f"{LABELS[soft_format]}; above the midpoint: bit {sign}"

    def facts(self, formats: str) -> str:
        n, n_drawn = self.sample.n_symbols, len(self.sample.symbols)
        drawn = f", {grouped(n_drawn)} drawn" if n_drawn < n else ""
        facts = [self.modulation.shown, f"{grouped(n)} symbol{'' if n == 1 else 's'}{drawn}"]
        if len(self.known) < n_drawn:
            facts.append(f"{grouped(n_drawn - len(self.known))} erased")
        if not math.isnan(self.evm):
            facts.append(f"EVM {self.evm:.2f} %")
            mean_error = (self.evm / 100) ** 2 * self.modulation.energy
            if not self.complaint and mean_error < math.inf:
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


def largest(values: npt.NDArray[Any]) -> float:
    """The largest magnitude of those that are finite, and not too small for an axis."""
    magnitudes = np.abs(values.astype(np.float64))
    return max(float(np.max(magnitudes, initial=0, where=np.isfinite(magnitudes))), 1e-30)


def level_ticks(axis: Axis, picture: Picture) -> None:
    """At the levels, some of them named."""
    levels, outer = levels_of(picture.modulation), picture.modulation.outer
    if picture.limit <= 60:
        named = levels[np.abs(levels) % 8 == 7] if outer == 31 else levels[levels % 6 == outer % 6] if outer == 15 else levels
        axis.set_ticks(named.tolist())
        axis.set_ticks(levels.tolist(), minor=True)


def draw_constellation(panel: SubFigure, picture: Picture) -> None:
    """Of cells in the middle of which are all levels if possible."""
    axes, limit = panel.subplots(), picture.limit
    wanted = min(DENSITY_CELLS, 0.9 * math.sqrt(len(picture.known)))
    cells = int(limit) * (round(wanted / limit / 2 - 0.5) * 2 + 1) if limit <= wanted else max(9, int(wanted))
    span = (-limit, limit)
    image = axes.hist2d(picture.known.real, picture.known.imag, bins=cells, range=(span, span), cmin=1, cmap=DENSITY_COLOURS,
                        rasterized=True)[3]  # fmt: skip
    image.set_norm(LogNorm(1, max(2, image.get_clim()[1])))
    panel.colorbar(image, ax=axes, label="symbols in a cell", shrink=0.9)
    points = points_of(picture.modulation)
    axes.plot(points.real, points.imag, ".", color=POINT_COLOUR, markersize=3, label="ideal points")
    axes.legend(loc="upper right", fontsize="small", handletextpad=0.1)
    level_ticks(axes.xaxis, picture)
    level_ticks(axes.yaxis, picture)
    axes.set(title="Constellation", xlabel=f"I, {picture.unit}", ylabel=f"Q, {picture.unit}", aspect="equal", xlim=span, ylim=span)


def draw_bits(panel: SubFigure, picture: Picture) -> None:
    """A lane for each bit of the axis, the first at the top."""
    name, position = picture.projection()
    n_bits = picture.modulation.n_bits
    bits = range(picture.axis == "q", n_bits, 2) if n_bits > 1 else range(1)
    lanes: list[Axes] = list(panel.subplots(len(bits), 1, sharex=True, squeeze=False, gridspec_kw={"hspace": 0})[:, 0])
    for lane, k, colour in zip(lanes, bits, BIT_COLOURS):
        values = picture.sample.soft[:, k].astype(np.float64)
        lane.plot(position, values, ",", color=colour, rasterized=True)
        limit = largest(values)
        low, middle, high = BYTES[picture.soft_format][0][::2] if picture.soft_format in BYTES else (-limit, 0, limit)
        lane.axhline(middle, **DASHED)
        if picture.soft_format in BYTES:
            lane.set_yticks([low, middle, high])
        else:
            lane.locator_params("y", nbins=3, symmetric=True)
        lane.set(xlim=(-picture.limit, picture.limit), ylim=(low - 0.12 * (high - low), high + 0.12 * (high - low)))
        level_ticks(lane.xaxis, picture)
        lane.text(1.02, 0.5, f"b{k}", transform=lane.transAxes, color=colour, weight="bold", va="center")
        for height, bit in ((0.88, picture.sign), (0.12, 1 - picture.sign)):
            lane.text(1.02, height, f"bit {bit}", transform=lane.transAxes, color=GREY, fontsize="x-small", va="center")
    lanes[0].set_title("Soft bits of the diagonal" if n_bits == 1 else f"Soft bits of the {picture.axis.upper()} axis")
    lanes[-1].set_xlabel(name)
    panel.supylabel(picture.meaning, fontsize="medium")


def draw_histograms(panel: SubFigure, picture: Picture) -> None:
    """A curve for each bit, over its bins the share of the symbols. Of a wide format the axis, and with it the bins, is
    linear only near 0."""
    axes, n, soft = panel.subplots(), len(picture.sample.symbols), picture.sample.soft.astype(np.float64)
    if picture.soft_format in BYTES:
        ticks, lowest = BYTES[picture.soft_format]
        low, high = lowest - 0.5, lowest + 255.5
        axes.set_xticks(ticks)
    else:
        high = largest(soft)
        low, ticks = -high, [0, 0, 0]
        axes.set_xscale("asinh", linear_width=high / 1000)
        axes.locator_params("x", numticks=9)
    scale = axes.xaxis.get_transform()
    first, last = scale.transform(np.array([low, high])).tolist()
    edges = scale.inverted().transform(np.linspace(first, last, HISTOGRAM_BINS + 1))
    edges[[0, -1]] = low, high
    for k in range(picture.modulation.n_bits):
        shares = np.histogram(soft[np.isfinite(soft[:, k]), k], edges)[0] / n
        axes.stairs(shares, edges, color=BIT_COLOURS[k // 2], linestyle="--" if k % 2 else "-", label=f"b{k}", linewidth=1.2)
    axes.axvline(ticks[len(ticks) // 2], **DASHED)
    axes.grid(axis="y", color="#e4e4e4")
    axes.legend(loc="upper center", ncols=min(5, picture.modulation.n_bits), fontsize="small", handlelength=1.6)
    axes.set(title="Histograms", xlabel=picture.meaning, ylabel="share of the symbols", yscale="log", xlim=(low, high), ylim=(0.5 / n, 1))


def draw_evm(panel: SubFigure, picture: Picture) -> None:
    """The EVM of every run, at its middle symbol."""
    axes, runs = panel.subplots(), np.array(picture.sample.runs)
    errors = np.split(picture.errors, np.cumsum(runs[:-1, 1]))
    evms = [evm_percent(errors_of_run, picture.modulation.energy) for errors_of_run in errors]
    axes.plot(runs[:, 0] + runs[:, 1] / 2, evms, ".-", color=BIT_COLOURS[0], linewidth=0.8, markersize=4)
    axes.axhline(picture.evm, **DASHED)
    axes.set(title="EVM over time", xlabel="symbol", ylabel="EVM against the nearest point, %", xlim=(0, picture.sample.n_symbols))
    axes.set_ylim(0, 1.1 * max([0, *filter(math.isfinite, evms)]) or 1)


DRAWN = {"constellation": draw_constellation, "bits": draw_bits, "histograms": draw_histograms, "evm": draw_evm}


def printable(text: str) -> str:
    """The text with what is no character, or controls the terminal, made visible. A byte of a file's name that is not
    UTF-8 comes as a surrogate."""
    escaped = (f"\\x{ord(c) & 0xFF:02x}" if "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode() for c in text)
    return "".join(c if c.isprintable() else other for c, other in zip(text, escaped))


def draw(picture: Picture, panels: Sequence[str], title: str, size: tuple[int, int] | None, formats: str = "") -> Figure:
    """The title, the facts, the panels in two columns, and what is wrong."""
    columns, rows = grid(len(panels))
    width, height = size or picture_size("size", None, len(panels))
    # A hair more than the pixels, which are cut off.
    figure = Figure(figsize=((width + 0.01) / DPI, (height + 0.01) / DPI), dpi=DPI, facecolor="white", layout=ConstrainedLayoutEngine(w_pad=0.08))
    # Characters as wide as they are high would fit too.
    title, n = printable(title), width // 32
    figure.suptitle(title if len(title) <= 2 * n else f"{title[:n - 1]}\u2026{title[-n:]}", weight="bold", parse_math=False)
    if picture.complaint:
        figure.supxlabel(f"The symbols {picture.complaint}", fontsize="medium", color=WARNING_COLOUR, weight="bold", parse_math=False)
    body = figure.subfigures(squeeze=False)[0, 0]
    body.suptitle(picture.facts(formats), fontsize="medium", color=GREY)
    for name, cell in zip(panels, body.subfigures(rows, columns, squeeze=False).flat):
        DRAWN[name](cell, picture)
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
    def is_list(value: Any, kind: type) -> bool:
        return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(each, kind) for each in value)

    for argument, value, fits, wanted in (
        *((name, text, isinstance(text, str), "a string") for name, text in (("modulation", modulation), ("axis", axis), ("title", title))),
        ("panels", panels, is_list(panels, str), f"a list of {', '.join(PANELS)}"),
        ("size", size, size is None or is_list(size, int) and len(size) == 2, "a width and a height in pixels"),
    ):
        if not fits:
            raise TypeError(f"{argument} is {value!r}: it takes {wanted}")
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
    if not isinstance(input_scale, numbers.Real) or not 0 < input_scale < 3e38:
        raise ValueError(f"input_scale is {input_scale!r:.60}: it takes a positive number")
    input_scale = float(input_scale)
    known, symbols, soft = MODULATIONS[modulation.lower()], array_of("symbols", symbols, "cfiu"), array_of("soft", soft, "fiu")
    soft_format = next((name for name, format_ in SOFT_FORMATS.items() if soft.dtype == np.dtype(format_.dtype)), None)
    if soft_format is None:
        raise TypeError(f"soft has dtype {soft.dtype}: not that of soft bits or LLRs")
    n = len(symbols)
    if not n or len(soft) != n * known.n_bits:
        raise ValueError(f"soft has {len(soft)} values: {n} symbols of {known.name} have {n * known.n_bits}")
    sample = sample_of_arrays(symbols, soft, input_scale * math.sqrt(known.energy))
    if positions is not None:
        sample = sample._replace(positions=array_of("positions", positions, "iu").astype(np.int64))
        if len(sample.positions) != n:
            raise ValueError(f"positions has {len(sample.positions)} values: there are {n} symbols")
    picture = Picture(sample, known, soft_format, sign, axis.lower(), input_scale)
    return draw(picture, [name.lower() for name in panels], title, size)
