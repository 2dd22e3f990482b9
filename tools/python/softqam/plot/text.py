# SPDX-License-Identifier: MIT
"""Numbers and names as text in a picture."""
from __future__ import annotations

import unicodedata


def grouped(n: int) -> str:
    """A whole number with a narrow space between thousands."""
    return f"{n:,}".replace(",", "\u202f")


def escaped(c: str) -> str:
    """A byte of a file's name that is not UTF-8 comes as a surrogate."""
    is_byte = c < "\u0100" or "\udc80" <= c <= "\udcff"
    return "\\n" if c == "\n" else f"\\x{ord(c) & 0xFF:02x}" if is_byte else f"\\u{ord(c):04x}"


def printable(text: str) -> str:
    """The text with what is no character, or controls the terminal, made visible."""
    return "".join(c if c.isprintable() else escaped(c) for c in text)


def shortened(text: str, columns: int) -> str:
    """The text with its middle left out where it needs more columns."""

    def width(part: str) -> int:
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)

    head, tail = text[: columns // 2], text[-(columns // 2) :]
    while width(head) + width(tail) >= columns:
        head, tail = head[:-1], tail[1:]
    return text if width(text) <= columns else head + "\u2026" + tail
