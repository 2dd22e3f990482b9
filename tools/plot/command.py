# SPDX-License-Identifier: MIT
"""The command line: HELP says what there is."""

import collections
import getopt
import math
import os.path
import struct

from failure import Failure
from formats import INPUT_FORMATS, SOFT_FORMATS
from layout import HEADER, MIN_CELL, PANELS, grid
from modulation import DEFAULT_MODULATION, MODULATIONS
from output import is_file_of
from recording import SOFT_BIT_DATATYPES, SYMBOL_DATATYPES, source_of

VERSION = "@PROJECT_VERSION@"
PROGRAM = "softqam-plot"

HELP = """\
Usage: softqam-plot [options] IQ SOFT -o OUT.png|OUT.svg

Draws the symbols in IQ and the soft bits or LLRs that softqam-demod made of
them in SOFT, with gnuplot: the density of the constellation, the soft bits of
an axis against the input, a histogram per bit, and EVM over time.

IQ and SOFT may be SigMF recordings, given as NAME.sigmf-meta, NAME.sigmf-data
or NAME. Their metadata then give formats, modulation, scale and sign, unless
the options below do. An IQ or SOFT with any other suffix than those of the
formats below is refused without -i or -s.

  -o, --output FILE          the picture; .png or .svg says which kind
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
                             spread evenly through the files; default: 200000
      --panels LIST          some of constellation,bits,histograms,evm in the
                             order wanted; default: all
      --axis AXIS            i or q, whose soft bits are drawn; default: i
      --title TEXT           default: the name of IQ
      --size WIDTHxHEIGHT    of the picture, in pixels; default: 1200x1050 for
                             all panels
      --small                PNG only: at most 256 colours, for a file a third
                             of the size; takes a few seconds more
  -h, --help                 this text
  -V, --version              the version

EVM is taken against the nearest point: where noise moves symbols to a wrong
point, the true value is larger. Symbols that are NaN or infinite are erased:
only the histograms count them. OUT appears complete or not at all. One that is
IQ or SOFT, by whatever name or link, is refused.

Exit status:
  0  done
  1  the data, a file or gnuplot failed
  2  the command was wrong
"""


DEFAULT_SAMPLE, MAX_SAMPLE = 200000, 10000000
SIZE_LIMIT = 10000  # pixels
CONTENTS = "symbols, not soft bits or LLRs", "soft bits or LLRs, not symbols"


def wrong(subject, cause):
    return Failure(subject, cause, 2)


def choice(option, text, names):
    if text not in names:
        raise wrong(option, f"'{text}' is not one of {', '.join(names)}")
    return text


def count(option, text):
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and 1 <= int(text) <= MAX_SAMPLE):
        raise wrong(option, f"'{text}' is not a whole number from 1 to {MAX_SAMPLE}")
    return int(text)


def ratio(option, text):
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


def panel_list(option, text):
    panels = [choice(option, name, PANELS) for name in text.split(",")]
    if len(set(panels)) < len(panels):
        raise wrong(option, f"'{text}' names a panel twice")
    return panels


def picture_size(option, text, n_panels):
    columns, rows = grid(n_panels)
    if text is None:
        return 600 * columns, HEADER + 494 * rows
    width, _, height = text.partition("x")
    low = MIN_CELL[0] * columns, HEADER + MIN_CELL[1] * rows
    size = [int(n) if n.isascii() and n.isdecimal() and len(n) < 6 else 0 for n in (width, height)]
    if not all(a <= n <= SIZE_LIMIT for a, n in zip(low, size)):
        limits = f"from {low[0]}x{low[1]} to {SIZE_LIMIT}x{SIZE_LIMIT}"
        raise wrong(option, f"'{text}' is not a size {limits}, which so many panels need")
    return tuple(size)


def format_of(option, named, path, formats, others):
    """The format that is named, else the one of the suffix, else the first. What another suffix stands for is none."""
    if named is not None:
        by_name = (name for name, known in formats.items() if "." + named in known.suffixes)
        return choice(option, next(by_name, named), formats)
    suffix = os.path.splitext(path)[1]
    by_suffix = {known: name for name, format_ in formats.items() for known in format_.suffixes}
    if suffix.lower() in by_suffix or suffix in ("", "."):
        return by_suffix.get(suffix.lower(), next(iter(formats)))
    if any(suffix.lower() in format_.suffixes for format_ in others.values()):
        raise wrong(path, f"suffix {suffix.lower()} means {CONTENTS[others is SOFT_FORMATS]}; {option} overrides it")
    raise wrong(path, f"suffix {suffix} is unknown; {option} names the format: {', '.join(formats)}")


