# SPDX-License-Identifier: MIT
"""A PNG with a palette, made from one without."""

import collections
import struct
import zlib

from failure import Failure


def png_chunks(png):
    place = 8
    while place < len(png):
        (n,) = struct.unpack_from(">I", png, place)
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + n]
        place += n + 12


def png_chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def paeth(a, b, c):
    """The PNG specification's predictor from the left, the upper and the upper left byte."""
    from_a, from_b, from_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    if from_a <= from_b and from_a <= from_c:
        return a
    return b if from_b <= from_c else c


def unfiltered(rows, nbytes):
    """The rows of an image with so many bytes a pixel, each without its first byte, which says how it was filtered."""
    upper = bytes(len(rows[0]) - 1)
    for filtered in rows:
        kind, row = filtered[0], bytearray(nbytes) + filtered[1:]
        upper = bytes(nbytes) + upper
        for x in range(nbytes, len(row)):
            if kind == 1:
                row[x] = row[x] + row[x - nbytes] & 255
            elif kind == 2:
                row[x] = row[x] + upper[x] & 255
            elif kind == 3:
                row[x] = row[x] + (row[x - nbytes] + upper[x] >> 1) & 255
            elif kind == 4:
                row[x] = row[x] + paeth(row[x - nbytes], upper[x], upper[x - nbytes]) & 255
        upper = bytes(row[nbytes:])
        yield upper


def with_few_colours(pixels):
    """The pixels, all but the 256 most common colours replaced by the one of those that is nearest."""
    colours = [colour for colour, _ in collections.Counter(pixels).most_common()]
    kept, nearest = colours[:256], {}
    for colour in colours:
        nearest[colour] = min(kept, key=lambda other: sum((a - b) ** 2 for a, b in zip(colour, other)))
    return [nearest[pixel] for pixel in pixels]


def small_png(png):
    """The picture with a palette, from one with 8 bits each of red, green and blue."""
    chunks = list(png_chunks(png))
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[0][1])
    if kind != [8, 2, 0, 0, 0]:
        raise Failure("--small", "gnuplot made a PNG of another kind than red, green and blue")
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    rows = [data[y : y + 3 * width + 1] for y in range(0, len(data), 3 * width + 1)]
    pixels = [row[x : x + 3] for row in unfiltered(rows, 3) for x in range(0, 3 * width, 3)]
    pixels = with_few_colours(pixels)
    palette = {colour: n for n, colour in enumerate(sorted(set(pixels)))}
    numbers = bytes(palette[pixel] for pixel in pixels)
    lines = b"".join(b"\0" + numbers[y : y + width] for y in range(0, len(numbers), width))
    new = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", b"".join(palette)),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    ]
    return png[:8] + b"".join(png_chunk(name, body) for name, body in new)
