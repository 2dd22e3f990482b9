# SPDX-License-Identifier: MIT
"""The command line."""
from __future__ import annotations

import argparse
import decimal
import functools
import math
import os.path
import re
import struct
from typing import Iterable, Mapping, NamedTuple, NoReturn

from .failure import Failure
from .formats import INPUT_FORMATS, SOFT_FORMATS, Format
from .modulation import DEFAULT_MODULATION, MODULATIONS, Modulation
from .output import is_file_of
from .recording import Source, source_of

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

DEFAULT_SAMPLE, MAX_SAMPLE = 200000, 10000000
SIZE_LIMIT = 10000  # pixels
PANELS = ("constellation", "bits", "histograms", "evm")
HEADER = 62  # pixels above the panels
MIN_CELL = (420, 380)  # of one panel
KINDS = ("png", "svg", "pdf")
MIN_SNR_DB, MAX_SNR_DB = -50, 100
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
        raise wrong(option, f"'{text}' is not one of {', '.join(names)}")
    return text.lower()


def count(option: str, text: str) -> int:
    """A whole number, of which 1M, 64Ki and 1e6 are some too."""
    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,20}(?=[eEkMGT]))?(?:[eE][0-9]{1,3})?)([kMGT]i?|Ki)?", text)
    value = decimal.Decimal(match[1]) * UNITS[(match[2] or "").replace("K", "k")] if match else decimal.Decimal(0)
    if not 1 <= value <= MAX_SAMPLE or value % 1:
        raise wrong(option, f"'{text}' is not a whole number from 1 to {MAX_SAMPLE}")
    return int(value)


def decibels(option: str, text: str) -> float:
    if not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)", text) or not MIN_SNR_DB <= float(text) <= MAX_SNR_DB:
        raise wrong(option, f"'{text}' is not a number of decibels from {MIN_SNR_DB} to {MAX_SNR_DB}")
    return float(text)


def ratio(option: str, text: str) -> float:
    """A positive number or a fraction of two."""
    try:
        if set(text) - set("0123456789+-.eE/"):
            raise ValueError
        terms = [float(term) for term in text.split("/", 1)]
        value = terms[0] / (terms + [1])[1]
        (rounded,) = struct.unpack("f", struct.pack("f", value))
        if not all(0 < x < math.inf for x in terms + [rounded]):
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise wrong(option, f"'{text}' is not a positive number or fraction (such as 0.25 or 1/32768)") from None
    return value


def panel_list(option: str, text: str) -> list[str]:
    panels = [choice(option, name, PANELS) for name in text.split(",")]
    if len(set(panels)) < len(panels):
        raise wrong(option, f"'{text}' names a panel twice")
    return panels


def picture_size(option: str, text: str | None, n_panels: int) -> tuple[int, int]:
    columns, rows = grid(n_panels)
    if text is None:
        return 600 * columns, HEADER + 494 * rows
    width, _, height = text.partition("x")
    low = MIN_CELL[0] * columns, HEADER + MIN_CELL[1] * rows
    size = [int(n) if n.isascii() and n.isdecimal() and len(n) < 6 else 0 for n in (width, height)]
    if not all(a <= n <= SIZE_LIMIT for a, n in zip(low, size)):
        limits = f"from {low[0]}x{low[1]} to {SIZE_LIMIT}x{SIZE_LIMIT}"
        raise wrong(option, f"'{text}' is not a size {limits}, which so many panels need")
    return size[0], size[1]


def format_of(option: str, named: str | None, path: str, formats: Mapping[str, Format], others: Mapping[str, Format]) -> str:
    """The format that is named, else the one of the suffix, else the first. What another suffix stands for is none."""
    if named is not None:
        by_name = (name for name, known in formats.items() if "." + named.lower() in known.suffixes)
        return choice(option, next(by_name, named), formats)
    suffix = os.path.splitext(path)[1]
    by_suffix = {known: name for name, format_ in formats.items() for known in format_.suffixes}
    if suffix.lower() in by_suffix or suffix in ("", "."):
        return by_suffix.get(suffix.lower(), next(iter(formats)))
    if any(suffix.lower() in format_.suffixes for format_ in others.values()):
        raise wrong(path, f"suffix {suffix.lower()} means {CONTENTS[others is SOFT_FORMATS]}; {option} overrides it")
    raise wrong(path, f"suffix {suffix} is unknown; {option} names the format: {', '.join(formats)}")


def picture_kind(path: str) -> str:
    suffix = path.lower()[-4:]
    if suffix not in {"." + kind for kind in KINDS}:
        raise wrong("--output", f"'{path}' ends in neither .png, .svg nor .pdf")
    return suffix[1:]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise wrong(None, f"{message}; --help explains")

    def format_help(self) -> str:
        return "U" + super().format_help()[1:]