def picture_kind(path):
    suffix = path.lower()[-4:]
    if suffix not in (".png", ".svg"):
        raise wrong("--output", f"'{path}' ends in neither .png nor .svg")
    return suffix[1:]


SHORT_OPTIONS = {"-m": "--modulation", "-i": "--input-format", "-s": "--soft-format", "-o": "--output", "-h": "--help", "-V": "--version"}
LONG_OPTIONS = ["modulation=", "input-format=", "soft-format=", "output=", "input-scale=", "sample=", "panels=", "title=", "size=",
                "small", "sign=", "axis=", "help", "version"]  # fmt: skip
COMPLAINTS = {
    "not recognized": "no such option; --help lists them",
    "requires argument": "needs a value",
    "not have an argument": "takes no value",
    "not a unique prefix": "could be more than one option; --help lists them",
}


def split_arguments(arguments):
    """The options by their long names, of which the last of each counts, and the operands."""
    try:
        pairs, operands = getopt.gnu_getopt(arguments, "m:i:s:o:hV", LONG_OPTIONS)
    except getopt.GetoptError as error:
        option = ("--" if f"--{error.opt}" in error.msg else "-") + error.opt
        causes = [cause for text, cause in COMPLAINTS.items() if text in error.msg]
        raise wrong(SHORT_OPTIONS.get(option, option), (causes + [error.msg])[0]) from None
    return {SHORT_OPTIONS.get(name, name): value for name, value in pairs}, operands


Options = collections.namedtuple(
    "Options", "iq soft output kind modulation input_format soft_format scale sign sample panels axis title size small"
)


def parse(given, operands):
    if len(operands) != 2:
        raise wrong(None, f"needs 2 operands (IQ and SOFT), but got {len(operands)}; --help explains")
    if "--output" not in given:
        raise wrong("--output", "is needed; --help explains")
    if "--small" in given and picture_kind(given["--output"]) != "png":
        raise wrong("--small", "is for PNG only")
    named, soft_named = given.get("--input-format"), given.get("--soft-format")
    panels = panel_list("--panels", given.get("--panels", ",".join(PANELS)))
    kind, size = picture_kind(given["--output"]), picture_size("--size", given.get("--size"), len(panels))
    sample = count("--sample", given.get("--sample", str(DEFAULT_SAMPLE)))
    axis = choice("--axis", given.get("--axis", "i"), ("i", "q"))
    sign = int(choice("--sign", given["--sign"], ("0", "1"))) if "--sign" in given else None
    scale = ratio("--input-scale", given["--input-scale"]) if "--input-scale" in given else None
    modulation = choice("--modulation", given["--modulation"], MODULATIONS) if "--modulation" in given else None
    iq = source_of(operands[0], named, SYMBOL_DATATYPES, lambda _: 1)
    modulation = modulation or iq.modulation
    soft = source_of(operands[1], soft_named, SOFT_BIT_DATATYPES,
                     lambda found: MODULATIONS[modulation or found or DEFAULT_MODULATION].n_bits)  # fmt: skip
    input_format = iq.format or format_of("--input-format", named, operands[0], INPUT_FORMATS, SOFT_FORMATS)
    soft_format = soft.format or format_of("--soft-format", soft_named, operands[1], SOFT_FORMATS, INPUT_FORMATS)
    for source, role in (iq, "IQ"), (soft, "SOFT"):
        if is_file_of(given["--output"], source):
            raise wrong(given["--output"], f"is {role} as well; give OUT another name")
    scales = (scale, soft.scale, iq.scale, INPUT_FORMATS[input_format].scale)
    return Options(
        iq=iq,
        soft=soft,
        output=given["--output"],
        kind=kind,
        modulation=MODULATIONS[modulation or soft.modulation or DEFAULT_MODULATION],
        input_format=input_format,
        soft_format=soft_format,
        scale=next(value for value in scales if value),
        sign=sign if sign is not None else soft.sign or 0,
        sample=sample,
        panels=panels,
        axis=axis,
        title=given.get("--title", operands[0]),
        size=size,
        small="--small" in given,
    )
