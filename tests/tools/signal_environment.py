# SPDX-License-Identifier: MIT
"""The environment of programs that are ended by signals: sanitizers, if they are built with any, leave all to them."""

import os

SANITIZERS = ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
HANDLE_NONE = ":".join(f"handle_{name}=0" for name in ("segv", "sigbus", "sigfpe", "sigill", "abort"))
SIGNAL_ENVIRONMENT = {
    **os.environ, **{name: ":".join(filter(None, (os.environ.get(name), HANDLE_NONE))) for name in SANITIZERS}
}  # fmt: skip
