# SPDX-License-Identifier: MIT
"""softqam-plot, from its arguments to its exit status."""
from __future__ import annotations

import io
import logging
import os
import signal
import sys
import warnings
from typing import TYPE_CHECKING

from .command import PROGRAM, Options, make_parser, parse, read
from .failure import Failure
from .output import to_stdout, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawing(options: Options) -> tuple[Figure, str | None]:
    """The figure, and what is to be warned of. The user's settings of matplotlib do not count."""
    warnings.simplefilter("ignore")
    logging.disable()
    os.environ["MPLBACKEND"] = "agg"
    try:
        from . import example, measure, sample

        drawn, title = example.sample_of_example(options) if options.example else (sample.sample_of_files(options), options.title)
        import matplotlib

        from . import panels
    except ImportError as error:
        raise Failure(error.name, "not found; pip install matplotlib, or Debian's package python3-matplotlib, brings it") from None
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({"svg.hashsalt": PROGRAM, "svg.fonttype": "none"})
    complaint = measure.complaint(drawn.symbols, drawn.positions, options.modulation, options.scale)
    formats = f"{options.input_format} \u2192 {options.soft_format}"
    figure = panels.draw(drawn, options.modulation, options.soft_format, sign=options.sign, axis=options.axis,
                         panels=options.panels, title=title, size=options.size, formats=formats,
                         complaint=complaint)  # fmt: skip
    return figure, complaint


def encoded(figure: Figure, kind: str) -> bytes:
    """The file, which is the same for the same picture."""
    file = io.BytesIO()
    date = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
    figure.savefig(file, format=kind, metadata={date: None})
    return file.getvalue()


def run(arguments: list[str], version: str) -> None:
    given = read(arguments)
    if given.help:
        to_stdout(make_parser().format_help())
    elif given.version:
        to_stdout(f"{PROGRAM} {version}\n")
    else:
        options = parse(given)
        figure, complaint = drawing(options)
        write(options.output, encoded(figure, options.kind))
        if complaint:
            say(f"{options.iq.path or '--example'}: warning: the symbols {complaint}")


def say(words: str) -> None:
    """In one line, with control characters made visible, and the bytes of file names as they are."""
    text = "".join("\\n" if c == "\n" else f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in words)
    try:
        with open(2, "wb", closefd=False) as file:
            file.write(os.fsencode(f"{PROGRAM}: {text}\n"))
    except OSError:
        raise Failure(None, "standard error cannot be written") from None


def version_of_package() -> str:
    from softqam import __version__

    return __version__


def main(version: str | None = None) -> int:
    """Signals end it as they end programs that are not Python's."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        run(sys.argv[1:], version or version_of_package())
    except Failure as failure:
        try:
            say(str(failure))
        except Failure:
            return 1
        return failure.status
    return 0
