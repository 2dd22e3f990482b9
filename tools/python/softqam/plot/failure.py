# SPDX-License-Identifier: MIT
"""How a run ends before it is done."""
from __future__ import annotations


class Failure(Exception):
    """What main() says before it ends with the status."""

    def __init__(self, subject: str | None, cause: str, status: int = 1) -> None:
        super().__init__(f"{subject or repr('')}: {cause}" if subject is not None else cause)
        self.status = status


def cause_of(error: BaseException) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
