# SPDX-License-Identifier: MIT
"""The formats of symbols and of soft bits."""

import collections

Format = collections.namedtuple("Format", "typecode suffixes scale zero", defaults=(0,))
INPUT_FORMATS = {
    "cf32": Format("f", (".cf32", ".fc32", ".cfile"), 1),
    "cs16": Format("h", (".cs16", ".sc16", ".ci16"), 1 / 32768),
    "cs8": Format("b", (".cs8", ".sc8", ".ci8"), 1 / 128),
    "cf16": Format("e", (".cf16",), 1),
    "cu8": Format("B", (".cu8",), 1 / 128, 128),
    "cs32": Format("i", (".cs32", ".ci32"), 1 / 2**31),
    "cf64": Format("d", (".cf64",), 1),
}
SOFT_FORMATS = {
    "u8": Format("B", (".u8",), None),
    "s8": Format("b", (".s8",), None),
    "s16": Format("h", (".s16",), None),
    "f16": Format("e", (".f16",), None),
    "f32": Format("f", (".f32",), None),
}
