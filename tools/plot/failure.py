# SPDX-License-Identifier: MIT
"""How a run ends before it is done."""

import signal

DEADLY_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Failure(Exception):
    """What main() says before it ends with the status."""

    def __init__(self, subject, cause, status=1):
        super().__init__(f"{subject or repr('')}: {cause}" if subject is not None else cause)
        self.status = status


class Interrupted(BaseException):
    """A deadly signal."""


def cause_of(error):
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
