# SPDX-License-Identifier: MIT
"""The command line: HELP says what there is."""
from __future__ import annotations

import decimal
import getopt
import math
import os.path
import re
import struct
from typing import Iterable, Mapping, NamedTuple

from .failure import Failure
from .formats import INPUT_FORMATS, SOFT_FORMATS, Format
from .modulation import DEFAULT_MODULATION, MODULATIONS, Modulation
from .output import is_file_of
from .recording import Source, source_of

PROGRAM = "softqam-plot"

HELP = """\
Usage: softqam-plot [options] IQ SOFT -o OUT.png
  or:  softqam-plot [options] --example -o OUT.png

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
  $ softqam-plot recording.sigmf-meta soft.u8 -o picture.pdf

Symbols and soft bits:
  -o, --output FILE          the picture; .png, .svg or .pdf says which kind
  -m, --modulation NAME      bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or
                             1024qam; default: 256qam. IQ's first symbol is
                             number 0 of pi/2-BPSK
  -i, --input-format FORMAT  cf32, cs16, cs8, cf16, cu8, cs32 or cf64, as
                             softqam-demod has them; default: by IQ's suffix;
                             cf32 for a name without a suffix
  -s, --soft-format FORMAT   u8, s8, s16, f16 or f32; default: by SOFT's suffix;
                             u8 for a name without a suffix
      --sign 0|1             the bit that a value above the midpoint means;
                             default: 0
      --input-scale X        factor that brings samples to unit mean symbol
                             energy, a number or a fraction A/B; default:
                             1 (cf32, cf16, cf64), 1/32768 (cs16), 1/128
                             (cs8, cu8), 1/2147483648 (cs32)
      --sample N             draw at most N symbols, 1 to 10000000, in runs
                             spread evenly through the files; default: 200000.
                             1M, 64Ki and 1e6 are counts too

Without files:
      --example              make symbols with noise and demodulate them, by the
                             Python package softqam; SOFT's format is s8 unless
                             -s says u8, s16, f16 or f32
      --snr-db X             Es/N0 of the example in dB, -50 to 100; default:
                             4, and 3 for each bit of a symbol

The picture:
      --panels LIST          some of constellation,bits,histograms,evm in the
                             order wanted; default: all
      --axis AXIS            i or q, whose soft bits are drawn; default: i. BPSK
                             has one axis, the diagonal
      --title TEXT           default: the name of IQ
      --size WIDTHxHEIGHT    of the picture, in pixels; default: 1200x1050 for
                             all panels
  -h, --help                 this text
  -V, --version              the version

EVM is taken against the nearest point: where noise moves symbols to a wrong
point, the true value is larger. The SNR takes that into account. Symbols that
are NaN or infinite are erased: only the histograms count them. OUT appears
complete or not at all. One that is IQ or SOFT, by whatever name or link, is
refused. Needs matplotlib: pip install matplotlib, or Debian's package
python3-matplotlib.

Exit status:
  0  done
  1  the data or a file failed, or matplotlib or softqam is not there
  2  the command was wrong
"""


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


SHORT_OPTIONS = {"-m": "--modulation", "-i": "--input-format", "-s": "--soft-format", "-o": "--output", "-h": "--help", "-V": "--version"}
LONG_OPTIONS = ["modulation=", "input-format=", "soft-format=", "output=", "input-scale=", "sample=", "panels=", "title=", "size=",
                "sign=", "axis=", "example", "snr-db=", "help", "version"]  # fmt: skip
COMPLAINTS = {
    "not recognized": "no such option; --help lists them",
    "requires argument": "needs a value",
    "not have an argument": "takes no value",
    "not a unique prefix": "could be more than one option; --help lists them",
}


def split_arguments(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options by their long names, of which the last of each counts, and the operands."""
    try:
        pairs, operands = getopt.gnu_getopt(arguments, "m:i:s:o:hV", LONG_OPTIONS)
    except getopt.GetoptError as error:
        option = ("--" if f"--{error.opt}" in error.msg else "-") + error.opt
        causes = [cause for text, cause in COMPLAINTS.items() if text in error.msg]
        raise wrong(SHORT_OPTIONS.get(option, option), (causes + [error.msg])[0]) from None
    return {SHORT_OPTIONS.get(name, name): value for name, value in pairs}, operands


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


FOR_FILES = ("--input-format", "--input-scale", "--sample")


def parse(given: Mapping[str, str], operands: list[str]) -> Options:
    """Of options by their long names; may read metadata."""
    example, output = "--example" in given, given.get("--output")
    if len(operands) != 2 and not example:
        raise wrong(None, f"needs 2 operands (IQ and SOFT), but got {len(operands)}; --help explains")
    if example and operands:
        raise wrong("--example", f"needs no files, but got {operands[0]}")
    for option in FOR_FILES if example else ("--snr-db",):
        if option in given:
            raise wrong(option, f"is of no use with{'' if example else 'out'} --example")
    if output is None:
        raise wrong("--output", "is needed; --help explains")
    panels = panel_list("--panels", given.get("--panels", ",".join(PANELS)))
    scale = ratio("--input-scale", given["--input-scale"]) if "--input-scale" in given else None
    modulation = choice("--modulation", given["--modulation"], MODULATIONS) if "--modulation" in given else None
    options = Options(
        iq=Source(""),
        soft=Source(""),
        output=output,
        kind=picture_kind(output),
        modulation=MODULATIONS[modulation or DEFAULT_MODULATION],
        input_format="cf32",
        soft_format="s8",
        scale=scale or 1,
        sign=int(choice("--sign", given.get("--sign", "0"), ("0", "1"))),
        sample=count("--sample", given.get("--sample", str(DEFAULT_SAMPLE))),
        panels=panels,
        axis=choice("--axis", given.get("--axis", "i"), ("i", "q")),
        title=given.get("--title", operands[0] if operands else ""),
        size=picture_size("--size", given.get("--size"), len(panels)),
        example=example,
        snr_db=decibels("--snr-db", given["--snr-db"]) if "--snr-db" in given else None,
    )
    if example:
        return options._replace(soft_format=choice("--soft-format", given.get("--soft-format", "s8"), SOFT_FORMATS))
    return with_files(options, given, operands, modulation, scale)


def with_files(
    options: Options, given: Mapping[str, str], operands: list[str], modulation: str | None, scale: float | None
) -> Options:
    """What names of files and metadata say, unless an option does."""
    named = given.get("--input-format")
    iq, soft = source_of(operands[0], named), Source(operands[1])
    input_format = iq.format or format_of("--input-format", named, operands[0], INPUT_FORMATS, SOFT_FORMATS)
    soft_format = format_of("--soft-format", given.get("--soft-format"), soft.path, SOFT_FORMATS, INPUT_FORMATS)
    for source, role in (iq, "IQ"), (soft, "SOFT"):
        if is_file_of(options.output, source):
            raise wrong(options.output, f"is {role} as well; give OUT another name")
    return options._replace(
        iq=iq,
        soft=soft,
        modulation=MODULATIONS[modulation or iq.modulation or DEFAULT_MODULATION],
        input_format=input_format,
        soft_format=soft_format,
        scale=next(value for value in (scale, iq.scale, INPUT_FORMATS[input_format].scale) if value),
    )
