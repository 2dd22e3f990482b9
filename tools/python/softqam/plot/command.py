# SPDX-License-Identifier: MIT
"""softqam-plot, from its arguments to its exit status. Only a picture needs NumPy and matplotlib."""
from __future__ import annotations

import argparse
import decimal
import functools
import io
import logging
import math
import os
import re
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, NoReturn

from .files import INPUT_FORMATS, MODULATIONS, SOFT_FORMATS, Failure, Format, Source, failures_of, is_file_of, one_of, source_of, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM = "softqam-plot"

USAGE = """\
softqam-plot [options] IQ SOFT -o OUT.png
  or:  softqam-plot [options] --example -o OUT.png"""

DESCRIPTION = """\
Draws the symbols in IQ and the soft bits or LLRs that softqam-demod made of
them in SOFT, with matplotlib: the density of the constellation, the soft bits
of an axis against the input, a histogram per bit, and EVM over time. Says the
EVM, the SNR, and when the symbols are not on the points of the modulation.

IQ may be a SigMF recording, given as NAME.sigmf-meta, NAME.sigmf-data or NAME.
Its metadata then give format, modulation and scale, unless the options below
do. An IQ or SOFT with any other suffix than those of the formats below is
refused without -i or -s.

Examples:
  $ softqam-plot --example -m 64qam -o llrs.png
  $ softqam-plot capture.cf32 capture.s8 -o capture.png
  $ softqam-plot -m qpsk --panels bits capture.cs16 capture.f32 -o bits.svg
  $ softqam-plot recording.sigmf-meta soft.u8 -o picture.pdf"""

EPILOG = """\
EVM is taken against the nearest point: where noise moves symbols to a wrong
point, the true value is larger. The SNR takes that into account. Symbols that
are NaN or infinite are erased: only the histograms count them. OUT appears
complete or not at all. One that is IQ or SOFT, by whatever name or link, is
refused. Needs matplotlib: pip install matplotlib, or Debian's package
python3-matplotlib.

Exit status:
  0  done
  1  the data or a file failed, or matplotlib or softqam is not there
  2  the command was wrong"""

MAX_SAMPLE = 10000000
SIZE_LIMIT = 10000  # pixels
PANELS = ("constellation", "bits", "histograms", "evm")
HEADER = 62  # pixels above the panels
MIN_CELL = (420, 380)  # of one panel
MIN_SNR_DB, MAX_SNR_DB = -50, 100
DECIMAL = r"[0-9]+\.?[0-9]*|\.[0-9]+"
UNITS = {"": 1} | {unit + binary: (1024 if binary else 1000) ** power
                   for power, unit in enumerate("kMGT", 1) for binary in ("", "i")}  # fmt: skip
CONTENTS = "symbols, not soft bits or LLRs", "soft bits or LLRs, not symbols"


def wrong(subject: str | None, cause: str) -> Failure:
    return Failure(subject, cause, 2)


def grid(n_panels: int) -> tuple[int, int]:
    """Columns and rows of panels."""
    return min(n_panels, 2), (n_panels + 1) // 2


def choice(option: str, text: str, names: Iterable[str]) -> str:
    """One of the names, in any case."""
    if text.lower() not in names:
        raise wrong(option, one_of(names).format(text))
    return text.lower()


def count(option: str, text: str) -> int:
    """A whole number, of which 1M, 64Ki and 1e6 are some too."""
    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,20}(?=[eEkMGT]))?(?:[eE][0-9]{1,3})?)([kMGT]i?|Ki)?", text)
    value = decimal.Decimal(match[1]) * UNITS[(match[2] or "").replace("K", "k")] if match else decimal.Decimal(0)
    if not 1 <= value <= MAX_SAMPLE or value % 1:
        raise wrong(option, f"'{text}' is not a whole number from 1 to {MAX_SAMPLE}")
    return int(value)


def decibels(option: str, text: str) -> float:
    if not re.fullmatch(f"[-+]?({DECIMAL})", text) or not MIN_SNR_DB <= float(text) <= MAX_SNR_DB:
        raise wrong(option, f"'{text}' is not a number of decibels from {MIN_SNR_DB} to {MAX_SNR_DB}")
    return float(text)


def ratio(option: str, text: str) -> float:
    """A positive number or a fraction of two, which float32 can hold."""
    number = rf"[-+]?(?:{DECIMAL})(?:[eE][-+]?[0-9]+)?"
    match = re.fullmatch(f"({number})(?:/({number}))?", text)
    terms = [float(term or 1) for term in match.groups()] if match else [0]
    if not all(0 < x < math.inf for x in terms) or not 2**-150 < terms[0] / terms[1] < 2**128 - 2**103:
        raise wrong(option, f"'{text}' is not a positive number or fraction (such as 0.25 or 1/32768)")
    return terms[0] / terms[1]


def panel_list(option: str, text: str) -> list[str]:
    panels = [choice(option, name, PANELS) for name in text.split(",")]
    if len(set(panels)) < len(panels):
        raise wrong(option, f"'{text}' names a panel twice")
    return panels


