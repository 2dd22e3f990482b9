# SPDX-License-Identifier: MIT
"""Numbers and names as text in a picture."""

import math
import unicodedata


def grouped(n):
    """A whole number with a narrow space between thousands."""
    return f"{n:,}".replace(",", "\u202f")


def superscript(n):
    raised = "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
    return str(n).translate(str.maketrans("-0123456789", raised))


def number(x):
    """A round number, short."""
    if x and not 1e-4 < abs(x) < 1e4:
        power = math.floor(math.log10(abs(x)) + 1e-9)
        factor = f"{x / 10.0**power:.3g}"
        text = {"1": "", "-1": "-"}.get(factor, factor + "\u00b7") + "10" + superscript(power)
    else:
        text = f"{x:.6g}"
    return text.replace("-", "\u2212", 1) if x < 0 else text


def printable(text):
    """The text with what is no character, or controls the terminal, made visible."""

    def shown(c):
        if "\udc80" <= c <= "\udcff":  # a byte that is not UTF-8
            return f"\\x{ord(c) - 0xDC00:02x}"
        if c == "\n":
            return "\\n"
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"):
            return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"
        return c

    return "".join(map(shown, text))


def shortened(text, columns):
    """The text with its middle left out where it needs more columns."""

    def width(part):
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)

    if width(text) <= columns:
        return text
    head, tail = text[: columns // 2], text[-(columns // 2) :]
    while width(head) + width(tail) >= columns:
        head, tail = head[:-1], tail[1:]
    return head + "\u2026" + tail


def quoted(text):
    """A string of gnuplot, in which all but letters and spaces is written in octal: nothing is left that could mean
    something to it. Digits too, because it takes those that follow an octal number as part of it."""

    def octal(c):
        return c if c == " " or c.isascii() and c.isalpha() else "".join(f"\\{byte:o}" for byte in c.encode())

    return '"' + "".join(map(octal, text)) + '"'
