# SPDX-License-Identifier: MIT
"""Numbers and names as text in a picture."""
from __future__ import annotations

import unicodedata


def grouped(n: int) -> str:
    """A whole number with a narrow space between thousands."""
    return f"{n:,}".replace(",", "\u202f")


def printable(text: str) -> str:
    """The text with what is no character, or controls the terminal, made visible."""

    def shown(c: str) -> str:
        if "\udc80" <= c <= "\udcff":  # a byte that is not UTF-8
            return f"\\x{ord(c) - 0xDC00:02x}"
        if c == "\n":
            return "\\n"
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"):
            return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"
        return c

    return "".join(map(shown, text))


def shortened(text: str, columns: int) -> str:
    """The text with its middle left out where it needs more columns."""

    def width(part: str) -> int:
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)

    if width(text) <= columns:
        return text
    head, tail = text[: columns // 2], text[-(columns // 2) :]
    while width(head) + width(tail) >= columns:
        head, tail = head[:-1], tail[1:]
    return head + "\u2026" + tail
