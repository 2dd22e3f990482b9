# SPDX-License-Identifier: MIT
"""Pictures of symbols and their soft bits or LLRs, drawn by matplotlib: figure() of arrays, softqam-plot of files."""
from __future__ import annotations

import argparse
import contextlib
import fractions
import io
import json
import logging
import os
import re
import signal
import stat
import textwrap
import warnings
from typing import TYPE_CHECKING, Any, Mapping, NoReturn

import numpy as np
import numpy.typing as npt

from softqam import _arrays, _core, _names
from softqam._demodulator import demodulate
from softqam._names import MODULATIONS, OUTPUT_DTYPES, integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["figure"]

# NumPy's type of a component, and the factor that brings it to unit mean energy; the first is that of names without a suffix.
INPUT_FORMATS = {"cf32": ("f4", 1.0), "cs16": ("i2", 2.0**-13), "cs8": ("i1", 2.0**-6), "cf16": ("f2", 1.0),
                 "cu8": ("u1", 2.0**-6), "cu8h": ("u1", 2.0**-6), "cs32": ("i4", 2.0**-29), "cf64": ("f8", 1.0),
                 "cf32be": (">f4", 1.0), "cs16be": (">i2", 2.0**-13), "cs32be": (">i4", 2.0**-29), "cf64be": (">f8", 1.0)}  # fmt: skip
SOFT_FORMATS = {"u8": "u1", "s8": "i1", "s16": "i2", "f16": "f2", "f32": "f4"}
SUFFIXES = {"fc32": "cf32", "cfile": "cf32", "sc16": "cs16", "ci16": "cs16", "sc8": "cs8", "ci8": "cs8", "ci32": "cs32"}
LABELS = {"u8": "soft bit (u8)", "s8": "LLR (s8)", "s16": "LLR (s16)", "f16": "LLR, nats", "f32": "LLR, nats"}
MAX_DRAWN, MAX_DOTS = 200_000, 5000
NO_MATPLOTLIB = "matplotlib is not there; pip install 'softqam[plot]', or matplotlib, adds it"
BLUE, ORANGE, GREY = "#0b62a8", "#e8890c", "#777777"