def make_parser() -> Parser:
    """The options. Each says itself what is wrong with its value."""
    layout = functools.partial(argparse.RawDescriptionHelpFormatter, max_help_position=29, width=80)
    parser = Parser(PROGRAM, USAGE, DESCRIPTION, EPILOG, formatter_class=layout, add_help=False)
    add = parser.add_argument_group("Symbols and soft bits").add_argument
    add("-o", "--output", metavar="FILE", help="the picture; .png, .svg or .pdf says which kind")
    add("-m", "--modulation", metavar="NAME", type=functools.partial(choice, "--modulation", names=MODULATIONS),
        help="bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: 256qam. IQ's first symbol is number 0 of pi/2-BPSK")
    add("-i", "--input-format", metavar="FORMAT",
        help="cf32, cs16, cs8, cf16, cu8, cs32 or cf64, as softqam-demod has them; default: by IQ's suffix; cf32 for a name "
             "without a suffix")
    add("-s", "--soft-format", metavar="FORMAT",
        help="u8, s8, s16, f16 or f32; default: by SOFT's suffix; u8 for a name without a suffix")
    add("--sign", metavar="0|1", type=functools.partial(choice, "--sign", names=("0", "1")), default="0",
        help="the bit that a value above the midpoint means; default: 0")
    add("--input-scale", metavar="X", type=functools.partial(ratio, "--input-scale"),
        help="factor that brings samples to unit mean symbol energy, a number or a fraction A/B; default: 1 (cf32, cf16, cf64), "
             "1/32768 (cs16), 1/128 (cs8, cu8), 1/2147483648 (cs32)")
    add("--sample", metavar="N", type=functools.partial(count, "--sample"),
        help="draw at most N symbols, 1 to 10000000, in runs spread evenly through the files; default: 200000. 1M, 64Ki and "
             "1e6 are counts too")
    add = parser.add_argument_group("Without files").add_argument
    add("--example", action="store_true",
        help="make symbols with noise and demodulate them, by the Python package softqam; SOFT's format is s8 unless -s says "
             "u8, s16, f16 or f32")
    add("--snr-db", metavar="X", type=functools.partial(decibels, "--snr-db"),
        help="Es/N0 of the example in dB, -50 to 100; default: 4, and 3 for each bit of a symbol")
    add = parser.add_argument_group("The picture").add_argument
    add("--panels", metavar="LIST", type=functools.partial(panel_list, "--panels"), default=list(PANELS),
        help="some of constellation,bits,histograms,evm in the order wanted; default: all")
    add("--axis", metavar="AXIS", type=functools.partial(choice, "--axis", names=("i", "q")), default="i",
        help="i or q, whose soft bits are drawn; default: i. BPSK has one axis, the diagonal")
    add("--title", metavar="TEXT", help="default: the name of IQ")
    add("--size", metavar="WIDTHxHEIGHT", help="of the picture, in pixels; default: 1200x1050 for all panels")
    add("-h", "--help", action="store_true", help="this text")
    add("-V", "--version", action="store_true", help="the version")
    parser.add_argument("operands", nargs="*", help=argparse.SUPPRESS)
    return parser


def read(arguments: list[str]) -> argparse.Namespace:
    """The options, of which the last of each counts, and the operands, which are all that is behind "--"."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given = make_parser().parse_intermixed_args(arguments[:end])
    given.operands += arguments[end + 1 :]
    return given


class Options(NamedTuple):
    iq: Source
    soft: Source
    output: str
    kind: str
    modulation: Modulation
    input_format: str
    soft_format: str
    scale: float
    sign: int
    sample: int
    panels: list[str]
    axis: str
    title: str
    size: tuple[int, int]
    example: bool
    snr_db: float | None


FOR_FILES = ("input_format", "input_scale", "sample")


def check(given: argparse.Namespace) -> None:
    """What depends on more than one argument."""
    n = len(given.operands)
    if n != 2 and not given.example:
        raise wrong(None, f"needs 2 operands (IQ and SOFT), but got {n}; --help explains")
    if given.example and n > 0:
        raise wrong("--example", f"needs no files, but got {given.operands[0]}")
    for option in FOR_FILES if given.example else ("snr_db",):
        if getattr(given, option) is not None:
            raise wrong("--" + option.replace("_", "-"), f"is of no use with{'' if given.example else 'out'} --example")
    if given.output is None:
        raise wrong("--output", "is needed; --help explains")


def parse(given: argparse.Namespace) -> Options:
    """May read metadata."""
    check(given)
    options = Options(
        iq=Source(""),
        soft=Source(""),
        output=given.output,
        kind=picture_kind(given.output),
        modulation=MODULATIONS[given.modulation or DEFAULT_MODULATION],
        input_format="cf32",
        soft_format="s8",
        scale=given.input_scale or 1,
        sign=int(given.sign),
        sample=given.sample or DEFAULT_SAMPLE,
        panels=given.panels,
        axis=given.axis,
        title=given.title if given.title is not None else "".join(given.operands[:1]),
        size=picture_size("--size", given.size, len(given.panels)),
        example=given.example,
        snr_db=given.snr_db,
    )
    if given.example:
        return options._replace(soft_format=choice("--soft-format", given.soft_format or "s8", SOFT_FORMATS))
    return with_files(options, given)


def with_files(options: Options, given: argparse.Namespace) -> Options:
    """What names of files and metadata say, unless an option does."""
    named = given.input_format
    iq, soft = source_of(given.operands[0], named), Source(given.operands[1])
    input_format = iq.format or format_of("--input-format", named, given.operands[0], INPUT_FORMATS, SOFT_FORMATS)
    soft_format = format_of("--soft-format", given.soft_format, soft.path, SOFT_FORMATS, INPUT_FORMATS)
    for source, role in (iq, "IQ"), (soft, "SOFT"):
        if is_file_of(options.output, source):
            raise wrong(options.output, f"is {role} as well; give OUT another name")
    return options._replace(
        iq=iq,
        soft=soft,
        modulation=MODULATIONS[given.modulation or iq.modulation or DEFAULT_MODULATION],
        input_format=input_format,
        soft_format=soft_format,
        scale=next(value for value in (given.input_scale, iq.scale, INPUT_FORMATS[input_format].scale) if value),
    )