def picture_size(option: str, text: str | None, n_panels: int) -> tuple[int, int]:
    columns, rows = grid(n_panels)
    if text is None:
        return 600 * columns, HEADER + 494 * rows
    match = re.fullmatch("([0-9]{1,5})x([0-9]{1,5})", text)
    width, height = map(int, match.groups()) if match else (0, 0)
    low = MIN_CELL[0] * columns, HEADER + MIN_CELL[1] * rows
    if not low[0] <= width <= SIZE_LIMIT or not low[1] <= height <= SIZE_LIMIT:
        limits = f"from {low[0]}x{low[1]} to {SIZE_LIMIT}x{SIZE_LIMIT}"
        raise wrong(option, f"'{text}' is not a size {limits}, which so many panels need")
    return width, height


def format_of(option: str, named: str | None, path: str, formats: Mapping[str, Format], others: Mapping[str, Format]) -> str:
    """The format that is named, else the one of the suffix, else the first. What another suffix stands for is none."""
    by_suffix = {known: name for name, format_ in formats.items() for known in format_.suffixes}
    if named is not None:
        return choice(option, by_suffix.get("." + named.lower(), named), formats)
    suffix = os.path.splitext(path)[1]
    if suffix.lower() in by_suffix or suffix in ("", "."):
        return by_suffix.get(suffix.lower(), next(iter(formats)))
    if any(suffix.lower() in format_.suffixes for format_ in others.values()):
        raise wrong(path, f"suffix {suffix.lower()} means {CONTENTS[others is SOFT_FORMATS]}; {option} overrides it")
    raise wrong(path, f"suffix {suffix} is unknown; {option} names the format: {', '.join(formats)}")


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise wrong(None, f"{message}; --help explains")

    def format_help(self) -> str:
        return "U" + super().format_help()[1:]


def make_parser() -> Parser:
    """The options. Each says itself what is wrong with its value."""
    layout = functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=29, width=80)
    parser = Parser(PROGRAM, USAGE, DESCRIPTION, EPILOG, formatter_class=layout, add_help=False)

    def add(*names: str, check: Callable[..., Any] = lambda option, text: text, default: Any = None, **rest: Any) -> None:
        group.add_argument(*names, type=functools.partial(check, names[-1]), default=default, **rest)

    group = parser.add_argument_group("Symbols and soft bits")
    add("-o", "--output", metavar="FILE", help="the picture; .png, .svg or .pdf says which kind")
    add("-m", "--modulation", metavar="NAME", check=functools.partial(choice, names=MODULATIONS),
        help="bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: 256qam. IQ's first symbol is number 0 of pi/2-BPSK")
    add("-i", "--input-format", metavar="FORMAT",
        help="cf32, cs16, cs8, cf16, cu8, cs32 or cf64, as softqam-demod has them; default: by IQ's suffix; cf32 for a name "
             "without a suffix")
    add("-s", "--soft-format", metavar="FORMAT",
        help="u8, s8, s16, f16 or f32; default: by SOFT's suffix; u8 for a name without a suffix")
    add("--sign", metavar="0|1", check=functools.partial(choice, names=("0", "1")), default="0",
        help="the bit that a value above the midpoint means; default: 0")
    add("--input-scale", metavar="X", check=ratio,
        help="factor that brings samples to unit mean symbol energy, a number or a fraction A/B; default: 1 (cf32, cf16, cf64), "
             "1/32768 (cs16), 1/128 (cs8, cu8), 1/2147483648 (cs32)")
    add("--sample", metavar="N", check=count,
        help="draw at most N symbols, 1 to 10000000, in runs spread evenly through the files; default: 200000. 1M, 64Ki and "
             "1e6 are counts too")
    group = parser.add_argument_group("Without files")
    group.add_argument("--example", action="store_true",
        help="make symbols with noise and demodulate them, by the Python package softqam; SOFT's format is s8 unless -s says "
             "u8, s16, f16 or f32")  # fmt: skip
    add("--snr-db", metavar="X", check=decibels, help="Es/N0 of the example in dB, -50 to 100; default: 4, and 3 for each bit of a symbol")
    group = parser.add_argument_group("The picture")
    add("--panels", metavar="LIST", check=panel_list, default=list(PANELS),
        help="some of constellation,bits,histograms,evm in the order wanted; default: all")
    add("--axis", metavar="AXIS", check=functools.partial(choice, names=("i", "q")), default="i",
        help="i or q, whose soft bits are drawn; default: i. BPSK has one axis, the diagonal")
    add("--title", metavar="TEXT", help="default: the name of IQ")
    add("--size", metavar="WIDTHxHEIGHT", help="of the picture, in pixels; default: 1200x1050 for all panels")
    group.add_argument("-h", "--help", action="store_true", help="this text")
    group.add_argument("-V", "--version", action="store_true", help="the version")
    parser.add_argument("operands", nargs="*", help=argparse.SUPPRESS)
    return parser


