# SPDX-License-Identifier: MIT
"""softqam-plot: a picture of symbols and their soft bits or LLRs, drawn by gnuplot.

command.py says how to call it. What it takes from there: recording.py and sample.py read a sample of both files, counts.py
and soft_axis.py count, figure.py makes commands of gnuplot of it, gnuplot.py runs that. Nothing that the user names gets to
gnuplot as a command: files are read and written here, and text goes through quoted() in text.py.
"""

import os
import signal
import sys

from command import HELP, PROGRAM, VERSION, parse, split_arguments
from failure import DEADLY_SIGNALS, Failure, Interrupted
from figure import Figure
from gnuplot import draw
from output import to_stdout, write
from palette import small_png
from sample import Sample


def run(arguments):
    given, operands = split_arguments(arguments)
    if "--help" in given:
        to_stdout(HELP)
    elif "--version" in given:
        to_stdout(f"{PROGRAM} {VERSION}\n")
    else:
        options = parse(given, operands)
        script = Figure(options, Sample(options)).script()
        picture = draw(script, options.kind)
        write(options.output, small_png(picture) if options.small else picture)


def interrupt(signal_number, _frame):
    raise Interrupted(signal_number)


def say(failure):
    """In one line, with control characters made visible, and the bytes of file names as they are."""
    text = "".join("\\n" if c == "\n" else f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in str(failure))
    sys.stderr.buffer.write(os.fsencode(f"{PROGRAM}: {text}\n"))


def main():
    for deadly in DEADLY_SIGNALS:
        if signal.getsignal(deadly) != signal.SIG_IGN:
            signal.signal(deadly, interrupt)
    try:
        run(sys.argv[1:])
    except Failure as failure:
        say(failure)
        return failure.status
    except Interrupted as interrupted:
        (number_of_signal,) = interrupted.args
        signal.signal(number_of_signal, signal.SIG_DFL)
        os.kill(os.getpid(), number_of_signal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
