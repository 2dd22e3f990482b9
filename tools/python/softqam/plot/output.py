# SPDX-License-Identifier: MIT
"""Files that are written: complete or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat

from .failure import Failure, cause_of
from .recording import Source


def write_through_temporary(path: str, data: bytes, replaced: os.stat_result | None) -> None:
    """No signal ends the program between the file's temporary name and its own."""
    temporary = os.path.join(os.path.dirname(path), f".softqam-plot-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
    try:
        with open(temporary, "xb") as file:
            if replaced:
                os.fchmod(file.fileno(), replaced.st_mode & 0o777)
            file.write(data)
        os.rename(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def is_file_of(path: str, source: Source) -> bool:
    """Whether it is a file that the source is read from, by whatever name or link."""
    try:
        status = os.stat(path)
        return stat.S_ISREG(status.st_mode) and any(
            os.path.samestat(status, os.stat(read)) for read in (source.path, source.meta) if read and os.path.exists(read)
        )
    except (OSError, ValueError):
        return False


def write(path: str, data: bytes) -> None:
    """A regular file is replaced at once and whole; anything else is written to."""
    try:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            status = None
        if status and not stat.S_ISREG(status.st_mode):
            with open(path, "wb") as file:
                file.write(data)
            return
        if status and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        write_through_temporary(os.path.realpath(path), data, status)
    except (OSError, ValueError) as error:
        raise Failure(path, cause_of(error)) from None


def to_stdout(text: str) -> None:
    try:
        with open(1, "wb", closefd=False) as file:
            file.write(text.encode())
    except OSError as error:
        raise Failure("standard output", cause_of(error)) from None
