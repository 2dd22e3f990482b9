# SPDX-License-Identifier: MIT
"""The formats that softqam-demod writes: tests/style/test_lists.py sees to it that these are all formats of the library."""

LLR_TYPECODE = {"s8": "b", "s16": "h", "f16": "e", "f32": "f"}  # of struct
LLR_FORMATS = list(LLR_TYPECODE)
OUTPUT_FORMATS = ["u8", *LLR_FORMATS, "hard", "bits"]
# For LLRs that are integers: --llr-scale unless given, its largest value, and that of --llr-limit, which is its default.
LLR_STEPS = {"s8": (6, 1048576, 127), "s16": (64, 16384, 32767)}
