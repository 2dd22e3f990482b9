# SPDX-License-Identifier: MIT
"""python -m softqam.plot"""
import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