def _levels(modulation: str) -> npt.NDArray[Any]:
    """Returns the levels of I and Q, odd numbers in units of 1/sqrt(energy)."""
    size = 2 ** max(1, _core.bits_per_symbol(MODULATIONS[modulation]) // 2)
    return np.arange(1 - size, size, 2)


def _energy(modulation: str) -> int:
    return int(2 * np.mean(_levels(modulation) ** 2))


def _points(modulation: str) -> npt.NDArray[Any]:
    """Returns the points in those units; for pi/2-BPSK those of even positions."""
    levels = _levels(modulation)
    points = np.ravel(levels[:, None] + 1j * levels)
    return points[points.real == points.imag] if "bpsk" in modulation else points


def _straight(symbols: npt.NDArray[Any], modulation: str) -> npt.NDArray[Any]:
    """Undoes the rotation of pi/2-BPSK."""
    return symbols * (-1j) ** (np.arange(len(symbols)) % 2) if modulation == "pi2-bpsk" else symbols


def _nearest(symbols: npt.NDArray[Any], modulation: str) -> npt.NDArray[Any]:
    """Returns the nearest points; symbols of pi/2-BPSK must be without its rotation."""
    outer = _levels(modulation)[-1]
    nearest: npt.NDArray[Any] = (1 + 1j) * np.where(symbols.real + symbols.imag < 0, -1, 1)
    if "bpsk" in modulation:
        return nearest
    i, q = (np.clip(2 * np.floor(axis / 2) + 1, -outer, outer) for axis in (symbols.real, symbols.imag))
    nearest = i + 1j * q
    return nearest


def _facts(levels: npt.NDArray[Any], soft: npt.NDArray[Any] | None, sent: npt.NDArray[Any] | None, modulation: str, sign: int) -> tuple[str, str]:
    """Returns a text with the facts about symbols, which are in units of levels, and one of what seems wrong with them or their soft bits."""
    is_known, energy = np.isfinite(levels), _energy(modulation)
    straight = _straight(levels, modulation)[is_known]
    nearest = _nearest(straight, modulation)
    facts = [modulation.upper().replace("PI2", "\u03c0/2"), f"{len(levels):,} symbol{'s' * (len(levels) != 1)}"]
    wrong = []
    if not is_known.all():
        facts.append(f"{np.sum(~is_known):,} erased")
    if is_known.any():
        power, mean = np.mean(abs(straight) ** 2) / energy, np.mean(abs(straight - nearest) ** 2) / energy
        facts += [f"energy {power:.3g}", f"EVM {100 * np.sqrt(mean):.2f} %", f"SNR {-10 * np.log10(mean):.1f} dB" if mean > 1e-8 else "SNR above 80 dB"]
        scale, angle = _best(straight, modulation)
        if abs(np.log(scale)) > 0.05 or abs(angle) > 3:
            wrong.append(f"The points would fit best with {scale:.3g} times the scale, turned by {round(angle, 1) + 0.0}\u00b0: EVM and SNR are of wrong points.")
    if soft is not None:
        middle = 127 if soft.dtype == np.uint8 else 0
        if soft.dtype.kind in "iu":
            facts.append(f"{100 * np.mean(abs(soft - (127.5 if middle else 0.0)) >= np.max(abs(soft - (127.5 if middle else 0.0)))):.1f} % limited")
        hard = np.where(soft > middle, sign, np.where(soft < middle, 1 - sign, 0))
        if sent is not None:
            facts.append(f"{np.sum(hard != sent):,} of {hard.size:,} bits wrong")
        first = (straight.real if "bpsk" not in modulation else straight.real + straight.imag) < 0
        clear = soft[is_known, 0] != middle
        if clear.any() and np.mean((hard[is_known, 0] != first)[clear]) > 0.2:
            wrong.append("Soft bits have other signs than the symbols: scrambled (--c-init), bit planes (--planes), the other sign, or another file's?")
    return " \u00b7 ".join(facts), "\n".join(wrong)


def _best(straight: npt.NDArray[Any], modulation: str) -> tuple[float, float]:
    """Returns the scale, as a factor, and the rotation in degrees that leave the least distance to the points."""
    part = straight[:4000]
    part = part[abs(part) < 4 * np.median(abs(part)) + 1e-30]
    unit = np.sqrt(_energy(modulation) / np.mean(abs(part) ** 2)) if np.any(part) else 1.0

    def turned(scale: float, angle: float) -> npt.NDArray[Any]:
        changed: npt.NDArray[Any] = part * scale * np.exp(1j * np.deg2rad(angle))
        return changed

    def misfit(change: tuple[float, float]) -> float:
        return float(np.mean(abs(turned(*change) - _nearest(turned(*change), modulation)) ** 2)) / change[0] ** 2

    best = min(((scale, angle) for scale in unit * np.linspace(0.98, 1.2, 8) for angle in np.linspace(-45, 45, 31)), key=misfit)
    if misfit(best) > 0.6 * misfit((1, 0)):
        return 1, 0
    points = _nearest(turned(*best), modulation)
    gain = np.vdot(points, turned(*best)) / np.vdot(points, points)  # the remaining scale and rotation
    return float(best[0] / abs(gain)), float(best[1] - np.rad2deg(np.angle(gain)))


def _draw_constellation(axes: Axes, symbols: npt.NDArray[Any], points: npt.NDArray[Any], unit: str) -> None:
    """Draws dots, or the density of many symbols in cells; the levels are in the middle of cells."""
    from matplotlib.colors import LogNorm

    known, outer = symbols[np.isfinite(symbols)], points.real.max()
    reach = np.quantile(np.maximum(abs(known.real), abs(known.imag)), 0.98) if len(known) else 0  # a few, in fading many, are far away
    limit = float(np.ceil(max(outer + 3, min(reach * 1.1, 2 * outer + 3) if reach > outer else 0)))
    if len(known) <= MAX_DOTS:
        axes.plot(known.real, known.imag, ".", color=BLUE, markersize=4 if len(known) < 1000 else 2, alpha=0.6, rasterized=True, label="symbols")
    else:
        n_cells = min(240.0, max(9.0, 0.9 * np.sqrt(len(known))))
        width = max(1 / max(1, n_cells // (2 * limit)), 2 * limit / n_cells)
        edges = np.arange(-limit - width / 2, limit + width, width)
        cells = np.histogram2d(known.real, known.imag, [edges, edges])[0].T
        image = axes.pcolormesh(edges, edges, np.ma.masked_equal(cells, 0), norm=LogNorm(1, max(2, cells.max())), cmap="Blues", rasterized=True)
        axes.figure.colorbar(image, ax=axes, label="symbols in a cell", shrink=0.8)
    axes.plot(points.real, points.imag, ".", color=ORANGE, markersize=3, label="ideal points")
    outside = np.sum(np.maximum(abs(known.real), abs(known.imag)) > limit)
    axes.set(title="Constellation, ideal points in orange" + f"; {outside:,} outside" * bool(outside), xlabel=f"I, {unit}", ylabel=f"Q, {unit}",
             aspect="equal", xlim=(-limit, limit), ylim=(-limit, limit))  # fmt: skip


def _draw_soft_bits(panel: SubFigure, components: list[tuple[str, npt.NDArray[Any]]], soft: npt.NDArray[Any], unit: str, label: str) -> None:
    """Draws a lane for each bit, over the component that it depends on."""
    n_axes = len(components)
    lanes = panel.subplots(-(-soft.shape[1] // n_axes), n_axes, sharex="col", sharey=True, squeeze=False)
    size = 1 if len(soft) > 20_000 else 2 if len(soft) > 1000 else 5
    for k, lane in enumerate(lanes.flat[: soft.shape[1]]):
        name, component = components[k % n_axes]
        lane.plot(component, soft[:, k], ".", color=BLUE, markersize=size, markeredgewidth=0, rasterized=True)
        lane.axhline(127 if soft.dtype == np.uint8 else 0, color=GREY, linewidth=0.8, linestyle="--")
        lane.locator_params("y", nbins=3)
        lane.margins(0.02, 0.15)
        known = component[np.isfinite(component)]
        if len(known):
            lane.set_xlim(*np.quantile(known, (0.002, 0.998)) * 1.1 + (-0.5, 0.5))
        lane.text(0.01, 0.95, f"b{k}", transform=lane.transAxes, weight="bold", va="top", bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1})
        if k < n_axes:
            lane.set_title(f"Soft bits of {name}")
        if k >= soft.shape[1] - n_axes:
            lane.set_xlabel(f"{name}, {unit}")
    panel.supylabel(label, fontsize="medium")


def _draw_details(panel: SubFigure, levels: npt.NDArray[Any], soft: npt.NDArray[Any], modulation: str, label: str) -> None:
    """Draws the distribution of soft bits, and EVM by groups of symbols."""
    left, right = panel.subplots(1, 2)
    values = soft[np.isfinite(soft)].astype(float)
    left.hist(values, 256 if soft.dtype == np.uint8 else 255 if soft.dtype == np.int8 else 200, color=BLUE, log=True)
    left.set(title="All soft bits", xlabel=label, ylabel="how many", ylim=(0.7, None))
    straight = _straight(levels, modulation)
    errors = abs(straight - _nearest(straight, modulation)) ** 2 / _energy(modulation)
    groups = np.array_split(errors, min(100, -(-len(errors) // 12)))
    right.plot(np.cumsum([len(g) for g in groups]), [100 * np.sqrt(np.nanmean(np.where(np.isfinite(g), g, np.nan))) for g in groups], ".-", color=BLUE)
    right.set(title=f"EVM of groups of {len(groups[0])} symbols", xlabel="symbol", ylabel="EVM, %", ylim=(0, None))


def figure(symbols: Any, soft: Any = None, modulation: str = "256qam", *, sign: int = 0, title: str = "", sent: Any = None,
           details: bool = False, ax: Axes | None = None) -> Figure:  # fmt: skip
    """Draws a matplotlib Figure: the constellation, its energy, EVM and SNR, and soft bits over I and Q.

    symbols     [n] complex, unit mean energy. Those that are not finite are erased. The first one is number 0 of pi/2-BPSK.
    soft        [n * bits per symbol]: what softqam.demodulate() makes of them, of any output's dtype; None: the constellation alone.
    modulation  as demodulate() has it.
    sign        the bit that a value above the midpoint means.
    sent        [n * bits per symbol], 0 or 1: the bits that were sent; then the title says how many are wrong.
    details     also the distribution of soft bits, and EVM by groups of symbols.
    ax          draw the constellation into these axes, and nothing else.

    EVM and SNR are those of the nearest points: if noise moves symbols to a wrong one, the true SNR is less. The title says if another
    scale or rotation would fit better, and if soft bits have other signs than their symbols.
    """
    integer("sign", sign, 0, 1)
    modulation, symbols = _names.modulation(modulation), _arrays.as_array("symbols", symbols)
    if symbols.ndim != 1 or symbols.dtype.kind not in "cfiu":
        raise TypeError(f"{_arrays.describe('symbols', symbols)}: it takes [n] complex")
    n, n_bits = len(symbols), _core.bits_per_symbol(MODULATIONS[modulation])
    arrays: list[npt.NDArray[Any] | None] = [None, None]
    for k, (name, given) in enumerate((("soft", soft), ("sent", sent))):
        if given is None:
            continue
        array = _arrays.as_array(name, given)
        if name == "soft" and array.dtype.name not in OUTPUT_DTYPES.values():
            raise TypeError(f"{_arrays.describe(name, array)}: not what demodulate() makes")
        if name == "sent" and not np.isin(array, (0, 1)).all():
            raise ValueError(f"{_arrays.describe(name, array)}: not bits, 0 and 1")
        if not n or array.size != n * n_bits:
            raise ValueError(f"{_arrays.describe(name, array)}: {n} symbols of {modulation} have {n * n_bits} values")
        arrays[k] = array.reshape(n, n_bits)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about glyphs that a font lacks
        levels = symbols.astype(np.complex64).astype(complex) * np.sqrt(_energy(modulation))  # numbers beyond binary32 become erasures
        return _draw(levels, arrays[0], arrays[1], modulation, sign, title, details, ax)


def _draw(levels: npt.NDArray[Any], soft: npt.NDArray[Any] | None, sent: npt.NDArray[Any] | None, modulation: str, sign: int, title: str,
          details: bool, ax: Axes | None) -> Figure:  # fmt: skip
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(NO_MATPLOTLIB) from error
    unit, points = f"in units of 1/\u221a{_energy(modulation)}", _points(modulation)
    if modulation == "pi2-bpsk":
        points = np.concatenate([points, 1j * points])
    if ax is not None:
        _draw_constellation(ax, levels, points, unit)
        return ax.figure  # type: ignore[return-value]
    figure = Figure(figsize=(13 if soft is not None else 6.5, 5.5 + 3 * details), layout="constrained")
    facts, wrong = _facts(levels, soft, sent, modulation, sign)
    lines = [line for text in (_printable(title), facts, wrong) for line in text.splitlines()]
    heading = "\n".join(textwrap.fill(line, 170 if soft is not None else 85) for line in lines)
    figure.suptitle(heading, parse_math=False, fontsize="medium", color="#b03000" if wrong else None)
    if soft is None:
        _draw_constellation(figure.subplots(), levels, points, unit)
        return figure
    label = LABELS[next(name for name, dtype in OUTPUT_DTYPES.items() if dtype == soft.dtype.name)]
    rows = figure.subfigures(1 + details, 1, squeeze=False, height_ratios=(5, 3)[: 1 + details])[:, 0]
    left, right = rows[0].subfigures(1, 2, squeeze=False, width_ratios=(5, 6)).flat
    _draw_constellation(left.subplots(), levels, points, unit)
    components = [("I", levels.real), ("Q", levels.imag)]
    if "bpsk" in modulation:
        turned = _straight(levels, modulation)
        components = [("(I + Q)/2" + " of BPSK" * (modulation == "pi2-bpsk"), (turned.real + turned.imag) / 2)]
    _draw_soft_bits(right, components, soft, unit, f"{label}; above the midpoint: bit {sign}")
    if details:
        _draw_details(rows[1], levels, soft, modulation, label)
    return figure


DESCRIPTION = """Draws the symbols in IQ and, if given, the soft bits or LLRs that softqam-demod made of them in SOFT: the constellation,
its energy, EVM and SNR, and the soft bits over I and Q. IQ may be a SigMF recording, NAME.sigmf-meta or NAME.sigmf-data, whose
metadata then give format, scale and modulation, unless options do. Of more than 200,000 symbols some, evenly spread, are drawn."""

EPILOG = """EVM and SNR are those of the nearest points: if noise moves symbols to a wrong one, the true SNR is less. OUT
is never IQ or SOFT. Pictures need matplotlib: pip install 'softqam[plot]' adds it, and compiles nothing.
Exit status: 0 done; 1 the data or a file failed, or matplotlib is not there; 2 the command was wrong."""


class Failure(Exception):
    """Holds the message that is printed before the program ends with status 1."""


def _printable(text: str) -> str:
    """Returns a text on one line, with unprintable characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _scale(text: str) -> float:
    """Parses a positive number or fraction."""
    with contextlib.suppress(ValueError, ZeroDivisionError, OverflowError):
        scale = float(fractions.Fraction(text))
        if 0 < scale < 2.0**128:
            return scale
    raise argparse.ArgumentTypeError(f"'{text}' is not a positive number or fraction, such as 1/8192")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_printable(message)}; --help explains\n")


def _parser() -> _Parser:
    parser = _Parser("softqam-plot", "softqam-plot [options] IQ [SOFT] -o OUT\n       softqam-plot [options] --example -o OUT", DESCRIPTION, EPILOG)
    add = parser.add_argument
    add("files", nargs="*", help=argparse.SUPPRESS)
    add("-o", "--output", metavar="OUT", required=True, help="the picture; its suffix .png, .pdf or .svg names the format")
    add("-m", "--modulation", type=lambda name: name.lower().replace("pi/2", "pi2"), choices=MODULATIONS, help="default: the recording's own, else 256qam")
    add("-i", "--input-format", type=str.lower, choices=INPUT_FORMATS, help="default: by IQ's suffix")
    add("-s", "--soft-format", type=str.lower, choices=SOFT_FORMATS, help="default: by SOFT's suffix; s8 with --example")
    add("--sign", type=int, choices=(0, 1), default=0, help="the bit that a value above the midpoint means; default: 0")
    add("--input-scale", type=_scale, metavar="X", help="factor that brings samples to unit mean symbol energy, a number or a "
        "fraction A/B; default: the recording's own, else that of softqam-demod")  # fmt: skip
    add("--sent", metavar="BITS", help="the bits that were sent, a byte 0 or 1 each, as softqam-gen --bits writes them: counts errors")
    add("--details", action="store_true", help="also the distribution of soft bits, and EVM by groups of symbols")
    add("--title", help="default: the name of IQ")
    add("--example", action="store_true", help="symbols with noise, which need no files")
    add("-V", "--version", action="version", version=f"softqam-plot {_core.version}")
    add("--snr-db", type=float, metavar="X", help="the example's; default: 4 + 3 for each bit of a symbol")
    return parser


def _format_of(path: str, named: str | None, formats: Mapping[str, Any], option: str) -> str:
    """Returns the format that is named, else the suffix's, else the first."""
    suffix = os.path.splitext(path)[1][1:].lower()
    name = named or SUFFIXES.get(suffix, suffix) or next(iter(formats))
    if name not in formats:
        raise Failure(f"{path}: suffix .{suffix} is none of a format; {option} names it: {', '.join(formats)}")
    return name


def _recording(path: str) -> tuple[str, str, str, float | None, str | None]:
    """Reads metadata: the data's file, its format and byte order, the scale, the modulation."""
    try:
        with open(path, encoding="utf-8") as file:
            metadata = json.load(file)
        whole, captures = metadata["global"], metadata.get("captures") or []
        if not re.fullmatch(r"[01]\.\d+\.\d+", whole.get("core:version", "1.0.0")):
            raise ValueError("core:version is neither 0 nor 1")
        if any(needed.get("optional") is False and needed["name"] != "softqam" for needed in whole.get("core:extensions") or []):
            raise ValueError("core:extensions requires one that is not supported")
        kind, bits, order = re.fullmatch(r"c([fiu])(\d+)(_le|_be|)", whole["core:datatype"]).groups()  # type: ignore[union-attr]
        format_ = f"c{kind.replace('i', 's')}{bits}"
        scale, modulation = whole.get("softqam:input_scale"), whole.get("softqam:modulation")
        if format_ not in INPUT_FORMATS or modulation not in (None, *MODULATIONS) or not (scale is None or scale > 0):
            raise ValueError("core:datatype, softqam:modulation or softqam:input_scale is not supported")
        for gap, value in (("dataset", 0), ("trailing_bytes", 0), ("header_bytes", 0), ("metadata_only", 0), ("num_channels", 1)):
            if any(where.get("core:" + gap, value) != value for where in (whole, *captures)):
                raise ValueError(f"core:{gap} is not supported")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Failure(f"{path}: not SigMF as softqam-demod takes it ({error})") from None
    return path[: -len("meta")] + "data", format_, ">" if order == "_be" else "<", scale, modulation


def _rows(path: str, dtype: str, n_values: int) -> npt.NDArray[Any]:
    """Returns the file as an array with a row for each symbol."""
    status, nbytes = os.stat(path), n_values * np.dtype(dtype).itemsize
    if not stat.S_ISREG(status.st_mode):
        raise Failure(f"{path}: not a regular file")
    with open(path, "rb") as file:
        if file.read(6).startswith((b"RIFF", b"RF64", b"\x93NUMPY")):
            raise Failure(f"{path}: begins with a header, not with samples: write those to a file of their own")
    if not status.st_size or status.st_size % nbytes:
        raise Failure(f"{path}: {status.st_size} bytes are not a whole number of symbols of {nbytes} bytes")
    return np.memmap(path, dtype, "r", shape=(status.st_size // nbytes, n_values))


def _figure_of_files(options: argparse.Namespace) -> tuple[Figure, list[str]]:
    """Returns the figure, and all files that were read."""
    iq = options.files[0]
    read, order, scale, modulation, format_ = [iq], "<", None, None, options.input_format
    base, extension = os.path.splitext(iq)
    if extension in (".sigmf-meta", ".sigmf-data") and not format_:
        iq, format_, order, scale, modulation = _recording(base + ".sigmf-meta")
        read += [iq, base + ".sigmf-meta"]
    format_ = format_ or _format_of(iq, None, INPUT_FORMATS, "--input-format")
    modulation = options.modulation or modulation or "256qam"
    dtype, of_format = INPUT_FORMATS[format_]
    n_bits = _core.bits_per_symbol(MODULATIONS[modulation])
    files: list[tuple[str, str]] = []
    if len(options.files) > 1:
        files.append((options.files[1], "<" + SOFT_FORMATS[_format_of(options.files[1], options.soft_format, SOFT_FORMATS, "--soft-format")]))
    files += [(options.sent, "u1")] * bool(options.sent)
    symbols = _rows(iq, dtype if dtype[0] == ">" else order + dtype, 2)
    step = -(-len(symbols) // MAX_DRAWN) | 1  # odd, so that pi/2-BPSK turns as it does
    arrays = []
    for path, dtype in files:
        rows = _rows(path, dtype, n_bits)
        if len(symbols) != len(rows):
            raise Failure(f"{path}: the bits of {len(rows):,} symbols, but {iq} has {len(symbols):,}")
        arrays.append(rows[::step].astype(rows.dtype.newbyteorder("=")))
        if path == options.sent and np.any(arrays[-1] > 1):
            raise Failure(f"{path}: not bits: a byte is neither 0 nor 1")
    components = (symbols[::step].astype(float) - {"cu8": 128, "cu8h": 127.5}.get(format_, 0)) * (options.input_scale or scale or of_format)
    title = options.title or os.path.basename(iq) + f", 1 symbol in {step}" * (step > 1)
    soft = arrays[0] if len(options.files) > 1 else None
    return figure(components @ [1, 1j], soft, modulation, sign=options.sign, title=title, sent=arrays[-1] if options.sent else None,
                  details=options.details), read + [path for path, _ in files]  # fmt: skip


def _example(options: argparse.Namespace) -> Figure:
    """Returns 20,000 symbols with noise."""
    modulation: Any = options.modulation or "256qam"
    rng = np.random.default_rng(1)
    snr_db = 4 + 3 * _core.bits_per_symbol(MODULATIONS[modulation]) if options.snr_db is None else options.snr_db
    n0 = 10 ** (-snr_db / 10)
    sent = rng.choice(_points(modulation), 20_000) / np.sqrt(_energy(modulation))
    if modulation == "pi2-bpsk":
        sent[1::2] *= 1j
    symbols = sent + rng.normal(0, np.sqrt(n0 / 2), (len(sent), 2)) @ [1, 1j]
    output: Any = options.soft_format or "s8"
    soft = demodulate(symbols, modulation, None if output == "u8" else n0, output=output, sign=options.sign)
    return figure(symbols, soft, modulation, sign=options.sign, details=options.details,
                  title=options.title or f"{modulation.upper()} at {snr_db:g} dB")  # fmt: skip


def _run(parser: _Parser, options: argparse.Namespace) -> None:
    kind = os.path.splitext(options.output)[1].lower()
    if kind not in (".png", ".pdf", ".svg"):
        parser.error(f"--output: '{options.output}' ends in neither .png, .pdf nor .svg")
    if len(options.files) not in ((0,) if options.example else (1, 2)):
        parser.error("it takes IQ and SOFT, IQ alone, or --example and no files")
    for name in ("sent", "details"):
        if getattr(options, name) and len(options.files) < 2 - (name == "details" and options.example):
            parser.error(f"--{name}: it takes SOFT")
    if options.snr_db is not None and not (options.example and abs(options.snr_db) <= 100):
        parser.error("--snr-db: it takes --example, and a number from -100 to 100")
    if options.example and options.soft_format == "u8" and options.modulation not in (None, "256qam"):
        parser.error(f"--soft-format: u8 is for 256qam, not {options.modulation}")
    try:
        import matplotlib

        matplotlib.rcdefaults()  # the same picture for everybody
    except ImportError:
        raise Failure(NO_MATPLOTLIB) from None
    drawn, read = (_example(options), []) if options.example else _figure_of_files(options)
    if os.path.isfile(options.output) and any(os.path.samefile(options.output, path) for path in read):
        parser.error(f"{options.output}: is an input as well; give OUT another name")
    file = io.BytesIO()
    drawn.savefig(file, format=kind[1:])
    with open(options.output, "wb") as out:
        out.write(file.getvalue())


def main() -> None:
    """Runs softqam-plot."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    logging.disable()
    parser = _parser()
    options = parser.parse_intermixed_args()
    try:
        _run(parser, options)
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {_printable(str(error.filename or options.output))}: {error.strerror}\n")
    except Failure as failure:
        parser.exit(1, f"{parser.prog}: {_printable(str(failure))}\n")


if __name__ == "__main__":
    main()