def read(arguments: list[str]) -> argparse.Namespace:
    """The options, of which the last of each counts, and the operands, which are all that is behind "--"."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given = make_parser().parse_intermixed_args(arguments[:end])
    given.operands += arguments[end + 1 :]
    return given


def parse(options: argparse.Namespace) -> argparse.Namespace:
    """What read() gave, complete: with `kind`, the sources `iq` and `soft`, `scale`, a Modulation. May read metadata."""
    n = len(options.operands)
    if n != 2 and not options.example:
        raise wrong(None, f"needs 2 operands (IQ and SOFT), but got {n}; --help explains")
    if options.example and n > 0:
        raise wrong("--example", f"needs no files, but got {options.operands[0]}")
    for name in ("input_format", "input_scale", "sample") if options.example else ("snr_db",):
        if getattr(options, name) is not None:
            raise wrong("--" + name.replace("_", "-"), f"is of no use with{'' if options.example else 'out'} --example")
    if options.output is None:
        raise wrong("--output", "is needed; --help explains")
    options.kind = options.output.lower()[-3:]
    if not options.output.lower().endswith((".png", ".svg", ".pdf")):
        raise wrong("--output", f"'{options.output}' ends in neither .png, .svg nor .pdf")
    options.sign, options.size = int(options.sign), picture_size("--size", options.size, len(options.panels))
    if options.title is None:
        options.title = "".join(options.operands[:1])
    if options.example:
        options.iq, options.scale, options.input_format = Source("--example"), 1, "cf32"
        options.soft_format = choice("--soft-format", options.soft_format or "s8", SOFT_FORMATS)
    else:
        read_sources(options)
    options.modulation = MODULATIONS[options.modulation or options.iq.modulation or "256qam"]
    return options


def read_sources(options: argparse.Namespace) -> None:
    """What names of files and metadata say, unless an option does."""
    named, (path, soft) = options.input_format, options.operands
    options.iq, options.soft = source_of(path, named), Source(soft)
    options.input_format = options.iq.format or format_of("--input-format", named, path, INPUT_FORMATS, SOFT_FORMATS)
    options.soft_format = format_of("--soft-format", options.soft_format, soft, SOFT_FORMATS, INPUT_FORMATS)
    options.scale = options.input_scale or options.iq.scale or INPUT_FORMATS[options.input_format].scale
    for source, role in (options.iq, "IQ"), (options.soft, "SOFT"):
        if is_file_of(options.output, source):
            raise wrong(options.output, f"is {role} as well; give OUT another name")


def drawing(options: argparse.Namespace) -> tuple[Figure, str | None]:
    """The figure, and what is to be warned of. The user's settings of matplotlib do not count."""
    warnings.simplefilter("ignore")
    logging.disable()
    os.environ["MPLBACKEND"] = "agg"
    try:
        from . import sample

        drawn, title = sample.sample_of_example(options) if options.example else (sample.sample_of_files(options), options.title)
        import matplotlib

        from . import panels
    except ImportError as error:
        raise Failure(error.name, "not found; pip install matplotlib, or Debian's package python3-matplotlib, brings it") from None
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({"svg.hashsalt": PROGRAM, "svg.fonttype": "none"})
    picture = panels.Picture(drawn, options.modulation, options.soft_format, options.sign, options.axis, options.scale)
    formats = f"{options.input_format} \u2192 {options.soft_format}"
    return panels.draw(picture, options.panels, title, options.size, formats), picture.complaint


def encoded(figure: Figure, kind: str) -> bytes:
    """The file, which is the same for the same picture."""
    file = io.BytesIO()
    date = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
    figure.savefig(file, format=kind, metadata={date: None})
    return file.getvalue()


def run(arguments: list[str], version: str | None) -> None:
    given = read(arguments)
    if given.version and not version:
        from softqam import __version__ as version
    if given.help or given.version:
        with failures_of("standard output"), open(1, "wb", closefd=False) as file:
            file.write((make_parser().format_help() if given.help else f"{PROGRAM} {version}\n").encode())
        return
    options = parse(given)
    figure, complaint = drawing(options)
    write(options.output, encoded(figure, options.kind))
    if complaint:
        say(f"{options.iq.path}: warning: the symbols {complaint}")


def say(words: str) -> None:
    """In one line, with control characters made visible, and the bytes of file names as they are."""
    text = "".join(c.encode("unicode_escape").decode() if c < " " or c == "\x7f" else c for c in words)
    with failures_of("standard error"), open(2, "wb", closefd=False) as file:
        file.write(os.fsencode(f"{PROGRAM}: {text}\n"))


def main(version: str | None = None) -> int:
    """Signals end it as they end programs that are not Python's."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        run(sys.argv[1:], version)
    except Failure as failure:
        try:
            say(str(failure))
        except Failure:
            return 1
        return failure.status
    return 0
