# SPDX-License-Identifier: MIT
"""Where the panels of a picture are."""

PANELS = ("constellation", "bits", "histograms", "evm")
HEADER = 62  # pixels above the panels
MIN_CELL = (420, 380)  # of one panel


def grid(n_panels):
    """Columns and rows."""
    return min(n_panels, 2), (n_panels + 1) // 2
